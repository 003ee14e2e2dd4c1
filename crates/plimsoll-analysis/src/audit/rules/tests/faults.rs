//! One fault each, the rule that has to find it and how severe it is.

use super::*;
use crate::audit::Evidence;

fn system_with(input: &mut AuditInput, figure: FigureId, value: f64) {
    input.systems[0].figures.put(figure, Ok(value));
}

fn side_with(side: &mut AuditedSide, figure: FigureId, value: f64) {
    side.figures.put(figure, Ok(value));
}

pub(super) const FAULTS: &[Fault] = &[
    (
        Rule::Little,
        "178,000 IOPS at 0.6 ms are not 192 in flight",
        Severity::Error,
        |input| {
            load_with(
                input,
                [
                    (FigureId::PerSecond, 178_000.0),
                    (FigureId::TimeInFlight, 0.6),
                    (FigureId::InFlight, 192.0),
                    (FigureId::InFlightEdges, 0.0),
                ],
            )
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
            input.loads[0].figures.set(FigureId::ConservedS, None);
            load_with(
                input,
                [(FigureId::Offered, 1000.0), (FigureId::Settled, 990.0)],
            )
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
        load_with(
            input,
            [
                (FigureId::RangePercent, 20.1),
                (FigureId::SlopePercent, 0.0),
            ],
        )
    }),
    (Rule::Steady, "slope", Severity::Warning, |input| {
        load_with(
            input,
            [
                (FigureId::RangePercent, 12.0),
                (FigureId::SlopePercent, -10.1),
            ],
        )
    }),
    (Rule::Steady, "second half", Severity::Warning, |input| {
        load_with(input, [(FigureId::HalvesPercent, -5.1)])
    }),
    (
        Rule::Steady,
        "above a load line it is a note",
        Severity::Note,
        |input| {
            load_with(
                input,
                [
                    (FigureId::RangePercent, 60.0),
                    (FigureId::SlopePercent, 30.0),
                ],
            );
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
        load_with(input, [(FigureId::IntervalPercent, 5.1)])
    }),
    (Rule::Short, "one checkpoint", Severity::Warning, |input| {
        load_with(input, [(FigureId::Checkpoints, 1.0)])
    }),
    (
        Rule::Short,
        "the drive's own memory took it all",
        Severity::Warning,
        |input| load_with(input, [(FigureId::WrittenMb, 31.0)]),
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
        |input| {
            load_with(
                input,
                [(FigureId::DataMb, 100.0), (FigureId::MemoryMb, 128.0)],
            )
        },
    ),
    (
        Rule::Cached,
        "nothing was read",
        Severity::Warning,
        |input| load_with(input, [(FigureId::DeviceReads, 0.001)]),
    ),
    (Rule::Client, "a core is busy", Severity::Error, |input| {
        load_with(input, [(FigureId::GeneratorPercent, 90.5)])
    }),
    (
        Rule::Client,
        "intents start late",
        Severity::Error,
        |input| load_with(input, [(FigureId::LagP99, 0.9)]),
    ),
    (
        Rule::Client,
        "most of it was dropped",
        Severity::Error,
        |input| {
            load_with(
                input,
                [(FigureId::Dropped, 920.0), (FigureId::DroppedPercent, 92.0)],
            )
        },
    ),
    (Rule::Short, "a few seconds", Severity::Warning, |input| {
        load_with(input, [(FigureId::MeasuredS, 9.0)])
    }),
    (
        Rule::Short,
        "response times of an open loop",
        Severity::Warning,
        |input| {
            open(input);
            load_with(input, [(FigureId::IntervalPercent, 20.1)])
        },
    ),
    (
        Rule::Steady,
        "response times of an open loop rise",
        Severity::Warning,
        |input| {
            open(input);
            load_with(
                input,
                [
                    (FigureId::ResponseRange, 11.0),
                    (FigureId::ResponseSlope, 10.1),
                ],
            )
        },
    ),
    (Rule::Client, "dropped", Severity::Warning, |input| {
        load_with(
            input,
            [(FigureId::Dropped, 1.0), (FigureId::DroppedPercent, 0.001)],
        )
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
        input.systems[0].latencies = Some("start".to_owned())
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
            settings(&[("fsync", "off"), ("synchronous_commit", "on")]);
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
            system_with(input, FigureId::FlushUs, 200.0);
            system_with(input, FigureId::FlushesPerSecond, 5_000.0)
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
            input.pairs[0].second.maintained = Ok(checkpoints(0.0));
        },
    ),
    (Rule::Thin, "never written", Severity::Warning, |input| {
        system_with(input, FigureId::Fill, 0.5)
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
        |input| system_with(input, FigureId::CompressiblePercent, 50.0),
    ),
    (Rule::Noise, "steal", Severity::Warning, |input| {
        load_with(input, [(FigureId::StealPercent, 1.5)])
    }),
    (Rule::Noise, "other programs", Severity::Warning, |input| {
        load_with(input, [(FigureId::OtherCpuPercent, 43.0)])
    }),
    (Rule::Noise, "governor", Severity::Warning, |input| {
        input.systems[0].governor = Some("powersave".to_owned())
    }),
    (Rule::Noise, "calibration", Severity::Warning, |input| {
        system_with(input, FigureId::CalibrationOffPercent, -2.1)
    }),
    (
        Rule::Noise,
        "others on the device",
        Severity::Warning,
        |input| system_with(input, FigureId::OtherIoPercent, 11.0),
    ),
    (
        Rule::Noise,
        "the doctor's finding",
        Severity::Warning,
        |input| diagnosed(input, "cpu", DiagnosisLevel::Warning),
    ),
    (Rule::PctAvg, "averaged", Severity::Error, |input| {
        input.systems[0].percentiles = Some("averaged".to_owned())
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
        |input| side_with(&mut input.pairs[1].second, FigureId::Victims, 12.0),
    ),
    (
        Rule::Ratio,
        "TPM counts something else",
        Severity::Warning,
        |input| {
            input.loads[0].figures.set(FigureId::NewOrders, None);
            load_with(
                input,
                [(FigureId::Tpm, 1_463_290.0), (FigureId::Nopm, 318_092.0)],
            )
        },
    ),
    (
        Rule::Ratio,
        "sides count differently",
        Severity::Error,
        |input| side_with(&mut input.pairs[0].second, FigureId::TpmPerNopm, 2.36),
    ),
    (
        Rule::Size,
        "bytes per warehouse",
        Severity::Warning,
        |input| side_with(&mut input.pairs[0].second, FigureId::BytesPerUnit, 90e6),
    ),
    (
        Rule::Rate,
        "1.4 GB/s for 129 s are not 157 GB",
        Severity::Error,
        |input| {
            let figures = [(FigureId::MbPerSecond, 1_400.0), (FigureId::Seconds, 129.0)];
            input.moves[0].figures.extend(figures)
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
            input.sentences[0].stated.as_mut().unwrap().ratio = 2.9;
        },
    ),
    (Rule::Consist, "condition 4", Severity::Error, |input| {
        input.loads[0].failed_conditions = "3.3.2.4".to_owned()
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
        |input| load_with(input, [(FigureId::SimulatedCpu, 86.0)]),
    ),
    (Rule::Virtual, "little memory", Severity::Warning, |input| {
        input.loads[0].simulated_memory = Some("64.0 MiB".to_owned())
    }),
    (
        Rule::Repeat,
        "one run on each side",
        Severity::Warning,
        |input| side_with(&mut input.pairs[0].first, FigureId::Runs, 1.0),
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
            row_of(input, |row| row.figures.extend([(FigureId::Mean, 4.0)]));
        },
    ),
    (
        Rule::Plausible,
        "half of all take 8 ms at most, the others 90",
        Severity::Error,
        |input| {
            row_of(input, |row| row.figures.extend([(FigureId::Mean, 51.0)]));
        },
    ),
    (
        Rule::Plausible,
        "more new orders than transactions",
        Severity::Error,
        |input| {
            row_of(input, |row| {
                row.figures
                    .extend([(FigureId::Tpm, 42_800.0), (FigureId::Nopm, 96_000.0)])
            });
        },
    ),
    (
        Rule::Plausible,
        "a tenth of rate × size",
        Severity::Error,
        |input| {
            row_of(input, |row| {
                row.figures.extend([(FigureId::MbPerSecond, 105.0)])
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
        |input| input.durations[0].stated_h = Some(12.0),
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
            input.loads[0].rows.push(RelatedFigures {
                percentiles: vec![
                    percentile("p99.99", 0.9999, 2.0),
                    percentile("max", 1.0, 9.0),
                ],
                figures: FigureSet::from_iter([(FigureId::Mean, 4.0)]),
                ..RelatedFigures::default()
            });
        },
    ),
    (Rule::Cached, "the page cache", Severity::Warning, |input| {
        input.loads[0].figures.set(FigureId::DataMb, None);
        input.loads[0].buffered = true;
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
