//! Requests that an emulated drive served, and the CSV file that holds them: a header, then a line for each.

use std::io::{self, BufRead, Write};

use plimsoll_plan::units::Nanos;

use crate::model::{DriveOp, Op};

/// The first line of each file.
pub const HEADER: &str = "request,arrived_ns,kind,offset,bytes,modelled_ns,client_ns";
const COLUMNS: usize = 7;
/// 36 years: sums of times stay far from overflow.
const LONGEST_NS: u64 = 1 << 60;

/// What the model was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoggedRequest {
    /// Rises in the order in which the model is asked. What the drive has to do for a request beside it, such as a
    /// journal's write before a flush, has the same number and no times.
    pub number: u64,
    /// Since the model's time 0.
    pub arrived: Nanos,
    pub op: Op,
    pub times: Option<RequestTimes>,
}

/// How long a request took, from its arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestTimes {
    pub modelled: Nanos,
    /// As its client saw it.
    pub client: Nanos,
}

/// Why a file of requests is refused.
#[derive(Debug, thiserror::Error)]
pub enum RequestFileError {
    #[error("cannot read it: {0}")]
    Unreadable(#[from] io::Error),
    #[error(
        "line 1 is not the header of logged requests\nGive a file that `drive mount --requests` wrote."
    )]
    Header,
    #[error("line {line}: {why}\nGive a file that `drive mount --requests` wrote.")]
    Line { line: usize, why: String },
}

/// Writes them in this order; their numbers must not fall.
pub fn write(requests: &[LoggedRequest], mut to: impl Write) -> io::Result<()> {
    writeln!(to, "{HEADER}")?;
    for LoggedRequest {
        number,
        arrived,
        op,
        times,
    } in requests
    {
        let Op { kind, offset, len } = op;
        let (arrived, kind) = (arrived.0, kind.name());
        write!(to, "{number},{arrived},{kind},{offset},{len},")?;
        match times {
            Some(RequestTimes { modelled, client }) => writeln!(to, "{},{}", modelled.0, client.0)?,
            None => writeln!(to, ",")?,
        }
    }
    Ok(())
}

/// Reads what [`write`] wrote.
pub fn read(from: impl BufRead) -> Result<Vec<LoggedRequest>, RequestFileError> {
    let mut lines = from.lines();
    if lines.next().transpose()?.as_deref() != Some(HEADER) {
        return Err(RequestFileError::Header);
    }
    let mut requests: Vec<LoggedRequest> = Vec::new();
    for (at, text) in lines.enumerate() {
        let request = parse(&text?)
            .and_then(|next| follows(requests.last(), next))
            .map_err(|why| RequestFileError::Line { line: at + 2, why })?;
        requests.push(request);
    }
    Ok(requests)
}

fn parse(line: &str) -> Result<LoggedRequest, String> {
    let columns: Vec<&str> = line.split(',').collect();
    let Ok([number, arrived, kind, offset, bytes, modelled, client]) =
        <[&str; COLUMNS]>::try_from(columns.as_slice())
    else {
        return Err(format!("{} columns instead of {COLUMNS}", columns.len()));
    };
    let kind: DriveOp = kind.parse().map_err(|_| format!("unknown kind {kind:?}"))?;
    let times = match (modelled, client) {
        ("", "") => None,
        _ => Some(RequestTimes {
            modelled: time(modelled)?,
            client: time(client)?,
        }),
    };
    Ok(LoggedRequest {
        number: whole(number)?,
        arrived: time(arrived)?,
        op: Op {
            kind,
            offset: whole(offset)?,
            len: whole(bytes)?,
        },
        times,
    })
}

fn whole(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is not a whole number"))
}

fn time(text: &str) -> Result<Nanos, String> {
    match whole(text)? {
        ns if ns <= LONGEST_NS => Ok(Nanos(ns)),
        ns => Err(format!("{ns} ns is more than 36 years")),
    }
}

/// Checks that a line may stand behind another.
fn follows(last: Option<&LoggedRequest>, next: LoggedRequest) -> Result<LoggedRequest, String> {
    match last {
        Some(last) if next.number < last.number => Err(format!(
            "request {} behind request {}",
            next.number, last.number
        )),
        Some(last) if next.arrived < last.arrived => {
            Err("it arrived before the request above it".to_owned())
        }
        _ => Ok(next),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    prop_compose! {
        pub fn any_request()(
            number in 0u64..1 << 40,
            arrived in 0..=LONGEST_NS,
            kind in prop::sample::select(DriveOp::ALL.to_vec()),
            offset: u64,
            len: u64,
            times in prop::option::of((0..=LONGEST_NS, 0..=LONGEST_NS)),
        ) -> LoggedRequest {
            LoggedRequest {
                number,
                arrived: Nanos(arrived),
                op: Op { kind, offset, len },
                times: times.map(|(modelled, client)| RequestTimes {
                    modelled: Nanos(modelled),
                    client: Nanos(client),
                }),
            }
        }
    }

    fn error(text: &str) -> String {
        read(text.as_bytes()).unwrap_err().to_string()
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(mut requests in prop::collection::vec(any_request(), 0..50)) {
            requests.sort_by_key(|request| request.arrived);
            for (number, request) in requests.iter_mut().enumerate() {
                request.number = number as u64 / 2;
            }
            let mut file = Vec::new();
            write(&requests, &mut file).unwrap();
            prop_assert_eq!(read(file.as_slice()).unwrap(), requests);
        }

        #[test]
        fn rubbish_is_refused_and_never_panics(lines in prop::collection::vec("[0-9a-z,.\\-]{0,60}|[ -~]{0,30}", 0..8)) {
            let _ = read(lines.join("\n").as_bytes());
            let _ = read(format!("{HEADER}\n{}", lines.join("\n")).as_bytes());
        }

        #[test]
        fn bytes_are_refused_and_never_panic(bytes: Vec<u8>) {
            prop_assert!(read(bytes.as_slice()).is_err());
        }
    }

    #[test]
    fn faults_have_their_line_and_what_is_wrong() {
        let file = |line: &str| format!("{HEADER}\n7,1000,read,0,4096,80000,90000\n{line}\n");
        assert!(error("").contains("line 1"));
        assert!(error("request\n").contains("line 1"));
        for (line, why) in [
            ("8,1000,read,0,4096", "line 3: 5 columns"),
            ("8,1000,raed,0,4096,1,1", "line 3: unknown kind \"raed\""),
            ("8,1000,read,-1,4096,1,1", "line 3: \"-1\" is not a whole"),
            ("8,1000,read,0,4096,1,", "line 3: \"\" is not a whole"),
            (
                "6,1000,read,0,4096,1,1",
                "line 3: request 6 behind request 7",
            ),
            ("8,999,read,0,4096,1,1", "line 3: it arrived before"),
            ("8,1152921504606846977,trim,0,0,1,1", "more than 36 years"),
        ] {
            let error = error(&file(line));
            assert!(error.contains(why), "{why:?} is not in {error}");
        }
        assert_eq!(
            read(file("7,1000,flush,0,0,,").as_bytes()).unwrap().len(),
            2
        );
    }
}
