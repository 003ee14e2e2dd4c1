//! `plimsoll compare`, `gate` and `list` on runs of the mock engine.

use crate::common::Place;
use serde_json::Value;

/// Three repeats of 90 s, distinguished by their latency.
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
#[expect(clippy::too_many_lines, reason = "one scenario, step by step")]
fn runs_are_compared_gated_and_listed() {
    let place = Place::new();
    run(&place, "base", 100_000, &["--label", "v1", "--seed", "1"]);
    run(&place, "same", 100_000, &["--label", "v2", "--seed", "9"]);
    run(&place, "slow", 112_000, &["--label", "v3", "--seed", "5"]);

    let text = place
        .run(&[
            "compare",
            "base.plimsoll",
            "slow.plimsoll",
            "-o",
            "out.html",
        ])
        .succeeded()
        .stdout;
    assert!(
        text.contains("slow against base") && text.contains("% less."),
        "{text}"
    );
    let html = std::fs::read_to_string(place.path("out.html")).unwrap();
    assert!(
        html.contains("<svg class=\"versus rates\"") && html.contains("slow does 0.9"),
        "{html}"
    );
    let json = place
        .run(&[
            "compare",
            "base.plimsoll",
            "same.plimsoll",
            "--format",
            "json",
        ])
        .succeeded()
        .stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    let points = json[0]["others"][0]["points"].as_array().unwrap();
    assert_eq!(points.len(), 2);
    assert!(
        points
            .iter()
            .all(|point| point["method"]["method"] == "repeats"),
        "{points:?}"
    );
    let csv = place
        .run(&[
            "compare",
            "base.plimsoll",
            "slow.plimsoll",
            "--format",
            "csv",
        ])
        .succeeded()
        .stdout;
    assert!(
        csv.lines().count() > 2 && csv.lines().nth(1).unwrap().contains(",nopm,"),
        "{csv}"
    );

    let gate = |run: &str, most: &str, more: &[&str]| {
        let mut args = vec![
            "gate",
            "--baseline",
            "base.plimsoll",
            "--max-regression",
            most,
            run,
        ];
        args.extend(more);
        place.run(&args)
    };
    assert_eq!(gate("same.plimsoll", "5%", &[]).code, Some(0));
    let slow = gate("slow.plimsoll", "3%", &["--allow", "onefactor"]);
    assert!(
        slow.code == Some(3) && slow.stdout.contains("REGRESSION"),
        "{slow:?}"
    );
    assert_eq!(gate("slow.plimsoll", "11%", &[]).code, Some(4), "undecided");
    assert_eq!(gate("absent.plimsoll", "3%", &[]).code, Some(2));
    assert_eq!(
        place.run(&["compare", "base.plimsoll"]).code,
        Some(2),
        "one side is none"
    );

    let list = place.run(&["list", "--label", "V3"]).succeeded().stdout;
    assert!(
        list.contains("slow.plimsoll") && !list.contains("same.plimsoll"),
        "{list}"
    );
    let list = place
        .run(&[
            "list",
            "--title",
            "mock",
            "--system",
            "db",
            "--since",
            "2020-01-01",
            "--changes",
        ])
        .succeeded();
    assert!(
        list.stdout.contains("3 runs: too few to find a step"),
        "{list:?}"
    );
    assert!(
        place
            .run(&["list", "--status", "failed"])
            .succeeded()
            .stdout
            .contains("no such runs")
    );
    let json = place
        .run(&["list", "--format", "json", "--changes"])
        .succeeded()
        .stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (
            json["runs"].as_array().unwrap().len(),
            json["courses"][0]["points"].as_array().unwrap().len()
        ),
        (3, 3)
    );
}

fn recorded(name: &str) -> String {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../plimsoll-import/src/recorded/"
    );
    std::fs::read_to_string(format!("{path}{name}")).unwrap()
}

/// Another tool's output as a run file.
fn imported(place: &Place, name: &str, text: &str) -> String {
    place.write(&format!("{name}.txt"), text);
    let file = format!("{name}.plimsoll");
    place
        .run(&[
            "import",
            &format!("{name}.txt"),
            "--medium",
            "disk",
            "-o",
            &file,
        ])
        .succeeded();
    file
}

fn comparison(place: &Place, args: &[&str]) -> Value {
    let mut all = vec!["compare", "--format", "json"];
    all.extend(args);
    serde_json::from_str(&place.run(&all).succeeded().stdout).unwrap()
}

fn first_point(place: &Place, args: &[&str]) -> Value {
    comparison(place, args)[0]["others"][0]["points"][0].clone()
}

/// Pairs of runs with different workloads, and what differs.
fn unlike_runs(place: &Place) -> Vec<(String, String, &'static str)> {
    let select = recorded("pgbench_t.txt");
    let tpcb = select.replace("<builtin: select only>", "<builtin: TPC-B (sort of)>");
    let fio = recorded("fio_json.json");
    let large = fio.replace("\"bs\" : \"4k\"", "\"bs\" : \"64k\"");
    let read = fio.replace("\"rw\" : \"randwrite\"", "\"rw\" : \"randread\"");
    let direct = fio.replace("\"fsync\"", "\"direct\" : \"1\", \"fsync\"");
    let base = imported(place, "fio", &fio);
    vec![
        (
            imported(place, "tpcb", &tpcb),
            imported(place, "select", &select),
            "select only",
        ),
        (base.clone(), imported(place, "large", &large), "bs"),
        (base.clone(), imported(place, "read", &read), "rw"),
        (base, imported(place, "direct", &direct), "direct"),
    ]
}

