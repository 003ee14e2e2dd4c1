use plimsoll_analysis::summarise;
use plimsoll_record::fixture;

use super::*;

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
fn what_is_no_load_of_users_has_sections_of_its_own() {
    for record in [fixture::search(), fixture::block(), fixture::backup()] {
        assert_eq!(summarise(&record).answer, None);
    }
}

#[test]
fn an_answer_is_one_screen_at_any_width() {
    for record in [
        fixture::record(),
        fixture::single_point(),
        fixture::nothing_measured(),
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
