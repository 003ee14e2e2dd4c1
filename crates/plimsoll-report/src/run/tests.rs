use plimsoll_analysis::summarise;
use plimsoll_record::fixture;
use plimsoll_record::message::{CheckDetail, EventKind, FirstLost};

use serde_json::Value;

use super::*;
use crate::load_summary::views;
use crate::render::html::STYLE;
use crate::table::WIDTH;

fn of(record: &Record) -> String {
    page(record, &summarise(record), "/* scripts */")
}

fn island(html: &str) -> (&str, &str) {
    let (_, rest) = html
        .split_once("<script type=\"application/json\" id=\"data\">")
        .unwrap();
    rest.split_once("</script>").unwrap()
}

#[test]
fn page_of_the_fixture() {
    let html = of(&fixture::record());
    let data = island(&html).0;
    insta::assert_snapshot!("page", html.replace(data, "DATA").replace(STYLE, "STYLE"));
    insta::assert_snapshot!("charts", charts(&html, ""));
}

#[test]
fn page_of_backups_and_noise() {
    let html = of(&fixture::backup());
    // What other fixtures show is left out.
    let own: Vec<&str> = html
        .split("<section")
        .filter(|part| part.starts_with(" class=\"charts block\""))
        .collect();
    insta::assert_snapshot!("page_of_backups", own.join("<section"));
    assert_eq!(own.len(), 2);
    for heading in ["procedures, without noise", "procedures, with noise"] {
        assert!(html.contains(heading), "{heading}");
    }
    insta::assert_snapshot!("charts_of_backups", charts(&html, "shared-"));
}

#[test]
fn a_run_of_backups_alone_has_no_sections_on_transactions() {
    let mut record = fixture::backup();
    record.backups.retain(|row| row.point.is_none());
    record.points.clear();
    record.seconds = Default::default();
    let html = of(&record);
    assert!(!html.contains("TPC-C-derived") && !html.contains("Counts add up"));
    assert!(html.contains("save: backup and restore"));
}

/// What charts are drawn from, those whose name begins so: of each its axes, its lines and what stands behind them.
fn charts(html: &str, name: &str) -> String {
    let data: Value = serde_json::from_str(island(html).0).unwrap();
    let mut lines = Vec::new();
    for tag in html.split("data-chart=\"").skip(1) {
        let own = tag.split('"').next().unwrap();
        let place: usize = tag.split('"').nth(2).unwrap().parse().unwrap();
        if !own.starts_with(name) {
            continue;
        }
        let chart = &data["charts"][place];
        lines.push(format!(
            "{own}: {}",
            short(chart, &["lines", "groups", "kind"])
        ));
        for line in chart["lines"].as_array().into_iter().flatten() {
            let x = &data["columns"][line["x"].as_u64().unwrap() as usize];
            lines.push(format!("  {} x: {}", short(line, &["x"]), few(x)));
        }
        for group in chart["groups"].as_array().into_iter().flatten() {
            lines.push(format!("  {group}"));
        }
    }
    let grounds = data["grounds"].as_array().into_iter().flatten();
    lines.extend(grounds.map(|ground| format!("ground: {}", short(ground, &[]))));
    lines.join("\n")
}

/// Without these fields, and with the first and the last of many values.
fn short(value: &Value, without: &[&str]) -> String {
    let fields = value.as_object().unwrap().iter();
    let fields = fields.filter(|(key, _)| !without.contains(&key.as_str()));
    let fields = fields.map(|(key, value)| format!("{key}: {}", few(value)));
    fields.collect::<Vec<_>>().join(" ")
}

fn few(value: &Value) -> String {
    match value.as_array() {
        Some(all) if all.len() > 6 => {
            let last = all.len() - 1;
            format!("[{}, {}, … {} …, {}]", all[0], all[1], last - 2, all[last])
        }
        _ => value.to_string(),
    }
}

/// Only what the other fixture does not have: lines, preconditions, repeats, a rate that rises.
#[test]
fn page_of_a_search() {
    let html = of(&fixture::search());
    let sections: Vec<&str> = html
        .split("<section")
        .skip(1)
        .filter(|section| !section.contains("data-axis"))
        .collect();
    insta::assert_snapshot!("search", sections[..6].join("<section"));
    insta::assert_snapshot!("search_lines", charts(&html, "line"));
    assert!(html.contains("100 → 500"));
}

/// A run about media alone: what stands first, what the doctor found, and the steps.
#[test]
fn page_of_block_io() {
    let html = of(&fixture::block());
    let sections: Vec<&str> = html.split("<section").skip(1).collect();
    let block = sections.iter().filter(|section| {
        section
            .split('>')
            .next()
            .is_some_and(|tag| tag.contains("class="))
    });
    let sections: Vec<&str> = block
        .filter(|section| !section.contains("data-axis"))
        .copied()
        .collect();
    assert_eq!(sections.len(), 6);
    insta::assert_snapshot!("block", sections.join("<section"));
    insta::assert_snapshot!("block_charts", charts(&html, "block-"));
    // Requests are no transactions, and have names over the run's time.
    assert!(!html.contains("data-chart=\"throughput\""));
    assert!(island(&html).0.contains("RND4K Q8T2 read, 75 %"));
}

#[test]
fn page_of_next_to_nothing() {
    let html = of(&fixture::nothing_measured());
    assert!(html.contains("No answer: no point has a valid figure."));
    assert!(!html.contains("NaN") && !html.contains("data-chart=\"nopm\""));
    assert!(of(&fixture::single_point()).contains("data-chart=\"nopm\""));
}

