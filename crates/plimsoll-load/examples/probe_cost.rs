//! What watching costs: `cargo run --release --example probe_cost -- PID DATA-DIRECTORY [SECONDS]`.
//!
//! Watches everything on this machine, with the server PID, from a sampling thread as a run does; then prints the
//! samples of the last second and the mean cost of the sampling thread.

#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::sync::mpsc;

use plimsoll_load::clock::Clock;
use plimsoll_load::probe::{self, ProbeMessage, Watch, environment};
use plimsoll_record::SubjectId;
use plimsoll_record::metric::Metric;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let pid = arguments.next().ok_or("which PID?")?.parse()?;
    let data = PathBuf::from(arguments.next().ok_or("which data directory?")?);
    let seconds = arguments.next().map_or(Ok(30), |text| text.parse())?;
    let device = plimsoll_block::host::device::device_of(&data);
    show(&data, device.as_ref().ok());
    let (sender, receiver) = mpsc::channel();
    let probe = probe::spawn(Clock::real(), sender)?;
    let mut watches = vec![
        Watch::Host,
        Watch::Generator,
        Watch::Medium { path: data.clone() },
        Watch::Processes {
            pid,
            data: Some(data),
        },
    ];
    if let Ok(device) = &device {
        watches.push(Watch::Device {
            major: device.disk().major,
            minor: device.disk().minor,
        });
    }
    for (subject, watch) in (1..).zip(watches) {
        probe.watch(SubjectId(subject), watch);
    }
    let mut costs = Vec::new();
    let mut latest = std::collections::BTreeMap::new();
    for message in receiver.iter().take(seconds) {
        let ProbeMessage::Samples(samples) = message else {
            continue;
        };
        costs.extend(
            samples
                .iter()
                .filter(|(_, metric, _)| *metric == Metric::ProbeCost)
                .map(|(_, _, s)| s.value),
        );
        latest.extend(
            samples
                .into_iter()
                .map(|(_, metric, sample)| (metric, sample)),
        );
    }
    for (metric, sample) in latest {
        let info = metric.info();
        println!(
            "{:>20} {:>16.3} {:<8} at {} over {}",
            info.name, sample.value, info.unit, sample.at, sample.over
        );
    }
    println!("warnings: {:#?}", probe.stop());
    println!(
        "cost: mean {:.3} % of one core over {} samples, highest {:.3} %",
        costs.iter().sum::<f32>() / costs.len() as f32,
        costs.len(),
        costs.iter().copied().fold(0.0, f32::max)
    );
    Ok(())
}

fn show(data: &Path, device: Option<&plimsoll_block::host::device::BlockDevice>) {
    let device = device.map(environment::device_facts).unwrap_or_default();
    for (key, value) in environment::host_facts()
        .into_iter()
        .chain(environment::medium_facts(data))
        .chain(device)
    {
        println!("{key} = {value}");
    }
}
