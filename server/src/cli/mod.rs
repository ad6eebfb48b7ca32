//! What the command line and the environment say.

mod account;
mod data;
mod limits;
mod moderate;
mod mongo;
mod shard;
mod store;
mod transfer;
mod upkeep;

use std::time::Duration;

use clap::builder::FalseyValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

pub use self::account::{AccountCommand, AccountOptions, ResetOptions};
pub use self::data::DataOptions;
use self::data::public_url;
pub use self::moderate::{ModerateCommand, ModerateOptions};
pub use self::mongo::MongoOptions;
pub use self::shard::ShardOptions;
pub use self::store::StoreAddress;
pub use self::transfer::{ExportOptions, ImportOptions, TransferFile};
pub use self::upkeep::{CheckOptions, DetectOptions, MigrateOptions, StatsOptions};

/// A social feed whose lists never outgrow their documents.
#[derive(Debug, Parser)]
#[command(name = "spillway", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: ServeOptions,
}

impl Cli {
    /// The command to run: `serve` when none is named.
    pub fn command(self) -> Command {
        self.command.unwrap_or(Command::Serve(self.serve))
    }
}

/// What `spillway` can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the web server (the default). An empty store gets the demo town first; see --demo.
    Serve(ServeOptions),
    /// Load a demo town into an empty store.
    Seed(SeedOptions),
    /// Find the outliers: the longest lists and the largest documents.
    Detect(DetectOptions),
    /// Convert unbounded arrays into head and pages while others use them. Can be stopped and run again.
    Migrate(MigrateOptions),
    /// Check the invariants of all lists in the store: exit code 0 if they hold, 1 if not.
    Check(CheckOptions),
    /// Show how lists are stored, and which thresholds fit a byte budget.
    Stats(StatsOptions),
    /// Shard the collections of a cluster, or show the commands for it.
    Shard(ShardOptions),
    /// Write the whole store into a file, to move it to another store.
    Export(ExportOptions),
    /// Read an export into an empty store. Can be stopped and run again.
    Import(ImportOptions),
    /// Help somebody back into their account.
    Account(AccountOptions),
    /// List what people reported, suspend people, and delete posts and comments.
    Moderate(ModerateOptions),
    /// Print the description of the JSON API, in OpenAPI 3.1.
    Openapi,
    /// Check that a server is running: exit code 0 if so, 1 if not.
    Healthcheck(HealthcheckOptions),
}

/// Options of `serve`.
#[derive(Debug, Args)]
pub struct ServeOptions {
    #[arg(
        long,
        help = "The address and port to listen on; port 0 takes a free one \
                [default: 127.0.0.1:3000, or with --classroom 0.0.0.0:3000]",
        env = "SPILLWAY_ADDR",
        value_name = "HOST:PORT"
    )]
    addr: Option<String>,
    /// The address of /metrics for Prometheus, such as 127.0.0.1:9100 [default: no metrics].
    #[arg(long, env = "SPILLWAY_ADMIN_ADDR", value_name = "HOST:PORT")]
    pub admin_addr: Option<String>,
    /// The address that browsers use, if it differs (e.g. behind a proxy). With https, cookies are Secure.
    #[arg(long, env = "SPILLWAY_PUBLIC_URL", value_name = "URL", value_parser = public_url)]
    pub public_url: Option<String>,
    #[arg(
        long,
        help = "Whether an empty store gets the demo town, where anybody may sign in as one of its people \
                [default: on, or with an https public URL off]",
        env = "SPILLWAY_DEMO",
        value_name = "SWITCH",
        num_args = 0..=1,
        default_missing_value = "on"
    )]
    demo: Option<Switch>,
    /// The same as --demo=off.
    #[arg(long, env = "SPILLWAY_NO_DEMO", value_parser = FalseyValueParser::new())]
    no_demo: bool,
    #[arg(
        long,
        help = "Limits on how often one peer and one account may write and sign in; `off` is for tests and \
                workshops [default: on, or with --classroom off]",
        env = "SPILLWAY_RATE_LIMIT",
        value_name = "SWITCH"
    )]
    rate_limit: Option<Switch>,
    /// The number of your proxies in front, each of which appends to X-Forwarded-For. The rate limits need it: a site
    /// with an https address has at least one.
    #[arg(long, env = "SPILLWAY_PROXIES", default_value_t = 0, value_name = "N")]
    pub proxies: usize,
    /// Serve a class in one room: join by name, like one post together, sign in and write over plain HTTP from any
    /// machine. Only for a trusted network.
    #[arg(long, env = "SPILLWAY_CLASSROOM", value_parser = FalseyValueParser::new())]
    pub classroom: bool,
    /// Seconds to continue serving after a stop signal, while /readyz already answers 503.
    #[arg(long, env = "SPILLWAY_DRAIN", default_value = "0", value_name = "SECONDS", value_parser = seconds)]
    pub drain: Duration,
    /// Seconds that open requests may take after that before they are aborted.
    #[arg(long, env = "SPILLWAY_DEADLINE", default_value = "10", value_name = "SECONDS", value_parser = seconds)]
    pub deadline: Duration,
    /// The folder with the built stylesheet and scripts [default: beside the program, or ./target/site].
    #[arg(long, env = "LEPTOS_SITE_ROOT", value_name = "FOLDER")]
    pub site: Option<std::path::PathBuf>,
    #[command(flatten)]
    pub mongo: MongoOptions,
    #[command(flatten)]
    pub data: DataOptions,
}

