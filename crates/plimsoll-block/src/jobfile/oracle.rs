//! What fio would touch with a text, read as fio reads it: a second opinion on what the check lets through.

/// Options whose value fio opens, makes or runs, of all versions.
const PATHS: [&str; 12] = [
    "filename",
    "directory",
    "opendir",
    "replay_redirect",
    "read_iolog",
    "write_iolog",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "write_hist_log",
    "merge_blktrace_file",
    "dp_scheme",
];
const ENGINES: [&str; 22] = [
    "sync",
    "psync",
    "vsync",
    "pvsync",
    "pvsync2",
    "io_uring",
    "libaio",
    "linuxaio",
    "aio",
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
    "dircreate",
    "dirstat",
    "dirdelete",
];

/// The first line that names something outside which is not among `granted`, or has another effect outside.
pub fn first_escape<'t>(text: &'t str, granted: &[String]) -> Option<&'t str> {
    text.split('\n').find(|line| escapes(line, granted))
}

fn escapes(line: &str, granted: &[String]) -> bool {
    // fio cuts a line there, and takes the rest of a long one for another.
    if line.contains(['\0', '\r', '\t', ';', '#', '`', '\'', '\\']) || line.len() > 4000 {
        return true;
    }
    if let Some(name) = line.strip_prefix('[') {
        return !is_plain(name.trim_end_matches(']'));
    }
    let mut parts = line.splitn(2, '=');
    let mut part = || parts.next().unwrap_or_default();
    let option = part();
    let value = part();
    let is_granted = |path: &str| granted.iter().any(|granted| granted == path);
    match option {
        _ if option.starts_with("include") || option.starts_with("exec_") => true,
        "program"
        | "cgroup"
        | "ioscheduler"
        | "profile"
        | "uid"
        | "gid"
        | "allow_mounted_write" => true,
        "mem" | "iomem" => value.contains([':', '/', '.']),
        "ioengine" => !ENGINES.contains(&value),
        _ if PATHS.contains(&option) => value
            .split(':')
            .any(|path| (leads_out(path) || path.contains('$')) && !is_granted(path.trim())),
        "name" => !is_plain(value),
        "filename_format" => {
            let words = ["$jobname", "$jobnum", "$filenum"];
            let name = words
                .iter()
                .fold(value.to_owned(), |name, word| name.replace(word, "0"));
            !is_plain(&name)
        }
        _ => value.contains('$') && !["$ncpus", "$pagesize", "$mb_memory"].contains(&value),
    }
}

/// Whether fio makes a file of this name in its directory.
fn is_plain(name: &str) -> bool {
    !name.contains(['/', '$']) && !name.trim_matches(['.', ' ']).is_empty()
}

fn leads_out(path: &str) -> bool {
    let path = path.trim();
    path.starts_with('/') || path == "-" || path.split('/').any(|part| part.trim() == "..")
}
