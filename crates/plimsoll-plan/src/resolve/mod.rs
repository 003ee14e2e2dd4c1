//! From the raw plan to the resolved one: names looked up, values checked, defaults filled in, times and data scaled.
//! Every function continues after a fault, so that all faults are reported. A plan with a fault is dropped as a whole: what a
//! check refuses is passed on, and `None` stands only for what cannot be made.

mod backup;
mod block;
mod cut;
mod events;
mod find;
mod host;
mod limits;
mod load;
mod medium;
mod names;
mod noise;
mod requirement;
mod step;
mod step_keys;
mod step_media;
mod system;
mod values;
mod workload;

use std::collections::BTreeSet;

use super::findings::Findings;
use super::options::Options;
use super::raw::{Named, RawNoise, RawPlan, RawStep};
use super::resolved::{NamedBackup, NamedBlock, NamedWorkload, ResolvedPlan, System, SystemKind};
use super::value::{At, OptionalKey};
pub use block::profile;
use names::{Names, check_name};
use workload::ResolvedWorkload;

pub(super) fn resolve(
    raw: &RawPlan,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<ResolvedPlan> {
    check_options(options, findings);
    // The root has no span.
    let title = findings.required(
        &(0..0),
        "title",
        &raw.title,
        "state which question the plan answers: title = \"…\"",
    );
    let title = title.map(At::value);
    let media = all(&raw.medium, "medium", findings, |name, medium, findings| {
        medium::resolve(name, medium, options, findings)
    });
    let hosts = host::resolve_all(&raw.host, findings);
    let systems = all(&raw.system, "system", findings, |name, system, findings| {
        system::resolve(name, system, &hosts, options, findings)
    });
    clashes(&systems, raw, findings);
    let mut names = Names {
        raw,
        options,
        hosts,
        media,
        systems,
        workloads: Vec::new(),
        blocks: Vec::new(),
        backups: Vec::new(),
    };
    let kinds = all(
        &raw.workload,
        "workload",
        findings,
        |name, workload, findings| {
            workload::resolve(name, workload, &names, findings).map(|kind| (name.to_owned(), kind))
        },
    );
    let mut backups = Vec::new();
    for (name, kind) in kinds {
        match kind {
            ResolvedWorkload::Load(workload) => {
                names.workloads.push(NamedWorkload { name, workload });
            }
            ResolvedWorkload::Block(block) => names.blocks.push(NamedBlock { name, block }),
            ResolvedWorkload::Backup(raw) => backups.push((name, raw)),
        }
    }
    for (name, raw) in backups {
        let backup = backup::resolve(raw, &names, findings);
        names
            .backups
            .extend(backup.map(|backup| NamedBackup { name, backup }));
    }
    let steps = step::resolve_all(&names, findings);
    let on_hosts = host::plan_hosts(raw, &names, &steps, findings);
    let requirements = requirement::resolve_all(raw, &steps, findings);
    warn_of_unused(raw, &names, findings);
    let audit = raw
        .audit
        .as_ref()
        .map(|audit| audit.get().resolve(findings))
        .unwrap_or_default();
    let seed = raw.seed.as_ref().map(|seed| *seed.get());
    let plan = ResolvedPlan {
        title: title?,
        seed: options.seed.or(seed),
        data_seed: raw.data_seed(),
        scale: options.scale,
        data_scale: options.data_scale,
        emulate: options.emulate || raw.emulate.value().unwrap_or(false),
        hosts: names.hosts,
        on_hosts,
        media: names.media,
        systems: names.systems,
        workloads: names.workloads,
        blocks: names.blocks,
        backups: names.backups,
        steps,
        audit,
        requirements,
        abort_on_fail: raw.abort_on_fail.value().unwrap_or(false),
    };
    limits::check_simulated(raw, &plan, findings);
    Some(plan)
}

/// The instances of a system bear names that no other system may have.
fn clashes(systems: &[System], raw: &RawPlan, findings: &mut Findings<'_>) {
    for system in systems.iter().filter(|system| system.count > 1) {
        let instances = system.instances();
        for name in raw
            .system
            .keys()
            .filter(|name| instances.contains(name.get()))
        {
            let help = format!(
                "`{}` has {} instances, one of which has this name; choose another",
                system.name, system.count
            );
            findings.error(
                name.span(),
                format!("`{}` is an instance of `{}`", name.get(), system.name),
                help,
            );
        }
    }
}

fn check_options(options: &Options, findings: &mut Findings<'_>) {
    for (name, factor) in [("scale", options.scale), ("data-scale", options.data_scale)] {
        if !factor.is_finite() || factor <= 0.0 {
            findings.error(
                0..0,
                format!("--{name} is {factor}"),
                "it is a factor above zero, such as 0.1",
            );
        }
    }
}

/// Everything in a section that can be resolved, in the order of the text.
fn all<'r, R, T>(
    section: &'r Named<R>,
    what: &str,
    findings: &mut Findings<'_>,
    mut resolve: impl FnMut(&str, &'r At<R>, &mut Findings<'_>) -> Option<T>,
) -> Vec<T> {
    let mut entries: Vec<_> = section.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    let mut resolved = Vec::new();
    for (name, entry) in entries {
        check_name(name, what, findings);
        resolved.extend(resolve(name.get(), entry, findings));
    }
    resolved
}

