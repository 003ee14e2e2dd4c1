//! Whether the machine's limits hold: tried out on small groups of our own, because a file that says so is no proof.

use std::ffi::OsStr;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use plimsoll_model::plan::resolved::Limits;
use plimsoll_model::units::Bytes;

use super::cage::Cage;
use crate::error::LoadError;

/// More than a shell takes, and soon filled.
const MEMORY: Bytes = Bytes::mib(16);
/// How long processor time is counted.
const BUSY: Duration = Duration::from_millis(400);
/// Of which so much is allowed.
const CPUS: f64 = 0.25;
/// A period more than allowed may have begun, and processor time is counted in ticks of 10 ms.
const MOST_CPUS: f64 = 0.5;

/// Tries those of `limits` that can be tried without knowing the medium: memory and processor time.
///
/// # Errors
/// A limit that was set does not hold.
pub fn probe(limits: &Limits) -> Result<(), LoadError> {
    if limits.memory.is_some() {
        memory()?;
    }
    if limits.cpus.is_some() {
        cpus()?;
    }
    Ok(())
}

fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

/// tail(1) keeps all of what it shall print: four times what is allowed.
fn memory() -> Result<(), LoadError> {
    let cage = Cage::create(&Limits { memory: Some(MEMORY), ..Limits::default() }, None)?;
    let bytes = (MEMORY.0 * 4).to_string();
    let script = format!("head -c {bytes} /dev/zero | tail -c {bytes}");
    let status = quiet(cage.command(OsStr::new("/bin/sh"), None).args(["-c", &script])).status();
    let status = status.map_err(|error| LoadError::other("the probe of the memory limit", error))?;
    if status.success() {
        let told = format!("a process took {} in a group of {MEMORY}", Bytes(MEMORY.0 * 4));
        return Err(does_not_hold("memory", &told));
    }
    Ok(())
}

fn cpus() -> Result<(), LoadError> {
    let cage = Cage::create(&Limits { cpus: Some(CPUS), ..Limits::default() }, None)?;
    let mut busy = cage.command(OsStr::new("/bin/sh"), None);
    let child = quiet(busy.args(["-c", "while :; do :; done"])).spawn();
    let mut child = Busy(child.map_err(|error| LoadError::other("the probe of the CPU limit", error))?);
    std::thread::sleep(Duration::from_millis(50));
    let before = ticks(child.0.id());
    std::thread::sleep(BUSY);
    let used = ticks(child.0.id()).saturating_sub(before) as f64 / rustix::param::clock_ticks_per_second() as f64;
    child.end();
    let cpus = used / BUSY.as_secs_f64();
    if cpus > MOST_CPUS {
        return Err(does_not_hold("processor time", &format!("a process took {cpus:.2} CPUs in a group of {CPUS}")));
    }
    Ok(())
}

/// A process that ends with this.
struct Busy(Child);

impl Busy {
    fn end(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.end();
    }
}

/// Fields 14 and 15 of proc(5)'s stat.
fn ticks(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    after_name.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
}

fn does_not_hold(what: &str, told: &str) -> LoadError {
    LoadError::Missing {
        what: format!("A limit of {what} that holds"),
        searched: told.into(),
        next: "The kernel takes the limit and does not keep it here: let the run go on without limits \
               (without_limits = \"warn\"), or use another machine."
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_hold_here() {
        probe(&Limits { memory: Some(Bytes(1)), cpus: Some(1.0), ..Limits::default() }).unwrap();
    }
}
