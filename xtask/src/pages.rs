//! Pages of every kind, opened in Chromium: axe-core finds nothing, none is wider than its window, keys suffice. And a
//! run of twelve systems while it goes on.

use std::fs;
use std::path::{Path, PathBuf};

use crate::exec::{Task, because, program, root};

const QUICKSTART: &str = "runs/2026-11-25-vm-2cpu/quickstart.plimsoll";
const BEFORE: &str = "runs/2026-11-20-vm-2cpu/quickstart.plimsoll";

/// What makes each kind of page, and its file.
const PAGES: [(&[&str], &str); 7] = [
    (&["report", QUICKSTART], "run.html"),
    (
        &["report", "runs/2026-11-21-vm-2cpu/load-line.plimsoll"],
        "line.html",
    ),
    (
        &["report", "runs/2026-11-21-vm-2cpu/storage.plimsoll"],
        "block.html",
    ),
    (&["report", "target/pages/x.set"], "set.html"),
    (&["compare", QUICKSTART, BEFORE], "compare.html"),
    (&["audit", QUICKSTART], "audit.html"),
    (&["drive", "list"], "catalog.html"),
];

const SET: &str = r#"
title = "What latency costs"
[system.db]
mock = { latency = "1ms" }
[workload.oltp.tpcc]
warehouses = 1
[[step]]
run = "oltp"
system = "db"
users = [1, 2]
ramp = "1s"
measure = "5s"
[matrix]
system.db.mock.latency = ["1ms", "4ms"]
repeat = 2
"#;

/// By this program, which is built already.
pub fn run(plimsoll: &Path) -> Task {
    run_live(plimsoll)?;
    run_files(plimsoll)
}

/// The page of a run while it goes on, which takes as long as the run.
pub fn run_live(plimsoll: &Path) -> Task {
    let dir = empty_dir("live")?;
    let live = ["web/test/live.mjs", &text(plimsoll), &text(&dir)];
    program("node", &live).run()
}

/// Pages that are files. Nothing in them goes by time, so that they may be checked on a busy machine.
pub fn run_files(plimsoll: &Path) -> Task {
    let dir = empty_dir("pages")?;
    let plimsoll = text(plimsoll);
    let plan = dir.join("set.toml");
    fs::write(&plan, SET).map_err(because(plan.display()))?;
    let [plan, set] = [&plan, &dir.join("x.set")].map(|path| text(path));
    program(
        &plimsoll,
        &["run", &plan, "-o", &set, "--virtual-time", "--quiet"],
    )
    .output()?;
    let mut test = vec!["web/test/pages.mjs".to_owned()];
    for (make, file) in PAGES {
        let page = text(&dir.join(file));
        let words: Vec<&str> = make.iter().copied().chain(["-o", &page]).collect();
        // A comparison that must not be quoted has an exit code of its own.
        let made = program(&plimsoll, &words).output();
        if !Path::new(&page).is_file() {
            made?;
        }
        test.push(page);
    }
    let test: Vec<&str> = test.iter().map(String::as_str).collect();
    program("node", &test).run()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// An empty directory below `target`.
fn empty_dir(name: &str) -> Task<PathBuf> {
    let dir = root().join("target").join(name);
    if dir.exists() {
        fs::remove_dir_all(&dir).map_err(because(dir.display()))?;
    }
    fs::create_dir_all(&dir).map_err(because(dir.display()))?;
    Ok(dir)
}
