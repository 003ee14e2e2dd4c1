//! When requests to an emulated drive or array are answered.

use plimsoll_plan::units::Nanos;

use crate::model::{Assembled, Op, RequestId};
use crate::storage_model::StorageModel;

/// When a request is answered.
pub enum AnswerTime {
    After(Nanos),
    /// When this is complete.
    WhenComplete(RequestId),
}

/// A drive knows at once when it will have answered; an array when its members have, for the second phase of a write to a
/// stripe depends on what comes until then. What arrives together is answered together; the second
/// begins when the first is complete, as a flush of what it writes.
pub fn answer_time(model: &mut StorageModel, at: Nanos, ops: [Option<Op>; 2]) -> AnswerTime {
    match model {
        StorageModel::Drive(drive) => {
            let times = ops.map(|op| op.map_or(at, |op| drive.complete(at, op)));
            AnswerTime::After(times[0].max(times[1]).saturating_sub(at))
        }
        StorageModel::Array(array) => when_complete(&mut **array, at, ops),
        StorageModel::Controller(own) => when_complete(&mut **own, at, ops),
        StorageModel::Cluster(cluster) => when_complete(&mut **cluster, at, ops),
    }
}

fn when_complete(model: &mut dyn Assembled, at: Nanos, ops: [Option<Op>; 2]) -> AnswerTime {
    AnswerTime::WhenComplete(match ops {
        [Some(first), Some(then)] => model.submit_after(at, first, then),
        [Some(op), None] | [None, Some(op)] => model.submit(at, op),
        [None, None] => return AnswerTime::After(Nanos::ZERO),
    })
}
