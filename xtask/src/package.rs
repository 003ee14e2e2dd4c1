//! What users install: an archive with the program, one with the sources, and a Debian package.

use std::fs;
use std::path::{Path, PathBuf};

use crate::exec::{Task, because, cargo, failed, program, root};
use crate::web;

const VERSION: &str = env!("CARGO_PKG_VERSION");
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE", "NOTICE"];
const FOLDERS: [&str; 3] = ["plans", "drives", "claims"];
/// What the charts are built into: with it a build needs no Node.
const CHARTS: &str = "web/dist/report.js";

/// A shell that completions are made for, the file in the archive, and where Debian puts it.
struct Completion {
    shell: &'static str,
    file: &'static str,
    folder: &'static str,
    installed: &'static str,
}

const COMPLETIONS: [Completion; 3] = [
    Completion {
        shell: "bash",
        file: "plimsoll.bash",
        folder: "usr/share/bash-completion/completions",
        installed: "plimsoll",
    },
    Completion {
        shell: "zsh",
        file: "_plimsoll",
        folder: "usr/share/zsh/vendor-completions",
        installed: "_plimsoll",
    },
    Completion {
        shell: "fish",
        file: "plimsoll.fish",
        folder: "usr/share/fish/vendor_completions.d",
        installed: "plimsoll.fish",
    },
];

/// `--binary FILE`: a plimsoll that is built already.
pub fn run(words: &[&str]) -> Task {
    let out = root().join("target/package");
    match words {
        [] => {
            web::run()?;
            cargo(&["build", "--release", "--package", "plimsoll"]).run()?;
            package(&root().join("target/release/plimsoll"), &out)?;
        }
        ["--binary", binary] => package(Path::new(binary), &out)?,
        _ => return failed("package takes nothing, or --binary FILE"),
    }
    sources(&out)
}

/// The archive and the Debian package of a program, in a directory that is made anew.
fn package(binary: &Path, out: &Path) -> Task {
    if out.exists() {
        fs::remove_dir_all(out).map_err(because(out.display()))?;
    }
    let name = format!("plimsoll-{VERSION}-{}-linux", std::env::consts::ARCH);
    let tree = out.join(&name);
    fill(binary, &tree)?;
    archive(out, &name)?;
    if program("dpkg-deb", &["--version"]).works() {
        debian(&tree, out)
    } else {
        eprintln!("package: dpkg-deb is not installed: no .deb was made");
        Ok(())
    }
}

/// What the archive holds.
fn fill(binary: &Path, tree: &Path) -> Task {
    let man = tree.join("man");
    let completions = tree.join("completions");
    for dir in [&man, &completions] {
        fs::create_dir_all(dir).map_err(because(dir.display()))?;
    }
    install("755", &[binary], &tree.join("plimsoll"), "-T")?;
    // Without symbols it has two thirds of the size; a script has none.
    let stripped = program("strip", &[&text(&tree.join("plimsoll"))]).works();
    if !stripped {
        eprintln!("package: strip changed nothing");
    }
    program(&text(binary), &["man", &text(&man)]).run()?;
    for Completion { shell, file, .. } in COMPLETIONS {
        let script = program(&text(binary), &["completions", shell]).output()?;
        let path = completions.join(file);
        fs::write(&path, script).map_err(because(path.display()))?;
    }
    for name in DOCUMENTS {
        install("644", &[&root().join(name)], tree, "-t")?;
    }
    for folder in FOLDERS {
        program("cp", &["-r", &text(&root().join(folder)), &text(tree)]).run()?;
    }
    Ok(())
}

fn archive(out: &Path, name: &str) -> Task {
    let archive = text(&out.join(format!("{name}.tar.gz")));
    let owners = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner"];
    let out = text(out);
    let args = [&owners[..], &["-czf", &archive, "-C", &out, name]].concat();
    program("tar", &args).run()?;
    eprintln!("package: {archive}");
    Ok(())
}

/// Of the same files.
fn debian(tree: &Path, out: &Path) -> Task {
    let architecture = program("dpkg", &["--print-architecture"]).output()?;
    let architecture = architecture.trim();
    let package = out.join("deb");
    let at = |path: &str| package.join(path);
    install("755", &[&tree.join("plimsoll")], &at("usr/bin"), "-t")?;
    install(
        "644",
        &files(&tree.join("man"))?,
        &at("usr/share/man/man1"),
        "-t",
    )?;
    for page in files(&at("usr/share/man/man1"))? {
        program("gzip", &["-9n", &text(&page)]).run()?;
    }
    for Completion {
        file,
        folder,
        installed,
        ..
    } in COMPLETIONS
    {
        let script = tree.join("completions").join(file);
        install("644", &[&script], &at(folder).join(installed), "-T")?;
    }
    let documents = DOCUMENTS.map(|name| tree.join(name));
    install("644", &documents, &at("usr/share/doc/plimsoll"), "-t")?;
    install(
        "644",
        &[&tree.join("LICENSE")],
        &at("usr/share/doc/plimsoll/copyright"),
        "-T",
    )?;
    let shared = at("usr/share/plimsoll");
    fs::create_dir_all(&shared).map_err(because(shared.display()))?;
    for folder in FOLDERS {
        program("cp", &["-r", &text(&tree.join(folder)), &text(&shared)]).run()?;
    }
    let control = at("DEBIAN/control");
    fs::create_dir_all(at("DEBIAN")).map_err(because(control.display()))?;
    let binary = fs::read(tree.join("plimsoll")).map_err(because(tree.display()))?;
    fs::write(&control, control_file(architecture, &libc(&binary)))
        .map_err(because(control.display()))?;
    program("chmod", &["-R", "u+rwX,go+rX,go-w", &text(&package)]).run()?;
    let deb = text(&out.join(format!("plimsoll_{VERSION}_{architecture}.deb")));
    program(
        "dpkg-deb",
        &["--root-owner-group", "--build", &text(&package), &deb],
    )
    .run()?;
    fs::remove_dir_all(&package).map_err(because(package.display()))
}

