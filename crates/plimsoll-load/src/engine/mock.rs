//! An engine that does nothing but take time, as scripted: for tests of everything above it, under either clock.

use plimsoll_plan::load::{MockScript, SlowShare, Stall};
use plimsoll_plan::units::Nanos;
use plimsoll_stats::Rng;

use crate::clock::LaneClock;
use crate::engine::Session;
use crate::error::LoadError;
use crate::session::{SessionError, TxnEnd};
use crate::workload::{Input, tpcc};

pub struct MockSession {
    script: MockScript,
    clock: LaneClock,
    rng: Rng,
    transactions: u64,
    retried: bool,
    round_trips: u64,
    opened: Nanos,
}

impl MockSession {
    /// Times of the script count from the lane's start. Not to be had while the script has the system away.
    pub fn open(
        script: &MockScript,
        clock: LaneClock,
        seed: u64,
        user: u32,
    ) -> Result<Self, LoadError> {
        let opened = clock.now();
        if script
            .outages
            .iter()
            .any(|Stall { at, lasts }| (*at..*at + *lasts).contains(&opened))
        {
            let what = "the mock".into();
            let why = "the script has it away".into();
            return Err(LoadError::Unreachable {
                what,
                why,
                next: "Change `outages` in the plan.".into(),
            });
        }
        let rng = Rng::stream(seed, &[u64::from_be_bytes(*b"mocking "), u64::from(user)]);
        Ok(Self {
            script: script.clone(),
            clock,
            rng,
            transactions: 0,
            retried: false,
            round_trips: 0,
            opened,
        })
    }

    /// Drawn anew for each transaction.
    fn service(&mut self) -> Nanos {
        let MockScript {
            latency,
            jitter,
            exponential,
            slow,
            ..
        } = &self.script;
        let mut service = *latency + Nanos(self.rng.between(0, jitter.0));
        if *exponential > Nanos::ZERO {
            let more = self.rng.exponential(exponential.as_secs_f64());
            service += Nanos::from_secs_f64(more);
        }
        if let Some(SlowShare { share, by }) = slow
            && self.rng.unit() < *share
        {
            service += *by;
        }
        service
    }

    /// When this session is or was lost.
    fn lost_at(&self) -> Option<Nanos> {
        self.script
            .outages
            .iter()
            .map(|outage| outage.at)
            .filter(|at| *at >= self.opened)
            .min()
    }

    /// When work of `service` ends that starts now: stalls that it meets are added.
    fn end_of(&self, now: Nanos, service: Nanos) -> Nanos {
        let mut end = now + service;
        for Stall { at, lasts } in &self.script.stalls {
            let over = *at + *lasts;
            if now < over && end > *at {
                end += over - now.max(*at);
            }
        }
        end
    }
}

impl Session for MockSession {
    async fn run(&mut self, input: &Input) -> Result<TxnEnd, SessionError> {
        self.round_trips += 1;
        let now = self.clock.now();
        let service = self.service();
        let end = self.end_of(now, service);
        if let Some(lost) = self.lost_at().filter(|at| *at < end) {
            self.clock.sleep_until(lost).await;
            return Err(SessionError::Lost(
                "the script loses the connection here".into(),
            ));
        }
        self.clock.sleep_until(end).await;
        let due =
            |every: Option<u64>| every.is_some_and(|n| (self.transactions + 1).is_multiple_of(n));
        if due(self.script.retry_every) && !self.retried {
            self.retried = true;
            return Err(SessionError::Retry("the script wants a retry here".into()));
        }
        let fails = due(self.script.fail_every);
        self.retried = false;
        self.transactions += 1;
        if fails {
            return Err(SessionError::Failed(
                "the script fails this transaction".into(),
            ));
        }
        Ok(match input {
            Input::Tpcc(tpcc::input::TpccInput::NewOrder(order)) if order.rolls_back() => {
                TxnEnd::RolledBack
            }
            Input::Tpcc(_) | Input::Sysbench(_) => TxnEnd::Committed,
        })
    }

    fn take_round_trips(&mut self) -> u64 {
        std::mem::take(&mut self.round_trips)
    }
}
