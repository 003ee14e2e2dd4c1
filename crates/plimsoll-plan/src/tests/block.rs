//! Block workloads, their steps, and devices.

use insta::assert_snapshot;
use proptest::prelude::*;

use super::{catalog, drives, good, scaled, shipped, survives};
use crate::resolved::{Access, Block, BlockStep, SizeShare, Step, SyncPolicy};
use crate::units::{Bytes, Nanos};
use crate::{
    MediumId, MediumNeed, Options, Parsed, PlanErrors, ResolvedPlan, describe, estimate, parse,
    profile,
};

/// Every key of block workloads with a value that is not its default, next to workloads with as few keys as possible.
pub(super) const PLAN: &str = r#"
title = "Block"
[medium.here]
path = "."
[medium.drive]
drive = "fast-ssd-1t"
[medium.raw]
device = "/dev/disk/by-id/nvme-x"
[system.db]
engine = "sqlite"
[workload.oltp.tpcc]
warehouses = 1
[workload.corners.block]
profile = "four-corners"
workers = 2
size = "1GB"
fill = 2
[workload.file.block]
fio_job = "jobs/mine.fio"
size = "3GiB"
source = "a colleague"
[workload.own.block]
source = "ours, \"really\""
[[workload.own.block.job]]
name = "RND4K Q32T2 70/30"
read = 70
random = 90
block = [["4KiB", 40], ["8KiB", 60]]
write_block = "512B"
depth = 32
threads = 2
access = { zones = [[95, 5], [4, 10], [1, 85]] }
compressible = 50
sync = { flush_every = 16 }
direct = true
curve = [10, 50.5, 120]
arrivals = "poisson"
[[workload.own.block.job]]
name = "small appends"
read = 0
random = 0
block = "100B"
direct = false
rate = 12.5
sync = "each_write"
[[workload.own.block.job]]
name = "data and log"
[[workload.own.block.job.stream]]
name = "data"
read = 70
random = 100
block = "8KiB"
rate = 1500
arrivals = "poisson"
access = { zipf = 1.1 }
[[workload.own.block.job.stream]]
name = "log"
read = 0
random = 0
block = "32KiB"
[[step]]
run = "corners"
on = ["here", "drive", "raw"]
at_once = true
repeat = 3
[[step]]
name = "mine"
run = "own"
on = ["drive"]
steady = { rounds = 30, window = 6, range = 0.3, slope = 0.05 }
ramp = "5s"
measure = "90s"
[[step]]
run = "own"
on = ["here"]
steady = true
[[step]]
run = "file"
on = ["here"]
[[step]]
run = "oltp"
system = "db"
on = ["here", "drive"]
users = 1
"#;

fn read(text: &str) -> Parsed {
    parse(text, &drives()).unwrap_or_else(|errors| panic!("{errors}"))
}

fn block_steps(plan: &ResolvedPlan) -> Vec<&BlockStep> {
    plan.steps
        .iter()
        .filter_map(|step| {
            if let Step::Block(step) = step {
                Some(step)
            } else {
                None
            }
        })
        .collect()
}

fn all_of(size: Bytes) -> Vec<SizeShare> {
    vec![SizeShare { size, percent: 100 }]
}

fn block<'p>(plan: &'p ResolvedPlan, name: &str) -> &'p Block {
    let named = plan.blocks.iter().find(|named| named.name == name);
    &named.unwrap().block
}

#[test]
fn streams_name_the_operations_of_a_job() {
    let plan = read(PLAN).plan;
    let [mixed, appends, pair] = block(&plan, "own").jobs() else {
        panic!()
    };
    assert_eq!(mixed.txns(), ["read", "write", "sync"]);
    assert_eq!(appends.txns(), ["write"]);
    assert_eq!(pair.txns(), ["data read", "data write", "log write"]);
    let known = profile::find("four-corners").unwrap();
    assert_eq!(block(&plan, "corners").jobs(), &*known.jobs);
    assert!(plan.steps[4].load().is_some());
}