fn control_file(architecture: &str, libc: &str) -> String {
    format!(
        "Package: plimsoll\nVersion: {VERSION}\nArchitecture: {architecture}\nSection: utils\nPriority: optional\n\
         Maintainer: plimsoll maintainers <maintainers@plimsoll.invalid>\nDepends: {libc}, libgcc-s1\n\
         Recommends: fuse3, fio\nSuggests: postgresql, mariadb-server\n\
         Description: load tests of storage and databases\n \
         Measures how much load a database handles on a drive, emulates other drives, and\n \
         reports which results can be trusted.\n"
    )
}

/// The newest version of glibc whose symbols a program names: what it needs to start.
fn libc(binary: &[u8]) -> String {
    const MARK: &[u8] = b"GLIBC_2.";
    let minor = |at: usize| -> u32 {
        let digits = binary[at..].iter().take_while(|byte| byte.is_ascii_digit());
        digits.fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))
    };
    let marks = binary.windows(MARK.len()).enumerate();
    let needed = marks
        .filter(|(_, bytes)| *bytes == MARK)
        .map(|(at, _)| minor(at + MARK.len()));
    match needed.max() {
        Some(minor) => format!("libc6 (>= 2.{minor})"),
        None => "libc6".to_owned(),
    }
}

/// What git knows, with the charts: a build from it needs no Node.
fn sources(out: &Path) -> Task {
    if !root().join(CHARTS).is_file() {
        return failed(format!("{CHARTS} is missing: run cargo xtask web"));
    }
    let name = format!("plimsoll-{VERSION}");
    let archive = text(&out.join(format!("{name}-source.tar.gz")));
    let charts_at = format!("--prefix={name}/web/dist/");
    let charts = format!("--add-file={CHARTS}");
    let files_at = format!("--prefix={name}/");
    let args = [
        "archive",
        "--format=tar.gz",
        "-o",
        &archive,
        &charts_at,
        &charts,
        &files_at,
        "HEAD",
    ];
    program("git", &args).run()?;
    eprintln!("package: {archive}");
    Ok(())
}

/// Copies files with this mode; `-t`: into a directory, `-T`: under this name. Directories are made.
fn install<P: AsRef<Path>>(mode: &str, files: &[P], to: &Path, how: &str) -> Task {
    let files: Vec<String> = files.iter().map(|file| text(file.as_ref())).collect();
    let to = text(to);
    let mut args = vec!["-D", "-m", mode];
    args.extend(files.iter().map(String::as_str));
    match how {
        "-t" => args.extend(["-t", &to]),
        _ => args.extend(["-T", &to]),
    }
    program("install", &args).run()
}

fn files(dir: &Path) -> Task<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).map_err(because(dir.display()))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    paths
        .collect::<Result<_, _>>()
        .map_err(because(dir.display()))
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers like the program, without minutes of compiling.
    const STAND_IN: &str =
        "#!/bin/sh\ncase $1 in\nman) echo .TH >\"$2/plimsoll.1\";;\n*) echo \"# $*\";;\nesac\n";

    #[test]
    fn archive_and_package_hold_program_pages_completions_and_plans() {
        let dir = std::env::temp_dir().join(format!("plimsoll-package-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("a directory");
        let binary = dir.join("stand-in");
        fs::write(&binary, STAND_IN).expect("a script");
        program("chmod", &["755", &text(&binary)])
            .run()
            .expect("chmod");
        let out = dir.join("out");
        package(&binary, &out).expect("a package");

        let name = format!("plimsoll-{VERSION}-{}-linux", std::env::consts::ARCH);
        let archive = text(&out.join(format!("{name}.tar.gz")));
        let listed = program("tar", &["-tzf", &archive])
            .output()
            .expect("an archive");
        for file in [
            "plimsoll",
            "LICENSE",
            "README.md",
            "man/plimsoll.1",
            "completions/_plimsoll",
            "plans/quickstart.toml",
        ] {
            assert!(
                listed.contains(&format!("{name}/{file}\n")),
                "{file}: {listed}"
            );
        }
        let deb = files(&out).expect("files");
        if let Some(deb) = deb
            .iter()
            .find(|file| file.extension().is_some_and(|end| end == "deb"))
        {
            let listed = program("dpkg-deb", &["-c", &text(deb)])
                .output()
                .expect("a package");
            for file in [
                "./usr/bin/plimsoll",
                "man1/plimsoll.1.gz",
                "completions/plimsoll",
                "doc/plimsoll/copyright",
            ] {
                assert!(listed.contains(file), "{file}: {listed}");
            }
            assert!(!listed.contains("rw-rw-"), "{listed}");
            let needs = program("dpkg-deb", &["-f", &text(deb), "Depends"])
                .output()
                .expect("fields");
            assert_eq!(needs.trim(), "libc6, libgcc-s1");
        }
        fs::remove_dir_all(&dir).expect("removed");
    }

    #[test]
    fn the_newest_glibc_that_is_named_is_needed() {
        assert_eq!(
            libc(b"..GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.17\0"),
            "libc6 (>= 2.34)"
        );
        assert_eq!(libc(b"a script"), "libc6");
    }
}
