//! Requests over real connections.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

use plimsoll_plan::schedule::{PhaseKind, Tick};
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{Absence, LaneSecond, TransactionStats};
use plimsoll_record::runfile::{RunFile, read_head};
use plimsoll_record::{PhaseId, Record, RunStatus, fixture};
use serde_json::Value;
use tempfile::TempDir;

use crate::{FoundRun, PageServer, RunSource, ServeOptions, StopServer, Token};

mod attacks;

const TOKEN: &str = "0123456789abcdef-secret";

/// The run files of a directory.
struct TestFolder(PathBuf);

impl RunSource for TestFolder {
    fn runs(&self) -> Result<Vec<FoundRun>, String> {
        let entries = std::fs::read_dir(&self.0).map_err(|error| error.to_string())?;
        let paths = entries.flatten().map(|entry| entry.path());
        let runs = paths.filter_map(|path| {
            Some(FoundRun {
                name: path.file_name()?.to_str()?.to_owned(),
                head: read_head(&path).ok()?,
                result: None,
                path,
            })
        });
        let mut runs: Vec<FoundRun> = runs.collect();
        runs.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(runs)
    }

    fn growing(&self) -> Result<Vec<PathBuf>, String> {
        let entries = std::fs::read_dir(&self.0).map_err(|error| error.to_string())?;
        let paths = entries.flatten().map(|entry| entry.path());
        Ok(paths.filter(|path| crate::is_growing(path)).collect())
    }

    fn report(&self, path: &Path) -> Result<String, String> {
        Ok(format!("<h1>report of {}</h1>", path.display()))
    }

    fn compare(&self, paths: &[PathBuf]) -> Result<String, String> {
        Ok(format!("<h1>comparison of {}</h1>", paths.len()))
    }
}

/// A server on a thread of its own; dropping it ends it.
struct TestSite {
    dir: TempDir,
    address: SocketAddr,
    stopper: StopServer,
    thread: Option<JoinHandle<()>>,
}

impl TestSite {
    /// Of a directory with the run `a.plimsoll`.
    fn open() -> Self {
        Self::with(None, false)
    }

    fn with(token: Option<Token>, beside_run: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let record = fixture::single_point();
        let file = RunFile::of_record(&dir.path().join("a.plimsoll"), &record).unwrap();
        file.finish(RunStatus::Complete, None, record.run.lasted)
            .unwrap();
        let options = ServeOptions {
            listen: "127.0.0.1:0".parse().unwrap(),
            token,
            beside_run,
            warn: |_| (),
        };
        let server = PageServer::bind(options, Box::new(TestFolder(dir.path().into()))).unwrap();
        Self {
            dir,
            address: server.listen(),
            stopper: server.stopper(),
            thread: Some(std::thread::spawn(move || server.run())),
        }
    }

    fn protected() -> Self {
        Self::with(Some(Token::from_text(TOKEN).unwrap()), false)
    }

    /// A request as it is written, with the right host; lines end with `\n` here.
    fn send(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let patience = Some(Duration::from_secs(20));
        stream.set_read_timeout(patience).unwrap();
        let request = request.replace("HOST", &self.address.to_string());
        stream
            .write_all(format!("{request}\n\n").replace('\n', "\r\n").as_bytes())
            .unwrap();
        stream
    }

    fn raw(&self, request: &str) -> HttpText {
        let mut text = Vec::new();
        // A connection that is closed with an error has been answered before.
        let _ = self
            .send(&format!("{request}\nConnection: close"))
            .read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        HttpText(text)
    }

    fn get(&self, path: &str) -> HttpText {
        self.get_with(path, "X-Nothing: 1")
    }

    fn get_with(&self, path: &str, header: &str) -> HttpText {
        self.raw(&format!("GET {path} HTTP/1.1\nHost: HOST\n{header}"))
    }

    fn events(&self, name: &str, header: &str) -> EventReader {
        let path = format!("/run/{name}/events");
        let stream = self.send(&format!("GET {path} HTTP/1.1\nHost: HOST\n{header}"));
        EventReader(BufReader::new(stream))
    }
}

impl Drop for TestSite {
    fn drop(&mut self) {
        self.stopper.stop();
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(ended.is_some_and(|end| end.is_ok()));
    }
}

/// Head and body.
struct HttpText(String);

impl HttpText {
    fn status(&self) -> u16 {
        let word = self.0.split(' ').nth(1).unwrap_or_default();
        word.parse().unwrap_or_else(|_| panic!("{:?}", self.0))
    }

    fn header(&self, name: &str) -> Option<&str> {
        let head = self.0.split("\r\n\r\n").next()?;
        let lines = head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(own, _)| own.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value)
    }
}

struct EventReader(BufReader<TcpStream>);

struct Event {
    id: String,
    data: Value,
}

