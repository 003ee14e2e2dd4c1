//! How a measured session gets its stream: opened here, lent to the driver for the login, and taken back.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

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

use super::address::{PORT, PostgresAddress, parse};
use super::explain::{
    both_reasons, explain, explain_both, is_unwanted, server_error, tls_config, unanswered,
    unreachable,
};
use super::failure::PostgresFailure;
use crate::engine::sql::ClientRoute;
use crate::engine::wire::{ByteStream, LentStream, QuietSocket};
use crate::error::LoadError;

/// Bytes of the message that asks a server to cancel a statement.
const CANCEL_REQUEST: usize = 16;

pub(super) type LoginDriver = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// For the first answer after a login: a pooler without a free connection to its server takes logins, and answers nothing
/// for minutes. Before anything is under load.
pub(super) const FIRST_ANSWER: Duration = Duration::from_secs(5);
/// The same for a user's session, beside which others may open theirs.
pub(super) const FIRST_ANSWER_OF_SESSION: Duration = Duration::from_secs(20);

/// Limits of time that a database or role may have for its sessions. Those that a version does not have are left out.
const TIMEOUTS: [&str; 5] = [
    "statement_timeout",
    "lock_timeout",
    "idle_in_transaction_session_timeout",
    "idle_session_timeout",
    "transaction_timeout",
];

/// A driver's connection that is used before anything is measured.
pub(super) struct Login {
    client: Client,
    driver: Fuse<LoginDriver>,
    stream: LentStream,
    route: ClientRoute,
}

/// A connection of the driver's that goes on by itself.
pub(super) struct DrivenClient {
    pub client: Client,
    pub driver: LoginDriver,
    pub route: ClientRoute,
}

impl Login {
    /// Connects to the first host that answers and is of the kind that is asked for.
    pub async fn open(conninfo: &str, first_answer: Duration) -> Result<Self, LoadError> {
        let address = parse(conninfo)?;
        let config = &address.config;
        let mut failed = None;
        // A host may be given by its address alone.
        let hosts = config.get_hosts().len().max(config.get_hostaddrs().len());
        for host in 0..hosts {
            match Self::open_one(&address, host).await {
                Ok(mut login) => {
                    login.lift_timeouts(&address, first_answer).await?;
                    return Ok(login);
                }
                Err(error) => failed = Some(error),
            }
        }
        Err(failed.unwrap_or_else(|| unreachable(config, "no host is given".into(), false)))
    }

    async fn open_one(address: &PostgresAddress, host: usize) -> Result<Self, LoadError> {
        let mode = address.config.get_ssl_mode();
        let opened = match Self::open_with(address, host, mode).await {
            Err(first) if mode == SslMode::Prefer && first.may_go_without_tls() => {
                let tls = first.text();
                let opened = Self::open_with(address, host, SslMode::Disable).await;
                opened
                    .map(|login| login.without_tls(&tls))
                    .map_err(|error| error.explained_after(address, &tls))
            }
            done => done.map_err(|error| error.explained(address)),
        };
        let mut login = opened?;
        if login.is_of_kind(address).await? {
            Ok(login)
        } else {
            let why = "the server is not of the kind that target_session_attrs names";
            Err(unreachable(&address.config, why.into(), false))
        }
    }

    async fn open_with(
        address: &PostgresAddress,
        host: usize,
        mode: SslMode,
    ) -> Result<Self, OpenError> {
        let stream = LentStream::new(stream(address, host, mode).await?);
        let mut plain = address.config.clone();
        plain.ssl_mode(SslMode::Disable);
        let (client, driver) = plain
            .connect_raw(stream.clone(), NoTls)
            .await
            .map_err(OpenError::Server)?;
        let driver: LoginDriver = Box::pin(driver);
        Ok(Self {
            client,
            driver: driver.fuse(),
            stream,
            route: ClientRoute::default(),
        })
    }

    fn without_tls(mut self, why: &str) -> Self {
        self.route.without_tls = Some(why.to_owned());
        self
    }

    /// Sets limits of time to none for this session. Not behind a pooler, whose other clients would have them, too.
    async fn lift_timeouts(
        &mut self,
        address: &PostgresAddress,
        first_answer: Duration,
    ) -> Result<(), LoadError> {
        let Some(announced) = announced_id(&self.client).await else {
            return Ok(());
        };
        self.route.announced_id = Some(announced);
        let names = TIMEOUTS.join("', '");
        // What the URL's options set is wanted.
        let sql = format!(
            "SELECT pg_catalog.count(pg_catalog.set_config(name, '0', false)) FROM pg_catalog.pg_settings \
             WHERE pg_catalog.pg_backend_pid() = {announced} AND name IN ('{names}') AND setting <> '0' AND source <> 'client'"
        );
        let answer = self.carry(async |client| client.simple_query(&sql).await);
        match timeout(first_answer, answer).await {
            Ok(answer) => answer
                .map(drop)
                .map_err(|error| server_error("the first statement", &error)),
            Err(_) => Err(unanswered(&address.config, first_answer)),
        }
    }

