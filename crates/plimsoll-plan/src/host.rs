//! Hosts that load comes from, and patterns for several of them.

use serde::{Deserialize, Serialize, Serializer};

use crate::redact::redact;
use crate::secret_option::SHOWN;
use crate::units::Nanos;

/// A machine that plimsoll starts a worker on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanHost {
    pub name: String,
    /// The words of the command that gives a worker's standard input and output, such as `ssh gen1`; none for a process
    /// of its own on this machine. Stored without the secrets in them.
    #[serde(serialize_with = "without_secrets")]
    pub via: Vec<String>,
    /// plimsoll's path there; without one it is copied where it is missing.
    pub program: Option<String>,
    /// How long it may be away: its worker goes on so long without plimsoll here, and plimsoll without it.
    pub patience: Nanos,
}

impl PlanHost {
    /// The command as it can be shown.
    pub fn shown_via(&self) -> String {
        redact(&self.via.join(" "))
    }

    /// Whether the command had secrets, and was read from where they are not stored.
    pub fn lacks_secret(&self) -> bool {
        self.via.iter().any(|word| word.contains(SHOWN))
    }
}

fn without_secrets<S: Serializer>(via: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    let shown = redact(&via.join(" "));
    serializer.collect_seq(shown.split(' ').filter(|word| !word.is_empty()))
}

/// `gen[1-3]` is `gen1`, `gen2`, `gen3`, and `gen[08-10]` is `gen08`, `gen09`, `gen10`; any other text is itself. `None`
/// where the brackets hold no range of at most `most` numbers.
pub(crate) fn expand(pattern: &str, most: usize) -> Option<Vec<String>> {
    let Some((before, rest)) = pattern.split_once('[') else {
        return (!pattern.contains(']')).then(|| vec![pattern.to_owned()]);
    };
    let (range, after) = rest.split_once(']')?;
    let (first, last) = range.split_once('-')?;
    let is_number = |text: &str| {
        (1..=6).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !is_number(first) || !is_number(last) || after.contains(['[', ']']) {
        return None;
    }
    let width = first.len();
    let range: std::ops::RangeInclusive<u32> = first.parse().ok()?..=last.parse().ok()?;
    if range.is_empty() || range.clone().count() > most {
        return None;
    }
    let names = range.map(|number| format!("{before}{number:0width$}{after}"));
    Some(names.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_several_hosts() {
        let names = |pattern| expand(pattern, 100).map(|names| names.join(" "));
        assert_eq!(names("gen[1-3]").unwrap(), "gen1 gen2 gen3");
        assert_eq!(
            names("r1-[08-10].lab").unwrap(),
            "r1-08.lab r1-09.lab r1-10.lab"
        );
        assert_eq!(names("gen").unwrap(), "gen");
        for bad in [
            "gen[",
            "gen]",
            "gen[1]",
            "gen[3-1]",
            "g[1-2][1-2]",
            "g[a-b]",
            "g[0-100]",
        ] {
            assert_eq!(names(bad), None, "{bad}");
        }
    }
}
