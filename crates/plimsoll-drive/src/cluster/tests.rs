use super::Cluster;
use super::host_store::HostStore;
use super::placement::{PlacedObject, place};
use super::store_event::{StoreEvent, StoreRequest, TimedStoreEvent};
use crate::catalog;
use crate::model::{Assembled, ByRequest, DriveOp, Op, Random, RebuildProgress, Setup, Storage};
use crate::simulate::{Arrival, SimulatedProfile, SimulatedResult, named, simulate};
use crate::spec::DriveSpec;
use plimsoll_plan::assembly::{DriveAssembly, NamedAssembly};
use plimsoll_plan::cluster::{ClusterKind, ClusterPolicy, ClusterSpec};
use plimsoll_plan::units::{Bytes, Nanos};
use proptest::prelude::*;

fn drive(name: &str) -> DriveSpec {
    let named: NamedAssembly = name.parse().unwrap();
    let file = catalog::assembly_file(named).unwrap();
    catalog::load("cluster", &file.text).unwrap()
}

fn spec_of(drive: &DriveSpec) -> &ClusterSpec {
    match drive.assembly.as_ref() {
        Some(DriveAssembly::Cluster(own)) => own,
        _ => unreachable!("a cluster"),
    }
}

fn setup(capacity: u64) -> Setup {
    Setup {
        capacity: Bytes(capacity),
        fill: 0.5,
        seed: 7,
        ignores_flush: false,
    }
}

fn cluster(name: &str, capacity: u64) -> Cluster {
    let drive = drive(name);
    Cluster::new(&drive, spec_of(&drive), &setup(capacity))
}

fn op(kind: DriveOp, offset: u64, len: u64) -> Op {
    Op { kind, offset, len }
}

/// To all drives.
fn bytes_written(own: &Cluster) -> u64 {
    let all = own.work_by_drive();
    let of_each = all.iter().map(|own| own.bytes[DriveOp::Write as usize]);
    of_each.sum()
}

/// When a request completes that comes alone.
fn alone(cluster: &mut Cluster, now: Nanos, op: Op) -> Nanos {
    cluster.submit(now, op);
    cluster.advance(Nanos(u64::MAX)).unwrap().at - now
}

/// Reads and writes of drives for each request, without destaging.
fn per_request(name: &str, profile: &str) -> (f64, f64) {
    let outcome = run(name, profile, 4, 4, 50, 1);
    let work = outcome.work();
    let host = (outcome.reads.ops + outcome.writes.ops) as f64;
    let of = |kind: DriveOp| work.ops[kind as usize] as f64 / host;
    (of(DriveOp::Read), of(DriveOp::Write))
}

fn run(name: &str, profile: &str, kib: u64, jobs: u32, ms: u64, seed: u64) -> SimulatedResult {
    let profile = SimulatedProfile {
        load: Arrival::Closed { depth: 8, jobs },
        block: Bytes(kib << 10),
        measure: Nanos::from_millis(ms),
        warm: Nanos::ZERO,
        seed,
        ..named(profile).unwrap()
    };
    simulate(&drive(name), &profile)
}

#[test]
fn policies_cost_what_they_cost_vsan() {
    let costs = [
        ("ftt0", (1.0, 0.0), (0.0, 1.0)),
        ("ftt1", (1.0, 0.0), (0.0, 2.0)),
        ("ftt2", (1.0, 0.0), (0.0, 3.0)),
        ("ftt3", (1.0, 0.0), (0.0, 4.0)),
        ("raid5", (1.0, 0.0), (2.0, 2.0)),
        ("raid6", (1.0, 0.0), (3.0, 3.0)),
    ];
    for (policy, read, write) in costs {
        let name = format!("vsan:7:2:sata:policy={policy}");
        let near = |own: (f64, f64), of: (f64, f64)| {
            assert!(
                (own.0 - of.0).abs() < 0.02 && (own.1 - of.1).abs() < 0.02,
                "{policy}: {own:?}, not {of:?}"
            );
        };
        near(per_request(&name, "randread4k"), read);
        near(per_request(&name, "randwrite4k"), write);
    }
}

