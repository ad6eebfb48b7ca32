//! Editing comments, and answering them.

use axum::Router;
use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE, REFERER};
use bson::Document;
use serde_json::{Value, json};

use super::stage::{Answer, Call, JSON, PAGE, Stage};

const FORM: &str = "application/x-www-form-urlencoded";

/// Ada's post, and three people.
struct Scene {
    stage: Stage,
    app: Router,
    ada: String,
    bob: String,
    cleo: String,
    post: String,
}

impl Scene {
    async fn new() -> Self {
        let stage = Stage::new().await;
        let (ada, bob, cleo) = (
            stage.joins("ada").await,
            stage.joins("bob").await,
            stage.joins("cleo").await,
        );
        let post = stage.creates(&ada, "/api/v1/posts").await;
        let app = stage.open();
        Self {
            stage,
            app,
            ada,
            bob,
            cleo,
            post,
        }
    }

    async fn sends(&self, cookie: &str, method: Method, path: &str, body: Value) -> Answer {
        let call = Call::new(method, &format!("/api/v1{path}")).header(COOKIE.as_str(), cookie);
        let call = match body {
            Value::Null => call,
            body => call.body(JSON, body.to_string()),
        };
        let answer = call.send(&self.app).await;
        self.stage.feed().notifications().are_told().await;
        answer
    }

    fn comments(&self) -> String {
        format!("/posts/{}/comments", self.post)
    }

    async fn writes(&self, cookie: &str, body: Value) -> Value {
        let written = self.sends(cookie, Method::POST, &self.comments(), body).await;
        assert_eq!(written.status, 201, "{written:?}");
        written.body
    }

    async fn edits(&self, cookie: &str, id: &Value, text: &str) -> Answer {
        let path = format!("{}/{}", self.comments(), id.as_str().unwrap());
        self.sends(cookie, Method::PATCH, &path, json!({ "text": text }))
            .await
    }

    async fn deletes(&self, cookie: &str, path: &str) {
        let deleted = self.sends(cookie, Method::DELETE, path, Value::Null).await;
        assert_eq!(deleted.status, 204, "{path}: {deleted:?}");
    }

    async fn listed(&self, cookie: &str) -> Vec<Value> {
        let list = self
            .sends(cookie, Method::GET, &self.comments(), Value::Null)
            .await;
        list.body["items"].as_array().unwrap().clone()
    }

    async fn edits_stored(&self) -> Vec<Document> {
        self.stage.documents("commentEdits").await
    }

    async fn page(&self, cookie: &str, path: &str) -> String {
        let page = Call::new(Method::GET, path).header(ACCEPT.as_str(), PAGE);
        page.header(COOKIE.as_str(), cookie).send(&self.app).await.text
    }

    /// What somebody is told: kind, who did it, and the text.
    async fn told(&self, cookie: &str) -> Vec<String> {
        let list = self
            .sends(cookie, Method::GET, "/notifications", Value::Null)
            .await;
        let line = |told: &Value| {
            let word = |value: &Value| value.as_str().unwrap().to_owned();
            let by = word(&told["by"]["handle"]);
            format!("{} {by}: {}", word(&told["kind"]), word(&told["text"]))
        };
        list.body["items"].as_array().unwrap().iter().map(line).collect()
    }
}

fn text(text: &str) -> Value {
    json!({ "text": text })
}