#[test]
fn unlike_workloads_have_no_ratio_unless_that_is_wanted() {
    let place = Place::new();
    for (first, second, differs) in unlike_runs(&place) {
        let point = first_point(&place, &[&first, &second]);
        assert!(
            point["rate"]["ratio"].is_null() && point["rate"]["first"]["value"].is_number(),
            "{differs}: {point}"
        );
        assert_eq!(point["times"].as_array().unwrap().len(), 0, "{differs}");
        let text = place
            .run(&["compare", &first, &second, "-o", "x.html"])
            .succeeded()
            .stdout;
        let page = std::fs::read_to_string(place.path("x.html")).unwrap();
        for shown in [&text, &page] {
            assert!(
                shown.contains("different workloads") && shown.contains("--anyway"),
                "{shown}"
            );
            let table = shown.rsplit("What differs").next().unwrap();
            assert!(
                table.contains("workload") && table.contains(differs),
                "{differs}: {shown}"
            );
        }
        let anyway = place
            .run(&["compare", &first, &second, "--anyway", "--format", "csv"])
            .succeeded()
            .stdout;
        assert!(
            anyway
                .lines()
                .nth(1)
                .unwrap()
                .split(',')
                .nth(13)
                .is_some_and(|ratio| !ratio.is_empty()),
            "{anyway}"
        );
        let gate = place.run(&[
            "gate",
            "--baseline",
            &first,
            &second,
            "--max-regression",
            "99%",
        ]);
        assert_eq!(gate.code, Some(4), "{differs}: {gate:?}");
        assert!(
            gate.stdout.contains("a baseline of the same workload"),
            "{gate:?}"
        );
    }
}

#[test]
fn data_of_another_size_are_another_workload() {
    let place = Place::new();
    for (name, warehouses, mode) in [
        ("one", 1, "procedures"),
        ("two", 2, "procedures"),
        ("client", 1, "statements"),
    ] {
        place.write(
            "plan.toml",
            &format!(
                "title = \"Mock\"\n[system.db.mock]\nlatency = \"10ms\"\n[workload.oltp.tpcc]\nwarehouses = {warehouses}\n\
                 mode = \"{mode}\"\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = 2\nramp = \"1s\"\nmeasure = \"20s\"\n"
            ),
        );
        place
            .run(&[
                "run",
                "plan.toml",
                "--virtual-time",
                "-q",
                "-o",
                &format!("{name}.plimsoll"),
            ])
            .succeeded();
    }
    assert!(first_point(&place, &["one.plimsoll", "two.plimsoll"])["rate"]["ratio"].is_null());
    for named in [["--factor", "sizes"].as_slice(), ["--anyway"].as_slice()] {
        let args = [&["one.plimsoll", "two.plimsoll"], named].concat();
        assert!(
            first_point(&place, &args)["rate"]["ratio"].is_object(),
            "{named:?}"
        );
    }
    assert!(
        first_point(&place, &["one.plimsoll", "client.plimsoll"])["rate"]["ratio"].is_object(),
        "the same transactions"
    );
    let shown =
        comparison(&place, &["one.plimsoll", "two.plimsoll"])[0]["others"][0]["differences"]
            .to_string();
    assert_eq!(shown.matches("warehouses").count(), 1, "{shown}");
}

#[test]
fn one_run_given_several_times_counts_once() {
    let place = Place::new();
    let text = recorded("pgbench_t.txt");
    let first = imported(&place, "a", &text);
    let again = imported(&place, "again", &text);
    let faster = imported(&place, "b", &text.replace("11052.777010", "22105.5"));
    place.write("a.txt", &text);
    let twice = place.run(&["import", "a.txt", "again.txt", "-o", "twice.plimsoll"]);
    twice.failed(
        2,
        &["cannot import again.txt", "a.txt holds the same output"],
    );
    std::fs::copy(place.path(&first), place.path("copy.plimsoll")).unwrap();
    let alone = place.run(&["compare", &first, "copy.plimsoll", &again]);
    alone.failed(2, &["the same run", "two different runs"]);
    let both = place
        .run(&[
            "compare",
            &first,
            &faster,
            "copy.plimsoll",
            "--format",
            "json",
        ])
        .succeeded();
    assert!(
        both.stderr.contains("copy and a are the same run"),
        "{both:?}"
    );
    let json: Value = serde_json::from_str(&both.stdout).unwrap();
    assert_eq!(json[0]["others"].as_array().unwrap().len(), 1);
    let gate = place.run(&[
        "gate",
        "--baseline",
        &first,
        "copy.plimsoll",
        "--max-regression",
        "3%",
    ]);
    assert!(
        gate.stderr
            .contains("copy and a are the same run: it is compared with itself"),
        "{gate:?}"
    );
    std::fs::remove_file(place.path(&again)).unwrap();
    let list = place.run(&["list", "--changes"]).succeeded();
    assert!(
        list.stderr
            .contains("copy.plimsoll and a.plimsoll are the same run"),
        "{list:?}"
    );
    assert!(
        list.stdout.contains("2 runs: too few to find a step"),
        "{list:?}"
    );
    let db = rusqlite::Connection::open(place.path("copy.plimsoll")).unwrap();
    db.execute_batch("UPDATE run SET title = 'another', id = 'another'")
        .unwrap();
    drop(db);
    let list = place.run(&["list", "--changes"]).succeeded();
    assert!(
        list.stderr
            .contains("copy.plimsoll does not match its digest"),
        "{list:?}"
    );
    assert!(
        list.stdout.contains("2 runs: too few to find a step"),
        "one damaged file hides no others: {list:?}"
    );
}

