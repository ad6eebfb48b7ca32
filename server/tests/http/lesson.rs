//! What a class does together at the stations.

use crate::class::{is_refused, joins, page, sends, teaches};
use crate::support::{Client, Server, words};

#[test]
fn a_class_votes_before_it_sees_the_answers() {
    let mut server = Server::for_a_class();
    let teacher = teaches(&mut server);
    let class = ["Ada", "Bob", "Zoe"].map(|name| joins(&server, name));
    let race = |client: &Client| words(&page(client, "/lab/race").text);
    let now = |client: &Client| client.at_root().get("/lab/class/now").text;
    let question = "Ada and Bob both check that";
    assert_eq!([now(&teacher), now(&class[0])], ["", ""]);
    assert!(race(&teacher).contains("Show this to the class"));
    assert!(!race(&class[0]).contains(question));

    let shown = sends(&teacher, "/lab/class/lesson", "station=race");
    assert_eq!((shown.status, &*shown.headers["location"]), (303, "/lab/race"));
    assert!(race(&class[0]).contains(question));
    assert!(
        !race(&server.visitor()).contains(question),
        "only the class votes"
    );
    let crash = page(&class[0], "/lab/crash").text;
    assert!(
        words(&crash).contains("The class is at “The race for the last place”."),
        "{crash}"
    );
    assert!(crash.contains("href=\"/lab/race\""), "{crash}");

    for (student, option) in class.iter().zip([0, 1, 1]) {
        let voted = sends(student, "/api/vote", &format!("station=race&option={option}"));
        assert_eq!(&*voted.headers["location"], "/lab/race", "{voted:?}");
    }
    // A vote can be changed.
    sends(&class[0], "/api/vote", "station=race&option=1");
    sends(&class[0], "/api/vote", "station=race&option=2");
    let unanswered = race(&teacher);
    assert!(unanswered.contains("3 of 3 have voted."), "{unanswered}");
    assert!(!unanswered.contains("voted for"), "{unanswered}");
    assert_eq!([now(&teacher), now(&class[0])], ["race false 3", "race false "]);
    for (body, why) in [
        ("station=crash&option=1", "another station"),
        ("station=race&option=3", "no option"),
        ("station=nowhere&option=1", "no station"),
    ] {
        assert!(is_refused(&sends(&class[0], "/api/vote", body)), "{why}");
    }
    assert!(is_refused(&sends(
        &server.member("mallory"),
        "/api/vote",
        "station=race&option=1"
    )));

    sends(&teacher, "/lab/class/lesson", "station=race&reveal=true");
    for client in [&teacher, &class[0]] {
        let answers = race(client);
        assert!(
            answers.contains("2 voted for: There is one item too many Right"),
            "{answers}"
        );
        assert!(answers.contains("1 voted for: One item is lost"), "{answers}");
    }
    assert!(race(&class[0]).contains("One item is lost (your vote)"));
    assert!(
        is_refused(&sends(&class[0], "/api/vote", "station=race&option=1")),
        "it is over"
    );
    // A page that is opened again changes nothing.
    sends(&teacher, "/lab/class/lesson", "station=race");
    assert_eq!(now(&class[0]), "race true ");

    assert_eq!(
        sends(&teacher, "/lab/class/lesson", "station=crash&reveal=true").status,
        409
    );
    assert_eq!(
        sends(&teacher, "/lab/class/lesson", "station=nowhere").status,
        422
    );
    assert_eq!(sends(&class[0], "/lab/class/lesson", "station=crash").status, 403);
    assert_eq!(
        &*sends(&teacher, "/lab/class/lesson", "station=").headers["location"],
        "/lab/class"
    );
    assert_eq!(now(&class[0]), "");
    assert!(!race(&class[0]).contains(question));
}

#[test]
fn the_teacher_alone_sees_who_solved_which_exercise() {
    let mut server = Server::for_a_class();
    let teacher = teaches(&mut server);
    let (ada, bob) = (joins(&server, "Ada"), joins(&server, "Bob"));
    let answers = |student: &Client, body: &str| {
        let answered = sends(student, "/api/answer_exercise", body);
        assert_eq!(answered.status, 303, "{answered:?}");
        answered.headers["location"].clone()
    };
    let shown = answers(&ada, "exercise=2&answer=aabb");
    assert_eq!(shown, "/lab/exercises?exercise=2&answer=aabb#exercise-2");
    assert!(words(&page(&ada, "/lab/exercises?exercise=2&answer=aabb").text).contains("Not yet."));
    answers(&ada, "exercise=2&answer=abab");
    // What comes after the right answer does not count.
    answers(&ada, "exercise=2&answer=aabb");
    answers(&bob, "exercise=5&answer=7");
    answers(&bob, "exercise=5&answer=8+%26");
    let refused = sends(&ada, "/api/answer_exercise", "exercise=9&answer=1");
    assert!(is_refused(&refused), "{refused:?}");

    let progress = words(&page(&teacher, "/lab/class").text);
    assert!(progress.contains("✓solved after 2 tries"), "{progress}");
    assert!(progress.contains("2not solved after 2 tries"), "{progress}");
    assert!(progress.contains("1 of 2"), "{progress}");
    for other in [&ada, &server.visitor()] {
        assert!(!page(other, "/lab/class").text.contains("solved after"));
    }
    sends(&teacher, "/lab/class/anew", "");
    let progress = words(&page(&teacher, "/lab/class").text);
    assert!(!progress.contains("solved after"), "{progress}");
    // Others answer without leaving a trace.
    let exercises = page(&server.visitor(), "/lab/exercises").text;
    assert!(!exercises.contains("answer_exercise"), "{exercises}");
}

#[test]
fn a_browser_follows_the_teacher_if_it_wants() {
    let mut server = Server::for_a_class();
    let teacher = teaches(&mut server);
    let mut ada = joins(&server, "Ada");
    sends(&teacher, "/lab/class/lesson", "station=trace");
    assert!(!page(&ada, "/lab/race").text.contains("data-follows"));
    let follows = sends(&ada, "/api/follow_teacher", "on=true");
    let (session, cookie) = (ada.cookie.clone().unwrap(), follows.cookie());
    ada.cookie = Some(format!("{session}; {cookie}"));
    let shown = page(&ada, "/lab/race").text;
    assert!(
        shown.contains("data-follows") && shown.contains("Stay here"),
        "{shown}"
    );
    let stays = sends(&ada, "/api/follow_teacher", "on=false");
    assert!(stays.headers["set-cookie"].contains("Max-Age=0"), "{stays:?}");
}
