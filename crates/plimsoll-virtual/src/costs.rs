//! What SQLite costs of a processor's time. The same for all media of a comparison, and the same in each run: CPU time that is
//! measured while others use the machine moves by a third, and with it every ratio.

use plimsoll_plan::units::Nanos;

/// In nanoseconds of a processor of speed 1. Assumed in round numbers: nothing was fitted to them yet, so figures that rest on
/// them must not be quoted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuCosts {
    /// Of a statement, from its binding to its reset.
    pub statement_ns: f64,
    /// Of an instruction of SQLite's virtual machine (`SQLITE_STMTSTATUS_VM_STEP`).
    pub vm_step_ns: f64,
    /// Of a read from the page cache: the call, and the copy of a page.
    pub read_ns: f64,
    /// Of a write to the page cache, and of a KiB of it.
    pub write_ns: f64,
    pub written_kib_ns: f64,
    /// Of a call to lock or unlock.
    pub lock_ns: f64,
    /// Of a call to sync.
    pub sync_ns: f64,
    /// Of a request to the block device: filesystem, block layer, driver, interrupt.
    pub request_ns: f64,
}

impl CpuCosts {
    pub const REFERENCE: Self = Self {
        statement_ns: 4_000.0,
        vm_step_ns: 30.0,
        read_ns: 1_500.0,
        write_ns: 1_500.0,
        written_kib_ns: 100.0,
        lock_ns: 700.0,
        sync_ns: 3_000.0,
        request_ns: 5_000.0,
    };

    /// Of a processor of this speed: 2 does the same in half the time.
    pub fn at_speed(self, speed: f64) -> Self {
        let Self {
            statement_ns,
            vm_step_ns,
            read_ns,
            write_ns,
            written_kib_ns,
            lock_ns,
            sync_ns,
            request_ns,
        } = self;
        Self {
            statement_ns: statement_ns / speed,
            vm_step_ns: vm_step_ns / speed,
            read_ns: read_ns / speed,
            write_ns: write_ns / speed,
            written_kib_ns: written_kib_ns / speed,
            lock_ns: lock_ns / speed,
            sync_ns: sync_ns / speed,
            request_ns: request_ns / speed,
        }
    }

    /// Of so many, as a time.
    pub fn of(self, count: f64, each: impl Fn(&Self) -> f64) -> Nanos {
        Nanos((count * each(&self)).max(0.0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_of_twice_the_speed_takes_half_the_time_for_everything() {
        let fast = CpuCosts::REFERENCE.at_speed(2.0);
        let all = |costs: &CpuCosts| {
            let CpuCosts {
                statement_ns,
                vm_step_ns,
                read_ns,
                write_ns,
                written_kib_ns,
                lock_ns,
                sync_ns,
                request_ns,
            } = *costs;
            [
                statement_ns,
                vm_step_ns,
                read_ns,
                write_ns,
                written_kib_ns,
                lock_ns,
                sync_ns,
                request_ns,
            ]
        };
        let pairs = all(&fast).into_iter().zip(all(&CpuCosts::REFERENCE));
        for (fast, reference) in pairs {
            assert_eq!(fast * 2.0, reference);
        }
        assert_eq!(
            CpuCosts::REFERENCE.of(3.0, |costs| costs.lock_ns),
            Nanos(2_100)
        );
    }
}
