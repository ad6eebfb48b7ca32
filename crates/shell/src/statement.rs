//! A line of the shell.

use bson::{Bson, Document, doc};

use crate::error::{Error, Result};
use crate::methods::{self, METHODS};
use crate::refusals;
use crate::run::{Run, Shape};
use crate::text::Text;
use crate::value::{arguments, string};

/// What may follow `find(…)` and `aggregate(…)`.
pub const CURSOR_METHODS: [&str; 14] = [
    "sort",
    "limit",
    "skip",
    "projection",
    "hint",
    "batchSize",
    "comment",
    "maxTimeMS",
    "count",
    "explain",
    "toArray",
    "pretty",
    "next",
    "hasNext",
];

/// The commands that say nothing of a database.
const OF_ADMIN: [&str; 9] = [
    "ping",
    "hello",
    "isMaster",
    "buildInfo",
    "hostInfo",
    "serverStatus",
    "listDatabases",
    "connectionStatus",
    "getParameter",
];

/// What a line asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// Nothing: an empty line or a comment.
    Nothing,
    /// A command, and how to show its answer.
    Run {
        /// The command, as a driver sends it; without `$db`.
        command: Document,
        /// How to show its answer.
        shape: Shape,
    },
    /// `it`: the next documents of the last cursor.
    More,
    /// `use posts`: another database.
    Use(String),
    /// `help`, about everything.
    Help,
    /// `db` or `db.posts`: the name of the database, or of a collection.
    Name(Option<String>),
}

impl From<Run> for Statement {
    fn from(Run { command, shape }: Run) -> Self {
        Self::Run { command, shape }
    }
}

/// Reads a line.
///
/// # Errors
/// The line is no command of the shell, or it is JavaScript that would have to be evaluated.
pub fn parse(line: &str) -> Result<Statement> {
    let mut text = Text::new(line);
    let statement = statement(&mut text)?;
    while text.takes(';')? {}
    match text.ahead()? {
        None => Ok(statement),
        Some(found) => Err(Error::syntax(
            text.at(),
            format!("Unexpected `{found}` after the command. Run one command at a time."),
        )),
    }
}

fn statement(text: &mut Text) -> Result<Statement> {
    if text.ahead()?.is_none() {
        return Ok(Statement::Nothing);
    }
    let begun = text.at();
    let word = text.name()?;
    match word.as_deref() {
        Some("db") => database(text),
        Some("help") => {
            no_arguments(text)?;
            Ok(Statement::Help)
        }
        Some("it") => {
            no_arguments(text)?;
            Ok(Statement::More)
        }
        Some("show") => match one_word(text)?.as_str() {
            "collections" | "tables" => Ok(names_of_collections(Shape::Names).into()),
            "dbs" | "databases" => Ok(Run::of(doc! { "listDatabases": 1 }, Shape::Databases).into()),
            known @ ("users"
            | "roles"
            | "profile"
            | "log"
            | "logs"
            | "startupWarnings"
            | "automationNotices"
            | "nonGenuineMongoDBCheck") => Err(Error::argument(format!(
                "`show {known}` is not available here. Write `show collections` or `show dbs`."
            ))),
            other => Err(Error::argument(format!(
                "[COMMON-10001] '{other}' is not a valid argument for \"show\". Write `show collections` or `show dbs`."
            ))),
        },
        Some("use") => match one_word(text)? {
            name if name.is_empty() => Err(text.unexpected("the name of a database")),
            name => Ok(Statement::Use(name)),
        },
        Some(word) => Err(Error::syntax(
            begun,
            format!(
                "`{word}` is no command. A line begins with `db`, as in db.posts.find(), or is `show collections`, \
                 `it` or `help`. JavaScript is not evaluated here."
            ),
        )),
        None => Err(text.unexpected("a command, as in db.posts.find()")),
    }
}

