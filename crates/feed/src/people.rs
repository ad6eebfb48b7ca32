//! Profiles, following, and people's activities.

use std::collections::{HashMap, HashSet};

use model::{
    Activity, ActivityKind, Handle, Kind, Listing, Person, PostId, PostText, Problem, Profile, ReactionState,
    Relation, Topic,
};
use outlier::fields;
use store::overflow::{Item, Key};
use store::reactions::Reaction;

use super::lists::keep_seams;
use super::problems::{missing, to_problem};
use super::{Paging, People};

/// An activity, with its object.
#[derive(Debug, Clone)]
pub struct ActivityEntry {
    /// The entry of the activity log.
    pub activity: Activity,
    /// The person who did it.
    pub by: Handle,
    /// The post that it is about, as its author and text; `None` when the post is gone or the activity has no
    /// post.
    pub post: Option<(Person, PostText)>,
    /// The person who was followed; `None` when they are gone, or when it is not a follow.
    pub user: Option<Person>,
    /// Whether it is about somebody who is suspended or whom a block separates from the reader, or about their post.
    is_hidden: bool,
}

impl People<'_> {
    /// Somebody's page, as a reader sees it.
    pub async fn profile(self, handle: &Handle, viewer: Option<&Handle>) -> Result<Profile, Problem> {
        let owner = Topic::User(handle.clone());
        let followers = self.0.store.list(Relation::Followers);
        let followed = async {
            match viewer.map(|viewer| Key::By(viewer.clone())) {
                None => Ok(None),
                Some(viewer) => followers.find(&owner, &viewer).await,
            }
        };
        let people = self.0.store.people();
        let (summary, followed, restricted) = futures::try_join!(
            people.summary(handle),
            followed,
            self.0.restricted(viewer, [handle].into_iter())
        )
        .map_err(to_problem)?;
        let summary = summary.ok_or_else(|| missing(&owner.to_string()))?;
        Ok(Profile {
            handle: summary.user.person.handle,
            name: summary.user.person.name,
            bio: summary.user.bio,
            at: summary.user.at,
            followers: summary.followers.count,
            following: summary.following,
            activities: summary.activities,
            followed: followed.is_some(),
            muted: restricted.muted.contains(handle),
            blocked: restricted.blocked.contains(handle),
            blocked_by: restricted.blockers.contains(handle),
            pinned: summary.pinned,
            meter: summary.followers,
        })
    }

    /// Those of some people whom a reader follows. Empty without a reader.
    pub async fn followed_among(
        self,
        reader: Option<&Handle>,
        people: impl IntoIterator<Item = &Handle>,
    ) -> Result<HashSet<Handle>, Problem> {
        let Some(reader) = reader else {
            return Ok(HashSet::new());
        };
        let owners: Vec<Topic> = people.into_iter().cloned().map(Topic::User).collect();
        let holding = self.0.store.holding(&owners, Relation::Followers, reader);
        let followed = holding
            .await
            .map_err(to_problem)?
            .into_iter()
            .filter_map(|owner| match owner {
                Topic::User(handle) => Some(handle),
                Topic::Post(_) => None,
            });
        Ok(followed.collect())
    }

    /// Follows a person. A second call changes nothing; a call after an interruption finishes the work.
    pub async fn follow(self, actor: &Handle, target: &Handle) -> Result<ReactionState, Problem> {
        if actor == target {
            return Err(Problem::invalid("handle", "You cannot follow yourself."));
        }
        let _turn = self.0.turns.of(actor).await;
        let at = self.0.environment.now();
        let item = Item::new(self.0.environment.ids.uuid(at), actor.clone(), at);
        let followed = self.0.add(&Reaction::Follow(target.clone()), item).await;
        if matches!(&followed, Err(problem) if problem.kind == Kind::NotFound) {
            let restricted = self.0.restricted(Some(actor), [target].into_iter()).await;
            if restricted.map_err(to_problem)?.blocks(target) {
                let why = "One of you blocks the other, so you cannot follow them.";
                return Err(Problem::new(Kind::Forbidden, why));
            }
        }
        let appended = followed?;
        Ok(ReactionState {
            active: true,
            count: appended.count,
        })
    }

    /// Stops following a person. A second call changes nothing; a call after an interruption finishes the work.
    pub async fn unfollow(self, actor: &Handle, target: &Handle) -> Result<ReactionState, Problem> {
        let _turn = self.0.turns.of(actor).await;
        let removed = self.0.remove(actor, &Reaction::Follow(target.clone())).await?;
        Ok(ReactionState {
            active: false,
            count: removed.count,
        })
    }

    /// The activities of a person, without those that are about somebody whom the reader does not see.
    ///
    /// # Errors
    /// [`Kind::Forbidden`] when the person or the reader blocks the other.
    pub async fn activity(
        self,
        handle: &Handle,
        viewer: Option<&Handle>,
        paging: Paging,
    ) -> Result<Listing<Activity>, Problem> {
        let mut listing = self.activity_entries(handle, viewer, paging).await?;
        let are_shown = |entry: &ActivityEntry| (entry.activity.id.uuid(), !entry.is_hidden);
        keep_seams(&mut listing.seams, listing.items.iter().map(are_shown));
        let shown = listing.items.into_iter().filter(|entry| !entry.is_hidden);
        Ok(Listing {
            items: shown.map(|entry| entry.activity).collect(),
            next: listing.next,
            seams: listing.seams,
            total: listing.total,
        })
    }

    async fn stored_activity(
        self,
        handle: &Handle,
        viewer: Option<&Handle>,
        paging: Paging,
    ) -> Result<Listing<Activity>, Problem> {
        let owner = Topic::User(handle.clone());
        self.0.require_visible(&owner, viewer).await?;
        let lists = self.0.lists(None);
        let stretch = lists.stretch(&owner, Relation::Activities, paging).await?;
        let items: Vec<Activity> = stretch.items.iter().map(activity).collect::<Result<_, _>>()?;
        let mut seams = stretch.seams;
        for seam in &mut seams {
            // Readers know a comment's activity by the comment's id.
            let follows = stretch
                .items
                .iter()
                .position(|item| item.id.to_string() == seam.after);
            if let Some(place) = follows {
                seam.after = items[place].id.to_string();
            }
        }
        Ok(Listing {
            next: stretch.next.map(|cursor| cursor.to_string()),
            seams,
            total: stretch.total,
            items,
        })
    }

    /// The same with its object, as the pages show it: two more commands, however long the stretch is, and those that
    /// tell whom the reader restricts. Posts of such a person are left out, and a follow of somebody whom a block concerns.
    pub async fn activity_entries(
        self,
        handle: &Handle,
        viewer: Option<&Handle>,
        paging: Paging,
    ) -> Result<Listing<ActivityEntry>, Problem> {
        let listing = self.stored_activity(handle, viewer, paging).await?;
        let ids: Vec<PostId> = listing
            .items
            .iter()
            .filter_map(|activity| activity.post)
            .collect();
        let posts = self.0.store.posts().several(&ids).await.map_err(to_problem)?;
        let followed = listing.items.iter().filter_map(|activity| activity.user.as_ref());
        let people = followed.chain(posts.values().map(|post| &post.author));
        let stored = self.0.store.people();
        let (people, restricted) = futures::try_join!(
            stored.named(people.clone()),
            self.0.restricted_among(viewer, people, &ids)
        )
        .map_err(to_problem)?;
        let is_hidden = |person: &Handle| restricted.blocks(person) || !people.contains_key(person);
        let entry = |activity: Activity| ActivityEntry {
            is_hidden: activity.user.as_ref().is_some_and(is_hidden)
                || activity
                    .post
                    .and_then(|id| posts.get(&id))
                    .is_some_and(|post| is_hidden(&post.author)),
            by: handle.clone(),
            post: activity
                .post
                .and_then(|id| posts.get(&id))
                .filter(|post| !restricted.hides_post(post.id, &post.author))
                .and_then(|post| Some((people.get(&post.author)?.clone(), post.text.clone()))),
            user: activity
                .user
                .as_ref()
                .filter(|user| !restricted.blocks(user))
                .and_then(|user| people.get(user).cloned()),
            activity,
        };
        Ok(Listing {
            items: listing.items.into_iter().map(entry).collect(),
            next: listing.next,
            seams: listing.seams,
            total: listing.total,
        })
    }
}

