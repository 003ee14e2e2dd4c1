//! The parent's side: an emulator in a process of its own, so that its CPU time is accounted apart and its end harms
//! no other process.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child as Process, ChildStdin, Command as Program, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use plimsoll_plan::member_event::MemberChange;
use plimsoll_plan::units::Nanos;
use plimsoll_record::drive::DriveSecond;
use plimsoll_record::message::EventKind;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;

use super::clear::clear;
use super::clock;
use super::emulation::check_empty;
use super::error::EmulatorError;
use super::mounts::abort_all;
use super::protocol::{Command, Lost, Message, MountSpec, Ready};

/// How long taking down may last before the process is killed.
const PATIENCE: Nanos = Nanos::from_secs(30);
/// How long an answer may take before the process is killed: a filesystem that is made, or recovers, on a slow disk.
const ANSWER: Nanos = Nanos::from_secs(120);
/// How long a killed process may take to end.
const DEATH: Nanos = Nanos::from_secs(10);
/// Lines of its stderr that are quoted when it ends unexpectedly.
const QUOTED: usize = 10;
const DIED: &str = "Start the run again; what was measured until then is kept.";

/// What an emulator sends unasked.
#[derive(Debug, Clone, PartialEq)]
pub enum EmulatorEvent {
    Second(Box<DriveSecond>),
    Warning(EventKind),
    /// It ended unasked. What it had mounted is still there, dead, until [`Child::stop`].
    Ended(EmulatorError),
}

