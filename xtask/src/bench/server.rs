//! A PostgreSQL, MariaDB or MySQL of the bench's own: a new directory on disk, a private socket, a port where one is asked
//! for; always removed.
//!
//! The server belongs to a shell script in a process group of its own that waits for its standard input to close. So
//! it goes away with the bench however that ends: return, panic, Ctrl-C, kill -9.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::statfs::{TMPFS_MAGIC, statfs};
use nix::unistd::{User, geteuid};

use crate::exec::{Task, because, failed, root};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Postgres,
    Mariadb,
    Mysql,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Mariadb => "MariaDB",
            Self::Mysql => "MySQL",
        }
    }

    fn script(self) -> &'static str {
        match self {
            Self::Postgres => include_str!("server.sh"),
            Self::Mariadb | Self::Mysql => include_str!("mariadb.sh"),
        }
    }

    /// Both refuse to run as root.
    fn user(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Mariadb | Self::Mysql => "mysql",
        }
    }

    /// The folder of its server programs.
    pub fn binaries(self) -> Option<PathBuf> {
        match self {
            Self::Postgres => postgres_binaries(),
            Self::Mariadb => mariadb_binaries(),
            Self::Mysql => mysql_binaries(),
        }
    }
}

pub struct Server {
    kind: Kind,
    dir: PathBuf,
    bin: PathBuf,
    /// PostgreSQL's socket has it in its name.
    port: Option<u16>,
    keeper: Child,
}

/// The folder of `mariadbd`, which Debian keeps off other users' PATH; none without `mariadb-install-db`.
fn mariadb_binaries() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path)
        .chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from))
        .collect();
    folders
        .iter()
        .find(|dir| dir.join("mariadb-install-db").is_file())?;
    folders
        .into_iter()
        .find(|dir| dir.join("mariadbd").is_file())
}

/// Where `script/mysql` puts them.
fn mysql_binaries() -> Option<PathBuf> {
    let folder = root().join("target/mysql/usr/bin");
    folder.join("mysqld").is_file().then_some(folder)
}

/// The folder of `initdb` and `postgres`: on the PATH, or the newest of Debian's.
fn postgres_binaries() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut debian: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|entries| {
            entries
                .flatten()
                .map(|entry| entry.path().join("bin"))
                .collect()
        })
        .unwrap_or_default();
    debian.sort_by_key(|dir| std::cmp::Reverse(major(dir)));
    let found = std::env::split_paths(&path).chain(debian).find(|dir| {
        ["initdb", "postgres", "pg_ctl"]
            .iter()
            .all(|name| dir.join(name).is_file())
    })?;
    // A link on the PATH stands alone; the other programs of the installation lie beside its target.
    Some(
        found
            .join("initdb")
            .canonicalize()
            .ok()?
            .parent()?
            .to_path_buf(),
    )
}

/// 15 of /usr/lib/postgresql/15/bin.
fn major(bin: &Path) -> Option<u32> {
    bin.parent()?.file_name()?.to_str()?.parse().ok()
}

