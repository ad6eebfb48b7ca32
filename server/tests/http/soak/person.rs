//! Somebody who does something all the time, and knows what was acknowledged.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::proxy::Proxy;
use crate::dice::Dice;
use crate::support::{Client, Server, TIMEOUT};

/// A request whose connection was cut is over after this time at the latest, whatever its server did.
const LONGEST: Duration = Duration::from_secs(20);

/// What a person can want of a target, and take back.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Thing {
    Post(String),
    Like(String),
    Share(String),
    /// A comment's post and id.
    Comment(String, String),
    Follow(String),
}

impl Thing {
    /// The post of somebody that it is about.
    pub fn about(&self) -> Option<&String> {
        match self {
            Self::Like(post) | Self::Share(post) | Self::Comment(post, _) => Some(post),
            Self::Post(_) | Self::Follow(_) => None,
        }
    }

    fn send(&self, on: bool, client: &Client) -> Result<u16, ureq::Error> {
        let toggle = if on { "PUT" } else { "DELETE" };
        let (method, path, body) = match self {
            Self::Like(post) => (toggle, format!("/posts/{post}/like"), None),
            Self::Share(post) => (toggle, format!("/posts/{post}/share"), None),
            Self::Follow(handle) => (toggle, format!("/users/{handle}/follow"), None),
            Self::Post(id) if on => {
                let post = json!({"id": id, "text": "The water rises."});
                ("POST", "/posts".to_owned(), Some(post))
            }
            Self::Post(id) => ("DELETE", format!("/posts/{id}"), None),
            Self::Comment(post, id) if on => {
                let comment = json!({"id": id, "text": "And falls."});
                ("POST", format!("/posts/{post}/comments"), Some(comment))
            }
            Self::Comment(post, id) => ("DELETE", format!("/posts/{post}/comments/{id}"), None),
        };
        let answer = match body {
            Some(body) => client.with("content-type", "application/json").try_send(
                method,
                &path,
                Some(body.to_string().into_bytes()),
            )?,
            None => client.try_send(method, &path, None)?,
        };
        let expected = [200, 201, 204, 404, 503].contains(&answer.status);
        assert!(expected, "{method} {path}: {answer:?}");
        Ok(answer.status)
    }
}

/// What was asked for about one thing.
#[derive(Debug, Default)]
pub struct Wish {
    pub on: bool,
    /// When that was acknowledged.
    at: Option<Instant>,
    /// When an attempt to take it back, or to get it, was last left without an answer.
    unanswered: [Option<Instant>; 2],
    /// How often it was asked back.
    taken_back: usize,
}

impl Wish {
    /// Whether the acknowledged state is the last one. An opposite request that nobody waited for may have been
    /// executed later.
    pub fn is_final(&self) -> bool {
        let opposite = self.unanswered[usize::from(!self.on)];
        match (self.at, opposite) {
            (Some(at), Some(opposite)) => at.duration_since(opposite) > LONGEST,
            (at, _) => at.is_some(),
        }
    }

    /// Whether it was got and never asked back.
    pub fn was_only_granted(&self) -> bool {
        self.on && self.taken_back == 0
    }
}

/// What everybody shares.
pub struct Scene {
    pub handles: Vec<String>,
    /// Posts that nobody deletes.
    pub standing: Vec<String>,
    /// Posts that their authors may delete.
    pub passing: Mutex<Vec<String>>,
    pub acknowledged: AtomicUsize,
    pub given_up: AtomicUsize,
    pub refused: AtomicUsize,
}

pub struct Person {
    pub handle: String,
    /// One for each server, by its proxy.
    clients: Vec<Client>,
    dice: Dice,
    pub wishes: BTreeMap<Thing, Wish>,
}

