//! Names and sentences use the field's terms; those that only this project used are refused.

use super::{Finding, Tree};

/// Parts of names, between underscores or capitals, and what to write instead.
const NAME_PARTS: [(&str, &str); 9] = [
    ("told", "report, message or missing, by meaning"),
    ("untold", "missing"),
    ("said", "report or message, by meaning"),
    ("tell", "send or report"),
    ("tells", "reports"),
    ("say", "report or text"),
    ("says", "reports or shows"),
    ("rung", "load summary"),
    ("racket", "noise jobs"),
];

/// Names of types that nobody outside of this project would search for.
const TYPE_NAMES: [(&str, &str); 19] = [
    ("Seen", "audit input"),
    ("Looked", "rule result"),
    ("Looks", "session sampler"),
    ("Told", "message"),
    ("Course", "step result or interval assembler"),
    ("Halt", "run error"),
    ("Tally", "statistics or counts"),
    ("Scene", "interference"),
    ("Rung", "load summary"),
    ("Errand", "backup job"),
    ("Racket", "noise jobs"),
    ("Ground", "backup target"),
    ("Spot", "instance context"),
    ("Aim", "point spec"),
    ("Desk", "run sink"),
    ("Cage", "cgroup limits"),
    ("Ledger", "commit counts"),
    ("Permit", "overwrite grant"),
    ("GaveWay", "bottleneck"),
];

/// Phrases in comments, messages and documents, and what to write instead.
const PHRASES: [(&str, &str); 23] = [
    ("drives that are not there", "emulated drives"),
    ("gave way first", "bottleneck"),
    ("nobody tells", "not evaluated: missing input"),
    ("not judged", "not evaluated"),
    ("came to its end", "completed"),
    ("nothing speaks against", "no issues found"),
    ("some are not to be used", "some results are invalid"),
    ("could not be kept up with", "the emulator fell behind"),
    ("waited outside its emulator", "queued in the kernel"),
    ("was remembered or assumed", "unverified"),
    ("brought back to its first state", "reset"),
    ("ended before its time", "ended early"),
    ("ended without a word", "exited without a result"),
    ("before the database speaks", "block benchmarks"),
    ("carry out a plan", "run a plan"),
    ("carries out a plan", "runs a plan"),
    ("held against", "compared with"),
    ("leave to overwrite", "permission to overwrite"),
    ("belong into", "put … in"),
    ("is gone on with", "is resumed"),
    ("says so", "is marked, or reports it"),
    ("nobody says", "no report, or missing"),
    ("unless told", "default …"),
];

/// Old decisions, what earlier versions and other tools printed, and the rule itself stay as they were written.
const KEPT: [&str; 8] = [
    "CHANGELOG.md",
    "docs/decisions/",
    "runs/",
    "xtask/src/tidy/words.rs",
    "/recorded/",
    "/documented/",
    "/tests/data/",
    ".snap",
];

fn is_covered(path: &str) -> bool {
    let is_in = |part: &&str| {
        path.starts_with(*part) || part.starts_with(['/', '.']) && path.contains(*part)
    };
    !KEPT.iter().any(is_in)
}

pub fn check(tree: &Tree) -> Vec<Finding> {
    let phrases = tree
        .files
        .iter()
        .filter(|(path, _)| is_covered(path))
        .flat_map(|(path, text)| phrases(path, text));
    let names = tree
        .sources()
        .filter(|(path, _)| is_covered(path))
        .flat_map(|(path, source)| {
            source
                .code
                .iter()
                .enumerate()
                .flat_map(move |(line, code)| names(path, line + 1, code))
        });
    phrases.chain(names).collect()
}

fn phrases(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, text) in text.lines().enumerate() {
        let text = text.to_lowercase();
        for (old, new) in PHRASES.iter().filter(|(old, _)| text.contains(old)) {
            findings.push(Finding {
                path: path.into(),
                line: line + 1,
                what: format!("'{old}': write '{new}'"),
            });
        }
    }
    findings
}

fn names(path: &str, line: usize, code: &str) -> Vec<Finding> {
    let words = code
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty());
    let mut findings = Vec::new();
    for word in words {
        let parts = parts(word);
        let type_names = TYPE_NAMES.iter().filter(|(old, _)| *old == word);
        let name_parts = NAME_PARTS.iter();
        let name_parts = name_parts.filter(|(old, _)| parts.iter().any(|part| part == old));
        for (old, new) in name_parts.chain(type_names) {
            findings.push(Finding {
                path: path.into(),
                line,
                what: format!("name '{word}' has '{old}': {new}"),
            });
        }
    }
    findings
}

/// `told_line` and `ToldLine` both are `told`, `line`.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for c in name.chars() {
        if c == '_' || c.is_uppercase() {
            parts.push(String::new());
        }
        if c != '_'
            && let Some(part) = parts.last_mut()
        {
            part.extend(c.to_lowercase());
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::super::places;
    use super::*;

    #[test]
    fn old_terms_are_found_in_names_and_phrases_and_kept_where_they_were_published() {
        let tree = Tree::of(&[
            (
                "crates/plimsoll-load/src/a.rs",
                "fn told_line() {}\nstruct ToldLine;\nfn saying() {}\n// What gave way first.\nlet essay = \"told\";\n",
            ),
            ("docs/a.md", "# Drives that are not there\n"),
            ("docs/decisions/1.md", "What gave way first\n"),
            ("b.rs", "struct Course;\n"),
            ("crates/a/tests/data/b.rs", "fn told() {}\n"),
        ]);
        assert_eq!(
            places(&check(&tree)),
            [
                "crates/plimsoll-load/src/a.rs:4",
                "docs/a.md:1",
                "b.rs:1",
                "crates/plimsoll-load/src/a.rs:1",
                "crates/plimsoll-load/src/a.rs:2"
            ]
        );
    }
}
