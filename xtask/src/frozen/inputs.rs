//! What views are made of.

use std::fs;
use std::path::{Path, PathBuf};

use super::below;
use super::view::View;
use crate::exec::{Task, because, failed, program, root};

const TABLES: [&str; 11] = [
    "ladder", "types", "seconds", "series", "drive", "wait", "block", "reported", "backup",
    "effect", "medium",
];

/// Plans whose runs are of kinds that no committed run has. Run once, in virtual time, and kept.
const PLANS: [(&str, &str); 6] = [
    ("find", include_str!("find.toml")),
    ("neighbours", include_str!("neighbours.toml")),
    ("backups", include_str!("backups.toml")),
    ("cuts", include_str!("cuts.toml")),
    ("set", include_str!("set.toml")),
    ("array", include_str!("array.toml")),
];

pub fn views(binary: &Path) -> Task<Vec<View>> {
    let mut runs: Vec<PathBuf> = below(&root().join("runs"))?;
    runs.retain(|file| file.extension().is_some_and(|name| name == "plimsoll"));
    runs.extend(made(binary)?);
    let runs: Vec<String> = runs.iter().map(|file| in_checkout(file)).collect();
    let mut views = Vec::new();
    // Runs that predictions are verified with are many of one kind.
    let (alike, runs): (Vec<String>, Vec<String>) =
        runs.into_iter().partition(|run| run.contains("/predict/"));
    for run in &alike {
        of_one_of_many(run, &mut views);
    }
    for run in &runs {
        of_run(run, &mut views);
    }
    for pair in runs.windows(2) {
        of_pair(&pair[0], &pair[1], &mut views);
    }
    for format in ["table", "json", "csv"] {
        let name = format!("list.{format}");
        views.push(View::printed(
            name,
            &["list", "runs", "--changes", "--format", format],
        ));
    }
    for claim in below(&root().join("claims"))? {
        let claim = in_checkout(&claim);
        if claim.ends_with(".toml") {
            of_audit(&claim, &mut views);
        }
    }
    views.push(View::written("drives".into(), &["drive", "list"], "html"));
    Ok(views)
}

fn of_one_of_many(run: &str, views: &mut Vec<View>) {
    let name = file_name(run);
    for to in ["text", "json"] {
        let words = ["export", "--to", to, run];
        views.push(View::printed(format!("{name}.export.{to}"), &words));
    }
    let words = ["audit", run, "--format", "json"];
    views.push(View::printed(format!("{name}.audit.json"), &words));
}

fn of_run(run: &str, views: &mut Vec<View>) {
    let name = file_name(run);
    for to in ["text", "json"] {
        let words = ["export", "--to", to, run];
        views.push(View::printed(format!("{name}.export.{to}"), &words));
    }
    for table in TABLES {
        let words = ["export", "--to", "csv", "--table", table, run];
        views.push(View::printed(format!("{name}.{table}.csv"), &words));
    }
    for table in ["ladder", "seconds"] {
        let words = ["export", "--to", "parquet", "--table", table, run];
        views.push(View::written(format!("{name}.{table}"), &words, "parquet"));
    }
    views.push(View::written(
        format!("{name}.report"),
        &["report", run],
        "html",
    ));
    let words = ["predict", run, "--format", "json"];
    views.push(View::printed(format!("{name}.predict.json"), &words));
    of_audit(run, views);
}

fn of_audit(input: &str, views: &mut Vec<View>) {
    let name = file_name(input);
    for format in ["table", "json", "csv"] {
        let words = ["audit", input, "--format", format];
        views.push(View::printed(format!("{name}.audit.{format}"), &words));
    }
    views.push(View::written(
        format!("{name}.audit"),
        &["audit", input],
        "html",
    ));
}

/// Runs that stand beside each other: most have little in common, which is an answer too.
fn of_pair(first: &str, second: &str, views: &mut Vec<View>) {
    let name = format!("{}.and.{}", file_name(first), file_name(second));
    for format in ["table", "json", "csv"] {
        let words = ["compare", first, second, "--format", format];
        views.push(View::printed(format!("{name}.{format}"), &words));
    }
    let anyway = ["compare", "--anyway", first, second];
    views.push(View::written(format!("{name}.compare"), &anyway, "html"));
    let words = ["gate", second, "--baseline", first, "--format", "json"];
    views.push(View::printed(format!("{name}.gate.json"), &words));
}

/// Runs of [`PLANS`] and imports of other tools' outputs, made where they do not exist: both programs read the same files.
/// An output that cannot be imported is named.
fn made(binary: &Path) -> Task<Vec<PathBuf>> {
    let dir = root().join("target/frozen-runs");
    fs::create_dir_all(&dir).map_err(because(dir.display()))?;
    let binary = binary.to_string_lossy();
    let mut runs = Vec::new();
    for (name, text) in PLANS {
        let plan = dir.join(name).with_extension("toml");
        fs::write(&plan, text).map_err(because(plan.display()))?;
        let run = dir
            .join(name)
            .with_extension(if name == "set" { "set" } else { "plimsoll" });
        if !run.exists() {
            let [plan, out] = [&plan, &run].map(|path| path.to_string_lossy());
            let mut words = vec!["run", &plan, "-o", &out, "--quiet"];
            if text.contains("mock") {
                words.push("--virtual-time");
            }
            // Losing data in a power cut is an exit code of its own.
            program(&binary, &words).works();
        }
        if !run.exists() {
            return failed(format!("{binary} made no run of {}", plan.display()));
        }
        runs.push(run);
    }
    for output in below(&root().join("crates/plimsoll-import/tests/data"))? {
        let name = file_name(&in_checkout(&output));
        let run = dir.join(format!("{name}.plimsoll"));
        let [output, out] = [&output, &run].map(|path| path.to_string_lossy());
        if !run.is_file() {
            program(&binary, &["import", &output, "-o", &out, "--title", &name]).works();
        }
        if run.is_file() {
            runs.push(run);
        } else {
            println!("not imported: {output}");
        }
    }
    Ok(runs)
}

fn in_checkout(path: &Path) -> String {
    let inside = path.strip_prefix(root()).unwrap_or(path);
    inside.to_string_lossy().into_owned()
}

/// A path as the name of a file.
fn file_name(path: &str) -> String {
    path.replace('/', "_")
}
