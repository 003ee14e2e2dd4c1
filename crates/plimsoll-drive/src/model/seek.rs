//! Where things are on a disk, and how long the arm and the platter take to get there.
//!
//! Seek time over distance: a + b·√d up to a third of the stroke, where the arm speeds up and slows down, and linear
//! beyond, where it coasts (Ruemmler and Wilkes, An introduction to disk drive modeling, IEEE Computer 27(3), 1994).
//! Distances are shares of the capacity. The curve goes through the time to the next track and the full stroke, and its
//! mean over two independent uniform places is the average seek of the data sheet.

use plimsoll_plan::units::Bytes;

use crate::spec::DiskSpec;

const KNEE: f64 = 1.0 / 3.0;
/// Sixteen steps for each doubling of the distance.
const ENTRIES: usize = 33 * 16;
const ZONES: usize = 16;

/// A place: share of the capacity, and angle, both as fractions of 2³².
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    pub share: u32,
    pub angle: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct DiskZone {
    ns_per_byte: f64,
    track_bytes: u64,
}

impl DiskZone {
    /// Bytes per nanosecond, and nanoseconds per turn.
    fn new(rate: f64, turn: u64) -> Self {
        Self {
            ns_per_byte: 1.0 / rate,
            track_bytes: ((rate * turn as f64) as u64).max(512),
        }
    }
}

/// A seek: how long it takes, and how far the platter turns meanwhile.
#[derive(Debug, Clone, Copy, Default)]
struct Seek {
    ns: u32,
    angle: u32,
}

#[derive(Debug, Clone)]
pub struct Geometry {
    turn: u64,
    /// 2³² per nanosecond of the turn.
    angle_per_ns: f64,
    seek: Box<[Seek]>,
    zones: [DiskZone; ZONES],
    /// 2³² per byte of the capacity in use.
    share_per_byte: f64,
    /// A track, as a share of the capacity.
    track_share: u32,
}

impl Geometry {
    pub fn new(spec: &DiskSpec, whole: Bytes, used: Bytes) -> Self {
        let turn = spec.turn.0.max(1);
        let outer = 1.0 / spec.outer_ns_per_byte;
        let inner = 1.0 / spec.inner_ns_per_byte;
        let zones: [DiskZone; ZONES] = std::array::from_fn(|i| {
            DiskZone::new(
                outer + (inner - outer) * i as f64 / (ZONES - 1) as f64,
                turn,
            )
        });
        let track_share = (zones[ZONES / 2].track_bytes as f64 / whole.0.max(1) as f64 * FULL)
            .min(FULL / 2.0) as u32;
        Self {
            turn,
            angle_per_ns: FULL / turn as f64,
            seek: seek_table(spec, track_share, FULL / turn as f64),
            zones,
            share_per_byte: FULL / used.0.max(1) as f64,
            track_share,
        }
    }

    pub fn place(&self, offset: u64) -> Place {
        let share = (offset as f64 * self.share_per_byte) as u32;
        let track = self.zone(share).track_bytes;
        Place {
            share,
            angle: ((offset % track) as f64 / track as f64 * FULL) as u32,
        }
    }

    /// Where the head is when it has passed these bytes.
    pub fn place_after(&self, place: Place, bytes: u64) -> Place {
        let share = place
            .share
            .saturating_add((bytes as f64 * self.share_per_byte) as u32);
        let turned = (self.transfer(place, bytes) % self.turn) as f64 * self.angle_per_ns;
        Place {
            share,
            angle: place.angle.wrapping_add(turned as u32),
        }
    }

    fn zone(&self, share: u32) -> DiskZone {
        self.zones[(share >> 28) as usize]
    }

    pub fn transfer(&self, place: Place, bytes: u64) -> u64 {
        (bytes as f64 * self.zone(place.share).ns_per_byte) as u64
    }

    /// Of the platter at a time.
    pub fn angle(&self, at: u64) -> u32 {
        ((at % self.turn) as f64 * self.angle_per_ns) as u32
    }

    /// From one place, with the platter at this angle, until the other one is under the head.
    #[inline]
    pub fn position(&self, from: Place, angle: u32, to: Place) -> u64 {
        let seek = self.seek(from.share.abs_diff(to.share));
        let left = to.angle.wrapping_sub(angle.wrapping_add(seek.angle));
        u64::from(seek.ns) + ((u64::from(left) * self.turn) >> 32)
    }

    #[inline]
    fn seek(&self, distance: u32) -> Seek {
        if distance < self.track_share {
            Seek::default()
        } else {
            self.seek[entry(distance)]
        }
    }
}

const FULL: f64 = 4_294_967_296.0;

/// Exponent and the four bits below the leading one.
#[inline]
fn entry(distance: u32) -> usize {
    let exponent = 32 - distance.leading_zeros() as usize;
    let below = (u64::from(distance) << (33 - exponent)) as u32 >> 28;
    exponent * 16 + below as usize
}

