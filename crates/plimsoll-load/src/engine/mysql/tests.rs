//! MySQL against a real server: `cargo xtask test mysql`.

use plimsoll_plan::resolved::{ManagedKind, ServerKind, Workload};
use plimsoll_plan::units::Bytes;
use plimsoll_record::WaitState;
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
