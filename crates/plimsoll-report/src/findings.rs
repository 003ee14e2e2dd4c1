//! Findings as text: one line for those that many points of a ladder have in common.

use std::mem::discriminant;

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{
    BackupSummary, BlockMedium, BlockSummary, Finding, FindingKind, Ladder,
};
use plimsoll_record::Severity;

use crate::finding_view::FindingView;
use crate::message::Messages;
use crate::{block, effect};

/// One line: a finding and its place; empty where it is about the whole run or step.
pub(crate) struct FindingLine<'a> {
    pub place: String,
    pub finding: &'a Finding,
}

impl FindingLine<'_> {
    pub fn view(self, m: &Messages) -> FindingView {
        let text = m.finding(self.finding);
        FindingView::new(m, self.finding.severity, self.place, text)
    }
}

/// The run's own, the steps', then each ladder's and each block step's by its points.
pub(crate) fn describe<'a>(m: &Messages, summary: &'a Summary) -> Vec<FindingLine<'a>> {
    let mut lines = own(summary);
    for ladder in &summary.ladders {
        lines.extend(of_ladder(m, ladder));
    }
    for own in &summary.effects {
        let place = effect::heading(m, own);
        lines.extend(at(&place, &own.findings));
    }
    for backups in &summary.backups {
        lines.extend(of_backups(m, backups));
    }
    for block in &summary.blocks {
        for medium in &block.media {
            lines.extend(of_medium(m, block, medium));
        }
    }
    lines
}

/// Findings without a place are listed once.
fn own(summary: &Summary) -> Vec<FindingLine<'_>> {
    let of_steps = summary.ladders.iter().flat_map(|ladder| &ladder.findings);
    let mut own: Vec<&Finding> = Vec::new();
    for finding in summary.findings.iter().chain(of_steps) {
        if !own.contains(&finding) {
            own.push(finding);
        }
    }
    at("", own)
}

/// All at one place.
fn at<'a>(place: &str, findings: impl IntoIterator<Item = &'a Finding>) -> Vec<FindingLine<'a>> {
    let findings = findings.into_iter();
    findings
        .map(|finding| FindingLine {
            place: place.to_owned(),
            finding,
        })
        .collect()
}

fn whole(m: &Messages, step: &str, medium: &str) -> String {
    let args = [("step", step.to_owned()), ("medium", medium.to_owned())];
    m.text_with("block-whole", &args)
}

fn of_backups<'a>(m: &Messages, backups: &'a BackupSummary) -> Vec<FindingLine<'a>> {
    let findings = backups.all_findings();
    findings
        .map(|(medium, finding)| FindingLine {
            place: match &medium.medium {
                Some(medium) => whole(m, &backups.step, medium),
                None => backups.step.clone(),
            },
            finding,
        })
        .collect()
}

fn of_ladder<'a>(m: &Messages, ladder: &'a Ladder) -> Vec<FindingLine<'a>> {
    let Some(first) = ladder.points.first() else {
        return Vec::new();
    };
    let mut groups = Groups::new(&first.step, &first.system);
    for point in &ladder.points {
        let place = m.point(point);
        for finding in &point.findings {
            // Each error makes one row of the table invalid, so they are not merged.
            groups.add(&place, None, finding);
        }
    }
    groups.lines(m)
}

/// A step on a medium: its own findings, then those of its points.
fn of_medium<'a>(
    m: &Messages,
    block: &'a BlockSummary,
    medium: &'a BlockMedium,
) -> Vec<FindingLine<'a>> {
    let mut lines = at(&whole(m, &block.step, &medium.medium), &medium.findings);
    let mut groups = Groups::new(&block.step, &medium.medium);
    for (_, place, finding) in medium.all_findings() {
        if let Some((job, point)) = place {
            let place = block::place(m, block, medium, job, point);
            groups.add(&place, Some(job.job_index), finding);
        }
    }
    lines.extend(groups.lines(m));
    lines
}

/// A finding at one point.
struct Found<'a> {
    place: String,
    /// Errors of one job stand in one row.
    job: Option<u32>,
    finding: &'a Finding,
}

/// The common findings of points of one step and system.
struct Groups<'a> {
    step: &'a str,
    system: &'a str,
    all: Vec<Vec<Found<'a>>>,
}

impl<'a> Groups<'a> {
    fn new(step: &'a str, system: &'a str) -> Self {
        Self {
            step,
            system,
            all: Vec::new(),
        }
    }

