//! From measurements to a drive file. Pure: the same measurements give the same file.
//!
//! What a measurement shows directly is taken from it; what shows in no single one is searched for. Then the fitted drive
//! is asked for every measured point, and each figure gets as its error the larger of two: how far the repeats are
//! apart, and how far the model is off at the points that the figure governs.

use plimsoll_plan::units::Bytes;

use super::measured::{Figure, Measured};
use crate::spec::DriveSpec;
use crate::spec::figure::{ASSUMED, SpecFigure};
use crate::spec::file::{Cache, CacheKind, Datasheet, DriveClass, DriveFile, Flash};

pub mod burst;
mod disk;
mod flash;
pub mod rows;
mod volume;

pub use disk::turns;
use rows::{Care, FitRow, rows};

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

/// A drive file with what is known of its errors.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    pub file: DriveFile,
    pub rows: Vec<FitRow>,
    /// What was not measured, or is a bound only; for the head of the file.
    pub notes: Vec<String>,
}

impl Fitted {
    /// The row that is furthest off.
    pub fn worst(&self) -> Option<&FitRow> {
        self.rows.iter().max_by(|a, b| {
            a.deviation_percent()
                .abs()
                .total_cmp(&b.deviation_percent().abs())
        })
    }
}

/// A figure on its way into the file: how far its repeats are apart.
#[derive(Debug, Clone, Copy, PartialEq)]
struct FittedParameter {
    key: &'static str,
    repeats_percent: f64,
}

/// The work of a fit.
struct DriveFit {
    subject: FitSubject,
    file: DriveFile,
    parameters: Vec<FittedParameter>,
    notes: Vec<String>,
    care: Care,
}

/// Fits a drive. `None`: one of the loads that every fit takes was not measured.
pub fn fit(subject: &FitSubject, measured: &Measured) -> Option<Fitted> {
    let mut fitted = match subject.kind {
        DriveClass::Disk => fitted_by(disk::fit, subject, measured)?,
        DriveClass::Nvme | DriveClass::Sata | DriveClass::Volume => {
            fitted_by(flash::fit, subject, measured)?
        }
    };
    if subject.kind != DriveClass::Disk && subject.writes {
        let as_volume = fitted_by(volume::fit, subject, measured);
        let nearer =
            |other: &Fitted| volume::distance(&other.rows) < volume::distance(&fitted.rows);
        if let Some(as_volume) = as_volume.filter(nearer) {
            fitted = as_volume;
        }
    }
    Some(fitted)
}

fn fitted_by(
    mechanism: fn(&mut DriveFit, &Measured) -> Option<()>,
    subject: &FitSubject,
    measured: &Measured,
) -> Option<Fitted> {
    let mut fit = DriveFit::new(subject);
    mechanism(&mut fit, measured)?;
    let spec = fit.spec_of(&fit.file);
    let mut rows = spec
        .map(|spec| rows(&spec, measured, &fit.care))
        .unwrap_or_default();
    for profile in &measured.unsettled {
        fit.note(format!(
            "{}: its rate was still changing when the time was up; its error holds that",
            profile.name()
        ));
    }
    // To flash every span is the same: narrow ones add nothing to the whole.
    rows.retain(|row| row.profile.span >= 1.0 || subject.kind == DriveClass::Disk);
    fit.put_errors(&rows);
    Some(Fitted {
        file: fit.file,
        rows,
        notes: fit.notes,
    })
}

impl DriveFit {
    fn new(subject: &FitSubject) -> Self {
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

    fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    /// A measured figure as the file has it, with four digits.
    fn written(&mut self, key: &'static str, figure: Figure) -> SpecFigure {
        self.parameters.retain(|parameter| parameter.key != key);
        self.parameters.push(FittedParameter {
            key,
            repeats_percent: figure.error_percent,
        });
        SpecFigure::new(digits(figure.value), SOURCE)
    }

    /// The drive of a file, with the figures that the model takes and that were not measured.
    fn spec_of(&self, file: &DriveFile) -> Option<DriveSpec> {
        DriveSpec::parse("learned", &complete(file).to_toml()).ok()
    }

    /// Each figure gets its error: the larger of the spread of its repeats and the model's deviation where it governs.
    fn put_errors(&mut self, rows: &[FitRow]) {
        let DriveFile {
            datasheet,
            flash,
            disk,
            volume,
            ..
        } = &mut self.file;
        let flash = flash.iter_mut().flat_map(Flash::figures_mut);
        let disk = disk
            .iter_mut()
            .flat_map(crate::spec::file::Disk::figures_mut);
        let volume = volume
            .iter_mut()
            .flat_map(crate::spec::file::Volume::figures_mut);
        for (key, figure) in datasheet
            .figures_mut()
            .into_iter()
            .chain(flash)
            .chain(disk)
            .chain(volume)
        {
            let Some(parameter) = self
                .parameters
                .iter()
                .find(|parameter| parameter.key == key)
            else {
                continue;
            };
            let model = rows
                .iter()
                .filter(|row| {
                    flash::governs(key, row) || disk::governs(key, row) || volume::governs(key, row)
                })
                .map(|row| row.deviation_percent().abs());
            let worst = model.fold(parameter.repeats_percent, f64::max);
            figure.error_percent = Some((worst * 10.0).round() / 10.0);
        }
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
fn digits(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(3 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests;
