//! Takes connections and answers requests, all on one thread; files are read on others.

use std::convert::Infallible;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use plimsoll_record::RunStatus;
use plimsoll_report::live::{LIVE_SCRIPT, LiveAddresses, live_page};
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;

use crate::access::{AccessRules, Admission};
use crate::catalog::{catalog_page, is_live};
use crate::events;
use crate::feed::{EndOfRun, Feeds};
use crate::live::SentUntil;
use crate::metrics::RunTotals;
use crate::respond::{self, PageResponse, ScriptPolicy};
use crate::route::{Route, address_of};
use crate::source::{FoundRun, RunSource};
use crate::token::Token;

/// Connections at a time; further ones wait.
const CONNECTIONS: usize = 64;
/// Pages that show a run that goes on; further ones are refused.
const STREAMS: usize = 32;
/// Of the head of a request.
const HEADERS: usize = 64;
const HEAD_BYTES: usize = 16 << 10;
/// For the head of a request.
const PATIENCE: Duration = Duration::from_secs(10);
/// After the end of a run, for each page that shows it to ask for its report. One that is asked for is also made.
const FAREWELL: Duration = Duration::from_secs(5);
/// For the last bytes of a report.
const SENDING: Duration = Duration::from_millis(500);
/// Longest report to wait for.
const LONGEST_REPORT: Duration = Duration::from_secs(120);

#[derive(Debug, Error)]
pub enum ServeError {
    #[error(
        "cannot listen on {listen}: {why}\nChoose another address or port, or port 0 for any free one: --listen 127.0.0.1:0"
    )]
    Listen { listen: SocketAddr, why: String },
    #[error("no thread for the server: {0}")]
    Thread(String),
}

pub struct ServeOptions {
    pub listen: SocketAddr,
    /// Needed where [`crate::needs_token`].
    pub token: Option<Token>,
    /// The run that is served goes on, on this machine: until it has ended nothing is rendered, which would disturb it.
    pub beside_run: bool,
}

pub struct PageServer {
    runtime: tokio::runtime::Runtime,
    listener: TcpListener,
    site: Arc<Site>,
    stop: watch::Sender<bool>,
}

/// What requests are answered from.
struct Site {
    access: AccessRules,
    source: Box<dyn RunSource>,
    feeds: Feeds,
    totals: Mutex<RunTotals>,
    stop: watch::Receiver<bool>,
    beside_run: bool,
    streams: Arc<Semaphore>,
    /// One page is rendered at a time.
    renderer: Semaphore,
    reports: watch::Sender<ReportCounts>,
}

/// Reports since the server began.
#[derive(Debug, Clone, Copy, Default)]
struct ReportCounts {
    asked: usize,
    made: usize,
}

/// Ends the server.
#[derive(Clone)]
pub struct StopServer(watch::Sender<bool>);

impl StopServer {
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl PageServer {
    pub fn bind(options: ServeOptions, source: Box<dyn RunSource>) -> Result<Self, ServeError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(2)
            .build()
            .map_err(|error| ServeError::Thread(error.to_string()))?;
        let refused = |error: std::io::Error| ServeError::Listen {
            listen: options.listen,
            why: error.to_string(),
        };
        let listener = runtime
            .block_on(TcpListener::bind(options.listen))
            .map_err(refused)?;
        let listen = listener.local_addr().map_err(refused)?;
        let stop = watch::Sender::new(false);
        let site = Site {
            access: AccessRules {
                listen,
                token: options.token,
            },
            source,
            feeds: Feeds::default(),
            totals: Mutex::default(),
            stop: stop.subscribe(),
            beside_run: options.beside_run,
            streams: Arc::new(Semaphore::new(STREAMS)),
            renderer: Semaphore::new(1),
            reports: watch::Sender::default(),
        };
        Ok(Self {
            runtime,
            listener,
            site: Arc::new(site),
            stop,
        })
    }

    /// Where it listens: with the port that the system chose for port 0.
    pub fn listen(&self) -> SocketAddr {
        self.site.access.listen
    }

