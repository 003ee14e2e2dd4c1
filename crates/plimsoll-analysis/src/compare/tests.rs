mod gate;
mod repeats;
mod requirement;
mod workload;

use super::*;
use crate::audit::{Evidence, Rule};
use crate::latency::Slice;
use crate::summarise;
use crate::summary::{FigureId, Interval, Ratio, Ticks, Verdict};
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{Interference, RecordedPlan};
use plimsoll_record::hist::CoarseHist;
use plimsoll_record::{LoadKey, OfferedLoad, fixture};
use plimsoll_record::{RunInfo, SubjectKind};
use plimsoll_stats::made;

fn load_key(users: u32) -> LoadKey {
    LoadKey {
        step: "oltp".into(),
        system: "db".into(),
        medium: Some("nvme".into()),
        scene: Interference::Alone,
        job: None,
        load: OfferedLoad::closed(users),
    }
}

/// A window of seconds with these counts.
fn rates(counts: &[f64]) -> Repeat {
    Repeat {
        seconds: counts.iter().map(|count| (*count, 1.0)).collect(),
        slices: Vec::new(),
        latency: plimsoll_record::hist::Hist::new(),
        figures: RepeatFigures::default(),
    }
}

/// The same with twenty latencies each second, the inverse of its count.
fn window(counts: &[f64]) -> Repeat {
    let value = |count: &f64| Nanos((4e9 / count) as u64);
    let buckets = counts.iter().map(|count| (value(count), 20));
    let slice = |count: &f64| {
        let mut slice = Slice::default();
        slice.add(&CoarseHist::of([value(count); 20]));
        slice
    };
    Repeat {
        slices: counts.iter().map(slice).collect(),
        latency: plimsoll_record::hist::Hist::of_buckets(buckets, 0, Nanos::SECOND),
        ..rates(counts)
    }
}

fn side(label: &str, repeats: Vec<Repeat>) -> ComparedSide {
    let point = SidePoint {
        key: load_key(4),
        figure: FigureId::Transactions,
        derived: None,
        slower: None,
        workload: WorkloadParameters::default(),
        systems: 1,
        verdict: Verdict::Valid,
        is_search: false,
        repeats,
    };
    let run: RunInfo = fixture::single_point().run;
    let identities = vec![RunIdentity::of(&fixture::single_point())];
    ComparedSide {
        label: label.into(),
        runs: vec![run],
        identities,
        configuration: Configuration::default(),
        points: vec![point],
        requirements: Vec::new(),
    }
}

fn compared(a: &ComparedSide, b: &ComparedSide, ask: &Ask) -> PointComparison {
    compare(&[a.clone(), b.clone()], ask).others[0].points[0].clone()
}

/// Seconds whose neighbours correlate as those of a drive that collects garbage now and then.
fn seconds(seed: u64, factor: f64) -> Vec<f64> {
    made::series(seed, 600, 0.8, 0.1)
        .into_iter()
        .map(|rate| rate * factor)
        .collect()
}

#[test]
fn equal_runs_show_no_difference_in_most_of_a_hundred_trials() {
    let run = |seed: u64| side("x", vec![rates(&seconds(seed, 1.0))]);
    let points: Vec<PointComparison> = (0..100)
        .map(|trial: u64| compared(&run(trial * 2), &run(trial * 2 + 1), &Ask::default()))
        .collect();
    let equal = points
        .iter()
        .filter_map(|point| point.rate.interval())
        .filter(|interval| interval.low <= 1.0 && interval.high >= 1.0)
        .count();
    assert!(equal >= 93, "{equal} of 100");
    assert!(
        points
            .iter()
            .all(|point| point.rate.effect == Effect::NotEvaluated),
        "one window does not show how runs vary"
    );
}

#[test]
fn drives_of_unlike_speed_have_no_ratio_however_it_is_asked() {
    let real = side("real", vec![rates(&seconds(1, 1.0))]);
    let mut slowed = real.clone();
    slowed.points[0].slower = Some(50.0);
    let anyway = Ask {
        anyway: true,
        ..Ask::default()
    };
    for ask in [Ask::default(), anyway] {
        let point = compared(&real, &slowed, &ask);
        let because = NotComparable::Speeds;
        assert_eq!(point.method, IntervalBasis::None { because });
        assert_eq!(point.rate.ratio, None);
        assert!(point.times.is_empty());
    }
    assert!(
        compared(&slowed, &slowed.clone(), &Ask::default())
            .rate
            .ratio
            .is_some()
    );
}

