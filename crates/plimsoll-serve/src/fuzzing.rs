//! For fuzzers: bytes as what a client sends.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex, split};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::accept::serve_connection;
use crate::site::{READERS, ServeOptions, Site};
use crate::source::RunSource;

const CONNECTIONS: usize = 4;
/// What a connection of a fuzzer is sent at most.
pub const LONGEST_ANSWER: u64 = 16 << 20;

/// Serves connections in memory, in virtual time.
pub struct FuzzedServer {
    runtime: Runtime,
    site: Arc<Site>,
    _stop: watch::Sender<bool>,
}

impl FuzzedServer {
    pub fn new(options: ServeOptions, source: Box<dyn RunSource>) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .max_blocking_threads(READERS)
            .build()
            .expect("a runtime");
        let stop = watch::Sender::new(false);
        let listen = options.listen;
        let site = Site::new(options, listen, source, stop.subscribe(), CONNECTIONS);
        Self {
            runtime,
            site: Arc::new(site),
            _stop: stop,
        }
    }

    /// Sends bytes, and returns all that comes until the server closes the connection.
    pub fn converse(&self, bytes: &[u8]) -> Vec<u8> {
        self.runtime.block_on(async {
            let (client, stream) = duplex(4096);
            let place = self.site.clients.open(IpAddr::V4(Ipv4Addr::LOCALHOST));
            let place = place.expect("a place");
            let serving = tokio::spawn(serve_connection(stream, place, Arc::clone(&self.site)));
            let (reading, mut writing) = split(client);
            let bytes = bytes.to_vec();
            let sending = tokio::spawn(async move {
                // The server may have refused what came before.
                let _ = writing.write_all(&bytes).await;
                // Not closed: its end would stop an answer.
                writing
            });
            let mut answer = Vec::new();
            let _ = reading.take(LONGEST_ANSWER).read_to_end(&mut answer).await;
            serving.await.expect("no panic");
            drop(sending);
            answer
        })
    }
}
