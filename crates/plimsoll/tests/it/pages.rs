//! Pages: the answer stands first, and each is one file that loads nothing.

use std::fs;

use crate::common::Place;

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