#[test]
fn three_percent_with_five_repeats_are_found_and_nothing_is_not() {
    // Repeats that scatter by 1 %, within their windows and from one time to the next.
    let side_of = |seed: u64, factor: f64| {
        let levels = made::series(seed + 5_000, 5, 0.0, 0.008);
        let repeat = |(i, level): (usize, &f64)| {
            let seconds = made::series(seed * 10 + i as u64, 20, 0.5, 0.02);
            rates(
                &seconds
                    .iter()
                    .map(|rate| rate * level / 1000.0 * factor)
                    .collect::<Vec<_>>(),
            )
        };
        side("x", levels.iter().enumerate().map(repeat).collect())
    };
    let effects = |factor: f64| -> Vec<Effect> {
        let one = |trial: u64| {
            compared(
                &side_of(trial * 2, 1.0),
                &side_of(trial * 2 + 1, factor),
                &Ask::default(),
            )
            .rate
            .effect
        };
        (0..100).map(one).collect()
    };
    let found = effects(1.03)
        .iter()
        .filter(|effect| **effect == Effect::More)
        .count();
    assert!(found >= 85, "{found} of 100");
    let equal = effects(1.0)
        .iter()
        .filter(|effect| **effect == Effect::NotShown)
        .count();
    assert!(equal >= 93, "{equal} of 100");
}

#[test]
fn figures_ratio_and_ranks_stand_beside_each_other() {
    let five = |level: f64| {
        let of = |i: f64| window(&[level * (1.0 + i / 100.0); 60]);
        side("x", [0.0, 0.5, -0.5, 0.2, -0.2].map(of).to_vec())
    };
    let point = compared(&five(1000.0), &five(1420.0), &Ask::default());
    assert_eq!(point.method, IntervalBasis::Repeats);
    let Ratio { ratio, interval } = point.rate.ratio.unwrap();
    assert!((ratio - 1.42).abs() < 1e-9, "{point:?}");
    let interval = interval.unwrap();
    assert!(
        interval.low > 1.41 && interval.high < 1.43 && point.rate.effect == Effect::More,
        "{interval:?}"
    );
    let ranks = point.ranks.unwrap();
    assert!((ranks.p - 2.0 / 252.0).abs() < 1e-12 && ranks.cliffs_delta == 1.0);
    let first = point.rate.first.unwrap();
    assert_eq!((first.value, point.first.repeats), (1000.0, 5));
    assert!((first.spread_percent().unwrap() - 1.0).abs() < 1e-9);
    let p50 = &point.times[0];
    assert!(
        p50.figure == FigureId::P50 && p50.effect == Effect::Less,
        "{p50:?}"
    );
    assert!(
        (p50.first.unwrap().value - 4.0).abs() < 0.02 && p50.difference.unwrap().high < -1.1,
        "{p50:?}"
    );
}

#[test]
fn a_comparison_without_an_interval_has_a_reason() {
    let short = side("x", vec![window(&[1000.0; 30])]);
    let point = compared(&short, &short, &Ask::default());
    assert_eq!(
        (point.method, point.rate.effect),
        (
            IntervalBasis::None {
                because: NotComparable::ShortWindow
            },
            Effect::NotEvaluated
        )
    );
    assert_eq!(
        point.rate.ratio.map(|own| own.ratio),
        Some(1.0),
        "the figure is there, its interval is not"
    );
    let drifts: Vec<f64> = (0..400).map(|i| 1000.0 + f64::from(i)).collect();
    let drifts = side("x", vec![window(&drifts)]);
    assert_eq!(
        compared(&drifts, &drifts, &Ask::default()).method,
        IntervalBasis::None {
            because: NotComparable::Correlated
        }
    );
    let mut invalid = side("x", vec![window(&[1000.0; 90])]);
    invalid.points[0].verdict = Verdict::Invalid;
    let point = compared(
        &side("y", vec![window(&[1000.0; 90])]),
        &invalid,
        &Ask::default(),
    );
    assert_eq!(
        (point.method, point.rate.ratio),
        (
            IntervalBasis::None {
                because: NotComparable::Invalid
            },
            None
        )
    );
    let nothing = side("x", vec![window(&[0.0; 90])]);
    assert_eq!(
        compared(&nothing, &nothing, &Ask::default()).method,
        IntervalBasis::None {
            because: NotComparable::Nothing
        }
    );
}

#[test]
fn an_effect_is_compared_with_the_smallest_that_matters() {
    let of = |low: f64, high: f64, minimum: f64| {
        Effect::of(Some(Interval::new(1.0, low, high)), minimum)
    };
    assert_eq!(of(1.002, 1.008, 0.0), Effect::More);
    assert_eq!(
        of(1.002, 1.008, 0.01),
        Effect::TooSmall,
        "surely less than 1 %"
    );
    assert_eq!(
        of(0.992, 1.008, 0.01),
        Effect::TooSmall,
        "and so is nothing at all"
    );
    assert_eq!(of(1.002, 1.018, 0.01), Effect::More);
    assert_eq!(of(0.98, 1.01, 0.0), Effect::NotShown);
    assert_eq!(of(0.9, 0.95, 0.03), Effect::Less);
}

