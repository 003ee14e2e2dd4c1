//! A socket that wakes its user for data only.
//!
//! The runtime's own sockets also ask for "writable" events. On unix sockets the kernel raises one whenever the server
//! takes a request out of the buffer (`unix_write_space`, net/unix/af_unix.c): a wake-up of a sleeping client for
//! nothing, once for each request. Asking for readable events alone saves it; only a full buffer (a bulk load) waits
//! for the other kind, on a descriptor of its own that is closed when the buffer has room again.

use std::io;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::io::ioctl_fionbio;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};

pub struct QuietSocket {
    reads: AsyncFd<OwnedFd>,
    /// While the buffer is full.
    writes: Option<AsyncFd<OwnedFd>>,
}

fn watch(socket: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    #[expect(
        deprecated,
        reason = "unsound for types whose descriptor changes, which that of an OwnedFd does not"
    )]
    AsyncFd::with_interest(socket, interest)
}

impl QuietSocket {
    /// Connects at once or not at all; needs a runtime.
    pub fn connect(path: &Path) -> io::Result<Self> {
        Self::of(UnixStream::connect(path)?.into())
    }

    /// Of a connection over TCP; needs a runtime.
    pub fn of_tcp(socket: TcpStream) -> io::Result<Self> {
        socket.set_nodelay(true)?;
        Self::of(socket.into())
    }

    /// Of a connected socket, which will not block from now on; needs a runtime.
    pub fn of(socket: OwnedFd) -> io::Result<Self> {
        ioctl_fionbio(&socket, true)?;
        Ok(Self {
            reads: watch(socket, Interest::READABLE)?,
            writes: None,
        })
    }
}

impl AsyncRead for QuietSocket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut ready = ready!(self.reads.poll_read_ready(context))?;
            let room = buffer.initialize_unfilled();
            let size = room.len();
            match ready
                .try_io(|socket| Ok(recv(socket.get_ref(), &mut *room, RecvFlags::empty())?.0))
            {
                Ok(Ok(n)) => {
                    // A short read emptied the socket; what comes next raises a new event (epoll(7), edge-triggered).
                    if 0 < n && n < size {
                        ready.clear_ready();
                    }
                    buffer.advance(n);
                    return Poll::Ready(Ok(()));
                }
                Ok(Err(error)) => return Poll::Ready(Err(error)),
                Err(_would_block) => {}
            }
        }
    }
}

impl AsyncWrite for QuietSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            match send(self.reads.get_ref(), data, SendFlags::NOSIGNAL) {
                Err(rustix::io::Errno::AGAIN) => {}
                done => {
                    self.writes = None;
                    return Poll::Ready(done.map_err(Into::into));
                }
            }
            if self.writes.is_none() {
                let socket = self.reads.get_ref().try_clone()?;
                self.writes = Some(watch(socket, Interest::WRITABLE)?);
            }
            let Some(writes) = &self.writes else { continue };
            ready!(writes.poll_write_ready(context))?.clear_ready();
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(shutdown(self.reads.get_ref(), Shutdown::Write).map_err(Into::into))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixListener;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// More than any buffer holds goes both ways, and comes back whole.
    #[test]
    fn full_buffers_wait_and_nothing_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let echo = std::thread::spawn(move || {
            let (mut peer, _) = listener.accept().unwrap();
            let mut all = Vec::new();
            peer.read_to_end(&mut all).unwrap();
            peer.write_all(&all).unwrap();
        });
        let sent: Vec<u8> = (0..5_000_000u32).map(|i| (i % 251) as u8).collect();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let received = runtime.block_on(async {
            let mut socket = QuietSocket::connect(&path).unwrap();
            socket.write_all(&sent).await.unwrap();
            socket.shutdown().await.unwrap();
            let mut received = Vec::new();
            socket.read_to_end(&mut received).await.unwrap();
            received
        });
        echo.join().unwrap();
        assert!(received == sent);
    }
}
