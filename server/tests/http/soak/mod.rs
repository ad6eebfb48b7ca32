//! Three servers on one store, with proxies that time out before them, and one of them killed every few seconds. It
//! runs only when it is asked for; CONTRIBUTING.md says how.

mod person;
mod proxy;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use self::person::{Person, Scene, Thing, Wish};
use self::proxy::Proxy;
use crate::dice::Dice;
use crate::support::{Client, Server, free_address, spillway};

/// The most actions of one person, and therefore the size of the run.
const MOST_ACTIONS: usize = 5_000;

/// Sweeps run at the start of a server and once a minute; what the last kill interrupted must then be finished.
const SWEPT: Duration = Duration::from_mins(3);

const LIMITS: [(&str, &str); 2] = [("SPILLWAY_THRESHOLD", "5"), ("SPILLWAY_PAGE_SIZE", "3")];

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|value| value.parse().unwrap())
}

#[test]
#[ignore = "runs for minutes; CONTRIBUTING.md says how to start it"]
fn servers_that_are_killed_behind_proxies_that_time_out_lose_and_double_nothing() {
    #[expect(
        clippy::disallowed_methods,
        reason = "a new seed for each run, which is printed"
    )]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = number("SPILLWAY_SOAK_SEED").unwrap_or(now.as_secs());
    let seconds = number("SPILLWAY_SOAK_SECONDS").unwrap_or(60);
    println!("SPILLWAY_SOAK_SEED={seed} SPILLWAY_SOAK_SECONDS={seconds}");
    let mut dice = Dice::new(seed);

    let address = free_address();
    let store = format!("mongodb://{address}/spillway");
    let mut with_store: Vec<_> = LIMITS.to_vec();
    with_store.push(("SPILLWAY_MONGO_LISTEN", &address));
    let mut over_it: Vec<_> = LIMITS.to_vec();
    over_it.push(("SPILLWAY_STORE", &store));
    let mut servers = [
        Server::start_with(&with_store),
        Server::start_with(&over_it),
        Server::start_with(&over_it),
    ];
    let proxies: Vec<Proxy> = servers
        .iter()
        .map(|server| Proxy::before(server, dice.split()))
        .collect();

    let handles: Vec<String> = (0..10).map(|number| format!("person{number}")).collect();
    let mut people: Vec<Person> = handles
        .iter()
        .map(|handle| Person::joins(handle, &servers[0], &proxies, dice.split()))
        .collect();
    let author = servers[0].member("author");
    let scene = Scene {
        standing: (0..6).map(|n| author.writes(&format!("Post {n}"))).collect(),
        handles,
        passing: Mutex::default(),
        acknowledged: AtomicUsize::new(0),
        given_up: AtomicUsize::new(0),
        refused: AtomicUsize::new(0),
    };

    let until = Instant::now() + Duration::from_secs(seconds);
    let mut kills = [0; 3];
    thread::scope(|scope| {
        for person in &mut people {
            scope.spawn(|| person.acts(&scene, until, MOST_ACTIONS));
        }
        loop {
            thread::sleep(Duration::from_millis(1_000 + dice.below(3_000)));
            if Instant::now() >= until {
                break;
            }
            let killed = usize::try_from(dice.below(3)).unwrap();
            servers[killed].crash_and_restart();
            proxies[killed].follows(&servers[killed]);
            kills[killed] += 1;
        }
    });
    println!(
        "{} acknowledged, {} given up, {} refused; kills of the store's server and the two others: {kills:?}",
        scene.acknowledged.load(Ordering::Relaxed),
        scene.given_up.load(Ordering::Relaxed),
        scene.refused.load(Ordering::Relaxed),
    );

    // Nothing that a server still executes may change what is read from here on.
    for server in &mut servers {
        server.crash_and_restart();
    }
    checks_until_sound(&store);
    let reader = servers[1].visitor();
    let found = Found::by(&reader, &people);
    let (mut compared, mut wrong) = (0, Vec::new());
    for person in &people {
        for (thing, wish) in &person.wishes {
            if is_certain(thing, wish, &people, &scene) {
                compared += 1;
                if found.has(&person.handle, thing) != wish.on {
                    wrong.push((&person.handle, thing, wish));
                }
            }
        }
    }
    let all: usize = people.iter().map(|person| person.wishes.len()).sum();
    println!("{compared} of {all} acknowledged states compared");
    assert!(wrong.is_empty(), "{} are not in place: {wrong:#?}", wrong.len());
    for person in &people {
        found.is_at_home(person, &reader);
    }
}

