//! `plimsoll bench`: makes the plan that one line asks for, and runs it as any other.

use std::fmt::Write;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use plimsoll_plan::quoted_toml as quoted;
use plimsoll_plan::resolved::{redact, redact_word};
use plimsoll_plan::units::Nanos;
use plimsoll_plan::write_size;

use super::run::{parsed, run_text};
use crate::bundled::PlanText;
use crate::cli::{BenchArgs, BenchTarget, Cli, CliCommand, RunArgs};
use crate::drive_file;
use crate::failure::Failure;
use crate::output::write_whole;
use crate::output_kind::OutputKind;
use crate::terminal::note;

/// Windows below it may hold no two checkpoints of a server at its usual settings.
const HOLDS_CHECKPOINTS: Nanos = Nanos::from_secs(600);
/// More points are measured once each, so that all of them take no hour.
const MOST_REPEATED_POINTS: usize = 12;
const REPEATS: u32 = 4;
const TIMES: LoadTimes = LoadTimes {
    warm: Nanos::from_secs(2),
    measure: Nanos::from_secs(10),
};
/// Of a simulation: nothing disturbs its windows, and a second of a fast drive takes about a second of a processor.
const SIMULATED_TIMES: LoadTimes = LoadTimes {
    warm: Nanos::from_millis(500),
    measure: Nanos::from_secs(3),
};
const SIMULATED_REPEATS: u32 = 3;
/// Close to its limit a server works off what came in while its sessions were cold, for seconds; and a stop of a tenth of a
/// second is a p99 by itself in a window of ten.
const SEARCH_TIMES: LoadTimes = LoadTimes {
    warm: Nanos::from_secs(5),
    measure: Nanos::from_secs(20),
};
const FIRST_RATE: f64 = 100.0;
/// Enough for 3,000 transactions a second of 10 ms each. More sessions take longer to warm up at the rates of a search.
const SEARCH_USERS: u32 = 32;
const DEFAULT_PROFILE: &str = "four-corners-maximum";

pub fn bench(args: &BenchArgs) -> Result<ExitCode, Failure> {
    let args = &args.with_url_as_target().map_err(|url| {
        Failure::usage(format!(
            "{url} is no directory, and no URL of the system to measure\n\
             Give the URL alone (plimsoll bench {url}), or a directory."
        ))
    })?;
    if args.dir.to_str().is_none() {
        return Err(Failure::usage(format!(
            "cannot measure in {}\nIts name is no text in UTF-8, which plans are.\nGive it another name, or a symbolic link \
             to it.",
            crate::shell::quoted(&args.dir)
        )));
    }
    let plan = PlanText {
        name: "plimsoll bench".to_owned(),
        text: BenchPlan::new(args)?.text()?,
    };
    if let Some(path) = &args.save_plan {
        parsed(&plan.name, &plan.text, &drive_file::options())?;
        write_whole(path, &redact(&plan.text), &OutputKind::New)?;
        note!("Plan:     {}", path.display());
    }
    run_text(&run_args(args), plan)
}

/// What `plimsoll run` is given for the plan.
fn run_args(args: &BenchArgs) -> RunArgs {
    RunArgs {
        plan: args.save_plan.clone().unwrap_or_else(|| "-".into()),
        output: args.output.clone(),
        resume: None,
        cell: None,
        slurm: None,
        scale: 1.0,
        data_scale: 1.0,
        flags: args.flags.clone(),
    }
}

/// The plan of `plimsoll bench sqlite`, to start from.
pub(super) fn starting_plan() -> Result<String, Failure> {
    match Cli::try_parse_from(["plimsoll", "bench", "sqlite"]).map(|cli| cli.command) {
        Ok(CliCommand::Bench(args)) => BenchPlan::new(&args)?.text(),
        _ => Err(Failure::run("plimsoll bench sqlite is no command any more")),
    }
}

/// Of a load, where none are given.
struct LoadTimes {
    warm: Nanos,
    measure: Nanos,
}

/// Where the data of a bench run are: an emulated drive, or DIR itself.
struct BenchMedium {
    /// As typed.
    name: String,
    drive: Option<String>,
}

struct BenchPlan<'a> {
    args: &'a BenchArgs,
    media: Vec<BenchMedium>,
}

