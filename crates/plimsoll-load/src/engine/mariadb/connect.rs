//! Connections: Unix socket or TCP, and what an error on the way means.

use std::time::Duration;

use mysql::prelude::Queryable;
use mysql::{Conn, Error, Opts, OptsBuilder};
use plimsoll_plan::resolved::ServerKind;

use super::failure::{MariadbFailure, UNKNOWN_DATABASE};
use crate::error::LoadError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// What all sessions have in common: concatenation as in standard SQL, errors instead of silently changed values.
const SETUP: &str =
    "SET SESSION sql_mode = 'PIPES_AS_CONCAT,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'";

/// Reads `mariadb://user:password@host:port/database?socket=path`, or `mysql://…`; a path or password with other signs
/// than letters and digits is percent-encoded. `MYSQL_PWD` is taken when no password is given.
///
/// Connections are not encrypted; passwords are answered to a challenge and never sent.
pub fn parse(conninfo: &str) -> Result<Opts, LoadError> {
    let kind = ServerKind::of_url(conninfo).filter(|kind| *kind != ServerKind::Postgres);
    let rest = kind.and_then(|kind| kind.rest_of(conninfo));
    let rest = rest.ok_or_else(|| wrong("it does not begin with mariadb:// or mysql://"))?;
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    // The parser's message may hold a piece of a password.
    let opts =
        Opts::from_url(&format!("mysql://{address}")).map_err(|_| wrong("cannot be parsed"))?;
    let mut socket = None;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("socket", path)) => {
                socket = Some(decoded(path).ok_or_else(|| wrong("its socket cannot be read"))?)
            }
            _ => {
                return Err(wrong(
                    "it has an option that plimsoll does not know: only `socket` is",
                ));
            }
        }
    }
    let password = opts
        .get_pass()
        .map(str::to_owned)
        .or_else(|| std::env::var("MYSQL_PWD").ok());
    let builder = OptsBuilder::from_opts(opts)
        .socket(socket)
        .pass(password)
        .prefer_socket(false);
    Ok(builder
        .tcp_connect_timeout(Some(CONNECT_TIMEOUT))
        .tcp_nodelay(true)
        .stmt_cache_size(0)
        .into())
}

fn wrong(why: &str) -> LoadError {
    let next = "Write it as mariadb://user@host:3306/database, with %40 for an @ in a password.";
    LoadError::other("the URL", format!("{why}\n{next}"))
}

/// A path as a URL's option holds it.
pub fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let digits = std::str::from_utf8(after.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &after[2..];
    }
    String::from_utf8(bytes).ok()
}

/// Which of both a URL that can be read is of.
pub fn kind_of(conninfo: &str) -> ServerKind {
    ServerKind::of_url(conninfo).unwrap_or(ServerKind::Mariadb)
}

/// Opens a connection. Refused when the server is the other of both: their SQL differs.
pub fn connect(conninfo: &str) -> Result<Conn, LoadError> {
    open(kind_of(conninfo), parse(conninfo)?)
}

/// As [`connect`], but every answer must come within that time: the connection is lost otherwise.
pub fn connect_impatient(conninfo: &str, patience: Duration) -> Result<Conn, LoadError> {
    let builder = OptsBuilder::from_opts(parse(conninfo)?);
    let builder = builder
        .read_timeout(Some(patience))
        .write_timeout(Some(patience));
    open(kind_of(conninfo), builder.into())
}

fn open(kind: ServerKind, opts: Opts) -> Result<Conn, LoadError> {
    let explained = |error| explain(kind, &opts, &error);
    let mut conn = Conn::new(opts.clone()).map_err(explained)?;
    let about = conn.query_first("SELECT version()").map_err(explained)?;
    let version: String = about.unwrap_or_default();
    let found = if version.contains("MariaDB") {
        ServerKind::Mariadb
    } else {
        ServerKind::Mysql
    };
    if found != kind {
        let (title, url) = (kind.title(), found.example_url());
        return Err(LoadError::other(
            place(kind, &opts),
            format!("is version {version}, not a {title}\nWrite its URL as {url}."),
        ));
    }
    conn.query_drop(SETUP).map_err(explained)?;
    Ok(conn)
}

