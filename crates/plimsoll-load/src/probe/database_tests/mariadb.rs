//! A real MariaDB server, asked as in a run.

use super::*;
use crate::engine::mariadb::client::MariadbClient;

/// Its files have another name.
const SCHEMA: &str = "the schema-1";

/// With an empty table; not yet sampled.
fn started() -> (Server, Receiver<ProbeMessage>) {
    let (server, messages) = Server::started(ManagedKind::Mariadb);
    let mut conn = MariadbClient::connect(&server.conninfo()).unwrap();
    conn.query(&format!("CREATE DATABASE `{SCHEMA}`")).unwrap();
    conn.query(&format!(
        "CREATE TABLE `{SCHEMA}`.t (id int PRIMARY KEY AUTO_INCREMENT, n int) ENGINE = InnoDB"
    ))
    .unwrap();
    (server, messages)
}

fn asked() -> (Server, Receiver<ProbeMessage>) {
    let (server, messages) = started();
    ask(&server, server.conninfo());
    (server, messages)
}

fn ask(server: &Server, conninfo: String) {
    let endpoint = Endpoint::Server {
        engine: ServerKind::Mariadb,
        conninfo: conninfo.into(),
        schema: SCHEMA.into(),
    };
    server.probe.ask(SYSTEM, endpoint).unwrap();
}

fn session(server: &Server) -> MariadbClient {
    let mut conn = MariadbClient::connect_to(&server.conninfo(), SCHEMA).unwrap();
    conn.query("SET SESSION innodb_lock_wait_timeout = 1000")
        .unwrap();
    conn
}

#[test]
fn sessions_are_sampled_in_their_states() {
    let (server, messages) = asked();
    let mut holds = session(&server);
    let mut waits = session(&server);
    // A session elsewhere is none of plimsoll's.
    let mut stranger = MariadbClient::connect(&server.conninfo()).unwrap();
    stranger
        .query("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        .unwrap();
    holds.query("INSERT INTO t VALUES (1, 0)").unwrap();
    holds.query("BEGIN").unwrap();
    holds.query("UPDATE t SET n = 1 WHERE id = 1").unwrap();
    std::thread::scope(|scope| {
        let blocked = scope.spawn(|| waits.query("UPDATE t SET n = 2 WHERE id = 1").unwrap());
        until_waits(
            &messages,
            &[
                (WaitState::Lock, "LOCK WAIT", 1),
                (WaitState::Client, "Sleep", 1),
            ],
        );
        holds.query("COMMIT").unwrap();
        blocked.join().unwrap();
    });
    until_waits(&messages, &[(WaitState::Idle, "Sleep", 2)]);
    std::thread::scope(|scope| {
        holds.query("LOCK TABLES t WRITE").unwrap();
        let blocked = scope.spawn(|| waits.query("UPDATE t SET n = 3 WHERE id = 1").unwrap());
        let metadata = (WaitState::Lock, "Waiting for table metadata lock", 1);
        until_waits(&messages, &[metadata, (WaitState::Idle, "Sleep", 1)]);
        holds.query("UNLOCK TABLES").unwrap();
        blocked.join().unwrap();
    });
}

#[test]
fn every_metric_is_emitted_and_the_probe_neither_commits_nor_makes_temporary_tables() {
    let (server, messages) = asked();
    until_metrics(&messages, &ONLY_POSTGRES);
    const TRANSACTIONS: u32 = 2000;
    let mut session = session(&server);
    let writes = format!(
        "CREATE PROCEDURE p() BEGIN FOR i IN 1..{TRANSACTIONS} DO
            START TRANSACTION; INSERT INTO t (n) VALUES (i); UPDATE t SET n = n + 1 WHERE id = i; COMMIT;
         END FOR; END"
    );
    session.query(&writes).unwrap();
    session.query("CALL p()").unwrap();
    let mut commits = 0.0;
    let mut syncs = 0.0;
    let mut bytes = 0.0;
    let mut temporary = 0.0;
    let mut size = 0.0;
    let mut after = 0;
    until(&messages, "commits", |message| {
        let ProbeMessage::Samples(samples) = message else {
            return false;
        };
        commits += rise(samples, Metric::DbCommits);
        syncs += rise(samples, Metric::DbSyncs);
        bytes += rise(samples, Metric::DbLogBytes);
        temporary += rise(samples, Metric::DbTempTables);
        let sizes = samples
            .iter()
            .filter(|(_, metric, _)| *metric == Metric::DbSize);
        size = sizes.map(|(.., sample)| sample.value).fold(size, f32::max);
        let is_counted =
            commits >= 0.999 * f64::from(TRANSACTIONS) && syncs >= 0.99 * f64::from(TRANSACTIONS);
        after += u32::from(is_counted);
        after >= 3 && size > 0.0
    });
    assert!(commits < 1.001 * f64::from(TRANSACTIONS), "{commits}");
    assert!(bytes > 30.0 * f64::from(TRANSACTIONS), "{bytes}");
    assert!(temporary < 0.5, "{temporary}");
}

#[test]
fn a_server_that_dies_and_restarts_is_sampled_again_without_a_warning() {
    let (server, messages) = asked();
    dies_and_restarts(server, &messages, "SHOW PROCESSLIST, INNODB_TRX;");
}

#[test]
fn what_is_hidden_from_a_user_warns_once_and_the_rest_is_still_sampled() {
    let (server, messages) = started();
    let mut root = MariadbClient::connect(&server.conninfo()).unwrap();
    root.query("CREATE USER u@localhost").unwrap();
    root.query(&format!("GRANT ALL ON `{SCHEMA}`.* TO u@localhost"))
        .unwrap();
    let conninfo = server.conninfo().replace("root@", "u@");
    let mut own = MariadbClient::connect_to(&conninfo, SCHEMA).unwrap();
    own.query("BEGIN").unwrap();
    own.query("INSERT INTO t VALUES (1, 0)").unwrap();
    // Another user's in the same schema is none of plimsoll's.
    let _other = session(&server);
    ask(&server, conninfo);
    let mut warnings = Vec::new();
    let mut sized = false;
    until(&messages, "a second warning, or three seconds", {
        let mut seconds = 0;
        let warnings = &mut warnings;
        let sized = &mut sized;
        move |message| {
            match message {
                ProbeMessage::Warning(warning) => warnings.push(warning.kind.args()),
                ProbeMessage::Samples(samples) => {
                    *sized |= samples
                        .iter()
                        .any(|(_, metric, _)| *metric == Metric::DbSize)
                }
                ProbeMessage::Facts(..) | ProbeMessage::Waits(_) | ProbeMessage::Event(_) => {
                    seconds += u32::from(matches!(message, ProbeMessage::Waits(_)))
                }
            }
            seconds >= 3 && *sized && !warnings.is_empty()
        }
    });
    assert!(
        warnings.len() == 1 && warnings[0].contains(r#""what":"transactions""#),
        "{warnings:?}"
    );
    until_waits(&messages, &[(WaitState::Idle, "Sleep", 1)]);
}
