//! The relations of the feed: one table, from which documents, limits, addresses, pages and exports are derived.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{ActivityKind, Handle, Problem, Topic};

/// What distinguishes a relation from the others.
#[derive(Debug, Clone, Copy)]
pub struct Description {
    /// The field of the owner document, which is also the `relation` of a page.
    pub field: &'static str,
    /// The last segment of the list's addresses, in the API and among the pages.
    pub segment: &'static str,
    /// The title of the page that shows a list.
    pub title: &'static str,
    /// One new item, and several.
    pub news: (&'static str, &'static str),
    /// What the page of an empty list says.
    pub empty: &'static str,
    /// What it lists.
    pub items: Items,
    /// Where its items are recorded a second time.
    pub counterpart: Counterpart,
    /// Who may read it.
    pub readers: Readers,
    /// How many items a head and a page may hold by default. Every append rewrites the head, so its threshold is a
    /// byte budget (about 10 KB) divided by the size of an item: 63 bytes for a like or follow, 95 for an activity, 170
    /// for a comment. A page is a little smaller, so that a spill leaves the newest items behind and the first screen
    /// needs no page.
    pub limits: (usize, usize),
}

/// The documents that a list may belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owners {
    /// User documents.
    People,
    /// Post documents.
    Posts,
}

/// The forms of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Items {
    /// What the owner did. An item is identified by its id.
    Activities,
    /// People, each at most once: an item is identified by the person.
    People,
    /// Comments, any number by the same person. An item is identified by its id.
    Comments,
    /// Posts, each at most once: an item has the id of its post.
    Posts,
    /// What others did that concerns the owner. An item is identified by its id.
    Notifications,
}

/// The other place where an item is recorded. Both places agree, except for a moment; a check of the store compares
/// them, and somebody who leaves is removed from both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counterpart {
    /// None: the item is in this list only.
    Nothing,
    /// The activities of the person in `by`, as one of this kind. A follow is in what they follow, too.
    Activity(ActivityKind),
    /// The followers of the person in `by`.
    Followers,
    /// The post that the activity is about, or the list that decides whether somebody reacted.
    Object,
    /// The list of this relation of the person in `by`, with the same id.
    Mirror(Relation),
}

/// The people who may read a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Everybody, signed in or not.
    Everybody,
    /// The person whose list it is.
    Owner,
    /// Nobody: others named its owner, and only the store looks it up.
    Nobody,
}

