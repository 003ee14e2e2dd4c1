use plimsoll_record::{Fact, Record, Severity, SubjectKind, fixture};

use super::choose::{ChoiceInput, ChosenAnswer, media, single};
use super::refused::RefusedFigures;
use super::*;
use crate::emulated::{DataSheet, DriveOrder, StatedRate};
use crate::full_speed::{FullSpeed, FullSpeedPoint};
use crate::predict::{Prediction, TimeParts};
use crate::summarise;
use crate::summary::{
    BlockJobSummary, Bottleneck, FigureId, Finding, FindingKind, Interval, LatencySummary,
    MediumSpeed, VictimEffect,
};

mod orders;

/// The fixture: `ladder` with 1, 4 and 16 users on `fast` and `slow`.
fn figures() -> RunFigures {
    let mut figures = summarise(&fixture::record()).figures;
    for ladder in &mut figures.ladders {
        ladder
            .loads
            .iter_mut()
            .for_each(|load| load.verdict = Verdict::Valid);
    }
    figures
}

/// One comparison, on drives 10 times slower than rated. All rates have an interval.
fn slowed() -> RunFigures {
    let mut figures = figures();
    figures.comparisons.truncate(1);
    for ladder in &mut figures.ladders {
        ladder.slower = Some(10.0);
        for load in &mut ladder.loads {
            for own in load.figures.rates_mut() {
                let [low, high] = [own.value * 0.9999, own.value * 1.0001];
                let narrow = Interval::new(own.value, low, high);
                own.interval = own.interval.or(Some(narrow));
            }
        }
    }
    figures
}

fn chosen(figures: &RunFigures, full_speed: &FullSpeed) -> ChosenAnswer {
    chosen_with(figures, full_speed, &[])
}

fn chosen_with(
    figures: &RunFigures,
    full_speed: &FullSpeed,
    orders: &[DriveOrder],
) -> ChosenAnswer {
    let audit = Audit::default();
    let refused = RefusedFigures::new(&audit, figures);
    let input = ChoiceInput {
        ladders: &figures.ladders,
        full_speed,
        orders,
        refused: &refused,
    };
    media(input, &figures.comparisons).unwrap()
}

fn of_one(ladders: &[crate::summary::LadderSummary]) -> ChosenAnswer {
    let audit = Audit::default();
    let figures = figures();
    let input = ChoiceInput {
        ladders,
        full_speed: &FullSpeed::default(),
        orders: &[],
        refused: &RefusedFigures::new(&audit, &figures),
    };
    single(input).unwrap()
}

fn of_media(figures: &RunFigures, full_speed: &FullSpeed) -> MediaAnswer {
    match chosen(figures, full_speed).result {
        AnswerResult::Media(own) => own,
        other => panic!("{other:?}"),
    }
}

fn predicted(figures: &RunFigures, rates: [f64; 2]) -> FullSpeed {
    let ladders = figures.ladders[..2].iter().zip(rates);
    let points = ladders.map(|(ladder, per_second)| FullSpeedPoint {
        step: ladder.step.clone(),
        mode: ladder.mode.clone(),
        medium: ladder.medium.clone().unwrap(),
        users: ladder.loads[0].load.users,
        prediction: Prediction {
            per_second,
            interval: Some(Interval::new(
                per_second,
                per_second * 0.9,
                per_second * 1.1,
            )),
            nopm: Some(per_second * 27.0),
            parts: TimeParts {
                cpu_ms: 1.0,
                read_ms: 0.5,
                flush_ms: 2.0,
                lock_ms: 6.5,
            },
            cpu_percent: 50.0,
            model_per_second: per_second,
        },
    });
    FullSpeed {
        points: points.collect(),
        refused: Vec::new(),
    }
}

#[test]
fn media_are_compared_at_the_highest_load_that_is_valid_on_both() {
    let mut figures = figures();
    let none = FullSpeed::default();
    let highest = of_media(&figures, &none);
    let users: Vec<u32> = figures.ladders[0]
        .loads
        .iter()
        .map(|load| load.load.users)
        .collect();
    assert_eq!(Some(&highest.load.users), users.iter().max());
    assert!(highest.others.iter().all(|other| other.ratio.ratio >= 1.0));
    let last = figures.ladders[1].loads.len() - 1;
    figures.ladders[1].loads[last].verdict = Verdict::Invalid;
    let below = of_media(&figures, &none);
    assert!(below.load.users < highest.load.users);
}

