//! `spillway serve`.

use std::fmt;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use app::notice::{self, Notices};
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state, map_response_with_state};
use feed::{Environment, Feed};
use store::changes::ChangeSource;
use tokio::net::TcpListener;
use tower::ServiceBuilder;
use tower_http::csrf::CsrfLayer;
use web::{Cookies, PublicAddress, Sessions, resolve};

use crate::cli::ServeOptions;
use crate::error::CliError;
use crate::http::{
    Limits, Quotas, Reach, RequestLog, add_error_text, compress, finish_mutations, forgery_protection, guard,
    health, identify, limit_accounts, limit_peers, limit_reads, limit_under_way, log, read_whole,
    record_refusals, refuse_plain_http, refuse_plain_origins, require_proxies,
};
use crate::listen::Most;
use crate::shutdown::{Phases, Shutdown};
use crate::site::Site;
use crate::wing::Wing;
use crate::{api, drivers, listen, metrics, opening, outside, pages, seed};

/// The options that name the addresses to listen on.
const ADDR: &str = "SPILLWAY_ADDR";
const ADMIN_ADDR: &str = "SPILLWAY_ADMIN_ADDR";

/// Serves until a signal says to stop.
pub async fn run(options: ServeOptions) -> Result<(), CliError> {
    let shutdown = Shutdown::listen().map_err(|error| {
        CliError::failed(
            "The stop signals cannot be received",
            "Check the limits of the system.",
        )
        .caused_by(&error)
    })?;
    let forgery = forgery_protection(options.public_url.as_deref())?;
    let reach = Reach::of(options.public_url.as_deref(), options.classroom)?;
    let most = Most::of_this_process();
    let limits = limits(&options, most)?;
    // Bound before anything slow: an address in use is reported at once, and early requests wait instead of
    // failing.
    let listener = listen(ADDR, options.addr()).await?;
    let addr = listener
        .local_addr()
        .map_err(|error| unbound(ADDR, options.addr(), &error))?;
    let admin = match &options.admin_addr {
        Some(addr) => Some(listen(ADMIN_ADDR, addr).await?),
        None => None,
    };
    let site = Site::find(options.site.as_deref(), addr)?;

    let mut environment = Environment::system(options.demo());
    if options.demo() {
        seed::load_if_empty(&options.data).await?;
    }
    let opened = opening::open_with_engine(&options.data).await?;
    let embedded = opened.embedded.clone();
    let store = opened.store;
    let clock = opening::clock_of(&store).await?;
    environment.clock = clock.clone();
    opening::tidy_every_minute(&store, embedded.as_ref(), &clock);
    let public_url = options.public_url.as_deref();
    let secure = public_url.is_some_and(|url| url.starts_with("https://"));
    let log = RequestLog::new(environment.now());
    let feed = Feed::new(store, environment.clone());
    let leaving = feed.clone();
    opening::every_minute("finishing interrupted account deletions", move || {
        let feed = leaving.clone();
        async move { feed.accounts().finish_deletions().await }
    });
    let drivers = drivers::listen(opened.embedded, &feed, &options.mongo).await?;
    let feed = match &limits {
        Some(limits) => {
            let feed = feed.limiting_tries(Quotas::default().shared_tries);
            tokio::spawn(Arc::clone(limits).forget_every_minute(feed.clone()));
            feed
        }
        None => feed,
    };
    let source = feed.live().follow_store().await.map_err(|error| {
        CliError::failed(
            "The store's changes cannot be followed",
            "Check that it still runs, and start again.",
        )
        .caused_by(&error)
    })?;
    tracing::info!("live updates: {source}");
    let sessions = Sessions {
        feed: feed.clone(),
        cookies: Cookies::new(secure),
    };
    let notices = Notices::new(feed.notice_key().await?, secure);
    let mut wing = Wing::open(&feed, &environment, &options, addr).await?;
    let invitation = wing.invitation.take();
    warn_of_plain_http(reach, addr);
    let most = match &limits {
        // Each connection comes from a client itself.
        Some(_) if options.proxies == 0 => most,
        _ => most.shared(),
    };
    let access = Access {
        forgery,
        reach,
        proxies: options.proxies,
        limits,
        https: secure,
        public: PublicAddress::new(public_url),
        notices,
        wing,
    };
    let recorder = feed.clone();
    let numbers = metrics::router(feed.clone(), embedded, log.latencies());
    let routes = routes(feed, sessions, &site, access, log, shutdown.phases());

    announce(addr, public_url, source, drivers.as_ref());
    if let Some(invitation) = invitation {
        print_line(format_args!("{invitation}"));
    }
    if let Some(admin) = admin {
        serve_metrics(admin, numbers)?;
    }
    tokio::select! {
        () = listen::serve(listener, routes, most, recorder.security(), shutdown.phases().closing()) => {}
        () = shutdown.run(options.drain, options.deadline) => {}
    }
    if let Some(drivers) = drivers {
        drivers.shut_down(drivers::DEADLINE).await;
    }
    Ok(())
}

async fn listen(setting: &str, addr: &str) -> Result<TcpListener, CliError> {
    let bound = TcpListener::bind(addr).await;
    bound.map_err(|error| unbound(setting, addr, &error))
}

/// The rate limits, unless they are off.
fn limits(options: &ServeOptions, most: Most) -> Result<Option<Arc<Limits>>, CliError> {
    if !options.limited() {
        return Ok(None);
    }
    require_proxies(options.public_url.as_deref(), options.proxies)?;
    Ok(Some(Arc::new(Limits::new(Quotas::default(), most))))
}

