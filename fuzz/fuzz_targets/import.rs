//! Any text as the output of one tool, which the environment variable `TOOL` names (`fio`, `pgbench-log`, …).

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use plimsoll_analysis::summarise;
use plimsoll_import::{ImportOptions, SourceFile, Tool, import};
use plimsoll_plan::units::Nanos;
use plimsoll_record::{RunInfo, RunStatus};

static TOOL: LazyLock<Tool> = LazyLock::new(|| {
    let name = std::env::var("TOOL").expect("TOOL names whose output it is, such as fio");
    name.parse()
        .expect("TOOL is one of the names of `plimsoll import --tool`")
});

fn options() -> ImportOptions {
    let run = RunInfo {
        id: "fuzz".into(),
        title: "Fuzz".into(),
        plimsoll_version: "0".into(),
        plimsoll_commit: "0".into(),
        command: String::new(),
        seed: 0,
        started_at: String::new(),
        lasted: Nanos::ZERO,
        status: RunStatus::Complete,
        failure: None,
    };
    ImportOptions {
        run,
        step: None,
        started: None,
        users: None,
        medium: None,
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    // fio's logs are known by their names.
    let source = SourceFile {
        name: "job_lat.1.log",
        text,
        tool: Some(*TOOL),
    };
    if let Ok(imported) = import(&[source], &options()) {
        // What was accepted has figures.
        let _ = summarise(&imported.record);
    }
});
