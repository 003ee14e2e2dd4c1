//! `plimsoll worker`: what a controller starts on another host.

use std::process::ExitCode;
use std::sync::Arc;

use plimsoll_worker::front::relay;
use plimsoll_worker::session::serve_apart;
use plimsoll_worker::state::SessionId;

use crate::cli::WorkerArgs;
use crate::execute::OwnPlans;
use crate::failure::Failure;

pub fn worker(args: &WorkerArgs) -> Result<ExitCode, Failure> {
    let session = SessionId::parse(&args.session).ok_or_else(|| {
        Failure::usage(format!(
            "`{}` is no name of a session\nA plan with [host.NAME] starts workers by itself.",
            args.session
        ))
    })?;
    let ended = match args.serve {
        true => serve_apart(&session, Arc::new(OwnPlans)),
        false => relay(&session),
    };
    ended
        .map(|()| ExitCode::SUCCESS)
        .map_err(|error| Failure::run(format!("the worker cannot go on: {error}")))
}
