//! How fast an array or a cluster rebuilds a member when nothing else is asked of it.

use plimsoll_plan::assembly::DriveAssembly;
use plimsoll_plan::units::{Bytes, Nanos};

use crate::model::{Setup, Storage};
use crate::spec::DriveSpec;
use crate::storage_model::StorageModel;

/// Bytes of each member that are rebuilt for the figure.
const SAMPLE: u64 = 1 << 30;

/// Bytes of the new member in a second; `None` where none can be rebuilt.
pub fn rebuild_rate(spec: &DriveSpec) -> Option<f64> {
    let mut rebuilding = spec.assembly.as_ref()?.rebuilding(0).ok()?;
    if let DriveAssembly::Cluster(own) = &mut rebuilding {
        // So many that every drive holds something.
        own.vdisks = own.vdisks.max(own.hosts * own.drives);
    }
    let setup = Setup {
        capacity: Bytes(rebuilding.usable(SAMPLE)),
        fill: 1.0,
        seed: 1,
        ignores_flush: false,
    };
    let spec = DriveSpec {
        assembly: Some(rebuilding),
        ..spec.clone()
    };
    let mut model = StorageModel::new(&spec, &setup);
    let mut now = Nanos::ZERO;
    while let Some(next) = model.next_event() {
        now = next;
        model.advance(now);
    }
    Some(model.assembled()?.rebuilt().0 as f64 / now.as_secs_f64())
}
