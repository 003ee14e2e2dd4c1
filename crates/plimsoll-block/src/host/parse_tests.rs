//! Against files recorded on a machine with a PostgreSQL under load (`plimsoll-load/tests/data/proc`), and against rubbish.

use proptest::prelude::*;

use super::*;

macro_rules! recorded {
    ($path:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../plimsoll-load/tests/data/proc/before/proc/",
            $path
        ))
    };
}

#[test]
fn host_files() {
    let all = stat(recorded!("stat")).unwrap();
    assert_eq!(all.each.len(), 2);
    assert_eq!(
        all.each
            .iter()
            .map(|(number, _)| *number)
            .collect::<Vec<_>>(),
        [0, 1]
    );
    let line = "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4\nintr 1";
    let expected = CpuTimes {
        user: 1,
        nice: 2,
        system: 3,
        idle: 4,
        iowait: 5,
        irq: 6,
        softirq: 7,
        steal: 8,
    };
    assert_eq!(stat(line).unwrap().all, expected);

    let memory = meminfo(recorded!("meminfo")).unwrap();
    assert_eq!(memory.total, Bytes(24_684_092 * 1024));
    assert_eq!(
        kib_field("Dirty:    7 kB\nCached:   3 kB\n", "Cached"),
        Some(Bytes(3072))
    );
    assert_eq!(kib_field("SwapCached: 7 kB\n", "Cached"), None);

    let io = pressure(
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=3\n",
    );
    assert_eq!(
        io,
        Some(Pressure {
            some: Nanos::from_micros(12),
            full: Some(Nanos::from_micros(3))
        })
    );
    assert!(pressure(recorded!("pressure/cpu")).is_some());

    let interfaces = net_dev(recorded!("net/dev")).unwrap();
    assert!(
        interfaces
            .iter()
            .any(|interface| interface.name == "eth0" && interface.received > interface.sent)
    );
    let line = "Inter-| x\n face | y\n wlan0:1:7 1 1 1 1 1 1 1 9 2 2 2 2 2 2 2\n";
    assert_eq!(
        net_dev(line).unwrap(),
        [Interface {
            name: "wlan0:1".into(),
            received: 7,
            sent: 9
        }]
    );
}

const DISK: [u64; 17] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17];

fn disk_line(counters: usize) -> String {
    let counters: Vec<String> = DISK[..counters].iter().map(u64::to_string).collect();
    format!(
        "   8       1 sda1 9 9 9 9 9 9 9 9 9 9 9\n   8       0 sda {}\n",
        counters.join(" ")
    )
}

#[test]
fn disks_of_new_and_old_kernels() {
    let disk = diskstats(recorded!("diskstats"), 254, 0).unwrap();
    assert_eq!(disk.name, "vda");
    assert!(disk.flushes.is_some());
    assert_eq!(diskstats(recorded!("diskstats"), 8, 0), None);
    // 14 columns before kernel 4.18, 18 with discards, 20 with flushes since 5.5.
    for (counters, flushes) in [(11, None), (15, None), (17, Some(16))] {
        let expected = DiskStats {
            name: "sda".into(),
            reads: 1,
            read_sectors: 3,
            read_ms: 4,
            writes: 5,
            write_sectors: 7,
            write_ms: 8,
            busy_ms: 10,
            weighted_ms: 11,
            flushes,
        };
        assert_eq!(diskstats(&disk_line(counters), 8, 0), Some(expected));
    }
    assert_eq!(
        diskstats(&disk_line(4), 8, 0),
        None,
        "a partition before kernel 2.6.25"
    );
}

#[test]
fn process_files() {
    let postmaster = pid_stat(recorded!("17560/stat")).unwrap();
    assert_eq!(postmaster.parent, 1);
    assert!(postmaster.children_faults > 1000);
    let line = "7 (a) b (c)) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23";
    let expected = PidStat {
        parent: 4,
        cpu: 14 + 15,
        children_cpu: 16 + 17,
        children_faults: 11 + 13,
        threads: 20,
        start: 22,
    };
    assert_eq!(pid_stat(line), Some(expected));

    let backends = children(recorded!("17560/task/17560/children")).unwrap();
    assert!(backends.contains(&17561));
    assert_eq!(children("\n"), Some(vec![]));
    assert_eq!(
        statm("1 2 3 4 5 6 7\n"),
        Some(Statm {
            resident: 2,
            shared: 3
        })
    );
    assert!(statm(recorded!("17560/statm")).unwrap().resident > 0);
    let io = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n";
    assert_eq!(
        pid_io(io),
        Some(PidIo {
            read: 5,
            written: 6
        })
    );
    assert!(kib_field(recorded!("17560/smaps_rollup"), "Pss").is_some());
}

/// All parsers; the results do not matter.
fn parse_all(text: &str) {
    stat(text);
    meminfo(text);
    pressure(text);
    net_dev(text);
    diskstats(text, 254, 0);
    pid_stat(text);
    children(text);
    statm(text);
    pid_io(text);
}

proptest! {
    #[test]
    fn rubbish_never_panics(text in "\\PC*", numbers in prop::collection::vec(any::<u64>(), 0..30)) {
        parse_all(&text);
        let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
        let numbers = numbers.join(" ");
        for front in ["cpu  ", "254 0 vda ", "1 (x) S ", "Inter-|\n\n eth0:", "some total=", "Dirty:", ""] {
            parse_all(&format!("{front}{numbers}"));
        }
    }

    #[test]
    fn cut_or_changed_files_never_panic(at in 0_usize..5000, byte in any::<u8>()) {
        let files = [
            recorded!("stat"), recorded!("meminfo"), recorded!("pressure/io"), recorded!("net/dev"),
            recorded!("diskstats"), recorded!("17560/stat"), recorded!("17560/statm"), recorded!("17560/io"),
        ];
        for file in files {
            let mut bytes = file.as_bytes().to_vec();
            let at = at % bytes.len();
            bytes[at] = byte;
            parse_all(&String::from_utf8_lossy(&bytes));
            parse_all(&file[..at]);
        }
    }
}
