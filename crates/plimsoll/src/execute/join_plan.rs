//! Completes the file of a run whose plimsoll was killed while hosts ran its plan: they end, and their files are joined.

use std::path::Path;
use std::sync::Arc;

use plimsoll_plan::HostId;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::LaneControl;
use plimsoll_record::runfile::RunFile;
use plimsoll_worker::link::Link;

use super::error::{RunError, StepResult};
use super::hosts::Hosts;
use super::on_hosts::{HostParts, PLAN_JOB};
use crate::signals::Interrupt;

/// What the hosts measured until they were on their own, and for how long; their files lie beside `output` meanwhile.
pub(super) fn join_plan(
    file: &mut RunFile,
    output: &Path,
    on_hosts: &[HostId],
    hosts: &Hosts,
    interrupt: &Interrupt,
) -> StepResult<Nanos> {
    let links: Vec<Arc<Link>> = hosts.links(on_hosts);
    let jobs = links.iter().filter_map(|link| link.past_job(PLAN_JOB));
    let receivers = jobs.collect();
    let mut parts = HostParts::of(links, output);
    // One that still runs it waits for the others in vain.
    parts.give(LaneControl::Close);
    let heard = parts.hear(receivers, |parts, heard| {
        while let Ok(news) = heard.recv() {
            parts.take(news.part, news.news)?;
            if interrupt.is_wanted() {
                return Err(RunError::Interrupted);
            }
        }
        Ok(())
    });
    let joined = heard.and_then(|()| parts.joined(Link::past_time));
    parts.remove();
    // How each host ended is that plimsoll was killed.
    let Some(record) = joined?.record else {
        return Ok(Nanos::ZERO);
    };
    let measured = record
        .phases
        .iter()
        .filter(|phase| phase.kind.is_under_load());
    let ends = measured.map(|phase| phase.end);
    let last = ends.max().unwrap_or_default();
    file.add(record)?;
    Ok(last)
}
