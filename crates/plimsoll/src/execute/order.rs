//! The order in which a plan's steps run.

use plimsoll_plan::resolved::{BackupPlace, ResolvedPlan, Step};
use plimsoll_plan::{MediumId, StepId, SystemId};

/// A step with the media that it uses at the same time; none for a system that keeps its data elsewhere.
#[derive(Debug, Clone)]
pub(super) struct StepRun {
    pub id: StepId,
    pub media: Vec<MediumId>,
    /// Other media, which backups are written to.
    vaults: Vec<MediumId>,
}

impl StepRun {
    fn new(id: StepId, step: &Step, media: Vec<MediumId>) -> Self {
        let on = media.first().copied();
        let vaults = step
            .backup_places()
            .filter_map(|place| match place {
                BackupPlace::Beside => on,
                BackupPlace::Medium(medium) => Some(medium),
            })
            .filter(|vault| !media.contains(vault))
            .collect();
        Self { id, media, vaults }
    }

    pub fn all_media(&self) -> impl Iterator<Item = MediumId> {
        self.media.iter().chain(&self.vaults).copied()
    }

    /// The medium of a load step: it uses one at a time.
    pub fn medium(&self) -> Option<MediumId> {
        self.media.first().copied()
    }

    pub fn needs_medium(&self, medium: MediumId) -> bool {
        self.all_media().any(|needed| needed == medium)
    }

    /// Whether it uses a system on this medium.
    pub fn needs_system(
        &self,
        plan: &ResolvedPlan,
        system: SystemId,
        medium: Option<MediumId>,
    ) -> bool {
        self.medium() == medium && plan.step(self.id).systems().any(|used| used == system)
    }
}

/// The steps in order: each on each of its media, unless it uses all of them at once.
pub(super) fn step_runs(plan: &ResolvedPlan) -> Vec<StepRun> {
    let mut runs = Vec::new();
    for id in plan.step_ids() {
        let step = plan.step(id);
        let media = step.on();
        let at_once = match step {
            Step::Block(step) => step.at_once,
            Step::Load(_) | Step::Backup(_) => media.is_empty(),
        };
        if at_once {
            runs.push(StepRun::new(id, step, media.to_vec()));
        } else {
            let each = media.iter().map(|medium| vec![*medium]);
            runs.extend(each.map(|media| StepRun::new(id, step, media)));
        }
    }
    runs
}

/// The steps on each medium, in the order of the plan.
pub(super) fn by_medium(runs: Vec<StepRun>) -> Vec<Vec<StepRun>> {
    let mut media: Vec<Vec<StepRun>> = Vec::new();
    for run in runs {
        match media.iter_mut().find(|runs| runs[0].media == run.media) {
            Some(runs) => runs.push(run),
            None => media.push(vec![run]),
        }
    }
    media
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::parse;

    use super::*;
    use crate::drive_file;

    const PLAN: &str = r#"
title = "t"
[medium.a]
path = "."
[medium.b]
path = "."
[system.db]
engine = "sqlite"
[workload.w.tpcc]
warehouses = 1
[workload.copy.backup]
data = "w"
[workload.io.block]
size = "64MiB"
job = [{ name = "r", read = 100, random = 100, block = "4KiB", depth = 4 }]
[[step]]
name = "load"
run = "w"
system = "db"
on = ["a", "b"]
users = 1
[[step]]
name = "copy"
run = "copy"
system = "db"
on = ["a"]
to = "b"
[[step]]
name = "io"
run = "io"
on = ["a", "b"]
at_once = true
"#;

    fn shown(plan: &ResolvedPlan, runs: &[StepRun]) -> Vec<String> {
        let text = |run: &StepRun| {
            let media: Vec<&str> = run
                .all_media()
                .map(|medium| plan.medium(medium).name.as_str())
                .collect();
            format!("{} {}", plan.step(run.id).name(), media.join("+"))
        };
        runs.iter().map(text).collect()
    }

    #[test]
    fn each_step_runs_on_each_of_its_media_unless_it_uses_them_at_once() {
        let parsed = parse(PLAN, &drive_file::options());
        let plan = parsed.unwrap_or_else(|errors| panic!("{errors}")).plan;
        let runs = step_runs(&plan);
        let all = ["load a", "load b", "copy a+b", "io a+b"];
        assert_eq!(shown(&plan, &runs), all);
        let system = plan.system_ids().next().unwrap();
        let [a, b] = [0, 1].map(|run: usize| runs[run].medium());
        assert!(runs[2].needs_system(&plan, system, a));
        assert!(!runs[2].needs_system(&plan, system, b), "it is the vault");
        assert!(runs[2].needs_medium(b.unwrap()));
        assert!(!runs[0].needs_medium(b.unwrap()));
    }

    #[test]
    fn media_that_are_simulated_apart_keep_the_order_of_their_steps() {
        let plan = parse(PLAN, &drive_file::options()).unwrap().plan;
        let media = by_medium(step_runs(&plan));
        let shown: Vec<Vec<String>> = media.iter().map(|runs| shown(&plan, runs)).collect();
        assert_eq!(shown[0], ["load a", "copy a+b"]);
        assert_eq!(shown[1..].concat(), ["load b", "io a+b"]);
    }
}
