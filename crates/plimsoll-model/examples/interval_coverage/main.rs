//! The table of `cargo xtask bench intervals`. Arguments: how many trials.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

mod cover;

use cover::{Coverage, LadderCoverage, Sides, Window};

const SECONDS: [usize; 5] = [45, 60, 120, 300, 600];
const CORRELATIONS: [f64; 4] = [0.0, 0.5, 0.8, 0.95];
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
        Self { coverage, nominal: NOMINAL }
    }

    /// Of a parameter of which `truth` may be 0, where the interval is cut off and can miss on one side only.
    fn of_parameter(coverage: Coverage, truth: f64) -> Self {
        Self { coverage, nominal: if truth == 0.0 { (100.0 + NOMINAL) / 2.0 } else { NOMINAL } }
    }

    fn is_kept(&self) -> bool {
        self.coverage.percent().is_none_or(|percent| (percent - self.nominal).abs() <= LIMIT)
    }

    fn text(&self, trials: u64) -> String {
        let Some(percent) = self.coverage.percent() else { return "-".into() };
        let one_sided = if self.nominal > NOMINAL { "*" } else { "" };
        let off = if self.is_kept() { "" } else { "!" };
        let printed = u64::from(self.coverage.printed);
        let some = if printed < trials { format!(" of {printed}") } else { String::new() };
        format!("{percent:.1}{one_sided}{off}{some}")
    }
}

type Job = Box<dyn Fn(u64) -> Vec<Row> + Send + Sync>;

fn by_length(name: &str, of: impl Fn(usize) -> Vec<(&'static str, Sides)>) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for seconds in SECONDS {
        for (figure, sides) in of(seconds) {
            let parts = [("", sides.figure), (", ratio", sides.ratio), (", difference", sides.difference)];
            // Differences of rates are not printed.
            let shown = if figure.is_empty() { 2 } else { 3 };
            for (part, coverage) in parts.into_iter().take(shown) {
                let name = format!("{figure}{part}, {name}").trim_start_matches(", ").to_owned();
                match rows.iter_mut().find(|row| row.name == name) {
                    Some(row) => row.cells.push(Cell::of(coverage)),
                    None => rows.push(Row { name, cells: vec![Cell::of(coverage)] }),
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
    for correlation in CORRELATIONS {
        for rate in [20.0, 200.0, 2000.0] {
            let window = move |seconds| Window { seconds, correlation, rate };
            let name = move |repeats: &str| format!("rate {rate}/s, correlation {correlation}, {repeats}");
            jobs.push(Box::new(move |trials| {
                by_length(&name("1 window"), |seconds| vec![("", cover::window_rates(window(seconds), trials))])
            }));
            for repeats in [3, 5] {
                jobs.push(Box::new(move |trials| {
                    let found = |seconds| vec![("", cover::repeated_rates(window(seconds), repeats, trials))];
                    by_length(&name(&format!("{repeats} repeats")), found)
                }));
            }
        }
        let window = move |seconds| Window { seconds, correlation, rate: 50.0 };
        jobs.push(Box::new(move |trials| {
            // Short windows are withheld before anything is computed.
            let trials = |seconds| if seconds < 300 { trials.min(20) } else { trials };
            let found = |seconds| named(cover::window_percentiles(window(seconds), trials(seconds)));
            by_length(&format!("50/s, correlation {correlation}, 1 window"), found)
        }));
        jobs.push(Box::new(move |trials| {
            let found = |seconds| {
                let window = Window { rate: 20.0, ..window(seconds) };
                named(cover::repeated_percentiles(window, 5, trials))
            };
            by_length(&format!("20/s, correlation {correlation}, 5 repeats"), found)
        }));
    }
    jobs
}

/// All jobs on all cores, in their order.
fn run_all(jobs: &[Job], trials: u64) -> Vec<Row> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Vec<Row>)>> = Mutex::new(Vec::new());
    let work = || {
        while let Some((place, job)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, jobs.get(i)?)))
        {
            let rows = job(trials);
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
    head.iter().for_each(|name| write!(out, "{name:>14}").unwrap_or_default());
    out.push('\n');
    for row in rows {
        write!(out, "{:<52}", row.name).unwrap_or_default();
        row.cells.iter().for_each(|own| write!(out, "{:>14}", own.text(trials)).unwrap_or_default());
        out.push('\n');
    }
    out
}

fn ladders(trials: u64) -> Vec<Row> {
    let row = |(loads, alpha, beta): (usize, f64, f64)| {
        let LadderCoverage { gamma, alpha: contention, beta: coherency, peak } =
            cover::ladder(loads, alpha, beta, trials);
        let name = format!("scaling law, {loads} loads, alpha {alpha}, beta {beta}");
        let [alpha, beta] = [Cell::of_parameter(contention, alpha), Cell::of_parameter(coherency, beta)];
        Row { name, cells: vec![Cell::of(gamma), alpha, beta, Cell::of(peak)] }
    };
    let laws = [(0.05, 0.001), (0.05, 0.0), (0.0, 0.0)];
    [5, 7, 10].into_iter().flat_map(|loads| laws.map(|(alpha, beta)| row((loads, alpha, beta)))).collect()
}

fn main() {
    let trials: u64 = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(1000);
    println!("Coverage of 95 % intervals in percent, {trials} trials for each cell, seeds 0 to {}.", trials - 1);
    println!("'-': not printed, too short for an interval. 'of N': printed in N trials. '!': outside 93 to 97.");
    println!("'*': the truth is 0, where an interval can miss on one side only: it promises 97.5.\n");
    let rows = run_all(&jobs(), trials);
    let head = SECONDS.map(|seconds| format!("{seconds} s"));
    println!("{}", table(&head.each_ref().map(String::as_str), &rows, trials));
    let laws = ladders(trials);
    println!("{}", table(&["gamma", "alpha", "beta", "peak"], &laws, trials));
    let all = rows.iter().chain(&laws).flat_map(|row| &row.cells);
    let printed: Vec<&Cell> = all.filter(|cell| cell.coverage.printed > 0).collect();
    let kept = printed.iter().filter(|cell| cell.is_kept()).count();
    println!("{} cells printed, {kept} of them within 2 % of what they promise.", printed.len());
}
