//! Broken outputs: refused with the line and what was expected, and never a panic.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::super::{ImportError, SourceFile, Tool, detect, import, tools};
use super::{OUTPUTS, import_options, text};
use plimsoll_analysis::summarise;

fn error(name: &str, text: &str) -> String {
    import(
        &[SourceFile {
            name,
            text,
            tool: None,
        }],
        &import_options(),
    )
    .unwrap_err()
    .to_string()
}

#[test]
fn an_unknown_format_is_refused_with_a_list_of_the_known_ones() {
    let message = error("notes.txt", "\nDear diary\n");
    assert!(
        message
            .starts_with("cannot import notes.txt: unknown format\nIt begins with \"Dear diary\"."),
        "{message}"
    );
    assert!(
        message.contains("sysbench 1.0") && message.contains("--tool"),
        "{message}"
    );
}

#[test]
fn an_error_has_the_line_and_what_was_expected() {
    let broken = text("sysbench_interval.txt").replace("tps: 357.93", "tps: many");
    let message = error("a.txt", &broken);
    assert_eq!(
        message,
        "cannot import a.txt, line 14\nFound \"many\"; expected a rate, a number from 0 to 10^15.\nGive the output as the tool printed it; if it is, import does not know this version of the tool."
    );
    let cut: String = text("sysbench_interval.txt")
        .lines()
        .take(15)
        .map(|line| format!("{line}\n"))
        .collect();
    let message = error("a.txt", &cut);
    assert!(
        message.starts_with(
            "cannot import a.txt, line 15\nFound the end of the file; expected `total number of events:`"
        ),
        "{message}"
    );
    let message = error(
        "p.txt",
        &text("pgbench_progress.txt").replace("number of clients: 4", "number of clients: four"),
    );
    assert!(
        message.starts_with(
            "cannot import p.txt, line 12\nFound \"four\"; expected the number of clients"
        ),
        "{message}"
    );
    let message = error(
        "f.json",
        &text("fio_jsonplus.json").replace("\"total_ios\"", "\"ios\""),
    );
    assert!(
        message.contains("total_ios is missing") && message.contains("cannot import f.json, line "),
        "{message}"
    );
    let cut = &text("fio_jsonplus.json")[..3000];
    let message = error("f.json", cut);
    assert!(
        message.contains("one whole JSON document of fio"),
        "{message}"
    );
    let message = error(
        "d.xml",
        &text("diskspd.xml").replace("</TestTimeSeconds>", "</Test>"),
    );
    assert_eq!(
        message,
        "cannot import d.xml, line 30\nFound \"</Test>\"; expected </TestTimeSeconds>.\nGive the output as the tool printed it; if it is, import does not know this version of the tool."
    );
    let message = error(
        "v.html",
        &text("vdbench_flatfile.html").replace(" 5000 4998.20", " 4998.20"),
    );
    assert!(
        message.contains("cannot import v.html, line 9\n") && message.contains("23 columns"),
        "{message}"
    );
}

#[test]
fn a_log_whose_name_does_not_show_its_kind_is_refused() {
    let source = SourceFile {
        name: "x.log",
        text: text("fio_l_bw.1.log"),
        tool: Some(crate::fio_log::FORMAT.tool),
    };
    let message = import(&[source], &import_options())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("its content does not show what it logs"),
        "{message}"
    );
    let aggregated = "1795355996 77 267148 1448087670 823 13252 0 0 0 0 0 0 0 0 0\n";
    assert!(
        error("agg.1", aggregated).contains("this one is aggregated"),
        "{}",
        error("agg.1", aggregated)
    );
}

#[test]
fn logs_that_could_belong_to_several_outputs_are_refused() {
    let source = |name, text| SourceFile {
        name,
        text,
        tool: None,
    };
    let two = [
        source("a.txt", text("pgbench_l.txt")),
        source("b.txt", text("pgbench_l.txt")),
        source("log.1", text("pgbench_log.txt")),
    ];
    assert!(matches!(
        import(&two, &import_options()),
        Err(ImportError::Files { .. })
    ));
}

