//! Encryption below tiberius.
//!
//! TDS 7 begins with two packets in the clear (PRELOGIN), in which both sides say whether they encrypt; the messages of the
//! TLS handshake then travel in packets of the same kind, and everything after it inside of TLS (MS-TDS 2.2.6.5, 3.2.5.1).
//! tiberius could do that with a second library of ciphers. Here the exchange is made with the one that plimsoll has;
//! tiberius's own is answered with the server's answer, changed to that of a server that does not encrypt.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::engine::wire::tls::{CertificateTrust, client_config};

/// Type, status, length (2 bytes, big-endian, with the header), process (2), number, window.
const HEADER: usize = 8;
const PRELOGIN: u8 = 0x12;
const LAST: u8 = 1;
/// The least size of packets that every server takes.
const PACKET: usize = 4096;

/// An option's number, the place of its value and its length (each 2 bytes, big-endian).
const OPTION: usize = 5;
const VERSION: u8 = 0;
const ENCRYPTION: u8 = 1;
const END_OF_OPTIONS: u8 = 0xff;

const ENCRYPT_ON: u8 = 1;
const NOT_SUPPORTED: u8 = 2;

pub(super) enum TdsStream {
    Plain(TcpStream),
    Encrypted {
        tls: Box<TlsStream<HandshakePackets>>,
        replay: PreloginReplay,
    },
}

impl TdsStream {
    /// Errors: the server does not encrypt, or its certificate is not valid.
    pub async fn encrypted(
        mut socket: TcpStream,
        host: &str,
        trust: CertificateTrust,
    ) -> io::Result<Self> {
        socket.write_all(&prelogin()).await?;
        let answer = read_packet(&mut socket).await?;
        let answer = without_encryption(answer)?;
        // A server may send messages after the handshake in TLS 1.3, in packets or not: TDS 7 does not know it.
        let config = client_config(&trust, &[&rustls::version::TLS12]).map_err(io::Error::other)?;
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let packets = HandshakePackets {
            socket,
            is_over: false,
            header: Vec::with_capacity(HEADER),
            left: 0,
            out: Vec::new(),
        };
        let connector = TlsConnector::from(Arc::new(config));
        let mut tls = connector.connect(name, packets).await?;
        tls.get_mut().0.is_over = true;
        Ok(Self::Encrypted {
            tls: Box::new(tls),
            replay: PreloginReplay::Asking {
                asked: Vec::new(),
                answer,
            },
        })
    }
}

/// The client's packet: its version, that it encrypts, and values of its own that servers do not look at.
fn prelogin() -> Vec<u8> {
    let values: [(u8, &[u8]); 5] = [
        (VERSION, &[0; 6]),
        (ENCRYPTION, &[ENCRYPT_ON]),
        // Instance, thread, several statements at the same time: none.
        (2, &[0]),
        (3, &[0; 4]),
        (4, &[0]),
    ];
    let mut options = Vec::new();
    let mut data: Vec<u8> = Vec::new();
    let first = values.len() * OPTION + 1;
    for (option, value) in values {
        options.push(option);
        options.extend(((first + data.len()) as u16).to_be_bytes());
        options.extend((value.len() as u16).to_be_bytes());
        data.extend(value);
    }
    options.push(END_OF_OPTIONS);
    options.extend(data);
    packet(&options, LAST)
}

fn packet(body: &[u8], status: u8) -> Vec<u8> {
    let length = (HEADER + body.len()) as u16;
    let [high, low] = length.to_be_bytes();
    let mut packet = vec![PRELOGIN, status, high, low, 0, 0, 1, 0];
    packet.extend(body);
    packet
}

async fn read_packet(socket: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut packet = vec![0; HEADER];
    socket.read_exact(&mut packet).await?;
    let length =
        length(&packet).ok_or_else(|| wrong("a packet that is shorter than its header"))?;
    packet.resize(length, 0);
    socket.read_exact(&mut packet[HEADER..]).await?;
    Ok(packet)
}

/// Of a packet, by its header.
fn length(header: &[u8]) -> Option<usize> {
    let length = u16::from_be_bytes([*header.get(2)?, *header.get(3)?]);
    Some(usize::from(length)).filter(|length| *length >= HEADER)
}

fn wrong(what: &str) -> io::Error {
    io::Error::other(format!("the server sent {what}: is it a SQL Server?"))
}

/// The server's answer to PRELOGIN, as if it did not encrypt. An error where it does not.
fn without_encryption(mut answer: Vec<u8>) -> io::Result<Vec<u8>> {
    let body = answer.get_mut(HEADER..).unwrap_or_default();
    let place = place_of(body, ENCRYPTION).ok_or_else(|| wrong("no word about encryption"))?;
    let value = body.get_mut(place).ok_or_else(|| wrong("a short packet"))?;
    if *value == NOT_SUPPORTED {
        return Err(io::Error::other("the server does not encrypt"));
    }
    *value = NOT_SUPPORTED;
    Ok(answer)
}

/// Where an option's value begins.
fn place_of(body: &[u8], option: u8) -> Option<usize> {
    let options = body.chunks_exact(OPTION);
    let mut options = options.take_while(|option| option[0] != END_OF_OPTIONS);
    let found = options.find(|own| own[0] == option)?;
    Some(usize::from(u16::from_be_bytes([found[1], found[2]])))
}

/// The exchange that tiberius begins with, which has taken place.
pub(super) enum PreloginReplay {
    Asking { asked: Vec<u8>, answer: Vec<u8> },
    Answering { answer: Vec<u8>, given: usize },
    Over,
}

