//! A database kept as a template: PostgreSQL makes a new one of it in no more than the time that copying takes.

use super::address::parse;
use super::blocking::blocking;
use super::connect::server_error;
use super::dialect::DIALECT;
use crate::clock::Clock;
use crate::engine::server::TemplateTask;
use crate::error::LoadError;
use plimsoll_plan::units::Nanos;

const WHAT: &str = "resetting the database";
const TEMPLATE: &str = "plimsoll_first_state";
/// Databases are made and dropped from a connection to another one; this one every cluster has.
const ELSEWHERE: &str = "template1";
/// Connections of probes come back by themselves: a database without any is waited for.
const TRIES: u32 = 50;
const PAUSE: Nanos = Nanos::from_millis(100);

/// Makes the template of the conninfo's database, or the database of the template. Ends all other connections to it.
pub fn template(conninfo: &str, task: TemplateTask) -> Result<(), LoadError> {
    let config = parse(conninfo)?.config;
    let Some(database) = config.get_dbname().map(str::to_owned) else {
        return Err(LoadError::other("the connection", "names no database"));
    };
    // A later word of a key/value string beats an earlier one.
    let elsewhere = format!("{conninfo} dbname={ELSEWHERE}");
    blocking(|| async move {
        let client = super::connect::connect(&elsewhere).await?;
        let (from, to) = match task {
            TemplateTask::Keep => (database.as_str(), TEMPLATE),
            TemplateTask::Restore => (TEMPLATE, database.as_str()),
        };
        let version = client
            .query_one("SHOW server_version_num", &[])
            .await
            .map_err(|e| server_error(WHAT, &e))?;
        // Since 15 there is another strategy, and the default, that writes all of it into the log.
        let is_new = version
            .get::<_, String>(0)
            .parse()
            .is_ok_and(|version: u32| version >= 150_000);
        let strategy = if is_new { "STRATEGY file_copy" } else { "" };
        let make = format!(
            "CREATE DATABASE {} TEMPLATE {} {strategy}",
            DIALECT.identifier(to),
            DIALECT.identifier(from)
        );
        let steps = [
            format!(
                "DROP DATABASE IF EXISTS {} WITH (FORCE)",
                DIALECT.identifier(to)
            ),
            make,
            // What was copied is on the medium, and not written back into the next measurement.
            "CHECKPOINT".to_owned(),
        ];
        for step in steps {
            alone(&client, from, &step).await?;
        }
        Ok(())
    })
}

/// Carries out a statement that needs a database without connections.
async fn alone(
    client: &tokio_postgres::Client,
    database: &str,
    sql: &str,
) -> Result<(), LoadError> {
    const END_OTHERS: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()";
    let clock = Clock::real();
    let mut tried = 0;
    loop {
        client
            .query(END_OTHERS, &[&database])
            .await
            .map_err(|e| server_error(WHAT, &e))?;
        match client.batch_execute(sql).await {
            Ok(()) => return Ok(()),
            Err(error)
                if error.code() == Some(&tokio_postgres::error::SqlState::OBJECT_IN_USE)
                    && tried < TRIES =>
            {
                tried += 1;
                clock.sleep(PAUSE).await;
            }
            Err(error) => return Err(server_error(WHAT, &error)),
        }
    }
}
