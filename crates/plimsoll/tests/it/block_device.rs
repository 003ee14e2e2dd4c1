//! Block steps on a device itself: what leave they need, and what they do with it.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::Place;

/// Whether this is root, who sees all processes: not in a container (`PID_NS_INIT_INO` of linux/nsfs.h).
fn is_root() -> bool {
    let sees_all = fs::metadata("/proc/self/ns/pid").is_ok_and(|about| about.ino() == 0xEFFF_FFFC);
    rustix::process::geteuid().is_root() && sees_all
}

fn tool(name: &str, args: &[&str]) -> String {
    let output = Command::new(name)
        .args(args)
        .output()
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(
        output.status.success(),
        "{name} {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A loop device over a sparse file of 200 MiB with an ext4 filesystem; taken down at the end.
struct Loop {
    image: PathBuf,
    node: String,
}

impl Loop {
    fn new(place: &Place) -> Self {
        let image = place.path("image");
        File::create(&image).unwrap().set_len(200 << 20).unwrap();
        let node = tool("losetup", &["-f", "--show", image.to_str().unwrap()]);
        let made = Self { image, node };
        tool("mkfs.ext4", &["-q", "-F", &made.node]);
        made
    }

    /// Bytes of the image at a place.
    fn bytes(&self, at: u64) -> [u8; 4096] {
        let mut bytes = [0; 4096];
        let mut image = OpenOptions::new().read(true).open(&self.image).unwrap();
        image.seek(SeekFrom::Start(at)).unwrap();
        image.read_exact(&mut bytes).unwrap();
        bytes
    }

    fn signature(&self) -> String {
        tool(
            "blkid",
            &[
                "-p",
                "-s",
                "TYPE",
                "-o",
                "value",
                self.image.to_str().unwrap(),
            ],
        )
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.node).output();
        let _ = Command::new("losetup").args(["-d", &self.node]).output();
    }
}

fn plan(place: &Place, device: &str, workers: u32) {
    let text = format!(
        "title = \"Test\"\n[medium.raw]\ndevice = {device:?}\n[workload.w.block]\nworkers = {workers}\nsize = \"64MiB\"\n\
         [[workload.w.block.job]]\nname = \"reads\"\nread = 100\nrandom = 100\nblock = \"4KiB\"\nrate = 200\n\
         [[step]]\nrun = \"w\"\nramp = \"0s\"\nmeasure = \"1s\"\n"
    );
    place.write("plan.toml", &text);
}

const RUN: [&str; 4] = ["run", "plan.toml", "-o", "x.run"];

/// Job files that name the device in a way that only fio sees.
const ESCAPES: [&str; 4] = [
    "[NODE]\nrw=write\nbs=64k\nsize=8m\n",
    "[NODE]\nrw=write\nbs=64k\nsize=8m\nallow_mounted_write=1\n",
    "[a]\nname=NODE\nrw=write\nbs=64k\nsize=8m\n",
    "[a]\ninclude\town.inc\nrw=write\nbs=64k\nsize=8m\n",
];

/// A plan that runs `own.fio` in a directory.
fn job_file_plan(place: &Place) {
    let path = place.medium();
    let text = format!(
        "title = \"Test\"\n[medium.here]\npath = {path:?}\n[workload.w.block]\nfio_job = \"own.fio\"\n\
         [[step]]\nrun = \"w\"\n"
    );
    place.write("plan.toml", &text);
}

#[test]
fn a_job_file_overwrites_a_device_only_when_it_is_named() {
    let place = Place::new();
    job_file_plan(&place);
    if is_root() {
        let device = Loop::new(&place);
        place.write("own.inc", &format!("filename={}\n", device.node));
        for text in ESCAPES {
            place.write("own.fio", &text.replace("NODE", &device.node));
            place
                .run(&with(&device.node))
                .refused(&["own.fio cannot be used"]);
            assert_eq!(device.signature(), "ext4", "{text}");
        }
        let named = "[a]\nfilename=NODE\nrw=write\nbs=64k\nsize=8m\ndirect=1\n";
        place.write("own.fio", &named.replace("NODE", &device.node));
        place.run(&RUN).refused(&["must not be overwritten"]);
        assert_eq!(device.signature(), "ext4");
        place.run(&with(&device.node)).succeeded();
        assert_ne!(
            device.bytes(4096),
            [0; 4096],
            "overwritten, as the user ordered"
        );
    } else {
        place.write("own.fio", &ESCAPES[0].replace("NODE", "/dev/loop0"));
        place.run(&RUN).refused(&["own.fio cannot be used"]);
    }
    place.expect_clean();
}

fn with(overwrite: &str) -> Vec<&str> {
    [&RUN[..], &["--overwrite", overwrite]].concat()
}

#[test]
fn a_device_is_overwritten_only_when_it_is_named() {
    let place = Place::new();
    if is_root() {
        as_root(&place);
    } else {
        // Only root may make loop devices; anybody else sees that a device they may not open is refused.
        let node = "/dev/loop0";
        plan(&place, node, 1);
        let words = if Path::new(node).exists() {
            "must not be overwritten"
        } else {
            "cannot access"
        };
        place.run(&with(node)).refused(&[node, words]);
    }
    place.expect_clean();
}

fn as_root(place: &Place) {
    let device = Loop::new(place);
    plan(place, &device.node, 2);
    let refused = "must not be overwritten";
    let next = format!("--overwrite {}", device.node);
    place.run(&RUN).refused(&[
        refused,
        "--overwrite was not given; it holds a signature of ext4",
        &next,
    ]);
    place
        .run(&with("/dev/null"))
        .refused(&[refused, "--overwrite was not given"]);

    let mount = place.path("mounted");
    fs::create_dir(&mount).unwrap();
    tool("mount", &[&device.node, mount.to_str().unwrap()]);
    place
        .run(&with(&device.node))
        .refused(&[refused, "it is mounted: ", "Unmount and release"]);
    tool("umount", &[mount.to_str().unwrap()]);

    plan(place, &device.node, 4);
    place
        .run(&with(&device.node))
        .refused(&["4 workers with 64.0 MiB each do not fit into its 200.0 MiB"]);
    assert_eq!(device.signature(), "ext4", "nothing was written so far");

    plan(place, &device.node, 2);
    let outcome = place.run(&with(&device.node)).succeeded();
    let message = format!(
        "{} is overwritten; it held a signature of ext4",
        device.node
    );
    assert!(outcome.stderr.contains(&message), "{outcome:?}");
    place.opens("x.run");
    for at in [0, (64 << 20) - 4096, 64 << 20, (128 << 20) - 4096] {
        assert!(
            device.bytes(at).iter().any(|byte| *byte != 0),
            "{at} was written"
        );
    }
    assert!(
        device.bytes(199 << 20).iter().all(|byte| *byte == 0),
        "no worker went that far"
    );
}