impl Event {
    /// When the seconds that it holds ended.
    fn seconds(&self) -> Vec<f64> {
        let seconds = self.data["seconds"].as_array().unwrap();
        seconds
            .iter()
            .map(|second| second["at"].as_f64().unwrap())
            .collect()
    }
}

impl EventReader {
    fn next(&mut self) -> Event {
        let mut id = None;
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
            if let Some(text) = line.strip_prefix("id: ") {
                id = Some(text.trim().to_owned());
            }
            if let (Some(id), Some(data)) = (&id, line.strip_prefix("data: ")) {
                let id = id.clone();
                let data = serde_json::from_str(data).unwrap();
                return Event { id, data };
            }
        }
    }
}

/// A run that goes on.
struct OpenRun {
    file: RunFile,
    phase: PhaseId,
    record: Record,
    seconds: u64,
}

impl OpenRun {
    fn begin(site: &TestSite, name: &str) -> Self {
        let mut record = fixture::single_point();
        record.run.status = RunStatus::Unfinished;
        record.run.id = "20261127T101500Z-1-0000002a".into();
        let file = RunFile::of_record(&site.dir.path().join(name), &record).unwrap();
        let point = &record.points[0];
        let phase = file
            .open_phase(
                &point.step,
                Some(point),
                PhaseKind::Measure,
                record.run.lasted,
            )
            .unwrap();
        file.commit().unwrap();
        Self {
            file,
            phase,
            record,
            seconds: 0,
        }
    }

    fn measure(&mut self, seconds: u64) {
        for _ in 0..seconds {
            let start = self.record.run.lasted + Nanos::from_secs(self.seconds);
            self.seconds += 1;
            let mut tallies = vec![TransactionStats::default(); 5];
            tallies[0].counts.committed = 10;
            tallies[0].record(Nanos::from_millis(3), Nanos::from_millis(3));
            let second = LaneSecond {
                tick: Tick {
                    start,
                    end: start + Nanos::SECOND,
                    phase: PhaseKind::Measure,
                },
                in_flight: 1,
                earlier: Vec::new(),
                late: 0,
                overflow: 0,
                absence: Absence::default(),
                merge_lag: Nanos::ZERO,
                tallies,
            };
            let system = self.record.points[0].system;
            self.file
                .second(self.phase, system, Nanos::ZERO, &second)
                .unwrap();
        }
        self.file.commit().unwrap();
    }

    fn finish(self) {
        let lasted = self.record.run.lasted + Nanos::from_secs(self.seconds);
        self.file.finish(RunStatus::Complete, None, lasted).unwrap();
    }
}

