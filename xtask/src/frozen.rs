//! `frozen`: everything that one plimsoll makes of recorded runs, as files, and what another makes otherwise.
//!
//! The inputs are the run files of `runs/`, runs of every other kind that the first program makes in virtual time, the
//! published tables of `claims/` and the outputs of other tools among the tests of the importers.

mod inputs;
mod view;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::exec::{Failure, Task, because, failed, root};

const USAGE: &str = "frozen DIR --binary FILE, or frozen BEFORE AFTER";
/// Lines shown of each file that differs.
const SHOWN: usize = 6;

pub fn run(words: &[&str]) -> Task {
    match words {
        [dir, "--binary", binary] => {
            let binary = fs::canonicalize(binary).map_err(because(binary))?;
            make(&root().join(dir), &binary)
        }
        [before, after] => compare(&root().join(before), &root().join(after)),
        _ => Err(Failure::Usage(USAGE.into())),
    }
}

/// Writes each view to a file of `dir`, which is new or empty.
fn make(dir: &Path, binary: &Path) -> Task {
    fs::create_dir_all(dir).map_err(because(dir.display()))?;
    if !files(dir)?.is_empty() {
        return failed(format!(
            "{} is not empty\nName a new directory.",
            dir.display()
        ));
    }
    let views = inputs::views(binary)?;
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let ended: Vec<Task> = thread::scope(|scope| {
        let work = || {
            while let Some(view) = views.get(next.fetch_add(1, Ordering::Relaxed)) {
                view.write(binary, dir)?;
            }
            Ok(())
        };
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let joined = started.into_iter().map(|thread| thread.join());
        joined
            .map(|ended| ended.unwrap_or_else(|_| failed("a thread panicked")))
            .collect()
    });
    ended.into_iter().collect::<Task>()?;
    println!("{} views in {}", views.len(), dir.display());
    Ok(())
}

fn compare(before: &Path, after: &Path) -> Task {
    let [old, new] = [files(before)?, files(after)?];
    let mut differing = 0;
    for name in &old {
        let text = |dir: &Path| fs::read(dir.join(name)).map_err(because(name));
        if !new.contains(name) {
            differing += 1;
            println!("{name}: only before");
            continue;
        }
        let [was, is] = [text(before)?, text(after)?];
        if was != is {
            differing += 1;
            print_difference(
                name,
                &String::from_utf8_lossy(&was),
                &String::from_utf8_lossy(&is),
            );
        }
    }
    for name in new.iter().filter(|name| !old.contains(name)) {
        differing += 1;
        println!("{name}: only after");
    }
    match differing {
        0 => {
            println!("{} views, all the same", old.len());
            Ok(())
        }
        _ => failed(format!("{differing} of {} views differ", old.len())),
    }
}

/// Names, in order.
fn files(dir: &Path) -> Task<Vec<String>> {
    let entries = fs::read_dir(dir).map_err(because(dir.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}

/// The first lines that only one of both has.
fn print_difference(name: &str, was: &str, is: &str) {
    let [gone, come] = [only_in(was, is), only_in(is, was)];
    println!("{name}: {} lines gone, {} new", gone.len(), come.len());
    for line in gone.iter().take(SHOWN) {
        println!("  - {}", shortened(line));
    }
    for line in come.iter().take(SHOWN) {
        println!("  + {}", shortened(line));
    }
}

/// Lines of `text` beyond those that `other` has too, each as often as it stands there.
fn only_in<'t>(text: &'t str, other: &str) -> Vec<&'t str> {
    let mut others: HashMap<&str, usize> = HashMap::new();
    for line in other.lines() {
        *others.entry(line).or_default() += 1;
    }
    let mut only = Vec::new();
    for line in text.lines() {
        match others.get_mut(line) {
            Some(left) if *left > 0 => *left -= 1,
            _ => only.push(line),
        }
    }
    only
}

fn shortened(line: &str) -> String {
    line.trim().chars().take(200).collect()
}

/// Files below `dir`, in order.
fn below(dir: &Path) -> Task<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut left = vec![dir.to_path_buf()];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(&dir)
            .map_err(because(dir.display()))?
            .flatten()
        {
            let path = entry.path();
            if path.is_dir() {
                left.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_counts_as_often_as_it_stands_there() {
        assert_eq!(only_in("a\nb\nb\nc", "b\na"), ["b", "c"]);
        assert!(only_in("a", "a\na").is_empty());
    }
}
