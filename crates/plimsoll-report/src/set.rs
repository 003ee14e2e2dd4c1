//! A set of runs as text, CSV and a page: one row for each load under each combination, and what two axes do to the rate
//! as a table of their own.

pub(crate) mod answer;
mod chart;
pub(crate) mod rows;
mod sections;
mod words;

pub use answer::set_answer_text;
pub use sections::{set_csv, set_page, set_table};

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use plimsoll_analysis::set::{SetAxisSummary, SetRun, SetSummary, summarise_set};
    use plimsoll_analysis::summarise;
    use plimsoll_analysis::summary::Verdict;
    use plimsoll_record::fixture;

    use super::*;

    /// Four combinations, one of them twice; rates differ in all.
    fn set() -> SetSummary {
        let axis = |name: &str, values: [&str; 2]| SetAxisSummary {
            name: name.to_owned(),
            key: format!("system.db.{name}"),
            values: values.map(str::to_owned).into(),
        };
        let run = |choice: [usize; 2], repeat: u32, factor: u64| {
            let mut record = fixture::single_point();
            record.seconds.edit(|seconds| {
                for second in seconds {
                    second.counts.committed *= factor;
                }
            });
            SetRun {
                choice: choice.into(),
                repeat,
                summary: summarise(&record),
            }
        };
        let runs = [
            run([0, 0], 0, 2),
            run([0, 1], 0, 3),
            run([1, 0], 0, 5),
            run([1, 1], 0, 7),
            run([1, 1], 1, 9),
        ];
        summarise_set(
            "What memory replaces",
            vec![
                axis("memory", ["1GiB", "4GiB"]),
                axis("drive", ["a", "b,c"]),
            ],
            8,
            &runs,
        )
    }

    #[test]
    fn a_set_as_text() {
        assert_snapshot!(set_table(&set()));
    }

    #[test]
    fn a_set_is_answered() {
        assert_snapshot!("no_answer", set_answer_text(&set(), "x.set", 80));
        let mut valid = set();
        for row in &mut valid.rows {
            row.verdict = Verdict::Valid;
            row.because.clear();
            row.drive = Some(format!("drive {}", row.choice[1]));
        }
        assert_snapshot!("answer", set_answer_text(&valid, "x.set", 80));
    }

    #[test]
    fn a_set_as_csv() {
        assert_snapshot!(set_csv(&set()));
    }

    #[test]
    fn a_set_as_a_page() {
        let page = set_page(&set(), "x.set");
        assert_snapshot!(page.split_once("</style>").unwrap().1);
        assert!(
            !page.contains("<script") && !page.contains("http://") && !page.contains("https://"),
            "one file"
        );
    }
}
