//! Programs for backups of a PostgreSQL: pg_basebackup for its files, pg_dump and pg_restore for its data.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use tokio_postgres::config::{Host, SslMode};

use super::address::parse;
use super::{DIALECT, binaries};
use crate::backup::program::version;
use crate::engine::server::backup_programs::{
    BackupCommand, BackupPrograms, NEXT_OF_RESTORE, Runner,
};
use crate::engine::server::{MANAGED_SCHEMA, ManagedServer, ServerContext};
use crate::engine::wire::tls::{Authorities, CertificateTrust};
use crate::error::LoadError;

const NEXT_OF_BASE: &str = "If it names wal_level or max_wal_senders, leave them out of `settings` in the plan (a base backup \
     needs wal_level = \"replica\" and max_wal_senders of at least 2), or take a logical backup.";
const NEXT_OF_DUMP: &str = "If it names versions, install the programs of the server's version or a later one. If it names \
     permissions, connect as the owner of the schema.";

pub struct PostgresBackups;

/// A client's program with how to connect.
fn client(runner: &Runner<'_>, name: &str, dir: &Path) -> Result<Command, LoadError> {
    let folder = runner
        .programs()
        .and_then(|programs| programs.server.parent());
    let program = binaries::client(folder, name)?;
    let mut command = runner.command(&program, dir);
    command.envs(environment(&runner.target.conninfo)?);
    command.arg("--no-password");
    Ok(command)
}

impl BackupPrograms for PostgresBackups {
    /// A fast checkpoint: a spread one would take its time before the first byte is read (checkpoint_completion_target).
    fn copy_files(
        &self,
        server: &ManagedServer,
        to: &Path,
        _: u32,
    ) -> Result<BackupCommand, LoadError> {
        let runner = Runner {
            server: Some(server),
            target: &server.target(),
        };
        let mut command = client(&runner, "pg_basebackup", to)?;
        command.arg("--pgdata").arg(to);
        command.args(["--format=plain", "--wal-method=stream", "--checkpoint=fast"]);
        Ok(BackupCommand {
            command,
            output: None,
            next: NEXT_OF_BASE,
            jobs: 1,
        })
    }

    fn prepare(
        &self,
        _: &ManagedServer,
        _: &ServerContext,
        _: &Path,
    ) -> Result<Option<BackupCommand>, LoadError> {
        Ok(None)
    }

    fn is_servers(&self, _: &Path) -> bool {
        true
    }

    fn restorer(&self, server: &ManagedServer) -> Result<String, LoadError> {
        let server = version(&server.programs().server);
        Ok(format!("copy of files, {server}"))
    }

    /// Not compressed, so that media are measured and not the arithmetic of gzip.
    fn dump(&self, runner: &Runner<'_>, to: &Path, jobs: u32) -> Result<BackupCommand, LoadError> {
        let mut command = client(runner, "pg_dump", to)?;
        command.args(["--format=directory", "--compress=0"]);
        command.arg(format!("--jobs={jobs}"));
        // The option takes a pattern, in which quotes take every sign for itself.
        let schema = DIALECT.identifier(&runner.target.schema);
        command
            .arg(format!("--schema={schema}"))
            .arg("--file")
            .arg(to);
        Ok(BackupCommand {
            command,
            output: None,
            next: NEXT_OF_DUMP,
            jobs,
        })
    }

    fn before_dump(&self) -> Vec<String> {
        Vec::new()
    }

    fn restore_dump(
        &self,
        runner: &Runner<'_>,
        from: &Path,
        jobs: u32,
    ) -> Result<BackupCommand, LoadError> {
        let mut command = client(runner, "pg_restore", from)?;
        command.args([
            "--format=directory",
            "--no-owner",
            "--no-privileges",
            "--exit-on-error",
        ]);
        command.arg(format!("--jobs={jobs}"));
        command.args(["--dbname", "postgres"]).arg(from);
        Ok(BackupCommand {
            command,
            output: None,
            next: NEXT_OF_RESTORE,
            jobs,
        })
    }

    /// The schema by the name that plimsoll's own servers have, and statistics, which a dump does not hold (before
    /// version 18): without them, what is verified next would take hours.
    fn after_dump(&self, schema: &str) -> Vec<String> {
        let mut statements = Vec::new();
        if schema != MANAGED_SCHEMA {
            let from = DIALECT.identifier(schema);
            let to = DIALECT.identifier(MANAGED_SCHEMA);
            statements.push(format!("ALTER SCHEMA {from} RENAME TO {to}"));
        }
        statements.push("ANALYZE".into());
        statements
    }
}

/// Where certificates of authorities are on Debian's, Red Hat's and Alpine's systems and those that stem from them.
const AUTHORITIES: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
];

/// How to connect, as the environment of a program that uses libpq: command lines can be read by everybody.
fn environment(conninfo: &str) -> Result<BTreeMap<&'static str, String>, LoadError> {
    let address = parse(conninfo)?;
    let config = &address.config;
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
    let (mode, authorities) = match (config.get_ssl_mode(), &address.trust) {
        (SslMode::Disable, _) => ("disable", None),
        (SslMode::Prefer, _) => ("prefer", None),
        (_, CertificateTrust::AnyCertificate) => ("require", None),
        (
            _,
            CertificateTrust::Verified {
                authorities,
                checks_name,
            },
        ) => (
            if *checks_name {
                "verify-full"
            } else {
                "verify-ca"
            },
            match authorities {
                Authorities::System => system_bundle(),
                Authorities::File(path) => Some(path.display().to_string()),
            },
        ),
    };
    set("PGSSLMODE", Some(mode.into()));
    set("PGSSLROOTCERT", authorities);
    Ok(environment)
}

/// The file of the system's authorities.
fn system_bundle() -> Option<String> {
    let found = AUTHORITIES.iter().find(|path| Path::new(path).is_file());
    found.map(ToString::to_string)
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
