//! SPECIFICATION.md ties each promise to the test that proves it. In its tables, the column headed "proved by" holds
//! `crate::path::test_name` or `tests/file.rs::test_name`, or a command of `script/` or `cargo xtask`, or the word pending.

use super::{Finding, Tree};

const PAGE: &str = "SPECIFICATION.md";

/// Adds findings; returns how many promises there are and how many are pending.
pub fn check(tree: &Tree, findings: &mut Vec<Finding>) -> (usize, usize) {
    let Some(text) = tree.files.get(PAGE) else {
        return (0, 0);
    };
    let tests = tests(tree);
    let mut promises = 0;
    let mut pending = 0;
    let mut column = None;
    for (number, line) in text.lines().enumerate() {
        let cells = cells(line);
        let headed = cells
            .iter()
            .position(|cell| cell.eq_ignore_ascii_case("proved by"));
        column = if cells.is_empty() {
            None
        } else {
            headed.or(column)
        };
        let Some(proof) = column
            .and_then(|column| cells.get(column))
            .filter(|_| headed.is_none())
        else {
            continue;
        };
        if !proof.is_empty() && proof.chars().all(|c| matches!(c, '-' | ':')) {
            continue;
        }
        promises += 1;
        let names = backticked(proof);
        let mut wrong = Vec::new();
        // What is shown by hand names its command.
        if proof.to_lowercase().contains("pending") {
            pending += 1;
        } else if names.is_empty() {
            wrong.push("a promise names the test that proves it, or is pending".into());
        }
        for name in names.into_iter().filter(|name| !exists(tree, &tests, name)) {
            wrong.push(format!("no test '{name}' in the tree"));
        }
        findings.extend(wrong.into_iter().map(|what| Finding {
            path: PAGE.into(),
            line: number + 1,
            what,
        }));
    }
    (promises, pending)
}

/// The cells of a table row; empty for any other line.
fn cells(line: &str) -> Vec<&str> {
    let Some(row) = line.trim().strip_prefix('|') else {
        return Vec::new();
    };
    row.strip_suffix('|')
        .unwrap_or(row)
        .split('|')
        .map(str::trim)
        .collect()
}

fn backticked(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Every test as (file, function).
fn tests(tree: &Tree) -> Vec<(&str, String)> {
    let functions = tree
        .sources()
        .flat_map(|(path, source)| source.functions().into_iter().map(move |f| (path, f)));
    functions
        .filter(|(_, function)| function.is_test)
        .map(|(path, function)| (path, function.name))
        .collect()
}

fn exists(tree: &Tree, tests: &[(&str, String)], name: &str) -> bool {
    if let Some(task) = name.strip_prefix("cargo xtask ") {
        return ["ci", "tidy", "pages", "bench", "test"]
            .contains(&task.split(' ').next().unwrap_or(""));
    }
    if name.starts_with("script/") {
        return tree
            .paths
            .iter()
            .any(|path| path == name.split(' ').next().unwrap_or(""));
    }
    let (place, test) = name.rsplit_once("::").unwrap_or(("", name));
    let is_file = place.ends_with(".rs");
    let folder = place.split("::").next().unwrap_or("").replace('_', "-");
    tests.iter().any(|(path, function)| {
        let in_crate = folder.is_empty() || path.split('/').any(|part| part == folder);
        function == test
            && if is_file {
                path.ends_with(place)
            } else {
                in_crate
            }
    })
}

#[cfg(test)]
mod tests {
    use super::super::places;
    use super::*;

    fn found(rows: &str) -> (Vec<String>, (usize, usize)) {
        let page = format!(
            "# Promises\n| promise | proved by |\n| --- | --- |\n{rows}\n\nNo | table `here`\n"
        );
        let tree = Tree::of(&[
            (PAGE, &page),
            (
                "crates/plimsoll-record/src/hist.rs",
                "#[test]\nfn merges() {}\nfn helper() {}\n",
            ),
            ("crates/plimsoll/tests/run.rs", "#[test]\nfn is_run() {}\n"),
            ("script/test", "\n"),
        ]);
        let mut findings = Vec::new();
        let counts = check(&tree, &mut findings);
        (places(&findings), counts)
    }

    #[test]
    fn a_promise_is_proved_by_a_test_that_exists() {
        let good = "| a | `plimsoll_record::hist::tests::merges`, `tests/run.rs::is_run` |\n| b | pending |\n\
                    | c | `plimsoll-record::hist::merges` |\n| d | `script/test` and `cargo xtask bench client` |";
        assert_eq!(found(good), (vec![], (4, 1)));
    }

    #[test]
    fn a_promise_without_its_test_is_found() {
        for bad in [
            "| a | `plimsoll_record::hist::gone` |",
            "| a | `plimsoll_record::hist::helper` |",
            "| a | `plimsoll_report::hist::merges` |",
            "| a | `tests/other.rs::is_run` |",
            "| a | `script/gone` |",
            "| a | |",
            "| a | some day |",
        ] {
            assert_eq!(found(bad).0, ["SPECIFICATION.md:4"], "{bad}");
        }
    }
}
