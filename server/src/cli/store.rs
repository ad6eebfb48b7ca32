use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where the data is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreAddress {
    /// A folder of the embedded engine.
    Embedded(PathBuf),
}

/// Why an address of a store cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub enum BadAddress {
    /// It is MongoDB's.
    MongoDb,
    /// It names no folder.
    NoFolder,
    /// It is of no kind that there is.
    Unknown,
}

impl FromStr for StoreAddress {
    type Err = BadAddress;

    fn from_str(input: &str) -> Result<Self, BadAddress> {
        match input.split_once(':') {
            Some(("embedded", "")) => Err(BadAddress::NoFolder),
            Some(("embedded", folder)) => Ok(Self::Embedded(PathBuf::from(folder))),
            Some(("mongodb" | "mongodb+srv", _)) => Err(BadAddress::MongoDb),
            _ => Err(BadAddress::Unknown),
        }
    }
}

impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded(folder) => write!(f, "embedded:{}", folder.display()),
        }
    }
}

impl fmt::Display for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MongoDb => "the MongoDB engine is not part of this build yet; use embedded:<folder>",
            Self::NoFolder => "name the folder, as in embedded:./data",
            Self::Unknown => "a store is embedded:<folder>, as in embedded:./data",
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
    fn what_cannot_be_opened_is_refused_with_what_can() {
        for (address, why) in [
            ("mongodb://127.0.0.1/spillway", BadAddress::MongoDb),
            ("mongodb+srv://cluster.example.org", BadAddress::MongoDb),
            ("embedded:", BadAddress::NoFolder),
            ("./data", BadAddress::Unknown),
            ("", BadAddress::Unknown),
        ] {
            assert_eq!(address.parse::<StoreAddress>(), Err(why), "{address}");
        }
        assert!(BadAddress::MongoDb.to_string().contains("embedded:<folder>"));
    }
}
