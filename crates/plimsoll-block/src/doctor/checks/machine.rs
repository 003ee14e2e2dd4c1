//! The machine that everything runs on.

use plimsoll_record::Diagnosis;
use plimsoll_record::message::DoctorFinding;

use super::row::{ok, unknown, warning};
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
    let governors = machine.governors.clone();
    match machine.governors.as_slice() {
        [] => unknown("governor", DoctorFinding::GovernorUnset),
        [one] if one == "performance" => ok("governor", DoctorFinding::GovernorFullClock),
        _ => warning("governor", DoctorFinding::GovernorSavesPower { governors }),
    }
}

pub fn clock_source(machine: &Machine) -> Diagnosis {
    let Some(clock) = machine.clock_source.clone() else {
        return unknown("clock_source", DoctorFinding::ClockUnknown);
    };
    if QUICK_CLOCKS.contains(&clock.as_str()) {
        ok("clock_source", DoctorFinding::ClockQuick { clock })
    } else {
        warning("clock_source", DoctorFinding::ClockSlow { clock })
    }
}

/// In percent of all.
fn share(ticks: u64, of: &CpuTimes) -> f64 {
    100.0 * ticks as f64 / of.total().max(1) as f64
}

pub fn steal(machine: &Machine) -> Diagnosis {
    let Some(boot) = &machine.cpu else {
        return unknown("steal", DoctorFinding::StealUnknown);
    };
    let since_boot_percent = share(boot.steal, boot);
    let now_percent = machine
        .quiet_cpu
        .as_ref()
        .map(|spent| share(spent.steal, spent));
    let found = DoctorFinding::Steal {
        now_percent,
        since_boot_percent,
    };
    if now_percent.unwrap_or(since_boot_percent) < STEAL {
        ok("steal", found)
    } else {
        warning("steal", found)
    }
}

/// Other programs in the quiet moment; `None` where there was none.
pub fn busy(machine: &Machine) -> Option<Diagnosis> {
    let spent = machine.quiet_cpu.as_ref()?;
    let busy_percent = share(
        spent
            .total()
            .saturating_sub(spent.idle)
            .saturating_sub(spent.iowait)
            .saturating_sub(spent.steal),
        spent,
    );
    let found = DoctorFinding::OtherPrograms { busy_percent };
    Some(if busy_percent < BUSY {
        ok("cpu", found)
    } else {
        warning("cpu", found)
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
        assert_finding(&of(&["performance"]), Ok, &["governor_full_clock"]);
        assert_finding(
            &of(&["powersave"]),
            Warning,
            &["governor_saves_power", "powersave"],
        );
        assert_finding(
            &of(&["performance", "schedutil"]),
            Warning,
            &["governor_saves_power", "schedutil"],
        );
        assert_finding(&of(&[]), Unknown, &["governor_unset"]);
    }

    #[test]
    fn clocks() {
        let of = |name: Option<&str>| {
            clock_source(&Machine {
                clock_source: name.map(str::to_owned),
                ..Machine::default()
            })
        };
        assert_finding(&of(Some("tsc")), Ok, &["clock_quick", "tsc"]);
        assert_finding(&of(Some("kvm-clock")), Ok, &["clock_quick"]);
        assert_finding(&of(Some("hpet")), Warning, &["clock_slow", "hpet"]);
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
            &[r#""now_percent":null,"since_boot_percent":0.497"#],
        );
        assert_finding(
            &steal(&of(times(10, 900, 50), None)),
            Warning,
            &[r#""since_boot_percent":5.2"#],
        );
        // What is now counts.
        assert_finding(
            &steal(&of(times(10, 900, 50), times(1, 99, 0))),
            Ok,
            &[r#""now_percent":0.0,"since_boot_percent":5.2"#],
        );
        assert_finding(
            &steal(&of(times(10, 990, 0), times(1, 90, 9))),
            Warning,
            &[r#""now_percent":9.0"#],
        );
        assert_finding(&steal(&of(None, None)), Unknown, &[]);
        assert_finding(
            &busy(&of(None, times(5, 95, 0))).unwrap(),
            Ok,
            &[r#""busy_percent":5.0"#],
        );
        assert_finding(
            &busy(&of(None, times(50, 50, 0))).unwrap(),
            Warning,
            &[r#""busy_percent":50.0"#],
        );
        assert_eq!(busy(&of(None, None)), None);
    }
}
