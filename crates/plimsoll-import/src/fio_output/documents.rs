//! What fio prints with `--status-interval`, cut into its documents.
//!
//! It begins with a line `{` and ends with a line `}`; lines between these are indented. Between documents fio prints messages,
//! and where a signal ends it, also into one.

/// Takes fio's standard output line by line.
#[derive(Debug, Default)]
pub struct Documents {
    /// The lines of an incomplete document.
    open: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// JSON, for [`super::parse`].
    Document(String),
    /// A line for people.
    Message(String),
}

impl Documents {
    /// Takes a line, with or without its end. Returns the piece that it completes; empty lines are skipped. A document that is
    /// followed by the beginning of another one was cut off and is left out.
    pub fn line(&mut self, line: &str) -> Option<Piece> {
        let line = line.trim_end_matches(['\n', '\r']);
        match (&mut self.open, line) {
            (open, "{") => {
                *open = Some("{\n".into());
                None
            }
            (Some(document), "}") => {
                let document = std::mem::take(document) + "}\n";
                self.open = None;
                Some(Piece::Document(document))
            }
            (Some(document), line) if line.starts_with([' ', '\t']) => {
                document.push_str(line);
                document.push('\n');
                None
            }
            (_, line) => (!line.trim().is_empty()).then(|| Piece::Message(line.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::parse;
    use super::*;

    /// fio 3.33, two streams with rates, a snapshot a second, ended by SIGINT; and one whose medium became full.
    const STATUS: &str = include_str!("../../tests/data/fio/status-worker1.out");
    const FULL: &str = include_str!("../../tests/data/fio/status-enospc.out");

    fn pieces(text: &str) -> Vec<Piece> {
        let mut documents = Documents::default();
        text.lines()
            .filter_map(|line| documents.line(line))
            .collect()
    }

    fn documents(text: &str) -> Vec<String> {
        let whole = |piece| match piece {
            Piece::Document(text) => Some(text),
            Piece::Message(_) => None,
        };
        pieces(text).into_iter().filter_map(whole).collect()
    }

    fn messages(text: &str) -> Vec<String> {
        let line = |piece| match piece {
            Piece::Message(line) => Some(line),
            Piece::Document(_) => None,
        };
        pieces(text).into_iter().filter_map(line).collect()
    }

    #[test]
    fn snapshots_grow_by_a_second_each() {
        let all: Vec<_> = documents(STATUS)
            .iter()
            .map(|text| parse(text).unwrap())
            .collect();
        assert_eq!(all.len(), 5, "four seconds and the end");
        for pair in all.windows(2) {
            let [before, after] = pair else {
                unreachable!("windows of two")
            };
            assert_eq!(
                after
                    .jobs
                    .iter()
                    .map(|job| job.name.as_str())
                    .collect::<Vec<_>>(),
                ["data", "log"]
            );
            let lasted = after.timestamp_ms - before.timestamp_ms;
            assert!((100..1_100).contains(&lasted), "{lasted}");
            for (before, after) in before.jobs.iter().zip(&after.jobs) {
                assert!(after.write.total.hist().count() > before.write.total.hist().count());
                assert!(after.write.completion.bins.is_empty(), "not asked for");
            }
            // `total_ios` of flushes stays 0 with libaio.
            let flushes =
                |job: &super::super::FioJob| job.sync.as_ref().unwrap().latency.hist().count();
            assert!(
                flushes(&after.jobs[0]) >= flushes(&before.jobs[0]) && flushes(&after.jobs[1]) == 0
            );
        }
        assert!(
            messages(STATUS).contains(&"fio: terminating on signal 2".to_owned()),
            "{:?}",
            messages(STATUS)
        );
    }

    #[test]
    fn messages_between_documents_are_kept_apart() {
        let lines = messages(FULL);
        assert!(
            lines
                .iter()
                .any(|line| line.starts_with("fio: pid=") && line.contains("No space left")),
            "{lines:?}"
        );
        let last = parse(documents(FULL).last().unwrap()).unwrap();
        assert_eq!(last.jobs[0].error, 28);
    }

    /// fio's signal handler prints while a snapshot is being printed.
    #[test]
    fn a_message_in_the_middle_of_a_document_is_no_part_of_it() {
        let all = documents(STATUS);
        let middle = all[0].find("  \"jobs\"").unwrap();
        let (head, tail) = all[0].split_at(middle);
        let text = format!("{head}\nfio: terminating on signal 2\n{tail}");
        assert_eq!(documents(&text), all[..1]);
        assert_eq!(messages(&text), ["fio: terminating on signal 2"]);
        assert!(parse(&documents(&text)[0]).is_ok());
    }

    #[test]
    fn a_document_that_was_cut_off_is_left_out() {
        assert_eq!(
            documents("{\n  \"a\" : 1,\n{\n  \"a\" : 2\n}\nbye\n{\n"),
            ["{\n  \"a\" : 2\n}\n"]
        );
    }

    proptest! {
        #[test]
        fn rubbish_never_panics_and_never_makes_more(lines in prop::collection::vec("\\PC{0,3}|[{}]", 0..40)) {
            let text = lines.join("\n");
            let length: usize = pieces(&text).iter().map(|piece| match piece {
                Piece::Document(text) | Piece::Message(text) => text.len(),
            }).sum();
            prop_assert!(length <= text.len() + 1);
        }

        /// However many lines fio puts between two documents, the documents are the same.
        #[test]
        fn messages_between_documents_change_nothing(words in prop::collection::vec("[a-z:. ]{0,20}", 0..5)) {
            let all = documents(STATUS);
            let between = format!("\n{}\n", words.join("\n"));
            let text = all.join(&between);
            prop_assert_eq!(documents(&text), all);
        }
    }
}
