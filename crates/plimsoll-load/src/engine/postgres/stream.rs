//! How a measured session gets its stream: opened here, lent to the driver for the login, and taken back.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::Poll;

use futures_util::FutureExt;
use futures_util::future::{Fuse, FusedFuture};
use postgres_protocol::message::frontend;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode, SslNegotiation, TargetSessionAttrs};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, Error, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::connect::{explain, parse, tls_config, unreachable, uses_tls};
use crate::engine::wire::{ByteStream, LentStream, QuietSocket};
use crate::error::LoadError;

const PORT: u16 = 5432;

type LoginDriver = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// A driver's connection that is used before anything is measured.
pub(super) struct Login {
    client: Client,
    driver: Fuse<LoginDriver>,
    stream: LentStream,
}

impl Login {
    /// Connects to the first host that answers and is of the kind that is asked for.
    pub async fn open(conninfo: &str) -> Result<Self, LoadError> {
        let config = parse(conninfo)?;
        let mut failed = None;
        // A host may be given by its address alone.
        let hosts = config.get_hosts().len().max(config.get_hostaddrs().len());
        for host in 0..hosts {
            match Self::open_one(&config, host).await {
                Ok(login) => return Ok(login),
                Err(error) => failed = Some(error),
            }
        }
        Err(failed.unwrap_or_else(|| unreachable(&config, "no host is given".into(), false)))
    }

    async fn open_one(config: &Config, host: usize) -> Result<Self, LoadError> {
        let opened = match stream(config, host).await {
            Err(OpenError::Tls(_)) if config.get_ssl_mode() == SslMode::Prefer => {
                socket(config, host)
                    .await
                    .map(boxed)
                    .map_err(OpenError::Socket)
            }
            done => done,
        };
        let stream = opened.map_err(|error| error.explained(config))?;
        let mut login = Self::over(config, stream).await?;
        if login.is_of_kind(config).await? {
            Ok(login)
        } else {
            let why = "the server is not of the kind that target_session_attrs names";
            Err(unreachable(config, why.into(), false))
        }
    }

    async fn over(config: &Config, stream: Box<dyn ByteStream>) -> Result<Self, LoadError> {
        let stream = LentStream::new(stream);
        let mut plain = config.clone();
        plain.ssl_mode(SslMode::Disable);
        let (client, driver) = plain
            .connect_raw(stream.clone(), NoTls)
            .await
            .map_err(|error| explain(config, &error))?;
        let driver: LoginDriver = Box::pin(driver);
        Ok(Self {
            client,
            driver: driver.fuse(),
            stream,
        })
    }

    async fn is_of_kind(&mut self, config: &Config) -> Result<bool, LoadError> {
        let wanted = match config.get_target_session_attrs() {
            TargetSessionAttrs::ReadWrite => "off",
            TargetSessionAttrs::ReadOnly => "on",
            _ => return Ok(true),
        };
        let asked = self
            .carry(async |client| client.query_one("SHOW transaction_read_only", &[]).await)
            .await;
        let found = asked.and_then(|row| row.try_get::<_, String>(0));
        found
            .map(|found| found == wanted)
            .map_err(|error| explain(config, &error))
    }

    /// Moves the connection while `request` waits.
    pub async fn carry<T>(&mut self, request: impl AsyncFnOnce(&Client) -> T) -> T {
        let mut request = std::pin::pin!(request(&self.client));
        let driver = &mut self.driver;
        poll_fn(|context| {
            if let Poll::Ready(done) = request.as_mut().poll(context) {
                return Poll::Ready(done);
            }
            // When this ends, the request ends with an error that reports it.
            if !driver.is_terminated() {
                let _ = driver.poll_unpin(context);
            }
            request.as_mut().poll(context)
        })
        .await
    }

    /// The stream, with nothing of the driver's left in it: all requests were answered.
    pub fn done(self) -> Option<Box<dyn ByteStream>> {
        let Self {
            client,
            driver,
            stream,
        } = self;
        drop((client, driver));
        stream.back()
    }
}

enum OpenError {
    Socket(io::Error),
    Tls(String),
}

