//! A link whose worker is a fuzzer.

use std::sync::mpsc::channel;

use super::*;

/// What a worker sends, to a link with two jobs.
pub fn worker_bytes(clock: &Clock, mut bytes: &[u8]) {
    let past = PastSession {
        jobs: vec![JobId(1), JobId(2)],
        ..PastSession::default()
    };
    let shared = Shared {
        host: HostCommand(PlanHost {
            name: "fuzzer".into(),
            via: Vec::new(),
            program: None,
            patience: Nanos::SECOND,
        }),
        own: OwnProgram::find().expect("a program"),
        session: SessionId::parse("fuzzer-session").expect("a name"),
        clock: clock.clone(),
        patience: Nanos::SECOND,
        samples: Mutex::new(channel().0),
        subject: SubjectId(1),
        disks: Mutex::default(),
        past: None,
        state: Mutex::new(LinkState::of_past(&past)),
        changed: Condvar::new(),
    };
    // The jobs' news have no reader, so none is waited for.
    shared.state().unread.clear();
    shared.read(&mut bytes);
}
