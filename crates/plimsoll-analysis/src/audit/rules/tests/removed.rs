//! Without a fact no rule passes, fires or states a number of it.

use super::*;
use crate::audit::Evidence;

/// What a fact is about.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Level {
    Load,
    System,
    Pair,
    Other,
}

impl Level {
    fn of(about: &AuditSubject) -> Self {
        match about {
            AuditSubject::Named(name) if name == "16 users" => Self::Load,
            AuditSubject::Named(name) if name == "db@nvme" => Self::System,
            AuditSubject::Pair { .. } => Self::Pair,
            _ => Self::Other,
        }
    }
}

/// A fact: how it is removed, and the evidence that rests on it.
struct FactCase {
    name: &'static str,
    level: Level,
    remove: fn(&mut AuditInput),
    rests: fn(&Evidence) -> bool,
}

macro_rules! facts {
    ($($level:ident $name:literal: |$input:ident| $remove:expr, $pattern:pat,)*) => {
        &[$(FactCase {
            name: $name,
            level: Level::$level,
            remove: |$input| $remove,
            rests: |evidence| matches!(evidence, $pattern),
        }),*]
    };
}

use Evidence as E;

const FACTS: &[FactCase] = facts! {
    Load "findings": |i| i.loads[0].findings.clear(), E::Found { .. },
    Other "findings": |i| i.others.clear(), E::Found { .. },
    Load "measured_s": |i| i.loads[0].measured_s = None, E::Window { .. } | E::NoFinding,
    Load "in_flight": |i| i.loads[0].in_flight = Err(Missing::NoInFlight), E::InFlight { .. },
    Load "counted": |i| i.loads[0].counted = Err(Missing::NoCounts), E::Conserved { .. } | E::Counted { .. },
    Load "trend": |i| i.loads[0].trend = Err(Missing::NoSeries), E::Held { .. },
    Load "halves": |i| i.loads[0].halves = Err(Missing::NoSeries), E::Halves { .. },
    Load "responses": |i| i.loads[0].responses = Err(Missing::NoResponses), E::ResponseTimes { .. },
    Load "precision": |i| i.loads[0].precision = Err(Missing::NoInterval), E::Interval { .. } | E::NoInterval { .. } | E::ResponseInterval { .. },
    Load "checkpoints": |i| i.loads[0].checkpoints = Err(Missing::NoCheckpoints), E::Checkpoints { .. },
    Load "written": |i| i.loads[0].written = Err(Missing::NoDriveCache), E::Written { .. },
    Load "sizes": |i| i.loads[0].sizes = Err(Missing::NoSizes), E::DataAndMemory { .. },
    Load "buffered": |i| i.loads[0].buffered = Err(Missing::NoCacheMode), E::PageCache,
    Load "suspicions": |i| i.loads[0].suspicions.clear(), E::ReachedDevice { .. } | E::FastReads { .. } | E::FastLink { .. },
    Load "reads": |i| i.loads[0].reads = Err(Missing::NoDeviceCounters), E::DeviceReads { .. },
    Load "generator": |i| i.loads[0].generator = Err(Missing::NoGenerator), E::GeneratorBusy { .. } | E::Dropped { cause: DropCause::Generator, .. },
    Load "stops": |i| i.loads[0].stops = Err(Missing::NoGenerator), E::GeneratorStopped { .. } | E::GeneratorWaits { .. },
    Load "lag": |i| i.loads[0].lag = Err(Missing::NoLag), E::ScheduleLag { .. },
    Load "connections": |i| i.loads[0].connections = Err(Missing::NoCounts), E::Dropped { cause: DropCause::System, .. } | E::Dropped { busy_percent: Some(_), .. },
    Load "dropped": |i| i.loads[0].dropped = Err(Missing::NoCounts), E::Dropped { .. },
    Load "steal": |i| i.loads[0].steal = Err(Missing::NoHost), E::Steal { .. },
    Load "other_cpu": |i| i.loads[0].other_cpu = Err(Missing::NoHost), E::OtherCpu { .. },
    Load "tpm_nopm": |i| i.loads[0].tpm_nopm = Err(Missing::NoTpm), E::TpmPerNopm { .. },
    Load "conditions": |i| i.loads[0].conditions = Err(Missing::NotVerified), E::Conditions { .. },
    Load "emulated": |i| i.loads[0].emulated = Err(Missing::NoEmulation), E::KeptUp { .. },
    Load "simulated": |i| i.loads[0].simulated = Err(Missing::NoSimulation), E::SimulatedCpu { .. } | E::SimulatedMemory { .. } | E::SimulatedEnough,
    Load "cut": |i| i.loads[0].cut = None, E::Kept { .. },
    Load "row": |i| remove_row(&mut i.loads[0]), E::InOrder { .. } | E::OutOfOrder { .. } | E::MeanAtLeast { .. } | E::MeanAtMost { .. } | E::NewOrders { .. } | E::BandwidthOf { .. } | E::RangeOf { .. } | E::BesideOthers { .. },
    System "generator": |i| i.systems[0].generator = Err(Missing::NoPlace), E::GeneratorAt { .. },
    System "latencies": |i| i.systems[0].latencies = Err(Missing::NoMethod), E::Latencies { .. },
    System "percentiles": |i| i.systems[0].percentiles = Err(Missing::NoMethod), E::Percentiles { .. },
    System "durability": |i| i.systems[0].durability = Err(Missing::NoSettings), E::Safe { .. } | E::Unsafe { .. },
    System "flush": |i| i.systems[0].flush = Err(Missing::NoFlushes), E::FlushTime { .. },
    System "fill": |i| i.systems[0].fill = Err(Missing::NoSampling), E::Filled { .. },
    System "entropy": |i| i.systems[0].entropy = Err(Missing::NoSampling), E::Compressible { .. },
    System "governor": |i| i.systems[0].governor = Err(Missing::NoGovernor), E::Governor { .. },
    System "calibration": |i| i.systems[0].calibration = Err(Missing::NoCalibration), E::Calibration { .. },
    System "other_io": |i| i.systems[0].other_io = Err(Missing::NoDeviceCounters), E::OtherIo { .. },
    System "diagnoses": |i| i.systems[0].diagnoses.clear(), E::Diagnosed { .. },
    Pair "generator": |i| second(i, |side| side.generator = Err(Missing::NoPlace)), E::GeneratorsAt { .. },
    Pair "durability": |i| second(i, |side| side.durability = Err(Missing::NoSettings)), E::Safe { .. } | E::SettingsDiffer { .. },
    Pair "configuration": |i| second(i, |side| side.configuration = Err(Missing::NoConfiguration)), E::Factors { .. },
    Pair "maintained": |i| second(i, |side| side.maintained = Err(Missing::NoMaintenance)), E::Maintenance { .. },
    Pair "victims": |i| second(i, |side| side.victims = Err(Missing::NoNoise)), E::Victims { .. },
    Pair "tpm_per_nopm": |i| second(i, |side| side.tpm_per_nopm = Err(Missing::NoTpm)), E::RatiosDiffer { .. },
    Pair "bytes_per": |i| second(i, |side| side.bytes_per = Err(Missing::NoSizes)), E::BytesPer { .. },
    Pair "runs": |i| second(i, |side| side.runs = Err(Missing::NoRepeats)), E::Repeats { .. },
    Pair "spread_percent": |i| second(i, |side| side.spread_percent = Err(Missing::NoRepeats)), E::RepeatSpread { .. },
    Pair "effect_percent": |i| i.pairs.iter_mut().for_each(|pair| pair.effect_percent = Err(Missing::NothingMeasured)), E::RepeatSpread { .. },
    Pair "unlike": |i| i.pairs.iter_mut().for_each(|pair| pair.unlike = None), E::Unlike { .. },
    Other "moved": |i| i.moves[0].moved = Err(Missing::NoBytes), E::Moved { .. },
    Other "stated": |i| i.sentences[0].stated = Err(Missing::NoFigures), E::Stated { .. },
    Other "stated_h": |i| i.durations[0].stated_h = Err(Missing::NoDuration), E::AddedUp { .. },
    Other "sum_h": |i| i.durations[0].sum_h = None, E::AddedUp { .. },
    Other "file": |i| i.file = None, E::DigestMatches { .. } | E::DigestDiffers { .. } | E::NoDigest,
};

