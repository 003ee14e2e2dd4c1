//! MySQL against a real server: `cargo xtask test mysql`.

use plimsoll_plan::resolved::{ManagedKind, ServerKind, Workload};
use plimsoll_plan::units::Bytes;
use plimsoll_record::WaitState;
use plimsoll_record::message::EventKind;
use plimsoll_record::message::event::NotShown;
use plimsoll_record::metric::Metric;

use crate::engine::contract::{Engine, Shared, TPCC, contract_of_managed_servers, new_order};
use crate::engine::mariadb::MariadbInsight;
use crate::engine::server::MANAGED_SCHEMA;
use crate::scratch::wait_until;

const MYSQL: Engine = Engine::Server(ServerKind::Mysql);

contract_of_managed_servers!(ManagedKind::Mysql);

#[test]
fn an_encrypted_connection_is_a_connection_like_any_other() {
    contract::encryption::encrypted(ManagedKind::Mysql)
}

/// Its counters and sessions have MariaDB's names, but for the table of files.
#[test]
fn a_server_reports_about_itself() {
    let shared = Shared::get(MYSQL);
    let _turn = shared.turn();
    let conninfo = shared.target().conninfo;
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    let connecting = MariadbInsight::connect(&conninfo, MANAGED_SCHEMA);
    let mut insight = runtime.block_on(connecting).unwrap();
    assert!(runtime.block_on(insight.size()).unwrap() > Bytes::mib(20));
    let mut user = shared.place().user(&Workload::Tpcc(TPCC));
    user.run(&new_order(&[(10, 1, 1)])).unwrap();
    let mut is_idle = || {
        let sessions = runtime.block_on(insight.sample_sessions()).unwrap();
        matches!(sessions.as_slice(), [only] if only.state == WaitState::Idle)
    };
    assert!(wait_until(60, &mut is_idle), "what it answered is sent");
    let reading = runtime.block_on(insight.read()).unwrap();
    let metrics: Vec<Metric> = reading.iter().map(|(metric, _)| *metric).collect();
    let known = [
        Metric::DbCommits,
        Metric::DbLogBytes,
        Metric::DbLogSyncs,
        Metric::DbFileReads,
        Metric::DbFileReadTime,
        Metric::DbLogWriteTime,
    ];
    for known in known {
        assert!(metrics.contains(&known), "{known:?}: {metrics:?}");
    }
}

/// A right that is missing is a warning of the run; the rest is still read.
#[test]
fn file_waits_that_are_hidden_from_a_user_are_one_warning() {
    let shared = Shared::get(MYSQL);
    let _turn = shared.turn();
    let mut root = shared.place().client();
    root.execute("CREATE USER plain@localhost");
    root.execute(&format!(
        "GRANT ALL ON {MANAGED_SCHEMA}.* TO plain@localhost"
    ));
    root.execute("GRANT PROCESS ON *.* TO plain@localhost");
    let conninfo = shared.target().conninfo.replace("root@", "plain@");
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    let connecting = MariadbInsight::connect(&conninfo, MANAGED_SCHEMA);
    let mut insight = runtime.block_on(connecting).unwrap();
    let lacks = insight.lacks();
    let [EventKind::NotShown { what, user, .. }] = lacks.as_slice() else {
        panic!("{lacks:?}")
    };
    assert_eq!((*what, user.as_str()), (NotShown::Files, "plain"));
    let reading = runtime.block_on(insight.read()).unwrap();
    let has = |wanted: Metric| reading.iter().any(|(metric, _)| *metric == wanted);
    assert!(
        has(Metric::DbCommits) && !has(Metric::DbFileReadTime),
        "{reading:?}"
    );
    root.execute("DROP USER plain@localhost");
}
