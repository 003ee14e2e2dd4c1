//! Backup workloads, their steps, and noise.

use insta::assert_snapshot;

use super::*;
use crate::resolved::{BackupMethod, BackupPlace, Cycles, Noise, NoiseWork, Step};
use crate::{Interference, MediumId};

const TOP: &str = r#"
title = "t"
[medium.fast]
path = "."
[medium.vault]
path = "/tmp"
[system.db]
engine = "postgres"
count = 2
[system.other]
engine = "sqlite"
[system.toy.mock]
[workload.oltp.tpcc]
warehouses = 2
mode = "statements"
[workload.save.backup]
data = "oltp"
"#;

fn with(rest: &str) -> String {
    format!("{TOP}{rest}")
}

const NOISY: &str = r#"
[[step]]
run = "oltp"
system = "db"
on = ["fast"]
users = [1, 4]
repeat = 2
noise = [
    { run = "save", system = "other", to = "vault", every = "100s", cycles = 10 },
    { run = "oltp", system = "toy", users = 3 },
]
"#;

#[test]
fn a_backup_step_has_a_place_a_number_and_a_period() {
    let plan = good(&with(
        "[[step]]\nrun = \"save\"\nsystem = \"db\"\non = [\"fast\"]\nto = \"vault\"\ncycles = 4\nevery = \"100s\"\n\
         [[step]]\nrun = \"save\"\nsystem = \"other\"\non = [\"fast\"]\n\
         [[step]]\nrun = \"oltp\"\nsystem = \"toy\"\nusers = 1\n",
    ))
    .plan;
    let backup = &plan.backups[0].backup;
    assert_eq!(
        (backup.method, backup.jobs, backup.restore),
        (BackupMethod::Physical, 1, true)
    );
    let [Step::Backup(first), Step::Backup(second), Step::Load(_)] = plan.steps.as_slice() else {
        panic!("{:?}", plan.steps)
    };
    let [fast, vault] = [0, 1].map(MediumId::new);
    let every = Nanos::from_secs(100);
    assert_eq!(
        first.cycles,
        Cycles {
            to: BackupPlace::Medium(vault),
            count: 4,
            every
        }
    );
    assert_eq!(
        (first.name.as_str(), second.name.as_str()),
        ("save", "save-2")
    );
    assert_eq!(
        second.cycles,
        Cycles {
            to: BackupPlace::Beside,
            count: 3,
            every: Nanos::ZERO
        }
    );
    assert_eq!(second.cycles.to.medium(fast), fast);
    survives(&plan);
}

const THEIRS: &str = r#"
title = "t"
[medium.data]
path = "."
[system.theirs]
url = "mssql://user@localhost:1433"
schema = "tpcc"
[workload.oltp.tpcc]
warehouses = 2
[workload.save.backup]
data = "oltp"
[[step]]
run = "save"
system = "theirs"
"#;

#[test]
fn a_sql_server_is_saved_and_restored_on_a_medium() {
    let parsed = good(THEIRS);
    assert!(parsed.warnings.is_empty(), "{:?}", parsed.warnings);
    let plan = parsed.plan;
    let [Step::Backup(step)] = plan.steps.as_slice() else {
        panic!("{:?}", plan.steps)
    };
    let data = MediumId::new(0);
    assert_eq!(
        (step.on.as_slice(), step.cycles.to),
        ([data].as_slice(), BackupPlace::Beside)
    );
    // A backup and what is restored of it; the database itself is elsewhere.
    let needs = estimate(&plan).space;
    let bytes: Vec<u64> = needs.iter().map(|need| need.bytes.0).collect();
    assert_eq!(bytes, [2 * 2 * 140_000_000]);
    survives(&plan);
}