/// A write goes over the network even from the host that has a copy; what the network adds is its round trip.
#[test]
fn a_copy_on_another_host_is_a_round_trip_away() {
    let write = op(DriveOp::Write, 0, 4096);
    let mean = |name: &str| {
        let mut own = cluster(name, 1 << 30);
        let times = (1..=200).map(|at| alone(&mut own, Nanos::from_millis(at), write).0);
        times.sum::<u64>() as f64 / 200_000.0
    };
    let near = mean("vsan:3:2:nvme:round-trip=0us");
    let far = mean("vsan:3:2:nvme:round-trip=200us");
    assert!((198.0..202.0).contains(&(far - near)), "{near} {far}");
}

#[test]
fn a_flush_asks_no_drive() {
    let mut own = cluster("vsan:3:2:nvme", 1 << 30);
    let time = alone(&mut own, Nanos::SECOND, op(DriveOp::Flush, 0, 0));
    assert_eq!(time, Nanos(11_200));
    assert_eq!(
        own.work_by_drive()
            .iter()
            .map(|work| work.ops[DriveOp::Flush as usize])
            .sum::<u64>(),
        0
    );
}

/// What waits for a request is woken by it.
#[test]
fn a_completion_is_known_when_it_is_there() {
    let mut own = cluster("vsan:3:2:nvme", 1 << 30);
    own.announce();
    let id = own.submit(Nanos::ZERO, op(DriveOp::Write, 0, 4096));
    assert_eq!(own.take_known(), []);
    let done = own.advance(Nanos::SECOND).unwrap();
    assert_eq!(own.take_known(), [done]);
    let write = op(DriveOp::Write, 0, 4096);
    let both = own.submit_after(Nanos::SECOND, write, op(DriveOp::Flush, 0, 0));
    let after = own.advance(Nanos(u64::MAX)).unwrap();
    assert_eq!((own.take_known(), after.id), (vec![after], both));
    assert!(own.is_idle() && done.id == id);
}

/// Writes of a small working set stay in the buffer; those of a large one go on to the drives, each block once.
#[test]
fn what_is_written_again_is_destaged_once() {
    let written = |blocks: u64| {
        let mut own = cluster("vsan:3:2:nvme:policy=ftt0:buffer=64MiB", 1 << 30);
        let mut random = Random::new(3);
        let mut now = Nanos::ZERO;
        for _ in 0..40_000 {
            let at = random.below(blocks) * 4096;
            now += alone(&mut own, now, op(DriveOp::Write, at, 4096));
        }
        let work = own.work_by_drive();
        let data = work.iter().skip(1).step_by(2);
        data.map(|work| work.bytes[DriveOp::Write as usize])
            .sum::<u64>()
    };
    assert_eq!(written(4_000), 0);
    let large = written(100_000);
    // 5 % of 40,000 writes hit a block that waits, and 5,000 blocks wait at the end.
    assert!((120_000_000..140_000_000).contains(&large), "{large}");
}

/// More is written than destaged until the buffer is full; then as much.
#[test]
fn a_full_buffer_slows_writes_down_to_destaging() {
    let name = "vsan:3:3:sata:policy=ftt0:vdisks=24:buffer=200MB";
    let of = |ms| run(name, "randwrite4k", 64, 24, ms, 1).bytes_per_second();
    let [fresh, full] = [50, 3000].map(of);
    assert!(fresh > 2.0 * full, "{fresh} {full}");
}

/// What was on its way to the drives of a host that failed is not for its new ones; a power cut loses nothing of a buffer.
/// The first read of a line comes from a disk, the next ones from the read cache; writes never wait for a disk.
#[test]
fn a_hybrid_group_reads_a_line_from_its_disk_once() {
    let mut own = cluster("vsan:3:3:sata+disk:policy=ftt0", 1 << 30);
    let ms = |n: u64| Nanos::from_millis(n);
    let read = |offset| op(DriveOp::Read, offset, 4096);
    let first = alone(&mut own, ms(10), read(8 << 20));
    assert!(first > Nanos::from_micros(2_000), "{first}");
    let mut now = 1_000;
    for offset in [8 << 20, (8 << 20) + 4096, (9 << 20) - 4096] {
        now += 10;
        let again = alone(&mut own, ms(now), read(offset));
        assert!(again < Nanos::from_micros(600), "{offset}: {again}");
    }
    let write = op(DriveOp::Write, 20 << 20, 4096);
    let written = alone(&mut own, ms(3_000), write);
    assert!(written < Nanos::from_micros(600), "{written}");
    assert!(own.fail(ms(4_000), 0) || own.fail(ms(4_000), 1));
    let all_flash = cluster("vsan:3:3:sata+nvme", 1 << 30);
    assert_eq!(all_flash.work_by_drive().len(), 9);
}

