//! SQL Server against a server that speaks its protocol: `cargo xtask test sqlserver URL`.

use plimsoll_plan::resolved::ServerKind;

use crate::engine::contract::{Engine, Shared, contract_of_servers};

contract_of_servers!(ServerKind::Sqlserver);

#[test]
fn the_server_is_described() {
    let shared = Shared::get(Engine::Server(ServerKind::Sqlserver));
    let facts = shared.target().facts().unwrap();
    let known = ["SQL Server ", "Babelfish, not a SQL Server"];
    assert!(
        known.iter().any(|name| facts.version.starts_with(name)),
        "{}",
        facts.version
    );
    for name in ["recovery_model", "snapshot_isolation"] {
        assert!(
            facts.settings.iter().any(|(own, _)| own == name),
            "{name}: {facts:?}"
        );
    }
}
