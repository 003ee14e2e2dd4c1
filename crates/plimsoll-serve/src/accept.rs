//! Takes connections, and answers what comes over them.

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use crate::client_stream::ClientStream;
use crate::clients::Client;
use crate::site::Site;

/// Of the head of a request.
const HEADERS: usize = 64;
const HEAD_BYTES: usize = 16 << 10;
/// For the head of a request, from the end of the answer before.
const PATIENCE: Duration = Duration::from_secs(10);
/// After an error of accepting; twice as long after the next one.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A connection that was taken.
pub(crate) struct Accepted<S> {
    pub stream: S,
    pub peer: IpAddr,
}

pub(crate) async fn accept_all<S>(
    mut accept: impl AsyncFnMut() -> io::Result<Accepted<S>>,
    site: Arc<Site>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut pause = FIRST_PAUSE;
    let mut is_reported = false;
    loop {
        match accept().await {
            Ok(accepted) => {
                pause = FIRST_PAUSE;
                // Without a place it is dropped, which closes it.
                if let Some(client) = site.clients.open(accepted.peer) {
                    let connection =
                        serve_connection(accepted.stream, Arc::clone(&client), Arc::clone(&site));
                    client.set_task(tokio::spawn(connection).abort_handle());
                }
                // One that was closed for it ends before the next is taken.
                tokio::task::yield_now().await;
            }
            Err(error) => {
                if !std::mem::replace(&mut is_reported, true) {
                    site.warn(&accept_warning(&error));
                }
                // Mostly descriptors are short, of which each connection has one.
                site.clients.close_one();
                let _ = timeout(pause, pending::<()>()).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}

fn accept_warning(error: &io::Error) -> String {
    format!(
        "cannot accept a connection: {error}\n  It is tried again. Where files are short, raise their number: ulimit -n 1024"
    )
}

pub(crate) async fn serve_connection<S>(stream: S, client: Arc<Client>, site: Arc<Site>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let stream = ClientStream::new(stream, Arc::clone(&client));
    let service = service_fn(move |request| {
        let site = Arc::clone(&site);
        let client = Arc::clone(&client);
        async move { Ok::<_, Infallible>(site.answer(request, &client).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_headers(HEADERS)
        .max_buf_size(HEAD_BYTES);
    // An error is the client's.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

#[cfg(test)]
mod tests;
