//! One person, what they do on one server or another, and what must hold for their lists afterwards.

use std::cell::Cell;
use std::sync::Arc;

use bson::{DateTime, doc};
use document::{Error, Update};
use model::{Handle, PostId, Relation, Timestamp, Topic};
use store::Store;
use store::overflow::{Item, uuid_bson};
use store::people::{self, User};
use store::reactions::{self, Attempt, Intent, Reaction};
use uuid::Uuid;

use super::operations::Operation;
use super::walk;
use Act::{BeginToLike, Comment, Delete, Finish, Follow, Like, LikeOther, Share, Unfollow, Unlike, Unshare};
use checker::history::{Answer, History, Request};

/// How many posts the author has.
const POSTS: u64 = 4;

/// An action of the actor, each time as another request.
#[derive(Debug, Clone, Copy)]
pub enum Act {
    Like,
    Unlike,
    Comment,
    Delete,
    Share,
    Unshare,
    Follow,
    Unfollow,
    /// Likes the n-th of the posts that only fill the activities.
    LikeOther(u64),
    /// Likes, and the server stops before it records the activity; so long ago that nobody waits for it.
    BeginToLike,
    /// A server finishes what was interrupted long ago.
    Finish,
}

/// An actor and the posts and people of the scenario, under unique names.
#[derive(Clone, Copy)]
pub struct Actor {
    number: u64,
}

thread_local! {
    /// The next number of [`fresh`]. It restarts with each run, so that runs which differ in nothing else are the
    /// same.
    pub static NUMBERS: Cell<u64> = const { Cell::new(1) };
}

/// A unique number for ids and incarnations.
pub fn fresh() -> u64 {
    NUMBERS.replace(NUMBERS.get() + 1)
}

impl Actor {
    pub async fn new(store: &Store) -> Self {
        let actor = Self { number: fresh() };
        for handle in [actor.handle(), actor.author()] {
            let name = handle.as_str().parse().unwrap();
            let user = User {
                person: model::Person { handle, name },
                bio: String::new(),
                password: None,
                at: Timestamp::from_millis(0),
            };
            let born = Uuid::from_u128(fresh().into());
            store.people().insert(&user, born).await.unwrap();
        }
        for number in 0..POSTS {
            let (born, at) = (Uuid::from_u128(fresh().into()), Timestamp::from_millis(0));
            let text = "The weir is open.".parse().unwrap();
            let posts = store.posts();
            posts
                .insert(actor.post(number), born, &actor.author(), &text, at)
                .await
                .unwrap();
        }
        actor
    }

    fn handle(self) -> Handle {
        format!("t{}actor", self.number).parse().unwrap()
    }

    fn author(self) -> Handle {
        format!("t{}author", self.number).parse().unwrap()
    }

    fn post(self, number: u64) -> PostId {
        Uuid::from_u64_pair(self.number, number).into()
    }

    pub fn reaction(self, act: Act) -> Reaction {
        match act {
            Like | Unlike | BeginToLike | Finish => Reaction::Like(self.post(0)),
            LikeOther(number) => Reaction::Like(self.post(number)),
            Comment | Delete => Reaction::Comment(self.post(0), Uuid::from_u128(7)),
            Share | Unshare => Reaction::Share(self.post(0)),
            Follow | Unfollow => Reaction::Follow(self.author()),
        }
    }

    async fn begin_to_like(self, store: &Store) {
        let reaction = self.reaction(BeginToLike);
        let (number, at) = (fresh(), Timestamp::from_millis(-1_000_000));
        let intent = doc! {
            "id": uuid_bson(Uuid::from_u128(number.into())), "at": DateTime::from_millis(at.millis()),
            "kind": "like", "post": uuid_bson(self.post(0).uuid()),
        };
        let note = doc! { "$push": { reactions::FIELD: intent } };
        let noted = Update::one(doc! { "_id": self.handle().as_str() }, note);
        store.engine().update(people::COLLECTION, noted).await.unwrap();
        let like = Item::new(Uuid::from_u128(fresh().into()), self.handle(), at);
        store
            .list(Relation::Likes)
            .append(&reaction.owner(), like)
            .await
            .unwrap();
    }

