//! What requests are answered from, and how.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body as _, Incoming};
use hyper::header::HeaderMap;
use hyper::{Method, Request, StatusCode};
use plimsoll_record::RunStatus;
use plimsoll_report::live::{LIVE_SCRIPT, live_page};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;

use crate::access::{AccessRules, Admission};
use crate::catalog::{catalog_page, is_live};
use crate::clients::{Client, Clients};
use crate::events;
use crate::feed::{EndOfRun, Feeds};
use crate::live::SentUntil;
use crate::made::{LastReport, MadeReport, ReportSource};
use crate::metrics::RunTotals;
use crate::respond::{self, PageResponse, ScriptPolicy};
use crate::route::{Route, address_of};
use crate::source::{FoundRun, RunSource};
use crate::token::Token;

/// Threads that read files: one each for lists, reports, scrapes and live pages, so that none waits for another kind.
pub(crate) const READERS: usize = 4;
/// Pages that show a run that goes on; further ones are refused.
const STREAMS: usize = 32;
/// Requests for reports at a time: more than pages that show a run, which all ask at its end.
const REPORTS: usize = STREAMS + 8;
/// Memory for answers that clients have not taken yet, in KiB.
const ROOM_KIB: usize = 128 << 10;
/// For others to take their answers, before one of them is given up.
const ROOM_PAUSE: Duration = Duration::from_millis(200);
/// After the end of a run, for each page that shows it to ask for its report. One that is asked for is also made.
const FAREWELL: Duration = Duration::from_secs(5);
/// For the last bytes of a report.
const SENDING: Duration = Duration::from_millis(500);
/// Longest report to wait for.
const LONGEST_REPORT: Duration = Duration::from_secs(120);

pub struct ServeOptions {
    pub listen: SocketAddr,
    /// Needed where [`crate::needs_token`].
    pub token: Option<Token>,
    /// The run that is served goes on, on this machine: until it has ended nothing is rendered, which would disturb it.
    pub beside_run: bool,
    /// Takes warnings for the user.
    pub warn: fn(&str),
}

/// What requests are answered from.
pub(crate) struct Site {
    pub access: AccessRules,
    pub clients: Arc<Clients>,
    source: Box<dyn RunSource>,
    feeds: Feeds,
    totals: Mutex<RunTotals>,
    stop: watch::Receiver<bool>,
    beside_run: bool,
    warn: fn(&str),
    streams: Arc<Semaphore>,
    turns: Turns,
    /// Requests for reports.
    asking: Semaphore,
    /// In KiB.
    room: Arc<Semaphore>,
    last_report: Mutex<Option<LastReport>>,
    reports: watch::Sender<ReportCounts>,
}

/// One thread at a time for each kind of reading. The thread has the turn, also after its client has gone.
struct Turns {
    lists: Arc<Semaphore>,
    reports: Arc<Semaphore>,
    scrapes: Arc<Semaphore>,
}

/// What was read; the next reading of its kind waits until this is dropped.
struct ReadResult<T> {
    value: T,
    _turn: OwnedSemaphorePermit,
}

enum Rendered {
    /// The one that was made last.
    Again(MadeReport),
    New {
        html: String,
        source: Option<ReportSource>,
    },
}

/// Reports since the server began.
#[derive(Debug, Clone, Copy, Default)]
struct ReportCounts {
    asked: usize,
    /// Or given up, with the connection.
    made: usize,
}

/// A report that somebody waits for.
struct WantedReport<'a>(&'a watch::Sender<ReportCounts>);

impl<'a> WantedReport<'a> {
    fn new(reports: &'a watch::Sender<ReportCounts>) -> Self {
        reports.send_modify(|reports| reports.asked += 1);
        Self(reports)
    }
}

impl Drop for WantedReport<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|reports| reports.made += 1);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Site {
    pub fn new(
        options: ServeOptions,
        listen: SocketAddr,
        source: Box<dyn RunSource>,
        stop: watch::Receiver<bool>,
        connections: usize,
    ) -> Self {
        let one_at_a_time = || Arc::new(Semaphore::new(1));
        Self {
            access: AccessRules {
                listen,
                token: options.token,
            },
            clients: Clients::new(connections),
            source,
            feeds: Feeds::default(),
            totals: Mutex::default(),
            stop,
            beside_run: options.beside_run,
            warn: options.warn,
            streams: Arc::new(Semaphore::new(STREAMS)),
            turns: Turns {
                lists: one_at_a_time(),
                reports: one_at_a_time(),
                scrapes: one_at_a_time(),
            },
            asking: Semaphore::new(REPORTS),
            room: Arc::new(Semaphore::new(ROOM_KIB)),
            last_report: Mutex::default(),
            reports: watch::Sender::default(),
        }
    }

    pub fn warn(&self, text: &str) {
        (self.warn)(text);
    }

