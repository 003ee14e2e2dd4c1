//! What SQLite costs of a processor's time. The same for all media of a comparison, and the same in each run: CPU time that is
//! measured while others use the machine moves by a third, and with it every ratio.

use plimsoll_plan::units::Nanos;

/// Costs in nanoseconds of a processor of speed 1.
///
/// Fitted to the CPU time of a thread (`CLOCK_THREAD_CPUTIME_ID`) that ran TPC-C-derived transactions and sysbench's on tmpfs;
/// how, and how well they fit, is in docs/method.md.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuCosts {
    /// Of a statement, from its binding to its reset.
    pub statement: f64,
    /// Of an instruction of SQLite's virtual machine (`SQLITE_STMTSTATUS_VM_STEP`).
    pub vm_step: f64,
    /// Of a read from the page cache: the call, and the copy of a page.
    pub read: f64,
    /// Of a write to the page cache, and of a KiB of it.
    pub write: f64,
    pub written_kib: f64,
    /// Of a call to lock or unlock.
    pub lock: f64,
    /// Of a call to sync.
    pub sync: f64,
    /// Of a request to the block device: filesystem, block layer, driver, interrupt.
    pub request: f64,
}

impl CpuCosts {
    pub const REFERENCE: Self = Self {
        statement: 4_000.0,
        vm_step: 30.0,
        read: 1_500.0,
        write: 1_500.0,
        written_kib: 100.0,
        lock: 700.0,
        sync: 3_000.0,
        request: 5_000.0,
    };

    /// Of a processor of this speed: 2 does the same in half the time.
    pub fn at_speed(self, speed: f64) -> Self {
        let Self {
            statement,
            vm_step,
            read,
            write,
            written_kib,
            lock,
            sync,
            request,
        } = self;
        Self {
            statement: statement / speed,
            vm_step: vm_step / speed,
            read: read / speed,
            write: write / speed,
            written_kib: written_kib / speed,
            lock: lock / speed,
            sync: sync / speed,
            request: request / speed,
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
                statement,
                vm_step,
                read,
                write,
                written_kib,
                lock,
                sync,
                request,
            } = *costs;
            [
                statement,
                vm_step,
                read,
                write,
                written_kib,
                lock,
                sync,
                request,
            ]
        };
        let pairs = all(&fast).into_iter().zip(all(&CpuCosts::REFERENCE));
        for (fast, reference) in pairs {
            assert_eq!(fast * 2.0, reference);
        }
        assert_eq!(
            CpuCosts::REFERENCE.of(3.0, |costs| costs.lock),
            Nanos(2_100)
        );
    }
}