    /// The connection, for whoever spawns its driver.
    pub fn into_client(self) -> DrivenClient {
        let Self {
            client,
            driver,
            stream: _,
            route,
        } = self;
        DrivenClient {
            client,
            driver: Box::pin(driver),
            route,
        }
    }

    async fn is_of_kind(&mut self, address: &PostgresAddress) -> Result<bool, LoadError> {
        let wanted = match address.config.get_target_session_attrs() {
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
            .map_err(|error| explain(address, &error))
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
            route: _,
        } = self;
        drop((client, driver));
        stream.back()
    }
}

/// The server's number of the connection, as it announced it at the login.
async fn announced_id(client: &Client) -> Option<u32> {
    // The driver shows it only in what it would send to cancel a statement: length, code, number, secret.
    let (ours, mut theirs) = tokio::io::duplex(CANCEL_REQUEST);
    let token = client.cancel_token();
    token.cancel_query_raw(ours, NoTls).await.ok()?;
    let mut request = [0; CANCEL_REQUEST];
    theirs.read_exact(&mut request).await.ok()?;
    let [.., a, b, c, d, _, _, _, _] = request;
    Some(u32::from_be_bytes([a, b, c, d]))
}

enum OpenError {
    Socket(io::Error),
    Tls(String),
    /// Of a login.
    Server(Error),
    /// No certificate of an authority.
    Trust(LoadError),
}

impl OpenError {
    fn may_go_without_tls(&self) -> bool {
        match self {
            Self::Tls(_) => true,
            Self::Server(error) => is_unwanted(error),
            Self::Socket(_) | Self::Trust(_) => false,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Socket(error) => format!("error connecting to server: {error}"),
            Self::Tls(why) => format!("error performing TLS handshake: {why}"),
            Self::Server(error) => PostgresFailure::from(error).text,
            Self::Trust(error) => error.reason(),
        }
    }

    fn explained(self, address: &PostgresAddress) -> LoadError {
        let config = &address.config;
        match self {
            Self::Socket(_) => unreachable(config, self.text(), false),
            Self::Tls(_) => unreachable(config, self.text(), true),
            Self::Server(error) => explain(address, &error),
            Self::Trust(error) => error,
        }
    }

    /// The error without TLS, where it also failed with TLS.
    fn explained_after(self, address: &PostgresAddress, tls: &str) -> LoadError {
        match self {
            Self::Server(error) => explain_both(address, &error, tls),
            other => unreachable(&address.config, both_reasons(&other.text(), tls), false),
        }
    }
}

fn boxed(stream: impl ByteStream + 'static) -> Box<dyn ByteStream> {
    Box::new(stream)
}

async fn stream(
    address: &PostgresAddress,
    host: usize,
    mode: SslMode,
) -> Result<Box<dyn ByteStream>, OpenError> {
    let config = &address.config;
    let mut socket = socket(config, host).await.map_err(OpenError::Socket)?;
    let Some(Host::Tcp(name)) = config.get_hosts().get(host) else {
        return Ok(boxed(socket));
    };
    if mode == SslMode::Disable {
        return Ok(boxed(socket));
    }
    let direct = config.get_ssl_negotiation() == SslNegotiation::Direct;
    if !direct && !offers_tls(&mut socket).await.map_err(OpenError::Socket)? {
        return match mode {
            SslMode::Prefer => Ok(boxed(socket)),
            _ => Err(OpenError::Tls("server does not support TLS".into())),
        };
    }
    let mut tls = tls_config(address).map_err(OpenError::Trust)?;
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
        let refused = Login::open(&required, FIRST_ANSWER).await.err().unwrap();
        assert_eq!(server.join().unwrap(), [0, 0, 0, 8, 4, 210, 22, 47]);
        let text = refused.to_string();
        assert!(text.contains("does not support TLS"), "{text}");
    }

    #[tokio::test]
    async fn a_host_may_be_an_address_alone() {
        let (port, server) = server_that_answers(b'E');
        let conninfo = format!("hostaddr=127.0.0.1 port={port} user=u");
        assert!(Login::open(&conninfo, FIRST_ANSWER).await.is_err());
        // The startup message, which no request for TLS precedes.
        assert_eq!(server.join().unwrap()[4..], [0, 3, 0, 0]);
    }
}
