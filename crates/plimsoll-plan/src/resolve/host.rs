//! Hosts, and which of them systems run on and a step's load comes from.

use std::ops::Range;

use super::names::{Names, check_name_at};
use crate::findings::Findings;
use crate::host::expand;
use crate::ids::HostId;
use crate::load::LoadShape;
use crate::raw::{Named, RawHost, RawPlan, RawStep};
use crate::resolved::{PlanHost, Step, SystemKind, redact};
use crate::value::{At, OptionalKey};

const MOST_HOSTS: usize = 1000;

/// All hosts of the section, patterns expanded.
pub(super) fn resolve_all(section: &Named<RawHost>, findings: &mut Findings<'_>) -> Vec<PlanHost> {
    let mut entries: Vec<_> = section.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    let mut hosts: Vec<PlanHost> = Vec::new();
    for (pattern, raw) in entries {
        for name in names(pattern, findings) {
            let raw = raw.get();
            if hosts.iter().any(|host| host.name == name) {
                let message = format!("two hosts are named `{name}`");
                findings.error(pattern.span(), message, "name each once");
                continue;
            }
            hosts.push(host(name, raw, findings));
        }
    }
    hosts
}

fn host(name: String, raw: &RawHost, findings: &mut Findings<'_>) -> PlanHost {
    if let Some(via) = &raw.via
        && redact(via.get().as_str()) != via.get().as_str()
    {
        findings.warn(
            via.span(),
            "the command holds a secret, which run files leave out: plimsoll join cannot reach this host",
            "put it into a variable of the environment, such as SSHPASS for sshpass -e, or use a key",
        );
    }
    let via = raw.via.value().unwrap_or_default();
    PlanHost {
        via: via
            .split_whitespace()
            .map(|word| word.replace("{host}", &name))
            .collect(),
        name,
        program: raw.program.value(),
        patience: raw.patience(),
    }
}

/// The names that a pattern stands for.
fn names(pattern: &At<String>, findings: &mut Findings<'_>) -> Vec<String> {
    let Some(names) = expand(pattern.get(), MOST_HOSTS) else {
        let help = "`gen[1-8]` is gen1 to gen8, 1000 at most";
        findings.error(pattern.span(), "this is no pattern of hosts", help);
        return Vec::new();
    };
    if let Some(first) = names.first() {
        check_name_at(first, pattern.span(), "host", findings);
    }
    names
}

/// All hosts that the patterns name, each once.
fn ids(
    patterns: &[At<String>],
    names_of_plan: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Vec<HostId> {
    let mut hosts = Vec::new();
    for pattern in patterns {
        for name in names(pattern, findings) {
            match names_of_plan.host_id(&name) {
                Some(id) if hosts.contains(&id) => {}
                Some(id) => hosts.push(id),
                None => no_host(&name, pattern.span(), findings),
            }
        }
    }
    hosts
}

/// The hosts that run the whole plan; none where plimsoll's own machine does.
pub(super) fn plan_hosts(
    raw: &RawPlan,
    names_of_plan: &Names<'_>,
    steps: &[Step],
    findings: &mut Findings<'_>,
) -> Vec<HostId> {
    let Some(on_hosts) = &raw.on_hosts else {
        return Vec::new();
    };
    let hosts = ids(on_hosts.get(), names_of_plan, findings);
    let mut refuse = |message: String, help: &str| {
        findings.error(on_hosts.span(), message, help);
    };
    if on_hosts.get().is_empty() {
        refuse("`on_hosts` names no host".into(), "name one, or remove it");
    }
    let is_watched = names_of_plan.systems.iter().any(|it| it.host.is_some());
    let is_loaded = steps
        .iter()
        .filter_map(Step::load)
        .any(|it| !it.from.is_empty());
    for (key, is_given) in [
        ("host` of a system", is_watched),
        ("from` of a step", is_loaded),
    ] {
        if is_given {
            let help = "remove one of the two: with `on_hosts` each host loads and watches its own systems";
            refuse(format!("`on_hosts` and `{key} exclude each other"), help);
        }
    }
    let media = names_of_plan.media.iter();
    if let Some(medium) = media
        .clone()
        .find(|it| it.kind.emulated().is_some_and(|it| it.auto))
    {
        let help = "set `slower = 1`, or as many times as slower as the slowest host needs";
        let message = format!(
            "`speed = \"auto\"` of medium {} is chosen on this machine, which does not emulate it",
            medium.name
        );
        refuse(message, help);
    }
    // Hosts that decide by their own figures would no longer be in step.
    let decides = steps.iter().find(|step| match step {
        Step::Load(step) => step.search.is_some(),
        Step::Block(step) => step.steady.is_some(),
        Step::Backup(_) => false,
    });
    if let Some(step) = decides.filter(|_| hosts.len() > 1) {
        let message = format!(
            "step `{}` decides by each host's own figures how it goes on",
            step.name()
        );
        refuse(
            message,
            "with several hosts list the loads, and give a number of rounds instead of `steady`",
        );
    }
    hosts
}

/// The host that a system runs on.
pub(super) fn system_host(
    name: &At<String>,
    hosts: &[PlanHost],
    findings: &mut Findings<'_>,
) -> Option<HostId> {
    let index = hosts.iter().position(|host| host.name == *name.get());
    if index.is_none() {
        no_host(name.get(), name.span(), findings);
    }
    index.map(HostId::new)
}

fn no_host(name: &str, span: Range<usize>, findings: &mut Findings<'_>) {
    let help = format!("add [host.{name}] with via = \"ssh {name}\"");
    findings.error(span, format!("there is no host `{name}`"), help);
}

/// The hosts that a step's load comes from; none where it comes from plimsoll itself.
pub(super) fn load_hosts(
    raw: &RawStep,
    system: Option<&At<String>>,
    points: Option<&[LoadShape]>,
    names_of_plan: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Vec<HostId> {
    let Some(from) = &raw.from else {
        return Vec::new();
    };
    let hosts = ids(from.get(), names_of_plan, findings);
    if let Some(kind) = system.and_then(|system| names_of_plan.kind(system.get()))
        && !matches!(kind, SystemKind::Existing { .. } | SystemKind::Mock(_))
    {
        let help =
            "name an existing server: [system.NAME] with url = \"…\" that these hosts can reach";
        let message =
            "load from other hosts cannot reach a database that plimsoll starts on this one";
        findings.error(from.span(), message, help);
    }
    if raw.power_cut.is_some() {
        let help = "remove one of the two";
        findings.error(
            from.span(),
            "`from` and `power_cut` exclude each other",
            help,
        );
    }
    let least = points
        .unwrap_or_default()
        .iter()
        .map(|load| load.connections())
        .min();
    if least.is_some_and(|least| (least as usize) < hosts.len()) {
        let message = format!("{} hosts share fewer users or connections", hosts.len());
        findings.error(from.span(), message, "each host needs one: raise `users`");
    }
    hosts
}
