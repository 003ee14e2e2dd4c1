//! No trailing whitespace, one newline at the end.

use super::{Finding, Tree};

/// Files that others write: tools, and the kernel (what tests read was copied as it was).
fn is_foreign(path: &str) -> bool {
    let ends = [".lock", "package-lock.json", ".snap"]
        .iter()
        .any(|end| path.ends_with(end));
    ends || path == "LICENSE"
        || ["tests/data/", "/recorded/", "proptest-regressions"]
            .iter()
            .any(|part| path.contains(part))
}

pub fn check(tree: &Tree) -> Vec<Finding> {
    let files = tree.files.iter().filter(|(path, _)| !is_foreign(path));
    files
        .flat_map(|(path, text)| check_file(path, text))
        .collect()
}

fn check_file(path: &str, text: &str) -> Vec<Finding> {
    let mut findings: Vec<Finding> = text
        .split('\n')
        .enumerate()
        .filter(|(_, line)| line.ends_with([' ', '\t', '\r']))
        .map(|(line, _)| finding(path, line + 1, "trailing whitespace"))
        .collect();
    if !text.is_empty() && (!text.ends_with('\n') || text.ends_with("\n\n")) {
        findings.push(finding(
            path,
            text.lines().count(),
            "ends with exactly one newline",
        ));
    }
    findings
}

fn finding(path: &str, line: usize, what: &str) -> Finding {
    Finding {
        path: path.to_string(),
        line,
        what: what.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::places;
    use super::*;

    #[test]
    fn untidy_text_is_found() {
        let tree = Tree::of(&[
            ("a.md", "one \ntwo\n"),
            ("b.md", "one\ntwo"),
            ("c.md", "one\r\n"),
            ("d.md", "one\n\n"),
            ("good.md", "one\n"),
            ("empty", ""),
            ("Cargo.lock", "x "),
            ("a/tests/data/proc/stat", "x "),
        ]);
        assert_eq!(
            places(&check(&tree)),
            ["a.md:1", "b.md:2", "c.md:1", "d.md:2"]
        );
    }
}
