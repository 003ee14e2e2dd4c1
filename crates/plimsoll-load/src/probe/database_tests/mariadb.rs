//! A real MariaDB server, asked as in a run.

use mysql::Conn;
use mysql::prelude::Queryable;

use super::*;
use crate::engine::mariadb::ManagedMariadb;
use crate::engine::mariadb::connect::{connect, connect_to};

/// Its files have another name.
const SCHEMA: &str = "the schema-1";

/// Fields are dropped in this order.
struct Server {
    probe: Probe,
    server: ManagedMariadb,
    _scratch: Scratch,
    _medium: TempDir,
}

impl Server {
    /// With an empty table; nobody asks it yet.
    fn started() -> (Self, Receiver<News>) {
        let medium = tempfile::tempdir().unwrap();
        std::fs::set_permissions(medium.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let mut scratch = Scratch::create(medium.path(), "insight").unwrap();
        let server = ManagedMariadb::start(&mut scratch, &BTreeMap::new(), "", None).unwrap();
        let mut conn = connect(&server.conninfo()).unwrap();
        conn.query_drop(format!("CREATE DATABASE `{SCHEMA}`")).unwrap();
        conn.query_drop(format!(
            "CREATE TABLE `{SCHEMA}`.t (id int PRIMARY KEY AUTO_INCREMENT, n int) ENGINE = InnoDB"
        ))
        .unwrap();
        let (sender, receiver) = mpsc::channel();
        let probe = spawn(Clock::real(), sender).unwrap();
        (Self { probe, server, _scratch: scratch, _medium: medium }, receiver)
    }

    fn asked() -> (Self, Receiver<News>) {
        let (server, news) = Self::started();
        server.ask(server.server.conninfo());
        (server, news)
    }

    fn ask(&self, conninfo: String) {
        let endpoint = Endpoint::Server { engine: ServerKind::Mariadb, conninfo, schema: SCHEMA.into() };
        self.probe.ask(SYSTEM, endpoint).unwrap();
    }

    fn session(&self) -> Conn {
        let mut conn = connect_to(&self.server.conninfo(), SCHEMA).unwrap();
        conn.query_drop("SET SESSION innodb_lock_wait_timeout = 1000").unwrap();
        conn
    }
}

fn is_of_system(told: &News) -> bool {
    match told {
        News::Waits(_) => true,
        News::Warning(warning) => panic!("{warning:?}"),
        _ => false,
    }
}

#[test]
fn sessions_are_seen_in_the_states_they_are_in() {
    let (server, news) = Server::asked();
    let (mut holds, mut waits) = (server.session(), server.session());
    // A session elsewhere is none of plimsoll's.
    let mut stranger = connect(&server.server.conninfo()).unwrap();
    stranger.query_drop("START TRANSACTION WITH CONSISTENT SNAPSHOT").unwrap();
    holds.query_drop("INSERT INTO t VALUES (1, 0)").unwrap();
    holds.query_drop("BEGIN").unwrap();
    holds.query_drop("UPDATE t SET n = 1 WHERE id = 1").unwrap();
    std::thread::scope(|scope| {
        let blocked = scope.spawn(|| waits.query_drop("UPDATE t SET n = 2 WHERE id = 1").unwrap());
        until_waits(&news, &[(WaitState::Lock, "LOCK WAIT", 1), (WaitState::Client, "Sleep", 1)]);
        holds.query_drop("COMMIT").unwrap();
        blocked.join().unwrap();
    });
    until_waits(&news, &[(WaitState::Idle, "Sleep", 2)]);
    std::thread::scope(|scope| {
        holds.query_drop("LOCK TABLES t WRITE").unwrap();
        let blocked = scope.spawn(|| waits.query_drop("UPDATE t SET n = 3 WHERE id = 1").unwrap());
        let metadata = (WaitState::Lock, "Waiting for table metadata lock", 1);
        until_waits(&news, &[metadata, (WaitState::Idle, "Sleep", 1)]);
        holds.query_drop("UNLOCK TABLES").unwrap();
        blocked.join().unwrap();
    });
}

#[test]
fn every_metric_is_emitted_and_the_probe_neither_commits_nor_makes_temporary_tables() {
    let (server, news) = Server::asked();
    until_metrics(&news, &ONLY_POSTGRES);
    const TRANSACTIONS: u32 = 2000;
    let mut session = server.session();
    let writes = format!(
        "CREATE PROCEDURE p() BEGIN FOR i IN 1..{TRANSACTIONS} DO
            START TRANSACTION; INSERT INTO t (n) VALUES (i); UPDATE t SET n = n + 1 WHERE id = i; COMMIT;
         END FOR; END"
    );
    session.query_drop(writes).unwrap();
    session.query_drop("CALL p()").unwrap();
    let (mut commits, mut syncs, mut bytes, mut temporary, mut size, mut after) = (0.0, 0.0, 0.0, 0.0, 0.0, 0);
    until(&news, "commits", |told| {
        let News::Samples(samples) = told else { return false };
        commits += rise(samples, Metric::DbCommits);
        syncs += rise(samples, Metric::DbSyncs);
        bytes += rise(samples, Metric::DbLogBytes);
        temporary += rise(samples, Metric::DbTempTables);
        let sizes = samples.iter().filter(|(_, metric, _)| *metric == Metric::DbSize);
        size = sizes.map(|(.., sample)| sample.value).fold(size, f32::max);
        let is_counted = commits >= 0.999 * f64::from(TRANSACTIONS) && syncs >= 0.99 * f64::from(TRANSACTIONS);
        after += u32::from(is_counted);
        after >= 3 && size > 0.0
    });
    assert!(commits < 1.001 * f64::from(TRANSACTIONS), "{commits}");
    assert!(bytes > 30.0 * f64::from(TRANSACTIONS), "{bytes}");
    assert!(temporary < 0.5, "{temporary}");
}

#[test]
fn a_server_that_dies_and_comes_back_is_asked_again_without_a_word() {
    let (server, news) = Server::asked();
    until(&news, "before", is_of_system);
    server.server.process().crash().unwrap();
    server.server.restart(&|| false).unwrap();
    let facts = |told: &News| matches!(told, News::Facts(SYSTEM, facts) if facts[0].1.starts_with("SHOW PROCESSLIST, INNODB_TRX;"));
    until(&news, "a new connection", facts);
    until(&news, "after", is_of_system);
    server.probe.unwatch(SYSTEM);
    drop(server);
    assert!(news.iter().all(|told| !matches!(told, News::Warning(_))), "the sender is gone with the threads");
}

#[test]
fn what_is_hidden_from_a_user_is_told_once_and_the_rest_is_still_asked_for() {
    let (server, news) = Server::started();
    let mut root = connect(&server.server.conninfo()).unwrap();
    root.query_drop("CREATE USER u@localhost").unwrap();
    root.query_drop(format!("GRANT ALL ON `{SCHEMA}`.* TO u@localhost")).unwrap();
    let conninfo = server.server.conninfo().replace("root@", "u@");
    let mut own = connect_to(&conninfo, SCHEMA).unwrap();
    own.query_drop("BEGIN").unwrap();
    own.query_drop("INSERT INTO t VALUES (1, 0)").unwrap();
    // Another user's in the same schema is none of plimsoll's.
    let _other = server.session();
    server.ask(conninfo);
    let (mut warnings, mut sized) = (Vec::new(), false);
    until(&news, "a second warning, or three seconds", {
        let mut seconds = 0;
        let (warnings, sized) = (&mut warnings, &mut sized);
        move |told| {
            match told {
                News::Warning(warning) => warnings.push(warning.text.clone()),
                News::Samples(samples) => *sized |= samples.iter().any(|(_, metric, _)| *metric == Metric::DbSize),
                News::Facts(..) | News::Waits(_) => seconds += u32::from(matches!(told, News::Waits(_))),
            }
            seconds >= 3 && *sized && !warnings.is_empty()
        }
    });
    assert!(warnings.len() == 1 && warnings[0].contains("GRANT PROCESS"), "{warnings:?}");
    until_waits(&news, &[(WaitState::Idle, "Sleep", 1)]);
}
