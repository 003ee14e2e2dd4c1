//! A server of plimsoll's own: created in a scratch directory, started, started again, copied.
//!
//! It listens on a Unix socket in a directory that only its user may enter, and on no port. Its messages go to a log
//! file in the scratch directory; errors quote it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use plimsoll_plan::resolved::ManagedKind;

use super::command::{check_path, reachable};
use super::process::{RECOVERY_SECONDS, START_SECONDS, ServerContext, ServerProcess, remove_left};
use super::setup::{Fill, Programs, ServerSetup};
use super::target::{MANAGED_SCHEMA, Target, TemplateTask};
use super::unprivileged::unprivileged;
use crate::engine::{LoadControl, mariadb, mysql, postgres};
use crate::error::LoadError;
use crate::limit::CgroupLimits;
use crate::scratch::copy::put_back;
use crate::scratch::{Scratch, io_error};

fn setup(kind: ManagedKind) -> &'static dyn ServerSetup {
    match kind {
        ManagedKind::Postgres => &postgres::PostgresSetup,
        ManagedKind::Mariadb => &mariadb::MARIADB_SETUP,
        ManagedKind::Mysql => &mysql::MYSQL_SETUP,
    }
}

/// What servers are started from.
#[derive(Debug, Clone)]
struct Blueprint {
    kind: ManagedKind,
    programs: Programs,
    /// The plan's, as lines of a file of settings.
    settings: String,
}

/// How long a start may take; it ends early when cancelled.
struct Patience<'a> {
    seconds: u64,
    cancelled: &'a dyn Fn() -> bool,
}

const FIRST_START: Patience<'static> = Patience {
    seconds: START_SECONDS,
    cancelled: &|| false,
};

impl Blueprint {
    fn init(&self, context: &ServerContext) -> Result<(), LoadError> {
        context.make(&mut setup(self.kind).init(&self.programs, context))
    }

    fn start(
        &self,
        scratch: &mut Scratch,
        cgroup: Option<CgroupLimits>,
        fill: Fill<'_>,
        patience: &Patience<'_>,
    ) -> Result<ManagedServer, LoadError> {
        let setup = setup(self.kind);
        let context = ServerContext::create(self.kind, scratch, setup.socket().len() + 1, cgroup)?;
        setup.set_up(&context, scratch, &self.settings, fill)?;
        let mut serve = setup.serve(&self.programs, &context);
        let server = ManagedServer {
            process: ServerProcess::start(context, &mut serve)?,
            blueprint: self.clone(),
        };
        server.wait_ready(patience)?;
        Ok(server)
    }
}

/// A running server. Stops when dropped. The scratch directory it lives in must outlive it.
#[derive(Debug)]
pub struct ManagedServer {
    process: ServerProcess,
    blueprint: Blueprint,
}

impl ManagedServer {
    /// Whether a server can be started below this directory: its programs are there, and its user can enter. Writes
    /// nothing.
    pub fn check_startable(kind: ManagedKind, binaries: &str, dir: &Path) -> Result<(), LoadError> {
        setup(kind).programs(binaries)?;
        let dir = dir.canonicalize().map_err(|e| io_error(dir, &e))?;
        check_path(kind, &dir)?;
        unprivileged(kind)?.map_or(Ok(()), |user| reachable(&dir, &user))
    }

    /// Creates a server's data in `scratch` and starts it. The server checks `settings`; `binaries` is the folder
    /// of its programs, empty to search for them; `cgroup` limits it.
    pub fn start(
        kind: ManagedKind,
        scratch: &mut Scratch,
        settings: &BTreeMap<String, String>,
        binaries: &str,
        cgroup: Option<CgroupLimits>,
    ) -> Result<Self, LoadError> {
        let blueprint = Blueprint {
            kind,
            programs: setup(kind).programs(binaries)?,
            settings: configuration(kind, settings)?,
        };
        let mut init = |context: &ServerContext| blueprint.init(context);
        blueprint.start(scratch, cgroup, &mut init, &FIRST_START)
    }

    /// A second server as this one was before anything was in it.
    pub(super) fn start_empty(
        &self,
        scratch: &mut Scratch,
        cgroup: Option<CgroupLimits>,
    ) -> Result<Self, LoadError> {
        let mut init = |context: &ServerContext| self.blueprint.init(context);
        self.blueprint
            .start(scratch, cgroup, &mut init, &FIRST_START)
    }

    /// A second server with the same programs and settings. `fill` puts its data directory's content there; what a crash
    /// of the first one at that moment would have left is recovered.
    pub(super) fn start_second(
        &self,
        scratch: &mut Scratch,
        cgroup: Option<CgroupLimits>,
        fill: Fill<'_>,
        control: &LoadControl,
    ) -> Result<Self, LoadError> {
        let patience = Patience {
            seconds: RECOVERY_SECONDS,
            cancelled: &|| control.is_cancelled(),
        };
        self.blueprint.start(scratch, cgroup, fill, &patience)
    }

