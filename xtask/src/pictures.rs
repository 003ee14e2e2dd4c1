//! The pictures of docs, from a committed run: a report's first screen, plain and with the numbers that docs/report.md explains.

use std::fs;
use std::path::Path;

use crate::exec::{Task, because, cargo, failed, program, root};

const RUN: &str = "runs/2026-11-25-vm-2cpu/quickstart.plimsoll";
const SIZE: &str = "--window-size=1280,800";

/// The parts of the first screen, in the order of the numbers.
const PARTS: [&str; 7] = [
    ".question",
    ".sentence",
    ".trusted",
    ".answer figure figcaption",
    ".answer .scroll",
    ".why > div:nth-child(1) h2",
    ".why > div:nth-child(2) h2",
];

pub fn run() -> Task {
    cargo(&["build", "--release", "--package", "plimsoll"]).run()?;
    let page = root().join("target/pictures.html");
    let binary = root().join("target/release/plimsoll");
    program(
        &binary.to_string_lossy(),
        &["report", RUN, "-o", &page.to_string_lossy()],
    )
    .run()?;
    picture(&page, "report.png")?;
    let html = fs::read_to_string(&page).map_err(because(page.display()))?;
    fs::write(&page, numbered(&html)?).map_err(because(page.display()))?;
    picture(&page, "report-numbered.png")
}

fn picture(page: &Path, name: &str) -> Task {
    let out = root().join("docs/images").join(name);
    program(
        "chromium",
        &[
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            SIZE,
            &format!("--screenshot={}", out.display()),
            &format!("file://{}", page.display()),
        ],
    )
    .run()
}

/// The page with a number in a circle at the left of each part.
fn numbered(html: &str) -> Task<String> {
    let mut style = String::from("<style>");
    for (part, number) in PARTS.iter().zip(1..) {
        style.push_str(&format!(
            "{part}{{position:relative}}{part}::before{{content:\"{number}\";position:absolute;left:-34px;top:0;\
             width:24px;height:24px;border-radius:12px;background:#c0133c;color:#fff;\
             font:700 15px/24px sans-serif;text-align:center}}"
        ));
    }
    // A table is wider than its box shows, and clips what stands outside.
    style.push_str(".answer .scroll{overflow:visible}</style></head>");
    if !html.contains("</head>") {
        return failed("the report has no </head>");
    }
    Ok(html.replacen("</head>", &style, 1))
}
