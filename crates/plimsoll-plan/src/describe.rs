//! The resolved plan as TOML, with nothing left to a default.

mod backup;
mod block;
mod media;
mod requirements;

use crate::member_event::MemberEvent;
use std::fmt::{self, Write};

use super::resolved::{
    EmulatedDrive, IoLimits, Limits, LoadStep, MediumKind, PlanHost, Precondition, ResolvedPlan,
    Search, Step, Sysbench, SystemKind, Tpcc, Workload,
};
use super::size;
use crate::Thresholds;
use crate::ids::HostId;
use crate::load::{LoadShape, MockScript, SlowShare};
use crate::objective::Objective;
use crate::toml_text::{quoted, toml_key};
use crate::units::Nanos;

/// The plan as TOML that [`super::parse`] reads as an equal plan: scaled already, every default filled in, passwords
/// left out. Shown by `--dry-run` and kept in run files.
pub fn describe(plan: &ResolvedPlan) -> String {
    let mut out = String::new();
    write_plan(&mut out, plan).expect("a String takes all text");
    out
}

fn write_plan(out: &mut String, plan: &ResolvedPlan) -> fmt::Result {
    let ResolvedPlan {
        title,
        seed,
        data_seed,
        scale,
        data_scale,
        media,
        systems,
        workloads,
        ..
    } = plan;
    let ResolvedPlan {
        blocks,
        backups,
        steps,
        audit,
        hosts,
        on_hosts,
        abort_on_fail,
        emulate,
        ..
    } = plan;
    if *scale != 1.0 || *data_scale != 1.0 {
        writeln!(
            out,
            "# Times are multiplied by {scale} and data by {data_scale} already."
        )?;
    }
    writeln!(out, "title = {}", quoted(title))?;
    if let Some(seed) = seed {
        writeln!(out, "seed = {seed}")?;
    }
    writeln!(out, "data_seed = {data_seed}")?;
    if !on_hosts.is_empty() {
        writeln!(out, "on_hosts = {}", host_list(plan, on_hosts))?;
    }
    requirements::write(out, plan, None)?;
    if *emulate {
        writeln!(out, "emulate = true")?;
    }
    if *abort_on_fail {
        writeln!(out, "abort_on_fail = true")?;
    }
    for medium in media {
        let key = if medium.kind == MediumKind::Device {
            "device"
        } else {
            "path"
        };
        writeln!(
            out,
            "\n[medium.{}]\n{key} = {}",
            toml_key(&medium.name),
            quoted(&medium.path)
        )?;
        if let MediumKind::Emulated(drive) = &medium.kind {
            write_drive(out, drive)?;
        }
    }
    for host in hosts {
        write_host(out, host)?;
    }
    for system in systems {
        let name = toml_key(&system.name);
        writeln!(
            out,
            "\n[system.{name}]\nengine = \"{}\"",
            system.kind.engine().name()
        )?;
        if system.count != 1 {
            writeln!(out, "count = {}", system.count)?;
        }
        if let Some(host) = system.host {
            writeln!(out, "host = {}", quoted(&plan.host(host).name))?;
        }
        if system.log_disk {
            writeln!(out, "log_disk = true")?;
        }
        write_system(out, &name, &system.kind)?;
        write_limits(out, &name, &system.limits)?;
    }
    for named in workloads {
        write_workload(out, &toml_key(&named.name), &named.workload)?;
    }
    for named in blocks {
        block::write_block(out, &toml_key(&named.name), &named.block)?;
    }
    for named in backups {
        backup::write_backup(out, plan, &toml_key(&named.name), &named.backup)?;
    }
    write_audit(out, audit)?;
    steps
        .iter()
        .try_for_each(|step| write_step(out, plan, step))
}

/// Only what the plan changes: what it leaves alone is that of the plimsoll that audits.
fn write_audit(out: &mut String, audit: &Thresholds) -> fmt::Result {
    let adjusted = audit.adjusted();
    if !adjusted.is_empty() {
        writeln!(out, "\n[audit]")?;
    }
    adjusted
        .iter()
        .try_for_each(|threshold| writeln!(out, "{} = {:?}", threshold.key, threshold.value))
}

fn write_workload(out: &mut String, name: &str, workload: &Workload) -> fmt::Result {
    match workload {
        Workload::Tpcc(Tpcc {
            warehouses,
            mode,
            home,
        }) => {
            writeln!(out, "\n[workload.{name}.tpcc]\nwarehouses = {warehouses}")?;
            writeln!(
                out,
                "mode = \"{}\"\nhome = \"{}\"",
                mode.name(),
                home.name()
            )
        }
        Workload::Sysbench(Sysbench {
            script,
            tables,
            rows,
            distribution,
            point_selects,
            range_size,
        }) => {
            writeln!(
                out,
                "\n[workload.{name}.sysbench]\nscript = \"{}\"\ntables = {tables}",
                script.name()
            )?;
            writeln!(
                out,
                "rows = {rows}\ndistribution = \"{}\"",
                distribution.name()
            )?;
            if script.has_ranges() {
                writeln!(
                    out,
                    "point_selects = {point_selects}\nrange_size = {range_size}"
                )?;
            }
            Ok(())
        }
    }
}

