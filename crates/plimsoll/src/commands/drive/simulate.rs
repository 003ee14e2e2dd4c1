//! `plimsoll drive simulate`.

use plimsoll_drive::model::DriveOp;
use plimsoll_drive::simulate::{
    Arrival, Arrivals, Compared, Profile, SimulatedResult, compare, named,
};
use plimsoll_drive::spec::DriveSpec;
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::hist::Hist;
use plimsoll_report::table::Table;
use plimsoll_report::table::Unit::{Decimals, Whole, Words};

use crate::cli::{Format, SimulateArgs, Spacing};
use crate::commands::table::render;
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
    let shown = render(&table(&spec, &outcome), rows(&outcome), args.format);
    Ok(match args.format {
        Format::Table => {
            let heading = heading(&spec, name, &profile);
            let below = below(&spec, &profile, &outcome);
            format!("{heading}\n\n{shown}\n\n{below}")
        }
        Format::Json | Format::Csv => shown,
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
    profile.block = args.block.map_or(profile.block, Bytes);
    profile.read_share = args.read.map_or(profile.read_share, share);
    profile.fill = args.fill.map_or(profile.fill, share);
    profile.working_share = args.working_set.unwrap_or(profile.working_share);
    profile.measure = args.seconds.map_or(profile.measure, Nanos::from_secs_f64);
    profile.seed = args.seed;
    Ok(profile)
}

fn share(percent: u8) -> f64 {
    f64::from(percent) / 100.0
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

/// All requests, reads or writes.
struct Requests {
    what: &'static str,
    ops: u64,
    bytes: u64,
    latency: Hist,
}

impl Requests {
    /// What belongs to the whole stands in its row only.
    fn is_all(&self) -> bool {
        self.what == "all"
    }

    fn us(&self, quantile: f64) -> Option<f64> {
        us(self.latency.quantile(quantile))
    }
}

fn us(time: Option<Nanos>) -> Option<f64> {
    time.map(Nanos::as_micros_f64)
}

fn rows(outcome: &SimulatedResult) -> Vec<Requests> {
    let mut rows = vec![Requests {
        what: "all",
        ops: outcome.reads.ops + outcome.writes.ops,
        bytes: outcome.reads.bytes + outcome.writes.bytes,
        latency: outcome.latency(),
    }];
    if outcome.reads.ops > 0 && outcome.writes.ops > 0 {
        for (what, side) in [("reads", &outcome.reads), ("writes", &outcome.writes)] {
            rows.push(Requests {
                what,
                ops: side.ops,
                bytes: side.bytes,
                latency: side.latency.clone(),
            });
        }
    }
    rows
}

fn table<'a>(spec: &'a DriveSpec, outcome: &'a SimulatedResult) -> Table<'a, Requests> {
    let seconds = outcome.span.as_secs_f64().max(1e-9);
    Table::<Requests>::with_prefix("simulated-")
        .column("requests", Words, |own| own.what)
        .column("ops", Whole, |own| own.ops)
        .column("iops", Whole, move |own| own.ops as f64 / seconds)
        .column("mb-s", Decimals(1), move |own| {
            own.bytes as f64 / seconds / 1e6
        })
        .column("mean-us", Decimals(1), |own| us(own.latency.mean()))
        .column("p50-us", Decimals(1), |own| own.us(0.5))
        .column("p90-us", Decimals(1), |own| own.us(0.9))
        .column("p99-us", Decimals(1), |own| own.us(0.99))
        .column("p999-us", Decimals(1), |own| own.us(0.999))
        .column("max-us", Decimals(1), |own| us(own.latency.max()))
        .field("queue", |own| {
            own.latency.sum() as f64 / outcome.span.0.max(1) as f64
        })
        .field("queued", |own| {
            own.is_all().then_some(outcome.queued as f64)
        })
        .field("dropped", |own| {
            own.is_all().then_some(outcome.dropped as f64)
        })
        .field("watts", |own| outcome.watts(spec).filter(|_| own.is_all()))
        .with_keys()
        .with_long_headings()
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
    let shown = render(&sheet_table(spec), compared, args.format);
    Ok(match args.format {
        Format::Table => format!("{}\n\n{shown}", spec.title),
        Format::Json | Format::Csv => shown,
    })
}

fn sheet_table(spec: &DriveSpec) -> Table<'_, Compared> {
    Table::<Compared>::with_prefix("datasheet-")
        .column("point", Words, |own| own.stated.point.name())
        .column("block-bytes", Whole, |own| own.stated.block)
        .column("depth", Whole, |own| own.stated.depth)
        .column("stated", Whole, |own| scaled(own, own.stated.value))
        .column("simulated", Whole, |own| scaled(own, own.simulated))
        .column("unit", Words, |own| {
            let sequential = own.stated.point.is_sequential();
            if sequential { "MB/s" } else { "IOPS" }
        })
        .column(
            "deviation-percent",
            Decimals(1),
            Compared::deviation_percent,
        )
        .column("mean-us", Decimals(1), |own| {
            us(own.outcome.latency().mean())
        })
        .column("p99-us", Decimals(1), |own| {
            us(own.outcome.latency().quantile(0.99))
        })
        .column("watts", Decimals(1), |own| own.outcome.watts(spec))
        .with_keys()
        .with_long_headings()
}

fn scaled(of: &Compared, value: f64) -> f64 {
    let sequential = of.stated.point.is_sequential();
    if sequential { value / 1e6 } else { value }
}
