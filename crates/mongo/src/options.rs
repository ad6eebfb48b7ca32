//! The options of an address: those that are refused, and those that it leaves open.

use std::time::Duration;

use mongodb::options::{
    Acknowledgment, ClientOptions, ReadConcern, ReadConcernLevel, ReadPreference, SelectionCriteria,
    WriteConcern,
};

use crate::ConnectError;

/// How long to look for a server that can take a command, and how long to wait for one connection, unless the address
/// says otherwise. A person waits for most commands.
pub(crate) const SELECTION_TIMEOUT: Duration = Duration::from_secs(5);
pub(crate) const CONNECTION: Duration = Duration::from_secs(5);

/// The most connections to one server, unless the address says otherwise.
const CONNECTIONS: u32 = 64;

/// Refuses what is safe on no server.
pub fn refuse_unsafe(options: &ClientOptions) -> Result<(), ConnectError> {
    let primary = match &options.selection_criteria {
        None => true,
        Some(SelectionCriteria::ReadPreference(preference)) => matches!(preference, ReadPreference::Primary),
        Some(_) => false,
    };
    let concern = options.write_concern.as_ref();
    let (option, why) = if !primary {
        let why = "a secondary may not know yet of a write that the store relies on";
        ("readPreference", why)
    } else if concern.is_some_and(|concern| concern.w == Some(Acknowledgment::Nodes(0))) {
        ("w=0", "the store would not learn whether anything was written")
    } else if concern.is_some_and(|concern| concern.journal == Some(false)) {
        let why = "a write that was answered could be lost when the power fails";
        ("journal=false", why)
    } else {
        return Ok(());
    };
    Err(ConnectError::Unsafe { option, why })
}

/// Fills in the options that the address leaves open.
pub fn prepare(options: &mut ClientOptions) {
    options.app_name.get_or_insert_with(|| "spillway".to_owned());
    options.server_selection_timeout.get_or_insert(SELECTION_TIMEOUT);
    options.connect_timeout.get_or_insert(CONNECTION);
    options.max_pool_size.get_or_insert(CONNECTIONS);
    let concern = options
        .write_concern
        .get_or_insert_with(|| WriteConcern::builder().build());
    concern.w.get_or_insert(Acknowledgment::Majority);
    concern.journal.get_or_insert(true);
}

/// Refuses what is safe only on a single server: a replica set rolls back writes that a majority does not have when
/// its primary is replaced.
pub fn refuse_less_than_majority(
    read: Option<&ReadConcern>,
    write: Option<&WriteConcern>,
) -> Result<(), ConnectError> {
    let level = read.map(|concern| &concern.level);
    let (option, why) = match (level, write.and_then(|concern| concern.w.as_ref())) {
        (Some(ReadConcernLevel::Local), _) => (
            "readConcernLevel=local",
            "a read may see what is taken back later",
        ),
        (Some(ReadConcernLevel::Available), _) => (
            "readConcernLevel=available",
            "a read may see what is taken back later, or what another shard has taken over",
        ),
        (None | Some(ReadConcernLevel::Majority), None | Some(Acknowledgment::Majority)) => return Ok(()),
        (None | Some(ReadConcernLevel::Majority), Some(_)) => (
            "w",
            "a write that less than a majority has is lost when the primary is replaced; w=majority is used without it",
        ),
        (Some(_), _) => (
            "readConcernLevel",
            "the store reads what a majority has, in causally consistent sessions, which takes readConcernLevel=majority",
        ),
    };
    Err(ConnectError::Unsafe { option, why })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn read_and_write_concerns_below_majority_are_refused_in_a_replica_set() {
        for (option, refused) in [
            (
                "readConcernLevel=local",
                Some("readConcernLevel=local cannot be used"),
            ),
            (
                "readConcernLevel=available",
                Some("readConcernLevel=available cannot be used"),
            ),
            (
                "readConcernLevel=linearizable",
                Some("readConcernLevel cannot be used"),
            ),
            ("w=1", Some("w cannot be used")),
            ("w=2", Some("w cannot be used")),
            ("w=mytag", Some("w cannot be used")),
            ("w=majority", None),
            ("readConcernLevel=majority", None),
            ("journal=true", None),
        ] {
            let options = ClientOptions::parse(format!("mongodb://127.0.0.1/?{option}"))
                .await
                .unwrap();
            let answer =
                refuse_less_than_majority(options.read_concern.as_ref(), options.write_concern.as_ref());
            let message = answer.err().map(|error| error.to_string());
            match refused {
                None => assert_eq!(message, None, "{option}"),
                Some(start) => assert!(message.unwrap().starts_with(start), "{option}"),
            }
        }
    }

    #[tokio::test]
    async fn options_in_the_address_override_the_defaults() {
        let address = "mongodb://127.0.0.1/?w=1&maxPoolSize=3&appName=mine&serverSelectionTimeoutMS=70";
        let mut options = ClientOptions::parse(address).await.unwrap();
        prepare(&mut options);
        let concern = options.write_concern.unwrap();
        assert_eq!(concern.w, Some(Acknowledgment::Nodes(1)));
        assert_eq!(concern.journal, Some(true));
        assert_eq!(options.max_pool_size, Some(3));
        assert_eq!(options.app_name.as_deref(), Some("mine"));
        assert_eq!(options.server_selection_timeout, Some(Duration::from_millis(70)));
        assert_eq!(options.connect_timeout, Some(CONNECTION));
    }
}
