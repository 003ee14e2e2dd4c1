//! How likely an array loses data within some years, by simulation of its drives' failures.
//!
//! Mean times to data loss mislead (Greenan, Plank and Wylie, Mean Time to Meaningless, HotStorage 2010), so the result is
//! the probability of a loss in the given time. Losses are rare: while members are missing, the next failure before the
//! rebuild ends is forced in half of the histories, which then count by its true probability (importance sampling by
//! forcing: Lewis and Böhm, 1984).

use plimsoll_plan::array::ArraySpec;

use crate::model::Random;

/// What becomes of drives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriveFailures {
    /// Share of drives that fail in their first year.
    pub yearly: f64,
    /// Of the Weibull distribution of their lives; 1 is a constant rate, more is wear.
    pub shape: f64,
    /// While a member is missing the others fail so many times as often: failures that have a cause in common.
    pub correlation: f64,
    /// Unreadable bits of those read.
    pub unreadable_bits: f64,
    /// Unreadable blocks that come up on a drive in a year and stay until a scrub finds them.
    pub latent_errors: f64,
    pub scrub_years: f64,
}

/// How long an array is without a member.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemberOutage {
    /// From the failure until the last byte is rebuilt.
    pub years: f64,
    /// Bytes of each member, all of which a rebuild reads.
    pub bytes: u64,
}

/// With half the width of its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probability {
    pub value: f64,
    pub half_width: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossProbabilities {
    /// More members are missing at a time than the array tolerates.
    pub array: Probability,
    /// A block that a rebuild needs cannot be read.
    pub block: Probability,
}

