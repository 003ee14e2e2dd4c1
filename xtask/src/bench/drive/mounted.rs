//! An emulated drive while it is mounted by `plimsoll drive mount`, and its own account of what it did.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, SysconfVar, sysconf};
use serde_json::Value;

use super::fio::{FioFigures, Job, Pattern};
use crate::exec::{Task, because, failed};

pub struct Mounted {
    child: Child,
    dir: PathBuf,
    greeting: String,
    device: PathBuf,
    seconds: Receiver<Value>,
    is_down: bool,
}

/// The emulator's own account of a measurement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Own {
    pub modelled_mean_us: f64,
    /// Median lateness of the latest of the seconds.
    pub late_p50_us: f64,
    /// Operations beyond the next percentile, in percent.
    pub beyond_percent: f64,
    /// Of one core.
    pub cpu_percent: f64,
}

/// One job, as fio and as the emulator counted it.
pub struct Measured {
    pub by_fio: FioFigures,
    pub by_emulator: Own,
}

impl Mounted {
    pub fn new(binary: &Path, parent: &Path, drive: &str) -> Task<Self> {
        let dir = super::new_dir(parent)?;
        let file = dir.with_extension("toml");
        std::fs::write(&file, drive).map_err(because(file.display()))?;
        let mut command = Command::new(binary);
        command.args(["drive", "mount"]).arg(&file).arg(&dir).args([
            "--capacity",
            "8GiB",
            "--stats",
            "--form",
            "block",
        ]);
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .stdin(Stdio::null())
            .spawn();
        let mut child = child.map_err(because(binary.display()))?;
        let (lines, stderr) = channel();
        forward(child.stderr.take(), move |line| lines.send(line).is_ok());
        let (account, seconds) = channel();
        forward(child.stdout.take(), move |line| {
            serde_json::from_str(&line).is_ok_and(|value: Value| account.send(value).is_ok())
        });
        let mut mounted = Self {
            child,
            dir,
            greeting: String::new(),
            device: PathBuf::new(),
            seconds,
            is_down: false,
        };
        let mut all = String::new();
        while let Ok(line) = stderr.recv() {
            if let Some((_, rest)) = line.split_once(" on /dev/") {
                mounted.device = Path::new("/dev").join(rest.split('.').next().unwrap_or_default());
            } else if line.contains("is subtracted") || !mounted.device.as_os_str().is_empty() {
                mounted.greeting = line;
                mounted.unmount_filesystem()?;
                return Ok(mounted);
            }
            all += &line;
            all.push('\n');
        }
        failed(format!("the drive could not be mounted:\n{all}"))
    }

