//! Two people with a post each, and what one of them sends.

use axum::Router;
use axum::http::header::{ACCEPT, COOKIE};
use bson::Document;

use super::super::stage::{Answer, Call, JSON, PAGE, Stage};
use super::table::Mutation;
use super::{ELSEWHERE, FORM};

/// A store with two people, ada and bob, each with a post and a comment on it.
pub(super) struct Place {
    pub(super) stage: Stage,
    /// The session, the post and the comment of each.
    people: [(String, String, String); 2],
    code: String,
    token: String,
    pub(super) before: Vec<(String, Vec<Document>)>,
}

impl Place {
    pub(super) async fn new() -> Self {
        let stage = Stage::new().await;
        let ada = Self::person(&stage, "ada").await;
        let bob = Self::person(&stage, "bob").await;
        let mut elsewhere = stage.documents("sessions").await;
        elsewhere.retain(|session| session.get_str("user").unwrap() == "ada");
        elsewhere[0].insert("_id", ELSEWHERE);
        stage.puts_back("sessions", elsewhere).await;
        let (code, token) = stage.recovery_of("ada").await;
        #[cfg(feature = "workshop")]
        stage.opens_a_class_with("ada").await;
        stage.feed().notifications().are_told().await;
        let before = stage.everything().await;
        Self {
            stage,
            people: [ada, bob],
            code,
            token,
            before,
        }
    }

    async fn person(stage: &Stage, handle: &str) -> (String, String, String) {
        let cookie = stage.joins(handle).await;
        let post = stage.creates(&cookie, "/api/v1/posts").await;
        let comments = format!("/api/v1/posts/{post}/comments");
        let comment = stage.creates(&cookie, &comments).await;
        (cookie, post, comment)
    }

    /// What the actor, ada, sends for a row.
    pub(super) fn scene(&self, row: &Mutation) -> Scene<'_> {
        let is_api = row.path.starts_with("/api/v1/");
        let [ada, bob] = &self.people;
        let call = |(_, post, comment): &(String, String, String)| {
            let fill = |text: &str| {
                text.replace("{post}", post)
                    .replace("{comment}", comment)
                    .replace("{session}", ELSEWHERE)
                    .replace("{code}", &self.code)
                    .replace("{token}", &self.token)
                    .replace("{handle}", "bob")
            };
            let call = Call::new(row.method.clone(), &fill(row.path)).header(COOKIE.as_str(), &ada.0);
            match row.body {
                "" => call,
                body => call.body(if is_api { JSON } else { FORM }, fill(body)),
            }
        };
        Scene {
            stage: &self.stage,
            own: call(ada),
            foreign: call(bob),
            before: &self.before,
            what: format!("{} {}", row.method, row.path),
            is_api,
        }
    }
}

/// A row of the table, with the values that ada would send.
pub(super) struct Scene<'a> {
    pub(super) stage: &'a Stage,
    pub(super) own: Call,
    /// The same with values that belong to bob.
    pub(super) foreign: Call,
    before: &'a [(String, Vec<Document>)],
    pub(super) what: String,
    pub(super) is_api: bool,
}

impl Scene<'_> {
    /// Asserts that this is refused with a problem, both to a program and to a person who sent a plain form, and
    /// that nothing was written.
    pub(super) async fn refuses(&self, app: &Router, call: &Call, status: u16, why: &str) -> Answer {
        let what = format!("{}: {why}", self.what);
        let answer = call.send(app).await;
        assert_eq!(answer.status, status, "{what}: {answer:?}");
        assert_eq!(
            answer.header("content-type"),
            "application/problem+json",
            "{what}: {answer:?}"
        );
        assert_eq!(answer.body["status"], status, "{what}: {answer:?}");
        if !self.is_api {
            let page = call.clone().header(ACCEPT.as_str(), PAGE).send(app).await;
            assert_eq!(page.status, status, "{what}: {page:?}");
            assert!(
                page.header("content-type").starts_with("text/html"),
                "{what}: {page:?}"
            );
        }
        self.nothing_was_written(&what).await;
        answer
    }

    /// The same for a server function that checks the sender: a plain form leads back to its page, which shows the
    /// reason.
    pub(super) async fn refuses_in_its_page(&self, app: &Router, call: &Call, status: u16, kind: &str) {
        let answer = call.send(app).await;
        assert_eq!(answer.status, status, "{}: {answer:?}", self.what);
        assert_eq!(answer.body["kind"], kind, "{}: {answer:?}", self.what);
        let page = call.clone().header(ACCEPT.as_str(), PAGE).send(app).await;
        assert_eq!(page.status, 303, "{}: {page:?}", self.what);
        assert!(
            page.header("set-cookie").starts_with("spillway-notice="),
            "{}: {page:?}",
            self.what
        );
        self.nothing_was_written(&self.what).await;
    }

    pub(super) async fn nothing_was_written(&self, what: &str) {
        assert_eq!(self.stage.everything().await, *self.before, "{what}");
    }
}
