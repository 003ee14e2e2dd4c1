//! Which medium comes first, where models or short windows decide.

use super::*;

/// The first medium's rates are so many times those of the second, give or take a thousandth.
fn with_ratio(ratio: f64) -> RunFigures {
    let mut figures = slowed();
    figures.comparisons[0].loads.truncate(1);
    for (ladder, rate) in figures.ladders.iter_mut().zip([100.0 * ratio, 100.0]) {
        ladder.loads.truncate(1);
        for load in &mut ladder.loads {
            for own in load.figures.rates_mut() {
                own.value = rate;
                own.interval = Some(Interval::new(rate, rate * 0.999, rate * 1.001));
            }
        }
    }
    figures
}

#[test]
fn a_drive_that_is_as_fast_in_every_respect_never_comes_out_slower() {
    let none = FullSpeed::default();
    let order = DriveOrder {
        faster: "slow".into(),
        slower: "fast".into(),
    };
    let wrong = chosen_with(&with_ratio(1.3), &none, std::slice::from_ref(&order));
    let AnswerResult::None(NoAnswer::WrongOrder { best, faster, .. }) = &wrong.result else {
        panic!("{:?}", wrong.result)
    };
    assert_eq!((best.as_str(), faster.as_str()), ("fast", "slow"));
    assert!(wrong.rows.iter().all(|row| row.ratio.is_none()));
    // A little is chance, however narrow the interval.
    let near = chosen_with(&with_ratio(1.03), &none, std::slice::from_ref(&order));
    let AnswerResult::Media(near) = near.result else {
        panic!("{:?}", near.result)
    };
    assert_eq!(near.others[0].is_certain(), Some(false));
    // A prediction gives way to what was measured.
    let figures = with_ratio(0.8);
    let predicted = predicted(&figures, [150.0, 100.0]);
    let chosen = chosen_with(&figures, &predicted, &[order]);
    let AnswerResult::Media(answer) = chosen.result else {
        panic!("{:?}", chosen.result)
    };
    assert_eq!(answer.best, "slow");
    assert_eq!(answer.basis, RateBasis::Slowed { slower: 10.0 });
}

/// Where one drive of three was slowed, two at full speed have no prediction that could give way.
#[test]
fn a_wrong_order_at_full_speed_beside_a_prediction_is_no_answer() {
    let mut figures = with_ratio(1.3);
    let slowed = predicted(&figures, [150.0, 100.0]);
    for ladder in &mut figures.ladders {
        ladder.slower = None;
    }
    let order = DriveOrder {
        faster: "slow".into(),
        slower: "fast".into(),
    };
    let mut third = figures.ladders[1].clone();
    third.medium = Some("third".into());
    third.slower = Some(10.0);
    figures.ladders.push(third);
    let ladder = figures.ladders.len() - 1;
    let mut medium = figures.comparisons[0].media[1].clone();
    (medium.ladder, medium.medium) = (ladder, "third".into());
    figures.comparisons[0].media.push(medium);
    let mut full_speed = slowed;
    full_speed.points[0].medium = "third".into();
    let without = chosen_with(&figures, &full_speed, &[]);
    let AnswerResult::Media(media) = &without.result else {
        panic!("{:?}", without.result)
    };
    assert_eq!(
        (&media.real[..], &media.unslowed[..]),
        (&["fast".to_owned()][..], &["slow".to_owned()][..])
    );
    let chosen = chosen_with(&figures, &full_speed, &[order]);
    let AnswerResult::None(NoAnswer::WrongOrder { best, faster, .. }) = &chosen.result else {
        panic!("{:?}", chosen.result)
    };
    assert_eq!((best.as_str(), faster.as_str()), ("fast", "slow"));
}

#[test]
fn a_window_too_short_for_an_interval_has_no_prediction() {
    let mut figures = with_ratio(1.3);
    for load in figures.ladders.iter_mut().flat_map(|own| &mut own.loads) {
        load.figures.rates_mut().for_each(|own| own.interval = None);
    }
    let answer = of_media(&figures, &predicted(&figures, [120.0, 100.0]));
    assert_eq!(answer.basis, RateBasis::Slowed { slower: 10.0 });
    assert_eq!(answer.unpredicted, ["fast", "slow"]);
}
