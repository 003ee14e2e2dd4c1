//! What a client program costs: CPU time and memory of a child process, as the kernel counts them.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::exec::{Task, because, failed, timed};

#[derive(Debug)]
pub struct Cost {
    /// user + system, of the process and the children it waited for.
    pub cpu: Duration,
    pub wall: Duration,
    /// VmHWM as last seen, in bytes; 0 when the process ended before the first look.
    pub peak_rss: u64,
    pub stdout: String,
}

/// Runs a program to its end. Not for two at once: the kernel sums over all children that have ended meanwhile.
pub fn measure(command: &mut Command) -> Task<Cost> {
    let name = command.get_program().to_string_lossy().into_owned();
    let run = timed(|| run(&name, command));
    let Run { peak_rss, stdout } = run.result?;
    Ok(Cost {
        cpu: run.cpu,
        wall: run.took,
        peak_rss,
        stdout,
    })
}

struct Run {
    peak_rss: u64,
    stdout: String,
}

fn run(name: &str, command: &mut Command) -> Task<Run> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(because(name))?;
    let out = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        out.map_or(Ok(0), |mut out| out.read_to_string(&mut text))
            .map(|_| text)
    });
    let mut peak_rss = 0;
    let status = crate::exec::wait_and_watch(&mut child, |pid| {
        peak_rss = high_water_mark(pid).unwrap_or(peak_rss)
    });
    let status = status.map_err(because(name))?;
    let text = reader
        .join()
        .map_err(|_| "its output could not be read")
        .map_err(because(name))?;
    if !status.success() {
        return failed(format!("{name} ended with {status}"));
    }
    Ok(Run {
        peak_rss,
        stdout: text.map_err(because(name))?,
    })
}

fn high_water_mark(pid: u32) -> Option<u64> {
    parse_high_water_mark(&std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?)
}

/// `VmHWM:     1234 kB` of /proc/PID/status (proc(5)), in bytes.
fn parse_high_water_mark(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim()
        .strip_suffix("kB")?
        .trim()
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_memory_and_output_of_a_child() {
        let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo $i";
        let cost = measure(Command::new("sh").args(["-c", script])).expect("sh");
        assert_eq!(cost.stdout, "300000\n");
        assert!(cost.cpu > Duration::from_millis(20), "{cost:?}");
        assert!(cost.peak_rss > 200_000, "{cost:?}");
    }

    #[test]
    fn a_child_that_fails_is_an_error() {
        assert!(
            measure(&mut Command::new("false"))
                .expect_err("false")
                .to_string()
                .contains("false ended with")
        );
    }

    #[test]
    fn status_files() {
        assert_eq!(
            parse_high_water_mark("VmPeak:\t 5 kB\nVmHWM:\t   12 kB\n"),
            Some(12 * 1024)
        );
        for rubbish in [
            "",
            "VmHWM:",
            "VmHWM: x kB",
            "VmHWM: 5",
            "VmHWM: 99999999999999999999 kB",
        ] {
            assert_eq!(parse_high_water_mark(rubbish), None);
        }
    }
}
