//! Calls that appear in one place or nowhere.

use super::source::{Source, find_word};
use super::{Finding, Tree};

struct Rule {
    words: &'static [&'static str],
    /// Where the rule holds; folders end with `/`, an empty list is everywhere.
    within: &'static [&'static str],
    /// Where the words may stand, and why; `*/` stands for any folders.
    allowed: &'static [(&'static str, &'static str)],
    in_tests: bool,
    why: &'static str,
}

const RULES: [Rule; 9] = [
    Rule {
        words: &[
            "Instant::now",
            "SystemTime::now",
            "thread::sleep",
            "time::sleep",
            "time::sleep_until",
            "time::interval",
            "park_timeout",
        ],
        within: &[],
        allowed: &[
            ("crates/plimsoll-load/src/clock.rs", "the one clock"),
            (
                "crates/plimsoll-drive/src/emulate/clock.rs",
                "the emulator's wall clock, which answers are sent by and which no virtual clock moves",
            ),
            (
                "crates/plimsoll-load/src/scratch/wait.rs",
                "waits for a server process to end, which no virtual clock moves",
            ),
            (
                "xtask/src/exec.rs",
                "how long a task took; looking at a measured child ten times a second",
            ),
        ],
        in_tests: false,
        why: "time is a parameter: take a Clock (design rule 4)",
    },
    Rule {
        words: &["clock_gettime", "clock_nanosleep", "Instant", "SystemTime"],
        within: &["crates/plimsoll-drive/src/"],
        allowed: &[
            (
                "crates/plimsoll-drive/src/emulate/clock.rs",
                "the emulator's wall clock",
            ),
            (
                "crates/plimsoll-drive/src/emulate/directory/",
                "times of files, which FUSE passes on as SystemTime",
            ),
        ],
        in_tests: false,
        why: "a drive's model takes the time as an argument, and its emulator has one clock",
    },
    Rule {
        words: &["Timestamp::now", "Zoned::now", "Instant", "SystemTime"],
        within: &[
            "crates/plimsoll-stats/src/",
            "crates/plimsoll-plan/src/",
            "crates/plimsoll-record/src/",
            "crates/plimsoll-import/src/",
            "crates/plimsoll-analysis/src/",
            "crates/plimsoll-report/src/",
        ],
        allowed: &[],
        in_tests: true,
        why: "crates that only compute read no clock: pass the time in",
    },
    Rule {
        words: &["println!", "print!", "eprintln!", "eprint!"],
        within: &[],
        allowed: &[
            ("xtask/", "a program of its own"),
            ("*/examples/", "programs of their own"),
            ("*/build.rs", "speaks to cargo by printing"),
        ],
        in_tests: true,
        why: "crates/plimsoll prints by `terminal`, whose output is safe and never panics; others do not print",
    },
    Rule {
        words: &["process::exit"],
        within: &[],
        allowed: &[
            ("crates/plimsoll/src/", "the only crate that exits"),
            ("xtask/", "a program of its own"),
            ("*/examples/", "programs of their own"),
            ("*/build.rs", "runs by itself"),
        ],
        in_tests: true,
        why: "only crates/plimsoll exits; a test that cannot run fails",
    },
    Rule {
        words: &["env::args", "env::vars"],
        within: &["crates/"],
        allowed: &[("*/examples/", "programs of their own")],
        in_tests: true,
        why: "arguments and variables may be no UTF-8, where these panic: take args_os, vars_os",
    },
    Rule {
        words: &[".unwrap()", ".unwrap_err()"],
        within: &[],
        allowed: &[],
        in_tests: false,
        why: "return the error, or state the invariant with expect",
    },
    Rule {
        words: &[
            "todo!",
            "unimplemented!",
            "dbg!",
            "#[ignore",
            "#[allow(dead_code",
        ],
        within: &[],
        allowed: &[],
        in_tests: true,
        why: "unfinished work stays on its branch",
    },
    Rule {
        words: &["unsafe"],
        within: &[],
        allowed: &[
            (
                "crates/plimsoll-sched/",
                "one system call that no safe library has",
            ),
            (
                "crates/plimsoll-virtual/src/fiber.rs",
                "code below C functions finds the fiber that it runs in",
            ),
            (
                "crates/plimsoll-virtual/src/vfs.rs",
                "a table of C functions",
            ),
            (
                "crates/plimsoll-virtual/tests/connections.rs",
                "SQLite's table of mutexes, to count them",
            ),
        ],
        in_tests: true,
        why: "no unsafe but in plimsoll-sched, and in fiber, vfs and a test of plimsoll-virtual",
    },
];

/// In comments. Put together here, so that this file does not find itself.
const MARKS: [&str; 2] = ["TODO", "FIXME"];

impl Rule {
    fn holds_in(&self, path: &str) -> bool {
        (self.within.is_empty() || self.within.iter().any(|place| is_at(path, place)))
            && !self.allowed.iter().any(|(place, _)| is_at(path, place))
    }
}

pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.sources()
        .flat_map(|(path, source)| check_file(path, source))
        .collect()
}

/// A place is a file or, with `/` at its end, a folder; with `*/` before it in any folder.
fn is_at(path: &str, place: &str) -> bool {
    match place.strip_prefix("*/") {
        Some(place) if place.ends_with('/') => path.contains(&format!("/{place}")),
        Some(place) => path.ends_with(&format!("/{place}")),
        None if place.ends_with('/') => path.starts_with(place),
        None => path == place,
    }
}

