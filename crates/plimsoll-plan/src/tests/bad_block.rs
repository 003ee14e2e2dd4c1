//! What people get to read when jobs of a block workload are wrong.

use insta::assert_snapshot;

use super::bad;

#[test]
fn faults_of_numbers_are_reported_at_once() {
    let text = r#"title = "t"
[medium.m]
path = "."
[workload.w.block]
workers = 257
size = "63MiB"
fill = -1
[[workload.w.block.job]]
[[workload.w.block.job]]
name = "j"
read = 101
random = -1
block = "4KiB"
depth = 0
threads = 513
rate = 0
compressible = 200
access = { zipf = 1.0 }
sync = { flush_every = 0 }
[[step]]
run = "w"
"#;
    assert_snapshot!(bad(text), @r#"
    5:11: `workers` cannot be 257
      help: 1 to 256 is possible
    6:8: `size` cannot be 63MiB
      help: 64MiB at least
    7:8: `fill` cannot be -1
      help: how often each file is written before the first job: 0 to 100
    8:1: `name` is missing
      help: state what the report calls it: name = "RND4K Q32T1 read"
    8:1: `read` is missing
      help: percent of the requests that are reads: read = 100
    8:1: `random` is missing
      help: percent at a random place: random = 100, or 0 for sequential
    8:1: `block` is missing
      help: state how large requests are: block = "4KiB"
    11:8: `read` cannot be 101
      help: 0 to 100 is possible
    12:10: `random` cannot be -1
      help: 0 to 100 is possible
    14:9: `depth` cannot be 0
      help: 1 to 4096 is possible
    15:11: `threads` cannot be 513
      help: 1 to 512 is possible
    16:8: `rate` cannot be 0
      help: requests per second of each worker: above 0, at most 10000000
    17:16: `compressible` cannot be 200
      help: 0 to 100 is possible
    18:19: the exponent cannot be 1
      help: 0.01 to 10 is possible, except exactly 1, which fio cannot do: 1.01
    19:24: `flush_every` cannot be 0
      help: 1 to 1000000 is possible
    "#);
}

#[test]
fn faults_of_shares_and_names_are_reported_at_once() {
    let text = r#"title = "t"
[medium.m]
path = "."
[[workload.w.block.job]]
name = "same"
read = 50
random = 50
block = [["4KiB", 40], ["8KiB", 50]]
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
name = "one half"
read = 50
random = 0
read_block = "4KiB"
curve = []
[[step]]
run = "w"
"#;
    assert_snapshot!(bad(text), @r#"
    8:9: the shares sum up to 90 %, not to 100 %
      help: sizes and their shares in percent: block = [["4KiB", 40], ["8KiB", 60]]
    9:14: a share of 10 cannot stand here
      help: percent of what the job reaches at full speed, rising: curve = [10, 50, 100]
    9:18: a share of NaN cannot stand here
      help: percent of what the job reaches at full speed, rising: curve = [10, 50, 100]
    9:23: a share of 2000 cannot stand here
      help: percent of what the job reaches at full speed, rising: curve = [10, 50, 100]
    11:8: two jobs are named `same`
      help: give each its own name
    14:9: 1kB is no multiple of 512 bytes, which direct I/O needs
      help: did you mean "1KiB"? A kB are 1,000 bytes, a KiB are 1,024
    15:20: the shares sum up to 95 %, not to 100 %
      help: shares of requests and of space in percent: zones = [[95, 5], [4, 10], [1, 85]]
    17:8: `rate` and `curve` exclude each other
      help: a curve's rates are shares of what the job reaches at full speed; remove one of the two
    23:14: 4 has no unit
      help: write sizes with a unit and in quotes: "4KiB"
    24:30: 4KiB is there twice
      help: sizes and their shares in percent: block = [["4KiB", 40], ["8KiB", 60]]
    25:27: a share of space cannot be 0
      help: 1 to 100 is possible
    26:12: `arrivals` is not supported without a `rate` or a `curve`
      help: add rate = 100, or remove it
    27:1: `block` is missing
      help: state how large requests are: block = "4KiB"
    32:9: the curve is empty
      help: percent of what the job reaches at full speed, rising: curve = [10, 50, 100]
    "#);
}

#[test]
fn faults_of_streams_are_reported_at_once() {
    let text = r#"title = "t"
[medium.m]
path = "."
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
[[workload.v.block.job]]
name = "none"
stream = []
[[step]]
run = "w"
[[step]]
run = "v"
"#;
    assert_snapshot!(bad(text), @r#"
    6:8: `read` is not supported beside streams
      help: it belongs to each of them
    7:9: a `curve` cannot be combined with several streams
      help: what share of which stream would be offered? remove it, or make jobs of the streams
    9:8: this cannot be the name of a stream (also in line 14)
      help: 1 to 64 letters, digits, `-`, `_`, and in between also `.` and spaces
    12:9: `block` cannot be 65MiB
      help: 1B to 64MiB is possible
    14:8: two streams of the job are named `a/b`
      help: give each its own name
    17:9: the shares sum up to 0 %, not to 100 %
      help: sizes and their shares in percent: block = [["4KiB", 40], ["8KiB", 60]]
    18:1: `name` is missing
      help: state what the report calls it: name = "log"
    24:10: there is no stream
      help: add one, or write its keys into the job
    "#);
}

const WRONG_TYPES: &str = r#"title = "t"
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

#[test]
fn wrong_types_in_jobs() {
    assert_snapshot!(bad(WRONG_TYPES), @r#"
    5:1: unknown key `profil`
      help: did you mean `profile`?
    7:8: expected text in quotes, found 5
    8:1: unknown key `raed`
      help: did you mean `read`?
    9:10: expected a whole number, found "all"
      help: numbers stand without quotes
    10:9: expected a size such as "4KiB", or a list such as [["4KiB", 40], ["8KiB", 60]], found a table
    11:9: expected a whole number, found a list
    12:10: expected "uniform", { zipf = 1.1 } or { zones = [[95, 5], [5, 95]] }, found "zipf"
    13:8: expected "none", "each_write" or { flush_every = 1 }, found "always"
    14:9: expected true, or a list of shares in percent such as [10, 50, 100], found 5
    15:10: expected true or false, found "yes"
    20:10: invalid length 1, expected a list of two, such as [95, 5] or ["4KiB", 40]
    20:21: 4 has no unit
      help: write sizes with a unit and in quotes: "4KiB"
    20:29: expected a list of two, such as [95, 5] or ["4KiB", 40], found "8KiB"
    20:46: expected a whole number, found "50"
      help: numbers stand without quotes
    21:21: invalid length 3, expected a list of two, such as [95, 5] or ["4KiB", 40]
    21:32: expected a list of two, such as [95, 5] or ["4KiB", 40], found 5
    22:24: expected a whole number, found "x"
      help: numbers stand without quotes
    25:8: `read` is not supported beside streams
      help: it belongs to each of them
    26:10: `random` is not supported beside streams
      help: it belongs to each of them
    27:9: `block` is not supported beside streams
      help: it belongs to each of them
    28:10: `access` is not supported beside streams
      help: it belongs to each of them
    28:12: unknown key `ziff`
      help: did you mean `zipf`?
    29:8: `sync` is not supported beside streams
      help: it belongs to each of them
    29:10: unknown key `flush`
      help: did you mean `flush_every`?
    30:10: expected a number, found "a"
      help: numbers stand without quotes
    31:11: expected a table such as { name = "log", read = 0 }, found 5
    34:10: expected true, or a table such as { rounds = 25, window = 5 }, found 5
    35:11: expected true or false, found 1
    38:12: unknown key `round`
      help: did you mean `rounds`?
    "#);
}
