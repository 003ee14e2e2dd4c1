//! Connections of measured sessions: a request goes out in one write and its answer is decoded where it was received.
//! What the bytes mean is the engines' own.

mod socket;
pub(crate) mod tls;

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use bytes::BytesMut;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;

pub use socket::QuietSocket;

/// A message that is longer is none of a load's answers: the stream is out of step.
const MAX_ANSWER: usize = 64 << 20;

const FIRST_ROOM: usize = 16 << 10;

/// A socket, encrypted or not.
pub trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// A connection with its buffers.
pub struct Wire {
    stream: Box<dyn ByteStream>,
    /// Requests that are not sent yet.
    pub out: BytesMut,
    input: Vec<u8>,
    /// What of `input` was received and is not consumed.
    begin: usize,
    end: usize,
}

impl Wire {
    pub fn new(stream: Box<dyn ByteStream>) -> Self {
        Self {
            stream,
            out: BytesMut::with_capacity(FIRST_ROOM),
            input: vec![0; FIRST_ROOM],
            begin: 0,
            end: 0,
        }
    }

    /// All that follows is encrypted.
    ///
    /// # Errors
    /// When the server's certificate is not believed, or the handshake fails in another way; the connection is of no use then.
    pub async fn encrypt(&mut self, config: ClientConfig, host: &str) -> io::Result<()> {
        if !self.unread().is_empty() {
            return Err(io::Error::other("the server sent more before encryption"));
        }
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let plain = std::mem::replace(&mut self.stream, Box::new(tokio::io::empty()));
        let connector = TlsConnector::from(Arc::new(config));
        self.stream = Box::new(connector.connect(name, plain).await?);
        Ok(())
    }

    /// Writes all of [`Self::out`].
    ///
    /// # Errors
    /// When the connection is closed or broken; what the server sent before that can still be received.
    pub async fn send(&mut self) -> io::Result<()> {
        let sent = poll_fn(|context| self.poll_send(context)).await;
        self.out.clear();
        sent
    }

    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.out.is_empty() {
            match ready!(Pin::new(&mut *self.stream).poll_write(context, &self.out))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => bytes::Buf::advance(&mut self.out, written),
            }
        }
        Pin::new(&mut *self.stream).poll_flush(context)
    }

    /// A last request, of which nobody waits for an answer or even that it is sent.
    pub fn send_if_there_is_room(&mut self) {
        let _ = self.poll_send(&mut Context::from_waker(Waker::noop()));
    }

    /// What was received and is not consumed.
    pub fn unread(&self) -> &[u8] {
        &self.input[self.begin..self.end]
    }

    pub fn consume(&mut self, bytes: usize) {
        self.begin = (self.begin + bytes).min(self.end);
    }

    /// Waits until there is more to read than before.
    ///
    /// # Errors
    /// When the connection has ended, or an answer is too long.
    pub async fn receive(&mut self) -> io::Result<()> {
        self.make_room()?;
        let received = poll_fn(|context| {
            let mut room = ReadBuf::new(&mut self.input[self.end..]);
            ready!(Pin::new(&mut *self.stream).poll_read(context, &mut room))?;
            Poll::Ready(Ok::<_, io::Error>(room.filled().len()))
        })
        .await?;
        if received == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.end += received;
        Ok(())
    }

    fn make_room(&mut self) -> io::Result<()> {
        if self.begin > 0 {
            self.input.copy_within(self.begin..self.end, 0);
            self.end -= self.begin;
            self.begin = 0;
        }
        if self.end == self.input.len() {
            if self.end >= MAX_ANSWER {
                return Err(io::Error::other("an answer without an end"));
            }
            self.input.resize(2 * self.end, 0);
        }
        Ok(())
    }
}

/// A stream that a driver may use for its login: it comes back when the driver is dropped.
#[derive(Clone)]
pub struct LentStream(Arc<Mutex<Box<dyn ByteStream>>>);

impl LentStream {
    pub fn new(stream: Box<dyn ByteStream>) -> Self {
        Self(Arc::new(Mutex::new(stream)))
    }

    /// `None` as long as somebody else has it.
    pub fn back(self) -> Option<Box<dyn ByteStream>> {
        let stream = Arc::into_inner(self.0)?.into_inner();
        Some(stream.unwrap_or_else(PoisonError::into_inner))
    }

    fn stream(&self) -> MutexGuard<'_, Box<dyn ByteStream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsyncRead for LentStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut **self.stream()).poll_read(context, buffer)
    }
}

impl AsyncWrite for LentStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut **self.stream()).poll_write(context, data)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut **self.stream()).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut **self.stream()).poll_shutdown(context)
    }
}
