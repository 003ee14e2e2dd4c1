//! Pages: the answer stands first, and each is one file that loads nothing.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use crate::common::{Outcome, Place};

/// A run of the mock engine in virtual time.
fn run(place: &Place) {
    place.write(
        "plan.toml",
        "title = \"Mock\"\n[system.db.mock]\nlatency = \"1ms\"\n[workload.oltp.tpcc]\nwarehouses = 1\n\
         [[step]]\nrun = \"oltp\"\nsystem = \"db\"\nusers = 2\nmeasure = \"20s\"\n",
    );
    place
        .run(&["run", "plan.toml", "--virtual-time", "-o", "x.run"])
        .succeeded();
}

/// Its text; a page of another site is nowhere loaded from.
fn page(place: &Place, name: &str) -> String {
    let html = fs::read_to_string(place.path(name)).expect("the page was written");
    assert!(
        !html.contains("src=\"http") && !html.contains("<link"),
        "{name}"
    );
    html
}

/// Both stand in the page, the first one first.
fn stands_before(html: &str, first: &str, second: &str) -> bool {
    let place = |text: &str| html.find(text);
    place(first).is_some_and(|at| place(second).is_some_and(|other| at < other))
}

#[test]
fn an_audit_has_a_page_with_the_answer_above_its_rules() {
    let place = Place::new();
    run(&place);
    place.run(&["audit", "x.run", "-o", "a.html"]).succeeded();
    let html = page(&place, "a.html");
    assert!(
        stands_before(&html, "<p class=\"sentence\">Mock: ", "<table>"),
        "{html}"
    );
}

#[test]
fn a_comparison_and_the_catalog_begin_with_their_answer() {
    let place = Place::new();
    run(&place);
    place
        .run(&[
            "run",
            "plan.toml",
            "--virtual-time",
            "--seed",
            "7",
            "-o",
            "y.run",
        ])
        .succeeded();
    place
        .run(&["compare", "x.run", "y.run", "-o", "c.html"])
        .succeeded();
    place.run(&["drive", "list", "-o", "d.html"]).succeeded();
    let comparison = page(&place, "c.html");
    assert!(stands_before(
        &comparison,
        "<p class=\"sentence\">",
        "<table>"
    ));
    let catalog = page(&place, "d.html");
    assert!(stands_before(
        &catalog,
        "<p class=\"sentence\">17 drives",
        "<table>"
    ));
}

#[test]
fn a_pdf_without_a_browser_fails_in_three_lines_and_keeps_the_page() {
    let place = Place::new();
    run(&place);
    let mut command = place.command(&["report", "x.run", "-o", "r.html", "--pdf", "r.pdf"]);
    command.env("PLIMSOLL_CHROMIUM", "/nonexistent/chromium");
    let outcome = place.start_command(command).wait();
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{outcome:?}");
    assert!(lines[0].starts_with("error: cannot make ") && lines[2].contains("Install chromium"));
    assert!(place.path("r.html").exists() && !place.path("r.pdf").exists());
}

/// A program in place of the browser, which does `script` with `$pdf` and `$work`, the directory of that.
fn pdf_by(place: &Place, script: &str) -> Outcome {
    let browser = place.path("browser");
    let text = format!(
        "#!/bin/sh\nfor arg; do case $arg in --print-to-pdf=*) pdf=${{arg#*=}};; --no-sandbox) sandbox=none;; esac; done\n\
         work=$(dirname \"$pdf\")\n{script}\n"
    );
    fs::write(&browser, text).unwrap();
    fs::set_permissions(&browser, Permissions::from_mode(0o755)).unwrap();
    let mut command = place.command(&["report", "x.run", "-o", "r.html", "--pdf", "r.pdf"]);
    command
        .env("PLIMSOLL_CHROMIUM", browser)
        .env("SECRET_OF_ROOT", "x");
    let outcome = place.start_command(command).wait();
    assert_eq!(
        fs::read_dir(place.path("tmp")).unwrap().count(),
        0,
        "{outcome:?}"
    );
    outcome
}

#[test]
fn the_browser_works_in_a_directory_of_its_own_and_root_is_none() {
    let place = Place::new();
    run(&place);
    let script = "echo \"$(id -u) $(stat -c '%u %a' \"$work\") $sandbox$SECRET_OF_ROOT\" > \"$pdf\"\n\
                  grep -c '</html>' \"$work/page.html\" >> \"$pdf\"; basename \"$work\" >> \"$pdf\"";
    pdf_by(&place, script).succeeded();
    let printed = fs::read_to_string(place.path("r.pdf")).unwrap();
    let lines: Vec<&str> = printed.lines().collect();
    let user = rustix::process::geteuid().as_raw();
    let expected = match user {
        0 => ["65534 65534 700 ".to_owned(), "0 0 700 nonex".to_owned()],
        user => [format!("{user} {user} 700 x"), String::new()],
    };
    assert!(expected.contains(&lines[0].to_owned()), "{printed}");
    assert_eq!(lines[1], "1", "the whole page");
    // Nobody can have put a link there before.
    let random = lines[2].strip_prefix("plimsoll-pdf-").unwrap();
    assert!(random.parse::<u32>().is_err(), "{random}");
}

#[test]
fn what_a_browser_links_to_is_not_printed() {
    let place = Place::new();
    run(&place);
    fs::write(place.path("secret"), "of root").unwrap();
    for script in [
        "ln -s \"$(dirname \"$0\")/secret\" \"$pdf\"",
        "mkfifo \"$pdf\"",
        "mkdir \"$pdf\"",
    ] {
        let outcome = pdf_by(&place, script);
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        assert!(
            outcome.stderr.starts_with("error: cannot make r.pdf\n"),
            "{outcome:?}"
        );
        assert!(!place.path("r.pdf").exists());
    }
}
