//! Logins (the manual's "Connection Phase"): what both sides can do, encryption, and the password.

use std::collections::HashMap;
use std::io;

use mysql_common::constants::{CapabilityFlags, MariadbCapabilities};
use mysql_common::crypto;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{AuthPlugin, AuthSwitchRequest, HandshakeResponse};
use mysql_common::proto::MySerialize;
use tokio::net::TcpStream;

use super::address::{Encryption, MariadbAddress};
use super::codec::take;
use super::failure::MariadbFailure;
use super::protocol::{ERR, MariadbWire, OK};
use crate::engine::wire::tls::{CertificateTrust, client_config};
use crate::engine::wire::{ByteStream, QuietSocket};

/// A request for encryption is the beginning of the answer to the greeting, up to the user.
const ENCRYPTION_REQUEST: usize = 32;
const LONGEST_PACKET: u32 = 16 << 20;
const PROTOCOL: u8 = 10;
/// Bytes of a greeting's challenge.
const CHALLENGE: usize = 20;

// Packets of a login, by their first byte.
const MORE: u8 = 0x01;
const SWITCH: u8 = 0xfe;
// What `caching_sha2_password` has to say.
const KNOWN: u8 = 3;
const PASSWORD_PLEASE: u8 = 4;
const KEY_PLEASE: u8 = 2;

/// What plimsoll does where the server can do it, too.
const ABILITIES: CapabilityFlags = CapabilityFlags::CLIENT_PROTOCOL_41
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_LONG_PASSWORD)
    .union(CapabilityFlags::CLIENT_LONG_FLAG)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    .union(CapabilityFlags::CLIENT_LOCAL_FILES)
    .union(CapabilityFlags::CLIENT_MULTI_STATEMENTS)
    .union(CapabilityFlags::CLIENT_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PS_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_CONNECT_ATTRS)
    .union(CapabilityFlags::CLIENT_CONNECT_WITH_DB);

/// A connection that has logged in.
pub(super) struct MariadbConnection {
    pub wire: MariadbWire,
    /// The number by which the server announced it.
    pub id: u32,
    /// Why it is not encrypted, where TLS was tried.
    pub without_tls: Option<String>,
}

/// Why no connection came about.
pub(super) enum LoginFailure {
    Server(MariadbFailure),
    NotEncrypted(String),
    UnknownMethod(String),
}

impl From<MariadbFailure> for LoginFailure {
    fn from(failure: MariadbFailure) -> Self {
        Self::Server(failure)
    }
}

fn unreadable(what: &str) -> LoginFailure {
    LoginFailure::Server(MariadbFailure::out_of_step(what))
}

/// Needs a runtime.
pub(super) async fn open(address: &MariadbAddress) -> Result<MariadbConnection, LoginFailure> {
    match open_with(address, &address.encryption).await {
        Err(LoginFailure::NotEncrypted(why)) if address.encryption == Encryption::WherePossible => {
            let mut connection = open_with(address, &Encryption::Never).await?;
            connection.without_tls = Some(why);
            Ok(connection)
        }
        done => done,
    }
}

async fn open_with(
    address: &MariadbAddress,
    encryption: &Encryption,
) -> Result<MariadbConnection, LoginFailure> {
    let stream = stream(address).await;
    let stream = stream.map_err(|error| MariadbFailure::lost(&error))?;
    log_in(address, stream, encryption).await
}

pub(super) async fn log_in(
    address: &MariadbAddress,
    stream: Box<dyn ByteStream>,
    encryption: &Encryption,
) -> Result<MariadbConnection, LoginFailure> {
    let mut wire = MariadbWire::new(stream);
    let greeting = Greeting::receive(&mut wire).await?;
    let id = greeting.id;
    let mut login = LoginDialogue {
        address,
        wire,
        is_private: address.socket.is_some(),
        method: greeting.method.clone(),
        challenge: greeting.challenge.clone(),
    };
    login.answer(&greeting, encryption).await?;
    login.authenticate().await?;
    Ok(MariadbConnection {
        wire: login.wire.logged_in(),
        id,
        without_tls: None,
    })
}

