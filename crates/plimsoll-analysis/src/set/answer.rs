//! The answer of a set: which combination has the highest throughput, and how many times that of the lowest.

use super::{SetRow, SetSummary};
use crate::summary::{Estimate, Ratio, Verdict, is_like_speed};

/// Combinations at the highest load at which most of them are valid.
#[derive(Debug)]
pub struct SetAnswer<'a> {
    /// With a valid throughput at one speed, the highest first: at least one.
    pub rows: Vec<&'a SetRow>,
    /// With a valid throughput at another speed, so that they have no ratio.
    pub other_speeds: Vec<&'a SetRow>,
    /// All of the step at this load, in the order of the set.
    pub at_load: Vec<&'a SetRow>,
    /// Of the highest throughput to the lowest; `None` with one combination, and where its interval is too wide for an
    /// answer.
    pub ratio: Option<Ratio>,
    pub is_uncertain: bool,
}

/// A combination with its throughput.
type RatedRow<'a> = (&'a SetRow, Estimate);

/// Those at the speed that most of them have, and the others.
fn at_one_speed(all: Vec<RatedRow<'_>>) -> (Vec<RatedRow<'_>>, Vec<RatedRow<'_>>) {
    let alike = |row: &SetRow| {
        let others = all.iter();
        others
            .filter(|(other, _)| is_like_speed(other.slower, row.slower))
            .count()
    };
    // Of equally many the first.
    let most = all.iter().rev().max_by_key(|(row, _)| alike(row));
    let speed = most.and_then(|(row, _)| row.slower);
    all.into_iter()
        .partition(|(row, _)| is_like_speed(row.slower, speed))
}

impl SetAnswer<'_> {
    pub fn best(&self) -> &SetRow {
        self.rows[0]
    }

    pub fn lowest(&self) -> &SetRow {
        self.rows[self.rows.len() - 1]
    }
}

impl SetSummary {
    /// Of the first step that has one. A rate that the plan imposes is no result, and an invalid row has none.
    pub fn answer(&self) -> Option<SetAnswer<'_>> {
        let first = self.rows.iter().find(|row| valid_rate(row).is_some())?;
        let step = |row: &&SetRow| {
            (&row.step, &row.system, row.scene) == (&first.step, &first.system, first.scene)
        };
        let rows: Vec<&SetRow> = self.rows.iter().filter(step).collect();
        let valid_at = |users: u32| {
            let rows = rows.iter();
            rows.filter(|row| row.load.users == users && valid_rate(row).is_some())
                .count()
        };
        let loads = rows.iter().map(|row| row.load.users);
        let users = loads.max_by_key(|users| (valid_at(*users), *users))?;
        let at_load: Vec<&SetRow> = rows
            .into_iter()
            .filter(|row| row.load.users == users)
            .collect();
        let rated = at_load
            .iter()
            .filter_map(|row| Some((*row, valid_rate(row)?)));
        let (mut rated, others) = at_one_speed(rated.collect());
        rated.sort_by(|(_, a), (_, b)| b.value.total_cmp(&a.value));
        let ratio = match rated.as_slice() {
            [(_, best), .., (_, lowest)] => best.ratio_to(*lowest),
            _ => None,
        };
        let is_uncertain = ratio.is_some_and(|own| own.is_uncertain());
        Some(SetAnswer {
            rows: rated.into_iter().map(|(row, _)| row).collect(),
            other_speeds: others.into_iter().map(|(row, _)| row).collect(),
            at_load,
            ratio: ratio.filter(|_| !is_uncertain),
            is_uncertain,
        })
    }
}

/// NOPM, or transactions of all types.
fn valid_rate(row: &SetRow) -> Option<Estimate> {
    let is_usable = row.verdict != Verdict::Invalid && !row.load.is_open();
    let rate = row.figures.main_rate()?;
    is_usable.then_some(rate).filter(|rate| rate.value > 0.0)
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::Interference;
    use plimsoll_record::OfferedLoad;

    use super::*;
    use crate::set::SetAxisSummary;
    use crate::summary::{FigureId, FigureSet};

    fn row(choice: usize, users: u32, rate: f64, verdict: Verdict) -> SetRow {
        SetRow {
            step: "oltp".to_owned(),
            system: "db".to_owned(),
            scene: Interference::Alone,
            load: OfferedLoad::closed(users),
            choice: vec![choice],
            runs: 1,
            figures: FigureSet::default()
                .with(FigureId::Transactions, Estimate::single(rate, None)),
            verdict,
            drive: None,
            is_simulated: false,
            slower: None,
            because: Vec::new(),
        }
    }

    fn set(rows: Vec<SetRow>) -> SetSummary {
        SetSummary {
            title: "set".to_owned(),
            axes: vec![SetAxisSummary {
                name: "drive".to_owned(),
                key: "medium.drive".to_owned(),
                values: vec!["a".to_owned(), "b".to_owned()],
            }],
            runs: 2,
            of: 2,
            rows,
            crossovers: Vec::new(),
        }
    }

    #[test]
    fn combinations_are_compared_at_the_highest_load_that_is_valid_on_both() {
        let set = set(vec![
            row(0, 1, 10.0, Verdict::Valid),
            row(1, 1, 20.0, Verdict::Valid),
            row(0, 2, 12.0, Verdict::Doubtful),
            row(1, 2, 36.0, Verdict::Valid),
            row(0, 4, 13.0, Verdict::Invalid),
            row(1, 4, 90.0, Verdict::Valid),
        ]);
        let answer = set.answer().expect("two combinations at two loads");
        assert_eq!((answer.best().load.users, answer.best().choice[0]), (2, 1));
        assert_eq!(answer.ratio.map(|own| own.ratio), Some(3.0));
        assert_eq!(answer.at_load.len(), 2);
    }

    #[test]
    fn combinations_at_unlike_speeds_have_no_ratio() {
        let slowed = |choice, rate, slower| SetRow {
            slower: Some(slower),
            ..row(choice, 1, rate, Verdict::Valid)
        };
        let two = set(vec![
            slowed(0, 10.0, 50.0),
            row(1, 1, 500.0, Verdict::Valid),
        ]);
        let answer = two.answer().expect("valid rows");
        assert!(answer.ratio.is_none() && answer.rows.len() == 1);
        assert_eq!(answer.other_speeds.len(), 1);
        let alike = set(vec![slowed(0, 10.0, 50.0), slowed(1, 20.0, 50.0)]);
        let answer = alike.answer().expect("valid rows");
        assert_eq!(answer.ratio.map(|own| own.ratio), Some(2.0));
    }

    #[test]
    fn invalid_rows_and_imposed_rates_give_no_answer() {
        let imposed = SetRow {
            load: OfferedLoad {
                offered_per_second: Some(50.0),
                ..OfferedLoad::default()
            },
            ..row(0, 0, 50.0, Verdict::Valid)
        };
        assert!(
            set(vec![imposed, row(1, 1, 5.0, Verdict::Invalid)])
                .answer()
                .is_none()
        );
        let one = set(vec![row(0, 1, 5.0, Verdict::Valid)]);
        assert!(one.answer().expect("a valid row").ratio.is_none());
    }
}
