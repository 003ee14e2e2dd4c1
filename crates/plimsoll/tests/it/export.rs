//! Tables of many runs.

use std::collections::BTreeSet;
use std::fs;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

use crate::common::Place;

const PLAN: &str = "title = \"Mock\"\n[system.db.mock]\nlatency = \"1ms\"\n[workload.oltp.tpcc]\nwarehouses = 1\n\
                    [[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = [1, 2]\nmeasure = \"5s\"\n";

/// The directory `all` with two runs, and a set of two runs in it.
fn runs() -> Place {
    let place = Place::new();
    place.write("one.toml", PLAN);
    let users = "users = [1, 2]";
    let matrix = PLAN.replace(users, "users = 1") + "[matrix]\nstep.oltp.users = [1, 2]\n";
    place.write("two.toml", &matrix);
    fs::create_dir(place.path("all")).unwrap();
    for (plan, output) in [
        ("one.toml", "all/a.plimsoll"),
        ("one.toml", "all/b.plimsoll"),
        ("two.toml", "all/c.set"),
    ] {
        let args = [
            "run",
            plan,
            "--virtual-time",
            "-q",
            "--format",
            "json",
            "-o",
            output,
        ];
        place.run(&args).succeeded();
    }
    place
}

/// The first column, the run's id, of all rows.
fn run_ids(place: &Place, file: &str) -> Vec<String> {
    let file = fs::File::open(place.path(file)).unwrap();
    let file = SerializedFileReader::new(file).unwrap();
    let rows = file.get_row_iter(None).unwrap();
    rows.map(|row| row.unwrap().get_string(0).unwrap().clone())
        .collect()
}

#[test]
fn a_table_of_many_runs_leaves_out_what_is_damaged() {
    let place = runs();
    let parquet = |output: &str| place.run(&["export", "all", "--to", "parquet", "-o", output]);
    parquet("four.parquet").succeeded();
    let ids = run_ids(&place, "four.parquet");
    assert_eq!(ids.len(), 6, "two loads of two runs, one of two others");
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 4);

    // The same rows as CSV, of files that are named.
    let csv = place
        .run(&["export", "all/a.plimsoll", "all", "--to", "csv"])
        .succeeded();
    assert!(
        csv.stderr
            .contains("holds the run of all/a.plimsoll: left out"),
        "{csv:?}"
    );
    let of_csv: Vec<&str> = csv
        .stdout
        .lines()
        .skip(1)
        .map(|line| line.split(',').next().unwrap())
        .collect();
    assert_eq!(of_csv, ids);

    let whole = fs::read(place.path("all/b.plimsoll")).unwrap();
    fs::write(place.path("all/b.plimsoll"), &whole[..whole.len() / 2]).unwrap();
    fs::write(place.path("all/foreign.plimsoll"), "of another program").unwrap();
    let damaged = parquet("three.parquet");
    damaged.failed(
        1,
        &[
            "all/b.plimsoll is damaged",
            "1 of 5 run files cannot be read",
        ],
    );
    let rest = run_ids(&place, "three.parquet");
    let expected: Vec<String> = ids.iter().filter(|id| **id != ids[2]).cloned().collect();
    assert_eq!(rest, expected);
    assert_eq!(crate::output::parts(&place), [] as [&str; 0]);
}

#[test]
fn nothing_is_written_where_a_named_file_is_no_run() {
    let place = runs();
    place.write("foreign.plimsoll", "of another program");
    let args = [
        "export",
        "all",
        "foreign.plimsoll",
        "--to",
        "parquet",
        "-o",
        "x.parquet",
    ];
    place
        .run(&args)
        .refused(&["foreign.plimsoll is not a run file"]);
    let missing = [
        "export",
        "missing.plimsoll",
        "--to",
        "parquet",
        "-o",
        "x.parquet",
    ];
    place
        .run(&missing)
        .refused(&["missing.plimsoll cannot be opened"]);
    place
        .run(&["export", "all", "--to", "parquet"])
        .refused(&["Parquet needs a file"]);
    fs::create_dir(place.path("none")).unwrap();
    let none = ["export", "none", "--to", "parquet", "-o", "x.parquet"];
    place.run(&none).refused(&["no run files found"]);
    let nowhere = [
        "export",
        "all",
        "--to",
        "parquet",
        "-o",
        "missing/x.parquet",
    ];
    place
        .run(&nowhere)
        .failed(1, &["cannot write missing/x.parquet", "No such file"]);
    let names = fs::read_dir(place.path(".")).unwrap().flatten();
    let left = names.filter(|entry| entry.file_name().to_string_lossy().starts_with("x."));
    assert_eq!(left.count(), 0);
}

#[test]
fn an_export_of_one_run_goes_to_a_file_too() {
    let place = runs();
    for format in ["csv", "json", "text"] {
        let printed = place
            .run(&["export", "all/a.plimsoll", "--to", format])
            .succeeded();
        let args = ["export", "all/a.plimsoll", "--to", format, "-o", format];
        assert_eq!(place.run(&args).succeeded().stdout, "");
        let written = fs::read_to_string(place.path(format)).unwrap();
        assert_eq!(written.trim_end(), printed.stdout.trim_end(), "{format}");
    }
}