#[test]
fn what_an_existing_server_does_not_save_is_reported() {
    let logical = THEIRS.replace("data = \"oltp\"", "data = \"oltp\"\nmethod = \"logical\"");
    assert_snapshot!(bad(&logical), @"
    15:10: `theirs` is SQL Server, which has physical backups only
      help: leave `method` out of `save`
    ");
    assert_snapshot!(bad(&THEIRS.replace("mssql://user@localhost:1433", "mariadb://user@localhost")), @r#"
    14:10: `theirs` is an existing server, which plimsoll neither saves nor restores
      help: name a system that plimsoll starts: engine = "postgres"
    "#);
    let noise = "[system.db]\nengine = \"sqlite\"\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = 1\n\
                 noise = [{ run = \"save\", system = \"theirs\" }]\n";
    assert_snapshot!(bad(&format!("{THEIRS}{noise}")), @r#"
    21:35: `theirs` is an existing server, whose backups are no noise
      help: make a step of it, or name a system that plimsoll starts: engine = "postgres"
    "#);
}

#[test]
fn each_kind_of_step_names_its_systems_with_their_data() {
    let plan = good(&with(&format!(
        "{NOISY}[[step]]\nrun = \"save\"\nsystem = \"db\"\non = [\"fast\"]\n"
    )))
    .plan;
    let oltp = &plan.workloads[0].workload;
    let names: Vec<Vec<&str>> = plan
        .steps
        .iter()
        .map(|step| {
            let data = plan.data_of(step);
            assert!(step.systems().eq(data.iter().map(|(system, _)| *system)));
            assert!(
                data.iter().all(|(_, workload)| *workload == oltp),
                "{data:?}"
            );
            data.iter()
                .map(|(system, _)| plan.system(*system).name.as_str())
                .collect()
        })
        .collect();
    assert_eq!(names, [vec!["db", "other", "toy"], vec!["db"]]);
}

#[test]
fn periods_are_scaled_and_numbers_are_not() {
    let text = with(
        "[[step]]\nrun = \"save\"\nsystem = \"db\"\non = [\"fast\"]\nto = \"vault\"\ncycles = 4\nevery = \"100s\"\n\
         [[step]]\nrun = \"oltp\"\nsystem = \"toy\"\nusers = 1\n[[step]]\nrun = \"oltp\"\nsystem = \"other\"\non = [\"fast\"]\nusers = 1\n",
    );
    let plan = parse(&text, &scaled(0.05, 1.0)).unwrap().plan;
    let Step::Backup(step) = &plan.steps[0] else {
        panic!("{:?}", plan.steps)
    };
    assert_eq!(
        (step.cycles.every, step.cycles.count),
        (Nanos::from_secs(5), 4)
    );
}

#[test]
fn noise_doubles_the_points_and_is_described() {
    let plan = good(&with(NOISY)).plan;
    let step = plan.load_steps().next().unwrap();
    assert_eq!(step.scenes(), [Interference::Quiet, Interference::Noisy]);
    assert_eq!(step.expected_points(), 8);
    let [
        Noise { system, work },
        Noise {
            work: NoiseWork::Load { load, .. },
            ..
        },
    ] = step.noise.as_slice()
    else {
        panic!("{:?}", step.noise)
    };
    assert!(
        plan.system(*system).name == "other"
            && matches!(work, NoiseWork::Backup { cycles, .. } if cycles.count == 10)
    );
    assert_eq!(load.users(), 3);
    survives(&plan);
    // The neighbour's data and its backup need space as well.
    let space = |plan: &ResolvedPlan, medium| {
        let needs = estimate(plan).space;
        needs
            .iter()
            .find(|need| plan.medium(need.medium).name == medium)
            .map(|need| need.bytes)
            .unwrap()
    };
    let alone =
        good(&with(&NOISY.replace(
            "    { run = \"save\", system = \"other\", to = \"vault\", every = \"100s\", cycles = 10 },\n",
            "",
        )));
    assert!(space(&plan, "fast") > space(&alone.plan, "fast"));
    assert_eq!(space(&plan, "vault"), Bytes(180_000_000));
}

#[test]
fn what_neither_saves_nor_can_be_saved_is_reported() {
    assert_snapshot!(bad(&with(
        "[workload.again.backup]\ndata = \"save\"\n[workload.none.backup]\n\
         [workload.dump.backup]\ndata = \"oltp\"\nmethod = \"logical\"\n\
         [[step]]\nrun = \"dump\"\nsystem = \"other\"\non = [\"fast\"]\n\
         [[step]]\nrun = \"save\"\nsystem = \"toy\"\nusers = 3\nmeasure = \"1s\"\n\
         [[step]]\nrun = \"again\"\nsystem = \"db\"\non = [\"fast\"]\nto = \"nowhere\"\ncycles = 0\nevery = 3\n\
         [[step]]\nrun = \"oltp\"\nsystem = \"toy\"\nusers = 1\ncycles = 2\n"
    )), @r#"
    19:8: `save` has no data set that a system holds
      help: name a workload of the kind tpcc or sysbench
    20:1: `data` is missing
      help: state which workload's data: data = "oltp"
    26:10: `other` is SQLite, which has physical backups only
      help: leave `method` out of `dump`
    30:10: `toy` is a mock, which holds no data
      help: name a system that keeps data
    31:9: `users` is not supported for a backup workload
      help: a backup has no users; to load the system at the same time, make it the `noise` of a load step
    32:11: `measure` is not supported for a backup workload
      help: a backup lasts as long as it takes: remove it
    37:6: there is no medium `nowhere`
      help: known here: `fast`, `vault`
    38:10: `cycles` cannot be 0
      help: 1 to 1000 is possible
    39:9: 3 has no unit
      help: write times with a unit and in quotes: "3s"
    44:10: `cycles` is not supported for a load on a system
      help: only the step of a [workload.NAME.backup] has it, and an entry of `noise`: remove it
    "#);
}

#[test]
fn noise_of_the_wrong_kind_is_reported() {
    assert_snapshot!(bad(&with(
        "[workload.raw.block]\nprofile = \"crystaldiskmark\"\n\
         [[step]]\nrun = \"oltp\"\nsystem = \"db\"\non = [\"fast\"]\nusers = 1\nfind = { p99_ms = 3 }\nnoise = [\n\
         { run = \"save\", system = \"db\", users = 2 },\n\
         { run = \"save\", system = \"toy\" },\n\
         { run = \"oltp\", system = \"other\", every = \"1s\" },\n\
         { run = \"raw\", system = \"other\", users = 1 },\n\
         { system = \"other\" },\n]\n"
    )), @"
    25:8: `find` takes a single system, and there are 2
      help: leave `count` out of the system, or make a system of its own for this step
    26:9: `noise` and `find` exclude each other
      help: make two steps of it
    27:26: `db` is at work in this step already
      help: noise is made by systems of its own: add a [system.NAME]
    27:40: `users` is not supported for a backup
      help: remove it
    28:26: `toy` is a mock, which holds no data
      help: name a system that keeps data
    29:1: `users` is missing
      help: state how many: users = 8
    29:43: `every` is not supported for load
      help: only backups have it: remove it
    30:9: `raw` is a block workload, which runs on no system
      help: name a backup workload, or one of the kind tpcc or sysbench
    30:25: `other` is at work in this step already (also in line 31)
      help: noise is made by systems of its own: add a [system.NAME]
    31:1: `run` is missing
      help: name a workload: `oltp`, `raw`, `save`
    ");
}

#[test]
fn another_number_of_victims_than_without_noise_is_reported() {
    let parsed = good(&with(&format!(
        "{NOISY}[[step]]\nname = \"all\"\nrun = \"oltp\"\nsystem = \"other\"\non = [\"fast\"]\nusers = 1\n"
    )));
    let warnings: Vec<&str> = parsed
        .warnings
        .iter()
        .map(|warning| warning.message.as_str())
        .collect();
    assert_eq!(
        warnings,
        [
            "`oltp` loads 2 systems beside noise and `all` loads 1 without: what differs between them is not the noise's \
          doing alone"
        ]
    );
}

#[test]
fn a_late_backup_does_not_move_those_after_it() {
    let cycles = |every| Cycles {
        to: BackupPlace::Beside,
        count: 3,
        every,
    };
    let due = |every| [0, 1, 2].map(|cycle| cycles(every).due(Nanos(7), cycle));
    assert_eq!(due(Nanos(100)), [Nanos(7), Nanos(107), Nanos(207)]);
    assert_eq!(
        due(Nanos::ZERO),
        [Nanos(7); 3],
        "each as soon as the one before has ended"
    );
    assert_eq!(cycles(Nanos(u64::MAX)).due(Nanos(7), 2), Nanos(u64::MAX));
}
