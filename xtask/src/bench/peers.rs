//! `bench peers`: what a transaction costs the client, and how many there are, beside the tools that people use today:
//! on the same server, alternating, in one session. Medians and ranges over the rounds.

use crate::exec::{Failure, Task};

use super::figures::figure;
use super::server::{Kind, Server};
use super::{Options, Plimsoll, SETTINGS, USERS, child, plan, plan_of, tpcc};

mod benchbase;
mod gotpc;
mod hammerdb;
mod installed;
mod report;
mod sysbench;

use installed::InstalledPeers;
use report::{Goal, Line, render};

/// Client CPU per transaction, µs.
const POSTGRES_PROCEDURES_US: f64 = 18.0;
const MARIADB_PROCEDURES_US: f64 = 30.0;
/// go-tpc took 543 and 480 µs on such a machine.
const POSTGRES_STATEMENTS_US: f64 = 180.0;
const MARIADB_STATEMENTS_US: f64 = 230.0;
/// Of sysbench's own CPU, same server, same rounds.
const TO_SYSBENCH: f64 = 0.6;
/// Per warehouse.
const LOAD_CPU_S: f64 = 0.6;
const LOAD_WALL_S: f64 = 2.5;

const ROUNDS: usize = 3;
const MARIADB_SETTINGS: [&str; 4] = [
    "innodb_buffer_pool_size=512M",
    "innodb_log_file_size=512M",
    "max_connections=40",
    "innodb_flush_method=O_DIRECT",
];
const MYSQL_SETTINGS: [&str; 5] = [
    "innodb_buffer_pool_size=512M",
    "innodb_redo_log_capacity=512M",
    "max_connections=40",
    "local_infile=1",
    "disable_log_bin=ON",
];

/// One run of one contender.
#[derive(Debug, Clone, Copy)]
struct Run {
    cpu_us: f64,
    per_second: f64,
    /// New orders per minute, of TPC-C only.
    nopm: Option<f64>,
}

/// Who takes part: a name, and how it is run once.
struct Contender<'a> {
    name: String,
    goal: Goal,
    run: Box<dyn Fn() -> Task<Run> + 'a>,
}

pub fn run(options: &Options) -> Task {
    let plimsoll = Plimsoll::build()?;
    let mut missed = 0;
    for (kind, settings) in [
        (Kind::Postgres, &SETTINGS[..]),
        (Kind::Mariadb, &MARIADB_SETTINGS[..]),
        (Kind::Mysql, &MYSQL_SETTINGS[..]),
    ] {
        if kind == Kind::Mysql && kind.binaries().is_none() {
            println!("MySQL: not measured; script/mysql gets it");
            continue;
        }
        let peers = InstalledPeers::find(kind, &plimsoll.work)?;
        let server = Server::start_on_a_port(kind, &options.dir, settings)?;
        let bench = Bench {
            plimsoll: &plimsoll,
            server: &server,
            peers: &peers,
            options,
        };
        missed += bench.compare()?;
    }
    if missed == 0 {
        Ok(())
    } else {
        Err(Failure::Missed(format!("{missed} goal(s) missed")))
    }
}

struct Bench<'a> {
    plimsoll: &'a Plimsoll,
    server: &'a Server,
    peers: &'a InstalledPeers,
    options: &'a Options,
}