#[test]
fn a_history_that_drifts_is_not_a_history_of_steps() {
    let place = Place::new();
    let text = recorded("pgbench_t.txt");
    for i in 0..12 {
        imported(
            &place,
            &format!("run-{i:02}"),
            &text.replace("11052.777010", &format!("{}", 10_000 + 100 * i)),
        );
    }
    let list = place.run(&["list", "--changes"]).succeeded();
    assert!(
        list.stdout
            .contains("the series drifts. It rises by 10.4 % in all, 0.948 % a run"),
        "{list:?}"
    );
}

#[test]
fn copies_in_a_set_are_no_repeats() {
    let place = Place::new();
    place.write(
        "plan.toml",
        "title = \"Mock\"\n[system.db.mock]\nlatency = \"10ms\"\njitter = \"10ms\"\n[workload.oltp.tpcc]\nwarehouses = 1\n\
         [[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = 2\nramp = \"1s\"\nmeasure = \"20s\"\n\
         [matrix]\nrepeat = 3\nsystem.db.mock.latency = [\"10ms\", \"20ms\"]\n",
    );
    place
        .run(&["run", "plan.toml", "--virtual-time", "-q", "-o", "x.set"])
        .succeeded();
    let mut files: Vec<_> = std::fs::read_dir(place.path("x.set"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|ext| ext == "plimsoll"));
    files.sort();
    let slow: Vec<_> = files
        .iter()
        .filter(|path| path.to_string_lossy().contains("20ms"))
        .collect();
    for path in &slow[1..] {
        std::fs::copy(slow[0], path).unwrap();
    }
    let compared = place
        .run(&["compare", "x.set", "--format", "json"])
        .succeeded();
    let json: Value = serde_json::from_str(&compared.stdout).unwrap();
    let point = &json[0]["others"][0]["points"][0];
    assert_eq!(
        (&point["first"]["repeats"], &point["second"]["repeats"]),
        (&3.into(), &1.into()),
        "{point}"
    );
    assert_eq!(
        compared.stderr.matches("are the same run").count(),
        2,
        "{compared:?}"
    );
    // A side keeps the runs that the other does not hold.
    let (fast, slow): (Vec<_>, Vec<_>) = files
        .iter()
        .partition(|path| path.to_string_lossy().contains("10ms"));
    std::fs::copy(fast[0], slow[1]).unwrap();
    let compared = place
        .run(&["compare", "x.set", "--format", "json"])
        .succeeded();
    let json: Value = serde_json::from_str(&compared.stdout).unwrap();
    let point = &json[0]["others"][0]["points"][0];
    assert_eq!(
        (&point["first"]["repeats"], &point["second"]["repeats"]),
        (&3.into(), &1.into()),
        "{point}"
    );
    std::fs::copy(fast[0], slow[0]).unwrap();
    std::fs::copy(fast[1], slow[2]).unwrap();
    let alone = place.run(&["compare", "x.set"]);
    alone.failed(
        2,
        &["is left out: it has no other run", "two different runs"],
    );
}

#[test]
fn the_gate_s_exit_codes_are_those_of_its_help() {
    let place = Place::new();
    let good = imported(&place, "a", &recorded("pgbench_t.txt"));
    let whole = std::fs::read(place.path(&good)).unwrap();
    std::fs::write(place.path("cut.plimsoll"), &whole[..whole.len() / 2]).unwrap();
    let gate = |baseline: &str| {
        place.run(&[
            "gate",
            "--baseline",
            baseline,
            &good,
            "--max-regression",
            "3%",
        ])
    };
    gate("cut.plimsoll").failed(1, &["cut.plimsoll is damaged"]);
    gate("absent.plimsoll").failed(2, &["there is no such file"]);
    gate("a.txt").failed(2, &["is not a run file"]);
    let help = place.run(&["gate", "--help"]).succeeded().stdout;
    for code in [
        "1 a run file is damaged",
        "2 usage",
        "no run file",
        "3 regression",
        "4 cannot be evaluated",
    ] {
        assert!(help.contains(code), "{code}: {help}");
    }
}