fn check_file(path: &str, source: &Source) -> Vec<Finding> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for rule in RULES.iter().filter(|rule| rule.holds_in(path)) {
        for (line, text) in source.code.iter().enumerate() {
            if source.in_test[line] && !rule.in_tests {
                continue;
            }
            let word = rule
                .words
                .iter()
                .find(|word| find_word(text, word).is_some());
            found.extend(word.map(|word| (line, format!("`{word}`: {}", rule.why))));
        }
    }
    for (line, text) in source.comments.iter().enumerate() {
        let mark = MARKS.iter().find(|mark| find_word(text, mark).is_some());
        found.extend(mark.map(|mark| (line, format!("{mark}: do it, or open an issue"))));
    }
    for line in early_returns(source) {
        let what =
            "a test that returns early passes without having tested: fail, or split the test";
        found.push((line, what.into()));
    }
    found
        .into_iter()
        .map(|(line, what)| Finding {
            path: path.to_string(),
            line: line + 1,
            what,
        })
        .collect()
}

/// `return;` and `return Ok(())` in a test, the usual shape of a silent skip; not where an assertion comes before it.
fn early_returns(source: &Source) -> Vec<usize> {
    let tests = source
        .functions()
        .into_iter()
        .filter(|function| function.is_test);
    tests
        .flat_map(|test| test.lines)
        .filter(|line| returns(&source.code[*line]) && !is_after_assertion(source, *line))
        .collect()
}

fn returns(text: &str) -> bool {
    let rest = find_word(text, "return").map(|at| text[at + 6..].trim_start());
    rest.is_some_and(|rest| rest.starts_with([';', '}', ',']) || rest.starts_with("Ok(())"))
}

fn is_after_assertion(source: &Source, line: usize) -> bool {
    source.code[..line]
        .iter()
        .rfind(|text| !text.trim().is_empty())
        .is_some_and(|text| text.trim_start().starts_with("assert"))
}

#[cfg(test)]
mod tests {
    use super::super::places;
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        places(&check(&Tree::of(&[(path, text)])))
    }

    #[test]
    fn time_is_read_in_one_place() {
        let text = "fn f() {\n    let now = std::time::Instant::now();\n    tokio::time::sleep_until(now);\n}\n";
        assert_eq!(
            found("crates/plimsoll-load/src/runner.rs", text),
            [
                "crates/plimsoll-load/src/runner.rs:2",
                "crates/plimsoll-load/src/runner.rs:3"
            ]
        );
        assert_eq!(found("crates/plimsoll-load/src/clock.rs", text), [""; 0]);
        assert_eq!(
            found("crates/plimsoll-load/tests/a.rs", text),
            [""; 0],
            "tests may"
        );
        assert_eq!(
            found("crates/plimsoll-report/src/a.rs", "fn f(at: Instant) {}\n").len(),
            1
        );
    }

    #[test]
    fn only_the_program_prints() {
        let text = "fn f() {\n    eprintln!(\"x\");\n    std::process::exit(3);\n}\n";
        assert_eq!(found("crates/plimsoll-load/src/a.rs", text).len(), 2);
        assert_eq!(found("crates/plimsoll/src/main.rs", text).len(), 1);
        for program in [
            "xtask/src/main.rs",
            "crates/plimsoll-load/examples/cost.rs",
            "crates/plimsoll-report/build.rs",
        ] {
            assert_eq!(found(program, text), [""; 0]);
        }
        let skip =
            "#[cfg(test)]\nmod tests {\n    fn f() {\n        eprintln!(\"skipped\");\n    }\n}\n";
        assert_eq!(
            found("crates/plimsoll-load/src/a.rs", skip),
            ["crates/plimsoll-load/src/a.rs:4"]
        );
    }

    #[test]
    fn unwrap_belongs_in_tests() {
        let text = "fn f() {\n    x.unwrap();\n}\n#[cfg(test)]\nmod tests {\n    fn g() {\n        x.unwrap();\n    }\n}\n";
        assert_eq!(found("a/src/a.rs", text), ["a/src/a.rs:2"]);
        assert_eq!(found("a/tests/a.rs", text), [""; 0]);
        assert_eq!(found("a/examples/a.rs", text), [""; 0]);
    }

    #[test]
    fn unfinished_work_and_unsafe_are_found_and_messages_are_not() {
        for bad in ["todo!()", "unimplemented!()", "dbg!(x)", "unsafe { x }"] {
            assert_eq!(
                found("a.rs", &format!("fn f() {{\n    {bad};\n}}\n")),
                ["a.rs:2"],
                "{bad}"
            );
        }
        assert_eq!(found("a.rs", "#[test]\n#[ignore]\nfn f() {}\n"), ["a.rs:2"]);
        assert_eq!(
            found("a.rs", &format!("// {}: later\n", MARKS[0])),
            ["a.rs:1"]
        );
        assert_eq!(
            found(
                "a.rs",
                "#![forbid(unsafe_code)]\n// unsafe is forbidden\nconst A: &str = \"dbg!\";\n"
            ),
            [""; 0]
        );
    }

    #[test]
    fn a_test_that_returns_early_is_found() {
        let text =
            "#[test]\nfn f() {\n    let Some(x) = find() else {\n        return;\n    };\n}\n";
        assert_eq!(found("a.rs", text), ["a.rs:4"]);
        assert_eq!(
            found(
                "a.rs",
                "#[test]\nfn f() {\n    let g = |x| return x + 1;\n}\n"
            ),
            [""; 0]
        );
        assert_eq!(found("a.rs", "fn f() {\n    return;\n}\n"), [""; 0]);
        assert_eq!(
            found(
                "a.rs",
                "#[test]\nfn f() {\n    if a {\n        assert!(b);\n        return;\n    }\n}\n"
            ),
            [""; 0]
        );
    }
}
