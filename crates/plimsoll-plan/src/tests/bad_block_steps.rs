//! What people get to read when a block workload as a whole, its step or a device is wrong.

use insta::assert_snapshot;

use super::block::with;
use super::{bad, drives, good};
use crate::{PlanErrors, parse};

const WRONG_WORKLOADS: &str = r#"title = "t"
[medium.m]
path = "."
[workload.none.block]
workers = 2
[workload.mistyped.block]
profile = "four-corner"
[workload.unknown.block]
profile = "nobody has this"
[workload.both.block]
profile = "four-corners"
source = "me"
[[workload.both.block.job]]
name = "j"
read = 0
random = 0
block = "4KiB"
[workload.file.block]
fio_job = "x.fio"
profile = "four-corners"
workers = 2
fill = 1
job = []
[workload.empty.block]
job = []
[workload.unnamed.block]
fio_job = ""
[workload.two.block]
profile = "four-corners"
[workload.two.tpcc]
warehouses = 1
[workload.much.block]
profile = "four-corners"
workers = 256
[workload.muchmore.block]
workers = 17
[[workload.muchmore.block.job]]
name = "j"
read = 0
random = 0
block = "4KiB"
depth = 4096
[[step]]
run = "none"
"#;

#[test]
fn faults_of_workloads_are_reported() {
    assert_snapshot!(bad(WRONG_WORKLOADS), @r#"
    4:1: the block workload `none` has no jobs
      help: profile = "four-corners", a [[job]] of your own, or fio_job = "file.fio"
    7:11: there is no profile `four-corner`
      help: did you mean `four-corners`?
    9:11: there is no profile `nobody has this`
      help: known here: `crystaldiskmark`, `crystaldiskmark-nvme`, `four-corners`, `four-corners-maximum`, `fsync-ladder`, `hcibench-easy-run`, `k-a`, `k-b`, `k-hci`, `snia-iops`, `snia-latency`, `snia-throughput`, `snia-write-saturation`, `sql-data-and-log`, `vdi-boot`, `vdi-desktop`, `vdi-login`
    12:10: `source` is not supported beside a `profile`
      help: it has one of its own
    13:1: these jobs are not those of the profile `four-corners`
      help: remove `profile`, and state with `source` where they come from; or remove the jobs
    20:11: `profile` is not supported beside a `fio_job`
      help: a job file is run as it is: remove one of the two
    21:11: `workers` is not supported beside a `fio_job`
      help: a job file is run as it is: remove one of the two
    22:8: `fill` is not supported beside a `fio_job`
      help: a job file is run as it is: remove one of the two
    23:7: `job` is not supported beside a `fio_job`
      help: a job file is run as it is: remove one of the two
    25:7: there is no job
      help: add one: [[workload.NAME.block.job]]
    27:11: `fio_job` is empty
      help: write one line of text here
    28:1: `two` is a tpcc workload already
      help: make two workloads of it, each with a name of its own
    36:11: the job `j` has 69632 requests in flight over all workers
      help: 65536 at most: fewer workers, threads or a smaller depth
    "#);
}

#[test]
fn keys_of_a_load_are_refused_in_a_block_workload() {
    assert_snapshot!(bad(&with("profile = \"k-b\"", "users = 8\nsystem = \"db\"\nfrom = [\"gen1\"]")), @r#"
    8:9: `users` is not supported for a block workload
      help: how many requests, and how many at a time, stands in the jobs: `depth`, `threads`, `rate`, `curve`
    9:10: `system` is not supported for a block workload
      help: fio works on the medium itself: remove it
    10:8: `from` is not supported for a block workload
      help: only load on systems comes from other hosts: remove it
    "#);
}

const WRONG_STEPS: &str = r#"title = "t"
[medium.m]
path = "."
[medium.small]
drive = "fast-ssd-1t"
capacity = "1GiB"
[system.db]
engine = "mock"
[workload.w.block]
profile = "four-corners"
[workload.oltp.tpcc]
warehouses = 1
[[step]]
run = "w"
[[step]]
run = "w"
on = ["small", "m", "m", "n"]
repeat = 1001
[[step]]
run = "w"
on = []
steady = { rounds = 1, window = 1, range = 0, slope = nan }
repeat = 3
ramp = 5
measure = "0s"
[[step]]
run = "w"
on = ["m"]
steady = { rounds = 4 }
[[step]]
run = "oltp"
system = "db"
users = 1
steady = false
at_once = false
"#;

#[test]
fn faults_of_steps_are_reported() {
    let errors = parse(WRONG_STEPS, &drives())
        .expect_err("this plan is wrong")
        .to_string();
    assert_snapshot!(errors, @r#"
    13:1: `on` is missing, and the plan has several media
      help: state which, for example on = ["m"]; known here: `m`, `small`
    17:6: the files of `w` do not fit on `small`: 1.3 GiB with a filesystem, of 1.0 GiB
      help: a larger `capacity`, or fewer `workers` or a smaller `size`
    17:21: `m` is named twice
      help: a medium is tried once per step
    17:26: there is no medium `n`
      help: known here: `m`, `small`
    18:10: `repeat` cannot be 1001
      help: 1 to 1000 is possible
    21:6: `on` names no medium
      help: known here: `m`, `small`
    22:21: `rounds` cannot be 1
      help: 2 to 1000 is possible
    22:33: `window` cannot be 1
      help: 2 to 100 is possible
    22:44: `range` cannot be 0
      help: a share of the mean: above 0, at most 1
    22:55: `slope` cannot be NaN
      help: a share of the mean: above 0, at most 1
    23:10: `repeat` and `steady` exclude each other
      help: steady = { rounds = 25 } limits how many there are; remove `repeat`
    24:8: 5 has no unit
      help: write times with a unit and in quotes: "5s"
    25:11: there is no time to measure
      help: write how long figures are taken, such as measure = "60s"
    29:10: a window of 5 rounds is never full in 4
      help: more `rounds`, or a smaller `window`
    34:10: `steady` is not supported for a load on a system
      help: only the step of a [workload.NAME.block] has it: remove it
    35:11: `at_once` is not supported for a load on a system
      help: only the step of a [workload.NAME.block] has it: remove it
    "#);
}

#[test]
fn a_block_workload_needs_a_medium_and_no_system() {
    let text =
        "title = \"t\"\n[workload.w.block]\nprofile = \"four-corners\"\n[[step]]\nrun = \"w\"\n";
    assert_snapshot!(bad(text), @r#"
    5:7: the block workload `w` needs a medium to work on
      help: add [medium.here] with path = "."
    "#);
    let text =
        "title = \"t\"\n[workload.w.block]\nprofile = \"four-corners\"\n[[step]]\nrun = \"v\"\n";
    assert_snapshot!(bad(text), @r"
    5:7: there is no workload `v`
      help: the only one known here is `w`
    ");
}

#[test]
fn devices_are_for_block_workloads() {
    let text = r#"title = "t"
[medium.d]
device = "/dev/nvme0n1"
path = "."
fill = 0.5
[medium.e]
device = "/dev/../etc"
[medium.f]
device = "/dev/sdb"
drive = "fast-ssd-1t"
[medium.g]
device = "nvme0n1"
[medium.ok]
device = "/dev/sdc"
[system.db]
engine = "sqlite"
[workload.w.tpcc]
warehouses = 1
[[step]]
run = "w"
system = "db"
on = ["ok"]
users = 1
"#;
    let errors = parse(text, &drives())
        .expect_err("this plan is wrong")
        .to_string();
    assert_snapshot!(errors, @r#"
    4:8: `path` is not supported beside a `device`
      help: a medium is one of the three: remove the other, or make two media of it
    5:8: `fill` is not supported without a `drive`
      help: it belongs to an emulated drive: add drive = "…", or remove it
    7:10: `/dev/../etc` is not the path of a device
      help: its path below /dev, such as device = "/dev/disk/by-id/nvme-…"; a directory is a `path`
    10:9: `drive` is not supported beside a `device`
      help: a medium is one of the three: remove the other, or make two media of it
    12:10: `nvme0n1` is not the path of a device
      help: its path below /dev, such as device = "/dev/disk/by-id/nvme-…"; a directory is a `path`
    22:6: no system can keep its data on `ok`, which is a device itself
      help: plimsoll makes no filesystem on it: name a directory with `path`; only block workloads use a `device`
    "#);
    let only = "title = \"t\"\n[medium.d]\ndevice = \"/dev/sdb\"\n[system.db]\nengine = \"sqlite\"\n\
                [workload.w.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"w\"\nsystem = \"db\"\nusers = 1\n";
    assert!(
        bad(only).contains("no system can keep its data on `d`"),
        "{}",
        bad(only)
    );
}

#[test]
fn unused_media_and_workloads_are_reported() {
    let text = with("profile = \"four-corners\"", "").replace(
        "[workload.w",
        "[workload.v.block]\nfio_job = \"x\"\n[workload.w",
    );
    assert_snapshot!(PlanErrors(good(&text).warnings), @r"
    4:11: no step uses the workload `v`
      help: remove it, or name it in a [[step]]
    ");
    let two = text
        .replace("[workload.v", "[medium.n]\npath = \"/\"\n[workload.v")
        .replace("run = \"w\"", "run = \"w\"\non = [\"n\"]");
    assert!(
        PlanErrors(good(&two).warnings)
            .to_string()
            .contains("no step uses the medium `m`")
    );
}

/// What is wrong is the size or the capacity that was written, not that the files do not fit.
#[test]
fn a_broken_size_is_one_error() {
    let text = |size: &str, workers: &str, capacity: &str| {
        format!(
            "title = \"t\"\n[medium.m]\ndrive = \"fast-ssd-1t\"\ncapacity = {capacity}\n[workload.w.block]\n\
             profile = \"four-corners\"\nsize = {size}\nworkers = {workers}\n[[step]]\nrun = \"w\"\nmeasure = \"5s\"\n"
        )
    };
    for (size, workers, capacity, expected) in [
        ("\"1XB\"", "1", "\"1GiB\"", "7:8"),
        ("\"1GiB\"", "\"x\"", "\"1GiB\"", "8:11"),
        ("\"900GiB\"", "1", "\"1\"", "4:12"),
    ] {
        let errors = parse(&text(size, workers, capacity), &drives())
            .expect_err("this plan is wrong")
            .0;
        let places: Vec<String> = errors
            .iter()
            .map(|error| format!("{}:{}", error.line, error.column))
            .collect();
        assert_eq!(places, [expected], "{errors:?}");
    }
}