/// `()`, or nothing.
fn no_arguments(text: &mut Text) -> Result<()> {
    if text.takes('(')? {
        text.expect(')')?;
    }
    Ok(())
}

/// What follows `use` and `show`: a word, or a string in parentheses.
fn one_word(text: &mut Text) -> Result<String> {
    if !text.takes('(')? {
        return text.word();
    }
    text.skip()?;
    let word = string(text)?;
    text.expect(')')?;
    Ok(word)
}

fn names_of_collections(shape: Shape) -> Run {
    Run::of(doc! { "listCollections": 1, "nameOnly": true }, shape)
}

/// What follows `db`.
fn database(text: &mut Text) -> Result<Statement> {
    let mut path: Vec<String> = Vec::new();
    let mut explained = None;
    loop {
        let at = text.at();
        if text.takes('[')? {
            text.skip()?;
            match text.peek() {
                Some('"' | '\'') => path.push(string(text)?),
                _ => return Err(text.unexpected("the name of a collection, as in db[\"posts\"]")),
            }
            text.expect(']')?;
        } else if text.takes('.')? {
            match text.name()? {
                Some(name) => path.push(name),
                None => return Err(text.unexpected("the name of a collection or a method")),
            }
        } else if text.takes('(')? {
            let Some(method) = path.pop() else {
                return Err(Error::unknown(at, "`db` is no function. Write db.posts.find()."));
            };
            let arguments = arguments(text)?;
            let collection = path.join(".");
            match (collection.as_str(), method.as_str(), arguments.as_slice()) {
                ("", "getCollection", [Bson::String(name)]) if !name.is_empty() => path = vec![name.clone()],
                ("", method, arguments) => {
                    return match of_database(at, method, arguments)? {
                        Statement::Run { command, shape } => {
                            chain(text, Run::of(command, shape)).map(Statement::from)
                        }
                        other => Ok(other),
                    };
                }
                (_, "help", []) => return Ok(Statement::Help),
                (_, "explain", verbosity) => explained = Some(verbosity_of(verbosity)?),
                (collection, method, arguments) => {
                    let run = chain(text, methods::run(at, collection, method, arguments)?)?;
                    return match explained {
                        Some(verbosity) => run.explained(&verbosity).map(Statement::from),
                        None => Ok(run.into()),
                    };
                }
            }
        } else if explained.is_some() {
            return Err(text.unexpected("a method to explain, as in db.posts.explain().find()"));
        } else if let [collection @ .., method] = path.as_slice()
            && (if collection.is_empty() {
                refusals::is_of_the_database(method)
            } else {
                METHODS.contains(&method.as_str())
            })
        {
            let method = path.join(".");
            return Err(Error::unknown(
                at,
                format!("db.{method} is a method. Write db.{method}()."),
            ));
        } else {
            return Ok(Statement::Name(
                Some(path.join(".")).filter(|path| !path.is_empty()),
            ));
        }
    }
}

fn verbosity_of(arguments: &[Bson]) -> Result<String> {
    let known = ["queryPlanner", "executionStats", "allPlansExecution"];
    match arguments {
        [] => Ok(known[0].to_owned()),
        [Bson::String(verbosity)] if known.contains(&verbosity.as_str()) => Ok(verbosity.clone()),
        _ => Err(Error::argument(format!(
            "explain() takes one of \"{}\".",
            known.join("\", \"")
        ))),
    }
}

