//! Which crate may see which, and that every crate takes the workspace's lints.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Finding, Tree};
use crate::exec::{Task, because, cargo, root};

/// A crate of the workspace and those crates of the workspace that it may depend on. The absences are the design: data
/// flow from plan to record to analysis to document; nobody who measures sees the analysis, and load and report never
/// see each other.
const MAY_SEE: [(&str, &[&str]); 15] = [
    ("plimsoll-sched", &[]),
    ("plimsoll-stats", &[]),
    ("plimsoll-plan", &["plimsoll-stats"]),
    ("plimsoll-record", &["plimsoll-plan"]),
    ("plimsoll-import", &["plimsoll-plan", "plimsoll-record"]),
    (
        "plimsoll-analysis",
        &["plimsoll-plan", "plimsoll-record", "plimsoll-stats"],
    ),
    (
        "plimsoll-block",
        &["plimsoll-import", "plimsoll-plan", "plimsoll-record"],
    ),
    (
        "plimsoll-virtual",
        &["plimsoll-drive", "plimsoll-plan", "plimsoll-record"],
    ),
    (
        "plimsoll-load",
        &[
            "plimsoll-block",
            "plimsoll-plan",
            "plimsoll-record",
            "plimsoll-stats",
            "plimsoll-virtual",
        ],
    ),
    (
        "plimsoll-drive",
        &[
            "plimsoll-block",
            "plimsoll-import",
            "plimsoll-plan",
            "plimsoll-record",
            "plimsoll-sched",
            "plimsoll-stats",
        ],
    ),
    (
        "plimsoll-worker",
        &[
            "plimsoll-block",
            "plimsoll-load",
            "plimsoll-plan",
            "plimsoll-record",
        ],
    ),
    (
        "plimsoll-report",
        &[
            "plimsoll-analysis",
            "plimsoll-plan",
            "plimsoll-record",
            "plimsoll-stats",
        ],
    ),
    (
        "plimsoll-serve",
        &["plimsoll-plan", "plimsoll-record", "plimsoll-report"],
    ),
    (
        "plimsoll",
        &[
            "plimsoll-analysis",
            "plimsoll-block",
            "plimsoll-drive",
            "plimsoll-import",
            "plimsoll-load",
            "plimsoll-plan",
            "plimsoll-record",
            "plimsoll-report",
            "plimsoll-serve",
            "plimsoll-stats",
            "plimsoll-virtual",
            "plimsoll-worker",
        ],
    ),
    ("xtask", &[]),
];

/// Forbid less than the workspace: for one system call, and for a table of C functions.
const OWN_LINTS: [&str; 2] = ["plimsoll-sched", "plimsoll-virtual"];

/// Crates that only compute.
const PURE: [&str; 5] = [
    "plimsoll-stats",
    "plimsoll-plan",
    "plimsoll-import",
    "plimsoll-analysis",
    "plimsoll-report",
];

/// Crates of I/O, clocks, threads or connections, which a crate that only computes does not use.
const NOT_IN_PURE: [&str; 7] = [
    "tokio",
    "hyper",
    "rusqlite",
    "tokio-postgres",
    "rustix",
    "nix",
    "procfs",
];

#[derive(Debug)]
pub struct Package {
    name: String,
    /// Path of Cargo.toml from the checkout.
    manifest: String,
    /// Those of tests left out: they may use any crate.
    dependencies: Vec<String>,
}

/// The crates of the workspace.
pub fn read() -> Task<Vec<Package>> {
    let text = cargo(&["metadata", "--no-deps", "--format-version", "1"]).output()?;
    let json: Value = serde_json::from_str(&text).map_err(because("cargo metadata"))?;
    let checkout = format!("{}/", root().display());
    let packages = list(&json["packages"]).into_iter().map(|package| Package {
        name: name(&package),
        manifest: package["manifest_path"]
            .as_str()
            .unwrap_or_default()
            .trim_start_matches(&checkout)
            .to_string(),
        dependencies: list(&package["dependencies"])
            .iter()
            .filter(|dependency| dependency["kind"] != "dev")
            .map(name)
            .collect(),
    });
    Ok(packages.collect())
}

