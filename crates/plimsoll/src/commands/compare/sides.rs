//! What the arguments of a comparison stand for: run files are sides, sets have a side for each combination of values.

use std::path::{Path, PathBuf};

use plimsoll_model::compare::Side;

use crate::failure::Failure;
use crate::runfile;
use crate::set::RunSet;

/// The sides of one comparison or, of several sets, of one for each combination of the first that others have, too.
pub(super) fn of(paths: &[PathBuf]) -> Result<Vec<Vec<Side>>, Failure> {
    let mut given = all(paths)?;
    leave_out_copies(&mut given);
    let combined = given.iter().any(|sides| sides.len() > 1);
    let mut given = given.into_iter();
    let first = given.next().unwrap_or_default();
    let others: Vec<Vec<(String, Side)>> = given.collect();
    let comparisons: Vec<Vec<Side>> = if others.is_empty() {
        vec![first.into_iter().map(|(_, side)| side).collect()]
    } else if !combined {
        vec![first.into_iter().chain(others.into_iter().flatten()).map(|(_, side)| side).collect()]
    } else {
        let with_partners = |(choice, side): (String, Side)| {
            let same = others.iter().flatten().filter(|(other, _)| *other == choice).map(|(_, side)| side.clone());
            std::iter::once(side).chain(same).collect()
        };
        first.into_iter().map(with_partners).collect()
    };
    let comparisons: Vec<Vec<Side>> = comparisons.into_iter().filter(|sides| sides.len() > 1).collect();
    if comparisons.is_empty() {
        return Err(Failure::usage(
            "there is nothing to compare: two sides are needed\nGive two different runs, a set with several \
             combinations, or two sets with a combination in common.",
        ));
    }
    Ok(comparisons)
}

/// A run that is given again is no other side. Which is left out is said.
fn leave_out_copies(given: &mut Vec<Vec<(String, Side)>>) {
    let mut kept: Vec<Side> = Vec::new();
    for sides in given.iter_mut() {
        sides.retain(|(_, side)| {
            let first = kept.iter().find(|known| known.shares_run(side));
            first.into_iter().for_each(|first| warn_of_copy(&side.label, &first.label));
            first.is_none()
        });
        kept.extend(sides.iter().map(|(_, side)| side.clone()));
    }
    given.retain(|sides| !sides.is_empty());
}

pub(in crate::commands) fn warn_of_copy(copy: &str, first: &str) {
    eprintln!("warning: {copy} and {first} are the same run: it counts once");
}

/// The only side of an argument.
pub(super) fn one(path: &Path) -> Result<Side, Failure> {
    let mut sides = read(path)?;
    match (sides.pop(), sides.is_empty()) {
        (Some((_, side)), true) => Ok(side),
        _ => Err(Failure::usage(format!(
            "{} has several combinations\nGive one run file of it, or a set of repeats.",
            path.display()
        ))),
    }
}

/// How a side is called where its path is enough.
pub(super) fn label(path: &Path) -> String {
    path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// What is in each argument, side by side: reading takes most of the time.
fn all(paths: &[PathBuf]) -> Result<Vec<Vec<(String, Side)>>, Failure> {
    let labels: Vec<String> = paths.iter().map(|path| label(path)).collect();
    let mut given: Vec<Vec<(String, Side)>> = Vec::new();
    for pair in paths.chunks(2) {
        let read: Vec<Result<_, Failure>> = std::thread::scope(|scope| {
            let started: Vec<_> = pair.iter().map(|path| scope.spawn(|| read(path))).collect();
            let joined = started.into_iter().map(|reader| reader.join());
            joined.map(|end| end.unwrap_or_else(|_| Err(Failure::run("a reader of run files failed")))).collect()
        });
        given.extend(read.into_iter().collect::<Result<Vec<_>, _>>()?);
    }
    // Of two files with one name the directory says which is which.
    for (i, sides) in given.iter_mut().enumerate() {
        if labels.iter().filter(|other| **other == labels[i]).count() > 1 {
            sides.iter_mut().for_each(|(_, side)| side.label = format!("{} ({})", side.label, paths[i].display()));
        }
    }
    Ok(given)
}

/// Combination and side; of a run file the combination is empty.
fn read(path: &Path) -> Result<Vec<(String, Side)>, Failure> {
    if !RunSet::is_one(path) {
        return Ok(vec![(String::new(), side(path, label(path))?)]);
    }
    let set = RunSet::open(path)?;
    let mut sides: Vec<(String, Side)> = Vec::new();
    for cell in &set.list.cells {
        let file = set.file(cell);
        if !file.exists() {
            continue;
        }
        let choice = set.list.label(cell);
        let name = if choice.is_empty() { label(path) } else { format!("{} {choice}", label(path)) };
        let run = side(&file, name)?;
        match sides.iter_mut().find(|(own, _)| *own == choice) {
            Some((_, side)) if side.shares_run(&run) => warn_of_copy(&cell.file, &side.label),
            Some((_, side)) => side.add(run),
            None => sides.push((choice, run)),
        }
    }
    if sides.is_empty() {
        return Err(Failure::usage(format!(
            "the set {} has no run yet\nCarry it out with `plimsoll run`.",
            path.display()
        )));
    }
    Ok(sides)
}

fn side(path: &Path, label: String) -> Result<Side, Failure> {
    let record = runfile::read_for_comparison(path)?;
    let side = Side::of(label, &record);
    // To give back a million seconds takes a while, for which nobody has to wait: not even the end of the program.
    let _ = std::thread::Builder::new().spawn(move || drop(record));
    Ok(side)
}