/// The methods of the database.
fn of_database(at: usize, method: &str, arguments: &[Bson]) -> Result<Statement> {
    Ok(match (method, arguments) {
        ("adminCommand", [Bson::Document(command)])
            if command
                .keys()
                .next()
                .is_some_and(|name| OF_ADMIN.contains(&name.as_str())) =>
        {
            Run::of(command.clone(), Shape::Answer).into()
        }
        ("adminCommand", [Bson::String(name)]) if OF_ADMIN.contains(&name.as_str()) => {
            Run::of(doc! { name: 1 }, Shape::Answer).into()
        }
        ("adminCommand", [Bson::Document(_) | Bson::String(_)]) => {
            return Err(Error::argument(format!(
                "adminCommand() runs a command on the database admin, which is not here. It has {}; use runCommand() for \
                 the others.",
                OF_ADMIN.join(", ")
            )));
        }
        ("runCommand", [Bson::Document(command)]) => Run::of(command.clone(), Shape::Answer).into(),
        ("runCommand", [Bson::String(name)]) => Run::of(doc! { name: 1 }, Shape::Answer).into(),
        ("getCollectionNames", []) => names_of_collections(Shape::NameArray).into(),
        ("getCollectionInfos", []) => Run::of(doc! { "listCollections": 1 }, Shape::Array).into(),
        ("createCollection", [Bson::String(name)]) => Run::of(doc! { "create": name }, Shape::Answer).into(),
        ("createCollection", [Bson::String(name), Bson::Document(options)]) => {
            let mut command = doc! { "create": name };
            command.extend(options.clone());
            Run::of(command, Shape::Answer).into()
        }
        ("getCollectionInfos", [Bson::Document(filter)]) => Run::of(
            doc! { "listCollections": 1, "filter": filter.clone() },
            Shape::Array,
        )
        .into(),
        ("stats", [scale @ (Bson::Int32(_) | Bson::Double(_))]) => {
            Run::of(doc! { "dbStats": 1, "scale": scale.clone() }, Shape::Answer).into()
        }
        ("stats", []) => Run::of(doc! { "dbStats": 1 }, Shape::Answer).into(),
        ("hello" | "isMaster" | "serverStatus" | "hostInfo", []) => {
            Run::of(doc! { method: 1 }, Shape::Answer).into()
        }
        ("serverBuildInfo", []) => Run::of(doc! { "buildInfo": 1 }, Shape::Answer).into(),
        ("serverCmdLineOpts", []) => Run::of(doc! { "getCmdLineOpts": 1 }, Shape::Answer).into(),
        ("version", []) => Run::of(doc! { "buildInfo": 1 }, Shape::Field("version")).into(),
        ("getName", []) => Statement::Name(None),
        ("help", []) => Statement::Help,
        ("runCommand" | "adminCommand", _) => {
            return Err(Error::argument(format!(
                "{method}() takes a command, as in db.{method}({{ ping: 1 }}).",
            )));
        }
        ("getCollection" | "createCollection", _) => {
            return Err(Error::argument(format!(
                "{method}() takes the name of a collection."
            )));
        }
        (
            "getCollectionNames" | "getCollectionInfos" | "stats" | "hello" | "isMaster" | "serverStatus"
            | "hostInfo" | "serverBuildInfo" | "serverCmdLineOpts" | "version" | "getName" | "help",
            _,
        ) => {
            return Err(Error::argument(format!("db.{method}() takes no argument here.")));
        }
        _ => return Err(refusals::of_database(at, method)),
    })
}

/// What follows the call of a method.
fn chain(text: &mut Text, mut run: Run) -> Result<Run> {
    while text.takes('.')? {
        let at = text.at();
        let Some(method) = text.name()? else {
            return Err(text.unexpected("a method, as in .sort({ at: -1 })"));
        };
        if !text.takes('(')? {
            let message = format!(
                "`.{method}` reads a property, which is JavaScript. Here the whole answer is shown, and methods have parentheses."
            );
            return Err(Error::syntax(at, message));
        }
        if ["forEach", "map"].contains(&method.as_str()) {
            let message = format!(
                ".{method}() takes a function, and JavaScript is not evaluated here. Use .toArray()."
            );
            return Err(Error::unknown(at, message));
        }
        let arguments = arguments(text)?;
        run = if method == "explain" && matches!(run.shape, Shape::Cursor) {
            run.explained(&verbosity_of(&arguments)?)?
        } else {
            run.followed_by(at, &method, &arguments)?
        };
    }
    Ok(run)
}