impl<'a> BenchPlan<'a> {
    fn new(args: &'a BenchArgs) -> Result<Self, Failure> {
        let media = match &args.target {
            BenchTarget::Url(_) | BenchTarget::Engine("mock") => Vec::new(),
            _ if args.drive.is_empty() => vec![BenchMedium {
                name: "here".to_owned(),
                drive: None,
            }],
            _ => args
                .drive
                .iter()
                .map(|name| emulated(name))
                .collect::<Result<_, Failure>>()?,
        };
        let plan = Self { args, media };
        match plan.unused_flag() {
            None => Ok(plan),
            Some((flag, why)) => Err(Failure::usage(format!(
                "{flag} cannot be used here: {why}\nLeave it out, or see plimsoll bench --help."
            ))),
        }
    }

    /// A flag that would change nothing, and why.
    fn unused_flag(&self) -> Option<(&'static str, &'static str)> {
        let args = self.args;
        let is_block = args.target == BenchTarget::Block;
        let is_elsewhere = self.media.is_empty() && !args.drive.is_empty();
        let is_url = matches!(args.target, BenchTarget::Url(_));
        let has_no_place = self.media.is_empty() && args.dir != Path::new(".");
        let storage = "bench block measures storage without users and transactions";
        [
            ("--drive", is_elsewhere, "the data of a running server lie where they lie"),
            ("DIR", has_no_place, "the data of a running server lie where they lie"),
            ("--schema", !is_url && args.schema.is_some(), "only a running server, given by its URL, has schemas of others"),
            ("--users", is_block && !args.users.is_empty(), storage),
            ("--rate", is_block && !args.rate.is_empty(), storage),
            ("--find", is_block && args.find.is_some(), storage),
            ("--warehouses", is_block && args.warehouses.is_some(), storage),
            ("--profile", !is_block && args.profile.is_some(), "only bench block has profiles"),
            ("--size", !is_block && args.size.is_some(), "it is the size of the test file of bench block; --warehouses is that of a database"),
        ]
        .into_iter()
        .find_map(|(flag, is_unused, why)| is_unused.then_some((flag, why)))
    }

