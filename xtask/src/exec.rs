//! Running other programs, and how a task fails.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

pub type Task<T = ()> = Result<T, Failure>;

#[derive(Debug)]
pub enum Failure {
    /// The task ran and the answer is no, or could not run. What, where, and what to do next.
    Failed(String),
    Usage(String),
    /// Measured well, and the goal is not met.
    Missed(String),
}

impl Failure {
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
            Self::Missed(_) => 3,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(text) | Self::Usage(text) | Self::Missed(text) => f.write_str(text),
        }
    }
}

pub fn failed<T>(text: impl Into<String>) -> Task<T> {
    Err(Failure::Failed(text.into()))
}

/// For `map_err`: what was tried, then the system's words.
pub fn because<E: fmt::Display>(what: impl fmt::Display) -> impl FnOnce(E) -> Failure {
    move |why| Failure::Failed(format!("{what}: {why}"))
}

/// The checkout: where cargo runs us, or where it compiled us.
pub fn root() -> PathBuf {
    let manifest =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&manifest)
        .parent()
        .map(Path::to_path_buf)
        .unwrap_or_default()
}

/// A program to run in the checkout, its output going where ours goes.
pub struct Program(Command);

pub fn program(name: &str, args: &[&str]) -> Program {
    let mut command = Command::new(name);
    command.args(args).current_dir(root());
    Program(command)
}

pub fn cargo(args: &[&str]) -> Program {
    program(
        &std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()),
        args,
    )
}

impl Program {
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.0.env(name, value);
        self
    }

    pub fn current_dir(mut self, dir: &Path) -> Self {
        self.0.current_dir(dir);
        self
    }

    /// The command as one would type it in the checkout.
    pub fn line(&self) -> String {
        let name = Path::new(self.0.get_program())
            .file_name()
            .unwrap_or(self.0.get_program());
        let args = self
            .0
            .get_args()
            .map(|arg| format!(" {}", arg.to_string_lossy()))
            .collect::<String>();
        let envs = self
            .0
            .get_envs()
            .filter_map(|(key, value)| Some((key, value?)));
        let envs: String = envs
            .map(|(k, v)| format!("{}={} ", k.to_string_lossy(), v.to_string_lossy()))
            .collect();
        let dir = self
            .0
            .get_current_dir()
            .and_then(|dir| dir.strip_prefix(root()).ok())
            .filter(|dir| *dir != Path::new(""));
        let cd = dir
            .map(|dir| format!("cd {} && ", dir.display()))
            .unwrap_or_default();
        format!("{cd}{envs}{}{args}", name.to_string_lossy())
    }

    pub fn run(mut self) -> Task {
        match self.0.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => failed(format!("{} ended with {status}", self.line())),
            Err(why) => failed(format!("{} could not be started: {why}", self.line())),
        }
    }

    /// Standard output; standard error goes where ours goes.
    pub fn output(mut self) -> Task<String> {
        match self.0.stderr(Stdio::inherit()).output() {
            Ok(out) if out.status.success() => {
                Ok(String::from_utf8_lossy(&out.stdout).into_owned())
            }
            Ok(out) => failed(format!("{} ended with {}", self.line(), out.status)),
            Err(why) => failed(format!("{} could not be started: {why}", self.line())),
        }
    }

    /// Starts, succeeds, and prints nothing.
    pub fn works(mut self) -> bool {
        self.0
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }
}

pub struct Timed<T> {
    pub result: T,
    pub took: Duration,
    /// user + system of the child processes that ended meanwhile, and of those they waited for.
    pub cpu: Duration,
}

pub fn timed<T>(work: impl FnOnce() -> T) -> Timed<T> {
    let (start, before) = (Instant::now(), children_cpu());
    Timed {
        result: work(),
        took: start.elapsed(),
        cpu: children_cpu().saturating_sub(before),
    }
}

fn children_cpu() -> Duration {
    getrusage(UsageWho::RUSAGE_CHILDREN)
        .map(|usage| duration(usage.user_time()) + duration(usage.system_time()))
        // Fails for no argument that exists.
        .unwrap_or_default()
}

fn duration(value: TimeVal) -> Duration {
    Duration::from_micros((value.tv_sec() * 1_000_000 + value.tv_usec()).unsigned_abs())
}

/// Waits for a child, and calls `look` with its id at once and ten times a second while it runs.
pub fn wait_and_watch(child: &mut Child, mut look: impl FnMut(u32)) -> std::io::Result<ExitStatus> {
    loop {
        look(child.id());
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_shows_as_one_would_type_it() {
        let shown = program("npm", &["run", "build"])
            .current_dir(&root().join("web"))
            .env("A", "b")
            .line();
        assert_eq!(shown, "cd web && A=b npm run build");
        assert_eq!(program("ls", &[]).line(), "ls");
    }

    #[test]
    fn a_program_that_fails_or_is_not_there_is_named() {
        let text = program("false", &["now"])
            .run()
            .expect_err("false")
            .to_string();
        assert!(text.contains("false now ended with"), "{text}");
        let text = program("/nowhere/at-all", &[])
            .output()
            .expect_err("not there")
            .to_string();
        assert!(text.contains("at-all could not be started"), "{text}");
        assert!(!program("false", &[]).works());
    }
}