#[test]
fn block_plans_are_described_in_full() {
    let plan = read(PLAN).plan;
    let text = describe(&plan);
    survives(&plan);
    let own = &text
        [text.find("[workload.corners").unwrap()..text.find("[[step]]\nname = \"oltp\"").unwrap()];
    assert_snapshot!(own, @r#"
    [workload.corners.block]
    profile = "four-corners"
    workers = 2
    size = "953MiB"
    fill = 2
    job = [
        { name = "RND4K T128 read", read = 100, random = 100, block = "4KiB", depth = 1, threads = 128, arrivals = "constant", access = "uniform", compressible = 0, direct = true, sync = "none", curve = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 120] },
        { name = "RND4K T128 write", read = 0, random = 100, block = "4KiB", depth = 1, threads = 128, arrivals = "constant", access = "uniform", compressible = 0, direct = true, sync = "none", curve = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 120] },
        { name = "SEQ64K T32 read", read = 100, random = 0, block = "64KiB", depth = 1, threads = 32, arrivals = "constant", access = "uniform", compressible = 0, direct = true, sync = "none", curve = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 120] },
        { name = "SEQ64K T16 write", read = 0, random = 0, block = "64KiB", depth = 1, threads = 16, arrivals = "constant", access = "uniform", compressible = 0, direct = true, sync = "none", curve = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 120] },
    ]

    [workload.file.block]
    source = "a colleague"
    fio_job = "jobs/mine.fio"
    size = "3GiB"

    [workload.own.block]
    source = 'ours, "really"'
    workers = 1
    size = "1GiB"
    fill = 1
    job = [
        { name = "RND4K Q32T2 70/30", read = 70, random = 90, read_block = [["4KiB", 40], ["8KiB", 60]], write_block = "512B", depth = 32, threads = 2, arrivals = "poisson", access = { zones = [[95, 5], [4, 10], [1, 85]] }, compressible = 50, direct = true, sync = { flush_every = 16 }, curve = [10, 50.5, 120] },
        { name = "small appends", read = 0, random = 0, block = "100B", depth = 1, threads = 1, rate = 12.5, arrivals = "constant", access = "uniform", compressible = 0, direct = false, sync = "each_write" },
        { name = "data and log", stream = [{ name = "data", read = 70, random = 100, block = "8KiB", depth = 1, threads = 1, rate = 1500, arrivals = "poisson", access = { zipf = 1.1 }, compressible = 0, direct = true, sync = "none" }, { name = "log", read = 0, random = 0, block = "32KiB", depth = 1, threads = 1, access = "uniform", compressible = 0, direct = true, sync = "none" }] },
    ]

    [[step]]
    name = "corners"
    run = "corners"
    on = ["here", "drive", "raw"]
    at_once = true
    repeat = 3
    ramp = "2s"
    measure = "1m"

    [[step]]
    name = "mine"
    run = "own"
    on = ["drive"]
    steady = { rounds = 30, window = 6, range = 0.3, slope = 0.05 }
    ramp = "5s"
    measure = "1m 30s"

    [[step]]
    name = "own"
    run = "own"
    on = ["here"]
    steady = { rounds = 25, window = 5, range = 0.2, slope = 0.1 }
    ramp = "2s"
    measure = "1m"

    [[step]]
    name = "file"
    run = "file"
    on = ["here"]
    repeat = 1
    ramp = "2s"
    measure = "1m"
    "#);
}

/// A plan with one block workload and one step.
pub(super) fn with(workload: &str, step: &str) -> String {
    format!(
        "title = \"t\"\n[medium.m]\npath = \".\"\n[workload.w.block]\n{workload}\n[[step]]\nrun = \"w\"\n{step}\n"
    )
}

#[test]
fn the_data_scale_shrinks_files_and_scale_times() {
    let text = with(
        "profile = \"four-corners\"\nsize = \"10GiB\"",
        "ramp = \"4s\"\nmeasure = \"10s\"",
    );
    let of = |scale, data_scale| {
        let plan = parse(&text, &scaled(scale, data_scale)).unwrap().plan;
        let step = block_steps(&plan)[0].clone();
        (block(&plan, "w").size, step.warm, step.measure)
    };
    assert_eq!(
        of(0.5, 0.25),
        (Bytes::mib(2560), Nanos::from_secs(2), Nanos::from_secs(5))
    );
    assert_eq!(
        of(0.1, 1e-6),
        (Bytes::mib(64), Nanos::SECOND, Nanos::SECOND),
        "a second of ramp is left"
    );
    assert_eq!(of(1.0, 1e300).0, Bytes(1 << 50));
    let file = with("fio_job = \"x.fio\"\nsize = \"10GiB\"", "");
    let plan = parse(&file, &scaled(1.0, 0.1)).unwrap().plan;
    assert_eq!(
        block(&plan, "w").size,
        Bytes::mib(10 << 10),
        "a job file is run as it is"
    );
}

