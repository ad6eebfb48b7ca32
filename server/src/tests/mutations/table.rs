//! The table of mutations: all ways to change something.

use axum::http::Method;

/// The teacher's routes, which are outside of the sessions because a reset empties them.
pub const TEACHERS: [&str; 3] = ["/lab/class/anew", "/lab/class/withhold", "/lab/class/lesson"];

/// What changes nothing in the store: a console is in memory.
pub const PRIVATE: [&str; 3] = ["/api/enter_line", "/api/restart_console", "/api/follow_teacher"];

/// One mutation. In path and body, `{post}`, `{comment}`, `{session}`, `{code}` and `{token}` belong to the actor, and `{handle}` is somebody
/// else.
pub struct Mutation {
    pub method: Method,
    pub path: &'static str,
    pub body: &'static str,
    /// Who is refused.
    pub refused: Refused,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Nobody: it is how people sign up, in and out.
    Nobody,
    /// Visitors who are not signed in.
    Visitors,
    /// Visitors who are not signed in, and everybody except the owner.
    Others,
}

use self::Refused::{Nobody, Others, Visitors};

#[rustfmt::skip]
pub fn all() -> Vec<Mutation> {
    const ACCOUNT: &str = r#"{"handle":"carol","name":"Carol","password":"correct horse"}"#;
    const CREDENTIALS: &str = r#"{"handle":"ada","password":"correct horse"}"#;
    const TEXT: &str = r#"{"text":"Hello"}"#;
    let mut rows = vec![
        ("POST", "/api/v1/accounts", ACCOUNT, Nobody),
        ("POST", "/api/v1/session", CREDENTIALS, Nobody),
        ("DELETE", "/api/v1/session", "", Nobody),
        ("DELETE", "/api/v1/sessions", "", Visitors),
        ("DELETE", "/api/v1/sessions/{session}", "", Visitors),
        ("PATCH", "/api/v1/me", r#"{"name":"Ada Lovelace","bio":"Numbers."}"#, Visitors),
        ("PUT", "/api/v1/me/password", r#"{"password":"correct horse","newPassword":"battery staple"}"#, Visitors),
        ("PUT", "/api/v1/me/recovery-codes", r#"{"password":"correct horse"}"#, Visitors),
        ("POST", "/api/v1/recovery", r#"{"handle":"ada","code":"{code}","newPassword":"battery staple"}"#, Nobody),
        ("DELETE", "/api/v1/me", r#"{"password":"correct horse"}"#, Visitors),
        ("POST", "/api/v1/posts", TEXT, Visitors),
        ("PATCH", "/api/v1/posts/{post}", r#"{"text":"Hello again"}"#, Others),
        ("DELETE", "/api/v1/posts/{post}", "", Others),
        ("POST", "/api/v1/posts/{post}/comments", TEXT, Visitors),
        ("PATCH", "/api/v1/posts/{post}/comments/{comment}", r#"{"text":"Hello again"}"#, Others),
        ("DELETE", "/api/v1/posts/{post}/comments/{comment}", "", Others),
        ("PUT", "/api/v1/posts/{post}/like", "", Visitors),
        ("DELETE", "/api/v1/posts/{post}/like", "", Visitors),
        ("PUT", "/api/v1/posts/{post}/share", "", Visitors),
        ("DELETE", "/api/v1/posts/{post}/share", "", Visitors),
        ("PUT", "/api/v1/posts/{post}/pin", "", Others),
        ("DELETE", "/api/v1/posts/{post}/pin", "", Visitors),
        ("PUT", "/api/v1/posts/{post}/bookmark", "", Visitors),
        ("DELETE", "/api/v1/posts/{post}/bookmark", "", Visitors),
        ("PUT", "/api/v1/posts/{post}/hidden", "", Visitors),
        ("DELETE", "/api/v1/posts/{post}/hidden", "", Visitors),
        ("PUT", "/api/v1/users/{handle}/mute", "", Visitors),
        ("DELETE", "/api/v1/users/{handle}/mute", "", Visitors),
        ("PUT", "/api/v1/users/{handle}/block", "", Visitors),
        ("DELETE", "/api/v1/users/{handle}/block", "", Visitors),
        ("POST", "/api/v1/reports", r#"{"target":"user:{handle}","text":"Rude."}"#, Visitors),
        ("PUT", "/api/v1/notifications/settings", r#"{"told":["like"]}"#, Visitors),
        ("POST", "/api/v1/notifications/read", r#"{"until":"2026-03-01T12:00:00Z"}"#, Visitors),
        ("PUT", "/api/v1/users/{handle}/follow", "", Visitors),
        ("DELETE", "/api/v1/users/{handle}/follow", "", Visitors),
        ("POST", "/api/sign_up", "handle=carol&name=Carol&password=correct+horse", Nobody),
        ("POST", "/api/sign_in", "handle=ada&password=correct+horse", Nobody),
        ("POST", "/api/sign_in_as_demo", "handle=bob", Nobody),
        ("POST", "/api/sign_out", "", Nobody),
        ("POST", "/api/compose", "text=Hello", Visitors),
        ("POST", "/api/add_comment", "post={post}&text=Hello", Visitors),
        ("POST", "/api/set_like", "post={post}&on=true", Visitors),
        ("POST", "/api/set_share", "post={post}&on=true", Visitors),
        ("POST", "/api/set_pin", "post={post}&on=true", Others),
        ("POST", "/api/set_bookmark", "post={post}&on=true", Visitors),
        ("POST", "/api/set_hidden", "post={post}&on=true", Visitors),
        ("POST", "/api/set_mute", "handle={handle}&on=true", Visitors),
        ("POST", "/api/set_block", "handle={handle}&on=true", Visitors),
        ("POST", "/api/report", "target=user:{handle}&text=Rude.", Visitors),
        ("POST", "/api/choose_notifications", "told[]=like", Visitors),
        ("POST", "/api/mark_notifications_read", "until=2026-03-01T12:00:00Z", Visitors),
        ("POST", "/api/set_follow", "handle={handle}&on=true", Visitors),
        ("POST", "/api/edit_post", "post={post}&text=Hello+again", Others),
        ("POST", "/api/delete_post", "post={post}", Others),
        ("POST", "/api/edit_comment", "post={post}&comment={comment}&text=Hello+again", Others),
        ("POST", "/api/delete_comment", "post={post}&comment={comment}", Others),
        ("POST", "/api/describe", "name=Ada+Lovelace&bio=Numbers.", Visitors),
        ("POST", "/api/change_password", "password=correct+horse&new_password=battery+staple", Visitors),
        ("POST", "/api/make_recovery_codes", "password=correct+horse", Visitors),
        ("POST", "/api/recover", "handle=ada&code={code}&new_password=battery+staple", Nobody),
        ("POST", "/api/reset_password", "handle=ada&token={token}&new_password=battery+staple", Nobody),
        ("POST", "/api/end_session", "id={session}", Visitors),
        ("POST", "/api/end_other_sessions", "", Visitors),
        ("POST", "/api/leave", "handle=ada&password=correct+horse", Visitors),
    ];
    if cfg!(feature = "workshop") {
        rows.extend([
            ("POST", "/api/v1/lab/layouts", r#"{"largest":100,"itemBytes":62}"#, Visitors),
            ("DELETE", "/api/v1/lab/layouts", "", Visitors),
            ("POST", "/api/race_layouts", "largest=100&item_bytes=62", Visitors),
            ("POST", "/api/stop_layouts", "", Visitors),
            // Only for the teacher: `server/tests/http/class.rs`.
            ("POST", TEACHERS[0], "", Nobody),
            ("POST", TEACHERS[1], "post={post}&on=true", Nobody),
            ("POST", TEACHERS[2], "station=race", Nobody),
            ("POST", "/api/join_class", "name=Carol", Nobody),
            ("POST", "/api/bring_people", "", Visitors),
            ("POST", "/api/vote", "station=race&option=1", Visitors),
            ("POST", "/api/answer_exercise", "exercise=5&answer=2", Visitors),
            ("POST", "/api/start_storm", "target=quiet&actors=1&rate=1&at_once=1&seconds=1&take_back=0", Visitors),
            ("POST", "/api/stop_storm", "", Visitors),
            ("POST", "/api/start_migration", "items=1000", Visitors),
            ("POST", "/api/stop_migration", "", Visitors),
            ("POST", "/api/lay_out", "relation=likes&kb=1", Visitors),
            // In memory or in a cookie, for this browser alone.
            ("POST", PRIVATE[0], "line=show+collections", Nobody),
            ("POST", PRIVATE[1], "", Nobody),
            ("POST", PRIVATE[2], "on=true", Visitors),
        ]);
    }
    rows.into_iter()
        .map(|(method, path, body, refused)| Mutation { method: method.parse().unwrap(), path, body, refused })
        .collect()
}
