use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use app::actions::accounts::{Recover, ResetPassword, SignIn, SignUp};
use app::actions::settings::{ChangePassword, DeleteAccount, MakeRecoveryCodes};
use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use feed::{Client, Feed, Place, Places, SecurityEvent};
use governor::clock::{Clock as _, DefaultClock};
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};
use http_body_util::BodyExt as _;
use leptos::server_fn::ServerFn as _;
use model::Handle;
use web::{ErrorResponse, Peer, Session};

use super::bodies::closing;
use super::refusals::for_a_person;
use crate::listen::Most;
use crate::wing::{PRIVATE, STARTS};

/// Where the API signs in and out.
const SESSION: &str = "/api/v1/session";

/// The paths where passwords are hashed or codes are tried.
const PASSWORDS: [&str; 13] = [
    "/api/v1/accounts",
    SESSION,
    "/api/v1/me",
    "/api/v1/me/password",
    "/api/v1/me/recovery-codes",
    "/api/v1/recovery",
    SignUp::PATH,
    SignIn::PATH,
    ChangePassword::PATH,
    DeleteAccount::PATH,
    MakeRecoveryCodes::PATH,
    Recover::PATH,
    ResetPassword::PATH,
];

/// The maximum number of bodies that have begun and not arrived, of 64 KB each.
const BODIES: usize = 1_024;

/// The maximum number of one peer's.
const BODIES_OF_A_PEER: usize = 64;

/// When a peer with too many requests under way may try again.
const SOON: Duration = Duration::from_secs(5);

/// How often the quotas of inactive senders are dropped.
const MINUTE: Duration = Duration::from_mins(1);

const FIVE_MINUTES: Duration = Duration::from_mins(5);

/// How many requests are accepted at once, and how many more over time. Those without a note change something.
#[derive(Debug, Clone, Copy)]
pub struct Quotas {
    /// From one peer. Several people may share an address.
    pub peer: Quota,
    /// From one peer to the paths that hash a password.
    pub passwords: Quota,
    /// From one peer, to start what runs in the workshop for a while.
    pub starts: Quota,
    /// From one account, wherever its sessions are.
    pub account: Quota,
    /// To read pages and answers of the API, from one peer.
    pub reads: Quota,
    /// To sign in to one account, from all peers together that used up their own tries at it.
    pub shared_tries: Quota,
}

impl Default for Quotas {
    /// More than a person can do by hand, and little enough to make guessing and flooding slow.
    fn default() -> Self {
        let at_once = |burst| NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN);
        Self {
            peer: Quota::per_second(at_once(5)).allow_burst(at_once(300)),
            passwords: Quota::per_minute(at_once(10)).allow_burst(at_once(20)),
            // Each takes a minute or less of the only place, so one peer cannot keep it for ever.
            starts: Quota::with_period(FIVE_MINUTES)
                .unwrap_or(Quota::per_hour(at_once(12)))
                .allow_burst(at_once(6)),
            account: Quota::per_second(at_once(1)).allow_burst(at_once(60)),
            // A school that opens a page together, and then scrolls, is one peer.
            reads: Quota::per_second(at_once(100)).allow_burst(at_once(1_000)),
            shared_tries: Quota::per_minute(at_once(1)).allow_burst(at_once(30)),
        }
    }
}

type Buckets<K> = RateLimiter<K, DefaultKeyedStateStore<K>, DefaultClock>;

/// The limits for one peer and for one account.
pub struct Limits {
    peers: Buckets<Peer>,
    passwords: Buckets<Peer>,
    starts: Buckets<Peer>,
    accounts: Buckets<Handle>,
    reads: Buckets<Peer>,
    /// Bodies that have not arrived.
    bodies: Arc<Places>,
    /// Requests whose answer has not been sent.
    under_way: Arc<Places>,
}

