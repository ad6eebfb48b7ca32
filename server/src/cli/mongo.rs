use clap::Args;
use clap::builder::FalseyValueParser;

/// Whether MongoDB's shells and drivers may look into the embedded store.
#[derive(Debug, Default, Args)]
#[expect(clippy::struct_field_names, reason = "the fields are named as their options")]
#[command(next_help_heading = "MongoDB's protocol")]
pub struct MongoOptions {
    /// Serve MongoDB's protocol at this address, too, for mongosh, Compass and drivers. Without a password, only
    /// programs on this machine may connect. Their changes are not validated.
    #[arg(long, env = "SPILLWAY_MONGO_LISTEN", value_name = "HOST:PORT")]
    pub mongo_listen: Option<String>,
    /// The password of the user `spillway` there; at least 12 characters if other machines can connect.
    #[arg(
        long,
        env = "SPILLWAY_MONGO_PASSWORD",
        hide_env_values = true,
        value_name = "PASSWORD"
    )]
    pub mongo_password: Option<String>,
    /// Listen where other machines can connect, even without a password or with a short one. Nothing is encrypted.
    #[arg(long, env = "SPILLWAY_MONGO_LISTEN_ANYWHERE", value_parser = FalseyValueParser::new())]
    pub mongo_listen_anywhere: bool,
}
