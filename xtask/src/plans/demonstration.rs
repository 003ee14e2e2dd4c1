//! What a plan's comment states of its demonstration.

use std::fmt;

const HEADING: &str = "# Demonstration (";

/// The end that is stated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatedEnd {
    /// The worst verdict, and the rules that are known to fire on a quiet machine.
    Verdict { worst: Verdict, rules: Vec<String> },
    /// A plan that shows a failure.
    ExitCode(i32),
    /// It is not run: only its time and space are printed.
    Nothing,
}

/// From good to bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Valid,
    Doubtful,
    Invalid,
}

impl Verdict {
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "valid" => Some(Self::Valid),
            "doubtful" => Some(Self::Doubtful),
            "invalid" => Some(Self::Invalid),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Doubtful => "doubtful",
            Self::Invalid => "invalid",
        }
    }
}

/// Time, end and commands.
#[derive(Debug, Clone, PartialEq)]
pub struct Demonstration {
    pub minutes: Option<f64>,
    pub end: StatedEnd,
    pub commands: Vec<String>,
}

impl Demonstration {
    /// Reads `# Demonstration (about 4 minutes; ends valid):` and the indented commands below it.
    pub fn parse(plan: &str) -> Result<Self, String> {
        let mut lines = plan.lines().skip_while(|line| !line.starts_with(HEADING));
        let heading = lines
            .next()
            .ok_or("its comment has no line `# Demonstration (about N minutes; ends …):`")?;
        let stated = heading
            .strip_prefix(HEADING)
            .and_then(|rest| rest.strip_suffix("):"))
            .ok_or_else(|| format!("`{heading}` does not end with `):`"))?;
        let commands: Vec<String> = lines
            .map_while(|line| line.strip_prefix("#   "))
            .map(|command| command.trim().to_owned())
            .collect();
        if commands.is_empty() {
            return Err("no command follows its demonstration".to_owned());
        }
        let (time, end) = stated
            .split_once("; ")
            .ok_or_else(|| format!("`{stated}` has no `; ` between its time and its end"))?;
        Ok(Self {
            minutes: minutes(time)?,
            end: stated_end(end)?,
            commands,
        })
    }
}

fn minutes(text: &str) -> Result<Option<f64>, String> {
    if text == "touches nothing" {
        return Ok(None);
    }
    let number = text.strip_prefix("about ").and_then(|rest| {
        let (number, unit) = rest.split_once(' ')?;
        let is_minutes = matches!(unit, "minute" | "minutes");
        is_minutes.then(|| number.parse::<f64>().ok())?
    });
    match number {
        Some(number) if number > 0.0 => Ok(Some(number)),
        _ => Err(format!("`{text}` is no time: write `about 4 minutes`")),
    }
}

fn stated_end(text: &str) -> Result<StatedEnd, String> {
    if text.ends_with("needs a server") {
        return Ok(StatedEnd::Nothing);
    }
    if let Some(code) = text.strip_prefix("ends with exit code ") {
        let code = code.parse();
        return code
            .map(StatedEnd::ExitCode)
            .map_err(|_| format!("`{text}` has no exit code"));
    }
    let end = text.strip_prefix("ends ").unwrap_or(text);
    let (word, rules) = end.split_once(": ").unwrap_or((end, ""));
    let worst = Verdict::parse(word)
        .ok_or_else(|| format!("`{text}` has no verdict: valid, doubtful or invalid"))?;
    let rules = rules.split(", ").filter(|rule| !rule.is_empty());
    Ok(StatedEnd::Verdict {
        worst,
        rules: rules.map(str::to_owned).collect(),
    })
}

impl fmt::Display for Demonstration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(minutes) = self.minutes {
            write!(f, "about {minutes} min, ")?;
        }
        match &self.end {
            StatedEnd::Verdict { worst, rules } if rules.is_empty() => f.write_str(worst.name()),
            StatedEnd::Verdict { worst, rules } => {
                write!(f, "{} ({})", worst.name(), rules.join(", "))
            }
            StatedEnd::ExitCode(code) => write!(f, "exit code {code}"),
            StatedEnd::Nothing => f.write_str("not run: it needs a server"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_read() {
        let plan = "# What?\n#\n# Demonstration (about 4 minutes; ends doubtful: SHORT, STEADY):\n#   mkdir a\n#   plimsoll run plans/a.toml\n\ntitle = \"t\"\n";
        let stated = Demonstration::parse(plan).expect("it is complete");
        assert_eq!(stated.minutes, Some(4.0));
        assert_eq!(stated.commands, ["mkdir a", "plimsoll run plans/a.toml"]);
        assert_eq!(stated.to_string(), "about 4 min, doubtful (SHORT, STEADY)");
        let end = |text: &str| stated_end(text);
        assert_eq!(end("ends with exit code 1"), Ok(StatedEnd::ExitCode(1)));
        assert_eq!(end("a real one needs a server"), Ok(StatedEnd::Nothing));
        let valid = StatedEnd::Verdict {
            worst: Verdict::Valid,
            rules: Vec::new(),
        };
        assert_eq!(end("ends valid"), Ok(valid));
    }

    #[test]
    fn a_comment_that_states_nothing_is_an_error() {
        for plan in [
            "title = \"t\"",
            "# Demonstration (about 4 minutes; ends valid):\ntitle",
            "# Demonstration (4 minutes; ends valid):\n#   x",
            "# Demonstration (about 4 minutes; ends well):\n#   x",
            "# Demonstration (about 4 minutes):\n#   x",
        ] {
            assert!(Demonstration::parse(plan).is_err(), "{plan}");
        }
    }
}
