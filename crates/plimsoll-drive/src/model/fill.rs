//! How full the drive is.

use super::Setup;

const REGIONS: usize = 1024;

/// How much of the drive holds data, by region. Within a region a random write is taken to hit data as often as the
/// region holds data; one that continues a sequence brings new data.
#[derive(Debug, Clone)]
pub struct Mapped {
    /// Share of each region that holds data.
    shares: Box<[f32]>,
    /// Their sum.
    regions: f64,
    /// Regions per byte.
    scale: f64,
    least: f64,
    /// The fill at the last reported change.
    reported: f64,
}

/// A smaller change of the fill makes no difference.
const STEP: f64 = 1e-4;

impl Mapped {
    pub fn new(setup: &Setup) -> Self {
        let least = if setup.fill.is_finite() {
            setup.fill.clamp(0.0, 1.0)
        } else {
            1.0
        };
        let scale = REGIONS as f64 / setup.capacity.0.max(1) as f64;
        Self {
            shares: vec![0.0; REGIONS].into(),
            regions: 0.0,
            scale,
            least,
            reported: least,
        }
    }

    /// Share of the drive that holds data.
    pub fn fill(&self) -> f64 {
        (self.regions / REGIONS as f64).clamp(self.least, 1.0)
    }

    /// Whether the fill has changed so much that it makes a difference.
    #[inline]
    pub fn write(&mut self, offset: u64, len: u64, is_sequential: bool) -> bool {
        if self.least >= 1.0 {
            return false;
        }
        self.change(offset, len, |share, part| {
            let added = if is_sequential {
                part
            } else {
                part * (1.0 - share)
            };
            (share + added).min(1.0)
        })
    }

    /// The range holds nothing any more. As for [`Self::write`].
    pub fn trim(&mut self, offset: u64, len: u64) -> bool {
        self.change(offset, len, |share, part| (share - part).max(0.0))
    }

    /// For each region that the range touches: its share, and the part of it that the range covers.
    #[inline]
    fn change(&mut self, offset: u64, len: u64, new: impl Fn(f32, f32) -> f32) -> bool {
        let end = (offset.saturating_add(len) as f64 * self.scale).min(REGIONS as f64);
        let mut at = offset as f64 * self.scale;
        while at < end {
            let region = at as usize;
            let upto = end.min((region + 1) as f64);
            let share = &mut self.shares[region];
            let was = *share;
            *share = new(was, (upto - at) as f32);
            self.regions += f64::from(*share) - f64::from(was);
            at = upto;
        }
        let fill = self.fill();
        let differs = (fill - self.reported).abs() >= STEP;
        if differs {
            self.reported = fill;
        }
        differs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Random;
    use plimsoll_plan::units::Bytes;

    fn half(fill: f64) -> (Mapped, u64) {
        let capacity = 1 << 30;
        let mut mapped = Mapped::new(&Setup {
            capacity: Bytes(capacity),
            fill,
            seed: 0,
            ignores_flush: false,
        });
        for offset in (0..capacity / 2).step_by(128 << 10) {
            mapped.write(offset, 128 << 10, true);
        }
        (mapped, capacity)
    }

    #[test]
    fn writes_fill_and_trims_empty() {
        let (mut mapped, capacity) = half(0.25);
        assert!((mapped.fill() - 0.5).abs() < 1e-6);
        assert!(mapped.trim(0, capacity / 8));
        assert!((mapped.fill() - 0.375).abs() < 1e-6);
        mapped.trim(0, u64::MAX);
        assert_eq!(mapped.fill(), 0.25, "never below what it was set up with");
        assert!(!half(1.0).0.write(0, 4096, false), "full stays full");
    }

    #[test]
    fn random_writes_fill_as_independent_draws_do() {
        let capacity = 1 << 30;
        let mut mapped = Mapped::new(&Setup {
            capacity: Bytes(capacity),
            fill: 0.0,
            seed: 0,
            ignores_flush: false,
        });
        let mut random = Random::new(1);
        for _ in 0..capacity / 4096 {
            mapped.write(random.below(capacity / 4096) * 4096, 4096, false);
        }
        let expected = 1.0 - (-1.0f64).exp();
        assert!((mapped.fill() - expected).abs() < 0.01, "{}", mapped.fill());
    }
}