/// Whether the state that was acknowledged last must be the one that is found.
fn is_certain(thing: &Thing, wish: &Wish, people: &[Person], scene: &Scene) -> bool {
    let stays = thing.about().is_none_or(|post| {
        let written = Thing::Post(post.clone());
        let kept = people.iter().filter_map(|person| person.wishes.get(&written));
        scene.standing.contains(post) || kept.into_iter().any(Wish::was_only_granted)
    });
    stays && wish.is_final()
}

/// Runs `spillway check` until it finds nothing, or for as long as sweeps need.
fn checks_until_sound(store: &str) {
    let began = Instant::now();
    loop {
        let mut check = spillway();
        let check = check.args(["check", "--threshold=5", "--page-size=3", "--store", store]);
        let checked = check.output().unwrap();
        let seconds = began.elapsed().as_secs();
        println!("check after {seconds} s: exit code {:?}", checked.status.code());
        if checked.status.success() {
            return;
        }
        println!("{}", String::from_utf8_lossy(&checked.stdout));
        assert!(began.elapsed() < SWEPT, "the store is not sound");
        thread::sleep(Duration::from_secs(5));
    }
}

/// What the API shows at the end.
struct Found {
    posts: BTreeMap<String, Value>,
    /// By path: who, or which comments, are in a list.
    lists: BTreeMap<String, BTreeSet<String>>,
}

impl Found {
    /// Reads every list, and checks that its items are distinct and that all numbers about it agree.
    fn by(reader: &Client, people: &[Person]) -> Self {
        let (posts, _) = reader.walk("/explore", 50);
        let posts: BTreeMap<String, Value> = posts
            .into_iter()
            .map(|post| (post["id"].as_str().unwrap().to_owned(), post))
            .collect();
        let of_posts = posts
            .keys()
            .map(|post| (format!("/posts/{post}"), ["likes", "comments", "shares"]));
        let of_people = people.iter().map(|person| {
            let owner = format!("/users/{}", person.handle);
            (owner, ["followers", "following", "activity"])
        });
        let mut lists = BTreeMap::new();
        for (owner, relations) in of_posts.chain(of_people) {
            let stored = reader.get(&format!("{owner}/overflow")).body;
            for relation in relations {
                let path = format!("{owner}/{relation}");
                let (items, _) = reader.walk(&path, 7);
                let key = |item: &Value| {
                    let by = item.pointer("/user/handle").filter(|_| relation != "comments");
                    by.unwrap_or(&item["id"]).as_str().unwrap().to_owned()
                };
                let distinct: BTreeSet<String> = items.iter().map(key).collect();
                let name = if relation == "activity" {
                    "activities"
                } else {
                    relation
                };
                let counts = [
                    stored[name]["count"].as_u64().unwrap(),
                    reader.get(&path).body["total"].as_u64().unwrap(),
                    distinct.len() as u64,
                ];
                assert_eq!(counts, [items.len() as u64; 3], "{path}: {items:#?}");
                lists.insert(path, distinct);
            }
        }
        Self { posts, lists }
    }

    fn has(&self, handle: &str, thing: &Thing) -> bool {
        let contains = |path: String, key: &str| self.lists[&path].contains(key);
        match thing {
            Thing::Post(post) => self.posts.contains_key(post),
            Thing::Like(post) => contains(format!("/posts/{post}/likes"), handle),
            Thing::Share(post) => contains(format!("/posts/{post}/shares"), handle),
            Thing::Comment(post, id) => contains(format!("/posts/{post}/comments"), id),
            Thing::Follow(other) => contains(format!("/users/{other}/followers"), handle),
        }
    }

    /// The first stretch of somebody's home has the newest posts of the people whom they follow, and their own.
    fn is_at_home(&self, person: &Person, reader: &Client) {
        let mut authors = self.lists[&format!("/users/{}/following", person.handle)].clone();
        authors.insert(person.handle.clone());
        let home = person.at(reader).get("/feed?limit=50").body;
        let shown = home["items"].as_array().unwrap();
        let newer = |post: &Value| {
            let last = shown.last().map_or("", |last| last["at"].as_str().unwrap());
            home["next"].is_null() || post["at"].as_str().unwrap() > last
        };
        let shown_ids: BTreeSet<&str> = shown.iter().map(|post| post["id"].as_str().unwrap()).collect();
        for (id, post) in &self.posts {
            let theirs = authors.contains(post["author"]["handle"].as_str().unwrap());
            let is_shown = shown_ids.contains(id.as_str());
            assert!(!is_shown || theirs, "{} sees {post} at home", person.handle);
            assert!(
                is_shown || !theirs || !newer(post),
                "{} misses {post} at home",
                person.handle
            );
        }
    }
}
