//! Programs that work on a drive whose run is over.

use std::path::Path;

use rustix::process::{Pid, Signal};

use super::names;

/// Kills every process that works in a directory on the drive in `dir`. For drives of a run, which no other program uses: when
/// the run was killed, its servers are still there, write to a drive that is about to be removed, and keep it busy.
pub fn end_users(dir: &Path) {
    let mounts = names::disk_mounts(dir).into_iter();
    let mounts: Vec<_> = mounts.filter_map(|own| own.canonicalize().ok()).collect();
    if mounts.is_empty() {
        return;
    }
    let own = std::process::id().cast_signed();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| *pid != own);
    for pid in pids {
        let cwd = std::fs::read_link(format!("/proc/{pid}/cwd"));
        let works_there = cwd.is_ok_and(|cwd| mounts.iter().any(|own| cwd.starts_with(own)));
        if let Some(pid) = Pid::from_raw(pid).filter(|_| works_there) {
            // One that has ended meanwhile is no trouble.
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_who_work_on_the_drive_are_ended() {
        let dir = tempfile::tempdir().unwrap();
        let mount = names::mount(dir.path());
        let inside = mount.join("data");
        std::fs::create_dir_all(&inside).unwrap();
        let sleeper = |cwd: &Path| {
            std::process::Command::new("sleep")
                .arg("60")
                .current_dir(cwd)
                .spawn()
                .unwrap()
        };
        let (mut on_it, mut beside) = (sleeper(&inside), sleeper(dir.path()));
        end_users(dir.path());
        assert!(!on_it.wait().unwrap().success());
        assert!(beside.try_wait().unwrap().is_none());
        beside.kill().unwrap();
        beside.wait().unwrap();
    }
}
