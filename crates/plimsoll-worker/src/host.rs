//! A host: the command that gives its standard input and output, and what starts a worker there.

use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_plan::resolved::PlanHost;
use sha2::{Digest, Sha256};

use crate::protocol::GREETING;
use crate::state::SessionId;

/// How a host is reached.
#[derive(Debug, Clone)]
pub(crate) struct HostCommand(pub PlanHost);

impl HostCommand {
    /// A command that runs the worker, or a shell that is going to.
    fn command(&self, own: &OwnProgram, session: &SessionId) -> Command {
        let mut words = self.0.via.clone();
        match &self.0.program {
            Some(program) => {
                words.extend([program.clone(), "worker".into(), session.as_str().into()]);
            }
            None if self.0.via.is_empty() => {
                let own = own.path.display().to_string();
                words.extend([own, "worker".into(), session.as_str().into()]);
            }
            None => words.push("sh".into()),
        }
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
    }

    fn needs_script(&self) -> bool {
        self.0.program.is_none() && !self.0.via.is_empty()
    }

    pub(crate) fn prepare(&self, own: &OwnProgram, session: &SessionId) -> Command {
        let mut command = self.command(own, session);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A terminal's Ctrl-C is for plimsoll, which ends its workers itself.
            .process_group(0);
        command
    }

    /// Brings the worker to its greeting; what is read after it are frames.
    pub(crate) fn greet(
        &self,
        own: &OwnProgram,
        session: &SessionId,
        to: &mut impl Write,
        from: &mut impl BufRead,
    ) -> io::Result<()> {
        if self.needs_script() {
            to.write_all(own.script(session)?.as_bytes())?;
            to.flush()?;
        }
        loop {
            let line = line(from)?;
            if line == GREETING {
                return Ok(());
            }
            if let Some(architecture) = line.strip_prefix(NEEDED) {
                own.copy_to(architecture, to)?;
            }
        }
    }
}

/// What the script prints, and the architecture.
const NEEDED: &str = "plimsoll is needed for ";
/// A shell's messages before the greeting.
const LONGEST_LINE: u64 = 4096;

fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    from.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}

/// This program, which other hosts get a copy of.
#[derive(Debug, Clone)]
pub struct OwnProgram {
    path: PathBuf,
    /// Computed for the first host that needs a copy. Clones share it.
    digest: Arc<Mutex<Option<ProgramDigest>>>,
}

#[derive(Debug, Clone)]
struct ProgramDigest {
    hash: String,
    size: u64,
}

impl ProgramDigest {
    /// Of the file that runs, even where another one has its name by now.
    fn of_own() -> io::Result<Self> {
        let mut file = File::open("/proc/self/exe")?;
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 1 << 20];
        let mut size = 0;
        loop {
            let have = file.read(&mut buffer)?;
            if have == 0 {
                break;
            }
            hash.update(&buffer[..have]);
            size += have as u64;
        }
        let hash = hash.finalize();
        let hash = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { hash, size })
    }
}

impl OwnProgram {
    pub fn find() -> io::Result<Self> {
        Ok(Self {
            path: std::env::current_exe()?,
            digest: Arc::default(),
        })
    }

