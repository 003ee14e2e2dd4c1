use super::*;
use crate::catalog;
use crate::spec::{Mechanism, SheetPoint};
use plimsoll_plan::units::Nanos;

fn drive(name: &str) -> DriveSpec {
    let entry = catalog::find(name).unwrap();
    catalog::load(entry.name, entry.text).unwrap()
}

#[test]
fn every_drive_does_what_its_data_sheet_states() {
    let mut off = Vec::new();
    for entry in catalog::all() {
        let spec = drive(entry.name);
        assert!(spec.stated.len() >= 3, "{}", spec.id);
        for compared in compare(&spec, 1) {
            let line = format!(
                "{} {}: stated {}, simulated {:.0} ({:+.1} %), {:?}",
                spec.id,
                compared.stated.point.name(),
                compared.stated.value,
                compared.simulated,
                compared.deviation_percent(),
                compared
                    .outcome
                    .latency()
                    .mean()
                    .map(|mean| mean.as_micros_f64()),
            );
            if compared.deviation_percent().abs() > 5.0 {
                off.push(line);
            }
        }
    }
    assert!(off.is_empty(), "{}", off.join("\n"));
}

#[test]
fn seeds_are_joined_as_one_measurement() {
    let spec = drive("kingston-dc500m-960g");
    let profile = SimulatedProfile {
        measure: Nanos::from_millis(20),
        ..named("mix").unwrap()
    };
    let alone = [1, 2, 3].map(|seed| {
        let profile = SimulatedProfile {
            seed,
            ..profile.clone()
        };
        simulate(&spec, &profile)
    });
    let SeedResults { joined, iops } = simulate_seeds(&spec, &profile, 3);
    assert_eq!(iops, alone.each_ref().map(SimulatedResult::iops));
    let sum = |of: fn(&SimulatedResult) -> u64| alone.iter().map(of).sum::<u64>();
    assert_eq!(joined.reads.ops, sum(|own| own.reads.ops));
    assert_eq!(joined.writes.bytes, sum(|own| own.writes.bytes));
    assert_eq!(joined.span.0, sum(|own| own.span.0));
    assert_eq!(joined.latency().count(), sum(|own| own.latency().count()));
    assert_eq!(
        joined.work().ops,
        alone.iter().fold([0; 4], |all, own| {
            let own = own.work().ops;
            std::array::from_fn(|kind| all[kind] + own[kind])
        })
    );
    assert_eq!(simulate_seeds(&spec, &profile, 1).joined, alone[0]);
    assert!(simulate_seeds(&spec, &profile, 1).interval().is_none());
}

#[test]
fn a_smaller_drive_has_the_same_timing() {
    for name in [
        "kingston-dc1500m-960g",
        "disk-7200rpm-4t",
        "micron-5200-eco-1920g",
    ] {
        let spec = drive(name);
        for stated in &spec.stated {
            let profile = at_stated_point(&spec, stated, 1);
            let (whole, small) = (
                simulate(&spec, &profile),
                simulate_scaled(&spec, Bytes(8 << 30), &profile),
            );
            let ratio = small.iops() / whole.iops();
            assert!(
                (0.96..1.04).contains(&ratio),
                "{name} {}: {ratio}",
                stated.point.name()
            );
        }
    }
}

#[test]
fn latencies_at_the_peak_are_those_of_report_s() {
    // Drive, reads, and the published mean in µs.
    let published = [
        ("skhynix-pe6011-960g", SheetPoint::RandomRead, 205.0),
        ("skhynix-pe6011-960g", SheetPoint::RandomWrite, 572.0),
        ("skhynix-se4011-960g", SheetPoint::RandomRead, 1900.0),
        ("skhynix-se4011-960g", SheetPoint::RandomWrite, 1990.0),
    ];
    for (name, point, mean_us) in published {
        let spec = drive(name);
        let compared = compare(&spec, 1)
            .into_iter()
            .find(|compared| compared.stated.point == point)
            .unwrap();
        let mean = compared.outcome.latency().mean().unwrap().as_micros_f64();
        assert!(
            (mean / mean_us - 1.0).abs() < 0.05,
            "{name} {}: {mean} µs",
            point.name()
        );
    }
}

/// 4 KiB, 16 in flight: 170 reads and 350 writes a second (data sheet of the Seagate Exos M, 7200 turns a minute).
#[test]
fn disks_do_twice_as_many_random_writes_as_reads() {
    for name in ["disk-7200rpm-4t", "seagate-constellation2-1t"] {
        for (profile, sheet) in [("randread4k", 170.0), ("randwrite4k", 350.0)] {
            let profile = SimulatedProfile {
                load: Arrival::Closed { depth: 16, jobs: 1 },
                measure: Nanos::from_secs(60),
                ..named(profile).unwrap()
            };
            let iops = simulate(&drive(name), &profile).iops();
            assert!((iops / sheet - 1.0).abs() < 0.1, "{name}: {iops}");
        }
    }
}

