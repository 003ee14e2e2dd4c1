//! What the tests of the command line share: a place of their own, the program, and the search for leftovers.

pub mod server;

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use serde_json::Value;
use tempfile::TempDir;

/// A directory with a medium, a directory for temporary files, and room for plans and run files.
pub struct Place {
    dir: TempDir,
}

impl Default for Place {
    fn default() -> Self {
        Self::new()
    }
}

impl Place {
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("plim").tempdir().unwrap();
        for name in ["", "medium", "tmp"] {
            let path = dir.path().join(name);
            fs::create_dir_all(&path).unwrap();
            // A server that root starts runs as another user, who has to get in.
            fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        }
        Self { dir }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn medium(&self) -> PathBuf {
        self.path("medium")
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    /// A plan on this place's medium: one warehouse, then what is special about it.
    pub fn plan(&self, engine: &str, step: &str) -> PathBuf {
        let medium = self.medium();
        self.write(
            "plan.toml",
            &format!(
                "title = \"Test\"\n[medium.here]\npath = {medium:?}\n[system.db]\nengine = \"{engine}\"\n\
                 [workload.oltp.tpcc]\nwarehouses = 1\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"\n{step}\n"
            ),
        )
    }

    /// Puts tables that are loaded in a moment into the plan, for what does not depend on the data.
    pub fn small_data(&self) {
        const TPCC: &str = "tpcc]\nwarehouses = 1\n";
        const SMALL: &str = "sysbench]\nscript = \"read_write\"\ntables = 1\nrows = 1000\n";
        let text = fs::read_to_string(self.path("plan.toml")).unwrap();
        assert!(text.contains(TPCC), "{text}");
        self.write("plan.toml", &text.replace(TPCC, SMALL));
    }

    /// The program with this place as its working directory and nothing of the tester's environment that matters.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PG"))
        {
            command.env_remove(name);
        }
        command
            .args(args)
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        command
            .env("TMPDIR", self.path("tmp"))
            .env("NO_COLOR", "1")
            .env_remove("RUST_LOG");
        command
    }

    /// A run in virtual time draws the same inputs each time, unless a seed is given: its figures are then exact.
    pub fn run(&self, args: &[&str]) -> Outcome {
        let draws = args.first() == Some(&"run")
            && args.contains(&"--virtual-time")
            && !args.contains(&"--seed");
        let seed: &[&str] = if draws { &["--seed", "1"] } else { &[] };
        self.start(&[args, seed].concat()).wait()
    }

    /// Runs `plan.toml`, with all its times longer until what was measured is enough for the test: in two seconds a
    /// starved machine may do nothing at all. One that fails is not tried again. Gives how the run ended and the export of
    /// `x.run`.
    pub fn run_until(&self, enough: impl Fn(&Value) -> bool) -> (Outcome, Value) {
        for scale in ["1", "4", "10"] {
            let outcome = self.run(&["run", "plan.toml", "-o", "x.run", "--scale", scale]);
            let json = self.opens("x.run");
            if outcome.code != Some(0) || enough(&json) || scale == "10" {
                return (outcome, json);
            }
            fs::remove_file(self.path("x.run")).unwrap();
        }
        unreachable!("the last scale is enough for all")
    }

    /// Runs print all their tables, which tests read.
    pub fn start(&self, args: &[&str]) -> Background {
        let prints_tables = matches!(args.first(), Some(&("run" | "bench")))
            && !args.contains(&"--format")
            && !args.contains(&"--help");
        let verbose: &[&str] = if prints_tables { &["--verbose"] } else { &[] };
        self.start_command(self.command(&[args, verbose].concat()))
    }

    /// Starts the program in the background; its output goes to files.
    pub fn start_command(&self, mut command: Command) -> Background {
        let output = tempfile::Builder::new()
            .prefix("output")
            .tempdir_in(self.dir.path())
            .unwrap();
        let file = |name: &str| File::create(output.path().join(name)).unwrap();
        let child = command
            .stdout(file("out"))
            .stderr(file("err"))
            .spawn()
            .unwrap();
        Background {
            child,
            output,
            place: self.dir.path().into(),
        }
    }

    /// The run file as `plimsoll export` gives it.
    pub fn export(&self, run: &str) -> Value {
        let outcome = self.run(&["export", run, "--to", "json"]);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        serde_json::from_str(&outcome.stdout).unwrap()
    }