/// With a network and processors that do not limit them.
#[test]
fn groups_of_a_host_share_its_load() {
    let mb = |name: &str| {
        let name = format!("{name}:vdisks=48:network=800Gb:stack=1us");
        run(&name, "randwrite4k", 64, 16, 100, 1).iops()
    };
    let one = mb("vsan:3:3:sata");
    let four = mb("vsan:3:12:sata:groups=4");
    let fast = mb("vsan:3:12:nvme+sata:groups=4");
    assert!(four > 2.5 * one, "{four} {one}");
    assert!(fast > 2.0 * four, "{fast} {four}");
}

#[test]
fn a_host_is_replaced_while_it_destages() {
    is_replaced_under_load("vsan:3:2:sata:vdisks=4:buffer=16MiB");
}

#[test]
fn a_host_is_replaced_while_its_stores_commit() {
    is_replaced_under_load("ceph:3:2:sata:copies=2");
}

fn is_replaced_under_load(name: &str) {
    let mut own = cluster(name, 1 << 30);
    let mut random = Random::new(5);
    let mut now = Nanos::ZERO;
    for (number, host) in [0, 1, 2, 1].into_iter().enumerate() {
        for _ in 0..600 {
            let at = random.below(1 << 14) * 65_536;
            own.submit(now, op(DriveOp::Write, at, 65_536));
        }
        now += Nanos::from_millis(30);
        while own.advance(now).is_some() {}
        assert!(own.fail(now, host));
        now += Nanos::from_micros(20 * u64::from(host));
        while own.advance(now).is_some() {}
        if number % 2 == 0 {
            own.replace(now, host);
        } else {
            own.bring_back(now, host);
        }
        while let Some(next) = own.next_event() {
            now = next;
            own.advance(now);
        }
        assert!(own.has_rebuilt(host) && own.is_idle());
    }
    own.submit(now, op(DriveOp::Write, 0, 65_536));
    own.power_cycle(now);
    assert!(own.is_idle() && own.next_event().is_none());
}

/// A host that fails while it is filled had nothing of the rest, also where it returns.
#[test]
fn a_host_that_was_being_filled_returns_without_the_rest() {
    for name in ["vsan:3:3:nvme:vdisks=6", "ceph:3:2:nvme:copies=2"] {
        let mut own = cluster(name, 256 << 20);
        let run = |own: &mut Cluster| while own.advance(Nanos(u64::MAX)).is_some() {};
        own.fail(Nanos::ZERO, 1);
        own.replace(Nanos::ZERO, 1);
        own.fail(Nanos::from_millis(1), 1);
        run(&mut own);
        let before = bytes_written(&own);
        own.bring_back(Nanos::SECOND, 1);
        run(&mut own);
        assert!(own.has_rebuilt(1) && own.is_idle());
        assert!(bytes_written(&own) - before > 50 << 20, "{name}");
    }
}

/// Its repair's target fails as well: whoever waited for that drive goes on, and a host can be replaced afterwards.
#[test]
fn rebuilds_that_wait_go_on_when_another_host_fails() {
    let mut own = cluster("ceph:4:1:nvme:repair=1s", 64 << 20);
    let run_to = |own: &mut Cluster, to| while own.advance(to).is_some() {};
    own.fail(Nanos::ZERO, 0);
    run_to(&mut own, Nanos(1_000_100_000));
    own.fail(Nanos(1_000_100_000), 1);
    run_to(&mut own, Nanos::from_secs(60));
    assert!(own.can_replace(0) && own.can_replace(1));
    own.replace(Nanos::from_secs(60), 0);
    run_to(&mut own, Nanos(u64::MAX));
    assert!(own.has_rebuilt(0));
}

