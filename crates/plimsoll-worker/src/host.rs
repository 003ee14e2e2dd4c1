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
    /// have been asked for. What it starts lies in a directory that only its user can change, and has been compared with
    /// this program each time.
    fn script(&self, session: &SessionId) -> io::Result<String> {
        let ProgramDigest { hash, size } = self.digest()?;
        let session = session.as_str();
        Ok(format!(
            r#"set -eu
umask 077
refuse() {{
  echo "plimsoll: $1; or give the path of an installed plimsoll as program" >&2
  exit 1
}}
if command -v sha256sum > /dev/null; then sum=sha256sum
elif command -v shasum > /dev/null; then sum="shasum -a 256"
else refuse "a copy of plimsoll cannot be checked without sha256sum: install it"
fi
# Whole, and changed by nobody else.
is_intact() {{
  [ -f "$1" ] && [ -x "$1" ] && [ ! -h "$1" ] || return 1
  case "$(ls -ln "$1")" in -????-??-*) ;; *) return 1 ;; esac
  echo "{hash}  $1" | $sum -c > /dev/null 2>&1
}}
cache="${{XDG_CACHE_HOME:-${{HOME:+$HOME/.cache}}}}"
if [ -z "$cache" ]; then
  user="$(id -un 2> /dev/null || :)"
  case "$user" in
    "" | *[!A-Za-z0-9._-]*) ;;
    *) eval "cache=~$user/.cache" ;;
  esac
