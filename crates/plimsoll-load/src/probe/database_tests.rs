//! A real PostgreSQL server, asked as in a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{self, Receiver};

use plimsoll_plan::resolved::{ManagedKind, ServerKind};
use plimsoll_record::{Sample, WaitState};
use tempfile::TempDir;

use super::*;
use crate::engine::contract::medium;
use crate::engine::postgres::connect::connect;
use crate::engine::server::ManagedServer;
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
    server: ManagedServer,
    _scratch: Scratch,
    _medium: TempDir,
}

impl Server {
    /// Not yet sampled.
    fn started(kind: ManagedKind) -> (Self, Receiver<ProbeMessage>) {
        let medium = medium();
        let mut scratch = Scratch::create(medium.path(), "insight").unwrap();
        let server = ManagedServer::start(kind, &mut scratch, &BTreeMap::new(), "", None).unwrap();
        let (sender, receiver) = mpsc::channel();
        let server = Self {
            probe: spawn(Clock::real(), sender).unwrap(),
            server,
            _scratch: scratch,
            _medium: medium,
        };
        (server, receiver)
    }

    fn asked() -> (Self, Receiver<ProbeMessage>) {
        let (server, messages) = Self::started(ManagedKind::Postgres);
        server
            .probe
            .ask(SYSTEM, endpoint(server.conninfo()))
            .unwrap();
        (server, messages)
    }

    fn conninfo(&self) -> String {
        self.server.conninfo()
    }
}

fn endpoint(conninfo: String) -> Endpoint {
    Endpoint::Server {
        engine: ServerKind::Postgres,
        conninfo: conninfo.into(),
        schema: String::new(),
    }
}

/// Metrics that only one of the servers reports; both report all others.
const ONLY_POSTGRES: [Metric; 5] = [
    Metric::DbTempBytes,
    Metric::DbLogSyncs,
    Metric::DbCheckpoints,
    Metric::DbCheckpointTime,
    Metric::DbVacuums,
];
const ONLY_MARIADB: [Metric; 8] = [
    Metric::DbCheckpointPages,
    Metric::DbLazyWrites,
    Metric::DbFileReads,
    Metric::DbSyncs,
    Metric::DbTempTables,
    Metric::DbLockWaits,
    Metric::DbPurgeLag,
    Metric::DbCheckpointAge,
];
/// Of SQL Server, and some of MySQL.
const ELSEWHERE: [Metric; 6] = [
    Metric::DbLatchWaits,
    Metric::DbMemory,
    Metric::DbFileReadTime,
    Metric::DbFileWrites,
    Metric::DbFileWriteTime,
    Metric::DbLogWriteTime,
];

/// Counted by its sessions: see `engine::sqlite::insight`.
const ONLY_SQLITE: [Metric; 2] = [Metric::DbCheckpointFrames, Metric::DbLogSize];

/// Until all metrics of databases but those of the other server have arrived.
fn until_metrics(messages: &Receiver<ProbeMessage>, not: &[Metric]) {
    let never = [&ELSEWHERE[..], &ONLY_SQLITE].concat();
    let is_others = |metric: &Metric| not.contains(metric) || never.contains(metric);
    let own = |metric: &Metric| metric.is_of_database() && !is_others(metric);
    let mut missing: BTreeSet<Metric> = Metric::ALL.iter().copied().filter(own).collect();
    until(messages, "metrics", |message| {
        if let ProbeMessage::Samples(samples) = message {
            assert!(
                samples
                    .iter()
                    .all(|(subject, metric, _)| *subject == SYSTEM && !not.contains(metric))
            );
            missing.retain(|metric| !samples.iter().any(|(_, sampled, _)| sampled == metric));
        }
        missing.is_empty()
    });
}

/// What a counter rose by in these samples.
fn rise(samples: &[(SubjectId, Metric, Sample)], metric: Metric) -> f64 {
    let of = samples.iter().filter(|(_, own, _)| *own == metric);
    of.map(|(.., sample)| f64::from(sample.value) * sample.over.as_secs_f64())
        .sum()
}

/// Until `holds` for a message.
fn until(
    messages: &Receiver<ProbeMessage>,
    what: &str,
    mut holds: impl FnMut(&ProbeMessage) -> bool,
) {
    loop {
        let message = messages
            .recv_timeout(LONG)
            .unwrap_or_else(|_| panic!("{what}: no more messages"));
        if holds(&message) {
            return;
        }
    }
}

/// Until each sample of a second has exactly so many sessions in these states.
fn until_waits(messages: &Receiver<ProbeMessage>, expected: &[(WaitState, &str, u32)]) {
    let mut last = Vec::new();
    let began = Clock::real();
    until(messages, "waits", |message| {
        let ProbeMessage::Waits(rows) = message else {
            return false;
        };
        assert!(began.now() < Nanos::from(LONG), "{last:?}");
        last.clone_from(rows);
        let counts: Vec<_> = rows
            .iter()
            .map(|row| (row.state, row.event.as_str(), row.sessions))
            .collect();
        let samples = rows.first().map_or(0, |row| row.samples);
        samples > 0
            && counts
                == expected
                    .iter()
                    .map(|(state, event, n)| (*state, *event, n * samples))
                    .collect::<Vec<_>>()
    });
}