fn write_drive(out: &mut String, emulated: &EmulatedDrive) -> fmt::Result {
    let EmulatedDrive {
        drive,
        capacity,
        slower,
        auto,
        fill,
        form,
        filesystem,
        backing,
        flush,
        without_fuse,
    } = emulated;
    writeln!(
        out,
        "drive = {}\ncapacity = \"{}\"",
        quoted(drive),
        size::write(*capacity)
    )?;
    match (*auto, *slower) {
        (true, _) => writeln!(out, "speed = \"auto\"")?,
        (false, 1.0) => writeln!(out, "speed = \"full\"")?,
        (false, _) => writeln!(out, "slower = {slower}")?,
    }
    writeln!(out, "fill = {fill}")?;
    writeln!(
        out,
        "form = \"{}\"\nfilesystem = \"{}\"",
        form.name(),
        filesystem.name()
    )?;
    writeln!(
        out,
        "backing = \"{}\"\nflush = \"{}\"",
        backing.name(),
        flush.name()
    )?;
    writeln!(out, "without_fuse = \"{}\"", without_fuse.name())
}

fn write_system(out: &mut String, name: &str, kind: &SystemKind) -> fmt::Result {
    let settings = match kind {
        SystemKind::Mock(script) => return write_mock(out, name, script),
        SystemKind::Existing {
            engine: _,
            url,
            schema,
            change_tables,
        } => {
            let schema = quoted(schema);
            writeln!(out, "url = {}\nschema = {schema}", quoted(&url.redacted()))?;
            if *change_tables {
                writeln!(out, "change_tables = {schema}")?;
            }
            return Ok(());
        }
        SystemKind::Sqlite { settings } => settings,
        SystemKind::Managed {
            engine: _,
            settings,
            binaries,
        } => {
            if !binaries.is_empty() {
                writeln!(out, "binaries = {}", quoted(binaries))?;
            }
            settings
        }
    };
    if !settings.is_empty() {
        writeln!(out, "\n[system.{name}.settings]")?;
    }
    settings
        .iter()
        .try_for_each(|(key, value)| writeln!(out, "{} = {}", toml_key(key), quoted(value)))
}

fn write_limits(out: &mut String, name: &str, limits: &Limits) -> fmt::Result {
    if limits.is_none() {
        return Ok(());
    }
    let Limits {
        cpus,
        cpu_speed,
        cpu_set,
        memory,
        io:
            IoLimits {
                read_bytes,
                write_bytes,
                reads,
                writes,
            },
        without,
    } = limits;
    writeln!(out, "\n[system.{name}.limits]")?;
    cpus.map_or(Ok(()), |cpus| writeln!(out, "cpus = {cpus:?}"))?;
    cpu_speed.map_or(Ok(()), |speed| writeln!(out, "cpu_speed = {speed:?}"))?;
    if !cpu_set.is_empty() {
        writeln!(out, "cpu_set = {}", quoted(cpu_set))?;
    }
    for (key, bytes) in [
        ("memory", memory),
        ("read_bytes", read_bytes),
        ("write_bytes", write_bytes),
    ] {
        bytes.map_or(Ok(()), |bytes| {
            writeln!(out, "{key} = \"{}\"", size::write(bytes))
        })?;
    }
    for (key, number) in [("reads", reads), ("writes", writes)] {
        number.map_or(Ok(()), |number| writeln!(out, "{key} = {number}"))?;
    }
    writeln!(out, "without = \"{}\"", without.name())
}

fn write_mock(out: &mut String, name: &str, script: &MockScript) -> fmt::Result {
    let MockScript {
        latency,
        jitter,
        exponential,
        slow,
        stalls,
        fail_every,
        retry_every,
        outages,
    } = script;
    writeln!(
        out,
        "\n[system.{name}.mock]\nlatency = \"{latency}\"\njitter = \"{jitter}\""
    )?;
    if *exponential > Nanos::ZERO {
        writeln!(out, "exponential = \"{exponential}\"")?;
    }
    if let Some(SlowShare { share, by }) = slow {
        writeln!(out, "slow = {{ share = {share}, by = \"{by}\" }}")?;
    }
    for (key, stretches) in [("stalls", stalls), ("outages", outages)] {
        let stretches: Vec<String> = stretches
            .iter()
            .map(|it| format!("{{ at = \"{}\", lasts = \"{}\" }}", it.at, it.lasts))
            .collect();
        writeln!(out, "{key} = [{}]", stretches.join(", "))?;
    }
    for (key, value) in [("fail_every", fail_every), ("retry_every", retry_every)] {
        if let Some(n) = value {
            writeln!(out, "{key} = {n}")?;
        }
    }
    Ok(())
}

fn host_list(plan: &ResolvedPlan, hosts: &[HostId]) -> String {
    media::list(hosts.iter().map(|host| plan.host(*host).name.as_str()))
}

