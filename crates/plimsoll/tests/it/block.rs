//! Block steps with a real fio: what is recorded, and what becomes of everything that can go wrong.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use crate::common::{Outcome, Place, processes_in, send, wait_for};
use rusqlite::Connection;
use rusqlite::types::FromSql;
use rustix::process::Signal;

/// Small, and slow enough that a busy machine keeps up.
const MIXED: &str = "[[workload.w.block.job]]\nname = \"mixed\"\nread = 70\nrandom = 100\nblock = \"4KiB\"\ndepth = 4\n\
                     rate = 200\nsync = { flush_every = 8 }\ndirect = false\n";

/// A plan of one step; `medium` are keys beside the path, `workload` the keys and jobs of the block workload.
fn plan(place: &Place, medium: &str, workload: &str, step: &str) {
    let path = place.medium();
    place.write(
        "plan.toml",
        &format!(
            "title = \"Test\"\nseed = 7\n[medium.here]\npath = {path:?}\n{medium}\n[workload.w.block]\n{workload}\n\
             [[step]]\nrun = \"w\"\n{step}\n"
        ),
    );
}

fn db(place: &Place) -> Connection {
    Connection::open(place.path("x.run")).unwrap()
}

fn all<T: FromSql>(db: &Connection, sql: &str) -> Vec<T> {
    let mut statement = db.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn one<T: FromSql>(db: &Connection, sql: &str) -> T {
    let mut found = all(db, sql);
    assert_eq!(found.len(), 1, "{sql}");
    found.remove(0)
}

/// Of each point and transaction type, in the measure phase: what workers did is what seconds hold, and every request
/// that was made has ended.
fn is_conserved(db: &Connection) {
    const OF_SECONDS: &str = "SELECT point.id, outcome.txn, sum(offered), sum(committed), sum(bytes) FROM outcome \
                              JOIN tick ON tick.id = outcome.tick JOIN phase ON phase.id = tick.phase \
                              JOIN point ON point.id = phase.point WHERE phase.kind = 'measure' GROUP BY 1, 2";
    const OF_WORKERS: &str = "SELECT sum(requests), sum(bytes) FROM block_share WHERE point = ?1 AND txn = ?2 GROUP BY point";
    let mut statement = db.prepare(OF_SECONDS).unwrap();
    let mut rows = statement.query([]).unwrap();
    let mut seen = 0;
    while let Some(row) = rows.next().unwrap() {
        let of = |i| row.get::<_, u64>(i).unwrap();
        assert_eq!(of(2), of(3));
        let workers: (u64, u64) = db
            .query_row(OF_WORKERS, [of(0), of(1)], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert_eq!((of(3), of(4)), workers, "point {}, txn {}", of(0), of(1));
        seen += of(3);
    }
    assert!(seen > 0, "something was measured");
}

fn fio(place: &Place) -> Option<i32> {
    let is_fio = |line: &str| line.starts_with("fio ") && !line.contains("--name=layout");
    processes_in(&place.path(""))
        .into_iter()
        .find(|(_, line)| is_fio(line))
        .map(|(pid, _)| pid)
}

/// Runs the plan until each worker has done something of each type.
fn run_until_all_worked(place: &Place) -> Outcome {
    let idle = "SELECT * FROM block_share WHERE requests = 0";
    let (outcome, _) = place.run_until(|_| place.rows("x.run", idle).is_empty());
    outcome.succeeded()
}

#[test]
fn jobs_streams_rounds_and_curves_are_recorded() {
    let place = Place::new();
    let pair = "[[workload.w.block.job]]\nname = \"pair\"\n\
                [[workload.w.block.job.stream]]\nname = \"data\"\nread = 50\nrandom = 100\nblock = \"8KiB\"\nrate = 100\n\
                [[workload.w.block.job.stream]]\nname = \"log\"\nread = 0\nrandom = 0\nblock = \"32KiB\"\nrate = 50\n";
    let curve = "[[workload.w.block.job]]\nname = \"curve\"\nread = 0\nrandom = 100\nblock = \"4KiB\"\n\
                 curve = [10, 50]\nsync = \"each_write\"\n";
    plan(
        &place,
        "",
        &format!("workers = 2\nsize = \"64MiB\"\n{pair}{curve}"),
        "ramp = \"1s\"\nmeasure = \"2s\"\nrepeat = 2",
    );
    let outcome = run_until_all_worked(&place);
    for words in [
        "writing 128.0 MiB on here",
        "[1/8] w · pair · measure for ",
        "w · curve · at 50 % · round 2",
        "IOPS ",
    ] {
        assert!(outcome.stderr.contains(words), "{words}: {outcome:?}");
    }
    place.expect_clean();
    let db = db(&place);
    is_conserved(&db);
    assert_eq!(
        one::<String>(&db, "SELECT name FROM subject WHERE kind = 'system'"),
        "fio@here"
    );
    let points: Vec<String> = all(
        &db,
        "SELECT repeat || ' ' || ordinal || ' ' || users FROM point ORDER BY id",
    );
    assert_eq!(
        points,
        [
            "0 0 4", "0 1 2", "0 2 2", "0 3 2", "1 0 4", "1 1 2", "1 2 2", "1 3 2"
        ]
    );
    let jobs: Vec<String> = all(
        &db,
        "SELECT job || ' ' || workers || ' ' || coalesce(share_percent, '-') FROM block_point ORDER BY point",
    );
    assert_eq!(
        jobs[..4],
        ["pair 2 -", "curve 2 -", "curve 2 10.0", "curve 2 50.0"]
    );
    assert_eq!(
        one::<f64>(&db, "SELECT offered_per_second FROM point WHERE id = 1"),
        300.0
    );
    let txns: Vec<String> = all(&db, "SELECT DISTINCT txns FROM point ORDER BY txns");
    assert_eq!(
        txns,
        [
            "[\"data read\",\"data write\",\"log write\"]",
            "[\"write\"]"
        ]
    );
    let phases: Vec<String> = all(
        &db,
        "SELECT kind FROM phase WHERE complete ORDER BY id LIMIT 4",
    );
    assert_eq!(phases, ["prepare", "warm", "measure", "cool"]);
    // No more than was asked for: what one second owes the next makes up.
    let lasted: f64 = one(
        &db,
        "SELECT sum(end_ns - start_ns) / 1e9 FROM phase WHERE point = 1",
    );
    let logged: Vec<u64> = all(
        &db,
        "SELECT requests FROM block_share WHERE point = 1 AND txn = 2",
    );
    assert!(
        logged.len() == 2
            && logged
                .iter()
                .all(|n| *n > 0 && *n as f64 <= 50.0 * lasted + 5.0),
        "{logged:?}"
    );
    for (key, words) in [
        ("version", "fio-3"),
        ("engine", ""),
        ("command.layout", "--rw=write"),
        ("command.pair", "--name=log --new_group=1"),
        ("command.curve", "--sync=dsync"),
    ] {
        let value: String = one(
            &db,
            &format!(
                "SELECT value FROM fact JOIN subject ON subject.id = subject WHERE kind = 'system' AND key = '{key}'"
            ),
        );
        assert!(value.contains(words), "{key}: {value}");
    }
}

#[test]
fn an_emulated_drive_is_measured_and_taken_down() {
    let place = Place::new();
    let drive = "drive = \"kingston-dc500m-960g\"\ncapacity = \"2GiB\"\nspeed = \"full\"";
    plan(
        &place,
        drive,
        &format!("workers = 2\nsize = \"64MiB\"\n{MIXED}"),
        "ramp = \"1s\"\nmeasure = \"2s\"",
    );
    run_until_all_worked(&place);
    place.expect_clean();
    let below = place.path("").display().to_string();
    assert!(
        !fs::read_to_string("/proc/self/mountinfo")
            .unwrap()
            .contains(&below)
    );
    let db = db(&place);
    is_conserved(&db);
    assert!(
        one::<u64>(&db, "SELECT count(*) FROM drive") > 0,
        "what the drive did, by second"
    );
}

#[test]
fn rounds_end_when_steady_or_are_marked_not_steady() {
    for (rule, reached) in [
        ("range = 1.0, slope = 1.0", true),
        ("range = 0.000001", false),
    ] {
        let place = Place::new();
        let job = if reached {
            MIXED.to_owned()
        } else {
            MIXED.replace("rate = 200", "")
        };
        let step = format!(
            "ramp = \"0s\"\nmeasure = \"1s\"\nsteady = {{ rounds = 3, window = 2, {rule} }}"
        );
        plan(&place, "", &format!("size = \"64MiB\"\n{job}"), &step);
        let not_steady_events = || {
            one::<u64>(
                &db(&place),
                "SELECT count(*) FROM event WHERE code = 'not_steady'",
            )
        };
        // Not even half of the other second's requests: that happens on a starved machine.
        let (outcome, _) = place.run_until(|_| not_steady_events() == u64::from(!reached));
        let outcome = outcome.succeeded();
        let db = db(&place);
        let rounds = one::<u64>(&db, "SELECT count(*) FROM point");
        let words = if reached {
            format!("w: steady after {rounds} rounds")
        } else {
            "not steady after 3 rounds".into()
        };
        assert!(outcome.stderr.contains(&words), "{outcome:?}");
        assert!(rounds == 3 || (reached && rounds == 2), "{rounds}");
        assert_eq!(one::<u32>(&db, "SELECT most_rounds FROM steady"), 3);
        assert_eq!(not_steady_events(), u64::from(!reached));
        place.expect_clean();
    }
}

#[test]
fn several_media_at_once_are_one_point() {
    let place = Place::new();
    plan(
        &place,
        "",
        &format!("workers = 2\nsize = \"64MiB\"\n{MIXED}"),
        "on = [\"here\", \"there\"]",
    );
    let text = fs::read_to_string(place.path("plan.toml")).unwrap();
    fs::create_dir(place.path("other")).unwrap();
    let more = format!(
        "[medium.there]\npath = {:?}\n[workload",
        place.path("other")
    );
    let text =
        text.replacen("[workload", &more, 1) + "at_once = true\nramp = \"0s\"\nmeasure = \"2s\"\n";
    place.write("plan.toml", &text);
    run_until_all_worked(&place);
    let db = db(&place);
    is_conserved(&db);
    assert_eq!(
        one::<String>(&db, "SELECT name FROM subject WHERE kind = 'system'"),
        "fio@here + there"
    );
    assert_eq!(
        one::<u64>(&db, "SELECT count(*) FROM point WHERE medium IS NULL"),
        1
    );
    assert_eq!(one::<u32>(&db, "SELECT workers FROM block_point"), 4);
    let media: Vec<String> = all(
        &db,
        "SELECT name FROM block_share JOIN subject ON subject.id = medium WHERE txn = 0 ORDER BY worker",
    );
    assert_eq!(media, ["here", "here", "there", "there"]);
    assert_eq!(fs::read_dir(place.path("other")).unwrap().count(), 0);
}

#[test]
fn without_a_fio_that_will_do_nothing_begins() {
    let place = Place::new();
    plan(&place, "", &format!("size = \"64MiB\"\n{MIXED}"), "");
    let run = |path: &Path| {
        let mut command = place.command(&["run", "plan.toml", "-o", "x.run"]);
        command.env("PATH", path);
        place.start_command(command).wait()
    };
    run(&place.path("nowhere")).refused(&["fio cannot be run", "apt-get install fio"]);
    fs::create_dir(place.path("bin")).unwrap();
    let script = place.write("bin/fio", "#!/bin/sh\necho fio-3.16\n");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    run(&place.path("bin")).refused(&[
        "fio-3.16 is too old: plimsoll needs 3.23 or later",
        "Install a newer one",
    ]);
    assert!(!place.path("x.run").exists());
    place.expect_clean();
}

#[test]
fn missing_space_is_reported_before_anything_begins() {
    let place = Place::new();
    plan(&place, "", &format!("size = \"900TiB\"\n{MIXED}"), "");
    place
        .run(&["run", "plan.toml", "-o", "x.run"])
        .refused(&["free, and the plan needs about 900.0 TiB"]);
    place.expect_clean();
}

#[test]
fn a_fio_that_is_killed_ends_the_run_and_what_was_measured_stays() {
    let place = Place::new();
    plan(
        &place,
        "",
        &format!("workers = 2\nsize = \"64MiB\"\n{MIXED}"),
        "ramp = \"1s\"\nmeasure = \"60s\"",
    );
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("measure for 1m");
    run.until_measured("x.run");
    send(fio(&place).unwrap(), Signal::KILL);
    let words = [
        "fio failed at mixed: worker ",
        "signal: 9 (SIGKILL)",
        "The command was: fio --output-format=json+",
    ];
    run.wait().failed(1, &words);
    place.opens("x.run");
    place.expect_clean();
    let db = db(&place);
    assert_eq!(one::<String>(&db, "SELECT status FROM run"), "failed");
    is_conserved(&db);
}

#[test]
fn a_killed_run_takes_its_fio_along_and_the_next_one_clears_up() {
    let place = Place::new();
    plan(
        &place,
        "",
        &format!("workers = 2\nsize = \"64MiB\"\n{MIXED}"),
        "ramp = \"0s\"\nmeasure = \"60s\"",
    );
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("measure for 1m");
    run.until_measured("x.run");
    run.signal(Signal::KILL);
    run.wait();
    wait_for("the end of fio", || fio(&place).is_none().then_some(()));
    assert!(place.medium().join(".plimsoll").exists());
    let json = place.opens("x.run");
    assert_eq!(json["run"]["status"], "unfinished");
    let text = fs::read_to_string(place.path("plan.toml")).unwrap();
    place.write("plan.toml", &text.replace("60s", "1s"));
    let next = place.run(&["run", "plan.toml", "-o", "y.run"]).succeeded();
    assert!(next.stderr.contains("left by process"), "{next:?}");
    place.expect_clean();
}

#[test]
fn a_user_who_has_seen_enough_keeps_what_was_measured() {
    let place = Place::new();
    plan(
        &place,
        "",
        &format!("workers = 2\nsize = \"64MiB\"\n{MIXED}"),
        "ramp = \"1s\"\nmeasure = \"60s\"",
    );
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("measure for 1m");
    run.until_measured("x.run");
    run.signal(Signal::INT);
    run.wait().failed(
        1,
        &["interrupted: what was measured until then is in the run file"],
    );
    place.opens("x.run");
    place.expect_clean();
    let db = db(&place);
    assert_eq!(one::<String>(&db, "SELECT status FROM run"), "interrupted");
    is_conserved(&db);
}

#[test]
fn a_user_may_leave_while_files_are_written() {
    let place = Place::new();
    // Written so often that nobody waits for it.
    plan(
        &place,
        "",
        &format!("size = \"64MiB\"\nfill = 100\n{MIXED}"),
        "",
    );
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("writing 6.2 GiB");
    run.signal(Signal::INT);
    run.wait().failed(1, &["stopping (Ctrl-C)", "interrupted"]);
    place.opens("x.run");
    place.expect_clean();
}

#[test]
fn an_emulator_that_dies_ends_the_run_and_leaves_nothing() {
    let place = Place::new();
    let drive = "drive = \"kingston-dc1500m-960g\"\ncapacity = \"2GiB\"\nspeed = \"full\"";
    plan(
        &place,
        drive,
        &format!("workers = 2\nsize = \"64MiB\"\n{MIXED}"),
        "ramp = \"1s\"\nmeasure = \"60s\"",
    );
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("measure for 1m");
    run.until_measured("x.run");
    let emulator = processes_in(&place.path(""))
        .into_iter()
        .find(|(_, line)| line.contains("--control"))
        .unwrap()
        .0;
    send(emulator, Signal::KILL);
    run.wait().failed(
        1,
        &[
            "the emulator of medium here ended unexpectedly",
            "everything measured until then",
        ],
    );
    place.opens("x.run");
    place.expect_clean();
    let below = place.path("").display().to_string();
    assert!(
        !fs::read_to_string("/proc/self/mountinfo")
            .unwrap()
            .contains(&below)
    );
    assert!(one::<u64>(&db(&place), "SELECT sum(requests) FROM block_share") > 0);
}

/// A job file that writes eight files of a MiB each into its own directory.
const JOB_FILE: &str = "[global]\nioengine=psync\nbs=4k\nsize=8m\nnrfiles=8\n[a]\nrw=write\n[b]\nstonewall\nrw=randread\n";

#[test]
fn a_job_file_is_run_in_a_directory_of_its_own() {
    let place = Place::new();
    place.write("own.fio", JOB_FILE);
    plan(&place, "", "fio_job = \"own.fio\"", "");
    let outcome = place.run(&["run", "plan.toml", "-o", "x.run"]).succeeded();
    assert!(outcome.stderr.contains("own.fio"), "{outcome:?}");
    place.opens("x.run");
    place.expect_clean();
    let db = db(&place);
    is_conserved(&db);
    let requests: Vec<u64> = all(&db, "SELECT requests FROM block_share ORDER BY txn");
    assert_eq!(
        requests,
        [2048, 2048, 0, 0],
        "as many as fio itself makes of it"
    );
    assert_eq!(one::<String>(&db, "SELECT job FROM block_point"), "own.fio");
}

#[test]
fn a_job_file_that_writes_elsewhere_needs_leave() {
    let place = Place::new();
    let precious = fs::canonicalize(place.path("")).unwrap().join("precious");
    fs::write(&precious, "p".repeat(64 << 10)).unwrap();
    let name = precious.display();
    place.write(
        "own.fio",
        &format!("[a]\nioengine=psync\nrw=write\nbs=4k\nsize=64k\nfilename={name}\n"),
    );
    plan(&place, "", "fio_job = \"own.fio\"", "");
    let args = ["run", "plan.toml", "-o", "x.run"];
    place.run(&args).refused(&[
        &format!("{name} must not be overwritten"),
        &format!("--overwrite {name}"),
    ]);
    assert!(fs::read_to_string(&precious).unwrap().starts_with("ppp"));
    let other = place.path("other").display().to_string();
    place
        .run(&[&args[..], &["--overwrite", &other]].concat())
        .refused(&["must not be overwritten"]);
    let with = [&args[..], &["--overwrite", precious.to_str().unwrap()]].concat();
    place.run(&with).succeeded();
    assert!(
        !fs::read(&precious).unwrap().starts_with(b"ppp"),
        "overwritten, as the user ordered"
    );
    place.write("own.fio", "[a]\nexec_prerun=true\nrw=read\nsize=4k\n");
    place.run(&["run", "plan.toml", "-o", "y.run"]).refused(&[
        "own.fio cannot be used",
        "line 2: `exec_prerun=true`: it starts a program",
    ]);
    let missing = place.path("missing");
    place.write(
        "own.fio",
        &format!("[a]\nrw=read\nsize=4k\nfilename={}\n", missing.display()),
    );
    place.run(&["run", "plan.toml", "-o", "y.run"]).refused(&[
        "the job file names it, and it does not exist",
        "Write its name without a path",
    ]);
    // What fio itself reads otherwise than its manual is found before anything begins.
    place.write("own.fio", "[a]\nrw=write\nbs=large\nsize=4k\n");
    place
        .run(&["run", "plan.toml", "-o", "y.run"])
        .refused(&["own.fio cannot be used", "fio does not understand it"]);
    place.write(
        "plan.toml",
        &fs::read_to_string(place.path("plan.toml"))
            .unwrap()
            .replace("own.fio", "no.fio"),
    );
    place
        .run(&["run", "plan.toml", "-o", "y.run"])
        .refused(&["the job file cannot be read"]);
    place.expect_clean();
}

/// In a mount namespace of its own, so that the filesystem goes with the program.
#[test]
fn a_medium_that_becomes_full_is_reported_with_fios_message() {
    let place = Place::new();
    place.write(
        "own.fio",
        "[a]\nioengine=psync\nrw=write\nbs=1m\nsize=64m\nrate=16m\n",
    );
    plan(&place, "", "fio_job = \"own.fio\"", "");
    let medium = place.medium();
    let mut command = Command::new("unshare");
    let user: &[&str] = if rustix::process::geteuid().is_root() {
        &["--mount"]
    } else {
        &["--mount", "--map-root-user"]
    };
    let script = format!(
        "mount -t tmpfs -o size=40m none {medium:?} && exec {} run plan.toml -o x.run",
        env!("CARGO_BIN_EXE_plimsoll")
    );
    command
        .args(user)
        .args(["sh", "-c", &script])
        .current_dir(place.path(""))
        .env("TMPDIR", place.path("tmp"));
    command
        .env("NO_COLOR", "1")
        .stdin(std::process::Stdio::null());
    let words = [
        "fio failed at own.fio: ",
        "No space left on device",
        "The command was: fio ",
    ];
    place.start_command(command).wait().failed(1, &words);
    place.opens("x.run");
    place.expect_clean();
    assert!(
        one::<u64>(
            &db(&place),
            "SELECT sum(requests) FROM block_share WHERE txn = 1"
        ) > 0
    );
}

#[test]
fn two_workers_write_each_to_a_file_of_their_own() {
    let place = Place::new();
    plan(
        &place,
        "",
        &format!("workers = 2\nsize = \"64MiB\"\n{MIXED}"),
        "ramp = \"0s\"\nmeasure = \"60s\"",
    );
    let mut run = place.start(&["run", "plan.toml", "-o", "x.run"]);
    run.wait_for_message("measure for 1m");
    let folder = fs::read_dir(place.medium().join(".plimsoll"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let sizes: Vec<(u64, bool)> = ["worker-1", "worker-2"]
        .map(|name| fs::metadata(folder.join(name)).unwrap())
        .map(|about| (about.len(), about.blocks() * 512 >= about.len()))
        .into();
    assert_eq!(sizes, [(64 << 20, true); 2]);
    run.signal(Signal::INT);
    run.wait().failed(1, &["interrupted"]);
    place.expect_clean();
}
