//! Runs the steps of a plan in their order, on the systems and drives that they share.

use plimsoll_plan::resolved::Step;

use super::backup::BackupRunner;
use super::block::run_block_step;
use super::context::StepContext;
use super::drives::Drives;
use super::error::StepResult;
use super::finish::RunEnd;
use super::hosts::Hosts;
use super::load::{LoadRunner, run_load_step};
use super::order::StepRun;
use super::run::RunContext;
use super::systems::Systems;

/// A run, with all that it has started. Systems are dropped before the drives that they work on.
pub(super) struct Execution<'a> {
    pub run: RunContext<'a>,
    systems: Systems<'a>,
    pub hosts: Hosts,
    drives: Drives<'a>,
    /// Acknowledged commits and data that were lost, a text each.
    pub losses: Vec<String>,
    /// What could not be stopped or removed.
    pub trouble: Vec<String>,
}

impl<'a> Execution<'a> {
    pub fn new(run: RunContext<'a>) -> Self {
        Self {
            run,
            systems: Systems::new(run),
            hosts: Hosts::default(),
            drives: Drives::new(run),
            losses: Vec::new(),
            trouble: Vec::new(),
        }
    }

    /// Runs steps; stops systems and unmounts drives that no later step uses.
    pub fn run_steps(&mut self, runs: &[StepRun]) -> StepResult<()> {
        let plan = self.run.plan();
        for (i, now) in runs.iter().enumerate() {
            let later = &runs[i + 1..];
            let medium = now.medium();
            let shown = medium.filter(|_| plan.media.len() > 1);
            let name = shown.map(|medium| plan.medium(medium).name.as_str());
            self.run.log.progress().is_on(name);
            self.run_step(now)?;
            for system in plan.step(now.id).systems() {
                if !later
                    .iter()
                    .any(|run| run.needs_system(plan, system, medium))
                {
                    self.systems.retire_all(&mut self.drives, system, medium)?;
                }
            }
            for medium in now.all_media() {
                if !later.iter().any(|run| run.needs_medium(medium)) {
                    self.drives.unmount(medium)?;
                }
            }
        }
        Ok(())
    }

    fn run_step(&mut self, now: &StepRun) -> StepResult<()> {
        let run = self.run;
        match run.plan().step(now.id) {
            Step::Load(step) => run_load_step(LoadRunner {
                run,
                hosts: &self.hosts,
                systems: &mut self.systems,
                drives: &mut self.drives,
                losses: &mut self.losses,
                context: StepContext::new(run.plan(), now.id, step, now.medium()),
            }),
            Step::Block(step) => run_block_step(run, &mut self.drives, now.id, step, &now.media),
            Step::Backup(step) => now.media.iter().try_for_each(|medium| {
                let runner = BackupRunner {
                    run,
                    systems: &mut self.systems,
                    drives: &mut self.drives,
                    id: now.id,
                    step,
                    medium: *medium,
                };
                runner.run()
            }),
        }
    }

    /// Stops and removes what was started; returns what failed.
    pub fn stop(&mut self) -> Vec<String> {
        let mut trouble = std::mem::take(&mut self.trouble);
        trouble.extend(self.systems.end());
        trouble.extend(self.drives.end());
        trouble
    }

    /// Stops and removes what was started, also after an error.
    pub fn end(mut self, result: StepResult<()>) -> RunEnd {
        let log = self.run.log;
        let at = log.now();
        // The probes first: they would report a server that is stopped here.
        let warnings = log.stop_sampling();
        let hosts_left = std::mem::take(&mut self.hosts).leave(log);
        let trouble = self.stop();
        trouble.iter().for_each(|text| log.progress().print(text));
        log.progress().finish();
        RunEnd {
            at,
            result: result.and(hosts_left),
            losses: std::mem::take(&mut self.losses),
            warnings,
            trouble,
        }
    }
}

impl Drop for Execution<'_> {
    fn drop(&mut self) {
        // After a fault, too, probes end before the servers that they ask.
        self.run.log.stop_sampling();
    }
}