async fn stream(address: &MariadbAddress) -> io::Result<Box<dyn ByteStream>> {
    let socket = match &address.socket {
        Some(path) => QuietSocket::connect(path)?,
        None => {
            let socket = TcpStream::connect((address.host.as_str(), address.port)).await?;
            QuietSocket::of_tcp(socket.into_std()?)?
        }
    };
    Ok(Box::new(socket))
}

/// What the server begins with.
struct Greeting {
    id: u32,
    abilities: CapabilityFlags,
    /// Those that MySQL does not have.
    of_mariadb: MariadbCapabilities,
    challenge: Vec<u8>,
    method: AuthPlugin<'static>,
}

impl Greeting {
    async fn receive(wire: &mut MariadbWire) -> Result<Self, LoginFailure> {
        let packet = wire.receive_packet().await?;
        if let Some((&ERR, rest)) = packet.split_first() {
            return Err(MariadbFailure::of_packet(rest).into());
        }
        Self::parse(&packet).ok_or_else(|| unreadable("no greeting: is it a MariaDB or MySQL?"))
    }

    /// Version of the protocol, that of the server as text, number, half of the challenge, abilities in two halves with
    /// character set and status between them, the challenge's length, the other half, method.
    fn parse(packet: &[u8]) -> Option<Self> {
        let (&PROTOCOL, rest) = packet.split_first()? else {
            return None;
        };
        let version = rest.iter().position(|byte| *byte == 0)?;
        let mut rest = &rest[version + 1..];
        let id = u32::from_le_bytes(take(&mut rest)?);
        let first: [u8; 8] = take(&mut rest)?;
        let [_, low, high] = take(&mut rest)?;
        let [_charset, _, _] = take(&mut rest)?;
        let upper = u16::from_le_bytes(take(&mut rest)?);
        let abilities = u32::from(u16::from_le_bytes([low, high])) | u32::from(upper) << 16;
        let abilities = CapabilityFlags::from_bits_truncate(abilities) & ABILITIES_OR_ENCRYPTION;
        let [length, ..]: [u8; 7] = take(&mut rest)?;
        let of_mariadb = u32::from_le_bytes(take(&mut rest)?);
        let second = usize::from(length).saturating_sub(first.len()).max(13);
        let (second, method) = rest.split_at_checked(second)?;
        let mut challenge = [&first[..], second].concat();
        challenge.resize(CHALLENGE, 0);
        // MariaDB has others where it leaves out this one.
        let of_mariadb = if abilities.contains(CapabilityFlags::CLIENT_LONG_PASSWORD) {
            MariadbCapabilities::empty()
        } else {
            MariadbCapabilities::from_bits_truncate(of_mariadb)
                & MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA
        };
        let method = method.strip_suffix(&[0]).unwrap_or(method);
        let method = match AuthPlugin::from_bytes(method) {
            AuthPlugin::CachingSha2Password => AuthPlugin::CachingSha2Password,
            // The server switches where the user has another one.
            _ => AuthPlugin::MysqlNativePassword,
        };
        Some(Self {
            id,
            abilities,
            of_mariadb,
            challenge,
            method,
        })
    }
}

const ABILITIES_OR_ENCRYPTION: CapabilityFlags = ABILITIES.union(CapabilityFlags::CLIENT_SSL);

struct LoginDialogue<'a> {
    address: &'a MariadbAddress,
    wire: MariadbWire,
    /// Whether nobody else reads what is sent.
    is_private: bool,
    method: AuthPlugin<'static>,
    challenge: Vec<u8>,
}

