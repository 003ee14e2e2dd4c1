//! The rules that a figure has to survive.

use serde::{Deserialize, Serialize};

use plimsoll_record::Severity;

macro_rules! rules {
    ($($variant:ident, $code:literal, $severity:ident, $about:literal;)*) => {
        /// A closed set with stable codes. What each evaluates is in its own file and in `docs/audit.md`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule { $(#[doc = $about] $variant),* }

        impl Rule {
            /// In the order of reports.
            pub const ALL: [Self; 29] = [$(Self::$variant),*];

            /// Stable: people quote it, files keep it.
            pub fn code(self) -> &'static str {
                match self { $(Self::$variant => $code),* }
            }

            /// The highest severity it can have: with [`Severity::Error`] the figure must not be quoted.
            pub fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity),* }
            }
        }
    };
}

rules! {
    Little, "LITTLE", Error, "Throughput × mean latency is the number in flight.";
    Conserve, "CONSERVE", Error, "Offered = committed + rolled back + failed + dropped.";
    Steady, "STEADY", Warning, "The rate held over the measured window.";
    Short, "SHORT", Warning, "The window was long enough for its figure.";
    Cached, "CACHED", Warning, "The data did not fit into memory.";
    Client, "CLIENT", Error, "The load generator kept up.";
    SameBox, "SAMEBOX", Error, "Generator and system did not share a machine, or did so on both sides.";
    Omission, "OMISSION", Error, "Open-loop latencies count from the due time.";
    Durable, "DURABLE", Error, "What was acknowledged survives a power cut, equally on both sides.";
    Lies, "LIES", Error, "Flushes took as long as the medium needs.";
    Maint, "MAINT", Warning, "Checkpoints, vacuum, purge and backups ran in all compared windows or in none.";
    Thin, "THIN", Warning, "Reads met blocks that had been written.";
    Entropy, "ENTROPY", Warning, "Test data was as compressible and as duplicate as the plan states.";
    Noise, "NOISE", Warning, "Nothing else used the machine.";
    PctAvg, "PCTAVG", Error, "Percentiles were merged and not averaged.";
    OneFactor, "ONEFACTOR", Error, "Compared sides differ in the named factor only.";
    Victims, "VICTIMS", Error, "A noisy-neighbour comparison keeps the number of loaded systems.";
    Ratio, "RATIO", Error, "TPM/NOPM is that of the mix.";
    Size, "SIZE", Warning, "Bytes per warehouse or row agree.";
    Rate, "RATE", Error, "MB/s × seconds are the bytes moved.";
    Wording, "WORDING", Error, "Sentences follow from the figures.";
    Consist, "CONSIST", Error, "The database is consistent after the run.";
    Emulated, "EMULATED", Error, "The emulated drive answered in time.";
    Virtual, "VIRTUAL", Warning, "Simulated figures rest on what the model is known to do well.";
    Repeat, "REPEAT", Warning, "A comparison rests on several runs that differ by less than its effect.";
    Plausible, "PLAUSIBLE", Error, "Figures of a load can all be true at once.";
    Duration, "DURATION", Error, "A time is the sum of its parts.";
    Intact, "INTACT", Error, "The run file is as it was when its run ended.";
    Finding, "FINDING", Error, "Nothing else was found that no other rule evaluates.";
}

impl Rule {
    /// Codes are written in capitals and accepted in any case.
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|rule| rule.code().eq_ignore_ascii_case(code))
    }
}

impl Serialize for Rule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = String::deserialize(deserializer)?;
        Self::parse(&code)
            .ok_or_else(|| serde::de::Error::custom(format!("there is no audit rule {code}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_read_back() {
        for rule in Rule::ALL {
            assert_eq!(Rule::parse(rule.code()), Some(rule));
            assert_eq!(Rule::parse(&rule.code().to_lowercase()), Some(rule));
        }
        assert_eq!(Rule::parse("LITTLES"), None);
    }
}
