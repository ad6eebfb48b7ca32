//! What several commands need: the store, and the address that browsers use.

use clap::Args;

use super::limits::LimitOptions;
use super::store::StoreAddress;

/// Which store, and how its lists are limited.
#[derive(Debug, Args)]
pub struct DataOptions {
    #[arg(
        long,
        help = "Where the data is: embedded:<folder>, or mongodb://host/database \
                [default: what MONGODB_URI says, or else embedded:./data]",
        env = "SPILLWAY_STORE",
        hide_env_values = true,
        default_value = StoreAddress::usual(),
        hide_default_value = true,
        value_name = "ADDRESS"
    )]
    /// Where the data is.
    pub store: StoreAddress,
    #[command(flatten)]
    pub limits: LimitOptions,
}

/// An address that browsers use, without a path.
pub fn public_url(value: &str) -> Result<String, &'static str> {
    let rest = value
        .strip_prefix("https://")
        .or_else(|| value.strip_prefix("http://"));
    let host = rest.map(|rest| rest.trim_end_matches('/'));
    match host {
        Some(host) if !host.is_empty() && host.is_ascii() && !host.contains(['/', '?', '#', ' ']) => {
            Ok(value.trim_end_matches('/').to_owned())
        }
        _ => Err("expected http:// or https:// and a host, without a path, as in https://feed.example.org"),
    }
}
