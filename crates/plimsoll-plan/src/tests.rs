mod backup;
mod bad;
mod bad_block;
mod bad_block_steps;
mod block;
mod docs;
mod drive;
mod events;
mod hosts;
mod load;
mod recorded;
mod requirement;
mod stated;
mod sysbench;

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::known_drives::{DriveAlias, KnownDrives};
use crate::load::{Arrivals, LoadShape};
use crate::resolved::{LoadStep, SystemKind, Workload};
use crate::units::{Bytes, Nanos};

/// Every plan in `plans/` and below, by its path there.
fn shipped() -> Vec<(String, String)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plans");
    let mut found = Vec::new();
    let mut open = vec![std::path::PathBuf::from(root)];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|end| end == "toml") {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                found.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    assert!(found.len() > 10, "{found:?}");
    found
}

const SMALL: &str = r#"
title = "t"
[medium.here]
path = "."
[system.db]
engine = "sqlite"
[workload.oltp.tpcc]
warehouses = 10
[[step]]
run = "oltp"
system = "db"
users = 8
"#;

/// Cases of a test, a line each: what is given ` => ` what is expected.
pub(crate) fn cases(table: &str) -> impl Iterator<Item = (&str, &str)> {
    table.trim_matches('\n').lines().map(|line| {
        let case = line.split_once(" => ");
        case.unwrap_or_else(|| panic!("{line}"))
    })
}

/// With factors of the command line.
fn scaled(scale: f64, data_scale: f64) -> Options {
    Options {
        scale,
        data_scale,
        ..drives()
    }
}

/// With two drives in the catalog.
fn drives() -> Options {
    Options {
        drives: KnownDrives {
            names: vec!["fast-ssd-1t".into(), "slow-disk-2t".into()],
            kinds: vec![DriveAlias::new("hdd", "slow-disk-2t")],
        },
        ..Options::default()
    }
}

/// With the drives that plimsoll has.
fn catalog() -> Options {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives");
    let mut names = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap().file_name().into_string().unwrap();
        names.push(file.trim_end_matches(".toml").to_owned());
    }
    let kinds = Vec::new();
    let drives = KnownDrives { names, kinds };
    let usual = Options::default();
    Options { drives, ..usual }
}

fn good(text: &str) -> Parsed {
    parse(text, &Options::default()).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The plan is read as an equal one when it is described.
fn survives(plan: &ResolvedPlan) {
    let text = describe(plan);
    let again = parse(&text, &drives()).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    assert_eq!(again.plan, *plan, "{text}");
}

fn bad(text: &str) -> String {
    parse(text, &Options::default())
        .expect_err("this plan is wrong")
        .to_string()
}

#[test]
fn shipped_plans_are_right_and_survive_being_described() {
    for (name, text) in shipped() {
        let up = if name.contains('/') { ".." } else { "." };
        let schema = format!("#:schema {up}/plan.schema.json\n");
        assert!(
            text.starts_with(&schema),
            "{name} names its schema for editors"
        );
        let read = |text: &str| {
            parse(text, &catalog()).unwrap_or_else(|errors| panic!("{name}: {errors}"))
        };
        let parsed = read(&text);
        // K-5 keeps the two numbers of loaded systems that were published, and gets a warning of what that means.
        let warnings = parsed
            .warnings
            .iter()
            .filter(|warning| !warning.message.contains("is not the noise's doing alone"));
        assert_eq!(warnings.count(), 0, "{name}: {:?}", parsed.warnings);
        assert_eq!(
            read(&describe(&parsed.plan)).plan,
            parsed.plan,
            "{name}:\n{}",
            describe(&parsed.plan)
        );
    }
}

#[test]
fn the_schema_checked_in_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plans/plan.schema.json");
    if std::env::var_os("UPDATE_SCHEMA").is_some_and(|value| value == "1") {
        std::fs::write(path, json_schema()).unwrap();
    }
    let checked_in = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        checked_in == json_schema(),
        "plans/plan.schema.json is out of date: run `cargo xtask schema`"
    );
}

