//! Writes a town into an empty store.

use bson::{Document, doc};
use document::Error;
use model::{ActivityKind, Handle, Person, PostId, PostText, Problem, Relation, Topic};
use store::overflow::{Item, StoredList, lay_out, uuid_bson};
use store::people::User;
use store::reactions::Reaction;
use store::{Settings, Store, people, posts};

use uuid::Uuid;

use super::{Claim, Recipe, Town};

/// How many owners to lay out and insert at a time.
const BATCH: usize = 500;

/// Writes a town into the empty store that was claimed for it, each list in the form that it would have if its
/// items had been appended one by one. The store keeps its `recipe`. `progress` receives the number of written
/// owner documents and their total.
///
/// # Errors
/// [`Error::Contended`] when another process took over meanwhile.
pub async fn load(
    claim: &Claim<'_>,
    town: &Town,
    recipe: &Recipe,
    progress: &(dyn Fn(u64, u64) + Send + Sync),
) -> document::Result<()> {
    tokio::select! {
        written = write(claim.store(), town, progress) => written?,
        lost = claim.beat() => return Err(lost),
    }
    claim.complete(town.demo_people(), recipe.to_document()).await
}

async fn write(
    store: &Store,
    town: &Town,
    progress: &(dyn Fn(u64, u64) + Send + Sync),
) -> document::Result<()> {
    let lists = Lists::of(town)?;
    let total = (town.people.len() + town.posts.len()) as u64;
    let mut done = 0;
    let mut people = lists.handles.iter().zip(&town.people).zip(lists.people).zip(1..);
    loop {
        let mut batch = Batch::default();
        for (((handle, resident), [activities, followers, following]), number) in people.by_ref().take(BATCH)
        {
            let born = Uuid::from_u128(number);
            let user = User {
                person: Person {
                    handle: handle.clone(),
                    name: resident.name.parse().map_err(unfit)?,
                },
                bio: resident.bio.clone(),
                password: None,
                at: resident.joined,
            };
            let lists = [
                (Relation::Activities, activities),
                (Relation::Followers, followers),
                (Relation::Following, following),
            ];
            batch.add(
                user.to_document(born),
                born,
                &Topic::User(handle.clone()),
                store.settings(),
                lists,
            );
        }
        if batch.owners.is_empty() {
            break;
        }
        done += batch.write(store, people::COLLECTION).await?;
        progress(done, total);
    }
    let mut written = town.posts.iter().zip(lists.posts);
    loop {
        let mut batch = Batch::default();
        for (post, [likes, comments, shares]) in written.by_ref().take(BATCH) {
            let id = PostId::from(post.id);
            let text: PostText = post.text.parse().map_err(unfit)?;
            let document = posts::new_document(id, post.id, &lists.handles[post.author], &text, post.at);
            let lists = [
                (Relation::Likes, likes),
                (Relation::Comments, comments),
                (Relation::Shares, shares),
            ];
            batch.add(document, post.id, &Topic::Post(id), store.settings(), lists);
        }
        if batch.owners.is_empty() {
            break;
        }
        done += batch.write(store, posts::COLLECTION).await?;
        progress(done, total);
    }
    Ok(())
}

/// A text of the town that the model refuses: an error in the word files, which the tests rule out.
fn unfit(problem: Problem) -> Error {
    Error::refused(2, problem.message)
}

/// The items of every list, by owner.
struct Lists {
    handles: Vec<Handle>,
    /// Activities, followers and following of each person.
    people: Vec<[Vec<Item>; 3]>,
    /// Likes, comments and shares of each post.
    posts: Vec<[Vec<Item>; 3]>,
}