fn remove_row(load: &mut LoadFacts) {
    load.row = Err(Missing::OneFigure);
    load.printed.clear();
}

fn second(input: &mut AuditInput, remove: fn(&mut AuditedSide)) {
    let pairs = input.pairs.iter_mut();
    pairs.for_each(|pair| remove(&mut pair.second));
}

/// A new fact does not compile here until it has a line above.
#[test]
fn every_fact_has_a_case() {
    let input = good();
    let LoadFacts {
        about: _,
        points: _,
        open: _,
        probe: _,
        above_line: _,
        findings: _,
        measured_s: _,
        in_flight: _,
        counted: _,
        trend: _,
        halves: _,
        responses: _,
        precision: _,
        checkpoints: _,
        written: _,
        sizes: _,
        reads: _,
        buffered: _,
        suspicions: _,
        generator: _,
        stops: _,
        lag: _,
        connections: _,
        dropped: _,
        steal: _,
        other_cpu: _,
        tpm_nopm: _,
        conditions: _,
        emulated: _,
        simulated: _,
        cut: _,
        row: _,
        printed: _,
    } = &input.loads[0];
    let SystemFacts {
        about: _,
        generator: _,
        latencies: _,
        percentiles: _,
        durability: _,
        flush: _,
        fill: _,
        entropy: _,
        governor: _,
        calibration: _,
        other_io: _,
        diagnoses: _,
    } = &input.systems[0];
    // Limits of RATIO are wider with `new_orders`; `noise` is what is compared.
    let AuditedSide {
        name: _,
        noise: _,
        new_orders: _,
        generator: _,
        durability: _,
        configuration: _,
        maintained: _,
        victims: _,
        tpm_per_nopm: _,
        bytes_per: _,
        runs: _,
        spread_percent: _,
    } = &input.pairs[0].first;
    for Case { name, input, .. } in inputs() {
        for verdict in evaluate(&input, &Thresholds::default()) {
            let level = Level::of(&verdict.about);
            for evidence in stated(&verdict) {
                let known = |case: &FactCase| case.level == level && (case.rests)(evidence);
                let is_note = matches!(evidence, E::MissingInput { .. });
                let is_known = is_note || FACTS.iter().any(known);
                assert!(
                    is_known || is_whole(&verdict),
                    "{name}: {evidence:?} of {level:?} rests on no fact"
                );
            }
        }
    }
}

