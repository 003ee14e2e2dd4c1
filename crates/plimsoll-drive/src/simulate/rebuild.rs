//! How fast an array rebuilds a member when nothing else is asked of it.

use plimsoll_plan::array::ArraySpec;
use plimsoll_plan::units::{Bytes, Nanos};

use crate::array::Array;
use crate::model::Setup;
use crate::spec::DriveSpec;

/// Bytes of each member that are rebuilt for the figure.
const SAMPLE: u64 = 1 << 30;

/// Bytes of the new member in a second; `None` for a level that cannot rebuild.
pub fn rebuild_rate(spec: &DriveSpec, array: &ArraySpec) -> Option<f64> {
    let rebuilding = ArraySpec {
        failed: Vec::new(),
        rebuild: Some(0),
        ..array.clone()
    };
    rebuilding.check().ok()?;
    let setup = Setup {
        capacity: Bytes(rebuilding.usable(SAMPLE)),
        fill: 1.0,
        seed: 1,
        ignores_flush: false,
    };
    let mut model = Array::new(spec, &rebuilding, &setup);
    let mut now = Nanos::ZERO;
    while let Some(next) = model.next_event() {
        now = next;
        model.advance(now);
    }
    Some(model.rebuilt().0 as f64 / now.as_secs_f64())
}
