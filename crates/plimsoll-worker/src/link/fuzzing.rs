//! A link whose worker is a fuzzer.

use std::sync::mpsc::channel;

use super::*;

/// What a worker sends, to a link with two jobs.
pub fn worker_bytes(clock: &Clock, mut bytes: &[u8]) {
    let past = PastSession {
        jobs: [1, 2]
            .map(|job| PastJob {
                job: JobId(job),
                lane: None,
            })
            .to_vec(),
        ..PastSession::default()
    };
    let host = PlanHost {
        name: "fuzzer".into(),
        via: Vec::new(),
        program: None,
        patience: Nanos::SECOND,
    };
    let session = SessionId::parse("fuzzer-session").expect("a name");
    let target = HostTarget {
        host: host.clone(),
        session: session.clone(),
        subject: SubjectId(1),
        samples: channel().0,
        past: Some(past),
        orders: watch::channel(LaneControl::Run).1,
    };
    let dial = CommandDial {
        host: HostCommand(host),
        own: OwnProgram::find().expect("a program"),
        session,
    };
    let shared = Shared::new(target, Box::new(dial), clock.clone());
    // The jobs' news have no reader, so none is waited for.
    shared.state().unread.clear();
    shared.read(&mut bytes);
}
