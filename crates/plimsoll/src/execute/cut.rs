//! After a power cut: the drive comes back, the database recovers, and what clients saw committed is looked for.

use plimsoll_load::workload::tpcc::books;
use plimsoll_model::receipt::{CommitCounts, reconcile};
use plimsoll_model::record::{Point, PowerCut, Receipt, Severity};
use plimsoll_model::units::Nanos;

use super::lane::PowerOff;
use super::{Course, Execution, Halt};

/// What is compared after recovery.
pub(super) struct Books<'a> {
    /// The database's own before the load.
    pub before: &'a CommitCounts,
    /// What clients saw committed before the power failed.
    pub acknowledged: &'a CommitCounts,
}

impl Execution<'_> {
    /// What the database holds.
    pub(super) fn books(&mut self, system: &str, medium: Option<&str>, what: &str) -> Course<CommitCounts> {
        self.waiting(system, medium, what, |instance, _| instance.books()).map(|(_, ledger)| ledger)
    }

    pub(super) fn after_power_cut(
        &mut self,
        (system, medium): (&str, &str),
        point: &Point,
        books: &Books<'_>,
        off: PowerOff,
    ) -> Course<()> {
        self.progress.say(&format!("{}: the power has failed", point.step));
        // Whatever becomes of it: the cut took place. Recorded anew when it is known what it took.
        self.record_cut(point, off, None, Vec::new())?;
        if self.interrupt.is_wanted() {
            return Err(Halt::Interrupted);
        }
        let what = format!("{}: recovering", point.step);
        let returned = self.clock.now();
        let recovered = self.recover((system, medium), &what);
        let recovery = self.clock.now() - returned;
        let after = match recovered {
            Ok(after) => after,
            // Only the database's own failure is a result.
            Err(Halt::Failed(why)) if self.drives.get(medium).is_some_and(|drive| drive.died().is_none()) => {
                return self.not_recovered(point, books, off, &why);
            }
            Err(Halt::Broken(why)) => return self.not_recovered(point, books, off, &why),
            Err(halt) => return Err(halt),
        };
        let receipts = receipts(point, books, &after);
        let sum = |of: fn(&Receipt) -> u64| receipts.iter().map(of).sum::<u64>();
        let result = match (sum(|receipt| receipt.acknowledged), sum(|receipt| receipt.lost)) {
            (0, 0) => "there was nothing committed to look for".to_owned(),
            (_, 0) => "nothing that clients saw committed is lost".to_owned(),
            (_, lost) => format!("{lost} transactions that clients saw committed are LOST"),
        };
        let is_lossy = sum(|receipt| receipt.lost) > 0;
        self.record_cut(point, off, Some(recovery), receipts)?;
        let text =
            format!("{}: recovered in {:.1} s after the power cut; {result}", point.step, recovery.as_secs_f64());
        self.progress.say(&text);
        if is_lossy {
            self.not_durable.push(text);
        }
        self.watch_system(system, Some(medium))
    }

    /// Power, filesystem, database, and what is in it.
    fn recover(&mut self, (system, medium): (&str, &str), what: &str) -> Course<CommitCounts> {
        self.progress.begin(self.clock.now(), what);
        self.power_on(medium)?;
        self.waiting(system, Some(medium), what, |instance, control| instance.recover(control))?;
        self.books(system, Some(medium), what)
    }

    fn record_cut(
        &mut self,
        point: &Point,
        off: PowerOff,
        recovery: Option<Nanos>,
        receipts: Vec<Receipt>,
    ) -> Course<()> {
        let PowerOff { at, lost } = off;
        self.file.power_cut(&PowerCut {
            point: point.id,
            at,
            recovery,
            lost_writes: lost.writes,
            lost_bytes: lost.bytes.0,
            lost_flushed_writes: lost.flushed_writes,
            receipts,
        })?;
        self.file.commit()?;
        Ok(())
    }

    /// A database, or a filesystem, that does not come up again has lost everything.
    fn not_recovered(&mut self, point: &Point, books: &Books<'_>, off: PowerOff, why: &str) -> Course<()> {
        let receipts = receipts(point, books, books.before).into_iter();
        let receipts = receipts.map(|receipt| Receipt { lost: receipt.acknowledged, ..receipt }).collect();
        self.record_cut(point, off, None, receipts)?;
        let text = format!("{}: after the power cut the database does not come up again: {why}", point.step);
        self.tell(Some(point.system), Severity::Error, "not_recovered", &text)?;
        Err(Halt::Broken(text))
    }

    /// A cut was planned and did not take place: the point is not what the plan asked for.
    pub(super) fn no_power_cut(&mut self, point: &Point) -> Course<()> {
        let text = format!(
            "{}: the power was to fail and did not: there is no emulated drive, or the load ended before",
            point.step
        );
        self.tell(Some(point.system), Severity::Warning, "no_power_cut", &text)
    }
}

fn receipts(point: &Point, books: &Books<'_>, after: &CommitCounts) -> Vec<Receipt> {
    let names: Vec<&str> = point.txns.iter().map(String::as_str).collect();
    reconcile(&names, books.before, books.acknowledged, after, books::describe)
}
