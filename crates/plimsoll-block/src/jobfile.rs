//! What a job file of fio's works on, before it is run as it is. Pure.
//!
//! A job file is an ini file (HOWTO, "Job file format"). It runs in a directory of its own, and what it makes there goes
//! again. Files and directories that it names elsewhere are listed, and so are options
//! whose effects cannot be determined.

use std::path::{Component, Path};

/// What a job file touches outside of its own directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outside {
    /// Files, directories and devices, as they are written.
    pub paths: Vec<String>,
    /// Options that start programs, read further files, or leave this machine: `exec_prerun=…`.
    pub options: Vec<String>,
}

/// Options whose value is the name of a file, or several with colons between them.
const NAMES: [&str; 3] = ["filename", "directory", "replay_redirect"];
/// Options whose value may be the name of a file that is written.
const LOGS: [&str; 9] = [
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "write_hist_log",
    "write_iolog",
    "merge_blktrace_file",
    "filename_format",
    "aux_path",
    "logfile",
];
/// Options whose effects cannot be determined.
const UNKNOWN: [&str; 6] = [
    "exec_prerun",
    "exec_postrun",
    "include",
    "read_iolog",
    "opendir",
    "program",
];
/// Engines that work on the files that are named, or on none.
const ENGINES: [&str; 17] = [
    "sync",
    "psync",
    "vsync",
    "pvsync",
    "pvsync2",
    "io_uring",
    "libaio",
    "posixaio",
    "mmap",
    "splice",
    "null",
    "cpuio",
    "falloc",
    "ftruncate",
    "filecreate",
    "filestat",
    "filedelete",
];

/// Reads a job file.
pub fn outside(text: &str) -> Outside {
    let mut found = Outside::default();
    for line in text.lines().map(str::trim) {
        if line.starts_with("include ") {
            found.options.push(line.to_owned());
        }
        let Some((key, value)) = line
            .split_once('=')
            .filter(|_| !line.starts_with([';', '#', '[']))
        else {
            continue;
        };
        let key = key.trim();
        let value = value.trim();
        if NAMES.contains(&key) {
            found
                .paths
                .extend(split(value).into_iter().filter(|path| !lies_inside(path)));
        } else if LOGS.contains(&key) {
            found
                .paths
                .extend(Some(value.to_owned()).filter(|path| !lies_inside(path)));
        }
        let engine = key == "ioengine" && !ENGINES.contains(&value);
        if UNKNOWN.contains(&key) || engine {
            found.options.push(format!("{key}={value}"));
        }
    }
    found
}

/// `a:b\:c`: two names, of which the second has a colon.
fn split(value: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => names
                .last_mut()
                .into_iter()
                .for_each(|name| name.extend(letters.next())),
            ':' => names.push(String::new()),
            letter => names
                .last_mut()
                .into_iter()
                .for_each(|name| name.push(letter)),
        }
    }
    names.into_iter().filter(|name| !name.is_empty()).collect()
}

/// Whether a name stays below the directory in which fio runs. What the environment inserts is unknown.
fn lies_inside(path: &str) -> bool {
    !path.contains("${")
        && path != "-"
        && Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_inside_the_directory_are_not_listed() {
        let text = "; a comment with filename=/dev/sda\n# filename=/dev/sdb\n[global]\nioengine = libaio\nrw=randrw\n\
                    filename=a:sub/b\nwrite_bw_log=mine\ndirectory=./here\n[job1]\nsize=1g\nstonewall\n";
        assert_eq!(outside(text), Outside::default());
    }

    #[test]
    fn names_outside_the_directory_are_listed() {
        let text = "[a]\nfilename=/dev/sda:b:/srv/x\\:y\n[b]\ndirectory = ../up\nwrite_iolog=/var/log/x\n[c]\n\
                    filename=${DISK}\n[d]\nreplay_redirect=/dev/sdc\n";
        let expected = [
            "/dev/sda",
            "/srv/x:y",
            "../up",
            "/var/log/x",
            "${DISK}",
            "/dev/sdc",
        ];
        assert_eq!(outside(text).paths, expected);
    }

    #[test]
    fn options_with_unknown_effects_are_listed() {
        let text = "include more.fio\n[a]\nexec_prerun=rm -rf /\nioengine=rbd\nread_iolog=trace\n";
        let expected = [
            "include more.fio",
            "exec_prerun=rm -rf /",
            "ioengine=rbd",
            "read_iolog=trace",
        ];
        assert_eq!(outside(text).options, expected);
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(text in "\\PC*", value in "[a-z:/\\\\.$\\{]*") {
            let _ = outside(&text);
            let found = outside(&format!("filename={value}\n"));
            prop_assert!(found.paths.iter().all(|path| !path.is_empty()));
        }
    }
}