    /// What a query gives of the run file, a row for each object.
    pub fn rows(&self, run: &str, sql: &str) -> Vec<Value> {
        let db = rusqlite::Connection::open(self.path(run)).unwrap();
        let mut statement = db.prepare(sql).unwrap();
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let value = |row: &rusqlite::Row<'_>, i: usize| match row.get_ref(i).unwrap() {
            rusqlite::types::ValueRef::Null | rusqlite::types::ValueRef::Blob(_) => Value::Null,
            rusqlite::types::ValueRef::Integer(n) => n.into(),
            rusqlite::types::ValueRef::Real(n) => n.into(),
            rusqlite::types::ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        };
        let object = |row: &rusqlite::Row<'_>| {
            let fields = names
                .iter()
                .enumerate()
                .map(|(i, name)| (name.clone(), value(row, i)));
            Ok(Value::Object(fields.collect()))
        };
        statement
            .query_map([], object)
            .unwrap()
            .map(Result::unwrap)
            .collect()
    }

    /// Of a run that failed before it measured anything.
    pub fn expect_no_run(&self, file: &str) {
        let beside = ["", "-wal", "-shm"].map(|suffix| self.path(&format!("{file}{suffix}")));
        assert!(beside.iter().all(|path| !path.exists()), "{file}");
    }

    /// The run file opens with report and with every export.
    pub fn opens(&self, run: &str) -> Value {
        let json = self.export(run);
        for table in ["ladder", "seconds", "series"] {
            let empty = table == "ladder" && json["summary"]["ladders"] == Value::Array(Vec::new());
            let csv = self
                .run(&["export", run, "--to", "csv", "--table", table])
                .succeeded();
            assert!(
                empty || csv.stdout.lines().next().unwrap().contains(','),
                "{table}: {}",
                csv.stdout
            );
        }
        let report = self.run(&["report", run, "-o", "report.html"]).succeeded();
        assert_eq!(report.stdout.trim(), "report.html");
        let html = fs::read_to_string(self.path("report.html")).unwrap();
        assert!(
            html.starts_with("<!") && html.trim_end().ends_with("</html>"),
            "a whole page"
        );
        fs::remove_file(self.path("report.html")).unwrap();
        assert_eq!(glob(self.dir.path(), ".part"), [] as [PathBuf; 0]);
        json
    }

    /// Nothing on the medium, no process at work in this place, no directory for sockets.
    pub fn expect_clean(&self) {
        self.expect_clean_but(&[]);
    }

    pub fn expect_clean_but(&self, left: &[&str]) {
        for dir in [self.medium(), self.path("tmp")] {
            let found: Vec<String> = fs::read_dir(&dir)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
                .filter(|name| !left.contains(&name.as_str()))
                .collect();
            assert_eq!(found, [] as [String; 0], "left in {}", dir.display());
        }
        let processes = processes_in(self.dir.path());
        assert_eq!(processes, [] as [(i32, String); 0], "left running");
    }
}

fn glob(dir: &Path, suffix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir)
        .unwrap()
        .flatten()
        .map(|entry| entry.path());
    entries
        .filter(|path| path.to_string_lossy().ends_with(suffix))
        .collect()
}

/// Processes whose command line or working directory lies in a place.
pub fn processes_in(place: &Path) -> Vec<(i32, String)> {
    let own = std::process::id().cast_signed();
    let processes = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            let command = String::from_utf8_lossy(&fs::read(entry.path().join("cmdline")).ok()?)
                .replace('\0', " ");
            let works_in = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
            let zombie = fs::read_to_string(entry.path().join("stat"))
                .is_ok_and(|stat| stat.contains(") Z "));
            let here = command.contains(&*place.to_string_lossy()) || works_in.starts_with(place);
            (pid != own && here && !zombie).then_some((pid, command))
        });
    processes.collect()
}

/// Every point has done something, of TPC-C a New-Order.
pub fn worked(json: &Value) -> bool {
    let points = json["summary"]["ladders"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|ladder| ladder["points"].as_array());
    let mut rates = points.flatten().map(|point| {
        point["nopm"]["value"]
            .as_f64()
            .or(point["completed_per_second"]["value"].as_f64())
    });
    rates.all(|rate| rate.is_some_and(|rate| rate > 0.0))
}

/// The point is invalid because the server of plimsoll's own died under it.
pub fn expect_died(point: &Value) {
    assert_eq!(point["verdict"], "invalid", "{point}");
    let findings = point["findings"].as_array().unwrap();
    let died = findings
        .iter()
        .find(|finding| finding["event"] == "server_died");
    assert_eq!(
        died.unwrap_or_else(|| panic!("no reason: {point}"))["severity"],
        "error",
        "{point}"
    );
}

/// The postmaster at work in a place.
pub fn postmaster(place: &Path) -> Option<i32> {
    // Its children show a title (`postgres: …`) in place of the path and options.
    processes_in(place)
        .into_iter()
        .find(|(_, command)| command.contains("postgres -D"))
        .map(|(pid, _)| pid)
}

