//! Power cuts as text: what happened, and whether acknowledged transactions survived.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{CutSummary, PointSummary};
use plimsoll_record::Receipt;

use crate::document::{ListItem, ReportBlock, ReportSection};
use crate::message::Messages;
use crate::number::{three, whole};
use crate::table::Unit::{Whole, Words};
use crate::table::{Table, TableCell};

/// `None` where the power did not fail.
pub(crate) fn section(m: &Messages, summary: &Summary) -> Option<ReportSection> {
    let mut section = ReportSection::new("cuts", m.text("cut-title")).styled("cuts");
    for point in summary.figures.points() {
        if let Some(cut) = &point.power_cut {
            add_cut(m, &mut section, point, cut);
        }
    }
    section.if_filled()
}

/// What happened, and whether acknowledged transactions survived.
fn add_cut(m: &Messages, section: &mut ReportSection, point: &PointSummary, cut: &CutSummary) {
    let heading = m.text_with("cut-of", &[("point", m.point(point))]);
    let receipts = ReportBlock::grid(m, &heading, &receipts(), &cut.receipts);
    section.gap();
    section.both(ReportBlock::heading(heading));
    let happened = happened(m, cut).into_iter().map(ListItem::from);
    section.both(ReportBlock::list(happened.chain(outcomes(m, cut))));
    section.page(receipts);
}

/// By transaction type.
pub(crate) fn receipts() -> Table<'static, Receipt> {
    Table::<Receipt>::new("receipts")
        .prefix("column-")
        .column("txn", Words, |own| own.txn.clone())
        .column("acknowledged", Whole, |own| own.acknowledged)
        .column("lost", Whole, |own| {
            let class = if own.lost == 0 { "valid" } else { "invalid" };
            TableCell::from(own.lost).styled(class)
        })
        .column("in-doubt", Whole, |own| own.in_doubt)
        .message("first-lost", Words, |own, m| {
            own.first_lost.as_ref().map(|first| m.first_lost(first))
        })
}

/// The cut, the recovery and the lost writes.
fn happened(m: &Messages, cut: &CutSummary) -> Vec<String> {
    let at = ("at", format!("{:.1}", cut.at_ms as f64 / 1e3));
    let mut happened = vec![match cut.recovery_ms {
        Some(ms) => m.text_with("cut-happened", &[at, ("recovery", three(ms as f64 / 1e3))]),
        None => m.text_with("cut-not-recovered", &[at]),
    }];
    if cut.lost_writes > 0 {
        let mb = three(cut.lost_bytes as f64 / 1e6);
        happened.push(m.text_with(
            "cut-writes",
            &[("writes", count(cut.lost_writes)), ("mb", mb)],
        ));
    }
    if cut.lost_flushed_writes > 0 {
        happened.push(m.text_with("cut-lied", &[("flushed", count(cut.lost_flushed_writes))]));
    }
    happened
}

fn outcomes(m: &Messages, cut: &CutSummary) -> Vec<ListItem> {
    let outcome = |class, text| ListItem {
        class,
        ..ListItem::from(text)
    };
    if cut.lost == 0 {
        return vec![match (cut.recovery_ms, cut.acknowledged) {
            (None, _) => outcome("outcome invalid", m.text("finding-not-recovered")),
            (Some(_), 0) => outcome("outcome doubtful", m.text("cut-not-evaluated")),
            (Some(_), n) => {
                let kept = m.text_with("cut-kept", &[("acknowledged", count(n))]);
                outcome("outcome valid", kept)
            }
        }];
    }
    let losses = cut.receipts.iter().filter(|receipt| receipt.lost > 0);
    losses
        .map(|receipt| outcome("outcome invalid", loss(m, receipt)))
        .collect()
}

fn loss(m: &Messages, receipt: &Receipt) -> String {
    let args = [
        ("lost", count(receipt.lost)),
        ("acknowledged", count(receipt.acknowledged)),
        ("txn", receipt.txn.clone()),
        (
            "first",
            receipt
                .first_lost
                .as_ref()
                .map(|first| m.first_lost(first))
                .unwrap_or_default(),
        ),
    ];
    m.text_with("cut-lost", &args)
}

fn count(n: u64) -> String {
    whole(n as f64)
}

#[cfg(test)]
mod tests {
    use plimsoll_analysis::summarise;
    use plimsoll_record::fixture;

    use super::*;

    #[test]
    fn a_cut_that_lost_nothing_is_valid_and_one_without_receipts_is_not_evaluated() {
        let m = Messages::english();
        let mut record = fixture::record();
        let cut = &mut record.cuts[0];
        cut.receipts.iter_mut().for_each(|receipt| receipt.lost = 0);
        (cut.lost_writes, cut.lost_flushed_writes) = (0, 0);
        let cut = |record: &_| {
            let summary = summarise(record);
            summary
                .figures
                .points()
                .find_map(|own| own.power_cut.clone())
        };
        let kept = cut(&record).unwrap();
        let lines = happened(&m, &kept);
        assert_eq!(lines.len(), 1, "nothing was lost with the power: {lines:?}");
        let outcome = outcomes(&m, &kept).remove(0);
        assert_eq!(outcome.class, "outcome valid");
        insta::assert_snapshot!(outcome.text, @"No acknowledged transaction was lost: 10,197 checked, all found.");
        record.cuts[0].receipts.clear();
        let unchecked = outcomes(&m, &cut(&record).unwrap()).remove(0);
        assert_eq!(unchecked.class, "outcome doubtful");
        insta::assert_snapshot!(unchecked.text, @"Not evaluated: no acknowledged transaction could be checked.");
    }
}