#[test]
fn loads_are_matched_by_what_they_are() {
    let with = |loads: &[(u32, &str)]| {
        let mut side = side("x", vec![window(&[1000.0; 60])]);
        let point = side.points[0].clone();
        let of = |(users, medium): &(u32, &str)| SidePoint {
            key: LoadKey {
                medium: Some((*medium).into()),
                ..load_key(*users)
            },
            ..point.clone()
        };
        side.points = loads.iter().map(of).collect();
        side
    };
    let matched = |a: &ComparedSide, b: &ComparedSide| {
        let against = compare(&[a.clone(), b.clone()], &Ask::default())
            .others
            .remove(0);
        let pair = |p: &PointComparison| {
            (
                p.place.load.users,
                p.place.medium.clone().unwrap(),
                p.second_place.medium.clone().unwrap(),
            )
        };
        (
            against.points.iter().map(pair).collect::<Vec<_>>(),
            against.only_first.len(),
            against.only_second.len(),
        )
    };
    let two = with(&[(1, "nvme"), (1, "sata"), (2, "nvme")]);
    let expected = vec![
        (1, "nvme".into(), "nvme".into()),
        (1, "sata".into(), "sata".into()),
    ];
    assert_eq!(
        matched(&two, &with(&[(1, "sata"), (1, "nvme"), (3, "nvme")])),
        (expected, 1, 1)
    );
    // One medium on each side, whatever it is called.
    let (one, other) = (
        with(&[(1, "nvme"), (2, "nvme")]),
        with(&[(1, "disk"), (2, "disk")]),
    );
    let expected = vec![
        (1, "nvme".into(), "disk".into()),
        (2, "nvme".into(), "disk".into()),
    ];
    assert_eq!(matched(&one, &other), (expected, 0, 0));
    assert_eq!(
        matched(&two, &other).0,
        vec![(2, "nvme".into(), "disk".into())],
        "of two it could be either"
    );
}

/// The fixture as a side, with something changed.
fn fixture_side(change: impl FnOnce(&mut plimsoll_record::Record)) -> ComparedSide {
    let mut record = fixture::single_point();
    change(&mut record);
    ComparedSide::of("x", &record)
}

fn fact(record: &mut plimsoll_record::Record, kind: SubjectKind, key: &str, value: &str) {
    let id = record
        .subjects
        .iter()
        .find(|subject| subject.kind == kind)
        .unwrap()
        .id;
    record
        .facts
        .retain(|fact| !(fact.subject == id && fact.key == key));
    record.facts.push(plimsoll_record::Fact {
        subject: id,
        key: key.into(),
        value: value.into(),
    });
}

fn rules(a: &ComparedSide, b: &ComparedSide, ask: &Ask) -> Vec<Rule> {
    compare(&[a.clone(), b.clone()], ask).others[0]
        .marks
        .iter()
        .map(|mark| mark.rule)
        .collect()
}

#[test]
fn a_side_has_the_figures_of_its_summary() {
    let record = fixture::single_point();
    let summary = summarise(&record);
    let side = ComparedSide::of_figures("x", &record, &Ticks::of(&record), &summary.figures);
    let (point, figures) = (&side.points[0], &summary.figures.ladders[0].points[0]);
    let info = compare(&[side.clone(), side.clone()], &Ask::default());
    let compared = &info.others[0].points[0];
    assert_eq!(point.figure, FigureId::Nopm);
    let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    close(
        compared.rate.first.unwrap().value,
        figures.value(FigureId::Nopm).unwrap(),
    );
    close(compared.first.measured_s, figures.measured_s);
    assert_eq!(
        point.repeats[0].latency.count(),
        figures.types[0].response.unwrap().count
    );
    assert_eq!(
        (
            compared.rate.ratio.map(|own| own.ratio),
            info.others[0].differences.len()
        ),
        (Some(1.0), 0)
    );
}

