//! Chooses how much slower emulated drives run than rated, before a run: `speed = "auto"`.
//!
//! Drives that are compared as they ran get the same factor, since only drives slowed alike can be; where full speed is
//! predicted, each gets a separate one.

mod alike;
mod factor;
mod load;
mod probe;

use std::slice;

use plimsoll_analysis::summary::TooLate;
use plimsoll_plan::resolved::{Medium, ResolvedPlan};
use plimsoll_record::message::EventKind;
use serde::{Deserialize, Serialize};

use crate::execute::{Job, NextFactor};
use crate::failure::Failure;
use crate::signals::Interrupt;
use crate::terminal::note;
use alike::is_compared_at_full_speed;
use factor::{Choice, TooFast, next, smallest};
use load::loads_on;
use probe::{Candidate, Unmounting, probe};

/// A factor and the reason for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChosenSpeed {
    pub factor: u32,
    pub reason: EventKind,
    /// Media that it is for; empty: all whose speed is chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<String>,
}

impl ChosenSpeed {
    /// The job at this speed, with the reason among its notes.
    pub fn apply_to(self, mut job: Job) -> Job {
        set(&mut job.plan, &self.media, self.factor);
        job.notes.push(self.reason);
        job.next_factors
            .extend(next(self.factor).map(|factor| NextFactor {
                media: self.media,
                factor,
            }));
        job
    }
}

/// Whether one of the plans has an emulated drive whose speed is to be chosen.
pub fn is_needed(plans: &[&ResolvedPlan]) -> bool {
    !candidates(plans).is_empty()
}

/// The smallest factors at which this machine can answer for the drives of a plan that have `speed = "auto"`: one for each
/// kind of drive and load, or for all; none without any. Takes two to three seconds for each drive and each factor that does
/// not suffice.
pub fn choose(
    plan: &ResolvedPlan,
    interrupt: &Interrupt,
    quiet: bool,
) -> Result<Vec<ChosenSpeed>, Failure> {
    let candidates = candidates(&[plan]);
    if !is_compared_at_full_speed(plan) || candidates.len() < 2 {
        let alike = choose_alike(&[plan], interrupt, quiet)?;
        return Ok(alike.into_iter().collect());
    }
    candidates
        .iter()
        .map(|one| for_all(slice::from_ref(one), one.media.clone(), interrupt, quiet))
        .collect()
}

/// As [`choose`], one factor for all drives of these plans: cells of a set are compared as they ran.
pub fn choose_alike(
    plans: &[&ResolvedPlan],
    interrupt: &Interrupt,
    quiet: bool,
) -> Result<Option<ChosenSpeed>, Failure> {
    match candidates(plans).as_slice() {
        [] => Ok(None),
        all => for_all(all, Vec::new(), interrupt, quiet).map(Some),
    }
}

fn for_all(
    candidates: &[Candidate],
    media: Vec<String>,
    interrupt: &Interrupt,
    quiet: bool,
) -> Result<ChosenSpeed, Failure> {
    let mut unmounting = Unmounting::default();
    let choice = smallest(candidates.len(), |number, factor| {
        if interrupt.is_wanted() {
            return Err(Failure::run(
                "interrupted before the run: nothing was measured",
            ));
        }
        let candidate = &candidates[number];
        let late = probe(candidate, factor, &mut unmounting, interrupt)?;
        if !quiet {
            note!("  {}", tried(&candidate.medium.name, factor, late));
        }
        Ok(late)
    });
    unmounting.finish();
    let choice = choice?;
    Ok(ChosenSpeed {
        factor: choice.factor,
        reason: reason(&choice, candidates, &media),
        media,
    })
}

fn tried(medium: &str, factor: u32, late: Option<TooLate>) -> String {
    let speed = if factor == 1 {
        "at full speed".to_owned()
    } else {
        format!("{factor} times slower")
    };
    let found = match late {
        None => "in time".to_owned(),
        Some(TooLate {
            added_percent: Some(percent),
        }) => format!("{percent:.0} % late"),
        Some(_) => "the emulator has no time left".to_owned(),
    };
    format!("choosing the speed · {medium} {speed}: {found}")
}

