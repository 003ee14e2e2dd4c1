//! The memory of the process, which holds passwords while a run lasts.

use rustix::process::{
    DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit,
};

/// Keeps the memory out of core dumps and of debuggers of the same user. Programs that plimsoll starts can be debugged,
/// but leave no core dumps either: passwords are in their environment.
pub fn keep_from_dumps() {
    let limit = Rlimit {
        current: Some(0),
        maximum: getrlimit(Resource::Core).maximum,
    };
    // Either is enough for this process, and neither fails where it is known.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let _ = setrlimit(Resource::Core, limit);
}
