//! What a run compares within itself, and runs that are compared with each other.

use std::collections::BTreeMap;

use super::drive_file;
use super::facts::RecordFacts;
use super::load::loaded_mb;
use super::system::{drive_of, durability};
use crate::audit::input::{AuditedSide, Known, LoadMaintenance, Pair, Settings};
use crate::audit::rules::{BACKUPS, DRIVE, VICTIMS};
use crate::audit::{Evidence, Missing};
use crate::summary::{
    BlockMedium, BlockSummary, Estimate, FigureId, FigureSet, LadderSummary, LoadSummary,
    PointSummary, RunFigures, is_like_speed,
};
use plimsoll_plan::{Interference, Section};
use plimsoll_record::metric::Metric;
use plimsoll_record::{Point, Record, SubjectId, SubjectKind};

/// Media beside each other, and the same load with and without noise.
pub(super) fn of_run(facts: &RecordFacts<'_>, summary: &RunFigures) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for comparison in &summary.comparisons {
        let Some(first) = comparison
            .media
            .first()
            .and_then(|medium| summary.ladders.get(medium.ladder))
        else {
            continue;
        };
        for medium in &comparison.media[1..] {
            let second = summary.ladders.get(medium.ladder);
            // Drives that were slowed by unlike factors are not compared.
            pairs.extend(
                second
                    .filter(|second| is_like_speed(first.slower, second.slower))
                    .map(|second| of_ladders((facts, first), (facts, second), DRIVE)),
            );
        }
    }
    for noisy in summary
        .ladders
        .iter()
        .filter(|ladder| ladder.scene == Interference::Noisy)
    {
        let mut ladders = summary.ladders.iter();
        let quiet = ladders.find(|quiet| is_baseline(facts, quiet, noisy));
        pairs.extend(quiet.map(|quiet| of_ladders((facts, quiet), (facts, noisy), "noise")));
    }
    for step in &summary.blocks {
        let Some((first, others)) = step.media.split_first() else {
            continue;
        };
        pairs.extend(
            others
                .iter()
                .filter(|other| is_like_speed(first.slower, other.slower))
                .map(|other| of_media(facts, step, (first, other))),
        );
    }
    pairs
}

/// Not by its name, which has the number of systems: rule VICTIMS compares that.
fn is_baseline(facts: &RecordFacts<'_>, quiet: &LadderSummary, noisy: &LadderSummary) -> bool {
    quiet.scene != Interference::Noisy
        && quiet.step_index == noisy.step_index
        && facts.base(quiet.first_system()) == facts.base(noisy.first_system())
        && quiet.medium == noisy.medium
        && quiet.mode == noisy.mode
}

/// Two runs: where each has its highest rate. `None` where one has none and workloads are alike.
pub fn of_runs(
    first: (&Record, &RunFigures),
    second: (&Record, &RunFigures),
    unlike: Option<Evidence>,
) -> Option<Pair> {
    if let Some(pair) = of_best(first, second) {
        return Some(Pair { unlike, ..pair });
    }
    unlike.map(|unlike| Pair {
        unlike: Some(unlike),
        ..Pair::unknown(
            AuditedSide::unknown(first.0.run.title.clone()),
            AuditedSide::unknown(second.0.run.title.clone()),
        )
    })
}

fn best_ladder(summary: &RunFigures) -> Option<usize> {
    summary.headline().and_then(|(best, _)| {
        summary
            .ladders
            .iter()
            .position(|ladder| std::ptr::eq(ladder, best))
    })
}

fn of_best(first: (&Record, &RunFigures), second: (&Record, &RunFigures)) -> Option<Pair> {
    let a = RecordFacts::new(first.0);
    let b = RecordFacts::new(second.0);
    let one = first.1.ladders.get(best_ladder(first.1)?)?;
    let other = second.1.ladders.get(best_ladder(second.1)?)?;
    let mut pair = of_ladders((&a, one), (&b, other), "");
    for (side, record) in [(&mut pair.first, first.0), (&mut pair.second, second.0)] {
        side.name = format!("{} ({})", record.run.title, side.name);
    }
    Some(pair)
}