#[test]
fn defaults_are_filled_in() {
    let plan = good(SMALL).plan;
    assert_snapshot!(describe(&plan), @r#"
    title = "t"
    data_seed = 1

    [medium.here]
    path = "."

    [system.db]
    engine = "sqlite"

    [workload.oltp.tpcc]
    warehouses = 10
    mode = "statements"
    home = "fixed"

    [[step]]
    name = "oltp"
    run = "oltp"
    system = "db"
    on = ["here"]
    users = 8
    ramp = "10s"
    measure = "1m"
    cool = "30s"
    repeat = 1
    reset = "never"
    reset_by = "auto"
    keying_and_think = 0
    check = "each_point"
    max_retries = 10
    "#);
    assert_eq!((plan.scale, plan.data_scale), (1.0, 1.0));
}

/// Every key that can be written, with a value that is not its default.
const EVERYTHING: &str = r#"
title = "Everything \"at\" once, üñí"
seed = 7
[medium."a b"]
path = 'C:\data'
[medium.b]
path = "/b"
[system.lite]
engine = "sqlite"
settings = { cache_size = -2000, temp_store = "memory", mmap = true, x = 0.5 }
[system.own]
engine = "postgres"
settings = { shared_buffers = "1GB", "pg_stat_statements.max" = 100 }
binaries = "/usr/lib/postgresql/17/bin"
log_disk = true
[system.there]
url = "postgresql://u@h/d"
engine = "postgres"
schema = "mine"
change_tables = "mine"
[system.mock.mock]
latency = "300us"
jitter = "1.5ms"
stalls = [{ at = "3s", lasts = "2s" }, { at = "1h 30m", lasts = "1ns" }]
fail_every = 100
retry_every = 50
outages = [{ at = "2h", lasts = "3s" }]
[workload.w.tpcc]
warehouses = 3
mode = "statements"
home = "roaming"
[workload.p.tpcc]
warehouses = 4
mode = "procedures"
[[step]]
run = "w"
system = "lite"
on = ["b", "a b"]
users = [1, 2, 3]
ramp = "0s"
measure = "90s"
cool = "1500ms"
keying_and_think = 0.25
check = "end_of_step"
max_retries = 0
[[step]]
run = "w"
system = "mock"
rate = [0.5, 100, 1e5]
users = 16
arrivals = "poisson"
queue = 0
check = "off"
[[step]]
name = "w-2"
run = "p"
system = "own"
on = ["b"]
users = 10000
[[step]]
run = "p"
system = "there"
rate = 12.5
"#;

#[test]
fn everything_that_can_be_written_arrives() {
    let Parsed { plan, warnings } = good(EVERYTHING);
    assert_eq!(warnings, []);
    assert_eq!(plan.data_seed, 7, "that of the inputs");
    assert_eq!(plan.media[0].path, "C:\\data", "in the order of the text");
    let steps: Vec<&LoadStep> = plan.load_steps().collect();
    let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(
        names,
        ["w", "w-3", "w-2", "p"],
        "numbered around the names that are given"
    );
    assert_eq!(steps[0].points, [1, 2, 3].map(LoadShape::closed));
    assert_eq!(steps[0].pacing.keying, 0.25);
    let defaults = LoadShape::Open {
        users: 64,
        per_second: 12.5,
        to_per_second: 12.5,
        arrivals: Arrivals::Constant,
        queue: 100_000,
    };
    assert_eq!(steps[3].points, [defaults]);
    survives(&plan);
}

fn warehouses(workload: &Workload) -> u32 {
    let Workload::Tpcc(tpcc) = workload else {
        panic!("{workload:?}")
    };
    tpcc.warehouses
}

#[test]
fn scale_shrinks_times_and_data_scale_data() {
    let options = Options {
        seed: Some(u64::MAX),
        ..scaled(0.1, 0.25)
    };
    let Parsed { plan, warnings } = parse(EVERYTHING, &options).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(plan.seed, Some(u64::MAX));
    assert_eq!((plan.scale, plan.data_scale), (0.1, 0.25));
    let step = plan.load_steps().next().unwrap();
    assert_eq!(
        (step.timeline.measure, step.timeline.cool),
        (Nanos::from_secs(9), Nanos::from_millis(150))
    );
    assert_eq!(plan.steps[1].load().unwrap().timeline.warm, Nanos::SECOND);
    let SystemKind::Mock(script) = &plan.systems[3].kind else {
        panic!()
    };
    assert_eq!(
        script.stalls[0].at,
        Nanos::from_secs(3),
        "the mock's times stay"
    );
    let size = |name: &str| plan.workload_named(name).map(warehouses);
    assert_eq!(
        (size("w"), size("p")),
        (Some(1), Some(1)),
        "0.75 and 1 warehouses"
    );
    let again = good(&describe(&plan)).plan;
    assert_eq!(
        again,
        ResolvedPlan {
            scale: 1.0,
            data_scale: 1.0,
            ..plan
        }
    );

    let Parsed { plan, warnings } = parse(SMALL, &scaled(0.001, 0.001)).unwrap();
    assert_eq!(
        plan.steps[0].load().unwrap().timeline.measure,
        Nanos::SECOND
    );
    assert_snapshot!(warnings[0], @"9:1: measuring for 1s instead of 60ms: figures are taken per second");
    assert_eq!(plan.workload_named("oltp").map(warehouses), Some(1));
}

#[test]
fn factors_that_are_none_are_refused() {
    for factor in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e6] {
        for options in [scaled(factor, 1.0), scaled(1.0, factor)] {
            assert!(parse(SMALL, &options).is_err(), "{options:?}");
        }
    }
}

