//! What `plimsoll drive simulate` shows of an array or a cluster.

use plimsoll_drive::model::{DriveOp, Work};
use plimsoll_drive::simulate::{SeedResults, SimulatedProfile};
use plimsoll_drive::spec::DriveSpec;
use plimsoll_plan::assembly::DriveAssembly;
use plimsoll_plan::units::Nanos;
use plimsoll_report::message::Messages;
use plimsoll_report::table::Table;
use plimsoll_report::table::Unit::{Decimals, Whole, Words};
use serde_json::json;

use super::request_stats::{below, rows, table};
use crate::cli::Format;
use crate::commands::io::terminal_width;
use crate::commands::table::render;

pub struct SimulatedAssembly<'a> {
    pub spec: &'a DriveSpec,
    pub assembly: &'a DriveAssembly,
    pub profile: &'a SimulatedProfile,
    pub outcome: &'a SeedResults,
}

impl SimulatedAssembly<'_> {
    pub fn text(&self, m: &Messages, heading: &str, format: Format) -> String {
        let requests = rows(self.spec, &self.outcome.joined);
        let members = self.members();
        match format {
            Format::Table => [
                heading.to_owned(),
                render(&table(), requests, format),
                member_table().to_text_within(m, &members, terminal_width()),
                self.notes(m),
            ]
            .join("\n\n"),
            Format::Json => {
                let requests = table().to_json(&requests);
                let members = member_table().to_json(&members);
                let seeds = &self.outcome.iops;
                let all = json!({ "requests": requests, "members": members, "seeds": seeds });
                format!("{all:#}")
            }
            Format::Csv => render(&table(), requests, format),
        }
    }

    fn members(&self) -> Vec<MemberStats> {
        let outcome = &self.outcome.joined;
        let works = outcome.drives.iter().enumerate();
        let row = |(drive, work): (usize, &Work)| MemberStats {
            member: self.assembly.drive_name(drive as u32),
            state: self.state(drive as u32),
            work: work.clone(),
            watts: outcome.watts(drive, self.spec),
            years: outcome.years_of_endurance(drive, self.spec),
            span: outcome.span,
        };
        works.map(row).collect()
    }

    fn state(&self, drive: u32) -> &'static str {
        let member = self.assembly.member_of(drive);
        if self.assembly.rebuild() == Some(member) {
            "rebuilding"
        } else if self.assembly.failed().contains(&member) {
            "failed"
        } else {
            "ok"
        }
    }

    fn notes(&self, m: &Messages) -> String {
        let outcome = &self.outcome.joined;
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
            below(m, self.spec, self.profile, self.outcome),
            m.text_with("simulated-array-requests", &args),
        ];
        let rebuild = self.assembly.rebuild();
        lines.extend(rebuild.map(|member| self.rebuild(m, member)));
        lines.join("\n")
    }

    fn rebuild(&self, m: &Messages, member: u32) -> String {
        let outcome = &self.outcome.joined;
        let warm = self.profile.warm.as_secs_f64() * self.outcome.iops.len() as f64;
        let per_second = outcome.rebuilt.0 as f64 / (warm + outcome.span.as_secs_f64());
        let all = self.assembly.member_bytes(self.spec.capacity.0) as f64;
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
    member: String,
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
        .column("member", Words, |own| own.member.clone())
        .column("state", Words, |own| own.state)
        .if_any(|own| own.state != "ok")
        .column("reads-s", Whole, |own| own.ops(DriveOp::Read))
        .column("writes-s", Whole, |own| own.ops(DriveOp::Write))
        .column("read-mb-s", Decimals(1), |own| own.mb(DriveOp::Read))
        .column("written-mb-s", Decimals(1), |own| own.mb(DriveOp::Write))
        .column("busy-percent", Whole, MemberStats::busy_percent)
        .column("queue", Decimals(1), |own| own.work.queue(own.span))
        .column("write-amplification", Decimals(2), |own| {
            own.work.write_amplification()
        })
        .column("watts", Decimals(1), |own| own.watts)
        .column("years", Decimals(1), |own| own.years)
        .with_keys()
        .spare(&["read-mb-s", "watts", "queue", "reads-s", "written-mb-s"])
}