impl Limits {
    /// Starts with full quotas. A peer may have as many requests under way as connections: behind a proxy it has no
    /// connections of its own.
    pub fn new(quotas: Quotas, most: Most) -> Self {
        Self {
            peers: Buckets::keyed(quotas.peer),
            passwords: Buckets::keyed(quotas.passwords),
            starts: Buckets::keyed(quotas.starts),
            accounts: Buckets::keyed(quotas.account),
            reads: Buckets::keyed(quotas.reads),
            bodies: Places::new(BODIES, BODIES_OF_A_PEER),
            under_way: Places::new(most.connections, most.of_a_peer),
        }
    }

    /// Drops full quotas, forever.
    pub async fn forget_every_minute(self: Arc<Self>, feed: Feed) {
        let mut minute = tokio::time::interval(MINUTE);
        loop {
            minute.tick().await;
            self.peers.retain_recent();
            self.passwords.retain_recent();
            self.starts.retain_recent();
            self.accounts.retain_recent();
            self.reads.retain_recent();
            feed.forget_tries();
        }
    }

    /// A place for a body that has not arrived.
    pub fn body_of(&self, request: &Request) -> Result<Place, ErrorResponse> {
        let Peer(address) = peer(request);
        let place = self.bodies.take(Some(address));
        place.map_err(|_| ErrorResponse::too_many(SOON))
    }

    /// A place for a request whose answer has not been sent.
    fn under_way_of(&self, request: &Request) -> Result<Place, ErrorResponse> {
        let Peer(address) = peer(request);
        let place = self.under_way.take(Some(address));
        place.map_err(|_| ErrorResponse::too_many_reads(SOON))
    }

    /// The limit of a peer for what changes something.
    fn of_peer(&self, request: &Request) -> Result<(), ErrorResponse> {
        if request.method().is_safe() {
            return Ok(());
        }
        let peer = &peer(request);
        // Signing out needs no password.
        let signs_out = request.method() == Method::DELETE && request.uri().path() == SESSION;
        if PASSWORDS.contains(&request.uri().path()) && !signs_out {
            take(&self.passwords, peer).map_err(ErrorResponse::too_many)?;
        }
        if request.method() == Method::POST && STARTS.contains(&request.uri().path()) {
            take(&self.starts, peer).map_err(ErrorResponse::too_many)?;
        }
        take(&self.peers, peer).map_err(ErrorResponse::too_many)
    }

    /// The limit of a peer for what only reads.
    fn of_reader(&self, request: &Request) -> Result<(), ErrorResponse> {
        if !request.method().is_safe() {
            return Ok(());
        }
        let (peer, reads) = (&peer(request), reads_of(request));
        let charged = take_many(&self.reads, peer, reads);
        charged.map_err(ErrorResponse::too_many_reads)
    }

    /// The limit of an account for what changes something for others.
    fn of_account(&self, request: &Request) -> Result<(), ErrorResponse> {
        let changes = !request.method().is_safe() && !PRIVATE.contains(&request.uri().path());
        match account(request) {
            Some(handle) if changes => take(&self.accounts, handle).map_err(ErrorResponse::too_many),
            _ => Ok(()),
        }
    }
}

/// Where the request comes from. Every request is identified before this; the others would be one peer.
fn peer(request: &Request) -> Peer {
    let identified = request.extensions().get().copied();
    identified.unwrap_or(Peer(IpAddr::V6(Ipv6Addr::UNSPECIFIED)))
}

/// The account that is signed in, where that is known already.
fn account(request: &Request) -> Option<&Handle> {
    request.extensions().get::<Arc<Session>>()?.handle()
}

/// Charges a quota; if it is used up, the error is the time after which one more request is accepted.
fn take<K: Hash + Eq + Clone>(buckets: &Buckets<K>, key: &K) -> Result<(), Duration> {
    take_many(buckets, key, NonZeroU32::MIN)
}