macro_rules! relations {
    (
        people: $($(#[$meta:meta])+ $of_a_user:ident: $user_list:expr,)+
        posts: $($(#[$post_meta:meta])+ $of_a_post:ident: $post_list:expr,)+
    ) => {
        /// One list that an owner has.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        pub enum Relation {
            $($(#[$meta])+ $of_a_user,)+
            $($(#[$post_meta])+ $of_a_post,)+
        }

        impl Relation {
            /// The lists of a user document.
            pub const OF_A_USER: [Self; [$(stringify!($of_a_user)),+].len()] = [$(Self::$of_a_user),+];
            /// The lists of a post document.
            pub const OF_A_POST: [Self; [$(stringify!($of_a_post)),+].len()] = [$(Self::$of_a_post),+];
            /// All of them, users' first.
            pub const ALL: [Self; Self::OF_A_USER.len() + Self::OF_A_POST.len()] =
                [$(Self::$of_a_user,)+ $(Self::$of_a_post),+];

            /// Who has such a list.
            pub const fn owners(self) -> Owners {
                match self {
                    $(Self::$of_a_user)|+ => Owners::People,
                    $(Self::$of_a_post)|+ => Owners::Posts,
                }
            }

            /// What distinguishes it from the others.
            pub const fn description(self) -> &'static Description {
                match self {
                    $(Self::$of_a_user => const { &$user_list },)+
                    $(Self::$of_a_post => const { &$post_list },)+
                }
            }
        }
    };
}

relations! {
    people:
    /// What a person did, newest first.
    Activities: Description {
        field: "activities",
        segment: "activity",
        title: "Activity",
        news: ("new activity", "new activities"),
        empty: "Nothing yet. Their posts, likes, shares, comments and follows appear here.",
        items: Items::Activities,
        counterpart: Counterpart::Object,
        readers: Readers::Everybody,
        limits: (120, 96),
    },
    /// Who follows a person.
    Followers: Description {
        field: "followers",
        segment: "followers",
        title: "Followers",
        news: ("new follower", "new followers"),
        empty: "No followers yet.",
        items: Items::People,
        counterpart: Counterpart::Activity(ActivityKind::Follow),
        readers: Readers::Everybody,
        limits: (160, 128),
    },
    /// Whom a person follows.
    Following: Description {
        field: "following",
        segment: "following",
        title: "Following",
        news: ("newly followed", "newly followed"),
        empty: "Follows nobody yet. Explore has plenty of people to follow.",
        items: Items::People,
        counterpart: Counterpart::Followers,
        readers: Readers::Everybody,
        limits: (160, 128),
    },
    /// The posts that a person keeps for themselves.
    Bookmarks: Description {
        field: "bookmarks",
        segment: "bookmarks",
        title: "Bookmarks",
        news: ("new bookmark", "new bookmarks"),
        empty: "No bookmarks yet. A post's own page has the button.",
        items: Items::Posts,
        counterpart: Counterpart::Nothing,
        readers: Readers::Owner,
        limits: (160, 128),
    },
    /// What a person is told of.
    Notifications: Description {
        field: "notifications",
        segment: "notifications",
        title: "Notifications",
        news: ("new notification", "new notifications"),
        empty: "Nothing yet. Likes, comments, shares, follows and mentions appear here.",
        items: Items::Notifications,
        counterpart: Counterpart::Nothing,
        readers: Readers::Owner,
        limits: (120, 96),
    },
    /// The posts that a person does not want to see in feeds.
    Hidden: Description {
        field: "hidden",
        segment: "hidden",
        title: "Hidden posts",
        news: ("newly hidden post", "newly hidden posts"),
        empty: "You hide no post. A post's own page has the button.",
        items: Items::Posts,
        counterpart: Counterpart::Nothing,
        readers: Readers::Owner,
        limits: (160, 128),
    },
    /// Whom a person mutes: they do not see these people's posts.
    Mutes: Description {
        field: "mutes",
        segment: "mutes",
        title: "Muted people",
        news: ("newly muted", "newly muted"),
        empty: "You mute nobody. A person's page has the button, under “More”.",
        items: Items::People,
        counterpart: Counterpart::Mirror(Relation::Muters),
        readers: Readers::Owner,
        limits: (160, 128),
    },
    /// Who mutes a person.
    Muters: Description {
        field: "muters",
        segment: "muters",
        title: "Muted by",
        news: ("newly muted by", "newly muted by"),
        empty: "Nobody.",
        items: Items::People,
        counterpart: Counterpart::Mirror(Relation::Mutes),
        readers: Readers::Nobody,
        limits: (160, 128),
    },
    /// Whom a person blocks: neither sees the other's posts, nor can react to them.
    Blocks: Description {
        field: "blocks",
        segment: "blocks",
        title: "Blocked people",
        news: ("newly blocked", "newly blocked"),
        empty: "You block nobody. A person's page has the button, under “More”.",
        items: Items::People,
        counterpart: Counterpart::Mirror(Relation::Blockers),
        readers: Readers::Owner,
        limits: (160, 128),
    },
    /// Who blocks a person.
    Blockers: Description {
        field: "blockers",
        segment: "blockers",
        title: "Blocked by",
        news: ("newly blocked by", "newly blocked by"),
        empty: "Nobody.",
        items: Items::People,
        counterpart: Counterpart::Mirror(Relation::Blocks),
        readers: Readers::Nobody,
        limits: (160, 128),
    },
    posts:
    /// Who likes a post.
    Likes: Description {
        field: "likes",
        segment: "likes",
        title: "Likes",
        news: ("new like", "new likes"),
        empty: "Nobody likes this yet. You could be the first.",
        items: Items::People,
        counterpart: Counterpart::Activity(ActivityKind::Like),
        readers: Readers::Everybody,
        limits: (160, 128),
    },
    /// What people said about a post.
    Comments: Description {
        field: "comments",
        segment: "comments",
        title: "Comments",
        news: ("new comment", "new comments"),
        empty: "No comments yet. Say something kind.",
        items: Items::Comments,
        counterpart: Counterpart::Activity(ActivityKind::Comment),
        readers: Readers::Everybody,
        limits: (64, 44),
    },
    /// Who shared a post.
    Shares: Description {
        field: "shares",
        segment: "shares",
        title: "Shares",
        news: ("new share", "new shares"),
        empty: "Nobody has shared this yet. You could be the first.",
        items: Items::People,
        counterpart: Counterpart::Activity(ActivityKind::Share),
        readers: Readers::Everybody,
        limits: (160, 128),
    },
}

impl Relation {
    /// The field of the owner document, which is also the `relation` of a page.
    pub const fn as_str(self) -> &'static str {
        self.description().field
    }

    /// Whether an actor may appear only once (a like, a share, a follow); otherwise an item is identified by its id.
    pub const fn once_per_actor(self) -> bool {
        match self.description().items {
            Items::People => true,
            Items::Activities | Items::Comments | Items::Posts | Items::Notifications => false,
        }
    }
}

// A post's document does not name a reader, so a list that is private to its owner belongs to a person.
const _: () = {
    let mut at = 0;
    while at < Relation::OF_A_POST.len() {
        let readers = Relation::OF_A_POST[at].description().readers;
        assert!(
            matches!(readers, Readers::Everybody),
            "a list of a post is public"
        );
        at += 1;
    }
};

/// Which lists of an owner somebody may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum View {
    /// All of them.
    Own,
    /// Those that are not private.
    Public,
}

impl View {
    /// What a reader may see of an owner. If nothing of the owner is private, everybody has the same view.
    pub fn of(owner: &Topic, reader: Option<&Handle>) -> Self {
        let own = match owner {
            Topic::User(handle) => reader == Some(handle),
            Topic::Post(_) => false,
        };
        if own && !owner.relations().iter().all(|list| Self::Public.shows(*list)) {
            Self::Own
        } else {
            Self::Public
        }
    }

    /// Whether it includes the owner's list of this relation.
    pub const fn shows(self, relation: Relation) -> bool {
        match relation.description().readers {
            Readers::Everybody => true,
            Readers::Owner => matches!(self, Self::Own),
            Readers::Nobody => false,
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Relation {
    type Err = Problem;

    fn from_str(input: &str) -> Result<Self, Problem> {
        let found = Self::ALL.into_iter().find(|relation| relation.as_str() == input);
        found.ok_or_else(|| {
            let all = Self::ALL.map(Self::as_str).join(", ");
            Problem::invalid("relation", format!("A relation is one of {all}."))
        })
    }
}
