//! One fault each, the rule that has to find it and how severe it is.

use super::*;
use crate::audit::Evidence;
use FigureId as F;

fn system_with(input: &mut AuditInput, figure: FigureId, value: f64) {
    input.systems[0].figures.put(figure, Ok(value));
}

fn side_with(side: &mut AuditedSide, figure: FigureId, value: f64) {
    side.figures.put(figure, Ok(value));
}

macro_rules! faults {
    ($($rule:ident $severity:ident $name:literal: |$input:ident| $fault:expr;)*) => {
        &[$((Rule::$rule, $name, Severity::$severity, |$input| $fault)),*]
    };
}

pub(super) const FAULTS: &[Fault] = faults! {
    Little Error "178,000 IOPS at 0.6 ms are not 192 in flight": |i| {
        let edges = (F::InFlightEdges, 0.0);
        load_with(i, [(F::PerSecond, 178_000.0), (F::TimeInFlight, 0.6), (F::InFlight, 192.0), edges]);
    };
    Little Warning "the summary's finding": |i| found(i, Severity::Warning, FindingKind::InFlightOff { found: 9.0, asked: 16 });
    Conserve Error "counts of a table do not add up": |i| {
        i.loads[0].figures.set(F::ConservedS, None);
        load_with(i, [(F::Offered, 1000.0), (F::Settled, 990.0)]);
    };
    Conserve Error "a second was lost": |i| {
        let kind = FindingKind::CountsBroken { at_s: 7.0, offered: 10, settled: 8, in_flight: 1 };
        found(i, Severity::Error, kind);
    };
    Steady Warning "range": |i| load_with(i, [(F::RangePercent, 20.1), (F::SlopePercent, 0.0)]);
    Steady Warning "slope": |i| load_with(i, [(F::RangePercent, 12.0), (F::SlopePercent, -10.1)]);
    Steady Warning "second half": |i| load_with(i, [(F::HalvesPercent, -5.1)]);
    Steady Note "above a load line it is a note": |i| {
        load_with(i, [(F::RangePercent, 60.0), (F::SlopePercent, 30.0)]);
        found(i, Severity::Note, FindingKind::Unsteady { range_percent: 60.0, slope_percent: 30.0 });
    };
    Short Warning "interval": |i| load_with(i, [(F::IntervalPercent, 5.1)]);
    Short Warning "one checkpoint": |i| load_with(i, [(F::Checkpoints, 1.0)]);
    Short Warning "the drive's own memory took it all": |i| load_with(i, [(F::WrittenMb, 31.0)]);
    Short Warning "too short for an interval": |i| found(i, Severity::Warning, FindingKind::ShortWindow { measured_s: 3.0 });
    Cached Warning "data fit into memory": |i| load_with(i, [(F::DataMb, 100.0), (F::MemoryMb, 128.0)]);
    Cached Warning "nothing was read": |i| load_with(i, [(F::DeviceReads, 0.001)]);
    Client Error "a core is busy": |i| load_with(i, [(F::GeneratorPercent, 90.5)]);
    Client Error "intents start late": |i| load_with(i, [(F::LagP99, 0.9)]);
    Client Error "most of it was dropped": |i| load_with(i, [(F::Dropped, 920.0), (F::DroppedPercent, 92.0)]);
    Short Warning "a few seconds": |i| load_with(i, [(F::MeasuredS, 9.0)]);
    Short Warning "response times of an open loop": |i| {
        open(i);
        load_with(i, [(F::IntervalPercent, 20.1)]);
    };
    Steady Warning "response times of an open loop rise": |i| {
        open(i);
        load_with(i, [(F::ResponseRange, 11.0), (F::ResponseSlope, 10.1)]);
    };
    Client Warning "dropped": |i| load_with(i, [(F::Dropped, 1.0), (F::DroppedPercent, 0.001)]);
    SameBox Note "on the system's machine": |i| i.systems[0].generator = Ok(GeneratorLocation::Same);
    SameBox Error "on one side only": |i| i.pairs[0].second.generator = Ok(GeneratorLocation::Same);
    Omission Error "from the start": |i| i.systems[0].latencies = Some("start".to_owned());
    Durable Warning "fsync off": |i| set(i, "fsync", "off");
    Durable Warning "synchronous_commit off": |i| set(i, "synchronous_commit", "off");
    Durable Warning "full_page_writes off": |i| set(i, "full_page_writes", "off");
    Durable Warning "InnoDB flushes once a second": |i| set(i, "innodb_flush_log_at_trx_commit", "2");
    Durable Warning "SQL Server commits without waiting": |i| set(i, "delayed_durability", "FORCED");
    Durable Warning "SQL Server does not verify pages": |i| set(i, "page_verify_option", "NONE");
    Durable Warning "no barriers": |i| set(i, "mount_options", "rw,nobarrier");
    Durable Warning "SQLite does not wait": |i| set(i, "synchronous", "NORMAL");
    Durable Warning "flushes ignored": |i| set(i, "flush", "ignored");
    Durable Warning "volatile write cache": |i| set(i, "write_cache", "volatile");
    Durable Error "the doctor's finding": |i| diagnosed(i, "power_loss", DiagnosisLevel::Error);
    Durable Error "unequal": |i| i.pairs[0].second.durability = settings(&[("fsync", "off"), ("synchronous_commit", "on")]);
    Durable Error "committed and lost": |i| {
        let (txn, first_lost) = ("new_order".to_owned(), None);
        let kind = FindingKind::CommittedLost { txn, lost: 3, acknowledged: 4_000, first_lost };
        found(i, Severity::Error, kind);
    };
    Lies Error "flushes faster than the disk turns": |i| {
        let figures = [(F::FlushUs, 200.0), (F::FlushesPerSecond, 5_000.0)];
        i.systems[0].figures.extend(figures);
    };
    Lies Error "the doctor's finding": |i| diagnosed(i, "fsync", DiagnosisLevel::Error);
    Maint Warning "a checkpoint on one side": |i| i.pairs[0].second.maintained = Ok(checkpoints(0.0));
    Thin Warning "never written": |i| system_with(i, F::Fill, 0.5);
    Thin Warning "the doctor's finding": |i| diagnosed(i, "unwritten", DiagnosisLevel::Warning);
    Entropy Warning "half of it compressible": |i| system_with(i, F::CompressiblePercent, 50.0);
    Noise Warning "steal": |i| load_with(i, [(F::StealPercent, 1.5)]);
    Noise Warning "other programs": |i| load_with(i, [(F::OtherCpuPercent, 43.0)]);
    Noise Warning "governor": |i| i.systems[0].governor = Some("powersave".to_owned());
    Noise Warning "calibration": |i| system_with(i, F::CalibrationOffPercent, -2.1);
    Noise Warning "others on the device": |i| system_with(i, F::OtherIoPercent, 11.0);
    Noise Warning "the doctor's finding": |i| diagnosed(i, "cpu", DiagnosisLevel::Warning);
    PctAvg Error "averaged": |i| i.systems[0].percentiles = Some("averaged".to_owned());
    OneFactor Error "memory differs as well": |i| differ(i, 0, "memory", "32 GB");
    OneFactor Warning "two differ and none is named": |i| {
        i.pairs[0].factor.clear();
        differ(i, 0, "cpus", "8");
    };
    Victims Error "8 systems against 12": |i| side_with(&mut i.pairs[1].second, F::Victims, 12.0);
    Ratio Warning "TPM counts something else": |i| {
        i.loads[0].figures.set(F::NewOrders, None);
        load_with(i, [(F::Tpm, 1_463_290.0), (F::Nopm, 318_092.0)]);
    };
    Ratio Error "sides count differently": |i| side_with(&mut i.pairs[0].second, F::TpmPerNopm, 2.36);
    Size Warning "bytes per warehouse": |i| side_with(&mut i.pairs[0].second, F::BytesPerUnit, 90e6);
    Rate Error "1.4 GB/s for 129 s are not 157 GB": |i| {
        let figures = [(F::MbPerSecond, 1_400.0), (F::Seconds, 129.0)];
        i.moves[0].figures.extend(figures);
    };
    Rate Warning "the summary's finding": |i| i.moves[0].agrees = Some(false);
    Wording Error "it is 1.9 times, not 2.9": |i| i.sentences[0].stated.as_mut().unwrap().ratio = 2.9;
    Consist Error "condition 4": |i| i.loads[0].failed_conditions = "3.3.2.4".to_owned();
    Emulated Error "the emulator was late": |i| {
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
        found(i, Severity::Error, kind);
    };
    Virtual Note "more CPU than anything else": |i| load_with(i, [(F::SimulatedCpu, 86.0)]);
    Virtual Warning "little memory": |i| i.loads[0].simulated_memory = Some("64.0 MiB".to_owned());
    Repeat Warning "one run on each side": |i| side_with(&mut i.pairs[0].first, F::Runs, 1.0);
    Intact Error "a flipped bit": |i| i.file = Some(Integrity::Changed { digest: "ab".repeat(32), found: "cd".repeat(32) });
    Intact Error "closed without a digest": |i| i.file = Some(Integrity::NoDigest);
    Repeat Warning "repeats differ by more than the effect": |i| i.pairs[0].effect_percent = Ok(1.5);
    Plausible Error "p99 below p50": |i| row_of(i, |row| row.percentiles.insert(2, percentile("p99", 0.99, 7.0)));
    Plausible Error "half of all take 8 ms or longer": |i| row_of(i, |row| row.figures.extend([(F::Mean, 4.0)]));
    Plausible Error "half of all take 8 ms at most, the others 90": |i| row_of(i, |row| row.figures.extend([(F::Mean, 51.0)]));
    Plausible Error "more new orders than transactions": |i| {
        row_of(i, |row| row.figures.extend([(F::Tpm, 42_800.0), (F::Nopm, 96_000.0)]));
    };
    Plausible Error "a tenth of rate × size": |i| row_of(i, |row| row.figures.extend([(F::MbPerSecond, 105.0)]));
    Plausible Error "lowest above highest": |i| row_of(i, |row| row.ranges[0].low = 31.0);
    Plausible Error "lowest p99 above the lowest maximum": |i| row_of(i, |row| row.lowest[0].ms = 81.0);
    Plausible Error "two digits too many": |i| row_of(i, |row| row.neighbours[0].value = 9_600_000.0);
    Duration Error "6 h and 5 × 1 h are not 12 h": |i| i.durations[0].stated_h = Some(12.0);
    Finding Error "84 % failed": |i| {
        let kind = FindingKind::NotServed { failed: 68_649, dropped: 0, percent: 83.7 };
        found(i, Severity::Error, kind);
    };
    Finding Warning "the run ended early": |i| {
        let kind = FindingKind::RunEnded { status: RunStatus::Interrupted, reason: String::new() };
        let findings = vec![Finding { severity: Severity::Warning, kind }];
        i.others.push(SubjectFindings { about: AuditSubject::Whole, findings });
    };
    Plausible Error "a printed mean above the 99.99th percentile": |i| {
        let percentiles = vec![percentile("p99.99", 0.9999, 2.0), percentile("max", 1.0, 9.0)];
        let figures = FigureSet::from_iter([(F::Mean, 4.0)]);
        i.loads[0].rows.push(RelatedFigures { percentiles, figures, ..RelatedFigures::default() });
    };
    Cached Warning "the page cache": |i| {
        i.loads[0].figures.set(F::DataMb, None);
        i.loads[0].buffered = true;
    };
    Thin Warning "reads faster than any drive": |i| {
        i.loads[0].suspicions = vec![Evidence::FastReads { mean_us: 2.4, fastest_us: 5.0 }];
    };
    Thin Warning "reads that no device saw": |i| i.loads[0].suspicions = vec![Evidence::ReachedDevice { percent: 0.1 }];
};
