//! The engine of the examples.

use std::error::Error;
use std::sync::Arc;

use outlier::document::Engine;
use outlier::embedded::Embedded;
use outlier::mongodb::Mongo;

/// The server that `MONGODB_URI` names, by the official driver; otherwise the embedded engine, in memory.
pub async fn engine() -> Result<Engine, Box<dyn Error>> {
    Ok(match std::env::var("MONGODB_URI") {
        Ok(address) => Arc::new(Mongo::connect(&address).await?),
        Err(_) => Arc::new(Embedded::in_memory()?),
    })
}