pub fn simulate_losses(
    array: &ArraySpec,
    failures: &DriveFailures,
    outage: MemberOutage,
    years: f64,
    histories: u32,
    seed: u64,
) -> LossProbabilities {
    let mut array_losses = WeightedMean::default();
    let mut block_losses = WeightedMean::default();
    for number in 0..u64::from(histories) {
        let mut history = History {
            array,
            failures,
            outage,
            random: Random::new(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            now: 0.0,
            members: vec![LivingMember::default(); array.members as usize],
            weight: 1.0,
            blocks: 0.0,
            all_read: 1.0,
        };
        array_losses.add(history.run(years));
        block_losses.add(history.blocks);
    }
    LossProbabilities {
        array: array_losses.probability(),
        block: block_losses.probability(),
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct WeightedMean {
    count: f64,
    sum: f64,
    squares: f64,
}

impl WeightedMean {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    fn probability(self) -> Probability {
        let mean = self.sum / self.count;
        let variance = (self.squares / self.count - mean * mean).max(0.0);
        Probability {
            value: mean,
            half_width: 1.96 * (variance / self.count).sqrt(),
        }
    }
}

/// Times in years.
#[derive(Debug, Clone, Copy, Default)]
struct LivingMember {
    since: f64,
    /// When its rebuild will have ended, while it is missing.
    back_at: Option<f64>,
}

struct History<'a> {
    array: &'a ArraySpec,
    failures: &'a DriveFailures,
    outage: MemberOutage,
    random: Random,
    now: f64,
    members: Vec<LivingMember>,
    /// True probability of this history over that with which it is drawn.
    weight: f64,
    /// Probability that a block is lost, counted like the weight.
    blocks: f64,
    /// Probability that every rebuild so far could read all that it needed.
    all_read: f64,
}

/// Share of histories in which the next failure comes before the rebuild ends.
const FORCED: f64 = 0.5;

impl History<'_> {
    /// Its weight if data are lost, else 0.
    fn run(&mut self, years: f64) -> f64 {
        while self.now < years {
            let back = self.members.iter().filter_map(|own| own.back_at);
            let back = back.min_by(f64::total_cmp);
            let until = back.map_or(years, |back| back.min(years));
            let Some(at) = self.next_failure(until, back.is_some()) else {
                self.now = until;
                self.end_rebuilds();
                continue;
            };
            let member = self.failing_member(at);
            self.now = at;
            self.members[member].back_at = Some(at + self.outage.years);
            if !self.survives(None) {
                return self.weight;
            }
            self.read_for_rebuild();
        }
        0.0
    }

    fn end_rebuilds(&mut self) {
        let now = self.now;
        for own in &mut self.members {
            if own.back_at.is_some_and(|at| at <= now) {
                *own = LivingMember {
                    since: now,
                    back_at: None,
                };
            }
        }
    }

    /// Failures that are expected of a member from now until a time (the cumulative hazard).
    fn expected(&self, member: &LivingMember, until: f64) -> f64 {
        let DriveFailures { yearly, shape, .. } = *self.failures;
        let scale = (-(1.0 - yearly).ln()).powf(-1.0 / shape);
        let at = |time: f64| ((time - member.since).max(0.0) / scale).powf(shape);
        at(until) - at(self.now)
    }

    fn present(&self) -> impl Iterator<Item = (usize, &LivingMember)> {
        let members = self.members.iter().enumerate();
        members.filter(|(_, own)| own.back_at.is_none())
    }

    fn expected_of_all(&self, until: f64) -> f64 {
        let all: f64 = self
            .present()
            .map(|(_, own)| self.expected(own, until))
            .sum();
        let is_whole = self.members.iter().all(|own| own.back_at.is_none());
        all * if is_whole {
            1.0
        } else {
            self.failures.correlation
        }
    }

    /// When the next member fails, if that is before `until`.
    fn next_failure(&mut self, until: f64, may_force: bool) -> Option<f64> {
        let expected = self.expected_of_all(until);
        let probability = -(-expected).exp_m1();
        let drawn = if may_force && probability < FORCED {
            FORCED
        } else {
            probability
        };
        if self.random.unit() >= drawn {
            self.weight *= (1.0 - probability) / (1.0 - drawn);
            return None;
        }
        self.weight *= probability / drawn;
        // The time at which so much of what is expected has come.
        let share = -(-self.random.unit() * probability).ln_1p();
        let (mut low, mut high) = (self.now, until);
        for _ in 0..50 {
            let middle = f64::midpoint(low, high);
            if self.expected_of_all(middle) < share {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(high)
    }

    /// Which member it is that fails at a time, by what is expected of each until just after it.
    fn failing_member(&mut self, at: f64) -> usize {
        let step = (at - self.now).max(1e-9) * 1e-3;
        let rates: Vec<(usize, f64)> = self
            .present()
            .map(|(number, own)| {
                let rate = self.expected(own, at + step) - self.expected(own, at);
                (number, rate.max(f64::MIN_POSITIVE))
            })
            .collect();
        let all: f64 = rates.iter().map(|(_, rate)| rate).sum();
        let mut left = self.random.unit() * all;
        let chosen = rates.iter().find(|(_, rate)| {
            left -= rate;
            left <= 0.0
        });
        chosen.or(rates.last()).map_or(0, |(number, _)| *number)
    }

    /// Whether all data can be read, also without `other`.
    fn survives(&self, other: Option<usize>) -> bool {
        let is_lost = |member: u32| {
            let number = member as usize;
            self.members[number].back_at.is_some() || other == Some(number)
        };
        self.array.survives(is_lost)
    }

    /// A block is lost if one cannot be read of a member without which data are lost.
    fn read_for_rebuild(&mut self) {
        let needed = self.present().filter(|(own, _)| !self.survives(Some(*own)));
        let needed = needed.count() as f64;
        let DriveFailures {
            unreadable_bits,
            latent_errors,
            scrub_years,
            ..
        } = *self.failures;
        let of_bits = self.outage.bytes as f64 * 8.0 * unreadable_bits;
        let waiting = latent_errors * scrub_years / 2.0;
        let probability = -(-needed * (of_bits + waiting)).exp_m1();
        self.blocks += self.weight * self.all_read * probability;
        self.all_read *= 1.0 - probability;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_plan::array::RaidLevel;

    const HOUR: f64 = 1.0 / 8766.0;

    fn failures() -> DriveFailures {
        DriveFailures {
            yearly: 0.02,
            shape: 1.0,
            correlation: 1.0,
            unreadable_bits: 0.0,
            latent_errors: 0.0,
            scrub_years: 0.0,
        }
    }

    fn losses(level: RaidLevel, members: u32, failures: &DriveFailures) -> LossProbabilities {
        let outage = MemberOutage {
            years: 48.0 * HOUR,
            bytes: 4_000_000_000_000,
        };
        let array = ArraySpec::new(level, members);
        simulate_losses(&array, failures, outage, 5.0, 10_000, 3)
    }

    fn near(own: Probability, expected: f64) {
        // The formula leaves out what is of second order.
        let allowed = 1.5 * own.half_width + 0.03 * expected;
        assert!((own.value - expected).abs() < allowed, "{own:?} {expected}");
        assert!(own.half_width < 0.2 * own.value, "{own:?}");
    }

    /// The times until a loss of data that are known for constant rates (as in Elling, RAID recommendations, 2007). Where
    /// two members are missing, the one that failed first is back after half a rebuild in the mean, for they are rebuilt
    /// at once and in a fixed time.
    #[test]
    fn losses_are_those_of_the_closed_formulas() {
        let rate = -(1.0f64 - 0.02).ln();
        let repair = 48.0 * HOUR;
        let within = |per_year: f64| -(-5.0 * per_year).exp_m1();
        let single = losses(RaidLevel::Raid0, 4, &failures());
        near(single.array, within(4.0 * rate));
        let pairs = losses(RaidLevel::Raid10, 8, &failures());
        near(pairs.array, within(8.0 * rate * rate * repair));
        let one = losses(RaidLevel::Raid5, 6, &failures());
        near(one.array, within(6.0 * 5.0 * rate * rate * repair));
        let two = losses(RaidLevel::Raid6, 8, &failures());
        let third = rate.powi(3) * repair * repair / 2.0;
        near(two.array, within(8.0 * 7.0 * 6.0 * third));
    }

    /// 5 × 960 GB at 10⁻¹⁵: 3.8 % in a rebuild.
    #[test]
    fn a_rebuild_meets_unreadable_blocks() {
        let array = ArraySpec::new(RaidLevel::Raid5, 6);
        let outage = MemberOutage {
            years: HOUR,
            bytes: 960_000_000_000,
        };
        let failures = DriveFailures {
            unreadable_bits: 1e-15,
            ..failures()
        };
        let losses = simulate_losses(&array, &failures, outage, 5.0, 10_000, 3);
        let rebuilds = 5.0 * 6.0 * -(1.0f64 - 0.02).ln();
        near(losses.block, -(-rebuilds * 0.0377).exp_m1());
        let many = DriveFailures {
            yearly: 0.5,
            unreadable_bits: 1e-12,
            ..failures
        };
        let losses = simulate_losses(&array, &many, outage, 5.0, 1_000, 3);
        assert!((0.9..=1.0001).contains(&losses.block.value), "{losses:?}");
        let raid6 = ArraySpec::new(RaidLevel::Raid6, 6);
        let losses = simulate_losses(&raid6, &failures, outage, 5.0, 10_000, 3);
        assert!(losses.block.value < 1e-4, "{losses:?}");
    }

    #[test]
    fn wear_and_common_causes_lose_more() {
        let usual = losses(RaidLevel::Raid5, 6, &failures()).array.value;
        let correlation = 10.0;
        let common = DriveFailures {
            correlation,
            ..failures()
        };
        let ratio = losses(RaidLevel::Raid5, 6, &common).array.value / usual;
        assert!((9.0..11.0).contains(&ratio), "{ratio}");
        let worn = DriveFailures {
            shape: 1.5,
            ..failures()
        };
        assert!(losses(RaidLevel::Raid5, 6, &worn).array.value > 1.5 * usual);
    }
}
