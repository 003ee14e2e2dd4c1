//! The live page beside a run: `plimsoll serve` in a process of its own, which reads the run file and cannot hold up what
//! writes it.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::execute::program;
use crate::failure::Failure;

/// Dropping it ends the server, once pages that show the run have its report.
pub(super) struct LiveServer(Child);

impl LiveServer {
    /// Serves the run file, or the set of runs, that will be at `output`.
    pub fn start(listen: SocketAddr, output: &Path) -> Result<Self, Failure> {
        let mut command = Command::new(program()?);
        command
            .arg("serve")
            .arg(output)
            .args(["--beside-run", "--listen", &listen.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // A Ctrl-C is for the run, which the server outlives.
            .process_group(0);
        let failed = |why: String| Failure::run(format!("the live page cannot be served: {why}"));
        let mut server = command
            .spawn()
            .map(Self)
            .map_err(|error| failed(error.to_string()))?;
        let mut address = String::new();
        if let Some(out) = server.0.stdout.take() {
            let _ = BufReader::new(out).read_line(&mut address);
        }
        if address.is_empty() {
            // Its own error is on stderr.
            return Err(failed("see above".into()));
        }
        eprintln!("Live page: {}", address.trim());
        Ok(server)
    }
}

impl Drop for LiveServer {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}
