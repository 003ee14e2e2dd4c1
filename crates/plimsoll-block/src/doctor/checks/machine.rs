//! The machine that everything runs on.

use plimsoll_record::Diagnosis;

use super::{ok, unknown, warning};
use crate::doctor::evidence::Machine;
use crate::host::parse::CpuTimes;

/// Share of all CPUs' time, in percent, that a hypervisor may take without a warning, and others in a quiet moment.
const STEAL: f64 = 1.0;
const BUSY: f64 = 10.0;

/// Clocks that programs read without a system call (linux: arch/x86/entry/vdso, arm64 vdso).
const QUICK_CLOCKS: [&str; 5] = [
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "timebase",
];

pub fn governor(machine: &Machine) -> Diagnosis {
    let governors = machine.governors.join(", ");
    match machine.governors.as_slice() {
        [] => unknown(
            "governor",
            "this kernel sets no clock of the processors: the firmware or a host does",
            "",
        ),
        [one] if one == "performance" => ok(
            "governor",
            "performance: the processors run at their full clock",
        ),
        _ => warning(
            "governor",
            format!(
                "{governors}: the processors slow down between requests, which lengthens short ones"
            ),
            "Set it for the measurement: cpupower frequency-set -g performance",
        ),
    }
}

pub fn clock_source(machine: &Machine) -> Diagnosis {
    match machine.clock_source.as_deref() {
        None => unknown("clock_source", "sysfs does not name it", ""),
        Some(name) if QUICK_CLOCKS.contains(&name) => ok(
            "clock_source",
            format!("{name}: the time is read without a system call"),
        ),
        Some(name) => warning(
            "clock_source",
            format!(
                "{name}: each reading of the clock is a system call or a slow device, and every request needs some"
            ),
            "Boot with clocksource=tsc if the processor's is stable (dmesg shows why it is not used).",
        ),
    }
}

/// In percent of all.
fn share(ticks: u64, of: &CpuTimes) -> f64 {
    100.0 * ticks as f64 / of.total().max(1) as f64
}

pub fn steal(machine: &Machine) -> Diagnosis {
    let Some(boot) = &machine.cpu else {
        return unknown("steal", "/proc/stat cannot be read", "");
    };
    let since_boot = share(boot.steal, boot);
    let now = machine
        .quiet_cpu
        .as_ref()
        .map(|spent| share(spent.steal, spent));
    let found = match now {
        Some(now) => format!("{now:.1} % of the CPUs' time now, {since_boot:.1} % since boot"),
        None => format!("{since_boot:.1} % of the CPUs' time since boot"),
    };
    if now.unwrap_or(since_boot) < STEAL {
        return ok("steal", found);
    }
    let found = format!(
        "{found} went to other virtual machines: times are longer than the storage makes them"
    );
    warning(
        "steal",
        found,
        "Use a host that is not shared, or processors of this machine's own.",
    )
}

/// Other programs in the quiet moment; `None` where there was none.
pub fn busy(machine: &Machine) -> Option<Diagnosis> {
    let spent = machine.quiet_cpu.as_ref()?;
    let busy = share(
        spent
            .total()
            .saturating_sub(spent.idle)
            .saturating_sub(spent.iowait)
            .saturating_sub(spent.steal),
        spent,
    );
    let found = format!("other programs use {busy:.0} % of the CPUs");
    Some(if busy < BUSY {
        ok("cpu", found)
    } else {
        warning(
            "cpu",
            format!("{found}: they take time from what is measured"),
            "Stop them while measuring (top shows which).",
        )
    })
}

#[cfg(test)]
mod tests {
    use plimsoll_record::DiagnosisLevel::{Ok, Unknown, Warning};

    use super::super::tests::assert_finding;
    use super::*;

    #[test]
    fn governors() {
        let of = |names: &[&str]| {
            governor(&Machine {
                governors: names.iter().map(|name| name.to_string()).collect(),
                ..Machine::default()
            })
        };
        assert_finding(&of(&["performance"]), Ok, &["full clock"]);
        assert_finding(
            &of(&["powersave"]),
            Warning,
            &["powersave", "cpupower frequency-set -g performance"],
        );
        assert_finding(
            &of(&["performance", "schedutil"]),
            Warning,
            &["performance, schedutil"],
        );
        assert_finding(&of(&[]), Unknown, &["a host does"]);
    }

    #[test]
    fn clocks() {
        let of = |name: Option<&str>| {
            clock_source(&Machine {
                clock_source: name.map(str::to_owned),
                ..Machine::default()
            })
        };
        assert_finding(&of(Some("tsc")), Ok, &["tsc"]);
        assert_finding(&of(Some("kvm-clock")), Ok, &["without a system call"]);
        assert_finding(&of(Some("hpet")), Warning, &["hpet", "clocksource=tsc"]);
        assert_finding(&of(None), Unknown, &[]);
    }

    fn times(user: u64, idle: u64, steal: u64) -> Option<CpuTimes> {
        Some(CpuTimes {
            user,
            idle,
            steal,
            ..CpuTimes::default()
        })
    }

    #[test]
    fn time_that_others_took() {
        let of = |cpu, quiet_cpu| Machine {
            cpu,
            quiet_cpu,
            ..Machine::default()
        };
        assert_finding(
            &steal(&of(times(10, 990, 5), None)),
            Ok,
            &["0.5 % of the CPUs' time since boot"],
        );
        assert_finding(
            &steal(&of(times(10, 900, 50), None)),
            Warning,
            &["5.2 %", "not shared"],
        );
        // What is now counts.
        assert_finding(
            &steal(&of(times(10, 900, 50), times(1, 99, 0))),
            Ok,
            &["0.0 %", "5.2 % since boot"],
        );
        assert_finding(
            &steal(&of(times(10, 990, 0), times(1, 90, 9))),
            Warning,
            &["9.0 % of the CPUs' time now"],
        );
        assert_finding(&steal(&of(None, None)), Unknown, &[]);
        assert_finding(&busy(&of(None, times(5, 95, 0))).unwrap(), Ok, &["5 %"]);
        assert_finding(
            &busy(&of(None, times(50, 50, 0))).unwrap(),
            Warning,
            &["50 %", "top"],
        );
        assert_eq!(busy(&of(None, None)), None);
    }
}
