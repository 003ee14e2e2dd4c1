//! Existing servers: whether they answer, and what a run leaves there for the next one.

use std::sync::mpsc::channel;
use std::time::Duration;

use plimsoll_load::engine::server::{CreatedTables, ServerRoute};
use plimsoll_load::error::LoadError;
use plimsoll_load::system::Instance;
use plimsoll_plan::SystemId;
use plimsoll_plan::resolved::{ResolvedPlan, Step, SystemKind};
use plimsoll_record::message::EventKind;
use plimsoll_record::{Severity, SubjectId};

use super::error::StepResult;
use super::log::RunLog;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::shell::quoted;
use crate::terminal::note;

/// For a server's first answer; longer than a connection that is not accepted takes to fail.
const PATIENCE: Duration = Duration::from_secs(20);
/// For a statement's answer behind a login: a pooler that waits for a connection to its server gives none for minutes.
const ROUTE_PATIENCE: Duration = Duration::from_secs(5);
/// A server that hangs must not keep the run from ending.
const PATIENCE_AT_END: Duration = Duration::from_secs(5);

/// Records what is on the way to an existing server.
pub(super) fn record_route(
    log: &RunLog,
    instance: &Instance,
    subject: SubjectId,
) -> StepResult<()> {
    if !instance.is_existing() {
        return Ok(());
    }
    let ServerRoute {
        without_tls,
        pooler,
    } = instance.route()?;
    let without_tls = without_tls.map(|error| EventKind::WithoutTls { error });
    let pooler = pooler.map(|pooler| EventKind::Pooler { pooler });
    without_tls
        .into_iter()
        .chain(pooler)
        .try_for_each(|kind| log.event(Some(subject), Severity::Warning, kind))
}

/// Prints which tables are on the servers, and how to remove them.
pub(super) fn report_what_stays(plan: &ResolvedPlan, progress: &Progress) {
    let used: Vec<SystemId> = plan.steps.iter().flat_map(Step::systems).collect();
    for id in plan.system_ids().filter(|id| used.contains(id)) {
        let kind = &plan.system(id).kind;
        let SystemKind::Existing {
            engine,
            url,
            schema,
            change_tables: _,
        } = kind
        else {
            continue;
        };
        let tables = match created_tables(kind) {
            Some(tables) if tables.names.is_empty() => continue,
            Some(tables) => tables.to_string(),
            None => "the data".to_owned(),
        };
        let public = url.without_password();
        let password = if public == url.reveal() {
            String::new()
        } else {
            format!("{}=… ", engine.password_variable())
        };
        progress.print(&format!(
            "Left in schema {schema} of {public} for the next run: {tables}\n\
             To remove them: {password}plimsoll clean {} --schema {}",
            quoted(&public),
            quoted(schema)
        ));
    }
}

/// Tables that are plimsoll's on a server; none where the server does not answer.
fn created_tables(kind: &SystemKind) -> Option<CreatedTables> {
    ask(kind, PATIENCE_AT_END, Instance::created_tables)?.ok()
}

/// Whether an existing server takes a connection and answers: not so if it is stopped, or if something else listens there.
pub fn expect_answer(kind: &SystemKind) -> Result<(), Failure> {
    match ask(kind, PATIENCE, Instance::check_answer) {
        Some(answer) => Ok(answer?),
        None => Err(Failure::run(format!(
            "{} does not answer\nneither an answer nor an error came within {} s\n\
             Check that the URL names the server's port, and that the server is not stopped.",
            place(kind),
            PATIENCE.as_secs()
        ))),
    }
}

/// Refuses a way to an existing server on which nothing can be measured, or not with so many users; reports a pooler, and
/// connections that are not encrypted although that was tried.
pub fn check_route(kind: &SystemKind, users: u32) -> Result<(), Failure> {
    let route = match ask(kind, ROUTE_PATIENCE, Instance::route) {
        Some(route) => route?,
        None => return Err(unanswered(kind)),
    };
    let place = place(kind);
    if let Some(why) = &route.without_tls {
        note!(
            "warning: connections to {place} are not encrypted: TLS was tried and failed ({why})"
        );
    }
    if let Some(pooler) = &route.pooler {
        note!(
            "warning: {place} is {pooler}: what is measured is the server behind it, and the pooler"
        );
    }
    let instance = Instance::start(kind, None, None)?;
    Ok(instance.check_connections(users, route.pooler.as_deref())?)
}

fn unanswered(kind: &SystemKind) -> Failure {
    Failure::run(format!(
        "{} takes logins and does not answer\nno statement was answered within {} s: a connection pooler does so that has no \
         connection to its server\n\
         Check that its server runs, give its pool more connections (PgBouncer: default_pool_size), or give the URL of the \
         server itself.",
        place(kind),
        ROUTE_PATIENCE.as_secs()
    ))
}

fn place(kind: &SystemKind) -> String {
    match kind {
        SystemKind::Existing { url, .. } => url.without_password(),
        _ => "the system".to_owned(),
    }
}

/// Answer of an existing server; none if it does not come in time. The thread that waits for a server which hangs ends with the process.
fn ask<T: Send + 'static>(
    kind: &SystemKind,
    patience: Duration,
    question: impl FnOnce(&Instance) -> Result<T, LoadError> + Send + 'static,
) -> Option<Result<T, LoadError>> {
    let kind = kind.clone();
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let answer = Instance::start(&kind, None, None).and_then(|server| question(&server));
        // Nobody may be waiting any more.
        let _ = sender.send(answer);
    });
    receiver.recv_timeout(patience).ok()
}