#[test]
fn what_is_allowed_but_odd_is_reported() {
    let text = r#"
title = "t"
[medium.here]
path = "."
[medium.there]
path = "/"
[system.lite]
engine = "sqlite"
[system.pg]
engine = "postgres"
[system.mock]
engine = "mock"
[system.old]
url = "postgres://u:***@h/d"
[workload.w.tpcc]
warehouses = 1
[workload.idle.tpcc]
warehouses = 1
[[step]]
run = "w"
system = "lite"
on = ["here"]
users = 1
[[step]]
run = "w"
system = "pg"
on = ["here"]
users = 1
measure = "500ms"
[[step]]
run = "w"
system = "mock"
on = ["here"]
users = 1
"#;
    let Parsed { plan, warnings } = good(text);
    assert!(plan.steps[2].on().is_empty());
    assert_eq!(
        plan.steps[1].load().unwrap().timeline.measure,
        Nanos::SECOND
    );
    assert_snapshot!(PlanErrors(warnings), @r#"
    5:9: no step uses the medium `there`
      help: remove it, or name it in a [[step]]
    13:9: no step uses the system `old`
      help: remove it, or name it in a [[step]]
    14:7: the password in the URL is only `***`
      help: the password was left out when this plan was stored: put PGPASSWORD into the environment instead
    15:1: `w` runs as statements on `pg` too, because `lite` has no procedures
      help: set mode = "statements", or give each system its own workload
    17:11: no step uses the workload `idle`
      help: remove it, or name it in a [[step]]
    29:11: measuring for 1s instead of 500ms: figures are taken per second
      help: write measure = "1s" or more
    33:6: `on` changes nothing: the system `mock` keeps no data on a medium
      help: remove it
    "#);
}

#[test]
fn passwords_are_neither_described_nor_reported() {
    let text = SMALL.replace("engine = \"sqlite\"", "url = \"postgres://u:secret@h/d\"");
    let plan = good(&text).plan;
    assert!(
        describe(&plan).contains("postgres://u:***@h/d"),
        "{}",
        describe(&plan)
    );
    let wrong = [
        text.replace("url =", "engine = "),
        text.replace("url =", "settings = "),
        text.replace("url = ", "url = 5 "),
        text.replace("run = \"oltp\"", "run = \"postgres://u:secret@h/d\""),
        text.replace("\"postgres://u:secret@h/d\"", "\"u:secret@h/d\""),
        text.replace("users = 8", "users = \"postgres://u:secret@h/d\""),
        text.replace("users = 8", "users = 8\nramp = \"postgres://u:secret@h/d\""),
    ];
    for text in wrong {
        let message = bad(&text);
        assert!(!message.contains("secret"), "{message}");
    }
}

#[test]
fn estimates_add_up() {
    let plan = good(EVERYTHING).plan;
    let PlanEstimate {
        duration,
        load_duration,
        per_step,
        space,
        memory,
    } = estimate(&plan);
    // Two media, three points.
    assert_eq!(
        (per_step[0].points, per_step[0].duration),
        (6, Nanos::from_secs(6 * 90))
    );
    assert_eq!(
        (per_step[1].points, per_step[1].duration),
        (3, Nanos::from_secs(3 * 70))
    );
    assert_eq!(
        per_step[1].load_duration,
        Nanos::ZERO,
        "the mock has no data"
    );
    assert_eq!(duration, per_step.iter().map(|step| step.duration).sum());
    assert_eq!(
        load_duration,
        per_step.iter().map(|step| step.load_duration).sum()
    );
    assert_eq!(memory, [], "no drive is emulated");
    assert_eq!(
        space
            .iter()
            .map(|need| plan.medium(need.medium).name.as_str())
            .collect::<Vec<_>>(),
        ["a b", "b"]
    );
    let sqlite = Bytes::mib(64).0 + 3 * 90_000_000 + 3 * 90 * 2_000 * 1_200;
    assert_eq!(space[0].bytes, Bytes(sqlite));
    let postgres = 1_200_000_000 + 4 * 110_000_000 + 70 * 2_000 * 1_200;
    assert_eq!(
        space[1].bytes,
        Bytes(sqlite + postgres),
        "both systems keep data on it"
    );
}

/// A shipped plan with some pieces cut out, doubled or replaced.
fn mutated() -> impl Strategy<Value = String> {
    let more = [EVERYTHING, drive::PLAN, block::PLAN].map(str::to_owned);
    let all: Vec<String> = shipped()
        .into_iter()
        .map(|(_, text)| text)
        .chain(more)
        .collect();
    let piece = prop::sample::select(vec![
        "",
        "=",
        "[",
        "]",
        "[[",
        "\"",
        "\"\"\"",
        "\n",
        ".",
        "-1",
        "nan",
        "1e999",
        "99999999999999999999",
        "true",
        "{ a = 1 }",
        "[]",
        "1979-05-27",
        "users",
        "step",
        "drive = \"fast\"\n",
        "1GiB",
        "\u{e4}",
        "\u{0}",
        "'x'",
        "[system.db]\n",
        "[[step]]\n",
        "#",
    ]);
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0usize..12, piece), 1..5);
    (prop::sample::select(all), edits).prop_map(|(text, edits)| {
        let mut chars: Vec<char> = text.chars().collect();
        for (at, cut, piece) in edits {
            let at = at.index(chars.len());
            let end = (at + cut).min(chars.len());
            chars.splice(at..end, piece.chars());
            if chars.is_empty() {
                chars.push(' ');
            }
        }
        chars.into_iter().collect()
    })
}