fi
case "$cache" in
  /*) dir="$cache/plimsoll"; mkdir -p "$dir" ;;
  # Without a home.
  *) dir="${{TMPDIR:-/tmp}}/plimsoll-$(id -u)"; mkdir "$dir" 2> /dev/null || : ;;
esac
[ ! -h "$dir" ] || refuse "$dir is a symbolic link: remove it"
# What is checked is where it is by now, whatever happens to its name.
cd "$dir"
set -- $(ls -ldn .)
case "$1" in d????-??-*) ;; *) refuse "others may write to $dir: chmod 700 $dir" ;; esac
[ "$3" = "$(id -u)" ] || refuse "$dir belongs to user $3: remove it"
program="./{hash}"
if ! is_intact "$program"; then
  echo "{NEEDED}$(uname -m)"
  new="$program.{session}"
  rm -f "$new"
  head -c {size} > "$new"
  chmod 700 "$new"
  is_intact "$new" || refuse "its copy did not arrive whole: is there space in $dir?"
  # Hosts that share a home directory must not replace what another one has started by now.
  ln "$new" "$program" 2> /dev/null || is_intact "$program" || mv -f "$new" "$program"
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
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::path::Path;

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

    const BODY: &str = "#!/bin/sh\necho worker: \"$@\"\ncat\n";

    fn hash() -> String {
        Sha256::digest(BODY.as_bytes())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    fn small_program() -> OwnProgram {
        let size = BODY.len() as u64;
        OwnProgram {
            path: "/nowhere".into(),
            digest: Arc::new(Mutex::new(Some(ProgramDigest { hash: hash(), size }))),
        }
    }

    /// With the shell of this machine, in this environment only.
    fn begin(session: &SessionId, environment: &[(&str, &Path)]) -> Shell {
        let mut child = Command::new("/bin/sh")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut to = child.stdin.take().unwrap();
        let from = io::BufReader::new(child.stdout.take().unwrap());
        // It may have ended without reading all of it.
        let _ = to.write_all(small_program().script(session).unwrap().as_bytes());
        Shell { child, to, from }
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).unwrap().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Frames are sent once the worker has greeted: a shell may read ahead.
    #[test]
    fn the_script_asks_for_the_program_once_and_runs_it() {
        let cache = tempfile::tempdir().unwrap();
        let program = cache.path().join("plimsoll").join(hash());
        let begin = |session| begin(session, &[("XDG_CACHE_HOME", cache.path())]);
        let sessions = ["abcdefgh", "ijklmnop", "qrstuvwx"].map(|id| SessionId::parse(id).unwrap());
        // Two at the same time: hosts that share a home directory.
        let mut shells = [&sessions[0], &sessions[1]].map(begin);
        shells.iter_mut().for_each(Shell::asks);
        let mut inodes = Vec::new();
        for (mut shell, session) in shells.into_iter().zip(&sessions) {
            shell.to.write_all(BODY.as_bytes()).unwrap();
            shell.serves(session);
            inodes.push(std::fs::metadata(&program).unwrap().ino());
        }
        assert_eq!(inodes[0], inodes[1], "a program that runs was replaced");
        begin(&sessions[2]).serves(&sessions[2]);
        assert_eq!(names(&cache.path().join("plimsoll")), [hash()]);
    }

    #[test]
    fn a_program_that_is_not_this_one_is_sent_again_and_never_run() {
        let cache = tempfile::tempdir().unwrap();
        let dir = cache.path().join("plimsoll");
        std::fs::create_dir(&dir).unwrap();
        std::fs::set_permissions(&dir, Permissions::from_mode(0o755)).unwrap();
        let program = dir.join(hash());
        let marker = cache.path().join("executed");
        let other = format!("#!/bin/sh\ntouch {}\n", marker.display());
        let real = cache.path().join("real");
        std::fs::write(&real, BODY).unwrap();
        std::fs::set_permissions(&real, Permissions::from_mode(0o700)).unwrap();
        let write = |text: &str, mode: u32| {
            std::fs::write(&program, text).unwrap();
            std::fs::set_permissions(&program, Permissions::from_mode(mode)).unwrap();
        };
        let half = &BODY[..BODY.len() / 2];
        let cases: [(&str, &dyn Fn()); 6] = [
            ("another program", &|| write(&other, 0o700)),
            ("half of it", &|| write(half, 0o700)),
            ("of the same size", &|| {
                write(&BODY.replace("worker", "wurker"), 0o700)
            }),
            ("others may write to it", &|| write(BODY, 0o722)),
            ("it cannot be executed", &|| write(BODY, 0o600)),
            ("a link", &|| {
                std::os::unix::fs::symlink(&real, &program).unwrap()
            }),
        ];
        for (case, place) in cases {
            let _ = std::fs::remove_file(&program);
            place();
            let mut shell = begin(&session(), &[("XDG_CACHE_HOME", cache.path())]);
            shell.asks();
            shell.to.write_all(BODY.as_bytes()).unwrap();
            shell.serves(&session());
            assert_eq!(std::fs::read_to_string(&program).unwrap(), BODY, "{case}");
            let is = program.symlink_metadata().unwrap();
            assert_eq!((is.is_file(), is.mode() & 0o777), (true, 0o700), "{case}");
            assert_eq!(names(&dir), [hash()], "{case}");
        }
        assert!(!marker.exists(), "another program was run");
    }

    #[test]
    fn a_directory_that_others_can_change_is_refused() {
        let cache = tempfile::tempdir().unwrap();
        let dir = cache.path().join("plimsoll");
        let refused = |what: &str| {
            let shell = begin(&session(), &[("XDG_CACHE_HOME", cache.path())]);
            let why = shell.fails();
            assert!(why.contains(what), "{why}");
        };
        std::fs::create_dir(&dir).unwrap();
        for mode in [0o777, 0o770, 0o702, 0o1777] {
            std::fs::set_permissions(&dir, Permissions::from_mode(mode)).unwrap();
            refused("others may write to");
        }
        let own = rustix::process::geteuid();
        // Root can give it away; others can only find one that is somebody else's.
        if own.is_root() {
            std::fs::set_permissions(&dir, Permissions::from_mode(0o755)).unwrap();
            std::os::unix::fs::chown(&dir, Some(65_534), None).unwrap();
            refused("belongs to user 65534");
        }
        std::fs::remove_dir(&dir).unwrap();
        let elsewhere = cache.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &dir).unwrap();
        refused("is a symbolic link");
        assert_eq!(names(&elsewhere), [""; 0]);
    }

    #[test]
    fn without_a_home_and_without_a_sum_nothing_is_run_unchecked() {
        let tools = tempfile::tempdir().unwrap();
        let tool = |name: &str, text: &str| {
            let path = tools.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
        };
        // A user that the machine does not know, so that there is no home.
        tool("id", "#!/bin/sh\n[ \"$1\" = -un ] && exit 1\necho 64999\n");
        let path = std::env::var("PATH").unwrap();
        let with_tools = format!("{}:{path}", tools.path().display());
        let environment = [("PATH", Path::new(&with_tools)), ("TMPDIR", tools.path())];
        let why = begin(&session(), &environment).fails();
        // It is made by whoever runs this test, and so somebody else's for the user that it asks for.
        assert!(why.contains("/plimsoll-64999 belongs to user"), "{why}");
        let why = begin(&session(), &[("PATH", tools.path())]).fails();
        assert!(why.contains("without sha256sum"), "{why}");
    }

    struct Shell {
        child: std::process::Child,
        to: std::process::ChildStdin,
        from: io::BufReader<std::process::ChildStdout>,
    }

    impl Shell {
        fn asks(&mut self) {
            let asked = line(&mut self.from).unwrap();
            assert_eq!(asked, format!("{NEEDED}{}", std::env::consts::ARCH));
        }

        /// Returns why.
        fn fails(mut self) -> String {
            drop(self.to);
            let mut wrote = String::new();
            self.from.read_to_string(&mut wrote).unwrap();
            assert_eq!(wrote, "");
            let mut errors = String::new();
            let mut from = self.child.stderr.take().unwrap();
            from.read_to_string(&mut errors).unwrap();
            assert!(!self.child.wait().unwrap().success());
            errors
        }

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
