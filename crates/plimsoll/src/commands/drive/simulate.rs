//! `plimsoll drive simulate`.

use plimsoll_drive::simulate::{
    Arrival, ArrivalSpacing, Compared, SeedResults, SimulatedProfile, SimulatedResult, compare,
    named, simulate_seeds,
};
use plimsoll_drive::spec::DriveSpec;
use plimsoll_plan::assembly::DriveAssembly;
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_report::message::Messages;
use plimsoll_report::table::Table;
use plimsoll_report::table::Unit::{Decimals, Whole, Words};

use super::assembly::SimulatedAssembly;
use super::request_stats::{self, rows, table, us};
use crate::cli::{Format, SimulateArgs, Spacing};
use crate::commands::table::{render, with_note};
use crate::drive_file;
use crate::failure::Failure;

/// Requests that wait in the host before an open loop drops any.
const MOST_WAITING: usize = 10_000;
/// Of a cluster: throughput of one differs by up to a third from the mean of many.
const CLUSTER_SEEDS: u32 = 5;

pub fn simulate(args: &SimulateArgs) -> Result<String, Failure> {
    let spec = drive_file::read(&args.drive)?;
    let Some(name) = &args.profile else {
        return compared(&spec, args);
    };
    let profile = profile(name, args)?;
    let is_cluster = matches!(spec.assembly, Some(DriveAssembly::Cluster(_)));
    let seeds = args
        .seeds
        .unwrap_or(if is_cluster { CLUSTER_SEEDS } else { 1 });
    let outcome = simulate_seeds(&spec, &profile, seeds);
    let m = Messages::english();
    let heading = heading(&m, &spec, name, &profile, seeds);
    if let Some(of) = &spec.assembly {
        let simulated = SimulatedAssembly {
            spec: &spec,
            assembly: of,
            profile: &profile,
            outcome: &outcome,
        };
        return Ok(simulated.text(&m, &heading, args.format));
    }
    let below = below(&m, &spec, &profile, &outcome);
    let rows = rows(&spec, &outcome.joined);
    let shown = with_note(&table(), rows, args.format, &below);
    Ok(match args.format {
        Format::Table => format!("{heading}\n\n{shown}"),
        Format::Json | Format::Csv => shown,
    })
}

