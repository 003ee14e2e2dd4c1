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

    fn cells(&self) -> [String; 5] {
        let number = |value: f64| {
            if value >= 100.0 {
                format!("{value:.0}")
            } else {
                format!("{value:.2}")
            }
        };
        [
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

pub fn render(rows: &[Row]) -> String {
    let head = ["figure", "measured", "goal", "verdict", "÷ pgbench"].map(String::from);
    let lines: Vec<[String; 5]> = std::iter::once(head)
        .chain(rows.iter().map(Row::cells))
        .collect();
    let width = |column: usize| {
        lines
            .iter()
            .map(|line| line[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..5).map(width).collect();
    let columns = if rows.iter().any(|row| row.to_pgbench.is_some()) {
        5
    } else {
        4
    };
    let line = |cells: &[String; 5]| {
        let padded = cells
            .iter()
            .zip(&widths)
            .take(columns)
            .map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
    };
    lines.iter().map(line).collect()
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