/// Charges a quota several times, or not at all. More than the whole quota is never granted, only waited for.
fn take_many<K: Hash + Eq + Clone>(buckets: &Buckets<K>, key: &K, times: NonZeroU32) -> Result<(), Duration> {
    match buckets.check_key_n(key, times) {
        Ok(granted) => granted.map_err(|full| full.wait_time_from(buckets.clock().now())),
        Err(_) => Err(SOON),
    }
}

/// Where is searched: a search looks at up to five hundred posts.
const SEARCHES: [&str; 3] = ["/search", "/search/people", "/api/v1/search"];

/// How many pages a search costs as much as.
const SEARCH: NonZeroU32 = NonZeroU32::MIN.saturating_add(9);

/// How much a request reads: a page or an answer, ten times as much with a search, a ranking of posts or a
/// picture, and with an event stream one more for each ten topics, as pages have them.
fn reads_of(request: &Request) -> NonZeroU32 {
    let query = Query::<Vec<(String, String)>>::try_from_uri(request.uri());
    let query = query.map(|Query(pairs)| pairs).unwrap_or_default();
    let ranks = query
        .iter()
        .any(|(name, value)| name == "order" && value == "rising");
    let path = request.uri().path();
    if ranks || path.ends_with("/card.png") || SEARCHES.contains(&path) {
        return SEARCH;
    }
    let topics = query.iter().filter(|(name, _)| name == "topic");
    let tens = u32::try_from(topics.count() / 10).unwrap_or(u32::MAX);
    NonZeroU32::MIN.saturating_add(tens)
}

/// Middleware: charges the peer's quota for every request that may change something, before anything is looked up.
pub async fn limit_peers(
    State((limits, feed)): State<(Option<Arc<Limits>>, Feed)>,
    request: Request,
    next: Next,
) -> Response {
    limit(limits, &feed, Limits::of_peer, request, next).await
}

/// Middleware: charges the peer's quota for every page and answer that it reads.
pub async fn limit_reads(
    State((limits, feed)): State<(Option<Arc<Limits>>, Feed)>,
    request: Request,
    next: Next,
) -> Response {
    limit(limits, &feed, Limits::of_reader, request, next).await
}

/// Middleware: charges the quota of the signed-in account.
pub async fn limit_accounts(
    State((limits, feed)): State<(Option<Arc<Limits>>, Feed)>,
    request: Request,
    next: Next,
) -> Response {
    limit(limits, &feed, Limits::of_account, request, next).await
}

/// Middleware: a peer may only have so many requests whose answer has not been sent.
pub async fn limit_under_way(
    State((limits, feed)): State<(Option<Arc<Limits>>, Feed)>,
    request: Request,
    next: Next,
) -> Response {
    let Some(limits) = limits else {
        return next.run(request).await;
    };
    let place = match limits.under_way_of(&request) {
        Ok(place) => place,
        Err(refusal) => return closing(refuse(&feed, &request, refusal)),
    };
    next.run(request).await.map(|body| {
        Body::new(body.map_err(move |error| {
            // Moved in here, it lives until the body is sent, or the client has gone.
            let _: &_ = &place;
            error
        }))
    })
}

async fn limit(
    limits: Option<Arc<Limits>>,
    feed: &Feed,
    of: impl FnOnce(&Limits, &Request) -> Result<(), ErrorResponse>,
    request: Request,
    next: Next,
) -> Response {
    if let Some(limits) = limits
        && let Err(refusal) = of(&limits, &request)
    {
        return refuse(feed, &request, refusal);
    }
    next.run(request).await
}

/// The answer to a request beyond a limit, which the security log has.
pub(super) fn refuse(feed: &Feed, request: &Request, refusal: ErrorResponse) -> Response {
    let Peer(address) = peer(request);
    let client = Client {
        device: None,
        peer: Some(address),
    };
    let log = feed.security();
    log.record(SecurityEvent::Limited, account(request), &client);
    refusal.respond(for_a_person(request))
}
