//! Reading lists. A list that is private is read by its owner only.

use model::{Handle, Kind, Listing, Member, Problem, Relation, Seam, Timestamp, Topic, View};
use store::overflow::Stretch;
use uuid::Uuid;

use super::people::name_or_handle;
use super::problems::to_problem;
use super::{End, Lists, Paging};

impl Lists<'_> {
    /// A stretch of a list of people, with their names.
    pub async fn members(
        self,
        owner: &Topic,
        relation: Relation,
        paging: Paging,
    ) -> Result<Listing<Member>, Problem> {
        let stretch = self.stretch(owner, relation, paging).await?;
        let handles = stretch.items.iter().filter_map(|item| item.by.as_ref());
        let people = self.0.store.people().named(handles).await.map_err(to_problem)?;
        let member = |(id, by, at): (Uuid, Handle, Timestamp)| {
            Ok(Member {
                id: id.into(),
                user: name_or_handle(&people, &by)?,
                at,
            })
        };
        let items = stretch
            .items
            .into_iter()
            .filter_map(|item| Some((item.id, item.by?, item.at)));
        Ok(Listing {
            items: items.map(member).collect::<Result<_, Problem>>()?,
            next: stretch.next.map(|cursor| cursor.to_string()),
            seams: stretch.seams,
            total: stretch.total,
        })
    }

    /// A stretch of a list, read from the requested end.
    pub(super) async fn stretch(
        self,
        owner: &Topic,
        relation: Relation,
        paging: Paging,
    ) -> Result<Stretch, Problem> {
        let Self(feed, reader) = self;
        if !View::of(owner, reader).shows(relation) {
            let kind = reader.map_or(Kind::NotSignedIn, |_| Kind::Forbidden);
            return Err(Problem::new(
                kind,
                "This list is private: only its owner can read it.",
            ));
        }
        let Paging { end, after, limit } = paging;
        let list = feed.store.list(relation);
        let read = match end {
            End::Newest => list.newest_first(owner, after, limit).await,
            End::Oldest => list.oldest_first(owner, after, limit).await,
        };
        read.map_err(to_problem)
    }
}

/// Moves a seam after an item that is left out to after the one that is shown before it; to the beginning if there is none.
/// Each item of the stretch comes with whether it is shown.
pub(super) fn keep_seams(seams: &mut [Seam], items: impl IntoIterator<Item = (Uuid, bool)>) {
    let mut before = String::new();
    for (id, is_shown) in items {
        let id = id.to_string();
        if is_shown {
            before = id;
            continue;
        }
        for seam in seams.iter_mut().filter(|seam| seam.after == id) {
            seam.after.clone_from(&before);
        }
    }
}
