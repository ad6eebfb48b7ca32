use bson::{Bson, DateTime, Document, doc};
use document::Error;
use model::Timestamp;
use store::Store;
use store::town::Claim;
use tokio::task::JoinError;
use uuid::Uuid;

use super::{Sizes, Town};

/// The parameters of a town. The same recipe makes the same town, down to the last like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// The sizes.
    pub sizes: Sizes,
    /// The seed.
    pub seed: u64,
    /// The moment at which the town ends.
    pub now: Timestamp,
}

impl Recipe {
    /// Makes the town.
    pub fn make(&self) -> Town {
        Town::generate(&self.sizes, self.seed, self.now)
    }

    /// Makes the town outside the async threads.
    pub async fn make_aside(&self) -> Result<Town, JoinError> {
        let recipe = self.clone();
        tokio::task::spawn_blocking(move || recipe.make()).await
    }

    /// The form in which the store keeps it.
    pub(super) fn to_document(&self) -> Document {
        let sizes = &self.sizes;
        let number = |size: usize| Bson::Int64(i64::try_from(size).unwrap_or(i64::MAX));
        doc! {
            "users": number(sizes.users),
            "posts": number(sizes.posts),
            "viralLikes": number(sizes.viral_likes),
            "viralComments": number(sizes.viral_comments),
            "celebrityFollowers": number(sizes.celebrity_followers),
            "powerActivities": number(sizes.power_activities),
            "seed": self.seed.cast_signed(),
            "now": DateTime::from_millis(self.now.millis()),
        }
    }

    /// `None` for an incomplete recipe.
    pub(super) fn from_document(document: &Document) -> Option<Self> {
        let size = |name| usize::try_from(document.get_i64(name).ok()?).ok();
        Some(Self {
            sizes: Sizes {
                users: size("users")?,
                posts: size("posts")?,
                viral_likes: size("viralLikes")?,
                viral_comments: size("viralComments")?,
                celebrity_followers: size("celebrityFollowers")?,
                power_activities: size("powerActivities")?,
            },
            seed: document.get_i64("seed").ok()?.cast_unsigned(),
            now: Timestamp::from_millis(document.get_datetime("now").ok()?.timestamp_millis()),
        })
    }
}

/// The recipe of a store's town, if it is one that was there before.
pub async fn recipe_of(store: &Store) -> document::Result<Option<Recipe>> {
    let town = store.town().await?;
    Ok(town.and_then(|town| Recipe::from_document(&town.recipe)))
}

/// Claims a store that has a town, to load the same one again: everybody and everything in it is removed, including
/// people who signed up.
///
/// # Errors
/// [`Error::Refused`] when there is no town, or its recipe is not known; nothing is changed then.
pub async fn claim_again(store: &Store, id: Uuid) -> document::Result<(Claim<'_>, Recipe)> {
    let Some(recipe) = recipe_of(store).await? else {
        return Err(Error::refused(
            2,
            "The store does not say what its town was made from. Start with an empty store.",
        ));
    };
    Ok((store::town::claim_again(store, id).await?, recipe))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_is_kept_whole() {
        let recipe = Recipe {
            sizes: Sizes::default(),
            seed: u64::MAX - 3,
            now: Timestamp::from_millis(1_772_366_400_000),
        };
        let mut kept = recipe.to_document();
        assert_eq!(Recipe::from_document(&kept), Some(recipe));
        kept.remove("posts");
        assert_eq!(Recipe::from_document(&kept), None);
    }
}