/// Nothing that is read may break anything that follows: figures of whatever comes out are computed too.
fn survives(name: &str, text: &str, tool: Option<Tool>) {
    if let Ok(imported) = import(&[SourceFile { name, text, tool }], &import_options()) {
        let _ = summarise(&imported.record);
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Every output, by the tool that it is detected as: detecting takes longer than reading most of them.
static BY_TOOL: LazyLock<BTreeMap<Tool, Vec<(&str, &str)>>> = LazyLock::new(|| {
    let mut by_tool: BTreeMap<Tool, Vec<(&str, &str)>> = BTreeMap::new();
    for (path, text) in OUTPUTS {
        let tool = detect(name_of(path), text).expect("every output is detected");
        by_tool.entry(tool).or_default().push((path, text));
    }
    assert_eq!(by_tool.len(), tools().count());
    by_tool
});

const EXTREMES: [&str; 8] = [
    "18446744073709551615",
    "18446744073709551614",
    "9223372036854775807",
    "1000000000000000",
    "999999999999999",
    "4294967295",
    "99999999",
    "0",
];

/// About one number of `every` replaced by one of `instead`.
fn with_other_numbers(text: &str, instead: &[&str], every: usize, seed: u64) -> String {
    let (mut changed, mut in_number, mut state) = (String::new(), false, seed | 1);
    for c in text.chars() {
        if !c.is_ascii_digit() {
            in_number = false;
            changed.push(c);
            continue;
        }
        if !in_number {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let pick = (state >> 33) as usize;
            if pick.is_multiple_of(every) {
                changed.push_str(instead[pick / every % instead.len()]);
            }
        }
        in_number = true;
        changed.push(c);
    }
    changed
}

#[test]
fn sums_of_the_largest_numbers_do_not_overflow() {
    // 20,000 clients with a transaction number, and retries, of 10^15 each.
    let line =
        |client: u32| format!("{client} 1000000000000000 100 0 1795449240 1 5 1000000000000000\n");
    let log: String = (0..20_000).map(line).collect();
    survives("pgbench_log.1", &log, None);
    let output = text("pgbench_rate_tries.txt");
    let sources = [
        SourceFile {
            name: "p.txt",
            text: output,
            tool: None,
        },
        SourceFile {
            name: "pgbench_log.1",
            text: &log,
            tool: None,
        },
    ];
    let message = import(&sources, &import_options()).unwrap_err().to_string();
    assert!(
        message.contains("the logs belong to another run"),
        "{message}"
    );
    // Intervals of vdbench behind the last number that there is.
    let summary = text("vdbench_50407_block_summary.html").replacen(
        "           1 ",
        "           18446744073709551615 ",
        1,
    );
    assert!(summary.contains("18446744073709551615"), "{summary}");
    assert!(
        error("v.html", &summary).contains("interval"),
        "{}",
        error("v.html", &summary)
    );
    let late = text("vdbench_50407_block_summary.html").replace("Nov 23, 2026", "Jul 21, 2554");
    survives("v.html", &late, None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_text_as_any_tool(text in "\\PC{0,200}", tool in 0..tools().count()) {
        survives("a_lat.1.log", &text, tools().nth(tool));
        survives("a", &text, None);
    }

    #[test]
    fn lines_of_numbers_as_any_tool(
        lines in prop::collection::vec("([0-9]{1,20}[ ,:.;|/s-]{1,2}){0,9}", 0..8), tool in 0..tools().count(),
    ) {
        survives("a_clat_hist.1.log", &lines.join("\n"), tools().nth(tool));
    }

    #[test]
    fn outputs_that_were_cut_off(which in 0..OUTPUTS.len(), share in 0.0f64..1.0) {
        let (path, text) = OUTPUTS[which];
        let mut at = (text.len() as f64 * share) as usize;
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        survives(name_of(path), &text[..at], None);
    }

    #[test]
    fn outputs_with_changed_bytes(
        which in 0..OUTPUTS.len(), changes in prop::collection::vec((0.0f64..1.0, 0usize..24), 1..6),
    ) {
        const INSTEAD: [&str; 24] = [
            "", "9", "99999999999999999999", "-1", "-", ".", ",", ":", " ", "\n", "nan", "inf", "1e308", "0", "}", "{",
            "<", ">", "\"", "\u{fc}", "]", "|", "18446744073709551615", "1e15",
        ];
        let (path, text) = OUTPUTS[which];
        let mut changed = text.to_owned();
        for (share, instead) in changes {
            let mut at = (changed.len() as f64 * share) as usize;
            while !changed.is_char_boundary(at) {
                at -= 1;
            }
            let end = changed[at..].chars().next().map_or(at, |c| at + c.len_utf8());
            changed.replace_range(at..end, INSTEAD[instead]);
        }
        survives(name_of(path), &changed, None);
    }

    #[test]
    fn extreme_numbers_in_an_output_of_each_tool(which in any::<prop::sample::Index>(), seed in any::<u64>(), every in 1usize..12) {
        for (tool, own) in BY_TOOL.iter() {
            let (path, text) = own[which.index(own.len())];
            survives(name_of(path), &with_other_numbers(text, &EXTREMES, every, seed), Some(*tool));
        }
    }

    #[test]
    fn outputs_whose_numbers_are_others(which in 0..OUTPUTS.len(), seed in any::<u64>()) {
        let (path, text) = OUTPUTS[which];
        let instead = ["0", "7", "4294967296", "9007199254740993", "18446744073709551615", "999999999999999"];
        let changed = with_other_numbers(text, &instead, 16, seed);
        survives(name_of(path), &changed, None);
    }
}
