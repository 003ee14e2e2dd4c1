//! Programs of the system that the emulator needs: to make filesystems and loop devices, and to do for it whatever waits
//! for the drive in the kernel for long. A process that answers for a drive and is killed while it waits for that drive
//! never ends, because no process answers any more; the kernel breaks the connection when its last owner is gone, and that is
//! itself. So it mounts, syncs and unmounts through others.

use std::ffi::OsStr;
use std::io;
use std::process::{Command, Stdio};

use super::error::EmulatorError;

/// The package that brings it, as Debian calls it.
fn package(program: &str) -> &'static str {
    match program {
        "mkfs.xfs" => "xfsprogs",
        "mkfs.ext4" => "e2fsprogs",
        "fusermount3" => "fuse3",
        "sync" | "dd" | "rm" => "coreutils",
        "mount" | "umount" | "losetup" => "mount",
        _ => "util-linux",
    }
}

fn command_line<S: AsRef<OsStr>>(program: &str, args: &[S]) -> String {
    args.iter().fold(program.to_owned(), |line, arg| {
        line + " " + &arg.as_ref().to_string_lossy()
    })
}

/// Runs a program to its end and returns what it printed.
pub fn run<S: AsRef<OsStr>>(program: &str, args: &[S]) -> Result<String, EmulatorError> {
    // A user who became root by su may lack them.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null());
    if let Ok(path) = std::env::join_paths(path) {
        command.env("PATH", path);
    }
    match command.output() {
        Ok(out) if out.status.success() => {
            Ok(String::from_utf8_lossy(&out.stdout).trim().to_owned())
        }
        Ok(out) => {
            let errors = String::from_utf8_lossy(&out.stderr);
            let why = format!(
                "`{}` ended with {}: {}",
                command_line(program, args),
                out.status,
                errors.trim()
            );
            Err(EmulatorError::new(
                why,
                "Run the command by hand to see more.",
            ))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(EmulatorError::no_fuse(
            format!("{program} is not installed, and an emulated drive needs it"),
            format!(
                "Install it (`apt install {}`), or give the drive form = \"directory\".",
                package(program)
            ),
        )),
        Err(error) => {
            let next = format!("Check the permissions of {program}.");
            Err(EmulatorError::new(
                format!(
                    "`{}` could not be started: {error}",
                    command_line(program, args)
                ),
                next,
            ))
        }
    }
}
