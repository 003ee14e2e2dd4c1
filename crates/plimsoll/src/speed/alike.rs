//! Which drives of plans must be slowed alike.

use plimsoll_analysis::predict::is_calibrated;
use plimsoll_plan::ResolvedPlan;
use plimsoll_plan::load::LoadShape;
use plimsoll_plan::resolved::{LoadStep, Step, Workload};
use plimsoll_plan::units::Nanos;
use plimsoll_stats::{FEWEST_REPEATS, SHORTEST_S};

/// Whether drives are compared at full speed, which is predicted where one was slowed, so that each may be slowed as far as
/// it needs. All else is compared as it ran: block jobs, backups, imposed rates and members that fail.
pub fn is_compared_at_full_speed(plan: &ResolvedPlan) -> bool {
    plan.steps.iter().all(|step| match step {
        Step::Load(step) => is_predicted(plan, step),
        Step::Block(_) | Step::Backup(_) => false,
    })
}

fn is_predicted(plan: &ResolvedPlan, step: &LoadStep) -> bool {
    let system = plan.system(step.system);
    let workload = &plan.workload(step.workload).workload;
    let is_closed = step
        .points
        .iter()
        .all(|load| matches!(load, LoadShape::Closed { .. }));
    let is_alone = step.noise.is_empty() && step.events.is_empty() && step.power_cut.is_none();
    // A prediction needs a rate whose error is known.
    let has_interval = step.repeat as usize >= FEWEST_REPEATS
        || step.timeline.measure >= Nanos::from_secs(SHORTEST_S as u64);
    matches!(workload, Workload::Tpcc(_))
        && is_calibrated(system.kind.engine(), workload.mode().name())
        && system.count == 1
        && is_closed
        && step.search.is_none()
        && is_alone
        && has_interval
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::parse;

    use super::*;
    use crate::drive_file;

    const PLAN: &str = r#"
title = "t"
emulate = true
[medium.a]
drive = "kingston-dc1500m-960g"
[medium.b]
drive = "seagate-constellation2-1t"
[system.db]
engine = "postgres"
[workload.w.tpcc]
warehouses = 1
[workload.io.block]
size = "64MiB"
job = [{ name = "r", read = 100, random = 100, block = "4KiB", depth = 4 }]
[[step]]
run = "w"
system = "db"
on = ["a", "b"]
users = [1, 4]
repeat = 3
"#;

    fn is_each(text: &str) -> bool {
        let parsed = parse(text, &drive_file::options());
        let plan = parsed.unwrap_or_else(|errors| panic!("{errors}")).plan;
        is_compared_at_full_speed(&plan)
    }

    #[test]
    fn closed_loops_whose_full_speed_is_predicted_need_no_like_speed() {
        assert!(is_each(PLAN));
        let sqlite = PLAN.replace("\"postgres\"", "\"sqlite\"");
        assert!(is_each(&sqlite));
        let long = PLAN.replace("repeat = 3", "measure = \"5m\"");
        assert!(is_each(&long));
    }

    #[test]
    fn what_is_compared_as_it_ran_needs_like_speed() {
        let changed = [
            ("\"postgres\"", "\"mariadb\""),
            ("users = [1, 4]", "users = 4\nrate = 10"),
            ("users = [1, 4]", "users = 4\nfind = { p99_ms = 20 }"),
            ("repeat = 3", "repeat = 2"),
            ("engine = \"postgres\"", "engine = \"postgres\"\ncount = 2"),
        ];
        for (from, to) in changed {
            assert!(!is_each(&PLAN.replace(from, to)), "{to}");
        }
        let block = format!("{PLAN}[[step]]\nrun = \"io\"\non = [\"a\", \"b\"]\n");
        assert!(!is_each(&block));
    }
}
