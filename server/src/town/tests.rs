use std::collections::{HashMap, HashSet};

use model::{Bio, CommentText, DisplayName, Handle, PostText};

use super::people::{CELEBRITY, NEWCOMER, POWER_USER};
use super::*;

pub(super) const NOW: Timestamp = Timestamp::from_millis(1_772_366_400_000);

pub(super) fn small() -> Sizes {
    Sizes {
        users: 30,
        posts: 120,
        viral_likes: 700,
        viral_comments: 90,
        celebrity_followers: 400,
        power_activities: 350,
    }
}

fn activities(town: &Town, person: usize) -> usize {
    let posts = town.posts.iter().filter(|post| post.author == person).count();
    let likes = town.likes.iter().filter(|like| like.person == person).count();
    let shares = town.shares.iter().filter(|share| share.person == person).count();
    let comments = town
        .comments
        .iter()
        .filter(|comment| comment.person == person)
        .count();
    let follows = town
        .follows
        .iter()
        .filter(|follow| follow.follower == person)
        .count();
    posts + likes + shares + comments + follows
}

fn assert_outliers(sizes: &Sizes, town: &Town) {
    assert_eq!(town.posts.len(), sizes.posts.max(10));
    assert_eq!(
        town.people.iter().filter(|person| !person.quiet).count(),
        sizes.users.max(10)
    );
    assert_eq!(
        town.likes.iter().filter(|like| like.post == town.viral).count(),
        sizes.viral_likes
    );
    assert_eq!(
        town.comments
            .iter()
            .filter(|comment| comment.post == town.viral)
            .count(),
        sizes.viral_comments
    );
    assert_eq!(
        town.follows
            .iter()
            .filter(|follow| follow.followed == CELEBRITY)
            .count(),
        sizes.celebrity_followers
    );
    assert_eq!(activities(town, POWER_USER), sizes.power_activities);
}

#[test]
fn the_same_seed_sizes_and_moment_make_the_same_town() {
    assert_eq!(Town::generate(&small(), 7, NOW), Town::generate(&small(), 7, NOW));
    assert_ne!(
        Town::generate(&small(), 7, NOW).posts,
        Town::generate(&small(), 8, NOW).posts
    );
}

#[test]
fn the_outliers_are_exactly_as_large_as_asked_for() {
    for sizes in [Sizes::default(), small()] {
        assert_outliers(&sizes, &Town::generate(&sizes, 1, NOW));
    }
}

#[test]
fn odd_sizes_make_a_town_too() {
    let nothing = Sizes {
        users: 0,
        posts: 0,
        viral_likes: 0,
        viral_comments: 0,
        celebrity_followers: 0,
        power_activities: 0,
    };
    let lopsided = [
        nothing.clone(),
        Sizes {
            viral_likes: 100,
            ..nothing.clone()
        },
        Sizes {
            celebrity_followers: 300,
            ..nothing.clone()
        },
        Sizes {
            viral_comments: 500,
            ..nothing.clone()
        },
        Sizes {
            power_activities: 2_000,
            ..nothing.clone()
        },
        Sizes {
            users: 1_000,
            posts: 3_000,
            ..nothing
        },
    ];
    for sizes in lopsided {
        assert_outliers(&sizes, &Town::generate(&sizes, 3, NOW));
    }
}

#[test]
fn everything_else_is_ordinary() {
    let town = Town::generate(&Sizes::default(), 1, NOW);
    let mut likes: HashMap<usize, usize> = HashMap::new();
    for like in &town.likes {
        *likes.entry(like.post).or_default() += 1;
    }
    likes.remove(&town.viral);
    assert!(
        likes.values().all(|count| *count <= 60),
        "{:?}",
        likes.values().max()
    );
    assert!(
        likes.values().any(|count| *count >= 45),
        "{:?}",
        likes.values().max()
    );
    let mut comments: HashMap<usize, usize> = HashMap::new();
    for comment in &town.comments {
        *comments.entry(comment.post).or_default() += 1;
    }
    comments.remove(&town.viral);
    assert!(
        comments.values().all(|count| *count <= 30),
        "{:?}",
        comments.values().max()
    );
    for person in (0..300).filter(|person| *person != POWER_USER) {
        assert!(activities(&town, person) < 600, "{}", town.people[person].handle);
    }
    assert_ne!(town.posts[town.viral].author, CELEBRITY);
    let newcomer = town
        .follows
        .iter()
        .filter(|follow| follow.follower == NEWCOMER)
        .count();
    assert!((1..=5).contains(&newcomer), "{newcomer}");
}