impl Server {
    /// As [`Self::start`]; it listens on a port of this machine's own address, too.
    pub fn start_on_a_port(kind: Kind, parent: &Path, settings: &[&str]) -> Task<Self> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(because("a port"))?;
        let port = listener.local_addr().map_err(because("a port"))?.port();
        drop(listener);
        let port_setting = format!("port={port}");
        let listens: &[&str] = match kind {
            Kind::Postgres => &["listen_addresses='127.0.0.1'", &port_setting],
            Kind::Mariadb | Kind::Mysql => {
                &["skip-networking=0", "bind-address=127.0.0.1", &port_setting]
            }
        };
        let mut server = Self::start(kind, parent, &[settings, listens].concat())?;
        server.port = Some(port);
        Ok(server)
    }

    /// PostgreSQL's sockets have it in their names.
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(5432)
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Starts a server in a new directory under `parent`, with `settings` as `name=value`.
    pub fn start(kind: Kind, parent: &Path, settings: &[&str]) -> Task<Self> {
        let name = kind.name();
        let Some(bin) = kind.binaries() else {
            return failed(format!(
                "{name}'s server binaries were not found: script/test installs them"
            ));
        };
        let dir = new_dir(parent)?;
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(kind.script())
            .arg("server.sh")
            .arg(&dir)
            .arg(&bin)
            .args(settings);
        command
            .current_dir(parent)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if geteuid().is_root() {
            let user =
                User::from_name(kind.user()).map_err(because(format!("user {}", kind.user())))?;
            let Some(user) = user else {
                let user = kind.user();
                return failed(format!(
                    "{name} does not run as root, and there is no user {user} to run it as"
                ));
            };
            command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
        }
        let keeper = command
            .spawn()
            .map_err(because(format!("sh, to start {name}")))?;
        let mut server = Self {
            kind,
            dir,
            bin,
            port: None,
            keeper,
        };
        server.wait_until_ready()?;
        Ok(server)
    }

    fn wait_until_ready(&mut self) -> Task {
        let Some(out) = self.keeper.stdout.take() else {
            return failed("the server's keeper has no output");
        };
        let mut out = BufReader::new(out);
        let mut message = String::new();
        let keeper = format!("{}'s keeper", self.kind.name());
        out.read_line(&mut message).map_err(because(&keeper))?;
        if message.trim() == "ready" {
            return Ok(());
        }
        out.read_to_string(&mut message).map_err(because(&keeper))?;
        failed(format!(
            "{} did not start in {}:\n{}",
            self.kind.name(),
            self.dir.display(),
            message.trim_end()
        ))
    }

    /// The folder of the socket, for `-h` and PGHOST.
    pub fn socket(&self) -> &Path {
        &self.dir
    }

    /// Of PostgreSQL's database `database`; MariaDB has none of that kind.
    pub fn url(&self, database: &str) -> String {
        match self.kind {
            Kind::Postgres => format!(
                "postgres://postgres@/{database}?host={}&port={}",
                self.dir.display(),
                self.port()
            ),
            Kind::Mariadb | Kind::Mysql => format!(
                "{}://root@localhost/?socket={}/socket",
                self.kind.name().to_lowercase(),
                self.dir.display()
            ),
        }
    }

    /// The same by TCP, not encrypted, as a user that the preparation of the peers makes.
    pub fn tcp_url(&self, database: &str) -> String {
        let port = self.port.unwrap_or_default();
        match self.kind {
            Kind::Postgres => {
                format!("postgres://postgres@127.0.0.1:{port}/{database}?sslmode=disable")
            }
            Kind::Mariadb | Kind::Mysql => {
                let scheme = self.kind.name().to_lowercase();
                format!("{scheme}://tcp@127.0.0.1:{port}?ssl-mode=disabled")
            }
        }
    }

    /// Runs statements as the superuser.
    pub fn sql(&self, sql: &str) -> Task {
        let socket = format!("{}/socket", self.dir.display());
        let program = match self.kind {
            Kind::Postgres => "psql",
            Kind::Mariadb => "mariadb",
            Kind::Mysql => "mysql",
        };
        let mut client = self.client(program);
        match self.kind {
            Kind::Postgres => client.args(["-Xqc", sql]),
            Kind::Mariadb | Kind::Mysql => {
                client.args(["--no-defaults", "-u", "root", "-S", &socket, "-e", sql])
            }
        };
        super::child::measure(&mut client).map(drop)
    }

    /// A client program of the same installation, connected to this server as its superuser.
    pub fn client(&self, name: &str) -> Command {
        let beside = self.bin.join(name);
        let mut command = Command::new(if beside.is_file() {
            beside.as_path()
        } else {
            Path::new(name)
        });
        command
            .env("PGHOST", self.socket())
            .env("PGUSER", "postgres")
            .env("PGDATABASE", "postgres")
            .env("PGPORT", self.port().to_string());
        command
            .env_remove("PGSERVICE")
            .env_remove("PGOPTIONS")
            .current_dir("/");
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        if let Err(why) = self.keeper.wait() {
            eprintln!(
                "xtask: {} in {} may still be there: {why}",
                self.kind.name(),
                self.dir.display()
            );
        }
    }
}