impl Lists {
    fn of(town: &Town) -> document::Result<Self> {
        let handles: Vec<Handle> = town
            .people
            .iter()
            .map(|person| person.handle.parse().map_err(unfit))
            .collect::<Result<_, _>>()?;
        let mut people = vec![<[Vec<Item>; 3]>::default(); town.people.len()];
        let mut posts = vec![<[Vec<Item>; 3]>::default(); town.posts.len()];
        for post in &town.posts {
            people[post.author][0].push(activity(post.id, post.at, ActivityKind::Post, about(post.id)));
        }
        for (list, kind, reactions) in [
            (0, ActivityKind::Like, &town.likes),
            (2, ActivityKind::Share, &town.shares),
        ] {
            for reaction in reactions {
                let post = town.posts[reaction.post].id;
                let by = handles[reaction.person].clone();
                posts[reaction.post][list].push(Item::new(reaction.id, by, reaction.at));
                people[reaction.person][0].push(activity(reaction.id, reaction.at, kind, about(post)));
            }
        }
        for remark in &town.comments {
            let mut item = Item::new(remark.id, handles[remark.person].clone(), remark.at);
            item.more = doc! { "text": &remark.text };
            let comment = Reaction::Comment(town.posts[remark.post].id.into(), remark.id);
            people[remark.person][0].push(comment.activity(&item));
            posts[remark.post][1].push(item);
        }
        for follow in &town.follows {
            let (who, whom) = (&handles[follow.follower], &handles[follow.followed]);
            people[follow.followed][1].push(Item::new(follow.id, who.clone(), follow.at));
            people[follow.follower][2].push(Item::new(follow.id, whom.clone(), follow.at));
            let target = doc! { "user": whom.as_str() };
            people[follow.follower][0].push(activity(follow.id, follow.at, ActivityKind::Follow, target));
        }
        Ok(Self {
            handles,
            people,
            posts,
        })
    }
}

fn about(post: uuid::Uuid) -> Document {
    doc! { "post": uuid_bson(post) }
}

fn activity(id: uuid::Uuid, at: model::Timestamp, kind: ActivityKind, target: Document) -> Item {
    let mut more = doc! { "kind": kind.as_str() };
    more.extend(target);
    Item {
        id,
        by: None,
        at,
        more,
    }
}

/// Owners and their pages to be stored.
#[derive(Default)]
struct Batch {
    owners: Vec<Document>,
    pages: Vec<Document>,
}

impl Batch {
    fn add(
        &mut self,
        mut owner: Document,
        born: Uuid,
        topic: &Topic,
        settings: &Settings,
        lists: [(Relation, Vec<Item>); 3],
    ) {
        for (relation, items) in lists {
            if items.is_empty() {
                continue;
            }
            let StoredList { list, pages } = lay_out(topic, born, relation, settings.of(relation), items);
            owner.insert(relation.as_str(), list);
            self.pages.extend(pages);
        }
        self.owners.push(owner);
    }