#[test]
fn sessions_are_sampled_in_their_states() {
    let (server, messages) = Server::asked();
    Clock::real()
        .block_on(async {
            let sessions = [
                connect(&server.conninfo()).await.unwrap(),
                connect(&server.conninfo()).await.unwrap(),
            ];
            let [holds, waits] = &sessions;
            holds
                .batch_execute(
                    "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0)",
                )
                .await
                .unwrap();
            holds
                .batch_execute("BEGIN; UPDATE t SET n = 1 WHERE id = 1")
                .await
                .unwrap();
            let (sampled, until_sampled) = tokio::sync::oneshot::channel();
            let watcher = std::thread::spawn(move || {
                until_waits(
                    &messages,
                    &[
                        (WaitState::Lock, "transactionid", 1),
                        (WaitState::Client, "ClientRead", 1),
                    ],
                );
                sampled.send(()).unwrap();
                messages
            });
            let blocked = waits.batch_execute("UPDATE t SET n = 2 WHERE id = 1");
            let release = async {
                until_sampled.await.unwrap();
                holds.batch_execute("COMMIT").await
            };
            let (blocked, released) = tokio::join!(blocked, release);
            blocked.and(released).unwrap();
            let messages = watcher.join().unwrap();
            let idle = std::thread::spawn(move || {
                until_waits(&messages, &[(WaitState::Idle, "ClientRead", 2)])
            });
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
    let (server, messages) = Server::asked();
    until_metrics(&messages, &ONLY_MARIADB);
    const TRANSACTIONS: u32 = 3000;
    let writes = format!(
        "DO $$ BEGIN FOR i IN 1..{TRANSACTIONS} LOOP INSERT INTO t VALUES (i); COMMIT; END LOOP; END $$"
    );
    let clock = Clock::real();
    let writes = clock.block_on(async {
        let client = connect(&server.conninfo()).await.unwrap();
        client
            .batch_execute("CREATE TABLE t (i int)")
            .await
            .unwrap();
        client.batch_execute(&writes).await.unwrap();
    });
    writes.unwrap();
    let mut commits = 0.0;
    let mut syncs = 0.0;
    let mut bytes = 0.0;
    until(&messages, "commits", |message| {
        let ProbeMessage::Samples(samples) = message else {
            return false;
        };
        commits += rise(samples, Metric::DbCommits);
        syncs += rise(samples, Metric::DbLogSyncs);
        bytes += rise(samples, Metric::DbLogBytes);
        commits >= 0.99 * f64::from(TRANSACTIONS) && syncs >= 0.99 * f64::from(TRANSACTIONS)
    });
    // The rest is setting up, and the probe's own by less than a second of them.
    assert!(commits < 1.02 * f64::from(TRANSACTIONS), "{commits}");
    assert!(bytes > 30.0 * f64::from(TRANSACTIONS), "{bytes}");
}

/// Samples come again after a crash, and the facts begin with the source of the wait states.
fn dies_and_restarts(server: Server, messages: &Receiver<ProbeMessage>, source: &str) {
    let waits = |message: &ProbeMessage| match message {
        ProbeMessage::Waits(_) => true,
        ProbeMessage::Warning(warning) => panic!("{warning:?}"),
        _ => false,
    };
    until(messages, "before", waits);
    server.server.process().crash().unwrap();
    server.server.restart(&|| false).unwrap();
    until(
        messages,
        "a new connection",
        |message| matches!(message, ProbeMessage::Facts(SYSTEM, facts) if facts[0].1.starts_with(source)),
    );
    until(messages, "after", waits);
    server.probe.unwatch(SYSTEM);
    drop(server);
    // The sender is gone with the threads.
    let mut rest = messages.iter();
    assert!(rest.all(|message| !matches!(message, ProbeMessage::Warning(_))));
}

#[test]
fn a_server_that_dies_and_restarts_is_sampled_again_without_a_warning() {
    let (server, messages) = Server::asked();
    dies_and_restarts(server, &messages, "pg_stat_activity");
}

#[test]
fn a_server_that_never_answers_warns_once_and_delays_no_other_sample() {
    let (sender, messages) = mpsc::channel();
    let probe = spawn(Clock::real(), sender).unwrap();
    let conninfo = "postgres://u:secret@127.0.0.1:1/db".to_owned();
    probe.ask(SYSTEM, endpoint(conninfo)).unwrap();
    let mut warnings = Vec::new();
    let mut seconds = 0;
    until(&messages, "seconds", |message| {
        match message {
            ProbeMessage::Warning(warning) => warnings.push(warning.clone()),
            ProbeMessage::Samples(_) => seconds += 1,
            other => panic!("{other:?}"),
        }
        seconds >= 3 && !warnings.is_empty()
    });
    assert_eq!(probe.stop(), []);
    drop(probe);
    assert!(
        warnings.len() == 1 && warnings[0].kind.args().contains("127.0.0.1:1"),
        "{warnings:?}"
    );
    assert!(!warnings[0].kind.args().contains("secret"));
    assert!(
        messages
            .iter()
            .all(|message| matches!(message, ProbeMessage::Samples(_)))
    );
}