#[test]
fn estimates_count_rounds_curves_layout_and_files() {
    let of = |workload: &str, step: &str| {
        estimate(&good(&with(workload, &format!("measure = \"8s\"\n{step}"))).plan)
    };
    let corners = of(
        "profile = \"four-corners\"\nworkers = 4\nsize = \"1000MiB\"\nfill = 2",
        "repeat = 3",
    );
    assert_eq!(
        (corners.per_step[0].points, corners.ladder_points()),
        (3 * 4 * 12, 144)
    );
    assert_eq!(corners.duration, Nanos::from_secs(1440));
    assert_eq!(
        corners.load_duration,
        Nanos::from_secs(42),
        "8,000 MiB at 200 MB/s"
    );
    assert_eq!(
        corners.space,
        [MediumNeed {
            medium: MediumId::new(0),
            bytes: Bytes::mib(4000)
        }]
    );
    assert_eq!(
        of("fio_job = \"x\"", "steady = true").duration,
        Nanos::from_secs(250),
        "the most rounds"
    );
    let media = read(PLAN).plan;
    let needs = estimate(&media);
    assert_eq!(needs.per_step[0].points, 3 * 4 * 12, "at once");
    let here = &needs.space[0];
    assert_eq!(
        (media.medium(here.medium).name.as_str(), needs.space.len()),
        ("here", 1),
        "a device needs no space: {:?}",
        needs.space
    );
    let sqlite = (64 << 20) + 90_000_000 + 70 * 2_000 * 1_200;
    assert_eq!(
        here.bytes,
        Bytes(sqlite + (3 << 30)),
        "the largest of its block workloads"
    );
    let all = (2 * 953 + 1024 + 288) << 20;
    assert_eq!(
        (
            media.medium(needs.memory[0].medium).name.as_str(),
            needs.memory.len(),
            needs.memory[0].bytes
        ),
        ("drive", 1, Bytes(sqlite + all)),
        "all that was ever written"
    );
}

