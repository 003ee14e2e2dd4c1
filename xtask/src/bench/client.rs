//! `bench client`: client CPU per transaction and per round trip, and memory, alternating with pgbench.

use crate::exec::{Failure, Task, because, failed};

use super::figures::figure;
use super::server::{Kind, Server};
use super::table::{Row, render};
use super::{Options, Plimsoll, SETTINGS, USERS, child, plan};

const PROCEDURES_CPU_US: f64 = 20.0;
const STATEMENTS_CPU_US: f64 = 200.0;
const TO_PGBENCH: f64 = 1.3;
const RSS_MB: f64 = 20.0;

/// The client's side of one mode.
struct Measured {
    cpu_us_per_txn: f64,
    round_trips_per_txn: f64,
    peak_rss_mb: f64,
}

/// What pgbench does, and so how often its client sleeps while the server works.
#[derive(Clone, Copy)]
enum Peer {
    /// `-S`: one read of one row; the server answers at once. The floor of what a round trip costs.
    SelectOnly,
    /// The built-in TPC-B-like script: seven statements, one of them a commit.
    TpcbLike,
    /// plimsoll's own Payment function: the same call, the same work of the server.
    Payment,
}

/// Client CPU per round trip of each peer, µs.
struct Peers {
    select_only: f64,
    tpcb_like: f64,
    payment: f64,
}

pub fn run(options: &Options) -> Task {
    let plimsoll = if options.pgbench_only {
        None
    } else {
        Some(Plimsoll::build()?)
    };
    let server = Server::start(Kind::Postgres, &options.dir, &SETTINGS)?;
    let scale = options.warehouses.to_string();
    child::measure(
        server
            .client("pgbench")
            .args(["-i", "-I", "tGvp", "-q", "-s", &scale]),
    )?;

    let mut floor = vec![pgbench_cpu_us(&server, options, Peer::SelectOnly)?];
    let mut rows = Vec::new();
    if let Some(plimsoll) = &plimsoll {
        let procedures = measure(plimsoll, &server, "procedures", options)?;
        let payment = pgbench_cpu_us(&server, options, Peer::Payment)?;
        floor.push(pgbench_cpu_us(&server, options, Peer::SelectOnly)?);
        let statements = measure(plimsoll, &server, "statements", options)?;
        let tpcb_like = pgbench_cpu_us(&server, options, Peer::TpcbLike)?;
        floor.push(pgbench_cpu_us(&server, options, Peer::SelectOnly)?);
        let select_only = floor.iter().sum::<f64>() / floor.len() as f64;
        rows = compare(
            &procedures,
            &statements,
            &Peers {
                select_only,
                tpcb_like,
                payment,
            },
        );
    }
    let runs: Vec<String> = floor.iter().map(|cpu| format!("{cpu:.2}")).collect();
    println!(
        "pgbench -S -M prepared -c {USERS} -j 1: client CPU per round trip {} µs",
        runs.join(", ")
    );
    print!(
        "{}",
        if rows.is_empty() {
            String::new()
        } else {
            render(&rows)
        }
    );
    match rows.iter().filter(|row| !row.is_met()).count() {
        0 => Ok(()),
        n => Err(Failure::Missed(format!("{n} goal(s) missed"))),
    }
}

fn measure(plimsoll: &Plimsoll, server: &Server, mode: &str, options: &Options) -> Task<Measured> {
    eprintln!(
        "bench: plimsoll, {mode}, {} warehouses, {USERS} users",
        options.warehouses
    );
    let plan = plan(server, mode, options.warehouses, USERS, 3, options.seconds);
    let run = plimsoll.run(&format!("client-{mode}"), &plan)?;
    Ok(Measured {
        cpu_us_per_txn: figure(&run.json, "generator_cpu_us_per_txn")?,
        round_trips_per_txn: figure(&run.json, "round_trips_per_txn")?,
        peak_rss_mb: run.cost.peak_rss as f64 / 1e6,
    })
}

/// A Payment as plimsoll sends it, with the tables of its procedures run.
const PAYMENT: &str = "\\set w random(1, :scale)
\\set d random(1, 10)
\\set c random(1, 3000)
\\set amount random(100, 500000)
SELECT plimsoll_payment(:w::integer, :d::integer, :w::integer, :d::integer, :c::integer, NULL::varchar, :amount / 100.0);
";

impl Peer {
    fn name(self) -> &'static str {
        match self {
            Self::SelectOnly => "-S",
            Self::TpcbLike => "TPC-B-like",
            Self::Payment => "plimsoll_payment()",
        }
    }

    /// Of one transaction.
    fn round_trips(self) -> f64 {
        match self {
            Self::SelectOnly | Self::Payment => 1.0,
            Self::TpcbLike => 7.0,
        }
    }
}

/// Client CPU of one round trip.
fn pgbench_cpu_us(server: &Server, options: &Options, peer: Peer) -> Task<f64> {
    let users = USERS.to_string();
    let seconds = options.seconds.to_string();
    let script = std::env::temp_dir().join(format!("plimsoll-payment-{}.sql", std::process::id()));
    let file = script.display().to_string();
    let words = match peer {
        Peer::SelectOnly => vec!["-S"],
        Peer::TpcbLike => vec![],
        Peer::Payment => vec!["-f", &file, "-s", "4"],
    };
    eprintln!(
        "bench: pgbench {} -M prepared, {users} users, {seconds} s",
        peer.name()
    );
    let mut command = server.client("pgbench");
    command
        .args([
            "-n", "-M", "prepared", "-c", &users, "-j", "1", "-T", &seconds,
        ])
        .args(&words);
    command.env("PGOPTIONS", "-c search_path=bench_procedures,public");
    std::fs::write(&script, PAYMENT).map_err(because(script.display()))?;
    let cost = child::measure(&mut command);
    std::fs::remove_file(&script).map_err(because(script.display()))?;
    let cost = cost?;
    Ok(cost.cpu.as_secs_f64() * 1e6 / transactions(&cost.stdout)? / peer.round_trips())
}

