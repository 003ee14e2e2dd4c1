//! `plimsoll drive reliability`.

use plimsoll_drive::reliability::{DriveFailures, DriveOutage, LossProbabilities, simulate_losses};
use plimsoll_drive::simulate::rebuild_rate;
use plimsoll_drive::spec::{DriveSpec, Mechanism};
use plimsoll_plan::assembly::DriveAssembly;
use plimsoll_plan::units::Nanos;
use plimsoll_report::message::Messages;
use plimsoll_report::table::Table;
use plimsoll_report::table::Unit::{Decimals, Three, Words};

use crate::cli::{Format, ReliabilityArgs};
use crate::commands::table::with_note;
use crate::drive_file;
use crate::failure::Failure;

const HOURS_A_YEAR: f64 = 8766.0;

/// Of disks for servers, as their data sheets have it.
const UNREADABLE_OF_DISKS: f64 = 1e-15;
/// JESD218, enterprise.
const UNREADABLE_OF_FLASH: f64 = 1e-16;

pub fn reliability(args: &ReliabilityArgs) -> Result<String, Failure> {
    let rows: Result<Vec<ArrayLosses>, Failure> =
        args.arrays.iter().map(|name| losses(name, args)).collect();
    let m = Messages::english();
    let years = [("years", args.years.to_string())];
    let heading = m.text_with("losses-heading", &years);
    let shown = with_note(&table(), rows?, args.format, &note(&m, args));
    Ok(match args.format {
        Format::Table => format!("{heading}\n\n{shown}"),
        Format::Json | Format::Csv => shown,
    })
}

fn note(m: &Messages, args: &ReliabilityArgs) -> String {
    let hours = hours(args.replaced_after);
    let note = [
        ("afr", ((args.afr * 1e6).round() / 1e4).to_string()),
        ("hours", format!("{hours:.0}")),
        ("histories", args.histories.to_string()),
    ];
    m.text_with("losses-note", &note)
}

fn hours(time: Nanos) -> f64 {
    time.as_secs_f64() / 3600.0
}

fn losses(name: &str, args: &ReliabilityArgs) -> Result<ArrayLosses, Failure> {
    let spec = drive_file::read(name)?;
    let Some(assembly) = &spec.assembly else {
        return Err(Failure::usage(format!(
            "{} is neither an array nor a cluster\nGive several drives, such as raid5:6:disk vsan:4:3:sata.",
            spec.title
        )));
    };
    if !assembly.failed().is_empty() || assembly.rebuild().is_some() {
        return Err(Failure::usage(format!(
            "{} is not whole\nLeave out failed= and rebuild=: lives begin with all members.",
            spec.title
        )));
    }
    let rate = args.rebuild_rate.map(|rate| rate.0 as f64);
    // Nothing is rebuilt without redundancy.
    let rate = rebuild_rate(&spec).map(|modelled| rate.unwrap_or(modelled));
    let outage = outage(&spec, assembly, rate, args);
    Ok(ArrayLosses {
        array: name.to_owned(),
        usable_tb: spec.capacity.0 as f64 / 1e12,
        rebuild_hours: rate.map(|rate| outage.bytes as f64 / rate / 3600.0),
        losses: simulate_losses(
            assembly,
            &failures(&spec, args),
            outage,
            args.years,
            args.histories,
            args.seed,
        ),
    })
}

/// Of one drive. Where a spare or another host can take its data nobody waits for a new one.
fn outage(
    spec: &DriveSpec,
    assembly: &DriveAssembly,
    rate: Option<f64>,
    args: &ReliabilityArgs,
) -> DriveOutage {
    let of_member = assembly.member_bytes(spec.capacity.0);
    let (bytes, waits) = match assembly {
        DriveAssembly::Array(own) => (of_member, own.spares == 0),
        DriveAssembly::Cluster(own) => (
            of_member / u64::from(own.data_drives()),
            !own.has_spare_host(),
        ),
    };
    let waits_hours = if waits {
        hours(args.replaced_after)
    } else {
        0.0
    };
    DriveOutage {
        waits_years: waits_hours / HOURS_A_YEAR,
        bytes,
        years_per_byte: rate.map_or(0.0, |rate| 1.0 / rate / 3600.0 / HOURS_A_YEAR),
    }
}

fn failures(spec: &DriveSpec, args: &ReliabilityArgs) -> DriveFailures {
    let unreadable_bits = match spec.mechanism {
        Mechanism::Disk(_) => UNREADABLE_OF_DISKS,
        Mechanism::Flash(_) | Mechanism::Volume(_) => UNREADABLE_OF_FLASH,
    };
    DriveFailures {
        yearly: args.afr,
        shape: args.shape,
        correlation: args.correlation,
        unreadable_bits: args.uber.unwrap_or(unreadable_bits),
        latent_errors: args.latent_errors,
        scrub_years: hours(args.scrub) / HOURS_A_YEAR,
    }
}

/// What becomes of an array or a cluster.
pub struct ArrayLosses {
    array: String,
    usable_tb: f64,
    rebuild_hours: Option<f64>,
    losses: LossProbabilities,
}

pub fn table() -> Table<'static, ArrayLosses> {
    Table::<ArrayLosses>::new("losses")
        .prefix("losses-")
        .column("array", Words, |own| own.array.clone())
        .column("usable-tb", Decimals(2), |own| own.usable_tb)
        .column("rebuild-hours", Decimals(1), |own| own.rebuild_hours)
        .column("lost-percent", Three, |own| own.losses.drives.value * 100.0)
        .column("lost-half-width", Three, |own| {
            own.losses.drives.half_width * 100.0
        })
        .column("block-percent", Three, |own| own.losses.block.value * 100.0)
        .column("block-half-width", Three, |own| {
            own.losses.block.half_width * 100.0
        })
        .with_keys()
        .with_long_headings()
}