/// Each kind of drive and load once.
fn candidates(plans: &[&ResolvedPlan]) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = Vec::new();
    // Nothing is late in virtual time.
    for plan in plans.iter().filter(|plan| !plan.is_simulated()) {
        for id in plan.used_media() {
            let medium = plan.medium(id);
            let Some(drive) = medium.kind.emulated().filter(|drive| drive.auto) else {
                continue;
            };
            let loads = loads_on(plan, id);
            let is_same = |other: &&mut Candidate| other.drive == *drive && other.loads == loads;
            match all.iter_mut().find(is_same) {
                Some(known) => known.media.push(medium.name.clone()),
                None => all.push(Candidate {
                    medium: medium.clone(),
                    media: vec![medium.name.clone()],
                    drive: drive.clone(),
                    data_seed: plan.data_seed,
                    loads,
                }),
            }
        }
    }
    all
}

fn reason(choice: &Choice<TooLate>, candidates: &[Candidate], media: &[String]) -> EventKind {
    match choice.too_fast {
        None if media.is_empty() => EventKind::FullSpeed,
        None => EventKind::FullSpeedOf {
            media: media.to_vec(),
        },
        Some(TooFast { drive, factor, why }) => EventKind::SlowedDown {
            media: media.to_vec(),
            factor: choice.factor,
            medium: candidates[drive].medium.name.clone(),
            tried: (factor != 1).then_some(factor),
            added_percent: why.added_percent,
        },
    }
}

/// Sets the factor of the drives with `speed = "auto"` of these media, or of all.
pub fn set(plan: &mut ResolvedPlan, media: &[String], factor: u32) {
    let of_these = |medium: &&mut Medium| media.is_empty() || media.contains(&medium.name);
    let drives = plan.media.iter_mut().filter(of_these);
    let drives = drives.filter_map(|medium| medium.kind.emulated_mut());
    for drive in drives.filter(|drive| drive.auto) {
        drive.slower = f64::from(factor);
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::parse;
    use plimsoll_report::message::Messages;

    use super::*;
    use crate::drive_file;

    fn plan(media: &str) -> ResolvedPlan {
        let text = format!(
            "title = \"t\"\nemulate = true\n{media}\n[system.db]\nengine = \"sqlite\"\n[workload.w.tpcc]\nwarehouses = 1\n[[step]]\n\
             run = \"w\"\nsystem = \"db\"\nusers = 2\n"
        );
        let parsed = parse(&text, &drive_file::options());
        parsed.unwrap_or_else(|errors| panic!("{errors}")).plan
    }

    #[test]
    fn each_drive_with_a_speed_to_choose_is_probed_once() {
        let auto = "drive = \"kingston-dc1500m-960g\"";
        let [a, b, fixed, full, real] = [
            format!("[medium.a]\n{auto}"),
            format!("[medium.b]\n{auto}\nspeed = \"auto\""),
            format!("[medium.c]\n{auto}\nslower = 1"),
            format!("[medium.d]\n{auto}\nspeed = \"full\""),
            "[medium.e]\npath = \".\"".to_owned(),
        ]
        .map(|media| plan(&media));
        let found = candidates(&[&fixed, &a, &b, &full, &real]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].media, ["a", "b"]);
    }

    #[test]
    fn the_reason_is_the_drive_that_was_too_fast() {
        let plan = plan("[medium.a]\ndrive = \"kingston-dc1500m-960g\"");
        let candidates = candidates(&[&plan]);
        let both = ["a".to_owned(), "b".to_owned()];
        let because = |media: &[String], factor, tried, added_percent| {
            let too_fast = TooFast {
                drive: 0,
                factor: tried,
                why: TooLate { added_percent },
            };
            let choice = Choice {
                factor,
                too_fast: Some(too_fast),
            };
            Messages::english().event(&reason(&choice, &candidates, media))
        };
        let full = Choice {
            factor: 1,
            too_fast: None,
        };
        let texts = [
            Messages::english().event(&reason(&full, &candidates, &[])),
            Messages::english().event(&reason(&full, &candidates, &both)),
            because(&[], 2, 1, Some(29.4)),
            because(&both, 5, 2, Some(29.4)),
            because(&[], 20, 10, None),
        ];
        insta::assert_snapshot!(texts.join("\n"), @r"
        Emulated drives run at full speed: this machine answers in time for all of them.
        a, b: emulated at full speed, this machine answers in time.
        Emulated drives run 2 times slower than rated (at full speed, answers for a took 29.4 % longer than modeled).
        a, b: emulated 5 times slower than rated (2 times slower, answers for a took 29.4 % longer than modeled).
        Emulated drives run 20 times slower than rated (10 times slower, the emulator of a had no time left).
        ");
    }
}
