//! The table of `cargo xtask bench intervals`. Arguments: how many trials, the first seed, and what the names of rows hold.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

mod cover;
mod noise;

use cover::{Coverage, LadderCoverage, Sides, Window};
use noise::Noise;

const SECONDS: [usize; 5] = [45, 60, 120, 300, 600];
const NOISES: [Noise; 7] = [
    Noise::Autoregressive(0.0),
    Noise::Autoregressive(0.5),
    Noise::Autoregressive(0.8),
    Noise::Autoregressive(0.95),
    Noise::MovingAverage(5),
    Noise::MovingAverage(20),
    Noise::Stalls,
];
const NOMINAL: f64 = 95.0;
/// On both sides of what is promised, in percent.
const LIMIT: f64 = 2.0;

/// A row of the table: an interval, and its coverage by the length of the window.
struct Row {
    name: String,
    cells: Vec<Cell>,
}

/// What is covered beside what is promised, in percent.
#[derive(Clone, Copy)]
struct Cell {
    coverage: Coverage,
    nominal: f64,
}

impl Cell {
    fn of(coverage: Coverage) -> Self {
        Self {
            coverage,
            nominal: NOMINAL,
        }
    }

    /// Of a parameter of which `truth` may be 0, where the interval is cut off and can miss on one side only.
    fn of_parameter(coverage: Coverage, truth: f64) -> Self {
        Self {
            coverage,
            nominal: if truth == 0.0 {
                (100.0 + NOMINAL) / 2.0
            } else {
                NOMINAL
            },
        }
    }

    fn is_kept(&self) -> bool {
        self.coverage
            .percent()
            .is_none_or(|percent| (percent - self.nominal).abs() <= LIMIT)
    }

    fn text(&self, trials: u64) -> String {
        let Some(percent) = self.coverage.percent() else {
            return "-".into();
        };
        let one_sided = if self.nominal > NOMINAL { "*" } else { "" };
        let off = if self.is_kept() { "" } else { "!" };
        let printed = u64::from(self.coverage.printed);
        let some = if printed < trials {
            format!(" of {printed}")
        } else {
            String::new()
        };
        format!("{percent:.1}{one_sided}{off}{some}")
    }
}

/// Makes rows of this name by trials with these seeds.
type MakeRows = Box<dyn Fn(&str, Range<u64>) -> Vec<Row> + Send + Sync>;

/// Some rows of the table.
struct Job {
    name: String,
    rows: MakeRows,
}

fn by_length(name: &str, of: impl Fn(usize) -> Vec<(&'static str, Sides)>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for seconds in SECONDS {
        for (figure, sides) in of(seconds) {
            let parts = [
                ("", sides.figure),
                (", ratio", sides.ratio),
                (", difference", sides.difference),
            ];
            // Differences of rates are not printed.
            let shown = if figure.is_empty() { 2 } else { 3 };
            for (part, coverage) in parts.into_iter().take(shown) {
                let name = format!("{figure}{part}, {name}")
                    .trim_start_matches(", ")
                    .to_owned();
                match rows.iter_mut().find(|row| row.name == name) {
                    Some(row) => row.cells.push(Cell::of(coverage)),
                    None => rows.push(Row {
                        name,
                        cells: vec![Cell::of(coverage)],
                    }),
                }
            }
        }
    }
    rows
}

fn named(found: [Sides; 3]) -> Vec<(&'static str, Sides)> {
    ["p50", "p95", "p99"].into_iter().zip(found).collect()
}

fn jobs() -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    for noise in NOISES {
        for rate in [20.0, 200.0, 2000.0] {
            jobs.push(rates(noise, rate, 1));
            jobs.extend([3, 5].map(|repeats| rates(noise, rate, repeats)));
        }
        jobs.push(window_percentiles(noise));
        jobs.extend([3, 5].map(|repeats| repeated_percentiles(noise, repeats)));
    }
    jobs
}

/// Of one window or of several.
fn rates(noise: Noise, rate: f64, repeats: usize) -> Job {
    let count = if repeats == 1 {
        "1 window".to_owned()
    } else {
        format!("{repeats} repeats")
    };
    let rows = move |name: &str, trials: Range<u64>| {
        by_length(name, |seconds| {
            let (window, trials) = (
                Window {
                    seconds,
                    noise,
                    rate,
                },
                trials.clone(),
            );
            let one = repeats == 1;
            let found = if one {
                cover::window_rates(window, trials)
            } else {
                cover::repeated_rates(window, repeats, trials)
            };
            vec![("", found)]
        })
    };
    Job {
        name: format!("rate {rate}/s, {}, {count}", noise.name()),
        rows: Box::new(rows),
    }
}

