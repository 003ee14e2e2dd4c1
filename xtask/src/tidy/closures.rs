//! Functions and structs have names and can be found: code is not built of named closures and tuples. Both are counted
//! per crate, because some read best as they are.

use std::collections::BTreeMap;

use super::source::Source;
use super::{Finding, Tree};

/// Most of each in 1,000 lines outside of tests. A short closure beside its only use reads better than a function elsewhere:
/// the ceiling is there to notice code that is built of them.
const CEILING: usize = 4;

#[derive(Default)]
struct Counts {
    lines: usize,
    closures: usize,
    tuples: usize,
}

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, Counts> = BTreeMap::new();
    for (path, source) in tree.sources() {
        if let Some(folder) = crate_of(path) {
            crates.entry(folder).or_default().add(source);
        }
    }
    let mut findings = Vec::new();
    for (folder, counts) in crates {
        findings.extend(exceeded(
            folder,
            "named closures, which read better as functions,",
            counts.closures,
            counts.lines,
        ));
        findings.extend(exceeded(
            folder,
            "tuples in `let`, which read better as lines or structs,",
            counts.tuples,
            counts.lines,
        ));
    }
    findings
}

fn exceeded(folder: &str, what: &str, count: usize, lines: usize) -> Option<Finding> {
    (count * 1000 > CEILING * lines).then(|| Finding {
        path: folder.to_string(),
        line: 0,
        what: format!(
            "{count} {what} in {lines} lines, at most {CEILING} in 1,000 \
             (xtask/src/tidy/closures.rs)"
        ),
    })
}

/// The folder of the crate to whose product the file belongs.
fn crate_of(path: &str) -> Option<&str> {
    let (folder, _) = path.split_once("/src/")?;
    (folder == "xtask" || folder.starts_with("crates/")).then_some(folder)
}

impl Counts {
    fn add(&mut self, source: &Source) {
        for (number, line) in source.code.iter().enumerate() {
            if source.in_test[number] {
                continue;
            }
            self.lines += 1;
            let next = source.code.get(number + 1).map_or("", String::as_str);
            for (at, _) in line.match_indices("let ") {
                if line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                    continue;
                }
                let bound = &line[at + 4..];
                self.tuples += usize::from(bound.starts_with('('));
                self.closures += usize::from(is_closure(bound, next));
            }
        }
    }
}

/// `name = |…`, also with the closure on the next line.
fn is_closure(bound: &str, next: &str) -> bool {
    let bound = bound.strip_prefix("mut ").unwrap_or(bound);
    let Some((name, value)) = bound.split_once('=') else {
        return false;
    };
    let is_name = name
        .trim_end()
        .chars()
        .all(|c| c.is_alphanumeric() || c == '_');
    let value = if value.trim().is_empty() { next } else { value };
    let value = value.trim_start();
    is_name
        && value
            .strip_prefix("move ")
            .unwrap_or(value)
            .starts_with('|')
}

#[cfg(test)]
mod tests {
    use super::super::places;
    use super::*;

    fn in_a_thousand_lines(code: &str, times: usize) -> Vec<Finding> {
        let text =
            code.repeat(times) + &"    call();\n".repeat(1000 - times * code.lines().count());
        check(&Tree::of(&[("crates/new/src/lib.rs", text.trim_end())]))
    }

    #[test]
    fn a_crate_has_at_most_the_ceiling_in_a_thousand_lines() {
        for code in [
            "    let f = |x| x;\n",
            "    let mut f = move |x| x;\n",
            "    let f =\n        |x| x;\n",
            "    let (a, b) = (1, 2);\n",
        ] {
            assert_eq!(
                places(&in_a_thousand_lines(code, CEILING)),
                [""; 0],
                "{code}"
            );
            assert_eq!(
                places(&in_a_thousand_lines(code, CEILING + 1)),
                ["crates/new:0"],
                "{code}"
            );
        }
    }

    #[test]
    fn other_bindings_comments_and_tests_are_not_counted() {
        for code in [
            "    let a = b || c;\n",
            "    let a = all.iter().map(|x| x);\n",
            "    // let f = |x| x;\n",
            "    print(\"let (a, b)\");\n",
            "    outlet (a);\n",
            "#[test]\nfn t() { let f = |x| x; }\n",
        ] {
            assert_eq!(places(&in_a_thousand_lines(code, 9)), [""; 0], "{code}");
        }
    }
}
