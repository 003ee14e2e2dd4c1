//! Backups of a PostgreSQL: its files by pg_basebackup, or its data by pg_dump and pg_restore.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use plimsoll_plan::resolved::BackupMethod;
use tokio_postgres::config::{Host, SslMode};

use super::connect::{connect, parse, server_error};
use super::managed::ManagedPostgres;
use super::{DIALECT, binaries, blocking};
use crate::backup::program::{Program, version};
use crate::backup::{Taken, Task, Timed, files};
use crate::clock::monotonic;
use crate::engine::server::{MANAGED_SCHEMA, ServerContext, command_in};
use crate::error::LoadError;
use crate::limit::CgroupLimits;
use crate::scratch::Scratch;

/// Names of the programs.
const BASE: &str = "pg_basebackup";
const DUMP: &str = "pg_dump";
const RESTORE: &str = "pg_restore";

const NEXT_OF_BASE: &str = "If it names wal_level or max_wal_senders, leave them out of `settings` in the plan (a base backup \
     needs wal_level = \"replica\" and max_wal_senders of at least 2), or take a logical backup.";
const NEXT_OF_DUMP: &str = "If it names versions, install the programs of the server's version or a later one. If it names \
     permissions, connect as the owner of the schema.";
const NEXT_OF_RESTORE: &str =
    "Read its message about the backup; where that was damaged, check its medium.";

impl ManagedPostgres {
    /// Takes a backup of the running server into `to`, a directory of plimsoll's own that is empty.
    pub(crate) fn back_up(
        &self,
        method: BackupMethod,
        task: Task<'_>,
        to: &Path,
    ) -> Result<Taken, LoadError> {
        self.process().context.admit(to)?;
        match method {
            BackupMethod::Physical => self.base_backup(task, to),
            BackupMethod::Logical => {
                dump_by(Some(self), &self.conninfo(), MANAGED_SCHEMA, task, to)
            }
        }
    }

    /// The server's files, and with them the log that was written meanwhile, which makes them one state. A fast
    /// checkpoint: a spread one would take its time before the first byte is read (checkpoint_completion_target).
    fn base_backup(&self, task: Task<'_>, to: &Path) -> Result<Taken, LoadError> {
        let program = binaries::client(Some(&self.programs), BASE)?;
        let mut command = self.client(&program, to);
        command
            .envs(environment(&self.conninfo())?)
            .arg("--pgdata")
            .arg(to);
        command.args([
            "--format=plain",
            "--wal-method=stream",
            "--checkpoint=fast",
            "--no-password",
        ]);
        Program {
            command,
            output: None,
            place: to,
            next: NEXT_OF_BASE,
        }
        .run(task.control)?;
        Ok(Taken {
            bytes: files::flush(to, task.control)?,
            program: version(&program),
            jobs: 1,
        })
    }

    /// A program that works in this directory, as the server's user.
    fn client(&self, program: &Path, dir: &Path) -> Command {
        let mut command = self.process().context.command(program);
        command.current_dir(dir);
        command
    }

    /// Makes a second server of the backup in `from`.
    pub(crate) fn restore(
        &self,
        method: BackupMethod,
        task: Task<'_>,
        from: &Path,
        scratch: &mut Scratch,
        cgroup: Option<CgroupLimits>,
    ) -> Result<(Self, Timed), LoadError> {
        files::forget_cached(from)?;
        match method {
            BackupMethod::Physical => {
                let (mut bytes, mut began) = (0, monotonic());
                let fill = |context: &ServerContext| {
                    began = monotonic();
                    bytes = files::copy(from, &context.data, &|_| true, task)?;
                    Ok(())
                };
                let server =
                    self.start_second(scratch, cgroup, fill, &|| task.control.is_cancelled())?;
                let ended = monotonic();
                let program = format!(
                    "copy of files, {}",
                    version(&self.programs.join("postgres"))
                );
                Ok((
                    server,
                    Timed {
                        program,
                        bytes,
                        began,
                        ended,
                    },
                ))
            }
            BackupMethod::Logical => {
                let server = self.start_empty(scratch, cgroup)?;
                let timed = server.restore_dump(Some(self), MANAGED_SCHEMA, task, from);
                let timed = timed.map_err(|error| server.process().explain(error))?;
                Ok((server, timed))
            }
        }
    }

    /// `of`: the server whose user may read the dump, as it took it; else this one may.
    fn restore_dump(
        &self,
        of: Option<&Self>,
        schema: &str,
        task: Task<'_>,
        from: &Path,
    ) -> Result<Timed, LoadError> {
        let program = binaries::client(Some(&self.programs), RESTORE)?;
        let mut command = match of {
            Some(_) => self.client(&program, from),
            None => command_in(&program, from),
        };
        command.envs(environment(&self.conninfo())?);
        command.args([
            "--format=directory",
            "--no-owner",
            "--no-privileges",
            "--exit-on-error",
            "--no-password",
        ]);
        command
            .arg(format!("--jobs={}", task.jobs.max(1)))
            .args(["--dbname", "postgres"])
            .arg(from);
        let began = monotonic();
        let place = self.process().data_dir();
        Program {
            command,
            output: None,
            place,
            next: NEXT_OF_RESTORE,
        }
        .run(task.control)?;
        let ended = monotonic();
        self.finish(schema)?;
        Ok(Timed {
            program: version(&program),
            bytes: crate::backup::written(from),
            began,
            ended,
        })
    }