#[test]
fn one_valid_side_is_no_comparison() {
    let mut figures = figures();
    figures.ladders[1]
        .loads
        .iter_mut()
        .for_each(|load| load.verdict = Verdict::Invalid);
    figures.comparisons.truncate(1);
    let chosen = chosen(&figures, &FullSpeed::default());
    let valid = figures.ladders[0].medium.clone();
    assert_eq!(
        chosen.result,
        AnswerResult::None(NoAnswer::OneValidMedium { valid })
    );
    assert!(chosen.rows.iter().all(|row| row.ratio.is_none()));
}

#[test]
fn what_is_predicted_for_full_speed_leads_and_what_was_measured_stands_beside_it() {
    let figures = slowed();
    let full_speed = predicted(&figures, [120.0, 100.0]);
    let answer = of_media(&figures, &full_speed);
    assert_eq!(answer.basis, RateBasis::Predicted { slower: 10.0 });
    assert_eq!(answer.load.users, figures.ladders[0].loads[0].load.users);
    let [other] = answer.others.as_slice() else {
        panic!("{answer:?}")
    };
    assert!((other.ratio.ratio - 1.2).abs() < 1e-9 && other.measured.is_some());
    assert_eq!(other.is_certain(), Some(true), "{:?}", other.ratio.interval);
    let near = of_media(&figures, &predicted(&figures, [101.0, 100.0]));
    assert_eq!(near.others[0].is_certain(), Some(false));
    let limits = limited::of(
        &chosen(&figures, &full_speed),
        &figures.ladders,
        &full_speed,
    );
    assert_eq!(limits.len(), 2);
    assert_eq!(limits[0].limiter, Bottleneck::Log);
    assert_eq!(limits[0].locks_percent, Some(65.0));
    assert!((limits[0].percent - 2.0 * 100.0 / 3.5).abs() < 1e-9);
}

#[test]
fn of_repeats_the_median_prediction_counts() {
    let figures = slowed();
    let ratio_of = |repeats: &[[f64; 2]]| {
        let points = repeats
            .iter()
            .flat_map(|rates| predicted(&figures, *rates).points);
        let full_speed = FullSpeed {
            points: points.collect(),
            refused: Vec::new(),
        };
        of_media(&figures, &full_speed).others[0].ratio.ratio
    };
    let odd = [[300.0, 100.0], [120.0, 90.0], [110.0, 500.0]];
    assert!((ratio_of(&odd) - 1.2).abs() < 1e-9);
    // Of an even number it lies between the two in the middle.
    let even = [[100.0, 90.0], [140.0, 110.0]];
    assert!((ratio_of(&even) - 1.2).abs() < 1e-9);
}

/// As [`predicted`], with intervals that reach so many times up and down.
fn doubtful(figures: &RunFigures, rates: [f64; 2], factor: f64) -> FullSpeed {
    let mut all = predicted(figures, rates);
    for point in &mut all.points {
        let rate = point.prediction.per_second;
        point.prediction.interval = Some(Interval::new(rate, rate / factor, rate * factor));
    }
    all
}

#[test]
fn a_prediction_beyond_a_factor_of_two_is_none() {
    let mut figures = slowed();
    for ladder in &mut figures.ladders {
        ladder.loads.truncate(1);
    }
    figures.comparisons[0].loads.truncate(1);
    let measured = of_media(&figures, &doubtful(&figures, [120.0, 100.0], 13.0));
    assert_eq!(measured.basis, RateBasis::Slowed { slower: 10.0 });
    assert_eq!(measured.unpredicted, ["fast", "slow"]);
    let rows = chosen(&figures, &doubtful(&figures, [120.0, 100.0], 13.0)).rows;
    assert!(rows.iter().all(|row| row.at_full_speed.is_none()));
    // Each is certain enough, their ratio is not.
    let ratio = chosen(&figures, &doubtful(&figures, [120.0, 100.0], 1.9));
    let AnswerResult::None(NoAnswer::TooUncertain { best, ratios }) = ratio.result else {
        panic!("{:?}", ratio.result)
    };
    assert_eq!((best.as_str(), ratios.len()), ("fast", 1));
    assert!(ratio.rows.iter().all(|row| row.ratio.is_none()));
}

