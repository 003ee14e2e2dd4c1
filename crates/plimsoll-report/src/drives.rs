//! Emulated drives: what they were asked for, and whether they kept up with their models.

use plimsoll_analysis::summary::{
    DriveOpSummary, DriveSummary, DriveTimes, FigureId, MemberSummary,
};
use plimsoll_record::drive::DriveOp;

use crate::load_summary::with_load;
use crate::table::Unit::{Percent, Plain, Three, Words};
use crate::table::{Table, TableCell};

/// A kind of operation of a drive.
pub(crate) struct OpRow<'a> {
    /// The load or the job.
    pub place: String,
    /// Whether the place is an offered rate.
    pub is_open: bool,
    pub drive: &'a DriveSummary,
    pub op: &'a DriveOpSummary,
    is_last: bool,
}

impl<'a> OpRow<'a> {
    /// One for each kind of operation.
    pub fn all(
        place: String,
        is_open: bool,
        drive: &'a DriveSummary,
    ) -> impl Iterator<Item = Self> {
        let ops = drive.ops.iter().enumerate();
        ops.map(move |(i, op)| OpRow {
            place: place.clone(),
            is_open,
            drive,
            op,
            is_last: i + 1 == drive.ops.len(),
        })
    }

    /// What the kernel reports of the drive.
    fn host_us(&self) -> Option<f64> {
        match self.op.op {
            DriveOp::Read => self.drive.host_read_mean_us,
            DriveOp::Write => self.drive.host_write_mean_us,
            DriveOp::Flush | DriveOp::Trim => None,
        }
    }

    fn kept_up(&self) -> TableCell {
        match self.op.kept_up() {
            Some(true) => TableCell::word("drive-kept-up-", "yes").styled("valid"),
            Some(false) => TableCell::word("drive-kept-up-", "no").styled("invalid"),
            None => TableCell::word("drive-kept-up-", "unknown"),
        }
    }
}

/// What emulated drives did under each load.
pub(crate) fn by_load<'a>() -> Table<'a, OpRow<'a>> {
    let table = Table::new("drive-operations").prefix("column-");
    columns(with_load(table, |r| r.is_open, |r| r.place.clone()))
}

/// What emulated drives did in each job.
pub(crate) fn by_job<'a>() -> Table<'a, OpRow<'a>> {
    columns(
        Table::new("block-drive-operations")
            .prefix("column-")
            .column("job", Words, |r: &OpRow<'_>| r.place.clone())
            .column("drive", Words, |r| r.drive.drive.clone()),
    )
}

/// What stands behind the columns that name a row.
fn columns<'a>(table: Table<'a, OpRow<'a>>) -> Table<'a, OpRow<'a>> {
    table
        .column("op", Words, |r| TableCell::word("op-", r.op.op.name()))
        .column("rate-s", Three, |r| r.op.per_second)
        .column("mb-s", Three, |r| r.op.mb_per_second.filter(|mb| *mb > 0.0))
        .column("modelled-mean", Three, |r| ms(r.op.modelled, |t| t.mean_us))
        .column("real-mean", Three, |r| ms(r.op.real, |t| t.mean_us))
        .column("host-mean", Three, |r| r.host_us().map(|us| us / 1e3))
        .column("modelled-p50", Three, |r| ms(r.op.modelled, |t| t.p50_us))
        .column("real-p50", Three, |r| ms(r.op.real, |t| t.p50_us))
        .column("modelled-p99", Three, |r| ms(r.op.modelled, |t| t.p99_us))
        .column("real-p99", Three, |r| ms(r.op.real, |t| t.p99_us))
        .figure(FigureId::LatePercent, |r| r.op.late_percent)
        .column("late-p99", Three, |r| r.op.late_p99_us)
        .figure(FigureId::BeyondPercent, |r| r.op.beyond_percent)
        .column("added", Percent, |r| r.op.added_percent)
        .column("errors", Three, |r| r.op.errors)
        .column("kept-up", Plain, OpRow::kept_up)
        .column("emulator-cpu", Percent, |r| r.drive.emulator_cpu_percent)
        .row_class(|r| if r.is_last { "group" } else { "" })
}

/// A drive of an array or a cluster.
pub(crate) struct MemberRow<'a> {
    /// The load or the job.
    place: String,
    is_open: bool,
    member: &'a MemberSummary,
    is_last: bool,
}

impl<'a> MemberRow<'a> {
    pub fn all(
        place: String,
        is_open: bool,
        drive: &'a DriveSummary,
    ) -> impl Iterator<Item = Self> {
        let members = drive.members.iter().enumerate();
        members.map(move |(i, member)| MemberRow {
            place: place.clone(),
            is_open,
            member,
            is_last: i + 1 == drive.members.len(),
        })
    }
}

/// What the drives of emulated arrays did under each load.
pub(crate) fn members_by_load<'a>() -> Table<'a, MemberRow<'a>> {
    let table = Table::new("drive-members").prefix("column-");
    member_columns(with_load(table, |r| r.is_open, |r| r.place.clone()))
}

/// What the drives of emulated arrays did in each job.
pub(crate) fn members_by_job<'a>() -> Table<'a, MemberRow<'a>> {
    let table = Table::new("block-drive-members").prefix("column-");
    member_columns(table.column("job", Words, |r: &MemberRow<'_>| r.place.clone()))
}

fn member_columns<'a>(table: Table<'a, MemberRow<'a>>) -> Table<'a, MemberRow<'a>> {
    table
        .column("member", Words, |r| r.member.member.clone())
        .column("busy", Percent, |r| r.member.busy_percent)
        .column("queue", Three, |r| r.member.queue)
        .column("wear", Percent, |r| r.member.wear_percent)
        .column("amplification", Three, |r| r.member.write_amplification)
        .column("watts", Three, |r| r.member.watts)
        .column("joules", Three, |r| r.member.joules_per_transaction)
        .column("reads", Three, |r| r.member.reads_per_second)
        .column("writes", Three, |r| r.member.writes_per_second)
        .column("read-mb", Three, |r| r.member.read_mb_per_second)
        .column("write-mb", Three, |r| r.member.written_mb_per_second)
        .row_class(|r| if r.is_last { "group" } else { "" })
}

fn ms(times: Option<DriveTimes>, of: fn(DriveTimes) -> f64) -> Option<f64> {
    times.map(|times| of(times) / 1e3)
}
