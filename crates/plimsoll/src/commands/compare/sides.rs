//! What the arguments of a comparison stand for: run files are sides, sets have a side for each combination of values.

use std::path::{Path, PathBuf};

use plimsoll_analysis::compare::{ComparedSide, RunIdentity};

use crate::failure::Failure;
use crate::run_path::RunArgument;
use crate::set::RunSet;
use crate::terminal::note;
use plimsoll_record::runfile;

/// Runs of one combination of values, which repeat each other.
struct RepeatedRuns {
    /// Of a run file empty.
    choice: String,
    label: String,
    runs: Vec<ComparedRun>,
}

struct ComparedRun {
    /// What a warning calls it.
    name: String,
    side: ComparedSide,
}

/// A run by its name and identity.
struct KnownRun {
    name: String,
    identities: Vec<RunIdentity>,
}

impl RepeatedRuns {
    /// `None` without a run.
    fn into_side(self) -> Option<ComparedSide> {
        let mut runs = self.runs.into_iter().map(|run| run.side);
        let mut side = ComparedSide {
            label: self.label,
            ..runs.next()?
        };
        runs.for_each(|run| side.add(run));
        Some(side)
    }

    fn holds(&self, other: &ComparedRun) -> bool {
        self.runs.iter().any(|run| run.side.shares_run(&other.side))
    }
}

/// The sides of one comparison or, of several sets, of one for each combination of the first that others have, too.
pub(in crate::commands) fn of(paths: &[PathBuf]) -> Result<Vec<Vec<ComparedSide>>, Failure> {
    let mut given = all(paths)?;
    leave_out_copies(&mut given);
    let combined = given.iter().any(|cells| cells.len() > 1);
    let sides = |cells: Vec<RepeatedRuns>| -> Vec<(String, ComparedSide)> {
        cells
            .into_iter()
            .filter_map(|cell| Some((cell.choice.clone(), cell.into_side()?)))
            .collect()
    };
    let mut given = given.into_iter().map(sides);
    let first = given.next().unwrap_or_default();
    let others: Vec<Vec<(String, ComparedSide)>> = given.collect();
    let comparisons: Vec<Vec<ComparedSide>> = if others.is_empty() {
        vec![first.into_iter().map(|(_, side)| side).collect()]
    } else if !combined {
        vec![
            first
                .into_iter()
                .chain(others.into_iter().flatten())
                .map(|(_, side)| side)
                .collect(),
        ]
    } else {
        first
            .into_iter()
            .map(|(choice, side)| {
                let same = others
                    .iter()
                    .flatten()
                    .filter(|(other, _)| *other == choice)
                    .map(|(_, side)| side.clone());
                std::iter::once(side).chain(same).collect()
            })
            .collect()
    };
    let comparisons: Vec<Vec<ComparedSide>> = comparisons
        .into_iter()
        .filter(|sides| sides.len() > 1)
        .collect();
    if comparisons.is_empty() {
        return Err(Failure::usage(
            "there is nothing to compare: two sides are needed\nGive two different runs, a set with several \
             combinations, or two sets with a combination in common.",
        ));
    }
    Ok(comparisons)
}

/// A run that is given again counts where it is given first. A side that is left without a run is left out.
fn leave_out_copies(given: &mut Vec<Vec<RepeatedRuns>>) {
    let mut kept: Vec<KnownRun> = Vec::new();
    for cell in given.iter_mut().flatten() {
        cell.runs.retain(|run| {
            let first = kept
                .iter()
                .find(|known| run.side.holds_any(&known.identities));
            first
                .into_iter()
                .for_each(|first| warn_of_copy(&run.name, &first.name));
            let is_new = first.is_none();
            kept.extend(is_new.then(|| KnownRun {
                name: run.name.clone(),
                identities: run.side.identities.clone(),
            }));
            is_new
        });
        if cell.runs.is_empty() {
            note!("warning: {} is left out: it has no other run", cell.label);
        }
    }
    given
        .iter_mut()
        .for_each(|cells| cells.retain(|cell| !cell.runs.is_empty()));
    given.retain(|cells| !cells.is_empty());
}

pub(in crate::commands) fn warn_of_copy(copy: &str, first: &str) {
    note!("warning: {copy} and {first} are the same run: it counts once");
}

/// A baseline and the run compared with it. Runs of the baseline are no repeats of the other; one that holds nothing else is
/// compared with itself.
pub(super) fn baseline_and_run(baseline: &Path, run: &Path) -> Result<[ComparedSide; 2], Failure> {
    let baseline = one(baseline)?;
    let mut run = one(run)?;
    match run.runs.iter().find(|own| !baseline.holds(own)) {
        None => {
            note!(
                "warning: {} and {} are the same run: it is compared with itself",
                run.label,
                baseline.label
            );
        }
        Some(_) => run.runs.retain(|own| {
            let is_copy = baseline.holds(own);
            if is_copy {
                warn_of_copy(&own.name, &baseline.label);
            }
            !is_copy
        }),
    }
    let none = || Failure::usage("there is nothing to compare: two sides are needed");
    Ok([
        baseline.into_side().ok_or_else(none)?,
        run.into_side().ok_or_else(none)?,
    ])
}

