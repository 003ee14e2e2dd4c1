//! fio as a child process: found, started, watched, stopped.

mod confine;
mod flow;
mod name;
mod process;

use std::process::{Command, ExitStatus, Output, Stdio};

use plimsoll_import::fio_output;
use plimsoll_import::fio_output::FioOutput;

use crate::BlockError;

pub use confine::can_confine;
pub use flow::Flow;
pub use name::FioName;
pub use process::{FioCommand, ends_with_us};
pub(crate) use process::{FioEvent, FioMessages, Process};

/// The oldest fio that does all that is asked of it: `sync=dsync` came with 3.23.
pub const OLDEST: (u32, u32) = (3, 23);

/// How requests are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoEngine {
    Libaio,
    /// One thread for each request in flight.
    Psync,
}

impl IoEngine {
    pub fn name(self) -> &'static str {
        match self {
            Self::Libaio => "libaio",
            Self::Psync => "psync",
        }
    }
}

/// The fio of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fio {
    pub version: String,
    pub engine: IoEngine,
}

/// Asks fio for its version and its engines.
///
/// # Errors
/// There is none, or one older than [`OLDEST`].
pub fn find() -> Result<Fio, BlockError> {
    let version = ask_fio("--version").map_err(|error| BlockError::NoFio(error.to_string()))?;
    let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
    match number(&version) {
        None => {
            return Err(BlockError::NoFio(format!(
                "`fio --version` prints {version:?}"
            )));
        }
        Some(number) if number < OLDEST => {
            return Err(BlockError::OldFio {
                version,
                oldest: OLDEST,
            });
        }
        Some(_) => {}
    }
    let has_libaio = ask_fio("--enghelp=libaio").is_ok_and(|output| output.status.success());
    Ok(Fio {
        version,
        engine: if has_libaio {
            IoEngine::Libaio
        } else {
            IoEngine::Psync
        },
    })
}

fn ask_fio(arg: &str) -> std::io::Result<Output> {
    Command::new("fio").arg(arg).stdin(Stdio::null()).output()
}

/// `fio-3.33`, `fio-3.36-17-gb8c7`: major and minor.
fn number(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.strip_prefix("fio-")?.split(['.', '-']);
    let major = parts.next()?.parse().ok()?;
    Some((
        major,
        parts.next().map_or(Some(0), |minor| minor.parse().ok())?,
    ))
}

/// The command line as a shell takes it.
pub fn command_line(args: &[String]) -> String {
    std::iter::once("fio".to_owned())
        .chain(args.iter().map(|arg| quoted(arg)))
        .collect::<Vec<_>>()
        .join(" ")
}

fn quoted(arg: &str) -> String {
    let is_plain = arg
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_=./+:,%".contains(c));
    if is_plain {
        arg.to_owned()
    } else {
        format!("'{}'", arg.replace('\'', "'\\''"))
    }
}

pub fn failed(job: &str, args: &[String], why: impl ToString) -> BlockError {
    BlockError::Fio {
        job: job.into(),
        why: why.to_string(),
        command: command_line(args),
    }
}

/// The arguments that fio makes of the text of a job file, in one line. fio runs nothing then.
///
/// # Errors
/// fio does not understand it.
pub fn showcmd(text: &str) -> Result<String, String> {
    let command = FioCommand {
        args: vec!["--showcmd".into(), "-".into()],
        input: Some(text.to_owned()),
        ..FioCommand::default()
    };
    let ended = run_to_end("the job file", &command, &mut || Flow::GoOn)
        .map_err(|error| error.to_string())?;
    let mut printed = String::new();
    let mut messages = FioMessages::default();
    for event in ended.events {
        match event {
            FioEvent::Message(line) if line.starts_with("fio --") => printed.push_str(&line),
            FioEvent::Message(line) => messages.push(line),
            FioEvent::Document(_) | FioEvent::End => {}
        }
    }
    if ended.status.success() {
        Ok(printed)
    } else {
        Err(format!("fio does not understand it: {messages}"))
    }
}

struct EndedFio {
    status: ExitStatus,
    events: Vec<FioEvent>,
}

