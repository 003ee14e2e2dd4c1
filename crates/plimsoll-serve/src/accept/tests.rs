//! Connections in memory, in virtual time: who waits too long is closed, and who makes progress is not.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use plimsoll_record::fixture;
use plimsoll_record::runfile::{RunFile, read_head};
use plimsoll_record::{Record, RunStatus};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::*;
use crate::site::ServeOptions;
use crate::{FoundRun, RunSource};

const REPORT: usize = 1 << 20;
const GET_REPORT: &str = "GET /run/a.plimsoll HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

struct OneRun {
    path: PathBuf,
    rendered: Arc<AtomicUsize>,
}

impl RunSource for OneRun {
    fn runs(&self) -> Result<Vec<FoundRun>, String> {
        Ok(vec![FoundRun {
            name: "a.plimsoll".to_owned(),
            path: self.path.clone(),
            head: read_head(&self.path).map_err(|error| error.to_string())?,
            result: None,
        }])
    }

    fn growing(&self) -> Result<Vec<PathBuf>, String> {
        Ok(Vec::new())
    }

    fn report(&self, _: &Path) -> Result<String, String> {
        self.rendered.fetch_add(1, Ordering::Relaxed);
        // Its client may go meanwhile.
        std::thread::sleep(Duration::from_millis(20));
        Ok("r".repeat(REPORT))
    }

    fn compare(&self, _: &[PathBuf]) -> Result<String, String> {
        Err("not asked for".to_owned())
    }
}

static WARNINGS: AtomicUsize = AtomicUsize::new(0);

struct TestServer {
    site: Arc<Site>,
    rendered: Arc<AtomicUsize>,
    stop: watch::Sender<bool>,
    _dir: TempDir,
}

/// A connection that was opened, from its client's side.
struct Connection {
    client: DuplexStream,
    server: JoinHandle<()>,
    begun: Instant,
}

impl TestServer {
    fn of_record(record: &Record) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.plimsoll");
        let file = RunFile::of_record(&path, record).unwrap();
        file.commit().unwrap();
        if record.run.status != RunStatus::Unfinished {
            file.finish(record.run.status, None, record.run.lasted)
                .unwrap();
        }
        let rendered = Arc::new(AtomicUsize::new(0));
        let stop = watch::Sender::new(false);
        let source = OneRun {
            path,
            rendered: Arc::clone(&rendered),
        };
        let listen = "127.0.0.1:7070".parse().unwrap();
        let options = ServeOptions {
            listen,
            token: None,
            beside_run: false,
            warn: |_| {
                WARNINGS.fetch_add(1, Ordering::Relaxed);
            },
        };
        let site = Site::new(options, listen, Box::new(source), stop.subscribe(), 64);
        Self {
            site: Arc::new(site),
            rendered,
            stop,
            _dir: dir,
        }
    }

    fn new() -> Self {
        Self::of_record(&fixture::single_point())
    }

    fn connect(&self) -> Connection {
        let (client, stream) = duplex(4096);
        let place = self.site.clients.open("127.0.0.1".parse().unwrap());
        let serving = serve_connection(stream, place.unwrap(), Arc::clone(&self.site));
        Connection {
            client,
            server: tokio::spawn(serving),
            begun: Instant::now(),
        }
    }
}

impl Connection {
    async fn send(&mut self, text: &str) {
        self.client.write_all(text.as_bytes()).await.unwrap();
    }

    /// Seconds until the server has closed it.
    async fn closed_after(self) -> u64 {
        self.server.await.unwrap();
        self.begun.elapsed().as_secs()
    }
}

#[tokio::test(start_paused = true)]
async fn who_pipelines_and_reads_nothing_is_closed() {
    let server = TestServer::new();
    let mut connections = Vec::new();
    for _ in 0..64 {
        let mut connection = server.connect();
        connection.send(&GET_REPORT.repeat(20)).await;
        connections.push(connection);
    }
    for connection in connections {
        assert_eq!(connection.closed_after().await, 15);
    }
    assert_eq!(server.rendered.load(Ordering::Relaxed), 1, "one for all");
}

