//! Facts about this machine.

use std::collections::BTreeSet;

use plimsoll_block::host::source::KernelFiles;
use plimsoll_block::host::{chosen, cpu, parse};

use super::FactCollector;

const CPU: &str = cpu::DIRECTORY;

/// cpu_model, cpus, cpu_mhz, governor, smt, mitigations, kernel, os, memory, swap, clock_source, virtualisation,
/// transparent_hugepages, swappiness, dirty ratios; where there are any, machine and mitigations_parameter.
pub fn host_facts() -> Vec<(String, String)> {
    facts_at(&KernelFiles::new("/"))
}

fn facts_at(source: &KernelFiles) -> Vec<(String, String)> {
    let mut facts = FactCollector::new(source);
    cpu(&mut facts);
    let vulnerabilities = mitigations(source);
    facts.add("mitigations", vulnerabilities);
    if let Some(value) = facts
        .text("proc/cmdline")
        .and_then(|line| parameter(&line, "mitigations="))
    {
        facts.add("mitigations_parameter", Some(value));
    }
    facts.file("kernel", &["proc/sys/kernel/osrelease"]);
    let os = facts
        .text("etc/os-release")
        .or_else(|| facts.text("usr/lib/os-release"));
    facts.add("os", os.and_then(|text| os_name(&text)));
    let memory = facts.text("proc/meminfo").unwrap_or_default();
    facts.add(
        "memory",
        parse::kib_field(&memory, "MemTotal").map(|bytes| bytes.to_string()),
    );
    facts.add(
        "swap",
        parse::kib_field(&memory, "SwapTotal").map(|bytes| bytes.to_string()),
    );
    facts.file(
        "clock_source",
        &["sys/devices/system/clocksource/clocksource0/current_clocksource"],
    );
    machine(&mut facts);
    let huge = facts
        .text("sys/kernel/mm/transparent_hugepage/enabled")
        .map(|text| chosen(&text));
    facts.add("transparent_hugepages", huge);
    facts.file("swappiness", &["proc/sys/vm/swappiness"]);
    facts.file("dirty_ratio", &["proc/sys/vm/dirty_ratio"]);
    facts.file(
        "dirty_background_ratio",
        &["proc/sys/vm/dirty_background_ratio"],
    );
    for key in ["dirty_bytes", "dirty_background_bytes"] {
        // Zero: the ratio rules.
        if let Some(value) = facts
            .text(&format!("proc/sys/vm/{key}"))
            .filter(|value| value != "0")
        {
            facts.add(key, Some(value));
        }
    }
    facts.finish()
}

fn cpu(facts: &mut FactCollector<'_>) {
    let info = facts.text("proc/cpuinfo").unwrap_or_default();
    let model = info_field(&info, "model name").or_else(|| facts.text("proc/device-tree/model"));
    facts.add(
        "cpu_model",
        model.map(|model| model.trim_end_matches('\0').to_owned()),
    );
    facts.add(
        "cpus",
        cpu::online(facts.source).map(|cpus| cpus.len().to_string()),
    );
    let highest = facts.text(&format!("{CPU}/cpu0/cpufreq/cpuinfo_max_freq"));
    let mhz = highest
        .and_then(|khz| Some(khz.parse::<u64>().ok()? / 1000))
        .map(|mhz| mhz.to_string());
    facts.add("cpu_mhz", mhz.or_else(|| info_field(&info, "cpu MHz")));
    facts.add("governor", Some(cpu::governors(facts.source).join(", ")));
    facts.file(
        "smt",
        &[&format!("{CPU}/smt/control"), &format!("{CPU}/smt/active")],
    );
}

/// machine (from DMI, where there is any) and virtualisation (the CPU's `hypervisor` flag, or Xen's own files).
fn machine(facts: &mut FactCollector<'_>) {
    let machine: Vec<String> = ["sys_vendor", "product_name"]
        .into_iter()
        .filter_map(|name| facts.text(&format!("sys/class/dmi/id/{name}")))
        .collect();
    if !machine.is_empty() {
        facts.add("machine", Some(machine.join(" ")));
    }
    let flags = facts
        .text("proc/cpuinfo")
        .and_then(|info| info_field(&info, "flags"));
    let virtualisation = facts.text("sys/hypervisor/type").or_else(|| {
        // Other architectures than x86 have no such flag: unreadable.
        let hypervisor = flags?.split(' ').any(|flag| flag == "hypervisor");
        Some(if hypervisor { "hypervisor" } else { "none" }.to_owned())
    });
    facts.add("virtualisation", virtualisation);
}