#[test]
fn a_prediction_that_contradicts_what_was_measured_is_none() {
    let mut figures = slowed();
    figures.comparisons[0].loads.truncate(1);
    for ladder in &mut figures.ladders {
        ladder.loads.truncate(1);
        for load in &mut ladder.loads {
            for rate in load.figures.rates_mut() {
                let (low, high) = (rate.value * 0.999, rate.value * 1.001);
                rate.interval = Some(Interval::new(rate.value, low, high));
            }
        }
    }
    let same = of_media(&figures, &predicted(&figures, [120.0, 100.0]));
    assert_eq!(same.basis, RateBasis::Predicted { slower: 10.0 });
    let opposite = predicted(&figures, [100.0, 150.0]);
    let answer = of_media(&figures, &opposite);
    assert_eq!(answer.best, "fast", "as it was measured");
    assert_eq!(answer.basis, RateBasis::Slowed { slower: 10.0 });
    assert_eq!(answer.unpredicted, ["fast", "slow"]);
    let rows = chosen(&figures, &opposite).rows;
    assert!(rows.iter().all(|row| row.at_full_speed.is_none()));
}

#[test]
fn ratios_of_the_rows_are_those_of_the_sentence() {
    let figures = slowed();
    for rates in [[120.0, 100.0], [100.0, 120.0]] {
        let chosen = chosen(&figures, &predicted(&figures, rates));
        let AnswerResult::Media(answer) = &chosen.result else {
            panic!("{:?}", chosen.result)
        };
        for row in &chosen.rows {
            let other = answer.others.iter();
            let sentence = other
                .clone()
                .find(|own| Some(&own.medium) == row.medium.as_ref());
            assert_eq!(row.ratio, sentence.map(|own| own.ratio));
        }
    }
}

#[test]
fn a_medium_of_another_speed_is_named_and_has_no_ratio() {
    let mut figures = figures();
    figures.comparisons.truncate(1);
    figures.ladders[1].slower = Some(50.0);
    let chosen = chosen(&figures, &FullSpeed::default());
    let media = [("fast", None), ("slow", Some(50.0))];
    assert_eq!(
        chosen.result,
        AnswerResult::None(NoAnswer::UnequalSpeeds {
            media: media
                .map(|(medium, slower)| MediumSpeed::new(medium, slower))
                .into(),
            unpredicted: Vec::new(),
        })
    );
    assert!(chosen.rows.iter().all(|row| row.ratio.is_none()));
}

/// Slows the second medium down.
fn with_slowed_medium(mut record: Record) -> Record {
    let media = record.subjects.iter();
    let mut media = media.filter(|own| own.kind == SubjectKind::Medium);
    let slowed = media.nth(1).or(media.next()).unwrap().id;
    record.facts.push(Fact {
        subject: slowed,
        key: "slower".into(),
        value: "50".into(),
    });
    record
}

/// Ratios of media anywhere in a summary.
fn ratios(value: &serde_json::Value, found: &mut Vec<String>) {
    const KEYS: [&str; 3] = ["ratio", "ratios", "against_first"];
    let is_empty = |own: &serde_json::Value| own.as_object().is_some_and(|all| all.is_empty());
    match value {
        serde_json::Value::Array(all) => all.iter().for_each(|own| ratios(own, found)),
        serde_json::Value::Object(all) => {
            for (key, own) in all {
                if KEYS.contains(&key.as_str()) && !own.is_null() && !is_empty(own) {
                    found.push(format!("{key}: {own}"));
                }
                ratios(own, found);
            }
        }
        _ => {}
    }
}

#[test]
fn no_kind_of_run_has_a_ratio_between_media_of_unlike_speed() {
    let parts = ["comparisons", "blocks", "backups", "answer"];
    // The answer about noise is a ratio on one medium.
    let runs = [
        (fixture::record(), &parts[..]),
        (fixture::block(), &parts[..]),
        (fixture::search(), &parts[..]),
        (fixture::backup(), &parts[..3]),
    ];
    for (record, parts) in runs {
        let summary = serde_json::to_value(summarise(&with_slowed_medium(record))).unwrap();
        let mut found = Vec::new();
        parts
            .iter()
            .for_each(|part| ratios(&summary[part], &mut found));
        assert_eq!(found, [""; 0]);
    }
    let block = serde_json::to_value(summarise(&fixture::block())).unwrap();
    let mut found = Vec::new();
    ratios(&block["blocks"], &mut found);
    assert!(!found.is_empty(), "at like speed there are ratios");
}