fn of_ladders(
    first: (&RecordFacts<'_>, &LadderSummary),
    second: (&RecordFacts<'_>, &LadderSummary),
    factor: &str,
) -> Pair {
    let at = same_load(first.1, second.1);
    let mut one = side(first.0, first.1);
    let mut other = side(second.0, second.1);
    let mut effect_percent = Err(Missing::NothingMeasured);
    if let Some((a, b)) = at {
        for (side, load) in [(&mut one, a), (&mut other, b)] {
            let runs = load.points.len() as f64;
            side.figures.put(FigureId::Runs, Ok(runs));
            let spread = spread(load.main_rate());
            side.figures.put(FigureId::SpreadPercent, spread);
        }
        let rates = a
            .main_rate()
            .zip(b.main_rate())
            .filter(|(a, _)| a.value > 0.0);
        effect_percent = rates
            .map(|(a, b)| (b.value / a.value - 1.0) * 100.0)
            .ok_or(Missing::NothingMeasured);
    }
    // With noise they differ on purpose.
    if factor == "noise" {
        one.maintained = without_backups(one.maintained);
        other.maintained = without_backups(other.maintained);
    }
    let both_rated = has_rated_capacity(first.0, first.1.medium.as_deref())
        && has_rated_capacity(second.0, second.1.medium.as_deref());
    let pair = Pair {
        factor: factor.to_owned(),
        effect_percent,
        ..Pair::unknown(one, other)
    };
    match both_rated {
        true => without_rated_capacities(pair),
        false => pair,
    }
}

fn load_size(load: &LoadSummary) -> (f64, f64) {
    (
        f64::from(load.load.users),
        load.load.offered_per_second.unwrap_or_default(),
    )
}

/// The highest load that both were put under.
fn same_load<'a>(
    first: &'a LadderSummary,
    second: &'a LadderSummary,
) -> Option<(&'a LoadSummary, &'a LoadSummary)> {
    let pairs = first.loads.iter().filter_map(|a| {
        second
            .loads
            .iter()
            .find(|b| a.load == b.load)
            .map(|b| (a, b))
    });
    pairs.max_by(|(a, _), (b, _)| {
        load_size(a)
            .partial_cmp(&load_size(b))
            .unwrap_or(std::cmp::Ordering::Equal)
    })
}

/// Highest less lowest of repeats in percent of their median.
fn spread(figure: Option<Estimate>) -> Known<f64> {
    let figure = figure.filter(|figure| figure.value > 0.0 && figure.max > figure.min);
    figure
        .map(|figure| (figure.max - figure.min) * 100.0 / figure.value)
        .ok_or(Missing::NoRepeats)
}

fn side(facts: &RecordFacts<'_>, ladder: &LadderSummary) -> AuditedSide {
    let system = ladder.first_system();
    let typical = ladder
        .peak
        .or(ladder.loads.len().checked_sub(1))
        .and_then(|load| ladder.loads.get(load));
    let point = typical.and_then(|load| ladder.points.get(load.typical));
    let ratio = point
        .and_then(|point| point.value(FigureId::Tpm).zip(point.value(FigureId::Nopm)))
        .filter(|(_, nopm)| *nopm > 0.0);
    let systems = ladder.fleet.as_ref().map_or(1, |fleet| fleet.systems.len()) as u32;
    let (name, noise) = match ladder.scene {
        Interference::Alone => (ladder.system.clone(), String::new()),
        Interference::Quiet => (
            format!("{}, {}", ladder.system, ladder.scene.name()),
            String::new(),
        ),
        Interference::Noisy => (
            format!("{}, {}", ladder.system, ladder.scene.name()),
            ladder.scene.name().to_owned(),
        ),
    };
    let mut figures = FigureSet::from_iter([(FigureId::Victims, f64::from(systems))]);
    if let Some(((tpm, nopm), point)) = ratio.zip(point) {
        figures.extend([
            (FigureId::TpmPerNopm, tpm / nopm),
            (FigureId::NewOrders, nopm * point.measured_s / 60.0),
        ]);
    }
    let units = facts.data_units(&ladder.workload);
    let loaded_mb = loaded_mb(facts, facts.subject(SubjectKind::System, system));
    // After loading: what a run adds to its data depends on how fast it was.
    let bytes = units
        .as_ref()
        .zip(loaded_mb)
        .map(|((_, units), mb)| mb * 1e6 / units);
    figures.put_some(FigureId::BytesPerUnit, bytes);
    AuditedSide {
        generator: facts.place(system),
        durability: durability(facts, system, ladder.medium.as_deref()),
        configuration: configuration(facts, ladder, systems),
        maintained: maintained(facts, ladder),
        noise,
        data_unit: units.map(|(unit, _)| unit).unwrap_or_default(),
        figures,
        ..AuditedSide::unknown(name)
    }
}

const HOST: [&str; 7] = [
    "cpu_model",
    "cpus",
    "memory",
    "kernel",
    "os",
    "mitigations",
    "governor",
];
const MEDIUM: [&str; 7] = [
    "filesystem",
    "form",
    "capacity",
    "slower",
    "fill",
    "flush",
    "backing",
];

/// How far a capacity in a fact, which has one decimal of its unit, may be off.
const ROUNDED: f64 = 0.03;

/// Settings of a medium that are known.
fn of_medium<'a>(
    facts: &'a RecordFacts<'_>,
    medium: Option<SubjectId>,
) -> impl Iterator<Item = (&'static str, &'a str)> {
    let known = MEDIUM.iter();
    known.filter_map(move |key| Some((*key, facts.value(medium, key)?)))
}

