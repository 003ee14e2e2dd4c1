//! `plimsoll worker`: relays standard input and output to the session, which it starts where there is none.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use plimsoll_load::clock::Clock;
use plimsoll_plan::units::Nanos;

use crate::protocol::GREETING;
use crate::state::{SessionId, StateDir};

/// How often a session that is just being started is asked, and for how long together.
const TRIES: u32 = 500;
const TRY_EVERY: Nanos = Nanos::from_millis(10);

/// Until one of both sides has ended.
pub fn relay(session: &SessionId) -> io::Result<()> {
    let stream = connect(session)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{GREETING}")?;
    out.flush()?;
    let requests = stream.try_clone()?;
    // Ends with the process: it may wait for a controller that says nothing more.
    std::thread::Builder::new()
        .name("plimsoll-relay".into())
        .spawn(move || {
            // The session notices the end of the stream, whatever caused it.
            let _ = copy(&mut io::stdin().lock(), &mut &requests);
            let _ = requests.shutdown(Shutdown::Both);
        })?;
    copy(&mut &stream, &mut out)
}

/// As [`io::copy`], and each piece is passed on at once.
fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(have) => {
                to.write_all(&buffer[..have])?;
                to.flush()?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn connect(session: &SessionId) -> io::Result<UnixStream> {
    let dir = StateDir::of(session)?;
    if let Ok(stream) = UnixStream::connect(dir.socket()) {
        return Ok(stream);
    }
    start(session, &dir)?;
    let clock = Clock::real();
    let mut last = None;
    for _ in 0..TRIES {
        match UnixStream::connect(dir.socket()) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = Some(error),
        }
        clock.block_until(clock.now() + TRY_EVERY);
    }
    let log = std::fs::read_to_string(dir.log()).unwrap_or_default();
    let why = last.map(|error| error.to_string()).unwrap_or_default();
    let why = format!("the worker's session does not start: {why} {}", log.trim());
    Err(io::Error::other(why))
}

/// A process of its own, which makes itself a session that no signal for the front reaches.
fn start(session: &SessionId, dir: &StateDir) -> io::Result<()> {
    let log = File::options().append(true).create(true).open(dir.log())?;
    // This very program, whatever has its name by now.
    let mut command = Command::new("/proc/self/exe");
    command
        .arg0(std::env::current_exe()?)
        .args(["worker", "--serve", session.as_str()])
        // From where relative paths of plans count.
        .current_dir(
            std::env::home_dir()
                .filter(|home| home.is_dir())
                .unwrap_or("/".into()),
        )
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    let mut child = command.spawn()?;
    // It ends when the session does, or with this process; who reaps it then does not matter.
    std::thread::Builder::new()
        .name("plimsoll-reap".into())
        .spawn(move || child.wait())?;
    Ok(())
}
