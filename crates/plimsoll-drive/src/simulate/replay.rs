//! The requests that an emulated drive served, once more, in virtual time.

use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;

use crate::model::{ByRequest, DriveOp, Setup, Storage};
use crate::requests::{LoggedRequest, RequestTimes};
use crate::spec::DriveSpec;
use crate::storage_model::StorageModel;

/// Response times of the same requests, of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayedRequests {
    pub kind: DriveOp,
    pub simulated: Hist,
    /// What the emulator's model gave.
    pub modelled: Hist,
    /// What clients saw.
    pub client: Hist,
}

/// Simulates them with the times at which they arrived; gives the kinds that there are.
pub fn replay(
    spec: &DriveSpec,
    setup: &Setup,
    requests: &[LoggedRequest],
) -> Vec<ReplayedRequests> {
    let mut kinds = DriveOp::ALL.map(|kind| ReplayedRequests {
        kind,
        simulated: Hist::new(),
        modelled: Hist::new(),
        client: Hist::new(),
    });
    let completed = completion_times(StorageModel::new(spec, setup), requests);
    let mut from = 0;
    // What belongs to one request is answered together.
    for parts in requests.chunk_by(|one, next| one.number == next.number) {
        let last = completed[from..from + parts.len()].iter().max().copied();
        from += parts.len();
        for part in parts {
            let Some(RequestTimes { modelled, client }) = part.times else {
                continue;
            };
            let own = &mut kinds[part.op.kind as usize];
            let simulated = last.unwrap_or_default().saturating_sub(part.arrived);
            own.simulated.record(simulated);
            own.modelled.record(modelled);
            own.client.record(client);
        }
    }
    kinds
        .into_iter()
        .filter(|kind| !kind.simulated.is_empty())
        .collect()
}

fn completion_times(mut drive: StorageModel, requests: &[LoggedRequest]) -> Vec<Nanos> {
    let mut completed = vec![Nanos::ZERO; requests.len()];
    let mut sent = ByRequest::default();
    let mut open = 0;
    for (at, request) in requests.iter().enumerate() {
        while let Some(done) = drive.advance(request.arrived) {
            completed[*sent.get(done.id)] = done.at;
            open -= 1;
        }
        let id = drive.submit(request.arrived, request.op);
        sent.set(id, at);
        open += 1;
    }
    while open > 0
        && let Some(done) = drive.advance(Nanos(u64::MAX))
    {
        completed[*sent.get(done.id)] = done.at;
        open -= 1;
    }
    completed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::model::{Drive, Op, Random};
    use plimsoll_plan::units::Bytes;

    const CAPACITY: u64 = 4 << 30;

    fn setup() -> Setup {
        Setup {
            capacity: Bytes(CAPACITY),
            fill: 0.7,
            seed: 3,
            ignores_flush: false,
        }
    }

    /// As the emulator asks the model: at once, some requests with a flush behind them.
    fn served(spec: &DriveSpec) -> Vec<LoggedRequest> {
        let mut drive = Drive::new(spec, &setup());
        let mut random = Random::new(5);
        let mut arrived = Nanos::ZERO;
        let mut log = Vec::new();
        for number in 0..2000 {
            // Several at a time.
            arrived += Nanos(random.below(3) * 200_000);
            let kind = DriveOp::ALL[random.below(4) as usize];
            let op = Op {
                kind,
                offset: random.below(CAPACITY / 8192) * 8192,
                len: 4096 << random.below(4),
            };
            let mut due = drive.complete(arrived, op);
            let request = |op, times| LoggedRequest {
                number,
                arrived,
                op,
                times,
            };
            let flush = Op {
                kind: DriveOp::Flush,
                offset: 0,
                len: 0,
            };
            let is_durable = number % 50 == 0;
            if is_durable {
                due = due.max(drive.complete(arrived, flush));
            }
            let modelled = due - arrived;
            let client = modelled + Nanos(1_000);
            log.push(request(op, Some(RequestTimes { modelled, client })));
            if is_durable {
                log.push(request(flush, None));
            }
        }
        log
    }

    #[test]
    fn the_same_requests_take_as_long_as_in_the_emulator_on_every_drive() {
        for entry in catalog::all() {
            let spec = catalog::load(entry.name, entry.text).unwrap();
            let log = served(&spec);
            let kinds = replay(&spec, &setup(), &log);
            assert_eq!(kinds.len(), 4, "{}", entry.name);
            let requests: u64 = kinds.iter().map(|kind| kind.simulated.count()).sum();
            assert_eq!(requests, 2000, "{}", entry.name);
            for kind in kinds {
                assert_eq!(
                    kind.simulated, kind.modelled,
                    "{} {:?}",
                    entry.name, kind.kind
                );
                assert!(kind.client.mean() > kind.modelled.mean());
            }
        }
    }

    #[test]
    fn another_setup_gives_other_times() {
        let entry = catalog::find("consumer-nvme-1t").unwrap();
        let spec = catalog::load(entry.name, entry.text).unwrap();
        let log = served(&spec);
        let other = Setup { seed: 4, ..setup() };
        let [reads, ..] = &replay(&spec, &other, &log)[..] else {
            panic!("there are reads")
        };
        assert_ne!(reads.simulated, reads.modelled);
    }

    mod properties {
        use super::*;
        use crate::requests::tests::any_request;
        use proptest::prelude::*;

        proptest! {
            #[test]
            fn any_requests_are_replayed(
                entry in prop::sample::select(catalog::all().to_vec()),
                mut requests in prop::collection::vec(any_request(), 1..60),
            ) {
                let spec = catalog::load(entry.name, entry.text).unwrap();
                requests.sort_by_key(|request| request.arrived);
                for (number, request) in requests.iter_mut().enumerate() {
                    request.number = number as u64;
                }
                let answered = requests.iter().filter(|request| request.times.is_some()).count() as u64;
                let kinds = replay(&spec, &setup(), &requests);
                prop_assert_eq!(kinds.iter().map(|kind| kind.client.count()).sum::<u64>(), answered);
            }
        }
    }
}
