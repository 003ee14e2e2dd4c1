//! Takes connections and answers requests, all on one thread; files are read on others.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use plimsoll_report::live::{LIVE_SCRIPT, LiveAddresses, live_page};
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;

use crate::access::{Access, Admission};
use crate::catalog::{catalog_page, is_live};
use crate::events;
use crate::feed::Feeds;
use crate::live::SentUntil;
use crate::respond::{self, Answer, Scripts};
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
/// After the end of a run, for pages to get its report.
const FAREWELL: Duration = Duration::from_secs(10);

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

pub struct Server {
    runtime: tokio::runtime::Runtime,
    listener: TcpListener,
    site: Arc<Site>,
    stop: watch::Sender<bool>,
}

/// What requests are answered from.
struct Site {
    access: Access,
    source: Box<dyn RunSource>,
    feeds: Feeds,
    stop: watch::Receiver<bool>,
    beside_run: bool,
    streams: Arc<Semaphore>,
    /// One page is rendered at a time.
    renderer: Semaphore,
    reports: AtomicUsize,
}

/// Ends the server.
#[derive(Clone)]
pub struct StopServer(watch::Sender<bool>);

impl StopServer {
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
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
            access: Access {
                listen,
                token: options.token,
            },
            source,
            feeds: Feeds::default(),
            stop: stop.subscribe(),
            beside_run: options.beside_run,
            streams: Arc::new(Semaphore::new(STREAMS)),
            renderer: Semaphore::new(1),
            reports: AtomicUsize::new(0),
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

    /// For a browser, with the token.
    pub fn address(&self) -> String {
        let listen = self.listen();
        match &self.site.access.token {
            Some(token) => format!("http://{listen}/?token={}", token.as_str()),
            None => format!("http://{listen}/"),
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
            let wanted = site.reports.load(Ordering::Relaxed) + open;
            let _ = timeout(FAREWELL, site.have_reports(wanted)).await;
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
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Answer {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return respond::only_get();
        }
        match self.access.check(request.uri(), request.headers()) {
            Err(why) => return respond::refusal(why),
            Ok(Admission::ByAddress { cookie, address }) => {
                return respond::redirect(&address, &cookie);
            }
            Ok(Admission::Granted) => {}
        }
        let query = request.uri().query().unwrap_or_default().to_owned();
        match Route::of(request.uri().path()) {
            Some(Route::LiveScript) => respond::script(LIVE_SCRIPT),
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
    ) -> Result<T, Answer> {
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

    async fn catalog(self: Arc<Self>, query: String) -> Answer {
        let page = self.read(move |site| Ok(catalog_page(&site.source.runs()?, &query)));
        match page.await {
            Ok(html) => respond::page(html, &Scripts::None),
            Err(answer) => answer,
        }
    }

    /// Looks a name up: it never becomes a path.
    async fn find(self: &Arc<Self>, name: String) -> Result<FoundRun, Answer> {
        let found = self.read(move |site| {
            let runs = site.source.runs()?;
            Ok(runs.into_iter().find(|run| run.name == name))
        });
        found.await?.ok_or_else(not_found)
    }

    /// While a run goes on beside, rendering would take its processor.
    fn may_render(&self) -> bool {
        !self.beside_run || *self.stop.borrow()
    }

    async fn run(self: Arc<Self>, name: String, now: bool) -> Answer {
        let run = match self.find(name).await {
            Ok(run) => run,
            Err(answer) => return answer,
        };
        let stopped = *self.stop.borrow();
        if is_live(&run) && !stopped && !(now && self.may_render()) {
            let report = address_of(&run.name);
            let report_now = format!("{report}?now");
            let addresses = LiveAddresses {
                events: &format!("{report}/events"),
                report: &report,
                report_now: Some(report_now.as_str()).filter(|_| self.may_render()),
            };
            let title = &run.head.run.title;
            return respond::page(live_page(title, &run.name, &addresses), &Scripts::Own);
        }
        let answer = self.render(move |site| site.source.report(&run.path)).await;
        self.reports.fetch_add(1, Ordering::Relaxed);
        answer
    }

    async fn comparison(self: Arc<Self>, query: &str) -> Answer {
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
    ) -> Answer {
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
                let scripts = Scripts::of_report(&html);
                respond::page(html, &scripts)
            }
            Err(answer) => answer,
        }
    }

    async fn events(self: Arc<Self>, name: String, sent: SentUntil) -> Answer {
        let run = match self.find(name).await {
            Ok(run) => run,
            Err(answer) => return answer,
        };
        let Ok(permit) = Arc::clone(&self.streams).try_acquire_owned() else {
            let title = "Too many pages show a run";
            let text = "Close another one.";
            return respond::notice(StatusCode::SERVICE_UNAVAILABLE, title, text);
        };
        let feed = self.feeds.join(&run.path, &self.stop);
        respond::event_stream(events::stream(feed, sent, permit))
    }

    /// Until so many reports were made since the server began.
    async fn have_reports(&self, wanted: usize) {
        const EVERY: Duration = Duration::from_millis(100);
        let mut never = self.stop.clone();
        while self.reports.load(Ordering::Relaxed) < wanted {
            never.mark_unchanged();
            let _ = timeout(EVERY, never.changed()).await;
        }
        // What was answered last is still being sent.
        let _ = timeout(EVERY * 5, never.changed()).await;
    }
}

fn not_found() -> Answer {
    let title = "There is no such page";
    respond::notice(StatusCode::NOT_FOUND, title, "The list of runs has all.")
}

fn failed() -> Answer {
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
