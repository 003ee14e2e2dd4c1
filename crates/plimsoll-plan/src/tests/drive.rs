//! Emulated drives and power cuts.

use insta::assert_snapshot;

use super::{cases, drives, good, scaled, survives};
use crate::resolved::MediumKind;
use crate::units::{Bytes, Nanos};
use crate::{
    MediumNeed, Options, Parsed, PlanErrors, PlanEstimate, ResolvedPlan, describe, estimate, parse,
};

/// Every key of a drive with a value that is not its default, one drive with all defaults, one of a file, and two
/// systems that share a drive.
pub(super) const PLAN: &str = r#"
title = "Drives"
[medium.nvme]
drive = "fast-ssd-1t"
path = "/fast"
capacity = "960GB"
slower = 2.5
fill = 0.5
form = "block"
filesystem = "xfs"
backing = "file"
flush = "ignored"
without_fuse = "plain_directory"
[medium.disk]
drive = "slow-disk-2t"
[medium.mine]
drive = "./learnt/mine.toml"
speed = "full"
[system.db]
engine = "postgres"
[system.lite]
engine = "sqlite"
[workload.w.tpcc]
warehouses = 2
[[step]]
run = "w"
system = "db"
on = ["disk", "mine"]
users = [4, 8]
measure = "40s"
power_cut = "25s"
[[step]]
run = "w"
system = "lite"
on = ["nvme", "disk"]
users = 1
"#;

fn read(text: &str) -> Parsed {
    parse(text, &drives()).unwrap_or_else(|errors| panic!("{errors}"))
}

fn bad(text: &str) -> String {
    parse(text, &drives())
        .expect_err("this plan is wrong")
        .to_string()
}

#[test]
fn an_array_of_known_drives_is_a_drive() {
    let medium = |drive: &str| {
        let text = format!(
            "title = \"t\"\n[medium.m]\npath = \"/m\"\ndrive = \"{drive}\"\n[system.db]\nengine = \"sqlite\"\n\
             [workload.w.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"w\"\nsystem = \"db\"\non = [\"m\"]\nusers = [1]\n"
        );
        parse(&text, &drives())
    };
    let plan = medium("raid5:6:fast-ssd-1t:chunk=512KiB").unwrap().plan;
    survives(&plan);
    assert!(describe(&plan).contains("drive = \"raid5:6:fast-ssd-1t\""));
    for (drive, full) in [
        ("raid1:2:fast+hdd", "raid1:2:fast-ssd-1t+slow-disk-2t"),
        ("disk", "slow-disk-2t"),
    ] {
        let plan = medium(drive).unwrap().plan;
        assert_eq!(plan.media[0].kind.emulated().unwrap().drive, full);
    }
    for (drive, part) in cases(
        "
raid5:2:fast-ssd-1t => raid5 needs at least 3 members, there are 2
raid5:6:fast-sdd => there is no drive `fast-sdd` in the catalog
raid8:6:fast-ssd-1t => there is no RAID level `raid8`
",
    ) {
        let errors = medium(drive).unwrap_err().to_string();
        assert!(errors.contains(part), "{errors}");
    }
}