#[test]
fn what_happened_to_the_server_comes_before_what_follows_from_it() {
    let record = fixture::single_point();
    let mut figures = summarise(&record).figures;
    let finding = |severity, kind| Finding { severity, kind };
    figures.ladders[0].points[0].findings = vec![
        finding(
            Severity::Warning,
            FindingKind::ShortWindow { measured_s: 4.0 },
        ),
        finding(
            Severity::Error,
            FindingKind::CountsBroken {
                at_s: 2.0,
                offered: 20,
                settled: 18,
                in_flight: 1,
            },
        ),
        finding(
            Severity::Warning,
            FindingKind::NotServed {
                failed: 40,
                dropped: 0,
                percent: 2.0,
            },
        ),
        finding(
            Severity::Warning,
            FindingKind::ServerAway {
                away_s: 1.3,
                percent: 4.0,
                limit_percent: 5.0,
            },
        ),
    ];
    let audit = crate::audit::audit(&record, &figures);
    let answer = answer(&AnswerInput {
        record: &record,
        figures: &figures,
        audit: &audit,
        drives: &EmulatedDrives::default(),
        verdict: Verdict::Invalid,
    });
    let trust = answer.unwrap().trust;
    let names: Vec<String> = trust
        .limits
        .iter()
        .map(|own| match &own.reason {
            TrustReason::Rule { rule } => rule.code().to_owned(),
            TrustReason::Finding(kind) => serde_json::to_value(kind).unwrap()["finding"]
                .as_str()
                .unwrap()
                .to_owned(),
            TrustReason::Fault(_) => "fault".to_owned(),
        })
        .collect();
    let expected = [
        "server_away",
        "not_served",
        "CONSERVE",
        "LITTLE",
        "CACHED",
        "SHORT",
    ];
    let listed: Vec<&str> = names.iter().map(String::as_str).collect();
    let order: Vec<&str> = listed
        .iter()
        .copied()
        .filter(|own| expected.contains(own))
        .collect();
    assert_eq!(order.first(), Some(&"server_away"), "{listed:?}");
    assert_eq!(order.get(1), Some(&"not_served"), "{listed:?}");
    assert_eq!(order.last(), Some(&"SHORT"), "{listed:?}");
    assert!(order.contains(&"CONSERVE"), "{listed:?}");
}

fn answer_of(record: &Record) -> RunAnswer {
    summarise(record).answer.unwrap()
}

#[test]
fn a_search_is_answered_by_its_lines() {
    let AnswerResult::Lines { lines } = answer_of(&fixture::search()).result else {
        panic!("no lines")
    };
    let found = lines.iter().find(|own| own.line.is_some()).unwrap();
    assert!(found.below.is_none_or(|below| below > found.line.unwrap()));
    assert!(found.throughput.is_some() && found.p99_ms.is_some());
}

#[test]
fn a_block_run_without_figures_has_no_answer() {
    let record = fixture::block();
    let mut figures = summarise(&record).figures;
    let jobs = figures
        .blocks
        .iter_mut()
        .flat_map(|step| &mut step.media)
        .flat_map(|medium| &mut medium.jobs);
    jobs.for_each(|job| job.figures = None);
    let audit = crate::audit::audit(&record, &figures);
    let answer = answer(&AnswerInput {
        record: &record,
        figures: &figures,
        audit: &audit,
        drives: &EmulatedDrives::default(),
        verdict: Verdict::Invalid,
    });
    assert_eq!(
        answer.unwrap().result,
        AnswerResult::None(NoAnswer::NothingMeasured)
    );
}

#[test]
fn noise_is_answered_before_the_rates_beside_it() {
    let AnswerResult::Noise { effects } = answer_of(&fixture::backup()).result else {
        panic!("no effects")
    };
    assert_eq!((effects.len(), effects[0].load.users), (1, 16));
    let VictimEffect { quiet, noisy, .. } = &effects[0].effect;
    assert!(noisy.value(FigureId::P99) > quiet.value(FigureId::P99));
}

