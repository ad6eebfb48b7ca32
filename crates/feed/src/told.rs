//! Reading what somebody was told of. A notification names only its kind and post; who and what are read with it.

use std::collections::{HashMap, HashSet};

use futures::future::try_join_all;
use model::{
    Handle, Notification, NotificationKind, Notifications as Told, Person, PostId, Problem, Relation,
    Timestamp, Topic,
};
use outlier::fields;
use store::notifications::{Read, Recent, Unread};
use store::overflow::Item;

use super::lists::keep_seams;
use super::problems::{missing, to_problem};
use super::{Lists, Paging};

/// How many comments with mentions, and replies, are looked up at once.
const AT_ONCE: usize = 8;

/// The unread notifications of a stretch.
#[derive(Default)]
pub(super) struct Seen {
    /// How many there are.
    pub unread: u64,
    /// How many of them are not shown.
    pub hidden: u64,
}

/// A notification as stored.
struct Stored {
    item: Item,
    kind: NotificationKind,
    post: Option<PostId>,
    comment: Option<uuid::Uuid>,
}

/// What a notification is about.
type About = (NotificationKind, Option<PostId>, Option<uuid::Uuid>);

impl Stored {
    fn about(&self) -> About {
        (self.kind, self.post, self.comment)
    }

    fn read(item: Item) -> Result<Self, Problem> {
        let kind = item.more.get_str("kind").unwrap_or_default().parse()?;
        let post = fields::uuid(&item.more, "post").ok().map(PostId::from);
        let comment = fields::uuid(&item.more, "comment").ok();
        Ok(Self {
            item,
            kind,
            post,
            comment,
        })
    }
}

/// The latest that the reader has marked as read of each post and kind. The rest of the stretch may tell again of it,
/// because somebody did the same since then and took it back.
fn known_until(stored: &[Stored], read: Read) -> HashMap<About, Timestamp> {
    let read = stored.iter().filter(|stored| stored.item.at <= read.at);
    let mut known = HashMap::new();
    for stored in read {
        let until = known.entry(stored.about()).or_insert(stored.item.at);
        *until = stored.item.at.max(*until);
    }
    known
}

/// What notifications are about, as it is now.
struct Objects {
    read: Read,
    posts: HashMap<PostId, store::posts::StoredPost>,
    likes: HashMap<PostId, Recent>,
    shares: HashMap<PostId, Recent>,
    comments: HashMap<PostId, Recent>,
    /// The comments with mentions, and replies. Comments on two posts may have one id.
    mentioning: HashMap<(PostId, uuid::Uuid), Item>,
    followers: Recent,
    /// Of the people whom the reader may see.
    names: HashMap<Handle, Person>,
}