/// As one that is larger than the room below which nothing is destaged.
#[test]
fn a_write_larger_than_the_buffer_ends() {
    let mut own = cluster("vsan:3:2:nvme:policy=ftt0:buffer=16MiB", 1 << 30);
    for number in 0..4 {
        own.submit(Nanos::ZERO, op(DriveOp::Write, number << 24, 12 << 20));
        own.submit(Nanos::ZERO, op(DriveOp::Write, number << 25, 32 << 20));
    }
    let mut ended = 0;
    while own.advance(Nanos(u64::MAX)).is_some() {
        ended += 1;
    }
    assert!(ended == 8 && own.is_idle(), "{ended}");
}

/// What report K measured, in 20 minutes from an empty buffer: buffers and time are both made 1,000 times smaller. Where
/// components come to lie by lot matters, so means of several seeds.
///
/// Fitted to the cluster with NVMe drives: the stack to the first figure, the network's share to the next two. The
/// processors of the other cluster take 1.5 times as long for a transaction (its Test 2). That cluster was held out.
#[test]
fn clusters_carry_what_report_k_measured() {
    let nvme = "vsan:4:3:nvme:policy=ftt0:vdisks=32:network=40Gb:buffer=600MB";
    let sata = "vsan:3:3:sata:policy=ftt0:vdisks=24:network=10Gb:stack=16.8us:buffer=600MB";
    let deviation = |name, profile, kib: u64, ms, seeds: u64, published: f64| {
        let jobs = if name == nvme { 32 } else { 24 };
        let of = |seed| run(name, profile, kib, jobs, ms, seed).iops();
        let mean = (0..seeds).map(of).sum::<f64>() / seeds as f64;
        (mean / published - 1.0) * 100.0
    };
    let per_block = |gb: f64| gb * 1e9 / f64::from(128 << 10);
    let deviations = [
        deviation(nvme, "mix", 4, 100, 1, 355_000.0),
        deviation(nvme, "seqread128k", 128, 100, 8, per_block(17.8)),
        deviation(nvme, "mix", 64, 400, 4, 121_240.0),
        deviation(sata, "mix", 4, 200, 2, 178_000.0),
        deviation(sata, "seqread128k", 128, 300, 8, per_block(2.79)),
        deviation(sata, "mix", 64, 800, 4, 31_756.0),
        deviation(sata, "seqwrite128k", 128, 1200, 1, per_block(1.14)),
    ];
    assert!(
        deviations.iter().all(|own| own.abs() < 20.0),
        "{deviations:.1?}"
    );
    // Missed: in the model destaging takes a third of the buffer drive's time, which the published figure does not show.
    let missed = deviation(nvme, "seqwrite128k", 128, 1200, 1, per_block(6.7));
    assert!((-35.0..-20.0).contains(&missed), "{missed}");
}

/// All that can be made of seven hosts.
fn all_clusters() -> Vec<ClusterSpec> {
    let of_kind = |kind: ClusterKind| {
        let specs = ClusterPolicy::ALL.map(|policy| ClusterSpec {
            policy: Some(policy),
            ..ClusterSpec::new(kind, 7, 4)
        });
        specs.into_iter().filter(|spec| spec.check().is_ok())
    };
    let all = ClusterKind::ALL.into_iter().flat_map(of_kind);
    all.collect()
}

/// The components of an object are on different hosts, within their drives, and do not overlap.
#[test]
fn components_have_places_of_their_own() {
    for mut spec in all_clusters() {
        spec.vdisks = 13;
        let policy = spec.policy();
        let mut taken: Vec<(u32, u32, u64, u64)> = Vec::new();
        for PlacedObject {
            component_bytes,
            components,
            ..
        } in place(&spec, 3_000_000_000_000, 5).objects
        {
            let mut hosts: Vec<u32> = components.iter().map(|own| own.host).collect();
            hosts.sort_unstable();
            hosts.dedup();
            assert_eq!(hosts.len(), policy.components() as usize);
            for own in components {
                taken.push((own.host, own.drive, own.base, own.base + component_bytes));
            }
        }
        taken.sort_unstable();
        let overlaps = taken
            .windows(2)
            .any(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1) && pair[1].2 < pair[0].3);
        assert!(!overlaps, "{policy:?}");
    }
}

/// Components that are lost on a set of hosts, of the object that has lost most. One that was rebuilt is not lost.
fn most_lost(own: &Cluster, objects: &[PlacedObject], lost: &[bool], failing: u32) -> u32 {
    let of = |(number, object): (usize, &PlacedObject)| {
        let hosts = object.components.iter().map(|at| at.host);
        let is_there = |host: u32| host != failing && own.has_component(number, host);
        let is_lost = |host: &u32| lost[*host as usize] && !is_there(*host);
        hosts.filter(is_lost).count() as u32
    };
    objects.iter().enumerate().map(of).max().unwrap_or_default()
}

