//! sysbench workloads in plans.

use insta::assert_snapshot;

use super::{bad, good, survives};
use crate::resolved::{Distribution, Script, Sysbench, Workload};
use crate::{Options, estimate, parse};

fn plan(workload: &str, step: &str) -> String {
    format!(
        "title = \"t\"\n[medium.m]\npath = \".\"\n[system.db]\nengine = \"sqlite\"\n[workload.w.sysbench]\n{workload}\n\
         [[step]]\nrun = \"w\"\nsystem = \"db\"\nusers = 1\n{step}\n"
    )
}

fn resolved(text: &str) -> Sysbench {
    let Some(Workload::Sysbench(sysbench)) = good(text).plan.workload_named("w").cloned() else {
        panic!("{text}")
    };
    sysbench
}

#[test]
fn defaults_are_those_of_sysbench() {
    let expected = Sysbench {
        script: Script::ReadWrite,
        tables: 1,
        rows: 5,
        distribution: Distribution::Special,
        point_selects: 10,
        range_size: 100,
    };
    assert_eq!(
        resolved(&plan("script = \"read_write\"\nrows = 5", "")),
        expected
    );
}

#[test]
fn every_script_and_distribution_survives_being_described() {
    for &script in Script::ALL {
        for &distribution in Distribution::ALL {
            let own = if script.has_ranges() {
                "point_selects = 0\nrange_size = 7"
            } else {
                ""
            };
            let (name, drawn) = (script.name(), distribution.name());
            let text = plan(
                &format!(
                    "script = \"{name}\"\nrows = 9\ntables = 3\ndistribution = \"{drawn}\"\n{own}"
                ),
                "keying_and_think = 0.0",
            );
            let plan = good(&text).plan;
            survives(&plan);
            let Some(Workload::Sysbench(sysbench)) = plan.workload_named("w") else {
                panic!()
            };
            assert_eq!(
                (sysbench.script, sysbench.distribution, sysbench.tables),
                (script, distribution, 3)
            );
            assert_eq!(plan.workloads[0].workload.txn_names(), [name]);
        }
    }
}

#[test]
fn the_data_scale_multiplies_rows() {
    let options = Options {
        data_scale: 0.1,
        ..Options::default()
    };
    let parsed = parse(
        &plan("script = \"delete\"\nrows = 1000\ntables = 2", ""),
        &options,
    )
    .unwrap();
    let Some(Workload::Sysbench(sysbench)) = parsed.plan.workload_named("w") else {
        panic!()
    };
    assert_eq!((sysbench.rows, sysbench.tables), (100, 2));
}

#[test]
fn space_goes_with_rows_and_tables() {
    let space = |tables: u32| {
        let text = plan(
            &format!("script = \"read_only\"\nrows = 1000000\ntables = {tables}"),
            "",
        );
        estimate(&good(&text).plan).space[0].bytes.0
    };
    assert_eq!(
        space(3) - space(1),
        2 * 230_000_000,
        "nothing grows in a read-only load"
    );
}

#[test]
fn what_is_wrong_is_reported() {
    let text = plan(
        "script = \"readwrite\"\nrows = 0\ntables = 1001\ndistribution = \"zipf\"\npoint_selects = -1\nrange_size = 0",
        "power_cut = \"5s\"\nkeying_and_think = 1.0",
    );
    assert_snapshot!(bad(&text), @r#"
    7:10: unknown value `readwrite`
      help: did you mean `read_write`?
    8:8: `rows` cannot be 0
      help: 1 to 1000000000 is possible
    9:10: `tables` cannot be 1001
      help: 1 to 1000 is possible
    10:16: unknown value `zipf`
      help: known here: `uniform`, `gaussian`, `special`, `pareto`, `zipfian`
    11:17: `point_selects` cannot be -1
      help: 0 to 1000 is possible
    12:14: `range_size` cannot be 0
      help: 1 to 1000000 is possible
    17:13: which transactions of `w` survive a power cut cannot be determined
      help: sysbench's tables keep no trace of them: use a tpcc workload, or remove it
    17:13: the power of the medium `m` cannot be cut
      help: only emulated drives can lose their power: give it a `drive`, or take it out of `on`
    18:20: `keying_and_think` is not supported for `w`
      help: sysbench's users neither type nor think: remove it, or set a `rate`
    "#);
    assert_snapshot!(bad(&plan("tables = 2", "")), @r#"
    6:1: `script` is missing
      help: state what a transaction does: script = "read_write"
    6:1: `rows` is missing
      help: state how much data: rows = 100000 (of each table, about 250 bytes each)
    "#);
    let both = plan("script = \"insert\"\nrows = 1", "")
        .replace("[[step]]", "[workload.w.tpcc]\nwarehouses = 1\n[[step]]");
    assert_snapshot!(bad(&both), @r#"
    6:1: `w` is a tpcc workload already
      help: make two workloads of it, each with a name of its own
    "#);
}

#[test]
fn what_changes_nothing_is_reported() {
    let parsed = good(&plan(
        "script = \"point_select\"\nrows = 10\npoint_selects = 3",
        "",
    ));
    assert_snapshot!(parsed.warnings[0], @"9:17: `point_selects` changes nothing for the script point_select");
    assert_eq!(
        resolved(&plan(
            "script = \"point_select\"\nrows = 10\npoint_selects = 3",
            ""
        ))
        .point_selects,
        10
    );
}
