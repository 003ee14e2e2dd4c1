//! How likely an array or a cluster loses data within some years, by simulation of its drives' failures.
//!
//! Mean times to data loss mislead (Greenan, Plank and Wylie, Mean Time to Meaningless, HotStorage 2010), so the result is
//! the probability of a loss in the given time. Losses are rare: while members are missing, the next failure before the
//! rebuild ends is forced in half of the histories, which then count by its true probability (importance sampling by
//! forcing: Lewis and Böhm, 1984).

use std::collections::BTreeSet;

use plimsoll_plan::array::ArraySpec;
use plimsoll_plan::assembly::DriveAssembly;
use plimsoll_plan::cluster::{ClusterKind, ClusterPolicy, ClusterSpec};

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

/// How long the data of a drive are missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriveOutage {
    /// Until what takes the drive's place is there.
    pub waits_years: f64,
    /// Bytes of data on each drive.
    pub bytes: u64,
    /// Years for each of them until it is rebuilt.
    pub years_per_byte: f64,
}

/// What data survive.
#[derive(Debug, Clone, Copy)]
enum Redundancy<'a> {
    Array(&'a ArraySpec),
    /// Every combination of hosts has data of its own, as it is with many objects.
    Cluster(&'a ClusterSpec),
}

impl<'a> Redundancy<'a> {
    const fn of(assembly: &'a DriveAssembly) -> Self {
        match assembly {
            DriveAssembly::Array(own) => Self::Array(own),
            DriveAssembly::Cluster(own) => Self::Cluster(own),
        }
    }

    const fn drives(self) -> u32 {
        match self {
            Self::Array(own) => own.members,
            Self::Cluster(own) => own.hosts * own.drives,
        }
    }

    /// Drives whose data are missing without this one: without its write buffer a vSAN host's group has none.
    const fn drives_lost_with(self, drive: u32) -> u32 {
        match self {
            Self::Cluster(own)
                if matches!(own.kind, ClusterKind::Vsan) && drive.is_multiple_of(own.drives) =>
            {
                own.drives - 1
            }
            _ => 1,
        }
    }

    fn survives(self, is_lost: impl Fn(u32) -> bool) -> bool {
        match self {
            Self::Array(own) => own.survives(is_lost),
            Self::Cluster(own) => hosts_without(own, is_lost) <= own.policy().failures(),
        }
    }

    /// Bytes of those that a rebuild of `lost` drives reads that nothing else has.
    fn bytes_at_risk(self, outage: &DriveOutage, lost: u32, is_lost: impl Fn(u32) -> bool) -> f64 {
        match self {
            Self::Array(own) => {
                let present = (0..own.members).filter(|member| !is_lost(*member));
                let is_needed = |one: &u32| !own.survives(|other| is_lost(other) || other == *one);
                present.filter(is_needed).count() as f64 * outage.bytes as f64
            }
            Self::Cluster(own) if hosts_without(own, is_lost) < own.policy().failures() => 0.0,
            Self::Cluster(own) => {
                let read_for_each = match own.policy() {
                    ClusterPolicy::Raid5 => 3,
                    ClusterPolicy::Raid6 => 4,
                    _ => 1,
                };
                f64::from(lost * read_for_each) * outage.bytes as f64
            }
        }
    }
}

/// Hosts of which a drive is missing.
fn hosts_without(cluster: &ClusterSpec, is_lost: impl Fn(u32) -> bool) -> u32 {
    let lost = (0..cluster.hosts * cluster.drives).filter(|drive| is_lost(*drive));
    let hosts: BTreeSet<u32> = lost.map(|drive| drive / cluster.drives).collect();
    hosts.len() as u32
}

/// With half the width of its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probability {
    pub value: f64,
    pub half_width: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossProbabilities {
    /// More drives are missing at a time than is tolerated.
    pub drives: Probability,
    /// A block that a rebuild needs cannot be read.
    pub block: Probability,
}

pub fn simulate_losses(
    assembly: &DriveAssembly,
    failures: &DriveFailures,
    outage: DriveOutage,
    years: f64,
    histories: u32,
    seed: u64,
) -> LossProbabilities {
    let redundancy = Redundancy::of(assembly);
    let mut drive_losses = WeightedMean::default();
    let mut block_losses = WeightedMean::default();
    for number in 0..u64::from(histories) {
        let mut history = History {
            redundancy,
            failures,
            outage,
            random: Random::new(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            now: 0.0,
            drives: vec![LivingDrive::default(); redundancy.drives() as usize],
            weight: 1.0,
            blocks: 0.0,
            all_read: 1.0,
        };
        drive_losses.add(history.run(years));
        block_losses.add(history.blocks);
    }
    LossProbabilities {
        drives: drive_losses.probability(),
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
struct LivingDrive {
    since: f64,
    /// When its rebuild will have ended, while it is missing.
    back_at: Option<f64>,
}

struct History<'a> {
    redundancy: Redundancy<'a>,
    failures: &'a DriveFailures,
    outage: DriveOutage,
    random: Random,
    now: f64,
    drives: Vec<LivingDrive>,
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
            let back = self.drives.iter().filter_map(|own| own.back_at);
            let back = back.min_by(f64::total_cmp);
            let until = back.map_or(years, |back| back.min(years));
            let Some(at) = self.next_failure(until, back.is_some()) else {
                self.now = until;
                self.end_rebuilds();
                continue;
            };
            let drive = self.failing_drive(at);
            self.now = at;
            let lost = self.redundancy.drives_lost_with(drive as u32);
            let rebuilt = self.outage.bytes as f64 * f64::from(lost) * self.outage.years_per_byte;
            self.drives[drive].back_at = Some(at + self.outage.waits_years + rebuilt);
            if !self.redundancy.survives(|own| self.is_lost(own)) {
                return self.weight;
            }
            self.read_for_rebuild(lost);
        }
        0.0
    }

    fn end_rebuilds(&mut self) {
        let now = self.now;
        for own in &mut self.drives {
            if own.back_at.is_some_and(|at| at <= now) {
                *own = LivingDrive {
                    since: now,
                    back_at: None,
                };
            }
        }
    }

    /// Failures that are expected of a drive from now until a time (the cumulative hazard).
    fn expected(&self, drive: &LivingDrive, until: f64) -> f64 {
        let DriveFailures { yearly, shape, .. } = *self.failures;
        let scale = (-(1.0 - yearly).ln()).powf(-1.0 / shape);
        let at = |time: f64| ((time - drive.since).max(0.0) / scale).powf(shape);
        at(until) - at(self.now)
    }

    fn present(&self) -> impl Iterator<Item = (usize, &LivingDrive)> {
        let drives = self.drives.iter().enumerate();
        drives.filter(|(_, own)| own.back_at.is_none())
    }

    fn expected_of_all(&self, until: f64) -> f64 {
        let all: f64 = self
            .present()
            .map(|(_, own)| self.expected(own, until))
            .sum();
        let is_whole = self.drives.iter().all(|own| own.back_at.is_none());
        all * if is_whole {
            1.0
        } else {
            self.failures.correlation
        }
    }

    /// When the next drive fails, if that is before `until`.
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

    /// Which drive it is that fails at a time, by what is expected of each until just after it.
    fn failing_drive(&mut self, at: f64) -> usize {
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

    fn is_lost(&self, drive: u32) -> bool {
        self.drives[drive as usize].back_at.is_some()
    }

    /// A block is lost if one cannot be read that nothing else has. `lost` drives are rebuilt.
    fn read_for_rebuild(&mut self, lost: u32) {
        let at_risk = self
            .redundancy
            .bytes_at_risk(&self.outage, lost, |own| self.is_lost(own));
        let DriveFailures {
            unreadable_bits,
            latent_errors,
            scrub_years,
            ..
        } = *self.failures;
        let waiting = latent_errors * scrub_years / 2.0 / self.outage.bytes.max(1) as f64;
        let probability = -(-at_risk * (8.0 * unreadable_bits + waiting)).exp_m1();
        self.blocks += self.weight * self.all_read * probability;
        self.all_read *= 1.0 - probability;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_plan::array::RaidLevel;
    use plimsoll_plan::assembly::NamedAssembly;

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
        let array = DriveAssembly::Array(ArraySpec::new(level, members));
        simulate_losses(&array, failures, outage(), 5.0, 10_000, 3)
    }

    fn outage() -> DriveOutage {
        DriveOutage {
            waits_years: 24.0 * HOUR,
            bytes: 4_000_000_000_000,
            years_per_byte: 24.0 * HOUR / 4e12,
        }
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
        near(single.drives, within(4.0 * rate));
        let pairs = losses(RaidLevel::Raid10, 8, &failures());
        near(pairs.drives, within(8.0 * rate * rate * repair));
        let one = losses(RaidLevel::Raid5, 6, &failures());
        near(one.drives, within(6.0 * 5.0 * rate * rate * repair));
        let two = losses(RaidLevel::Raid6, 8, &failures());
        let third = rate.powi(3) * repair * repair / 2.0;
        near(two.drives, within(8.0 * 7.0 * 6.0 * third));
    }

    /// 5 × 960 GB at 10⁻¹⁵: 3.8 % in a rebuild.
    #[test]
    fn a_rebuild_meets_unreadable_blocks() {
        let array = DriveAssembly::Array(ArraySpec::new(RaidLevel::Raid5, 6));
        let outage = DriveOutage {
            waits_years: HOUR,
            bytes: 960_000_000_000,
            years_per_byte: 0.0,
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
        let raid6 = DriveAssembly::Array(ArraySpec::new(RaidLevel::Raid6, 6));
        let losses = simulate_losses(&raid6, &failures, outage, 5.0, 10_000, 3);
        assert!(losses.block.value < 1e-4, "{losses:?}");
    }

    #[test]
    fn wear_and_common_causes_lose_more() {
        let usual = losses(RaidLevel::Raid5, 6, &failures()).drives.value;
        let correlation = 10.0;
        let common = DriveFailures {
            correlation,
            ..failures()
        };
        let ratio = losses(RaidLevel::Raid5, 6, &common).drives.value / usual;
        assert!((9.0..11.0).contains(&ratio), "{ratio}");
        let worn = DriveFailures {
            shape: 1.5,
            ..failures()
        };
        assert!(losses(RaidLevel::Raid5, 6, &worn).drives.value > 1.5 * usual);
    }

    /// Of 4 hosts with a write buffer and 2 drives of data: a pair of drives on different hosts loses data. A buffer takes
    /// as long to rebuild as both its drives.
    #[test]
    fn a_cluster_loses_data_with_drives_of_more_hosts_than_its_policy_tolerates() {
        let losses = |name: &str| {
            let named: NamedAssembly = name.parse().unwrap();
            simulate_losses(&named.assembly, &failures(), outage(), 5.0, 10_000, 3).drives
        };
        let rate = -(1.0f64 - 0.02).ln();
        let within = |per_year: f64| -(-5.0 * per_year).exp_m1();
        let outages = 4.0 * (2.0 * 48.0 + 72.0) * HOUR;
        near(losses("vsan:4:3:sata"), within(9.0 * rate * rate * outages));
        let outages = 3.0 * 2.0 * 48.0 * HOUR;
        near(
            losses("ceph:3:2:sata:copies=2"),
            within(4.0 * rate * rate * outages),
        );
        near(losses("vsan:3:2:sata:policy=ftt0"), within(6.0 * rate));
        assert!(losses("ceph:3:2:sata").value < 1e-5);
    }
}
