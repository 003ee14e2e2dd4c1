//! Each rule on evidence that is as it has to be, on evidence that is not, and on none. `docs/audit.md` has the table.

mod faults;
mod removed;
mod windows;

use std::collections::BTreeSet;

use faults::FAULTS;

use super::client::drop_cause;
use super::evaluate;
use crate::audit::input::{
    AuditInput, AuditedSide, GeneratorLocation, LoadInput, LoadMaintenance, Move, Neighbours, Pair,
    Percentile, Range, RelatedFigures, Sentence, Settings, StatedDuration, StatedRatio,
    SubjectFindings, SystemInput,
};
use crate::audit::{
    AuditSubject, DropCause, GeneratorStopCause, Missing, Rule, RuleOutcome, RuleVerdict,
};
use crate::summary::{DiagnosisSummary, FigureId, FigureSet, Finding, FindingKind};
use plimsoll_plan::Thresholds;
use plimsoll_record::drive::DriveOp;
use plimsoll_record::message::DoctorFinding;
use plimsoll_record::{Diagnosis, DiagnosisLevel, Integrity, RunStatus, Severity};

fn settings(all: &[(&str, &str)]) -> Settings {
    all.iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

fn side(name: &str) -> AuditedSide {
    AuditedSide {
        generator: Ok(GeneratorLocation::Other),
        durability: settings(&[("fsync", "on"), ("synchronous_commit", "on")]),
        configuration: settings(&[("cpus", "16"), ("drive", name), ("loaded systems", "8")]),
        maintained: Ok(checkpoints(3.0)),
        data_unit: "warehouse".to_owned(),
        figures: FigureSet::from_iter([
            (FigureId::Victims, 8.0),
            (FigureId::TpmPerNopm, 2.24),
            (FigureId::NewOrders, 214_000.0),
            (FigureId::BytesPerUnit, 80e6),
            (FigureId::Runs, 3.0),
            (FigureId::SpreadPercent, 2.0),
        ]),
        ..AuditedSide::unknown(name)
    }
}

fn checkpoints(times: f64) -> Vec<LoadMaintenance> {
    vec![LoadMaintenance {
        load: "16".to_owned(),
        ran: [("checkpoints".to_owned(), times)].into(),
    }]
}

fn good_load() -> LoadInput {
    LoadInput {
        about: AuditSubject::Named("16 users".to_owned()),
        figures: FigureSet::from_iter([
            (FigureId::MeasuredS, 300.0),
            (FigureId::PerSecond, 1600.0),
            (FigureId::TimeInFlight, 9.9),
            (FigureId::InFlight, 16.0),
            (FigureId::InFlightEdges, 0.1),
            (FigureId::ConservedS, 301.0),
            (FigureId::RangePercent, 4.0),
            (FigureId::SlopePercent, -2.0),
            (FigureId::HalvesPercent, -1.2),
            (FigureId::HalvesByChance, 0.4),
            (FigureId::IntervalPercent, 1.7),
            (FigureId::Checkpoints, 3.0),
            (FigureId::WrittenMb, 90_000.0),
            (FigureId::DriveCacheMb, 32.0),
            (FigureId::DataMb, 100_000.0),
            (FigureId::MemoryMb, 32_000.0),
            (FigureId::DeviceReads, 2.5),
            (FigureId::GeneratorPercent, 35.0),
            (FigureId::StoppedPercent, 0.1),
            (FigureId::GeneratorWaits, 2.0),
            (FigureId::LagP99, 0.02),
            (FigureId::P50, 8.0),
            (FigureId::BusyPercent, 40.0),
            (FigureId::Dropped, 0.0),
            (FigureId::DroppedPercent, 0.0),
            (FigureId::StealPercent, 0.2),
            (FigureId::OtherCpuPercent, 2.0),
            (FigureId::Tpm, 96_000.0),
            (FigureId::Nopm, 42_800.0),
            (FigureId::NewOrders, 214_000.0),
            (FigureId::ConditionsVerified, 12.0),
            (FigureId::EmulatedOps, 90_000.0),
            (FigureId::LatePercent, 1.5),
            (FigureId::BeyondPercent, 0.2),
            (FigureId::SimulatedCpu, 31.0),
            (FigureId::Acknowledged, 4_000.0),
        ]),
        drive: "Example NVMe".to_owned(),
        rows: vec![good_row()],
        ..LoadInput::default()
    }
}

fn percentile(name: &str, share: f64, ms: f64) -> Percentile {
    Percentile {
        name: name.to_owned(),
        share,
        ms,
    }
}

fn good_row() -> RelatedFigures {
    RelatedFigures {
        percentiles: vec![
            percentile("min", 0.0, 2.0),
            percentile("p50", 0.5, 8.0),
            percentile("max", 1.0, 90.0),
        ],
        figures: FigureSet::from_iter([
            (FigureId::Mean, 9.9),
            (FigureId::Tpm, 96_000.0),
            (FigureId::Nopm, 42_800.0),
            (FigureId::PerSecond, 1_000.0),
            (FigureId::RequestKib, 1_024.0),
            (FigureId::MbPerSecond, 1_000.0),
        ]),
        resolution_percent: 0.0,
        lowest: vec![percentile("p99", 0.99, 20.0), percentile("max", 1.0, 80.0)],
        highest: vec![percentile("p99", 0.99, 30.0), percentile("max", 1.0, 90.0)],
        ranges: vec![Range {
            figure: "p99_ms".to_owned(),
            low: 20.0,
            high: 30.0,
        }],
        neighbours: vec![Neighbours {
            figure: "tpm".to_owned(),
            value: 96_000.0,
            expected: 51_000.0,
        }],
    }
}

fn row_of(input: &mut AuditInput, change: impl Fn(&mut RelatedFigures)) {
    change(&mut input.loads[0].rows[0]);
}

/// Other values of figures of the load.
fn load_with<const N: usize>(input: &mut AuditInput, figures: [(FigureId, f64); N]) {
    input.loads[0].figures.extend(figures);
}

/// A run of which everything is known, and nothing is wrong with it.
fn good() -> AuditInput {
    let system = SystemInput {
        about: AuditSubject::Named("db@nvme".to_owned()),
        generator: Ok(GeneratorLocation::Other),
        latencies: Some("due".to_owned()),
        percentiles: Some("merged".to_owned()),
        durability: settings(&[
            ("fsync", "on"),
            ("full_page_writes", "on"),
            ("synchronous", "FULL"),
        ]),
        governor: Some("performance".to_owned()),
        figures: FigureSet::from_iter([
            (FigureId::FlushUs, 9_000.0),
            (FigureId::FastestFlushUs, 7_500.0),
            (FigureId::FlushesPerSecond, 111.0),
            (FigureId::Fill, 2.0),
            (FigureId::CompressiblePercent, 3.0),
            (FigureId::StatedCompressiblePercent, 0.0),
            (FigureId::CalibrationOffPercent, -1.5),
            (FigureId::OtherIoPercent, 0.3),
        ]),
        diagnoses: vec![
            diagnosis(None, "fsync", DiagnosisLevel::Ok),
            diagnosis(None, "unwritten", DiagnosisLevel::Ok),
        ],
    };
    let two = Pair::unknown(side("SATA"), side("NVMe"));
    let pair = Pair {
        factor: "drive".to_owned(),
        effect_percent: Ok(90.0),
        ..two
    };
    let noise = Pair {
        second: AuditedSide {
            noise: "backups".to_owned(),
            configuration: pair.first.configuration.clone(),
            ..side("noisy")
        },
        factor: "noise".to_owned(),
        ..pair.clone()
    };
    let backup = AuditSubject::Named("backup".to_owned());
    AuditInput {
        systems: vec![system],
        loads: vec![good_load()],
        pairs: vec![pair, noise],
        moves: vec![Move {
            about: backup,
            figures: FigureSet::from_iter([
                (FigureId::MbPerSecond, 593.0),
                (FigureId::Seconds, 265.0),
                (FigureId::MovedMb, 157_000.0),
            ]),
            agrees: None,
        }],
        sentences: vec![Sentence {
            text: "1.9 times".to_owned(),
            stated: Some(StatedRatio {
                ratio: 1.9,
                first: 190.0,
                second: 100.0,
            }),
        }],
        durations: vec![StatedDuration {
            name: "all".to_owned(),
            parts: "6h + 5 × 1h".to_owned(),
            stated_h: Some(11.0),
            sum_h: Some(11.0),
        }],
        others: Vec::new(),
        file: Some(Integrity::Intact {
            digest: "ab".repeat(32),
        }),
    }
}

/// A fault in one thing that a rule reads.
pub(super) type Fault = (Rule, &'static str, Severity, fn(&mut AuditInput));

fn found(input: &mut AuditInput, severity: Severity, kind: FindingKind) {
    input.loads[0].findings.push(Finding { severity, kind });
}

fn diagnosed(input: &mut AuditInput, code: &str, level: DiagnosisLevel) {
    let diagnosis = diagnosis(Some("nvme"), code, level);
    input.systems[0].diagnoses.push(diagnosis);
}

fn diagnosis(medium: Option<&str>, code: &str, level: DiagnosisLevel) -> DiagnosisSummary {
    DiagnosisSummary {
        medium: medium.map(str::to_owned),
        diagnosis: Diagnosis {
            subject: None,
            code: code.to_owned(),
            level,
            disk: None,
            finding: DoctorFinding::NoDeviceToRead,
        },
    }
}

fn set(input: &mut AuditInput, name: &str, value: &str) {
    input.systems[0].durability = settings(&[(name, value)]);
}

fn differ(input: &mut AuditInput, pair: usize, key: &str, value: &str) {
    let configuration = &mut input.pairs[pair].second.configuration;
    configuration.insert(key.to_owned(), value.to_owned());
}

const HELD: [(FigureId, f64); 4] = [
    (FigureId::ResponseRange, 8.0),
    (FigureId::ResponseSlope, 1.0),
    (FigureId::ResponseRangeByChance, 2.0),
    (FigureId::ResponseSlopeByChance, 2.0),
];

fn open(input: &mut AuditInput) {
    input.loads[0].open = true;
    load_with(input, HELD);
}

fn fired(verdicts: &[RuleVerdict]) -> Vec<(Rule, Severity)> {
    verdicts
        .iter()
        .filter_map(|verdict| Some((verdict.rule, verdict.outcome.severity()?)))
        .collect()
}

fn fired_on(input: &AuditInput) -> Vec<(Rule, Severity)> {
    fired(&evaluate(input, &Thresholds::default()))
}

#[test]
fn nothing_fires_on_a_good_run_and_every_rule_passes() {
    let verdicts = evaluate(&good(), &Thresholds::default());
    assert_eq!(fired(&verdicts), []);
    for rule in Rule::ALL {
        let passed = |verdict: &&RuleVerdict| {
            verdict.rule == rule && matches!(verdict.outcome, RuleOutcome::Passed { .. })
        };
        assert!(
            verdicts.iter().find(passed).is_some(),
            "{} has passed nothing",
            rule.code()
        );
    }
}

#[test]
fn each_fault_fires_its_rule_and_no_other() {
    for (rule, name, severity, fault) in FAULTS {
        let mut input = good();
        fault(&mut input);
        assert_eq!(
            fired_on(&input),
            [(*rule, *severity)],
            "{}: {name}",
            rule.code()
        );
    }
    let with_a_fault: BTreeSet<Rule> = FAULTS.iter().map(|(rule, ..)| *rule).collect();
    assert_eq!(
        with_a_fault.len(),
        Rule::ALL.len(),
        "every rule has a run on which it fires"
    );
}

#[test]
fn each_rule_can_reach_its_severity() {
    for rule in Rule::ALL {
        let worst = FAULTS
            .iter()
            .filter(|fault| fault.0 == rule)
            .map(|fault| fault.2)
            .max()
            .unwrap();
        assert_eq!(worst, rule.severity(), "{}", rule.code());
    }
}

#[test]
fn what_is_not_known_is_not_evaluated() {
    let unknown = AuditInput {
        systems: vec![SystemInput::unknown(AuditSubject::Whole)],
        loads: vec![LoadInput::unknown(AuditSubject::Whole)],
        pairs: vec![Pair::unknown(
            AuditedSide::unknown("a"),
            AuditedSide::unknown("b"),
        )],
        moves: vec![Move::default()],
        sentences: vec![Sentence {
            text: "faster".to_owned(),
            stated: None,
        }],
        durations: vec![StatedDuration {
            name: "all".to_owned(),
            parts: String::new(),
            stated_h: None,
            sum_h: None,
        }],
        others: Vec::new(),
        file: Some(Integrity::Open),
    };
    for input in [unknown, AuditInput::default()] {
        let verdicts = evaluate(&input, &Thresholds::default());
        for rule in Rule::ALL {
            let own: Vec<&RuleVerdict> = verdicts
                .iter()
                .filter(|verdict| verdict.rule == rule)
                .collect();
            assert!(!own.is_empty(), "{} has no verdict", rule.code());
            let skipped = own
                .iter()
                .all(|verdict| matches!(verdict.outcome, RuleOutcome::NotEvaluated { .. }));
            assert!(
                skipped,
                "{} passes or fires on nothing: {own:?}",
                rule.code()
            );
        }
    }
}

#[test]
fn the_rate_of_an_open_loop_and_a_few_seconds_prove_nothing() {
    let passes = |load: &LoadInput, rule: Rule| {
        let input = AuditInput {
            loads: vec![load.clone()],
            ..AuditInput::default()
        };
        let verdicts = evaluate(&input, &Thresholds::default());
        let of_load = |verdict: &&RuleVerdict| verdict.rule == rule;
        matches!(
            verdicts.iter().find(of_load).unwrap().outcome,
            RuleOutcome::Passed { .. }
        )
    };
    let few_seconds = |mut load: LoadInput| {
        load.figures.put(FigureId::MeasuredS, Ok(6.0));
        load
    };
    let mut open = LoadInput {
        open: true,
        ..good_load()
    };
    open.figures.set(FigureId::Checkpoints, None);
    let mut held = open.clone();
    held.figures.extend(HELD);
    for rule in [Rule::Steady, Rule::Short] {
        assert!(passes(&held, rule), "{}", rule.code());
        let few_seconds = few_seconds(held.clone());
        assert!(!passes(&few_seconds, rule), "{}", rule.code());
    }
    assert!(!passes(&open, Rule::Steady));
    assert!(!passes(&few_seconds(good_load()), Rule::Steady));
}

/// A stop is one, whoever made it; of a machine that others use too, a little is no reason to discard figures.
#[test]
fn a_generator_that_did_not_run_is_no_measurement() {
    let severity = |percent, cause, waits_percent| {
        let mut input = good();
        let load = &mut input.loads[0];
        load.stop_cause = cause;
        load.figures.put(FigureId::StoppedPercent, Ok(percent));
        load.figures.put(FigureId::GeneratorWaits, waits_percent);
        let verdicts = evaluate(&input, &Thresholds::default());
        let client = verdicts.iter().find(|own| own.rule == Rule::Client);
        match &client.unwrap().outcome {
            RuleOutcome::Fired { severity, .. } => Some(*severity),
            _ => None,
        }
    };
    use GeneratorStopCause::{Cpu, Quota, Unknown};
    let (error, warning) = (Some(Severity::Error), Some(Severity::Warning));
    let few = Ok(3.0);
    assert_eq!(severity(20.0, Unknown, few), error, "24 stops of 0.25 s");
    assert_eq!(severity(1.1, Quota, few), error);
    assert_eq!(severity(0.9, Quota, few), None);
    assert_eq!(
        [1.1, 4.9, 5.1].map(|percent| severity(percent, Cpu, few)),
        [warning, warning, error]
    );
    let waits = [9.0, 11.0, 49.0, 51.0].map(|percent| severity(0.0, Cpu, Ok(percent)));
    assert_eq!(waits, [None, warning, warning, error]);
    assert_eq!(severity(0.0, Cpu, Err(Missing::NoRunDelay)), None);
}

#[test]
fn the_cause_of_drops_is_the_full_resource() {
    let cause = |generator, connections| {
        let mut load = good_load();
        load.figures.put(FigureId::GeneratorPercent, generator);
        load.figures.put(FigureId::BusyPercent, connections);
        drop_cause(&load, &Thresholds::default())
    };
    let (no_cpu, no_counts) = (Err(Missing::NoGenerator), Err(Missing::NoCounts));
    assert_eq!(cause(Ok(30.0), Ok(98.0)), DropCause::System);
    assert_eq!(cause(no_cpu, Ok(98.0)), DropCause::System);
    assert_eq!(cause(Ok(99.0), Ok(98.0)), DropCause::Generator);
    assert_eq!(
        [cause(Ok(30.0), Ok(40.0)), cause(no_cpu, no_counts)],
        [DropCause::Unknown; 2]
    );
}

#[test]
fn chance_is_no_reason_to_fire() {
    let mut input = good();
    // 1,000 orders: 3.9 × √(0.555 / 1,000) = 9.2 %.
    let few_orders = [
        (FigureId::Tpm, 2_440.0),
        (FigureId::Nopm, 1_000.0),
        (FigureId::NewOrders, 1_000.0),
        (FigureId::HalvesPercent, 9.0),
        (FigureId::HalvesByChance, 11.0),
        (FigureId::RangePercent, 36.0),
        (FigureId::SlopePercent, 36.0),
    ];
    load_with(&mut input, few_orders);
    input.loads[0].trend_by_chance = true;
    // 2,000 and 900 orders: 3.9 × √(0.555 / 2,000 + 0.555 / 900) = 11.7 %.
    let Pair { first, second, .. } = &mut input.pairs[0];
    first.figures.extend([(FigureId::NewOrders, 2_000.0)]);
    second.figures.extend([
        (FigureId::NewOrders, 900.0),
        (FigureId::TpmPerNopm, 2.24 * 1.11),
    ]);
    assert_eq!(fired_on(&input), []);
    let second = &mut input.pairs[0].second;
    second.figures.extend([(FigureId::TpmPerNopm, 2.24 * 1.12)]);
    assert_eq!(fired_on(&input), [(Rule::Ratio, Severity::Error)]);
}

#[test]
fn a_transaction_across_the_windows_edge_is_no_contradiction() {
    let mut input = good();
    // 2 users, 10 s, of which the last transaction took 1.2 s.
    let at_the_edge = [
        (FigureId::PerSecond, 20.0),
        (FigureId::TimeInFlight, 89.0),
        (FigureId::InFlight, 2.0),
        (FigureId::InFlightEdges, 12.0),
    ];
    load_with(&mut input, at_the_edge);
    let verdicts = evaluate(&input, &Thresholds::default());
    assert_eq!(fired(&verdicts), []);
    let little = verdicts
        .iter()
        .find(|verdict| verdict.rule == Rule::Little)
        .unwrap();
    assert_eq!(
        little.outcome,
        RuleOutcome::NotEvaluated {
            because: Missing::TooShortForLongest
        },
        "nor is it a pass"
    );
    load_with(&mut input, [(FigureId::InFlightEdges, 1.0)]);
    assert_eq!(fired_on(&input), [(Rule::Little, Severity::Error)]);
}

#[test]
fn an_emulated_drive_beside_a_directory_is_one_difference() {
    let mut input = good();
    for (key, value) in [
        ("form", "emulated"),
        ("backing", "memory"),
        ("capacity", "8 GiB"),
        ("flush", "honest"),
    ] {
        differ(&mut input, 0, key, value);
    }
    assert_eq!(fired_on(&input), []);
    let unslowed = input.pairs[0].second.configuration.clone();
    differ(&mut input, 0, "slower", "20");
    assert_eq!(fired_on(&input), [(Rule::OneFactor, Severity::Error)]);
    input.pairs[0].second.configuration = unslowed;
    differ(&mut input, 0, "filesystem", "xfs");
    assert_eq!(fired_on(&input), [(Rule::OneFactor, Severity::Error)]);
}

#[test]
fn thresholds_decide() {
    let mut input = good();
    load_with(&mut input, [(FigureId::IntervalPercent, 9.0)]);
    assert_eq!(fired_on(&input), [(Rule::Short, Severity::Warning)]);
    assert_eq!(
        fired(&evaluate(
            &input,
            &Thresholds {
                interval: 9.0,
                ..Thresholds::default()
            }
        )),
        []
    );
}

#[test]
fn noise_may_differ_with_the_systems_that_make_it() {
    let mut input = good();
    differ(&mut input, 1, "loaded systems", "12");
    assert_eq!(fired_on(&input), [], "only the victims' systems count");
    differ(&mut input, 1, "cpus", "8");
    assert_eq!(fired_on(&input), [(Rule::OneFactor, Severity::Error)]);
}

#[test]
fn drives_slowed_by_different_factors_differ_in_more_than_the_drive() {
    let mut input = good();
    differ(&mut input, 0, "slower", "50");
    assert_eq!(fired_on(&input), [(Rule::OneFactor, Severity::Error)]);
    let slowed = input.pairs[0].second.configuration.clone();
    input.pairs[0].first.configuration = slowed;
    let of_both = fired_on(&input);
    assert!(
        !of_both.iter().any(|(rule, _)| *rule == Rule::OneFactor),
        "{of_both:?}"
    );
}
