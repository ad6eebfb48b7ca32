//! Reading lists. A list that is private is read by its owner only.

use model::{Kind, Listing, Member, Problem, Relation, Seam, Topic, View};
use store::overflow::Stretch;
use uuid::Uuid;

use super::people::name_or_handle;
use super::problems::to_problem;
use super::visible::visible;
use super::{End, Lists, Paging};

impl Lists<'_> {
    /// A stretch of a list of people, with their names. Those who are suspended are left out, and those whom a block
    /// concerns.
    ///
    /// # Errors
    /// [`Kind::NotFound`] when there is no such post or person for the reader, and [`Kind::Forbidden`] for a person from whom
    /// a block separates them.
    pub async fn members(
        self,
        owner: &Topic,
        relation: Relation,
        paging: Paging,
    ) -> Result<Listing<Member>, Problem> {
        let Self(feed, reader) = self;
        let (author, mut stretch) =
            futures::try_join!(feed.author_of(owner), self.stretch(owner, relation, paging))?;
        let handles = stretch.items.iter().filter_map(|item| item.by.as_ref());
        let handles = handles.chain([&author]);
        let people = feed.store.people();
        let (people, restricted) =
            futures::try_join!(people.named(handles.clone()), feed.restricted(reader, handles))
                .map_err(to_problem)?;
        visible(owner, &author, &people, &restricted)?;
        // Whom one blocks stands in the list that says so.
        let is_own = matches!(relation, Relation::Mutes | Relation::Blocks);
        let mut items = Vec::with_capacity(stretch.items.len());
        let mut are_shown = Vec::with_capacity(stretch.items.len());
        for item in stretch.items {
            let by = item.by.filter(|by| is_own || !restricted.blocks(by));
            let user = match by {
                Some(by) if is_own => Some(name_or_handle(&people, &by)?),
                Some(by) => people.get(&by).cloned(),
                None => None,
            };
            are_shown.push((item.id, user.is_some()));
            items.extend(user.map(|user| Member {
                id: item.id.into(),
                user,
                at: item.at,
            }));
        }
        keep_seams(&mut stretch.seams, are_shown);
        Ok(Listing {
            items,
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
