//! `plimsoll compare`, `gate` and `list` on runs of the mock engine.

mod common;

use common::Place;
use serde_json::Value;

/// Three repeats of 90 s, told apart by their latency.
fn run(place: &Place, name: &str, latency_us: u32, more: &[&str]) {
    let plan = format!(
        "title = \"Mock {name}\"\n[system.db.mock]\nlatency = \"{latency_us}us\"\njitter = \"10ms\"\n\
         [workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = [1, 2]\nramp = \"1s\"\n\
         measure = \"90s\"\nrepeat = 3\n"
    );
    place.write("plan.toml", &plan);
    let file = format!("{name}.plimsoll");
    let mut args = vec!["run", "plan.toml", "--virtual-time", "-q", "-o", &file];
    args.extend(more);
    place.run(&args).succeeded();
}

#[test]
fn runs_are_compared_gated_and_listed() {
    let place = Place::new();
    run(&place, "base", 100_000, &["--label", "v1"]);
    run(&place, "same", 100_000, &["--label", "v2", "--seed", "9"]);
    run(&place, "slow", 112_000, &["--label", "v3", "--seed", "5"]);

    let text = place.run(&["compare", "base.plimsoll", "slow.plimsoll", "-o", "out.html"]).succeeded().stdout;
    assert!(text.contains("slow against base") && text.contains("% less."), "{text}");
    let html = std::fs::read_to_string(place.path("out.html")).unwrap();
    assert!(html.contains("<svg class=\"versus rates\"") && html.contains("slow does 0.9"), "{html}");
    let json = place.run(&["compare", "base.plimsoll", "same.plimsoll", "--format", "json"]).succeeded().stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    let points = json[0]["others"][0]["points"].as_array().unwrap();
    assert_eq!(points.len(), 2);
    assert!(points.iter().all(|point| point["method"]["method"] == "repeats"), "{points:?}");
    let csv = place.run(&["compare", "base.plimsoll", "slow.plimsoll", "--format", "csv"]).succeeded().stdout;
    assert!(csv.lines().count() > 2 && csv.lines().nth(1).unwrap().contains(",nopm,"), "{csv}");

    let gate = |run: &str, most: &str, more: &[&str]| {
        let mut args = vec!["gate", "--baseline", "base.plimsoll", "--max-regression", most, run];
        args.extend(more);
        place.run(&args)
    };
    assert_eq!(gate("same.plimsoll", "5%", &[]).code, Some(0));
    let slow = gate("slow.plimsoll", "3%", &["--allow", "onefactor"]);
    assert!(slow.code == Some(3) && slow.stdout.contains("REGRESSION"), "{slow:?}");
    assert_eq!(gate("slow.plimsoll", "11%", &[]).code, Some(4), "nobody can tell");
    assert_eq!(gate("absent.plimsoll", "3%", &[]).code, Some(2));
    assert_eq!(place.run(&["compare", "base.plimsoll"]).code, Some(2), "one side is none");

    let list = place.run(&["list", "--label", "V3"]).succeeded().stdout;
    assert!(list.contains("slow.plimsoll") && !list.contains("same.plimsoll"), "{list}");
    let list =
        place.run(&["list", "--title", "mock", "--system", "db", "--since", "2020-01-01", "--changes"]).succeeded();
    assert!(list.stdout.contains("3 runs: no change found."), "{list:?}");
    assert!(place.run(&["list", "--status", "failed"]).succeeded().stdout.contains("no such runs"));
    let json = place.run(&["list", "--format", "json", "--changes"]).succeeded().stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (json["runs"].as_array().unwrap().len(), json["courses"][0]["points"].as_array().unwrap().len()),
        (3, 3)
    );
}

#[test]
fn what_is_read_for_a_comparison_gives_the_same_summary() {
    use plimsoll::runfile::{read, read_for_audit, read_for_comparison};
    use plimsoll_model::summary::{PointSummary, summarise};
    let runs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../runs");
    for name in ["2026-11-20-vm-2cpu/three-drives", "2026-11-21-vm-2cpu/load-line", "2026-11-21-vm-2cpu/storage"] {
        let path = std::path::PathBuf::from(format!("{runs}/{name}.plimsoll"));
        let (whole, part) = (summarise(&read(&path).unwrap()), summarise(&read_for_comparison(&path).unwrap()));
        assert_eq!(whole.verdict, part.verdict, "{name}");
        let judged = summarise(&read_for_audit(&path).unwrap());
        assert_eq!(whole.audit, judged.audit, "{name}");
        for (a, b) in whole.points().zip(part.points()) {
            assert_eq!((a.verdict, a.nopm, &a.findings), (b.verdict, b.nopm, &b.findings), "{name}");
            let responses = |point: &PointSummary| -> Vec<_> {
                point.types.iter().map(|txn| (txn.name.clone(), txn.counts, txn.response)).collect()
            };
            assert_eq!(responses(a), responses(b), "{name}");
            assert_eq!(a.overall.response, b.overall.response, "{name}");
        }
        let verdicts = |summary: &plimsoll_model::summary::Summary| -> Vec<_> {
            summary.blocks.iter().flat_map(|block| block.media.iter().map(|medium| medium.verdict)).collect()
        };
        assert_eq!(verdicts(&whole), verdicts(&part), "{name}");
    }
}
