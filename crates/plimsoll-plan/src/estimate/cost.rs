//! What engines and data take. All constants are estimates.

use crate::engine::DataCost;
use crate::resolved::{EngineKind, ManagedKind, SystemKind, Workload};
use crate::size;
use crate::units::Bytes;

/// PostgreSQL's default.
const USUAL_MAX_WAL: Bytes = Bytes::mib(1 << 10);

/// Space of a system without data, with its settings.
pub fn space_of(system: &SystemKind) -> Bytes {
    let space = system.engine().info().space;
    let SystemKind::Managed {
        engine: ManagedKind::Postgres,
        settings,
        ..
    } = system
    else {
        return space;
    };
    let wal = settings
        .get("max_wal_size")
        .and_then(|size| size::parse(size).ok())
        .unwrap_or(USUAL_MAX_WAL);
    Bytes(space.0 - USUAL_MAX_WAL.0) + wal
}

/// All data of a workload on an engine.
pub fn cost(engine: EngineKind, workload: &Workload) -> DataCost {
    let info = engine.info();
    let (unit, units) = match workload {
        Workload::Tpcc(tpcc) => (info.warehouse, u64::from(tpcc.warehouses)),
        Workload::Sysbench(sysbench) => {
            let rows = u64::from(sysbench.tables) * u64::from(sysbench.rows);
            (info.row, rows)
        }
    };
    let DataCost { load, check, space } = unit;
    DataCost {
        load: load * units,
        check: check * units,
        space: space * units,
    }
}
