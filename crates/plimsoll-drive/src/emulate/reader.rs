//! Timed reads for the calibration, in a process of their own: one that answers for a drive must never wait for it in the
//! kernel (see [`super::tool`]).

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use plimsoll_plan::units::Nanos;
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use super::clock;
use super::error::EmulatorError;

const BLOCK: usize = 4096;
/// Positions go over so much of the drive.
const SPAN: u64 = 64 << 20;

/// Reads of 4 KiB that pass the page cache by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadTask {
    pub file: PathBuf,
    /// How much of the file there is, in bytes.
    pub size: u64,
    /// Threads at the same time, each at depth 1.
    pub threads: usize,
    /// Of each thread.
    pub reads: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadTimes {
    /// Of each read, thread after thread.
    pub times: Vec<Nanos>,
    /// From the start of the first thread to the end of the last.
    pub took: Nanos,
}

/// The reading process, as the emulator sees it. It ends with its input.
pub struct Reader {
    process: Child,
    tasks: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Reader {
    pub fn start() -> Result<Self, EmulatorError> {
        let failed = |error: io::Error| {
            let why = format!("the process that calibrates could not be started: {error}");
            EmulatorError::new(why, "Raise the limit on processes.")
        };
        // The program as it was started, even when its file was replaced since.
        let mut command = Command::new("/proc/self/exe");
        command.args(["drive", "mount", "--read"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // A Ctrl-C is for the emulator.
        command.process_group(0);
        let mut process = command.spawn().map_err(failed)?;
        let tasks = process.stdin.take();
        let answers = process.stdout.take();
        let answers = answers.ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?;
        Ok(Self {
            process,
            tasks,
            answers: BufReader::new(answers),
        })
    }

    pub fn read(&mut self, task: &ReadTask) -> Result<ReadTimes, EmulatorError> {
        let answer = self
            .ask(task)
            .unwrap_or_else(|error| Err(error.to_string()));
        answer.map_err(|why| {
            EmulatorError::new(
                format!("{} cannot be read: {why}", task.file.display()),
                "`dmesg` may show why.",
            )
        })
    }

    fn ask(&mut self, task: &ReadTask) -> io::Result<Result<ReadTimes, String>> {
        let tasks = self.tasks.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        writeln!(tasks, "{}", serde_json::to_string(task)?)?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        Ok(serde_json::from_str(&answer)?)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        drop(self.tasks.take());
        // A reader that does not end is its own process, and harms nobody.
        let _ = self.process.wait();
    }
}

/// The reading process's whole life: a task a line, and an answer a line.
pub fn answer_read_tasks(tasks: impl BufRead, mut answers: impl Write) -> io::Result<()> {
    let mut files = HashMap::new();
    for task in tasks.lines() {
        let answer = match serde_json::from_str(&task?) {
            Ok(task) => read_all(&mut files, &task).map_err(|error| error.to_string()),
            Err(error) => Err(format!("no task: {error}")),
        };
        writeln!(answers, "{}", serde_json::to_string(&answer)?)?;
        answers.flush()?;
    }
    Ok(())
}

/// Opening a device has a cost of its own, so files stay open.
fn read_all(
    open: &mut HashMap<PathBuf, Vec<TimedFile>>,
    task: &ReadTask,
) -> rustix::io::Result<ReadTimes> {
    let files = open.entry(task.file.clone()).or_default();
    while files.len() < task.threads {
        files.push(TimedFile::open(&task.file, task.size)?);
    }
    let mut times = Vec::new();
    let began = clock::now();
    std::thread::scope(|scope| {
        let threads = files[..task.threads]
            .iter_mut()
            .map(|file| scope.spawn(|| file.times(task.reads)));
        let threads: Vec<_> = threads.collect();
        for thread in threads {
            times.extend(thread.join().map_err(|_| rustix::io::Errno::IO)??);
        }
        Ok::<(), rustix::io::Errno>(())
    })?;
    let took = clock::now().saturating_sub(began);
    Ok(ReadTimes { times, took })
}

struct TimedFile {
    file: OwnedFd,
    memory: Vec<u8>,
    size: u64,
}

impl TimedFile {
    fn open(path: &Path, size: u64) -> rustix::io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
        Ok(Self {
            file: rustix::fs::open(path, flags, Mode::empty())?,
            memory: vec![0; 2 * BLOCK],
            size,
        })
    }

    /// Times of reads, in their order.
    fn times(&mut self, reads: usize) -> rustix::io::Result<Vec<Nanos>> {
        let start = self.memory.as_ptr().align_offset(BLOCK);
        let blocks = (self.size.min(SPAN) / BLOCK as u64).max(1);
        let block = &mut self.memory[start..start + BLOCK];
        let times = (0..reads as u64).map(|n| {
            let before = clock::now();
            // A stride that is coprime to the number of blocks in whole MiB visits them all out of order.
            rustix::io::pread(&self.file, &mut *block, n * 4099 % blocks * BLOCK as u64)?;
            Ok(clock::now().saturating_sub(before))
        });
        times.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn answers(tasks: &str) -> Vec<Result<ReadTimes, String>> {
        let mut out = Vec::new();
        answer_read_tasks(tasks.as_bytes(), &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        out.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    #[test]
    fn each_task_gets_its_answer() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 20).unwrap();
        let task = ReadTask {
            file: file.path().to_owned(),
            size: 1 << 20,
            threads: 2,
            reads: 3,
        };
        let missing = ReadTask {
            file: "/not/there".into(),
            ..task.clone()
        };
        let tasks = [&task, &missing, &task].map(|task| serde_json::to_string(task).unwrap());
        let answers = answers(&tasks.join("\n"));
        let lengths = answers
            .iter()
            .map(|answer| answer.as_ref().map(|read| read.times.len()));
        let lengths: Vec<_> = lengths.map(Result::ok).collect();
        assert_eq!(lengths, [Some(6), None, Some(6)]);
        assert!(answers[1].as_ref().unwrap_err().contains("No such file"));
    }

    proptest! {
        #[test]
        fn rubbish_gets_an_error(text in "[^\n\r]{0,80}") {
            prop_assert!(answers(&text).iter().all(Result::is_err));
        }
    }
}