impl Person {
    pub fn joins(handle: &str, server: &Server, proxies: &[Proxy], dice: Dice) -> Self {
        let cookie = server.member(handle).cookie;
        let through = |proxy: &Proxy| {
            let mut client = Client::new(&proxy.address);
            client.cookie.clone_from(&cookie);
            client
        };
        Self {
            handle: handle.to_owned(),
            clients: proxies.iter().map(through).collect(),
            dice,
            wishes: BTreeMap::new(),
        }
    }

    /// A client of theirs at another server.
    pub fn at(&self, other: &Client) -> Client {
        let mut client = other.clone();
        client.cookie.clone_from(&self.clients[0].cookie);
        client
    }

    /// Acts until the time is over, or this many times.
    pub fn acts(&mut self, scene: &Scene, until: Instant, most: usize) {
        for _ in 0..most {
            if Instant::now() >= until {
                return;
            }
            let thing = self.chooses(scene);
            let on = !self.wishes.get(&thing).is_some_and(|wish| wish.on);
            self.insists(&thing, on, scene);
        }
    }

    fn chooses(&mut self, scene: &Scene) -> Thing {
        let posts = scene.passing.lock().unwrap();
        let target = match posts.as_slice() {
            [.., _] if self.dice.below(3) == 0 => self.dice.one_of(&posts),
            _ => self.dice.one_of(&scene.standing),
        };
        match self.dice.below(20) {
            0..8 => Thing::Like(target.clone()),
            8..10 => Thing::Share(target.clone()),
            10..13 => {
                let others = scene.handles.iter().filter(|other| **other != self.handle);
                let others: Vec<&String> = others.collect();
                Thing::Follow((*self.dice.one_of(&others)).clone())
            }
            13..15 => Thing::Comment(target.clone(), self.dice.uuid()),
            15..17 => Thing::Post(self.dice.uuid()),
            _ => {
                let made = self.wishes.iter().filter(|(_, wish)| wish.on);
                let made = made.map(|(thing, _)| thing);
                let made = made.filter(|thing| matches!(thing, Thing::Post(_) | Thing::Comment(..)));
                match made.collect::<Vec<&Thing>>().as_slice() {
                    [] => Thing::Like(target.clone()),
                    made => (*self.dice.one_of(made)).clone(),
                }
            }
        }
    }

    /// Sends it until it is acknowledged, each time to another server.
    fn insists(&mut self, thing: &Thing, on: bool, scene: &Scene) {
        let began = Instant::now();
        if let (Thing::Post(post), false) = (thing, on) {
            scene.passing.lock().unwrap().retain(|passing| passing != post);
        }
        let wish = self.wishes.entry(thing.clone()).or_default();
        wish.taken_back += usize::from(!on);
        let first = self.dice.below(self.clients.len() as u64);
        let servers = self.clients.iter().cycle();
        let first = usize::try_from(first).unwrap();
        for client in servers.skip(first) {
            assert!(
                began.elapsed() < TIMEOUT * 4,
                "{thing:?} {on} is never acknowledged"
            );
            match thing.send(on, client) {
                Err(_) => {
                    wish.unanswered[usize::from(on)] = Some(Instant::now());
                    scene.given_up.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(1 + self.dice.below(20)));
                }
                Ok(503) => {
                    // It may have been executed: the outcome is unknown.
                    wish.unanswered[usize::from(on)] = Some(Instant::now());
                    scene.refused.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(50));
                }
                Ok(status) => {
                    scene.acknowledged.fetch_add(1, Ordering::Relaxed);
                    // Deleted before, by an attempt that nobody waited for or by the author of the post.
                    let may_be_missing = match (thing, on) {
                        (Thing::Post(_) | Thing::Comment(..), false) => true,
                        _ => thing.about().is_some_and(|post| !scene.standing.contains(post)),
                    };
                    assert!(status != 404 || may_be_missing, "{thing:?} {on}: 404");
                    (wish.on, wish.at) = (on && status != 404, Some(Instant::now()));
                    if let (Thing::Post(post), true) = (thing, on) {
                        scene.passing.lock().unwrap().push(post.clone());
                    }
                    return;
                }
            }
        }
    }
}
