//! Media whose names mean something to fio, shells, URLs, files of settings or the kernel's lists: everything that takes a
//! path works inside the medium, or refuses it and has written nothing.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use plimsoll_block::BlockError;
use plimsoll_block::arguments::Part;
use plimsoll_block::fio::{FioName, Flow, IoEngine};
use plimsoll_block::layout::{Layout, lay_out, make_file};
use plimsoll_load::engine::LoadControl;
use plimsoll_load::engine::server::ManagedServer;
use plimsoll_load::scratch::{Scratch, sweep};
use plimsoll_load::system::Instance;
use plimsoll_plan::resolved::{Distribution, ManagedKind, Script, Sysbench, SystemKind, Workload};

use crate::common::Place;

/// What a path may be below its parent.
const NAMES: [&[u8]; 48] = [
    b"vol#1",
    b"vol;1",
    b"vol:1",
    b"vol\\:1",
    b"vol\\",
    b"vol\\1",
    b"vol,1",
    b"vol=1",
    b"vol'1",
    b"vol\"1",
    b"vol%1",
    b"vol%231",
    b"vol$1",
    b"vol${HOME}",
    b"vol$HOME",
    b"vol$(id)",
    b"vol`id`",
    b"vol*",
    b"vol?1",
    b"vol[1]",
    b"vol{1,2}",
    b"vol 1",
    b" vol",
    b"vol ",
    b"-vol",
    b"--filename=vol",
    b"~",
    b"~root",
    b"vol\n1",
    b"vol\t1",
    b"vol\r",
    b"vol\x1b[2J",
    b"vol\xff1",
    b"vol\x011",
    b"vol\xe2\x80\xae1",
    b"vol\xc3\xa4",
    b"vol&1",
    b"vol|1",
    b"vol>1",
    b"vol!1",
    b"vol (deleted)",
    b"vol\\0401",
    b"vol\\012",
    b"file:vol",
    b"file:vol?mode=rwc",
    b"http://vol",
    b"vol/../vol",
    b"vol/",
];

/// What stands in the way of a name that is cut or read as another one.
const CANARY: &[u8] = b"precious";

/// A directory with a hostile name in it, and files with all names that may be read instead.
struct Trap {
    dir: tempfile::TempDir,
    medium: PathBuf,
    canaries: Vec<PathBuf>,
}

impl Trap {
    fn new(name: &[u8]) -> Self {
        let dir = tempfile::Builder::new().prefix("trap").tempdir().unwrap();
        fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
        let medium = dir.path().join(OsStr::from_bytes(name));
        fs::create_dir_all(dir.path().join("vol")).unwrap();
        fs::create_dir_all(&medium).unwrap();
        if !name.starts_with(b"vol/") {
            fs::remove_dir(dir.path().join("vol")).unwrap();
        }
        let parts = name
            .split(|byte| !byte.is_ascii_alphanumeric())
            .map(<[u8]>::to_vec);
        let heads = (1..name.len()).map(|end| name[..end].to_vec());
        let tails = (1..name.len()).map(|begin| name[begin..].to_vec());
        let read = [b"vol 1".to_vec(), b"vol\n".to_vec(), b"vol#1".to_vec()];
        let mut canaries = Vec::new();
        for other in parts.chain(heads).chain(tails).chain(read) {
            let path = dir.path().join(OsString::from_vec(other));
            // Not where the medium is, and not in a directory that is none.
            if path.parent() == Some(dir.path()) && fs::write(&path, CANARY).is_ok() {
                canaries.push(path);
            }
        }
        Self {
            dir,
            medium,
            canaries,
        }
    }