impl Bench<'_> {
    /// How many goals were missed.
    fn compare(&self) -> Task<usize> {
        let name = self.server.kind().name();
        let mut missed = self.load()?;
        sysbench::prepare(self.server)?;
        self.peers.prepare(self.server, self.options.warehouses)?;
        if self.server.kind() == Kind::Postgres {
            let scale = self.options.warehouses.to_string();
            child::measure(
                self.server
                    .client("pgbench")
                    .args(["-i", "-I", "tGvp", "-q", "-s", &scale]),
            )?;
        }
        let contenders = self.contenders();
        let mut runs: Vec<Vec<Run>> = contenders.iter().map(|_| Vec::new()).collect();
        for round in 1..=ROUNDS {
            for (contender, runs) in contenders.iter().zip(&mut runs) {
                eprintln!(
                    "bench: {name}, round {round} of {ROUNDS}: {}",
                    contender.name
                );
                runs.push((contender.run)()?);
            }
        }
        let lines: Vec<Line> = contenders
            .iter()
            .zip(&runs)
            .map(|(c, runs)| Line::new(&c.name, c.goal, runs))
            .collect();
        let lines = report::judged(lines);
        let seconds = self.options.seconds;
        println!(
            "{name}: {USERS} users, {ROUNDS} rounds of {seconds} s each, median (least to most)"
        );
        print!("{}", render(&lines));
        missed += lines.iter().filter(|line| line.is_missed()).count();
        Ok(missed)
    }

    /// All of a run with one second of load is counted as loading, but for that second's wall time: an upper bound.
    fn load(&self) -> Task<usize> {
        let warehouses = self.options.warehouses;
        let run = self.plimsoll.run(
            "peers-load",
            &plan(self.server, "procedures", warehouses, 1, 0, 1),
        )?;
        let cpu = run.cost.cpu.as_secs_f64() / f64::from(warehouses);
        let wall = (run.cost.wall.as_secs_f64() - 1.0) / f64::from(warehouses);
        println!("plimsoll's load, per warehouse: {cpu:.2} s of client CPU, {wall:.2} s wall");
        if self.server.kind() != Kind::Mariadb {
            return Ok(0);
        }
        let missed = [(cpu, LOAD_CPU_S, "client CPU"), (wall, LOAD_WALL_S, "wall")];
        let missed = missed
            .into_iter()
            .filter(|(seconds, goal, _)| seconds > goal);
        Ok(missed
            .inspect(|(_, goal, what)| println!("  missed: at most {goal} s {what}"))
            .count())
    }

    fn contenders(&self) -> Vec<Contender<'_>> {
        let (procedures, statements) = match self.server.kind() {
            Kind::Postgres => (POSTGRES_PROCEDURES_US, POSTGRES_STATEMENTS_US),
            // The sessions are the same.
            Kind::Mariadb | Kind::Mysql => (MARIADB_PROCEDURES_US, MARIADB_STATEMENTS_US),
        };
        let warehouses = self.options.warehouses;
        let mut all = vec![
            self.own(
                "TPC-C-derived, procedures",
                "procedures",
                tpcc("procedures", warehouses),
                Goal::Us(procedures),
            ),
            self.own(
                "TPC-C-derived, statements",
                "statements",
                tpcc("statements", warehouses),
                Goal::Us(statements),
            ),
            Contender {
                name: "sysbench oltp_read_write".into(),
                goal: Goal::None,
                run: Box::new(|| sysbench::run(self.server, self.options.seconds)),
            },
            self.own(
                "sysbench read_write by plimsoll",
                "sysbench",
                sysbench::workload(),
                Goal::OfPrevious(TO_SYSBENCH),
            ),
        ];
        all.extend(self.hammerdb());
        all.extend(self.over_tcp());
        if self.server.kind() == Kind::Postgres {
            all.push(self.pgbench("pgbench, TPC-B-like, prepared", &[]));
            all.push(self.pgbench("pgbench -S, prepared", &["-S"]));
        }
        all
    }

    fn hammerdb(&self) -> Option<Contender<'_>> {
        let hammerdb = self.peers.hammerdb.as_ref()?;
        let seconds = self.options.seconds;
        let run = move || hammerdb.run(self.server, seconds);
        Some(Contender {
            name: hammerdb.title(seconds),
            goal: Goal::None,
            run: Box::new(run),
        })
    }

    /// go-tpc, BenchBase, and the same of plimsoll's.
    fn over_tcp(&self) -> Vec<Contender<'_>> {
        let Options {
            warehouses,
            seconds,
            ..
        } = *self.options;
        let mut all = Vec::new();
        if self.peers.go_tpc {
            all.push(Contender {
                name: "go-tpc, TCP".into(),
                goal: Goal::None,
                run: Box::new(move || gotpc::run(self.server, warehouses, seconds)),
            });
        }
        if let Some(benchbase) = &self.peers.benchbase {
            all.push(Contender {
                name: benchbase.title().into(),
                goal: Goal::None,
                run: Box::new(move || benchbase.run(self.server, warehouses, seconds)),
            });
        }
        if self.peers.has_one_over_tcp() {
            let url = self.server.tcp_url("postgres");
            let workload = tpcc("statements", warehouses);
            all.push(Contender {
                name: "plimsoll: TPC-C-derived, statements, TCP".into(),
                goal: Goal::None,
                run: Box::new(move || self.run_own(&url, "statements", &workload)),
            });
        }
        all
    }

    fn own<'a>(
        &'a self,
        name: &str,
        schema: &'a str,
        workload: String,
        goal: Goal,
    ) -> Contender<'a> {
        Contender {
            name: format!("plimsoll: {name}"),
            goal,
            run: Box::new(move || self.run_own(&self.server.url("postgres"), schema, &workload)),
        }
    }

    fn run_own(&self, url: &str, schema: &str, workload: &str) -> Task<Run> {
        let plan = plan_of(url, schema, workload, USERS, 2, self.options.seconds);
        let run = self.plimsoll.run(&format!("peers-{schema}"), &plan)?;
        let is_tpcc = workload.starts_with("tpcc");
        Ok(Run {
            cpu_us: figure(&run.json, "generator_cpu_us_per_txn")?,
            per_second: figure(&run.json, "completed_per_second")?,
            nopm: is_tpcc.then(|| figure(&run.json, "nopm")).transpose()?,
        })
    }

    fn pgbench(&self, name: &str, words: &'static [&'static str]) -> Contender<'_> {
        Contender {
            name: name.into(),
            goal: Goal::None,
            run: Box::new(move || self.run_pgbench(words)),
        }
    }

    fn run_pgbench(&self, words: &[&str]) -> Task<Run> {
        let users = USERS.to_string();
        let seconds = self.options.seconds.to_string();
        let mut command = self.server.client("pgbench");
        command
            .args([
                "-n", "-M", "prepared", "-c", &users, "-j", "1", "-T", &seconds,
            ])
            .args(words);
        let cost = child::measure(&mut command)?;
        let count = super::client::transactions(&cost.stdout)?;
        Ok(Run {
            cpu_us: cost.cpu.as_secs_f64() * 1e6 / count,
            per_second: count / f64::from(self.options.seconds),
            nopm: None,
        })
    }
}
