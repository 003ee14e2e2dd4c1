//! A socket beside the mount at which a second process asks the emulator for a power cut, or which drive it is.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc::{Receiver, Sender};

use plimsoll_plan::units::Bytes;
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use super::error::EmulatorError;
use super::mount_point::MountPoint;
use super::names;
use super::protocol::{Command, Lost, Message};
use super::serve::EmulatorOrder;

const CUT: &str = "cut";
const WHICH: &str = "which";
/// Of an answer; drive files are shorter.
const LONGEST: u64 = 1 << 20;
/// How long a visitor may take to send its request, and to read the answer.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(2);

/// The socket's path by way of an open directory, since a socket's own may have 107 bytes only (unix(7)).
fn short(dir: &Path) -> io::Result<(OwnedFd, PathBuf)> {
    let dir_fd = rustix::fs::open(
        dir,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let name = names::socket(dir)
        .file_name()
        .unwrap_or_default()
        .to_owned();
    let path = Path::new("/proc/self/fd")
        .join(dir_fd.as_raw_fd().to_string())
        .join(name);
    Ok((dir_fd, path))
}

/// Accepts orders for the drive in `dir`, from this user only.
pub struct ControlSocket {
    listener: UnixListener,
    orders: Sender<EmulatorOrder>,
    answers: Mutex<Receiver<Message>>,
    which: Which,
}

/// Which drive is emulated, as its data sheet has it. Whether it behaves like that is not checked here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Which {
    /// The drive file's name without `.toml`, and its text.
    pub id: String,
    pub drive: String,
    pub capacity: Bytes,
    pub fill: f64,
}

impl ControlSocket {
    /// `answers` gets every [`Message`] that answers an order.
    pub fn open(
        dir: &Path,
        which: Which,
        orders: Sender<EmulatorOrder>,
        answers: Receiver<Message>,
    ) -> io::Result<Self> {
        let (_dir, path) = short(dir)?;
        let listener = UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        Ok(Self {
            listener,
            orders,
            answers: Mutex::new(answers),
            which,
        })
    }

    /// Serves visitors; runs as long as its thread.
    pub fn attend(&self) {
        for visitor in self.listener.incoming().flatten() {
            // A visitor without a request in time is dropped.
            let _ = self.serve(&visitor);
        }
    }

    fn serve(&self, visitor: &UnixStream) -> io::Result<()> {
        visitor.set_read_timeout(Some(PATIENCE))?;
        visitor.set_write_timeout(Some(PATIENCE))?;
        let mut line = String::new();
        BufReader::new(visitor.take(WHICH.len() as u64 + 2)).read_line(&mut line)?;
        match line.trim() {
            WHICH => return writeln!(&*visitor, "{}", serde_json::to_string(&self.which)?),
            CUT => {}
            _ => return Ok(()),
        }
        for command in [Command::PowerOff, Command::PowerOn] {
            if self.orders.send(EmulatorOrder::Do(command)).is_err() {
                break;
            }
            let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            let Ok(answer) = answers.recv() else { break };
            // A visitor that is gone gets no answer; the power comes back anyway.
            let _ = serde_json::to_string(&answer).map(|line| writeln!(&*visitor, "{line}"));
            if matches!(answer, Message::Failed { .. } | Message::Refused { .. }) {
                break;
            }
        }
        Ok(())
    }
}

/// Asks the emulator of the drive that is mounted at a directory for a power cut, waits until the power is back and returns
/// what was lost.
pub fn request(at: &Path) -> Result<Lost, EmulatorError> {
    let asked = MountPoint::new(at).and_then(|point| ask_for_cut(point.dir()));
    let stream = asked.map_err(|error| {
        EmulatorError::new(
            format!("no emulated drive answers at {}: {error}", at.display()),
            "Give the directory that `plimsoll drive mount` was given, as the same user.",
        )
    })?;
    conclude(BufReader::new(stream))
}

fn ask_for_cut(dir: &Path) -> io::Result<UnixStream> {
    let (_dir, path) = short(dir)?;
    let mut stream = UnixStream::connect(path)?;
    writeln!(stream, "{CUT}")?;
    Ok(stream)
}

/// Asks which emulated drive is mounted at a directory; `None` where no emulator answers.
pub fn which(at: &Path) -> Option<Which> {
    let (_dir, path) = short(MountPoint::new(at).ok()?.dir()).ok()?;
    let mut stream = UnixStream::connect(path).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    writeln!(stream, "{WHICH}").ok()?;
    let mut line = String::new();
    BufReader::new(stream.take(LONGEST))
        .read_line(&mut line)
        .ok()?;
    serde_json::from_str(&line).ok()
}

