//! Several systems at once: how they spread about their mean, as text.

use plimsoll_analysis::summary::{FigureId, Fleet, FleetPoint, LadderSummary};

use crate::document::ReportSection;
use crate::message::Messages;
use crate::table::Table;
use crate::table::Unit::{Three, Whole};

/// Several systems at one point.
pub(crate) struct FleetRow<'a> {
    /// Of each system.
    users: u32,
    fleet: &'a FleetPoint,
}

pub(crate) fn table<'a>() -> Table<'a, FleetRow<'a>> {
    Table::<FleetRow<'_>>::new("fleet")
        .prefix("fleet-")
        .column("users", Whole, |r| r.users)
        .column("mean", Whole, |r| r.fleet.mean)
        .column("lowest", Whole, |r| r.fleet.min)
        .column("highest", Whole, |r| r.fleet.max)
        .column("cv", Three, |r| r.fleet.cv_percent)
}

/// One line for each point on a terminal; nothing where the ladder is of a single system.
pub(super) fn add_lines(m: &Messages, ladder: &LadderSummary, section: &mut ReportSection) {
    let Some(Fleet { systems, points }) = &ladder.fleet else {
        return;
    };
    let n = u32::try_from(systems.len()).unwrap_or(1).max(1);
    let nopm = ladder
        .points
        .iter()
        .all(|point| point.value(FigureId::Nopm).is_some());
    let rate = m.figure(FigureId::transactions(nopm));
    let rows = ladder.points.iter().zip(points);
    let rows: Vec<FleetRow<'_>> = rows
        .map(|(point, fleet)| FleetRow {
            users: point.key.load.users / n,
            fleet,
        })
        .collect();
    let args = [("n", systems.len().to_string()), ("rate", rate)];
    section.gap();
    section.line(m.text_with("fleet-heading", &args));
    section.line(table().to_text(m, &rows));
}

#[cfg(test)]
mod tests {
    use plimsoll_analysis::summarise;
    use plimsoll_analysis::summary::{Fleet, FleetPoint};
    use plimsoll_record::fixture;

    use super::*;
    use crate::render;

    #[test]
    fn systems_stand_about_their_mean() {
        let mut summary = summarise(&fixture::single_point());
        let ladder = &mut summary.figures.ladders[0];
        let m = Messages::english();
        let text = |ladder: &LadderSummary| {
            let mut section = ReportSection::bare("fleet");
            add_lines(&m, ladder, &mut section);
            render::text::sections([&section])
        };
        assert_eq!(text(ladder), "");
        let point = FleetPoint {
            systems: Vec::new(),
            mean: Some(1500.0),
            min: Some(1200.0),
            max: Some(1800.0),
            cv_percent: Some(12.34),
        };
        ladder.points[0].key.load.users = 6;
        ladder.fleet = Some(Fleet {
            systems: vec!["a".into(), "b".into(), "c".into()],
            points: vec![point],
        });
        let text = text(ladder);
        assert!(text.starts_with("Each of the 3 systems, NOPM"), "{text}");
        let row = text
            .lines()
            .nth(3)
            .unwrap()
            .split_whitespace()
            .collect::<Vec<_>>();
        assert_eq!(row, ["2", "1,500", "1,200", "1,800", "12.3"], "{text}");
    }
}
