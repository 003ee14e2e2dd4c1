//! Outputs of other tools: `recorded/` was made by running them (fio 3.33 and 3.42, sysbench 1.0.20 and 1.1.0, pgbench
//! 15, sysstat 12.6, procps 4.0, vdbench 5.04.05 and 5.04.07, go-tpc at 682637f), `documented/` written after what is
//! documented (HammerDB, diskspd, older versions of go-tpc and vdbench), or a few lines of a published output
//! (`hammerdb_errors.txt`: github.com/siddhsql/hammerdb, `go_tpc_ch.txt`: TiDB's manual, "Run CH-benCHmark");
//! `published/` has the forms of outputs that people posted, with other names and figures where these were theirs.

mod broken;
mod disk;
mod fio;
mod fio_logs;
mod host;
mod joined;
mod loads;
mod oltp;
mod pgbench;
mod published;
mod sysbench;

use super::{ImportOptions, Imported, SourceFile, detect, import, tool_named, tools};
use plimsoll_plan::units::Nanos;
use plimsoll_record::{RunInfo, RunStatus};

macro_rules! outputs {
    ($($name:literal)*) => {
        /// Every output by its name.
        pub(super) const OUTPUTS: &[(&str, &str)] = &[$((
            $name,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/", $name)),
        )),*];
    };
}

outputs! {
    "recorded/fio_jsonplus.json" "recorded/fio_json.json" "recorded/fio_logs.json"
    "recorded/fio_l_lat.1.log" "recorded/fio_l_clat.1.log" "recorded/fio_l_slat.1.log" "recorded/fio_l_bw.1.log"
    "recorded/fio_l_iops.1.log" "recorded/fio_l_clat_hist.1.log"
    "recorded/fio_status.json" "recorded/fio_group.json" "recorded/fio_seq.json" "recorded/fio_seq_job_start.json"
    "recorded/fio_verify.json" "recorded/fio_rate.json" "recorded/fio_client.json" "recorded/fio_numjobs.json"
    "recorded/fio_unified_mixed.json" "recorded/fio_unified_both.json" "recorded/fio_epoch.json"
    "recorded/fio_n_iops.1.log" "recorded/fio_n_iops.2.log" "recorded/fio_n_iops.3.log" "recorded/fio_n_iops.4.log"
    "recorded/fio_e_iops.1.log" "recorded/fio_e_iops.2.log" "recorded/fio_shared_iops.log"
    "recorded/fio_gaps.json" "recorded/fio_g_iops.1.log" "recorded/fio_apart.json" "recorded/fio_client_group.json"
    "recorded/fio_section_rates.json" "recorded/fio_bssplit_rate.json"
    "recorded/fio_normal.txt" "recorded/fio_terse.txt" "recorded/iostat_seq.txt"
    "recorded/sysbench_interval.txt" "recorded/sysbench_histogram.txt" "recorded/sysbench_rate.txt"
    "recorded/sysbench_fileio.txt" "recorded/sysbench_two_runs.txt" "recorded/sysbench_memory.txt"
    "recorded/sysbench_cpu.txt" "recorded/sysbench_1_1.txt" "recorded/sysbench_1_1_fileio.txt"
    "recorded/pgbench_progress.txt" "recorded/pgbench_ts.txt" "recorded/pgbench_mix.txt" "recorded/pgbench_t.txt"
    "recorded/pgbench_rate.txt" "recorded/pgbench_l.txt"
    "recorded/pgbench_log.txt" "recorded/pgbench_rate_log.0.txt" "recorded/pgbench_rate_log.1.txt"
    "recorded/pgbench_two_runs.txt" "recorded/pgbench_sampling.txt" "recorded/pgbench_limit.txt"
    "recorded/pgbench_sampling_log.0.txt" "recorded/pgbench_sampling_log.1.txt"
    "recorded/pgbench_tries.txt" "recorded/pgbench_tries_log.txt" "recorded/pgbench_rate_tries.txt"
    "recorded/pgbench_rate_tries_log.0.txt" "recorded/pgbench_rate_tries_log.1.txt"
    "recorded/iostat_xt.txt" "recorded/iostat_d.txt" "recorded/iostat_plain.txt"
    "recorded/iostat_y.txt" "recorded/iostat_plain_y.txt" "recorded/iostat_pretty.txt" "recorded/iostat_json.json"
    "recorded/vmstat.txt" "recorded/vmstat_t.txt" "recorded/vmstat_w.txt" "recorded/mpstat.txt" "recorded/mpstat_all.txt"
    "recorded/mpstat_interrupts.txt" "recorded/mpstat_json.json"
    "documented/go_tpc.txt" "documented/hammerdb.txt" "documented/hammerdb_jobs.txt"
    "documented/vdbench_flatfile.html" "documented/vdbench_summary.html" "documented/diskspd.xml"
    "recorded/vdbench_50405_block_flatfile.html" "recorded/vdbench_50405_block_summary.html"
    "recorded/vdbench_50405_fs_flatfile.html" "recorded/vdbench_50405_fs_summary.html"
    "recorded/vdbench_50407_block_flatfile.html" "recorded/vdbench_50407_block_summary.html"
    "recorded/vdbench_50407_fs_flatfile.html" "recorded/vdbench_50407_fs_summary.html"
    "recorded/vdbench_50407_metadata_summary.html" "recorded/vdbench_50407_totals.html"
    "recorded/go_tpc_two_runs.txt" "recorded/go_tpc_json.txt" "recorded/go_tpc_table.txt" "recorded/go_tpc_wait.txt"
    "documented/hammerdb_errors.txt" "documented/go_tpc_ch.txt"
    "published/hammerdb_without_tabs.log" "published/pgbench_client_gone.txt" "published/pgbench_failed.txt"
    "published/fio_plain.json" "published/pgbench_p10.txt" "published/pgbench_server_13.txt"
    "published/pgbench_server_17.txt" "published/fio_long_name.json" "published/sysbench_0_4.txt"
    "published/sysbench_0_5.txt"
    "documented/hammerdb_profiles.txt" "documented/hammerdb_log.txt" "documented/diskspd_paced.xml"
}

