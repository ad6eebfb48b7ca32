use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures::StreamExt;

use super::*;

type Token = u32;

/// The next step of a scripted stream. A change is at the place of its number.
enum Step {
    Change(Token),
    /// There was no change, and the place advanced.
    Quiet(Token),
    Break(Broken),
}

/// A server with scripted streams, which notes the place from which each was opened.
#[derive(Default)]
struct Scripted {
    openings: Mutex<VecDeque<Result<Vec<Step>, Broken>>>,
    asked: Arc<Mutex<Vec<Option<Token>>>>,
}

struct Script {
    steps: VecDeque<Step>,
    token: Option<Token>,
}

#[async_trait]
impl Server for Scripted {
    type Tail = Script;

    async fn open(&self, after: Option<Token>) -> Result<Script, Broken> {
        self.asked.lock().unwrap().push(after);
        let opening = self.openings.lock().unwrap().pop_front();
        opening.unwrap().map(|steps| Script {
            steps: steps.into(),
            token: after,
        })
    }
}

#[async_trait]
impl Tail for Script {
    type Token = Token;

    async fn next(&mut self) -> Result<Option<Changed>, Broken> {
        match self.steps.pop_front() {
            Some(Step::Change(at)) => {
                self.token = Some(at);
                Ok(Some(change(at)))
            }
            Some(Step::Quiet(at)) => {
                self.token = Some(at);
                Ok(None)
            }
            Some(Step::Break(broken)) => Err(broken),
            None => std::future::pending().await,
        }
    }

    fn token(&self) -> Option<Token> {
        self.token
    }
}

fn change(at: Token) -> Changed {
    Changed::Document {
        collection: "posts".to_owned(),
        id: i64::from(at).into(),
    }
}

fn away() -> Broken {
    Broken::Away("the connection broke".to_owned())
}

fn lost() -> Broken {
    Broken::Lost("the history begins later".to_owned())
}

/// What a listener receives from streams that are opened one after the other, and from which place each was opened.
async fn receive(
    count: usize,
    openings: Vec<Result<Vec<Step>, Broken>>,
) -> (Vec<Changed>, Vec<Option<Token>>) {
    let server = Scripted {
        openings: Mutex::new(openings.into()),
        ..Scripted::default()
    };
    let asked = Arc::clone(&server.asked);
    let tail = server.open(None).await.unwrap();
    let received = follow(server, tail).take(count).collect().await;
    let asked = asked.lock().unwrap().clone();
    (received, asked)
}

#[tokio::test(start_paused = true)]
async fn a_broken_stream_resumes_after_the_last_change() {
    let (received, asked) = receive(
        2,
        vec![
            Ok(vec![Step::Change(1), Step::Break(away())]),
            Err(away()),
            Err(away()),
            Ok(vec![Step::Change(2)]),
        ],
    )
    .await;
    assert_eq!(received, [change(1), change(2)]);
    assert_eq!(asked, [None, Some(1), Some(1), Some(1)]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_resumes_at_a_token_that_advanced_without_changes() {
    let (received, asked) = receive(
        1,
        vec![
            Ok(vec![Step::Quiet(5), Step::Quiet(9), Step::Break(away())]),
            Ok(vec![Step::Change(10)]),
        ],
    )
    .await;
    assert_eq!(received, [change(10)]);
    assert_eq!(asked, [None, Some(9)]);
}

#[tokio::test(start_paused = true)]
async fn a_lost_resume_token_reports_that_anything_may_have_changed() {
    let (received, asked) = receive(
        3,
        vec![
            Ok(vec![Step::Change(1), Step::Break(away())]),
            Err(lost()),
            Err(away()),
            Ok(vec![Step::Change(8)]),
        ],
    )
    .await;
    assert_eq!(received, [change(1), Changed::Anything, change(8)]);
    assert_eq!(asked, [None, Some(1), None, None]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_broke_before_its_first_token_may_have_missed_changes() {
    let (received, asked) = receive(2, vec![Ok(vec![Step::Break(away())]), Ok(vec![Step::Change(1)])]).await;
    assert_eq!(received, [Changed::Anything, change(1)]);
    assert_eq!(asked, [None, None]);
}

#[tokio::test(start_paused = true)]
async fn attempts_back_off_until_one_succeeds() {
    let started = tokio::time::Instant::now();
    let mut openings: Vec<_> = vec![Ok(vec![Step::Change(1), Step::Break(away())])];
    openings.extend((0..9).map(|_| Err(away())));
    openings.push(Ok(vec![Step::Change(2), Step::Break(away())]));
    openings.push(Ok(vec![Step::Change(3)]));
    let (received, _) = receive(3, openings).await;
    assert_eq!(received, [change(1), change(2), change(3)]);
    // 0.1 + 0.2 + … + 3.2 seconds, then 4 each, and 0.1 again after a change was received.
    let waited = Duration::from_millis(6_300 + 4 * 4_000 + 100);
    assert_eq!(started.elapsed().as_millis() / 100, waited.as_millis() / 100);
}