#[test]
fn the_headline_of_an_emulated_drive_is_marked() {
    use plimsoll_analysis::summary::{DRIVE_FACT, DRIVE_TITLE_FACT};
    use plimsoll_record::Fact;
    let mut record = fixture::single_point();
    let headline = |record: &Record| of(record).split("<section").nth(1).unwrap().to_owned();
    assert!(!headline(&record).contains("Emulated drive"));
    let medium = record.points[0].medium.unwrap();
    let fact = |key: &str, value: &str| Fact {
        subject: medium,
        key: key.into(),
        value: value.into(),
    };
    record.facts.extend([
        fact(DRIVE_FACT, "example-1t"),
        fact(DRIVE_TITLE_FACT, "Example 1 TB"),
    ]);
    assert!(headline(&record).contains("Emulated drive: Example 1 TB"));
    assert!(crate::ladder_table(&summarise(&record)).contains("\nEmulated drive: Example 1 TB\n"));
}

#[test]
fn what_is_in_the_record_cannot_break_the_page() {
    let mut record = fixture::record();
    let evil = "</script><script>alert(1)</script>\"'&";
    record.run.title = evil.into();
    record.run.command = evil.into();
    record.plan_written = evil.into();
    record
        .facts
        .iter_mut()
        .for_each(|fact| fact.value = evil.into());
    record
        .subjects
        .iter_mut()
        .for_each(|subject| subject.name.push_str(evil));
    record
        .points
        .iter_mut()
        .for_each(|point| point.step = evil.into());
    record
        .events
        .iter_mut()
        .for_each(|event| event.kind = EventKind::Cleanup { error: evil.into() });
    record
        .checks
        .iter_mut()
        .for_each(|check| check.detail = CheckDetail::from(evil.to_owned()));
    let receipts = record.cuts.iter_mut().flat_map(|cut| &mut cut.receipts);
    receipts.for_each(|receipt| {
        receipt.txn = evil.into();
        receipt.first_lost = Some(FirstLost::from(evil.to_owned()));
    });
    let html = of(&record);
    assert!(!html.contains("<script>alert"));
    assert_eq!(html.matches("</script>").count(), 2);
}

#[test]
fn the_page_loads_nothing() {
    let html = report(
        &fixture::single_point(),
        &summarise(&fixture::single_point()),
    );
    for outside in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert_eq!(html.matches("</script>").count(), 2);
}

#[test]
fn whatever_is_missing_the_rest_is_shown() {
    use plimsoll_plan::units::Nanos;
    let spoils: [fn(&mut Record); 14] = [
        |r| r.subjects.clear(),
        |r| r.facts.clear(),
        |r| r.points.clear(),
        |r| r.points[0].txns.clear(),
        |r| r.points[0].txns.truncate(2),
        |r| r.points[0].medium = None,
        |r| r.points[0].offered_per_second = Some(f64::NAN),
        |r| r.phases.clear(),
        |r| r.phases[1].end = Nanos::ZERO,
        |r| r.seconds = Default::default(),
        |r| {
            r.seconds.edit(|all| {
                all.iter_mut()
                    .for_each(|s| (s.txn, s.end) = (77, Nanos(u64::MAX)))
            })
        },
        |r| r.windows.clear(),
        |r| r.series.clear(),
        |r| (r.run.lasted, r.plan) = (Nanos(u64::MAX), RecordedPlan::from_text("{")),
    ];
    for spoil in spoils {
        let mut record = fixture::single_point();
        spoil(&mut record);
        let summary = summarise(&record);
        assert!(page(&record, &summary, "").contains(&record.run.id));
        assert!(crate::to_json(&record, &summary).contains(&record.run.id));
        assert!(!crate::ladder_table(&summary).is_empty());
        assert!(
            crate::ExportTable::ALL
                .iter()
                .all(|kind| !crate::to_csv(&record, &summary, *kind).is_empty())
        );
    }
}

#[test]
fn tables_of_the_fixture() {
    insta::assert_snapshot!(ladder_table(&summarise(&fixture::record())));
}

#[test]
fn tables_of_next_to_nothing() {
    insta::assert_snapshot!(
        "nothing_measured",
        ladder_table(&summarise(&fixture::nothing_measured()))
    );
    insta::assert_snapshot!(
        "single_point",
        ladder_table(&summarise(&fixture::single_point()))
    );
}

#[test]
fn load_lines_of_the_fixture() {
    insta::assert_snapshot!(ladder_table(&summarise(&fixture::search())));
}

#[test]
fn block_io_of_the_fixture() {
    insta::assert_snapshot!(ladder_table(&summarise(&fixture::block())));
}

#[test]
fn backups_and_noise_of_the_fixture() {
    let text = ladder_table(&summarise(&fixture::backup()));
    insta::assert_snapshot!(text);
    let tables = text.lines().filter(|line| line.trim_start().contains("  "));
    tables.for_each(|line| assert!(line.chars().count() <= WIDTH, "{line}"));
}

#[test]
fn tables_fit_the_terminal() {
    for record in [
        fixture::record(),
        fixture::nothing_measured(),
        fixture::single_point(),
        fixture::search(),
    ] {
        let summary = summarise(&record);
        for ladder in &summary.figures.ladders {
            let table = crate::ladder::table().to_text(&Messages::english(), &views(ladder));
            assert!(
                table.lines().all(|line| line.chars().count() <= WIDTH),
                "{table}"
            );
        }
    }
}
