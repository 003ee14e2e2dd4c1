//! The catalog of drives as a page.

use plimsoll_analysis::summary::Verdict;

use crate::document::{AnswerNote, PageAnswer, ReportBlock, ReportDocument, ReportSection};
use crate::message::Messages;
use crate::number::three;
use crate::render;
use crate::svg::chart::{self, Chart, PlotBar};
use crate::svg::color::ChartColor;
use crate::table::Table;

/// A drive of the catalog, as the chart shows it.
pub struct ListedDrive {
    pub name: String,
    /// Such as `nvme`.
    pub kind: &'static str,
    pub random_read_iops: f64,
}

/// The page: `listed` in charts, all `rows` in the table.
pub fn catalog_page<R>(
    table: &Table<'_, R>,
    rows: &[R],
    listed: &[ListedDrive],
    is_unverified: bool,
) -> String {
    let m = Messages::english();
    let title = m.text("drives-page-question");
    let answer = page_answer(&m, rows.len(), listed, is_unverified);
    let mut drives = ReportSection::untitled("drives");
    drives.page(ReportBlock::grid(&m, &title, table, rows));
    drives.page(ReportBlock::note(m.text("drives-note")));
    // One for each kind: their figures lie decades apart.
    let charts = charts(&m, listed).into_iter().map(ReportBlock::Drawing);
    let mut compared = ReportSection::untitled("charts");
    compared.page(ReportBlock::group("figures", charts));
    let document = ReportDocument {
        title,
        is_question: true,
        header: vec![ReportBlock::Answer(Box::new(answer))],
        sections: vec![drives, compared],
        footer: Vec::new(),
    };
    render::html::page(&m, &document)
}

fn page_answer(
    m: &Messages,
    drives: usize,
    listed: &[ListedDrive],
    is_unverified: bool,
) -> PageAnswer {
    let by_reads =
        |a: &&ListedDrive, b: &&ListedDrive| a.random_read_iops.total_cmp(&b.random_read_iops);
    let mut args = vec![("n", drives.to_string())];
    if let Some((low, high)) = listed
        .iter()
        .min_by(by_reads)
        .zip(listed.iter().max_by(by_reads))
    {
        args.push(("lowest", three(low.random_read_iops)));
        args.push(("slowest", low.name.clone()));
        args.push(("highest", three(high.random_read_iops)));
        args.push(("fastest", high.name.clone()));
    }
    let (verdict, trust) = match is_unverified {
        true => (Verdict::Doubtful, "drives-page-trust-unverified"),
        false => (Verdict::Valid, "drives-page-trust"),
    };
    PageAnswer {
        notes: vec![AnswerNote {
            heading: m.text("drives-page-next"),
            lines: vec![m.text("drives-page-show"), m.text("drives-page-bench")],
        }],
        ..PageAnswer::new(
            m,
            m.text_with("drives-page-answer", &args),
            verdict,
            m.text(trust),
        )
    }
}

fn charts(m: &Messages, listed: &[ListedDrive]) -> Vec<Chart> {
    let mut kinds: Vec<&str> = listed.iter().map(|drive| drive.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
        .into_iter()
        .enumerate()
        .filter_map(|(color, kind)| {
            let own = listed.iter().filter(|drive| drive.kind == kind);
            let bars: Vec<PlotBar> = own
                .map(|drive| {
                    PlotBar::of(
                        drive.name.clone(),
                        ChartColor(Some(color)),
                        drive.random_read_iops,
                        None,
                        Verdict::Valid,
                    )
                })
                .collect();
            let heading = m.text_with("drives-page-chart", &[("kind", kind.to_owned())]);
            chart::bars(m, heading, &bars)
        })
        .collect()
}