/// Whether the medium's drive has the capacity that it is rated for.
fn has_rated_capacity(facts: &RecordFacts<'_>, medium: Option<&str>) -> bool {
    let medium = facts.medium(medium);
    let file = facts.value(medium, "drive_file");
    let own = facts.value(medium, "capacity");
    let own = own.and_then(|value| plimsoll_plan::size::parse(value).ok());
    file.and_then(drive_file::rated_capacity)
        .zip(own)
        .is_some_and(|(rated, own)| (own.0 as f64 / rated - 1.0).abs() < ROUNDED)
}

/// Two drives that have their rated capacities differ by the drive alone.
fn without_rated_capacities(mut pair: Pair) -> Pair {
    for side in [&mut pair.first, &mut pair.second] {
        side.configuration.remove("capacity");
    }
    pair
}

/// What can make a difference, by name.
fn configuration(facts: &RecordFacts<'_>, ladder: &LadderSummary, systems: u32) -> Settings {
    let system = ladder.first_system();
    let medium = facts.medium(ladder.medium.as_deref());
    let mut all = Settings::new();
    let mut add =
        |key: &str, value: Option<String>| all.extend(value.map(|value| (key.to_owned(), value)));
    HOST.iter()
        .for_each(|key| add(key, facts.host(key).map(str::to_owned)));
    of_medium(facts, medium).for_each(|(key, value)| add(key, Some(value.to_owned())));
    add(
        DRIVE,
        drive_of(facts, ladder.medium.as_deref(), ladder.drive.as_deref()),
    );
    let id: Option<SubjectId> = facts.subject(SubjectKind::System, system);
    facts
        .of(id)
        .iter()
        .filter(|fact| fact.key.starts_with("setting.") || fact.key == "version")
        .for_each(|fact| add(&fact.key, Some(fact.value.clone())));
    add(
        "limits",
        facts.plan_text(Section::System, facts.base(system), "limits."),
    );
    add(
        "workload",
        facts.plan_text(Section::Workload, &ladder.workload, ""),
    );
    add("mode", Some(ladder.mode.clone()));
    add(
        "generator",
        facts
            .place(system)
            .ok()
            .map(|place| place.name().to_owned()),
    );
    add(VICTIMS, Some(systems.to_string()));
    all
}

/// What ran in the windows of each load.
fn maintained(facts: &RecordFacts<'_>, ladder: &LadderSummary) -> Known<Vec<LoadMaintenance>> {
    let all = ladder.points.iter().map(|point| LoadMaintenance {
        load: load_of(point),
        ran: ran(facts, ladder, point),
    });
    counted(all)
}

fn counted(all: impl Iterator<Item = LoadMaintenance>) -> Known<Vec<LoadMaintenance>> {
    let all: Vec<LoadMaintenance> = all.filter(|load| !load.ran.is_empty()).collect();
    match all.is_empty() {
        true => Err(Missing::NoMaintenance),
        false => Ok(all),
    }
}