#[test]
fn pair_rules_fire_on_sides_that_are_not_comparable() {
    let plain = fixture_side(|_| {});
    let ask = Ask::default();
    let system = SubjectKind::System;
    assert_eq!(
        rules(&plain, &plain, &ask),
        [Rule::Repeat],
        "one run on each side"
    );
    let safe = fixture_side(|record| fact(record, system, "setting.fsync", "on"));
    let fast = fixture_side(|record| fact(record, system, "setting.fsync", "off"));
    assert_eq!(rules(&safe, &fast, &ask), [Rule::Durable, Rule::Repeat]);
    let mut mixed = fixture_side(|record| fact(record, system, "setting.fsync", "on"));
    mixed.configuration.merge(fast.configuration.clone());
    assert_eq!(
        rules(&mixed, &safe, &ask)[0],
        Rule::Durable,
        "one of its runs gave it up"
    );
    let method =
        |name| fixture_side(|record| fact(record, system, "setting.wal_sync_method", name));
    assert_eq!(
        rules(&method("fdatasync"), &method("fsync"), &ask),
        [Rule::Repeat],
        "both keep what was acknowledged"
    );
    let two = |kernel: &str, memory: &str| {
        fixture_side(|record| {
            fact(record, SubjectKind::Host, "kernel", kernel);
            fact(record, SubjectKind::Host, "memory", memory);
        })
    };
    assert_eq!(
        rules(&two("1", "x"), &two("2", "y"), &ask),
        [Rule::Repeat],
        "no cause is named"
    );
    let named = Ask {
        factor: Some(Group::Drives),
        ..Ask::default()
    };
    assert_eq!(
        rules(&two("1", "x"), &two("2", "x"), &named),
        [Rule::OneFactor, Rule::Repeat],
        "another than named"
    );
    let at = |url: &str| {
        let plan = format!(
            "title = \"t\"\n[system.db]\nurl = \"{url}\"\n[workload.oltp.tpcc]\nwarehouses = 4\n\
             [[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = 1\n"
        );
        fixture_side(|record| record.plan = fixture::plan(&plan))
    };
    let (here, there) = (at("postgres://localhost/x"), at("postgres://db.example/x"));
    assert_eq!(rules(&here, &there, &ask), [Rule::SameBox, Rule::Repeat]);
    let wanted = Ask {
        factor: Some(Group::GeneratorPlace),
        ..Ask::default()
    };
    assert_eq!(rules(&here, &there, &wanted), [Rule::Repeat]);
}

#[test]
fn what_differs_is_about_the_cause_and_not_about_the_figure() {
    let with = |facts: &[(&str, &str)]| {
        fixture_side(|record| {
            for (key, value) in facts {
                fact(record, SubjectKind::System, key, value);
            }
        })
    };
    let main = with(&[("data", "fresh"), ("setting.jit", "off")]);
    let branch = with(&[
        ("data", "reused"),
        ("setting.jit", "off"),
        ("setting.commit_delay", "20000"),
        ("setting.commit_siblings", "1"),
    ]);
    let against = |a: &ComparedSide, b: &ComparedSide| {
        compare(&[a.clone(), b.clone()], &Ask::default())
            .others
            .remove(0)
    };
    let found = against(&main, &branch);
    assert_eq!(
        found.factors,
        [Factor {
            group: Group::Settings,
            names: vec!["commit_delay".into(), "commit_siblings".into()]
        }],
        "that plimsoll reused its data is no factor"
    );
    assert!(found.points[0].rate.ratio.is_some() && !found.forbidden());
    assert!(
        found.differences.iter().any(|found| found.key == "data"),
        "and is shown"
    );
    let again = with(&[("data", "reused"), ("setting.jit", "off")]);
    assert_eq!(against(&main, &again).factors, []);
}

#[test]
fn another_number_of_loaded_systems_is_a_mark() {
    let a = side("twelve", vec![window(&[6_280.0; 60])]);
    let mut b = side("eight", vec![window(&[4_607.0; 60])]);
    b.points[0].systems = 8;
    let against = compare(&[a, b], &Ask::default()).others.remove(0);
    let mark = against
        .marks
        .iter()
        .find(|mark| mark.rule == Rule::Victims)
        .unwrap();
    assert!(
        matches!(
            mark.evidence,
            Evidence::Victims {
                first: 1,
                second: 8,
                ..
            }
        ) && against.forbidden()
    );
}

#[test]
fn repeats_that_differ_by_more_than_the_effect_are_a_mark() {
    let many = |seed: u64, level: f64| {
        let rates = made::series(seed, 40, 0.0, 0.02);
        side(
            "x",
            rates
                .iter()
                .map(|rate| window(&[rate * level; 60]))
                .collect(),
        )
    };
    let against = compare(&[many(1, 1.0), many(2, 1.03)], &Ask::default())
        .others
        .remove(0);
    assert_eq!(against.points[0].rate.effect, Effect::More);
    assert!(
        matches!(against.marks[0].evidence, Evidence::RepeatSpread { spread_percent, .. } if spread_percent > 5.0)
    );
}