fn blocks_of(figures: &RunFigures, sheets: &[DataSheet]) -> Option<Vec<BlockAnswer>> {
    let audit = Audit::default();
    blocks::of(figures, sheets, &RefusedFigures::new(&audit, figures))
}

#[test]
fn figures_of_a_job_are_those_of_its_tables_in_every_round() {
    let mut figures = summarise(&fixture::block()).figures;
    let rounds = |job: &BlockJobSummary| job.points.iter().filter(|point| point.counts).count();
    let jobs = figures.blocks.iter().flat_map(|step| &step.media);
    let jobs: Vec<&BlockJobSummary> = jobs.flat_map(|medium| &medium.jobs).collect();
    assert!(jobs.iter().any(|job| rounds(job) > 1));
    for job in jobs {
        let figures = &job.figures.as_ref().unwrap().figures;
        let rising: Vec<f64> = LatencySummary::times()
            .skip(1)
            .filter_map(|time| figures.value(time))
            .collect();
        assert!(rising.is_sorted(), "{}: {rising:?}", job.job);
        // Of a single kind of requests the job's figures are that kind's.
        if let [op] = job.by_op.as_slice() {
            let same = |time| op.figures.value(time) == figures.value(time);
            assert!(LatencySummary::times().all(same), "{}", job.job);
        }
    }
    // With rounds that differ, as on a busy machine.
    let step = &mut figures.blocks[0];
    for job in step.media.iter_mut().flat_map(|medium| &mut medium.jobs) {
        let figures = &mut job.figures.as_mut().unwrap().figures;
        figures.get_mut(FigureId::P99).unwrap().value *= 1.25;
    }
    let answers = blocks_of(&figures, &[]).unwrap();
    for answer in &answers {
        let medium = figures.blocks[0]
            .media
            .iter()
            .find(|own| own.medium == answer.medium);
        let job = medium
            .unwrap()
            .jobs
            .iter()
            .find(|own| own.job == answer.job);
        let tables = job
            .unwrap()
            .figure(FigureId::P99)
            .map(|p99| p99.value * 1e3);
        assert_eq!(answer.p99_us, tables, "{}", answer.job);
    }
}

#[test]
fn a_job_is_compared_with_the_figure_of_its_data_sheet_and_no_other() {
    let summary = summarise(&fixture::block());
    let jobs = blocks_of(&summary.figures, &[]).unwrap();
    assert!(jobs.iter().all(|job| job.sheet_percent.is_none()));
    let step = &summary.figures.blocks[0];
    let of_job = |job: &BlockAnswer| {
        let medium = step.media.iter().find(|own| own.medium == job.medium);
        let found = medium.unwrap().jobs.iter().find(|own| own.job == job.job);
        found.unwrap().streams.clone()
    };
    let random = jobs
        .iter()
        .find(|job| {
            let streams = of_job(job);
            streams.len() == 1
                && streams[0].random_percent == 100
                && [0, 100].contains(&streams[0].read_percent)
        })
        .unwrap();
    let stream = &of_job(random)[0];
    let is_read = stream.read_percent == 100;
    let sizes = if is_read {
        &stream.read_sizes
    } else {
        &stream.write_sizes
    };
    let stated = StatedRate {
        is_read,
        is_sequential: false,
        block_bytes: sizes[0].0,
        in_flight: 1,
        per_second: random.iops.value * 2.0,
    };
    let percent_with = |stated: StatedRate| {
        let sheets = [DataSheet {
            medium: random.medium.clone(),
            rates: vec![stated],
        }];
        let jobs = blocks_of(&summary.figures, &sheets).unwrap();
        let mut jobs = jobs.into_iter();
        jobs.find(|job| (&job.job, &job.medium) == (&random.job, &random.medium))
            .unwrap()
            .sheet_percent
    };
    assert_eq!(percent_with(stated), Some(50.0));
    for other in [
        StatedRate {
            is_read: !is_read,
            ..stated
        },
        StatedRate {
            is_sequential: true,
            ..stated
        },
        StatedRate {
            block_bytes: stated.block_bytes * 2,
            ..stated
        },
    ] {
        assert_eq!(percent_with(other), None);
    }
}