#[test]
fn emulated_drives_are_described_in_full() {
    let plan = read(PLAN).plan;
    let text = describe(&plan);
    survives(&plan);
    let media = &text[text.find("[medium").unwrap()..text.find("[system").unwrap()];
    assert_snapshot!(media, @r#"
    [medium.nvme]
    path = "/fast"
    drive = "fast-ssd-1t"
    capacity = "960GB"
    slower = 2.5
    fill = 0.5
    form = "block"
    filesystem = "xfs"
    backing = "file"
    flush = "ignored"
    without_fuse = "plain_directory"

    [medium.disk]
    path = "."
    drive = "slow-disk-2t"
    capacity = "32GiB"
    speed = "auto"
    fill = 1
    form = "auto"
    filesystem = "ext4"
    backing = "memory"
    flush = "honest"
    without_fuse = "refuse"

    [medium.mine]
    path = "."
    drive = "./learnt/mine.toml"
    capacity = "32GiB"
    speed = "full"
    fill = 1
    form = "auto"
    filesystem = "ext4"
    backing = "memory"
    flush = "honest"
    without_fuse = "refuse"
    "#);
    assert!(
        text.contains("max_retries = 10\npower_cut = \"25s\"\n"),
        "{text}"
    );
}

#[test]
fn a_power_cut_is_scaled_like_the_measurement() {
    for (scale, measure, cut) in [
        (0.5, Nanos::from_secs(20), Nanos::from_millis(12_500)),
        // The measurement keeps a second, and the cut with it.
        (0.01, Nanos::SECOND, Nanos::SECOND),
    ] {
        let plan = parse(PLAN, &scaled(scale, 1.0)).unwrap().plan;
        let step = plan.steps[0].load().unwrap();
        assert_eq!(
            (step.timeline.measure, step.power_cut),
            (measure, Some(cut))
        );
        assert_eq!(
            read(&describe(&plan)).plan,
            ResolvedPlan { scale: 1.0, ..plan }
        );
    }
}

#[test]
fn what_is_written_on_emulated_drives_needs_memory_or_space() {
    let plan = read(PLAN).plan;
    let PlanEstimate {
        space,
        memory,
        per_step,
        ..
    } = estimate(&plan);
    // The point ends with the power, 10 s of ramp and 25 s of measurement after it began.
    assert_eq!(per_step[0].duration, Nanos::from_secs(2 * 2 * 35));
    let names = |needs: &[MediumNeed]| {
        needs
            .iter()
            .map(|need| plan.medium(need.medium).name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (names(&space), names(&memory)),
        (vec!["nvme".to_owned()], vec!["disk".into(), "mine".into()])
    );
    let filesystem = 288 << 20;
    let sqlite = (64 << 20) + 2 * 90_000_000 + 70 * 2_000 * 1_200;
    let postgres = 1_200_000_000 + 2 * 110_000_000 + 2 * 35 * 2_000 * 1_200;
    assert_eq!(space[0].bytes, Bytes(sqlite + filesystem));
    assert_eq!(
        memory[0].bytes,
        Bytes(sqlite + postgres + filesystem),
        "both systems keep data on it"
    );
    assert_eq!(memory[1].bytes, Bytes(postgres + filesystem));
}

#[test]
fn a_drive_that_is_not_in_the_catalog_is_refused() {
    let text = PLAN
        .replace("fast-ssd-1t", "fast-sdd-1t")
        .replace("slow-disk-2t", "slw-disk-2t");
    assert_snapshot!(bad(&text), @r"
    4:9: there is no drive `fast-sdd-1t` in the catalog
      help: did you mean `fast-ssd-1t`?
    15:9: there is no drive `slw-disk-2t` in the catalog
      help: did you mean `slow-disk-2t`?
    ");
    let text = PLAN
        .replace("fast-ssd-1t", "quite-another-one")
        .replace("slow-disk-2t", "");
    assert_snapshot!(bad(&text), @r#"
    4:9: there is no drive `quite-another-one` in the catalog
      help: `plimsoll drive list` shows them; a drive file of your own is given by its path, which ends with .toml
    15:9: `drive` is empty
      help: write one line of text here
    "#);
    let message = parse(PLAN, &Options::default()).unwrap_err().to_string();
    assert!(
        message.contains("a drive file of your own is given by its path"),
        "{message}"
    );
}

const WRONG_DRIVES: &str = r#"
title = "t"
[medium.plain]
path = "."
capacity = "1GiB"
without_fuse = "refuse"
[medium.neither]
[medium.small]
drive = "fast-ssd-1t"
capacity = "500MB"
fill = 1.5
form = "blok"
filesystem = "btrfs"
[medium.wrong]
drive = "fast-ssd-1t"
capacity = 16
fill = "half"
path = ""
[medium.slowed]
drive = "fast-ssd-1t"
slower = 0.5
[medium.more]
drive = "fast-ssd-1t"
capacity = "16 gibibytes"
fill = nan
[medium.mistyped]
drive = 5
capacity = "-1GiB"
[medium.twice]
drive = "fast-ssd-1t"
speed = "auto"
slower = 5
[medium.speedy]
drive = "fast-ssd-1t"
speed = "ful"
"#;

#[test]
fn faults_of_drives_are_reported_at_once() {
    assert_snapshot!(bad(WRONG_DRIVES), @r#"
    1:1: the plan has no [[step]]
      help: add one: [[step]] with `run`, `system` and `users`
    5:12: `capacity` is not supported without a `drive`
      help: it belongs to an emulated drive: add drive = "…", or remove it
    6:16: `without_fuse` is not supported without a `drive`
      help: it belongs to an emulated drive: add drive = "…", or remove it
    7:1: `path` is missing
      help: name a directory: path = ".", or a drive to emulate: drive = "…"
    10:12: `capacity` cannot be 500MB
      help: 512MiB at least
    11:8: `fill` cannot be 1.5
      help: a share of the capacity: 0 is a new drive, 1 a drive in steady state
    12:8: unknown value `blok`
      help: did you mean `block`?
    13:14: unknown value `btrfs`
      help: known here: `ext4`, `xfs`
    16:12: 16 has no unit
      help: write sizes with a unit and in quotes: "16GiB"
    17:8: expected a number, found "half"
      help: numbers stand without quotes
    18:8: `path` is empty
      help: write one line of text here
    21:10: `slower` cannot be 0.5
      help: a factor of 1 to 1000: 20 makes 80 µs 1.6 ms
    24:12: "16 gibibytes" is not a size
      help: write sizes such as "16GiB", "512MiB" or "960GB"
    25:8: `fill` cannot be NaN
      help: a share of the capacity: 0 is a new drive, 1 a drive in steady state
    27:9: expected text in quotes, found 5
    28:12: "-1GiB" is negative
      help: write sizes such as "16GiB", "512MiB" or "960GB"
    31:9: `speed` and `slower` exclude each other
      help: `slower` is a fixed factor, `speed` lets plimsoll choose one or none: remove one of them
    35:9: unknown value `ful`
      help: did you mean `full`?
    "#);
}

const WRONG_CUTS: &str = r#"
title = "t"
[medium.plain]
path = "."
[medium.fast]
drive = "fast-ssd-1t"
[medium.never]
drive = "no-such-drive"
[system.db]
engine = "postgres"
[system.mock]
engine = "mock"
[system.there]
url = "postgres://u@h/d"
[workload.w.tpcc]
warehouses = 1
[[step]]
run = "w"
system = "db"
on = ["fast", "plain"]
users = 1
power_cut = "10s"
[[step]]
run = "w"
system = "mock"
users = 1
power_cut = "10s"
[[step]]
run = "w"
system = "there"
users = 1
power_cut = "10s"
[[step]]
run = "w"
system = "db"
on = ["fast"]
users = 1
power_cut = "61s"
[[step]]
run = "w"
system = "db"
on = ["fast", "never"]
users = 1
measure = "5s"
power_cut = "5001ms"
[[step]]
run = "w"
system = "db"
on = ["fast"]
users = 1
power_cut = "0s"
[[step]]
run = "w"
system = "db"
on = ["fast"]
users = 1
power_cut = 10
measure = 10
"#;

#[test]
fn faults_of_power_cuts_are_reported() {
    assert_snapshot!(bad(WRONG_CUTS), @r#"
    8:9: there is no drive `no-such-drive` in the catalog
      help: `plimsoll drive list` shows them; a drive file of your own is given by its path, which ends with .toml
    22:13: the power of the medium `plain` cannot be cut
      help: only emulated drives can lose their power: give it a `drive`, or take it out of `on`
    27:13: the power of the system `mock` cannot be cut
      help: only of one that plimsoll starts on an emulated drive; remove it
    32:13: the power of the system `there` cannot be cut
      help: only of one that plimsoll starts on an emulated drive; remove it
    38:13: the power fails after 1m of measurement are over
      help: it is counted from the beginning of the measurement: shorten it, or lengthen `measure`
    45:13: the power fails after 5s of measurement are over
      help: it is counted from the beginning of the measurement: shorten it, or lengthen `measure`
    51:13: nothing is measured before the power fails
      help: figures are taken per second: power_cut = "1s" or more
    57:13: 10 has no unit (also in line 58)
      help: write times with a unit and in quotes: "10s"
    "#);
}

#[test]
fn a_cut_takes_no_other_systems_power_and_no_directorys() {
    let plan = |form: &str, last: &str| {
        format!(
            "title = \"t\"\n[medium.m]\ndrive = \"fast-ssd-1t\"\nform = \"{form}\"\n[system.a]\nengine = \"sqlite\"\n\
             [system.b]\nengine = \"sqlite\"\n[workload.w.tpcc]\nwarehouses = 1\n\
             [[step]]\nrun = \"w\"\nsystem = \"a\"\nusers = 1\n\
             [[step]]\nrun = \"w\"\nsystem = \"b\"\nusers = 1\npower_cut = \"1s\"\n\
             [[step]]\nrun = \"w\"\nsystem = \"{last}\"\nusers = 1\n"
        )
    };
    let errors = |text: String| {
        parse(&text, &super::drives())
            .err()
            .map(|errors| errors.to_string())
            .unwrap_or_default()
    };
    assert_eq!(errors(plan("block", "b")), "");
    assert!(
        errors(plan("block", "a")).contains("the system `a` is up on the same drive"),
        "{}",
        errors(plan("block", "a"))
    );
    assert!(
        errors(plan("directory", "b")).contains("it is a directory"),
        "{}",
        errors(plan("directory", "b"))
    );
}

#[test]
fn a_cut_where_there_may_be_no_drive_is_warned_of() {
    let text = PLAN.replace("on = [\"disk\", \"mine\"]", "on = [\"nvme\"]");
    let Parsed { plan, warnings } = read(&text);
    assert_eq!(
        plan.steps[0].load().unwrap().power_cut,
        Some(Nanos::from_secs(25))
    );
    assert_snapshot!(PlanErrors(warnings), @r#"
    16:9: no step uses the medium `mine`
      help: remove it, or name it in a [[step]]
    23:1: `w` runs as statements on `db` too, because `lite` has no procedures
      help: set mode = "statements", or give each system its own workload
    31:13: in a plain directory the power of `nvme` cannot fail
      help: without_fuse = "refuse" makes sure that there is a drive
    "#);
}

#[test]
fn a_directory_needs_no_catalog() {
    let plan = good(super::SMALL).plan;
    assert_eq!(plan.media[0].kind, MediumKind::Directory);
}
