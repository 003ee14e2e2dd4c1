//! Outputs of other tools on the command line: imported, reported, exported, and refused where they are broken.

use std::path::Path;

use crate::common::Place;
use serde_json::Value;

fn recorded(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../plimsoll-import/src/recorded")
        .join(name);
    path.display().to_string()
}

fn export(place: &Place, run: &str) -> Value {
    let outcome = place.run(&["export", run, "--to", "json"]).succeeded();
    serde_json::from_str(&outcome.stdout).unwrap()
}

#[test]
fn an_output_becomes_a_run_file_that_is_reported_and_exported() {
    let place = Place::new();
    let (sysbench, iostat) = (recorded("sysbench_interval.txt"), recorded("vmstat.txt"));
    let args = [
        "import",
        &sysbench,
        "--with",
        &iostat,
        "-o",
        "a.plimsoll",
        "--step",
        "oltp",
        "--title",
        "Their run",
    ];
    let outcome = place.run(&args).succeeded();
    assert!(
        outcome
            .stderr
            .contains("sysbench_interval.txt: taken for sysbench output"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome
            .stderr
            .contains("vmstat.txt: taken for vmstat output"),
        "{}",
        outcome.stderr
    );
    assert_eq!(outcome.stdout, "a.plimsoll\n");
    let json = export(&place, "a.plimsoll");
    let point = &json["summary"]["ladders"][0]["points"][0];
    assert_eq!(
        (&point["step"], &point["users"], &point["imported"]),
        (&"oltp".into(), &4.into(), &"sysbench 1.0.20".into())
    );
    assert_eq!(point["overall"]["counts"]["committed"], 2554);
    assert_eq!(
        point["overall"]["response"],
        Value::Null,
        "the output has no distribution"
    );
    assert_eq!(json["run"]["started_at"], "");
    let import = &json["summary"]["imports"][0];
    let figures = import["points"][0]["figures"].as_array().unwrap();
    let p95 = figures
        .iter()
        .find(|figure| figure["name"] == "latency 95th percentile")
        .unwrap();
    assert_eq!(
        (&p95["printed"], &p95["value"], &p95["unit"]),
        (&"10.84".into(), &10.84.into(), &"ms".into())
    );
    assert!(
        import["unknown"]
            .as_array()
            .unwrap()
            .iter()
            .any(|unknown| unknown["what"] == "durability")
    );
    let csv = place
        .run(&["export", "a.plimsoll", "--to", "csv", "--table", "reported"])
        .succeeded()
        .stdout;
    assert!(
        csv.contains(
            "sysbench 1.0.20,oltp,,sysbench,4,,0,,latency 95th percentile,10.84,10.84,ms,,"
        ),
        "{csv}"
    );
    let series = place
        .run(&["export", "a.plimsoll", "--to", "csv", "--table", "series"])
        .succeeded()
        .stdout;
    assert!(series.contains("cpu_user"), "{series}");
    place.run(&["report", "a.plimsoll"]).succeeded();
    let html = std::fs::read_to_string(place.path("a.html")).unwrap();
    for part in [
        "Reported by sysbench 1.0.20",
        "latency 95th percentile",
        "not known",
        "DURABLE and LIES cannot be evaluated",
    ] {
        assert!(html.contains(part), "{part}");
    }
    for claim in ["Counts add up", "<dt>Seed</dt>", "no second was recorded"] {
        assert!(!html.contains(claim), "{claim}");
    }
    place.expect_clean();
}

#[test]
fn failed_requests_end_a_strict_audit_with_3() {
    let place = Place::new();
    place
        .run(&["import", &recorded("fio_verify.json"), "-o", "a.plimsoll"])
        .succeeded();
    let outcome = place.run(&["audit", "a.plimsoll", "--strict"]);
    assert_eq!(outcome.code, Some(3), "{}", outcome.stdout);
    assert!(
        outcome.stdout.contains("4,096 of 4,096 requests failed"),
        "{}",
        outcome.stdout
    );
    place.expect_clean();
}

#[test]
fn block_io_of_two_files_stands_beside_each_other() {
    let place = Place::new();
    let plus = recorded("fio_jsonplus.json");
    std::fs::copy(&plus, place.path("fast.json")).unwrap();
    // A minute later.
    let later = std::fs::read_to_string(&plus)
        .unwrap()
        .replace("1795356005612", "1795356065612")
        .replace("\"timestamp\" : 1795356005", "\"timestamp\" : 1795356065");
    place.write("slow.json", &later);
    place
        .run(&["import", "fast.json", "slow.json", "-o", "b.plimsoll"])
        .succeeded();
    let json = export(&place, "b.plimsoll");
    let media = json["summary"]["blocks"][0]["media"].as_array().unwrap();
    let names: Vec<&str> = media
        .iter()
        .map(|medium| medium["medium"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["fast.json", "slow.json"]);
    let ratio = &media[1]["jobs"][0]["against_first"]["iops"]["ratio"];
    assert_eq!(ratio, &Value::from(1.0), "the same figures twice");
    place.run(&["report", "b.plimsoll"]).succeeded();
    place.expect_clean();
}

#[test]
fn what_a_run_did_not_record_joins_it() {
    let place = Place::new();
    place
        .run(&["import", &recorded("pgbench_ts.txt"), "-o", "run.plimsoll"])
        .succeeded();
    let iostat = "11/22/26 13:59:40\nDevice r/s w/s\nvda 1.00 0.00\n\n11/22/26 13:59:41\nDevice r/s w/s\nvda 7.00 0.00\n";
    place.write("iostat.txt", iostat);
    let outcome = place
        .run(&[
            "import",
            "run.plimsoll",
            "--with",
            "iostat.txt",
            "-o",
            "joined.plimsoll",
        ])
        .succeeded();
    assert!(
        outcome.stderr.contains("taken for iostat output"),
        "{}",
        outcome.stderr
    );
    let series = place
        .run(&[
            "export",
            "joined.plimsoll",
            "--to",
            "csv",
            "--table",
            "series",
        ])
        .succeeded()
        .stdout;
    assert!(
        series
            .lines()
            .any(|line| line.contains("device,vda,device_reads,1/s,7")),
        "{series}"
    );
    let (before, after) = (
        export(&place, "run.plimsoll"),
        export(&place, "joined.plimsoll"),
    );
    assert_eq!(
        before["summary"]["imports"], after["summary"]["imports"],
        "nothing else has changed"
    );
    let alone = place.run(&["import", "run.plimsoll", "-o", "c.plimsoll"]);
    assert_eq!(alone.code, Some(2));
    place.expect_clean();
}

#[test]
fn utf_16_as_powershell_writes_it_is_read_and_other_encodings_are_refused() {
    let place = Place::new();
    let text = std::fs::read_to_string(recorded("go_tpc_json.txt")).unwrap();
    let bytes: Vec<u8> = format!("\u{feff}{text}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    std::fs::write(place.path("tpc.txt"), &bytes).unwrap();
    let outcome = place
        .run(&["import", "tpc.txt", "-o", "tpc.plimsoll"])
        .succeeded();
    assert!(
        outcome.stderr.contains("tpc.txt: taken for go-tpc output"),
        "{}",
        outcome.stderr
    );
    let json = export(&place, "tpc.plimsoll");
    assert_eq!(
        json["summary"]["ladders"][0]["points"][0]["types"][0]["counts"]["committed"],
        952
    );
    std::fs::write(place.path("bare.txt"), &bytes[2..]).unwrap();
    let outcome = place.run(&["import", "bare.txt"]);
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome
            .stderr
            .contains("cannot import bare.txt: unknown encoding"),
        "{}",
        outcome.stderr
    );
    place.expect_clean();
}

#[test]
fn broken_and_unknown_files_are_refused_and_leave_nothing() {
    let place = Place::new();
    place.write("notes.txt", "Dear diary\n");
    let outcome = place.run(&["import", "notes.txt"]);
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome
            .stderr
            .contains("cannot import notes.txt: unknown format"),
        "{}",
        outcome.stderr
    );
    let text = std::fs::read_to_string(recorded("sysbench_interval.txt")).unwrap();
    place.write("cut.txt", &text[..600]);
    let outcome = place.run(&["import", "cut.txt"]);
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome.stderr.contains("cannot import cut.txt, line ")
            && outcome.stderr.contains("expected"),
        "{}",
        outcome.stderr
    );
    assert!(!place.path("cut.plimsoll").exists() && !place.path("notes.plimsoll").exists());
    place
        .run(&[
            "import",
            &recorded("sysbench_interval.txt"),
            "-o",
            "a.plimsoll",
        ])
        .succeeded();
    let again = place.run(&[
        "import",
        &recorded("sysbench_interval.txt"),
        "-o",
        "a.plimsoll",
    ]);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("exists already"), "{}", again.stderr);
    let wrong = place.run(&[
        "import",
        &recorded("sysbench_interval.txt"),
        "--tool",
        "excel",
        "-o",
        "b.plimsoll",
    ]);
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.stderr.contains("it is one of fio"),
        "{}",
        wrong.stderr
    );
    place.expect_clean();
}