fn holds_up(text: &str, options: &Options) -> Result<(), TestCaseError> {
    let message = match parse(text, options) {
        Ok(Parsed { plan, warnings }) => {
            estimate(&plan);
            let again = parse(&describe(&plan), &drives());
            prop_assert!(again.is_ok(), "{}\n{:?}", describe(&plan), again);
            let again = again.expect("checked above").plan;
            let (scale, data_scale) = (1.0, 1.0);
            // As text, because a password is lost on the way.
            prop_assert_eq!(
                describe(&again),
                describe(&ResolvedPlan {
                    scale,
                    data_scale,
                    ..plan
                })
            );
            warnings
        }
        Err(errors) => {
            prop_assert!(!errors.0.is_empty());
            errors.0
        }
    };
    for error in message {
        prop_assert!(text.get(error.span.clone()).is_some(), "{error:?}");
        prop_assert!(
            error.line >= 1 && error.column >= 1 && error.line <= text.matches('\n').count() + 1
        );
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "(?s).{0,200}") {
        holds_up(&text, &drives())?;
    }

    #[test]
    fn text_that_looks_like_a_plan_is_read_or_refused(text in "([a-z\\[\\]{}=\"'.,0-9 \n-]|users|step|system|\\[\\[step\\]\\]\n){0,60}") {
        holds_up(&text, &drives())?;
    }

    #[test]
    fn damaged_plans_are_read_or_refused(text in mutated(), scale in 1e-6..1e4f64, data_scale in 1e-6..1e4f64) {
        holds_up(&text, &scaled(scale, data_scale))?;
        holds_up(&text, &drives())?;
    }
}