#[test]
fn pages_may_load_nothing_from_elsewhere_and_are_kept_nowhere() {
    let site = TestSite::open();
    for path in [
        "/",
        "/run/a.plimsoll",
        "/compare?run=a.plimsoll",
        "/live.js",
        "/x",
    ] {
        let answer = site.get(path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src "),
            "{policy}"
        );
        assert!(policy.contains("form-action 'self'; base-uri 'none'; frame-ancestors 'none'"));
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
    let catalog = site.get("/?text=A.PLIM&status=complete");
    assert!(
        catalog.0.contains("href=\"/run/a.plimsoll\""),
        "{}",
        catalog.0
    );
    let none = site.get("/?status=failed");
    assert!(!none.0.contains("/run/a.plimsoll") && none.status() == 200);
    let report = site.get("/run/a.plimsoll");
    assert!(report.0.contains("report of"), "{}", report.0);
}

#[test]
fn a_wrong_token_is_refused() {
    let site = TestSite::protected();
    let wrong = [
        site.get("/"),
        site.get("/?token="),
        site.get("/?token=0123456789abcdef-secreT"),
        site.get(&format!("/?token={TOKEN}x")),
        site.get_with("/", "Authorization: Bearer wrong"),
        site.get_with("/", &format!("Authorization: Basic {TOKEN}")),
        site.get_with("/", &format!("Cookie: plimsoll-1={TOKEN}")),
        site.get_with("/run/a.plimsoll/events", "Cookie: x"),
        site.get("/live.js"),
        site.get("/run/../a.plimsoll"),
    ];
    for answer in wrong {
        assert_eq!(answer.status(), 401, "{}", answer.0);
        assert!(!answer.0.contains("a.plimsoll") && !answer.0.contains(TOKEN));
    }
}

#[test]
fn the_token_of_an_address_becomes_a_cookie_that_scripts_cannot_read() {
    let site = TestSite::protected();
    let first = site.get(&format!("//evil.example/?text=a&token={TOKEN}"));
    assert_eq!(first.status(), 303);
    assert_eq!(
        first.header("location"),
        Some("/evil.example/?text=a"),
        "of this host"
    );
    let cookie = first.header("set-cookie").unwrap();
    assert!(
        cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/"),
        "{cookie}"
    );
    let pair = cookie.split(';').next().unwrap();
    let by_cookie = site.get_with("/", &format!("Cookie: other=1; {pair}"));
    assert_eq!(by_cookie.status(), 200);
    let by_header = site.get_with("/", &format!("Authorization: Bearer {TOKEN}"));
    assert_eq!(by_header.status(), 200);
    assert!(!by_header.0.contains(TOKEN));
}

#[test]
fn other_hosts_and_origins_are_refused() {
    let site = TestSite::open();
    for host in [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil",
        "192.0.2.1",
        "",
        "localhost:x",
    ] {
        let answer = site.raw(&format!("GET / HTTP/1.1\nHost: {host}"));
        assert!(matches!(answer.status(), 400 | 421), "{host}: {}", answer.0);
    }
    assert_eq!(site.raw("GET / HTTP/1.0\nX-No: host").status(), 421);
    let twice = site.raw("GET / HTTP/1.1\nHost: HOST\nHost: evil.example");
    assert!(matches!(twice.status(), 400 | 421), "{}", twice.0);
    for origin in [
        "http://evil.example",
        "null",
        "https://HOST",
        "http://HOST.evil.example",
        "http://localhost",
    ] {
        let origin = format!("Origin: {origin}");
        assert_eq!(site.get_with("/", &origin).status(), 403, "{origin}");
        let events = site.get_with("/run/a.plimsoll/events", &origin);
        assert_eq!(events.status(), 403, "{origin}");
    }
    assert_eq!(site.get_with("/", "Origin: http://HOST").status(), 200);
    for host in ["localhost", "localhost:8080", "[::1]:8080", "127.0.0.1"] {
        let answer = site.raw(&format!("GET / HTTP/1.1\nHost: {host}"));
        assert_eq!(answer.status(), 200, "{host}, also by a forwarded port");
    }
}

#[test]
fn a_path_is_never_anything_but_the_name_of_a_run() {
    let site = TestSite::open();
    let secret = site.dir.path().join("secret.txt");
    std::fs::write(&secret, "SECRET").unwrap();
    let absolute = secret.display().to_string();
    for path in [
        "/secret.txt",
        "/run/secret.txt",
        "/run/../secret.txt",
        "/run/%2e%2e/secret.txt",
        "/run/..%2fsecret.txt",
        "/run/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/run/a.plimsoll/../secret.txt",
        "/run/./a.plimsoll",
        "/run//a.plimsoll",
        "/run/a.plimsoll%00.txt",
        "/run/a.plimsoll%00",
        "/run/%ff%fe",
        "/run/..%5csecret.txt",
        "/run/%252e%252e%252fsecret.txt",
        "/run/a.plimsoll-wal",
        "/run/",
        "/run",
        "/run/../events",
        "/run/secret.txt/events",
        "/live.js/..",
        "/%2e%2e/live.js",
        &format!("/run/{absolute}"),
        &format!("/run/{}", absolute.replace('/', "%2f")),
        "http://evil.example/run/a",
    ] {
        let answer = site.get(path);
        let status = answer.status();
        assert!(matches!(status, 400 | 404 | 421), "{path}: {}", answer.0);
        assert!(
            !answer.0.contains("SECRET") && !answer.0.contains("report of"),
            "{path}"
        );
    }
    let compared = site.get("/compare?run=a.plimsoll&run=../a.plimsoll&run=secret.txt");
    assert_eq!(compared.status(), 422, "one run only");
}

#[test]
fn nothing_but_reading_is_answered_and_heads_are_bounded() {
    let site = TestSite::open();
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "FOO"] {
        let answer = site.raw(&format!("{method} / HTTP/1.1\nHost: HOST"));
        assert_eq!(answer.status(), 405, "{method}");
        assert_eq!(answer.header("allow"), Some("GET, HEAD"));
    }
    let head = site.raw("HEAD / HTTP/1.1\nHost: HOST");
    assert!(
        head.status() == 200 && head.0.ends_with("\r\n\r\n"),
        "{}",
        head.0
    );
    let long = site.get_with("/", &format!("X-Long: {}", "x".repeat(40_000)));
    assert_eq!(long.status(), 431);
    let many: String = (0..100).map(|n| format!("X-{n}: 1\n")).collect();
    assert_eq!(site.get_with("/", many.trim()).status(), 431);
    assert_eq!(
        site.get(&format!("/{}", "x".repeat(40_000))).status() / 100,
        4
    );
}

