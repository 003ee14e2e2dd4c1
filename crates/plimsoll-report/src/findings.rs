//! What speaks against the figures, as it is told: what many points of a ladder have in common is told once.

use plimsoll_model::record::Severity;
use plimsoll_model::summary::{Finding, FindingKind, Ladder, PointSummary, Summary};

use crate::message::Messages;

/// One line: a finding, and whom it is about; empty where it is the whole run or step.
pub(crate) struct Told<'a> {
    pub place: String,
    pub finding: &'a Finding,
}

/// The run's own, the steps', then each ladder's by its points.
pub(crate) fn told<'a>(m: &Messages, summary: &'a Summary) -> Vec<Told<'a>> {
    let mut own: Vec<&Finding> = Vec::new();
    // What is said of no place in particular is said once.
    for finding in summary.findings.iter().chain(summary.ladders.iter().flat_map(|ladder| &ladder.findings)) {
        if !own.contains(&finding) {
            own.push(finding);
        }
    }
    let own = own.into_iter().map(|finding| Told { place: String::new(), finding });
    own.chain(summary.ladders.iter().flat_map(|ladder| of_ladder(m, ladder))).collect()
}

fn of_ladder<'a>(m: &Messages, ladder: &'a Ladder) -> Vec<Told<'a>> {
    let mut groups: Vec<Vec<(&PointSummary, &Finding)>> = Vec::new();
    for point in &ladder.points {
        for finding in &point.findings {
            match groups.iter_mut().find(|group| alike(group[0].1, finding)) {
                Some(group) => group.push((point, finding)),
                None => groups.push(vec![(point, finding)]),
            }
        }
    }
    let line = |group: Vec<(&PointSummary, &'a Finding)>| {
        let (point, finding) = group[0];
        // What is said is true of all of them, or of the first.
        let same = group.iter().all(|(_, other)| m.finding(other) == m.finding(finding));
        let count = ("points", group.len().to_string());
        let place = match group.len() {
            1 => m.point(point),
            _ if same => {
                m.say_with("points-same", &[count, ("step", point.step.clone()), ("system", point.system.clone())])
            }
            _ => m.say_with("points-like", &[count, ("point", m.point(point))]),
        };
        Told { place, finding }
    };
    groups.into_iter().map(line).collect()
}

/// Whether two findings are of one kind. Errors are not: each says what is not to be used, and why.
fn alike(a: &Finding, b: &Finding) -> bool {
    let code = |finding: &Finding| match &finding.kind {
        FindingKind::Event { event, .. } => Some(event.clone()),
        FindingKind::PhaseIncomplete { phase, .. } => Some(phase.name().to_owned()),
        FindingKind::Clipped { txn, .. } => Some(txn.clone()),
        _ => None,
    };
    let kind = |finding: &Finding| std::mem::discriminant(&finding.kind);
    a.severity == b.severity && a.severity < Severity::Error && kind(a) == kind(b) && code(a) == code(b)
}

#[cfg(test)]
mod tests {
    use plimsoll_model::fixture;
    use plimsoll_model::summary::summarise;

    use super::*;

    #[test]
    fn what_many_points_have_in_common_is_told_once() {
        let m = Messages::english();
        let mut summary = summarise(&fixture::record());
        summary.findings.clear();
        summary.ladders.truncate(1);
        let ladder = &mut summary.ladders[0];
        ladder.findings.clear();
        let short = |s| Finding { severity: Severity::Warning, kind: FindingKind::ShortWindow { measured_s: s } };
        let broken = Finding { severity: Severity::Error, kind: FindingKind::NothingMeasured };
        for point in &mut ladder.points {
            point.findings = vec![broken.clone(), short(2.0)];
        }
        let lines = |summary: &Summary| told(&m, summary).into_iter().map(|told| told.place).collect::<Vec<_>>();
        let errors = ["1 user", "4 users", "16 users"].map(|load| format!("{load}, ladder, db@fast"));
        let mut expected = errors.to_vec();
        expected.insert(1, "3 points, ladder, db@fast".to_owned());
        assert_eq!(lines(&summary), expected);
        summary.ladders[0].points[2].findings[1] = short(3.0);
        expected[1] = "3 points, the first 1 user, ladder, db@fast".to_owned();
        assert_eq!(lines(&summary), expected);
    }
}
