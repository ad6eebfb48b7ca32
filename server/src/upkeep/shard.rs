use bson::{Bson, Document};
use mongo::{Sharded, database_of};
use store::sharding::PLAN;

use super::table::Table;
use crate::cli::{self, StoreAddress};
use crate::error::CliError;
use crate::opening;

/// The database of a plan without a named one.
const DATABASE: &str = "spillway";

/// Prints how the collections are sharded, or shards them.
pub async fn run(options: cli::ShardOptions) -> Result<(), CliError> {
    if options.what.plan {
        let database = match &options.data.store {
            StoreAddress::Embedded(_) => DATABASE.to_owned(),
            StoreAddress::MongoDb(address) => {
                database_of(address).map_err(|error| opening::connect_error(&error))?
            }
        };
        print!("{}", plan(&database));
        return Ok(());
    }
    apply(&options.data).await
}

/// Lines for mongosh, each with its reason.
fn plan(database: &str) -> String {
    let mut lines = vec![
        "// For mongosh, connected to a mongos. `spillway shard --apply` does the same.".to_owned(),
        format!("use {database}"),
    ];
    for key in PLAN {
        let fields = shown(&key.document());
        lines.push(String::new());
        lines.extend(wrapped(key.why).into_iter().map(|line| format!("// {line}")));
        lines.push(format!("db.{}.createIndex({fields})", key.collection));
        lines.push(format!(
            "sh.shardCollection(\"{database}.{}\", {fields})",
            key.collection
        ));
    }
    lines.push(String::new());
    lines.push("// `meta` is not sharded: it has a few small documents.".to_owned());
    lines.join("\n") + "\n"
}

async fn apply(data: &cli::DataOptions) -> Result<(), CliError> {
    let StoreAddress::MongoDb(address) = &data.store else {
        return Err(CliError::usage(
            "The embedded store cannot be sharded: it is a file of one machine",
            "Name a router of a sharded cluster with SPILLWAY_STORE=mongodb://<mongos>/<database>.",
        ));
    };
    let mongo = opening::connect(address).await?;
    let cluster = mongo.cluster().await.map_err(|error| unsharded(&error))?;
    let Some(cluster) = cluster else {
        return Err(CliError::failed(
            format!("{} is not the router of a sharded cluster", data.store),
            "A single server or a replica set cannot be sharded; nothing was changed. Name a mongos with \
             SPILLWAY_STORE, or see the plan with --plan.",
        ));
    };
    // The indexes and validators come first, so that they are on every shard from the start.
    opening::open(data).await?;
    let mut table = Table::new(3, ["collection", "shard key", "result"]);
    let mut otherwise = 0;
    for planned in PLAN {
        let (collection, key) = (planned.collection, planned.document());
        let sharded = cluster
            .shard(collection, &key)
            .await
            .map_err(|error| unsharded(&error))?;
        let result = match sharded {
            Sharded::Now => "sharded".to_owned(),
            Sharded::Before => "was sharded already".to_owned(),
            Sharded::Otherwise(standing) => {
                otherwise += 1;
                format!("left as it is, sharded by {}", shown(&standing))
            }
        };
        table.row([collection.to_owned(), shown(&key), result]);
    }
    print!("{}", table.text());
    if otherwise > 0 {
        return Err(CliError::failed(
            "A collection is sharded by another key",
            "It works, but single writes may go to every shard. sh.reshardCollection(<collection>, <key>) changes a key.",
        ));
    }
    Ok(())
}

/// A key in mongosh syntax.
fn shown(key: &Document) -> String {
    let fields: Vec<String> = key
        .iter()
        .map(|(field, way)| match way {
            Bson::String(kind) => format!("{field}: \"{kind}\""),
            way => format!("{field}: {way}"),
        })
        .collect();
    format!("{{ {} }}", fields.join(", "))
}

/// A text wrapped to fit a terminal.
fn wrapped(text: &str) -> Vec<String> {
    const WIDTH: usize = 96;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn unsharded(error: &document::Error) -> CliError {
    let next = "Collections that were sharded stay so: fix the cause and run it again. The user needs the role \
                clusterManager, and readWrite on the database.";
    CliError::failed("The collections cannot be sharded", next).caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_can_be_pasted_and_says_why() {
        let plan = plan("feed");
        for line in [
            "use feed",
            "sh.shardCollection(\"feed.users\", { _id: \"hashed\" })",
            "sh.shardCollection(\"feed.pages\", { owner: \"hashed\", relation: 1, born: 1, page: 1 })",
            "db.pages.createIndex({ owner: \"hashed\", relation: 1, born: 1, page: 1 })",
        ] {
            assert!(
                plan.lines().any(|there| there == line),
                "{line} is missing in:\n{plan}"
            );
        }
        let reasons = plan.lines().filter(|line| line.starts_with("// ")).count();
        assert!(reasons > PLAN.len(), "{plan}");
    }
}
