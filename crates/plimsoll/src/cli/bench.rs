//! Arguments of `plimsoll bench`. Flags are named as in pgbench and sysbench where they mean the same.

use std::path::PathBuf;

use clap::Args;
use plimsoll_plan::duration;
use plimsoll_plan::resolved::{ServerKind, redact};
use plimsoll_plan::units::{Bytes, Nanos};

use super::flags::RunFlags;
use super::value::{positive, size, time};

#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub struct BenchArgs {
    /// sqlite, postgres or mariadb (plimsoll starts a server in DIR and removes it), block (storage alone, by fio), or
    /// the URL of a running server: postgres://user@host/database. Put its password in PGPASSWORD or MYSQL_PWD.
    #[arg(value_name = "SYSTEM|URL", value_parser = target)]
    pub target: BenchTarget,
    /// A directory on the drive to measure; of block also a device, which --overwrite must name too.
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Emulate these drives below DIR and compare them: nvme, sata, disk, or names that `plimsoll drive list` shows,
    /// or arrays such as raid5:6:sata.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub drive: Vec<String>,
    /// How many users work at the same time, each load after the other [default: 1,4,8; two drives 1,4; more drives 4].
    #[arg(short = 'c', long, visible_aliases = ["client", "threads"], value_name = "LIST", value_delimiter = ',',
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub users: Vec<u32>,
    /// How long each load is measured: 60, 60s or 5m [default: 10s; with --find 20s].
    #[arg(short = 'T', long, value_name = "SECONDS", value_parser = time)]
    pub time: Option<Nanos>,
    /// Load before each measurement, of which no figures are taken [default: 2s; with --find 5s].
    #[arg(long, value_name = "SECONDS", value_parser = time)]
    pub warmup_time: Option<Nanos>,
    /// How often each load is measured; figures are then medians with intervals [default: 4; with --find 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub repeat: Option<u32>,
    /// Offer so many transactions per second, whether or not the system keeps up (open loop).
    #[arg(short = 'R', long, value_name = "LIST", value_delimiter = ',', value_parser = positive)]
    pub rate: Vec<f64>,
    /// Find the highest rate (with --users: number of users) that meets an objective of New-Orders: p99=20ms, mean=5ms.
    #[arg(long, value_name = "OBJECTIVE", value_parser = objective)]
    pub find: Option<BenchObjective>,
    /// Size of the data: one warehouse takes about 100 MB [default: 1; servers 4].
    #[arg(short = 's', long, visible_alias = "scale", value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub warehouses: Option<u32>,
    /// Of a URL: the only schema that plimsoll creates and uses there [default: plimsoll_tpcc].
    #[arg(long, value_name = "NAME")]
    pub schema: Option<String>,
    /// Of block: the jobs, a name that `plimsoll profile list` shows [default: four-corners-maximum].
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Of block: size of the test file, such as 4G [default: the profile's, else 1 GiB].
    #[arg(long, value_parser = size)]
    pub size: Option<Bytes>,
    /// Also write the plan that is run, with comments.
    #[arg(long, value_name = "FILE")]
    pub save_plan: Option<PathBuf>,
    /// Where the run file goes [default: TITLE-TIME.plimsoll in the current directory].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub flags: RunFlags,
}

const EXAMPLES: &str = "Examples:
  plimsoll bench sqlite . --drive nvme,sata            what an NVMe drive would change
  plimsoll bench postgres /mnt/data --users 1,2,4,8 --time 60
  plimsoll bench postgres://bench@db.example.org/test --find p99=20ms
  plimsoll bench block /mnt/data --profile four-corners";

impl BenchArgs {
    /// `bench postgres URL` is `bench URL`.
    ///
    /// # Errors
    /// The URL, without its password, when it is not one of that system.
    pub fn with_url_as_target(&self) -> Result<Self, String> {
        let place = self.dir.to_string_lossy();
        if !place.contains("://") {
            return Ok(self.clone());
        }
        let server = ServerKind::of_url(&place).map(|server| server.engine().name());
        match &self.target {
            BenchTarget::Engine(engine) if server == Some(engine) => Ok(Self {
                target: BenchTarget::Url(place.into_owned()),
                dir: ".".into(),
                ..self.clone()
            }),
            _ => Err(redact(&place)),
        }
    }
}

/// What is put under load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BenchTarget {
    /// `sqlite`, `postgres`, `mariadb`, or `mock` for tests.
    Engine(&'static str),
    Url(String),
    Block,
}

/// `p99=20ms`: the key of the plan, and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchObjective {
    pub written: String,
    pub key: String,
    pub milliseconds: f64,
}

fn target(text: &str) -> Result<BenchTarget, String> {
    const ENGINES: [&str; 4] = ["sqlite", "postgres", "mariadb", "mock"];
    match ENGINES.into_iter().find(|engine| *engine == text) {
        Some(engine) => Ok(BenchTarget::Engine(engine)),
        None if text == "block" => Ok(BenchTarget::Block),
        None if text.contains("://") => Ok(BenchTarget::Url(text.to_owned())),
        None => Err(
            "give sqlite, postgres, mariadb, block, or a URL such as postgres://user@host/database"
                .into(),
        ),
    }
}

fn objective(text: &str) -> Result<BenchObjective, String> {
    const KEYS: [&str; 7] = ["mean", "p50", "p90", "p95", "p99", "p999", "max"];
    let wrong = || {
        format!(
            "give an objective such as p99=20ms; names are {}",
            KEYS.join(", ")
        )
    };
    let (name, limit) = text.split_once('=').ok_or_else(wrong)?;
    let key = KEYS
        .into_iter()
        .find(|key| *key == name)
        .ok_or_else(wrong)?;
    let limit = duration::parse(limit).map_err(|_| wrong())?;
    Ok(BenchObjective {
        written: format!("{key} ≤ {limit}"),
        key: format!("{key}_ms"),
        milliseconds: limit.as_millis_f64(),
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn a_url_after_the_name_of_its_system_is_the_target() {
        let of = |line: &str| {
            let cli = crate::cli::Cli::try_parse_from(line.split(' ')).unwrap();
            let crate::cli::CliCommand::Bench(args) = cli.command else {
                panic!("{cli:?}")
            };
            args.with_url_as_target().map(|args| args.target)
        };
        assert_eq!(
            of("plimsoll bench postgres postgres://u@h/d"),
            Ok(BenchTarget::Url("postgres://u@h/d".into()))
        );
        assert_eq!(
            of("plimsoll bench mariadb postgres://u:secret@h/d"),
            Err("postgres://u:***@h/d".into())
        );
        assert!(of("plimsoll bench block mysql://h").is_err());
        assert_eq!(of("plimsoll bench block ."), Ok(BenchTarget::Block));
    }

    #[test]
    fn targets_times_and_objectives_are_read() {
        assert_eq!(target("sqlite"), Ok(BenchTarget::Engine("sqlite")));
        assert!(matches!(target("postgres://h/d"), Ok(BenchTarget::Url(_))));
        assert!(target("sqlte").is_err() && target("/mnt/data").is_err());
        assert_eq!(
            (time("60"), time("2m")),
            (Ok(Nanos::from_secs(60)), Ok(Nanos::from_secs(120)))
        );
        assert!(time("-1").is_err() && time("x").is_err());
        let found = objective("p99=20ms").unwrap();
        assert_eq!((found.key.as_str(), found.milliseconds), ("p99_ms", 20.0));
        assert!(
            ["p99", "p98=20ms", "p99=20"]
                .iter()
                .all(|bad| objective(bad).is_err())
        );
    }
}