fn window_percentiles(noise: Noise) -> Job {
    let rows = move |name: &str, trials: Range<u64>| {
        by_length(name, |seconds| {
            // Short windows are withheld before anything is computed.
            let few = trials.start..trials.end.min(trials.start + 20);
            let trials = if seconds < 300 { few } else { trials.clone() };
            named(cover::window_percentiles(
                Window {
                    seconds,
                    noise,
                    rate: 50.0,
                },
                trials,
            ))
        })
    };
    Job {
        name: format!("50/s, {}, 1 window", noise.name()),
        rows: Box::new(rows),
    }
}

fn repeated_percentiles(noise: Noise, repeats: usize) -> Job {
    let rows = move |name: &str, trials: Range<u64>| {
        by_length(name, |seconds| {
            named(cover::repeated_percentiles(
                Window {
                    seconds,
                    noise,
                    rate: 20.0,
                },
                repeats,
                trials.clone(),
            ))
        })
    };
    Job {
        name: format!("20/s, {}, {repeats} repeats", noise.name()),
        rows: Box::new(rows),
    }
}

/// All jobs on all cores, in their order.
fn run_all(jobs: &[Job], trials: &Range<u64>) -> Vec<Row> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Vec<Row>)>> = Mutex::new(Vec::new());
    let work = || {
        while let Some((place, job)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, jobs.get(i)?)))
        {
            let rows = (job.rows)(&job.name, trials.clone());
            if let Ok(mut done) = done.lock() {
                done.push((place, rows));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().flat_map(|(_, rows)| rows).collect()
}

fn table(head: &[&str], rows: &[Row], trials: u64) -> String {
    let mut out = format!("{:<52}", "95 % interval");
    head.iter()
        .for_each(|name| write!(out, "{name:>14}").unwrap_or_default());
    out.push('\n');
    for row in rows {
        write!(out, "{:<52}", row.name).unwrap_or_default();
        row.cells
            .iter()
            .for_each(|own| write!(out, "{:>14}", own.text(trials)).unwrap_or_default());
        out.push('\n');
    }
    out
}

fn ladders(trials: &Range<u64>) -> Vec<Row> {
    let row = |(loads, alpha, beta): (usize, f64, f64)| {
        let LadderCoverage {
            gamma,
            alpha: contention,
            beta: coherency,
            peak,
        } = cover::ladder(loads, alpha, beta, trials.clone());
        let name = format!("scaling law, {loads} loads, alpha {alpha}, beta {beta}");
        let [alpha, beta] = [
            Cell::of_parameter(contention, alpha),
            Cell::of_parameter(coherency, beta),
        ];
        Row {
            name,
            cells: vec![Cell::of(gamma), alpha, beta, Cell::of(peak)],
        }
    };
    let laws = [(0.05, 0.001), (0.05, 0.0), (0.0, 0.0)];
    [5, 7, 10]
        .into_iter()
        .flat_map(|loads| laws.map(|(alpha, beta)| row((loads, alpha, beta))))
        .collect()
}

fn main() {
    let word = |i: usize| std::env::args().nth(i);
    let number = |i: usize| word(i).and_then(|word| word.parse::<u64>().ok());
    let (count, first, only) = (
        number(1).unwrap_or(1000),
        number(2).unwrap_or_default(),
        word(3).unwrap_or_default(),
    );
    let seeds = first..first + count;
    println!(
        "Coverage of 95 % intervals in percent, {count} trials for each cell, seeds {first} to {}.",
        seeds.end - 1
    );
    println!(
        "'-': not printed, too short for an interval. 'of N': printed in N trials. '!': outside 93 to 97."
    );
    println!(
        "'*': the truth is 0, where an interval can miss on one side only: it promises 97.5.\n"
    );
    let mut jobs = jobs();
    jobs.retain(|job| job.name.contains(&only));
    let rows = run_all(&jobs, &seeds);
    let head = SECONDS.map(|seconds| format!("{seconds} s"));
    println!(
        "{}",
        table(&head.each_ref().map(String::as_str), &rows, count)
    );
    let laws = if "scaling law".contains(&only) {
        ladders(&seeds)
    } else {
        Vec::new()
    };
    println!(
        "{}",
        table(&["gamma", "alpha", "beta", "peak"], &laws, count)
    );
    let all = rows.iter().chain(&laws).flat_map(|row| &row.cells);
    let printed: Vec<&Cell> = all.filter(|cell| cell.coverage.printed > 0).collect();
    let kept = printed.iter().filter(|cell| cell.is_kept()).count();
    println!(
        "{} cells printed, {kept} of them within 2 % of what they promise.",
        printed.len()
    );
}
