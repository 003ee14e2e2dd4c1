//! `plimsoll predict`.

mod block;
mod source;
mod verify;

use std::process::ExitCode;

use plimsoll_analysis::emulated::{DataSheet, DriveOrder, EmulatedDrives, StatedRate};
use plimsoll_analysis::full_speed::{SlowedDrive, full_speed};
use plimsoll_analysis::predict::{
    MeasuredDemand, PointRefusal, PredictedChange, Prediction, PredictionTask, emulated_drives,
    predict as predicted,
};
use plimsoll_analysis::{Summary, summarise_with};
use plimsoll_drive::service_times::ServiceTimes;
use plimsoll_drive::spec::{DriveSpec, Mechanism};
use plimsoll_record::Record;
use plimsoll_report::message::Messages;
use plimsoll_report::table::Table;
use plimsoll_report::table::Unit::{Decimals, Whole, Words};

use super::io::print;
use super::table::with_note;
use crate::cli::PredictArgs;
use crate::drive_file;
use crate::failure::Failure;
use source::{ModelledDrive, SourcePoint, change, read_sources, recorded};

#[cfg(test)]
pub use verify::table as verify_table;

/// A point and its prediction on a drive.
pub struct PredictedPoint {
    demand: MeasuredDemand,
    drive: String,
    change: PredictedChange,
    prediction: Prediction,
}

pub fn predict(args: &PredictArgs) -> Result<ExitCode, Failure> {
    if let Some(profile) = &args.block {
        return print(&block::predict(profile, args)?);
    }
    let sources = read_sources(args)?;
    if args.verify {
        return print(&verify::verify(&sources, args.format)?);
    }
    let target = args.drive.as_deref().map(drive_file::read).transpose()?;
    let mut refused = sources.refused;
    let mut rows = Vec::new();
    for source in sources.points {
        match of_point(&source, target.as_ref(), args) {
            Ok(row) => rows.push(row),
            Err(refusal) => refused.push(refusal),
        }
    }
    if rows.is_empty() {
        return Err(Failure::run(format!(
            "no prediction\n{}",
            refusals(&Messages::english(), &refused)
        )));
    }
    let note = note(&refused);
    print(&with_note(&table(), rows, args.format, &note))
}

/// A run's figures, audit and answer, with what its slowed drives would give at full speed and what their data sheets
/// state.
pub fn summary_of(record: &Record) -> Summary {
    summarise_with(record, |figures| EmulatedDrives {
        full_speed: full_speed(record, figures, slowed_drive),
        data_sheets: data_sheets(record),
        orders: match figures.comparisons.is_empty() {
            true => Vec::new(),
            false => orders(record),
        },
    })
}

/// Which of a run's media have a drive that is at least as fast as another one's, by their models.
fn orders(record: &Record) -> Vec<DriveOrder> {
    let timed = emulated_drives(record)
        .into_iter()
        .filter_map(|(medium, drive)| {
            let spec = DriveSpec::parse(&drive.name, &drive.file).ok()?;
            let times = ServiceTimes::of(&spec, drive.fill, drive.ignores_flush);
            Some((medium, times))
        });
    let timed: Vec<(String, ServiceTimes)> = timed.collect();
    let pairs = timed
        .iter()
        .flat_map(|own| timed.iter().map(move |other| (own, other)));
    pairs
        .filter(|((_, own), (_, other))| own != other && own.is_as_fast_as(other))
        .map(|((faster, _), (slower, _))| DriveOrder {
            faster: faster.clone(),
            slower: slower.clone(),
        })
        .collect()
}

/// Of drives whose files can be read.
fn data_sheets(record: &Record) -> Vec<DataSheet> {
    let drives = emulated_drives(record).into_iter();
    drives
        .filter_map(|(medium, drive)| {
            let spec = DriveSpec::parse(&drive.name, &drive.file).ok()?;
            // Seeks over a test file are shorter than those over the whole disk, which its sheet is about.
            let is_disk = matches!(spec.mechanism, Mechanism::Disk(_));
            let stated = spec.stated.iter();
            let stated = stated.filter(|own| !is_disk || own.point.is_sequential());
            let rates = stated.map(|stated| StatedRate {
                is_read: stated.point.is_read(),
                is_sequential: stated.point.is_sequential(),
                block_bytes: stated.block,
                in_flight: stated.depth,
                per_second: stated.value,
            });
            Some(DataSheet {
                medium,
                rates: rates.collect(),
            })
        })
        .collect()
}