impl OpenError {
    fn explained(self, config: &Config) -> LoadError {
        match self {
            Self::Socket(error) => unreachable(
                config,
                format!("error connecting to server: {error}"),
                false,
            ),
            Self::Tls(why) => unreachable(
                config,
                format!("error performing TLS handshake: {why}"),
                true,
            ),
        }
    }
}

fn boxed(stream: impl ByteStream + 'static) -> Box<dyn ByteStream> {
    Box::new(stream)
}

async fn stream(config: &Config, host: usize) -> Result<Box<dyn ByteStream>, OpenError> {
    let mut socket = socket(config, host).await.map_err(OpenError::Socket)?;
    let Some(Host::Tcp(name)) = config.get_hosts().get(host) else {
        return Ok(boxed(socket));
    };
    if !uses_tls(config) {
        return Ok(boxed(socket));
    }
    let direct = config.get_ssl_negotiation() == SslNegotiation::Direct;
    if !direct && !offers_tls(&mut socket).await.map_err(OpenError::Socket)? {
        return match config.get_ssl_mode() {
            SslMode::Prefer => Ok(boxed(socket)),
            _ => Err(OpenError::Tls("server does not support TLS".into())),
        };
    }
    let mut tls = tls_config().map_err(|error| OpenError::Tls(error.to_string()))?;
    if direct {
        tls.alpn_protocols = vec![b"postgresql".to_vec()];
    }
    let mut connector = MakeRustlsConnect::new(tls);
    let connector =
        <MakeRustlsConnect as MakeTlsConnect<QuietSocket>>::make_tls_connect(&mut connector, name)
            .map_err(|error| OpenError::Tls(error.to_string()))?;
    let encrypted = connector.connect(socket).await;
    encrypted
        .map(boxed)
        .map_err(|error| OpenError::Tls(error.to_string()))
}

/// SSLRequest and the letter that answers it.
async fn offers_tls(socket: &mut QuietSocket) -> io::Result<bool> {
    let mut request = bytes::BytesMut::new();
    frontend::ssl_request(&mut request);
    socket.write_all(&request).await?;
    Ok(socket.read_u8().await? == b'S')
}

/// Of the host of this number.
async fn socket(config: &Config, host: usize) -> io::Result<QuietSocket> {
    let ports = config.get_ports();
    let port = ports.get(host).or(ports.first()).copied().unwrap_or(PORT);
    let opening = async {
        let address = config.get_hostaddrs().get(host);
        let socket = match (config.get_hosts().get(host), address) {
            (Some(Host::Unix(directory)), _) => {
                return QuietSocket::connect(&directory.join(format!(".s.PGSQL.{port}")));
            }
            (_, Some(address)) => TcpStream::connect((*address, port)).await?,
            (Some(Host::Tcp(name)), None) => TcpStream::connect((name.as_str(), port)).await?,
            (None, None) => return Err(io::ErrorKind::NotFound.into()),
        };
        QuietSocket::of_tcp(socket.into_std()?)
    };
    match config.get_connect_timeout() {
        Some(limit) => timeout(*limit, opening).await?,
        None => opening.await,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    /// A server that answers the first request with this letter.
    fn server_that_answers(letter: u8) -> (u16, std::thread::JoinHandle<Vec<u8>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut peer, _) = listener.accept().unwrap();
            let mut request = [0; 8];
            peer.read_exact(&mut request).unwrap();
            peer.write_all(&[letter]).unwrap();
            request.to_vec()
        });
        (port, server)
    }

    #[tokio::test]
    async fn a_server_without_tls_is_refused_where_it_is_required() {
        let (port, server) = server_that_answers(b'N');
        let required = format!("host=127.0.0.1 port={port} user=u sslmode=require");
        let refused = Login::open(&required).await.err().unwrap();
        assert_eq!(server.join().unwrap(), [0, 0, 0, 8, 4, 210, 22, 47]);
        let text = refused.to_string();
        assert!(text.contains("does not support TLS"), "{text}");
    }

    #[tokio::test]
    async fn a_host_may_be_an_address_alone() {
        let (port, server) = server_that_answers(b'E');
        let conninfo = format!("hostaddr=127.0.0.1 port={port} user=u");
        assert!(Login::open(&conninfo).await.is_err());
        // The startup message, which no request for TLS precedes.
        assert_eq!(server.join().unwrap()[4..], [0, 3, 0, 0]);
    }
}
