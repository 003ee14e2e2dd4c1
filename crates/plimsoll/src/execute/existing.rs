//! Existing servers: whether they answer, and what a run leaves there for the next one.

use std::sync::mpsc::channel;
use std::time::Duration;

use plimsoll_load::engine::server::CreatedTables;
use plimsoll_load::error::LoadError;
use plimsoll_load::system::Instance;
use plimsoll_plan::SystemId;
use plimsoll_plan::resolved::{Step, SystemKind};

use super::execution::Execution;
use crate::failure::Failure;
use crate::shell::quoted;

/// For a server's first answer; longer than a connection that is not accepted takes to fail.
const PATIENCE: Duration = Duration::from_secs(20);
/// A server that hangs must not keep the run from ending.
const PATIENCE_AT_END: Duration = Duration::from_secs(5);

impl Execution<'_> {
    /// Prints which tables are on the servers, and how to remove them.
    pub(super) fn report_what_stays(&self) {
        let plan = self.plan;
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
            self.progress.print(&format!(
                "Left in schema {schema} of {public} for the next run: {tables}\n\
                 To remove them: {password}plimsoll clean {} --schema {}",
                quoted(&public),
                quoted(schema)
            ));
        }
    }
}

/// `None` where the server does not answer.
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
            match kind {
                SystemKind::Existing { url, .. } => url.without_password(),
                _ => "the system".to_owned(),
            },
            PATIENCE.as_secs()
        ))),
    }
}

/// `None` if no answer comes in time. The thread that waits for a server which hangs ends with the process.
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