/// A run, or a set of repeats, by itself.
pub(super) fn one_side(run: &Path) -> Result<ComparedSide, Failure> {
    let none = || Failure::usage(format!("{} holds no run", run.display()));
    one(run)?.into_side().ok_or_else(none)
}

/// The only cell of an argument.
fn one(path: &Path) -> Result<RepeatedRuns, Failure> {
    let mut given = vec![read(path)?];
    leave_out_copies(&mut given);
    let mut cells = given.pop().unwrap_or_default();
    match (cells.pop(), cells.is_empty()) {
        (Some(cell), true) => Ok(cell),
        _ => Err(Failure::usage(format!(
            "{} has several combinations\nGive one run file of it, or a set of repeats.",
            path.display()
        ))),
    }
}

/// How a side is called where its path is enough.
pub(in crate::commands) fn label(path: &Path) -> String {
    // `v1.2` of a directory has no extension.
    let is_directory = path.is_dir() && !RunSet::is_one(path);
    let name = if is_directory {
        path.file_name()
    } else {
        path.file_stem()
    };
    name.unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

/// What is in each argument, side by side: reading takes most of the time.
fn all(paths: &[PathBuf]) -> Result<Vec<Vec<RepeatedRuns>>, Failure> {
    let labels: Vec<String> = paths.iter().map(|path| label(path)).collect();
    let mut given: Vec<Vec<RepeatedRuns>> = Vec::new();
    for pair in paths.chunks(2) {
        let read: Vec<Result<_, Failure>> = std::thread::scope(|scope| {
            let started: Vec<_> = pair.iter().map(|path| scope.spawn(|| read(path))).collect();
            let joined = started.into_iter().map(|reader| reader.join());
            joined
                .map(|end| {
                    end.unwrap_or_else(|_| Err(Failure::run("a reader of run files failed")))
                })
                .collect()
        });
        given.extend(read.into_iter().collect::<Result<Vec<_>, _>>()?);
    }
    // Two files with one name are distinguished by their directories.
    for (i, cells) in given.iter_mut().enumerate() {
        if labels.iter().filter(|other| **other == labels[i]).count() > 1 {
            cells
                .iter_mut()
                .for_each(|cell| cell.label = format!("{} ({})", cell.label, paths[i].display()));
        }
    }
    Ok(given)
}

fn read(path: &Path) -> Result<Vec<RepeatedRuns>, Failure> {
    match RunArgument::open(path)? {
        RunArgument::File(file) => read_repeats(path, &[file]),
        RunArgument::Directory(files) => read_repeats(path, &files),
        RunArgument::Set(set) => read_set(path, &set),
    }
}

/// A run file, or those of a directory, which repeat each other.
fn read_repeats(path: &Path, files: &[PathBuf]) -> Result<Vec<RepeatedRuns>, Failure> {
    let label = label(path);
    let mut runs: Vec<ComparedRun> = Vec::new();
    for file in files {
        let run = ComparedRun {
            name: file.display().to_string(),
            side: side(file, label.clone())?,
        };
        expect_same_plan(path, runs.first(), &run)?;
        runs.push(run);
    }
    if let [only] = runs.as_mut_slice() {
        only.name = label.clone();
    }
    Ok(vec![RepeatedRuns {
        choice: String::new(),
        label,
        runs,
    }])
}

/// Runs of different plans in one directory are no repeats.
fn expect_same_plan(
    dir: &Path,
    first: Option<&ComparedRun>,
    other: &ComparedRun,
) -> Result<(), Failure> {
    let title = |run: &ComparedRun| run.side.runs.first().map(|run| run.title.clone());
    match first {
        Some(first) if title(first) != title(other) => Err(Failure::usage(format!(
            "{} holds runs of different plans\n{} is of \"{}\", {} of \"{}\".\nRuns of one directory are compared as repeats of              each other: give each plan a directory of its own, or name the run files.",
            dir.display(),
            first.name,
            title(first).unwrap_or_default(),
            other.name,
            title(other).unwrap_or_default()
        ))),
        _ => Ok(()),
    }
}

fn read_set(path: &Path, set: &RunSet) -> Result<Vec<RepeatedRuns>, Failure> {
    let mut cells: Vec<RepeatedRuns> = Vec::new();
    for cell in &set.list.cells {
        let file = set.file(cell);
        if !file.exists() {
            continue;
        }
        let choice = set.list.label(cell);
        let label = if choice.is_empty() {
            label(path)
        } else {
            format!("{} {choice}", label(path))
        };
        let run = ComparedRun {
            name: cell.file.clone(),
            side: side(&file, label.clone())?,
        };
        match cells.iter_mut().find(|own| own.choice == choice) {
            Some(own) => own.runs.push(run),
            None => cells.push(RepeatedRuns {
                choice,
                label,
                runs: vec![run],
            }),
        }
    }
    if cells.is_empty() {
        return Err(Failure::usage(format!(
            "the set {} has no run yet\nCarry it out with `plimsoll run`.",
            path.display()
        )));
    }
    Ok(cells)
}

fn side(path: &Path, label: String) -> Result<ComparedSide, Failure> {
    let record = runfile::require_intact(path, runfile::read(path)?)?;
    let side = ComparedSide::of(label, &record);
    // Freeing a million seconds takes a while: neither the user nor the end of the program waits for it.
    let _ = std::thread::Builder::new().spawn(move || drop(record));
    Ok(side)
}
