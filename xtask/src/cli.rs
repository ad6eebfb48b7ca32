//! The command line of `cargo xtask`.

use crate::exercise::EXERCISES;
use crate::failure::Failure;

/// What `cargo xtask` and `cargo xtask --help` print.
pub const HELP: &str = "\
Spillway's commands.

  cargo xtask serve [OPTIONS]   install what is missing, build, and serve http://127.0.0.1:3000;
                                OPTIONS go to `spillway serve` (see `cargo xtask serve --help`)
  cargo xtask test              everything: formatting, lints, tests, fuzzing, sizes, and a real browser
  cargo xtask test --quick      the same without fuzzing, the release build and the browser
  cargo xtask build             what `serve` builds, without serving it
  cargo xtask bench             the benchmarks of lists, with their tables written to docs/benchmarks
  cargo xtask bench --server    the server's: the home page under load, and hundreds of open event streams
  cargo xtask bench --quick     either of them small and short: shows that it runs, and writes to the build folder
  cargo xtask fuzz TARGET [INPUT]
                                look for bytes that break an invariant, or run one such INPUT (see CONTRIBUTING.md)
  cargo xtask exercise N        check your answer to an exercise of the workshop (see docs/workshop/exercises.md)
  cargo xtask fmt               format Rust, TypeScript and JSON in place

Environment:
  SPILLWAY_TOOLS   where build tools are kept (default: a folder in your user's cache, shared by all clones)
  CHROMIUM         the browser that the tests drive (default: the Chromium or Chrome that is installed)
";

/// One parsed command.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// Print [`HELP`].
    Help,
    /// Build and serve; the arguments go to `spillway serve`.
    Serve {
        /// Passed on unchanged.
        arguments: Vec<String>,
    },
    /// Build what `serve` serves.
    Build,
    /// Run the checks and tests.
    Test {
        /// Without fuzzing, the release build and the browser.
        quick: bool,
    },
    /// Run the benchmarks.
    Bench {
        /// The server's instead of those of lists.
        server: bool,
        /// Small and short; the results are not kept.
        quick: bool,
    },
    /// Run one fuzz target.
    Fuzz {
        /// The target, and further arguments for cargo-fuzz.
        arguments: Vec<String>,
    },
    /// Check a student's answer.
    Exercise {
        /// The number of the exercise, from 1.
        number: usize,
    },
    /// Format in place.
    Fmt,
}

/// Reads the arguments that follow `cargo xtask`.
///
/// An unknown command or option is a [`Failure::Usage`] that names it.
pub fn parse(arguments: &[String]) -> Result<Command, Failure> {
    let Some((name, rest)) = arguments.split_first() else {
        return Ok(Command::Help);
    };
    let wants_help = rest
        .iter()
        .any(|argument| argument == "--help" || argument == "-h");
    match name.as_str() {
        "--help" | "-h" | "help" => Ok(Command::Help),
        // `serve --help` is answered by the binary, which knows its own options.
        "serve" => Ok(Command::Serve {
            arguments: rest.to_vec(),
        }),
        "test" | "build" | "bench" | "fuzz" | "exercise" | "fmt" if wants_help => Ok(Command::Help),
        "test" => Ok(Command::Test {
            quick: parse_quick(name, rest)?,
        }),
        "build" => without_options(name, rest, Command::Build),
        "bench" => parse_bench(rest),
        "fuzz" => Ok(Command::Fuzz {
            arguments: rest.to_vec(),
        }),
        "exercise" => parse_exercise(rest),
        "fmt" => without_options(name, rest, Command::Fmt),
        unknown => Err(Failure::Usage(format!(
            "There is no command \"{unknown}\". The commands are serve, test, build, bench, fuzz, exercise and fmt."
        ))),
    }
}

fn parse_quick(command: &str, rest: &[String]) -> Result<bool, Failure> {
    let mut quick = false;
    for option in rest {
        match option.as_str() {
            "--quick" => quick = true,
            unknown => return Err(unknown_option(command, unknown, "--quick")),
        }
    }
    Ok(quick)
}

fn parse_bench(rest: &[String]) -> Result<Command, Failure> {
    let (mut server, mut quick) = (false, false);
    for option in rest {
        match option.as_str() {
            "--server" => server = true,
            "--quick" => quick = true,
            unknown => return Err(unknown_option("bench", unknown, "--server, --quick")),
        }
    }
    Ok(Command::Bench { server, quick })
}

fn parse_exercise(rest: &[String]) -> Result<Command, Failure> {
    let last = EXERCISES.len();
    let number = match rest {
        [number] => number.parse().ok().filter(|number| (1..=last).contains(number)),
        _ => None,
    };
    number.map(|number| Command::Exercise { number }).ok_or_else(|| {
        Failure::Usage(format!(
            "`cargo xtask exercise` takes the number of one exercise, 1 to {last}, and was given \"{}\".",
            rest.join(" ")
        ))
    })
}

fn without_options(name: &str, rest: &[String], command: Command) -> Result<Command, Failure> {
    match rest.first() {
        None => Ok(command),
        Some(unknown) => Err(unknown_option(name, unknown, "none")),
    }
}

fn unknown_option(command: &str, option: &str, known: &str) -> Failure {
    Failure::Usage(format!(
        "`cargo xtask {command}` has no option \"{option}\". Its options: {known}."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, Failure> {
        let arguments: Vec<String> = line.split_whitespace().map(String::from).collect();
        parse(&arguments)
    }

    #[test]
    fn nothing_at_all_asks_for_help() {
        assert_eq!(parsed("").unwrap(), Command::Help);
        assert_eq!(parsed("--help").unwrap(), Command::Help);
        assert_eq!(parsed("test --help").unwrap(), Command::Help);
    }

    #[test]
    fn arguments_after_serve_go_to_the_binary() {
        let arguments = vec!["--no-demo".to_owned(), "--help".to_owned()];
        assert_eq!(
            parsed("serve --no-demo --help").unwrap(),
            Command::Serve { arguments }
        );
    }

    #[test]
    fn arguments_after_fuzz_go_to_the_fuzzer() {
        let arguments = ["filters", "--", "-max_total_time=60"].map(String::from).to_vec();
        assert_eq!(
            parsed("fuzz filters -- -max_total_time=60").unwrap(),
            Command::Fuzz { arguments }
        );
    }

    #[test]
    fn test_and_bench_know_quick() {
        for (line, server, quick) in [
            ("bench", false, false),
            ("bench --quick", false, true),
            ("bench --server", true, false),
            ("bench --quick --server", true, true),
        ] {
            assert_eq!(parsed(line).unwrap(), Command::Bench { server, quick }, "{line}");
        }
        assert_eq!(parsed("test").unwrap(), Command::Test { quick: false });
        assert_eq!(parsed("test --quick").unwrap(), Command::Test { quick: true });
    }

    #[test]
    fn an_exercise_has_a_number() {
        assert_eq!(parsed("exercise 3").unwrap(), Command::Exercise { number: 3 });
    }

    #[test]
    fn unknown_names_are_refused_by_name() {
        for (line, name) in [
            ("exercise", "1 to 8"),
            ("exercise 9", "\"9\""),
            ("exercise three", "three"),
            ("sevre", "sevre"),
            ("test --fast", "--fast"),
            ("bench likes", "likes"),
        ] {
            let failure = parsed(line).unwrap_err();
            assert_eq!(failure.exit_code(), 2, "{line}");
            assert!(failure.to_string().contains(name), "{line}: {failure}");
        }
    }
}
