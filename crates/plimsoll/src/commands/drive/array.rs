//! What `plimsoll drive simulate` shows of an array.

use plimsoll_drive::model::{DriveOp, Work};
use plimsoll_drive::simulate::{SimulatedProfile, SimulatedResult};
use plimsoll_drive::spec::DriveSpec;
use plimsoll_plan::array::ArraySpec;
use plimsoll_plan::units::Nanos;
use plimsoll_report::message::Messages;
use plimsoll_report::table::Table;
use plimsoll_report::table::Unit::{Decimals, Whole, Words};
use serde_json::json;

use super::request_stats::{queue, rows, table};
use crate::cli::Format;
use crate::commands::table::render;

pub struct SimulatedArray<'a> {
    pub spec: &'a DriveSpec,
    pub array: &'a ArraySpec,
    pub profile: &'a SimulatedProfile,
    pub outcome: &'a SimulatedResult,
}

impl SimulatedArray<'_> {
    pub fn text(&self, m: &Messages, heading: &str, format: Format) -> String {
        let requests = rows(self.spec, self.outcome);
        let members = self.members();
        match format {
            Format::Table => [
                heading.to_owned(),
                render(&table(), requests, format),
                render(&member_table(), members, format),
                self.notes(m),
            ]
            .join("\n\n"),
            Format::Json => {
                let requests = table().to_json(&requests);
                let members = member_table().to_json(&members);
                format!("{:#}", json!({ "requests": requests, "members": members }))
            }
            Format::Csv => render(&table(), requests, format),
        }
    }

    fn members(&self) -> Vec<MemberStats> {
        let works = self.outcome.drives.iter().enumerate();
        let row = |(member, work): (usize, &Work)| MemberStats {
            member: member as u64,
            state: self.state(member as u32),
            work: work.clone(),
            watts: self.outcome.watts(member, self.spec),
            years: self.outcome.years_of_endurance(member, self.spec),
            span: self.outcome.span,
        };
        works.map(row).collect()
    }

    fn state(&self, member: u32) -> &'static str {
        if self.array.rebuild == Some(member) {
            "rebuilding"
        } else if self.array.failed.contains(&member) {
            "failed"
        } else {
            "ok"
        }
    }

    fn notes(&self, m: &Messages) -> String {
        let outcome = self.outcome;
        let work = outcome.work();
        let host = (outcome.reads.ops + outcome.writes.ops).max(1) as f64;
        let each = |kind: DriveOp| format!("{:.2}", work.ops[kind as usize] as f64 / host);
        let usable = self.spec.capacity.0 as f64 / 1e12;
        let args = [
            ("capacity", format!("{usable:.2} TB")),
            ("reads", each(DriveOp::Read)),
            ("writes", each(DriveOp::Write)),
        ];
        let mut lines = vec![
            queue(m, self.profile, outcome).join("; ") + ".",
            m.text_with("simulated-array-requests", &args),
        ];
        lines.extend(self.array.rebuild.map(|member| self.rebuild(m, member)));
        lines.join("\n")
    }

    fn rebuild(&self, m: &Messages, member: u32) -> String {
        let seconds = (self.profile.warm + self.outcome.span).as_secs_f64();
        let per_second = self.outcome.rebuilt.0 as f64 / seconds;
        let all = self.array.member_bytes(self.spec.capacity.0) as f64;
        let args = [
            ("member", member.to_string()),
            ("rate", format!("{:.1}", per_second / 1e6)),
            (
                "hours",
                format!("{:.1}", all / per_second.max(1.0) / 3600.0),
            ),
        ];
        m.text_with("simulated-array-rebuild", &args)
    }
}

/// What a member did in the measured time.
pub struct MemberStats {
    member: u64,
    state: &'static str,
    work: Work,
    watts: Option<f64>,
    years: Option<f64>,
    span: Nanos,
}

impl MemberStats {
    fn per_second(&self, n: u64) -> f64 {
        n as f64 / self.span.as_secs_f64().max(1e-9)
    }

    fn ops(&self, kind: DriveOp) -> f64 {
        self.per_second(self.work.ops[kind as usize])
    }

    fn mb(&self, kind: DriveOp) -> f64 {
        self.per_second(self.work.bytes[kind as usize]) / 1e6
    }

    /// How long the medium was busy.
    fn busy_percent(&self) -> f64 {
        let busy = self.work.reading + self.work.writing;
        100.0 * busy.as_secs_f64() / self.span.as_secs_f64().max(1e-9)
    }
}

pub fn member_table() -> Table<'static, MemberStats> {
    Table::<MemberStats>::new("members")
        .prefix("members-")
        .column("member", Whole, |own| own.member)
        .column("state", Words, |own| own.state)
        .column("reads-s", Whole, |own| own.ops(DriveOp::Read))
        .column("writes-s", Whole, |own| own.ops(DriveOp::Write))
        .column("read-mb-s", Decimals(1), |own| own.mb(DriveOp::Read))
        .column("written-mb-s", Decimals(1), |own| own.mb(DriveOp::Write))
        .column("busy-percent", Whole, MemberStats::busy_percent)
        .column("write-amplification", Decimals(2), |own| {
            own.work.write_amplification()
        })
        .column("watts", Decimals(1), |own| own.watts)
        .column("years", Decimals(1), |own| own.years)
        .with_keys()
        .with_long_headings()
}
