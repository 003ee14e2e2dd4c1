//! What a client program costs: CPU time and memory of a child process, as the kernel counts them.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::unistd::{SysconfVar, sysconf};

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

/// The part of a run that counts: from one line of its output to another, each known by a part of it.
pub struct Window {
    pub from: &'static str,
    pub to: &'static str,
}

pub struct WindowCost {
    /// user + system of all threads, in the window only.
    pub cpu: Duration,
    /// Of the whole run.
    pub stdout: String,
}

/// Runs a program to its end and counts what it used in the window. For programs that take long to start: what they
/// need to start, to log in and to warm up stays out. The program must not hold its lines back.
pub fn measure_window(command: &mut Command, window: &Window) -> Task<WindowCost> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(because(&name))?;
    let (mut from, mut to) = (None, None);
    let mut stdout = String::new();
    for line in child
        .stdout
        .take()
        .map(BufReader::new)
        .into_iter()
        .flat_map(BufRead::lines)
    {
        let line = line.map_err(because(&name))?;
        if from.is_none() && line.contains(window.from) {
            from = cpu_so_far(child.id());
        } else if from.is_some() && to.is_none() && line.contains(window.to) {
            to = cpu_so_far(child.id());
        }
        stdout.push_str(&line);
        stdout.push('\n');
    }
    let status = child.wait().map_err(because(&name))?;
    if !status.success() {
        return failed(format!("{name} ended with {status}:\n{stdout}"));
    }
    match (from, to) {
        (Some(from), Some(to)) => Ok(WindowCost {
            cpu: to.saturating_sub(from),
            stdout,
        }),
        _ => failed(format!(
            "{name} did not print '{}' and '{}':\n{stdout}",
            window.from, window.to
        )),
    }
}

/// None once the process has ended.
fn cpu_so_far(pid: u32) -> Option<Duration> {
    let ticks_per_second = sysconf(SysconfVar::CLK_TCK).ok().flatten()?;
    let ticks = parse_cpu_ticks(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
    Some(Duration::from_secs_f64(
        ticks as f64 / ticks_per_second as f64,
    ))
}

/// utime + stime, fields 14 and 15 of /proc/PID/stat (proc(5)); the second field may hold spaces and parentheses.
fn parse_cpu_ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    user.checked_add(system)
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
    fn only_the_window_of_a_run_counts() {
        let work = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        let window = Window {
            from: "begin",
            to: "end",
        };
        let script = |before: &str, within: &str| {
            let script = format!("{before}; echo begin; {within}; echo end; sleep 0.1");
            measure_window(Command::new("sh").args(["-c", &script]), &window).expect("sh")
        };
        let within = script("true", work);
        assert_eq!(within.stdout, "begin\nend\n");
        assert!(within.cpu > Duration::from_millis(20), "{:?}", within.cpu);
        let before = script(work, "sleep 0.1");
        assert!(before.cpu < within.cpu / 2, "{:?}", before.cpu);
    }

    #[test]
    fn a_run_without_its_window_or_that_fails_is_an_error() {
        let window = Window {
            from: "begin",
            to: "end",
        };
        for script in ["echo begin", "echo end", "echo begin; echo end; exit 3"] {
            assert!(
                measure_window(Command::new("sh").args(["-c", script]), &window).is_err(),
                "{script}"
            );
        }
    }

    #[test]
    fn stat_files() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 99 0 0 0 12 30 1 1 20 0 1 0 5 0";
        assert_eq!(parse_cpu_ticks(stat), Some(42));
        for rubbish in ["", "7 (sh) S 1", "7 (sh) S 1 7 7 0 -1 4 99 0 0 0 x 30"] {
            assert_eq!(parse_cpu_ticks(rubbish), None);
        }
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