    /// A second server like this one, which has been stopped, with a copy of its data.
    pub(crate) fn copied(
        &self,
        scratch: &mut Scratch,
        cgroup: Option<CgroupLimits>,
        control: &LoadControl,
    ) -> Result<Self, LoadError> {
        let from = self.process.context.data_directory();
        let log_dir = setup(self.kind()).log_dir();
        let mut fill = |context: &ServerContext| {
            context.link_log(log_dir)?;
            put_back(from, context.data_directory(), &|| control.check()).map(drop)
        };
        self.start_second(scratch, cgroup, &mut fill, control)
    }

    /// Starts the server again after a crash, on the data that are there. It recovers before it is ready. That may take
    /// long on a slow drive, and ends early only when `cancelled`.
    pub fn restart(&self, cancelled: &dyn Fn() -> bool) -> Result<(), LoadError> {
        let setup = setup(self.kind());
        let context = &self.process.context;
        for left in setup.remains(context) {
            remove_left(&left)?;
        }
        let mut serve = setup.serve(&self.blueprint.programs, context);
        self.process.start_again(&mut serve)?;
        self.wait_ready(&Patience {
            seconds: RECOVERY_SECONDS,
            cancelled,
        })
    }

    fn wait_ready(&self, patience: &Patience<'_>) -> Result<(), LoadError> {
        let is_ready = || setup(self.kind()).is_ready(&self.process.context);
        self.process
            .wait_ready(patience.seconds, patience.cancelled, &is_ready)
    }

    pub fn kind(&self) -> ManagedKind {
        self.blueprint.kind
    }

    pub fn process(&self) -> &ServerProcess {
        &self.process
    }

    pub(crate) fn programs(&self) -> &Programs {
        &self.blueprint.programs
    }

    pub fn conninfo(&self) -> String {
        setup(self.kind()).conninfo(&self.process.context)
    }

    /// How to connect. Holds no secret: the socket's directory is what protects the server.
    pub fn target(&self) -> Target {
        Target {
            engine: self.kind().server(),
            conninfo: self.conninfo().into(),
            schema: MANAGED_SCHEMA.into(),
            changes_tables: false,
        }
    }

    /// Whether it can make a database of another one.
    pub fn has_templates(&self) -> bool {
        self.kind() == ManagedKind::Postgres
    }

    pub fn template(&self, task: TemplateTask) -> Result<(), LoadError> {
        match self.kind() {
            ManagedKind::Postgres => postgres::template(&self.conninfo(), task),
            kind @ (ManagedKind::Mariadb | ManagedKind::Mysql) => Err(LoadError::other(
                kind.title(),
                "makes no database of another one",
            )),
        }
    }
}

/// The plan's settings as lines of a file. Names are checked here because a name could smuggle in another directive;
/// the server checks values.
fn configuration(
    kind: ManagedKind,
    settings: &BTreeMap<String, String>,
) -> Result<String, LoadError> {
    let mut lines = String::new();
    for (name, value) in settings {
        let refused = |why| {
            Err(LoadError::other(
                format!("{} setting {name:?}", kind.title()),
                why,
            ))
        };
        if !kind.server().is_setting_name(name) {
            return refused("is not a name of a setting");
        }
        if kind.server().is_own_setting(name) {
            return refused("is plimsoll's own on a server that it manages; leave it out");
        }
        if let Some(fault) = kind.server().setting_fault(name, value) {
            return refused(fault.why());
        }
        if value.contains(['\n', '\r', '\0']) {
            return refused("its value must be one line");
        }
        let _ = writeln!(lines, "{name} = {}", setup(kind).quote(value));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(kind: ManagedKind, name: &str, value: &str) -> Result<String, LoadError> {
        configuration(kind, &BTreeMap::from([(name.into(), value.into())]))
    }

    #[test]
    fn values_are_quoted_as_each_server_reads_them() {
        let postgres = lines(ManagedKind::Postgres, "search_path", "a'b\\c").unwrap();
        assert_eq!(postgres, "search_path = 'a''b\\\\c'\n");
        let mariadb = lines(ManagedKind::Mariadb, "init_connect", "a\\b#c").unwrap();
        assert_eq!(mariadb, "init_connect = \"a\\\\b#c\"\n");
    }

    #[test]
    fn settings_are_lines_and_nothing_else() {
        for kind in [ManagedKind::Postgres, ManagedKind::Mariadb] {
            for name in ["!include", "Port", "a b", ""] {
                assert!(lines(kind, name, "1").is_err(), "{name}");
            }
            assert!(lines(kind, "x", "1\nport=1").is_err());
            assert!(lines(kind, "x", "/etc/passwd").is_err());
        }
        assert!(lines(ManagedKind::Postgres, "include", "x").is_err());
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(name in ".*", value in ".*") {
            for kind in [ManagedKind::Postgres, ManagedKind::Mariadb] {
                let _ = lines(kind, &name, &value);
            }
        }
    }
}