#[test]
fn nothing_happens_twice_and_nobody_follows_or_likes_themselves() {
    let town = Town::generate(&Sizes::default(), 1, NOW);
    for reactions in [&town.likes, &town.shares] {
        let pairs: HashSet<_> = reactions
            .iter()
            .map(|reaction| (reaction.post, reaction.person))
            .collect();
        assert_eq!(pairs.len(), reactions.len());
        assert!(
            reactions
                .iter()
                .all(|reaction| town.posts[reaction.post].author != reaction.person)
        );
    }
    let pairs: HashSet<_> = town
        .follows
        .iter()
        .map(|follow| (follow.follower, follow.followed))
        .collect();
    assert_eq!(pairs.len(), town.follows.len());
    assert!(
        town.follows
            .iter()
            .all(|follow| follow.follower != follow.followed)
    );
    let handles: HashSet<_> = town.people.iter().map(|person| &person.handle).collect();
    assert_eq!(handles.len(), town.people.len());
    let ids: Vec<Uuid> = town
        .likes
        .iter()
        .chain(&town.shares)
        .map(|reaction| reaction.id)
        .collect();
    let ids = ids
        .into_iter()
        .chain(town.comments.iter().map(|comment| comment.id));
    let ids: Vec<Uuid> = ids
        .chain(town.follows.iter().map(|follow| follow.id))
        .chain(town.posts.iter().map(|post| post.id))
        .collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
}

#[test]
fn people_join_before_they_act_and_react_after_the_post() {
    for sizes in [Sizes::default(), small()] {
        let town = Town::generate(&sizes, 1, NOW);
        let open = rhythm::later(NOW, -AGE);
        assert!(
            town.people
                .iter()
                .all(|person| open < person.joined && person.joined < NOW)
        );
        assert!(
            town.posts
                .iter()
                .all(|post| town.people[post.author].joined < post.at && post.at < NOW)
        );
        let reactions = town.likes.iter().chain(&town.shares);
        let reactions = reactions.map(|reaction| (reaction.post, reaction.person, reaction.at));
        for (post, person, at) in
            reactions.chain(town.comments.iter().map(|said| (said.post, said.person, said.at)))
        {
            assert!(town.people[person].joined < at, "{}", town.people[person].handle);
            assert!(town.posts[post].at < at && at < NOW, "{}", town.posts[post].text);
        }
        for follow in &town.follows {
            assert!(town.people[follow.follower].joined < follow.at && follow.at < NOW);
            assert!(town.people[follow.followed].joined < follow.at);
        }
    }
}

#[test]
fn ids_sort_by_time() {
    let town = Town::generate(&small(), 1, NOW);
    let mut posts = town.posts.clone();
    posts.sort_by_key(|post| post.id);
    assert!(posts.is_sorted_by_key(|post| post.at));
    assert!(posts.iter().all(|post| post.id.get_version_num() == 7));
}

#[test]
fn the_model_accepts_every_text() {
    for seed in 1..4 {
        let town = Town::generate(&Sizes::default(), seed, NOW);
        for person in &town.people {
            person.handle.parse::<Handle>().unwrap();
            person.name.parse::<DisplayName>().unwrap();
            person.bio.parse::<Bio>().unwrap();
            assert!(person.quiet == person.bio.is_empty() && !person.bio.contains(['[', ']', '{', '}', '|']));
        }
        let posts = town.posts.iter().map(|post| &post.text);
        for text in posts.chain(town.comments.iter().map(|comment| &comment.text)) {
            text.parse::<PostText>().unwrap();
            text.parse::<CommentText>().unwrap();
            assert!(
                !text.contains(['[', ']', '{', '}', '|']) && !text.contains("  "),
                "{text}"
            );
        }
    }
}

#[test]
fn every_mentioned_person_lives_here() {
    let town = Town::generate(&Sizes::default(), 1, NOW);
    let handles: HashSet<&str> = town.people.iter().map(|person| person.handle.as_str()).collect();
    let posts = town.posts.iter().map(|post| &post.text);
    let mut mentions = 0;
    for text in posts.chain(town.comments.iter().map(|comment| &comment.text)) {
        for (at, _) in text.match_indices('@') {
            let handle = text[at + 1..]
                .split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_' || letter == '-'))
                .next()
                .unwrap();
            assert!(handles.contains(handle), "{text}");
            mentions += 1;
        }
    }
    assert!(mentions > 100, "{mentions}");
}

#[test]
fn few_posts_repeat_each_other() {
    let town = Town::generate(&Sizes::default(), 1, NOW);
    let texts: HashSet<_> = town.posts.iter().map(|post| &post.text).collect();
    assert_eq!(texts.len(), town.posts.len());
}

#[test]
fn nobody_writes_of_the_goose_before_she_is_known() {
    let town = Town::generate(&Sizes::default(), 1, NOW);
    let known = town.posts[town.viral].at;
    for post in town.posts.iter().filter(|post| post.text.contains("goose")) {
        assert!(post.at >= known, "{}", post.text);
    }
}

#[test]
fn the_demo_people_are_five_residents() {
    let town = Town::generate(&small(), 1, NOW);
    let demo = town.demo_people();
    assert_eq!(demo, ["solveig", "tomasz_ferry", "win", "beatriz", "kofi"]);
}
