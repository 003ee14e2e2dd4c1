//! What a run leaves on existing servers for the next one.

use std::sync::mpsc::channel;
use std::time::Duration;

use plimsoll_load::engine::server::CreatedTables;
use plimsoll_load::system::Instance;
use plimsoll_plan::SystemId;
use plimsoll_plan::resolved::{Step, SystemKind};

use super::execution::Execution;
use crate::shell::quoted;

/// A server that hangs must not keep the run from ending.
const PATIENCE: Duration = Duration::from_secs(5);

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
    let kind = kind.clone();
    let (sender, receiver) = channel();
    // The thread of a server that hangs ends with the process.
    std::thread::spawn(move || {
        let tables = Instance::start(&kind, None, None).and_then(|server| server.created_tables());
        // Nobody may be waiting any more.
        let _ = sender.send(tables);
    });
    receiver.recv_timeout(PATIENCE).ok()?.ok()
}
