use std::process::Command;
use std::thread;

use serde_json::Value;

use crate::support::{Answer, Client, Server, spillway, words};

pub fn sends(client: &Client, path: &str, body: &str) -> Answer {
    client.submit("text/html", path, body)
}

/// Signs a student up by name.
pub fn joins(server: &Server, name: &str) -> Client {
    let mut student = server.visitor();
    let answer = sends(&student, "/api/join_class", &format!("name={name}"));
    assert_eq!(answer.status, 303, "{answer:?}");
    assert_eq!(answer.headers["location"], "/lab/class");
    student.cookie = Some(answer.cookie());
    student
}

/// Whether the next page will say why this form was refused.
pub fn is_refused(answer: &Answer) -> bool {
    let cookie = answer.headers.get("set-cookie");
    cookie.is_some_and(|cookie| cookie.starts_with("spillway-notice="))
}

pub fn page(client: &Client, path: &str) -> Answer {
    let page = client.at_root().with("accept", "text/html").get(path);
    assert_eq!(page.status, 200, "{}", words(&page.text));
    page
}

/// The browser that opens the link from the terminal.
pub fn teaches(server: &mut Server) -> Client {
    let link = server.says("The teacher opens ");
    let path = link.strip_prefix(&format!("http://{}", server.address)).unwrap();
    let mut teacher = server.visitor();
    let answer = teacher.at_root().with("accept", "text/html").get(path);
    assert_eq!(
        (answer.status, answer.headers["location"].as_str()),
        (303, "/lab/class")
    );
    let cookie = &answer.headers["set-cookie"];
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"),
        "{cookie}"
    );
    teacher.cookie = Some(answer.cookie());
    teacher
}

/// The post that the class storms.
fn post(client: &Client) -> Value {
    let feed = client.get("/feed?limit=20");
    let items = feed.body["items"].as_array().unwrap();
    let post = items
        .iter()
        .find(|post| post["text"].as_str().unwrap().starts_with("Good morning, class!"));
    post.unwrap().clone()
}

fn likes(server: &Server) -> u64 {
    post(&server.visitor())["likes"].as_u64().unwrap()
}

#[test]
fn students_join_by_name_and_may_share_one() {
    let server = Server::for_a_class();
    let (ada, other) = (joins(&server, "Ada+Lovelace"), joins(&server, "Ada+Lovelace"));
    assert_eq!(ada.get("/me").body["handle"], "ada-lovelace");
    assert_eq!(other.get("/me").body["handle"], "ada-lovelace-2");
    assert_eq!(other.get("/me").body["name"], "Ada Lovelace");
    assert!(words(&page(&ada, "/lab/class").text).contains("You are in, Ada Lovelace"));
    let nameless = sends(&server.visitor(), "/api/join_class", "name=");
    assert!(is_refused(&nameless), "{nameless:?}");
    // There is no password, so none can be used to sign in.
    let session = serde_json::json!({"handle": "ada-lovelace", "password": "correct horse"});
    assert_eq!(server.visitor().post("/session", &session).status, 401);
}

#[test]
fn likes_by_a_whole_class_are_all_stored_once() {
    let server = Server::for_a_class();
    let class: Vec<Client> = (1..=8)
        .map(|nth| joins(&server, &format!("Student+{nth}")))
        .collect();
    thread::scope(|scope| {
        for student in &class {
            scope.spawn(|| {
                for _ in 0..4 {
                    let answer = sends(student, "/api/bring_people", "");
                    assert_eq!(answer.headers["location"], "/lab/class", "{answer:?}");
                }
            });
        }
    });
    assert_eq!(likes(&server), 320);
    let shown = words(&page(&class[0], "/lab/class?count=all").text);
    assert!(shown.contains("Added by the class320"), "{shown}");
    assert!(shown.contains("Counted: 320 items by as many people"), "{shown}");
}

#[test]
fn the_demo_town_has_an_end() {
    let server = Server::for_a_class();
    let student = joins(&server, "Ada");
    let refused = (0..200).find_map(|_| {
        let answer = sends(&student, "/api/bring_people", "");
        is_refused(&answer).then(|| answer.cookie())
    });
    let mut told = student.clone();
    told.cookie = Some(format!(
        "{}; {}",
        student.cookie.clone().unwrap(),
        refused.unwrap()
    ));
    let why = words(&page(&told, "/").text);
    assert!(
        why.contains("Everybody in the town has already liked the post."),
        "{why}"
    );
    let all = likes(&server);
    assert!(words(&page(&student, "/lab/class?count=all").text).contains(&format!("Counted: {all} items")));
}

