//! Findings as text: one line for those that many points of a ladder have in common.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{
    BlockMedium, BlockPlace, BlockSummary, Finding, FindingKind, Ladder, PointSummary,
};
use plimsoll_record::Severity;

use crate::block;
use crate::message::Messages;

/// One line: a finding and its place; empty where it is about the whole run or step.
pub(crate) struct FindingLine<'a> {
    pub place: String,
    pub finding: &'a Finding,
}

/// The run's own, the steps', then each ladder's and each block step's by its points.
pub(crate) fn describe<'a>(m: &Messages, summary: &'a Summary) -> Vec<FindingLine<'a>> {
    let mut own: Vec<&Finding> = Vec::new();
    // Findings without a place are listed once.
    for finding in summary
        .findings
        .iter()
        .chain(summary.ladders.iter().flat_map(|ladder| &ladder.findings))
    {
        if !own.contains(&finding) {
            own.push(finding);
        }
    }
    let own = own.into_iter().map(|finding| FindingLine {
        place: String::new(),
        finding,
    });
    let ladders = summary
        .ladders
        .iter()
        .flat_map(|ladder| of_ladder(m, ladder));
    let media = summary
        .blocks
        .iter()
        .flat_map(|block| block.media.iter().map(move |medium| (block, medium)));
    let effects = summary.effects.iter().flat_map(|effect| {
        effect.findings.iter().map(|finding| FindingLine {
            place: crate::effect::heading(m, effect),
            finding,
        })
    });
    let backups = summary.backups.iter().flat_map(|own| {
        let place = |medium: Option<&String>| match medium {
            Some(medium) => m.text_with(
                "block-whole",
                &[("step", own.step.clone()), ("medium", medium.clone())],
            ),
            None => own.step.clone(),
        };
        own.all_findings()
            .map(move |(medium, finding)| FindingLine {
                place: place(medium.medium.as_ref()),
                finding,
            })
    });
    let media = media.flat_map(|(block, medium)| of_medium(m, block, medium));
    own.chain(ladders)
        .chain(effects)
        .chain(backups)
        .chain(media)
        .collect()
}

fn of_ladder<'a>(m: &Messages, ladder: &'a Ladder) -> Vec<FindingLine<'a>> {
    let found = ladder
        .points
        .iter()
        .flat_map(|point| point.findings.iter().map(move |finding| (point, finding)));
    let named = |point: &&PointSummary| m.point(point);
    let place = ladder
        .points
        .first()
        .map(|point| (point.step.clone(), point.system.clone()))
        .unwrap_or_default();
    // Each makes one row of the table invalid, so they are not merged.
    grouped(m, found, (named, |_, _| false), place)
}

/// A step on a medium: its own findings, then those of its points.
fn of_medium<'a>(
    m: &Messages,
    block: &'a BlockSummary,
    medium: &'a BlockMedium,
) -> Vec<FindingLine<'a>> {
    let place = (block.step.clone(), medium.medium.clone());
    let args = [("step", place.0.clone()), ("medium", place.1.clone())];
    let own = medium.findings.iter().map(|finding| FindingLine {
        place: m.text_with("block-whole", &args),
        finding,
    });
    let found = medium
        .all_findings()
        .filter_map(|(_, place, finding)| Some((place?, finding)));
    let named = |(job, point): &BlockPlace<'_>| block::place(m, block, medium, job, point);
    // All points of a job stand in one row.
    let together = |a: &BlockPlace<'_>, b: &BlockPlace<'_>| a.0.job_index == b.0.job_index;
    own.chain(grouped(m, found, (named, together), place.clone()))
        .collect()
}

/// Merges the common findings of places of one step and system; errors only where their places go `together`.
fn grouped<'a, P>(
    m: &Messages,
    found: impl Iterator<Item = (P, &'a Finding)>,
    (named, together): (impl Fn(&P) -> String, impl Fn(&P, &P) -> bool),
    (step, system): (String, String),
) -> Vec<FindingLine<'a>> {
    let mut groups: Vec<Vec<(P, &Finding)>> = Vec::new();
    for (point, finding) in found {
        let is_one = |group: &&mut Vec<(P, &Finding)>| {
            let (first, listed) = &group[0];
            alike(listed, finding)
                && (finding.severity < Severity::Error || together(first, &point))
        };
        match groups.iter_mut().find(is_one) {
            Some(group) => group.push((point, finding)),
            None => groups.push(vec![(point, finding)]),
        }
    }
    let line = |group: Vec<(P, &'a Finding)>| {
        let (point, finding) = &group[0];
        // The figures in the sentence are those of all points, or of the first.
        let same = group
            .iter()
            .all(|(_, other)| m.finding(other) == m.finding(finding));
        let count = ("points", group.len().to_string());
        let place = match group.len() {
            1 => named(point),
            _ if same && finding.severity < Severity::Error => m.text_with(
                "points-same",
                &[count, ("step", step.clone()), ("system", system.clone())],
            ),
            _ => m.text_with("points-like", &[count, ("point", named(point))]),
        };
        FindingLine { place, finding }
    };
    groups.into_iter().map(line).collect()
}

/// Whether two findings are of one kind.
fn alike(a: &Finding, b: &Finding) -> bool {
    let code = |finding: &Finding| match &finding.kind {
        FindingKind::Event { event, .. } => Some(event.clone()),
        FindingKind::PhaseIncomplete { phase, .. } => Some(phase.name().to_owned()),
        FindingKind::Clipped { txn, .. } => Some(txn.clone()),
        FindingKind::WorkersApart { medium, .. } => Some(medium.clone()),
        _ => None,
    };
    let kind = |finding: &Finding| std::mem::discriminant(&finding.kind);
    a.severity == b.severity && kind(a) == kind(b) && code(a) == code(b)
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
