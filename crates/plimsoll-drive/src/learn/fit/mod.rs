//! From measurements to a drive file. Pure: the same measurements give the same file.
//!
//! What a measurement shows directly is taken from it; what shows in no single one is searched for. Then the fitted drive
//! is asked for every measured point, and each figure gets as its error the larger of two: how far the repeats are
//! apart, and how far the model is off at the points that the figure governs.

use super::measured::Measured;
use crate::spec::file::{DriveClass, DriveFile, Flash};

pub mod burst;
mod disk;
mod flash;
pub mod rows;
mod volume;
mod work;

pub use disk::turns;
use rows::{FitRow, rows};
use work::DriveFit;
pub use work::{FitSubject, SOURCE};

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

/// The head of a drive file without figures, where too little was measured for a fit.
pub fn unfitted(subject: &FitSubject) -> Fitted {
    Fitted {
        file: DriveFit::new(subject).file,
        rows: Vec::new(),
        notes: Vec::new(),
    }
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
    put_errors(&mut fit, &rows);
    Some(Fitted {
        file: fit.file,
        rows,
        notes: fit.notes,
    })
}

/// Each figure gets its error: the larger of the spread of its repeats and the model's deviation where it governs.
fn put_errors(fit: &mut DriveFit, rows: &[FitRow]) {
    let DriveFile {
        datasheet,
        flash,
        disk,
        volume,
        ..
    } = &mut fit.file;
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
        let Some(parameter) = fit.parameters.iter().find(|parameter| parameter.key == key) else {
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

#[cfg(test)]
mod tests;