impl LoginDialogue<'_> {
    /// Encrypts if that is wanted, and sends user and password's proof.
    async fn answer(
        &mut self,
        greeting: &Greeting,
        encryption: &Encryption,
    ) -> Result<(), LoginFailure> {
        let can_encrypt = greeting.abilities.contains(CapabilityFlags::CLIENT_SSL);
        let trust = match encryption {
            _ if self.address.socket.is_some() => None,
            Encryption::Never => None,
            Encryption::WherePossible => can_encrypt.then_some(&CertificateTrust::AnyCertificate),
            Encryption::Always(trust) if can_encrypt => Some(trust),
            Encryption::Always(_) => {
                let why = "the server does not encrypt".into();
                return Err(LoginFailure::NotEncrypted(why));
            }
        };
        let response = self.response(greeting, trust.is_some());
        if let Some(trust) = trust {
            self.wire
                .send_packet(&response[..ENCRYPTION_REQUEST])
                .await?;
            let config = client_config(trust, rustls::ALL_VERSIONS);
            let config = config.map_err(|error| LoginFailure::NotEncrypted(error.to_string()))?;
            let encrypted = self.wire.encrypt(config, &self.address.host).await;
            encrypted.map_err(|error| LoginFailure::NotEncrypted(error.to_string()))?;
            self.is_private = true;
        }
        Ok(self.wire.send_packet(&response).await?)
    }

    fn response(&self, greeting: &Greeting, encrypts: bool) -> Vec<u8> {
        let mut abilities = greeting.abilities;
        abilities.set(CapabilityFlags::CLIENT_SSL, encrypts);
        let attributes = HashMap::from([("program_name".to_owned(), "plimsoll".to_owned())]);
        let attributes = abilities
            .contains(CapabilityFlags::CLIENT_CONNECT_ATTRS)
            .then_some(attributes);
        let response = HandshakeResponse::new(
            self.proof(),
            // Every server that is old enough to lack utf8mb4 is refused later.
            (5, 7, 0),
            Some(self.address.user.as_bytes()),
            self.address.database.as_deref().map(str::as_bytes),
            Some(self.method.clone()),
            abilities,
            attributes,
            LONGEST_PACKET,
        );
        let mut bytes = Vec::new();
        response
            .with_mariadb_ext_capabilities(greeting.of_mariadb)
            .serialize(&mut bytes);
        bytes
    }

    /// That the password is known, without it. `None` where there is no password.
    fn proof(&self) -> Option<Vec<u8>> {
        let proof = self
            .method
            .gen_data(Some(&*self.address.password), &self.challenge);
        proof.map(|proof| proof.to_vec())
    }

    async fn authenticate(&mut self) -> Result<(), LoginFailure> {
        let mut has_switched = false;
        loop {
            let packet = self.wire.receive_packet().await?;
            match packet.split_first() {
                Some((&OK, _)) => return Ok(()),
                Some((&ERR, rest)) => return Err(MariadbFailure::of_packet(rest).into()),
                Some((&SWITCH, _)) if !has_switched => {
                    has_switched = true;
                    self.switch(&packet).await?;
                }
                Some((&MORE, [KNOWN])) => {}
                Some((&MORE, [PASSWORD_PLEASE])) => self.send_password().await?,
                _ => return Err(unreadable("a login that cannot be read")),
            }
        }
    }

    /// The user has another method than the server's default.
    async fn switch(&mut self, packet: &[u8]) -> Result<(), LoginFailure> {
        let Ok(request) = ParseBuf(packet).parse::<AuthSwitchRequest<'_>>(()) else {
            return Err(LoginFailure::UnknownMethod("mysql_old_password".into()));
        };
        let method = request.auth_plugin();
        if !matches!(
            method,
            AuthPlugin::CachingSha2Password | AuthPlugin::MysqlNativePassword
        ) {
            let name = String::from_utf8_lossy(method.as_bytes()).into_owned();
            return Err(LoginFailure::UnknownMethod(name));
        }
        self.method = method.into_owned();
        self.challenge = request.plugin_data().to_vec();
        let proof = self.proof().unwrap_or_default();
        Ok(self.wire.send_packet(&proof).await?)
    }

    /// `caching_sha2_password` wants it where its cache does not have it: as it is where nobody else reads it, else
    /// encrypted with the server's key.
    async fn send_password(&mut self) -> Result<(), LoginFailure> {
        let mut password = [self.address.password.as_bytes(), &[0]].concat();
        if self.is_private {
            return Ok(self.wire.send_packet(&password).await?);
        }
        self.wire.send_packet(&[KEY_PLEASE]).await?;
        let answer = self.wire.receive_packet().await?;
        let key = match answer.split_first() {
            Some((&MORE, key)) if key.starts_with(b"-----BEGIN PUBLIC KEY-----") => key,
            Some((&ERR, rest)) => return Err(MariadbFailure::of_packet(rest).into()),
            _ => return Err(unreadable("no key for the password")),
        };
        let challenge = self.challenge.iter().cycle();
        password
            .iter_mut()
            .zip(challenge)
            .for_each(|(own, theirs)| *own ^= theirs);
        // It panics on a key that it cannot read, and on a password that is too long for the key.
        let encrypted = std::panic::catch_unwind(|| crypto::encrypt(&password, key));
        let encrypted =
            encrypted.map_err(|_| unreadable("a key that does not fit the password"))?;
        Ok(self.wire.send_packet(&encrypted).await?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use plimsoll_plan::resolved::ServerKind;
    use proptest::prelude::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;
    use crate::engine::client_environment::PasswordFile;

    const PASSWORD: &str = "p@ss";
    const NONCE: [u8; CHALLENGE] = *b"0123456789abcdefghij";

    fn address(user: &str, password: &str) -> MariadbAddress {
        MariadbAddress {
            kind: ServerKind::Mysql,
            host: "localhost".into(),
            port: 1,
            socket: None,
            user: user.into(),
            password: password.into(),
            database: Some("db".into()),
            encryption: Encryption::WherePossible,
            password_file: PasswordFile::Without,
        }
    }

    /// As MySQL 9 sends it, but that it does not encrypt.
    fn greeting() -> Vec<u8> {
        let abilities = ABILITIES.bits().to_le_bytes();
        [
            &[10][..],
            b"9.7.4\0",
            &7_u32.to_le_bytes(),
            &NONCE[..8],
            &[0],
            &abilities[..2],
            &[255, 2, 0],
            &abilities[2..],
            &[21],
            &[0; 10],
            &NONCE[8..],
            b"\0caching_sha2_password\0",
        ]
        .concat()
    }

    struct Server {
        stream: DuplexStream,
        number: u8,
    }

    impl Server {
        async fn send(&mut self, body: &[u8]) {
            let length = (body.len() as u32).to_le_bytes();
            let packet = [&length[..3], &[self.number], body].concat();
            self.stream.write_all(&packet).await.unwrap();
            self.number += 1;
        }

        async fn receive(&mut self) -> Vec<u8> {
            let mut head = [0; 4];
            self.stream.read_exact(&mut head).await.unwrap();
            let [a, b, c, number] = head;
            assert_eq!(number, self.number);
            self.number += 1;
            let mut body = vec![0; u32::from_le_bytes([a, b, c, 0]) as usize];
            self.stream.read_exact(&mut body).await.unwrap();
            body
        }
    }

    /// What became of a login with a server that does this.
    async fn login_with(
        password: &str,
        serve: impl AsyncFnOnce(&mut Server),
    ) -> Result<u32, LoginFailure> {
        let (client, stream) = duplex(1 << 16);
        let mut server = Server { stream, number: 0 };
        let address = address("user", password);
        // A server that does not encrypt is taken as it is.
        let login = log_in(&address, Box::new(client), &address.encryption);
        let (login, ()) = tokio::join!(login, serve(&mut server));
        login.map(|connection| connection.id)
    }

    fn openssl(folder: &Path, args: &str) {
        let done = Command::new("openssl")
            .current_dir(folder)
            .args(args.split(' '))
            .output()
            .unwrap_or_else(|error| panic!("install openssl: {error}"));
        assert!(done.status.success(), "{done:?}");
    }

    /// openssl decrypts it with the private key.
    #[tokio::test]
    async fn a_password_that_the_server_has_not_seen_is_encrypted_with_its_key() {
        let folder = tempfile::tempdir().unwrap();
        openssl(folder.path(), "genrsa -out key.pem 2048");
        openssl(folder.path(), "rsa -in key.pem -pubout -out public.pem");
        let public = fs::read(folder.path().join("public.pem")).unwrap();
        let login = login_with(PASSWORD, async |server| {
            server.send(&greeting()).await;
            let response = server.receive().await;
            assert!(!response.windows(4).any(|part| part == PASSWORD.as_bytes()));
            server.send(&[MORE, PASSWORD_PLEASE]).await;
            assert_eq!(server.receive().await, [KEY_PLEASE]);
            server.send(&[&[MORE][..], &public].concat()).await;
            let block = server.receive().await;
            fs::write(folder.path().join("block"), block).unwrap();
            server.send(&[OK, 0, 0, 2, 0, 0, 0]).await;
        });
        assert!(matches!(login.await, Ok(7)));
        openssl(
            folder.path(),
            "pkeyutl -decrypt -inkey key.pem -in block -out plain -pkeyopt rsa_padding_mode:oaep",
        );
        let mut plain = fs::read(folder.path().join("plain")).unwrap();
        plain
            .iter_mut()
            .zip(NONCE)
            .for_each(|(own, nonce)| *own ^= nonce);
        assert_eq!(plain, [PASSWORD.as_bytes(), &[0]].concat());
    }

    #[tokio::test]
    async fn a_user_may_have_another_method() {
        let login = login_with(PASSWORD, async |server| {
            server.send(&greeting()).await;
            server.receive().await;
            let switch = [b"\xfemysql_native_password\0", &NONCE[..], &[0]].concat();
            server.send(&switch).await;
            assert_eq!(server.receive().await.len(), 20, "a SHA-1");
            server.send(&[OK, 0, 0, 2, 0, 0, 0]).await;
        });
        assert!(matches!(login.await, Ok(7)));
        let login = login_with("", async |server| {
            server.send(&greeting()).await;
            server.receive().await;
            server.send(b"\xfeclient_ed25519\0challenge").await;
        });
        let Err(LoginFailure::UnknownMethod(method)) = login.await else {
            panic!("it is none of plimsoll's")
        };
        assert_eq!(method, "client_ed25519");
    }

    #[tokio::test]
    async fn a_key_that_cannot_be_read_ends_the_login() {
        let login = login_with(PASSWORD, async |server| {
            server.send(&greeting()).await;
            server.receive().await;
            server.send(&[MORE, PASSWORD_PLEASE]).await;
            server.receive().await;
            let key = b"\x01-----BEGIN PUBLIC KEY-----\nnone\n-----END PUBLIC KEY-----\n";
            server.send(key).await;
        });
        assert!(matches!(login.await, Err(LoginFailure::Server(_))));
    }

    #[test]
    fn a_greeting_is_read_whatever_length_it_reports() {
        let mut packet = greeting();
        let read = Greeting::parse(&packet).unwrap();
        assert_eq!((read.id, &read.challenge[..]), (7, &NONCE[..]));
        assert_eq!(read.method, AuthPlugin::CachingSha2Password);
        let length_at = 1 + b"9.7.4\0".len() + 4 + 8 + 1 + 2 + 3 + 2;
        assert_eq!(packet[length_at], 21);
        packet[length_at] = 130;
        assert!(
            Greeting::parse(&packet).is_none(),
            "it is shorter than that"
        );
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(rest: Vec<u8>, version in "[^\0]{0,9}", cut in 0_usize..80) {
            let packet = [&[PROTOCOL], version.as_bytes(), &[0], &rest].concat();
            let _ = Greeting::parse(&packet);
            let _ = Greeting::parse(&greeting()[..cut.min(greeting().len())]);
        }
    }
}
