//! Whom to follow.

use std::collections::BTreeMap;

use model::{FoundPerson, Handle, Problem, Relation, Topic};
use store::posts::Order;

use super::problems::to_problem;
use super::{Paging, People};

/// Of how many of the people whom a reader follows the latest follows are looked at.
const FOLLOWED: usize = 20;
/// How many of the most liked posts have authors to suggest.
const POSTS: usize = 60;
/// How many people are looked up.
const CANDIDATES: usize = 40;

impl People<'_> {
    /// The people whom a reader followed last.
    pub(super) async fn followed_last(self, reader: &Handle, most: usize) -> Result<Vec<Handle>, Problem> {
        let latest = Paging {
            limit: most,
            ..Paging::default()
        };
        let (own, lists) = (Topic::User(reader.clone()), self.0.lists(Some(reader)));
        let followed = lists.stretch(&own, Relation::Following, latest).await?;
        Ok(followed.items.into_iter().filter_map(|item| item.by).collect())
    }

    /// People whom a reader does not follow yet: first people followed by those whom the reader follows, by how many,
    /// then the authors of the most liked posts; among equals those with the most followers. The work is bounded, so
    /// only the latest follows of the latest twenty are looked at.
    pub async fn suggestions(self, reader: &Handle, most: usize) -> Result<Vec<FoundPerson>, Problem> {
        let (store, people) = (&self.0.store, self.0.store.people());
        let through = async {
            let followed = self.followed_last(reader, FOLLOWED).await?;
            let through = people.lately_followed_by(&followed).await;
            Ok((followed, through.map_err(to_problem)?))
        };
        let posts = store.posts();
        let liked = async {
            let liked = posts.list(None, Order::MostLiked, None, POSTS).await;
            liked.map_err(to_problem)
        };
        let ((followed, through), liked) = futures::try_join!(through, liked)?;

        let mut votes: BTreeMap<Handle, usize> = BTreeMap::new();
        for handle in through {
            *votes.entry(handle).or_default() += 1;
        }
        for post in liked {
            votes.entry(post.author).or_default();
        }
        votes.retain(|handle, _| handle != reader && !followed.contains(handle));
        let mut candidates: Vec<(Handle, usize)> = votes.into_iter().collect();
        candidates.sort_by_key(|(_, votes)| std::cmp::Reverse(*votes));
        candidates.truncate(CANDIDATES);

        let handles: Vec<&Handle> = candidates.iter().map(|(handle, _)| handle).collect();
        let owners: Vec<Topic> = handles.iter().copied().cloned().map(Topic::User).collect();
        let (found, already, restricted) = futures::try_join!(
            people.found(&handles),
            store.holding(&owners, Relation::Followers, reader),
            self.0.restricted(Some(reader), handles.iter().copied())
        )
        .map_err(to_problem)?;
        let votes: BTreeMap<&Handle, usize> = candidates
            .iter()
            .map(|(handle, votes)| (handle, *votes))
            .collect();
        let mut found: Vec<FoundPerson> = found
            .into_iter()
            .filter(|person| !already.contains(&Topic::User(person.handle.clone())))
            .filter(|person| !restricted.hides(&person.handle))
            .collect();
        found.sort_by_key(|person| std::cmp::Reverse((votes.get(&person.handle).copied(), person.followers)));
        found.truncate(most);
        Ok(found)
    }
}