/// An emulator that runs. Its methods may be called from any thread; those that wait for an answer wait for one
/// another. Dropping it takes everything down.
#[derive(Debug)]
pub struct Child {
    process: Mutex<Process>,
    stdin: Mutex<Option<ChildStdin>>,
    answers: Mutex<Receiver<Message>>,
    ending: Arc<AtomicBool>,
    /// Its output has ended. Its stdin may take a line even so: the kernel closes that last.
    gone: Arc<AtomicBool>,
    listener: Mutex<Option<JoinHandle<()>>>,
    dir: PathBuf,
    /// For each answer.
    patience: Nanos,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Child {
    /// Starts `program drive mount --control` and waits until the drive can be used. `on_event` is called from a thread of
    /// the child's; when it is slow the emulator waits, its drive does not. The directory has to be empty: whatever is
    /// in it later is the child's, and goes with it.
    pub fn start(
        program: &Path,
        spec: &MountSpec,
        on_event: impl Fn(EmulatorEvent) + Send + 'static,
    ) -> Result<(Self, Ready), EmulatorError> {
        Self::start_within(ANSWER, program, spec, on_event)
    }

    fn start_within(
        patience: Nanos,
        program: &Path,
        spec: &MountSpec,
        on_event: impl Fn(EmulatorEvent) + Send + 'static,
    ) -> Result<(Self, Ready), EmulatorError> {
        // Before there is a child, which clears the directory when it is dropped.
        check_empty(&spec.dir)?;
        let mut command = Program::new(program);
        command.args(["drive", "mount", "--control"]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // A Ctrl-C is for the parent, which needs the drive until it has finished.
        command.process_group(0);
        let mut process = command.spawn().map_err(|error| {
            EmulatorError::new(
                format!("{} could not be started: {error}", program.display()),
                "Install plimsoll anew.",
            )
        })?;
        let stdin = process.stdin.take();
        let stdout = process.stdout.take();
        let stderr = process.stderr.take();
        let (answer, answers) = channel();
        let ending = Arc::new(AtomicBool::new(false));
        let is_ending = Arc::clone(&ending);
        let gone = Arc::new(AtomicBool::new(false));
        let is_gone = Arc::clone(&gone);
        let listener = std::thread::Builder::new()
            .name("drive-listener".into())
            .spawn(move || {
                let errors = std::thread::spawn(move || stderr.map(last_lines).unwrap_or_default());
                let failed = stdout.and_then(|out| listen(BufReader::new(out), &answer, &on_event));
                let errors = errors.join().unwrap_or_default();
                is_gone.store(true, Ordering::SeqCst);
                if !is_ending.load(Ordering::SeqCst) {
                    on_event(EmulatorEvent::Ended(
                        failed.unwrap_or_else(|| ended_unexpectedly(&errors)),
                    ));
                }
            });
        let child = Self {
            process: Mutex::new(process),
            stdin: Mutex::new(stdin),
            answers: Mutex::new(answers),
            ending,
            gone,
            listener: Mutex::new(listener.ok()),
            dir: spec.dir.clone(),
            patience,
        };
        child.send(spec)?;
        // Until it is ready a failure is returned, not sent as an event.
        child.ending.store(true, Ordering::SeqCst);
        match child.next_answer()? {
            Message::Ready(ready) => {
                child.ending.store(false, Ordering::SeqCst);
                Ok((child, ready))
            }
            other => Err(unexpected(&other)),
        }
    }

    /// Answers at the model's times, or as fast as possible.
    pub fn timing(&self, on: bool) -> Result<(), EmulatorError> {
        self.send(&Command::Timing(on))
    }

    pub fn power_off(&self) -> Result<Lost, EmulatorError> {
        match self.ask(&Command::PowerOff)? {
            Message::PowerIsOff(lost) => Ok(lost),
            other => Err(unexpected(&other)),
        }
    }

    pub fn power_on(&self) -> Result<(), EmulatorError> {
        match self.ask(&Command::PowerOn)? {
            Message::PowerIsOn => Ok(()),
            other => Err(unexpected(&other)),
        }
    }

    /// Something happens to a member of the array; the event is sent as a warning. Returns whether data are lost by that.
    pub fn change_member(&self, change: MemberChange) -> Result<bool, EmulatorError> {
        match self.ask(&Command::Member(change))? {
            Message::MemberChanged { data_lost } => Ok(data_lost),
            other => Err(unexpected(&other)),
        }
    }

    /// Of the emulator's process.
    pub fn pid(&self) -> u32 {
        lock(&self.process).id()
    }

    /// Takes everything down and waits for it. Returns what a killed emulator would have left and what was cleared then, a
    /// sentence each; empty when all went well. Calling it again does nothing.
    pub fn stop(&self) -> Result<Vec<String>, EmulatorError> {
        self.ending.store(true, Ordering::SeqCst);
        drop(lock(&self.stdin).take());
        let mut process = lock(&self.process);
        let has_ended = clock::wait_until(PATIENCE, || !matches!(process.try_wait(), Ok(None)));
        if !has_ended {
            self.kill(&mut process);
        }
        // It ends with the last process that has the emulator's stdout.
        if let Some(listener) = lock(&self.listener).take()
            && clock::wait_until(DEATH, || listener.is_finished())
        {
            // Panics when `on_event` did, which has reported itself.
            let _ = listener.join();
        }
        clear(&self.dir, DEATH).map_err(|error| {
            EmulatorError::new(
                format!("{} could not be cleared: {error}", self.dir.display()),
                "The next run on this medium tries again.",
            )
        })
    }

    /// With the programs that it started. One that waits for its own drive ends when the connection is broken.
    fn kill(&self, process: &mut Process) {
        // Gone already is as well.
        let _ = process.kill();
        if let Some(group) = Pid::from_raw(process.id().cast_signed()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        abort_all(&self.dir);
        clock::wait_until(DEATH, || !matches!(process.try_wait(), Ok(None)));
    }

    fn send(&self, what: &impl Serialize) -> Result<(), EmulatorError> {
        let line = serde_json::to_string(what).unwrap_or_default() + "\n";
        let mut stdin = lock(&self.stdin);
        let written = stdin.as_mut().map(|stdin| {
            stdin
                .write_all(line.as_bytes())
                .and_then(|()| stdin.flush())
        });
        match written {
            Some(Ok(())) if !self.gone.load(Ordering::SeqCst) => Ok(()),
            _ => Err(EmulatorError::new("the drive's emulator has ended", DIED)),
        }
    }

    fn ask(&self, command: &Command) -> Result<Message, EmulatorError> {
        let answers = lock(&self.answers);
        self.send(command)?;
        self.answer_of(&answers)
    }

    fn next_answer(&self) -> Result<Message, EmulatorError> {
        self.answer_of(&lock(&self.answers))
    }

    fn answer_of(&self, answers: &Receiver<Message>) -> Result<Message, EmulatorError> {
        match answers.recv_timeout(self.patience.into()) {
            Ok(Message::Failed { why, next, no_fuse }) => Err(EmulatorError { why, next, no_fuse }),
            Ok(Message::Refused { why, next }) => Err(EmulatorError::new(why, next)),
            Ok(answer) => Ok(answer),
            Err(RecvTimeoutError::Disconnected) => Err(EmulatorError::new(
                "the drive's emulator ended without an answer",
                DIED,
            )),
            Err(RecvTimeoutError::Timeout) => {
                self.kill(&mut lock(&self.process));
                let why = format!(
                    "the drive's emulator did not answer within {} and was killed",
                    self.patience
                );
                Err(EmulatorError::new(why, DIED))
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // What is left is cleared by the next run.
        let _ = self.stop();
    }
}

fn unexpected(answer: &Message) -> EmulatorError {
    EmulatorError::new(
        format!("the drive's emulator sent an unexpected answer: {answer:?}"),
        "Report this.",
    )
}

fn ended_unexpectedly(errors: &str) -> EmulatorError {
    let quoted = if errors.is_empty() {
        String::new()
    } else {
        format!(":\n{errors}")
    };
    EmulatorError::new(
        format!("the drive's emulator ended unexpectedly{quoted}"),
        DIED,
    )
}

/// Reads until the emulator's stdout ends. Returns the failure it sent, if any.
fn listen(
    out: impl BufRead,
    answer: &Sender<Message>,
    on_event: &impl Fn(EmulatorEvent),
) -> Option<EmulatorError> {
    let mut failed = None;
    for line in out.lines() {
        let Ok(line) = line else { break };
        match serde_json::from_str(&line) {
            Ok(Message::Second(second)) => on_event(EmulatorEvent::Second(second)),
            Ok(Message::Warning(warning)) => on_event(EmulatorEvent::Warning(warning)),
            Ok(message) => {
                if let Message::Failed { why, next, no_fuse } = &message {
                    failed = Some(EmulatorError {
                        why: why.clone(),
                        next: next.clone(),
                        no_fuse: *no_fuse,
                    });
                }
                // This fails when no answer is expected any more.
                let _ = answer.send(message);
            }
            Err(error) => on_event(EmulatorEvent::Warning(EventKind::EmulatorTalk {
                error: error.to_string(),
            })),
        }
    }
    failed
}

fn last_lines(from: impl Read) -> String {
    let mut last = VecDeque::new();
    for line in BufReader::new(from).lines().map_while(Result::ok) {
        if last.len() == QUOTED {
            last.pop_front();
        }
        last.push_back(line);
    }
    Vec::from(last).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn answers_and_events_are_separated() {
        let out = "{\"power_is_off\":{\"writes\":2,\"bytes\":8192,\"flushed_writes\":1}}\nrubbish\n\"power_is_on\"\n\
                   {\"failed\":{\"why\":\"w\",\"next\":\"n\",\"no_fuse\":true}}\n";
        let (answer, answers) = channel();
        let events = Mutex::new(Vec::new());
        let failed = listen(out.as_bytes(), &answer, &|event| {
            events.lock().unwrap().push(event)
        });
        assert_eq!(failed, Some(EmulatorError::no_fuse("w", "n")));
        assert!(matches!(
            answers.try_recv(),
            Ok(Message::PowerIsOff(Lost {
                writes: 2,
                flushed_writes: 1,
                ..
            }))
        ));
        assert_eq!(answers.try_recv(), Ok(Message::PowerIsOn));
        let events = events.into_inner().unwrap();
        assert!(
            matches!(
                events[..],
                [EmulatorEvent::Warning(EventKind::EmulatorTalk { .. })]
            ),
            "one warning"
        );
    }

    fn spec(dir: &Path) -> MountSpec {
        MountSpec {
            drive: String::new(),
            id: "x".into(),
            dir: dir.into(),
            capacity: plimsoll_plan::units::Bytes::mib(1),
            fill: 1.0,
            seed: 1,
            ignores_flush: false,
            form: super::super::protocol::Form::Directory,
            backing: super::super::protocol::Backing::Memory,
            backing_limit: plimsoll_plan::units::Bytes::mib(1),
            requests: None,
        }
    }

    #[test]
    fn a_program_without_an_answer_is_killed_with_all_that_it_started() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let (dir, program) = (place.path().join("dir"), place.path().join("program"));
        std::fs::create_dir(&dir).unwrap();
        let started = place.path().join("started");
        let script = format!(
            "#!/bin/sh\nsleep 1000 &\necho $$ $! > {}\nwait\n",
            started.display()
        );
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        let error = Child::start_within(Nanos::SECOND, &program, &spec(&dir), drop).unwrap_err();
        assert!(error.why.contains("did not answer"), "{error}");
        let started = std::fs::read_to_string(started).unwrap();
        let lives = |pid: &&str| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.contains("sleep") && !stat.contains(") Z ")
        };
        assert_eq!(
            started.split_whitespace().filter(lives).collect::<Vec<_>>(),
            [""; 0]
        );
    }

    #[test]
    fn a_directory_that_holds_something_is_refused_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        for inside in ["files", "mnt"] {
            std::fs::create_dir(dir.path().join(inside)).unwrap();
        }
        std::fs::write(dir.path().join("files/precious"), "x").unwrap();
        std::fs::write(dir.path().join("store"), "x").unwrap();
        let error = Child::start(Path::new("/bin/true"), &spec(dir.path()), drop).unwrap_err();
        assert!(error.why.contains("not empty"), "{error}");
        assert!(dir.path().join("files/precious").exists() && dir.path().join("store").exists());
        assert!(dir.path().join("mnt").exists());
    }

    #[test]
    fn a_program_that_ends_at_once_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let spec = spec(dir.path());
        assert!(Child::start(Path::new("/bin/true"), &spec, drop).is_err());
        let error = Child::start(Path::new("/nowhere/at-all"), &spec, drop).unwrap_err();
        assert!(error.why.contains("at-all"), "{error}");
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(text in ".*") {
            let (answer, _answers) = channel();
            listen(text.as_bytes(), &answer, &drop);
            last_lines(text.as_bytes());
        }
    }
}
