//! What engines and data take. All constants are estimates.

use crate::resolved::{EngineKind, ManagedKind, SystemKind, Workload};
use crate::size;
use crate::units::{Bytes, Nanos};

/// What an engine takes without data: time to start, and space. Estimates.
pub struct Base {
    pub start: Nanos,
    pub space: Bytes,
}

/// What a workload's data takes on an engine. Estimates.
#[derive(Default, Clone, Copy)]
pub struct Cost {
    pub load: Nanos,
    pub check: Nanos,
    /// With indexes.
    pub space: Bytes,
}

/// PostgreSQL's default.
const USUAL_MAX_WAL: u64 = 1 << 30;

pub fn base(engine: EngineKind) -> Base {
    let millis = Nanos::from_millis;
    match engine {
        EngineKind::Mock => Base {
            start: Nanos::ZERO,
            space: Bytes(0),
        },
        // The WAL file grows with the longest transaction, the load.
        EngineKind::Sqlite => Base {
            start: millis(100),
            space: Bytes::mib(64),
        },
        // An empty cluster takes 40 MB, and the WAL up to max_wal_size, exceeded for a while under load.
        EngineKind::Postgres => Base {
            start: millis(4_000),
            space: Bytes(1_200 * MB),
        },
        // System tables, redo log (96 MiB), undo and temporary tablespaces.
        EngineKind::Mariadb => Base {
            start: millis(8_000),
            space: Bytes(600 * MB),
        },
        // The same, with 100 MB of redo log (innodb_redo_log_capacity) and a binary log, which grows.
        EngineKind::Mysql => Base {
            start: millis(8_000),
            space: Bytes(900 * MB),
        },
        // It is there already, and on no medium of the plan's.
        EngineKind::Sqlserver => Base {
            start: Nanos::ZERO,
            space: Bytes(0),
        },
    }
}

/// [`Base::space`] of a system, with its settings.
pub fn space_of(system: &SystemKind) -> Bytes {
    let space = base(system.engine()).space;
    let SystemKind::Managed {
        engine: ManagedKind::Postgres,
        settings,
        ..
    } = system
    else {
        return space;
    };
    let wal = settings.get("max_wal_size");
    let wal = wal.and_then(|size| size::parse(size).ok());
    Bytes(space.0 - USUAL_MAX_WAL + wal.map_or(USUAL_MAX_WAL, |own| own.0))
}

/// Of one warehouse, or of one row of sysbench's.
fn unit_cost(engine: EngineKind, workload: &Workload) -> Cost {
    let cost = |load, check, space| Cost {
        load: Nanos::from_micros(load),
        check: Nanos::from_micros(check),
        space,
    };
    match (engine, workload) {
        (EngineKind::Mock, _) => Cost::default(),
        (EngineKind::Sqlite, Workload::Tpcc(_)) => cost(5_000_000, 500_000, Bytes(90 * MB)),
        (EngineKind::Postgres, Workload::Tpcc(_)) => cost(4_000_000, 500_000, Bytes(110 * MB)),
        (EngineKind::Mariadb | EngineKind::Mysql | EngineKind::Sqlserver, Workload::Tpcc(_)) => {
            cost(6_000_000, 1_500_000, Bytes(140 * MB))
        }
        (EngineKind::Sqlite, Workload::Sysbench(_)) => cost(5, 1, Bytes(230)),
        (_, Workload::Sysbench(_)) => cost(5, 1, Bytes(280)),
    }
}

pub fn cost(engine: EngineKind, workload: &Workload) -> Cost {
    let units = match workload {
        Workload::Tpcc(tpcc) => u64::from(tpcc.warehouses),
        Workload::Sysbench(sysbench) => u64::from(sysbench.tables) * u64::from(sysbench.rows),
    };
    let Cost { load, check, space } = unit_cost(engine, workload);
    Cost {
        load: Nanos(load.0.saturating_mul(units)),
        check: Nanos(check.0.saturating_mul(units)),
        space: Bytes(space.0.saturating_mul(units)),
    }
}

/// Decimal megabytes.
const MB: u64 = 1_000_000;