#[tokio::test]
async fn an_edited_comment_has_its_new_text_everywhere_and_the_lists_stay_as_they_are() {
    let scene = Scene::new().await;
    let id = "0198c0de-7000-8000-a1b2-c3d4e5f60718";
    let first = scene
        .writes(&scene.bob, json!({ "id": id, "text": "The weir" }))
        .await;
    scene.writes(&scene.cleo, text("The lock")).await;
    let other = scene.stage.creates(&scene.ada, "/api/v1/posts").await;
    let elsewhere = format!("/posts/{other}/comments");
    let same = json!({ "id": id, "text": "Elsewhere" });
    scene.sends(&scene.bob, Method::POST, &elsewhere, same).await;
    let before = [
        scene.stage.documents("posts").await,
        scene.stage.documents("users").await,
    ];

    let edited = scene.edits(&scene.bob, &first["id"], "The old weir, @cleo").await;
    assert_eq!(
        (edited.status, &edited.body["text"]),
        (200, &json!("The old weir, @cleo"))
    );
    assert_eq!(
        (&edited.body["at"], &edited.body["mentions"]),
        (&first["at"], &json!(["cleo"]))
    );
    assert!(
        edited.body["editedAt"].as_str() > first["at"].as_str(),
        "{edited:?}"
    );
    let after = [
        scene.stage.documents("posts").await,
        scene.stage.documents("users").await,
    ];
    assert_eq!(after, before);
    let listed = scene.listed("").await;
    assert_eq!(listed[1], edited.body);
    assert_eq!(listed[0].get("editedAt"), None);
    let list = scene.sends("", Method::GET, &elsewhere, Value::Null).await;
    assert_eq!(list.body["items"][0]["text"], "Elsewhere");
    assert!(
        scene
            .told(&scene.ada)
            .await
            .contains(&"comment cleo: The lock".to_owned())
    );
    assert_eq!(scene.told(&scene.cleo).await, [""; 0]);

    // The same text again.
    let stored = scene.edits_stored().await;
    let again = scene.edits(&scene.bob, &first["id"], "The old weir, @cleo").await;
    assert_eq!(
        (again.body, scene.edits_stored().await),
        (edited.body.clone(), stored)
    );
    let export = scene
        .sends(&scene.bob, Method::GET, "/me/export", Value::Null)
        .await;
    assert!(export.text.contains("The old weir") && !export.text.contains("\"The weir\""));
    let edited = |comment: &Value| comment["editedAt"].is_string();
    assert!(export.body["comments"].as_array().unwrap().iter().any(edited));
    let target = format!("comment:{}:{id}", scene.post);
    let report = json!({ "target": target, "text": "Old" });
    scene.sends(&scene.cleo, Method::POST, "/reports", report).await;
    let reported = scene.stage.feed().moderation().reported().await.unwrap();
    assert_eq!(reported[0].says.as_deref(), Some("The old weir, @cleo"));
    let page = scene.page(&scene.ada, &format!("/post/{}", scene.post)).await;
    assert!(
        page.contains("class=\"edited\"") && page.contains("The old weir"),
        "{page}"
    );
}

#[tokio::test]
async fn only_its_author_edits_a_comment_and_only_to_a_text() {
    let scene = Scene::new().await;
    let comment = scene.writes(&scene.bob, text("Hello")).await;
    let nowhere = json!("0198c0de-7000-8000-a1b2-c3d4e5f60718");
    for (cookie, id, text, status) in [
        (&scene.ada, &comment["id"], "Mine", 403),
        (&scene.bob, &nowhere, "Mine", 404),
        (&scene.bob, &comment["id"], " ", 422),
    ] {
        assert_eq!(scene.edits(cookie, id, text).await.status, status);
    }
    assert_eq!(scene.edits_stored().await, []);
    let id = comment["id"].as_str().unwrap();
    let page = format!("/post/{}?edit={id}", scene.post);
    for (cookie, has_form) in [(&scene.bob, true), (&scene.ada, false)] {
        let page = scene.page(cookie, &page).await;
        assert_eq!(
            page.contains("data-testid=\"edit-comment-form\""),
            has_form,
            "{page}"
        );
    }
}