#[test]
fn what_changes_nothing_is_reported() {
    let text = with(
        "fill = 0.5\n[[workload.w.block.job]]\nname = \"a\"\nread = 100\nrandom = 0\nblock = \"4KiB\"\nwrite_block = \"8KiB\"\n\
         sync = \"each_write\"\naccess = { zipf = 1.2 }\n[[workload.w.block.job]]\nname = \"b\"\nread = 50\nrandom = 1\n\
         block = \"4KiB\"\nread_block = \"8KiB\"\nwrite_block = \"16KiB\"",
        "at_once = true\nramp = \"500ms\"\nmeasure = \"100ms\"",
    );
    let Parsed { plan, warnings } = good(&text);
    let [a, b] = block(&plan, "w").jobs() else {
        panic!()
    };
    let (a, b) = (&a.streams[0], &b.streams[0]);
    assert_eq!(
        (&a.write_sizes, a.sync, &a.access),
        (&all_of(Bytes(4096)), SyncPolicy::None, &Access::Uniform)
    );
    assert_eq!(
        (&b.read_sizes, &b.write_sizes),
        (&all_of(Bytes(8192)), &all_of(Bytes(16384)))
    );
    assert_eq!(
        (block_steps(&plan)[0].at_once, block_steps(&plan)[0].warm),
        (false, Nanos::SECOND)
    );
    assert_snapshot!(PlanErrors(warnings), @r#"
    5:8: part of each file is never written before it is read
      help: reads of it may never reach the medium: fill = 1 or more
    11:15: `write_block` changes nothing: there are no such requests
      help: remove it
    12:8: `sync` changes nothing: there are no writes
      help: remove it
    13:10: `access` changes nothing: no request is at a random place
      help: remove it
    18:9: `block` changes nothing beside `read_block` and `write_block`
      help: remove it
    23:11: `at_once` changes nothing: there is one medium
      help: remove it, or name more in `on`
    24:8: a ramp of 1s instead of 500ms
      help: fio's start must not be measured: ramp = "1s" or more
    25:11: measuring for 1s instead of 100ms: figures are taken per second
      help: write measure = "1s" or more
    "#);
}

/// Any stream that can be written.
fn stream() -> impl Strategy<Value = String> {
    let sizes = prop_oneof![
        (1u64..=131_072).prop_map(|sectors| format!("\"{}B\"", sectors * 512)),
        (1u32..100, 1u64..1000).prop_map(|(percent, n)| format!(
            "[[\"{}B\", {percent}], [\"{}B\", {}]]",
            n * 512,
            (n + 1) * 512,
            100 - percent
        )),
    ];
    let access = prop_oneof![
        Just("\"uniform\"".to_owned()),
        (0.01..0.99f64).prop_map(|theta| format!("{{ zipf = {theta} }}")),
        (0u32..=100, 1u32..100).prop_map(|(hot, space)| format!(
            "{{ zones = [[{hot}, {space}], [{}, {}]] }}",
            100 - hot,
            100 - space
        )),
    ];
    let sync = prop_oneof![
        Just("\"none\"".to_owned()),
        Just("\"each_write\"".to_owned()),
        (1u32..=1_000_000).prop_map(|every| format!("{{ flush_every = {every} }}")),
    ];
    let numbers = (0u32..=100, 0u32..=100, 1u32..=100, 1u32..=100, 0u32..=100);
    (numbers, sizes.clone(), sizes, access, sync, any::<bool>()).prop_map(|(numbers, both, writes, access, sync, direct)| {
        let (read, random, depth, threads, compressible) = numbers;
        format!(
            "read = {read}\nrandom = {random}\nblock = {both}\nwrite_block = {writes}\ndepth = {depth}\nthreads = {threads}\n\
             compressible = {compressible}\naccess = {access}\nsync = {sync}\ndirect = {direct}\n"
        )
    })
}

proptest! {
    #[test]
    fn every_block_workload_survives_being_described(
        streams in prop::collection::vec(stream(), 1..4),
        rate in prop::option::of(0.001..1e7f64),
        curve in any::<bool>(),
        fill in 0.0..=100.0f64,
        workers in 1u32..=2,
        scale in 1e-3..1e3f64,
    ) {
        let mut text = format!("fill = {fill}\nworkers = {workers}\n[[workload.w.block.job]]\nname = \"j\"\n");
        let rate = rate.map(|rate| format!("rate = {rate}\narrivals = \"poisson\"\n")).unwrap_or_default();
        if let [only] = streams.as_slice() {
            text.push_str(only);
            text.push_str(if curve { "curve = true\narrivals = \"poisson\"\n" } else { &rate });
        } else {
            for (i, stream) in streams.iter().enumerate() {
                text.push_str(&format!("[[workload.w.block.job.stream]]\nname = \"s{i}\"\n{stream}{rate}"));
            }
        }
        let options = Options { data_scale: scale, ..Options::default() };
        let parsed = parse(&with(&text, ""), &options);
        prop_assert!(parsed.is_ok(), "{text}\n{parsed:?}");
        let plan = ResolvedPlan { data_scale: 1.0, ..parsed.expect("checked above").plan };
        let again = parse(&describe(&plan), &Options::default());
        prop_assert!(again.is_ok(), "{}\n{again:?}", describe(&plan));
        prop_assert_eq!(again.expect("checked above").plan, plan);
    }
}

#[test]
fn the_audit_accepts_windows_as_short_as_those_of_crystaldiskmark() {
    let plans = shipped();
    let (_, text) = plans
        .iter()
        .find(|(name, _)| name == "crystaldiskmark.toml")
        .expect("a plan");
    assert!(
        text.contains("measure = \"5s\"") && text.contains("repeat = 5"),
        "{text}"
    );
    let plan = parse(text, &catalog()).unwrap().plan;
    assert_eq!(plan.audit.window, 5.0);
}