    fn text(&self) -> Result<String, Failure> {
        let mut out = String::from(
            "# Made by plimsoll bench. Run it with: plimsoll run FILE (--dry-run shows its time and space).\n\
             # `plimsoll schema` has all keys, `plimsoll plans` other plans.\n",
        );
        self.write(&mut out)
            .map_err(|error| Failure::run(error.to_string()))?;
        Ok(out)
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "\ntitle = {}", quoted(&self.title()))?;
        if self.args.flags.emulate {
            writeln!(out, "emulate = true")?;
        }
        self.write_media(out)?;
        match self.args.target {
            BenchTarget::Block => {
                self.write_block(out)?;
                self.write_block_step(out)
            }
            BenchTarget::Engine(_) | BenchTarget::Url(_) => {
                self.write_system(out)?;
                self.write_load_step(out)
            }
        }
    }

    fn title(&self) -> String {
        let system = match &self.args.target {
            BenchTarget::Block => return format!("How fast is the storage {}?", self.place()),
            BenchTarget::Url(url) => format!("the server {}", server(url)).trim_end().to_owned(),
            BenchTarget::Engine("sqlite") => "SQLite".to_owned(),
            BenchTarget::Engine("postgres") => "PostgreSQL".to_owned(),
            BenchTarget::Engine("mariadb") => "MariaDB".to_owned(),
            BenchTarget::Engine(other) => (*other).to_owned(),
        };
        let objective = self.args.find.as_ref();
        let objective = objective.map(|find| format!("with New-Order {}", find.written));
        let parts = [
            system,
            "handle".to_owned(),
            self.place(),
            objective.unwrap_or_default(),
        ];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        format!("How much load can {}?", parts.join(" "))
    }

    /// Nothing for a running server.
    fn place(&self) -> String {
        let names: Vec<&str> = self
            .media
            .iter()
            .map(|medium| medium.name.as_str())
            .collect();
        match names.as_slice() {
            [] => String::new(),
            _ if self.args.drive.is_empty() => match self.args.dir.display().to_string().as_str() {
                "." => "in this directory".to_owned(),
                dir => format!("in {dir}"),
            },
            [one] => format!("on {one}"),
            [first @ .., last] => format!("on {} and {last}", first.join(", ")),
        }
    }

    fn write_media(&self, out: &mut String) -> std::fmt::Result {
        let dir = self.args.dir.display().to_string();
        for medium in &self.media {
            match &medium.drive {
                Some(drive) => writeln!(
                    out,
                    "\n# A modeled drive: `plimsoll drive show {drive}`. `path` is where its files or its directory are.\n\
                     [medium.{}]\ndrive = {}\npath = {}",
                    quoted(&medium.name),
                    quoted(drive),
                    quoted(&dir)
                )?,
                None if self.args.target == BenchTarget::Block && is_device(&self.args.dir) => {
                    writeln!(
                        out,
                        "\n# Everything on it is lost.\n[medium.here]\ndevice = {}",
                        quoted(&dir)
                    )?
                }
                None => writeln!(
                    out,
                    "\n# Where the data lie. plimsoll makes a directory of its own in it, and removes it.\n\
                     [medium.here]\npath = {}",
                    quoted(&dir)
                )?,
            }
        }
        Ok(())
    }

    fn write_system(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "\n[system.db]")?;
        let is_server = !matches!(self.args.target, BenchTarget::Engine("sqlite" | "mock"));
        match &self.args.target {
            BenchTarget::Url(url) => writeln!(
                out,
                "# plimsoll keeps to this schema, and changes no setting of the server.\n\
                 url = {}\nschema = {}",
                quoted(url),
                quoted(self.args.schema.as_deref().unwrap_or("plimsoll_tpcc"))
            )?,
            BenchTarget::Engine("mock") => writeln!(out, "mock = {{ latency = \"10ms\" }}")?,
            BenchTarget::Engine(engine) => {
                writeln!(out, "engine = {}", quoted(engine))?;
                match *engine {
                    "postgres" => writeln!(out, "settings = {{ shared_buffers = \"256MB\" }}")?,
                    "mariadb" => {
                        writeln!(out, "settings = {{ innodb_buffer_pool_size = \"256M\" }}")?
                    }
                    _ => {}
                }
            }
            BenchTarget::Block => {}
        }
        let warehouses = self
            .args
            .warehouses
            .unwrap_or(if is_server { 4 } else { 1 });
        writeln!(
            out,
            "\n# TPC-C-derived order entry. One warehouse takes about 100 MB.\n\
             [workload.oltp.tpcc]\nwarehouses = {warehouses}"
        )?;
        if is_server && self.times().measure < HOLDS_CHECKPOINTS {
            writeln!(
                out,
                "\n# These windows are too short for checkpoints of the server. Remove it if `measure` is 10 minutes or more.\n\
                 [audit]\ncheckpoints = 0"
            )?;
        }
        Ok(())
    }

    fn write_load_step(&self, out: &mut String) -> std::fmt::Result {
        let args = self.args;
        writeln!(out, "\n[[step]]\nrun = \"oltp\"\nsystem = \"db\"")?;
        self.write_on(out)?;
        match (&args.find, args.rate.as_slice(), args.users.as_slice()) {
            (None, [], _) => {
                writeln!(
                    out,
                    "# So many users at the same time; each begins anew when its last transaction has ended."
                )?;
                writeln!(out, "users = {:?}", self.users())?;
            }
            (Some(_), [], [first, ..]) => {
                writeln!(
                    out,
                    "# The search begins with so many users.\nusers = {first}"
                )?;
            }
            (find, rates, users) => {
                let meaning = match find {
                    Some(_) => "The search begins at so many transactions per second.",
                    None => "So many transactions per second, whether or not the system keeps up.",
                };
                let rates = match (find, rates) {
                    (None, many @ [_, _, ..]) => format!("{many:?}"),
                    (_, rates) => rates.first().unwrap_or(&FIRST_RATE).to_string(),
                };
                let users_by_default = if find.is_some() { SEARCH_USERS } else { 64 };
                let most = users.iter().max().unwrap_or(&users_by_default);
                writeln!(
                    out,
                    "# {meaning} `users` is how many can be under way at once.\n\
                     rate = {rates}\narrivals = \"poisson\"\nusers = {most}"
                )?;
            }
        }
        if let Some(find) = &args.find {
            writeln!(
                out,
                "find = {{ {} = {}, of = \"new_order\" }}",
                find.key, find.milliseconds
            )?;
        }
        let repeats = match args.find {
            Some(_) => 1,
            None if self.is_simulated() => SIMULATED_REPEATS,
            None => REPEATS,
        };
        self.write_times(out, args.repeat.unwrap_or(repeats))?;
        writeln!(out, "check = \"end_of_step\"")
    }

    /// Fewer loads for more drives, so that all of it takes minutes.
    fn users(&self) -> Vec<u32> {
        match (self.args.users.as_slice(), self.media.len()) {
            ([], 0 | 1) => vec![1, 4, 8],
            ([], 2) => vec![1, 4],
            ([], _) => vec![4],
            (users, _) => users.to_vec(),
        }
    }

    fn write_block(&self, out: &mut String) -> std::fmt::Result {
        let profile = self.profile();
        writeln!(
            out,
            "\n# `plimsoll profile show {profile}` has the jobs.\n\
             [workload.storage.block]\nprofile = {}",
            quoted(profile)
        )?;
        match self.args.size {
            Some(size) => writeln!(out, "size = {}", quoted(&write_size(size))),
            None => Ok(()),
        }
    }

    fn write_block_step(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "\n[[step]]\nrun = \"storage\"")?;
        self.write_on(out)?;
        let points = plimsoll_plan::profile::find(self.profile()).map_or(0, |profile| {
            let of_job = profile.jobs.iter().map(|job| 1 + job.curve.len());
            of_job.sum::<usize>() * self.media.len()
        });
        let repeats = if points > MOST_REPEATED_POINTS {
            1
        } else {
            REPEATS
        };
        self.write_times(out, self.args.repeat.unwrap_or(repeats))
    }

    fn profile(&self) -> &str {
        self.args.profile.as_deref().unwrap_or(DEFAULT_PROFILE)
    }

    fn write_on(&self, out: &mut String) -> std::fmt::Result {
        let names: Vec<String> = self
            .media
            .iter()
            .map(|medium| quoted(&medium.name))
            .collect();
        match names.is_empty() {
            true => Ok(()),
            false => writeln!(out, "on = [{}]", names.join(", ")),
        }
    }

    fn write_times(&self, out: &mut String, repeats: u32) -> std::fmt::Result {
        let LoadTimes { warm, measure } = self.times();
        let short = match self.is_simulated() {
            true => "simulated seconds have nothing that disturbs them",
            false => "windows below 10 s are too short for the audit",
        };
        writeln!(
            out,
            "# Repeats give figures an interval; {short}.\n\
             repeat = {repeats}\nramp = \"{warm}\"\nmeasure = \"{measure}\""
        )
    }

    /// SQLite on modeled drives, unless they are to be emulated.
    fn is_simulated(&self) -> bool {
        let is_sqlite = self.args.target == BenchTarget::Engine("sqlite");
        is_sqlite && !self.args.drive.is_empty() && !self.args.flags.emulate
    }

    fn times(&self) -> LoadTimes {
        let usual = match self.args.find {
            Some(_) => SEARCH_TIMES,
            None if self.is_simulated() => SIMULATED_TIMES,
            None => TIMES,
        };
        LoadTimes {
            warm: self.args.warmup_time.unwrap_or(usual.warm),
            measure: self.args.time.unwrap_or(usual.measure),
        }
    }
}

fn emulated(name: &str) -> Result<BenchMedium, Failure> {
    let is_file = name.contains('/') || name.ends_with(".toml");
    let drive;
    let (name, drive) = match is_file {
        true => (
            Path::new(name)
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy(),
            name,
        ),
        false => {
            drive = drive_file::read(name)?.id;
            (medium_name(name).into(), drive.as_str())
        }
    };
    Ok(BenchMedium {
        name: name.into_owned(),
        drive: Some(drive.to_owned()),
    })
}

/// `raid5:6:sata` is called `raid5-6-sata`.
fn medium_name(drive: &str) -> String {
    drive.replace([':', '=', '+'], "-")
}

fn is_device(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.file_type().is_block_device())
}

/// `host:port` of a URL.
fn server(url: &str) -> String {
    let url = redact_word(url);
    let rest = url.split_once("://").map_or(&*url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or(rest);
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    host.to_owned()
}