    /// Merges it with those that are alike; errors only where they are about one job.
    fn add(&mut self, place: &str, job: Option<u32>, finding: &'a Finding) {
        let found = Found {
            place: place.to_owned(),
            job,
            finding,
        };
        let mut groups = self.all.iter_mut();
        match groups.find(|group| group[0].is_alike(&found)) {
            Some(group) => group.push(found),
            None => self.all.push(vec![found]),
        }
    }

    fn lines(self, m: &Messages) -> Vec<FindingLine<'a>> {
        let groups = self.all.iter();
        groups.map(|group| self.line(m, group)).collect()
    }

    fn line(&self, m: &Messages, group: &[Found<'a>]) -> FindingLine<'a> {
        let first = &group[0];
        let finding = first.finding;
        let text = m.finding(finding);
        // The figures in the sentence are those of all points, or of the first.
        let same = group.iter().all(|other| m.finding(other.finding) == text);
        let place = match group.len() {
            1 => first.place.clone(),
            n if same && finding.severity < Severity::Error => {
                let args = [
                    ("points", n.to_string()),
                    ("step", self.step.to_owned()),
                    ("system", self.system.to_owned()),
                ];
                m.text_with("points-same", &args)
            }
            n => {
                let args = [("points", n.to_string()), ("point", first.place.clone())];
                m.text_with("points-like", &args)
            }
        };
        FindingLine { place, finding }
    }
}

impl Found<'_> {
    fn is_alike(&self, other: &Self) -> bool {
        let a = self.finding;
        let b = other.finding;
        a.severity == b.severity
            && discriminant(&a.kind) == discriminant(&b.kind)
            && subject(a) == subject(b)
            && (a.severity < Severity::Error || (self.job.is_some() && self.job == other.job))
    }
}

/// What distinguishes findings of one kind.
fn subject(finding: &Finding) -> Option<&str> {
    match &finding.kind {
        FindingKind::Event { event, .. } => Some(event),
        FindingKind::PhaseIncomplete { phase, .. } => Some(phase.name()),
        FindingKind::Clipped { txn, .. } => Some(txn),
        FindingKind::WorkersApart { medium, .. } => Some(medium),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_analysis::summarise;
    use plimsoll_record::fixture;

    use super::*;

    #[test]
    fn common_findings_of_many_points_are_listed_once() {
        let m = Messages::english();
        let mut summary = summarise(&fixture::record());
        summary.findings.clear();
        summary.ladders.truncate(1);
        let ladder = &mut summary.ladders[0];
        ladder.findings.clear();
        let short = |s| Finding {
            severity: Severity::Warning,
            kind: FindingKind::ShortWindow { measured_s: s },
        };
        let broken = Finding {
            severity: Severity::Error,
            kind: FindingKind::NothingMeasured,
        };
        for point in &mut ladder.points {
            point.findings = vec![broken.clone(), short(2.0)];
        }
        let lines = |summary: &Summary| {
            describe(&m, summary)
                .into_iter()
                .map(|line| line.place)
                .collect::<Vec<_>>()
        };
        let errors =
            ["1 user", "4 users", "16 users"].map(|load| format!("{load}, ladder, db@fast"));
        let mut expected = errors.to_vec();
        expected.insert(1, "3 points, ladder, db@fast".to_owned());
        assert_eq!(lines(&summary), expected);
        summary.ladders[0].points[2].findings[1] = short(3.0);
        expected[1] = "3 points, first: 1 user, ladder, db@fast".to_owned();
        assert_eq!(lines(&summary), expected);
    }

    #[test]
    fn errors_of_one_job_are_listed_once() {
        let m = Messages::english();
        let mut summary = summarise(&fixture::block());
        let broken = Finding {
            severity: Severity::Error,
            kind: FindingKind::NothingMeasured,
        };
        summary.blocks.truncate(1);
        for medium in &mut summary.blocks[0].media {
            medium.findings.clear();
            for job in &mut medium.jobs {
                job.points
                    .iter_mut()
                    .for_each(|point| point.findings = vec![broken.clone()]);
                job.curve.clear();
            }
        }
        let places: Vec<String> = describe(&m, &summary)
            .into_iter()
            .map(|line| line.place)
            .collect();
        let jobs = ["RND4K Q8T2 read", "SEQ1M Q4T1 mixed", "SQL"];
        let of =
            |medium| jobs.map(|job| format!("4 points, first: {job}, round 1, corners, {medium}"));
        assert_eq!(places, [of("fast"), of("slow")].concat());
    }
}