    /// Returns the number of owners.
    async fn write(self, store: &Store, collection: &str) -> document::Result<u64> {
        let owners = self.owners.len() as u64;
        store.insert_owners(collection, self.owners, self.pages).await?;
        Ok(owners)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use document::{Find, Update};
    use embedded::Embedded;
    use store::overflow;

    use super::*;
    use crate::town::{Patience, Sizes, claim, claim_again, is_loaded};

    /// For tests that wait for other tasks.
    const SHORT: Patience = Patience {
        beat: Duration::from_millis(2),
        looks: 250,
    };

    async fn store() -> Store {
        let engine = Arc::new(Embedded::in_memory().unwrap());
        Store::open(engine, Settings::default()).await.unwrap()
    }

    fn recipe() -> Recipe {
        let sizes = Sizes {
            users: 30,
            posts: 120,
            viral_likes: 700,
            viral_comments: 90,
            celebrity_followers: 400,
            power_activities: 350,
        };
        Recipe {
            sizes,
            seed: 1,
            now: model::Timestamp::from_millis(1_772_366_400_000),
        }
    }

    fn town() -> Town {
        recipe().make()
    }

    async fn fill(store: &Store, town: &Town) -> document::Result<()> {
        match claim(store, Uuid::from_u128(1), Patience::ALONE).await? {
            Some(claim) => load(&claim, town, &recipe(), &|_, _| ()).await,
            None => Ok(()),
        }
    }

    /// As if the loader had died just before the end.
    async fn undo(store: &Store) {
        let undone = doc! { "$set": { "state": "loading", "claim": "somebody", "beat": 7_i64 } };
        let marker = Update::one(doc! { "_id": "town" }, undone);
        store.engine().update("meta", marker).await.unwrap();
    }

    async fn wait_for_heartbeats(store: &Store, times: u32) {
        let beats = doc! { "_id": "town", "beat": { "$gte": times } };
        while store.engine().count("meta", beats.clone()).await.unwrap() == 0 {
            tokio::time::sleep(SHORT.beat).await;
        }
    }

    async fn count(store: &Store, collection: &str) -> u64 {
        store.engine().count(collection, Document::new()).await.unwrap()
    }

    #[tokio::test]
    async fn a_loaded_town_has_its_people_posts_and_exact_lists() {
        let (store, town) = (store().await, town());
        let reported = AtomicU64::new(0);
        let claim = claim(&store, Uuid::nil(), Patience::ALONE)
            .await
            .unwrap()
            .unwrap();
        load(&claim, &town, &recipe(), &|done, _| {
            reported.store(done, Ordering::Relaxed);
        })
        .await
        .unwrap();
        assert!(is_loaded(&store).await.unwrap());
        assert_eq!(
            reported.into_inner(),
            (town.people.len() + town.posts.len()) as u64
        );
        assert_eq!(count(&store, people::COLLECTION).await, town.people.len() as u64);
        assert_eq!(count(&store, posts::COLLECTION).await, 120);
        let viral = Topic::Post(town.posts[town.viral].id.into());
        let overflow = store.overflow(&viral).await.unwrap();
        assert_eq!(overflow[&Relation::Likes].count, 700);
        assert_eq!(overflow[&Relation::Comments].count, 90);
        let solveig = store
            .people()
            .summary(&"solveig".parse().unwrap())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(solveig.followers.count, 400);
        let win = store
            .people()
            .summary(&"win".parse().unwrap())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(win.activities, 350);
    }

    #[tokio::test]
    async fn an_interrupted_load_is_not_a_town_and_is_done_over() {
        let (store, town) = (store().await, town());
        fill(&store, &town).await.unwrap();
        undo(&store).await;
        store
            .engine()
            .delete(posts::COLLECTION, Document::new(), true)
            .await
            .unwrap();
        assert!(!is_loaded(&store).await.unwrap());
        let pages = count(&store, overflow::PAGES).await;
        fill(&store, &town).await.unwrap();
        assert!(is_loaded(&store).await.unwrap());
        assert_eq!(count(&store, posts::COLLECTION).await, 120);
        assert_eq!(count(&store, overflow::PAGES).await, pages);
    }

    #[tokio::test]
    async fn a_store_with_other_people_in_it_is_left_alone() {
        let (store, town) = (store().await, town());
        let somebody = User {
            person: Person {
                handle: "ada".parse().unwrap(),
                name: "Ada".parse().unwrap(),
            },
            bio: String::new(),
            password: None,
            at: model::Timestamp::from_millis(0),
        };
        store.people().insert(&somebody, Uuid::nil()).await.unwrap();
        let refused = fill(&store, &town).await.unwrap_err();
        assert!(matches!(&refused, Error::Refused { .. }), "{refused}");
        assert_eq!(count(&store, people::COLLECTION).await, 1);
        assert!(!is_loaded(&store).await.unwrap());
    }

    #[tokio::test]
    async fn one_of_several_starting_servers_loads_and_the_others_wait() {
        let (store, town) = (store().await, Arc::new(town()));
        let servers = (1..=4).map(|number| {
            let (store, town) = (store.clone(), Arc::clone(&town));
            tokio::spawn(async move {
                let claim = claim(&store, Uuid::from_u128(number), SHORT).await.unwrap();
                match &claim {
                    Some(claim) => load(claim, &town, &recipe(), &|_, _| ()).await.map(|()| true),
                    None => Ok(false),
                }
            })
        });
        let mut loaded = 0;
        for server in servers.collect::<Vec<_>>() {
            loaded += u32::from(server.await.unwrap().unwrap());
            assert!(is_loaded(&store).await.unwrap());
        }
        assert_eq!(loaded, 1);
        assert_eq!(count(&store, posts::COLLECTION).await, 120);
    }

    #[tokio::test]
    async fn a_live_loader_is_waited_for_and_one_taken_for_dead_stops() {
        let (store, town) = (store().await, town());
        let slow = claim(&store, Uuid::from_u128(1), SHORT).await.unwrap().unwrap();
        let other = tokio::spawn({
            let store = store.clone();
            async move { claim(&store, Uuid::from_u128(2), SHORT).await.unwrap().is_some() }
        });
        tokio::select! {
            _ = slow.beat() => panic!("it was taken for dead"),
            () = wait_for_heartbeats(&store, 2 * SHORT.looks) => {}
        }
        assert!(!other.is_finished());
        // From here on there is no heartbeat.
        assert!(other.await.unwrap(), "it takes over");
        assert!(matches!(slow.beat().await, Error::Contended(_)));
        assert!(matches!(
            slow.complete(vec![], recipe().to_document()).await,
            Err(Error::Contended(_))
        ));
        let next = claim(&store, Uuid::from_u128(3), Patience::ALONE)
            .await
            .unwrap()
            .unwrap();
        load(&next, &town, &recipe(), &|_, _| ()).await.unwrap();
        assert!(is_loaded(&store).await.unwrap());
        assert!(claim(&store, Uuid::from_u128(4), SHORT).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn people_who_signed_up_beside_half_a_town_are_not_cleared_away() {
        let (store, town) = (store().await, town());
        fill(&store, &town).await.unwrap();
        undo(&store).await;
        let password = doc! { "$set": { "password": "$argon2id$" } };
        let member = Update::one(doc! { "_id": "win" }, password);
        store.engine().update(people::COLLECTION, member).await.unwrap();
        let people_before = count(&store, people::COLLECTION).await;
        let refused = fill(&store, &town).await.unwrap_err();
        assert!(matches!(&refused, Error::Refused { .. }), "{refused}");
        assert_eq!(count(&store, people::COLLECTION).await, people_before);
    }

    /// Everything in the town, in an order that does not depend on how it was made.
    async fn everything(store: &Store) -> Vec<Document> {
        let mut all = Vec::new();
        for collection in [people::COLLECTION, posts::COLLECTION, overflow::PAGES, "meta"] {
            let find = Find::default().sort(doc! { "_id": 1 });
            all.extend(store.engine().find(collection, find).await.unwrap());
        }
        all
    }

    #[tokio::test]
    async fn a_reset_town_is_the_same_to_the_last_like() {
        let (store, town) = (store().await, town());
        fill(&store, &town).await.unwrap();
        let before = everything(&store).await;
        store
            .posts()
            .delete(town.posts[town.viral].id.into())
            .await
            .unwrap();
        let member = User {
            person: Person {
                handle: "ada".parse().unwrap(),
                name: "Ada".parse().unwrap(),
            },
            bio: String::new(),
            password: Some("$argon2id$".to_owned()),
            at: model::Timestamp::from_millis(0),
        };
        store.people().insert(&member, Uuid::nil()).await.unwrap();
        let (claim, kept) = claim_again(&store, Uuid::from_u128(2)).await.unwrap();
        assert_eq!(kept, recipe());
        load(&claim, &kept.make(), &kept, &|_, _| ()).await.unwrap();
        assert_eq!(everything(&store).await, before);
    }

    #[tokio::test]
    async fn a_town_whose_reset_was_interrupted_is_loaded_at_the_next_start() {
        let (store, town) = (store().await, town());
        fill(&store, &town).await.unwrap();
        let password = doc! { "$set": { "password": "$argon2id$" } };
        let member = Update::one(doc! { "_id": "win" }, password);
        store.engine().update(people::COLLECTION, member).await.unwrap();
        // It dies right after it recorded what it is about to do.
        store::town::mark_for_reload(&store, Uuid::from_u128(2))
            .await
            .unwrap();
        fill(&store, &town).await.unwrap();
        assert!(is_loaded(&store).await.unwrap());
        let member = store
            .people()
            .get(&"win".parse().unwrap())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(member.password, None);
    }
}