fn run_to_end(
    job: &str,
    command: &FioCommand,
    tick: &mut impl FnMut() -> Flow,
) -> Result<EndedFio, BlockError> {
    let (sender, events) = std::sync::mpsc::channel();
    let mut child = Process::start(command, move |event| drop(sender.send(event)))?;
    if child.watch(tick) == Flow::Stop {
        return Err(BlockError::Cancelled);
    }
    let status = child.wait();
    let status = status.map_err(|error| failed(job, &command.args, error))?;
    Ok(EndedFio {
        status,
        events: events.iter().collect(),
    })
}

/// Runs fio to its end. It is in a process group of its own, so that a Ctrl-C reaches it through us only.
pub fn run(
    job: &str,
    command: &FioCommand,
    tick: &mut impl FnMut() -> Flow,
) -> Result<FioOutput, BlockError> {
    let args = &command.args;
    let EndedFio { status, events } = run_to_end(job, command, tick)?;
    let mut messages = FioMessages::default();
    let mut output = None;
    for event in events {
        match event {
            FioEvent::Message(line) => messages.push(line),
            FioEvent::Document(text) => output = Some(text),
            FioEvent::End => {}
        }
    }
    if !status.success() {
        return Err(failed(job, args, format!("{status}; {messages}")));
    }
    let mut output =
        fio_output::parse(&output.unwrap_or_default()).map_err(|error| BlockError::Output {
            job: job.into(),
            error,
            command: command_line(args),
        })?;
    output.warnings = messages.all().to_vec();
    match output.jobs.iter().find(|job| job.error != 0) {
        None => Ok(output),
        Some(failure) => Err(failed(
            job,
            args,
            format!("error {}; {messages}", failure.error),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(args: &[&str]) -> FioCommand {
        FioCommand {
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            ..FioCommand::default()
        }
    }

    #[test]
    fn fio_is_installed_and_an_error_quotes_its_message() {
        let fio = find().unwrap();
        assert!(fio.version.starts_with("fio-3"), "{fio:?}");
        let null = command(&[
            "--name=x",
            "--ioengine=null",
            "--size=1M",
            "--output-format=json+",
        ]);
        assert_eq!(
            run("null", &null, &mut || Flow::GoOn).unwrap().jobs[0].error,
            0
        );
        let error = run("bad", &command(&["--nosuchoption=1"]), &mut || Flow::GoOn)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("fio failed at bad: ") && error.contains("nosuchoption"),
            "{error}"
        );
        assert!(
            error.ends_with("The command was: fio --nosuchoption=1"),
            "{error}"
        );
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(number("fio-3.33"), Some((3, 33)));
        assert_eq!(number("fio-3.36-17-gb8c7"), Some((3, 36)));
        assert_eq!(number("fio-4"), Some((4, 0)));
        assert_eq!(number("fish, version 3.3"), None);
        assert!(number("fio-3.9").unwrap() < OLDEST && number("fio-3.23").unwrap() >= OLDEST);
        let error = BlockError::OldFio {
            version: "fio-3.9".into(),
            oldest: OLDEST,
        }
        .to_string();
        assert!(
            error.starts_with("fio-3.9 is too old: plimsoll needs 3.23 or later\n"),
            "{error}"
        );
    }

    #[test]
    fn a_stop_ends_fio() {
        let long = command(&[
            "--name=x",
            "--ioengine=null",
            "--size=1M",
            "--time_based=1",
            "--runtime=60",
        ]);
        let mut ticks = 0;
        let stopped = run("long", &long, &mut || {
            ticks += 1;
            if ticks > 3 { Flow::Stop } else { Flow::GoOn }
        });
        assert!(matches!(stopped, Err(BlockError::Cancelled)), "{stopped:?}");
        assert_eq!(ticks, 4);
    }

    #[test]
    fn command_lines_can_be_pasted() {
        let args = [
            "--name=randread 4K QD1".to_owned(),
            "--bs=4096".to_owned(),
            "it's".to_owned(),
        ];
        assert_eq!(
            command_line(&args),
            "fio '--name=randread 4K QD1' --bs=4096 'it'\\''s'"
        );
    }
}