#[test]
fn only_students_of_the_class_bring_people() {
    let server = Server::for_a_class();
    let answer = sends(&server.member("mallory"), "/api/bring_people", "");
    assert!(is_refused(&answer), "{answer:?}");
    assert_eq!(likes(&server), 0);
}

#[test]
fn the_teacher_resets_the_town_and_keeps_the_class() {
    let mut server = Server::for_a_class();
    let student = joins(&server, "Ada");
    sends(&student, "/api/bring_people", "");
    let before = student.get("/users/solveig").body;
    student.put("/users/solveig/follow");
    student.writes("I was here");
    let member = server.member("grace");
    let teacher = teaches(&mut server);
    assert!(page(&teacher, "/lab/class").text.contains("Reset the class"));

    let id = post(&server.visitor())["id"].as_str().unwrap().to_owned();
    let watching = student.watch(&[&format!("post:{id}")]);
    let begun = sends(&teacher, "/lab/class/anew", "");
    assert_eq!(begun.status, 303, "{begun:?}");
    assert_eq!(likes(&server), 0);
    assert_eq!(post(&server.visitor())["id"], id, "whoever watches it goes on to");
    // The stream ends, so that browsers reconnect; it would be silent from now on.
    watching.into_iter().for_each(drop);
    assert_eq!(
        student.get("/users/solveig").body["followers"],
        before["followers"]
    );
    assert_eq!(student.get("/me").body["handle"], "ada");
    assert_eq!(student.get("/users/ada").body["activities"], 0);
    assert_eq!(member.get("/me").status, 401, "who is not of the class is gone");
    sends(&student, "/api/bring_people", "");
    assert_eq!(likes(&server), 10);

    server.terminate();
    server.ended();
    let store = format!("embedded:{}", server.data().join("store").display());
    let checked = Command::output(spillway().args(["check", "--store", &store])).unwrap();
    assert!(
        checked.status.success(),
        "{}",
        String::from_utf8_lossy(&checked.stdout)
    );
}

#[test]
fn the_teacher_hides_a_post_from_everybody_and_shows_it_again() {
    let mut server = Server::for_a_class();
    let teacher = teaches(&mut server);
    let student = joins(&server, "Ada");
    let written = student.post("/posts", &serde_json::json!({"text": "Something rude"}));
    let id = written.body["id"].as_str().unwrap().to_owned();
    let is_seen = || {
        let address = format!("/posts/{id}");
        let seen = [&student, &server.visitor()].map(|client| client.get(&address).status == 200);
        let listed = server.visitor().get("/feed").text.contains("Something rude");
        assert_eq!(seen, [listed; 2]);
        listed
    };
    let desk = page(&teacher, "/lab/class").text;
    assert!(
        desk.contains("Something rude") && desk.contains("the post by @ada"),
        "{desk}"
    );
    assert!(!page(&student, "/lab/class").text.contains("Something rude"));
    let form = |on: &str| format!("post={id}&on={on}");
    let refused = sends(&student, "/lab/class/withhold", &form("true"));
    assert_eq!(refused.status, 403, "{refused:?}");
    assert!(is_seen());
    for _ in 0..2 {
        let hidden = sends(&teacher, "/lab/class/withhold", &form("true"));
        assert_eq!((hidden.status, &*hidden.headers["location"]), (303, "/lab/class"));
    }
    assert!(!is_seen());
    assert!(page(&teacher, "/lab/class").text.contains("Show again"));
    assert_eq!(sends(&teacher, "/lab/class/withhold", &form("false")).status, 303);
    assert!(is_seen());

    let own = post(&server.visitor())["id"].as_str().unwrap().to_owned();
    let nobody = "0198c0de-7000-8000-a1b2-c3d4e5f60718";
    for (body, status) in [
        (format!("post={own}&on=true"), 409),
        (format!("post={nobody}&on=true"), 404),
        ("post=x&on=true".to_owned(), 422),
        (format!("post={id}"), 422),
    ] {
        let refused = sends(&teacher, "/lab/class/withhold", &body);
        assert_eq!(refused.status, status, "{body}: {refused:?}");
    }
}

