use model::Relation;
pub use outlier::check::{Defect, Outcome, Severity};
use serde::Serialize;

/// Something that `check` found in the store.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The owner of the list or document: `user:ada`, `post:0193…`, or a collection and an `_id` if that is no owner.
    pub owner: String,
    /// The relation, if it is about one list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<Relation>,
    /// What is wrong.
    #[serde(flatten)]
    pub violation: Violation,
    /// How bad it is.
    pub severity: Severity,
    /// What became of it.
    pub outcome: Outcome,
}

/// What can be wrong with a list, a document, or two lists that belong together.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages tell what the fields are")]
pub enum Violation {
    /// A person who is leaving, and whose traces are not all removed.
    #[error("the account is being deleted, and some of its traces remain (`leaving`)")]
    Leaving,
    /// A reader who follows an author, but whose `following` list does not have the author.
    #[error("follows, but `following` of user:{actor} does not have it")]
    FollowingMissing { actor: String },
    /// A `following` list with an author whose followers do not have the reader.
    #[error("follows {followed}, whose followers do not have them")]
    FollowerMissing { followed: String },
    /// A mute or a block that one of its two lists does not have.
    #[error("names user:{other}, whose `{list}` does not have it")]
    MirrorMissing { other: String, list: Relation },
    /// An action that is missing from its actor's activities.
    #[error("a {what} of user:{actor} is missing in their activities")]
    ActivityMissing { actor: String, what: &'static str },
    /// An activity about an item that the deciding list does not have.
    #[error("an activity names a {what} that {target} does not have")]
    ActivityUnfounded { what: &'static str, target: String },
    /// An activity about a post that was deleted.
    #[error("an activity names a {what} on {target}, which is gone")]
    TargetGone { what: &'static str, target: String },
    /// An item of a person who does not exist any more.
    #[error("an item of user:{actor}, who is gone")]
    ActorGone { actor: String },
    /// An action (like, share, comment, follow or its removal) that was begun and not finished.
    #[error("has an unfinished {what} on {target}, or its removal (`intents`)")]
    Begun { what: &'static str, target: String },
    /// A post that was published, but perhaps not delivered to all of its author's followers.
    #[error("was not delivered to all followers of its author")]
    Undelivered,
    /// A follow or unfollow that was begun and not finished. Readers of the timeline check the list.
    #[error("has an unfinished follow or unfollow of {author}")]
    TimelineInDoubt { author: String },
    /// A home timeline without posts that belong in it.
    #[error("their home timeline lacks posts of user:{author}, whom they follow")]
    TimelineLacks { author: String },
    /// A home timeline with posts that do not belong in it.
    #[error("their home timeline has posts of user:{author}, whom they do not follow")]
    TimelineUnfounded { author: String },
    /// A home timeline whose reader is gone.
    #[error("is gone, but their home timeline remains")]
    OrphanTimeline,
    /// The new text of a comment that was deleted.
    #[error("an edit of comment {comment}, which is gone")]
    EditUnfounded { comment: String },
    /// A share that is listed like a post, but was taken back.
    #[error("lists a share of {target} that was taken back")]
    ShareUnfounded { target: String },
    /// A list by itself, its pages, or a document that is malformed.
    #[error("{}", words(.0))]
    #[serde(untagged)]
    List(#[from] Defect),
}

/// What is wrong with a list, with the command that helps.
fn words(defect: &Defect) -> String {
    match defect {
        Defect::Unbounded { items } => {
            format!("one unbounded array of {items} items; `spillway migrate` turns it into head and pages")
        }
        Defect::NoList => "the list is missing; the first append or `spillway migrate` makes it".to_owned(),
        defect => defect.to_string(),
    }
}

impl From<outlier::check::Finding> for Finding {
    fn from(finding: outlier::check::Finding) -> Self {
        let (mut defect, mut outcome) = (finding.defect, finding.outcome);
        if let Defect::Duplicate { key, .. } = &mut defect
            && let Some(actor) = key.strip_prefix("by ")
        {
            *key = format!("user:{actor}");
        }
        if let (Defect::Unbounded { .. } | Defect::NoList, Outcome::Unrepairable(why)) =
            (&defect, &mut outcome)
        {
            *why = "`spillway migrate` does it";
        }
        Self {
            owner: finding.owner,
            relation: finding.list.and_then(|list| list.parse().ok()),
            severity: finding.severity,
            violation: defect.into(),
            outcome,
        }
    }
}

impl Violation {
    /// How bad it is.
    pub fn severity(&self) -> Severity {
        match self {
            Self::List(defect) => defect.severity(),
            Self::TargetGone { .. }
            | Self::ActorGone { .. }
            | Self::TimelineInDoubt { .. }
            // The lists themselves show whether anything is missing; a server may still be working on it.
            | Self::Begun { .. } => Severity::Notice,
            Self::Leaving
            | Self::FollowingMissing { .. }
            | Self::FollowerMissing { .. }
            | Self::MirrorMissing { .. }
            | Self::ActivityMissing { .. }
            | Self::ActivityUnfounded { .. }
            | Self::Undelivered
            | Self::OrphanTimeline
            | Self::EditUnfounded { .. }
            | Self::ShareUnfounded { .. } => Severity::Unfinished,
            Self::TimelineLacks { .. } | Self::TimelineUnfounded { .. } => Severity::Broken,
        }
    }

    /// The page that it is about; `None` for the head and the owner.
    pub fn page(&self) -> Option<u32> {
        match self {
            Self::List(defect) => defect.page(),
            _ => None,
        }
    }

    /// Why it cannot be repaired. Only asked about findings that were not repaired.
    pub(super) fn unrepairable(&self) -> &'static str {
        match self {
            Self::List(defect) => defect.unrepairable(),
            Self::ActorGone { .. } => "the post is kept: delete it by hand if it should go with its author",
            _ => "it kept changing: run the repair again",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_list_is_written_in_the_feeds_words() {
        let written = |defect: Defect, outcome| {
            let finding = Finding::from(outlier::check::Finding {
                owner: "user:ada".to_owned(),
                list: Some("followers".into()),
                severity: defect.severity(),
                defect,
                outcome,
            });
            (
                serde_json::to_string(&finding).unwrap(),
                finding.violation.to_string(),
            )
        };
        let (key, page) = ("by bob".to_owned(), Some(2));
        let (json, text) = written(Defect::Duplicate { key, page }, Outcome::Found);
        assert_eq!(
            json,
            r#"{"owner":"user:ada","relation":"followers","kind":"duplicate","key":"user:bob","page":2,"severity":"broken","outcome":"found"}"#
        );
        assert_eq!(text, "user:bob is stored twice, the second time in page 2");
        let (json, text) = written(
            Defect::NoList,
            Outcome::Unrepairable(Defect::NoList.unrepairable()),
        );
        assert_eq!(
            json,
            r#"{"owner":"user:ada","relation":"followers","kind":"noList","severity":"notice","outcome":{"unrepairable":"`spillway migrate` does it"}}"#
        );
        assert_eq!(
            text,
            "the list is missing; the first append or `spillway migrate` makes it"
        );
    }
}