fn write_host(out: &mut String, host: &PlanHost) -> fmt::Result {
    let PlanHost {
        name,
        via,
        program,
        patience,
    } = host;
    writeln!(
        out,
        "\n[host.{}]\npatience = \"{patience}\"",
        toml_key(name)
    )?;
    if !via.is_empty() {
        writeln!(out, "via = {}", quoted(&host.shown_via()))?;
    }
    let Some(program) = program else {
        return Ok(());
    };
    writeln!(out, "program = {}", quoted(program))
}

fn write_step(out: &mut String, plan: &ResolvedPlan, step: &Step) -> fmt::Result {
    match step {
        Step::Load(step) => write_load_step(out, plan, step),
        Step::Block(step) => block::write_step(out, plan, step),
        Step::Backup(step) => backup::write_step(out, plan, step),
    }
}

fn write_load_step(out: &mut String, plan: &ResolvedPlan, step: &LoadStep) -> fmt::Result {
    let LoadStep {
        name,
        workload,
        system,
        on,
        points,
        repeat,
        precondition,
        search,
        reset,
        reset_by,
        ..
    } = step;
    let LoadStep {
        timeline,
        pacing,
        check,
        max_retries,
        power_cut,
        events,
        from,
        noise,
        ..
    } = step;
    writeln!(
        out,
        "\n[[step]]\nname = {}\nrun = {}\nsystem = {}",
        quoted(name),
        quoted(&plan.workload(*workload).name),
        quoted(&plan.system(*system).name)
    )?;
    if !on.is_empty() {
        writeln!(out, "on = {}", media::media(plan, on))?;
    }
    if !from.is_empty() {
        writeln!(out, "from = {}", host_list(plan, from))?;
    }
    write_points(out, points)?;
    writeln!(
        out,
        "ramp = \"{}\"\nmeasure = \"{}\"\ncool = \"{}\"",
        timeline.warm, timeline.measure, timeline.cool
    )?;
    writeln!(
        out,
        "repeat = {repeat}\nreset = \"{}\"\nreset_by = \"{}\"",
        reset.name(),
        reset_by.name()
    )?;
    if let Some(Precondition { load, lasts }) = precondition {
        let users = match load {
            LoadShape::Closed { users, .. } => format!("users = {users}, "),
            LoadShape::Open { .. } => String::new(),
        };
        writeln!(out, "precondition = {{ {users}lasts = \"{lasts}\" }}")?;
    }
    if let Some(Search {
        objective: Objective {
            quantile,
            limit,
            of,
        },
        most,
        precision,
        longest,
    }) = search
    {
        let of = of
            .as_ref()
            .map(|of| format!(", of = {}", quoted(of)))
            .unwrap_or_default();
        let limit = limit.as_millis_f64();
        let longest = match *longest > Nanos::ZERO {
            true => format!(", longest = \"{longest}\""),
            false => String::new(),
        };
        writeln!(
            out,
            "find = {{ {}_ms = {limit}{of}, most = {most}, precision = {precision}{longest} }}",
            quantile.name()
        )?;
    }
    // A plan sets both factors at once.
    writeln!(out, "keying_and_think = {}", pacing.think)?;
    writeln!(
        out,
        "check = \"{}\"\nmax_retries = {max_retries}",
        check.name()
    )?;
    requirements::write(out, plan, Some(name))?;
    power_cut.map_or(Ok(()), |after| writeln!(out, "power_cut = \"{after}\""))?;
    backup::write_noise(out, plan, noise)?;
    events.iter().try_for_each(|event| {
        let MemberEvent { at, change } = event;
        let keys = change.keys().join("\n");
        writeln!(out, "\n[[step.event]]\nat = \"{at}\"\n{keys}")
    })
}

/// A ladder has points of one kind, and in an open loop they differ in the rate only.
fn write_points(out: &mut String, points: &[LoadShape]) -> fmt::Result {
    let loads: Vec<String> = points
        .iter()
        .map(|point| match point {
            LoadShape::Closed { users, .. } => users.to_string(),
            LoadShape::Open { per_second, .. } => per_second.to_string(),
        })
        .collect();
    let ladder = match loads.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    };
    match points.first() {
        Some(LoadShape::Open {
            users,
            per_second,
            to_per_second,
            arrivals,
            queue,
        }) => {
            writeln!(
                out,
                "rate = {ladder}\nusers = {users}\narrivals = \"{}\"\nqueue = {queue}",
                arrivals.name()
            )?;
            let rises = to_per_second != per_second;
            if rises {
                writeln!(out, "rate_to = {to_per_second}")
            } else {
                Ok(())
            }
        }
        _ => {
            writeln!(out, "users = {ladder}")?;
            // Those that share them have as many in each point.
            let shared = points
                .iter()
                .find(|point| point.connections() < point.users());
            shared.map_or(Ok(()), |point| {
                writeln!(out, "connections = {}", point.connections())
            })
        }
    }
}