fn slowed_drive(demand: &MeasuredDemand) -> Option<SlowedDrive<ModelledDrive>> {
    let spec = recorded(demand).ok()?;
    let rated = spec.clone().slower(1.0 / spec.slower);
    (spec.slower > 1.0).then(|| SlowedDrive {
        change: change(&spec, &rated),
        as_measured: ModelledDrive::like(&spec, demand),
        at_full_speed: ModelledDrive::like(&rated, demand),
    })
}

/// Without a target: the drive itself at full speed.
fn of_point(
    source: &SourcePoint,
    target: Option<&DriveSpec>,
    args: &PredictArgs,
) -> Result<PredictedPoint, PointRefusal> {
    let spec = &source.spec;
    let rated = spec.clone().slower(1.0 / spec.slower);
    let target = target.unwrap_or(&rated);
    let task = PredictionTask {
        change: change(spec, target),
        processors: args.cpus,
        memory: args.memory,
    };
    on_drive(source, target, &task)
}

fn on_drive(
    source: &SourcePoint,
    target: &DriveSpec,
    task: &PredictionTask,
) -> Result<PredictedPoint, PointRefusal> {
    let SourcePoint { demand, spec } = source;
    let drives = [spec, target].map(|spec| ModelledDrive::like(spec, demand));
    let prediction = predicted(demand, task, &drives[0], &drives[1]);
    Ok(PredictedPoint {
        drive: target.title.clone(),
        change: task.change,
        prediction: prediction.map_err(|refusal| demand.refused(refusal))?,
        demand: demand.clone(),
    })
}

pub fn table() -> Table<'static, PredictedPoint> {
    Table::<PredictedPoint>::new("predicted")
        .prefix("predicted-")
        .column("medium", Words, |own| own.demand.medium.clone())
        .column("users", Whole, |own| f64::from(own.demand.users))
        .column("measured", Decimals(1), |own| own.demand.per_second)
        .column("predicted", Decimals(1), |own| own.prediction.per_second)
        .column("low", Decimals(1), |own| Some(own.prediction.interval?.low))
        .column("high", Decimals(1), |own| {
            Some(own.prediction.interval?.high)
        })
        .column("nopm", Whole, |own| own.prediction.nopm)
        .column("cpu-ms", Decimals(2), |own| own.prediction.parts.cpu_ms)
        .column("read-ms", Decimals(2), |own| own.prediction.parts.read_ms)
        .column("flush-ms", Decimals(2), |own| own.prediction.parts.flush_ms)
        .column("lock-ms", Decimals(2), |own| own.prediction.parts.lock_ms)
        .column("cpu-percent", Whole, |own| own.prediction.cpu_percent)
        .field("drive", |own| own.drive.clone())
        .field("change", |own| own.change.name())
        .field("model", |own| own.prediction.model_per_second)
        .with_keys()
        .with_long_headings()
}

fn note(refused: &[PointRefusal]) -> String {
    let m = Messages::english();
    let mut text = m.text("predicted-note");
    if !refused.is_empty() {
        text.push_str(&format!("\n\n{}", refusals(&m, refused)));
    }
    text
}

/// One line for each reason.
fn refusals(m: &Messages, refused: &[PointRefusal]) -> String {
    let mut names: Vec<&str> = refused.iter().map(|own| own.refusal.name()).collect();
    names.sort_unstable();
    names.dedup();
    let lines = names.into_iter().map(|name| {
        let own = refused.iter().filter(|own| own.refusal.name() == name);
        let points: Vec<String> = own
            .map(|own| format!("{} ({})", own.medium, own.users))
            .collect();
        let args = [("points", points.join(", "))];
        m.text_with(&format!("predicted-refused-{name}"), &args)
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn predicted_of(run: &str) -> Vec<String> {
        let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runs");
        let record = plimsoll_record::runfile::read(&runs.join(run)).unwrap();
        let points = summary_of(&record).full_speed.points;
        points.into_iter().map(|point| point.medium).collect()
    }

    #[test]
    fn points_on_slowed_drives_are_predicted_for_full_speed_and_no_others() {
        let media = predicted_of("2026-11-25-vm-2cpu/quickstart.plimsoll");
        for medium in ["sata", "nvme", "disk"] {
            assert_eq!(
                media.iter().filter(|own| *own == medium).count(),
                4,
                "{media:?}"
            );
        }
        let at_full_speed = "2026-11-20-vm-2cpu/emulated-drives.plimsoll";
        assert_eq!(predicted_of(at_full_speed), [""; 0]);
    }
}
