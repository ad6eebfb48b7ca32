//! The server functions that the stations' forms are sent to. Everybody who is signed in may start and stop what runs
//! for all: a class has a teacher.

use axum::http::header::SET_COOKIE;
use leptos::prelude::*;
use leptos::server_fn::ServerFn as _;
use leptos_axum::ResponseOptions;
use model::{Handle, Relation};
use ui::refusal::ActionError;
use ui::reply::{Form, referring_page};
use ui::request::feed;
use ui::session;

use crate::exercise::Question;
use crate::layouts::Course;
use crate::pages::{COOKIE, FOLLOWS, answered, in_turn, key, workshop};
use crate::report::StormChoice;

/// The pages that show what the forms do.
const CLASS: &str = "/lab/class";
const CONSOLE: &str = "/lab/console";
const MIGRATION: &str = "/lab/migrate";
const STORM: &str = "/lab/storm";

/// Where something is started that runs for a while.
pub const STARTS: [&str; 5] = [
    "/api/v1/lab/layouts",
    RaceLayouts::PATH,
    StartMigration::PATH,
    StartStorm::PATH,
    LayOut::PATH,
];

/// What changes nothing that others see.
pub const PRIVATE: [&str; 3] = [EnterLine::PATH, FollowTeacher::PATH, RestartConsole::PATH];

/// Joins the class and signs in. There is no password: a student who loses their session joins again.
#[server(endpoint = "join_class")]
pub async fn join_class(name: String) -> Result<Handle, ActionError> {
    let form = Form::new("join_class").keeping("name", &name);
    let result = async {
        let (account, token) = workshop()?.join(name.parse()?, &session::client()).await?;
        session::start(&feed()?, &token).await?;
        Ok(account.handle)
    };
    form.answer(result.await, |_| CLASS.to_owned())
}

/// Makes the next people of the town like the class's post. Returns how many did.
#[server(endpoint = "bring_people")]
pub async fn bring_people() -> Result<u64, ActionError> {
    let result = async { workshop()?.add_likes(&session::require()?.handle).await };
    Form::new("bring_people").answer(result.await, |_| CLASS.to_owned())
}

/// Votes for an option of a station's question, in place of an earlier vote.
#[server(endpoint = "vote")]
pub async fn vote(station: String, option: usize) -> Result<(), ActionError> {
    let result = async {
        let student = session::require()?.handle;
        workshop()?.vote(&student, &station, option).await
    };
    Form::new("vote").answer(result.await, |()| format!("/lab/{station}"))
}

/// Makes this browser follow the teacher, or stay.
#[server(endpoint = "follow_teacher")]
pub async fn follow_teacher(on: bool) -> Result<(), ActionError> {
    let result = async {
        session::require()?;
        if on {
            remember(FOLLOWS, "on", A_DAY);
        } else {
            remember(FOLLOWS, "", 0);
        }
        Ok(())
    };
    let back = || referring_page().unwrap_or_else(|| CLASS.to_owned());
    Form::new("follow_teacher").answer(result.await, |()| back())
}

/// Tries an answer to an exercise, and records for the teacher whether it is right.
#[server(endpoint = "answer_exercise")]
pub async fn answer_exercise(exercise: String, answer: String) -> Result<bool, ActionError> {
    let result = async {
        let student = session::require()?.handle;
        let question = Question::numbered(&exercise)?;
        let tried = answer.clone();
        let grade = in_turn(move || async move { question.grade(&tried).await }).await?;
        let workshop = workshop()?;
        workshop
            .record_answer(&student, question.number, grade.right)
            .await?;
        Ok(grade.right)
    };
    Form::new("answer_exercise").answer(result.await, |_| answered(&exercise, &answer))
}

/// Starts a race up to this many items of this many bytes, unless one is already running.
#[server(endpoint = "race_layouts")]
pub async fn race_layouts(largest: u64, item_bytes: u64) -> Result<(), ActionError> {
    let result = async {
        let by = session::require()?.handle;
        workshop()?.start_layout_race(&by, Course::new(largest, item_bytes)?)
    };
    Form::new("race_layouts").answer(result.await.map(drop), |()| race_station())
}

/// Stops the race, if one is running.
#[server(endpoint = "stop_layouts")]
pub async fn stop_layouts() -> Result<(), ActionError> {
    let result = async {
        session::require()?;
        Ok(workshop()?.stop_layout_race().await)
    };
    Form::new("stop_layouts").answer(result.await.map(drop), |()| race_station())
}

