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

/// Figures, and the evidence that rests on any of them.
macro_rules! figures {
    ($($level:ident $($figure:ident),+ => $pattern:pat,)*) => {
        &[$($(FactCase {
            name: stringify!($figure),
            level: Level::$level,
            remove: |input| remove_figure(input, Level::$level, FigureId::$figure),
            rests: |evidence| matches!(evidence, $pattern),
        }),+),*]
    };
}

use Evidence as E;

const FACTS: &[FactCase] = facts! {
    Load "findings": |i| i.loads[0].findings.clear(), E::Found { .. },
    Other "findings": |i| i.others.clear(), E::Found { .. },
    Load "buffered": |i| i.loads[0].buffered = false, E::PageCache,
    Load "suspicions": |i| i.loads[0].suspicions.clear(), E::ReachedDevice { .. } | E::FastReads { .. } | E::FastLink { .. },
    Load "rows": |i| i.loads[0].rows.clear(), E::InOrder { .. } | E::OutOfOrder { .. } | E::MeanAtLeast { .. } | E::MeanAtMost { .. } | E::NewOrders { .. } | E::BandwidthOf { .. } | E::RangeOf { .. } | E::BesideOthers { .. },
    System "generator": |i| i.systems[0].generator = Err(Missing::NoPlace), E::GeneratorAt { .. },
    System "latencies": |i| i.systems[0].latencies = None, E::Latencies { .. },
    System "percentiles": |i| i.systems[0].percentiles = None, E::Percentiles { .. },
    System "durability": |i| i.systems[0].durability.clear(), E::Safe { .. } | E::Unsafe { .. },
    System "governor": |i| i.systems[0].governor = None, E::Governor { .. },
    System "diagnoses": |i| i.systems[0].diagnoses.clear(), E::Diagnosed { .. },
    Pair "generator": |i| second(i, |side| side.generator = Err(Missing::NoPlace)), E::GeneratorsAt { .. },
    Pair "durability": |i| second(i, |side| side.durability.clear()), E::Safe { .. } | E::SettingsDiffer { .. },
    Pair "configuration": |i| second(i, |side| side.configuration.clear()), E::Factors { .. },
    Pair "maintained": |i| second(i, |side| side.maintained = Err(Missing::NoMaintenance)), E::Maintenance { .. },
    Pair "effect_percent": |i| i.pairs.iter_mut().for_each(|pair| pair.effect_percent = Err(Missing::NothingMeasured)), E::RepeatSpread { .. },
    Pair "unlike": |i| i.pairs.iter_mut().for_each(|pair| pair.unlike = None), E::Unlike { .. },
    Other "stated": |i| i.sentences[0].stated = None, E::Stated { .. },
    Other "stated_h": |i| i.durations[0].stated_h = None, E::AddedUp { .. },
    Other "sum_h": |i| i.durations[0].sum_h = None, E::AddedUp { .. },
    Other "file": |i| i.file = None, E::DigestMatches { .. } | E::DigestDiffers { .. } | E::NoDigest,
};

const FIGURES: &[FactCase] = figures! {
    Load MeasuredS => E::Window { .. } | E::NoFinding | E::GeneratorStopped { .. },
    Load InFlight, PerSecond, TimeInFlight => E::InFlight { .. },
    Load ConservedS => E::Conserved { .. },
    Load Offered, Settled => E::Counted { .. },
    Load RangePercent, SlopePercent => E::Held { .. },
    Load HalvesPercent => E::Off { evidence: "halves", .. },
    Load ResponseRange, ResponseSlope, ResponseRangeByChance, ResponseSlopeByChance => E::ResponseTimes { .. },
    Load IntervalPercent => E::Interval { .. } | E::AtMost { evidence: "response_interval", .. },
    Load Runs => E::NoInterval { .. },
    Load Checkpoints => E::AtLeast { evidence: "checkpoints", .. },
    Load WrittenMb, DriveCacheMb => E::Written { .. },
    Load DataMb, MemoryMb => E::DataAndMemory { .. },
    Load DeviceReads => E::DeviceReads { .. },
    Load GeneratorPercent => E::AtMost { evidence: "generator_busy", .. } | E::Dropped { cause: DropCause::Generator, .. },
    Load StoppedPercent => E::GeneratorStopped { .. } | E::AtMost { evidence: "generator_waits", .. },
    Load GeneratorWaits => E::AtMost { evidence: "generator_waits", .. },
    Load LagP99, P50 => E::ScheduleLag { .. },
    Load BusyPercent => E::Dropped { cause: DropCause::System, .. } | E::Dropped { busy_percent: Some(_), .. },
    Load Dropped, DroppedPercent => E::Dropped { .. },
    Load StealPercent => E::AtMost { evidence: "steal", .. },
    Load OtherCpuPercent => E::AtMost { evidence: "other_cpu", .. },
    Load Tpm, Nopm => E::TpmPerNopm { .. },
    Load ConditionsVerified => E::Conditions { .. },
    Load EmulatedOps, LatePercent, BeyondPercent => E::KeptUp { .. },
    Load SimulatedCpu => E::AtMost { evidence: "simulated_cpu", .. } | E::SimulatedMemory { .. } | E::SimulatedEnough,
    Load Acknowledged => E::Kept { .. },
    System FlushUs, FastestFlushUs, FlushesPerSecond => E::FlushTime { .. },
    System Fill => E::Filled { .. },
    System CompressiblePercent, StatedCompressiblePercent => E::Compressible { .. },
    System CalibrationOffPercent => E::Off { evidence: "calibration", .. },
    System OtherIoPercent => E::AtMost { evidence: "other_io", .. },
    Pair Victims => E::Victims { .. },
    Pair TpmPerNopm => E::RatiosDiffer { .. },
    Pair BytesPerUnit => E::BytesPer { .. },
    Pair Runs => E::Repeats { .. },
    Pair SpreadPercent => E::RepeatSpread { .. },
    Other MbPerSecond, Seconds, MovedMb => E::Moved { .. },
};

