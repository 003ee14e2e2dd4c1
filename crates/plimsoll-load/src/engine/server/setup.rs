//! What an engine gives so that plimsoll can run its server.

use std::path::PathBuf;
use std::process::Command;

use super::process::ServerContext;
use crate::error::LoadError;
use crate::scratch::Scratch;

/// A server's programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    pub server: PathBuf,
    /// Makes its data directory.
    pub maker: PathBuf,
    /// Where an unpacked MariaDB lies that is not at its compiled-in place.
    pub base: Option<PathBuf>,
}

/// Puts the content of a data directory there.
pub(crate) type Fill<'a> = &'a mut dyn FnMut(&ServerContext) -> Result<(), LoadError>;

/// How a kind of server is set up and reached.
pub(crate) trait ServerSetup: Sync {
    /// The name of the socket's file.
    fn socket(&self) -> &'static str;
    /// `folder` is the plan's, empty to search for them.
    fn programs(&self, folder: &str) -> Result<Programs, LoadError>;
    /// A setting's value as the file of settings quotes it.
    fn quote(&self, value: &str) -> String;
    /// Writes the configuration, and fills the data directory before or after that.
    fn set_up(
        &self,
        context: &ServerContext,
        scratch: &mut Scratch,
        settings: &str,
        fill: Fill<'_>,
    ) -> Result<(), LoadError>;
    /// Makes a data directory.
    fn init(&self, programs: &Programs, context: &ServerContext) -> Command;
    /// The name of the log's directory among the data.
    fn log_dir(&self) -> &'static str;
    fn serve(&self, programs: &Programs, context: &ServerContext) -> Command;
    /// Files of a dead server that would look like a running one's.
    fn remains(&self, context: &ServerContext) -> Vec<PathBuf>;
    /// Holds no secret: the socket's directory is what protects the server.
    fn conninfo(&self, context: &ServerContext) -> String;
    fn is_ready(&self, context: &ServerContext) -> bool;
}
