//! Power cuts as text: what happened, and whether acknowledged transactions survived.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{CutSummary, PointSummary};
use plimsoll_record::Receipt;

use crate::message::Messages;
use crate::number::{three, whole};
use crate::table::Unit::{Whole, Words};
use crate::table::{Table, TableCell};

/// A power cut as text.
pub(crate) struct CutText<'a> {
    pub heading: String,
    /// The cut, the recovery and the lost writes.
    pub happened: Vec<String>,
    pub outcomes: Vec<CutOutcome>,
    pub receipts: &'a [Receipt],
}

pub(crate) struct CutOutcome {
    /// Name of a verdict.
    pub verdict: &'static str,
    pub text: String,
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

pub(crate) fn describe<'a>(m: &Messages, summary: &'a Summary) -> Vec<CutText<'a>> {
    summary
        .figures
        .points()
        .filter_map(|point| Some(cut_text(m, point, point.power_cut.as_ref()?)))
        .collect()
}

fn cut_text<'a>(m: &Messages, point: &PointSummary, cut: &'a CutSummary) -> CutText<'a> {
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
    CutText {
        heading: m.text_with("cut-of", &[("point", m.point(point))]),
        happened,
        outcomes: outcomes(m, cut),
        receipts: &cut.receipts,
    }
}

fn outcomes(m: &Messages, cut: &CutSummary) -> Vec<CutOutcome> {
    if cut.lost == 0 {
        let (verdict, text) = match (cut.recovery_ms, cut.acknowledged) {
            (None, _) => ("invalid", m.text("finding-not-recovered")),
            (Some(_), 0) => ("doubtful", m.text("cut-not-evaluated")),
            (Some(_), n) => (
                "valid",
                m.text_with("cut-kept", &[("acknowledged", count(n))]),
            ),
        };
        return vec![CutOutcome { verdict, text }];
    }
    let losses = cut.receipts.iter().filter(|receipt| receipt.lost > 0);
    losses
        .map(|receipt| CutOutcome {
            verdict: "invalid",
            text: loss(m, receipt),
        })
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
        let summary = summarise(&record);
        let kept = describe(&m, &summary).remove(0);
        assert_eq!(
            kept.happened.len(),
            1,
            "nothing was lost with the power: {:?}",
            kept.happened
        );
        assert_eq!(kept.outcomes[0].verdict, "valid");
        insta::assert_snapshot!(kept.outcomes[0].text, @"No acknowledged transaction was lost: 10,197 checked, all found.");
        record.cuts[0].receipts.clear();
        let summary = summarise(&record);
        let unchecked = describe(&m, &summary).remove(0);
        assert_eq!(
            (unchecked.outcomes[0].verdict, unchecked.receipts.len()),
            ("doubtful", 0)
        );
        insta::assert_snapshot!(unchecked.outcomes[0].text, @"Not evaluated: no acknowledged transaction could be checked.");
    }
}
