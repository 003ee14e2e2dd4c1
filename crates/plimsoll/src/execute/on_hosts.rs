//! A plan that its hosts run, all at the same time: they meet before each point, and their records become one.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plimsoll_plan::units::Nanos;
use plimsoll_record::join::{HostRecord, join};
use plimsoll_record::lane::LaneControl;
use plimsoll_record::{Record, RunStatus, runfile};
use plimsoll_worker::link::{LaneNews, Link};
use plimsoll_worker::protocol::{HostTask, JobId, PlanEnd, PlanNews, PlanTask};

use super::error::{RunError, StepResult, not_prepared};
use super::hosts::{Hosts, START_LEAD};
use super::job::Job;
use super::run::RunContext;
use super::wait::REFRESH;
use crate::output::rename_new;
use crate::part_dir::PartDir;
use crate::terminal::note;

/// One host of the plan, with what it has sent.
struct HostPart {
    link: Arc<Link>,
    /// The name of its run file, without an extension, where that stays.
    name: PathBuf,
    /// Its run file, as far as it has arrived: made when its first bytes arrive.
    arriving: Option<ArrivingFile>,
    /// Bytes of it could not be written.
    is_torn: bool,
    /// The meeting that it has come to, until that begins.
    meeting: Option<Meeting>,
    progress: String,
    end: Option<PlanEnd>,
}

/// Removed when it is dropped: the worker's state directory has it until its session is left.
struct ArrivingFile {
    dir: PartDir,
    file: File,
}

#[derive(Clone, PartialEq, Eq)]
struct Meeting {
    number: u32,
    what: String,
}

/// Outcome of a plan that hosts ran.
pub(super) struct JoinedPlan {
    pub record: Option<Record>,
    /// How the run ends.
    pub end: StepResult<()>,
}

/// The number of the plan for its hosts; points, which lanes have the numbers of, count from 1.
pub(super) const PLAN_JOB: JobId = JobId(0);

/// The hosts, while they run the plan.
pub(super) struct HostParts {
    parts: Vec<HostPart>,
    order: LaneControl,
}

impl HostPart {
    fn name(&self) -> &str {
        &self.link.host().name
    }

    fn at_name(&self, why: &str) -> String {
        format!("on {}: {why}", self.name())
    }

    fn give_up(&mut self, why: &str) {
        if self.end.is_none() {
            self.link.forget(PLAN_JOB);
            self.end = Some(PlanEnd::Failed(why.to_owned()));
        }
    }

    /// Keeps a whole file with figures that cannot be joined as a separate one.
    fn set_apart(&self) -> Option<PathBuf> {
        let is_sent = matches!(self.end, Some(PlanEnd::Complete | PlanEnd::Incomplete));
        let is_whole = is_sent && !self.is_torn;
        let path = self.path();
        let record = runfile::read(&path).ok().filter(|_| is_whole);
        if record.is_none_or(|record| record.phases.is_empty()) {
            return None;
        }
        let base = &self.name;
        let kept = (1u32..)
            .map(|n| match n {
                1 => format!("{}.plimsoll", base.display()),
                n => format!("{}-{n}.plimsoll", base.display()),
            })
            .map(PathBuf::from)
            .find(|kept| kept.symlink_metadata().is_err())?;
        rename_new(&path, &kept).ok().map(|()| kept)
    }

    fn write(&mut self, part: &str) -> io::Result<()> {
        let bytes = STANDARD.decode(part).map_err(io::Error::other)?;
        let arriving = match self.arriving.take() {
            Some(arriving) => arriving,
            None => ArrivingFile::create(&self.name)?,
        };
        self.arriving.insert(arriving).file.write_all(&bytes)
    }

    fn path(&self) -> PathBuf {
        match &self.arriving {
            Some(arriving) => arriving.path(),
            None => self.name.clone(),
        }
    }

    fn take(&mut self, news: LaneNews) -> StepResult<()> {
        match news {
            LaneNews::Plan(PlanNews::Progress(text)) => self.progress = text,
            LaneNews::Plan(PlanNews::Meeting { number, what }) => {
                self.meeting = Some(Meeting { number, what });
            }
            LaneNews::Plan(PlanNews::FilePart(part)) => {
                if let Err(error) = self.write(&part) {
                    self.is_torn = true;
                    return Err(unwritable(&self.name, &error));
                }
            }
            LaneNews::Plan(PlanNews::Ended(end)) => self.end = Some(end),
            LaneNews::Lost(why) => {
                self.end
                    .get_or_insert(PlanEnd::Failed(format!("it was lost: {why}")));
            }
            // No lane is among the jobs of a plan.
            LaneNews::Ready | LaneNews::Message(_) => {}
        }
        Ok(())
    }
}

impl ArrivingFile {
    fn create(name: &Path) -> io::Result<Self> {
        let dir = PartDir::beside(name)?;
        let file = File::create_new(dir.path().join("part"))?;
        Ok(Self { dir, file })
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("part")
    }
}

