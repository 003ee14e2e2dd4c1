//! Runs in a browser: what is served, to whom, and what it does to the run.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt, symlink};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;

use crate::common::{Background, Place, processes_in};

const PLAN: &str = "title = \"Mock\"\n[system.db.mock]\nlatency = \"2ms\"\n[workload.oltp.tpcc]\nwarehouses = 1\n\
                    [[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = 2\nramp = \"1s\"\nmeasure = \"4s\"\n";

/// What it printed as the address to open: host with port, path and query.
struct Address {
    host: String,
    path: String,
}

fn address_of(server: &mut Background) -> Address {
    server.wait_for_message("http://");
    let stderr = server.stderr();
    let url = stderr.split("http://").nth(1).unwrap();
    let url = url.split_whitespace().next().unwrap();
    let (host, path) = url.split_once('/').unwrap();
    Address {
        host: host.to_owned(),
        path: format!("/{path}"),
    }
}

impl Address {
    fn send(&self, path: &str, header: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let host = &self.host;
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{header}Connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    fn get(&self, path: &str) -> String {
        self.get_with(path, "")
    }

    fn get_with(&self, path: &str, header: &str) -> String {
        // What serves a run goes behind everything else of the machine, and gives up clients that it could not attend to.
        for _ in 0..10 {
            let mut text = Vec::new();
            match self.send(path, header).read_to_end(&mut text) {
                Ok(_) => return String::from_utf8_lossy(&text).into_owned(),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
                Err(error) => panic!("{error}"),
            }
        }
        panic!("reset ten times");
    }
}

fn simulate(place: &Place, output: &str) {
    place
        .run(&["run", "plan.toml", "--virtual-time", "-o", output])
        .succeeded();
}

#[test]
fn a_run_is_shown_while_it_goes_on_and_what_serves_it_ends_with_it() {
    let place = Place::new();
    // What serves it goes behind everything else of the machine, so the run ends only when it has been seen.
    place.write("plan.toml", &PLAN.replace("\"4s\"", "\"10m\""));
    let mut run = place.start(&[
        "run",
        "plan.toml",
        "-o",
        "x.plimsoll",
        "--serve=127.0.0.1:0",
    ]);
    let address = address_of(&mut run);
    run.until_measured("x.plimsoll");
    let first = address.get("/");
    assert!(first.contains("location: /run/x.plimsoll\r\n"), "{first}");
    let page = address.get("/run/x.plimsoll");
    assert!(
        page.contains("<script src=\"/live.js\"></script>"),
        "{page}"
    );
    let events = BufReader::new(address.send("/run/x.plimsoll/events", ""));
    let mut events = events
        .lines()
        .map_while(Result::ok)
        .filter(|line| line.starts_with("data: "));
    let first = events.next().unwrap();
    assert!(first.contains(">Measuring db with 2 users.<"), "{first}");
    run.signal(Signal::INT);
    let last = events.last().unwrap();
    assert!(
        last.contains("\"ended\":true") && last.contains("The run was interrupted."),
        "{last}"
    );
    // The page goes to the report, which the run waits for.
    let report = address.get("/run/x.plimsoll");
    assert!(report.contains("id=\"trust\""), "{}", report.len());
    run.wait().failed(1, &["interrupted"]);
    assert_eq!(processes_in(&place.path("")), [], "left running");
    assert!(!place.path("x.plimsoll-wal").exists(), "closed as one file");
    let json = place.opens("x.plimsoll");
    assert_eq!(json["summary"]["file"]["state"], "intact");
}

#[test]
fn a_killed_run_takes_its_server_with_it_and_a_taken_port_is_refused_before_anything_begins() {
    let place = Place::new();
    place.write("plan.toml", PLAN);
    let mut run = place.start(&[
        "run",
        "plan.toml",
        "-o",
        "x.plimsoll",
        "--serve=127.0.0.1:0",
    ]);
    let host = address_of(&mut run).host;
    let taken = place.run(&[
        "run",
        "plan.toml",
        "-o",
        "y.plimsoll",
        &format!("--serve={host}"),
    ]);
    taken.failed(
        1,
        &[
            "cannot listen on 127.0.0.1:",
            "the live page cannot be served",
        ],
    );
    place.expect_no_run("y.plimsoll");
    run.signal(Signal::KILL);
    drop(run);
    crate::common::wait_for("the end of the server", || {
        processes_in(&place.path("")).is_empty().then_some(())
    });
}

#[test]
fn a_directory_is_listed_filtered_and_compared_and_links_lead_nowhere() {
    let place = Place::new();
    let elsewhere = Place::new();
    for place in [&place, &elsewhere] {
        place.write("plan.toml", PLAN);
        fs::create_dir(place.path("runs")).unwrap();
    }
    simulate(&place, "runs/a.plimsoll");
    simulate(&place, "runs/b <i>.plimsoll");
    simulate(&elsewhere, "runs/secret.plimsoll");
    let secret = elsewhere.path("runs/secret.plimsoll");
    symlink(&secret, place.path("runs/link.plimsoll")).unwrap();
    symlink(elsewhere.path("runs"), place.path("runs/folder.set")).unwrap();
    fs::write(elsewhere.path("runs/set.json"), "{}").unwrap();

    let mut server = place.start(&["serve", "runs", "--listen", "127.0.0.1:0"]);
    let address = address_of(&mut server);
    let catalog = address.get("/?system=db&status=complete");
    assert!(catalog.contains("2 of 2 runs"), "{catalog}");
    assert!(
        catalog.contains("href=\"/run/b%20%3Ci%3E.plimsoll\""),
        "{catalog}"
    );
    assert!(
        !catalog.contains("link.plimsoll") && !catalog.contains("secret"),
        "{catalog}"
    );
    assert!(address.get("/?text=B%20%3Ci").contains("1 of 2 runs"));
    assert!(address.get("/?medium=none").contains("0 of 2 runs"));
    for path in [
        "/run/link.plimsoll",
        "/run/folder.set/secret.plimsoll",
        "/run/../plan.toml",
    ] {
        assert!(address.get(path).starts_with("HTTP/1.1 404"), "{path}");
    }
    let report = address.get("/run/b%20%3Ci%3E.plimsoll");
    assert!(report.contains("id=\"trust\"") && report.contains("script-src 'sha256-"));
    let compared = address.get("/compare?run=b+%3Ci%3E.plimsoll&run=a.plimsoll");
    assert!(compared.contains("<p class=\"sentence\">"), "{compared}");
    server.signal(Signal::TERM);
}

#[test]
fn others_need_a_token_which_is_in_no_argument() {
    let place = Place::new();
    let mut server = place.start(&["serve", ".", "--listen", "0.0.0.0:0"]);
    let address = address_of(&mut server);
    let arguments = fs::read_to_string(format!("/proc/{}/cmdline", server.pid())).unwrap();
    let token = address.path.strip_prefix("/?token=").unwrap();
    assert!(
        token.len() == 64 && !arguments.contains(token),
        "{arguments}"
    );
    assert!(address.get("/").starts_with("HTTP/1.1 401"));
    assert!(address.get("/?token=wrong").starts_with("HTTP/1.1 401"));
    let cookie = format!(
        "Cookie: plimsoll-{}={token}\r\n",
        address.host.split(':').nth(1).unwrap()
    );
    assert!(
        address
            .get(&address.path)
            .contains(cookie.trim_start_matches("Cookie: ").trim())
    );
    assert!(address.get_with("/", &cookie).starts_with("HTTP/1.1 200"));
    server.signal(Signal::TERM);

    let token = place.write("token", "a-token-of-my-own-1\n");
    let set_mode = |mode| fs::set_permissions(&token, Permissions::from_mode(mode)).unwrap();
    set_mode(0o600);
    let own = [
        "serve",
        ".",
        "--listen",
        "127.0.0.1:0",
        "--token-file",
        "token",
    ];
    let mut server = place.start(&own);
    let address = address_of(&mut server);
    assert_eq!(address.path, "/", "a token that is known is not printed");
    assert!(address.get("/").starts_with("HTTP/1.1 401"));
    let bearer = "Authorization: Bearer a-token-of-my-own-1\r\n";
    assert!(address.get_with("/", bearer).starts_with("HTTP/1.1 200"));
    server.signal(Signal::TERM);

    for mode in [0o666, 0o602, 0o620, 0o604] {
        set_mode(mode);
        place
            .run(&own)
            .refused(&["Other users can read or change it", "chmod 600 token"]);
    }
    set_mode(0o600);
    place.write("token", "short\n");
    place
        .run(&own)
        .refused(&["the token file token cannot be used", "openssl rand"]);
    fs::remove_file(&token).unwrap();
    place.run(&own).refused(&["No such file", "umask 077"]);
    mknodat(CWD, &token, FileType::Fifo, Mode::RUSR, 0).unwrap();
    place.run(&own).refused(&["It is not a regular file"]);
    place
        .run(&["serve", "nowhere"])
        .refused(&["nowhere does not exist"]);
}
