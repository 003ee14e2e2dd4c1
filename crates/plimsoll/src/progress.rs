//! What a person sees on stderr while a run lasts. Data never goes here.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::terminal::{note, visible};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use plimsoll_load::clock::Clock;
use plimsoll_plan::Interference;
use plimsoll_plan::resolved::TPCC_TXNS;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::TransactionStats;
use plimsoll_record::{Point, PointPurpose};
use plimsoll_worker::session::Together;

/// A line that changes in place on a terminal; elsewhere a line at each new task or phase, and one every thirty seconds.
pub struct Progress {
    bar: Option<ProgressBar>,
    plain: bool,
    /// Where the lines go of a host that runs a plan for others.
    others: Option<Arc<Together>>,
    line: Mutex<ProgressLine>,
    plan: Arc<Mutex<PlanProgress>>,
}

/// Line of one part of the plan.
#[derive(Debug, Default)]
struct ProgressLine {
    last_plain: Nanos,
    now: Nanos,
    /// The medium of what is under way, where a plan has several.
    medium: Option<String>,
}

/// How far the plan is, whatever of it runs at the same time.
#[derive(Debug, Default)]
struct PlanProgress {
    planned: Nanos,
    /// Load time that is still ahead, without the points under way.
    ahead: Nanos,
    ladder_points: LadderPoints,
    has_measured: bool,
    /// Real time since it began, where its own is simulated.
    real_time: Option<Clock>,
}

#[derive(Debug, Clone, Copy, Default)]
struct LadderPoints {
    begun: u64,
    planned: u64,
}

/// One line for each part that runs at the same time.
fn new_bar() -> ProgressBar {
    static BARS: OnceLock<MultiProgress> = OnceLock::new();
    let bar = BARS.get_or_init(MultiProgress::new);
    let bar = bar.add(ProgressBar::new_spinner());
    // The template is a constant that the library accepts.
    if let Ok(style) = ProgressStyle::with_template("{spinner:.cyan} {wide_msg}") {
        bar.set_style(style);
    }
    bar
}

/// A bar that has nothing to say yet takes no line.
fn show_on(bar: &ProgressBar, text: &str) {
    let is_first = bar.message().is_empty();
    bar.set_message(visible(text).into_owned());
    if is_first {
        bar.enable_steady_tick(Duration::from_millis(120));
    }
}

const PLAIN_EVERY: Nanos = Nanos::from_secs(30);
const OTHERS_EVERY: Nanos = Nanos::SECOND;