pub fn send(pid: i32, signal: Signal) {
    rustix::process::kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// So long does nothing take that is under way, not even where the host gives a quarter of its processors' time.
const HUNG: Duration = Duration::from_secs(400);
const POLL: Duration = Duration::from_millis(20);

/// Polls until it holds; the test fails when it must hang. A poll that reads all of /proc, or starts a program, takes a fifth
/// of the time at most.
pub fn wait_for<T>(what: &str, mut get: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        let polled = Instant::now();
        if let Some(got) = get() {
            return got;
        }
        assert!(began.elapsed() < HUNG, "waited too long for {what}");
        std::thread::sleep((polled.elapsed() * 4).clamp(POLL, POLL * 10));
    }
}

/// A filesystem in memory, unmounted when dropped.
pub struct Tmpfs(PathBuf);

impl Tmpfs {
    pub fn mount(at: &Path, size: &str) -> Self {
        let options = format!("size={size},mode=755");
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(at)
            .status();
        assert!(status.unwrap().success(), "mounting takes root");
        Self(at.into())
    }

    /// Makes it smaller, as is allowed while less than that is in use. A file that fills it would take memory.
    pub fn shrink(&self, size: &str) {
        let options = format!("remount,size={size}");
        let status = Command::new("mount")
            .args(["-o", &options])
            .arg(&self.0)
            .status();
        assert!(
            status.unwrap().success(),
            "{} cannot be made smaller",
            self.0.display()
        );
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// The program while it runs. Dropped, it and its servers end at once.
pub struct Background {
    child: Child,
    output: TempDir,
    place: PathBuf,
}

impl Background {
    pub fn stderr(&self) -> String {
        fs::read_to_string(self.output.path().join("err")).unwrap()
    }

    fn stdout(&self) -> String {
        fs::read_to_string(self.output.path().join("out")).unwrap()
    }

    pub fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    pub fn signal(&self, signal: Signal) {
        send(self.pid(), signal);
    }

    /// Waits until stderr holds the words.
    pub fn wait_for_message(&mut self, words: &str) {
        wait_for(words, || {
            let stderr = self.stderr();
            let ended = self.child.try_wait().unwrap();
            assert!(
                stderr.contains(words) || ended.is_none(),
                "ended with {ended:?} without {words:?}: {stderr}"
            );
            stderr.contains(words).then_some(())
        });
    }

    /// Waits until it has done something of the first type while it measured, and has written at least two seconds.
    pub fn until_measured(&mut self, run: &str) {
        self.until_measured_for(run, 2);
    }

    /// As [`Self::until_measured`], of so many seconds.
    pub fn until_measured_for(&mut self, run: &str, seconds: u32) {
        const SQL: &str =
            "SELECT count(DISTINCT tick.id) >= ?1 AND total(outcome.committed) > 0 FROM tick
                           LEFT JOIN outcome ON outcome.tick = tick.id AND outcome.txn = 0
                           JOIN phase ON phase.id = tick.phase WHERE phase.kind = 'measure'";
        let (path, flags) = (
            self.place.join(run),
            rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY,
        );
        let done = || -> rusqlite::Result<bool> {
            rusqlite::Connection::open_with_flags(&path, flags)?
                .query_row(SQL, [seconds], |row| row.get(0))
        };
        wait_for("measured seconds", || {
            let ended = self.child.try_wait().unwrap();
            assert!(
                ended.is_none(),
                "ended with {ended:?} before it had measured: {}",
                self.stderr()
            );
            matches!(done(), Ok(true)).then_some(())
        });
    }

    pub fn wait(mut self) -> Outcome {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(began.elapsed() < HUNG, "does not end: {}", self.stderr());
            std::thread::sleep(Duration::from_millis(10));
        };
        let outcome = Outcome {
            code: status.code(),
            stdout: self.stdout(),
            stderr: self.stderr(),
        };
        for word in [
            "panicked",
            "RUST_BACKTRACE",
            "stack backtrace",
            "fault of plimsoll",
        ] {
            assert!(
                !outcome.stderr.contains(word) && !outcome.stdout.contains(word),
                "{outcome:?}"
            );
        }
        outcome
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_some()) {
            return;
        }
        // Only when a test fails, or wants the program dead.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            for (pid, _) in processes_in(&self.place) {
                let _ = rustix::process::kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
            }
        }
    }
}

pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl std::fmt::Debug for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            code,
            stdout,
            stderr,
        } = self;
        write!(
            f,
            "exit code {code:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}"
        )
    }
}

impl Outcome {
    #[track_caller]
    pub fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Ended with this code, and every phrase is on stderr.
    #[track_caller]
    pub fn failed(self, code: i32, phrases: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        for phrase in phrases {
            assert!(
                self.stderr.contains(phrase),
                "{phrase:?} is not in:\n{self:?}"
            );
        }
        self
    }

    /// As [`Self::failed`], and nothing went to stdout: it was refused before it began.
    #[track_caller]
    pub fn refused(self, phrases: &[&str]) -> Self {
        assert_eq!(self.stdout, "");
        self.failed(2, phrases)
    }
}

/// A run that was recorded and is kept.
pub fn run_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../runs")
        .join(name)
}