impl PreloginReplay {
    /// Takes what is written, up to the end of its packet; `None` when the exchange is over.
    fn take(&mut self, written: &[u8]) -> Option<usize> {
        let Self::Asking { asked, answer } = self else {
            return None;
        };
        let wanted = length(asked).unwrap_or(HEADER);
        let taken = written.len().min(wanted - asked.len());
        asked.extend(&written[..taken]);
        if length(asked) == Some(asked.len()) {
            *self = Self::Answering {
                answer: std::mem::take(answer),
                given: 0,
            };
        }
        Some(taken)
    }

    /// Gives what is left of the answer; `false` where nothing is.
    fn give(&mut self, to: &mut ReadBuf<'_>) -> bool {
        let Self::Answering { answer, given } = self else {
            return false;
        };
        let left = &answer[*given..];
        let part = &left[..left.len().min(to.remaining())];
        to.put_slice(part);
        *given += part.len();
        if *given == answer.len() {
            *self = Self::Over;
        }
        true
    }
}

/// Messages of the handshake in packets, and bytes as they are when it is over.
pub(super) struct HandshakePackets {
    socket: TcpStream,
    is_over: bool,
    /// Of the packet that comes, as far as it is here.
    header: Vec<u8>,
    /// Bytes of the packet's body that have not been read.
    left: usize,
    /// Packets that are to be sent.
    out: Vec<u8>,
}

impl HandshakePackets {
    /// Reads the next packet's header.
    fn poll_header(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.header.len() < HEADER {
            let mut bytes = [0; HEADER];
            let mut buffer = ReadBuf::new(&mut bytes[..HEADER - self.header.len()]);
            ready!(Pin::new(&mut self.socket).poll_read(context, &mut buffer))?;
            if buffer.filled().is_empty() {
                return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
            }
            self.header.extend(buffer.filled());
        }
        let length = length(&self.header).ok_or_else(|| wrong("a short packet"))?;
        self.left = length - HEADER;
        self.header.clear();
        Poll::Ready(Ok(()))
    }

    fn poll_out(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.out.is_empty() {
            let sent = ready!(Pin::new(&mut self.socket).poll_write(context, &self.out))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.out.drain(..sent);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for HandshakePackets {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_over {
            return Pin::new(&mut self.socket).poll_read(context, buffer);
        }
        while self.left == 0 {
            ready!(self.poll_header(context))?;
        }
        let room = buffer.remaining().min(self.left);
        let mut part = buffer.take(room);
        ready!(Pin::new(&mut self.socket).poll_read(context, &mut part))?;
        let read = part.filled().len();
        // `part` shares the buffer's bytes, which are filled now.
        let filled = buffer.filled().len() + read;
        buffer.initialize_unfilled_to(read);
        buffer.set_filled(filled);
        self.left -= read;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for HandshakePackets {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_out(context))?;
        if self.is_over {
            return Pin::new(&mut self.socket).poll_write(context, data);
        }
        let bodies = data.chunks(PACKET - HEADER);
        let last = bodies.len().saturating_sub(1);
        for (i, body) in bodies.enumerate() {
            let status = if i == last { LAST } else { 0 };
            self.out.extend(packet(body, status));
        }
        Poll::Ready(Ok(data.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_out(context))?;
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}

impl AsyncRead for TdsStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_read(context, buffer),
            Self::Encrypted { tls, replay } => {
                if replay.give(buffer) {
                    return Poll::Ready(Ok(()));
                }
                Pin::new(tls).poll_read(context, buffer)
            }
        }
    }
}

impl AsyncWrite for TdsStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_write(context, data),
            Self::Encrypted { tls, replay } => match replay.take(data) {
                Some(taken) => Poll::Ready(Ok(taken)),
                None => Pin::new(tls).poll_write(context, data),
            },
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_flush(context),
            Self::Encrypted { tls, .. } => Pin::new(tls).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_shutdown(context),
            Self::Encrypted { tls, .. } => Pin::new(tls).poll_shutdown(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_answer_is_given_as_that_of_a_server_that_does_not_encrypt() {
        let asked = prelogin();
        let answer = without_encryption(asked.clone()).unwrap();
        let differs: Vec<usize> = (0..asked.len())
            .filter(|&i| asked[i] != answer[i])
            .collect();
        assert_eq!(differs.len(), 1, "the one byte of encryption");
        assert_eq!(answer[differs[0]], NOT_SUPPORTED);
        let refused = without_encryption(answer.clone()).unwrap_err();
        assert_eq!(refused.to_string(), "the server does not encrypt");
    }

    proptest! {
        /// However it is cut: one packet is taken, and the whole answer given.
        #[test]
        fn one_exchange_is_replayed(cut in 1usize..20, room in 1usize..20) {
            let asked = prelogin();
            let mut replay = PreloginReplay::Asking { asked: Vec::new(), answer: vec![7; 33] };
            let mut rest = &asked[..];
            while !rest.is_empty() {
                let taken = replay.take(&rest[..rest.len().min(cut)]).unwrap();
                rest = &rest[taken..];
            }
            prop_assert!(replay.take(b"login").is_none());
            let mut given: Vec<u8> = Vec::new();
            loop {
                let mut bytes = vec![0; room];
                let mut buffer = ReadBuf::new(&mut bytes);
                if !replay.give(&mut buffer) {
                    break;
                }
                given.extend(buffer.filled());
            }
            prop_assert_eq!(given, vec![7; 33]);
        }

        #[test]
        fn rubbish_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = length(&bytes);
            let _ = without_encryption(bytes);
        }
    }
}
