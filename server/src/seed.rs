//! `spillway seed`, and the demo town of an empty store.

use feed::Environment;
use indicatif::{ProgressBar, ProgressStyle};
use model::{Relation, Timestamp};
use store::{Limits, Store};
use tokio::process::Command;

use crate::cli::{DataOptions, SeedOptions, StoreAddress};
use crate::error::CliError;
use crate::opening;
use crate::town::{self, Patience, Recipe, Sizes};

/// Loads a town of the requested sizes.
pub async fn run(options: SeedOptions) -> Result<(), CliError> {
    let store = opening::open(&options.data).await?;
    if options.if_empty && !wants_town(&store).await.map_err(|error| unloaded(&error))? {
        eprintln!("The store is not empty: no town was loaded.");
        return Ok(());
    }
    let mut environment = Environment::system(true);
    environment.clock = opening::clock_of(&store).await?;
    if options.reset {
        let id = environment.ids.uuid(environment.now());
        let (claim, recipe) = town::claim_again(&store, id)
            .await
            .map_err(|error| unreset(&error))?;
        return load(&claim, recipe).await;
    }
    let patience = match &options.data.store {
        StoreAddress::Embedded(_) => Patience::ALONE,
        StoreAddress::MongoDb(_) => Patience::SHARED,
    };
    let now = environment.now();
    let claim = town::claim(&store, environment.ids.uuid(now), patience).await;
    let Some(claim) = claim.map_err(|error| unloaded(&error))? else {
        if options.if_empty {
            return Ok(());
        }
        return Err(CliError::failed(
            "The store already has a town",
            "Delete the store's folder or database first, or name an empty one with SPILLWAY_STORE.",
        ));
    };
    let usual = Sizes::default();
    let sizes = Sizes {
        users: options.users.unwrap_or(usual.users),
        posts: options.posts.unwrap_or(usual.posts),
        viral_likes: options.viral_likes.unwrap_or(usual.viral_likes),
        celebrity_followers: options.celebrity_followers.unwrap_or(usual.celebrity_followers),
        ..usual
    };
    let again = town::recipe_of(&store).await.map_err(|error| unloaded(&error))?;
    let recipe = again.unwrap_or_else(|| Recipe {
        sizes,
        seed: options.seed,
        now: midnight(now),
    });
    load(&claim, recipe).await
}

/// The town's clock is set to midnight, so that the same seed makes the same town all day.
fn midnight(now: Timestamp) -> Timestamp {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    Timestamp::from_millis(now.millis() - now.millis().rem_euclid(DAY))
}

/// Gives an empty store the demo town, or finishes one that was interrupted.
///
/// `spillway seed` runs in its own process: the memory that generating a town needs, a hundred megabytes, is freed
/// with it.
pub async fn load_if_empty(data: &DataOptions) -> Result<(), CliError> {
    let store = opening::open(data).await?;
    let wanted = wants_town(&store).await.map_err(|error| unloaded(&error))?;
    let limits = store.settings().clone();
    drop(store);
    if !wanted {
        return Ok(());
    }
    let program = std::env::current_exe().map_err(|error| unloaded(&error))?;
    let mut seed = Command::new(program);
    // Not as an argument: everybody on the machine can see those, and the address may contain a password.
    seed.args(["seed", "--if-empty"])
        .env("SPILLWAY_STORE", data.store.address());
    for relation in Relation::ALL {
        let Limits { threshold, page_size } = limits.of(relation);
        seed.arg(format!("--threshold-{relation}={threshold}"));
        seed.arg(format!("--page-size-{relation}={page_size}"));
    }
    let status = seed
        .kill_on_drop(true)
        .status()
        .await
        .map_err(|error| unloaded(&error))?;
    if status.success() {
        return Ok(());
    }
    Err(CliError::failed(
        "The demo town was not loaded completely",
        "Start again: it loads the town from the beginning. Or serve with --no-demo.",
    ))
}

async fn wants_town(store: &Store) -> document::Result<bool> {
    if town::is_loaded(store).await? {
        return Ok(false);
    }
    Ok(town::is_half_loaded(store).await? || !Store::has_people(&**store.engine()).await?)
}

async fn load(claim: &town::Claim<'_>, recipe: Recipe) -> Result<(), CliError> {
    let town = recipe.make_aside().await.map_err(|error| unloaded(&error))?;
    let bar = ProgressBar::new(0).with_message("Loading the demo town");
    if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:30}] {percent} % · {elapsed}") {
        bar.set_style(style);
    }
    let progress = |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    };
    town::load(claim, &town, &recipe, &progress)
        .await
        .map_err(|error| unloaded(&error))?;
    bar.finish_and_clear();
    let seconds = bar.elapsed().as_secs_f32();
    eprintln!(
        "Loaded the demo town in {seconds:.1} s: {} people, {} posts.",
        town.people.len(),
        town.posts.len()
    );
    Ok(())
}

fn unreset(error: &dyn std::error::Error) -> CliError {
    let next = "Only a store with a complete demo town can be reset. Load one into an empty store with `spillway seed`.";
    CliError::failed("The demo town was not reset", next).caused_by(error)
}

fn unloaded(error: &dyn std::error::Error) -> CliError {
    let next = "A town needs an empty store: name another folder with SPILLWAY_STORE=embedded:<folder>, or keep \
                this store and serve with --no-demo.";
    CliError::failed("The demo town cannot be loaded", next).caused_by(error)
}