impl Lists<'_> {
    /// A stretch of a person's notifications, the latest first. Several about the same are one. The work is bounded by
    /// the length of the stretch: at most three finds for each kind in it, and one for each comment with a mention and each
    /// reply.
    pub async fn notifications(self, owner: &Handle, paging: Paging) -> Result<Told, Problem> {
        let look = self.0.hidden_notifications.look();
        let (mut told, seen) = self.told(owner, paging).await?;
        let stored = Unread {
            unread: told.unread,
            read: told.total.saturating_sub(told.unread),
        };
        if paging.after.is_none() {
            self.0.hidden_notifications.drop_found(owner);
        }
        if seen.unread == stored.unread {
            self.0.keep_hidden(owner, (stored, seen.hidden), look);
        }
        told.unread = self.0.shown_unread(owner, stored).await;
        Ok(told)
    }

    /// The same with the stored number of unread ones, and how many of those in the stretch are not shown.
    pub(super) async fn told(self, owner: &Handle, paging: Paging) -> Result<(Told, Seen), Problem> {
        let topic = Topic::User(owner.clone());
        let stretch = self.stretch(&topic, Relation::Notifications, paging).await?;
        let until = stretch.items.iter().map(|item| item.at).max();
        let stored = stretch.items.into_iter().map(Stored::read);
        let stored: Vec<Stored> = stored.collect::<Result<_, _>>()?;
        let read = self
            .0
            .store
            .notifications()
            .read(owner)
            .await
            .map_err(to_problem)?;
        let (read, unread) = read.ok_or_else(|| missing(&topic.to_string()))?;
        let objects = self.objects(owner, &stored, read).await?;
        let (mut items, mut about, mut seams) = (Vec::new(), HashSet::new(), stretch.seams);
        let mut are_shown = Vec::with_capacity(stored.len());
        let mut seen = Seen::default();
        let known = known_until(&stored, read);
        for stored in stored {
            let (id, is_unread) = (stored.item.id, stored.item.at > read.at);
            let known = known.get(&stored.about()).filter(|_| is_unread);
            let shown = if known.is_some_and(|until| objects.has_nothing_since(owner, &stored, *until)) {
                None
            } else {
                let is_first = about.insert(stored.about());
                objects.shown(owner, stored).filter(|_| is_first)
            };
            seen.unread += u64::from(is_unread);
            seen.hidden += u64::from(is_unread && shown.is_none());
            are_shown.push((id, shown.is_some()));
            items.extend(shown);
        }
        keep_seams(&mut seams, are_shown);
        let told = Told {
            items,
            next: stretch.next.map(|cursor| cursor.to_string()),
            seams,
            total: stretch.total,
            until,
            unread,
        };
        Ok((told, seen))
    }

    async fn objects(self, owner: &Handle, stored: &[Stored], read: Read) -> Result<Objects, Problem> {
        let store = &self.0.store;
        let all: Vec<PostId> = stored.iter().filter_map(|stored| stored.post).collect();
        let of = |kind| -> Vec<PostId> {
            let of_it = stored.iter().filter(|stored| stored.kind == kind);
            of_it.filter_map(|stored| stored.post).collect()
        };
        let notifications = store.notifications();
        let recent = |kind, relation| {
            let (posts, notifications) = (of(kind), store.notifications());
            async move { notifications.recent_of_posts(&posts, relation).await }
        };
        let follows = stored
            .iter()
            .any(|stored| stored.kind == NotificationKind::Follow);
        let followers = async {
            if follows {
                notifications.recent_followers(owner).await
            } else {
                Ok(Recent::default())
            }
        };
        let mentions: Vec<(PostId, uuid::Uuid)> = stored
            .iter()
            .filter_map(|stored| Some((stored.post?, stored.comment?)))
            .collect();
        let mentioning = async {
            let mut found = HashMap::new();
            for some in mentions.chunks(AT_ONCE) {
                let looked = some.iter().map(|&(post, comment)| async move {
                    let found = store.comments().as_written(post, comment).await?;
                    document::Result::Ok(found.map(|item| ((post, comment), item)))
                });
                found.extend(try_join_all(looked).await?.into_iter().flatten());
            }
            Ok(found)
        };
        let stored_posts = store.posts();
        let (mut posts, mut likes, mut shares, mut comments, mut mentioning, followers) = futures::try_join!(
            stored_posts.several(&all),
            recent(NotificationKind::Like, Relation::Likes),
            recent(NotificationKind::Share, Relation::Shares),
            recent(NotificationKind::Comment, Relation::Comments),
            mentioning,
            followers
        )
        .map_err(to_problem)?;
        let ends = [&likes, &shares, &comments].into_iter().flat_map(HashMap::values);
        let items = ends.chain([&followers]).flat_map(|recent| &recent.items);
        let people = items
            .chain(mentioning.values())
            .filter_map(|item| item.by.as_ref());
        let people = people.chain(posts.values().map(|post| &post.author));
        let people: HashSet<Handle> = people.cloned().collect();
        let mut edited = Vec::new();
        for (post, recent) in &mut comments {
            edited.extend(recent.items.iter_mut().map(|comment| (*post, comment)));
        }
        edited.extend(mentioning.iter_mut().map(|((post, _), comment)| (*post, comment)));
        let (stored_people, stored_comments) = (store.people(), store.comments());
        let (mut names, restricted, (), (), ()) = futures::try_join!(
            stored_people.named(&people),
            self.0.restricted(Some(owner), people.iter()),
            stored_comments.edit_in_place(edited),
            self.count_others(owner, Relation::Likes, &mut likes),
            self.count_others(owner, Relation::Shares, &mut shares)
        )
        .map_err(to_problem)?;
        posts.retain(|_, post| names.contains_key(&post.author) && !restricted.blocks(&post.author));
        names.retain(|person, _| !restricted.hides(person));
        Ok(Objects {
            read,
            posts,
            likes,
            shares,
            comments,
            mentioning,
            followers,
            names,
        })
    }

    /// Leaves the reader's own item out of the count where it is older than the latest ones.
    async fn count_others(
        self,
        reader: &Handle,
        relation: Relation,
        lists: &mut HashMap<PostId, Recent>,
    ) -> document::Result<()> {
        let is_own = |item: &Item| item.by.as_ref() == Some(reader);
        let longer = lists
            .iter()
            .filter(|(_, list)| list.count > list.items.len() as u64 && !list.items.iter().any(is_own));
        let longer: Vec<PostId> = longer.map(|(post, _)| *post).collect();
        let stored = self.0.store.posts();
        let [own] = stored.with_actor(&longer, [relation], Some(reader)).await?;
        for post in own {
            if let Some(list) = lists.get_mut(&post) {
                list.count -= 1;
            }
        }
        Ok(())
    }
}

