//! Tables of what was meant and what was seen.

use super::fio::{FioFigures, Job};
use super::mounted::Own;
use crate::bench::table::align;

#[derive(Debug, Clone)]
pub struct Row {
    title: String,
    target: f64,
    achieved: f64,
    unit: &'static str,
    /// Most that the two may differ, in percent.
    goal: Option<f64>,
    seen: FioFigures,
    own: Own,
}

impl Row {
    fn new(
        job: &Job,
        seen: &FioFigures,
        own: &Own,
        [target, achieved]: [f64; 2],
        unit: &'static str,
        goal: Option<f64>,
    ) -> Self {
        Self {
            title: job.title(),
            target,
            achieved,
            unit,
            goal,
            seen: seen.clone(),
            own: own.clone(),
        }
    }

    /// Mean latency against the model's own mean.
    pub fn latency(job: &Job, seen: &FioFigures, own: &Own, goal: Option<f64>) -> Self {
        Self::new(
            job,
            seen,
            own,
            [own.modelled_mean_us, seen.mean_us],
            "us",
            goal,
        )
    }

    pub fn iops(job: &Job, seen: &FioFigures, own: &Own, cap: f64, goal: Option<f64>) -> Self {
        Self::new(job, seen, own, [cap, seen.iops], "IOPS", goal)
    }

    pub fn bandwidth(job: &Job, seen: &FioFigures, own: &Own, cap: f64, goal: Option<f64>) -> Self {
        Self::new(job, seen, own, [cap, seen.mb_s], "MB/s", goal)
    }

    pub fn named(self, title: &str) -> Self {
        Self {
            title: title.into(),
            ..self
        }
    }

    fn off_percent(&self) -> f64 {
        100.0 * (self.achieved / self.target - 1.0)
    }

    pub fn is_closer_than(&self, other: &Self) -> bool {
        self.off_percent().abs() < other.off_percent().abs()
    }

    pub fn is_met(&self) -> bool {
        self.goal
            .is_none_or(|goal| self.off_percent().abs() <= goal)
    }

    fn cells(&self) -> Vec<String> {
        let FioFigures {
            p50_us,
            p99_us,
            iops,
            mb_s,
            ..
        } = &self.seen;
        let Own {
            late_p50_us,
            beyond_percent,
            cpu_percent,
            ..
        } = &self.own;
        let verdict = match self.goal {
            None => "-".into(),
            Some(goal) if self.is_met() => format!("met (±{goal} %)"),
            Some(goal) => format!("missed (±{goal} %)"),
        };
        vec![
            self.title.clone(),
            format!("{:.1} {}", self.target, self.unit),
            format!("{:.1}", self.achieved),
            format!("{:+.1} %", self.off_percent()),
            verdict,
            format!("{p50_us:.1}"),
            format!("{p99_us:.1}"),
            format!("{iops:.0}"),
            format!("{mb_s:.0}"),
            format!("{late_p50_us:.1}"),
            format!("{beyond_percent:.2}"),
            format!("{cpu_percent:.0}"),
        ]
    }
}

const HEAD: [&str; 12] = [
    "job",
    "meant",
    "seen",
    "off",
    "verdict",
    "p50 us",
    "p99 us",
    "IOPS",
    "MB/s",
    "late p50 us",
    "beyond %",
    "CPU %",
];

pub struct Table {
    title: String,
    note: String,
    rows: Vec<Row>,
}

impl Table {
    pub fn new(title: &str) -> Self {
        Self {
            title: title.into(),
            note: String::new(),
            rows: Vec::new(),
        }
    }

    pub fn note(&mut self, text: &str) {
        self.note = text.into();
    }

    /// Shown at once, too: the whole bench takes minutes.
    pub fn push(&mut self, row: Row) {
        eprintln!("bench: {}: {}", self.title, row.cells().join("  "));
        self.rows.push(row);
    }

    pub fn missed(&self) -> usize {
        self.rows.iter().filter(|row| !row.is_met()).count()
    }

    pub fn render(&self) -> String {
        let mut lines = vec![HEAD.map(String::from).to_vec()];
        lines.extend(self.rows.iter().map(Row::cells));
        let note = if self.note.is_empty() {
            String::new()
        } else {
            format!("{}\n", self.note)
        };
        format!("{}\n{note}{}", self.title, align(&lines))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::drive::fio::Pattern;

    #[test]
    fn a_goal_is_met_or_missed_on_both_sides() {
        let job = Job {
            engine: "psync",
            pattern: Pattern::RandomRead,
            depth: 1,
            seconds: 1,
        };
        let seen = |mean_us| FioFigures {
            mean_us,
            p50_us: 1.0,
            p99_us: 2.0,
            iops: 3.0,
            mb_s: 4.0,
        };
        let own = Own {
            modelled_mean_us: 100.0,
            ..Own::default()
        };
        let row = |mean, goal| Row::latency(&job, &seen(mean), &own, goal);
        let mut table = Table::new("t");
        for (mean, goal) in [
            (104.9, Some(5.0)),
            (105.1, Some(5.0)),
            (94.9, Some(5.0)),
            (200.0, None),
        ] {
            table.push(row(mean, goal));
        }
        assert_eq!(table.missed(), 2);
        let text = table.render();
        let lines: Vec<&str> = text.lines().collect();
        let words = |line: &str| {
            line.split_whitespace()
                .take(8)
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(
            words(lines[1]),
            "job meant seen off verdict p50 us p99",
            "{text}"
        );
        assert_eq!(
            words(lines[2]),
            "psync randread QD1 100.0 us 104.9 +4.9 %",
            "{text}"
        );
        assert!(lines[3].contains("missed (±5 %)"), "{text}");
    }
}