/// Opens a connection with `schema` as its database, which must be there.
pub fn connect_to(conninfo: &str, schema: &str) -> Result<Conn, LoadError> {
    let mut conn = connect(conninfo)?;
    conn.select_db(schema)
        .map_err(|error| server_error(&format!("schema {schema}"), &error))?;
    Ok(conn)
}

/// Where the options lead, without the password.
fn place(kind: ServerKind, opts: &Opts) -> String {
    let title = kind.title();
    match opts.get_socket() {
        Some(socket) => format!("{title} at {socket}"),
        None => format!(
            "{title} at {}:{}",
            opts.get_ip_or_hostname(),
            opts.get_tcp_port()
        ),
    }
}

const NOT_ALLOWED_FROM_HERE: u16 = 1130;
const TOO_MANY_CONNECTIONS: [u16; 2] = [1040, 1203];

/// An error of connecting, with the next step.
fn explain(kind: ServerKind, opts: &Opts, error: &Error) -> LoadError {
    let what = place(kind, opts);
    let failure = MariadbFailure::from(error);
    let why = failure.text();
    let user = opts.get_user().unwrap_or_default();
    match failure.code {
        Some(1045 | 1698) => {
            let next = format!("Give the right password of {user:?} in MYSQL_PWD or in the URL.");
            LoadError::Refused { what, why, next }
        }
        Some(NOT_ALLOWED_FROM_HERE) => {
            let next = format!("Let {user:?} connect from this host (CREATE USER … @'host').");
            LoadError::Refused { what, why, next }
        }
        Some(UNKNOWN_DATABASE) => {
            let next = "Create it, or leave the database out of the URL.".into();
            LoadError::Missing {
                what: format!("The database of {what}"),
                searched: why,
                next,
            }
        }
        Some(code) if TOO_MANY_CONNECTIONS.contains(&code) => {
            let next =
                "Raise max_connections of the server, or use fewer connections in the plan.".into();
            LoadError::TooManyConnections { what, why, next }
        }
        Some(_) => server_error(&what, error),
        None => {
            let next = "Check host and port in the URL, that the server runs, and that it listens there (bind_address).";
            LoadError::Unreachable {
                what,
                why,
                next: next.into(),
            }
        }
    }
}

/// An error of a statement, with the next step where there is one.
pub fn server_error(what: &str, error: &Error) -> LoadError {
    MariadbFailure::from(error).classify().at(what)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_url_names_the_server_and_the_user() {
        let opts = parse("mysql://u:p%40ss@h:3307/db").unwrap();
        assert_eq!(
            (opts.get_user(), opts.get_pass(), opts.get_tcp_port()),
            (Some("u"), Some("p@ss"), 3307)
        );
        assert_eq!(
            (opts.get_db_name(), place(ServerKind::Mysql, &opts)),
            (Some("db"), "MySQL at h:3307".into())
        );
        let socket = "/a b/ä%/mariadb.sock";
        let opts = parse(&format!(
            "mariadb://root@localhost?socket={}",
            encoded(socket)
        ))
        .unwrap();
        assert_eq!(
            (opts.get_socket(), opts.get_prefer_socket()),
            (Some(socket), false)
        );
        assert_eq!(parse("mariadb://u@h").unwrap().get_tcp_port(), 3306);
    }

    #[test]
    fn a_wrong_url_does_not_show_its_password() {
        for url in [
            "mariadb://u:secret@h:port/db",
            "mysql://u:secret@h/db?x=secret",
            "postgres://u:secret@h",
            "u:secret@h",
        ] {
            let error = parse(url).unwrap_err().to_string();
            assert!(
                !error.contains("secret") && error.contains("Write it as"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_server_that_does_not_run_is_unreachable() {
        let error = connect("mariadb://u:secret@127.0.0.1:1/db").unwrap_err();
        assert!(matches!(error, LoadError::Unreachable { .. }), "{error}");
        assert!(
            error.to_string().contains("127.0.0.1:1") && !error.to_string().contains("secret"),
            "{error}"
        );
        let error = connect("mariadb://u@localhost?socket=/nonexistent").unwrap_err();
        assert!(matches!(error, LoadError::Unreachable { .. }), "{error}");
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(text in ".*") {
            let _ = parse(&text);
            let _ = parse(&format!("mariadb://{text}"));
            prop_assert_eq!(decoded(&encoded(&text)), Some(text));
        }
    }
}
