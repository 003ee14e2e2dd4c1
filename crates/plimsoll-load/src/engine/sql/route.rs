//! What is on the way to a server: TLS that failed, a pooler, and limits of connections.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use plimsoll_plan::resolved::redact;

use super::ServerClient;
use crate::engine::server::target::{ServerRoute, Target};
use crate::error::LoadError;
use crate::scratch::wait_until;

const DOING: &str = "asking how the server is reached";
/// For a pooler's next connection to its server.
const POOL_PATIENCE: Duration = Duration::from_secs(5);
/// Connections that have just ended are counted a little longer.
const LIMIT_PATIENCE_SECONDS: u64 = 2;

/// How the server is reached. Refuses a pooler whose clients share connections to the server.
pub(crate) fn find(target: &Target) -> Result<ServerRoute, LoadError> {
    let mut client = target.connect()?;
    let route = client.route();
    let mut found = ServerRoute {
        without_tls: route.without_tls,
        pooler: None,
    };
    let Some(announced) = route.announced_id else {
        return Ok(found);
    };
    let Some(serving) = serving_id(target, client.as_mut())? else {
        return Ok(found);
    };
    // A number of MySQL's has 32 bits in a login.
    if serving as u32 == announced {
        return Ok(found);
    }
    let dialect = target.dialect();
    let name = (dialect.pooler_name)(&target.conninfo, client.as_mut());
    let name = name.unwrap_or("a connection pooler");
    if shares_connections(target, client.as_mut(), serving)? {
        return Err(LoadError::Unsupported {
            what: format!("measure through {name}"),
            why: format!(
                "{name} gives its clients another connection to the server for each transaction, and those of plimsoll \
                 keep prepared statements and locks in theirs"
            ),
            next: "Give the URL of the server itself, or let the pooler keep a connection for each client (PgBouncer: \
                   pool_mode = session)."
                .into(),
        });
    }
    found.pooler = Some(name.to_owned());
    Ok(found)
}

fn serving_id(target: &Target, client: &mut dyn ServerClient) -> Result<Option<u64>, LoadError> {
    match target.dialect().connection_id {
        Some(sql) => client.row(DOING, sql)?.get(0).map(Some),
        None => Ok(None),
    }
}

/// Whether another client gets the connection to the server that `client` has used and not given back, or `client` another
/// one as long as that client is within a transaction.
fn shares_connections(
    target: &Target,
    client: &mut dyn ServerClient,
    serving: u64,
) -> Result<bool, LoadError> {
    let mut other = target.connect()?;
    // Where statements are shared out one by one, there are no transactions.
    if other.execute(DOING, "BEGIN").is_err() {
        return Ok(true);
    }
    let others = serving_id(target, other.as_mut())?;
    let shares = others == Some(serving) || serving_id(target, client)? != Some(serving);
    other.execute(DOING, "ROLLBACK")?;
    Ok(shares)
}

/// Refuses a load that needs more connections than this user can have beside all others.
pub(crate) fn check_connections(
    target: &Target,
    needed: u32,
    pooler: Option<&str>,
) -> Result<(), LoadError> {
    if let Some(pooler) = pooler {
        return check_pool(target, needed, pooler);
    }
    let mut checked = Ok(());
    wait_until(LIMIT_PATIENCE_SECONDS, || {
        checked = check_limits(target, needed);
        !matches!(checked, Err(LoadError::TooManyConnections { .. }))
    });
    checked
}

fn check_limits(target: &Target, needed: u32) -> Result<(), LoadError> {
    let mut client = target.connect()?;
    for sql in target.dialect().connection_limits {
        let rows = match client.rows(DOING, sql) {
            Err(LoadError::Refused { .. } | LoadError::Other { .. }) => continue,
            rows => rows?,
        };
        for row in rows {
            let limit: String = row.get(0)?;
            let allowed: i64 = row.get(1)?;
            // This connection ends.
            let used = row.get::<i64>(2)?.saturating_sub(1).max(0);
            let free = allowed.saturating_sub(used).max(0);
            if free < i64::from(needed) {
                return Err(LoadError::TooManyConnections {
                    what: place(target),
                    why: format!(
                        "the plan needs {needed} at the same time: {limit} allows this user {allowed}, of which others use {used}"
                    ),
                    next: next_when_few(free - i64::from(RESERVE)),
                });
            }
        }
    }
    Ok(())
}

/// `most`: connections that are left for users.
fn next_when_few(most: i64) -> String {
    match most {
        1.. => format!(
            "Use fewer users, let them share {most} (`connections` in the plan; plimsoll needs {RESERVE} more), \
             raise the limit, or end other connections."
        ),
        _ => format!(
            "Raise the limit, or end other connections: plimsoll needs {RESERVE} beside those of its users."
        ),
    }
}

/// Connections beside those of users: probes, and one that begins and ends steps.
pub(crate) const RESERVE: u32 = 3;

/// Opens as many as are needed, and ends them.
fn check_pool(target: &Target, needed: u32, pooler: &str) -> Result<(), LoadError> {
    let (opened, has_opened) = channel();
    let own = target.clone();
    // A pooler may keep it waiting for minutes, with which nobody waits.
    thread::spawn(move || {
        let mut clients = Vec::new();
        for _ in 0..needed {
            let client = own.connect().and_then(|mut client| {
                client.rows(DOING, "SELECT 1")?;
                Ok(client)
            });
            let client = client.map(|client| clients.push(client));
            let is_last = client.is_err();
            if opened.send(client).is_err() || is_last {
                return;
            }
        }
    });
    for there in 0..needed {
        let refused = |why: &str| {
            LoadError::TooManyConnections {
            what: format!("{pooler} at {}", place(target)),
            why: format!(
                "the plan needs {needed} connections to the server at the same time: it gave {there}, and {why}"
            ),
            next: "Give its pool more connections (PgBouncer: default_pool_size), use fewer users, or give the URL of the \
                   server itself."
                .into(),
        }
        };
        match has_opened.recv_timeout(POOL_PATIENCE) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(refused(&error.reason())),
            Err(RecvTimeoutError::Timeout) => {
                let seconds = POOL_PATIENCE.as_secs();
                return Err(refused(&format!("no other one in {seconds} s")));
            }
            Err(RecvTimeoutError::Disconnected) => return Err(refused("ended")),
        }
    }
    Ok(())
}

/// Without its password.
fn place(target: &Target) -> String {
    redact(&target.conninfo)
}
