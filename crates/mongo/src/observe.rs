//! Connecting to somebody's server only to read from it.

use std::time::Duration;

use bson::{DateTime, doc};
use mongodb::Client;
use mongodb::options::{ClientOptions, ReadPreference, SelectionCriteria};

use crate::ConnectError;
use crate::connect::{Secret, describe, hosts, refused};
use crate::options::SELECTION_TIMEOUT;

/// How long a server that reads a whole collection may leave the driver's own questions unanswered. The driver then ends
/// every connection to it. A server that is not there is noticed sooner, while one is selected.
const BUSY: Duration = Duration::from_mins(1);

/// A connection through which nothing of ours is written.
#[derive(Debug, Clone)]
pub struct Observer {
    /// The driver's client.
    pub client: Client,
    /// The hosts of the address, for messages.
    pub server: String,
    /// The database that the address names, if any.
    pub database: Option<String>,
    /// The server's clock when the connection was made, if it told.
    pub now: Option<DateTime>,
}

impl Observer {
    /// Connects, and waits until the server answers. With `secondary`, reads go to a secondary where there is one;
    /// otherwise the address decides.
    ///
    /// # Errors
    /// A [`ConnectError`] that says what to do next and contains no password.
    pub async fn connect(address: &str, secondary: bool) -> Result<Self, ConnectError> {
        let secret = Secret::of(address);
        let unusable = |error: mongodb::error::Error| ConnectError::Address(secret.hide(&describe(&error)));
        let mut options = ClientOptions::parse(address).await.map_err(unusable)?;
        options.app_name.get_or_insert_with(|| "outlier".to_owned());
        options.server_selection_timeout.get_or_insert(SELECTION_TIMEOUT);
        options.connect_timeout.get_or_insert(BUSY);
        if secondary {
            let preference = ReadPreference::SecondaryPreferred {
                options: Option::default(),
            };
            options.selection_criteria = Some(SelectionCriteria::ReadPreference(preference));
        }
        let server = hosts(&options);
        let database = options.default_database.clone();
        let criteria = options.selection_criteria.clone();
        let client = Client::with_options(options).map_err(unusable)?;
        let admin = client.database("admin");
        let mut ping = admin.run_command(doc! { "hello": 1 });
        if let Some(criteria) = criteria {
            ping = ping.selection_criteria(criteria);
        }
        let now = match ping.await {
            Ok(hello) => hello.get_datetime("localTime").ok().copied(),
            // A server that does not know the command is there all the same.
            Err(error) if matches!(&*error.kind, mongodb::error::ErrorKind::Command(_)) => {
                let refusal = refused(server.clone(), &error, &secret);
                if matches!(refusal, ConnectError::Login { .. }) {
                    return Err(refusal);
                }
                None
            }
            Err(error) => return Err(refused(server, &error, &secret)),
        };
        Ok(Self {
            client,
            server,
            database,
            now,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_wrong_address_is_refused_without_its_password() {
        for address in [
            "postgres://ada:hunter2@127.0.0.1/shop",
            "mongodb://ada:hunter2@127.0.0.1:9/shop?serverSelectionTimeoutMS=200",
        ] {
            let refused = Observer::connect(address, true).await.err().unwrap();
            let text = format!("{refused} {refused:?}");
            assert!(!text.contains("hunter2"), "{text}");
        }
    }
}
