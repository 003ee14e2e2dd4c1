//! `plimsoll drive mount`: an emulated drive in the foreground, or as a child of `plimsoll run`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_drive::emulate::cut::{ControlSocket, Which};
use plimsoll_drive::emulate::protocol::{Backing, Filesystem, Form, Message, MountSpec, Ready};
use plimsoll_drive::emulate::{
    Claim, EmulatorError, EmulatorOrder, MessageSender, MountPoint, answer_read_tasks,
    default_limit, end_users, serve,
};
use plimsoll_drive::requests::HEADER;
use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::{DriveOp, DriveSecond, DriveTally};
use plimsoll_record::message::EventKind;
use plimsoll_report::message::Messages;

use super::cut::sentence;
use crate::cli::{BackingArg, FilesystemArg, FlushArg, FormArg, MountArgs};
use crate::drive_file;
use crate::failure::Failure;
use crate::output::{OutputFile, not_written};
use crate::output_kind::OutputKind;
use crate::signals::{Interrupt, abort_on_panic};
use crate::terminal::note;

pub fn mount(args: &MountArgs) -> Result<ExitCode, Failure> {
    abort_on_panic();
    if args.read {
        // It ends with the emulator, also with one that was killed.
        let _ = answer_read_tasks(std::io::stdin().lock(), std::io::stdout().lock());
        return Ok(ExitCode::SUCCESS);
    }
    let (order, orders) = channel();
    stop_on_signal(order.clone())?;
    if args.control {
        control(order, &orders)
    } else {
        foreground(args, order, &orders)
    }
}

fn stop_on_signal(order: Sender<EmulatorOrder>) -> Result<(), Failure> {
    let deaf = |error: std::io::Error| Failure::run(format!("cannot receive signals: {error}"));
    let mut signals = Interrupt::listen().map_err(deaf)?.subscribe();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(deaf)?;
    std::thread::Builder::new()
        .name("drive-signals".into())
        .spawn(move || {
            let _ = runtime.block_on(signals.changed());
            // The emulator may have ended meanwhile.
            let _ = order.send(EmulatorOrder::Stop);
        })
        .map(drop)
        .map_err(deaf)
}

