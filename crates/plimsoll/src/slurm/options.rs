//! `--slurm=OPTIONS`.

use crate::failure::Failure;

/// Options that go to sbatch as they are, after plimsoll's own, so that they override them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SbatchOptions {
    pub words: Vec<String>,
    /// Of `--array=%4`.
    pub at_once: Option<u32>,
}

impl SbatchOptions {
    /// Words between spaces.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let mut options = Self {
            words: Vec::new(),
            at_once: None,
        };
        for word in text.split_whitespace() {
            match word.split_once('=') {
                Some(("--array", limit)) => options.at_once = Some(at_once(limit)?),
                _ if word.starts_with('-') || !options.words.is_empty() => {
                    options.words.push(word.into());
                }
                _ => return Err(refused(word, "is no option of sbatch")),
            }
        }
        for own in ["--array", "-a", "--parsable", "--wrap"] {
            if options.words.iter().any(|word| word == own) {
                return Err(refused(own, "is for plimsoll"));
            }
        }
        Ok(options)
    }

    /// Whether one of `--mem`, `--mem-per-cpu` and `--mem-per-gpu` is among them: sbatch takes no second one.
    pub fn set_memory(&self) -> bool {
        self.words.iter().any(|word| word.starts_with("--mem"))
    }
}

fn at_once(limit: &str) -> Result<u32, Failure> {
    let number = limit.strip_prefix('%').and_then(|text| text.parse().ok());
    number
        .filter(|number| *number > 0)
        .ok_or_else(|| refused(&format!("--array={limit}"), "is for plimsoll"))
}

fn refused(word: &str, why: &str) -> Failure {
    Failure::usage(format!(
        "--slurm: {word} {why}\nGive options of sbatch such as \"--partition=nvme --time=30\"; --array=%4 runs at most 4 \
         cells at once."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_passed_on_except_for_the_array() {
        let options = SbatchOptions::parse("--partition=nvme -t 30  --array=%4").unwrap();
        assert_eq!(options.words, ["--partition=nvme", "-t", "30"]);
        assert_eq!(options.at_once, Some(4));
        assert_eq!(SbatchOptions::parse("").unwrap().words, [] as [String; 0]);
        assert!(!options.set_memory());
        let memory = SbatchOptions::parse("--mem-per-cpu=2G").unwrap();
        assert!(memory.set_memory());
        for bad in ["nvme", "--array=1-3", "--array=%0", "-a 1", "--wrap true"] {
            let text = SbatchOptions::parse(bad).unwrap_err().text();
            assert!(text.starts_with("--slurm: "), "{bad}: {text}");
        }
    }
}