fn name(value: &Value) -> String {
    value["name"].as_str().unwrap_or_default().to_string()
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

impl Package {
    fn finding(&self, what: String) -> Finding {
        Finding {
            path: self.manifest.clone(),
            line: 0,
            what,
        }
    }
}

pub fn check(tree: &Tree, packages: &[Package]) -> Vec<Finding> {
    let rules = BTreeMap::from(MAY_SEE);
    let mut findings = Vec::new();
    for package in packages {
        let Some(allowed) = rules.get(package.name.as_str()) else {
            findings.push(package.finding(format!(
                "{} is new: list in xtask/src/tidy/manifests.rs which crates it may see",
                package.name
            )));
            continue;
        };
        for name in &package.dependencies {
            if packages.iter().any(|package| package.name == *name)
                && !allowed.contains(&name.as_str())
            {
                findings.push(package.finding(format!(
                    "{} must not depend on {name} (MAY_SEE in xtask/src/tidy/manifests.rs)",
                    package.name
                )));
            }
            if PURE.contains(&package.name.as_str()) && NOT_IN_PURE.contains(&name.as_str()) {
                findings.push(package.finding(format!(
                    "{} opens and connects to nothing: {name} does not belong here",
                    package.name
                )));
            }
        }
        let text = tree.files.get(&package.manifest).map_or("", String::as_str);
        if !has_workspace_lints(text) && !OWN_LINTS.contains(&package.name.as_str()) {
            findings.push(package.finding("has no [lints] workspace = true".into()));
        }
    }
    findings
}

fn has_workspace_lints(manifest: &str) -> bool {
    let mut in_lints = false;
    manifest.lines().map(str::trim).any(|line| {
        if line.starts_with('[') {
            in_lints = line == "[lints]";
        }
        in_lints && line.replace(' ', "") == "workspace=true"
            || line.replace(' ', "") == "lints.workspace=true"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[&str]) -> Package {
        let dependencies = dependencies.iter().map(|name| name.to_string()).collect();
        Package {
            name: name.into(),
            manifest: format!("{name}/Cargo.toml"),
            dependencies,
        }
    }

    fn found(packages: &[Package]) -> Vec<String> {
        let manifests: Vec<String> = packages
            .iter()
            .map(|package| package.manifest.clone())
            .collect();
        let files: Vec<(&str, &str)> = manifests
            .iter()
            .map(|path| (path.as_str(), "[package]\n[lints]\nworkspace = true\n"))
            .collect();
        check(&Tree::of(&files), packages)
            .into_iter()
            .map(|finding| finding.to_string())
            .collect()
    }

    #[test]
    fn the_middle_crates_never_see_each_other() {
        let record = package("plimsoll-record", &["serde"]);
        let load = package("plimsoll-load", &["plimsoll-record", "tokio"]);
        let good = package("plimsoll-report", &["plimsoll-record"]);
        assert_eq!(found(&[record, load, good]), [""; 0]);
        let (load, bad) = (
            package("plimsoll-load", &[]),
            package("plimsoll-report", &["plimsoll-load"]),
        );
        let text = found(&[load, bad]);
        assert!(
            text.len() == 1 && text[0].contains("plimsoll-report must not depend on plimsoll-load"),
            "{text:?}"
        );
    }

    #[test]
    fn pure_crates_stay_pure_and_new_crates_are_placed() {
        assert!(
            found(&[package("plimsoll-import", &["tokio"])])[0]
                .contains("tokio does not belong here")
        );
        assert!(found(&[package("plimsoll-cloud", &[])])[0].contains("list in xtask"));
    }

    #[test]
    fn lints_of_the_workspace() {
        let bare = Tree::of(&[(
            "xtask/Cargo.toml",
            "[package]\nworkspace = true\n[lints.rust]\n",
        )]);
        assert_eq!(check(&bare, &[package("xtask", &[])]).len(), 1);
        assert!(
            has_workspace_lints("[lints]\nworkspace = true\n")
                && has_workspace_lints("lints.workspace = true")
        );
    }

    #[test]
    fn this_workspace_is_read() {
        let packages = read().expect("cargo metadata");
        let plimsoll = packages
            .iter()
            .find(|package| package.name == "plimsoll")
            .expect("plimsoll");
        assert_eq!(plimsoll.manifest, "crates/plimsoll/Cargo.toml");
        assert!(
            plimsoll
                .dependencies
                .contains(&"plimsoll-record".to_string())
        );
    }
}
