//! Steps as TOML.

use super::{hosts, media, requirements};
use crate::load::LoadShape;
use crate::member_event::{MemberChange, MemberEvent};
use crate::network::write_gbit;
use crate::resolved::{
    BackupPlace, BackupStep, BlockStep, Cycles, LoadStep, Noise, NoiseWork, Precondition,
    ResolvedPlan, Search, Step,
};
use crate::toml_table::{TomlItem, TomlTable};
use crate::units::Nanos;
use plimsoll_stats::rounds::SteadyRule;

pub(super) fn step(plan: &ResolvedPlan, step: &Step) -> TomlTable {
    match step {
        Step::Load(step) => load_step(plan, step),
        Step::Block(step) => block_step(plan, step),
        Step::Backup(step) => backup_step(plan, step),
    }
}

fn load_step(plan: &ResolvedPlan, step: &LoadStep) -> TomlTable {
    TomlTable::new()
        .with("name", step.name.as_str())
        .with("run", plan.workload(step.workload).name.as_str())
        .with("system", plan.system(step.system).name.as_str())
        .with_list("on", media(plan, &step.on))
        .with_list("from", hosts(plan, &step.from))
        .and(points(&step.points))
        .with("ramp", step.timeline.warm)
        .with("measure", step.timeline.measure)
        .with("cool", step.timeline.cool)
        .with("repeat", step.repeat)
        .with("reset", step.reset.name())
        .with("reset_by", step.reset_by.name())
        .with_some("precondition", step.precondition.map(precondition))
        .with_some("find", step.search.as_ref().map(search))
        // A plan sets both factors at once.
        .with("keying_and_think", step.pacing.think)
        .with("check", step.check.name())
        .with("max_retries", step.max_retries)
        .with_list("require", requirements(plan, Some(&step.name)))
        .with_some("power_cut", step.power_cut)
        .with_tables("noise", step.noise.iter().map(|own| noise(plan, own)))
        .with_tables("event", step.events.iter().map(event))
}

/// A ladder has points of one kind, and in an open loop they differ in the rate only.
fn points(points: &[LoadShape]) -> TomlTable {
    let loads: Vec<TomlItem> = points
        .iter()
        .map(|point| match *point {
            LoadShape::Closed { users, .. } => users.into(),
            LoadShape::Open { per_second, .. } => per_second.into(),
        })
        .collect();
    let ladder = match <[TomlItem; 1]>::try_from(loads) {
        Ok([one]) => one,
        Err(many) => TomlItem::List(many),
    };
    match points.first() {
        Some(LoadShape::Open {
            users,
            per_second,
            to_per_second,
            arrivals,
            queue,
        }) => TomlTable::new()
            .with("rate", ladder)
            .with("users", *users)
            .with("arrivals", arrivals.name())
            .with("queue", *queue)
            .with_some(
                "rate_to",
                (to_per_second != per_second).then_some(*to_per_second),
            ),
        _ => {
            // Those that share them have as many in each point.
            let shared = points
                .iter()
                .find(|point| point.connections() < point.users());
            TomlTable::new()
                .with("users", ladder)
                .with_some("connections", shared.map(|point| point.connections()))
        }
    }
}

fn precondition(Precondition { load, lasts }: Precondition) -> TomlTable {
    let users = match load {
        LoadShape::Closed { users, .. } => Some(users),
        LoadShape::Open { .. } => None,
    };
    TomlTable::new()
        .with_some("users", users)
        .with("lasts", lasts)
}

fn search(search: &Search) -> TomlTable {
    let objective = &search.objective;
    let limit = format!("{}_ms", objective.quantile.name());
    let longest = (search.longest > Nanos::ZERO).then_some(search.longest);
    TomlTable::new()
        .with(&limit, objective.limit.as_millis_f64())
        .with_some("of", objective.of.as_deref())
        .with("most", search.most)
        .with("precision", search.precision)
        .with_some("longest", longest)
}

fn event(event: &MemberEvent) -> TomlTable {
    TomlTable::new()
        .with("at", event.at)
        .and(change(event.change))
}

fn change(change: MemberChange) -> TomlTable {
    let table = TomlTable::new();
    match change {
        MemberChange::Fail { member } => table.with("fail", member),
        MemberChange::Replace { member } => table.with("replace", member),
        MemberChange::Return { member } => table.with("return", member),
        MemberChange::Slow { member, factor } => table.with("slow", member).with("factor", factor),
        MemberChange::Network { gbit } => table.with("network", write_gbit(gbit)),
    }
}

impl MemberChange {
    /// Keys of a plan that state it: `fail = 2`.
    pub fn keys(self) -> Vec<String> {
        change(self)
            .entries()
            .map(|(key, item)| format!("{key} = {item}"))
            .collect()
    }
}

fn noise(plan: &ResolvedPlan, noise: &Noise) -> TomlTable {
    let table = TomlTable::new().with("system", plan.system(noise.system).name.as_str());
    match &noise.work {
        NoiseWork::Backup { backup, cycles } => table
            .with("run", plan.backup(*backup).name.as_str())
            .and(self::cycles(plan, cycles)),
        NoiseWork::Load { workload, load } => table
            .with("run", plan.workload(*workload).name.as_str())
            .with("users", load.users()),
    }
}

fn cycles(plan: &ResolvedPlan, cycles: &Cycles) -> TomlTable {
    let to = match cycles.to {
        BackupPlace::Beside => None,
        BackupPlace::Medium(medium) => Some(plan.medium(medium).name.as_str()),
    };
    let every = (cycles.every > Nanos::ZERO).then_some(cycles.every);
    TomlTable::new()
        .with_some("to", to)
        .with("cycles", cycles.count)
        .with_some("every", every)
}

fn backup_step(plan: &ResolvedPlan, step: &BackupStep) -> TomlTable {
    TomlTable::new()
        .with("name", step.name.as_str())
        .with("run", plan.backup(step.backup).name.as_str())
        .with("system", plan.system(step.system).name.as_str())
        .with("on", media(plan, &step.on))
        .and(cycles(plan, &step.cycles))
}

fn block_step(plan: &ResolvedPlan, step: &BlockStep) -> TomlTable {
    // Of one medium it would be warned of.
    let at_once = (step.on.len() > 1).then_some(step.at_once);
    let table = TomlTable::new()
        .with("name", step.name.as_str())
        .with("run", plan.block(step.workload).name.as_str())
        .with("on", media(plan, &step.on))
        .with_list("require", requirements(plan, Some(&step.name)))
        .with_some("at_once", at_once);
    let table = match step.steady {
        None => table.with("repeat", step.rounds),
        Some(rule) => table.with("steady", steady(step.rounds, rule)),
    };
    table.with("ramp", step.warm).with("measure", step.measure)
}

fn steady(rounds: u32, rule: SteadyRule) -> TomlTable {
    TomlTable::new()
        .with("rounds", rounds)
        .with("window", rule.window)
        .with("range", rule.range)
        .with("slope", rule.slope)
}
