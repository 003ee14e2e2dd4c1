//! Poolers before a PostgreSQL: a small one that answers on the wire as PgBouncer 1.18 was seen to.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::Place;

const SSL_REQUEST: u32 = 80_877_103;

/// How clients get connections to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PoolMode {
    /// All clients the same one, for a transaction each.
    Transaction,
    /// Each its own, so many at the same time; the others wait.
    Session(u32),
}

struct Pooler {
    mode: PoolMode,
    /// Clients that have a connection to the server.
    served: AtomicU32,
    /// All that have come.
    clients: AtomicU32,
}

/// A pooler's port.
fn start(mode: PoolMode) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let pooler = Arc::new(Pooler {
        mode,
        served: AtomicU32::new(0),
        clients: AtomicU32::new(0),
    });
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let pooler = Arc::clone(&pooler);
            std::thread::spawn(move || pooler.serve(client));
        }
    });
    port
}

fn read_number(client: &mut TcpStream) -> Option<u32> {
    let mut bytes = [0; 4];
    client.read_exact(&mut bytes).ok()?;
    Some(u32::from_be_bytes(bytes))
}

/// What follows the length that counts itself.
fn read_body(client: &mut TcpStream) -> Option<Vec<u8>> {
    let length = read_number(client)?;
    let mut body = vec![0; length as usize - 4];
    client.read_exact(&mut body).ok()?;
    Some(body)
}

fn message(letter: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32 + 4).to_be_bytes();
    [&[letter], &length[..], body].concat()
}

/// One row of one column, as text.
fn row(value: u32) -> Vec<u8> {
    let value = value.to_string();
    let column = [
        &[0, 1][..],
        b"a\0",
        &[0; 6],
        &[0, 0, 0, 25],
        &[255; 6],
        &[0, 0],
    ]
    .concat();
    let length = (value.len() as u32).to_be_bytes();
    let data = [&[0, 1][..], &length, value.as_bytes()].concat();
    [
        message(b'T', &column),
        message(b'D', &data),
        message(b'C', b"SELECT 1\0"),
    ]
    .concat()
}

impl Pooler {
    fn serve(&self, mut client: TcpStream) -> Option<()> {
        let mut startup = read_body(&mut client)?;
        if startup[..4] == SSL_REQUEST.to_be_bytes() {
            client.write_all(b"N").ok()?;
            startup = read_body(&mut client)?;
        }
        if String::from_utf8_lossy(&startup).contains("database\0pgbouncer\0") {
            let refused = b"SFATAL\0C08P01\0Mnot allowed\0\0";
            return client.write_all(&message(b'E', refused)).ok();
        }
        let number = self.clients.fetch_add(1, Ordering::SeqCst);
        let key = [9_000_000 + number, 0].map(u32::to_be_bytes).concat();
        let ready = message(b'Z', b"I");
        let greeting = [message(b'R', &[0; 4]), message(b'K', &key), ready.clone()];
        client.write_all(&greeting.concat()).ok()?;
        let mut is_served = false;
        loop {
            let mut letter = [0];
            let body = client.read_exact(&mut letter).ok();
            let body = body.and_then(|()| read_body(&mut client));
            let Some(body) = body.filter(|_| letter == *b"Q") else {
                self.served
                    .fetch_sub(u32::from(is_served), Ordering::SeqCst);
                return None;
            };
            is_served = is_served || self.gives_connection();
            if !is_served {
                // It waits for one, and so do its clients.
                continue;
            }
            let text = String::from_utf8_lossy(&body).into_owned();
            let mut answer = match text.as_str() {
                text if text.contains("set_config") => row(0),
                text if text.contains("pg_backend_pid") => row(match self.mode {
                    PoolMode::Transaction => 4711,
                    PoolMode::Session(_) => 1000 + number,
                }),
                text if text.contains("SELECT") => row(1),
                _ => message(b'C', b"BEGIN\0"),
            };
            answer.extend(&ready);
            client.write_all(&answer).ok()?;
        }
    }

    fn gives_connection(&self) -> bool {
        let most = match self.mode {
            PoolMode::Transaction => u32::MAX,
            PoolMode::Session(most) => most,
        };
        let taken = self
            .served
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |served| {
                (served < most).then_some(served + 1)
            });
        taken.is_ok()
    }
}

fn expect_refused(mode: PoolMode, phrases: &[&str]) {
    let place = Place::new();
    let url = format!("postgres://tester@127.0.0.1:{}/db", start(mode));
    let outcome = place.run(&["bench", &url, "--users", "2", "-o", "x.run"]);
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    let errors = lines.iter().skip_while(|line| !line.starts_with("error: "));
    assert_eq!(errors.count(), 3, "{outcome:?}");
    outcome.failed(1, phrases);
    place.expect_no_run("x.run");
}

#[test]
fn connections_that_clients_share_are_refused() {
    expect_refused(
        PoolMode::Transaction,
        &[
            "cannot measure through PgBouncer",
            "another connection to the server for each transaction",
            "pool_mode = session",
        ],
    );
}

#[test]
fn a_pool_that_is_too_small_is_refused_before_anything_is_loaded() {
    expect_refused(
        PoolMode::Session(4),
        &[
            "PgBouncer at postgres://tester@127.0.0.1:",
            "the plan needs 5 connections to the server at the same time: it gave",
            "default_pool_size",
        ],
    );
}

#[test]
fn a_pooler_without_a_server_is_not_waited_for() {
    expect_refused(
        PoolMode::Session(0),
        &[
            "its first statement not answered in 5 s",
            "If it is a connection pooler",
        ],
    );
}