/// No byte of a cluster is in two places, and all of an object's are within it.
#[test]
fn pieces_are_spread_over_all_groups() {
    let spec = ClusterSpec::new(ClusterKind::Ceph, 5, 3);
    let piece = 4 << 20;
    let placed = place(&spec, 9_000 * piece, 3);
    let mut taken: Vec<(usize, u64)> = Vec::new();
    for number in 0..9_000 {
        let whole = op(DriveOp::Read, number * piece + 4096, 2 * piece);
        let part = placed.map.first_part(whole);
        assert_eq!((part.op.len, part.op.offset % piece), (piece - 4096, 4096));
        assert!(part.op.offset + part.op.len <= placed.objects[part.object].component_bytes);
        taken.push((part.object, part.op.offset));
    }
    taken.sort_unstable();
    assert!(taken.windows(2).all(|pair| pair[0] != pair[1]));
    assert_eq!(placed.objects.len(), 512);
    assert_eq!(taken[8_999].0, 511);
}

/// Data, log and journal, each flushed, for every copy; on disks the data follow 64 at a time.
#[test]
fn a_write_costs_what_it_costs_bluestore() {
    let work = |name: &str, kind| {
        let mut own = cluster(name, 1 << 30);
        for number in 1..=128 {
            let at = number % 7 * (4 << 20);
            alone(&mut own, Nanos::from_secs(number), op(kind, at, 4096));
        }
        let works = own.work_by_drive();
        let of = |kind: DriveOp| works.iter().map(|own| own.ops[kind as usize]).sum::<u64>();
        [DriveOp::Read, DriveOp::Write, DriveOp::Flush].map(of)
    };
    for copies in 1..=4 {
        let name = format!("ceph:5:2:nvme:copies={copies}");
        let all = 128 * copies;
        assert_eq!(work(&name, DriveOp::Write), [0, 3 * all, 3 * all]);
        assert_eq!(work(&name, DriveOp::Read), [128, 0, 0]);
    }
    let disk = work("ceph:1:1:disk:copies=1", DriveOp::Write);
    assert_eq!(disk, [0, 3 * 128, 2 * 128]);
}

/// How long a store takes for a write that comes alone.
fn commit(store: &mut HostStore, now: Nanos, write: Op) -> Nanos {
    let request = StoreRequest {
        trip: 0,
        object: 0,
        drive: 0,
        op: write,
    };
    let mut ahead = Vec::new();
    store.submit(now, request, &mut ahead);
    loop {
        let TimedStoreEvent { at, event } = ahead.remove(0);
        if let StoreEvent::Stored(_) = event {
            return at - now;
        }
        store.happen(at, event, &mut ahead);
    }
}

#[test]
fn a_write_takes_its_round_trips_and_the_slowest_commit() {
    let name = "ceph:3:1:nvme:round-trip=200us:network=800Gb:stack=5us";
    let drive = drive(name);
    let spec = spec_of(&drive);
    let placed = place(spec, 1 << 30, 7);
    let member = drive.drive(1).clone();
    let mut own = cluster(name, 1 << 30);
    let store = |host| HostStore::new(&member, &setup(1 << 30), spec, host);
    let mut stores = [0, 1, 2].map(store);
    for number in 1..200 {
        let now = Nanos::from_millis(number);
        let write = op(DriveOp::Write, number * (4 << 20), 4096);
        let object = &placed.objects[placed.map.first_part(write).object];
        let time_of = |(store, host): (&mut HostStore, u32)| {
            let is_primary = object.components[0].host == host;
            let way = if is_primary { 0 } else { 205_000 };
            commit(store, now, write).0 + way
        };
        let commits = stores.iter_mut().zip(0..).map(time_of);
        let expected = 205_000 + commits.max().unwrap();
        let took = alone(&mut own, now, write).0;
        // And the lines that carry the data.
        assert!(
            (0..200).contains(&(took as i64 - expected as i64)),
            "{took} {expected}"
        );
    }
}

