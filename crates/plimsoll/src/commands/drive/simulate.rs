//! `plimsoll drive simulate`.

use plimsoll_drive::model::DriveOp;
use plimsoll_drive::simulate::{Arrival, Arrivals, Profile, SimulatedResult, compare, named};
use plimsoll_drive::spec::{DriveSpec, Stated};
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::hist::Hist;

use crate::cli::{Format, SimulateArgs, Spacing};
use crate::commands::table::{Cell, Rows};
use crate::drive_file;
use crate::failure::Failure;

/// Requests that wait in the host before an open loop drops any.
const MOST_WAITING: usize = 10_000;

pub fn simulate(args: &SimulateArgs) -> Result<String, Failure> {
    let spec = drive_file::read(&args.drive)?;
    let Some(name) = &args.profile else {
        return sheet(&spec, args);
    };
    let profile = profile(name, args)?;
    let outcome = plimsoll_drive::simulate::simulate(&spec, &profile);
    let mut rows = Rows::new(&OUTCOME);
    rows.push(sided(
        "all",
        &outcome,
        &outcome.latency(),
        outcome.reads.ops + outcome.writes.ops,
        &spec,
    ));
    if outcome.reads.ops > 0 && outcome.writes.ops > 0 {
        for (what, side) in [("reads", &outcome.reads), ("writes", &outcome.writes)] {
            rows.push(sided(what, &outcome, &side.latency, side.ops, &spec));
        }
    }
    Ok(match args.format {
        Format::Table => {
            let table = rows
                .without(&["queue", "queued", "dropped", "watts"])
                .table();
            format!(
                "{}\n\n{table}\n\n{}",
                heading(&spec, name, &profile),
                below(&spec, &profile, &outcome)
            )
        }
        Format::Json | Format::Csv => rows.render(args.format),
    })
}

fn profile(name: &str, args: &SimulateArgs) -> Result<Profile, Failure> {
    let mut profile = named(name).map_err(|error| Failure::usage(error.to_string()))?;
    if let Arrival::Closed { depth, jobs } = &mut profile.load {
        *depth = args.depth.unwrap_or(*depth);
        *jobs = args.jobs.unwrap_or(*jobs);
    }
    if let Some(per_second) = args.rate {
        let arrivals = match args.arrivals {
            Spacing::Constant => Arrivals::Constant,
            Spacing::Poisson => Arrivals::Poisson,
        };
        // Without a depth, the drive gets what is due: as many as an NVMe queue holds.
        let depth = args.depth.unwrap_or(1024);
        profile.load = Arrival::Open {
            per_second,
            arrivals,
            depth,
            most_waiting: MOST_WAITING,
        };
    }
    let percent = |percent: u8| f64::from(percent) / 100.0;
    profile.block = args.block.map_or(profile.block, Bytes);
    profile.read_share = args.read.map_or(profile.read_share, percent);
    profile.fill = args.fill.map_or(profile.fill, percent);
    profile.working_share = args.working_set.unwrap_or(profile.working_share);
    profile.measure = args.seconds.map_or(profile.measure, Nanos::from_secs_f64);
    profile.seed = args.seed;
    Ok(profile)
}

fn heading(spec: &DriveSpec, name: &str, profile: &Profile) -> String {
    let load = match profile.load {
        Arrival::Closed { depth, jobs: 1 } => format!("{depth} in flight"),
        Arrival::Closed { depth, jobs } => format!("{jobs} × {depth} in flight"),
        Arrival::Open {
            per_second, depth, ..
        } => format!("{per_second} per second, at most {depth} in flight"),
    };
    format!(
        "{}: {name}, {}, {:.0} % reads, {load}, {} simulated, drive {:.0} % full, seed {}",
        spec.title,
        profile.block,
        profile.read_share * 100.0,
        profile.measure,
        profile.fill * 100.0,
        profile.seed
    )
}

const OUTCOME: [(&str, &str); 14] = [
    ("requests", "requests"),
    ("ops", "count"),
    ("iops", "IOPS"),
    ("mb_s", "MB/s"),
    ("mean_us", "mean µs"),
    ("p50_us", "p50"),
    ("p90_us", "p90"),
    ("p99_us", "p99"),
    ("p999_us", "p99.9"),
    ("max_us", "max"),
    ("queue", "queue"),
    ("queued", "queued"),
    ("dropped", "dropped"),
    ("watts", "W"),
];