pub fn transactions(pgbench: &str) -> Task<f64> {
    const LINE: &str = "number of transactions actually processed: ";
    let Some(text) = pgbench.lines().find_map(|line| line.strip_prefix(LINE)) else {
        return failed(format!(
            "pgbench did not print how many transactions it did:\n{pgbench}"
        ));
    };
    let number = text
        .split(|c: char| !c.is_ascii_digit())
        .next()
        .unwrap_or_default();
    match number
        .parse::<u32>()
        .map_err(because(format!("pgbench's count '{text}'")))?
    {
        0 => failed("pgbench did no transaction"),
        n => Ok(n.into()),
    }
}

/// One round trip beside pgbench's: beside its fastest, and beside the run that sleeps as often.
fn per_trip(figure: &'static str, mode: &Measured, fastest: f64, alike: f64) -> [Row; 2] {
    let cpu = mode.cpu_us_per_txn / mode.round_trips_per_txn;
    [
        Row {
            to_pgbench: Some(cpu / fastest),
            ..Row::new(figure, "µs", cpu, Some(TO_PGBENCH * fastest))
        },
        Row {
            to_pgbench: Some(cpu / alike),
            ..Row::new(
                "  beside the pgbench run that sleeps as often",
                "µs",
                cpu,
                None,
            )
        },
    ]
}

fn compare(procedures: &Measured, statements: &Measured, peers: &Peers) -> Vec<Row> {
    let mut rows = vec![
        Row::new(
            "procedures: client CPU per transaction",
            "µs",
            procedures.cpu_us_per_txn,
            Some(PROCEDURES_CPU_US),
        ),
        Row::new(
            "statements: client CPU per transaction",
            "µs",
            statements.cpu_us_per_txn,
            Some(STATEMENTS_CPU_US),
        ),
    ];
    rows.extend(per_trip(
        "procedures: client CPU per round trip",
        procedures,
        peers.select_only,
        peers.payment,
    ));
    rows.extend(per_trip(
        "statements: client CPU per round trip",
        statements,
        peers.select_only,
        peers.tpcb_like,
    ));
    rows.extend([
        Row::new(
            "pgbench -S: client CPU per round trip",
            "µs",
            peers.select_only,
            None,
        ),
        Row::new(
            "pgbench, plimsoll_payment(): client CPU per call",
            "µs",
            peers.payment,
            None,
        ),
        Row::new(
            "pgbench, TPC-B-like: client CPU per round trip",
            "µs",
            peers.tpcb_like,
            None,
        ),
        Row::new(
            "procedures: round trips per transaction",
            "",
            procedures.round_trips_per_txn,
            None,
        ),
        Row::new(
            "statements: round trips per transaction",
            "",
            statements.round_trips_per_txn,
            None,
        ),
        Row::new(
            "procedures: peak memory (RSS)",
            "MB",
            procedures.peak_rss_mb,
            Some(RSS_MB),
        ),
        Row::new(
            "statements: peak memory (RSS)",
            "MB",
            statements.peak_rss_mb,
            Some(RSS_MB),
        ),
    ]);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pgbench_is_understood_or_refused() {
        let text = "scaling factor: 4\nnumber of transactions actually processed: 81234\nlatency average = 0.1 ms\n";
        assert_eq!(transactions(text).expect("a count"), 81234.0);
        assert_eq!(
            transactions("number of transactions actually processed: 12/12\n").expect("old form"),
            12.0
        );
        for rubbish in [
            "",
            "number of transactions actually processed: \n",
            "number of transactions actually processed: 0\n",
        ] {
            assert!(transactions(rubbish).is_err(), "{rubbish}");
        }
    }

    #[test]
    fn every_figure_is_compared_with_its_own_goal() {
        let procedures = Measured {
            cpu_us_per_txn: 18.0,
            round_trips_per_txn: 1.5,
            peak_rss_mb: 11.0,
        };
        let statements = Measured {
            cpu_us_per_txn: 300.0,
            round_trips_per_txn: 25.0,
            peak_rss_mb: 30.0,
        };
        let rows = compare(
            &procedures,
            &statements,
            &Peers {
                select_only: 10.0,
                tpcb_like: 8.0,
                payment: 16.0,
            },
        );
        let measured: Vec<f64> = rows.iter().map(|row| row.measured).collect();
        assert_eq!(
            measured,
            [
                18.0, 300.0, 12.0, 12.0, 12.0, 12.0, 10.0, 16.0, 8.0, 1.5, 25.0, 11.0, 30.0
            ]
        );
        let goals: Vec<f64> = rows.iter().filter_map(|row| row.goal).collect();
        assert_eq!(goals, [20.0, 200.0, 13.0, 13.0, 20.0, 20.0]);
        let missed: Vec<f64> = rows
            .iter()
            .filter(|row| !row.is_met())
            .map(|row| row.measured)
            .collect();
        assert_eq!(missed, [300.0, 30.0]);
        let ratios: Vec<f64> = rows.iter().filter_map(|row| row.to_pgbench).collect();
        assert_eq!(ratios, [1.2, 0.75, 1.2, 1.5]);
    }
}
