//! Keeps the requests that an emulated drive serves in memory, and writes them to a file at the end.

use std::io::{self, BufWriter, Write};

use crate::requests::{self, LoggedRequest};

/// Four million: 256 MB, of which the kernel gives only what is used.
const MOST_REQUESTS: usize = 4 << 20;

/// Requests in the order in which they are answered. Adding one neither allocates nor writes.
#[derive(Debug)]
pub struct RequestLog {
    kept: Vec<LoggedRequest>,
    most: usize,
    missed: u64,
}

impl Default for RequestLog {
    fn default() -> Self {
        Self::with_room(MOST_REQUESTS)
    }
}

impl RequestLog {
    fn with_room(most: usize) -> Self {
        Self {
            kept: Vec::with_capacity(most),
            most,
            missed: 0,
        }
    }

    /// Keeps a request that was answered, with what the drive did for it beside it, in the order in which the model was
    /// asked. Once there is no room nothing more is kept, so that what is there has no gap.
    pub fn add(&mut self, request: &[LoggedRequest]) {
        if self.missed > 0 || self.kept.len() + request.len() > self.most {
            self.missed += 1;
        } else {
            self.kept.extend_from_slice(request);
        }
    }

    /// Requests that had no room.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// In the order in which the model was asked.
    pub fn write(&mut self, to: impl Write) -> io::Result<()> {
        // Stable: what belongs to one request keeps its order.
        self.kept.sort_by_key(|request| request.number);
        let mut to = BufWriter::new(to);
        requests::write(&self.kept, &mut to)?;
        to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{DriveOp, Op};
    use crate::requests::RequestTimes;
    use plimsoll_plan::units::Nanos;

    fn logged(number: u64, kind: DriveOp, took: Option<u64>) -> LoggedRequest {
        LoggedRequest {
            number,
            arrived: Nanos(number * 10),
            op: Op {
                kind,
                offset: 4096,
                len: 512,
            },
            times: took.map(|took| RequestTimes {
                modelled: Nanos(took),
                client: Nanos(took + 5),
            }),
        }
    }

    #[test]
    fn requests_are_written_in_the_order_in_which_the_model_was_asked() {
        let mut log = RequestLog::with_room(4);
        let journal = logged(1, DriveOp::Write, None);
        log.add(&[logged(2, DriveOp::Read, Some(70))]);
        log.add(&[journal, logged(1, DriveOp::Flush, Some(900))]);
        let mut file = Vec::new();
        log.write(&mut file).unwrap();
        let expected = "request,arrived_ns,kind,offset,bytes,modelled_ns,client_ns\n\
                        1,10,write,4096,512,,\n\
                        1,10,flush,4096,512,900,905\n\
                        2,20,read,4096,512,70,75\n";
        assert_eq!(String::from_utf8(file).unwrap(), expected);
    }

    #[test]
    fn a_full_log_keeps_what_it_has_and_counts_the_rest() {
        let mut log = RequestLog::with_room(2);
        let room = log.kept.capacity();
        log.add(&[logged(1, DriveOp::Read, Some(1))]);
        log.add(&[
            logged(2, DriveOp::Write, None),
            logged(2, DriveOp::Flush, Some(1)),
        ]);
        log.add(&[logged(3, DriveOp::Read, Some(1))]);
        assert_eq!((log.kept.len(), log.missed()), (1, 2));
        assert_eq!(log.kept.capacity(), room, "nothing was allocated");
    }
}