#[tokio::test(start_paused = true)]
async fn who_takes_a_byte_a_second_is_closed_and_who_is_only_slow_is_not() {
    let server = TestServer::new();
    let mut trickling = server.connect();
    trickling.send(GET_REPORT).await;
    let mut client = trickling.client;
    let trickle = tokio::spawn(async move {
        while client.read_u8().await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    trickling.server.await.unwrap();
    assert_eq!(trickling.begun.elapsed().as_secs(), 15);
    trickle.abort();

    let mut slow = server.connect();
    slow.send(GET_REPORT).await;
    let mut length = 0;
    let mut part = [0; 4096];
    loop {
        let read = slow.client.read(&mut part).await.unwrap();
        if read == 0 {
            break;
        }
        length += read;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert!(length > REPORT, "all of it: {length}");
    assert!(slow.closed_after().await >= 256);
}

#[tokio::test(start_paused = true)]
async fn slow_heads_bodies_and_idle_connections_are_closed() {
    let server = TestServer::new();
    let idle = server.connect();
    assert_eq!(idle.closed_after().await, 10);

    let mut slow = server.connect();
    for byte in GET_REPORT.bytes() {
        tokio::time::sleep(Duration::from_secs(1)).await;
        if slow.client.write_u8(byte).await.is_err() {
            break;
        }
    }
    let lasted = slow.closed_after().await;
    assert!((10..=12).contains(&lasted), "{lasted}");

    for length in ["Content-Length: 1000000", "Transfer-Encoding: chunked"] {
        let mut body = server.connect();
        let head = format!("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n{length}\r\n\r\n");
        body.send(&head).await;
        let mut answer = String::new();
        body.client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 405 "), "{answer}");
        assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
        assert_eq!(body.closed_after().await, 0, "its body is not waited for");
    }

    let mut kept = server.connect();
    kept.send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").await;
    let mut answer = Vec::new();
    kept.client.read_to_end(&mut answer).await.unwrap();
    assert_eq!(kept.closed_after().await, 10);
}

#[tokio::test(start_paused = true)]
async fn a_live_page_that_reads_nothing_is_given_up() {
    let mut record = fixture::single_point();
    record.run.status = RunStatus::Unfinished;
    let server = TestServer::of_record(&record);
    let mut page = server.connect();
    let request = "GET /run/a.plimsoll/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    page.send(request).await;
    // Comments fill its buffer, in the end.
    page.server.await.unwrap();
    assert!(!*server.stop.borrow());
    let mut again = server.connect();
    again.send(request).await;
    let mut head = [0; 12];
    again.client.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
}

#[tokio::test(start_paused = true)]
async fn a_report_that_nobody_waits_for_any_more_delays_no_end() {
    let server = TestServer::new();
    let mut connection = server.connect();
    connection.send(GET_REPORT).await;
    while server.rendered.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    drop(connection.client);
    let begun = Instant::now();
    server.stop.send_replace(true);
    server.site.make_last_reports().await;
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn errors_of_accepting_are_tried_again_more_and_more_seldom_and_reported_once() {
    let server = TestServer::new();
    let _held = server.connect();
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let accept = async move || {
        counted.fetch_add(1, Ordering::Relaxed);
        // Too many open files.
        Err::<Accepted<DuplexStream>, _>(io::Error::from_raw_os_error(24))
    };
    let accepting = accept_all(accept, Arc::clone(&server.site));
    let _ = timeout(Duration::from_secs(60), accepting).await;
    let tries = tries.load(Ordering::Relaxed);
    assert!((60..=70).contains(&tries), "{tries} in a minute");
    assert_eq!(WARNINGS.load(Ordering::Relaxed), 1);
    assert!(!server.site.clients.close_one(), "its descriptor was freed");
}
