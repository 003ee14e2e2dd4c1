//! One fault each, the rule that has to find it and how severe it is.

use super::*;
use crate::audit::Evidence;

fn with_simulated(input: &mut AuditInput, cpu_percent: f64, memory: Option<&str>) {
    input.loads[0].simulated = Ok(SimulatedLoad {
        cpu_percent,
        memory: memory.map(str::to_owned),
    });
}

pub(super) const FAULTS: &[Fault] = &[
    (
        Rule::Little,
        "178,000 IOPS at 0.6 ms are not 192 in flight",
        Severity::Error,
        |input| {
            input.loads[0].in_flight = Ok(InFlight {
                per_second: 178_000.0,
                mean_ms: 0.6,
                asked: 192.0,
                edges_percent: 0.0,
            });
        },
    ),
    (
        Rule::Little,
        "the summary's finding",
        Severity::Warning,
        |input| {
            found(
                input,
                Severity::Warning,
                FindingKind::InFlightOff {
                    found: 9.0,
                    asked: 16,
                },
            );
        },
    ),
    (
        Rule::Conserve,
        "counts of a table do not add up",
        Severity::Error,
        |input| {
            input.loads[0].counted = Ok(Counted::Table {
                offered: 1000,
                settled: 990,
            });
        },
    ),
    (
        Rule::Conserve,
        "a second was lost",
        Severity::Error,
        |input| {
            let kind = FindingKind::CountsBroken {
                at_s: 7.0,
                offered: 10,
                settled: 8,
                in_flight: 1,
            };
            found(input, Severity::Error, kind);
        },
    ),
    (Rule::Steady, "range", Severity::Warning, |input| {
        input.loads[0].trend = Ok(WindowTrend {
            range_percent: 20.1,
            slope_percent: 0.0,
            by_chance: false,
        });
    }),
    (Rule::Steady, "slope", Severity::Warning, |input| {
        input.loads[0].trend = Ok(WindowTrend {
            range_percent: 12.0,
            slope_percent: -10.1,
            by_chance: false,
        });
    }),
    (Rule::Steady, "second half", Severity::Warning, |input| {
        input.loads[0].halves = Ok((-5.1, 0.4))
    }),
    (
        Rule::Steady,
        "above a load line it is a note",
        Severity::Note,
        |input| {
            input.loads[0].trend = Ok(WindowTrend {
                range_percent: 60.0,
                slope_percent: 30.0,
                by_chance: false,
            });
            found(
                input,
                Severity::Note,
                FindingKind::Unsteady {
                    range_percent: 60.0,
                    slope_percent: 30.0,
                },
            );
        },
    ),
    (Rule::Short, "interval", Severity::Warning, |input| {
        input.loads[0].precision = half(5.1)
    }),
    (Rule::Short, "one checkpoint", Severity::Warning, |input| {
        input.loads[0].checkpoints = Ok(1.0)
    }),
    (
        Rule::Short,
        "the drive's own memory took it all",
        Severity::Warning,
        |input| {
            input.loads[0].written = Ok((31.0, 32.0));
        },
    ),
    (
        Rule::Short,
        "too short for an interval",
        Severity::Warning,
        |input| {
            found(
                input,
                Severity::Warning,
                FindingKind::ShortWindow { measured_s: 3.0 },
            );
        },
    ),
    (
        Rule::Cached,
        "data fit into memory",
        Severity::Warning,
        |input| input.loads[0].sizes = Ok((100.0, 128.0)),
    ),
    (
        Rule::Cached,
        "nothing was read",
        Severity::Warning,
        |input| input.loads[0].reads = Ok(0.001),
    ),
    (Rule::Client, "a core is busy", Severity::Error, |input| {
        input.loads[0].generator = Ok(90.5)
    }),
    (
        Rule::Client,
        "intents start late",
        Severity::Error,
        |input| input.loads[0].lag = Ok((0.9, 8.0)),
    ),
    (
        Rule::Client,
        "most of it was dropped",
        Severity::Error,
        |input| input.loads[0].dropped = Ok((920, 92.0)),
    ),
    (Rule::Short, "a few seconds", Severity::Warning, |input| {
        input.loads[0].measured_s = Some(9.0)
    }),
    (
        Rule::Short,
        "response times of an open loop",
        Severity::Warning,
        |input| {
            open(input, HELD);
            input.loads[0].precision = half(20.1);
        },
    ),
    (
        Rule::Steady,
        "response times of an open loop rise",
        Severity::Warning,
        |input| {
            open(
                input,
                Responses {
                    range_percent: 11.0,
                    slope_percent: 10.1,
                    ..HELD
                },
            );
        },
    ),
    (Rule::Client, "dropped", Severity::Warning, |input| {
        input.loads[0].dropped = Ok((1, 0.001))
    }),
    (
        Rule::SameBox,
        "on the system's machine",
        Severity::Note,
        |input| input.systems[0].generator = Ok(GeneratorLocation::Same),
    ),
    (
        Rule::SameBox,
        "on one side only",
        Severity::Error,
        |input| input.pairs[0].second.generator = Ok(GeneratorLocation::Same),
    ),
    (Rule::Omission, "from the start", Severity::Error, |input| {
        input.systems[0].latencies = Ok("start".to_owned())
    }),
    (Rule::Durable, "fsync off", Severity::Warning, |input| {
        set(input, "fsync", "off")
    }),
    (
        Rule::Durable,
        "synchronous_commit off",
        Severity::Warning,
        |input| set(input, "synchronous_commit", "off"),
    ),
    (
        Rule::Durable,
        "full_page_writes off",
        Severity::Warning,
        |input| set(input, "full_page_writes", "off"),
    ),
    (
        Rule::Durable,
        "InnoDB flushes once a second",
        Severity::Warning,
        |input| {
            set(input, "innodb_flush_log_at_trx_commit", "2");
        },
    ),
    (
        Rule::Durable,
        "SQL Server commits without waiting",
        Severity::Warning,
        |input| set(input, "delayed_durability", "FORCED"),
    ),
    (
        Rule::Durable,
        "SQL Server does not verify pages",
        Severity::Warning,
        |input| set(input, "page_verify_option", "NONE"),
    ),
    (Rule::Durable, "no barriers", Severity::Warning, |input| {
        set(input, "mount_options", "rw,nobarrier")
    }),
    (
        Rule::Durable,
        "SQLite does not wait",
        Severity::Warning,
        |input| set(input, "synchronous", "NORMAL"),
    ),
    (
        Rule::Durable,
        "flushes ignored",
        Severity::Warning,
        |input| set(input, "flush", "ignored"),
    ),
    (
        Rule::Durable,
        "volatile write cache",
        Severity::Warning,
        |input| set(input, "write_cache", "volatile"),
    ),
    (
        Rule::Durable,
        "the doctor's finding",
        Severity::Error,
        |input| {
            diagnosed(input, "power_loss", DiagnosisLevel::Error);
        },
    ),
    (Rule::Durable, "unequal", Severity::Error, |input| {
        input.pairs[0].second.durability =
            Ok(settings(&[("fsync", "off"), ("synchronous_commit", "on")]));
    }),
    (
        Rule::Durable,
        "committed and lost",
        Severity::Error,
        |input| {
            let (txn, first_lost) = ("new_order".to_owned(), None);
            let kind = FindingKind::CommittedLost {
                txn,
                lost: 3,
                acknowledged: 4_000,
                first_lost,
            };
            found(input, Severity::Error, kind);
        },
    ),
    (
        Rule::Lies,
        "flushes faster than the disk turns",
        Severity::Error,
        |input| {
            input.systems[0].flush = Ok((200.0, 7_500.0, 5_000.0));
        },
    ),
    (
        Rule::Lies,
        "the doctor's finding",
        Severity::Error,
        |input| diagnosed(input, "fsync", DiagnosisLevel::Error),
    ),
    (
        Rule::Maint,
        "a checkpoint on one side",
        Severity::Warning,
        |input| {
            input.pairs[0].second.maintained = Ok(vec![(
                "16".to_owned(),
                [("checkpoints".to_owned(), 0.0)].into(),
            )]);
        },
    ),
    (Rule::Thin, "never written", Severity::Warning, |input| {
        input.systems[0].fill = Ok(0.5)
    }),
    (
        Rule::Thin,
        "the doctor's finding",
        Severity::Warning,
        |input| {
            diagnosed(input, "unwritten", DiagnosisLevel::Warning);
        },
    ),
    (
        Rule::Entropy,
        "half of it compressible",
        Severity::Warning,
        |input| input.systems[0].entropy = Ok((50.0, 0.0)),
    ),
    (Rule::Noise, "steal", Severity::Warning, |input| {
        input.loads[0].steal = Ok(1.5)
    }),
    (Rule::Noise, "other programs", Severity::Warning, |input| {
        input.loads[0].other_cpu = Ok(43.0)
    }),
    (Rule::Noise, "governor", Severity::Warning, |input| {
        input.systems[0].governor = Ok("powersave".to_owned())
    }),
    (Rule::Noise, "calibration", Severity::Warning, |input| {
        input.systems[0].calibration = Ok(-2.1)
    }),
    (
        Rule::Noise,
        "others on the device",
        Severity::Warning,
        |input| input.systems[0].other_io = Ok(11.0),
    ),
    (
        Rule::Noise,
        "the doctor's finding",
        Severity::Warning,
        |input| diagnosed(input, "cpu", DiagnosisLevel::Warning),
    ),
    (Rule::PctAvg, "averaged", Severity::Error, |input| {
        input.systems[0].percentiles = Ok("averaged".to_owned())
    }),
    (
        Rule::OneFactor,
        "memory differs as well",
        Severity::Error,
        |input| differ(input, 0, "memory", "32 GB"),
    ),
    (
        Rule::OneFactor,
        "two differ and none is named",
        Severity::Warning,
        |input| {
            input.pairs[0].factor.clear();
            differ(input, 0, "cpus", "8");
        },
    ),
    (
        Rule::Victims,
        "8 systems against 12",
        Severity::Error,
        |input| input.pairs[1].second.victims = Ok(12),
    ),
    (
        Rule::Ratio,
        "TPM counts something else",
        Severity::Warning,
        |input| {
            input.loads[0].tpm_nopm = Ok((1_463_290.0, 318_092.0, None));
        },
    ),
    (
        Rule::Ratio,
        "sides count differently",
        Severity::Error,
        |input| input.pairs[0].second.tpm_per_nopm = Ok(2.36),
    ),
    (
        Rule::Size,
        "bytes per warehouse",
        Severity::Warning,
        |input| {
            input.pairs[0].second.bytes_per = Ok(("warehouse".to_owned(), 90e6));
        },
    ),
    (
        Rule::Rate,
        "1.4 GB/s for 129 s are not 157 GB",
        Severity::Error,
        |input| {
            input.moves[0].moved = Ok((1_400.0, 129.0, 157_000.0));
        },
    ),
    (
        Rule::Rate,
        "the summary's finding",
        Severity::Warning,
        |input| input.moves[0].agrees = Some(false),
    ),
    (
        Rule::Wording,
        "it is 1.9 times, not 2.9",
        Severity::Error,
        |input| {
            input.sentences[0].stated = Ok((2.9, 190.0, 100.0));
        },
    ),
    (Rule::Consist, "condition 4", Severity::Error, |input| {
        input.loads[0].conditions = Ok((12, "3.3.2.4".to_owned()))
    }),
    (
        Rule::Emulated,
        "the emulator was late",
        Severity::Error,
        |input| {
            let kind = FindingKind::Emulated {
                drive: "Example NVMe".to_owned(),
                op: DriveOp::Read,
                ops: 90_000,
                modelled_p50_us: 90.0,
                late_p50_us: 40.0,
                late_percent: 44.0,
                beyond_percent: 9.0,
                added_percent: 38.0,
            };
            found(input, Severity::Error, kind);
        },
    ),
    (
        Rule::Virtual,
        "more CPU than anything else",
        Severity::Note,
        |input| with_simulated(input, 86.0, None),
    ),
    (Rule::Virtual, "little memory", Severity::Warning, |input| {
        with_simulated(input, 31.0, Some("64.0 MiB"))
    }),
    (
        Rule::Repeat,
        "one run on each side",
        Severity::Warning,
        |input| input.pairs[0].first.runs = Ok(1),
    ),
    (Rule::Intact, "a flipped bit", Severity::Error, |input| {
        input.file = Some(Integrity::Changed {
            digest: "ab".repeat(32),
            found: "cd".repeat(32),
        });
    }),
    (
        Rule::Intact,
        "closed without a digest",
        Severity::Error,
        |input| input.file = Some(Integrity::NoDigest),
    ),
    (
        Rule::Repeat,
        "repeats differ by more than the effect",
        Severity::Warning,
        |input| {
            input.pairs[0].effect_percent = Ok(1.5);
        },
    ),
    (Rule::Plausible, "p99 below p50", Severity::Error, |input| {
        row_of(input, |row| {
            row.percentiles.insert(2, percentile("p99", 0.99, 7.0))
        });
    }),
    (
        Rule::Plausible,
        "half of all take 8 ms or longer",
        Severity::Error,
        |input| {
            row_of(input, |row| row.mean_ms = Some(4.0));
        },
    ),
    (
        Rule::Plausible,
        "half of all take 8 ms at most, the others 90",
        Severity::Error,
        |input| {
            row_of(input, |row| row.mean_ms = Some(51.0));
        },
    ),
    (
        Rule::Plausible,
        "more new orders than transactions",
        Severity::Error,
        |input| {
            row_of(input, |row| {
                row.orders = Some(OrderRate {
                    tpm: 42_800.0,
                    nopm: 96_000.0,
                })
            });
        },
    ),
    (
        Rule::Plausible,
        "a tenth of rate × size",
        Severity::Error,
        |input| {
            row_of(input, |row| {
                row.bandwidth.as_mut().unwrap().mb_per_second = 105.0
            });
        },
    ),
    (
        Rule::Plausible,
        "lowest above highest",
        Severity::Error,
        |input| row_of(input, |row| row.ranges[0].low = 31.0),
    ),
    (
        Rule::Plausible,
        "lowest p99 above the lowest maximum",
        Severity::Error,
        |input| {
            row_of(input, |row| row.lowest[0].ms = 81.0);
        },
    ),
    (
        Rule::Plausible,
        "two digits too many",
        Severity::Error,
        |input| {
            row_of(input, |row| row.neighbours[0].value = 9_600_000.0);
        },
    ),
    (
        Rule::Duration,
        "6 h and 5 × 1 h are not 12 h",
        Severity::Error,
        |input| input.durations[0].stated_h = Ok(12.0),
    ),
    (Rule::Finding, "84 % failed", Severity::Error, |input| {
        let kind = FindingKind::NotServed {
            failed: 68_649,
            dropped: 0,
            percent: 83.7,
        };
        found(input, Severity::Error, kind);
    }),
    (
        Rule::Finding,
        "the run ended early",
        Severity::Warning,
        |input| {
            let kind = FindingKind::RunEnded {
                status: RunStatus::Interrupted,
                reason: String::new(),
            };
            let findings = vec![Finding {
                severity: Severity::Warning,
                kind,
            }];
            input.others.push(SubjectFindings {
                about: AuditSubject::Whole,
                findings,
            });
        },
    ),
    (
        Rule::Plausible,
        "a printed mean above the 99.99th percentile",
        Severity::Error,
        |input| {
            input.loads[0].printed = vec![RelatedFigures {
                percentiles: vec![
                    percentile("p99.99", 0.9999, 2.0),
                    percentile("max", 1.0, 9.0),
                ],
                mean_ms: Some(4.0),
                ..RelatedFigures::default()
            }];
        },
    ),
    (Rule::Cached, "the page cache", Severity::Warning, |input| {
        input.loads[0].sizes = Err(Missing::NoSizes);
        input.loads[0].buffered = Ok(true);
    }),
    (
        Rule::Thin,
        "reads faster than any drive",
        Severity::Warning,
        |input| {
            input.loads[0].suspicions = vec![Evidence::FastReads {
                mean_us: 2.4,
                fastest_us: 5.0,
            }];
        },
    ),
    (
        Rule::Thin,
        "reads that no device saw",
        Severity::Warning,
        |input| {
            input.loads[0].suspicions = vec![Evidence::ReachedDevice { percent: 0.1 }];
        },
    ),
];
