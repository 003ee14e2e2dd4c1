//! What a kill leaves, and what the same command makes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::exec::{Task, because};

use super::command::{KilledCommand, OutputKind};
use super::in_directory;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opens {
    /// There is no file of the final name.
    Absent,
    Whole,
    /// A run file with what was committed; of a join, the file as it was before.
    Unfinished,
    /// It opens with a warning that it is damaged, or does not say what was measured.
    Damaged,
    Unreadable,
}

#[derive(Debug)]
pub struct Outcome {
    opens: Opens,
    left: BTreeSet<String>,
    /// Whether the command succeeds when it is given again, where that is possible.
    repeats: bool,
    left_after_repeat: BTreeSet<String>,
}

impl Outcome {
    pub fn observe(
        command: &KilledCommand,
        binary: &Path,
        dir: &Path,
        done: &Path,
        template: &Path,
    ) -> Task<Self> {
        let opens = match command.kind {
            OutputKind::Rendered => rendered(command, dir, done),
            OutputKind::RunFile | OutputKind::JoinedRunFile => {
                run_file(binary, dir, command.output)
            }
        };
        let left = left(command, dir, template, opens)?;
        let is_there =
            opens == Opens::Whole || command.kind == OutputKind::RunFile && opens != Opens::Absent;
        let repeats = (is_there && command.kind != OutputKind::Rendered)
            || succeeds(binary, dir, command.args);
        let after = match command.kind {
            OutputKind::Rendered => rendered(command, dir, done),
            _ => run_file(binary, dir, command.output),
        };
        Ok(Self {
            opens,
            left,
            repeats: repeats && (is_there || after == Opens::Whole),
            left_after_repeat: self::left(command, dir, template, after)?,
        })
    }

    pub fn is_lost(&self) -> bool {
        matches!(self.opens, Opens::Damaged | Opens::Unreadable)
            || !self.repeats
            || !self.left_after_repeat.is_empty()
    }
}

fn rendered(command: &KilledCommand, dir: &Path, done: &Path) -> Opens {
    match fs::read(dir.join(command.output)) {
        Err(_) => Opens::Absent,
        Ok(bytes) => match fs::read(done.join(command.output)) {
            Ok(whole) if whole == bytes => Opens::Whole,
            _ => Opens::Damaged,
        },
    }
}

fn run_file(binary: &Path, dir: &Path, name: &str) -> Opens {
    if dir.join(name).symlink_metadata().is_err() {
        return Opens::Absent;
    }
    let all = [&["list", "."][..], &["report", name, "-o", "tmp/page.html"]];
    if !all.iter().all(|args| succeeds(binary, dir, args)) {
        return Opens::Unreadable;
    }
    let mut export = Command::new(binary);
    in_directory(&mut export, dir);
    export.args(["export", name, "--to", "json"]);
    let out = export.stdout(std::process::Stdio::piped()).output();
    let Some(out) = out.ok().filter(|out| out.status.success()) else {
        return Opens::Unreadable;
    };
    let text = String::from_utf8_lossy(&out.stdout);
    let has = |text_of: &str| text.contains(text_of);
    if has("\"state\": \"changed\"") || has("\"state\": \"no_digest\"") {
        Opens::Damaged
    } else if has("\"status\": \"unfinished\"") {
        Opens::Unfinished
    } else {
        Opens::Whole
    }
}

fn succeeds(binary: &Path, dir: &Path, args: &[&str]) -> bool {
    let mut command = Command::new(binary);
    in_directory(&mut command, dir);
    command
        .args(args)
        .status()
        .is_ok_and(|status| status.success())
}

/// Files that are neither input nor output. The log of a run that was not closed belongs to its file.
fn left(
    command: &KilledCommand,
    dir: &Path,
    template: &Path,
    opens: Opens,
) -> Task<BTreeSet<String>> {
    let mut names = names(dir)?;
    for name in self::names(template)? {
        names.remove(&name);
    }
    names.remove(command.output);
    if opens == Opens::Unfinished || opens == Opens::Whole {
        names.remove(&format!("{}-wal", command.output));
        names.remove(&format!("{}-shm", command.output));
    }
    Ok(names)
}

fn names(dir: &Path) -> Task<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(dir).map_err(because(dir.display()))? {
        let entry = entry.map_err(because(dir.display()))?;
        names.insert(entry.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}

#[derive(Debug, Default)]
pub struct Outcomes {
    places: usize,
    absent: usize,
    whole: usize,
    unfinished: usize,
    damaged: usize,
    unreadable: usize,
    left: usize,
    not_repeated: usize,
    left_after_repeat: usize,
}

impl Outcomes {
    pub fn add(&mut self, outcome: &Outcome) {
        self.places += 1;
        *match outcome.opens {
            Opens::Absent => &mut self.absent,
            Opens::Whole => &mut self.whole,
            Opens::Unfinished => &mut self.unfinished,
            Opens::Damaged => &mut self.damaged,
            Opens::Unreadable => &mut self.unreadable,
        } += 1;
        self.left += usize::from(!outcome.left.is_empty());
        self.not_repeated += usize::from(!outcome.repeats);
        self.left_after_repeat += usize::from(!outcome.left_after_repeat.is_empty());
    }

    pub fn lost(&self) -> usize {
        self.damaged + self.unreadable + self.not_repeated + self.left_after_repeat
    }

    fn figures(&self) -> [usize; 9] {
        [
            self.places,
            self.absent,
            self.whole,
            self.unfinished,
            self.damaged,
            self.unreadable,
            self.left,
            self.not_repeated,
            self.left_after_repeat,
        ]
    }
}

const HEADINGS: [&str; 9] = [
    "places",
    "absent",
    "whole",
    "unfinished",
    "\"damaged\"",
    "unreadable",
    "left over",
    "not repeated",
    "left after repeat",
];

/// A row for each command and system call, and one for all of a command.
pub fn render(table: &BTreeMap<&str, BTreeMap<String, Outcomes>>) -> String {
    let mut text = format!("{:<8} {:<16}", "command", "killed at");
    for heading in HEADINGS {
        text += &format!(" {heading:>width$}", width = heading.len());
    }
    for (command, calls) in table {
        let mut sum = [0; HEADINGS.len()];
        for (call, outcomes) in calls {
            let figures = outcomes.figures();
            row(&mut text, command, call, figures);
            for (sum, figure) in sum.iter_mut().zip(figures) {
                *sum += figure;
            }
        }
        row(&mut text, command, "all", sum);
    }
    text
}

fn row(text: &mut String, command: &str, call: &str, figures: [usize; HEADINGS.len()]) {
    *text += &format!("\n{command:<8} {call:<16}");
    for (heading, figure) in HEADINGS.iter().zip(figures) {
        *text += &format!(" {figure:>width$}", width = heading.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_open_is_lost() {
        let mut outcomes = Outcomes::default();
        let mut outcome = Outcome {
            opens: Opens::Absent,
            left: BTreeSet::new(),
            repeats: true,
            left_after_repeat: BTreeSet::new(),
        };
        outcomes.add(&outcome);
        assert_eq!(outcomes.lost(), 0);
        outcome.opens = Opens::Damaged;
        outcomes.add(&outcome);
        assert_eq!((outcomes.lost(), outcome.is_lost()), (1, true));
        let table = BTreeMap::from([("run", BTreeMap::from([("close".to_owned(), outcomes)]))]);
        let text = render(&table);
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(
            text.contains("run      all                   2      1"),
            "{text}"
        );
    }
}