fn warn_of_unused(raw: &RawPlan, names: &Names<'_>, findings: &mut Findings<'_>) {
    let steps: Vec<&RawStep> = raw.step.iter().map(At::get).collect();
    let noise: Vec<&RawNoise> = steps
        .iter()
        .filter_map(|step| step.noise.as_ref())
        .flat_map(|noise| noise.get().iter().map(At::get))
        .collect();
    let in_noise = noise.iter().filter_map(|noise| text_of(&noise.system));
    let systems: BTreeSet<String> = steps
        .iter()
        .filter_map(|step| text_of(&step.system))
        .chain(in_noise)
        .collect();
    let in_noise = noise.iter().filter_map(|noise| text_of(&noise.run));
    let mut workloads: BTreeSet<String> = steps
        .iter()
        .filter_map(|step| text_of(&step.run))
        .chain(in_noise)
        .collect();
    let saved: Vec<String> = workloads
        .iter()
        .filter_map(|run| names.saved_by(run).map(str::to_owned))
        .collect();
    workloads.extend(saved);
    let needed = systems
        .iter()
        .any(|system| names.kind(system).is_some_and(SystemKind::needs_medium))
        || steps.iter().any(|step| block::is_block(step, names))
        || workloads.iter().any(|run| backup::is_backup(run, names));
    let mut media: BTreeSet<String> = BTreeSet::new();
    if needed {
        let on = steps.iter().filter_map(|step| step.on.as_ref());
        media.extend(on.flat_map(|on| on.get().iter().map(|name| name.get().clone())));
        if raw.medium.len() == 1
            && let Some(only) = raw.medium.keys().next()
        {
            media.insert(only.get().clone());
        }
        media.extend(steps.iter().filter_map(|step| text_of(&step.to)));
        media.extend(noise.iter().filter_map(|noise| text_of(&noise.to)));
    }
    warn_section(&raw.medium, "medium", &media, findings);
    warn_section(&raw.system, "system", &systems, findings);
    warn_section(&raw.workload, "workload", &workloads, findings);
}

fn text_of(name: &Option<At<String>>) -> Option<String> {
    name.as_ref().map(|name| name.get().clone())
}

fn warn_section<T>(
    section: &Named<T>,
    what: &str,
    used: &BTreeSet<String>,
    findings: &mut Findings<'_>,
) {
    for name in section.keys().filter(|name| !used.contains(name.get())) {
        let help = "remove it, or name it in a [[step]]";
        findings.warn(
            name.span(),
            format!("no step uses the {what} `{}`", name.get()),
            help,
        );
    }
}
