//! Findings as text: one line for those that many points have in common.

use std::mem::discriminant;

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{
    BackupSummary, BlockMedium, BlockSummary, Finding, FindingKind, LadderSummary, PointSummary,
};

use crate::finding_view::FindingView;
use crate::message::Messages;
use crate::point_set::{self, PointLoad, SetPoint};
use crate::{block, effect};

/// One line: a finding and its place; empty where it is about the whole run or step.
pub(crate) struct FindingLine<'a> {
    pub place: String,
    pub finding: &'a Finding,
}

impl FindingLine<'_> {
    pub fn view(self, m: &Messages) -> FindingView {
        let kind = &self.finding.kind;
        FindingView {
            detail: m.finding_detail(kind),
            next: m.finding_next(kind),
            ..FindingView::new(m, self.finding.severity, self.place, m.finding(kind))
        }
    }
}

/// What a person would mend first comes first; of equals the run's own, the steps', then each ladder's and each block
/// step's by its points.
pub(crate) fn describe<'a>(m: &Messages, summary: &'a Summary) -> Vec<FindingLine<'a>> {
    let mut lines = own(summary);
    for ladder in &summary.figures.ladders {
        lines.extend(of_ladder(m, ladder));
    }
    for own in &summary.figures.effects {
        let place = effect::heading(m, own);
        lines.extend(at(&place, &own.findings));
    }
    for backups in &summary.figures.backups {
        lines.extend(of_backups(m, backups));
    }
    for block in &summary.figures.blocks {
        for medium in &block.media {
            lines.extend(of_medium(m, block, medium));
        }
    }
    lines.sort_by_key(|line| line.finding.order());
    lines
}

/// Findings without a place are listed once.
fn own(summary: &Summary) -> Vec<FindingLine<'_>> {
    let of_steps = summary
        .figures
        .ladders
        .iter()
        .flat_map(|ladder| &ladder.findings);
    let mut own: Vec<&Finding> = Vec::new();
    for finding in summary.figures.findings.iter().chain(of_steps) {
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

fn of_ladder<'a>(m: &Messages, ladder: &'a LadderSummary) -> Vec<FindingLine<'a>> {
    let mut all = Vec::new();
    for point in &ladder.points {
        let mut own: Vec<FindingAtPoint<'a>> = Vec::new();
        for finding in &point.findings {
            let found = FindingAtPoint {
                place: m.point(point),
                point: set_point(m, point),
                finding,
            };
            // Several systems of a point may have it, and it is one point.
            let is_counted = own.iter().any(|other| other.is_alike(&found));
            if ladder.fleet.is_none() || !is_counted {
                own.push(found);
            }
        }
        all.append(&mut own);
    }
    merged(m, ladder.points.len(), all)
}

fn set_point(m: &Messages, point: &PointSummary) -> SetPoint {
    SetPoint {
        step: point.key.step.clone(),
        on: m.in_scene(point.key.system.clone(), point.key.scene),
        job: None,
        load: match point.key.load.offered_per_second {
            Some(rate) => PointLoad::PerSecond(rate),
            None if point.key.load.users == 0 => PointLoad::Unnamed,
            None => PointLoad::Users(point.key.load.users),
        },
    }
}

/// A step on a medium: its own findings, then those of its points.
fn of_medium<'a>(
    m: &Messages,
    block: &'a BlockSummary,
    medium: &'a BlockMedium,
) -> Vec<FindingLine<'a>> {
    let mut lines = at(&whole(m, &block.step, &medium.medium), &medium.findings);
    let found = medium.all_findings().filter_map(|(_, place, finding)| {
        let (job, point) = place?;
        Some(FindingAtPoint {
            place: block::place(m, block, medium, job, point),
            point: SetPoint {
                step: block.step.clone(),
                on: medium.medium.clone(),
                job: Some(job.job.clone()),
                load: PointLoad::Unnamed,
            },
            finding,
        })
    });
    let points = medium.jobs.iter().map(|job| job.all_points().count()).sum();
    lines.extend(merged(m, points, found));
    lines
}

/// A finding at one point.
struct FindingAtPoint<'a> {
    place: String,
    point: SetPoint,
    finding: &'a Finding,
}

/// Findings of points of one step and system, of which there are `total`: those that are alike in one line.
fn merged<'a>(
    m: &Messages,
    total: usize,
    all: impl IntoIterator<Item = FindingAtPoint<'a>>,
) -> Vec<FindingLine<'a>> {
    let mut groups: Vec<Vec<FindingAtPoint<'a>>> = Vec::new();
    for found in all {
        match groups.iter_mut().find(|group| group[0].is_alike(&found)) {
            Some(group) => group.push(found),
            None => groups.push(vec![found]),
        }
    }
    let groups = groups.iter();
    groups
        .map(|group| FindingLine {
            place: place_of(m, total, group),
            finding: group[0].finding,
        })
        .collect()
}

fn place_of(m: &Messages, total: usize, group: &[FindingAtPoint<'_>]) -> String {
    let first = &group[0];
    if group.len() == 1 {
        return first.place.clone();
    }
    let points: Vec<SetPoint> = group.iter().map(|found| found.point.clone()).collect();
    let points = point_set::describe(m, &points, total);
    // The figures in the sentence are those of all points, or of the first.
    let text = m.finding(&first.finding.kind);
    let mut others = group.iter();
    match others.all(|other| m.finding(&other.finding.kind) == text) {
        true => points,
        false => m.text_with("points-first", &[("points", points)]),
    }
}

impl FindingAtPoint<'_> {
    fn is_alike(&self, other: &Self) -> bool {
        let a = self.finding;
        let b = other.finding;
        a.severity == b.severity
            && discriminant(&a.kind) == discriminant(&b.kind)
            && subject(a) == subject(b)
            && !is_about_lost_data(a)
    }
}

/// Each of them matters by itself.
fn is_about_lost_data(finding: &Finding) -> bool {
    matches!(
        finding.kind,
        FindingKind::CommittedLost { .. }
            | FindingKind::NotRecovered
            | FindingKind::ConditionFails { .. }
    )
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
    use plimsoll_record::{Severity, fixture};

    use super::*;

    #[test]
    fn common_findings_of_many_points_are_listed_once() {
        let m = Messages::english();
        let mut summary = summarise(&fixture::record());
        summary.figures.findings.clear();
        summary.figures.ladders.truncate(1);
        let ladder = &mut summary.figures.ladders[0];
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
        let all = "3 of 3 points (ladder: db@fast, 1 to 16 users)";
        assert_eq!(lines(&summary), [all, all]);
        summary.figures.ladders[0].points[2].findings[1] = short(3.0);
        assert_eq!(lines(&summary), [all, &format!("{all}, the first")]);
    }

    #[test]
    fn findings_of_all_jobs_on_a_medium_are_listed_once() {
        let m = Messages::english();
        let mut summary = summarise(&fixture::block());
        let broken = Finding {
            severity: Severity::Error,
            kind: FindingKind::NothingMeasured,
        };
        summary.figures.blocks.truncate(1);
        for medium in &mut summary.figures.blocks[0].media {
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
        let jobs = "RND4K Q8T2 read, SEQ1M Q4T1 mixed, SQL";
        let of = |medium| format!("12 of 12 points (corners: {jobs}, {medium})");
        assert_eq!(places, [of("fast"), of("slow")]);
    }
}
