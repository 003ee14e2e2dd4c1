use plimsoll_analysis::answer::{ArrayAnswer, BlockAnswer, CutAnswer};
use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::{ArrayPhase, ArrayPhases, ArrayState};
use plimsoll_record::{Record, fixture};

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

#[test]
fn the_most_of_some_media_is_named_as_that() {
    let mut answer = summarise(&fixture::record()).answer.unwrap();
    let AnswerResult::Media(media) = &mut answer.result else {
        panic!("no media")
    };
    media.left_out.push("third".to_owned());
    let text = answer_text(&answer, "x.plimsoll", 200);
    assert!(
        text.contains("At 1 user, of the media with a valid figure, fast carries the most load"),
        "{text}"
    );
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
        rate: Some(6000.0 * ratio),
        p99_ms: Some(12.0 / ratio),
        failed: 0,
        ratio: Some(ratio),
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
    assert!(
        sentence(&lost)
            .ends_with("raid5 has lost data: more members failed than it can do without.")
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
    let lost = CutAnswer {
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