#[test]
fn drives_slowed_by_different_factors_have_no_ratio() {
    let mut figures = figures();
    figures.comparisons.truncate(1);
    figures.ladders[0].slower = Some(10.0);
    figures.ladders[1].slower = Some(20.0);
    assert_eq!(
        chosen(&figures, &FullSpeed::default()).result,
        AnswerResult::None(NoAnswer::UnequalSpeeds {
            media: [("fast", 10.0), ("slow", 20.0)]
                .map(|(medium, slower)| MediumSpeed::new(medium, Some(slower)))
                .into(),
            unpredicted: Vec::new(),
        })
    );
}

#[test]
fn a_rate_that_the_plan_imposes_is_no_result() {
    let mut figures = figures();
    for ladder in &mut figures.ladders {
        for load in &mut ladder.loads {
            load.load.offered_per_second = Some(100.0);
        }
    }
    for load in figures
        .comparisons
        .iter_mut()
        .flat_map(|own| &mut own.loads)
    {
        load.load.offered_per_second = Some(100.0);
    }
    let answer = of_media(&figures, &FullSpeed::default());
    assert_eq!(answer.compared, ComparedBy::ResponseTime);
    let one = of_one(&figures.ladders);
    assert!(
        matches!(one.result, AnswerResult::Load(own) if own.compared == ComparedBy::ResponseTime)
    );
}

#[test]
fn a_rate_that_the_plan_imposes_has_no_ratio() {
    let mut figures = figures();
    figures.comparisons.truncate(1);
    let offered = |users: u32| Some(f64::from(users) * 10.0);
    let ladders = figures.ladders[..2].iter_mut();
    for load in ladders.flat_map(|ladder| &mut ladder.loads) {
        load.load.offered_per_second = offered(load.load.users);
    }
    for load in &mut figures.comparisons[0].loads {
        load.load.offered_per_second = offered(load.load.users);
    }
    let chosen = chosen(&figures, &FullSpeed::default());
    let p99 = [0, 1].map(|row| chosen.rows[row].p99_ms.unwrap());
    let ratio = chosen.rows[1].ratio.unwrap();
    assert_eq!((ratio.ratio, ratio.interval), (p99[1] / p99[0], None));
}

#[test]
fn media_that_are_valid_at_different_loads_have_no_common_load() {
    let mut figures = figures();
    figures.comparisons.truncate(1);
    let last = figures.ladders[0].loads.len() - 1;
    figures.ladders[0].loads[last].verdict = Verdict::Invalid;
    figures.ladders[1].loads[..last]
        .iter_mut()
        .for_each(|load| load.verdict = Verdict::Invalid);
    let chosen = chosen(&figures, &FullSpeed::default());
    assert_eq!(chosen.result, AnswerResult::None(NoAnswer::NoCommonLoad));
}

#[test]
fn of_several_steps_the_one_that_carries_most_is_named_and_what_the_others_carry() {
    let mut figures = figures();
    figures.ladders.truncate(2);
    let one_step = of_one(&figures.ladders[..1]);
    let AnswerResult::Load(own) = one_step.result else {
        panic!("no load")
    };
    assert_eq!((own.step, own.others), (None, Vec::new()));
    for (ladder, step) in figures.ladders.iter_mut().zip(["from gen", "from db"]) {
        ladder.step = step.into();
    }
    let peak = |ladder: &crate::summary::LadderSummary| {
        let rates = ladder.loads.iter().filter_map(|load| load.main_rate());
        rates.map(|rate| rate.value).fold(0.0, f64::max)
    };
    let peaks = [peak(&figures.ladders[0]), peak(&figures.ladders[1])];
    let most = usize::from(peaks[1] > peaks[0]);
    let chosen = of_one(&figures.ladders);
    let AnswerResult::Load(own) = chosen.result else {
        panic!("no load")
    };
    assert_eq!(
        own.step.as_deref(),
        Some(figures.ladders[most].step.as_str())
    );
    let other = StepPeak {
        step: figures.ladders[1 - most].step.clone(),
        rate: peaks[1 - most],
    };
    assert_eq!(own.others, [other]);
    figures.ladders[1 - most].workload = "another".into();
    let AnswerResult::Load(own) = of_one(&figures.ladders).result else {
        panic!("no load")
    };
    assert!(own.step.is_some() && own.others.is_empty());
}
