//! Who may use a schema: one plimsoll that loads it, or any number that measure or check it.
//!
//! The server's named locks show it, which it releases when their connection ends, in whichever way that comes. It has
//! exclusive ones only: whoever measures or checks takes any of a number of places, and a loader takes the door and
//! then checks that all places are free. Both take theirs first and check the other's after that, so that never both
//! go on.

use mysql::Conn;
use mysql::prelude::Queryable;

use super::connect::server_error;
use crate::error::LoadError;
use crate::scratch::wait_until;

/// What a connection is about to do with a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    Load,
    /// Measuring or checking: needs the tables to stay.
    Keep,
}

/// Connections beyond this number share in what the others hold.
const PLACES: u32 = 256;

/// The server notices a connection's end some milliseconds after its client has gone on.
const PATIENCE_SECONDS: u64 = 5;

/// SQL for a lock's name, at most 64 characters: `?` is the schema, by its digest.
const NAME: &str = "CONCAT('plimsoll ', LEFT(MD5(?), 24), ' ', ";

/// Holds the schema for that use until the connection ends. Tries again for five seconds.
pub fn take(conn: &mut Conn, schema: &str, purpose: Use) -> Result<(), LoadError> {
    let mut tried = Ok(false);
    wait_until(PATIENCE_SECONDS, || {
        tried = match purpose {
            Use::Load => try_door(conn, schema),
            Use::Keep => try_place(conn, schema),
        };
        !matches!(tried, Ok(false))
    });
    let what = format!("schema {schema}");
    let who = match purpose {
        _ if tried.map_err(|e| server_error(&what, &e))? => return Ok(()),
        Use::Load => "another plimsoll is loading, measuring or checking it",
        Use::Keep => "another plimsoll is loading it",
    };
    Err(LoadError::other(
        what,
        format!("{who}\nWait for it, or name another schema in the plan."),
    ))
}

/// Gives a loaded schema back before the connection ends, so that sessions can follow at once.
pub fn release(conn: &mut Conn, schema: &str) -> Result<(), LoadError> {
    let released = conn.exec_drop(format!("DO RELEASE_LOCK({NAME}'door'))"), (schema,));
    released.map_err(|e| server_error(&format!("schema {schema}"), &e))
}

fn yes(conn: &mut Conn, sql: &str, schema: &str) -> mysql::Result<bool> {
    let marks = sql.matches('?').count();
    let found: Option<Option<i64>> = conn.exec_first(sql, vec![schema; marks])?;
    Ok(found.flatten() == Some(1))
}

fn try_door(conn: &mut Conn, schema: &str) -> mysql::Result<bool> {
    if !yes(conn, &format!("SELECT GET_LOCK({NAME}'door'), 0)"), schema)? {
        return Ok(false);
    }
    let free = format!(
        "WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < {PLACES} - 1)
         SELECT MIN(IS_FREE_LOCK({NAME}i))) FROM n"
    );
    if yes(conn, &free, schema)? {
        return Ok(true);
    }
    conn.exec_drop(format!("DO RELEASE_LOCK({NAME}'door'))"), (schema,))?;
    Ok(false)
}

fn try_place(conn: &mut Conn, schema: &str) -> mysql::Result<bool> {
    let own = conn.connection_id();
    let mut held = None;
    // Neighbouring connections have neighbouring numbers.
    for place in (0..8).map(|step| (own + step * 31) % PLACES) {
        if yes(conn, &format!("SELECT GET_LOCK({NAME}{place}), 0)"), schema)? {
            held = Some(place);
            break;
        }
    }
    if yes(conn, &format!("SELECT IS_FREE_LOCK({NAME}'door'))"), schema)? {
        return Ok(true);
    }
    if let Some(place) = held {
        conn.exec_drop(format!("DO RELEASE_LOCK({NAME}{place}))"), (schema,))?;
    }
    Ok(false)
}