#[test]
fn a_server_without_a_class_says_how_to_open_one() {
    let server = Server::start();
    let shown = page(&server.visitor(), "/lab/class");
    assert!(
        words(&shown.text).contains("cargo xtask serve --classroom"),
        "{}",
        shown.text
    );
    assert!(!shown.text.contains("Reset the class"));
    assert_eq!(sends(&server.visitor(), "/lab/class/anew", "").status, 404);
    assert_eq!(sends(&server.visitor(), "/api/bring_people", "").status, 303);
}

#[test]
fn nobody_elsewhere_resets_the_class() {
    let mut server = Server::for_a_class();
    let teacher = teaches(&mut server);
    sends(&joins(&server, "Ada"), "/api/bring_people", "");
    for (name, value) in [("host", "192.168.1.5:3000"), ("x-forwarded-for", "127.0.0.1")] {
        let elsewhere = teacher.with(name, value);
        assert_eq!(sends(&elsewhere, "/lab/class/anew", "").status, 403, "{name}");
        let shown = page(&elsewhere, "/lab/class").text;
        assert!(!shown.contains("Reset the class"), "{name}");
    }
    assert_eq!(likes(&server), 10);
}

/// A proxy or tunnel on the server's machine that adds no header looks like a local browser.
#[test]
fn being_on_the_servers_machine_is_not_being_the_teacher() {
    let mut server = Server::for_a_class();
    let student = joins(&server, "Ada");
    sends(&student, "/api/bring_people", "");
    let link = server.says("The teacher opens ");
    let (_, token) = link.split_once("token=").unwrap();
    let other = format!("{}0", &token[1..]);
    for wrong in ["", "?token=", &format!("?token={other}")] {
        let refused = student
            .at_root()
            .with("accept", "text/html")
            .get(&format!("/lab/class/teacher{wrong}"));
        assert_eq!(refused.status, 403, "{wrong}: {refused:?}");
        assert!(!refused.headers.contains_key("set-cookie"), "{refused:?}");
    }
    for cookie in [
        None,
        student.cookie.clone(),
        Some(format!("spillway-teacher={other}")),
    ] {
        let mut anybody = server.visitor();
        anybody.cookie = cookie;
        let refused = sends(&anybody, "/lab/class/anew", "");
        assert_eq!(refused.status, 403, "{refused:?}");
        let shown = page(&anybody, "/lab/class").text;
        assert!(!shown.contains("Reset the class"), "{shown}");
        assert!(
            shown.contains("name=\"token\""),
            "the teacher's page asks for the token: {shown}"
        );
    }
    assert_eq!(likes(&server), 10);
}

#[test]
fn the_post_of_a_class_comes_back_when_its_author_deletes_it() {
    let server = Server::for_a_class();
    let mut author = server.visitor();
    author.cookie = Some(sends(&author, "/api/sign_in_as_demo", "handle=solveig").cookie());
    let id = post(&server.visitor())["id"].as_str().unwrap().to_owned();
    author.delete(&format!("/posts/{id}"));
    assert_eq!(author.get(&format!("/posts/{id}")).status, 404);
    page(&server.visitor(), "/lab/class");
    assert_eq!(post(&server.visitor())["id"], id);
}

#[test]
fn a_reset_undoes_what_visitors_did_as_people_of_the_town() {
    let mut server = Server::for_a_class();
    let name = |server: &Server| server.visitor().get("/users/solveig").body["name"].clone();
    let (town, visitor) = (name(&server), server.member("visitor"));
    let post = visitor.writes("Gone after the reset");
    let mut borrowed = server.visitor().at_root();
    borrowed.cookie = Some(sends(&borrowed, "/api/sign_in_as_demo", "handle=solveig").cookie());
    let described = sends(&borrowed, "/api/describe", "name=Somebody+else&bio=");
    assert_eq!(described.status, 303, "{described:?}");
    assert_eq!(name(&server), "Somebody else");

    server.crash();
    let store = format!("embedded:{}", server.data().join("store").display());
    let reset = spillway()
        .args(["seed", "--reset"])
        .env("SPILLWAY_STORE", store)
        .status();
    assert!(reset.unwrap().success());
    server.restart();
    assert_eq!(name(&server), town);
    assert_eq!(server.visitor().get(&format!("/posts/{post}")).status, 404);
    assert_eq!(server.visitor().get("/users/visitor").status, 404);
}

#[test]
fn only_a_whole_town_is_reset() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("embedded:{}", folder.path().join("store").display());
    let output = spillway()
        .args(["seed", "--reset"])
        .env("SPILLWAY_STORE", store)
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("The demo town was not reset") && said.contains("spillway seed"),
        "{said}"
    );
}