impl ServeOptions {
    /// Where to listen. A class comes from other machines.
    pub fn addr(&self) -> &str {
        let usual = if self.classroom {
            "0.0.0.0:3000"
        } else {
            "127.0.0.1:3000"
        };
        self.addr.as_deref().unwrap_or(usual)
    }

    /// Whether there is a demo town, and anybody may sign in as one of its people. A site that everybody can reach has
    /// to ask for that, unless it is for a class, which needs the town.
    pub fn demo(&self) -> bool {
        let is_public = || {
            let url = self.public_url.as_deref();
            !self.classroom && url.is_some_and(|url| url.starts_with("https://"))
        };
        !self.no_demo
            && self
                .demo
                .map_or_else(|| !is_public(), |switch| switch == Switch::On)
    }

    /// Whether a class uses this server. It does so in the demo town.
    pub fn serves_a_class(&self) -> bool {
        self.classroom && self.demo()
    }

    /// Whether rate limits apply. A class exceeds them on purpose.
    pub fn limited(&self) -> bool {
        self.rate_limit
            .map_or(!self.serves_a_class(), |switch| switch == Switch::On)
    }
}

/// Options of `seed`.
#[derive(Debug, Args)]
pub struct SeedOptions {
    /// People with a name, a bio and posts of their own.
    #[arg(long, env = "SPILLWAY_SEED_USERS", value_name = "N")]
    pub users: Option<usize>,
    /// Posts by these people.
    #[arg(long, env = "SPILLWAY_SEED_POSTS", value_name = "N")]
    pub posts: Option<usize>,
    /// Likes of the viral post.
    #[arg(long, env = "SPILLWAY_SEED_VIRAL_LIKES", value_name = "N")]
    pub viral_likes: Option<usize>,
    /// Followers of the celebrity.
    #[arg(long, env = "SPILLWAY_SEED_CELEBRITY_FOLLOWERS", value_name = "N")]
    pub celebrity_followers: Option<usize>,
    /// If the store already has a town or other people, do nothing and exit with code 0.
    #[arg(long, env = "SPILLWAY_SEED_IF_EMPTY", value_parser = FalseyValueParser::new())]
    pub if_empty: bool,
    /// Reset the existing town: load it again, without accounts that signed up and changes by visitors. Stop the server
    /// first.
    #[arg(long, env = "SPILLWAY_SEED_RESET", value_parser = FalseyValueParser::new(),
          conflicts_with_all = ["users", "posts", "viral_likes", "celebrity_followers", "if_empty"])]
    pub reset: bool,
    /// The same seed makes the same town.
    #[arg(long, env = "SPILLWAY_SEED", default_value_t = 1, value_name = "S")]
    pub seed: u64,
    #[command(flatten)]
    pub data: DataOptions,
}

