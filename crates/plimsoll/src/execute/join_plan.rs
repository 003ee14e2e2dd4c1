//! Completes the file of a run whose plimsoll was killed while hosts ran its plan: they end, and their files are joined.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use plimsoll_plan::HostId;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::LaneControl;
use plimsoll_record::runfile::RunFile;
use plimsoll_worker::link::Link;

use super::error::{RunError, StepResult};
use super::hosts::Hosts;
use super::on_hosts::{HostNews, HostParts, PLAN_JOB};
use super::wait::REFRESH;
use crate::signals::Interrupt;

/// Adds what the hosts measured until they were left alone, and returns for how long; their files lie beside `output`
/// meanwhile.
pub(super) fn join_plan(
    file: &RunFile,
    output: &Path,
    on_hosts: &[HostId],
    hosts: &Hosts,
    interrupt: &Interrupt,
) -> StepResult<Nanos> {
    let links: Vec<Arc<Link>> = hosts.links(on_hosts);
    let jobs = links.iter().filter_map(|link| link.past_job(PLAN_JOB));
    let receivers = jobs.collect();
    let mut parts = HostParts::new(links, output);
    // Without plimsoll no meeting begins any more.
    parts.give(LaneControl::Close);
    let ended = parts.hear(receivers, |parts, heard| wait(parts, heard, interrupt));
    let joined = ended.and_then(|()| {
        parts.joined(|link| {
            let link = link.clone();
            move |at| link.past_time(at)
        })
    });
    let record = match joined {
        // How each host ended is that plimsoll was killed.
        Ok(joined) => joined.record,
        Err(error) => return Err(parts.keep_apart(error)),
    };
    let Some(record) = record else {
        return Ok(Nanos::ZERO);
    };
    let measured = record
        .phases
        .iter()
        .filter(|phase| phase.kind.is_under_load());
    let last = measured.map(|phase| phase.end).max().unwrap_or_default();
    file.add(record)?;
    Ok(last)
}

/// Until all hosts have sent their files.
fn wait(
    parts: &mut HostParts,
    heard: &Receiver<HostNews>,
    interrupt: &Interrupt,
) -> StepResult<()> {
    while !parts.have_ended() {
        match heard.recv_timeout(REFRESH.into()) {
            Ok(HostNews { part, news }) => parts.take(part, news)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if interrupt.is_wanted() {
            parts.give_up();
            return Err(RunError::Interrupted);
        }
    }
    parts.expect_files()
}
