//! Each rule on evidence that is as it has to be, on evidence that is not, and on none. `docs/audit.md` has the table.

mod faults;
mod removed;
mod windows;

use std::collections::{BTreeMap, BTreeSet};

use faults::FAULTS;

use super::client::drop_cause;
use super::evaluate;
use crate::audit::input::{
    AuditInput, AuditedSide, Bandwidth, Counted, GeneratorLocation, GeneratorStops, InFlight,
    Known, LoadFacts, Move, Neighbours, OrderRate, Pair, Percentile, Precision, Range,
    RelatedFigures, Sentence, SimulatedLoad, StatedDuration, SubjectFindings, SystemFacts,
    WindowTrend,
};
use crate::audit::{
    AuditSubject, DropCause, GeneratorStopCause, Missing, Rule, RuleOutcome, RuleVerdict,
};
use crate::summary::DiagnosisSummary;
use crate::summary::{Conservation, Finding, FindingKind, Responses};
use plimsoll_plan::Thresholds;
use plimsoll_record::drive::DriveOp;
use plimsoll_record::message::DoctorFinding;
use plimsoll_record::{Diagnosis, DiagnosisLevel, Integrity, RunStatus, Severity};

fn settings(all: &[(&str, &str)]) -> BTreeMap<String, String> {
    all.iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

fn side(name: &str) -> AuditedSide {
    AuditedSide {
        name: name.to_owned(),
        generator: Ok(GeneratorLocation::Other),
        durability: Ok(settings(&[("fsync", "on"), ("synchronous_commit", "on")])),
        configuration: Ok(settings(&[
            ("cpus", "16"),
            ("drive", name),
            ("loaded systems", "8"),
        ])),
        maintained: Ok(vec![(
            "16".to_owned(),
            [("checkpoints".to_owned(), 3.0)].into(),
        )]),
        victims: Ok(8),
        noise: String::new(),
        tpm_per_nopm: Ok(2.24),
        new_orders: Some(214_000.0),
        bytes_per: Ok(("warehouse".to_owned(), 80e6)),
        runs: Ok(3),
        spread_percent: Ok(2.0),
    }
}

fn good_load() -> LoadFacts {
    LoadFacts {
        about: AuditSubject::Named("16 users".to_owned()),
        points: Vec::new(),
        findings: Vec::new(),
        open: false,
        probe: false,
        above_line: false,
        measured_s: Some(300.0),
        in_flight: Ok(InFlight {
            per_second: 1600.0,
            mean_ms: 9.9,
            asked: 16.0,
            edges_percent: 0.1,
        }),
        counted: Ok(Counted::PerSecond(Conservation::Holds { seconds: 301 })),
        trend: Ok(WindowTrend {
            range_percent: 4.0,
            slope_percent: -2.0,
            by_chance: false,
        }),
        halves: Ok((-1.2, 0.4)),
        responses: Err(Missing::NoResponses),
        precision: Ok(Precision::Half {
            percent: 1.7,
            measured_s: Some(300.0),
            of_repeats: false,
        }),
        checkpoints: Ok(3.0),
        written: Ok((90_000.0, 32.0)),
        sizes: Ok((100_000.0, 32_000.0)),
        buffered: Ok(false),
        suspicions: Vec::new(),
        reads: Ok(2.5),
        generator: Ok(35.0),
        stops: Ok(GeneratorStops {
            measured_s: 300.0,
            percent: 0.1,
            cause: GeneratorStopCause::Unknown,
            waits_percent: Ok(2.0),
        }),
        lag: Ok((0.02, 8.0)),
        connections: Ok(40.0),
        dropped: Ok((0, 0.0)),
        steal: Ok(0.2),
        other_cpu: Ok(2.0),
        tpm_nopm: Ok((96_000.0, 42_800.0, Some(214_000.0))),
        conditions: Ok((12, String::new())),
        emulated: Ok(("Example NVMe".to_owned(), 90_000, 1.5, 0.2)),
        simulated: Ok(SimulatedLoad {
            cpu_percent: 31.0,
            memory: None,
        }),
        cut: Some(4_000),
        row: Ok(good_row()),
        printed: Vec::new(),
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
        mean_ms: Some(9.9),
        resolution_percent: 0.0,
        orders: Some(OrderRate {
            tpm: 96_000.0,
            nopm: 42_800.0,
        }),
        bandwidth: Some(Bandwidth {
            per_second: 1_000.0,
            request_kib: 1_024.0,
            mb_per_second: 1_000.0,
        }),
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
    let mut row = good_row();
    change(&mut row);
    input.loads[0].row = Ok(row);
}

/// A run of which everything is known, and nothing is wrong with it.
fn good() -> AuditInput {
    let system = SystemFacts {
        about: AuditSubject::Named("db@nvme".to_owned()),
        generator: Ok(GeneratorLocation::Other),
        latencies: Ok("due".to_owned()),
        percentiles: Ok("merged".to_owned()),
        durability: Ok(settings(&[
            ("fsync", "on"),
            ("full_page_writes", "on"),
            ("synchronous", "FULL"),
        ])),
        flush: Ok((9_000.0, 7_500.0, 111.0)),
        fill: Ok(2.0),
        entropy: Ok((3.0, 0.0)),
        governor: Ok("performance".to_owned()),
        calibration: Ok(-1.5),
        other_io: Ok(0.3),
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
            moved: Ok((593.0, 265.0, 157_000.0)),
            agrees: None,
        }],
        sentences: vec![Sentence {
            text: "1.9 times".to_owned(),
            stated: Ok((1.9, 190.0, 100.0)),
        }],
        durations: vec![StatedDuration {
            name: "all".to_owned(),
            parts: "6h + 5 × 1h".to_owned(),
            stated_h: Ok(11.0),
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
    input.systems[0].durability = Ok(settings(&[(name, value)]));
}

fn differ(input: &mut AuditInput, pair: usize, key: &str, value: &str) {
    let mut configuration = input.pairs[pair].second.configuration.clone().unwrap();
    configuration.insert(key.to_owned(), value.to_owned());
    input.pairs[pair].second.configuration = Ok(configuration);
}

const HELD: Responses = Responses {
    range_percent: 8.0,
    slope_percent: 1.0,
    range_by_chance_percent: 2.0,
    slope_by_chance_percent: 2.0,
    half_interval_percent: Some(3.0),
};

fn half(percent: f64) -> Known<Precision> {
    Ok(Precision::Half {
        percent,
        measured_s: Some(300.0),
        of_repeats: false,
    })
}

fn open(input: &mut AuditInput, responses: Responses) {
    (input.loads[0].open, input.loads[0].responses) = (true, Ok(responses));
}

fn fired(verdicts: &[RuleVerdict]) -> Vec<(Rule, Severity)> {
    verdicts
        .iter()
        .filter_map(|verdict| Some((verdict.rule, verdict.outcome.severity()?)))
        .collect()
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
            fired(&evaluate(&input, &Thresholds::default())),
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
        systems: vec![SystemFacts::unknown(AuditSubject::Whole)],
        loads: vec![LoadFacts::unknown(AuditSubject::Whole)],
        pairs: vec![Pair::unknown(
            AuditedSide::unknown("a"),
            AuditedSide::unknown("b"),
        )],
        moves: vec![Move {
            about: AuditSubject::Whole,
            moved: Err(Missing::NoBytes),
            agrees: None,
        }],
        sentences: vec![Sentence {
            text: "faster".to_owned(),
            stated: Err(Missing::NoFigures),
        }],
        durations: vec![StatedDuration {
            name: "all".to_owned(),
            parts: String::new(),
            stated_h: Err(Missing::NoDuration),
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
    let passes = |load: LoadFacts, rule: Rule| {
        let verdicts = evaluate(
            &AuditInput {
                loads: vec![load],
                ..AuditInput::default()
            },
            &Thresholds::default(),
        );
        let of_load = |verdict: &&RuleVerdict| verdict.rule == rule;
        matches!(
            verdicts.iter().find(of_load).unwrap().outcome,
            RuleOutcome::Passed { .. }
        )
    };
    let open = |responses| LoadFacts {
        open: true,
        responses,
        checkpoints: Err(Missing::NoCheckpoints),
        ..good_load()
    };
    for rule in [Rule::Steady, Rule::Short] {
        assert!(passes(open(Ok(HELD)), rule), "{}", rule.code());
        assert!(
            !passes(
                LoadFacts {
                    measured_s: Some(6.0),
                    ..open(Ok(HELD))
                },
                rule
            ),
            "{}",
            rule.code()
        );
    }
    assert!(!passes(open(Err(Missing::NoResponses)), Rule::Steady));
    assert!(!passes(
        LoadFacts {
            measured_s: Some(6.0),
            ..good_load()
        },
        Rule::Steady
    ));
}

/// A stop is one, whoever made it; of a machine that others use too, a little is no reason to discard figures.
#[test]
fn a_generator_that_did_not_run_is_no_measurement() {
    let severity = |percent, cause, waits_percent| {
        let mut input = good();
        input.loads[0].stops = Ok(GeneratorStops {
            measured_s: 30.0,
            percent,
            cause,
            waits_percent,
        });
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
        let load = LoadFacts {
            generator,
            connections,
            dropped: Ok((50, 5.0)),
            ..good_load()
        };
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
    input.loads[0].tpm_nopm = Ok((2_440.0, 1_000.0, Some(1_000.0)));
    input.loads[0].halves = Ok((9.0, 11.0));
    input.loads[0].trend = Ok(WindowTrend {
        range_percent: 36.0,
        slope_percent: 36.0,
        by_chance: true,
    });
    // 2,000 and 900 orders: 3.9 × √(0.555 / 2,000 + 0.555 / 900) = 11.7 %.
    (
        input.pairs[0].first.new_orders,
        input.pairs[0].second.new_orders,
    ) = (Some(2_000.0), Some(900.0));
    input.pairs[0].second.tpm_per_nopm = Ok(2.24 * 1.11);
    assert_eq!(fired(&evaluate(&input, &Thresholds::default())), []);
    input.pairs[0].second.tpm_per_nopm = Ok(2.24 * 1.12);
    assert_eq!(
        fired(&evaluate(&input, &Thresholds::default())),
        [(Rule::Ratio, Severity::Error)]
    );
}

#[test]
fn a_transaction_across_the_windows_edge_is_no_contradiction() {
    let mut input = good();
    // 2 users, 10 s, of which the last transaction took 1.2 s.
    let at_the_edge = InFlight {
        per_second: 20.0,
        mean_ms: 89.0,
        asked: 2.0,
        edges_percent: 12.0,
    };
    input.loads[0].in_flight = Ok(at_the_edge);
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
    input.loads[0].in_flight = Ok(InFlight {
        edges_percent: 1.0,
        ..at_the_edge
    });
    assert_eq!(
        fired(&evaluate(&input, &Thresholds::default())),
        [(Rule::Little, Severity::Error)]
    );
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
    assert_eq!(fired(&evaluate(&input, &Thresholds::default())), []);
    let unslowed = input.pairs[0].second.configuration.clone();
    differ(&mut input, 0, "slower", "20");
    assert_eq!(
        fired(&evaluate(&input, &Thresholds::default())),
        [(Rule::OneFactor, Severity::Error)]
    );
    input.pairs[0].second.configuration = unslowed;
    differ(&mut input, 0, "filesystem", "xfs");
    assert_eq!(
        fired(&evaluate(&input, &Thresholds::default())),
        [(Rule::OneFactor, Severity::Error)]
    );
}

#[test]
fn thresholds_decide() {
    let mut input = good();
    input.loads[0].precision = half(9.0);
    assert_eq!(
        fired(&evaluate(&input, &Thresholds::default())),
        [(Rule::Short, Severity::Warning)]
    );
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
    assert_eq!(
        fired(&evaluate(&input, &Thresholds::default())),
        [],
        "only the victims' systems count"
    );
    differ(&mut input, 1, "cpus", "8");
    assert_eq!(
        fired(&evaluate(&input, &Thresholds::default())),
        [(Rule::OneFactor, Severity::Error)]
    );
}

#[test]
fn drives_slowed_by_different_factors_differ_in_more_than_the_drive() {
    let mut input = good();
    differ(&mut input, 0, "slower", "50");
    assert_eq!(
        fired(&evaluate(&input, &Thresholds::default())),
        [(Rule::OneFactor, Severity::Error)]
    );
    let slowed = input.pairs[0].second.configuration.clone();
    input.pairs[0].first.configuration = slowed;
    let of_both = fired(&evaluate(&input, &Thresholds::default()));
    assert!(
        !of_both.iter().any(|(rule, _)| *rule == Rule::OneFactor),
        "{of_both:?}"
    );
}
