use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::LazyLock;

/// Where the data is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreAddress {
    /// A folder of the embedded engine.
    Embedded(PathBuf),
    /// The address of a MongoDB server, as its drivers read it. It may have a password in it.
    MongoDb(String),
}

impl StoreAddress {
    /// The default: the variable that MongoDB's own tools use, or a folder here.
    pub fn usual() -> &'static str {
        static USUAL: LazyLock<String> = LazyLock::new(|| {
            let server = std::env::var("MONGODB_URI").ok();
            server
                .filter(|address| !address.is_empty())
                .unwrap_or_else(|| "embedded:./data".to_owned())
        });
        &USUAL
    }

    /// The whole address, with its password if it has one.
    pub fn address(&self) -> String {
        match self {
            Self::Embedded(folder) => format!("embedded:{}", folder.display()),
            Self::MongoDb(address) => address.clone(),
        }
    }
}

/// Why an address of a store cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub enum BadAddress {
    /// It names no folder.
    NoFolder,
    /// Its scheme is unknown.
    Unknown,
}

impl FromStr for StoreAddress {
    type Err = BadAddress;

    fn from_str(input: &str) -> Result<Self, BadAddress> {
        match input.split_once(':') {
            Some(("embedded", "")) => Err(BadAddress::NoFolder),
            Some(("embedded", folder)) => Ok(Self::Embedded(PathBuf::from(folder))),
            Some(("mongodb" | "mongodb+srv", _)) => Ok(Self::MongoDb(input.to_owned())),
            _ => Err(BadAddress::Unknown),
        }
    }
}

/// For people: without a password.
impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded(folder) => write!(f, "{}", folder.display()),
            Self::MongoDb(address) => {
                let (scheme, rest) = address.split_once("://").unwrap_or(("mongodb", address));
                let rest = rest.split('?').next().unwrap_or_default();
                let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
                write!(f, "{scheme}://{host}")
            }
        }
    }
}

impl fmt::Display for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoFolder => "name the folder, as in embedded:./data",
            Self::Unknown => {
                "a store is embedded:<folder>, as in embedded:./data, or mongodb://host/database"
            }
        })
    }
}

impl std::error::Error for BadAddress {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_embedded_store_is_a_folder() {
        assert_eq!(
            "embedded:./data".parse(),
            Ok(StoreAddress::Embedded(PathBuf::from("./data")))
        );
    }

    #[test]
    fn a_server_is_shown_without_its_password() {
        for (address, shown) in [
            ("mongodb://127.0.0.1/spillway", "mongodb://127.0.0.1/spillway"),
            (
                "mongodb://ada:p%40ss@db:27017/feed?w=1",
                "mongodb://db:27017/feed",
            ),
            (
                "mongodb+srv://ada:p@ss@cluster.example.org",
                "mongodb+srv://cluster.example.org",
            ),
        ] {
            let parsed: StoreAddress = address.parse().unwrap();
            assert_eq!(parsed, StoreAddress::MongoDb(address.to_owned()));
            assert_eq!(
                (parsed.address().as_str(), parsed.to_string().as_str()),
                (address, shown)
            );
        }
    }

    #[test]
    fn unknown_stores_are_refused_with_the_known_kinds() {
        for (address, why) in [
            ("embedded:", BadAddress::NoFolder),
            ("./data", BadAddress::Unknown),
            ("", BadAddress::Unknown),
        ] {
            assert_eq!(address.parse::<StoreAddress>(), Err(why), "{address}");
        }
        assert!(BadAddress::Unknown.to_string().contains("embedded:<folder>"));
    }
}
