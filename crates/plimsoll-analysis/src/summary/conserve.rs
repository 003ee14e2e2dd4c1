//! Conservation: nothing that was offered disappears.

use serde::Serialize;

use super::tick::TickRows;
use plimsoll_record::lane::Counts;

/// Whether offered = committed + rolled back + failed + dropped + in flight at the end of every second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Conservation {
    /// Each second, and nothing in flight at the end.
    Holds { seconds: u64 },
    /// As long as it was recorded; the end is not there, and so many were still in flight.
    Open { seconds: u64, in_flight: u64 },
    /// First second at whose end the counts disagree with `in_flight`.
    Broken {
        at_s: f64,
        offered: u64,
        settled: u64,
        in_flight: u64,
    },
    /// No second was recorded.
    #[default]
    Unknown,
}

/// One tick of a point, all types together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Balance {
    pub end_s: f64,
    pub counts: Counts,
    pub in_flight: u64,
}

impl Balance {
    pub fn of(tick: TickRows<'_>) -> Self {
        Self {
            end_s: tick.end().as_secs_f64(),
            counts: tick.total(),
            in_flight: tick.in_flight(),
        }
    }
}

/// Follows the running totals through `ticks`, which are all ticks of the point under load in time order: what was
/// offered in warm-up may settle in the window, so the balance starts with the first intent of the point.
///
/// Within the point `in_flight` is the lane's running offered − settled: that it adds up here proves that no second was
/// lost or changed between lane and report. At the lane's end it is what the users themselves counted as they took and
/// settled intents: only there two accounts of the same thing meet.
pub(super) fn verify(ticks: &[Balance]) -> Conservation {
    let mut total = Counts::default();
    for tick in ticks {
        total.add(&tick.counts);
        if total.offered != total.settled() + tick.in_flight {
            let offered = total.offered;
            let settled = total.settled();
            return Conservation::Broken {
                at_s: tick.end_s,
                offered,
                settled,
                in_flight: tick.in_flight,
            };
        }
    }
    match ticks.last() {
        None => Conservation::Unknown,
        Some(Balance { in_flight: 0, .. }) => Conservation::Holds {
            seconds: ticks.len() as u64,
        },
        Some(last) => Conservation::Open {
            seconds: ticks.len() as u64,
            in_flight: last.in_flight,
        },
    }
}

/// Of systems under load at the same time, each with its own counts: the worst, or the sum.
pub(super) fn of_all(systems: impl IntoIterator<Item = Conservation>) -> Conservation {
    systems.into_iter().reduce(worse_or_sum).unwrap_or_default()
}

fn worse_or_sum(a: Conservation, b: Conservation) -> Conservation {
    match (a, b) {
        (Conservation::Broken { .. }, _) => a,
        (_, Conservation::Broken { .. }) => b,
        (Conservation::Unknown, _) | (_, Conservation::Unknown) => Conservation::Unknown,
        (Conservation::Holds { seconds: a }, Conservation::Holds { seconds: b }) => {
            Conservation::Holds { seconds: a + b }
        }
        (
            Conservation::Open {
                seconds: a,
                in_flight,
            },
            Conservation::Holds { seconds: b },
        )
        | (
            Conservation::Holds { seconds: a },
            Conservation::Open {
                seconds: b,
                in_flight,
            },
        ) => Conservation::Open {
            seconds: a + b,
            in_flight,
        },
        (
            Conservation::Open {
                seconds: a,
                in_flight: i,
            },
            Conservation::Open {
                seconds: b,
                in_flight: j,
            },
        ) => Conservation::Open {
            seconds: a + b,
            in_flight: i.saturating_add(j),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_as_good_as_its_worst_system() {
        let holds = Conservation::Holds { seconds: 3 };
        let open = Conservation::Open {
            seconds: 5,
            in_flight: 2,
        };
        let broken = Conservation::Broken {
            at_s: 2.0,
            offered: 20,
            settled: 18,
            in_flight: 1,
        };
        assert_eq!(of_all([holds, holds]), Conservation::Holds { seconds: 6 });
        assert_eq!(
            of_all([holds, open, open]),
            Conservation::Open {
                seconds: 13,
                in_flight: 4
            }
        );
        assert_eq!(
            of_all([open, holds]),
            Conservation::Open {
                seconds: 8,
                in_flight: 2
            }
        );
        assert_eq!(
            (
                of_all([holds, broken, open]),
                of_all([Conservation::Unknown, broken])
            ),
            (broken, broken)
        );
        assert_eq!(
            (of_all([holds, Conservation::Unknown]), of_all([])),
            (Conservation::Unknown, Conservation::Unknown)
        );
    }

    fn tick(end_s: f64, offered: u64, committed: u64, failed: u64, in_flight: u64) -> Balance {
        Balance {
            end_s,
            counts: Counts {
                offered,
                committed,
                failed,
                ..Counts::default()
            },
            in_flight,
        }
    }

    #[test]
    fn what_is_in_flight_may_settle_later() {
        let ticks = [
            tick(1.0, 10, 7, 0, 3),
            tick(2.0, 10, 10, 2, 1),
            tick(3.0, 0, 1, 0, 0),
        ];
        assert_eq!(verify(&ticks), Conservation::Holds { seconds: 3 });
        assert_eq!(
            verify(&ticks[..2]),
            Conservation::Open {
                seconds: 2,
                in_flight: 1
            }
        );
        assert_eq!(verify(&[]), Conservation::Unknown);
    }

    #[test]
    fn the_first_broken_second_is_named() {
        let ticks = [
            tick(1.0, 10, 7, 0, 3),
            tick(2.0, 10, 9, 2, 1),
            tick(3.0, 0, 1, 0, 0),
        ];
        assert_eq!(
            verify(&ticks),
            Conservation::Broken {
                at_s: 2.0,
                offered: 20,
                settled: 18,
                in_flight: 1
            }
        );
    }
}