fn ran(
    facts: &RecordFacts<'_>,
    ladder: &LadderSummary,
    point: &PointSummary,
) -> BTreeMap<String, f64> {
    let mut ran: BTreeMap<String, f64> = BTreeMap::new();
    let checkpoints = point
        .database
        .as_ref()
        .and_then(|database| database.checkpoints_per_minute);
    ran.extend(checkpoints.map(|per_minute| {
        (
            "checkpoints".to_owned(),
            per_minute * point.measured_s / 60.0,
        )
    }));
    let vacuums = Metric::DbVacuums.info().name;
    let vacuums = point.metrics.iter().find(|mean| {
        mean.metric == vacuums
            && mean.subject_kind == SubjectKind::System
            && ladder.system.contains(&mean.subject)
    });
    ran.extend(vacuums.map(|mean| ("vacuum".to_owned(), mean.mean)));
    if ladder.scene != Interference::Alone
        || facts.record.backups.iter().any(|row| row.point.is_some())
    {
        ran.insert(BACKUPS.to_owned(), backups(facts, ladder));
    }
    ran
}

fn without_backups(maintained: Known<Vec<LoadMaintenance>>) -> Known<Vec<LoadMaintenance>> {
    counted(maintained?.into_iter().map(|mut load| {
        load.ran.remove(BACKUPS);
        load
    }))
}

/// Backups that ran beside the points of a ladder.
fn backups(facts: &RecordFacts<'_>, ladder: &LadderSummary) -> f64 {
    let mut points: Vec<&Point> = facts.record.points.iter().collect();
    points.retain(|point| point.step_index == ladder.step_index && point.scene == ladder.scene);
    let backups = facts.record.backups.iter();
    let beside = backups.filter(|row| points.iter().any(|point| Some(point.id) == row.point));
    beside.count() as f64
}

fn load_of(point: &PointSummary) -> String {
    let repeat = if point.repeat > 0 {
        format!(", {}", point.repeat + 1)
    } else {
        String::new()
    };
    match point.key.load.offered_per_second {
        Some(rate) => format!("{rate}/s{repeat}"),
        None => format!("{}{repeat}", point.key.load.users),
    }
}

/// The same jobs on two media.
fn of_media(
    facts: &RecordFacts<'_>,
    step: &BlockSummary,
    (first, second): (&BlockMedium, &BlockMedium),
) -> Pair {
    let side = |medium: &BlockMedium| {
        let job = medium.jobs.first();
        let figures = job.and_then(|job| job.figures.as_ref());
        let mut configuration = Settings::new();
        let id = facts.medium(Some(&medium.medium));
        let known = of_medium(facts, id);
        configuration.extend(known.map(|(key, value)| (key.to_owned(), value.to_owned())));
        let drive = drive_of(facts, Some(&medium.medium), medium.drive.as_deref());
        configuration.extend(drive.map(|drive| (DRIVE.to_owned(), drive)));
        configuration.insert("workers".to_owned(), medium.workers.to_string());
        configuration.insert("worker bytes".to_owned(), medium.worker_bytes.to_string());
        let mut side = AuditedSide {
            durability: durability(facts, "", Some(&medium.medium)),
            generator: Err(Missing::NotForThisLoad),
            configuration,
            maintained: Err(Missing::NotForThisLoad),
            ..AuditedSide::unknown(format!("{}, {}", step.step, medium.medium))
        };
        for figure in [FigureId::TpmPerNopm, FigureId::BytesPerUnit] {
            side.figures.miss(figure, Missing::NotForThisLoad);
        }
        let runs = figures.map(|figures| f64::from(figures.rounds));
        let runs = runs.ok_or(Missing::NothingMeasured);
        side.figures.put(FigureId::Runs, runs);
        let spread = spread(job.and_then(|job| job.figure(FigureId::Iops)));
        side.figures.put(FigureId::SpreadPercent, spread);
        side
    };
    let ratio = second
        .jobs
        .first()
        .and_then(|job| job.against_first.as_ref());
    let effect_percent = ratio
        .and_then(|ratios| ratios.get(FigureId::Iops))
        .map(|own| (own.ratio - 1.0) * 100.0)
        .ok_or(Missing::NothingMeasured);
    let pair = Pair {
        factor: DRIVE.to_owned(),
        effect_percent,
        ..Pair::unknown(side(first), side(second))
    };
    let rated = |medium: &BlockMedium| has_rated_capacity(facts, Some(&medium.medium));
    match rated(first) && rated(second) {
        true => without_rated_capacities(pair),
        false => pair,
    }
}