#[tokio::test]
async fn with_a_comment_a_post_or_an_account_its_edits_are_deleted() {
    let scene = Scene::new().await;
    let own = scene.stage.creates(&scene.bob, "/api/v1/posts").await;
    let own_comments = format!("/posts/{own}/comments");
    let id = json!("0198c0de-7000-8000-a1b2-c3d4e5f60718");
    let comment = json!({ "id": id, "text": "First" });
    scene.writes(&scene.bob, comment.clone()).await;
    scene.edits(&scene.bob, &id, "Second").await;
    let path = format!("{}/{}", scene.comments(), id.as_str().unwrap());
    scene.deletes(&scene.bob, &path).await;
    assert_eq!(scene.edits_stored().await, []);
    let again = scene.writes(&scene.bob, comment).await;
    assert_eq!((&again["text"], again.get("editedAt")), (&json!("First"), None));

    scene.edits(&scene.bob, &id, "Second").await;
    let by_cleo = scene
        .sends(&scene.cleo, Method::POST, &own_comments, text("First"))
        .await
        .body;
    let path = format!("{own_comments}/{}", by_cleo["id"].as_str().unwrap());
    scene
        .sends(&scene.cleo, Method::PATCH, &path, text("Second"))
        .await;
    let by_cleo = scene.writes(&scene.cleo, text("First")).await;
    scene.edits(&scene.cleo, &by_cleo["id"], "Second").await;
    assert_eq!(scene.edits_stored().await.len(), 3);
    let account = json!({ "password": "correct horse" });
    let left = scene.sends(&scene.bob, Method::DELETE, "/me", account).await;
    assert_eq!(left.status, 204, "{left:?}");
    scene.stage.finish_account_deletions().await;
    let stored = scene.edits_stored().await;
    assert_eq!(stored.len(), 1, "{stored:?}");
    assert_eq!(stored[0].get_str("author").unwrap(), "cleo");

    scene.deletes(&scene.ada, &format!("/posts/{}", scene.post)).await;
    assert_eq!(scene.edits_stored().await, []);
}

#[tokio::test]
async fn a_reply_names_what_it_answers_and_its_author_is_told_once() {
    let scene = Scene::new().await;
    let asked = scene.writes(&scene.bob, text("Since when?")).await;
    let reply = json!({ "text": "Since noon, @bob and @cleo", "replyTo": asked["id"] });
    let reply = scene.writes(&scene.cleo, reply).await;
    assert_eq!(reply["replyTo"], asked["id"]);
    assert_eq!(reply["replyToUser"]["handle"], "bob");
    let own = scene
        .writes(&scene.bob, json!({ "text": "Thanks", "replyTo": reply["id"] }))
        .await;
    let to_self = json!({ "text": "And again", "replyTo": own["id"] });
    scene.writes(&scene.bob, to_self).await;
    let listed = scene.listed(&scene.ada).await;
    let answered = |comment: &Value| comment["replyToUser"]["handle"].clone();
    let answered: Vec<_> = listed.iter().map(answered).collect();
    assert_eq!(answered, [json!("bob"), json!("cleo"), json!("bob"), Value::Null]);

    assert_eq!(
        scene.told(&scene.bob).await,
        ["reply cleo: Since noon, @bob and @cleo"]
    );
    assert_eq!(scene.told(&scene.cleo).await, ["reply bob: Thanks"]);
    // Who wrote the post is told of comments only.
    assert_eq!(scene.told(&scene.ada).await, ["comment bob: And again"]);

    let path = format!("{}/{}", scene.comments(), asked["id"].as_str().unwrap());
    scene.deletes(&scene.bob, &path).await;
    let listed = scene.listed(&scene.ada).await;
    assert_eq!(
        (&listed[2]["replyTo"], listed[2].get("replyToUser")),
        (&asked["id"], None)
    );
    let page = scene.page(&scene.ada, &format!("/post/{}", scene.post)).await;
    assert!(page.contains("Replying to a comment that is not here"), "{page}");
    // Sent again after what it answers is gone, a reply is there once.
    let again = json!({ "id": reply["id"], "text": "Since noon", "replyTo": asked["id"] });
    assert_eq!(scene.writes(&scene.cleo, again).await["text"], reply["text"]);
    assert_eq!(scene.listed("").await.len(), 3);
}

