//! Servers and mounts of the tests' own.

use std::fs;
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use plimsoll_load::engine::postgres::binaries;
use plimsoll_load::engine::server::ManagedServer;
use plimsoll_load::scratch::Scratch;
use plimsoll_plan::resolved::ManagedKind;
use rustix::process::Signal;

/// A file system that is unmounted when this is dropped.
pub struct Mount(PathBuf);

impl Mount {
    /// Mounts a tmpfs; `None` when this user may not, as nobody but root may.
    pub fn tmpfs(on: &Path, options: &str) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "plimsoll-test"])
            .arg(on)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "root, but cannot mount: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Some(Self(on.into()))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Lazily: a process that a failed test left must not keep it.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// The server's own psql.
fn client() -> Command {
    Command::new(
        binaries::find("")
            .unwrap_or_else(|error| panic!("{error}"))
            .join("psql"),
    )
}

/// Runs a statement with psql and returns what it prints.
pub fn psql(target: &str, sql: &str) -> String {
    let output = client()
        .args(["-XqAtv", "ON_ERROR_STOP=1", "-c", sql, target])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{sql}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A server that the program under test knows by its URL only.
pub struct Server {
    postgres: ManagedServer,
    port: u16,
    _scratch: Scratch,
}

impl Server {
    pub fn start(medium: &Path) -> Self {
        let mut scratch = Scratch::create(medium, "server").unwrap();
        let postgres = ManagedServer::start(
            ManagedKind::Postgres,
            &mut scratch,
            &Default::default(),
            "",
            None,
        );
        let postgres = postgres.unwrap_or_else(|error| panic!("{error}"));
        let text =
            fs::read_to_string(postgres.process().data_dir().join("postmaster.pid")).unwrap();
        let socket = PathBuf::from(text.lines().nth(4).unwrap()).join(".s.PGSQL.5432");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || forward(&listener, &socket));
        Self {
            postgres,
            port,
            _scratch: scratch,
        }
    }

    /// Where it can be reached by TCP: plimsoll's own servers listen on a socket only, so the test forwards.
    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn psql(&self, sql: &str) -> String {
        // Several statements of which one creates a database are no transaction.
        sql.split(';')
            .map(|one| psql(&self.postgres.conninfo(), one))
            .collect()
    }

    pub fn psql_in(&self, database: &str, sql: &str) -> String {
        psql(
            &self
                .postgres
                .conninfo()
                .replace("dbname=postgres", &format!("dbname={database}")),
            sql,
        )
    }

    /// From now on everybody but the superuser needs a password.
    pub fn require_passwords(&self) {
        let hba = self.postgres.process().data_dir().join("pg_hba.conf");
        fs::write(
            hba,
            "local all plimsoll trust\nlocal all all scram-sha-256\n",
        )
        .unwrap();
        super::send(self.postgres.process().pid().cast_signed(), Signal::HUP);
        // Asked before it is known who somebody is: the role need not exist.
        let anybody = self
            .postgres
            .conninfo()
            .replace("user=plimsoll", "user=anybody");
        let mut client = client();
        client.args(["-X", "--no-password", "-c", "SELECT 1", &anybody]);
        // No password from elsewhere, and words that can be recognised.
        client
            .env_remove("PGPASSWORD")
            .env("PGPASSFILE", "/nonexistent")
            .env("LC_ALL", "C");
        // Once the postmaster has read it, all connections that follow find it so.
        super::wait_for("a server that asks for passwords", || {
            let stderr = client.output().unwrap().stderr;
            String::from_utf8_lossy(&stderr)
                .contains("no password supplied")
                .then_some(())
        });
    }
}

fn forward(listener: &TcpListener, socket: &Path) {
    for client in listener.incoming().flatten() {
        let Ok(server) = UnixStream::connect(socket) else {
            continue;
        };
        let (client_in, server_out) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        std::thread::spawn(move || pass(client_in, server_out, |to| to.shutdown(Shutdown::Write)));
        std::thread::spawn(move || {
            pass(server, client, |to: &TcpStream| {
                to.shutdown(Shutdown::Write)
            })
        });
    }
}

fn pass<R: io::Read, W: io::Write>(mut from: R, mut to: W, end: impl Fn(&W) -> io::Result<()>) {
    // However it ends, the other side learns it.
    let _ = io::copy(&mut from, &mut to);
    let _ = end(&to);
}