/// Without hosts that may take them, or before their time, components stay lost.
#[test]
fn what_a_host_had_is_repaired_on_others() {
    let survives = |name: &str, ms: u64| {
        let mut own = cluster(name, 64 << 20);
        assert!(own.fail(Nanos::SECOND, 0));
        let now = Nanos::SECOND + Nanos::from_millis(ms);
        while own.advance(now).is_some() {}
        let is_whole = own.fail(now, 1);
        own.submit(now, op(DriveOp::Read, 0, 64 << 20));
        while own.advance(Nanos(u64::MAX)).is_some() {}
        assert!(own.is_idle());
        is_whole
    };
    for name in ["ceph:5:2:nvme:copies=2", "vsan:5:3:nvme:vdisks=20"] {
        let repaired = format!("{name}:repair=2s");
        assert!(!survives(name, 60_000), "{name}");
        assert!(!survives(&repaired, 1_900), "{name}");
        assert!(survives(&repaired, 60_000), "{name}");
    }
    assert!(!survives("vsan:3:3:nvme:vdisks=20:repair=2s", 60_000));
}

/// With the fewest hosts that a repair needs it waits until one returns, and is reported.
#[test]
fn a_repair_without_a_place_is_made_when_a_host_returns() {
    let mut own = cluster("vsan:4:2:nvme:vdisks=8:repair=1s", 64 << 20);
    let run_to = |own: &mut Cluster, to| while own.advance(to).is_some() {};
    own.fail(Nanos::ZERO, 0);
    own.fail(Nanos::from_millis(1), 1);
    run_to(&mut own, Nanos::from_secs(10));
    assert_eq!(own.take_rebuild_reports(), []);
    own.bring_back(Nanos::from_secs(10), 1);
    run_to(&mut own, Nanos::from_secs(100));
    let reports = own.take_rebuild_reports();
    let members: Vec<u32> = reports.iter().map(|own| own.member).collect();
    assert_eq!(members, [1, 0, 0], "the one that returned lacks nothing");
    assert_eq!(reports[1].progress, RebuildProgress::BegunOnOthers);
    let began = reports[1].at;
    assert_eq!(reports[2].progress, RebuildProgress::Ended { began });
    assert!(reports[2].at > began);
}

#[test]
fn a_host_that_is_up_again_is_written_what_it_missed() {
    for name in ["vsan:4:3:nvme:vdisks=12", "ceph:4:2:nvme"] {
        let filled = |brings_back: bool| {
            let mut own = cluster(name, 256 << 20);
            own.fail(Nanos::ZERO, 1);
            for number in 0..8 {
                own.submit(
                    Nanos::from_millis(number),
                    op(DriveOp::Write, number << 25, 4096),
                );
            }
            while own.advance(Nanos::from_secs(5)).is_some() {}
            let before = bytes_written(&own);
            if brings_back {
                own.bring_back(Nanos::from_secs(5), 1);
            } else {
                own.replace(Nanos::from_secs(5), 1);
            }
            while own.advance(Nanos(u64::MAX)).is_some() {}
            assert!(own.has_rebuilt(1) && own.is_idle());
            bytes_written(&own) - before
        };
        // Of each write that had a copy there, 64 KiB.
        let (part, whole) = (filled(true), filled(false));
        assert!(part > 0 && part < 2 * 8 * (64 << 10), "{name} {part}");
        assert!(whole > 50 << 20, "{name} {whole}");
    }
}

