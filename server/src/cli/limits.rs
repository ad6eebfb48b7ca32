use std::ffi::OsStr;

use clap::builder::TypedValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Args, Command, Error};
use model::{Problem, Relation};
use store::Settings;

/// An option per relation, and one for all of them.
macro_rules! limit_options {
    ($($relation:ident: $threshold:ident $threshold_env:literal, $page_size:ident $page_size_env:literal;)*) => {
        /// How much heads and pages may hold: for all relations, or one by one.
        #[derive(Debug, Default, Args)]
        #[command(next_help_heading = "Overflow")]
        pub struct LimitOptions {
            /// How many items a head may hold, for every relation [default: measured, per relation].
            #[arg(long, env = "SPILLWAY_THRESHOLD", value_name = "ITEMS", value_parser = Items)]
            threshold: Option<usize>,
            /// How many items a page may hold, for every relation [default: measured, per relation].
            #[arg(long, env = "SPILLWAY_PAGE_SIZE", value_name = "ITEMS", value_parser = Items)]
            page_size: Option<usize>,
            $(
                #[arg(long, env = $threshold_env, value_name = "ITEMS", value_parser = Items, hide_short_help = true)]
                #[doc = concat!("The same for ", stringify!($relation), " alone.")]
                $threshold: Option<usize>,
                #[arg(long, env = $page_size_env, value_name = "ITEMS", value_parser = Items, hide_short_help = true)]
                #[doc = concat!("The same for ", stringify!($relation), " alone.")]
                $page_size: Option<usize>,
            )*
        }

        impl LimitOptions {
            /// The requested threshold and page size, if any.
            fn of(&self, relation: Relation) -> (Option<usize>, Option<usize>) {
                match relation {
                    $(Relation::$relation => {
                        (self.$threshold.or(self.threshold), self.$page_size.or(self.page_size))
                    })*
                }
            }
        }
    };
}

limit_options! {
    Activities: threshold_activities "SPILLWAY_THRESHOLD_ACTIVITIES", page_size_activities "SPILLWAY_PAGE_SIZE_ACTIVITIES";
    Followers: threshold_followers "SPILLWAY_THRESHOLD_FOLLOWERS", page_size_followers "SPILLWAY_PAGE_SIZE_FOLLOWERS";
    Following: threshold_following "SPILLWAY_THRESHOLD_FOLLOWING", page_size_following "SPILLWAY_PAGE_SIZE_FOLLOWING";
    Likes: threshold_likes "SPILLWAY_THRESHOLD_LIKES", page_size_likes "SPILLWAY_PAGE_SIZE_LIKES";
    Comments: threshold_comments "SPILLWAY_THRESHOLD_COMMENTS", page_size_comments "SPILLWAY_PAGE_SIZE_COMMENTS";
    Shares: threshold_shares "SPILLWAY_THRESHOLD_SHARES", page_size_shares "SPILLWAY_PAGE_SIZE_SHARES";
}

impl LimitOptions {
    /// The store's own settings, overridden by the requested ones.
    pub fn settings(&self) -> Result<Settings, Problem> {
        let mut settings = Settings::default();
        for relation in Relation::ALL {
            let (threshold, page_size) = self.of(relation);
            if let Some(threshold) = threshold {
                settings.set_threshold(relation, threshold)?;
            }
            if let Some(page_size) = page_size {
                settings.set_page_size(relation, page_size)?;
            }
        }
        Ok(settings)
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
        line.limits.settings().unwrap()
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