    async fn finish(self, store: &Store) {
        loop {
            match store.reactions().finish_all(Timestamp::from_millis(0)).await {
                Ok(_) => return,
                Err(Error::UnknownOutcome(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Like a client that retries until it gets the outcome.
    pub async fn act(self, store: &Store, act: Act) {
        match act {
            BeginToLike => return self.begin_to_like(store).await,
            Finish => return self.finish(store).await,
            _ => {}
        }
        let reaction = self.reaction(act);
        loop {
            let number = fresh();
            let (id, at) = (
                Uuid::from_u128(number.into()),
                Timestamp::from_millis(i64::try_from(number).unwrap()),
            );
            let attempt = Attempt { id, at };
            let key = format!("{reaction:?}");
            let done = |changed, count| Answer::Done {
                changed,
                count: Some(count),
                order: None,
            };
            let (asked, outcome) = if matches!(act, Unlike | Delete | Unshare | Unfollow) {
                let asked = History::ask(Request::Remove(key));
                let (reactions, actor) = (store.reactions(), self.handle());
                let removed = reactions.remove(&actor, &reaction, attempt).await;
                (asked, removed.map(|gone| done(gone.item.is_some(), gone.count)))
            } else {
                let asked = History::ask(Request::Add(key));
                let mut item = Item::new(Uuid::from_u128(fresh().into()), self.handle(), at);
                if let Reaction::Comment(_, id) = reaction {
                    item.id = id;
                    item.more = doc! { "text": "It is." };
                }
                let added = store.reactions().add(&reaction, item, attempt).await;
                (asked, added.map(|there| done(there.added, there.count)))
            };
            match outcome {
                Ok(answer) => return asked.answer(answer),
                Err(Error::UnknownOutcome(_)) => {}
                Err(error) => panic!("{act:?}: {error}"),
            }
        }
    }

    pub fn operation(self, acts: &'static [Act]) -> Operation {
        Arc::new(move |store: Store| {
            Box::pin(async move {
                for act in acts {
                    self.act(&store, *act).await;
                }
            })
        })
    }

    /// Returns whether the reaction exists.
    pub async fn assert_lists_agree(self, store: &Store, reaction: &Reaction, events: &str) -> bool {
        let (own, actor) = (Topic::User(self.handle()), self.handle());
        let decided = walk(store, &reaction.owner(), reaction.relation(), 10).await;
        let decided: Vec<Item> = decided
            .into_iter()
            .filter(|item| item.by.as_ref() == Some(&actor))
            .collect();
        let activities = walk(store, &own, Relation::Activities, 10).await;
        let activities: Vec<Item> = activities
            .into_iter()
            .filter(|item| Reaction::of(item).as_ref() == Some(reaction))
            .collect();
        let expected: Vec<Item> = decided.iter().map(|item| reaction.activity(item)).collect();
        let ids = |items: &[Item]| items.iter().map(|item| item.id).collect::<Vec<_>>();
        assert_eq!(ids(&activities), ids(&expected), "the activities after {events}");
        let listed = store
            .shared_posts()
            .list(std::slice::from_ref(&actor), None, 10)
            .await
            .unwrap();
        let listed: Vec<Uuid> = listed
            .iter()
            .map(|post| post.share.as_ref().unwrap().born)
            .collect();
        let is_share = matches!(reaction, Reaction::Share(_));
        let shares = decided.iter().filter(|_| is_share).map(|item| item.id);
        assert_eq!(
            listed,
            shares.collect::<Vec<_>>(),
            "the listed shares after {events}"
        );
        if let Reaction::Follow(_) = reaction {
            let following = walk(store, &own, Relation::Following, 10).await;
            assert_eq!(ids(&following), ids(&decided), "following after {events}");
            let home = store.timelines().home(&actor, None, 10).await.unwrap();
            let doubts = doc! { "_id": actor.as_str(), "doubts.0": { "$exists": true } };
            let doubts = store.engine().count(store::timeline::COLLECTION, doubts).await;
            if self.begun(store).await.is_empty() {
                assert_eq!(doubts.unwrap(), 0, "doubts are left after {events}");
            }
            let expected = if decided.is_empty() { 0 } else { POSTS };
            assert_eq!(
                home.posts.len() as u64,
                expected,
                "the posts in home after {events}"
            );
        }
        !decided.is_empty()
    }

    pub async fn begun(self, store: &Store) -> Vec<Intent> {
        store.reactions().begun_by(&self.handle()).await.unwrap()
    }
}