    pub async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        client: &Arc<Client>,
    ) -> PageResponse {
        let working = client.begin_work();
        let has_body = !request.body().is_end_stream();
        let answer = self.answer_to(&request, client).await;
        let answer = match has_body {
            // What follows would not be read.
            true => respond::last(answer),
            false => answer,
        };
        respond::until_sent(answer, working)
    }

    async fn answer_to(
        self: Arc<Self>,
        request: &Request<Incoming>,
        client: &Client,
    ) -> PageResponse {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return respond::only_get();
        }
        if !request.body().is_end_stream() {
            return respond::no_bodies();
        }
        match self.access.check(request.uri(), request.headers()) {
            Err(why) => return respond::refusal(why),
            Ok(Admission::ByAddress { cookie, address }) => {
                return respond::redirect_with_cookie(&address, &cookie);
            }
            Ok(Admission::Granted) => client.admit(),
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
        turn: &Arc<Semaphore>,
        read: impl FnOnce(&Self) -> Result<T, String> + Send + 'static,
    ) -> Result<ReadResult<T>, PageResponse> {
        let turn = Arc::clone(turn).acquire_owned().await;
        let turn = turn.map_err(|_| failed())?;
        let site = Arc::clone(self);
        let reading = tokio::task::spawn_blocking(move || {
            read(&site).map(|value| ReadResult { value, _turn: turn })
        });
        match reading.await {
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

    /// A text as the body of an answer. Where answers that wait for their clients take too much memory, those that wait
    /// longest are given up.
    async fn hold(&self, text: String) -> Result<Bytes, PageResponse> {
        let size = (text.len() >> 10).min(ROOM_KIB) as u32;
        loop {
            let room = Arc::clone(&self.room).acquire_many_owned(size);
            match timeout(ROOM_PAUSE, room).await {
                Ok(Ok(room)) => return Ok(respond::held(text, room)),
                _ if self.clients.close_one() => {}
                _ => return Err(busy()),
            }
        }
    }

    async fn catalog(self: Arc<Self>, query: String) -> PageResponse {
        match self.list(&query).await {
            Ok(answer) | Err(answer) => answer,
        }
    }

    async fn list(self: &Arc<Self>, query: &str) -> Result<PageResponse, PageResponse> {
        let runs = self.read(&self.turns.lists, |site| {
            let mut runs = site.source.runs()?;
            if site.may_render() {
                site.source.add_results(&mut runs);
            }
            Ok(runs)
        });
        let runs = runs.await?.value;
        Ok(match runs.as_slice() {
            [] if self.beside_run => respond::not_begun(),
            [run] if self.beside_run => respond::redirect(&address_of(&run.name)),
            runs => {
                let html = self.hold(catalog_page(runs, query)).await?;
                respond::page(html, &ScriptPolicy::None)
            }
        })
    }

    async fn metrics(self: Arc<Self>) -> PageResponse {
        match self.scrape().await {
            Ok(text) => respond::metrics(text),
            Err(answer) => answer,
        }
    }

    async fn scrape(self: &Arc<Self>) -> Result<Bytes, PageResponse> {
        let text = self.read(&self.turns.scrapes, |site| {
            let runs = site.source.growing()?;
            Ok(lock(&site.totals).scrape(&runs))
        });
        self.hold(text.await?.value).await
    }

    /// Looks a name up: it never becomes a path.
    async fn find(self: &Arc<Self>, name: String) -> Result<FoundRun, PageResponse> {
        let found = self.read(&self.turns.lists, move |site| {
            let runs = site.source.runs()?;
            Ok(runs.into_iter().find(|run| run.name == name))
        });
        found.await?.value.ok_or_else(not_found)
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
            let report_now = format!("{}?now", address_of(&run.name));
            let report_now = Some(report_now.as_str()).filter(|_| self.may_render());
            let html = live_page(&run.head.run.title, &run.name, report_now);
            return respond::page(html.into(), &ScriptPolicy::Own);
        }
        let _wanted = WantedReport::new(&self.reports);
        self.render(move |site| site.report(run.path)).await
    }

    /// All who ask for a report get the one that was made last, as long as its file is as it was.
    fn report(&self, path: PathBuf) -> Result<Rendered, String> {
        let source = ReportSource::new(path);
        let last = lock(&self.last_report).take_if(|last| last.source != source);
        drop(last);
        if let Some(last) = &*lock(&self.last_report) {
            return Ok(Rendered::Again(last.page.clone()));
        }
        let html = self.source.report(&source.path)?;
        let source = Some(source);
        Ok(Rendered::New { html, source })
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
            let html = site.source.compare(&paths)?;
            Ok(Rendered::New { html, source: None })
        })
        .await
    }

    async fn render(
        self: &Arc<Self>,
        make: impl FnOnce(&Self) -> Result<Rendered, String> + Send + 'static,
    ) -> PageResponse {
        if !self.may_render() {
            let title = "Reports wait until the run has ended";
            let text = "Making one would take processor time from the measurement.";
            return respond::notice(StatusCode::SERVICE_UNAVAILABLE, title, text);
        }
        let Ok(_place) = self.asking.try_acquire() else {
            return busy();
        };
        match timeout(LONGEST_REPORT, self.rendered(make)).await {
            Ok(Ok(page)) => respond::page(page.html, &page.scripts),
            Ok(Err(answer)) => answer,
            Err(_) => busy(),
        }
    }

    async fn rendered(
        self: &Arc<Self>,
        make: impl FnOnce(&Self) -> Result<Rendered, String> + Send + 'static,
    ) -> Result<MadeReport, PageResponse> {
        // Kept until its text has room, so that no more than one has none.
        let read = self.read(&self.turns.reports, make).await?;
        let (html, source) = match read.value {
            Rendered::Again(page) => return Ok(page),
            Rendered::New { html, source } => (html, source),
        };
        let page = MadeReport {
            scripts: ScriptPolicy::of_report(&html),
            html: self.hold(html).await?,
        };
        *lock(&self.last_report) = source.map(|source| LastReport {
            source,
            page: page.clone(),
        });
        Ok(page)
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

    /// Until each page that shows the run which has ended has its report.
    pub async fn make_last_reports(&self) {
        let pages = STREAMS - self.streams.available_permits();
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

fn busy() -> PageResponse {
    let title = "The server is busy";
    let text = "Others wait for their pages. Try again later.";
    respond::notice(StatusCode::SERVICE_UNAVAILABLE, title, text)
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