#[tokio::test]
async fn a_reply_answers_a_comment_of_the_same_post_that_its_author_can_see() {
    let scene = Scene::new().await;
    let other = scene.stage.creates(&scene.ada, "/api/v1/posts").await;
    let comments = format!("/posts/{other}/comments");
    let elsewhere = scene
        .sends(&scene.bob, Method::POST, &comments, text("Here"))
        .await
        .body;
    let blocked = scene.writes(&scene.bob, text("There")).await;
    scene
        .sends(&scene.bob, Method::PUT, "/users/cleo/block", Value::Null)
        .await;
    let nowhere = json!("0198c0de-7000-8000-a1b2-c3d4e5f60718");
    let malformed = json!("x");
    for (answered, status) in [
        (&elsewhere["id"], 404),
        (&nowhere, 404),
        (&malformed, 422),
        (&blocked["id"], 404),
    ] {
        let reply = json!({ "text": "Hello", "replyTo": answered });
        let refused = scene
            .sends(&scene.cleo, Method::POST, &scene.comments(), reply)
            .await;
        assert_eq!(
            (refused.status, &refused.body["field"]),
            (status, &json!("replyTo")),
            "{refused:?}"
        );
    }
    assert_eq!(scene.listed(&scene.ada).await.len(), 1);
    let no_post = json!({ "text": "Hello", "replyTo": nowhere });
    let path = format!("/posts/{}/comments", nowhere.as_str().unwrap());
    assert_eq!(
        scene
            .sends(&scene.cleo, Method::POST, &path, no_post)
            .await
            .status,
        404
    );
}

#[tokio::test]
async fn on_the_page_a_reply_stands_with_its_comment_and_keeps_a_refused_text() {
    let scene = Scene::new().await;
    let mut written = Vec::new();
    for number in 0..30 {
        written.push(scene.writes(&scene.bob, text(&format!("Comment {number}"))).await);
    }
    let asked = written[2]["id"].as_str().unwrap();
    let page = format!("/post/{}?comment={asked}", scene.post);
    let shown = scene.page(&scene.cleo, &page).await;
    assert!(shown.contains(&format!("id=\"comment-{asked}\"")), "{shown}");
    assert!(
        !shown.contains("Comment 3<") && shown.contains("Comment 0<"),
        "{shown}"
    );
    assert!(
        !scene
            .page(&scene.cleo, &format!("/post/{}", scene.post))
            .await
            .contains("Comment 2<")
    );

    let form = async |typed: &str| {
        let body = format!("post={}&reply_to={asked}&text={typed}", scene.post);
        let form = Call::new(Method::POST, "/api/add_comment")
            .header(ACCEPT.as_str(), PAGE)
            .header(COOKIE.as_str(), &scene.cleo)
            .header(REFERER.as_str(), &format!("http://localhost:3000{page}"));
        form.body(FORM, body).send(&scene.app).await
    };
    let refused = form(&"x".repeat(501)).await;
    assert_eq!((refused.status, refused.header("location")), (303, &*page));
    let notice = refused.header("set-cookie").split(';').next().unwrap().to_owned();
    let cookies = format!("{}; {notice}", scene.cleo);
    let shown = scene.page(&cookies, &page).await;
    assert_eq!(shown.matches(&"x".repeat(501)).count(), 1, "{shown}");
    assert_eq!(
        shown.matches("<details open class=\"edit\"").count(),
        1,
        "{shown}"
    );

    let sent = form("Since+noon").await;
    assert_eq!(sent.status, 303, "{sent:?}");
    let reply = sent
        .header("location")
        .rsplit_once("#comment-")
        .unwrap()
        .1
        .to_owned();
    let shown = scene
        .page(&scene.ada, sent.header("location").split('#').next().unwrap())
        .await;
    assert!(shown.contains(&format!("id=\"comment-{reply}\"")), "{shown}");
    assert!(
        shown.contains(&format!("href=\"{page}#comment-{asked}\"")),
        "{shown}"
    );
    let told = scene.page(&scene.bob, "/@bob/notifications").await;
    assert!(told.contains("replied to your comment"), "{told}");
    assert!(
        told.contains(&format!("?comment={reply}#comment-{reply}")),
        "{told}"
    );
}
