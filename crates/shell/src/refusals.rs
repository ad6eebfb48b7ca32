//! Methods that there are not: of the shell, but not here, or nowhere.

use crate::error::Error;
use crate::methods::METHODS;

/// Methods of a collection that the shell has and this crate has not, each with a remedy.
const OF_A_COLLECTION: [(&str, &str); 36] = [
    ("insert", "Use insertOne or insertMany."),
    ("update", "Use updateOne, updateMany or replaceOne."),
    ("remove", "Use deleteOne or deleteMany."),
    ("save", "Use insertOne or replaceOne."),
    ("bulkWrite", "Run its operations one by one."),
    ("initializeOrderedBulkOp", "Run its operations one by one."),
    ("initializeUnorderedBulkOp", "Run its operations one by one."),
    ("mapReduce", "Use aggregate."),
    ("watch", "Every command has one answer here."),
    ("dropIndex", "Drop the collection, and fill it again."),
    ("dropIndexes", "Drop the collection, and fill it again."),
    (
        "renameCollection",
        "Insert the documents into another collection.",
    ),
    ("hideIndex", "Compare with .hint({ $natural: 1 })."),
    ("unhideIndex", "No index is hidden here."),
    ("isCapped", "No collection is capped here."),
    ("convertToCapped", "No collection is capped here."),
    ("getIndexKeys", "Use getIndexes."),
    ("getIndexSpecs", "Use getIndexes."),
    ("totalSize", "Use dataSize, storageSize or totalIndexSize."),
    ("latencyStats", "Use explain."),
    ("getPlanCache", "Use explain."),
    ("getShardDistribution", "Nothing is sharded here."),
    ("getShardVersion", "Nothing is sharded here."),
    ("analyzeShardKey", "Nothing is sharded here."),
    ("compactStructuredEncryptionData", "Nothing is encrypted here."),
    ("createSearchIndex", "Use createIndex."),
    ("getSearchIndexes", "Use getIndexes."),
    ("reIndex", "Use validate to see whether the indexes are sound."),
    ("getName", "Write the name of the collection, as in db.posts."),
    ("getFullName", "Write the name of the collection, as in db.posts."),
    ("getIndices", "Use getIndexes."),
    ("ensureIndex", "Use createIndex."),
    ("exists", "Use db.getCollectionInfos({ name: \"posts\" })."),
    ("getDB", "There is one database here."),
    ("runCommand", "Use db.runCommand."),
    ("getWriteConcern", "It is that of each write here."),
];

/// The methods of the database.
const HERE: [&str; 16] = [
    "runCommand",
    "adminCommand",
    "getCollection",
    "getCollectionNames",
    "getCollectionInfos",
    "createCollection",
    "stats",
    "version",
    "hello",
    "isMaster",
    "serverStatus",
    "serverBuildInfo",
    "serverCmdLineOpts",
    "hostInfo",
    "getName",
    "help",
];

/// Methods of the database that the shell has and this crate has not.
const OF_THE_DATABASE: [&str; 37] = [
    "aggregate",
    "auth",
    "commandHelp",
    "createRole",
    "cloneDatabase",
    "disableFreeMonitoring",
    "dropRole",
    "fsyncLock",
    "fsyncUnlock",
    "getLastError",
    "getLogComponents",
    "getReplicationInfo",
    "getRole",
    "getRoles",
    "grantRolesToUser",
    "printShardingStatus",
    "rotateCertificates",
    "setLogLevel",
    "changeUserPassword",
    "createUser",
    "createView",
    "currentOp",
    "dropDatabase",
    "dropUser",
    "eval",
    "getMongo",
    "getSiblingDB",
    "getUser",
    "getUsers",
    "getProfilingStatus",
    "killOp",
    "listCommands",
    "logout",
    "printCollectionStats",
    "setProfilingLevel",
    "shutdownServer",
    "watch",
];

/// There is no such method of a collection.
pub(crate) fn method(at: usize, collection: &str, method: &str) -> Error {
    let remedy = OF_A_COLLECTION.iter().find(|(name, _)| *name == method);
    Error::unknown(
        at,
        match remedy {
            Some((name, remedy)) => format!("{name} is not available here. {remedy}"),
            None => format!(
                "db.{collection}.{method} is not a function. A collection has {}.",
                METHODS.join(", ")
            ),
        },
    )
}

/// Whether the shell's database has a method of this name.
pub(crate) fn is_of_the_database(name: &str) -> bool {
    HERE.contains(&name) || OF_THE_DATABASE.contains(&name)
}

/// There is no such method of the database.
pub(crate) fn of_database(at: usize, method: &str) -> Error {
    let what = if OF_THE_DATABASE.contains(&method) {
        "available here"
    } else {
        "a function"
    };
    Error::unknown(
        at,
        format!(
            "db.{method} is not {what}. Methods of a collection follow its name, as in db.posts.find(); those of the \
             database are {}.",
            HERE.join(", ")
        ),
    )
}
