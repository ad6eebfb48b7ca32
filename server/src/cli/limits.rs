use std::ffi::OsStr;

use clap::builder::TypedValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};
use model::{Problem, Relation};
use store::Settings;

/// How much heads and pages may hold: for all relations, or one by one.
#[derive(Debug, Default)]
pub struct LimitOptions(Settings);

/// A limit of a list: the name of its option, what it limits, and how to change it.
type Limit = (
    &'static str,
    &'static str,
    fn(&mut Settings, Relation, usize) -> Result<(), Problem>,
);

const LIMITS: [Limit; 2] = [
    ("threshold", "a head", Settings::set_threshold),
    ("page-size", "a page", Settings::set_page_size),
];

/// The name of a limit's option for one relation, or for all of them.
fn name((limit, ..): Limit, relation: Option<Relation>) -> String {
    relation.map_or_else(|| limit.to_owned(), |relation| format!("{limit}-{relation}"))
}

fn option(limit: Limit, relation: Option<Relation>) -> Arg {
    let name = name(limit, relation);
    let variable = format!("SPILLWAY_{}", name.to_uppercase().replace('-', "_"));
    let all = format!(
        "How many items {} may hold, for every relation [default: measured, per relation]",
        limit.1
    );
    let help = relation.map_or(all, |relation| format!("The same for {relation:?} alone"));
    let option = Arg::new(name.clone()).long(name).env(variable).help(help);
    let option = option.value_name("ITEMS").value_parser(Items);
    option
        .help_heading("Overflow")
        .hide_short_help(relation.is_some())
}

impl Args for LimitOptions {
    fn augment_args(command: Command) -> Command {
        let relations = std::iter::once(None).chain(Relation::ALL.map(Some));
        let options = relations.flat_map(|relation| LIMITS.map(|limit| option(limit, relation)));
        options.fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LimitOptions {
    fn from_arg_matches(given: &ArgMatches) -> Result<Self, Error> {
        let mut settings = Settings::default();
        for relation in Relation::ALL {
            for limit in LIMITS {
                let items = |relation| given.get_one::<usize>(&name(limit, relation));
                if let Some(items) = items(Some(relation)).or_else(|| items(None)) {
                    let set = limit.2(&mut settings, relation, *items);
                    set.map_err(|problem| Error::raw(ErrorKind::ValueValidation, problem))?;
                }
            }
        }
        Ok(Self(settings))
    }

    fn update_from_arg_matches(&mut self, given: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(given)?;
        Ok(())
    }
}

impl LimitOptions {
    /// The store's own settings, overridden by the requested ones.
    pub fn settings(&self) -> Settings {
        self.0.clone()
    }
}

/// Reads a number of items within the store's bounds; a refusal names the option and its environment variable,
/// because if the variable is wrong, nobody typed the option.
#[derive(Clone)]
struct Items;

impl TypedValueParser for Items {
    type Value = usize;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<usize, Error> {
        let value = value.to_string_lossy();
        if let Ok(items) = value.trim().parse()
            && (1..=Settings::MOST).contains(&items)
        {
            return Ok(items);
        }
        let option = argument.map(ToString::to_string).unwrap_or_default();
        let variable = argument
            .and_then(Arg::get_env)
            .unwrap_or_default()
            .to_string_lossy();
        let mut error = Error::new(ErrorKind::ValueValidation).with_cmd(command);
        error.insert(
            ContextKind::InvalidArg,
            ContextValue::String(format!("{option} ({variable})")),
        );
        error.insert(
            ContextKind::InvalidValue,
            ContextValue::String(value.into_owned()),
        );
        let bounds = format!("expected a whole number of items from 1 to {}", Settings::MOST);
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![bounds.into()]),
        );
        Err(error)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        limits: LimitOptions,
    }

    fn settings(arguments: &[&str]) -> Settings {
        let line = Line::try_parse_from([&["test"], arguments].concat()).unwrap();
        line.limits.settings()
    }

    #[test]
    fn one_relation_overrides_all_and_the_rest_keep_theirs() {
        let settings = settings(&[
            "--threshold",
            "9",
            "--threshold-likes",
            "5",
            "--page-size-likes",
            "3",
        ]);
        assert_eq!(settings.of(Relation::Likes).threshold, 5);
        assert_eq!(settings.of(Relation::Likes).page_size, 3);
        assert_eq!(settings.of(Relation::Followers).threshold, 9);
        assert_eq!(
            settings.of(Relation::Followers).page_size,
            Settings::default().of(Relation::Followers).page_size
        );
    }

    #[test]
    fn values_out_of_bounds_are_refused_by_the_name_of_the_variable() {
        for bad in ["0", "-1", "many", "", "1000000000"] {
            let error = Line::try_parse_from(["test", &format!("--threshold-likes={bad}")]).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{bad}");
            let text = error.to_string();
            assert!(
                text.contains("SPILLWAY_THRESHOLD_LIKES") && text.contains("from 1 to"),
                "{bad}: {text}"
            );
        }
    }
}