/// Options of `healthcheck`.
#[derive(Debug, Args)]
pub struct HealthcheckOptions {
    /// The address that the server listens on.
    #[arg(
        long,
        env = "SPILLWAY_ADDR",
        default_value = "127.0.0.1:3000",
        value_name = "HOST:PORT"
    )]
    pub addr: String,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

fn seconds(value: &str) -> Result<Duration, &'static str> {
    let seconds = value
        .parse::<u16>()
        .map_err(|_| "expected whole seconds from 0 to 65535")?;
    Ok(Duration::from_secs(seconds.into()))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_option_has_an_environment_variable() {
        let program = <Cli as CommandFactory>::command();
        program.clone().debug_assert();
        for command in program.get_subcommands().chain([&program]) {
            for argument in command.get_arguments() {
                let env = argument.get_env().map(|name| name.to_string_lossy().into_owned());
                let id = argument.get_id().as_str();
                let named = env.is_some_and(|env| env.starts_with("SPILLWAY_") || env == "LEPTOS_SITE_ROOT");
                assert!(
                    named || id == "help" || id == "version",
                    "{} {id}",
                    command.get_name()
                );
            }
        }
    }

    #[test]
    fn serving_needs_no_command_and_both_spellings_take_the_same_options() {
        for line in [
            &["spillway", "--no-demo"][..],
            &["spillway", "serve", "--no-demo"],
        ] {
            let Command::Serve(options) = Cli::try_parse_from(line).unwrap().command() else {
                panic!("{line:?} does not serve");
            };
            assert!(!options.demo(), "{line:?}");
        }
    }

    #[test]
    fn a_public_site_has_a_demo_town_only_if_that_was_asked_for() {
        let demo = |line: &str| match Cli::try_parse_from(line.split(' ')).unwrap().command() {
            Command::Serve(options) => options.demo(),
            _ => panic!("{line} does not serve"),
        };
        for with in [
            "spillway",
            "spillway --public-url http://127.0.0.1:8080",
            "spillway --public-url https://feed.example.org --demo",
            "spillway --public-url https://feed.example.org --demo on",
            "spillway --public-url https://feed.example.org --classroom",
        ] {
            assert!(demo(with), "{with}");
        }
        for without in [
            "spillway --public-url https://feed.example.org",
            "spillway --demo off",
            "spillway --no-demo",
            "spillway --demo --no-demo",
        ] {
            assert!(!demo(without), "{without}");
        }
    }

    #[test]
    fn a_class_comes_from_other_machines_and_storms() {
        let options = |line: &[&str]| match Cli::try_parse_from(line).unwrap().command() {
            Command::Serve(options) => (options.addr().to_owned(), options.limited()),
            _ => panic!("{line:?} does not serve"),
        };
        let on = |addr: &str, limited| (addr.to_owned(), limited);
        assert_eq!(options(&["spillway"]), on("127.0.0.1:3000", true));
        assert_eq!(options(&["spillway", "--classroom"]), on("0.0.0.0:3000", false));
        let no_class = ["spillway", "--classroom", "--no-demo"];
        assert_eq!(options(&no_class), on("0.0.0.0:3000", true));
        let said = [
            "spillway",
            "--classroom",
            "--addr",
            "127.0.0.1:1",
            "--rate-limit",
            "on",
        ];
        assert_eq!(options(&said), on("127.0.0.1:1", true));
    }

    #[test]
    fn a_public_address_is_an_origin() {
        assert_eq!(
            public_url("https://feed.example.org/").unwrap(),
            "https://feed.example.org"
        );
        for bad in ["feed.example.org", "https://", "https://a/b", "ftp://a"] {
            assert!(public_url(bad).is_err(), "{bad}");
        }
    }
}