/// A person's name, or their handle if they have left since.
pub(super) fn name_or_handle(people: &HashMap<Handle, Person>, handle: &Handle) -> Result<Person, Problem> {
    match people.get(handle) {
        Some(person) => Ok(person.clone()),
        None => Ok(Person {
            handle: handle.clone(),
            name: handle.as_str().parse()?,
        }),
    }
}

/// Whom a text mentions, without those who have no account. `people` has those who have one.
pub(super) fn mentions(text: &str, people: &HashMap<Handle, Person>) -> Vec<Handle> {
    let mut mentioned = Handle::mentioned_in(text);
    mentioned.retain(|handle| people.contains_key(handle));
    mentioned
}

fn activity(item: &Item) -> Result<Activity, Problem> {
    let malformed = |what: &str| to_problem(document::Error::Malformed(what.to_owned()));
    let kind = item
        .more
        .get_str("kind")
        .ok()
        .and_then(|kind| kind.parse::<ActivityKind>().ok());
    let post = fields::uuid(&item.more, "post").ok().map(Into::into);
    let user = item
        .more
        .get_str("user")
        .ok()
        .and_then(|handle| handle.parse().ok());
    let id = match Reaction::of(item) {
        Some(Reaction::Comment(_, comment)) => comment,
        Some(Reaction::Like(_) | Reaction::Share(_) | Reaction::Follow(_)) | None => item.id,
    };
    Ok(Activity {
        id: id.into(),
        kind: kind.ok_or_else(|| malformed("an activity without a kind"))?,
        at: item.at,
        post,
        user,
    })
}