    /// fio writes to the device itself, so that no filesystem's work is measured.
    fn unmount_filesystem(&self) -> Task {
        match Command::new("umount").arg(self.dir.join("mnt")).status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => failed(format!("umount ended with {status}")),
            Err(why) => Err(because("umount")(why)),
        }
    }

    pub fn greeting(&self) -> &str {
        &self.greeting
    }

    pub fn device(&self) -> &Path {
        &self.device
    }

    /// The file that the loop device is made of.
    pub fn image(&self) -> Task<PathBuf> {
        let dir = self.dir.join("fuse");
        let entry = std::fs::read_dir(&dir)
            .map_err(because(dir.display()))?
            .flatten()
            .next();
        entry.map_or_else(
            || failed(format!("{} is empty", dir.display())),
            |entry| Ok(entry.path()),
        )
    }

    /// Writes all that will be read and written, so that its memory is there.
    pub fn fill(&mut self) -> Task {
        let device = self.device.display();
        let filled = Command::new("dd")
            .args(["if=/dev/urandom", "bs=1M", "count=2048"])
            .args(["oflag=direct", "status=none"])
            .arg(format!("of={device}"))
            .status();
        match filled {
            Ok(status) if status.success() => Ok(()),
            _ => failed(format!("{device} could not be filled")),
        }
    }

    pub fn measure(&mut self, job: &Job) -> Task<Measured> {
        self.measure_on(job, &self.device.clone())
    }

    pub fn measure_on(&mut self, job: &Job, target: &Path) -> Task<Measured> {
        // What comes later belongs to this job, but for less than a second.
        while self.seconds.try_recv().is_ok() {}
        let before = self.cpu_seconds()?;
        let run = crate::exec::timed(|| job.run(target));
        let cpu_percent = 100.0 * (self.cpu_seconds()? - before) / run.took.as_secs_f64();
        let seconds: Vec<Value> = self.seconds.try_iter().collect();
        Ok(Measured {
            by_fio: run.result?,
            by_emulator: Own {
                cpu_percent,
                ..account(&seconds, job.pattern)
            },
        })
    }

    fn cpu_seconds(&self) -> Task<f64> {
        let path = format!("/proc/{}/stat", self.child.id());
        let text = std::fs::read_to_string(&path).map_err(because(&path))?;
        let ticks = sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100) as f64;
        parse_cpu(&text).map_or_else(
            || failed(format!("{path} is not understood")),
            |n| Ok(n as f64 / ticks),
        )
    }

    pub fn stop(mut self) -> Task {
        self.take_down()
    }

    fn take_down(&mut self) -> Task {
        if std::mem::replace(&mut self.is_down, true) {
            return Ok(());
        }
        // Gone already is as well.
        let _ = kill(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGINT);
        self.child.wait().map_err(because("the emulator"))?;
        let _ = std::fs::remove_file(self.dir.with_extension("toml"));
        std::fs::remove_dir(&self.dir).map_err(because(self.dir.display()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if let Err(why) = self.take_down() {
            eprintln!("xtask: {why}");
        }
    }
}

fn forward(
    from: Option<impl std::io::Read + Send + 'static>,
    mut to: impl FnMut(String) -> bool + Send + 'static,
) {
    std::thread::spawn(move || {
        for line in from
            .into_iter()
            .flat_map(|from| BufReader::new(from).lines().map_while(Result::ok))
        {
            if !to(line) {
                break;
            }
        }
    });
}

/// utime and stime of `/proc/PID/stat` (proc(5)); the name before them may hold anything.
fn parse_cpu(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    user.checked_add(fields.next()?.parse().ok()?)
}

fn account(seconds: &[Value], pattern: Pattern) -> Own {
    let kinds: Vec<&Value> = seconds
        .iter()
        .map(|second| &second["ops"][pattern.direction()])
        .filter(|kind| !kind.is_null())
        .collect();
    let ops: f64 = kinds.iter().map(|kind| figure(kind, "ops")).sum();
    let modelled_us: f64 = kinds
        .iter()
        .map(|kind| figure(kind, "ops") * figure(kind, "modelled_mean_us"))
        .sum();
    // The first second has nothing to be judged by.
    let judged: Vec<_> = kinds.iter().skip(1).collect();
    let beyond: f64 = judged.iter().map(|kind| figure(kind, "beyond")).sum();
    let judged_ops = judged
        .iter()
        .map(|kind| figure(kind, "ops"))
        .sum::<f64>()
        .max(1.0);
    Own {
        modelled_mean_us: modelled_us / ops.max(1.0),
        late_p50_us: kinds
            .iter()
            .map(|kind| figure(kind, "late_p50_us"))
            .fold(0.0, f64::max),
        beyond_percent: 100.0 * beyond.max(0.0) / judged_ops,
        cpu_percent: 0.0,
    }
}

fn figure(kind: &Value, name: &str) -> f64 {
    kind[name].as_f64().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_of_a_process() {
        assert_eq!(
            parse_cpu("1 (a) b) S 1 1 1 0 -1 4 5 0 0 0 30 12 0 0 20 0"),
            Some(42)
        );
        for rubbish in ["", "1 (a", "1 (a) S 1", "1 (a) S 1 1 1 0 -1 4 5 0 0 0 x y"] {
            assert_eq!(parse_cpu(rubbish), None);
        }
    }

    #[test]
    fn seconds_are_weighted_by_their_operations() {
        let second = |ops: u32, mean: f64, beyond: u32| {
            serde_json::json!({"ops": {"read": {
            "ops": ops, "modelled_mean_us": mean, "late_p50_us": mean / 10.0, "beyond": beyond}}})
        };
        let own = account(
            &[
                second(1, 100.0, 1),
                second(3, 200.0, 1),
                serde_json::json!({"ops": {}}),
            ],
            Pattern::Read,
        );
        assert_eq!((own.modelled_mean_us, own.late_p50_us), (175.0, 20.0));
        assert!((own.beyond_percent - 100.0 / 3.0).abs() < 1e-9);
        assert_eq!(account(&[], Pattern::Read), Own::default());
    }
}
