//! A connection that is cut in the middle of an answer, or that brings it in pieces or late.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::*;

/// Stands between clients and a server, as long as the test's process lives.
pub struct Proxy {
    pub port: u16,
    way: Arc<Way>,
}

/// How answers come through.
struct Way {
    /// So many bytes more, then the connection ends.
    left: AtomicUsize,
    /// Byte by byte.
    in_pieces: AtomicBool,
    /// So long each.
    late_ms: AtomicU64,
}

impl Proxy {
    /// In front of a server that listens on a Unix socket.
    fn before(server: PathBuf) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let way = Arc::new(Way {
            left: AtomicUsize::new(usize::MAX),
            in_pieces: AtomicBool::new(false),
            late_ms: AtomicU64::new(0),
        });
        let own = Arc::clone(&way);
        thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                client.set_nodelay(true).unwrap();
                let server = UnixStream::connect(&server).unwrap();
                carry(&client, &server, &own);
            }
        });
        Self { port, way }
    }

    pub fn cut_after(&self, bytes: usize) {
        self.way.left.store(bytes, Ordering::SeqCst);
    }
}

/// Both ways, each on a thread of its own.
fn carry(client: &TcpStream, server: &UnixStream, way: &Arc<Way>) {
    let mut from_client = client.try_clone().unwrap();
    let mut to_server = server.try_clone().unwrap();
    thread::spawn(move || {
        let _ = std::io::copy(&mut from_client, &mut to_server);
        let _ = to_server.shutdown(Shutdown::Both);
    });
    let mut from_server = server.try_clone().unwrap();
    let to_client = client.try_clone().unwrap();
    let way = Arc::clone(way);
    thread::spawn(move || {
        let _ = answers(&mut from_server, &to_client, &way);
        let _ = to_client.shutdown(Shutdown::Both);
        let _ = from_server.shutdown(Shutdown::Both);
    });
}

fn answers(server: &mut UnixStream, mut client: &TcpStream, way: &Way) -> std::io::Result<()> {
    let mut buffer = [0; 16 << 10];
    loop {
        let read = server.read(&mut buffer)?;
        let left = way.left.load(Ordering::SeqCst);
        let bytes = &buffer[..read.min(left)];
        thread::sleep(Duration::from_millis(way.late_ms.load(Ordering::SeqCst)));
        if way.in_pieces.load(Ordering::SeqCst) {
            for byte in bytes {
                client.write_all(&[*byte])?;
            }
        } else {
            client.write_all(bytes)?;
        }
        if read == 0 || read > left {
            return Ok(());
        }
        if left != usize::MAX {
            way.left.store(left - read, Ordering::SeqCst);
        }
    }
}

impl Shared {
    /// The place of the data, reached through a proxy.
    pub fn behind_proxy(&self, kind: ManagedKind) -> (Proxy, Endpoint) {
        let folder = &self.server().process().context.socket;
        let socket = folder.join(match kind {
            ManagedKind::Postgres => ".s.PGSQL.5432",
            ManagedKind::Mariadb | ManagedKind::Mysql => "mariadb.sock",
        });
        assert!(socket.exists(), "{}", socket.display());
        let proxy = Proxy::before(socket);
        let port = proxy.port;
        let scheme = kind.server().engine().name();
        let conninfo = match kind {
            ManagedKind::Postgres => {
                format!("{scheme}://plimsoll@127.0.0.1:{port}/postgres?sslmode=disable")
            }
            ManagedKind::Mariadb | ManagedKind::Mysql => {
                format!("{scheme}://root@127.0.0.1:{port}")
            }
        };
        let endpoint = Endpoint::Server {
            engine: kind.server(),
            conninfo: conninfo.into(),
            schema: MANAGED_SCHEMA.into(),
        };
        (proxy, endpoint)
    }
}

/// Wherever an answer is cut, the connection is lost, and what was under way leaves the data consistent.
pub fn cut(kind: ManagedKind) {
    let shared = Shared::get(Engine::Server(kind.server()));
    let _turn = shared.turn();
    let (proxy, endpoint) = shared.behind_proxy(kind);
    for &mode in shared.engine.modes() {
        let opener = opener(endpoint.clone(), &tpcc(mode));
        for bytes in [0, 1, 4, 9, 40] {
            proxy.cut_after(usize::MAX);
            let mut user = User::open(&opener, 0).unwrap();
            let order = new_order(&[(10, 1, 1), (20, 2, 3)]);
            assert_eq!(user.run(&order), Ok(TxnEnd::Committed));
            proxy.cut_after(bytes);
            let end = user.run(&order);
            assert!(
                matches!(end, Err(SessionError::Lost(_))),
                "{mode:?} after {bytes} bytes: {end:?}"
            );
        }
    }
    proxy.cut_after(usize::MAX);
    shared.place().assert_consistent();
}

/// Answers are the same however they are cut into pieces.
pub fn in_pieces(kind: ManagedKind) {
    let shared = Shared::get(Engine::Server(kind.server()));
    let _turn = shared.turn();
    let (proxy, endpoint) = shared.behind_proxy(kind);
    proxy.way.in_pieces.store(true, Ordering::SeqCst);
    for &mode in shared.engine.modes() {
        let mut user = User::open(&opener(endpoint.clone(), &tpcc(mode)), 0).unwrap();
        for input in [
            new_order(&[(10, 1, 1), (20, 2, 3)]),
            order_status(CustomerBy::Id(5)),
            delivery(1),
            stock_level(),
        ] {
            assert_eq!(user.run(&input), Ok(TxnEnd::Committed), "{mode:?}");
        }
    }
    shared.place().assert_consistent();
}

/// A server may take as long as it takes.
pub fn slow(kind: ManagedKind) {
    const LATE: Duration = Duration::from_millis(300);
    let shared = Shared::get(Engine::Server(kind.server()));
    let _turn = shared.turn();
    let (proxy, endpoint) = shared.behind_proxy(kind);
    let mut user = User::open(&opener(endpoint, &tpcc(TxnMode::Procedures)), 0).unwrap();
    proxy
        .way
        .late_ms
        .store(LATE.as_millis() as u64, Ordering::SeqCst);
    let asked = Instant::now();
    assert_eq!(user.run(&stock_level()), Ok(TxnEnd::Committed));
    assert!(asked.elapsed() >= LATE);
}