/// A path that does not exist yet, on a disk.
fn new_dir(parent: &Path) -> Task<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let kind = statfs(parent)
        .map_err(because(parent.display()))?
        .filesystem_type();
    if kind == TMPFS_MAGIC {
        return failed(format!(
            "{} is in memory: give a directory on a disk with --dir",
            parent.display()
        ));
    }
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let dir = parent.join(format!("plimsoll-bench-{}-{count}", std::process::id()));
    // sockaddr_un holds 107 bytes, and PostgreSQL adds a name.
    if dir.as_os_str().len() > 90 || dir.to_string_lossy().contains('\'') {
        return failed(format!(
            "{} is too long, or too odd, for a socket: give a shorter one with --dir",
            dir.display()
        ));
    }
    if dir.exists() {
        return failed(format!(
            "{} exists already: look at it, and remove it when it is a leftover",
            dir.display()
        ));
    }
    Ok(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_answers_with_its_settings_and_leaves_nothing() {
        let server = Server::start(
            Kind::Postgres,
            Path::new("/var/tmp"),
            &["max_connections=17"],
        );
        let server = server.expect("PostgreSQL is needed here");
        let dir = server.socket().to_path_buf();
        let out = server
            .client("psql")
            .args(["-XAtc", "show max_connections"])
            .output()
            .expect("psql");
        assert_eq!(
            String::from_utf8_lossy(&out.stdout),
            "17\n",
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        assert!(
            server
                .url("x")
                .ends_with(&format!("/x?host={}&port=5432", dir.display()))
        );
        drop(server);
        assert!(!dir.exists(), "{} was left behind", dir.display());
    }

    #[test]
    fn mariadb_answers_with_its_settings_and_leaves_nothing() {
        let server = Server::start(
            Kind::Mariadb,
            Path::new("/var/tmp"),
            &["max_connections=17"],
        );
        let server = server.expect("MariaDB is needed here");
        let dir = server.socket().to_path_buf();
        let socket = format!("{}/socket", dir.display());
        let words = [
            "--no-defaults",
            "-u",
            "root",
            "-S",
            &socket,
            "-BNe",
            "SELECT @@max_connections",
        ];
        let out = server
            .client("mariadb")
            .args(words)
            .output()
            .expect("mariadb");
        assert_eq!(
            String::from_utf8_lossy(&out.stdout),
            "17\n",
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        assert!(server.url("x").ends_with(&format!("?socket={socket}")));
        drop(server);
        assert!(!dir.exists(), "{} was left behind", dir.display());
    }

    #[test]
    fn a_server_that_cannot_start_is_an_error_and_leaves_nothing() {
        let error = Server::start(
            Kind::Postgres,
            Path::new("/var/tmp"),
            &["no_such_setting=1"],
        )
        .map(|_| ());
        let error = error.expect_err("no such setting");
        let text = error.to_string();
        let rest = text
            .strip_prefix("PostgreSQL did not start in ")
            .expect("names the directory");
        let (dir, why) = rest.split_once(":\n").expect("a reason");
        assert!(why.contains("no_such_setting"), "{why}");
        assert!(!Path::new(dir).exists(), "{dir} was left behind");
    }

    #[test]
    fn memory_and_long_paths_are_refused() {
        assert!(new_dir(Path::new("/nowhere/at/all")).is_err());
        if statfs("/dev/shm").is_ok_and(|fs| fs.filesystem_type() == TMPFS_MAGIC) {
            assert!(
                new_dir(Path::new("/dev/shm"))
                    .expect_err("memory")
                    .to_string()
                    .contains("--dir")
            );
        }
    }

    #[test]
    fn versions_count_as_numbers() {
        assert!(
            major(Path::new("/usr/lib/postgresql/9/bin"))
                < major(Path::new("/usr/lib/postgresql/17/bin"))
        );
    }
}
