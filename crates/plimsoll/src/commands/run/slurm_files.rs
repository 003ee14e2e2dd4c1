//! What a job array has in the directory of its set: the script, the ids of its jobs, and the output of each task.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::cli::{RunArgs, RunFlags};
use crate::execute::program;
use crate::failure::Failure;
use crate::output::write_whole;
use crate::output_kind::OutputKind;
use crate::set::RunSet;
use crate::shell::quoted;
use crate::slurm::SlurmJobId;

/// How each script begins.
const SCRIPT_HEAD: &str = "#!/bin/sh
# One cell of a set of runs: the index in the job array is its number.
";

pub(super) struct SlurmFiles {
    /// Absolute, as all nodes have it.
    pub dir: PathBuf,
    pub script: PathBuf,
    jobs: PathBuf,
}

impl SlurmFiles {
    pub(super) fn of(set: &RunSet) -> Result<Self, Failure> {
        let dir = set.path.canonicalize().map_err(|error| {
            Failure::usage(format!("{} cannot be used: {error}", set.path.display()))
        })?;
        Ok(Self {
            script: dir.join("slurm.sh"),
            jobs: dir.join("slurm-jobs"),
            dir,
        })
    }

    pub(super) fn write_script(&self, text: &str) -> Result<(), Failure> {
        write_whole(
            &self.script,
            text,
            &OutputKind::Text(SCRIPT_HEAD.to_owned()),
        )
    }

    /// Arrays that were submitted for this set.
    pub(super) fn jobs(&self) -> Result<Vec<SlurmJobId>, Failure> {
        match fs::read_to_string(&self.jobs) {
            Ok(text) => Ok(text.lines().map(|id| SlurmJobId(id.to_owned())).collect()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(self.cannot_keep(&error)),
        }
    }

    pub(super) fn add_job(&self, job: &SlurmJobId) -> Result<(), Failure> {
        let file = File::options()
            .create(true)
            .append(true)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(&self.jobs);
        file.and_then(|mut file| writeln!(file, "{}", job.0))
            .map_err(|error| self.cannot_keep(&error))
    }

    fn cannot_keep(&self, error: &std::io::Error) -> Failure {
        Failure::run(format!(
            "{} cannot be used: {error}\nCheck the set's directory; `squeue --me` shows the jobs.",
            self.jobs.display()
        ))
    }

    /// For sbatch, which replaces `%a` by the cell's number.
    pub(super) fn log_pattern(&self) -> String {
        let dir = self.dir.display().to_string().replace('%', "%%");
        format!("{dir}/slurm-%3a.log")
    }

    /// The last error that a task printed, or its last line.
    pub(super) fn last_output(&self, cell: usize) -> String {
        let log = self.dir.join(format!("slurm-{cell:03}.log"));
        let Ok(bytes) = fs::read(&log) else {
            return format!(
                "no output: does the node have {} under this name?",
                self.dir.display()
            );
        };
        let text = String::from_utf8_lossy(&bytes);
        let mut backward = text.lines().rev();
        let error = backward.find(|line| line.starts_with("error: "));
        let last = error.or_else(|| text.trim_end().lines().next_back());
        format!("{} ({})", last.unwrap_or("no output").trim(), log.display())
    }
}

/// The script of a task. Secrets are not in it: they are in the environment, which sbatch hands on.
pub(super) fn script(args: &RunArgs, dir: &Path, plan: &Path) -> Result<String, Failure> {
    let program = quoted(program()?);
    let plan = dir.join(plan.file_name().unwrap_or_default());
    let words = [
        "run".to_owned(),
        quoted(&plan),
        "--resume".to_owned(),
        quoted(dir),
        "--cell \"$SLURM_ARRAY_TASK_ID\"".to_owned(),
    ];
    let words: Vec<String> = words.into_iter().chain(passed_on(args)).collect();
    Ok(format!(
        r#"{SCRIPT_HEAD}if [ ! -x {program} ]; then
    echo "error: "{program}" does not exist on $(hostname): install plimsoll under this name on all nodes" >&2
    exit 127
fi
exec {program} {}
"#,
        words.join(" ")
    ))
}

/// The options of the set, as words of a shell. A new option must be decided on here.
pub(super) fn passed_on(args: &RunArgs) -> Vec<String> {
    let RunArgs {
        plan: _,
        output: _,
        resume: _,
        cell: _,
        slurm: _,
        scale,
        data_scale,
        flags,
    } = args;
    let RunFlags {
        seed,
        overwrite,
        label,
        serve: _,
        dry_run: _,
        format: _,
        quiet: _,
        verbose,
        emulate,
        virtual_time,
    } = flags;
    let mut words = Vec::new();
    for (name, factor) in [("--scale", scale), ("--data-scale", data_scale)] {
        if *factor != 1.0 {
            words.push(format!("{name} {factor}"));
        }
    }
    words.extend(seed.map(|seed| format!("--seed {seed}")));
    for path in overwrite {
        words.push(format!("--overwrite {}", quoted(path)));
    }
    if let Some(label) = label {
        words.push(format!("--label={}", quoted(label)));
    }
    if *verbose {
        words.push("--verbose".into());
    }
    if *emulate {
        words.push("--emulate".into());
    }
    if *virtual_time {
        words.push("--virtual-time".into());
    }
    words
}
