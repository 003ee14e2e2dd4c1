use plimsoll_analysis::summary::{FigureId, Interval, Verdict};

use super::Unit::{Percent, Plain, Three, Whole, Words};
use super::*;

struct TestRow {
    job: &'static str,
    medium: &'static str,
    rate: Option<f64>,
    verdict: Verdict,
}

const ROWS: [TestRow; 3] = [
    TestRow {
        job: "a, <b>",
        medium: "fast",
        rate: Some(12_345.6),
        verdict: Verdict::Valid,
    },
    TestRow {
        job: "a, <b>",
        medium: "slow",
        rate: None,
        verdict: Verdict::Invalid,
    },
    TestRow {
        job: "c",
        medium: "slow",
        rate: Some(1.0),
        verdict: Verdict::Doubtful,
    },
];

fn table<'a>() -> Table<'a, TestRow> {
    Table::<TestRow>::new("test")
        .column("job", Words, |row| row.job)
        .key("job")
        .column("medium", Words, |row| row.medium)
        .key("medium")
        .figure(FigureId::Transactions, |row| row.rate)
        .digits(Whole)
        .in_text()
        .key("per_second")
        .figure(FigureId::Transactions, |row| row.rate)
        .on_page()
        .column("verdict", Plain, |row| row.verdict)
        .key("verdict")
        .field("complete", |_| true)
        .blank_repeats(2)
        .grouped(|row| Some(row.job.to_owned()))
}

#[test]
fn the_same_rows_are_for_people_and_for_programs() {
    let m = Messages::english();
    insta::assert_snapshot!(table().to_text(&m, &ROWS), @r"
    job     medium   txn/s   verdict
    a, <b>  fast    12,346     valid
            slow         –   invalid
    c       slow         1  doubtful
    ");
    insta::assert_snapshot!(table().to_csv(ROWS), @r#"
    job,medium,per_second,verdict,complete
    "a, <b>",fast,12345.6,valid,true
    "a, <b>",slow,,invalid,true
    c,slow,1,doubtful,true
    "#);
    let json = table().to_json(&ROWS);
    assert_eq!(json[0]["per_second"], 12_345.6);
    assert!(json[1]["per_second"].is_null());
    assert_eq!(json[1]["verdict"], "invalid");
}

#[test]
fn a_page_marks_words_verdicts_and_groups() {
    let grid = table().to_grid(&Messages::english(), &ROWS);
    let classes: Vec<&str> = grid.rows.iter().map(|row| row.class).collect();
    assert_eq!(classes, ["", "group", "group"]);
    let cells = grid.rows[0].cells.iter();
    let cells: Vec<String> = cells
        .map(|cell| format!("{}/{}", cell.text, cell.class))
        .collect();
    assert_eq!(
        cells,
        ["a, <b>/words", "fast/words", "12,300/", "valid/valid"]
    );
}

#[test]
fn columns_without_values_and_spare_columns_are_left_out() {
    let m = Messages::english();
    let table = Table::<TestRow>::new("test")
        .column("job", Words, |row| row.job.repeat(10))
        .figure(FigureId::P50, |_| 0.5)
        .figure(FigureId::Transactions, |_| None::<f64>)
        .column("medium", Words, |row| row.medium.repeat(10))
        .spare(&["p50"])
        .without_empty_columns();
    let text = table.to_text(&m, &ROWS);
    let header: Vec<&str> = text.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(header, ["job", "medium"], "{text}");
}

#[test]
fn the_catalog_of_figures_has_headings_and_digits() {
    let m = Messages::english();
    let table = Table::<TestRow>::new("test")
        .figure(FigureId::Nopm, |_| 12_345.6)
        .figure(FigureId::TpmPerUser, |_| 12.4)
        .figure(FigureId::P999, |_| 1.234)
        .figure(FigureId::P99, |_| 1.234)
        .ratio()
        .figure(FigureId::P99, |_| 1.234)
        .value("slowed")
        .micros(&[FigureId::P99], |_, _| Some(1.5))
        .value("lowest");
    insta::assert_snapshot!(table.to_text(&m, &ROWS[..1]));
    let header = table.to_grid(&m, &ROWS).header;
    let header: Vec<String> = header.into_iter().map(|cell| cell.text).collect();
    assert_eq!(
        header,
        [
            "NOPM",
            "TPM per user",
            "p99.9, ms",
            "p99 ratio",
            "p99 slowed, ms",
            "Lowest p99, µs"
        ]
    );
}

#[test]
fn a_cell_has_the_digits_of_its_unit() {
    let m = Messages::english();
    let shown = |unit: Unit, cell: TableCell| unit.shown(&m, &cell);
    assert_eq!(shown(Percent, 0.0123.into()), "0.0123");
    assert_eq!(
        shown(Three, Interval::new(2.0, 1.0, 3.0).into()),
        "1.00 to 3.00"
    );
    let reason = "backup-rate-restore";
    assert_eq!(shown(Plain, TableCell::missing(reason)), m.text(reason));
    assert_eq!(shown(Unit::Decimals(1), TableCell::MISSING), "–");
    let fraction = Unit::Fraction(3);
    assert_eq!(
        [2.0, 1200.5].map(|value| shown(fraction, value.into())),
        ["2", "1,200.500"]
    );
    assert_eq!(
        shown(Whole, TableCell::from(440_000.5).marked("?")),
        "440,000?"
    );
}
