//! What people get to read when a block workload, its step or a device is wrong.

use insta::assert_snapshot;

use super::block::with;
use super::{bad, drives, good};
use crate::plan::{PlanErrors, parse};

#[test]
fn faults_of_jobs_are_told_at_once() {
    let text = r#"title = "t"
[medium.m]
path = "."
[workload.w.block]
workers = 257
size = "63MiB"
fill = -1
[[workload.w.block.job]]
[[workload.w.block.job]]
name = "same"
read = 101
random = -1
block = [["4KiB", 40], ["8KiB", 50]]
depth = 0
threads = 513
rate = 0
compressible = 200
access = { zipf = 1.0 }
sync = { flush_every = 0 }
curve = [50, 10, nan, 2000]
[[workload.w.block.job]]
name = "same"
read = 50
random = 50
block = "1000B"
access = { zones = [[90, 5], [4, 10], [1, 85]] }
arrivals = "poisson"
rate = 5
curve = true
[[workload.w.block.job]]
name = "sizes"
read = 50
random = 50
read_block = 4
write_block = [["4KiB", 50], ["4096B", 50]]
access = { zones = [[100, 0]] }
arrivals = "poisson"
[[workload.w.block.job]]
name = "streams"
read = 5
curve = true
[[workload.w.block.job.stream]]
name = "a/b"
read = 0
random = 0
block = "65MiB"
[[workload.w.block.job.stream]]
name = "a/b"
read = 0
random = 0
block = []
[[workload.w.block.job.stream]]
read = 0
random = 0
block = "4KiB"
[[workload.w.block.job]]
name = "one half"
read = 50
random = 0
read_block = "4KiB"
curve = []
[[step]]
run = "w"
"#;
    assert_snapshot!(bad(text), @r#"
    5:11: `workers` cannot be 257
      help: 1 to 256 is possible
    6:8: a file of 63MiB is too small
      help: 64MiB at least
    7:8: `fill` cannot be -1
      help: how often each file is written before the first job: 0 to 100
    8:1: `name` is missing
      help: say what the report calls it: name = "RND4K Q32T1 read"
    8:1: `read` is missing
      help: percent of the requests that are reads: read = 100
    8:1: `random` is missing
      help: percent at a random place: random = 100, or 0 for sequential
    8:1: `block` is missing
      help: say how large requests are: block = "4KiB"
    11:8: `read` cannot be 101
      help: 0 to 100 is possible
    12:10: `random` cannot be -1
      help: 0 to 100 is possible
    13:9: the shares sum up to 90 %, not to 100 %
      help: sizes and their shares in percent: block = [["4KiB", 40], ["8KiB", 60]]
    14:9: `depth` cannot be 0
      help: 1 to 4096 is possible
    15:11: `threads` cannot be 513
      help: 1 to 512 is possible
    16:8: the rate cannot be 0
      help: requests per second of each worker: above 0, at most 10000000
    17:16: `compressible` cannot be 200
      help: 0 to 100 is possible
    18:19: the exponent cannot be 1
      help: 0.01 to 10 is possible, except exactly 1, which fio cannot do: 1.01
    19:24: `flush_every` cannot be 0
      help: 1 to 1000000 is possible
    20:14: a share of 10 cannot stand here
      help: percent of what the job reaches at full speed, rising: curve = [10, 50, 100]
    20:18: a share of NaN cannot stand here
      help: percent of what the job reaches at full speed, rising: curve = [10, 50, 100]
    20:23: a share of 2000 cannot stand here
      help: percent of what the job reaches at full speed, rising: curve = [10, 50, 100]
    22:8: two jobs are named `same`
      help: give each its own name
    25:9: 1kB is no multiple of 512 bytes, which direct I/O needs
      help: write a multiple of it, or direct = false for requests through the page cache
    26:20: the shares sum up to 95 %, not to 100 %
      help: shares of requests and of space in percent: zones = [[95, 5], [4, 10], [1, 85]]
    28:8: `rate` and `curve` exclude each other
      help: a curve's rates are shares of what the job reaches at full speed; remove one of the two
    34:14: 4 of which unit?
      help: write sizes with a unit and in quotes: "4KiB"
    35:30: 4KiB is there twice
      help: sizes and their shares in percent: block = [["4KiB", 40], ["8KiB", 60]]
    36:27: a share of space cannot be 0
      help: 1 to 100 is possible
    37:12: `arrivals` has no meaning without a `rate` or a `curve`
      help: add rate = 100, or remove it
    40:8: `read` has no meaning beside streams
      help: it belongs to each of them
    41:9: a `curve` does not go with several streams
      help: what share of which stream would be offered? remove it, or make jobs of the streams
    43:8: this cannot be the name of a stream
      help: 1 to 64 letters, digits, `-`, `_`, and in between also `.` and spaces
    46:9: requests cannot have 65MiB
      help: 1B to 64MiB
    48:8: this cannot be the name of a stream
      help: 1 to 64 letters, digits, `-`, `_`, and in between also `.` and spaces
    48:8: two streams of the job are named `a/b`
      help: give each its own name
    51:9: the shares sum up to 0 %, not to 100 %
      help: sizes and their shares in percent: block = [["4KiB", 40], ["8KiB", 60]]
    52:1: `name` is missing
      help: say what the report calls it: name = "log"
    56:1: `block` is missing
      help: say how large requests are: block = "4KiB"
    61:9: the curve is empty
      help: percent of what the job reaches at full speed, rising: curve = [10, 50, 100]
    "#);
}

#[test]
fn wrong_types_in_jobs() {
    let text = r#"title = "t"
[medium.m]
path = "."
[workload.w.block]
profil = "four-corners"
[[workload.w.block.job]]
name = 5
raed = 100
random = "all"
block = { size = 4 }
depth = [1, 2]
access = "zipf"
sync = "always"
curve = 5
direct = "yes"
[[workload.w.block.job]]
name = "b"
read = 1
random = 1
block = [["4KiB"], [4, 50], "8KiB", ["4KiB", "50"]]
access = { zones = [[1, 2, 3], 5] }
sync = { flush_every = "x" }
[[workload.w.block.job]]
name = "c"
read = 1
random = 1
block = "4KiB"
access = { ziff = 2 }
sync = { flush = 1 }
curve = ["a"]
stream = [5]
[[step]]
run = "w"
steady = 5
at_once = 1
[[step]]
run = "w"
steady = { round = 5 }
"#;
    assert_snapshot!(bad(text), @r#"
    5:1: unknown key `profil`
      help: did you mean `profile`?
    7:8: expected text in quotes, found 5
    8:1: unknown key `raed`
      help: did you mean `read`?
    9:10: expected a whole number, found "all"
      help: numbers stand without quotes
    10:9: expected a size such as "4KiB", or a list such as [["4KiB", 40], ["8KiB", 60]], found a table or date
    11:9: expected a whole number, found a list
    12:10: unknown value `zipf`
      help: the only one known here is `uniform`
    13:8: unknown value `always`
      help: known here: `none`, `each_write`
    14:9: expected true, or a list of shares in percent such as [10, 50, 100], found 5
    15:10: expected true or false, found "yes"
    20:10: invalid length 1, expected a list of two, such as [95, 5] or ["4KiB", 40]
    20:21: 4 of which unit?
      help: write sizes with a unit and in quotes: "4KiB"
    20:29: expected a list of two, such as [95, 5] or ["4KiB", 40], found "8KiB"
    20:37: invalid length 1, expected a list of two, such as [95, 5] or ["4KiB", 40]
    20:46: expected a whole number, found "50"
      help: numbers stand without quotes
    21:32: expected a list of two, such as [95, 5] or ["4KiB", 40], found 5
    22:24: expected a whole number, found "x"
      help: numbers stand without quotes
    25:8: `read` has no meaning beside streams
      help: it belongs to each of them
    26:10: `random` has no meaning beside streams
      help: it belongs to each of them
    27:9: `block` has no meaning beside streams
      help: it belongs to each of them
    28:10: `access` has no meaning beside streams
      help: it belongs to each of them
    28:12: unknown key `ziff`
      help: did you mean `zipf`?
    29:8: `sync` has no meaning beside streams
      help: it belongs to each of them
    29:10: unknown key `flush`
      help: the only one known here is `flush_every`
    30:10: expected a number, found "a"
      help: numbers stand without quotes
    31:11: expected a table such as { name = "log", read = 0 }, found 5
    34:10: expected true, or a table such as { rounds = 25, window = 5 }, found 5
    35:11: expected true or false, found 1
    38:12: unknown key `round`
      help: did you mean `rounds`?
    "#);
}

#[test]
fn faults_of_workloads_are_told() {
    let text = r#"title = "t"
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
fio_job = ""
profile = "four-corners"
workers = 2
fill = 1
job = []
[workload.empty.block]
job = []
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
    assert_snapshot!(bad(text), @r#"
    4:1: what does the block workload `none` do?
      help: profile = "four-corners", a [[job]] of your own, or fio_job = "file.fio"
    7:11: there is no profile `four-corner`
      help: did you mean `four-corners`?
    9:11: there is no profile `nobody has this`
      help: known here: `crystaldiskmark`, `crystaldiskmark-nvme`, `four-corners`, `four-corners-maximum`, `fsync-ladder`, `hcibench-easy-run`, `k-a`, `k-b`, `k-hci`, `snia-iops`, `snia-latency`, `snia-throughput`, `snia-write-saturation`, `sql-data-and-log`, `vdi-boot`, `vdi-desktop`, `vdi-login`
    12:10: `source` has no meaning beside a `profile`
      help: it has one of its own
    13:1: these jobs are not those of the profile `four-corners`
      help: remove `profile`, and say with `source` where they come from; or remove the jobs
    19:11: the job file is empty
      help: write one line of text here
    20:11: `profile` has no meaning beside a `fio_job`
      help: a job file is run as it is: remove one of the two
    21:11: `workers` has no meaning beside a `fio_job`
      help: a job file is run as it is: remove one of the two
    22:8: `fill` has no meaning beside a `fio_job`
      help: a job file is run as it is: remove one of the two
    23:7: `job` has no meaning beside a `fio_job`
      help: a job file is run as it is: remove one of the two
    25:7: there is no job
      help: add one: [[workload.NAME.block.job]]
    26:1: `two` is a tpcc workload already
      help: make two workloads of it, each with a name of its own
    34:11: the job `j` has 69632 requests in flight over all workers
      help: 65536 at most: fewer workers, threads or a smaller depth
    "#);
}

#[test]
fn faults_of_steps_are_told() {
    let text = r#"title = "t"
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
system = "db"
users = 1
rate = 5
rate_to = 6
connections = 1
precondition = { lasts = "1s" }
find = { p99_ms = 1 }
reset = "never"
reset_by = "auto"
arrivals = "poisson"
queue = 1
cool = "1s"
keying_and_think = 1
check = "off"
max_retries = 1
power_cut = "1s"
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
    let errors = parse(text, &drives()).expect_err("this plan is wrong").to_string();
    assert_snapshot!(errors, @r#"
    13:1: `on` is missing, and the plan has several media
      help: say which, for example on = ["m"]; known here: `m`, `small`
    15:10: `system` means nothing for a block workload
      help: fio works on the medium itself: remove it
    16:9: `users` means nothing for a block workload
      help: how many requests, and how many at a time, stands in the jobs: `depth`, `threads`, `rate`, `curve`
    17:8: `rate` means nothing for a block workload
      help: how many requests, and how many at a time, stands in the jobs: `depth`, `threads`, `rate`, `curve`
    18:11: `rate_to` means nothing for a block workload
      help: how many requests, and how many at a time, stands in the jobs: `depth`, `threads`, `rate`, `curve`
    19:15: `connections` means nothing for a block workload
      help: how many requests, and how many at a time, stands in the jobs: `depth`, `threads`, `rate`, `curve`
    20:16: `precondition` means nothing for a block workload
      help: what is written before the first job stands in the workload: `fill`
    21:8: `find` means nothing for a block workload
      help: how many requests, and how many at a time, stands in the jobs: `depth`, `threads`, `rate`, `curve`
    22:9: `reset` means nothing for a block workload
      help: what is written before the first job stands in the workload: `fill`
    23:12: `reset_by` means nothing for a block workload
      help: what is written before the first job stands in the workload: `fill`
    24:12: `arrivals` means nothing for a block workload
      help: how many requests, and how many at a time, stands in the jobs: `depth`, `threads`, `rate`, `curve`
    25:9: `queue` means nothing for a block workload
      help: how many requests, and how many at a time, stands in the jobs: `depth`, `threads`, `rate`, `curve`
    26:8: `cool` means nothing for a block workload
      help: fio is ended when the measurement is: remove it
    27:20: `keying_and_think` means nothing for a block workload
      help: how many requests, and how many at a time, stands in the jobs: `depth`, `threads`, `rate`, `curve`
    28:9: `check` means nothing for a block workload
      help: remove it
    29:15: `max_retries` means nothing for a block workload
      help: remove it
    30:13: `power_cut` means nothing for a block workload
      help: remove it
    33:6: the files of `w` do not fit on `small`: 1.3 GiB with a filesystem, of 1.0 GiB
      help: a larger `capacity`, or fewer `workers` or a smaller `size`
    33:21: `m` is named twice
      help: a medium is tried once per step
    33:26: there is no medium `n`
      help: known here: `m`, `small`
    34:10: `repeat` cannot be 1001
      help: 1 to 1000 is possible
    37:6: `on` names no medium
      help: known here: `m`, `small`
    38:21: `rounds` cannot be 1
      help: 2 to 1000 is possible
    38:33: `window` cannot be 1
      help: 2 to 100 is possible
    38:44: `range` cannot be 0
      help: a share of the mean: above 0, at most 1
    38:55: `slope` cannot be NaN
      help: a share of the mean: above 0, at most 1
    39:10: `repeat` and `steady` exclude each other
      help: steady = { rounds = 25 } says how many there are at most; remove `repeat`
    40:8: 5 of which unit?
      help: write times with a unit and in quotes: "5s"
    41:11: there is no time to measure
      help: write how long figures are taken, such as measure = "60s"
    45:10: a window of 5 rounds is never full in 4
      help: more `rounds`, or a smaller `window`
    50:10: `steady` means nothing for a load on a system
      help: only the step of a [workload.NAME.block] has it: remove it
    51:11: `at_once` means nothing for a load on a system
      help: only the step of a [workload.NAME.block] has it: remove it
    "#);
}

#[test]
fn a_block_workload_needs_a_medium_and_no_system() {
    let text = "title = \"t\"\n[workload.w.block]\nprofile = \"four-corners\"\n[[step]]\nrun = \"w\"\n";
    assert_snapshot!(bad(text), @r#"
    5:7: the block workload `w` needs a medium to work on
      help: add [medium.here] with path = "."
    "#);
    let text = "title = \"t\"\n[workload.w.block]\nprofile = \"four-corners\"\n[[step]]\nrun = \"v\"\n";
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
    let errors = parse(text, &drives()).expect_err("this plan is wrong").to_string();
    assert_snapshot!(errors, @r#"
    4:8: `path` and `device` exclude each other
      help: a medium is one of the three: remove the other, or make two media of it
    5:8: `fill` has no meaning without a `drive`
      help: it belongs to an emulated drive: add drive = "…", or remove it
    7:10: `/dev/../etc` is not the path of a device
      help: its path below /dev, such as device = "/dev/disk/by-id/nvme-…"; a directory is a `path`
    10:9: `drive` and `device` exclude each other
      help: a medium is one of the three: remove the other, or make two media of it
    12:10: `nvme0n1` is not the path of a device
      help: its path below /dev, such as device = "/dev/disk/by-id/nvme-…"; a directory is a `path`
    22:6: no system can keep its data on `ok`, which is a device itself
      help: plimsoll makes no filesystem on it: name a directory with `path`; only block workloads use a `device`
    "#);
    let only = "title = \"t\"\n[medium.d]\ndevice = \"/dev/sdb\"\n[system.db]\nengine = \"sqlite\"\n\
                [workload.w.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"w\"\nsystem = \"db\"\nusers = 1\n";
    assert!(bad(only).contains("no system can keep its data on `d`"), "{}", bad(only));
}

#[test]
fn unused_media_and_workloads_are_told() {
    let text = with("profile = \"four-corners\"", "")
        .replace("[workload.w", "[workload.v.block]\nfio_job = \"x\"\n[workload.w");
    assert_snapshot!(PlanErrors(good(&text).warnings), @r"
    4:11: no step uses the workload `v`
      help: remove it, or name it in a [[step]]
    ");
    let two = text
        .replace("[workload.v", "[medium.n]\npath = \"/\"\n[workload.v")
        .replace("run = \"w\"", "run = \"w\"\non = [\"n\"]");
    assert!(PlanErrors(good(&two).warnings).to_string().contains("no step uses the medium `m`"));
}