#[test]
fn report_k_compares_nvme_and_sata_as_the_model_does() {
    let k = named("k-a").unwrap();
    let (nvme, sata) = (
        drive("kingston-dc1500m-960g"),
        drive("micron-5200-eco-1920g"),
    );
    let (nvme, sata) = (simulate(&nvme, &k), simulate(&sata, &k));
    // Up to 6.5 times the throughput, 5.6 times the latency; with the same requests in flight the two are one.
    let (throughput, latency) = (nvme.iops() / sata.iops(), mean(&sata) / mean(&nvme));
    assert!((5.0..6.6).contains(&throughput), "{throughput}");
    assert!((5.0..6.6).contains(&latency), "{latency}");
}

fn mean(outcome: &SimulatedResult) -> f64 {
    outcome.latency().mean().unwrap().as_micros_f64()
}

fn short(name: &str) -> SimulatedProfile {
    SimulatedProfile {
        warm: Nanos::from_millis(10),
        measure: Nanos::from_millis(100),
        ..named(name).unwrap()
    }
}

#[test]
fn a_mix_comes_out_at_the_harmonic_mean_of_its_parts() {
    let spec = drive("kingston-dc1500m-960g");
    let deep = |name| SimulatedProfile {
        load: Arrival::Closed {
            depth: 256,
            jobs: 1,
        },
        ..named(name).unwrap()
    };
    let iops = simulate(&spec, &deep("mix")).iops();
    let expected = 1.0 / (0.7 / 440e3 + 0.3 / 150e3);
    assert!(
        (iops / expected - 1.0).abs() < 0.05,
        "{iops} and {expected}"
    );
}

#[test]
fn an_open_loop_beyond_the_drive_waits_and_drops() {
    let spec = drive("aws-gp3");
    let open = |per_second, most_waiting| SimulatedProfile {
        load: Arrival::Open {
            per_second,
            arrivals: ArrivalSpacing::Poisson,
            depth: 64,
            most_waiting,
        },
        ..named("randread4k").unwrap()
    };
    let below = simulate(&spec, &open(1000.0, 1000));
    assert!(
        (below.iops() - 1000.0).abs() < 30.0 && below.dropped == 0,
        "{}",
        below.iops()
    );
    assert!(mean(&below) < 800.0, "{}", mean(&below));
    let above = simulate(&spec, &open(4000.0, 1000));
    assert!(
        (above.iops() / 3000.0 - 1.0).abs() < 0.01,
        "{}",
        above.iops()
    );
    let dropped = above.dropped as f64 / above.span.as_secs_f64();
    assert!((dropped - 1000.0).abs() < 50.0, "{dropped} a second");
    // A thousand that wait, at 3000 a second.
    assert!(
        (mean(&above) / 1e6 - 0.333).abs() < 0.05,
        "{}",
        mean(&above)
    );
}

#[test]
fn an_overload_that_ends_early_is_no_faster_than_the_drive() {
    let spec = drive("aws-gp3");
    let load = Arrival::Open {
        per_second: 12_000.0,
        arrivals: ArrivalSpacing::Poisson,
        depth: 64,
        most_waiting: 1000,
    };
    let long = SimulatedProfile {
        load,
        ..named("randread4k").unwrap()
    };
    let (whole, short) = (
        simulate(&spec, &long),
        simulate(
            &spec,
            &SimulatedProfile {
                most_ops: 500,
                ..long
            },
        ),
    );
    assert_eq!(short.reads.ops, 500);
    assert!(
        (short.iops() / whole.iops() - 1.0).abs() < 0.05,
        "{} and {}",
        short.iops(),
        whole.iops()
    );
}

#[test]
fn arrivals_are_spaced_as_requested() {
    let spec = drive("kingston-dc1500m-960g");
    let run = |arrivals| {
        let load = Arrival::Open {
            per_second: 50_000.0,
            arrivals,
            depth: 1024,
            most_waiting: 1000,
        };
        simulate(
            &spec,
            &SimulatedProfile {
                load,
                measure: Nanos::SECOND,
                ..named("randread4k").unwrap()
            },
        )
    };
    let (constant, poisson) = (run(ArrivalSpacing::Constant), run(ArrivalSpacing::Poisson));
    assert!(
        constant.reads.ops.abs_diff(50_000) < 10,
        "{}",
        constant.reads.ops
    );
    assert!(poisson.reads.ops.abs_diff(50_000) < 1000 && poisson.reads.ops != constant.reads.ops);
    assert!(
        mean(&poisson) > mean(&constant),
        "bursts wait for each other"
    );
}

