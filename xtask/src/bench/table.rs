//! Measured figures beside their goals. Less is better in all of them.

#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub figure: &'static str,
    pub unit: &'static str,
    pub measured: f64,
    pub goal: Option<f64>,
    /// Measured ÷ the same of pgbench on the same server. Its column is left out where no row has it.
    pub to_pgbench: Option<f64>,
}

impl Row {
    pub fn new(figure: &'static str, unit: &'static str, measured: f64, goal: Option<f64>) -> Self {
        Self {
            figure,
            unit,
            measured,
            goal,
            to_pgbench: None,
        }
    }

    pub fn is_met(&self) -> bool {
        self.goal.is_none_or(|goal| self.measured <= goal)
    }

    fn verdict(&self) -> String {
        match self.goal {
            None => "-".into(),
            Some(_) if self.is_met() => "met".into(),
            Some(goal) => format!("missed by {:.0} %", (self.measured / goal - 1.0) * 100.0),
        }
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.figure.to_string(),
            format!("{} {}", number(self.measured), self.unit),
            self.goal
                .map_or("-".into(), |goal| format!("≤ {}", number(goal))),
            self.verdict(),
            self.to_pgbench
                .map_or("-".into(), |ratio| format!("{ratio:.2}")),
        ]
    }
}

fn number(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

pub fn render(rows: &[Row]) -> String {
    let head = ["figure", "measured", "goal", "verdict", "÷ pgbench"];
    let mut lines = vec![head.map(String::from).to_vec()];
    lines.extend(rows.iter().map(Row::cells));
    if rows.iter().all(|row| row.to_pgbench.is_none()) {
        lines.iter_mut().for_each(|line| line.truncate(4));
    }
    align(&lines)
}

/// Lines whose cells begin below each other.
pub fn align(lines: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for line in lines {
        widths.resize(widths.len().max(line.len()), 0);
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut out = String::new();
    for line in lines {
        let padded: Vec<String> = line
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        out.push_str(padded.join("  ").trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_met_or_missed_by_so_much() {
        let row = |measured, goal| Row {
            figure: "f",
            unit: "µs",
            measured,
            goal,
            to_pgbench: Some(1.5),
        };
        let text = render(&[row(20.0, Some(20.0)), row(25.0, Some(20.0)), row(3.0, None)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "figure  measured  goal     verdict         ÷ pgbench"
        );
        assert_eq!(lines[1], "f       20.00 µs  ≤ 20.00  met             1.50");
        assert_eq!(lines[2], "f       25.00 µs  ≤ 20.00  missed by 25 %  1.50");
        assert_eq!(lines[3], "f       3.00 µs   -        -               1.50");
        assert!(!row(25.0, Some(20.0)).is_met());
    }
}
