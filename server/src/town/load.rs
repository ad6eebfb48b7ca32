//! Writes a town into an empty store.

use bson::{Document, doc};
use document::Error;
use model::{ActivityKind, Handle, Person, PostId, PostText, Problem, Relation, Timestamp, Topic};
use store::notifications::Read;
use store::overflow::{Item, StoredList, lay_out, uuid_bson};
use store::people::User;
use store::reactions::Reaction;
use store::shared_posts::SharedPost;
use store::{Settings, Store, people, posts};

use uuid::Uuid;

use super::{Claim, Recipe, Town, notifications};

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
        written = write(claim.store(), town, recipe.now, progress) => written?,
        lost = claim.beat() => return Err(lost),
    }
    claim.complete(town.demo_people(), recipe.to_document()).await
}

async fn write(
    store: &Store,
    town: &Town,
    now: Timestamp,
    progress: &(dyn Fn(u64, u64) + Send + Sync),
) -> document::Result<()> {
    let lists = Lists::of(town)?;
    let total = (town.people.len() + town.posts.len()) as u64;
    let mut done = 0;
    let told = notifications::told(town, &lists.handles, now);
    let people = lists.handles.iter().zip(&town.people);
    let mut people = people.zip(lists.people).zip(told).zip(1..);
    loop {
        let mut batch = Batch::default();
        let next = people.by_ref().take(BATCH);
        for ((((handle, resident), [activities, followers, following]), told), number) in next {
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
                (Relation::Notifications, told.items),
            ];
            let mut document = user.to_document(born);
            document.extend(told.read.map(Read::to_document).unwrap_or_default());
            batch.add(
                document,
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
        let (mut batch, mut shared) = (Batch::default(), Vec::new());
        for (post, [likes, comments, shares]) in written.by_ref().take(BATCH) {
            let id = PostId::from(post.id);
            shared.extend(shares.iter().filter_map(|share| SharedPost::of(id, share)));
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
        store.shared_posts().insert_all(&shared).await?;
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

fn activity(id: uuid::Uuid, at: Timestamp, kind: ActivityKind, target: Document) -> Item {
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
        lists: impl IntoIterator<Item = (Relation, Vec<Item>)>,
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
mod tests;
