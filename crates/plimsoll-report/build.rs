//! Puts the scripts of the report (`web/dist/report.js`) where the crate embeds them from.

use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), String> {
    let root = env::var("CARGO_MANIFEST_DIR").map_err(|e| e.to_string())?;
    let bundle = Path::new(&root).join("../../web/dist/report.js");
    println!("cargo::rerun-if-changed={}", bundle.display());
    println!("cargo::rerun-if-changed=build.rs");
    let script = fs::read_to_string(&bundle).map_err(|_| {
        "web/dist/report.js is missing: run `cargo xtask web` (needs Node 18 or newer)".to_owned()
    })?;
    // Inside a script element this sequence would end it, also within a string.
    let script = script.replace("</script", "<\\/script");
    let out = env::var("OUT_DIR").map_err(|e| e.to_string())?;
    fs::write(Path::new(&out).join("report.js"), script)
        .map_err(|e| format!("{out}/report.js: {e}"))
}