fn conclude(answers: impl BufRead) -> Result<Lost, EmulatorError> {
    let mut lost = None;
    for line in answers.lines().map_while(Result::ok) {
        match (serde_json::from_str(&line), lost) {
            (Ok(Message::PowerIsOff(taken)), None) => lost = Some(taken),
            (Ok(Message::PowerIsOn), Some(lost)) => return Ok(lost),
            (Ok(Message::Refused { why, next }), _) => return Err(EmulatorError::new(why, next)),
            (Ok(Message::Failed { why, next, no_fuse }), _) => {
                return Err(EmulatorError { why, next, no_fuse });
            }
            _ => break,
        }
    }
    Err(EmulatorError::new(
        "the emulator ended before the power was back",
        "Read the output of `drive mount`.",
    ))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use proptest::prelude::*;

    fn drive() -> Which {
        Which {
            id: "a".into(),
            drive: "title = \"A\"\nkind = \"disk\"".into(),
            capacity: Bytes(7),
            fill: 0.5,
        }
    }

    fn mount_point(name: &str) -> (tempfile::TempDir, MountPoint) {
        let dir = tempfile::tempdir().unwrap();
        let point = MountPoint::new(&dir.path().join(name)).unwrap();
        std::fs::create_dir(point.dir()).unwrap();
        (dir, point)
    }

    #[test]
    fn which_returns_the_emulated_drive() {
        let (_dir, point) = mount_point("slow");
        assert_eq!(which(point.path()), None);
        let (socket, _orders, _answer) = {
            let ((order, orders), (answer, answers)) = (channel(), channel());
            (
                ControlSocket::open(point.dir(), drive(), order, answers).unwrap(),
                orders,
                answer,
            )
        };
        std::thread::spawn(move || socket.attend());
        assert_eq!(which(point.path()), Some(drive()));
        assert_eq!(
            which(point.path()),
            Some(drive()),
            "as often as it is asked"
        );
    }

    #[test]
    fn a_cut_is_asked_for_and_answered() {
        let (_dir, point) = mount_point(&"a".repeat(120));
        assert!(
            request(point.path())
                .unwrap_err()
                .why
                .contains("no emulated drive")
        );
        let (order, orders) = channel();
        let (answer, answers) = channel();
        let socket = ControlSocket::open(point.dir(), drive(), order, answers).unwrap();
        assert_eq!(
            names::socket(point.dir())
                .metadata()
                .unwrap()
                .permissions()
                .mode()
                & 0o777,
            0o600
        );
        std::thread::spawn(move || socket.attend());
        let lost = Lost {
            writes: 3,
            bytes: Bytes(4096),
            flushed_writes: 1,
        };
        let emulator = std::thread::spawn(move || {
            assert_eq!(orders.recv(), Ok(EmulatorOrder::Do(Command::PowerOff)));
            answer.send(Message::PowerIsOff(lost)).unwrap();
            assert_eq!(orders.recv(), Ok(EmulatorOrder::Do(Command::PowerOn)));
            answer.send(Message::PowerIsOn).unwrap();
        });
        assert_eq!(request(point.path()), Ok(lost));
        emulator.join().unwrap();
    }

    #[test]
    fn visitors_that_leave_or_send_nothing_do_no_harm() {
        let (_dir, point) = mount_point("slow");
        let (order, orders) = channel();
        let (answer, answers) = channel();
        let socket = ControlSocket::open(point.dir(), drive(), order, answers).unwrap();
        let path = names::socket(point.dir());
        std::thread::spawn(move || socket.attend());
        let mut hasty = UnixStream::connect(&path).unwrap();
        writeln!(hasty, "{CUT}").unwrap();
        assert_eq!(orders.recv(), Ok(EmulatorOrder::Do(Command::PowerOff)));
        drop(hasty);
        answer.send(Message::PowerIsOff(Lost::default())).unwrap();
        assert_eq!(orders.recv(), Ok(EmulatorOrder::Do(Command::PowerOn)));
        answer.send(Message::PowerIsOn).unwrap();
        let _silent = UnixStream::connect(&path).unwrap();
        let mut endless = UnixStream::connect(&path).unwrap();
        write!(endless, "cut or not").unwrap();
        let emulator = std::thread::spawn(move || {
            assert_eq!(orders.recv(), Ok(EmulatorOrder::Do(Command::PowerOff)));
            answer.send(Message::PowerIsOff(Lost::default())).unwrap();
            assert_eq!(orders.recv(), Ok(EmulatorOrder::Do(Command::PowerOn)));
            answer.send(Message::PowerIsOn).unwrap();
        });
        assert_eq!(request(point.path()), Ok(Lost::default()));
        emulator.join().unwrap();
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(text in ".*") {
            prop_assert!(conclude(text.as_bytes()).is_err());
        }
    }
}