/// One JSON object a line. Without a reader stdin ends, too, which ends the emulator.
fn print_message(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn json(what: &impl serde::Serialize) -> String {
    serde_json::to_string(what).unwrap_or_default()
}

fn control(
    order: Sender<EmulatorOrder>,
    orders: &Receiver<EmulatorOrder>,
) -> Result<ExitCode, Failure> {
    let mut lines = BufReader::new(std::io::stdin()).lines();
    let spec: MountSpec = match lines.next() {
        Some(Ok(line)) => serde_json::from_str(&line).map_err(|error| {
            Failure::usage(format!(
                "the first line of stdin is no task for --control: {error}"
            ))
        })?,
        _ => return Err(Failure::usage("--control takes its task from stdin")),
    };
    let dir = spec.dir.clone();
    let spawned = std::thread::Builder::new()
        .name("drive-orders".into())
        .spawn(move || {
            for line in lines.map_while(Result::ok) {
                // What is not understood is not done; the parent is the same program.
                let Ok(command) = serde_json::from_str(&line) else {
                    break;
                };
                if order.send(EmulatorOrder::Do(command)).is_err() {
                    return;
                }
            }
            // The run has ended, or was killed.
            end_users(&dir);
            let _ = order.send(EmulatorOrder::Stop);
        });
    spawned.map_err(|error| Failure::run(format!("a thread could not be started: {error}")))?;
    let send: MessageSender = Arc::new(|message| print_message(&json(&message)));
    let claim = match Claim::of(&spec.dir) {
        Ok((claim, cleared)) => {
            for removed in cleared {
                send(Message::Warning(EventKind::Leftovers { removed }));
            }
            claim
        }
        Err(EmulatorError { why, next, no_fuse }) => {
            send(Message::Failed { why, next, no_fuse });
            return Ok(ExitCode::FAILURE);
        }
    };
    let served = serve(&spec, orders, &send);
    drop(claim);
    // The failure has been reported.
    Ok(served.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}

fn foreground(
    args: &MountArgs,
    order: Sender<EmulatorOrder>,
    orders: &Receiver<EmulatorOrder>,
) -> Result<ExitCode, Failure> {
    let (Some(drive), Some(at)) = (&args.drive, &args.dir) else {
        return Err(Failure::usage("drive mount takes a drive and a directory"));
    };
    let point = MountPoint::new(at).map_err(|error| not_mounted(at, &error))?;
    let mut spec = spec_of(args, drive, &point)?;
    let log = args.requests.as_deref().map(log_of_requests).transpose()?;
    spec.requests = log.as_ref().map(OutputFile::part);
    let failed = |error: std::io::Error| not_mounted(at, &error);
    let claim = point
        .claim()
        .map_err(|error| Failure::run(error.to_string()))?;
    claim.cleared.iter().for_each(|text| note!("{text}"));
    let (answer, answers) = channel();
    let which = Which {
        id: spec.id.clone(),
        drive: spec.drive.clone(),
        capacity: spec.capacity,
        fill: spec.fill,
    };
    let desk = ControlSocket::open(&spec.dir, which, order, answers).map_err(failed)?;
    let attend = std::thread::Builder::new()
        .name("drive-desk".into())
        .spawn(move || desk.attend());
    attend.map_err(failed)?;
    let stats = args.stats;
    let answer = Mutex::new(answer);
    let send: MessageSender = Arc::new(move |message| {
        show(&message, stats);
        if !matches!(
            message,
            Message::Ready(_) | Message::Second(_) | Message::Warning(_)
        ) {
            // Fails only without a waiting request.
            let _ = answer
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .send(message);
        }
    });
    let served = serve(&spec, orders, &send);
    drop(claim);
    served.map_err(|error| Failure::run(error.to_string()))?;
    log.map_or(Ok(()), finish_log)?;
    Ok(ExitCode::SUCCESS)
}

fn not_mounted(at: &Path, error: &std::io::Error) -> Failure {
    Failure::run(format!(
        "cannot mount a drive at {}\n{error}\nGive an empty directory that this user may write to.",
        at.display()
    ))
}

fn log_of_requests(path: &Path) -> Result<OutputFile, Failure> {
    let log = OutputFile::at(path, &OutputKind::Text(HEADER.to_owned()))?;
    // With the rights that this process gives: the emulator gives all.
    log.open().map_err(|error| not_written(path, &error))?;
    Ok(log)
}

/// Without a first line it could not be written, of which the emulator has warned.
fn finish_log(log: OutputFile) -> Result<(), Failure> {
    let is_empty = std::fs::metadata(log.part()).is_ok_and(|log| log.is_file() && log.len() == 0);
    match is_empty {
        true => Err(not_written(
            log.path(),
            &"The warning above has the reason.",
        )),
        false => log.finish(),
    }
}

fn show(message: &Message, stats: bool) {
    match message {
        Message::Ready(ready) => note!("{}", greeting(ready)),
        Message::Second(second) if stats => print_message(&account(second).to_string()),
        Message::Second(_) | Message::Failed { .. } | Message::Refused { .. } => {}
        Message::Warning(warning) => {
            let text = Messages::english().event(warning);
            note!("warning ({}): {text}", warning.code());
        }
        Message::PowerIsOff(lost) => note!("Power is off. {}", sentence(lost)),
        Message::PowerIsOn => note!("Power is on."),
        Message::MemberChanged { .. } => {}
    }
}

/// A second in figures that a person or a script can use at once.
fn account(second: &DriveSecond) -> serde_json::Value {
    let us = |time: Option<Nanos>| time.map(|time| time.as_micros_f64());
    let kinds = DriveOp::ALL.iter().zip(&second.tallies).filter(|(_, tally)| tally.ops > 0).map(|(kind, tally)| {
        let DriveTally { ops, bytes, errors, modelled, real, late, beyond } = tally;
        let figures = serde_json::json!({
            "ops": ops, "bytes": bytes, "errors": errors, "beyond": beyond,
            "modelled_mean_us": us(modelled.mean()), "modelled_p99_us": us(modelled.quantile(0.99)),
            "real_mean_us": us(real.mean()), "real_p99_us": us(real.quantile(0.99)),
            "late_p50_us": us(late.quantile(0.5)), "late_p99_us": us(late.quantile(0.99)),
        });
        (kind.name().to_owned(), figures)
    });
    let kinds: serde_json::Map<_, _> = kinds.collect();
    let seconds = second.to.saturating_sub(second.from).as_secs_f64();
    serde_json::json!({ "at_s": second.to.as_secs_f64(), "seconds": seconds, "in_flight": second.in_flight, "ops": kinds })
}

fn greeting(ready: &Ready) -> String {
    let device = ready
        .device
        .as_ref()
        .map(|device| format!(" on {}", device.display()))
        .unwrap_or_default();
    let others = ready.disks.iter().skip(1);
    let others: String = others.map(|disk| format!(", {}", disk.display())).collect();
    format!(
        "Mounted at {}{device}{others}. Ctrl-C takes it down.\nAsking and answering cost {:.1} µs here ({:.1} µs of it the loop \
         device) and {:.1} µs after a millisecond of quiet, {:.1} µs at {} requests a second, which is subtracted; the timer is {:.1} µs late.",
        ready.path.display(),
        ready.calibration.floor.as_micros_f64(),
        ready.calibration.of_which_loop.as_micros_f64(),
        ready.calibration.after_1ms.as_micros_f64(),
        ready.calibration.at_most.as_micros_f64(),
        ready.calibration.most_per_second,
        ready.calibration.timer.as_micros_f64(),
    )
}

fn spec_of(args: &MountArgs, drive: &str, point: &MountPoint) -> Result<MountSpec, Failure> {
    if !(0.0..=1.0).contains(&args.fill) {
        return Err(Failure::usage(format!(
            "--fill takes a number from 0 to 1, not {}",
            args.fill
        )));
    }
    let drive = drive_file::read(drive)?;
    let backing = match args.backing {
        BackingArg::Memory => Backing::Memory,
        BackingArg::File => Backing::File,
    };
    let is_root = rustix::process::geteuid().is_root();
    let form = args.form.unwrap_or(if is_root {
        FormArg::Block
    } else {
        FormArg::Directory
    });
    Ok(MountSpec {
        drive: drive.to_toml(),
        id: drive.id,
        dir: point.dir().to_owned(),
        capacity: args.capacity.unwrap_or(drive.capacity),
        fill: args.fill,
        seed: args.seed,
        ignores_flush: args.flush == FlushArg::Ignored,
        form: match (form, args.filesystem) {
            (FormArg::Directory, _) => Form::Directory,
            (FormArg::Block, FilesystemArg::Xfs) => Form::Block(Filesystem::Xfs),
            (FormArg::Block, FilesystemArg::Ext4) => Form::Block(Filesystem::Ext4),
        },
        backing,
        // The data lie beside the directory.
        backing_limit: default_limit(backing, point.path().parent().unwrap_or(point.path())),
        requests: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_in_figures() {
        let mut second = DriveSecond {
            from: Nanos(0),
            to: Nanos::SECOND,
            tallies: Default::default(),
            in_flight: 2,
            members: Vec::new(),
        };
        second.tallies[1].ops = 1;
        second.tallies[1].modelled.record(Nanos::from_micros(70));
        let figures = account(&second);
        assert_eq!(figures["ops"]["write"]["modelled_mean_us"], 70.0);
        assert_eq!(
            figures["ops"]["write"]["late_p50_us"],
            serde_json::Value::Null
        );
        assert_eq!(
            (&figures["ops"]["read"], &figures["in_flight"]),
            (&serde_json::Value::Null, &2.into())
        );
    }
}