#[test]
fn what_is_written_counts_against_the_endurance() {
    let spec = drive("kingston-dc1500m-960g");
    let outcome = simulate(
        &spec,
        &SimulatedProfile {
            measure: Nanos::SECOND,
            ..named("randwrite4k").unwrap()
        },
    );
    let per_day = 150_000.0 * 4096.0 * 86_400.0;
    assert!((outcome.bytes_written_per_day() / per_day - 1.0).abs() < 0.01);
    let days = outcome.days_of_endurance(&spec).unwrap();
    assert!((days / (1681e12 / per_day) - 1.0).abs() < 0.01, "{days}");
    assert!((outcome.watts(0, &spec).unwrap() - 11.4).abs() < 0.1);
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    fn any_profile() -> impl Strategy<Value = SimulatedProfile> {
        (
            0u32..5,
            0u32..9,
            0.0f64..=1.0,
            any::<bool>(),
            1u32..4,
            any::<u64>(),
        )
            .prop_map(
                |(depth, block, read_share, random, jobs, seed)| SimulatedProfile {
                    block: Bytes(4096 << block.min(6)),
                    read_share,
                    order: if random {
                        AccessOrder::Random
                    } else {
                        AccessOrder::Sequential
                    },
                    load: Arrival::Closed {
                        depth: 1 << (2 * depth),
                        jobs,
                    },
                    most_ops: 3000,
                    seed,
                    ..short("mix")
                },
            )
    }

    fn any_open_load() -> impl Strategy<Value = Arrival> {
        (1.0f64..6.0, any::<bool>(), 1u32..200, 0usize..300).prop_map(
            |(log, poisson, depth, most_waiting)| Arrival::Open {
                per_second: 10f64.powf(log),
                arrivals: if poisson {
                    ArrivalSpacing::Poisson
                } else {
                    ArrivalSpacing::Constant
                },
                depth,
                most_waiting,
            },
        )
    }

    fn any_drive() -> impl Strategy<Value = DriveSpec> {
        prop::sample::select(catalog::all().to_vec()).prop_map(|entry| drive(entry.name))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn equal_seeds_give_equal_results(spec in any_drive(), profile in any_profile()) {
            prop_assert_eq!(simulate(&spec, &profile), simulate(&spec, &profile));
        }

        #[test]
        fn no_request_is_lost(
            spec in any_drive(),
            closed in any_profile(),
            open in any_open_load(),
            is_open: bool,
            most_ops in 1u64..2000,
            is_warm: bool,
        ) {
            let load = if is_open { open } else { closed.load };
            let warm = if is_warm { closed.warm } else { Nanos::ZERO };
            let outcome = simulate(&spec, &SimulatedProfile { load, most_ops, warm, ..closed });
            let ops = outcome.reads.ops + outcome.writes.ops;
            prop_assert_eq!(outcome.carried + outcome.offered, ops + outcome.dropped + outcome.unfinished);
            prop_assert!(ops <= most_ops);
            if let Arrival::Open { depth, most_waiting, .. } = load {
                prop_assert!(outcome.unfinished <= u64::from(depth) + most_waiting as u64);
                let due = outcome.latency().count();
                prop_assert_eq!(due + outcome.dropped, outcome.offered);
            }
        }

        #[test]
        fn reads_never_exceed_what_the_data_sheet_allows(spec in any_drive(), profile in any_profile()) {
            let profile = SimulatedProfile { read_share: 1.0, ..profile };
            let outcome = simulate(&spec, &profile);
            let sheet = &spec.file.datasheet;
            let most = sheet.sequential_read_mb_s.as_ref().unwrap().value * 1e6;
            // What was in flight when the window began completes in it.
            let slack = 1.0 + 800.0 / outcome.reads.ops.max(1) as f64;
            if spec.kind != crate::spec::file::DriveClass::Volume {
                prop_assert!(outcome.bytes_per_second() <= most * slack, "{} B/s", outcome.bytes_per_second());
            }
            if let Mechanism::Flash(_) = spec.mechanism {
                let most = sheet.random_read_iops.as_ref().unwrap().value;
                prop_assert!(outcome.iops() <= most * slack, "{} IOPS", outcome.iops());
            }
        }

        #[test]
        fn what_is_in_flight_is_throughput_times_response(
            spec in any_drive().prop_filter("too slow", |spec| matches!(spec.mechanism, Mechanism::Flash(_))),
            seed in any::<u64>(),
        ) {
            let profile = SimulatedProfile { seed, warm: Nanos::from_millis(50), measure: Nanos::SECOND, ..named("mix").unwrap() };
            let outcome = simulate(&spec, &SimulatedProfile { most_ops: 20_000, ..profile });
            prop_assert!((outcome.queue() / 32.0 - 1.0).abs() < 0.03, "{}", outcome.queue());
        }
    }
}

#[test]
fn another_seed_gives_another_course() {
    let spec = drive("kingston-dc1500m-960g");
    let of = |seed| {
        simulate(
            &spec,
            &SimulatedProfile {
                seed,
                ..short("mix")
            },
        )
    };
    assert_ne!(of(1), of(2));
}
