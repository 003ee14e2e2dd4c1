//! The measurement: one run of fio after the other.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_block::BlockError;
use plimsoll_block::fio::{FioCommand, Flow, command_line, failed, run};
use plimsoll_import::fio_output;
use plimsoll_import::fio_output::{FioOutput, LogLine};

use super::fit::burst::{Burst, bend};
use super::jobs::{
    LearnOptions, LearnProfile, LearnStep, MOST_DOUBLINGS, MOST_REST_MS, MeasuredArea, arguments,
    steps,
};
use super::logs::LOG;
use super::measured::{LoadResult, Measured};
use super::settle::settled;

/// After it was filled a drive rests at least so long.
const LEAST_REST_MS: u64 = 1_000;

/// What was measured until all steps were over, or until it was stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnOutcome {
    pub measured: Measured,
    /// Steps that were stopped or not begun.
    pub missing: Vec<LearnStep>,
}

/// Runs every step. `begin` is called before each with its number; `tick` is asked ten times a second, and may stop it: what
/// was measured until then stays.
pub fn measure(
    place: &MeasuredArea,
    options: &LearnOptions,
    begin: impl FnMut(usize, &LearnStep),
    tick: impl FnMut() -> Flow,
) -> Result<LearnOutcome, BlockError> {
    let mut runner = LearnRunner {
        place,
        options,
        begin,
        tick,
        measured: Measured::default(),
    };
    let steps = steps(options);
    for (number, step) in steps.iter().enumerate() {
        match runner.step(number, *step) {
            Ok(()) => {}
            Err(BlockError::Cancelled) => {
                return Ok(LearnOutcome {
                    measured: runner.measured,
                    missing: steps[number..].to_vec(),
                });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(LearnOutcome {
        measured: runner.measured,
        missing: Vec::new(),
    })
}

impl LearnOutcome {
    /// Names of loads of which no run is complete.
    pub fn unmeasured(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for step in &self.missing {
            let name = match step {
                LearnStep::Load(profile, _) | LearnStep::Settle(profile, _)
                    if self.measured.point(*profile).is_none() =>
                {
                    profile.name()
                }
                LearnStep::Burst => step.name(),
                _ => continue,
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Whether something was measured of every load that the fit of writes takes.
    pub fn has_writes(&self) -> bool {
        let is_write = |step: &LearnStep| match step {
            LearnStep::Load(profile, _) | LearnStep::Settle(profile, _) => {
                profile.write && self.measured.point(*profile).is_none()
            }
            LearnStep::Burst | LearnStep::LayOut => true,
            LearnStep::Rest(_) => false,
        };
        !self.missing.iter().any(is_write)
    }
}

struct LearnRunner<'a, B, T> {
    place: &'a MeasuredArea,
    options: &'a LearnOptions,
    begin: B,
    tick: T,
    measured: Measured,
}

impl<B: FnMut(usize, &LearnStep), T: FnMut() -> Flow> LearnRunner<'_, B, T> {
    fn step(&mut self, number: usize, step: LearnStep) -> Result<(), BlockError> {
        match step {
            LearnStep::LayOut => {
                let output = self.run(number, &step)?;
                // How much is left in the buffer is not known yet; it is not more than what was written.
                let took = output
                    .jobs
                    .iter()
                    .map(|job| job.write.runtime_ms)
                    .max()
                    .unwrap_or_default();
                self.rest(number, took.min(10_000))
            }
            LearnStep::Rest(millis) => self.rest(number, millis),
            LearnStep::Burst => {
                self.run(number, &step)?;
                self.measured.burst = self.log(number, &step)?;
                self.rest(number, emptying_ms(bend(&self.measured.burst)))
            }
            LearnStep::Load(profile, _) => {
                let output = self.run(number, &step)?;
                let outcome = self.outcome(number, &step, &profile, &output)?;
                self.measured.add(profile, outcome);
                Ok(())
            }
            LearnStep::Settle(profile, _) => self.settle(number, profile),
        }
    }

    /// Repeats a load for twice as long until its second half is steady; its windows are the repeats.
    fn settle(&mut self, number: usize, profile: LearnProfile) -> Result<(), BlockError> {
        for doubled in 0..=MOST_DOUBLINGS {
            let step = LearnStep::Settle(profile, doubled);
            let output = self.run(number, &step)?;
            let whole = self.outcome(number, &step, &profile, &output)?;
            let found = settled(&self.log(number, &step)?);
            let is_steady = found.as_ref().is_some_and(|found| found.steady);
            if !is_steady && doubled < MOST_DOUBLINGS {
                continue;
            }
            if !is_steady {
                self.measured.unsettled.push(profile);
            }
            let windows = found.map_or_else(|| vec![whole.bytes_per_second], |found| found.windows);
            for bytes_per_second in windows {
                let iops = bytes_per_second / profile.block.0 as f64;
                // As many requests are in flight in the window as in the whole (Little's law).
                let mean_us = whole.mean_us * whole.iops / iops.max(1e-9);
                self.measured.add(
                    profile,
                    LoadResult {
                        bytes_per_second,
                        iops,
                        mean_us,
                        ..whole.clone()
                    },
                );
            }
            break;
        }
        Ok(())
    }

    fn rest(&mut self, number: usize, millis: u64) -> Result<(), BlockError> {
        self.run(
            number,
            &LearnStep::Rest(millis.clamp(LEAST_REST_MS, MOST_REST_MS)),
        )
        .map(drop)
    }

    fn run(&mut self, number: usize, step: &LearnStep) -> Result<FioOutput, BlockError> {
        (self.begin)(number, step);
        let logs = self.place.logs.as_deref();
        // fio appends to a log that several jobs share.
        let _ = logs.map(|logs| fs::remove_file(logs.join(LOG)));
        let command = FioCommand {
            args: self.arguments(number, step),
            directory: self.place.logs.clone(),
            writable: self.writable(),
            ..FioCommand::default()
        };
        run(&step.name(), &command, &mut self.tick)
    }

    /// The measured part, and the directory of fio's logs.
    fn writable(&self) -> Vec<PathBuf> {
        if !self.options.writes {
            return Vec::new();
        }
        let file = std::iter::once(self.place.file.path());
        file.chain(self.place.logs.clone()).collect()
    }

    fn arguments(&self, number: usize, step: &LearnStep) -> Vec<String> {
        arguments(step, number, self.place, self.options)
    }

    fn outcome(
        &self,
        number: usize,
        step: &LearnStep,
        profile: &LearnProfile,
        output: &FioOutput,
    ) -> Result<LoadResult, BlockError> {
        output
            .jobs
            .first()
            .and_then(|job| LoadResult::of(profile, job))
            .ok_or_else(|| {
                failed(
                    &step.name(),
                    &self.arguments(number, step),
                    "not one request was answered in the time it had",
                )
            })
    }

    fn log(&self, number: usize, step: &LearnStep) -> Result<Vec<LogLine>, BlockError> {
        let args = self.arguments(number, step);
        let logs = self.place.logs.as_deref().unwrap_or(Path::new(""));
        let text = fs::read_to_string(logs.join(LOG))
            .map_err(|error| failed(&step.name(), &args, error))?;
        fio_output::parse_log(&text).map_err(|error| BlockError::Output {
            job: step.name(),
            error,
            command: command_line(&args),
        })
    }
}

/// How long a drive needs to put away a full buffer, and half as long again.
fn emptying_ms(burst: Burst) -> u64 {
    match (burst.buffer_bytes(), burst) {
        (Some(bytes), Burst::Bend { slow, .. }) => (bytes / slow * 1_500.0) as u64,
        _ => LEAST_REST_MS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_buffer_gets_the_time_that_it_needs() {
        // 2 s at 1,000 MB/s, then 400: 1,200 MB are left, which take 3 s.
        let burst = Burst::Bend {
            bytes_before: 2e9,
            fast: 1e9,
            slow: 4e8,
            within: 1e8,
        };
        assert_eq!(emptying_ms(burst), 4_500);
        assert_eq!(emptying_ms(Burst::Even { bytes: 1e9 }), LEAST_REST_MS);
    }
}
