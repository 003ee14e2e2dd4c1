//! A real PostgreSQL server, asked as in a run.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc::{self, Receiver};

use plimsoll_model::plan::resolved::ServerKind;
use plimsoll_model::record::{Sample, WaitState};
use tempfile::TempDir;

use super::*;
use crate::engine::postgres::ManagedPostgres;
use crate::engine::postgres::connect::connect;
use crate::probe::{Probe, spawn};
use crate::scratch::Scratch;

#[path = "database_tests/mariadb.rs"]
mod mariadb;

const SYSTEM: SubjectId = SubjectId(4);
/// Longer than anything here takes on a machine that does much else.
const LONG: Duration = Duration::from_secs(120);

/// Fields are dropped in this order.
struct Server {
    probe: Probe,
    server: ManagedPostgres,
    _scratch: Scratch,
    _medium: TempDir,
}

impl Server {
    fn asked() -> (Self, Receiver<News>) {
        let medium = tempfile::tempdir().unwrap();
        std::fs::set_permissions(medium.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let mut scratch = Scratch::create(medium.path(), "insight").unwrap();
        let server = ManagedPostgres::start(&mut scratch, &BTreeMap::new(), "", None).unwrap();
        let (sender, receiver) = mpsc::channel();
        let probe = spawn(Clock::real(), sender).unwrap();
        probe.ask(SYSTEM, endpoint(server.conninfo())).unwrap();
        (Self { probe, server, _scratch: scratch, _medium: medium }, receiver)
    }

    fn conninfo(&self) -> String {
        self.server.conninfo()
    }
}

fn endpoint(conninfo: String) -> Endpoint {
    Endpoint::Server { engine: ServerKind::Postgres, conninfo, schema: String::new() }
}

/// Metrics that only one of the servers tells; all others are told by both.
const ONLY_POSTGRES: [Metric; 5] =
    [Metric::DbTempBytes, Metric::DbLogSyncs, Metric::DbCheckpoints, Metric::DbCheckpointTime, Metric::DbVacuums];
const ONLY_MARIADB: [Metric; 5] =
    [Metric::DbSyncs, Metric::DbTempTables, Metric::DbLockWaits, Metric::DbPurgeLag, Metric::DbCheckpointAge];

/// Until all metrics of databases but those of the other server are told.
fn until_metrics(news: &Receiver<News>, not: &[Metric]) {
    let own = |metric: &Metric| metric.is_of_database() && !not.contains(metric);
    let mut missing: BTreeSet<Metric> = Metric::ALL.iter().copied().filter(own).collect();
    until(news, "metrics", |told| {
        if let News::Samples(samples) = told {
            assert!(samples.iter().all(|(subject, metric, _)| *subject == SYSTEM && !not.contains(metric)));
            missing.retain(|metric| !samples.iter().any(|(_, told, _)| told == metric));
        }
        missing.is_empty()
    });
}

/// What a counter rose by, as these samples tell.
fn rise(samples: &[(SubjectId, Metric, Sample)], metric: Metric) -> f64 {
    let of = samples.iter().filter(|(_, own, _)| *own == metric);
    of.map(|(.., sample)| f64::from(sample.value) * sample.over.as_secs_f64()).sum()
}

/// Until `holds`, which is asked about everything that is told.
fn until(news: &Receiver<News>, what: &str, mut holds: impl FnMut(&News) -> bool) {
    loop {
        let told = news.recv_timeout(LONG).unwrap_or_else(|_| panic!("{what}: nothing more is told"));
        if holds(&told) {
            return;
        }
    }
}

/// Until each look of a second finds exactly so many sessions in these states.
fn until_waits(news: &Receiver<News>, expected: &[(WaitState, &str, u32)]) {
    let mut last = Vec::new();
    let began = Clock::real();
    until(news, "waits", |told| {
        let News::Waits(rows) = told else { return false };
        assert!(began.now() < Nanos::from(LONG), "{last:?}");
        last.clone_from(rows);
        let seen: Vec<_> = rows.iter().map(|row| (row.state, row.event.as_str(), row.seen)).collect();
        let looks = rows.first().map_or(0, |row| row.looks);
        looks > 0 && seen == expected.iter().map(|(state, event, n)| (*state, *event, n * looks)).collect::<Vec<_>>()
    });
}

#[test]
fn sessions_are_seen_in_the_states_they_are_in() {
    let (server, news) = Server::asked();
    Clock::real()
        .block_on(async {
            let sessions = [connect(&server.conninfo()).await.unwrap(), connect(&server.conninfo()).await.unwrap()];
            let [holds, waits] = &sessions;
            holds
                .batch_execute("CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0)")
                .await
                .unwrap();
            holds.batch_execute("BEGIN; UPDATE t SET n = 1 WHERE id = 1").await.unwrap();
            let (until_seen, seen) = tokio::sync::oneshot::channel();
            let watcher = std::thread::spawn(move || {
                until_waits(&news, &[(WaitState::Lock, "transactionid", 1), (WaitState::Client, "ClientRead", 1)]);
                until_seen.send(()).unwrap();
                news
            });
            let blocked = waits.batch_execute("UPDATE t SET n = 2 WHERE id = 1");
            let release = async {
                seen.await.unwrap();
                holds.batch_execute("COMMIT").await
            };
            let (blocked, released) = tokio::join!(blocked, release);
            blocked.and(released).unwrap();
            let news = watcher.join().unwrap();
            let idle = std::thread::spawn(move || until_waits(&news, &[(WaitState::Idle, "ClientRead", 2)]));
            while !idle.is_finished() {
                // The connections live while their runtime runs.
                Clock::real().sleep(Nanos::from_millis(50)).await;
            }
            idle.join().unwrap();
        })
        .unwrap();
}

#[test]
fn every_metric_of_databases_is_emitted_and_commits_are_counted_without_the_probes_own() {
    let (server, news) = Server::asked();
    until_metrics(&news, &ONLY_MARIADB);
    const TRANSACTIONS: u32 = 3000;
    let writes =
        format!("DO $$ BEGIN FOR i IN 1..{TRANSACTIONS} LOOP INSERT INTO t VALUES (i); COMMIT; END LOOP; END $$");
    let clock = Clock::real();
    let writes = clock.block_on(async {
        let client = connect(&server.conninfo()).await.unwrap();
        client.batch_execute("CREATE TABLE t (i int)").await.unwrap();
        client.batch_execute(&writes).await.unwrap();
    });
    writes.unwrap();
    let (mut commits, mut syncs, mut bytes) = (0.0, 0.0, 0.0);
    until(&news, "commits", |told| {
        let News::Samples(samples) = told else { return false };
        commits += rise(samples, Metric::DbCommits);
        syncs += rise(samples, Metric::DbLogSyncs);
        bytes += rise(samples, Metric::DbLogBytes);
        commits >= 0.99 * f64::from(TRANSACTIONS) && syncs >= 0.99 * f64::from(TRANSACTIONS)
    });
    // The rest is setting up, and the probe's own by less than a second of them.
    assert!(commits < 1.02 * f64::from(TRANSACTIONS), "{commits}");
    assert!(bytes > 30.0 * f64::from(TRANSACTIONS), "{bytes}");
}

#[test]
fn a_server_that_dies_and_comes_back_is_asked_again_without_a_word() {
    let (server, news) = Server::asked();
    let waits = |told: &News| match told {
        News::Waits(_) => true,
        News::Warning(warning) => panic!("{warning:?}"),
        _ => false,
    };
    until(&news, "before", waits);
    server.server.process().crash().unwrap();
    server.server.restart(&|| false).unwrap();
    let facts = |told: &News| matches!(told, News::Facts(SYSTEM, facts) if facts[0].1 == "pg_stat_activity");
    until(&news, "a new connection", facts);
    until(&news, "after", waits);
    server.probe.unwatch(SYSTEM);
    drop(server);
    assert!(news.iter().all(|told| !matches!(told, News::Warning(_))), "the sender is gone with the threads");
}

#[test]
fn a_server_that_never_answers_is_told_once_and_keeps_nobody_waiting() {
    let (sender, news) = mpsc::channel();
    let probe = spawn(Clock::real(), sender).unwrap();
    let conninfo = "postgres://u:secret@127.0.0.1:1/db".to_owned();
    probe.ask(SYSTEM, endpoint(conninfo)).unwrap();
    let mut warnings = Vec::new();
    let mut seconds = 0;
    until(&news, "seconds", |told| {
        match told {
            News::Warning(warning) => warnings.push(warning.clone()),
            News::Samples(_) => seconds += 1,
            other => panic!("{other:?}"),
        }
        seconds >= 3 && !warnings.is_empty()
    });
    assert_eq!(probe.stop(), []);
    assert!(warnings.len() == 1 && warnings[0].text.contains("127.0.0.1:1"), "{warnings:?}");
    assert!(!warnings[0].text.contains("secret"));
    assert!(news.iter().all(|told| matches!(told, News::Samples(_))));
}