#[test]
fn a_page_that_connects_again_gets_the_seconds_that_it_lacks_and_no_others() {
    let site = TestSite::open();
    let mut run = OpenRun::begin(&site, "b.plimsoll");
    run.measure(3);
    let first = site.events("b.plimsoll", "X: 1").next();
    let last = *first.seconds().last().unwrap();
    assert_eq!(first.data["ended"], false);
    let html = first.data["html"].as_str().unwrap();
    assert!(html.contains(">Measuring "), "{html}");
    run.measure(4);
    let mut again = site.events(
        "b.plimsoll",
        &format!("Last-Event-ID: {}\nConnection: close", first.id),
    );
    let mut seconds = again.next().seconds();
    // Where a reading came between, nothing was new in it.
    while seconds.len() < 4 {
        seconds.extend(again.next().seconds());
    }
    let expected: Vec<f64> = (1..=4).map(|n| last + f64::from(n)).collect();
    assert_eq!(seconds, expected);
    let other_run = "Last-Event-ID: 1000000@another-run";
    let from_the_beginning = site.events("b.plimsoll", other_run).next();
    assert!(from_the_beginning.seconds().len() >= first.seconds().len());

    run.finish();
    while again.next().data["ended"] != true {}
    let mut rest = Vec::new();
    again.0.read_to_end(&mut rest).unwrap();
    let rest = String::from_utf8_lossy(&rest).into_owned();
    assert!(!rest.contains("data:"), "the stream has ended: {rest}");
}

#[test]
fn a_page_that_does_not_read_holds_up_nobody_and_their_number_is_bounded() {
    let site = TestSite::open();
    let mut run = OpenRun::begin(&site, "b.plimsoll");
    run.measure(2_000);
    let silent: Vec<TcpStream> = (0..31)
        .map(|_| site.send("GET /run/b.plimsoll/events HTTP/1.1\nHost: HOST"))
        .collect();
    let mut reading = site.events("b.plimsoll", "X: 1");
    assert!(reading.next().seconds().len() >= 2_000);
    run.measure(1);
    while reading.next().seconds().len() != 1 {}
    let refused = site.get("/run/b.plimsoll/events");
    assert_eq!(refused.status(), 503);
    assert_eq!(site.get("/").status(), 200);
    drop(silent);
    run.finish();
}

#[test]
fn beside_a_run_nothing_is_rendered_until_it_has_ended_and_then_its_report_is() {
    let site = TestSite::with(None, true);
    let only = site.get("/");
    assert_eq!(only.status(), 303);
    assert_eq!(only.header("location"), Some("/run/a.plimsoll"));
    let mut run = OpenRun::begin(&site, "b.plimsoll");
    run.measure(1);
    let page = site.get("/run/b.plimsoll");
    assert!(
        page.0.contains("<script src=\"/live.js\"></script>"),
        "{}",
        page.0
    );
    assert_eq!(page.status(), 200);
    assert_eq!(site.get("/run/b.plimsoll?now").status(), 200);
    for path in ["/run/a.plimsoll", "/compare?run=a.plimsoll&run=b.plimsoll"] {
        assert_eq!(site.get(path).status(), 503, "{path}");
    }
    let mut events = site.events("b.plimsoll", "X: 1");
    events.next();
    run.finish();
    site.stopper.stop();
    while events.next().data["ended"] != true {}
    let report = site.get("/run/b.plimsoll");
    assert!(report.0.contains("report of"), "{}", report.0);
}

#[test]
fn a_token_is_long_and_plain_and_two_differ() {
    assert!(Token::from_text("short").is_err());
    assert!(Token::from_text("0123456789abcdef; Path=/").is_err());
    let random = [Token::random().unwrap(), Token::random().unwrap()];
    assert!(random[0] != random[1] && random[0].as_str().len() == 64);
    assert_eq!(format!("{:?}", random[0]), "Token");
}

#[test]
fn metrics_need_the_token_and_are_text() {
    let site = TestSite::protected();
    assert_eq!(site.get("/metrics").status(), 401);
    let wrong = site.get_with("/metrics", "Authorization: Bearer wrong");
    assert_eq!(wrong.status(), 401);
    let mut run = OpenRun::begin(&site, "b.plimsoll");
    run.measure(3);
    let bearer = format!("Authorization: Bearer {TOKEN}");
    let answer = site.get_with("/metrics", &bearer);
    assert_eq!(answer.status(), 200);
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    assert_eq!(answer.header("content-type"), Some(kind));
    let committed = |answer: &HttpText| {
        let samples = answer.0.lines();
        let own = samples.filter(|line| {
            line.starts_with("plimsoll_transactions_total{run=\"20261127T101500Z-1-0000002a\"")
        });
        own.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap())
            .sum::<f64>()
    };
    let first = committed(&answer);
    run.measure(2);
    let second = committed(&site.get_with("/metrics", &bearer));
    assert_eq!(second - first, 20.0, "ten transactions a second");
    let other = site.raw(&format!(
        "GET /metrics HTTP/1.1\nHost: evil.example\n{bearer}"
    ));
    assert_eq!(other.status(), 421);
    run.finish();
}
