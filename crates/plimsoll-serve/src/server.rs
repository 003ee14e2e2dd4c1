//! A server: its address, its beginning and its end. Connections are served on one thread; files are read on others.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use rustix::process::{Resource, getrlimit};
use thiserror::Error;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;

use crate::accept::{Accepted, accept_all};
use crate::site::{READERS, ServeOptions, Site};
use crate::source::RunSource;

/// Connections at a time.
const CONNECTIONS: usize = 64;
/// Files that connections leave to everything else: five connections to the database of a report with three files each, as
/// many for lists and live pages, and what is open from the beginning.
const OTHER_FILES: usize = 40;
/// However few files there may be.
const FEWEST_CONNECTIONS: usize = 4;
/// Connections that wait to be accepted.
const BACKLOG: u32 = 128;
/// Of each connection in the system; without it, megabytes.
const SEND_BUFFER: u32 = 256 << 10;

#[derive(Debug, Error)]
pub enum ServeError {
    #[error(
        "cannot listen on {listen}: {why}\nChoose another address or port, or port 0 for any free one: --listen 127.0.0.1:0"
    )]
    Listen { listen: SocketAddr, why: String },
    #[error("no thread for the server: {0}")]
    Thread(String),
}

pub struct PageServer {
    runtime: tokio::runtime::Runtime,
    listener: TcpListener,
    site: Arc<Site>,
    stop: watch::Sender<bool>,
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
            .max_blocking_threads(READERS)
            .build()
            .map_err(|error| ServeError::Thread(error.to_string()))?;
        let refused = |error: std::io::Error| ServeError::Listen {
            listen: options.listen,
            why: error.to_string(),
        };
        let listener = runtime
            .block_on(async { bind(options.listen) })
            .map_err(refused)?;
        let listen = listener.local_addr().map_err(refused)?;
        let stop = watch::Sender::new(false);
        let site = Site::new(options, listen, source, stop.subscribe(), connections());
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
            let accepting = tokio::spawn(accept_all(
                async move || accept(&listener).await,
                Arc::clone(&site),
            ));
            // The sender is in self: an error cannot come.
            let _ = stop.wait_for(|stop| *stop).await;
            site.make_last_reports().await;
            accepting.abort();
        });
        self.runtime.shutdown_background();
    }
}

fn bind(listen: SocketAddr) -> io::Result<TcpListener> {
    let socket = match listen {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(listen)?;
    socket.listen(BACKLOG)
}

async fn accept(listener: &TcpListener) -> io::Result<Accepted<TcpStream>> {
    let (stream, peer) = listener.accept().await?;
    Ok(Accepted {
        stream,
        peer: peer.ip(),
    })
}

/// Fewer where the process may open few files.
fn connections() -> usize {
    let files = getrlimit(Resource::Nofile).current;
    let files = files.and_then(|files| usize::try_from(files).ok());
    let places = files.map(|files| files.saturating_sub(OTHER_FILES));
    places.map_or(CONNECTIONS, |places| {
        places.clamp(FEWEST_CONNECTIONS, CONNECTIONS)
    })
}
