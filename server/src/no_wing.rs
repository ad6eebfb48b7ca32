//! The closed door to the workshop.

#![expect(
    clippy::unused_async,
    clippy::unused_self,
    reason = "the open door needs both, and is called in the same way"
)]

use std::net::SocketAddr;

use api::Api;
use axum::Router;
use feed::{Environment, Feed};
use utoipa_axum::router::OpenApiRouter;

use crate::cli::ServeOptions;
use crate::error::CliError;

/// There is nothing of one's own.
pub const PRIVATE: [&str; 0] = [];

/// There is nothing to start.
pub const STARTS: [&str; 0] = [];

pub const EXAMPLES: &str = "{}";

pub fn api() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
}

pub fn provide_pages() {}

pub struct Wing {
    pub invitation: Option<String>,
}

impl Wing {
    pub fn over(_: &Feed, _: Option<String>) -> Self {
        Self { invitation: None }
    }

    pub async fn open(
        feed: &Feed,
        _: &Environment,
        _: &ServeOptions,
        _: SocketAddr,
    ) -> Result<Self, CliError> {
        Ok(Self::over(feed, None))
    }

    pub fn around(self, routes: Router) -> Router {
        routes
    }
}
