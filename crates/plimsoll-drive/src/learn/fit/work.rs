//! The work of a fit: the drive file as it grows.

use plimsoll_plan::units::Bytes;

use super::rows::Care;
use crate::learn::measured::Figure;
use crate::spec::DriveSpec;
use crate::spec::figure::{ASSUMED, SpecFigure};
use crate::spec::file::{Cache, CacheKind, Datasheet, DriveClass, DriveFile};

/// The source that all measured figures name.
pub const SOURCE: &str = "learned";
/// Where the statement on the write cache is from.
const KERNEL: &str = "kernel";

/// What is fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct FitSubject {
    pub title: String,
    pub kind: DriveClass,
    pub capacity: Bytes,
    /// The part that was measured.
    pub region: Bytes,
    /// Whether writes were measured.
    pub writes: bool,
    /// Whether it has a volatile cache, if the kernel reports it.
    pub volatile: Option<bool>,
    /// What `learned` means: when and how.
    pub how: String,
}

/// A figure on its way into the file: how far its repeats are apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittedParameter {
    pub key: &'static str,
    pub repeats_percent: f64,
}

/// The work of a fit.
pub struct DriveFit {
    pub subject: FitSubject,
    pub file: DriveFile,
    pub parameters: Vec<FittedParameter>,
    pub notes: Vec<String>,
    pub care: Care,
}

impl DriveFit {
    pub fn new(subject: &FitSubject) -> Self {
        let (value, source) = match subject.volatile {
            Some(true) => (CacheKind::Volatile, KERNEL),
            Some(false) => (CacheKind::Protected, KERNEL),
            None => (CacheKind::Volatile, ASSUMED),
        };
        let mut sources =
            std::collections::BTreeMap::from([(SOURCE.to_owned(), subject.how.clone())]);
        if source == KERNEL {
            let text = "queue/write_cache of the device: \"write back\" is volatile, \"write through\" needs no flush";
            sources.insert(KERNEL.to_owned(), text.to_owned());
        }
        let file = DriveFile {
            title: subject.title.clone(),
            kind: if subject.kind == DriveClass::Volume {
                DriveClass::Nvme
            } else {
                subject.kind
            },
            capacity_gb: SpecFigure::new((subject.capacity.0 as f64 / 1e6).round() / 1e3, SOURCE),
            write_cache: Cache {
                value,
                source: source.to_owned(),
            },
            slower: None,
            models: Vec::new(),
            sources,
            datasheet: Datasheet::default(),
            flash: None,
            disk: None,
            volume: None,
            array: None,
            cluster: None,
            other_drives: Vec::new(),
            power: Default::default(),
            endurance: Default::default(),
        };
        let care = Care {
            region: Bytes(subject.region.0.min(subject.capacity.0)),
            ops: 10_000,
            seed: 1,
        };
        Self {
            subject: subject.clone(),
            file,
            parameters: Vec::new(),
            notes: Vec::new(),
            care,
        }
    }

    pub fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    /// A measured figure as the file has it, with four digits.
    pub fn written(&mut self, key: &'static str, figure: Figure) -> SpecFigure {
        self.parameters.retain(|parameter| parameter.key != key);
        self.parameters.push(FittedParameter {
            key,
            repeats_percent: figure.error_percent,
        });
        SpecFigure::new(digits(figure.value), SOURCE)
    }

    /// The drive of a file, with the figures that the model takes and that were not measured.
    pub fn spec_of(&self, file: &DriveFile) -> Option<DriveSpec> {
        DriveSpec::parse("learned", &complete(file).to_toml()).ok()
    }
}

/// Figures for writes where none were measured: the same as for reads. Only for asking the model for reads.
fn complete(file: &DriveFile) -> DriveFile {
    let mut file = file.clone();
    let sheet = &mut file.datasheet;
    sheet.sequential_write_mb_s = sheet
        .sequential_write_mb_s
        .take()
        .or(sheet.sequential_read_mb_s.clone());
    sheet.random_write_iops = sheet
        .random_write_iops
        .take()
        .or(sheet.random_read_iops.clone());
    if let Some(flash) = &mut file.flash {
        flash.write_us = flash.write_us.take().or(flash.read_us.clone());
    }
    file
}

/// Rounded to four digits.
pub fn digits(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(3 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}