impl Progress {
    pub fn new(quiet: bool, planned: Nanos) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = (!quiet && terminal).then(new_bar);
        Self {
            bar,
            plain: !quiet && !terminal,
            others: None,
            line: Mutex::default(),
            plan: Arc::new(Mutex::new(PlanProgress {
                planned,
                ahead: planned,
                ..PlanProgress::default()
            })),
        }
    }

    /// Progress of a part of the same plan, which runs beside others.
    pub fn part(&self) -> Self {
        Self {
            bar: self.bar.as_ref().map(|_| new_bar()),
            plain: self.plain,
            others: self.others.clone(),
            line: Mutex::default(),
            plan: self.plan.clone(),
        }
    }

    fn line(&self) -> MutexGuard<'_, ProgressLine> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn plan(&self) -> MutexGuard<'_, PlanProgress> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Progress of a host that runs a plan in step with others: nothing is printed there.
    pub fn for_others(others: Arc<Together>, planned: Nanos) -> Self {
        Self {
            others: Some(others),
            ..Self::new(true, planned)
        }
    }

    /// So many ladder points will be counted.
    pub fn counting(self, ladder_points: u64) -> Self {
        self.plan().ladder_points.planned = ladder_points;
        self
    }

    /// Progress of a plan whose time is simulated: what is left is estimated by the real time that it took until now.
    pub fn simulated(self) -> Self {
        self.plan().real_time = Some(Clock::real());
        self
    }

    /// What begins now is on this medium.
    pub fn is_on(&self, medium: Option<&str>) {
        self.line().medium = medium.map(str::to_owned);
    }

    /// Name of a point whose place among the others does not matter.
    pub fn name_of(point: &Point) -> String {
        let title = title(point, None, LadderPoints::default());
        title.strip_prefix("[0/0] ").unwrap_or(&title).to_owned()
    }

    /// A sentence that stays.
    pub fn print(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| note!("{text}")),
            None if self.plain => note!("{text}"),
            None => self.relay(text),
        }
    }

    fn relay(&self, text: &str) {
        if let Some(others) = &self.others {
            others.progress(text);
        }
    }

    /// How far the task under way is; `at` thins out the lines where there is no terminal.
    pub fn now(&self, at: Nanos, text: &str) {
        let mut line = self.line();
        line.now = at;
        let since = at.saturating_sub(line.last_plain);
        if let Some(bar) = &self.bar {
            show_on(bar, text);
        } else if self.plain && since >= PLAIN_EVERY {
            line.last_plain = at;
            note!("  {text}");
        } else if self.others.is_some() && since >= OTHERS_EVERY {
            line.last_plain = at;
            self.relay(text);
        }
    }

    /// Begins a new phase or task: printed at once, to a terminal and to a log.
    pub fn begin(&self, at: Nanos, text: &str) {
        self.line().last_plain = at;
        match &self.bar {
            Some(bar) => show_on(bar, text),
            None if self.plain => note!("  {text}"),
            None => self.relay(text),
        }
    }

    /// Whether nothing was measured before: asked as a point begins to be measured.
    pub fn measures_first(&self) -> bool {
        !std::mem::replace(&mut self.plan().has_measured, true)
    }

    /// The outcome of a point, which stays.
    pub fn done(&self, text: &str) {
        let mut line = self.line();
        // This line is progress enough for a while.
        line.last_plain = line.now;
        drop(line);
        self.print(&format!("  {text}"));
    }

    /// The next part begins: its time is no longer ahead.
    pub fn part_begins(&self, lasts: Nanos) {
        let mut plan = self.plan();
        plan.ahead = plan.ahead.saturating_sub(lasts);
    }

    /// The next point begins. Gives its name.
    pub fn point_begins(&self, point: &Point, load: Nanos) -> String {
        self.part_begins(load);
        let mut plan = self.plan();
        if point.purpose == PointPurpose::Ladder {
            plan.ladder_points.begun += 1;
        }
        title(point, self.line().medium.as_deref(), plan.ladder_points)
    }

    /// As [`Self::point_begins`], for a point that has a name.
    pub fn named_point_begins(&self, name: &str, load: Nanos) -> String {
        self.part_begins(load);
        let mut plan = self.plan();
        plan.ladder_points.begun += 1;
        // Rounds may end sooner or go on longer than was expected.
        let LadderPoints { begun, planned } = plan.ladder_points;
        if begun <= planned {
            format!("[{begun}/{planned}] {name}")
        } else {
            format!("[{begun}] {name}")
        }
    }

    /// Load time still ahead when `part` of it is over.
    pub fn ahead_after(&self, part: Nanos) -> Nanos {
        self.plan().ahead.saturating_sub(part)
    }

    /// A part of unknown length has ended.
    pub fn is_ahead(&self, ahead: Nanos) {
        self.plan().ahead = ahead;
    }

    /// Time left of the whole plan when `left` of the present point is left; loading and checks come on top.
    pub fn time_left(&self, left: Nanos) -> String {
        let plan = self.plan();
        let left = plan.ahead + left;
        let done = plan.planned.saturating_sub(left);
        match &plan.real_time {
            Some(clock) if done > Nanos::ZERO => {
                let took = clock.now().as_secs_f64();
                let real = took * left.as_secs_f64() / done.as_secs_f64();
                whole_seconds(Nanos::from_secs_f64(real))
            }
            _ => whole_seconds(left),
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// `[3/9] ladder · 16 users · repeat 2`, `find · load 4: 412/s`, `ladder · precondition: 16 users`.
fn title(point: &Point, medium: Option<&str>, ladder: LadderPoints) -> String {
    let LadderPoints { begun, planned } = ladder;
    let step = match medium {
        Some(medium) => &format!("{} · {medium}", point.step),
        None => &point.step,
    };
    let load = match (point.offered_per_second, point.offered_to_per_second) {
        (Some(from), Some(to)) => format!("{from} → {to}/s"),
        (Some(rate), None) => format!("{rate}/s"),
        (None, _) if point.users == 1 => "1 user".to_owned(),
        (None, _) => format!("{} users", point.users),
    };
    let repeat = if point.repeat > 0 {
        format!(" · repeat {}", point.repeat + 1)
    } else {
        String::new()
    };
    let scene = match point.scene {
        Interference::Alone => "",
        Interference::Quiet => " · without noise",
        Interference::Noisy => " · with noise",
    };
    match point.purpose {
        PointPurpose::Ladder => {
            format!("[{begun}/{planned}] {step} · {load}{repeat}{scene}")
        }
        PointPurpose::Noise => format!("{step} · noise: {load}"),
        PointPurpose::Search => format!("{step} · load {}: {load}{repeat}", point.ordinal + 1),
        PointPurpose::Precondition => format!("{step} · precondition: {load}"),
    }
}

/// `7s`, `1m 30s`: begun seconds count.
pub fn whole_seconds(time: Nanos) -> String {
    Nanos::from_secs(time.0.div_ceil(Nanos::SECOND.0)).to_string()
}

/// `NOPM 12345 · p99 12.3 ms · failed 0` over the phase so far: speed as the table shows it, of the first type of
/// transactions; of a workload other than TPC-C, `TPS 206`.
pub fn figures(txns: &[String], tallies: &[TransactionStats], lasted: Nanos) -> String {
    let Some(first) = tallies.first().filter(|_| lasted > Nanos::ZERO) else {
        return String::new();
    };
    let per_second = first.counts.committed as f64 / lasted.as_secs_f64();
    let speed = if *txns == TPCC_TXNS {
        format!("NOPM {:.0}", per_second * 60.0)
    } else {
        format!("TPS {per_second:.0}")
    };
    let p99 = first
        .response
        .quantile(0.99)
        .map_or("–".into(), |p99| format!("{:.1} ms", p99.as_millis_f64()));
    let failed: u64 = tallies.iter().map(|tally| tally.counts.failed).sum();
    let dropped: u64 = tallies.iter().map(|tally| tally.counts.dropped).sum();
    let dropped = if dropped > 0 {
        format!(" · dropped {dropped}")
    } else {
        String::new()
    };
    format!("{speed} · p99 {p99} · failed {failed}{dropped}")
}

/// `corners · RND4K Q32T16 read · at 60 % · round 2`.
pub fn block_title(point: &Point, job: &str, share_percent: Option<f64>) -> String {
    let share = share_percent.map_or(String::new(), |share| format!(" · at {share} %"));
    let round = if point.repeat > 0 {
        format!(" · round {}", point.repeat + 1)
    } else {
        String::new()
    };
    format!("{} · {job}{share}{round}", point.step)
}

/// Flushes move no bytes.
pub fn is_flush(txn: &str) -> bool {
    txn == "sync" || txn.ends_with(" sync")
}

fn millis(time: Option<Nanos>) -> String {
    time.map_or("–".into(), |time| {
        format!("{:.2} ms", time.as_millis_f64())
    })
}

/// `IOPS 12345 · 50.6 MB/s · mean 0.20 ms · p99 0.31 ms` over the phase so far, of everything but flushes.
pub fn block_figures(txns: &[String], tallies: &[TransactionStats], lasted: Nanos) -> String {
    let mut all = TransactionStats::default();
    txns.iter()
        .zip(tallies)
        .filter(|(txn, _)| !is_flush(txn))
        .for_each(|(_, tally)| all.merge(tally));
    if lasted == Nanos::ZERO {
        return String::new();
    }
    let seconds = lasted.as_secs_f64();
    format!(
        "IOPS {:.0} · {:.1} MB/s · mean {} · p99 {}",
        all.counts.committed as f64 / seconds,
        all.counts.bytes as f64 / seconds / 1e6,
        millis(all.response.mean()),
        millis(all.response.quantile(0.99))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_whole() {
        let shown = [0, 1, 7_000, 7_001, 90_000].map(|ms| whole_seconds(Nanos::from_millis(ms)));
        assert_eq!(shown, ["0s", "1s", "7s", "8s", "1m 30s"]);
    }

    #[test]
    fn points_are_called_after_what_they_are_for() {
        let mut point = plimsoll_record::fixture::single_point().points[0].clone();
        let progress = Progress::new(true, Nanos::from_secs(100)).counting(9);
        assert_eq!(
            progress.point_begins(&point, Nanos::from_secs(30)),
            "[1/9] ladder · 1 user"
        );
        (point.users, point.repeat) = (16, 1);
        assert_eq!(
            progress.point_begins(&point, Nanos::from_secs(30)),
            "[2/9] ladder · 16 users · repeat 2"
        );
        assert_eq!(progress.time_left(Nanos::SECOND), "41s");
        let beside = progress.part();
        beside.is_on(Some("nvme"));
        point.repeat = 0;
        assert_eq!(
            beside.point_begins(&point, Nanos::ZERO),
            "[3/9] ladder · nvme · 16 users"
        );
        (point.purpose, point.ordinal, point.repeat) = (PointPurpose::Search, 3, 0);
        point.offered_per_second = Some(412.5);
        assert_eq!(
            progress.point_begins(&point, Nanos::ZERO),
            "ladder · load 4: 412.5/s"
        );
        (point.purpose, point.offered_to_per_second) = (PointPurpose::Precondition, Some(500.0));
        assert_eq!(
            progress.point_begins(&point, Nanos::ZERO),
            "ladder · precondition: 412.5 → 500/s"
        );
        progress.is_ahead(progress.ahead_after(Nanos::from_secs(25)));
        assert_eq!(progress.time_left(Nanos::ZERO), "15s");
    }

    #[test]
    fn block_points_are_called_after_their_job() {
        let mut point = plimsoll_record::fixture::single_point().points[0].clone();
        assert_eq!(block_title(&point, "RND4K", None), "ladder · RND4K");
        point.repeat = 1;
        let progress = Progress::new(true, Nanos::from_secs(50)).counting(1);
        let title = block_title(&point, "RND4K", Some(12.5));
        let first = progress.named_point_begins(&title, Nanos::from_secs(20));
        assert_eq!(first, "[1/1] ladder · RND4K · at 12.5 % · round 2");
        assert_eq!(progress.time_left(Nanos::SECOND), "31s");
        assert_eq!(progress.named_point_begins("more", Nanos::ZERO), "[2] more");
    }

    #[test]
    fn block_figures_leave_flushes_out() {
        let mut tallies = [
            TransactionStats::default(),
            TransactionStats::default(),
            TransactionStats::default(),
        ];
        for (tally, n) in tallies.iter_mut().zip([10, 30, 400]) {
            (tally.counts.committed, tally.counts.bytes) = (n, n * 1_000_000);
            tally.response.record(Nanos::from_millis(n));
        }
        let txns = ["data read", "log write", "log sync"].map(str::to_owned);
        let text = block_figures(&txns, &tallies, Nanos::from_secs(2));
        assert!(
            text.starts_with("IOPS 20 · 20.0 MB/s · mean 20.00 ms · p99 30."),
            "{text}"
        );
        assert_eq!(
            block_figures(&txns, &[], Nanos::SECOND),
            "IOPS 0 · 0.0 MB/s · mean – · p99 –"
        );
    }

    #[test]
    fn speed_is_of_the_first_type_and_trouble_of_all() {
        let mut tallies = [TransactionStats::default(), TransactionStats::default()];
        tallies[0].counts.committed = 30;
        tallies[1].counts.committed = 70;
        tallies[0].counts.failed = 1;
        tallies[1].counts.failed = 2;
        tallies[0].response.record(Nanos::from_millis(5));
        let txns = TPCC_TXNS.map(str::to_owned);
        let text = figures(&txns, &tallies, Nanos::from_secs(20));
        assert!(
            text.starts_with("NOPM 90 · p99 5.0 ms · failed 3"),
            "{text}"
        );
        let other = figures(&["read_write".into()], &tallies[1..], Nanos::from_secs(20));
        assert!(other.starts_with("TPS 4 · p99 – · failed 2"), "{other}");
        tallies[0].counts.dropped = 4;
        assert!(figures(&txns, &tallies, Nanos::from_secs(20)).ends_with("failed 3 · dropped 4"));
        assert_eq!(figures(&txns, &tallies, Nanos::ZERO), "");
    }
}
