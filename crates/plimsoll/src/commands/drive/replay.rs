//! `plimsoll drive simulate --requests`.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use plimsoll_drive::model::{DriveOp, Setup};
use plimsoll_drive::requests;
use plimsoll_drive::simulate::{ReplayedRequests, replay};
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;
use plimsoll_report::message::Messages;
use plimsoll_report::table::Table;
use plimsoll_report::table::Unit::{Decimals, Whole, Words};

use super::simulate::share;
use crate::cli::{Format, SimulateArgs};
use crate::commands::table::render;
use crate::drive_file;
use crate::failure::Failure;

/// Simulates what `file` holds.
pub fn replay_file(file: &Path, args: &SimulateArgs) -> Result<String, Failure> {
    let spec = drive_file::read(&args.drive)?;
    let failure = |why: String| Failure::usage(format!("{}: {why}", file.display()));
    let opened = File::open(file).map_err(|error| failure(format!("cannot read it: {error}")))?;
    let logged =
        requests::read(BufReader::new(opened)).map_err(|error| failure(error.to_string()))?;
    let setup = Setup {
        capacity: args.capacity.unwrap_or(spec.capacity),
        fill: args.fill.map_or(1.0, share),
        seed: args.seed,
        ignores_flush: false,
    };
    let kinds = replay(&spec, &setup, &logged);
    let count: u64 = kinds.iter().map(|kind| kind.simulated.count()).sum();
    let shown = render(&table(), kinds.iter().flat_map(rows).collect(), args.format);
    let heading = Messages::english().text_with(
        "replayed-heading",
        &[
            ("drive", spec.title.clone()),
            ("requests", count.to_string()),
            ("capacity", setup.capacity.to_string()),
            ("full", format!("{:.0}", setup.fill * 100.0)),
            ("seed", setup.seed.to_string()),
        ],
    );
    Ok(match args.format {
        Format::Table => format!("{heading}\n\n{shown}"),
        Format::Json | Format::Csv => shown,
    })
}

/// Who gave the time of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimeSource {
    Simulated,
    Modelled,
    Client,
}

impl TimeSource {
    fn name(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::Modelled => "modelled",
            Self::Client => "client",
        }
    }
}

/// Response times of one kind of request from one source.
pub struct ReplayedTimes {
    kind: DriveOp,
    source: TimeSource,
    ops: u64,
    mean: Deviation,
    p99: Deviation,
}

/// A time, and how far it lies from the simulated one.
struct Deviation {
    time: Option<Nanos>,
    simulated: Option<Nanos>,
}

impl Deviation {
    fn us(&self) -> Option<f64> {
        self.time.map(Nanos::as_micros_f64)
    }

    fn percent(&self) -> Option<f64> {
        let simulated = self.simulated?.as_micros_f64();
        (simulated > 0.0).then_some((self.us()? - simulated) / simulated * 100.0)
    }
}

fn rows(kind: &ReplayedRequests) -> [ReplayedTimes; 3] {
    let row = |source, times: &Hist| {
        let simulated = (source != TimeSource::Simulated).then_some(&kind.simulated);
        ReplayedTimes {
            kind: kind.kind,
            source,
            ops: times.count(),
            mean: Deviation {
                time: times.mean(),
                simulated: simulated.and_then(Hist::mean),
            },
            p99: Deviation {
                time: times.quantile(0.99),
                simulated: simulated.and_then(|hist| hist.quantile(0.99)),
            },
        }
    };
    [
        row(TimeSource::Simulated, &kind.simulated),
        row(TimeSource::Modelled, &kind.modelled),
        row(TimeSource::Client, &kind.client),
    ]
}

pub fn table() -> Table<'static, ReplayedTimes> {
    Table::<ReplayedTimes>::new("replayed")
        .prefix("replayed-")
        .column("requests", Words, |own| own.kind.name())
        .column("time", Words, |own| own.source.name())
        .column("ops", Whole, |own| own.ops)
        .column("mean-us", Decimals(1), |own| own.mean.us())
        .column("mean-difference-percent", Decimals(2), |own| {
            own.mean.percent()
        })
        .column("p99-us", Decimals(1), |own| own.p99.us())
        .column("p99-difference-percent", Decimals(2), |own| {
            own.p99.percent()
        })
        .with_keys()
        .with_long_headings()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hist(us: &[u64]) -> Hist {
        let mut hist = Hist::new();
        us.iter()
            .for_each(|us| hist.record(Nanos::from_micros(*us)));
        hist
    }

    #[test]
    fn differences_are_from_the_simulation() {
        let [simulated, modelled, client] = rows(&ReplayedRequests {
            kind: DriveOp::Read,
            simulated: hist(&[100, 300]),
            modelled: hist(&[100, 300]),
            client: hist(&[110, 310]),
        });
        assert_eq!((simulated.ops, simulated.mean.us()), (2, Some(200.0)));
        assert_eq!(simulated.mean.percent(), None);
        assert_eq!(modelled.mean.percent(), Some(0.0));
        let percent = client.mean.percent().unwrap();
        assert!((percent - 5.0).abs() < 1e-6, "{percent}");
        let percent = client.p99.percent().unwrap();
        assert!((percent - 10.0 / 3.0).abs() < 0.2, "{percent}");
    }
}
