//! From the raw plan to the resolved one: names looked up, values checked, defaults filled in, times and data scaled.
//! Every function continues after a fault, so that all faults are reported.

mod backup;
mod block;
mod cut;
mod find;
mod limits;
mod load;
mod medium;
mod noise;
mod step;
mod system;
mod workload;

use std::collections::BTreeSet;
use std::ops::Range;

use super::error::{list, suggestion};
use super::findings::Findings;
use super::raw::{Named, RawPlan};
use super::resolved::{
    EngineKind, Medium, NamedBackup, NamedBlock, NamedWorkload, ResolvedPlan, System, SystemKind,
};
use super::value::{At, RawSize, RawTime};
use super::{Options, duration, size as sizes};
use crate::units::{Bytes, Nanos};
pub use block::profile;
use workload::ResolvedWorkload;

const LONGEST_NAME: usize = 64;
const LONGEST_TEXT: usize = 500;

/// What steps look up: names as written, and what is known of them.
struct Names<'r> {
    raw: &'r RawPlan,
    /// Media and systems that could be resolved.
    media: Vec<Medium>,
    systems: Vec<System>,
    blocks: Vec<NamedBlock>,
    backups: Vec<NamedBackup>,
}

impl Names<'_> {
    fn kind(&self, system: &str) -> Option<&SystemKind> {
        self.systems
            .iter()
            .find(|known| known.name == system)
            .map(|known| &known.kind)
    }

    /// Engines that the steps run this workload on, or hold its data on, with the system's name.
    fn engines(&self, workload: &str) -> Vec<(&str, EngineKind)> {
        let uses = self
            .uses()
            .filter(|(run, _)| *run == workload || self.saved_by(run) == Some(workload));
        uses.filter_map(|(_, system)| self.kind(system).map(|kind| (system, kind.engine())))
            .collect()
    }

    /// Workloads that the steps and their noise name, each with its system.
    fn uses(&self) -> impl Iterator<Item = (&str, &str)> {
        let steps = self.raw.step.iter().map(At::get);
        let own = steps.clone().map(|step| (&step.run, &step.system));
        let beside = steps
            .filter_map(|step| step.noise.as_ref())
            .flat_map(|noise| noise.get());
        let beside = beside.map(|noise| (&noise.get().run, &noise.get().system));
        own.chain(beside).filter_map(|(run, system)| {
            Some((
                run.as_ref()?.get().as_str(),
                system.as_ref()?.get().as_str(),
            ))
        })
    }

    /// The workload whose data a backup workload saves.
    fn saved_by(&self, backup: &str) -> Option<&str> {
        let (_, raw) = self
            .raw
            .workload
            .iter()
            .find(|(name, _)| name.get() == backup)?;
        Some(raw.get().backup.as_ref()?.get().data.as_ref()?.get())
    }
}

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
    let title = title.and_then(|title| text(title, "the title", findings));
    let media = all(&raw.medium, "medium", findings, |name, medium, findings| {
        medium::resolve(name, medium, options, findings)
    });
    let systems = all(&raw.system, "system", findings, |name, system, findings| {
        system::resolve(name, system, options, findings)
    });
    clashes(&systems, raw, findings);
    let mut names = Names {
        raw,
        media,
        systems,
        blocks: Vec::new(),
        backups: Vec::new(),
    };
    let kinds = all(
        &raw.workload,
        "workload",
        findings,
        |name, workload, findings| {
            workload::resolve(name, workload, &names, options, findings)
                .map(|kind| (name.to_owned(), kind))
        },
    );
    let mut workloads = Vec::new();
    for (name, kind) in kinds {
        match kind {
            ResolvedWorkload::Load(workload) => workloads.push(NamedWorkload { name, workload }),
            ResolvedWorkload::Block(block) => names.blocks.push(NamedBlock { name, block }),
            ResolvedWorkload::Backup(backup) => names.backups.push(NamedBackup { name, backup }),
        }
    }
    let steps = step::resolve_all(&names, options, findings);
    warn_of_unused(raw, &names, findings);
    let audit = raw
        .audit
        .as_ref()
        .map(|audit| audit.get().resolve(findings))
        .unwrap_or_default();
    let seed = raw.seed.as_ref().map(|seed| *seed.get());
    Some(ResolvedPlan {
        title: title?,
        seed: options.seed.or(seed),
        data_seed: raw
            .data_seed
            .as_ref()
            .map(|seed| *seed.get())
            .or(seed)
            .unwrap_or(1),
        scale: options.scale,
        data_scale: options.data_scale,
        media: names.media,
        systems: names.systems,
        workloads,
        blocks: names.blocks,
        backups: names.backups,
        steps,
        audit,
    })
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
fn all<R, T>(
    section: &Named<R>,
    what: &str,
    findings: &mut Findings<'_>,
    mut resolve: impl FnMut(&str, &At<R>, &mut Findings<'_>) -> Option<T>,
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

/// Names become parts of directory names, file names and tables of reports.
fn check_name(name: &At<String>, what: &str, findings: &mut Findings<'_>) {
    let text = name.get();
    let fine = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.');
    let long = text.chars().count();
    if long == 0
        || long > LONGEST_NAME
        || !text.chars().all(fine)
        || text.trim_matches([' ', '.']) != text
    {
        let help = "1 to 64 letters, digits, `-`, `_`, and in between also `.` and spaces";
        findings.error(
            name.span(),
            format!("this cannot be the name of a {what}"),
            help,
        );
    }
}

/// Text that is not empty, not endless and in one line.
fn text(value: &At<String>, what: &str, findings: &mut Findings<'_>) -> Option<String> {
    let text = value.get();
    let fault = match text {
        _ if text.trim().is_empty() => "is empty",
        _ if text.chars().count() > LONGEST_TEXT => "is longer than 500 characters",
        _ if text.chars().any(char::is_control) => "holds line breaks or control characters",
        _ => return Some(text.clone()),
    };
    findings.error(
        value.span(),
        format!("{what} {fault}"),
        "write one line of text here",
    );
    None
}

fn time(value: &At<RawTime>, findings: &mut Findings<'_>) -> Option<Nanos> {
    let (message, help) = match value.get() {
        RawTime::Bare(number) => (
            format!("{number} of which unit?"),
            format!("write times with a unit and in quotes: \"{number}s\""),
        ),
        RawTime::Text(text) => match duration::parse(text) {
            Ok(nanos) => return Some(nanos),
            Err(_) if text.trim().parse::<f64>().is_ok_and(|number| number >= 0.0) => (
                format!("\"{text}\" of which unit?"),
                format!("write times with a unit: \"{}s\"", text.trim()),
            ),
            Err(fault) => {
                let help = "write times such as \"10s\", \"2m\", \"1h 30m\" or \"250ms\"";
                (
                    format!("\"{}\" {fault}", text.escape_debug()),
                    help.to_owned(),
                )
            }
        },
    };
    findings.error(value.span(), message, help);
    None
}

fn time_or(
    value: &Option<At<RawTime>>,
    default: Nanos,
    findings: &mut Findings<'_>,
) -> Option<Nanos> {
    value
        .as_ref()
        .map_or(Some(default), |value| time(value, findings))
}

fn size(value: &At<RawSize>, findings: &mut Findings<'_>) -> Option<Bytes> {
    size_of(value.get(), value.span(), findings)
}

fn size_of(raw: &RawSize, at: Range<usize>, findings: &mut Findings<'_>) -> Option<Bytes> {
    let help = "write sizes such as \"16GiB\", \"512MiB\" or \"960GB\"";
    let (message, help) = match raw {
        RawSize::Bare(number) => (
            format!("{number} of which unit?"),
            format!("write sizes with a unit and in quotes: \"{number}GiB\""),
        ),
        RawSize::Text(text) => match sizes::parse(text) {
            Ok(bytes) => return Some(bytes),
            Err(fault) => (
                format!("\"{}\" {fault}", text.escape_debug()),
                help.to_owned(),
            ),
        },
    };
    findings.error(at, message, help);
    None
}

/// A whole number between two bounds, both included.
fn whole(
    value: &At<i64>,
    what: &str,
    bounds: std::ops::RangeInclusive<u32>,
    findings: &mut Findings<'_>,
) -> Option<u32> {
    if let Some(number) = u32::try_from(*value.get())
        .ok()
        .filter(|number| bounds.contains(number))
    {
        return Some(number);
    }
    let help = format!("{} to {} is possible", bounds.start(), bounds.end());
    findings.error(
        value.span(),
        format!("{what} cannot be {}", value.get()),
        help,
    );
    None
}

/// Reports a name that is not in its section, unless a reported fault explains it.
fn known<T>(
    section: &Named<T>,
    what: &str,
    name: &At<String>,
    findings: &mut Findings<'_>,
) -> bool {
    let found = section.keys().any(|key| key.get() == name.get());
    if !found && !findings.explains_name(what, name.get()) {
        let names: Vec<&str> = section.keys().map(|key| key.get().as_str()).collect();
        let none = format!(
            "the plan has no {what} yet: add [{what}.{}]",
            toml_key(name.get())
        );
        let help = suggestion(name.get(), &names, &none);
        findings.error(
            name.span(),
            format!("there is no {what} `{}`", name.get()),
            help,
        );
    }
    found
}

/// A key as it stands in TOML, quoted where it has to be.
pub(super) fn toml_key(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !key.is_empty() && key.chars().all(bare) {
        key.to_owned()
    } else {
        format!("\"{}\"", key.escape_default())
    }
}

fn warn_of_unused(raw: &RawPlan, names: &Names<'_>, findings: &mut Findings<'_>) {
    let steps = || raw.step.iter().map(At::get);
    let named = |name: Option<&At<String>>| name.map(|name| name.get().clone());
    let noise = || {
        steps()
            .filter_map(|step| step.noise.as_ref())
            .flat_map(|noise| noise.get().iter().map(At::get))
    };
    let in_noise = noise().filter_map(|noise| named(noise.system.as_ref()));
    let systems: BTreeSet<String> = steps()
        .filter_map(|step| named(step.system.as_ref()))
        .chain(in_noise)
        .collect();
    let in_noise = noise().filter_map(|noise| named(noise.run.as_ref()));
    let mut workloads: BTreeSet<String> = steps()
        .filter_map(|step| named(step.run.as_ref()))
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
        || steps().any(|step| block::is_block(step, names));
    let mut media: BTreeSet<String> = BTreeSet::new();
    if needed {
        let on = steps().filter_map(|step| step.on.as_ref());
        media.extend(on.flat_map(|on| on.get().iter().map(|name| name.get().clone())));
        if let (1, Some(only)) = (raw.medium.len(), raw.medium.keys().next()) {
            media.insert(only.get().clone());
        }
        media.extend(steps().filter_map(|step| named(step.to.as_ref())));
        media.extend(noise().filter_map(|noise| named(noise.to.as_ref())));
    }
    warn_section(&raw.medium, "medium", &media, findings);
    warn_section(&raw.system, "system", &systems, findings);
    warn_section(&raw.workload, "workload", &workloads, findings);
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

/// "`a`, `b`" of the names in a section.
fn names_of<T>(section: &Named<T>) -> String {
    let names: Vec<&str> = section.keys().map(|key| key.get().as_str()).collect();
    if names.is_empty() {
        "the plan has none yet".to_owned()
    } else {
        list(&names)
    }
}

/// Multiplies a time and rounds it to a millisecond; `None` above the longest possible time, with an error.
fn scaled(
    nanos: Nanos,
    options: &Options,
    at: Range<usize>,
    findings: &mut Findings<'_>,
) -> Option<Nanos> {
    if options.scale == 1.0 {
        return Some(nanos);
    }
    let millis = (nanos.as_millis_f64() * options.scale).round();
    if millis > duration::LONGEST.as_millis_f64() {
        findings.error(
            at,
            format!("times {} this is longer than 30 days", options.scale),
            "choose a smaller --scale",
        );
        return None;
    }
    Some(Nanos::from_millis(millis as u64))
}