/// Limits are wider with these; no evidence rests on them alone.
const WIDENING: [FigureId; 3] = [
    FigureId::InFlightEdges,
    FigureId::HalvesByChance,
    FigureId::NewOrders,
];

fn cases() -> impl Iterator<Item = &'static FactCase> {
    FACTS.iter().chain(FIGURES)
}

fn figures_at(input: &mut AuditInput, level: Level) -> Vec<&mut FigureSet> {
    match level {
        Level::Load => vec![&mut input.loads[0].figures],
        Level::System => vec![&mut input.systems[0].figures],
        Level::Pair => {
            let pairs = input.pairs.iter_mut();
            pairs.map(|pair| &mut pair.second.figures).collect()
        }
        Level::Other => vec![&mut input.moves[0].figures],
    }
}

fn remove_figure(input: &mut AuditInput, level: Level, figure: FigureId) {
    for figures in figures_at(input, level) {
        figures.set(figure, None);
    }
}

fn second(input: &mut AuditInput, remove: fn(&mut AuditedSide)) {
    let pairs = input.pairs.iter_mut();
    pairs.for_each(|pair| remove(&mut pair.second));
}

#[test]
fn every_figure_has_a_case() {
    let mut input = good();
    for level in [Level::Load, Level::System, Level::Pair, Level::Other] {
        let known: Vec<FigureId> = figures_at(&mut input, level)
            .iter()
            .flat_map(|figures| figures.ids())
            .filter(|figure| !WIDENING.contains(figure))
            .collect();
        for figure in known {
            let is_of =
                |case: &&FactCase| case.level == level && case.name == format!("{figure:?}");
            assert!(
                FIGURES.iter().find(is_of).is_some(),
                "{figure:?} of {level:?}"
            );
        }
    }
}

/// A new fact does not compile here until it has a line above.
#[test]
fn every_fact_has_a_case() {
    let input = good();
    let LoadInput {
        about: _,
        points: _,
        findings: _,
        figures: _,
        open: _,
        probe: _,
        above_line: _,
        simulated: _,
        trend_by_chance: _,
        buffered: _,
        stop_cause: _,
        drive: _,
        failed_conditions: _,
        simulated_memory: _,
        suspicions: _,
        rows: _,
    } = &input.loads[0];
    let SystemInput {
        about: _,
        generator: _,
        latencies: _,
        percentiles: _,
        durability: _,
        governor: _,
        figures: _,
        diagnoses: _,
    } = &input.systems[0];
    // `noise` is what is compared.
    let AuditedSide {
        name: _,
        noise: _,
        data_unit: _,
        generator: _,
        durability: _,
        configuration: _,
        maintained: _,
        figures: _,
    } = &input.pairs[0].first;
    for Case { name, input, .. } in inputs() {
        for verdict in evaluate(&input, &Thresholds::default()) {
            let level = Level::of(&verdict.about);
            for evidence in stated(&verdict) {
                let known = |case: &FactCase| case.level == level && (case.rests)(evidence);
                let is_note = matches!(evidence, E::MissingInput { .. });
                let is_known = is_note || cases().any(known);
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
        for case in cases() {
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
                "Acknowledged",
                "BusyPercent",
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