    fn digest(&self) -> io::Result<ProgramDigest> {
        let mut digest = self.digest.lock().unwrap_or_else(PoisonError::into_inner);
        if digest.is_none() {
            *digest = Some(ProgramDigest::of_own()?);
        }
        digest.clone().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// For a POSIX shell, which reads it from its standard input as it comes: the program's bytes are sent only once they
    /// have been asked for.
    fn script(&self, session: &SessionId) -> io::Result<String> {
        let ProgramDigest { hash, size } = self.digest()?;
        let session = session.as_str();
        Ok(format!(
            r#"set -eu
umask 077
dir="${{XDG_CACHE_HOME:-${{HOME:-/tmp}}/.cache}}/plimsoll"
program="$dir/{hash}"
if [ ! -x "$program" ]; then
  mkdir -p "$dir"
  echo "{NEEDED}$(uname -m)"
  new="$program.{session}"
  head -c {size} > "$new"
  [ "$(wc -c < "$new")" -eq {size} ]
  if command -v sha256sum > /dev/null; then
    echo "{hash}  $new" | sha256sum -c > /dev/null
  fi
  chmod 700 "$new"
  # Hosts that share a home directory must not replace what another one has started by now.
  ln "$new" "$program" 2> /dev/null || [ -x "$program" ] || mv "$new" "$program"
  rm -f "$new"
fi
exec "$program" worker {session}
"#
        ))
    }

    fn copy_to(&self, architecture: &str, to: &mut impl Write) -> io::Result<()> {
        let own = std::env::consts::ARCH;
        if architecture != own {
            let why = format!(
                "it is {architecture}, and this plimsoll is for {own}: install plimsoll there, and give its path as `program`"
            );
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        io::copy(&mut File::open("/proc/self/exe")?, to)?;
        to.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use plimsoll_plan::units::Nanos;

    use super::*;

    fn session() -> SessionId {
        SessionId::parse("abcdefgh").unwrap()
    }

    fn words(command: &Command) -> Vec<String> {
        std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn a_host_is_reached_by_its_command() {
        let own = OwnProgram {
            path: "/opt/plimsoll".into(),
            digest: Arc::default(),
        };
        let host = |via: &[&str], program: Option<&str>| {
            HostCommand(PlanHost {
                name: "gen1".into(),
                via: via.iter().map(|&word| word.into()).collect(),
                program: program.map(str::to_owned),
                patience: Nanos::SECOND,
            })
        };
        for (host, expected) in [
            (host(&[], None), "/opt/plimsoll worker abcdefgh"),
            (host(&["ssh", "gen1"], None), "ssh gen1 sh"),
            (
                host(&["ssh", "gen1"], Some("/p")),
                "ssh gen1 /p worker abcdefgh",
            ),
        ] {
            assert_eq!(words(&host.command(&own, &session())).join(" "), expected);
        }
    }

    #[test]
    fn the_program_is_read_only_for_a_host_that_needs_a_copy() {
        let own = OwnProgram::find().unwrap();
        let greet = |via: &[&str], program: Option<&str>| {
            let host = HostCommand(PlanHost {
                name: "gen1".into(),
                via: via.iter().map(|&word| word.into()).collect(),
                program: program.map(str::to_owned),
                patience: Nanos::SECOND,
            });
            let mut sent = Vec::new();
            let greeting = format!("{GREETING}\n");
            host.greet(&own, &session(), &mut sent, &mut greeting.as_bytes())
                .unwrap();
            (sent.is_empty(), own.digest.lock().unwrap().is_none())
        };
        assert_eq!(greet(&[], None), (true, true));
        assert_eq!(greet(&["ssh", "gen1"], Some("/p")), (true, true));
        assert_eq!(greet(&["ssh", "gen1"], None), (false, false));
    }

    /// With the shell of this machine. Frames are sent once the worker has greeted: a shell may read ahead.
    #[test]
    fn the_script_asks_for_the_program_once_and_runs_it() {
        let cache = tempfile::tempdir().unwrap();
        let body = "#!/bin/sh\necho worker: \"$@\"\ncat\n";
        let hash: String = Sha256::digest(body.as_bytes())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let size = body.len() as u64;
        let program = cache.path().join("plimsoll").join(&hash);
        let own = OwnProgram {
            path: "/nowhere".into(),
            digest: Arc::new(Mutex::new(Some(ProgramDigest { hash, size }))),
        };
        let begin = |session: &SessionId| {
            let mut child = Command::new("sh")
                .env("XDG_CACHE_HOME", cache.path())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut to = child.stdin.take().unwrap();
            let from = io::BufReader::new(child.stdout.take().unwrap());
            to.write_all(own.script(session).unwrap().as_bytes())
                .unwrap();
            Shell { child, to, from }
        };
        let sessions = ["abcdefgh", "ijklmnop", "qrstuvwx"].map(|id| SessionId::parse(id).unwrap());
        // Two at the same time: hosts that share a home directory.
        let mut shells = [&sessions[0], &sessions[1]].map(begin);
        for shell in &mut shells {
            let asked = line(&mut shell.from).unwrap();
            assert_eq!(asked, format!("{NEEDED}{}", std::env::consts::ARCH));
        }
        let mut inodes = Vec::new();
        for (mut shell, session) in shells.into_iter().zip(&sessions) {
            shell.to.write_all(body.as_bytes()).unwrap();
            shell.serves(session);
            inodes.push(std::fs::metadata(&program).unwrap().ino());
        }
        assert_eq!(inodes[0], inodes[1], "a program that runs was replaced");
        begin(&sessions[2]).serves(&sessions[2]);
        assert_eq!(
            std::fs::read_dir(cache.path().join("plimsoll"))
                .unwrap()
                .count(),
            1
        );
    }

    struct Shell {
        child: std::process::Child,
        to: std::process::ChildStdin,
        from: io::BufReader<std::process::ChildStdout>,
    }

    impl Shell {
        fn serves(mut self, session: &SessionId) {
            let greeting = format!("worker: worker {}", session.as_str());
            assert_eq!(line(&mut self.from).unwrap(), greeting);
            self.to.write_all(b"a frame").unwrap();
            drop(self.to);
            let mut rest = String::new();
            self.from.read_to_string(&mut rest).unwrap();
            assert_eq!(rest, "a frame");
            assert!(self.child.wait().unwrap().success());
        }
    }
}