/// A read keeps its group until the drive has answered.
#[test]
fn reads_of_a_group_come_one_after_the_other() {
    let last = |step: u64| {
        let mut own = cluster("ceph:3:1:nvme", 1 << 30);
        for number in 0..8 {
            own.submit(Nanos::ZERO, op(DriveOp::Read, number * step, 4096));
        }
        let ends = std::iter::from_fn(|| own.advance(Nanos::SECOND));
        ends.map(|done| done.at).max().unwrap()
    };
    let (same, others) = (last(64 << 10), last(4 << 20));
    assert!(same > Nanos(4 * others.0), "{same:?} {others:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Hosts fail and are replaced at any time under any load: each request completes once, in order, and data are lost
    /// just when an object has lost more components than its policy tolerates.
    #[test]
    fn data_survive_what_the_policy_promises(
        number in 0usize..10,
        seed in any::<u64>(),
        steps in 20u64..200,
    ) {
        let spec = &all_clusters()[number];
        let policy = spec.policy();
        let name = match spec.kind {
            ClusterKind::Vsan => {
                format!("vsan:7:2:nvme:policy={}:vdisks=5:buffer=16MiB", policy.name())
            }
            ClusterKind::Ceph => format!("ceph:7:2:nvme:copies={}:vdisks=5", policy.components()),
        };
        let capacity = 80 << 20;
        let mut own = cluster(&name, capacity);
        let placed = place(spec_of(&drive(&name)), capacity, 7);
        let mut random = Random::new(seed);
        let mut now = Nanos::ZERO;
        let mut last = Nanos::ZERO;
        let mut open = 0u64;
        let mut arrived = ByRequest::default();
        let mut lost = [false; 7];
        let mut rebuilt: Option<u32> = None;
        for _ in 0..steps {
            now += Nanos(random.below(400_000));
            while let Some(done) = own.advance(now) {
                prop_assert!(done.at >= *arrived.get(done.id) && done.at >= last && done.at <= now);
                last = done.at;
                open -= 1;
            }
            if let Some(host) = rebuilt.filter(|host| own.has_rebuilt(*host)) {
                lost[host as usize] = false;
                rebuilt = None;
            }
            let host = random.below(7) as u32;
            match random.below(10) {
                0 if !own.can_replace(host) => {
                    rebuilt = rebuilt.filter(|of| *of != host);
                    lost[host as usize] = true;
                    while let Some(done) = own.advance(now) {
                        last = done.at;
                        open -= 1;
                    }
                    let most = most_lost(&own, &placed.objects, &lost, host);
                    let expected = most <= policy.failures();
                    prop_assert_eq!(own.fail(now, host), expected, "{:?} {:?}", policy, lost);
                    if !expected {
                        break;
                    }
                }
                1 if own.can_replace(host) => {
                    if random.below(2) == 0 {
                        own.replace(now, host);
                    } else {
                        own.bring_back(now, host);
                    }
                    rebuilt = Some(host);
                }
                _ => {}
            }
            let len = 4096 << random.below(9);
            let kind = DriveOp::ALL[random.below(4) as usize];
            let at = random.below((capacity - len) / 4096 + 1) * 4096;
            let id = own.submit(now, op(kind, at, len));
            arrived.set(id, now);
            open += 1;
        }
        while let Some(done) = own.advance(Nanos(u64::MAX)) {
            prop_assert!(done.at >= last);
            last = done.at;
            open -= 1;
        }
        prop_assert_eq!(open, 0);
        prop_assert!(own.is_idle());
    }
}

#[test]
fn equal_seeds_give_equal_results() {
    let of = || run("vsan:6:3:nvme:policy=raid6:failed=2", "mix", 4, 4, 50, 9);
    assert_eq!(of(), of());
}

#[test]
fn a_slow_network_and_a_slow_host_last_until_they_end() {
    // One copy, on a host that does not use it.
    let mut own = cluster(
        "vsan:4:2:kingston-dc1500m-960g:policy=ftt0:width=4",
        1 << 30,
    );
    let read = |own: &mut Cluster, from_s: u64| {
        let ms = |i: u64| Nanos::from_secs(from_s) + Nanos::from_millis(50 * i);
        let reads = (0..16).map(|i| alone(own, ms(i), op(DriveOp::Read, i << 20, 1 << 20)));
        reads.map(|took| took.as_millis_f64()).sum::<f64>()
    };
    let before = read(&mut own, 1);
    assert_eq!(own.set_network(Nanos::from_secs(2), 1), Some(25));
    let network = read(&mut own, 3);
    // Twelve of the sixteen come from other hosts, at a share of 0.37 of 1 Gbit/s.
    let line = 12.0 * 8.0 * f64::from(1 << 20) / (0.37 * 1e6);
    assert!(
        network > 0.9 * line && network < 2.5 * line,
        "{network} {line}"
    );
    own.set_network(Nanos::from_secs(10), 25);
    let back = read(&mut own, 11);
    assert!((back / before - 1.0).abs() < 0.1, "{back} {before}");
    for host in 0..4 {
        own.slow_down(Nanos::from_secs(20), host, 100.0);
    }
    let slow = read(&mut own, 30);
    assert!(slow > 5.0 * before, "{slow} {before}");
}