pub(super) fn text(name: &str) -> &'static str {
    let found = OUTPUTS
        .iter()
        .find(|(own, _)| own.ends_with(&format!("/{name}")));
    found.unwrap_or_else(|| panic!("no output {name}")).1
}

pub(super) fn import_options() -> ImportOptions {
    let run = RunInfo {
        id: "run".into(),
        title: "Test".into(),
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

pub(super) fn of(names: &[&str]) -> Imported {
    let sources: Vec<SourceFile<'_>> = names
        .iter()
        .map(|name| SourceFile {
            name,
            text: text(name),
            tool: None,
        })
        .collect();
    import(&sources, &import_options()).unwrap_or_else(|error| panic!("{names:?}: {error}"))
}

#[test]
fn every_output_is_taken_for_what_it_is() {
    for (path, text) in OUTPUTS {
        let name = path.rsplit('/').next().unwrap();
        let is = match name {
            _ if name.starts_with("fio_") && name.ends_with(".log") => crate::fio_log::FORMAT.tool,
            _ if name.starts_with("pgbench_") && name.contains("_log")
                || name == "pgbench_log.txt" =>
            {
                crate::pgbench_log::FORMAT.tool
            }
            _ if name.starts_with("go_tpc") => crate::go_tpc::TOOL,
            _ => tool_named(name.split(['_', '.']).next().unwrap()).unwrap(),
        };
        assert_eq!(detect(name, text), Some(is), "{name}");
    }
    let users = (2..500).map(|user| format!("Vuser {user}:RUNNING\n"));
    let late = format!(
        "opyright (C) 2003-2020\nVuser 1:RUNNING\n{}",
        users.collect::<String>()
    );
    assert_eq!(
        detect("x.txt", &late),
        Some(crate::hammerdb::TOOL),
        "its result stands below hundreds of lines"
    );
    for text in ["", "\n\n", "hello\n", "{}\n", "1 2 3\n"] {
        assert_eq!(detect("x.txt", text), None, "{text:?}");
    }
}

#[test]
fn names_of_tools_are_read_back() {
    for tool in tools() {
        assert_eq!(tool_named(tool.name()), Some(tool));
    }
    assert_eq!(tool_named("fio_log"), None);
    assert_eq!(crate::pgbench_log::FORMAT.tool.name(), "pgbench-log");
}