impl HostParts {
    /// Their files lie beside `output` while they arrive.
    pub fn new(links: Vec<Arc<Link>>, output: &Path) -> Self {
        let output = output.display().to_string();
        let name = output.strip_suffix(".plimsoll").unwrap_or(&output);
        let parts = links.into_iter().map(|link| HostPart {
            name: PathBuf::from(format!("{name}.{}", link.host().name)),
            link,
            arriving: None,
            is_torn: false,
            meeting: None,
            progress: String::new(),
            end: None,
        });
        Self {
            parts: parts.collect(),
            order: LaneControl::Run,
        }
    }

    /// Keeps what cannot be joined as a file of each host, which the error names.
    pub fn keep_apart(&self, error: RunError) -> RunError {
        let kept: String = self
            .parts
            .iter()
            .filter_map(HostPart::set_apart)
            .map(|kept| format!("\nWhat another host measured: {}", kept.display()))
            .collect();
        match error {
            RunError::Failed(mut why) => {
                why.text.push_str(&kept);
                RunError::Failed(why)
            }
            error => {
                if !kept.is_empty() {
                    note!("{}", kept.trim_start());
                }
                error
            }
        }
    }

    /// Waits for no host any more.
    pub fn give_up(&mut self) {
        for part in &mut self.parts {
            part.give_up("it was not waited for");
        }
    }

    /// An error that names the first host without a file.
    pub fn expect_files(&self) -> StepResult<()> {
        for part in &self.parts {
            if let Some(PlanEnd::Failed(why)) = &part.end {
                return Err(RunError::failed(part.at_name(why)));
            }
        }
        Ok(())
    }

    /// Gives up hosts whose journals know nothing of the plan; returns whether all have ended.
    pub fn have_ended(&mut self) -> bool {
        for part in &mut self.parts {
            if part.link.has_read_backlog() && !part.link.has_heard_of(PLAN_JOB) {
                part.give_up("it has no journal of the plan");
            }
        }
        self.parts.iter().all(|part| part.end.is_some())
    }

    /// Follows what the hosts send, until all have ended; an error ends them.
    pub fn hear(
        &mut self,
        receivers: Vec<tokio::sync::mpsc::Receiver<LaneNews>>,
        follow: impl FnOnce(&mut Self, &Receiver<HostNews>) -> StepResult<()>,
    ) -> StepResult<()> {
        let (news, heard) = mpsc::sync_channel(64);
        std::thread::scope(|scope| {
            for (part, receiver) in receivers.into_iter().enumerate() {
                let news = news.clone();
                scope.spawn(move || forward(part, receiver, &news));
            }
            drop(news);
            let followed = follow(self, &heard);
            if followed.is_err() {
                self.give(LaneControl::Stop);
            }
            // The threads end with their jobs.
            while let Ok(HostNews { part, news }) = heard.recv() {
                // Another error is only a consequence.
                let _ = self.take(part, news);
            }
            followed
        })
    }

    /// Record of all hosts, by the clock that `clock_of` gives.
    pub fn joined<T>(&self, clock_of: impl Fn(&Arc<Link>) -> T) -> StepResult<JoinedPlan>
    where
        T: Fn(Nanos) -> Option<Nanos>,
    {
        let mut records: Vec<Record> = Vec::new();
        for part in &self.parts {
            let path = part.path();
            let read =
                runfile::read(&path).and_then(|record| runfile::require_intact(&path, record));
            records.push(read.map_err(|error| {
                RunError::failed(part.at_name(&format!("its run file: {error}")))
            })?);
        }
        let end = worst(&self.parts, &records);
        let times: Vec<_> = self
            .parts
            .iter()
            .map(|part| {
                let time = clock_of(&part.link);
                move |at: Nanos| time(at).unwrap_or(at)
            })
            .collect();
        let hosts = self.parts.iter().zip(records).zip(&times);
        let hosts = hosts.map(|((part, record), time)| HostRecord {
            host: part.name(),
            record,
            time,
        });
        let record = join(hosts.collect());
        let record = record.map_err(|error| {
            RunError::failed(format!("cannot join the run files of the hosts: {error}"))
        })?;
        Ok(JoinedPlan { record, end })
    }

    /// Gives all hosts the plan.
    fn begin(&self, job: &Job) -> Vec<tokio::sync::mpsc::Receiver<LaneNews>> {
        let parts = self.parts.iter().map(|part| {
            let task = PlanTask {
                text: job.plan_text.clone(),
                scale: job.plan.scale,
                data_scale: job.plan.data_scale,
                seed: job.seed,
                // Hosts may share a file system.
                run_id: format!("{}-{}", job.run_id, part.name()),
                started_at: job.started_at.clone(),
                command: job.command.clone(),
                label: job.label.clone(),
                overwrite: job.overwrite.clone(),
            };
            part.link.run(PLAN_JOB, HostTask::Plan(Box::new(task)))
        });
        parts.collect()
    }

    /// An error, and an order to the others, where a host cannot go on: their work would be useless.
    pub fn take(&mut self, part: usize, news: LaneNews) -> StepResult<()> {
        let part = &mut self.parts[part];
        part.take(news)?;
        match &part.end {
            Some(PlanEnd::Failed(why)) => return Err(RunError::failed(part.at_name(why))),
            // Its record has the reason.
            Some(PlanEnd::Incomplete) => self.give(LaneControl::Close),
            _ => {}
        }
        Ok(())
    }

