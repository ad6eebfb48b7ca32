//! S3, "How to Create `MongoDB` Outlier Patterns": `getFollowersPaginated` and `getAllFollowers`.

use crate::articles::{all_followers, followers_page, with_followers};
use crate::ours::Ours;
use crate::support::numbers;

async fn pages(followers: u64, size: usize, count: usize) -> Vec<Vec<u64>> {
    let engine = with_followers(followers).await;
    let mut pages = Vec::new();
    for page in 0..count {
        pages.push(followers_page(&*engine, page, size).await);
    }
    pages
}

/// `Math.max(0, skip - FOLLOWER_THRESHOLD)`: a page that begins in the main document and ends after it shows the batch
/// from its beginning, and nothing of the main document's end.
#[tokio::test]
async fn a_page_across_the_seam_skips_the_end_of_the_main_document_and_repeats_the_batch() {
    let pages = pages(8, 3, 3).await;
    assert_eq!(pages, [vec![1, 2, 3], vec![5, 6, 7], vec![7, 8]]);

    for limit in 1..=8 {
        assert_eq!(
            walk(8, limit).await,
            [8, 7, 6, 5, 4, 3, 2, 1],
            "{limit} at a time"
        );
    }
}

/// `overflow.followers.slice(localSkip, localSkip + pageSize)` of one batch: a page across two batches is cut off at the
/// first, and the rest of it is on no page.
#[tokio::test]
async fn a_page_across_two_batches_is_cut_short() {
    let pages = pages(12, 3, 5).await;
    let shown: Vec<u64> = pages.concat();
    assert!(!shown.contains(&9), "{pages:?}");
    assert_eq!(
        pages[2],
        [7, 8],
        "short in the middle of the list, which readers take for its end"
    );

    for limit in 1..=12 {
        assert_eq!(
            walk(12, limit).await,
            (1..=12).rev().collect::<Vec<_>>(),
            "{limit} at a time"
        );
    }
}

/// `[...user.followers]` first: the main document keeps the first 1,000 followers forever, so new ones are at the far
/// end.
#[tokio::test]
async fn the_newest_follower_is_on_the_last_page() {
    let engine = with_followers(12).await;
    assert_eq!(all_followers(&engine).await.last(), Some(&12));
    assert_eq!(followers_page(&*engine, 0, 2).await, [1, 2]);

    assert_eq!(walk(12, 2).await[..2], [12, 11]);
}

async fn walk(count: u64, limit: usize) -> Vec<u64> {
    let ours = Ours::with(count).await;
    let mut shown = Vec::new();
    let mut after = None;
    loop {
        let stretch = ours
            .likes()
            .newest_first(&Ours::owner(), after, limit)
            .await
            .unwrap();
        assert!(
            stretch.items.len() == limit || stretch.next.is_none(),
            "short in the middle"
        );
        shown.extend(numbers(&stretch.items));
        after = stretch.next;
        if after.is_none() {
            return shown;
        }
    }
}
