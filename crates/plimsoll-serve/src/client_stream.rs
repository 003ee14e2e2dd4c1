//! The bytes of a connection: given up when its client does not take what it asked for.

use std::future::{Pending, pending};
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Timeout, timeout};

use crate::clients::Client;

/// While something waits for the client, it takes at least so much in each such time. The system's buffers pass on about
/// 100 kB at a time, so a line of 10 kB/s is fast enough.
const WINDOW: Duration = Duration::from_secs(15);
const LEAST: usize = 32 << 10;

pub(crate) struct ClientStream<S> {
    stream: S,
    client: Arc<Client>,
    /// Since something waits for the client.
    slow: Option<SlowWrite>,
}

struct SlowWrite {
    window: Pin<Box<Timeout<Pending<()>>>>,
    taken: usize,
}

impl SlowWrite {
    fn new() -> Self {
        Self {
            window: Box::pin(timeout(WINDOW, pending())),
            taken: 0,
        }
    }

    /// An error when a window has passed in which the client took too little.
    fn poll_progress(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        while self.window.as_mut().poll(cx).is_ready() {
            if self.taken < LEAST {
                return Poll::Ready(ErrorKind::TimedOut.into());
            }
            *self = Self::new();
        }
        Poll::Pending
    }
}

impl<S> ClientStream<S> {
    pub fn new(stream: S, client: Arc<Client>) -> Self {
        Self {
            stream,
            client,
            slow: None,
        }
    }

    fn after_write(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(written) => {
                if let (Some(slow), Ok(count)) = (&mut self.slow, &written) {
                    slow.taken += count;
                }
                Poll::Ready(written)
            }
            Poll::Pending => {
                self.client.set_stalled(true);
                let slow = self.slow.get_or_insert_with(SlowWrite::new);
                slow.poll_progress(cx).map(Err)
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ClientStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ClientStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let own = self.get_mut();
        let written = Pin::new(&mut own.stream).poll_write(cx, buf);
        own.after_write(cx, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let own = self.get_mut();
        let written = Pin::new(&mut own.stream).poll_write_vectored(cx, bufs);
        own.after_write(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Comes when all was written.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        if own.slow.take().is_some() {
            own.client.set_stalled(false);
        }
        Pin::new(&mut own.stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