/// The middle of what has this entry, as a share.
fn middle(entry: usize) -> f64 {
    let exponent = entry / 16;
    let below = entry % 16;
    (1.0 + (below as f64 + 0.5) / 16.0) * 2f64.powi(exponent as i32 - 1) / FULL
}

fn seek_table(spec: &DiskSpec, track: u32, angle_per_ns: f64) -> Box<[Seek]> {
    let curve = SeekCurve::new(spec, f64::from(track) / FULL);
    (0..ENTRIES)
        .map(|entry| {
            let ns = curve.time(middle(entry).min(1.0)).min(f64::from(u32::MAX)) as u32;
            Seek {
                ns,
                angle: (f64::from(ns) * angle_per_ns) as u64 as u32,
            }
        })
        .collect()
}

/// Seek time over distance, in nanoseconds.
struct SeekCurve {
    /// To the next track, to the knee, and over the full stroke.
    first: f64,
    knee: f64,
    full: f64,
    /// A track, as a share of the capacity.
    track: f64,
}

impl SeekCurve {
    fn new(spec: &DiskSpec, track: f64) -> Self {
        let first = spec.seek_track.0 as f64;
        let full = spec.seek_full.0 as f64;
        let knee = knee_time(first, spec.seek_average.0 as f64, full).clamp(first, full.max(first));
        Self {
            first,
            knee,
            full,
            track,
        }
    }

    /// For a distance that is a share of the capacity.
    fn time(&self, distance: f64) -> f64 {
        if distance <= KNEE {
            let way = (distance - self.track).max(0.0) / KNEE;
            self.first + (self.knee - self.first) * way.sqrt()
        } else {
            self.knee + (self.full - self.knee) * (distance - KNEE) / (1.0 - KNEE)
        }
    }
}

/// The time at the knee for which the mean over the distances of random pairs, which have the density 2·(1 − d), is the
/// average. With k = 1/3: ∫√(d/k)·2(1−d) over 0..k is 4k/3 − 4k²/5, and ∫(d−k)/(1−k)·2(1−d) over k..1 is (1−k)²/3.
fn knee_time(first: f64, average: f64, full: f64) -> f64 {
    let k = KNEE;
    let near = 2.0 * k - k * k;
    let root = 4.0 * k / 3.0 - 4.0 * k * k / 5.0;
    let far = (1.0 - k) * (1.0 - k);
    let linear = far / 3.0;
    (average - first * (near - root) - full * linear) / (root + far - linear)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::random::Random;
    use plimsoll_plan::units::Nanos;

    fn disk() -> (DiskSpec, Geometry) {
        let spec = DiskSpec {
            turn: Nanos(8_333_333),
            seek_track: Nanos(800_000),
            seek_average: Nanos(8_500_000),
            seek_full: Nanos(16_000_000),
            outer_ns_per_byte: 1e3 / 180.0,
            inner_ns_per_byte: 1e3 / 90.0,
            interface_ns_per_byte: 1.7,
            command: Nanos(100_000),
            queue: 32,
            buffer: Bytes::mib(64),
            buffers_writes: true,
        };
        let geometry = Geometry::new(&spec, Bytes(2_000_000_000_000), Bytes(1_000_000_000));
        (spec, geometry)
    }

    #[test]
    fn the_mean_of_random_seeks_is_the_average_seek() {
        let (spec, geometry) = disk();
        let mut random = Random::new(3);
        let mut seek = || {
            u64::from(
                geometry
                    .seek((random.draw() as u32).abs_diff(random.draw() as u32))
                    .ns,
            )
        };
        let mean = (0..200_000).map(|_| seek()).sum::<u64>() as f64 / 2e5;
        assert!(
            (mean / spec.seek_average.0 as f64 - 1.0).abs() < 0.01,
            "{mean}"
        );
    }

    #[test]
    fn seeks_get_longer_with_the_distance() {
        let (spec, geometry) = disk();
        let times: Vec<u64> = (0..32)
            .map(|bit| 1 << bit)
            .chain([u32::MAX])
            .map(|far| geometry.seek(far).ns.into())
            .collect();
        assert!(times.windows(2).all(|pair| pair[0] <= pair[1]), "{times:?}");
        assert_eq!(times[0], 0, "the same track");
        assert!(
            (times[32] as f64 / spec.seek_full.0 as f64 - 1.0).abs() < 0.03,
            "{times:?}"
        );
    }

    #[test]
    fn the_platter_turns_while_nothing_happens() {
        let (spec, geometry) = disk();
        let here = geometry.place(0);
        assert_eq!(geometry.position(here, geometry.angle(0), here), 0);
        let later = geometry.position(here, geometry.angle(1_000_000), here);
        assert!(later.abs_diff(spec.turn.0 - 1_000_000) < 100, "{later}");
    }
}