fn is_whole(verdict: &RuleVerdict) -> bool {
    verdict.about == AuditSubject::Whole && verdict.rule == Rule::Intact
}

/// A run, and the rule that its fault is about.
struct Case {
    name: &'static str,
    rule: Option<Rule>,
    input: AuditInput,
}

/// The good run, and all with a fault.
fn inputs() -> Vec<Case> {
    let faulty = FAULTS.iter().map(|(rule, name, _, fault)| {
        let mut input = good();
        fault(&mut input);
        Case {
            name,
            rule: Some(*rule),
            input,
        }
    });
    let good = Case {
        name: "good",
        rule: None,
        input: good(),
    };
    [good].into_iter().chain(faulty).collect()
}

fn stated(verdict: &RuleVerdict) -> &[Evidence] {
    match &verdict.outcome {
        RuleOutcome::Passed { evidence } | RuleOutcome::Fired { evidence, .. } => evidence,
        RuleOutcome::NotEvaluated { .. } => &[],
    }
}

/// Whether a verdict names a missing input, or fires for something else.
fn is_honest(verdict: &RuleVerdict) -> bool {
    match &verdict.outcome {
        RuleOutcome::NotEvaluated { .. } | RuleOutcome::Fired { .. } => true,
        RuleOutcome::Passed { evidence } => evidence
            .iter()
            .any(|own| matches!(own, E::MissingInput { .. })),
    }
}

#[test]
fn no_rule_passes_or_fires_on_a_fact_that_was_removed() {
    for Case { name, rule, input } in inputs() {
        let before = evaluate(&input, &Thresholds::default());
        for case in FACTS {
            let rests = |verdict: &RuleVerdict| {
                let own = case.level == Level::of(&verdict.about);
                own && stated(verdict)
                    .iter()
                    .any(|evidence| (case.rests)(evidence))
            };
            // A fault changes what its rule says, and nothing else.
            let is_of_fault = |verdict: &RuleVerdict| rule.is_none_or(|own| own == verdict.rule);
            if !before.iter().any(|own| is_of_fault(own) && rests(own)) {
                continue;
            }
            let mut without = input.clone();
            (case.remove)(&mut without);
            let after = evaluate(&without, &Thresholds::default());
            let states = after.iter().find(|verdict| rests(verdict));
            assert!(
                states.is_none(),
                "{name}, without {}: {states:?}",
                case.name
            );
            // Findings, diagnoses and differences of workloads are there or not; how busy connections were only explains drops.
            let is_optional = [
                "findings",
                "diagnoses",
                "unlike",
                "suspicions",
                "cut",
                "connections",
            ]
            .contains(&case.name);
            for verdict in before
                .iter()
                .filter(|verdict| rests(verdict) && !is_optional)
            {
                let mut same = after.iter().filter(|own| own.rule == verdict.rule);
                let is_named = same.all(|own| own.about != verdict.about || is_honest(own));
                assert!(
                    is_named,
                    "{name}, without {}: {} passes as if nothing was missing",
                    case.name,
                    verdict.rule.code()
                );
            }
            // Nothing fires because a fact is missing.
            let fires = |all: &[RuleVerdict]| {
                fired(all)
                    .into_iter()
                    .map(|(rule, _)| rule)
                    .collect::<BTreeSet<_>>()
            };
            let new: Vec<Rule> = fires(&after).difference(&fires(&before)).copied().collect();
            assert_eq!(new, [], "{name}, without {}", case.name);
        }
    }
}
