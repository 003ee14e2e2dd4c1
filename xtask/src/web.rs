//! The report's charts: TypeScript and ECharts in web/, bundled into web/dist.

use std::path::Path;
use std::time::SystemTime;

use crate::exec::{Task, because, failed, program, root};

const NODE_MIN: u32 = 18;

pub fn run() -> Task {
    let web = root().join("web");
    if !web.join("package.json").is_file() {
        return failed("web/package.json is not there: this checkout is not complete");
    }
    if up_to_date(&web)? {
        eprintln!(
            "web: web/dist is newer than its sources; nothing to do (remove web/dist to build it anyway)"
        );
        return Ok(());
    }
    node_is_there()?;
    let install = if web.join("package-lock.json").is_file() {
        "ci"
    } else {
        "install"
    };
    for args in [
        &[install, "--no-audit", "--no-fund"][..],
        &["run", "check"],
        &["run", "build"],
    ] {
        program("npm", args).current_dir(&web).run()?;
    }
    if span(&web.join("dist"))?.is_none() {
        return failed("web: npm run build ended well but left nothing in web/dist");
    }
    Ok(())
}

fn node_is_there() -> Task {
    let next = format!("install Node {NODE_MIN} or later: script/quickstart does, or prints how");
    let Ok(text) = program("node", &["--version"]).output() else {
        return failed(format!(
            "web: the charts are bundled by Node, which is not there; {next}"
        ));
    };
    match major(&text) {
        Some(major) if major >= NODE_MIN => Ok(()),
        _ => failed(format!("web: node is {}, too old; {next}", text.trim())),
    }
}

fn major(version: &str) -> Option<u32> {
    version
        .trim()
        .trim_start_matches('v')
        .split('.')
        .next()?
        .parse()
        .ok()
}

/// No file of dist is older than the newest source. In an archive of the sources all have one time.
fn up_to_date(web: &Path) -> Task<bool> {
    let Some((oldest_built, _)) = span(&web.join("dist"))? else {
        return Ok(false);
    };
    let mut sources = Vec::new();
    for entry in std::fs::read_dir(web).map_err(because(web.display()))? {
        let path = entry.map_err(because(web.display()))?.path();
        if !path.ends_with("dist") && !path.ends_with("node_modules") {
            sources.extend(span(&path)?.map(|(_, newest)| newest));
        }
    }
    Ok(sources
        .into_iter()
        .max()
        .is_some_and(|newest_source| newest_source <= oldest_built))
}

/// The oldest and the newest time of change of the files at or under a path; `None` where there is no file.
fn span(path: &Path) -> Task<Option<(SystemTime, SystemTime)>> {
    if !path.exists() {
        return Ok(None);
    }
    if !path.is_dir() {
        let time = path
            .metadata()
            .and_then(|data| data.modified())
            .map_err(because(path.display()))?;
        return Ok(Some((time, time)));
    }
    let mut all: Option<(SystemTime, SystemTime)> = None;
    for entry in std::fs::read_dir(path).map_err(because(path.display()))? {
        let Some((low, high)) = span(&entry.map_err(because(path.display()))?.path())? else {
            continue;
        };
        all = Some(all.map_or((low, high), |(oldest, newest)| {
            (oldest.min(low), newest.max(high))
        }));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, create_dir_all, remove_dir_all};
    use std::time::Duration;

    fn write(path: &Path, age_s: u64) {
        create_dir_all(path.parent().expect("a file in a directory")).expect("directory");
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - age_s);
        File::create(path)
            .and_then(|file| file.set_modified(time))
            .expect("file");
    }

    #[test]
    fn dist_is_up_to_date_only_when_all_of_it_is_newer_than_every_source() {
        let web = std::env::temp_dir().join(format!("plimsoll-xtask-web-{}", std::process::id()));
        write(&web.join("src/deep/chart.ts"), 50);
        assert!(!up_to_date(&web).expect("readable"), "nothing is built");
        write(&web.join("dist/report.js"), 40);
        write(&web.join("node_modules/x/y.js"), 1);
        assert!(up_to_date(&web).expect("readable"));
        write(&web.join("package.json"), 30);
        assert!(
            !up_to_date(&web).expect("readable"),
            "package.json changed after"
        );
        write(&web.join("dist/report.js"), 20);
        assert!(up_to_date(&web).expect("readable"));
        write(&web.join("dist/old.css"), 60);
        assert!(
            !up_to_date(&web).expect("readable"),
            "one file of dist is older"
        );
        remove_dir_all(&web).expect("removed");
    }

    #[test]
    fn versions_of_node() {
        assert_eq!(major("v18.20.4\n"), Some(18));
        assert_eq!(major("nonsense"), None);
    }
}
