//! The parameters of a feed page's request.

use feed::{End, Paging};
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use model::{Cursor, Handle, Kind, PostId, Problem, Tag};
use store::posts::Order;
use ui::request::query;

/// The address of a list from its oldest item, within the page's own.
pub const OLDEST: &str = "?order=oldest";

/// The stretch of its list that a page shows, and how many items come before it.
#[derive(Clone, Default)]
pub struct ListPosition {
    /// What to ask the feed for.
    pub paging: Paging,
    /// As the link to this page says; 0 for the beginning.
    pub before: u64,
    /// What else addresses of this list have in front of the place, as in `q=weir&`.
    pub query: String,
}

impl ListPosition {
    /// The place named by `?order=…&cursor=…&from=…`.
    pub fn of_this_request() -> Result<Self, Problem> {
        let end = match query("order").as_deref() {
            Some("oldest") => End::Oldest,
            _ => End::Newest,
        };
        let after = query("cursor").map(|cursor| cursor.parse()).transpose()?;
        let before = query("from")
            .and_then(|from| from.parse::<u32>().ok())
            .filter(|_| after.is_some());
        Ok(Self {
            paging: Paging {
                end,
                after,
                ..Paging::default()
            },
            before: before.unwrap_or(0).into(),
            query: String::new(),
        })
    }

    /// The same for a list with short rows: a stretch has more of them.
    pub fn in_short_rows() -> Result<Self, Problem> {
        let mut place = Self::of_this_request()?;
        place.paging.limit = 50;
        Ok(place)
    }

    /// The same for a list of posts in some order, whose cursors it checks.
    pub fn of_posts(order: Order) -> Result<Self, Problem> {
        let mut place = Self::of_this_request()?;
        place.paging.end = End::Newest;
        match place.paging.after {
            Some(cursor) if !order.issued(cursor) => Err(Cursor::invalid()),
            _ => Ok(place),
        }
    }

    /// The same, where addresses of the list have this in front of the place.
    #[must_use]
    pub fn with_query(self, query: impl Into<String>) -> Self {
        let query = query.into();
        Self { query, ..self }
    }

    /// Whether the page shows the newest items of its list.
    pub fn is_at_the_newest(&self) -> bool {
        self.paging.after.is_none() && self.paging.end == End::Newest
    }

    /// The address of the beginning of the list, within the page's own.
    pub fn href_of_the_newest(&self) -> String {
        format!("?{}", self.query.trim_end_matches('&'))
    }

    /// The address of this place within the page's own; `None` if it is the page's own.
    pub fn href(&self) -> Option<String> {
        match self.paging.after {
            Some(cursor) => Some(self.href_after(&cursor.to_string(), self.before)),
            None if self.paging.end == End::Oldest => Some(OLDEST.to_owned()),
            None if !self.query.is_empty() => Some(self.href_of_the_newest()),
            None => None,
        }
    }

    /// The address where the list continues after a cursor, with this many items before it.
    pub fn href_after(&self, cursor: &str, before: u64) -> String {
        match self.paging.end {
            End::Newest => format!("?{}cursor={cursor}&from={before}", self.query),
            End::Oldest => format!("{OLDEST}&cursor={cursor}&from={before}"),
        }
    }
}

/// The post that the path names.
pub fn post_in_path() -> Result<PostId, Problem> {
    let id = use_params_map()
        .with_untracked(|params| params.get("id"))
        .unwrap_or_default();
    id.parse()
        .map_err(|_| Problem::new(Kind::NotFound, "There is no such post."))
}

/// The person that the path names as `@handle`.
pub fn person_in_path() -> Result<Handle, Problem> {
    let segment = use_params_map()
        .with_untracked(|params| params.get("handle"))
        .unwrap_or_default();
    let nothing_here = || Problem::new(Kind::NotFound, "There is no page at this address.");
    let handle = segment.strip_prefix('@').ok_or_else(nothing_here)?;
    handle
        .parse()
        .map_err(|_| Problem::new(Kind::NotFound, format!("There is nobody called @{handle}.")))
}

/// The tag that the path names.
pub fn tag_in_path() -> Result<Tag, Problem> {
    let tag = use_params_map()
        .with_untracked(|params| params.get("tag"))
        .unwrap_or_default();
    tag.parse()
        .map_err(|_| Problem::new(Kind::NotFound, "This is not a valid tag."))
}
