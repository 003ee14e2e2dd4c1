//! The live page beside a run: `plimsoll serve` in a process of its own, which reads the run file and cannot hold up what
//! writes it.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::cli::RunArgs;
use crate::execute::program;
use crate::failure::Failure;
use crate::terminal::note;

/// A server, where one is wanted. Dropping it waits until pages that show the run have its report.
pub(super) struct LiveServer(Option<Child>);

impl LiveServer {
    /// Serves the run file, or the set of runs, that will be at `output`.
    pub fn start_if_wanted(args: &RunArgs, output: &Path) -> Result<Self, Failure> {
        match args.flags.serve {
            Some(listen) => Self::start(listen, output),
            None => Ok(Self(None)),
        }
    }

    fn start(listen: SocketAddr, output: &Path) -> Result<Self, Failure> {
        let mut command = Command::new(program()?);
        command
            .arg("serve")
            .arg(output)
            .args(["--beside-run", "--listen", &listen.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // A Ctrl-C is for the run, which the server outlives.
            .process_group(0);
        let child = command
            .spawn()
            .map_err(|error| Failure::run(format!("the live page cannot be served: {error}")))?;
        let mut server = Self(Some(child));
        let mut address = String::new();
        if let Some(out) = server.0.as_mut().and_then(|child| child.stdout.take()) {
            let _ = BufReader::new(out).read_line(&mut address);
        }
        if address.is_empty() {
            // Its own error is on stderr.
            return Err(Failure::run("the live page cannot be served: see above"));
        }
        note!("Live page: {}", address.trim());
        Ok(server)
    }

    /// The run file is closed: pages go to the report, while the answer is printed.
    pub fn end_run(mut self) -> Self {
        self.close();
        self
    }

    fn close(&mut self) {
        drop(self.0.as_mut().and_then(|child| child.stdin.take()));
    }
}

impl Drop for LiveServer {
    fn drop(&mut self) {
        self.close();
        if let Some(child) = &mut self.0 {
            let _ = child.wait();
        }
    }
}