    /// The schema by the name that plimsoll's own servers have, and statistics, which a dump does not hold (before
    /// version 18): without them, what is verified next would take hours.
    fn finish(&self, schema: &str) -> Result<(), LoadError> {
        let conninfo = self.conninfo();
        let rename = (schema != MANAGED_SCHEMA).then(|| {
            format!(
                "ALTER SCHEMA {} RENAME TO {}",
                DIALECT.identifier(schema),
                DIALECT.identifier(MANAGED_SCHEMA)
            )
        });
        blocking(|| async move {
            let client = connect(&conninfo).await?;
            for sql in rename.iter().map(String::as_str).chain(["ANALYZE"]) {
                client
                    .batch_execute(sql)
                    .await
                    .map_err(|e| server_error("after restoring", &e))?;
            }
            Ok(())
        })
    }
}

/// Takes a logical backup of the schema on any server, as this user.
pub(crate) fn dump(
    conninfo: &str,
    schema: &str,
    task: Task<'_>,
    to: &Path,
) -> Result<Taken, LoadError> {
    dump_by(None, conninfo, schema, task, to)
}

/// Makes a server of plimsoll's own of a dump of any server.
pub(crate) fn restore_elsewhere(
    schema: &str,
    task: Task<'_>,
    from: &Path,
    scratch: &mut Scratch,
    cgroup: Option<CgroupLimits>,
) -> Result<(ManagedPostgres, Timed), LoadError> {
    files::forget_cached(from)?;
    let server = ManagedPostgres::start(scratch, &BTreeMap::new(), "", cgroup)?;
    let timed = server
        .restore_dump(None, schema, task, from)
        .map_err(|error| server.process().explain(error))?;
    Ok((server, timed))
}

/// Not compressed, so that media are measured and not the arithmetic of gzip.
fn dump_by(
    server: Option<&ManagedPostgres>,
    conninfo: &str,
    schema: &str,
    task: Task<'_>,
    to: &Path,
) -> Result<Taken, LoadError> {
    let program = binaries::client(server.map(|server| server.programs.as_path()), DUMP)?;
    let mut command = match server {
        Some(server) => server.client(&program, to),
        None => command_in(&program, to),
    };
    let jobs = task.jobs.max(1);
    command.envs(environment(conninfo)?);
    command
        .args(["--format=directory", "--compress=0", "--no-password"])
        .arg(format!("--jobs={jobs}"));
    // The option takes a pattern, in which quotes take every sign for itself.
    command
        .arg(format!("--schema={}", DIALECT.identifier(schema)))
        .arg("--file")
        .arg(to);
    Program {
        command,
        output: None,
        place: to,
        next: NEXT_OF_DUMP,
    }
    .run(task.control)?;
    Ok(Taken {
        bytes: files::flush(to, task.control)?,
        program: version(&program),
        jobs,
    })
}

/// Where certificates of authorities are on Debian's, Red Hat's and Alpine's systems and those that stem from them.
const AUTHORITIES: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
];

/// How to connect, as the environment of a program that uses libpq: command lines can be read by everybody.
fn environment(conninfo: &str) -> Result<BTreeMap<&'static str, String>, LoadError> {
    let config = parse(conninfo)?;
    let hosts: Vec<String> = config.get_hosts().iter().map(host).collect();
    let ports: Vec<String> = config.get_ports().iter().map(u16::to_string).collect();
    let password = config
        .get_password()
        .map(|password| String::from_utf8_lossy(password).into_owned());
    let mut environment = BTreeMap::new();
    let mut set = |name, value: Option<String>| value.map(|value| environment.insert(name, value));
    set("PGHOST", (!hosts.is_empty()).then(|| hosts.join(",")));
    set("PGPORT", (!ports.is_empty()).then(|| ports.join(",")));
    set("PGUSER", config.get_user().map(str::to_owned));
    set(
        "PGDATABASE",
        config.get_dbname().or(config.get_user()).map(str::to_owned),
    );
    set("PGPASSWORD", password);
    set("PGOPTIONS", config.get_options().map(str::to_owned));
    set("PGAPPNAME", Some("plimsoll".into()));
    let addresses: Vec<String> = config
        .get_hostaddrs()
        .iter()
        .map(ToString::to_string)
        .collect();
    set(
        "PGHOSTADDR",
        (!addresses.is_empty()).then(|| addresses.join(",")),
    );
    // As plimsoll's own connections are.
    let mode = match config.get_ssl_mode() {
        SslMode::Disable => "disable",
        SslMode::Prefer => "prefer",
        _ => "verify-full",
    };
    set("PGSSLMODE", Some(mode.into()));
    let authorities = AUTHORITIES.iter().find(|path| Path::new(path).is_file());
    set(
        "PGSSLROOTCERT",
        authorities
            .filter(|_| mode == "verify-full")
            .map(ToString::to_string),
    );
    Ok(environment)
}

fn host(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(path) => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_get_the_server_by_arguments_and_the_password_by_environment() {
        let url = "postgres://u:p%40ss@h:5433/d?sslmode=verify-full";
        let found = environment(url).unwrap();
        let named = |name| found.get(name).map(String::as_str);
        assert_eq!(
            [named("PGHOST"), named("PGPORT"), named("PGUSER")],
            [Some("h"), Some("5433"), Some("u")]
        );
        assert_eq!(
            [named("PGDATABASE"), named("PGPASSWORD")],
            [Some("d"), Some("p@ss")]
        );
        assert_eq!(named("PGSSLMODE"), Some("verify-full"));
        let found = environment("host='/run/my socket' port=5432 user=u options='-c a=b'").unwrap();
        assert_eq!(
            (found["PGHOST"].as_str(), found["PGOPTIONS"].as_str()),
            ("/run/my socket", "-c a=b")
        );
        assert_eq!(
            (found["PGDATABASE"].as_str(), found["PGSSLMODE"].as_str()),
            ("u", "prefer")
        );
    }
}
