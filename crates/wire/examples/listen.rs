//! An embedded store behind MongoDB's protocol, to try drivers and shells on: in memory, or in the folder named.
//!
//! `cargo run -p wire --example listen -- 127.0.0.1:27017 [folder] [user:password]`

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use document::Engine;
use embedded::Embedded;
use wire::{Login, Options, listen};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut options = Options::on(arguments.next().unwrap_or_else(|| "127.0.0.1:27017".to_owned()));
    let embedded = match arguments.next().filter(|folder| !folder.is_empty()) {
        Some(folder) => Embedded::open(Path::new(&folder))?,
        None => Embedded::in_memory()?,
    };
    if let Some((user, password)) = arguments
        .next()
        .as_deref()
        .and_then(|login| login.split_once(':'))
    {
        options.login = Some(Login {
            user: user.to_owned(),
            password: password.to_owned(),
            random,
        });
    }
    let embedded = Arc::new(embedded);
    let listener = listen(Arc::clone(&embedded) as Engine, embedded, options).await?;
    println!("mongodb://{}/spillway", listener.address());
    tokio::signal::ctrl_c().await?;
    listener.shut_down(Duration::from_secs(5)).await;
    Ok(())
}

/// From the operating system.
#[expect(
    clippy::disallowed_methods,
    reason = "an example has no environment to be given one by"
)]
fn random() -> [u8; 32] {
    rand::random()
}