fn sided(
    what: &str,
    outcome: &SimulatedResult,
    latency: &Hist,
    ops: u64,
    spec: &DriveSpec,
) -> Vec<Cell> {
    let seconds = outcome.span.as_secs_f64().max(1e-9);
    let bytes = match what {
        "reads" => outcome.reads.bytes,
        "writes" => outcome.writes.bytes,
        _ => outcome.reads.bytes + outcome.writes.bytes,
    };
    let us = |value: Option<Nanos>| Cell::maybe(value.map(Nanos::as_micros_f64), 1);
    let mut cells = vec![
        Cell::text(what),
        Cell::count(ops),
        Cell::number(ops as f64 / seconds, 0),
        Cell::number(bytes as f64 / seconds / 1e6, 1),
        us(latency.mean()),
    ];
    cells.extend([0.5, 0.9, 0.99, 0.999].map(|q| us(latency.quantile(q))));
    cells.push(us(latency.max()));
    cells.push(Cell::number(
        latency.sum() as f64 / outcome.span.0.max(1) as f64,
        1,
    ));
    // What belongs to the whole stands in its row only.
    let is_whole = what == "all";
    cells.push(Cell::maybe(is_whole.then_some(outcome.queued as f64), 0));
    cells.push(Cell::maybe(is_whole.then_some(outcome.dropped as f64), 0));
    cells.push(Cell::maybe(outcome.watts(spec).filter(|_| is_whole), 1));
    cells
}

/// Queue, power, and what the host's writes come to.
fn below(spec: &DriveSpec, profile: &Profile, outcome: &SimulatedResult) -> String {
    let mut text = format!(
        "{:.1} requests in flight or waiting in the mean",
        outcome.queue()
    );
    if matches!(profile.load, Arrival::Open { .. }) {
        text.push_str(&format!(
            "; {} had to wait in the host, {} were dropped",
            outcome.queued, outcome.dropped
        ));
    }
    if let Some(watts) = outcome.watts(spec) {
        text.push_str(&format!("; {watts:.1} W"));
    }
    text.push('.');
    if outcome.writes.bytes == 0 {
        return text;
    }
    let per_day = outcome.bytes_written_per_day() / 1e12;
    text.push_str(&format!(
        "\nAt this rate the host writes {per_day:.2} TB a day"
    ));
    if outcome.work.flash_bytes > 0.0 {
        let amplification =
            outcome.work.flash_bytes / outcome.work.bytes[DriveOp::Write as usize].max(1) as f64;
        text.push_str(&format!(", {amplification:.2} times as much goes to flash"));
    }
    if let (Some(days), Some(tbw)) = (outcome.days_of_endurance(spec), spec.tbw) {
        text.push_str(&format!("; the rated {tbw:.0} TB last {days:.0} days"));
    }
    text + "."
}

/// The data sheet beside the model.
fn sheet(spec: &DriveSpec, args: &SimulateArgs) -> Result<String, Failure> {
    let compared = compare(spec, args.seed);
    if compared.is_empty() {
        return Err(Failure::usage(format!(
            "{} states no figures\nGive a --profile.",
            spec.title
        )));
    }
    let mut rows = Rows::new(&[
        ("point", "data sheet"),
        ("block_bytes", "block"),
        ("depth", "depth"),
        ("stated", "stated"),
        ("simulated", "simulated"),
        ("unit", "unit"),
        ("deviation_percent", "deviation %"),
        ("mean_us", "mean µs"),
        ("p99_us", "p99 µs"),
        ("watts", "W"),
    ]);
    for point in &compared {
        let Stated {
            point: what,
            value,
            block,
            depth,
            ..
        } = point.stated;
        let (scale, unit) = if what.is_sequential() {
            (1e6, "MB/s")
        } else {
            (1.0, "IOPS")
        };
        let latency = point.outcome.latency();
        let us = |value: Option<Nanos>| Cell::maybe(value.map(Nanos::as_micros_f64), 1);
        rows.push(vec![
            Cell::text(what.name()),
            Cell::count(block),
            Cell::count(depth.into()),
            Cell::number(value / scale, 0),
            Cell::number(point.simulated / scale, 0),
            Cell::text(unit),
            Cell::number(point.deviation_percent(), 1),
            us(latency.mean()),
            us(latency.quantile(0.99)),
            Cell::maybe(point.outcome.watts(spec), 1),
        ]);
    }
    Ok(match args.format {
        Format::Table => format!("{}\n\n{}", spec.title, rows.table()),
        Format::Json | Format::Csv => rows.render(args.format),
    })
}
