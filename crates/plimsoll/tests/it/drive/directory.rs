//! Emulated drives without root: directories.

use super::*;

#[test]
fn a_directory_carries_a_database_and_has_no_power_switch() {
    let place = Place::new();
    let (child, ready, heard) =
        start(&place.spec(Form::Directory)).expect("FUSE is needed here: apt install fuse3");
    assert_eq!(ready.device, None);
    let path = ready.path.join("db");
    let [one, two] = [0, 1].map(|_| rusqlite::Connection::open(&path).unwrap());
    // WAL shares memory between connections, through a mapped file.
    let mode: String = one
        .query_row("PRAGMA journal_mode = wal", [], |row| row.get(0))
        .unwrap();
    assert_eq!(mode, "wal");
    one.execute_batch("PRAGMA synchronous = full; CREATE TABLE t(a)")
        .unwrap();
    for n in 0..50 {
        one.execute("INSERT INTO t VALUES (?1)", [n]).unwrap();
        let sum: i64 = two
            .query_row("SELECT sum(a) FROM t", [], |row| row.get(0))
            .unwrap();
        assert_eq!(sum, n * (n + 1) / 2);
    }
    drop((one, two));
    let mut flushes = 0;
    while flushes < 50 {
        if let EmulatorEvent::Second(second) = heard.recv_timeout(WAIT).unwrap() {
            flushes += second.tallies[2].ops;
        }
    }
    let refused = child.power_off().unwrap_err();
    assert!(refused.why.contains("directory form"), "{refused}");
    assert!(ready.path.join("db").exists(), "and the drive goes on");
    assert_eq!(child.stop().unwrap(), [""; 0]);
    place.assert_nothing_left();
}

#[test]
fn a_directory_is_a_filesystem_like_others() {
    let place = Place::new();
    let spec = MountSpec {
        drive: SLOW.into(),
        backing: Backing::File,
        ..place.spec(Form::Directory)
    };
    let (child, ready, _heard) = start(&spec).expect("FUSE is needed here: apt install fuse3");
    let at = |name: &str| ready.path.join(name);
    fs::create_dir(at("dir")).unwrap();
    fs::write(at("dir/a"), "0123456789").unwrap();
    fs::hard_link(at("dir/a"), at("b")).unwrap();
    std::os::unix::fs::symlink("dir/a", at("link")).unwrap();
    fs::rename(at("dir/a"), at("c")).unwrap();
    assert!(fs::read(at("link")).is_err(), "the link leads nowhere now");
    fs::write(at("dir/a"), "new").unwrap();
    assert_eq!(fs::read_to_string(at("link")).unwrap(), "new");
    let file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(at("b"))
        .unwrap();
    file.set_len(5).unwrap();
    file.write_all_at(b"XY", 1_500_000).unwrap();
    fs::remove_file(at("b")).unwrap();
    let mut content = Vec::new();
    (&file).read_to_end(&mut content).unwrap();
    assert_eq!(
        (content.len(), &content[..6], &content[1_500_000..]),
        (1_500_002, &b"01234\0"[..], &b"XY"[..])
    );
    fs::OpenOptions::new()
        .append(true)
        .open(at("c"))
        .unwrap()
        .write_all(b"!")
        .unwrap();
    assert_eq!(fs::metadata(at("c")).unwrap().len(), 1_500_003);
    let mut names: Vec<_> = fs::read_dir(&ready.path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["c", "dir", "link"]);
    assert!(fs::remove_dir(at("dir")).is_err(), "not empty");
    fs::remove_dir_all(at("dir")).unwrap();
    // More than the drive's 512 MiB.
    let zeroes = vec![1; 1 << 20];
    let full = (0..600).find_map(|n| {
        file.write_all_at(&zeroes, n << 20)
            .and_then(|()| file.sync_data())
            .err()
    });
    assert_eq!(full.unwrap().kind(), std::io::ErrorKind::StorageFull);
    drop(file);
    drop(child);
    place.assert_nothing_left();
}