/// Prints all addresses, in a form that people and tests read.
fn announce(
    addr: SocketAddr,
    public_url: Option<&str>,
    source: ChangeSource,
    drivers: Option<&wire::Listener>,
) {
    print_line(format_args!("Spillway is at http://{addr}"));
    if let Some(url) = public_url {
        print_line(format_args!("Browsers reach it at {url}"));
    }
    print_line(format_args!("Pages are live: {source}"));
    if let Some(drivers) = drivers {
        print_line(format_args!(
            "MongoDB's shells and drivers reach its store at mongodb://{}/spillway",
            drivers.address()
        ));
    }
}

/// Prints a line. The server continues if nobody reads its output any more.
fn print_line(line: fmt::Arguments<'_>) {
    if let Err(error) = writeln!(io::stdout(), "{line}") {
        tracing::debug!(%error, "the server's output is not read");
    }
}

fn warn_of_plain_http(reach: Reach, addr: SocketAddr) {
    if reach == Reach::ThisMachine && !addr.ip().is_loopback() {
        tracing::warn!(
            "over plain HTTP, only browsers on this machine can sign in and write; set SPILLWAY_PUBLIC_URL to the \
             https address that others use, or allow plain HTTP in a classroom with SPILLWAY_CLASSROOM=on"
        );
    }
}

/// Serves the metrics on an address of its own for as long as the process lives.
fn serve_metrics(admin: TcpListener, numbers: Router) -> Result<(), CliError> {
    let addr = admin
        .local_addr()
        .map_err(|error| unbound(ADMIN_ADDR, "", &error))?;
    print_line(format_args!("Prometheus finds metrics at http://{addr}/metrics"));
    tokio::spawn(async move {
        if let Err(error) = metrics::serve(admin, numbers).await {
            tracing::error!(%error, "the metrics server has stopped");
        }
    });
    Ok(())
}

/// The layers between a request and the routes.
pub struct Access {
    /// Refuses requests that another site made a browser send.
    pub forgery: CsrfLayer,
    /// Who may write, depending on how they reach this server.
    pub reach: Reach,
    /// How many trusted proxies are in front.
    pub proxies: usize,
    /// The rate limits; `None` for none.
    pub limits: Option<Arc<Limits>>,
    /// Whether browsers reach this site by https alone.
    pub https: bool,
    /// The address of the site, for feeds, sitemaps and previews.
    pub public: PublicAddress,
    /// How a page receives the notice about a form.
    pub notices: Notices,
    /// The workshop.
    pub wing: Wing,
}

/// All routes, and their layers, from the outside in: the log, the headers of every answer, who asks, how many answers are
/// under way, compression, reading the body, and the refusals of changes: from other sites, over plain HTTP, too often. Only
/// routes that may need the session look it up; they know which account's limit applies.
pub fn routes(
    feed: Feed,
    sessions: Sessions,
    site: &Site,
    access: Access,
    log_state: RequestLog,
    phases: Phases,
) -> Router {
    let Access {
        forgery,
        reach,
        proxies,
        limits,
        https,
        public,
        notices,
        wing,
    } = access;
    let limits = (limits, feed.clone());
    let recorded = (feed.clone(), proxies);
    let pages =
        pages::router(feed.clone(), site, public.clone()).layer(from_fn_with_state(notices, notice::carry));
    let town = Router::new()
        .merge(api::router(feed.clone(), phases.clone()))
        .merge(pages);
    let town = town
        .layer(from_fn_with_state(limits.clone(), limit_accounts))
        .layer(from_fn_with_state(sessions, resolve))
        .merge(outside::router(feed.clone(), public))
        .layer(from_fn_with_state(limits.clone(), limit_reads));
    // As one layer: a router clones and boxes what is below each of its layers once more for every request.
    let layers = ServiceBuilder::new()
        .layer(from_fn_with_state(log_state, log))
        .layer(from_fn_with_state(recorded, record_refusals))
        .layer(map_response_with_state(https, guard))
        .layer(from_fn_with_state(proxies, identify))
        .layer(from_fn_with_state(limits.clone(), limit_under_way))
        // Within the limit of answers under way, which holds until all of the compressed answer is sent.
        .layer(from_fn(compress))
        .layer(from_fn_with_state(limits.clone(), read_whole))
        .layer(from_fn(add_error_text))
        .layer(forgery)
        .layer(from_fn_with_state(https, refuse_plain_origins))
        .layer(from_fn_with_state(reach, refuse_plain_http))
        .layer(from_fn_with_state(limits, limit_peers));
    wing.around(town)
        .layer(from_fn(finish_mutations))
        .merge(pages::package(site))
        .merge(pages::assets(site))
        .merge(health(feed, phases))
        .layer(layers)
}

fn unbound(setting: &str, addr: &str, error: &io::Error) -> CliError {
    let fault = match error.kind() {
        io::ErrorKind::AddrInUse => CliError::failed(
            format!("Another program already listens on {addr}"),
            format!("Stop it, or choose another address, e.g. {setting}=127.0.0.1:3001."),
        ),
        io::ErrorKind::InvalidInput => CliError::usage(
            format!("{setting}={addr} is not an address"),
            "Give host and port, as in 127.0.0.1:3000.",
        ),
        _ => CliError::failed(
            format!("The server cannot listen on {addr}"),
            format!(
                "Choose an address of this machine and a port above 1023 with {setting}, e.g. 127.0.0.1:3000."
            ),
        ),
    };
    fault.caused_by(error)
}