/// `vulnerable: a, b; mitigated: c, d; not affected: 12`, from sys/devices/system/cpu/vulnerabilities.
fn mitigations(source: &KernelFiles) -> Option<String> {
    let directory = format!("{CPU}/vulnerabilities");
    let entries = std::fs::read_dir(source.path(&directory)).ok()?;
    let names: BTreeSet<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    let mut vulnerable = Vec::new();
    let mut mitigated = Vec::new();
    let mut unaffected = 0_u32;
    for name in names {
        match source.read(&format!("{directory}/{name}")).ok()?.trim() {
            "Not affected" => unaffected += 1,
            state if state.starts_with("Mitigation") => mitigated.push(name),
            // "Vulnerable", "KVM: Vulnerable", "Unknown: …", "Processor vulnerable": not known to be safe.
            _ => vulnerable.push(name),
        }
    }
    Some(format!(
        "vulnerable: {}; mitigated: {}; not affected: {unaffected}",
        listed(&vulnerable),
        listed(&mitigated)
    ))
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

/// The first `name : value` of /proc/cpuinfo.
fn info_field(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

fn os_name(text: &str) -> Option<String> {
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches(['"', '\'']).to_owned())
}

fn parameter(command_line: &str, name: &str) -> Option<String> {
    command_line
        .split_ascii_whitespace()
        .find_map(|word| word.strip_prefix(name))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value<'a>(facts: &'a [(String, String)], key: &str) -> Option<&'a str> {
        facts
            .iter()
            .find(|(known, _)| known == key)
            .map(|(_, value)| value.as_str())
    }

    #[test]
    fn this_machine_has_facts_and_no_name() {
        let facts = host_facts();
        for key in ["cpus", "kernel", "memory", "swappiness", "dirty_ratio"] {
            assert!(value(&facts, key).is_some(), "{key} in {facts:?}");
        }
        let keys: BTreeSet<&str> = facts.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys.len(), facts.len(), "each key once");
        assert!(!keys.contains("hostname"));
    }

    #[test]
    fn facts_of_a_recorded_machine() {
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        file(
            "proc/cpuinfo",
            "processor\t: 0\nmodel name\t: Some CPU\ncpu MHz\t\t: 2300.000\nflags\t\t: fpu hypervisor sse\n",
        );
        file("proc/meminfo", "MemTotal:        4194304 kB\n");
        file("proc/cmdline", "root=/dev/vda quiet mitigations=off\n");
        file("proc/sys/vm/dirty_bytes", "0\n");
        file("proc/sys/vm/dirty_background_bytes", "4096\n");
        file("etc/os-release", "NAME=x\nPRETTY_NAME=\"Some OS 1\"\n");
        file("sys/devices/system/cpu/online", "0-1,4\n");
        file(
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
            "powersave\n",
        );
        file(
            "sys/devices/system/cpu/cpu4/cpufreq/scaling_governor",
            "performance\n",
        );
        file(
            "sys/devices/system/cpu/vulnerabilities/l1tf",
            "Not affected\n",
        );
        file(
            "sys/devices/system/cpu/vulnerabilities/retbleed",
            "Vulnerable\n",
        );
        file(
            "sys/devices/system/cpu/vulnerabilities/spectre_v1",
            "Mitigation: barriers\n",
        );
        file(
            "sys/kernel/mm/transparent_hugepage/enabled",
            "always [madvise] never\n",
        );
        file("sys/class/dmi/id/product_name", "Some Server\n");
        let facts = facts_at(&KernelFiles::new(root.path()));
        let shown: Vec<String> = facts
            .iter()
            .map(|(key, value)| format!("{key} = {value}"))
            .collect();
        let expected = [
            "cpu_model = Some CPU",
            "cpus = 3",
            "cpu_mhz = 2300.000",
            "governor = performance, powersave",
            "mitigations = vulnerable: retbleed; mitigated: spectre_v1; not affected: 1",
            "mitigations_parameter = off",
            "os = Some OS 1",
            "memory = 4.0 GiB",
            "machine = Some Server",
            "virtualisation = hypervisor",
            "transparent_hugepages = madvise",
            "dirty_background_bytes = 4096",
            "unreadable = smt, kernel, swap, clock_source, swappiness, dirty_ratio, dirty_background_ratio",
        ];
        assert_eq!(shown, expected);
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(any in "\\PC*") {
            info_field(&any, "flags");
            os_name(&any);
        }
    }
}
