use plimsoll_analysis::answer::{
    ArrayAnswer, BlockAnswer, ComparedBy, CutAnswer, MediaAnswer, MediumRatio, NoAnswer, RateBasis,
};
use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::{
    ArrayPhase, ArrayPhases, ArrayState, FigureId, Interval, MediumSpeed, Ratio,
};
use plimsoll_plan::schedule::PhaseKind;
use plimsoll_plan::units::Nanos;
use plimsoll_record::message::EventKind;
use plimsoll_record::{Event, OfferedLoad, Record, fixture};

use super::*;

const NO_MEDIA: MediumColors<'_> = MediumColors { media: &[] };

#[test]
fn the_fixture_is_answered() {
    let answer = summarise(&fixture::record()).answer.unwrap();
    insta::assert_snapshot!(answer_text(&answer, "x.plimsoll", 80));
}

#[test]
fn one_medium_is_answered() {
    let answer = summarise(&fixture::single_point()).answer.unwrap();
    insta::assert_snapshot!(answer_text(&answer, "x.plimsoll", 80));
}

#[test]
fn other_kinds_of_runs_are_answered() {
    for (name, record) in [
        ("search", fixture::search()),
        ("block", fixture::block()),
        ("noise", fixture::backup()),
        ("backup", without_points(fixture::backup())),
    ] {
        let answer = summarise(&record).answer.unwrap();
        insta::assert_snapshot!(name, answer_text(&answer, "x.plimsoll", 80));
    }
}

/// Two media, the first 2.5 times as fast.
fn two_media() -> RunAnswer {
    let mut answer = summarise(&fixture::record()).answer.unwrap();
    answer.verdict = Verdict::Valid;
    answer.trust.verdict = Verdict::Valid;
    answer.result = AnswerResult::Media(MediaAnswer {
        load: OfferedLoad::closed(4),
        compared: ComparedBy::Throughput,
        basis: RateBasis::Measured,
        best: "fast".to_owned(),
        others: vec![times("slow", 2.5, 1.2)],
        uncertain: Vec::new(),
        left_out: Vec::new(),
        other_speeds: Vec::new(),
        real: Vec::new(),
        unslowed: Vec::new(),
        unpredicted: Vec::new(),
    });
    answer
}

/// A ratio whose interval reaches so many times up and down.
fn times(medium: &str, ratio: f64, factor: f64) -> MediumRatio {
    MediumRatio {
        medium: medium.to_owned(),
        ratio: Ratio {
            ratio,
            interval: Some(Interval::new(ratio, ratio / factor, ratio * factor)),
        },
        measured: None,
        at_cpu_speeds: None,
        is_as_fast: false,
    }
}

fn sentences_of(answer: &RunAnswer) -> Vec<String> {
    parts(&Messages::english(), answer).sentences
}

