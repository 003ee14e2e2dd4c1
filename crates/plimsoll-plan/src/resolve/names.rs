//! Names in a plan: which ones can be chosen, and what they refer to.

use std::ops::Range;

use crate::Options;
use crate::error::{list, suggestion};
use crate::findings::Findings;
use crate::ids::{BackupId, BlockId, HostId, MediumId, SystemId, WorkloadId};
use crate::raw::{Named, RawPlan, RawWorkload};
use crate::resolved::{
    EngineKind, Medium, NamedBackup, NamedBlock, NamedWorkload, PlanHost, System, SystemKind,
};
use crate::toml_text::toml_key;
use crate::value::At;

pub(super) const LONGEST_NAME: usize = 64;

/// Names that steps refer to, as written, and what could be resolved of them.
pub(super) struct Names<'r> {
    pub raw: &'r RawPlan,
    pub options: &'r Options,
    pub hosts: Vec<PlanHost>,
    /// Media and systems that could be resolved.
    pub media: Vec<Medium>,
    pub systems: Vec<System>,
    pub workloads: Vec<NamedWorkload>,
    pub blocks: Vec<NamedBlock>,
    pub backups: Vec<NamedBackup>,
}

impl Names<'_> {
    pub fn kind(&self, system: &str) -> Option<&SystemKind> {
        self.systems
            .iter()
            .find(|known| known.name == system)
            .map(|known| &known.kind)
    }

    pub fn host_id(&self, name: &str) -> Option<HostId> {
        index_of(&self.hosts, |host| &host.name, name).map(HostId::new)
    }

    pub fn medium_id(&self, name: &str) -> Option<MediumId> {
        index_of(&self.media, |medium| &medium.name, name).map(MediumId::new)
    }

    pub fn medium_ids(&self, names: &[String]) -> Option<Vec<MediumId>> {
        names.iter().map(|name| self.medium_id(name)).collect()
    }

    pub fn system_id(&self, name: &str) -> Option<SystemId> {
        index_of(&self.systems, |system| &system.name, name).map(SystemId::new)
    }

    pub fn workload_id(&self, name: &str) -> Option<WorkloadId> {
        index_of(&self.workloads, |named| &named.name, name).map(WorkloadId::new)
    }

    pub fn block_id(&self, name: &str) -> Option<BlockId> {
        index_of(&self.blocks, |named| &named.name, name).map(BlockId::new)
    }

    pub fn backup_id(&self, name: &str) -> Option<BackupId> {
        index_of(&self.backups, |named| &named.name, name).map(BackupId::new)
    }

    /// Engines that the steps run this workload on, or hold its data on, with the system's name.
    pub fn engines(&self, workload: &str) -> Vec<(&str, EngineKind)> {
        let uses = self
            .uses()
            .filter(|(run, _)| *run == workload || self.saved_by(run) == Some(workload));
        uses.filter_map(|(_, system)| self.kind(system).map(|kind| (system, kind.engine())))
            .collect()
    }

    /// Workloads that the steps and their noise name, each with its system.
    pub fn uses(&self) -> impl Iterator<Item = (&str, &str)> {
        let steps = self.raw.step.iter().map(At::get);
        let noise = steps
            .clone()
            .filter_map(|step| step.noise.as_ref())
            .flat_map(|noise| noise.get())
            .map(|noise| (&noise.get().run, &noise.get().system));
        let loads = steps.map(|step| (&step.run, &step.system));
        loads.chain(noise).filter_map(|(run, system)| {
            Some((
                run.as_ref()?.get().as_str(),
                system.as_ref()?.get().as_str(),
            ))
        })
    }

    /// The workload whose data a backup workload saves.
    pub fn saved_by(&self, backup: &str) -> Option<&str> {
        let backup = self.raw_workload(backup)?.backup.as_ref()?;
        Some(backup.get().data.as_ref()?.get())
    }

    /// A workload as it is written.
    pub fn raw_workload(&self, name: &str) -> Option<&RawWorkload> {
        let mut workloads = self.raw.workload.iter();
        let (_, workload) = workloads.find(|(known, _)| known.get() == name)?;
        Some(workload.get())
    }

    /// The workload that a table has to name, if the plan has it.
    pub fn workload<'v>(
        &self,
        table: &Range<usize>,
        run: &'v Option<At<String>>,
        findings: &mut Findings<'_>,
    ) -> Option<&'v At<String>> {
        let section = &self.raw.workload;
        let help = format!("name a workload: {}", names_of(section));
        findings
            .required(table, "run", run, &help)
            .filter(|name| known(section, "workload", name, findings))
    }

    /// The system that a table has to name, if the plan has it.
    pub fn system<'v>(
        &self,
        table: &Range<usize>,
        system: &'v Option<At<String>>,
        findings: &mut Findings<'_>,
    ) -> Option<&'v At<String>> {
        let section = &self.raw.system;
        let help = format!("name a system: {}", names_of(section));
        findings
            .required(table, "system", system, &help)
            .filter(|name| known(section, "system", name, findings))
    }
}

fn index_of<T>(parts: &[T], name_of: impl Fn(&T) -> &String, name: &str) -> Option<usize> {
    parts.iter().position(|part| name_of(part) == name)
}

/// Names become parts of directory names, file names and tables of reports.
pub(super) fn check_name(name: &At<String>, what: &str, findings: &mut Findings<'_>) {
    check_name_at(name.get(), name.span(), what, findings);
}

/// Checks a name that stands for others in the text.
pub(super) fn check_name_at(
    text: &str,
    span: Range<usize>,
    what: &str,
    findings: &mut Findings<'_>,
) {
    let fine = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.');
    let long = text.chars().count();
    if long == 0
        || long > LONGEST_NAME
        || !text.chars().all(fine)
        || text.trim_matches([' ', '.']) != text
    {
        let help = "1 to 64 letters, digits, `-`, `_`, and in between also `.` and spaces";
        findings.error(span, format!("this cannot be the name of a {what}"), help);
    }
}

/// Reports a name that is not in its section, unless a reported fault explains it.
pub(super) fn known<T>(
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

/// "`a`, `b`" of the names in a section.
pub(super) fn names_of<T>(section: &Named<T>) -> String {
    let names: Vec<&str> = section.keys().map(|key| key.get().as_str()).collect();
    if names.is_empty() {
        "the plan has none yet".to_owned()
    } else {
        list(&names)
    }
}