/// The address of the race's station, with the values that the form had.
fn race_station() -> String {
    referring_page().unwrap_or_else(|| "/lab/layouts".to_owned())
}

/// Starts a migration of an array of this many likes.
#[server(endpoint = "start_migration")]
pub async fn start_migration(items: u64) -> Result<(), ActionError> {
    let result = async {
        let by = session::require()?.handle;
        workshop()?.start_migration(by, items).await
    };
    Form::new("start_migration")
        .keeping("items", &items.to_string())
        .answer(result.await.map(drop), |()| MIGRATION.to_owned())
}

/// Ends the likes early, and answers when the verdict is there.
#[server(endpoint = "stop_migration")]
pub async fn stop_migration() -> Result<(), ActionError> {
    let result = async {
        session::require()?;
        workshop()?.stop_migration().await;
        Ok(())
    };
    Form::new("stop_migration").answer(result.await, |()| MIGRATION.to_owned())
}

/// Starts a storm.
#[server(endpoint = "start_storm")]
pub async fn start_storm(
    target: String,
    actors: u32,
    rate: u32,
    at_once: u32,
    seconds: u32,
    take_back: u32,
) -> Result<(), ActionError> {
    let mut form = Form::new("start_storm").keeping("target", &target);
    for (field, typed) in [
        ("actors", actors),
        ("rate", rate),
        ("at_once", at_once),
        ("seconds", seconds),
        ("take_back", take_back),
    ] {
        form = form.keeping(field, &typed.to_string());
    }
    let result = async {
        let by = session::require()?.handle;
        let choice = StormChoice {
            target: target.parse()?,
            actors,
            rate,
            at_once,
            seconds,
            take_back,
        };
        workshop()?.start_storm(by, choice).await.map(drop)
    };
    form.answer(result.await, |()| STORM.to_owned())
}

/// Ends the storm early.
#[server(endpoint = "stop_storm")]
pub async fn stop_storm() -> Result<(), ActionError> {
    let result = async {
        session::require()?;
        workshop()?.stop_storm();
        Ok(())
    };
    Form::new("stop_storm").answer(result.await, |()| STORM.to_owned())
}

/// Lays out a list in a sandbox, with the limits that follow from a budget in KB and the store's items.
#[server(endpoint = "lay_out")]
pub async fn lay_out(relation: String, kb: String) -> Result<(), ActionError> {
    let result = async {
        let by = session::require()?.handle;
        let relation: Relation = relation.parse()?;
        workshop()?.lay_out(by, relation, &kb).await?;
        Ok(format!("/lab/tune?relation={relation}&kb={kb}"))
    };
    Form::new("lay_out").answer(result.await, String::clone).map(drop)
}

/// Runs a line in the console of this browser, which is opened if it has none.
#[server(endpoint = "enter_line")]
pub async fn enter_line(line: String) -> Result<(), ActionError> {
    let form = Form::new("enter_line").keeping("line", &line);
    let result = async {
        let (workshop, client) = (workshop()?, session::client());
        let now = workshop.feed().now();
        let key = key().unwrap_or_else(|| workshop.feed().fresh_id(now));
        let consoles = workshop.consoles().clone();
        in_turn(move || async move { consoles.enter(key, &line, client.peer, now).await }).await?;
        remember(COOKIE, &key.to_string(), A_DAY);
        Ok(())
    };
    form.answer(result.await, |()| CONSOLE.to_owned())
}

/// Closes the console of this browser.
#[server(endpoint = "restart_console")]
pub async fn restart_console() -> Result<(), ActionError> {
    let result = async {
        if let Some(key) = key() {
            workshop()?.consoles().close(key);
        }
        remember(COOKIE, "", 0);
        Ok(())
    };
    Form::new("restart_console").answer(result.await, |()| CONSOLE.to_owned())
}

/// How long a browser keeps the key of its console, and whether it follows the teacher, in seconds.
const A_DAY: u32 = 24 * 60 * 60;

/// Makes the browser keep a cookie.
fn remember(name: &str, value: &str, seconds: u32) {
    let cookie = session::current().and_then(|session| session.cookies().other(name, value, seconds));
    if let (Some(cookie), Some(response)) = (cookie, use_context::<ResponseOptions>()) {
        response.append_header(SET_COOKIE, cookie);
    }
}