impl Objects {
    /// Whether nobody whom the reader sees did this after a time.
    fn has_nothing_since(&self, reader: &Handle, stored: &Stored, until: Timestamp) -> bool {
        let of_posts = match stored.kind {
            NotificationKind::Like => Some(&self.likes),
            NotificationKind::Share => Some(&self.shares),
            NotificationKind::Comment => Some(&self.comments),
            NotificationKind::Follow => None,
            NotificationKind::Mention | NotificationKind::Reply | NotificationKind::Quote => return false,
        };
        let recent = match (of_posts, stored.post) {
            (Some(lists), Some(post)) => lists.get(&post),
            _ => Some(&self.followers),
        };
        let is_new = |item: &Item| item.at > until && self.is_by_another(reader, item);
        recent.is_some_and(|recent| !recent.items.iter().any(is_new))
    }

    /// Whether somebody else did this, whom the reader sees.
    fn is_by_another(&self, reader: &Handle, item: &Item) -> bool {
        let by = item.by.as_ref();
        by.is_some_and(|by| by != reader && self.names.contains_key(by))
    }

    /// The notification as its reader sees it; `None` if what it is about is gone.
    fn shown(&self, reader: &Handle, stored: Stored) -> Option<Notification> {
        let Stored {
            item,
            kind,
            post,
            comment,
            ..
        } = stored;
        let about = match post {
            Some(post) => Some(self.posts.get(&post)?),
            None => None,
        };
        let mut text = about.map(|post| post.text.to_string());
        let (by, others) = match kind {
            NotificationKind::Like => self.latest(reader, self.likes.get(&post?)?)?,
            NotificationKind::Share => self.latest(reader, self.shares.get(&post?)?)?,
            NotificationKind::Follow => self.latest(reader, &self.followers)?,
            NotificationKind::Comment => {
                let recent = self.comments.get(&post?)?;
                let (by, _) = self.latest(reader, recent)?;
                let of_others = |item: &&Item| self.is_by_another(reader, item);
                let latest = recent.items.iter().find(of_others)?;
                text = Some(latest.more.get_str("text").ok()?.to_owned());
                let people: HashSet<_> = recent
                    .items
                    .iter()
                    .filter(of_others)
                    .map(|item| &item.by)
                    .collect();
                (by, people.len() as u64 - 1)
            }
            NotificationKind::Mention | NotificationKind::Reply | NotificationKind::Quote => {
                let by = match comment {
                    Some(comment) => {
                        let comment = self.mentioning.get(&(post?, comment))?;
                        text = Some(comment.more.get_str("text").ok()?.to_owned());
                        comment.by.as_ref()?
                    }
                    None => &about?.author,
                };
                if kind == NotificationKind::Mention
                    && !Handle::mentioned_in(text.as_deref()?).contains(reader)
                {
                    // The mention was edited away.
                    return None;
                }
                (self.names.get(by)?.clone(), 0)
            }
        };
        Some(Notification {
            id: item.id.into(),
            kind,
            at: item.at,
            by,
            others,
            post,
            comment: comment.map(Into::into),
            text,
            unread: item.at > self.read.at,
        })
    }

    /// The latest person in a list besides the reader, and how many others it has.
    fn latest(&self, reader: &Handle, recent: &Recent) -> Option<(Person, u64)> {
        let people = recent.items.iter().filter_map(|item| item.by.as_ref());
        let not_shown = people
            .clone()
            .filter(|by| *by == reader || !self.names.contains_key(*by))
            .count() as u64;
        let latest = people
            .filter(|by| *by != reader)
            .find_map(|by| self.names.get(by).cloned())?;
        Some((latest, recent.count.saturating_sub(not_shown + 1)))
    }
}