fn profile(name: &str, args: &SimulateArgs) -> Result<SimulatedProfile, Failure> {
    let mut profile = named(name).map_err(|error| Failure::usage(error.to_string()))?;
    if let Arrival::Closed { depth, jobs } = &mut profile.load {
        *depth = args.depth.unwrap_or(*depth);
        *jobs = args.jobs.unwrap_or(*jobs);
    }
    if let Some(per_second) = args.rate {
        let arrivals = match args.arrivals {
            Spacing::Constant => ArrivalSpacing::Constant,
            Spacing::Poisson => ArrivalSpacing::Poisson,
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

pub fn share(percent: u8) -> f64 {
    f64::from(percent) / 100.0
}

fn heading(
    m: &Messages,
    spec: &DriveSpec,
    name: &str,
    profile: &SimulatedProfile,
    seeds: u32,
) -> String {
    let load = match profile.load {
        Arrival::Closed { depth, jobs: 1 } => {
            m.text_with("simulated-closed", &[("depth", depth.to_string())])
        }
        Arrival::Closed { depth, jobs } => {
            let args = [("jobs", jobs.to_string()), ("depth", depth.to_string())];
            m.text_with("simulated-jobs", &args)
        }
        Arrival::Open {
            per_second, depth, ..
        } => {
            let args = [
                ("rate", per_second.to_string()),
                ("depth", depth.to_string()),
            ];
            m.text_with("simulated-open", &args)
        }
    };
    let args = [
        ("drive", spec.title.clone()),
        ("profile", name.to_owned()),
        ("block", profile.block.to_string()),
        ("reads", format!("{:.0}", profile.read_share * 100.0)),
        ("load", load),
        ("measured", profile.measure.to_string()),
        ("full", format!("{:.0}", profile.fill * 100.0)),
        ("seeds", seeds.to_string()),
        ("seed", profile.seed.to_string()),
        (
            "last",
            profile.seed.wrapping_add(u64::from(seeds) - 1).to_string(),
        ),
    ];
    m.text_with("simulated-heading", &args)
}

/// Queue, power, and what the host's writes come to.
fn below(
    m: &Messages,
    spec: &DriveSpec,
    profile: &SimulatedProfile,
    seeds: &SeedResults,
) -> String {
    let mut text = request_stats::below(m, spec, profile, seeds);
    let outcome = &seeds.joined;
    if outcome.writes.bytes > 0 {
        text.push_str(&format!("\n{}.", written(m, spec, outcome)));
    }
    text
}

/// What the host writes in a day, and how long the drive endures that.
fn written(m: &Messages, spec: &DriveSpec, outcome: &SimulatedResult) -> String {
    let per_day = outcome.bytes_written_per_day() / 1e12;
    let tb = [("tb", format!("{per_day:.2}"))];
    let mut text = m.text_with("simulated-written", &tb);
    if let Some(times) = outcome.work().write_amplification() {
        let times = format!("{times:.2}");
        let amplification = m.text_with("simulated-amplification", &[("times", times)]);
        text.push_str(&format!(", {amplification}"));
    }
    if let (Some(days), Some(tbw)) = (outcome.days_of_endurance(spec), spec.tbw) {
        let args = [("tbw", format!("{tbw:.0}")), ("days", format!("{days:.0}"))];
        let endurance = m.text_with("simulated-endurance", &args);
        text.push_str(&format!("; {endurance}"));
    }
    text
}

/// A figure of the data sheet beside the model's.
pub struct SheetRow {
    own: Compared,
    watts: Option<f64>,
}

impl SheetRow {
    fn is_sequential(&self) -> bool {
        self.own.stated.point.is_sequential()
    }

    fn scaled(&self, value: f64) -> f64 {
        if self.is_sequential() {
            value / 1e6
        } else {
            value
        }
    }
}

/// The data sheet beside the model.
fn compared(spec: &DriveSpec, args: &SimulateArgs) -> Result<String, Failure> {
    let compared = compare(spec, args.seed);
    if compared.is_empty() {
        return Err(Failure::usage(format!(
            "{} states no figures\nGive a --profile.",
            spec.title
        )));
    }
    let rows = compared.into_iter().map(|own| SheetRow {
        watts: own.outcome.total_watts(spec),
        own,
    });
    let shown = render(&sheet(), rows.collect(), args.format);
    Ok(match args.format {
        Format::Table => format!("{}\n\n{shown}", spec.title),
        Format::Json | Format::Csv => shown,
    })
}

pub fn sheet() -> Table<'static, SheetRow> {
    Table::<SheetRow>::new("datasheet")
        .prefix("datasheet-")
        .column("point", Words, |r| r.own.stated.point.name())
        .column("block-bytes", Whole, |r| r.own.stated.block)
        .column("depth", Whole, |r| r.own.stated.depth)
        .column("stated", Whole, |r| r.scaled(r.own.stated.value))
        .column("simulated", Whole, |r| r.scaled(r.own.simulated))
        .column("unit", Words, |r| {
            if r.is_sequential() { "MB/s" } else { "IOPS" }
        })
        .column("deviation-percent", Decimals(1), |r| {
            r.own.deviation_percent()
        })
        .column("mean-us", Decimals(1), |r| {
            us(r.own.outcome.latency().mean())
        })
        .column("p99-us", Decimals(1), |r| {
            us(r.own.outcome.latency().quantile(0.99))
        })
        .column("watts", Decimals(1), |r| r.watts)
        .with_keys()
        .with_long_headings()
}
