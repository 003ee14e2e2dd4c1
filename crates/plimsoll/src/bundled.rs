//! Plans and claims inside the program, which works without a checkout. Drives and profiles are in the catalogs of their
//! crates.

use std::path::Path;

use plimsoll_plan::by_short_name;

use crate::failure::Failure;
use crate::input::{read_text, read_text_from};

/// A file of the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundledFile {
    /// In the repository, without `.toml`.
    path: &'static str,
    pub text: &'static str,
}

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$(BundledFile { path: $path, text: include_str!(concat!("../../../", $path, ".toml")) }),*]
    };
}

/// Those of published tests last.
pub const PLANS: &[BundledFile] = files![
    "plans/quickstart",
    "plans/postgres",
    "plans/mariadb",
    "plans/existing-postgres",
    "plans/existing-sqlserver",
    "plans/sysbench",
    "plans/three-drives",
    "plans/load-line",
    "plans/memory-and-drive",
    "plans/noisy-neighbours",
    "plans/raid-levels",
    "plans/limping-drive",
    "plans/losing-a-host",
    "plans/member-failure",
    "plans/power-cut",
    "plans/fsync-ladder",
    "plans/block",
    "plans/crystaldiskmark",
    "plans/snia",
    "plans/snia-demonstration",
    "plans/mock-stall",
    "plans/hardwareluxx/h-cdm-array",
    "plans/kingston/k-1-memory-against-storage",
    "plans/kingston/k-2-media-against-media",
    "plans/kingston/k-3-larger-and-longer",
    "plans/kingston/k-4-backup-and-restore",
    "plans/kingston/k-5-noisy-neighbours",
    "plans/kingston/k-a-random-in-steady-state",
    "plans/kingston/k-b-sequential",
    "plans/kingston/k-hci-sweep-of-sizes",
    "plans/storagereview/s-4c-four-corners",
    "plans/storagereview/s-my-sysbench",
    "plans/storagereview/s-sql-latency-at-a-fixed-load",
    "plans/storagereview/s-vdi-boot-and-login",
    "plans/storagereview/v-my-sysbench-ladder",
];

pub const CLAIMS: &[BundledFile] = files![
    "claims/hardwareluxx-dc500m-array",
    "claims/kingston-dc1500m-database",
    "claims/kingston-dc1500m-storage",
    "claims/storagereview-sk-hynix",
    "claims/storagereview-vsan",
];

impl BundledFile {
    pub fn name(&self) -> &'static str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    /// Whether it is of a published test, at full size.
    pub fn is_published_test(&self) -> bool {
        self.path.matches('/').count() > 1
    }
}

/// The file of this name, of its beginning, or of its path in the repository.
///
/// # Errors
/// A name to write instead, or `none`.
pub fn find(
    files: &'static [BundledFile],
    written: &str,
    none: &str,
) -> Result<BundledFile, String> {
    let path = written.strip_suffix(".toml").unwrap_or(written);
    match files.iter().find(|file| file.path == path) {
        Some(file) => Ok(*file),
        None => by_short_name(path, files, |file| file.name(), none).copied(),
    }
}

/// A plan as text, with the name that its errors begin with.
pub struct PlanText {
    pub name: String,
    pub text: String,
}

impl PlanText {
    /// Of a file, of standard input (`-`), or of a bundled plan.
    pub fn read(plan: &Path) -> Result<Self, Failure> {
        let name = plan.display().to_string();
        if name == "-" {
            return Self::read_stdin();
        }
        match read_text(plan) {
            Ok(text) => Ok(Self { name, text }),
            Err(error) if plan.exists() => Err(unreadable(&name, &error.to_string(), PLANS_HELP)),
            Err(error) => match find(PLANS, &name, PLANS_HELP) {
                Ok(file) => Ok(Self {
                    name: file.name().to_owned(),
                    text: file.text.to_owned(),
                }),
                Err(help) => Err(unreadable(&name, &error.to_string(), &help)),
            },
        }
    }

    fn read_stdin() -> Result<Self, Failure> {
        let name = "standard input".to_owned();
        match read_text_from(std::io::stdin().lock()) {
            Ok(text) => Ok(Self { name, text }),
            Err(error) => Err(unreadable(&name, &error.to_string(), PLANS_HELP)),
        }
    }
}

pub const PLANS_HELP: &str = "`plimsoll plans` lists the plans that plimsoll has.";

fn unreadable(name: &str, why: &str, help: &str) -> Failure {
    Failure::usage(format!("the plan {name} cannot be read: {why}\n{help}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use super::*;

    fn toml_files(dir: PathBuf) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(dir).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths
            .flat_map(|path| match path.is_dir() {
                true => toml_files(path),
                false => vec![path],
            })
            .filter(|path| path.extension().is_some_and(|end| end == "toml"))
            .collect()
    }

    #[test]
    fn every_plan_and_claim_of_the_repository_is_bundled() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for (folder, files) in [("plans", PLANS), ("claims", CLAIMS)] {
            let there: BTreeSet<PathBuf> = toml_files(root.join(folder)).into_iter().collect();
            let bundled = files
                .iter()
                .map(|file| root.join(format!("{}.toml", file.path)));
            assert_eq!(there, bundled.collect(), "{folder}");
        }
    }

    #[test]
    fn a_bundled_file_is_found_by_name_path_and_part_of_its_name() {
        for written in [
            "power-cut",
            "power-cut.toml",
            "plans/power-cut.toml",
            "power",
        ] {
            assert_eq!(find(PLANS, written, "none").unwrap().name(), "power-cut");
        }
        assert_eq!(
            find(PLANS, "plans/kingston/k-b-sequential.toml", ""),
            find(PLANS, "k-b", "")
        );
        let help = |written| find(PLANS, written, "none").unwrap_err();
        assert_eq!(help("elsewhere/power-cut.toml"), "none");
        assert_eq!(help("quikstart"), "did you mean `quickstart`?");
    }
}