    /// For a browser on this machine.
    pub fn address(&self) -> String {
        let mut listen = self.listen();
        if listen.ip().is_unspecified() {
            listen.set_ip(match listen {
                SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        format!("http://{listen}/")
    }

    /// As [`Self::address`], with the token that it asks for.
    pub fn address_with_token(&self) -> String {
        match &self.site.access.token {
            Some(token) => format!("{}?token={}", self.address(), token.as_str()),
            None => self.address(),
        }
    }

    pub fn stopper(&self) -> StopServer {
        StopServer(self.stop.clone())
    }

    /// Until it is stopped; then until pages that show a run have its report, for a few seconds at most.
    pub fn run(self) {
        let mut stop = self.stop.subscribe();
        let site = Arc::clone(&self.site);
        let listener = self.listener;
        self.runtime.block_on(async move {
            let accepting = tokio::spawn(accept_all(listener, Arc::clone(&site)));
            // The sender is in self: an error cannot come.
            let _ = stop.wait_for(|stop| *stop).await;
            let open = STREAMS - site.streams.available_permits();
            site.make_reports(open).await;
            accepting.abort();
        });
        self.runtime.shutdown_background();
    }
}

async fn accept_all(listener: TcpListener, site: Arc<Site>) {
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok(permit) = Arc::clone(&connections).acquire_owned().await {
        // An error of one connection: its client is gone, or files are short for a moment.
        if let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve_connection(stream, Arc::clone(&site), permit));
        }
    }
}

async fn serve_connection(stream: TcpStream, site: Arc<Site>, permit: OwnedSemaphorePermit) {
    let service = service_fn(move |request| {
        let site = Arc::clone(&site);
        async move { Ok::<_, Infallible>(site.answer(request).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_headers(HEADERS)
        .max_buf_size(HEAD_BYTES);
    // An error is the client's.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
    drop(permit);
}

impl Site {
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> PageResponse {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return respond::only_get();
        }
        match self.access.check(request.uri(), request.headers()) {
            Err(why) => return respond::refusal(why),
            Ok(Admission::ByAddress { cookie, address }) => {
                return respond::redirect_with_cookie(&address, &cookie);
            }
            Ok(Admission::Granted) => {}
        }
        let query = request.uri().query().unwrap_or_default().to_owned();
        match Route::of(request.uri().path()) {
            Some(Route::LiveScript) => respond::script(LIVE_SCRIPT),
            Some(Route::Metrics) => self.metrics().await,
            Some(Route::Catalog) => self.catalog(query).await,
            Some(Route::Compare) => self.comparison(&query).await,
            Some(Route::Run(name)) => self.run(name, query == "now").await,
            Some(Route::Events(name)) => {
                let sent = sent_until(request.headers(), &query);
                self.events(name, sent).await
            }
            None => not_found(),
        }
    }

    /// On a thread that may wait for a disk.
    async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Self) -> Result<T, String> + Send + 'static,
    ) -> Result<T, PageResponse> {
        let site = Arc::clone(self);
        match tokio::task::spawn_blocking(move || read(&site)).await {
            Ok(Ok(read)) => Ok(read),
            Ok(Err(why)) => {
                let title = "This page cannot be made";
                Err(respond::notice(
                    StatusCode::UNPROCESSABLE_ENTITY,
                    title,
                    &why,
                ))
            }
            Err(_) => Err(failed()),
        }
    }

    async fn catalog(self: Arc<Self>, query: String) -> PageResponse {
        let runs = match self.read(|site| site.source.runs()).await {
            Ok(runs) => runs,
            Err(answer) => return answer,
        };
        match runs.as_slice() {
            [] if self.beside_run => respond::not_begun(),
            [run] if self.beside_run => respond::redirect(&address_of(&run.name)),
            runs => respond::page(catalog_page(runs, &query), &ScriptPolicy::None),
        }
    }

    async fn metrics(self: Arc<Self>) -> PageResponse {
        let text = self.read(|site| {
            let runs = site.source.growing()?;
            let mut totals = site.totals.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(totals.scrape(&runs))
        });
        text.await.map_or_else(|answer| answer, respond::metrics)
    }

    /// Looks a name up: it never becomes a path.
    async fn find(self: &Arc<Self>, name: String) -> Result<FoundRun, PageResponse> {
        let found = self.read(move |site| {
            let runs = site.source.runs()?;
            Ok(runs.into_iter().find(|run| run.name == name))
        });
        found.await?.ok_or_else(not_found)
    }

    /// Beside a run that goes on, its end is known; of another, whether its file grows.
    fn goes_on(&self, run: &FoundRun) -> bool {
        if self.beside_run {
            return !*self.stop.borrow() && run.head.run.status == RunStatus::Unfinished;
        }
        is_live(run)
    }

    /// While a run goes on beside, rendering would take its processor.
    fn may_render(&self) -> bool {
        !self.beside_run || *self.stop.borrow()
    }

    async fn run(self: Arc<Self>, name: String, now: bool) -> PageResponse {
        let run = match self.find(name).await {
            Ok(run) => run,
            Err(answer) => return answer,
        };
        if self.goes_on(&run) && !(now && self.may_render()) {
            let report = address_of(&run.name);
            let report_now = format!("{report}?now");
            let addresses = LiveAddresses {
                events: &format!("{report}/events"),
                report: &report,
                report_now: Some(report_now.as_str()).filter(|_| self.may_render()),
            };
            let title = &run.head.run.title;
            return respond::page(live_page(title, &run.name, &addresses), &ScriptPolicy::Own);
        }
        self.reports.send_modify(|reports| reports.asked += 1);
        let answer = self.render(move |site| site.source.report(&run.path)).await;
        self.reports.send_modify(|reports| reports.made += 1);
        answer
    }

    async fn comparison(self: Arc<Self>, query: &str) -> PageResponse {
        let chosen: Vec<String> = form_urlencoded::parse(query.as_bytes())
            .filter(|(key, _)| key == "run")
            .map(|(_, name)| name.into_owned())
            .collect();
        self.render(move |site| {
            let mut runs = site.source.runs()?;
            // In the order in which they began.
            runs.retain(|run| chosen.contains(&run.name));
            let paths: Vec<PathBuf> = runs.into_iter().map(|run| run.path).collect();
            if paths.len() < 2 {
                return Err("Two runs are needed.\nGo back and choose them.".to_owned());
            }
            site.source.compare(&paths)
        })
        .await
    }

    async fn render(
        self: &Arc<Self>,
        make: impl FnOnce(&Self) -> Result<String, String> + Send + 'static,
    ) -> PageResponse {
        if !self.may_render() {
            let title = "Reports wait until the run has ended";
            let text = "Making one would take processor time from the measurement.";
            return respond::notice(StatusCode::SERVICE_UNAVAILABLE, title, text);
        }
        let Ok(_permit) = self.renderer.acquire().await else {
            return failed();
        };
        match self.read(make).await {
            Ok(html) => {
                let scripts = ScriptPolicy::of_report(&html);
                respond::page(html, &scripts)
            }
            Err(answer) => answer,
        }
    }

    async fn events(self: Arc<Self>, name: String, sent: SentUntil) -> PageResponse {
        let run = match self.find(name).await {
            Ok(run) => run,
            Err(answer) => return answer,
        };
        let Ok(permit) = Arc::clone(&self.streams).try_acquire_owned() else {
            let title = "Too many pages show a run";
            let text = "Close another one.";
            return respond::notice(StatusCode::SERVICE_UNAVAILABLE, title, text);
        };
        let end = EndOfRun {
            stop: self.stop.clone(),
            only_by_stop: self.beside_run,
        };
        let feed = self.feeds.join(&run.path, &end);
        respond::event_stream(events::stream(feed, sent, permit))
    }

    /// Until each of so many pages has the report of the run that has ended.
    async fn make_reports(&self, pages: usize) {
        let mut reports = self.reports.subscribe();
        let before = *reports.borrow();
        let wanted = before.asked + pages;
        let all_asked = reports.wait_for(|reports| reports.asked >= wanted);
        let _ = timeout(FAREWELL, all_asked).await;
        if self.reports.borrow().asked == before.made {
            return;
        }
        let all_made = reports.wait_for(|reports| reports.made >= reports.asked);
        let _ = timeout(LONGEST_REPORT, all_made).await;
        // What was answered last is still being sent.
        let _ = timeout(SENDING, reports.changed()).await;
    }
}

fn not_found() -> PageResponse {
    let title = "There is no such page";
    respond::notice(StatusCode::NOT_FOUND, title, "The list of runs has all.")
}

fn failed() -> PageResponse {
    let title = "This page cannot be made";
    let text = "This is a fault in plimsoll; report it.";
    respond::notice(StatusCode::INTERNAL_SERVER_ERROR, title, text)
}

/// From the header of a browser that connects again, or from the address of a page that does.
fn sent_until(headers: &HeaderMap, query: &str) -> SentUntil {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    if let Some(id) = last {
        return SentUntil::parse(id);
    }
    let mut query = form_urlencoded::parse(query.as_bytes());
    query
        .find(|(key, _)| key == "after")
        .map(|(_, id)| SentUntil::parse(&id))
        .unwrap_or_default()
}
