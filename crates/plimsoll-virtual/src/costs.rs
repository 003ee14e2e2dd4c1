//! What SQLite costs of a processor's time. The same for all media of a comparison, and the same in each run: CPU time that is
//! measured while others use the machine moves by a third, and with it every ratio.

use plimsoll_plan::units::Nanos;

/// What a program needs a processor for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuUse {
    /// A transaction of the client: its inputs, its times, its passing on to a connection.
    Transaction,
    /// A statement, from its binding to its reset.
    Statement,
    /// An instruction of SQLite's virtual machine (`SQLITE_STMTSTATUS_VM_STEP`).
    VmStep,
    /// A value that is bound to a statement or taken from a row.
    Value,
    /// A read from the page cache: the call, and the copy of a page.
    Read,
    /// A write to the page cache: the call, and the copy of a page.
    Write,
    /// A call to lock or unlock.
    Lock,
    /// A program that waited for another one, or for the drive, goes on: a switch of processes, and cold caches.
    Wake,
    /// A call to sync.
    Sync,
    /// A request to the block device: filesystem, block layer, driver, interrupt.
    Request,
}

impl CpuUse {
    pub const ALL: [Self; 10] = [
        Self::Transaction,
        Self::Statement,
        Self::VmStep,
        Self::Value,
        Self::Read,
        Self::Write,
        Self::Lock,
        Self::Wake,
        Self::Sync,
        Self::Request,
    ];
}

/// How often each was needed, by [`CpuUse`]'s number.
pub type CpuUses = [f64; CpuUse::ALL.len()];

/// Nanoseconds of a processor, by [`CpuUse`]'s number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuCosts {
    each_ns: CpuUses,
}

impl CpuCosts {
    /// Of a processor of a virtual machine on an AMD EPYC, rounded: `examples/sqlite_costs.rs` of plimsoll-load fits those of
    /// statements, pages and locks to 14 kinds of transactions (the mix of TPC-C within 4 %, new orders +20 %, deliveries
    /// −36 %). Of a transaction and of going on: from the same load with one user (199 µs for each) and with four. Of a sync
    /// and of a request: assumed.
    pub const REFERENCE: Self = Self {
        each_ns: [
            25_000.0, 100.0, 12.0, 430.0, 1_700.0, 1_400.0, 850.0, 30_000.0, 5_000.0, 10_000.0,
        ],
    };

    /// On a processor of this speed: 2 does the same in half the time.
    pub fn at_speed(self, speed: f64) -> Self {
        let each_ns = self.each_ns.map(|ns| ns / speed);
        Self { each_ns }
    }

    /// Of so many.
    pub fn of(&self, what: CpuUse, count: f64) -> Nanos {
        Nanos((count * self.each_ns[what as usize]).max(0.0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_of_twice_the_speed_takes_half_the_time_for_everything() {
        let fast = CpuCosts::REFERENCE.at_speed(2.0);
        for (number, what) in CpuUse::ALL.into_iter().enumerate() {
            assert_eq!(what as usize, number);
            let reference = CpuCosts::REFERENCE.of(what, 2_000.0);
            assert_eq!(fast.of(what, 4_000.0), reference);
        }
    }
}
