//! A server of plimsoll's own: set up, crashed, ended, swept.

use std::fs;
use std::os::unix::fs::MetadataExt;

use super::*;
use crate::scratch::{servers_work_in, sweep, wait_until};

fn start(kind: ManagedKind, scratch: &mut Scratch) -> ManagedServer {
    ManagedServer::start(kind, scratch, &BTreeMap::new(), "", None).unwrap()
}

pub fn wrong_setting(kind: ManagedKind) {
    let medium = medium();
    let mut scratch = Scratch::create(medium.path(), "wrong").unwrap();
    let (wrong, words) = match kind {
        ManagedKind::Postgres => (
            ("shared_bufers", "1GB"),
            "unrecognized configuration parameter \"shared_bufers\"",
        ),
        ManagedKind::Mariadb | ManagedKind::Mysql => (
            ("innodb_bufer_pool_size", "1G"),
            "unknown variable 'innodb_bufer_pool_size=1G'",
        ),
    };
    let refused = ManagedServer::start(kind, &mut scratch, &settings(&[wrong]), "", None);
    let error = refused.unwrap_err().to_string();
    assert!(
        error.contains(words) && error.contains("correct `settings` in the plan"),
        "{error}"
    );
    drop(scratch);
    assert_eq!(fs::read_dir(medium.path()).unwrap().count(), 0);
}

pub fn crash(kind: ManagedKind) {
    let medium = medium();
    let mut scratch = Scratch::create(medium.path(), "crash").unwrap();
    let server = start(kind, &mut scratch);
    let process = server.process();
    let mut client = Client(server.target().connect().unwrap());
    client.execute("CREATE SCHEMA d");
    client.execute("CREATE TABLE d.t (a integer)");
    client.execute("INSERT INTO d.t VALUES (7)");
    let first = process.pid();
    process.crash().unwrap();
    assert!(matches!(process.died(), Some(LoadError::Died { .. })));
    server.restart(&|| false).unwrap();
    assert!(process.pid() != first && process.died().is_none());
    let recovered = match kind {
        ManagedKind::Postgres => "not properly shut down; automatic recovery",
        ManagedKind::Mariadb => "Starting crash recovery",
        ManagedKind::Mysql => "Starting XA crash recovery",
    };
    let log = fs::read_to_string(process.log()).unwrap();
    assert!(log.contains(recovered), "{log}");
    let mut client = Client(server.target().connect().unwrap());
    assert_eq!(client.number("SELECT a FROM d.t"), 7);
    process.end().unwrap();
    assert!(!servers_work_in(process.data_dir()));
}

/// Started, found dead by its owner, found running by the sweep of a dead owner's leftovers.
pub fn lives_and_dies(kind: ManagedKind) {
    let medium = medium();
    // Long enough for the socket to go elsewhere.
    let mut scratch = Scratch::create(medium.path(), &"long".repeat(25)).unwrap();
    let server = start(kind, &mut scratch);
    let process = server.process();
    let socket = process.context.socket.clone();
    assert!(!socket.starts_with(medium.path()) && fs::read_dir(&socket).unwrap().count() > 0);
    assert_eq!(fs::metadata(&socket).unwrap().mode() & 0o777, 0o700);
    if rustix::process::geteuid().is_root() {
        let owner = fs::metadata(format!("/proc/{}", process.pid()))
            .unwrap()
            .uid();
        assert_ne!(owner, 0);
    }
    let swept = || sweep(medium.path(), &|_| Ok(Vec::new())).unwrap();
    assert_eq!(swept(), [""; 0], "the owner lives");
    assert!(process.died().is_none());

    let path = scratch.abandon();
    let stopped = format!("Stopped the {} server {}", kind.title(), process.pid());
    // As init would reap an orphan, so that the process is known to have ended.
    std::thread::scope(|scope| {
        scope.spawn(|| wait_until(60, || process.died().is_some()));
        let actions = swept();
        assert!(actions[0].contains(&stopped), "{actions:?}");
    });
    assert!(!path.exists() && !socket.exists());
    assert!(matches!(process.died(), Some(LoadError::Died { .. })));
}