    /// Nothing but the medium and the canaries is there, and these as they were.
    fn expect_untouched(&self, doing: &str) {
        for canary in &self.canaries {
            assert_eq!(fs::read(canary).unwrap(), CANARY, "{doing}: {canary:?}");
        }
        let mut here: Vec<PathBuf> = fs::read_dir(self.dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        here.retain(|path| !self.canaries.contains(path));
        let others = here.iter().filter(|path| !self.medium.starts_with(path));
        assert_eq!(others.count(), 0, "{doing} {:?}: {here:?}", self.medium);
        assert_eq!(
            fs::read_dir(&self.medium).unwrap().count(),
            0,
            "{doing}: left in it"
        );
    }
}

/// Runs on a few names at a time.
fn on_each_name(doing: &str, work: impl Fn(&Trap) + Sync) {
    std::thread::scope(|scope| {
        for names in NAMES.chunks(NAMES.len().div_ceil(4)) {
            let work = &work;
            scope.spawn(move || {
                for trap in names.iter().map(|name| Trap::new(name)) {
                    work(&trap);
                    trap.expect_untouched(doing);
                }
            });
        }
    });
}

fn write_with_fio(directory: &Path, file: FioName) -> Result<(), BlockError> {
    let part = Part {
        directory: directory.into(),
        file,
        offset: 0,
        size: 64 << 10,
    };
    let layout = Layout {
        parts: vec![part],
        fill: 1.0,
        direct: false,
        compressible_percent: 0,
        engine: IoEngine::Psync,
        seed: 1,
    };
    lay_out(&layout, &mut |_| Flow::GoOn)
}

fn is_written(file: &Path) -> bool {
    let bytes = fs::read(file).unwrap();
    bytes.len() == 64 << 10 && bytes.iter().any(|byte| *byte != 0)
}

#[test]
fn fio_works_in_the_medium_whatever_its_name() {
    on_each_name("fio", |trap| {
        let scratch = Scratch::create(&trap.medium, "run-fio").unwrap();
        let file = scratch.path().join("worker-1");
        make_file(&file, 64 << 10).unwrap();
        write_with_fio(scratch.path(), FioName::new(Path::new("worker-1")).unwrap()).unwrap();
        assert!(is_written(&file), "{file:?}");
        scratch.remove().unwrap();
    });
}

#[test]
fn a_path_that_fio_would_read_as_another_is_refused() {
    let mut refused = 0;
    for trap in NAMES.iter().map(|name| Trap::new(name)) {
        let file = trap.medium.canonicalize().unwrap().join("device");
        make_file(&file, 64 << 10).unwrap();
        match FioName::new(&file) {
            Ok(name) => {
                write_with_fio(Path::new("/"), name).unwrap();
                assert!(is_written(&file), "{file:?}");
            }
            Err(error) => {
                assert!(error.to_string().lines().count() >= 3, "{error}");
                refused += 1;
            }
        }
        fs::remove_file(file).unwrap();
        trap.expect_untouched("fio, by its path");
    }
    assert!((20..NAMES.len()).contains(&refused), "{refused}");
    for name in ["", "-", "-x", " x", "x "] {
        assert!(FioName::new(Path::new(name)).is_err(), "{name:?}");
    }
}

#[test]
fn sqlite_works_in_the_medium_whatever_its_name() {
    let kind = SystemKind::Sqlite {
        settings: BTreeMap::new(),
    };
    let workload = Workload::Sysbench(Sysbench {
        script: Script::ReadWrite,
        tables: 1,
        rows: 10,
        distribution: Distribution::Uniform,
        point_selects: 1,
        range_size: 1,
    });
    on_each_name("SQLite", |trap| {
        let mut scratch = Scratch::create(&trap.medium, "run-db").unwrap();
        let instance = Instance::start(&kind, Some(&mut scratch), None).unwrap();
        let loaded = instance.load(&workload, 1, &LoadControl::default());
        loaded.unwrap_or_else(|error| panic!("{:?}: {error}", trap.medium));
        assert!(!instance.row_counts().unwrap().is_empty());
        instance.stop().unwrap();
        scratch.remove().unwrap();
    });
}

/// Servers' own tests run in a directory with all the signs that are not refused.
#[test]
fn servers_refuse_what_they_would_read_as_something_else() {
    let mut refused = 0;
    for trap in NAMES.iter().map(|name| Trap::new(name)) {
        for kind in [ManagedKind::Postgres, ManagedKind::Mariadb] {
            let Err(error) = ManagedServer::check_startable(kind, "", &trap.medium) else {
                continue;
            };
            let error = error.to_string();
            assert!(error.starts_with("cannot run a server in "), "{error}");
            assert!(
                error.ends_with("Rename the directory, or choose a medium elsewhere."),
                "{error}"
            );
            let mut scratch = Scratch::create(&trap.medium, "run-db").unwrap();
            let started = ManagedServer::start(kind, &mut scratch, &BTreeMap::new(), "", None);
            assert_eq!(
                started.unwrap_err().to_string().contains("servers read"),
                !error.contains("UTF-8")
            );
            scratch.remove().unwrap();
            refused += 1;
        }
        trap.expect_untouched("a server");
    }
    assert!((30..2 * NAMES.len()).contains(&refused), "{refused}");
}

#[test]
fn a_name_that_is_no_text_is_refused() {
    let place = Place::new();
    let medium = place.path("").join(OsStr::from_bytes(b"vol\xff"));
    let other = place.path("vol\u{fffd}");
    for dir in [&medium, &other] {
        fs::create_dir(dir).unwrap();
    }
    for system in ["block", "sqlite"] {
        let mut command = place.command(&["bench", system]);
        command.arg(&medium);
        let outcome = place.start_command(command).wait();
        outcome.failed(2, &["Its name is no text in UTF-8"]);
    }
    for dir in [medium, other] {
        assert_eq!(fs::read_dir(dir).unwrap().count(), 0);
    }
}

#[test]
fn what_is_mounted_on_a_hostile_name_is_not_removed() {
    for trap in NAMES.iter().map(|name| Trap::new(name)) {
        let scratch = Scratch::create(&trap.medium, "run-mnt").unwrap();
        let path = scratch.path().to_owned();
        let inside = path.join("mnt");
        fs::create_dir(&inside).unwrap();
        if rustix::process::geteuid().is_root() {
            let flags = rustix::mount::MountFlags::empty();
            rustix::mount::mount("none", &inside, "tmpfs", flags, None).unwrap();
            fs::write(inside.join("precious"), "x").unwrap();
            let error = scratch.remove().unwrap_err().to_string();
            assert!(error.contains("is still mounted"), "{error}");
            assert!(inside.join("precious").exists(), "{inside:?}");
            rustix::mount::unmount(&inside, rustix::mount::UnmountFlags::DETACH).unwrap();
            fs::remove_dir_all(&path).unwrap();
            fs::remove_dir(path.parent().unwrap()).unwrap();
        } else {
            scratch.remove().unwrap();
        }
        assert_eq!(sweep(&trap.medium, &|_| Ok(Vec::new())).unwrap(), [""; 0]);
        trap.expect_untouched("a mount");
    }
}