    /// An order does not weaken one that was given before.
    pub fn give(&mut self, order: LaneControl) {
        if order > self.order {
            self.order = order;
            self.parts
                .iter()
                .for_each(|part| part.link.order(PLAN_JOB, order));
        }
    }

    /// Lets a meeting begin that all have come to; returns what it is for.
    fn meet(&mut self, now: Nanos) -> StepResult<Option<String>> {
        let Some(first) = self.parts.iter().find_map(|part| part.meeting.clone()) else {
            return Ok(None);
        };
        let has_ended = self.parts.iter().any(|part| part.end.is_some());
        // A host that gets its start time late would begin late.
        let is_cut = self.parts.iter().any(|part| part.link.is_cut());
        let other = self.parts.iter().find(|part| {
            part.meeting
                .as_ref()
                .is_some_and(|meeting| *meeting != first)
        });
        match other.and_then(|part| part.meeting.as_ref()) {
            // It has failed: its record has the reason.
            _ if has_ended => self.give(LaneControl::Close),
            _ if is_cut => {}
            Some(other) => {
                return Err(RunError::failed(format!(
                    "the hosts are not in step: one comes to `{}`, another to `{}`",
                    first.what, other.what
                )));
            }
            None if self.parts.iter().all(|part| part.meeting.is_some()) => {
                for part in &mut self.parts {
                    part.meeting = None;
                    part.link.meet(PLAN_JOB, first.number, now + START_LEAD);
                }
                return Ok(Some(first.what));
            }
            None => {}
        }
        Ok(None)
    }

    /// `n1: oltp: loading · n2: waits for the others`.
    fn progress(&self) -> String {
        let parts = self
            .parts
            .iter()
            .filter(|part| part.end.is_none())
            .map(|part| {
                let does = match part.meeting {
                    Some(_) => "waits for the others",
                    None => part.progress.trim(),
                };
                format!("{}: {does}", part.name())
            });
        parts.collect::<Vec<String>>().join(" · ")
    }
}

/// Returns when all hosts have ended, and what they measured is in the run file.
pub(super) fn run_on_hosts(run: RunContext<'_>, hosts: &Hosts) -> StepResult<()> {
    let wanted = &run.plan().on_hosts;
    let links = hosts.links(wanted);
    if links.len() != wanted.len() {
        return Err(not_prepared("host"));
    }
    let mut parts = HostParts::new(links, run.log.file().path());
    hosts.record_anchors(run.log, wanted)?;
    let receivers = parts.begin(run.job);
    let ended = parts.hear(receivers, |parts, heard| follow(run, hosts, parts, heard));
    match ended.and_then(|()| join_hosts(run, &parts)) {
        Ok(end) => end,
        Err(error) => Err(parts.keep_apart(error)),
    }
}

fn follow(
    run: RunContext<'_>,
    hosts: &Hosts,
    parts: &mut HostParts,
    heard: &Receiver<HostNews>,
) -> StepResult<()> {
    let log = run.log;
    loop {
        match heard.recv_timeout(REFRESH.into()) {
            Ok(HostNews { part, news }) => parts.take(part, news)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        parts.give(run.interrupt.order());
        if let Some(text) = parts.meet(log.now())? {
            hosts.record_anchors(log, &run.plan().on_hosts)?;
            log.progress().begin(log.now(), &text);
        }
        log.progress().now(log.now(), &parts.progress());
        log.store()?;
    }
}

/// Returns how the run ends, once all of it is in the run file.
fn join_hosts(run: RunContext<'_>, parts: &HostParts) -> StepResult<StepResult<()>> {
    let joined = parts.joined(|link| {
        let offsets = link.offsets();
        move |at| offsets.controller_time(at)
    })?;
    if let Some(record) = joined.record {
        run.log.file().add(record)?;
    }
    Ok(joined.end)
}

/// How the run ends: as the host that came least far.
fn worst(parts: &[HostPart], records: &[Record]) -> StepResult<()> {
    let mut interrupted = false;
    for (part, Record { run, .. }) in parts.iter().zip(records) {
        match run.status {
            RunStatus::Failed => {
                let why = run.failure.as_deref().unwrap_or("it failed");
                return Err(RunError::failed(part.at_name(why)));
            }
            RunStatus::Interrupted | RunStatus::Unfinished => interrupted = true,
            RunStatus::Complete => {}
        }
    }
    match interrupted {
        true => Err(RunError::Interrupted),
        false => Ok(()),
    }
}

fn unwritable(path: &Path, error: &io::Error) -> RunError {
    RunError::failed(format!("{} cannot be written: {error}", path.display()))
}

pub(super) struct HostNews {
    pub part: usize,
    pub news: LaneNews,
}

fn forward(
    part: usize,
    mut from: tokio::sync::mpsc::Receiver<LaneNews>,
    to: &SyncSender<HostNews>,
) {
    while let Some(news) = from.blocking_recv() {
        if to.send(HostNews { part, news }).is_err() {
            return;
        }
    }
}
