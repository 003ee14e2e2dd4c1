//! What a demonstration gave, and where that differs from what was stated.

use std::fmt;

use super::demonstration::{Demonstration, StatedEnd, Verdict};

/// A run on another machine takes longer or shorter by so much.
const TIMES_LONGER: f64 = 1.5;
/// A load average above this is no quiet machine.
const QUIET: f64 = 2.5;

/// Of all commands of a plan.
#[derive(Debug)]
pub struct PlanOutcome {
    pub exit_code: Option<i32>,
    pub seconds: f64,
    /// Mean of the load averages before and after.
    pub load: f64,
    /// Codes of audit rules that fired, from `plimsoll audit --format csv`.
    pub rules: Vec<String>,
    pub stdout: String,
    pub stderr: String,
}

/// What is not as stated.
#[derive(Debug, PartialEq)]
pub enum Difference {
    ExitCode {
        stated: i32,
        found: Option<i32>,
    },
    WorseVerdict {
        stated: Verdict,
        found: Option<Verdict>,
    },
    UnstatedRule(String),
    Longer {
        stated_minutes: f64,
        minutes: f64,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ExitCode { stated, found } => match found {
                Some(found) => write!(f, "exit code {found}, not {stated}"),
                None => write!(f, "ended by a signal, not with exit code {stated}"),
            },
            Self::WorseVerdict { stated, found } => {
                let found = found.map_or("no verdict", Verdict::name);
                write!(f, "{found}, not {}", stated.name())
            }
            Self::UnstatedRule(code) => write!(f, "rule {code} is not stated"),
            Self::Longer {
                stated_minutes,
                minutes,
            } => write!(f, "{minutes:.1} minutes, not about {stated_minutes}"),
        }
    }
}

/// Codes of the rules that fired, of `plimsoll audit --format csv`: their column stands before `fired`.
pub fn fired_rules(csv: &str) -> Vec<String> {
    let mut rules = Vec::new();
    for line in csv.lines() {
        let Some((before, after)) = line.split_once(",fired,") else {
            continue;
        };
        let code = before.rsplit(',').next().unwrap_or_default().to_owned();
        let is_note = !after.starts_with("warning,") && !after.starts_with("error,");
        if !is_note && !rules.contains(&code) {
            rules.push(code);
        }
    }
    rules.sort();
    rules
}

impl PlanOutcome {
    pub fn differences(&self, stated: &Demonstration) -> Vec<Difference> {
        let mut found = Vec::new();
        let code = match stated.end {
            StatedEnd::ExitCode(code) => code,
            StatedEnd::Verdict { .. } | StatedEnd::Nothing => 0,
        };
        if self.exit_code != Some(code) {
            found.push(Difference::ExitCode {
                stated: code,
                found: self.exit_code,
            });
        }
        if let StatedEnd::Verdict { worst, rules } = &stated.end {
            let verdict = self.verdict();
            if verdict.is_none_or(|verdict| verdict > *worst) {
                found.push(Difference::WorseVerdict {
                    stated: *worst,
                    found: verdict,
                });
            }
            let unstated = self.rules.iter().filter(|rule| !rules.contains(rule));
            found.extend(unstated.cloned().map(Difference::UnstatedRule));
        }
        if let Some(stated_minutes) = stated.minutes {
            let minutes = self.seconds / 60.0;
            if minutes > TIMES_LONGER * stated_minutes {
                found.push(Difference::Longer {
                    stated_minutes,
                    minutes,
                });
            }
        }
        found
    }

    /// `Trust       doubtful · 11 of 12 points valid`.
    fn verdict(&self) -> Option<Verdict> {
        let words = self.line_of_trust()?.strip_prefix("Trust")?;
        Verdict::parse(words.split_whitespace().next()?)
    }

    fn line_of_trust(&self) -> Option<&str> {
        self.stdout.lines().find(|line| line.starts_with("Trust "))
    }

    /// The answer's sentences: what stands between the question and the table.
    fn answer(&self) -> String {
        let mut parts = self.stdout.split("\n\n");
        let answer = parts.nth(1).unwrap_or_default();
        answer.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub fn render(&self, name: &str, stated: &Demonstration) -> String {
        let differences = self.differences(stated);
        let found = match self.verdict() {
            Some(verdict) => verdict.name().to_owned(),
            None => format!("exit code {}", self.exit_code.unwrap_or(-1)),
        };
        let rules = match self.rules.is_empty() {
            true => String::new(),
            false => format!(" ({})", self.rules.join(", ")),
        };
        let minutes = self.seconds / 60.0;
        let mut lines = vec![
            format!("\n{name}"),
            format!("  stated   {stated}"),
            format!(
                "  found    {minutes:.1} min, {found}{rules}; load average {:.1}",
                self.load
            ),
        ];
        let compared = match differences.as_slice() {
            [] => "as stated".to_owned(),
            some => {
                let some: Vec<String> = some.iter().map(Difference::to_string).collect();
                let busy = if self.load > QUIET {
                    " (the machine was not quiet)"
                } else {
                    ""
                };
                format!("differs: {}{busy}", some.join("; "))
            }
        };
        lines.push(format!("  compared {compared}"));
        if !matches!(stated.end, StatedEnd::Nothing) {
            lines.push(format!("  answer   {}", self.answer()));
        }
        let errors = self.stderr.lines().rev().take(3).collect::<Vec<_>>();
        let is_wrong = differences
            .iter()
            .any(|difference| matches!(difference, Difference::ExitCode { .. }));
        if is_wrong {
            lines.extend(errors.iter().rev().map(|line| format!("  stderr   {line}")));
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "What?\n\nAt 4 users: 5.\nMore.\n\nusers\n 4\n\nTrust       doubtful · 1 point\n            \
                          SHORT (2 ×): the measurement was too short.\n            EMULATED (1 ×, do not use): late.\nReport      plimsoll report x\n";

    fn outcome(exit_code: i32, seconds: f64) -> PlanOutcome {
        PlanOutcome {
            exit_code: Some(exit_code),
            seconds,
            load: 1.0,
            rules: fired_rules(
                "of,rule\n\"a, b\",SHORT,fired,warning,x\nc,SHORT,fired,warning,y\nc,EMULATED,fired,error,z\nc,LITTLE,fired,note,z\nc,RATIO,passed,,\n",
            ),
            stdout: OUTPUT.to_owned(),
            stderr: "a\nb\n".to_owned(),
        }
    }

    fn stated(end: &str) -> Demonstration {
        let plan = format!("# Demonstration (about 2 minutes; {end}):\n#   x\n");
        Demonstration::parse(&plan).expect("it is complete")
    }

    #[test]
    fn what_came_out_is_compared_with_the_comment() {
        let as_stated = stated("ends doubtful: SHORT, EMULATED");
        assert_eq!(outcome(0, 170.0).differences(&as_stated), []);
        let text = outcome(0, 170.0).render("a", &as_stated);
        assert!(
            text.contains("as stated") && text.contains("At 4 users: 5. More."),
            "{text}"
        );
        let found = outcome(1, 190.0).differences(&stated("ends valid: SHORT"));
        let shown: Vec<String> = found.iter().map(Difference::to_string).collect();
        assert_eq!(
            shown,
            [
                "exit code 1, not 0",
                "doubtful, not valid",
                "rule EMULATED is not stated",
                "3.2 minutes, not about 2"
            ]
        );
        assert_eq!(
            outcome(1, 60.0).differences(&stated("ends with exit code 1")),
            []
        );
    }
}
