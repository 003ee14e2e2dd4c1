//! The drives that plimsoll knows: the files in `drives/`, as they are.

use plimsoll_plan::assembly::NamedAssembly;
use plimsoll_plan::{DriveAlias, KnownDrives, PlanErrors};

use crate::spec::DriveSpec;
use crate::spec::file::{OtherDrive, assembly_tables};

/// A drive file of the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogEntry {
    /// Name of the file without `.toml`.
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! entries {
    ($($name:literal),* $(,)?) => {
        &[$(CatalogEntry { name: $name, text: include_str!(concat!("../../../drives/", $name, ".toml")) }),*]
    };
}

const ENTRIES: &[CatalogEntry] = entries![
    "aws-gp3",
    "aws-io2",
    "azure-premium-ssd-v2",
    "consumer-nvme-1t",
    "disk-7200rpm-4t",
    "kingston-dc1500m-1920g",
    "kingston-dc1500m-960g",
    "kingston-dc500m-1920g",
    "kingston-dc500m-960g",
    "kingston-dc500r-1920g",
    "kingston-dc500r-960g",
    "micron-5200-eco-1920g",
    "samsung-pm9a3-3840g",
    "seagate-constellation2-1t",
    "skhynix-pe6011-960g",
    "skhynix-se4011-960g",
    "solidigm-d7-ps1010-3840g",
];

/// Names of kinds of drives, for the one of the kind that was compared with most measurements.
const KINDS: [[&str; 2]; 4] = [
    ["nvme", "kingston-dc1500m-960g"],
    ["sata", "micron-5200-eco-1920g"],
    ["disk", "seagate-constellation2-1t"],
    ["hdd", "seagate-constellation2-1t"],
];

/// A name that is not in the catalog.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no drive `{name}` in the catalog\n{help}")]
pub struct UnknownDrive {
    pub name: String,
    /// What to do about it.
    pub help: String,
}

/// All of them, by name.
pub fn all() -> &'static [CatalogEntry] {
    ENTRIES
}

/// The drive of this name, of this kind (`nvme`, `sata`, `disk`), or with a part of its name that no other has.
///
/// # Errors
/// There is none, or several; the message suggests names.
pub fn find(name: &str) -> Result<CatalogEntry, UnknownDrive> {
    let full = known().full_name(name).map_err(|help| UnknownDrive {
        name: name.to_owned(),
        help,
    })?;
    let mut entries = ENTRIES.iter().copied();
    let found = entries.find(|entry| entry.name == full);
    found.ok_or(UnknownDrive {
        name: full,
        help: String::new(),
    })
}

/// What they can be called.
pub fn known() -> KnownDrives {
    KnownDrives {
        names: ENTRIES.iter().map(|own| own.name.to_owned()).collect(),
        kinds: KINDS
            .map(|[kind, drive]| DriveAlias::new(kind, drive))
            .to_vec(),
    }
}

/// The file of an array or a cluster: that of its first drive with a table for it, and the files of the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssemblyFile {
    /// With its drives' full names.
    pub name: String,
    pub text: String,
}

/// # Errors
/// One of its drives is not in the catalog.
pub fn assembly_file(named: NamedAssembly) -> Result<AssemblyFile, UnknownDrive> {
    let NamedAssembly { assembly, drives } = named;
    let entries = drives.iter().map(|name| find(name));
    let entries = entries.collect::<Result<Vec<_>, _>>()?;
    let others = entries.iter().skip(1).map(|own| OtherDrive {
        id: own.name.to_owned(),
        file: own.text.to_owned(),
    });
    let tables = assembly_tables(assembly.clone(), others.collect());
    let first = entries.first().map_or("", |own| own.text);
    let named = NamedAssembly {
        assembly,
        drives: entries.iter().map(|own| own.name.to_owned()).collect(),
    };
    Ok(AssemblyFile {
        name: named.to_string(),
        text: format!("{first}{tables}"),
    })
}

/// Reads a drive file. `name_or_path` becomes the drive's id, without folders and `.toml`.
///
/// # Errors
/// Everything that is wrong with the text.
pub fn load(name_or_path: &str, text: &str) -> Result<DriveSpec, PlanErrors> {
    let file = name_or_path
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or(name_or_path);
    DriveSpec::parse(file.strip_suffix(".toml").unwrap_or(file), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_in_drives_is_in_the_catalog() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../drives");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
            .collect();
        files.sort();
        let known: Vec<&str> = all().iter().map(|entry| entry.name).collect();
        assert_eq!(files, known);
    }

    #[test]
    fn every_drive_can_be_read_and_written_again() {
        for entry in all() {
            let spec = load(entry.name, entry.text)
                .unwrap_or_else(|errors| panic!("{}:\n{errors}", entry.name));
            let again = load(&format!("/some/where/{}.toml", entry.name), &spec.to_toml());
            assert_eq!(again.as_ref(), Ok(&spec), "{}", spec.to_toml());
        }
    }

    #[test]
    fn drives_have_short_names() {
        for [short, name] in KINDS {
            assert_eq!(find(short).map(|drive| drive.name), Ok(name));
        }
        assert_eq!(find("gp3").unwrap().name, "aws-gp3");
        let error = find("nvmee").unwrap_err().to_string();
        assert!(error.contains("did you mean `nvme`?"), "{error}");
        let error = find("dc1500m").unwrap_err().to_string();
        assert!(
            error.contains("which of `kingston-dc1500m-1920g`, `kingston-dc1500m-960g`?"),
            "{error}"
        );
    }

    #[test]
    fn a_name_that_is_not_there_gets_a_suggestion() {
        assert_eq!(find("aws-gp3").unwrap().name, "aws-gp3");
        let error = find("aws-gp4").unwrap_err().to_string();
        assert!(error.contains("did you mean `aws-gp3`?"), "{error}");
    }
}
