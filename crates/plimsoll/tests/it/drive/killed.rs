//! Emulators that are killed, and what is cleared of them.

use super::*;

#[test]
fn a_killed_emulator_is_noticed_and_cleared() {
    let place = Place::new();
    with_block(
        &place,
        &place.spec(Form::Block(Filesystem::Ext4)),
        |child, ready, heard| {
            fs::write(ready.path.join("a"), "x").unwrap();
            kill_process(
                Pid::from_raw(child.pid().cast_signed()).unwrap(),
                Signal::KILL,
            )
            .unwrap();
            let ended =
                std::iter::from_fn(|| heard.recv_timeout(WAIT).ok()).find_map(|news| match news {
                    EmulatorEvent::Ended(error) => Some(error),
                    EmulatorEvent::Second(_) | EmulatorEvent::Warning(_) => None,
                });
            assert!(ended.unwrap().why.contains("ended unexpectedly"));
            assert!(child.timing(true).is_err() && child.power_off().is_err());
            let messages = child.stop().unwrap();
            assert!(
                messages.iter().any(|text| text.contains("Unmounted")),
                "{messages:?}"
            );
            assert!(
                messages.iter().any(|text| text.contains("Detached")),
                "{messages:?}"
            );
        },
    );
}

/// As when a run is killed, and its emulator while it takes the drive down. It ends: did it wait in the kernel for what
/// it is to answer itself, nobody could end it.
#[test]
fn what_was_killed_while_it_unmounted_is_cleared() {
    let place = Place::new();
    let spec = MountSpec {
        drive: SLOW.into(),
        ..place.spec(Form::Block(Filesystem::Ext4))
    };
    if geteuid().is_root() {
        kill_while_unmounting(&place, &spec);
        clear(&place.path(), Nanos::from_secs(40)).unwrap();
    } else {
        assert!(start(&spec).is_err(), "only root has block devices");
    }
    place.assert_nothing_left();
}

fn kill_while_unmounting(place: &Place, spec: &MountSpec) {
    let mut emulator = Command::new(PROGRAM);
    emulator
        .args(["drive", "mount", "--control"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut emulator = emulator.spawn().unwrap();
    writeln!(
        emulator.stdin.as_mut().unwrap(),
        "{}",
        serde_json::to_string(spec).unwrap()
    )
    .unwrap();
    let mut greeting = [0; 9];
    emulator
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut greeting)
        .unwrap();
    assert_eq!(
        &greeting, b"{\"ready\":",
        "FUSE is needed here: apt install fuse3"
    );
    fs::write(place.path().join("mnt/a"), vec![7; 200 << 20]).unwrap();
    drop(emulator.stdin.take());
    // It takes seconds to write that. One that has written it before it is seen has ended, and is cleared as well.
    wait_for("umount", || {
        (writes_back(emulator.id()) || emulator.try_wait().unwrap().is_some()).then_some(())
    });
    let _ = emulator.kill();
    wait_for("the emulator's end", || emulator.try_wait().unwrap());
}

/// Whether the emulator, or what it has started, waits in the kernel for the drive.
fn writes_back(emulator: u32) -> bool {
    let stats = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            Some((
                entry.file_name().into_string().ok()?,
                stat.rsplit_once(") ")?.1.to_owned(),
            ))
        });
    let ours = |pid: &str, stat: &str| {
        pid == emulator.to_string() || stat.split(' ').nth(1) == Some(&emulator.to_string())
    };
    stats
        .into_iter()
        .any(|(pid, stat)| stat.starts_with('D') && ours(&pid, &stat))
}

#[test]
fn what_a_killed_directory_left_is_cleared_without_its_parent() {
    let place = Place::new();
    let mut emulator = Command::new(PROGRAM);
    emulator
        .args(["drive", "mount", "--control"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut emulator = emulator.spawn().unwrap();
    let task = serde_json::to_string(&place.spec(Form::Directory)).unwrap();
    writeln!(emulator.stdin.as_mut().unwrap(), "{task}").unwrap();
    let mut greeting = [0; 9];
    emulator
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut greeting)
        .unwrap();
    assert_eq!(
        &greeting, b"{\"ready\":",
        "FUSE is needed here: apt install fuse3"
    );
    fs::write(place.path().join("mnt/a"), "x").unwrap();
    emulator.kill().unwrap();
    emulator.wait().unwrap();
    assert_eq!(clear(&place.path(), ENDING).unwrap().len(), 1);
    assert_eq!(
        clear(&place.path(), ENDING).unwrap(),
        [""; 0],
        "once is enough"
    );
    place.assert_nothing_left();
}