fn media_of(answer: &mut RunAnswer) -> &mut MediaAnswer {
    match &mut answer.result {
        AnswerResult::Media(own) => own,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_most_of_some_media_is_named_as_that() {
    let mut answer = two_media();
    assert_eq!(
        sentences_of(&answer),
        ["At 4 users, fast carries the most load: 2.50 times that of slow (2.08 to 3.00)."]
    );
    media_of(&mut answer).left_out.push("third".to_owned());
    assert_eq!(
        sentences_of(&answer),
        [
            "At 4 users, of the media with a valid figure, fast carries the most load: \
             2.50 times that of slow (2.08 to 3.00).",
            "There is no valid figure for third.",
        ]
    );
}

#[test]
fn what_cannot_be_compared_is_named_with_the_reason() {
    let mut answer = two_media();
    let media = media_of(&mut answer);
    media.other_speeds.push(MediumSpeed {
        medium: "nvme".to_owned(),
        slower: 50.0,
    });
    media.uncertain.push(times("raid", 2.66, 13.0));
    media.unpredicted.push("raid".to_owned());
    media.real.push("slow".to_owned());
    assert_eq!(
        sentences_of(&answer)[1..],
        [
            "Without a ratio, because the speeds differ: nvme ran at 1/50 speed.",
            "Too uncertain to compare: fast carries 0.205 to 34.6 times the load of raid.",
            "Full speed is too uncertain to predict for raid.",
            "Real: slow; the others are emulated.",
        ]
    );
    answer.result = AnswerResult::None(NoAnswer::TooUncertain {
        best: "fast".to_owned(),
        ratios: vec![times("slow", 1.08, 13.0)],
    });
    assert_eq!(
        sentences_of(&answer),
        ["No answer, too uncertain: fast carries 0.0831 to 14.0 times the load of slow."]
    );
    let media = media_of(&mut two_media()).others.remove(0);
    answer.result = AnswerResult::None(NoAnswer::WrongOrder {
        best: "slow".to_owned(),
        faster: "fast".to_owned(),
        ratio: media.ratio,
    });
    assert_eq!(
        sentences_of(&answer),
        [
            "No answer, the result contradicts its drives: slow came out 2.50 times better than fast (2.08 to 3.00), \
             whose drive is at least as fast for every kind of request. Something else made the difference: repeat it \
             on a quiet machine, with longer windows."
        ]
    );
    let speed = |medium: &str, slower| MediumSpeed {
        medium: medium.to_owned(),
        slower,
    };
    answer.result = AnswerResult::None(NoAnswer::UnequalSpeeds {
        media: vec![speed("here", 1.0), speed("nvme", 50.0)],
        unpredicted: Vec::new(),
    });
    assert_eq!(
        sentences_of(&answer),
        [
            "No answer: here ran at full speed and nvme ran at 1/50 speed, \
          and full speed cannot be predicted, so there is no ratio."
        ]
    );
}

/// Measured and predicted figures stand in one ratio, with a word.
#[test]
fn what_ran_at_full_speed_beside_predictions_is_named() {
    let mut answer = two_media();
    for row in &mut answer.rows {
        row.slower = Some(10.0).filter(|_| row.medium.as_deref() == Some("fast"));
        row.at_full_speed = row.throughput.filter(|_| row.slower.is_some());
    }
    let media = media_of(&mut answer);
    media.basis = RateBasis::Predicted { slower: 10.0 };
    media.unslowed.push("slow".to_owned());
    assert_eq!(
        sentences_of(&answer),
        [
            "At 4 users and full speed (predicted), fast carries the most load: 2.50 times that of slow (2.08 to 3.00).",
            "Emulated at full speed, so measured there and not predicted: slow.",
        ]
    );
    let text = answer_text(&answer, "RUN", 100);
    let table = text.split("Limited by").next().unwrap_or_default();
    assert!(table.contains("fast (1/10 speed)"), "{text}");
    assert!(!table.contains("slowed"), "the other drive was not: {text}");
}

#[test]
fn response_times_name_the_slower_medium() {
    let mut answer = two_media();
    let media = media_of(&mut answer);
    media.compared = ComparedBy::ResponseTime;
    media.load.offered_per_second = Some(100.0);
    assert_eq!(
        sentences_of(&answer),
        [
            "At 100 transactions offered a second, fast responds fastest: \
          by p99, slow takes 2.50 times as long (2.08 to 3.00)."
        ]
    );
}

#[test]
fn a_job_on_a_slowed_drive_has_no_ratio_to_a_real_medium() {
    let m = Messages::english();
    let answer = summarise(&fixture::block()).answer.unwrap();
    let AnswerResult::Block { mut jobs } = answer.result else {
        panic!("no jobs")
    };
    for job in &mut jobs {
        job.verdict = Verdict::Valid;
        job.ratio = None;
        job.slower = (job.medium == "slow").then_some(50.0);
    }
    let own = blocks::parts(&m, &jobs, NO_MEDIA);
    assert_eq!(
        own.sentences[0],
        "No ratio between media of unlike speed: fast ran at full speed and slow ran at 1/50 speed."
    );
    let text = own.sentences.join(" ");
    assert!(
        text.contains("“fast” reaches") && !text.contains("times"),
        "{text}"
    );
    let table = own.table.unwrap().to_text_within(&m, 200);
    assert!(
        table.contains("slow (1/50 speed)") && !table.contains("ratio"),
        "{table}"
    );
}

/// With an error in those measured windows that `is_broken` names by their place.
fn with_errors(mut record: Record, is_broken: impl Fn(usize) -> bool) -> Record {
    let measured = record.phases.iter();
    let measured = measured.filter(|phase| phase.kind == PhaseKind::Measure);
    let starts: Vec<Nanos> = measured.map(|phase| phase.start).collect();
    let broken = starts.into_iter().enumerate();
    let broken = broken.filter(|(place, _)| is_broken(*place));
    record.events.extend(broken.map(|(_, at)| Event {
        at,
        severity: Severity::Error,
        subject: None,
        kind: EventKind::stored("overflow", "5 outcomes were lost"),
    }));
    record
}

/// One record of each kind of run.
fn records() -> [(&'static str, Record); 6] {
    [
        ("transactions", fixture::record()),
        ("one point", fixture::single_point()),
        ("search", fixture::search()),
        ("block", fixture::block()),
        ("noise", fixture::backup()),
        ("backups", without_points(fixture::backup())),
    ]
}

#[test]
fn an_invalid_result_of_any_kind_begins_with_that() {
    for (kind, record) in records() {
        let answer = summarise(&with_errors(record, |_| true)).answer.unwrap();
        assert_eq!(answer.trust.verdict, Verdict::Invalid, "{kind}");
        assert_eq!(answer.verdict, Verdict::Invalid, "{kind}");
        let sentences = sentences_of(&answer);
        assert!(
            sentences[0].starts_with("No answer"),
            "{kind}: {sentences:?}"
        );
        assert!(
            !sentences.join(" ").contains("times that"),
            "{kind}: {sentences:?}"
        );
        assert!(
            sentences.join(" ").contains("5 outcomes were lost"),
            "{kind}: {sentences:?}"
        );
    }
}

/// Whichever windows are broken, the answer begins with what is invalid and does not rest on it.
#[test]
fn an_answer_beside_invalid_points_begins_with_them() {
    let masks = [0x0000_fff0_u32, 0xdead_beef];
    for (mask, (kind, record)) in masks
        .into_iter()
        .flat_map(|mask| records().map(|own| (mask, own)))
    {
        let broken = with_errors(record, |place| mask >> (place % 32) & 1 == 1);
        let answer = summarise(&broken).answer.unwrap();
        let first = sentences_of(&answer).swap_remove(0);
        let is_right = match (answer.verdict, answer.trust.verdict) {
            (Verdict::Invalid, _) => first.starts_with("No answer"),
            (_, Verdict::Invalid) => {
                first.contains("invalid and left out: ") || first.starts_with("Invalid in part (")
            }
            _ => !first.contains("nvalid"),
        };
        assert!(is_right, "{kind}, {mask:b}: {first}");
    }
}

#[test]
fn a_line_at_an_invalid_point_is_no_answer() {
    let m = Messages::english();
    let answer = summarise(&fixture::search()).answer.unwrap();
    let AnswerResult::Lines { mut lines } = answer.result else {
        panic!("no lines")
    };
    lines[0].verdict = Verdict::Invalid;
    let one = lines::parts(&m, &lines, NO_MEDIA).sentences.join(" ");
    assert!(
        one.contains("There is no valid figure for fast.") && !one.contains("times"),
        "{one}"
    );
    lines[1].verdict = Verdict::Invalid;
    let none = lines::parts(&m, &lines, NO_MEDIA).sentences;
    assert_eq!(none, ["No answer: no load line rests on a valid point."]);
}

#[test]
fn block_jobs_without_a_valid_one_are_no_answer_and_one_mediums_figures_stay_its_own() {
    let m = Messages::english();
    let answer = summarise(&fixture::block()).answer.unwrap();
    let AnswerResult::Block { mut jobs } = answer.result else {
        panic!("no jobs")
    };
    let first = |jobs: &[BlockAnswer]| blocks::parts(&m, jobs, NO_MEDIA).sentences.swap_remove(0);
    jobs.iter_mut().for_each(|job| job.ratio = None);
    // fast has both the highest rate and the most MB/s; slow would only have the latter.
    let wide = jobs.iter().position(|job| job.medium == "slow").unwrap();
    jobs[wide].verdict = Verdict::Valid;
    jobs[wide].mb_per_second = 9999.0;
    assert!(
        !first(&jobs).contains("9,999") && !first(&jobs).contains("10,000"),
        "{}",
        first(&jobs)
    );
    jobs.iter_mut()
        .for_each(|job| job.verdict = Verdict::Invalid);
    assert_eq!(first(&jobs), "No answer: no point has a valid figure.");
}

/// Its backups alone.
fn without_points(mut record: Record) -> Record {
    record.points.clear();
    record
}

#[test]
fn failures_of_an_array_are_answered_by_what_changed() {
    let m = Messages::english();
    let phase = |state, from_s, ratio: f64| ArrayPhase {
        state,
        from_s,
        seconds: 20.0,
        is_unfinished: false,
        figures: [
            (FigureId::Nopm, 6000.0 * ratio),
            (FigureId::P99, 12.0 / ratio),
        ]
        .into_iter()
        .collect(),
        failed: 0,
        ratios: [(
            FigureId::Nopm,
            Ratio {
                ratio,
                interval: None,
            },
        )]
        .into_iter()
        .collect(),
    };
    let answer = ArrayAnswer {
        step: "load".to_owned(),
        medium: Some("raid5".to_owned()),
        drive: None,
        array: ArrayPhases {
            nopm: true,
            phases: vec![
                phase(ArrayState::Whole, 0.0, 1.0),
                phase(ArrayState::Degraded, 20.0, 0.5),
                phase(ArrayState::Rebuilding, 40.0, 0.8),
                phase(ArrayState::Rebuilt, 60.0, 0.99),
            ],
            normal_after_s: Some(41.0),
        },
        is_consistent: Some(true),
        verdict: Verdict::Valid,
    };
    let sentence = |own: &ArrayAnswer| {
        let media = ["raid5"];
        let colors = MediumColors {
            media: &media.map(str::to_owned),
        };
        arrays::parts(&m, std::slice::from_ref(own), colors)
            .sentences
            .join(" ")
    };
    assert_eq!(
        sentence(&answer),
        "raid5 carries 0.500 times the load degraded, 0.800 times during the rebuild of 20 s \
         and 0.990 times after it, compared with before the first event. \
         Before it: 6,000 new orders a minute, with a p99 of 12.0 ms. \
         41 s after the first event the load is back to 90 % of that before. \
         All consistency conditions hold after it."
    );
    let mut unfinished = answer.clone();
    unfinished.array.phases.pop();
    unfinished.array.phases[2].is_unfinished = true;
    assert!(
        sentence(&unfinished).contains("0.800 times in 20 s of a rebuild that had not ended then"),
        "{}",
        sentence(&unfinished)
    );
    let mut slow = answer.clone();
    slow.array.normal_after_s = None;
    slow.array.phases.truncate(1);
    slow.array.phases.push(phase(ArrayState::Slow, 20.0, 0.25));
    assert!(sentence(&slow).contains("The load was not back to 90 %"));
    let recovered = ArrayPhase {
        seconds: 6.0,
        ..phase(ArrayState::Recovered, 40.0, 1.0)
    };
    slow.array.phases.push(recovered);
    let text = sentence(&slow);
    let changes = "0.250 times the load with a slow member and 1.00 times when that has ended";
    assert!(
        text.contains(changes) && text.contains("Too little was measured"),
        "{text}"
    );
    let mut lost = answer;
    lost.array.phases.truncate(1);
    lost.array
        .phases
        .push(phase(ArrayState::DataLost, 20.0, 0.01));
    lost.is_consistent = None;
    let has_lost = "raid5 has lost data: more members failed than it can do without.";
    assert!(sentence(&lost).ends_with(has_lost));
    lost.verdict = Verdict::Invalid;
    assert_eq!(
        sentence(&lost),
        format!("There is no valid figure for raid5. {has_lost}")
    );
}

#[test]
fn a_lost_transaction_is_the_answer_of_a_power_cut() {
    let m = Messages::english();
    let kept = CutAnswer {
        step: "cut".to_owned(),
        medium: Some("fast".to_owned()),
        drive: None,
        cuts: 3,
        acknowledged: 1234,
        lost: 0,
        in_doubt: 2,
        lost_flushed_writes: 0,
        recovery_ms: Some(1500),
        not_recovered: 0,
        verdict: Verdict::Valid,
    };
    let sentence = |own: &CutAnswer| {
        cuts::parts(&m, std::slice::from_ref(own))
            .sentences
            .join(" ")
    };
    assert_eq!(
        sentence(&kept),
        "fast lost no acknowledged transaction in 3 power cuts (1,234 checked). \
         The database accepted connections 1.50 s after the power came back."
    );
    let unknown = CutAnswer {
        verdict: Verdict::Invalid,
        ..kept.clone()
    };
    assert_eq!(sentence(&unknown), "There is no valid figure for fast.");
    let lost = CutAnswer {
        verdict: Verdict::Invalid,
        cuts: 1,
        lost: 5,
        lost_flushed_writes: 7,
        recovery_ms: None,
        not_recovered: 1,
        ..kept
    };
    assert_eq!(
        sentence(&lost),
        "fast lost 5 of 1,234 acknowledged transactions in 1 power cut. \
         Its drive lost 7 writes whose flush it had acknowledged. \
         The database did not recover after 1 of 1 power cuts."
    );
}

/// Broken over two lines, it could not be copied.
#[test]
fn a_command_is_one_line_however_long() {
    let answer = summarise(&fixture::record()).answer.unwrap();
    let run = format!("'{}/a b.plimsoll'", "directory".repeat(10));
    for width in [60, 80, 100] {
        let text = answer_text(&answer, &run, width);
        let commands = text
            .lines()
            .filter(|line| line.contains("plimsoll report "));
        assert_eq!(commands.count(), 1);
        assert!(text.contains(&format!("plimsoll report {run}\n")), "{text}");
        assert!(
            text.contains(&format!("plimsoll export {run} --to text\n")),
            "{text}"
        );
    }
}

#[test]
fn an_answer_is_one_screen_at_any_width() {
    for record in [
        fixture::record(),
        fixture::single_point(),
        fixture::nothing_measured(),
        fixture::search(),
        fixture::block(),
        fixture::backup(),
    ] {
        let Some(answer) = summarise(&record).answer else {
            continue;
        };
        for width in [60, 80, 100] {
            let text = answer_text(&answer, "x.plimsoll", width);
            assert!(text.lines().count() <= 25, "{text}");
            assert!(
                text.lines().all(|line| line.chars().count() <= width),
                "{text}"
            );
        }
    }
}
