//! Puts the scripts of the report and of the live page (`web/dist`) where the crate embeds them from.

use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed=build.rs");
    ["report.js", "live.js"]
        .iter()
        .try_for_each(|name| embed(name))
}

fn embed(name: &str) -> Result<(), String> {
    let root = env::var("CARGO_MANIFEST_DIR").map_err(|e| e.to_string())?;
    let bundle = Path::new(&root).join("../../web/dist").join(name);
    println!("cargo::rerun-if-changed={}", bundle.display());
    let script = fs::read_to_string(&bundle).map_err(|_| {
        format!("web/dist/{name} is missing: run `cargo xtask web` (needs Node 18 or newer)")
    })?;
    // Inside a script element this sequence would end it, also within a string.
    let script = script.replace("</script", "<\\/script");
    let out = env::var("OUT_DIR").map_err(|e| e.to_string())?;
    fs::write(Path::new(&out).join(name), script).map_err(|e| format!("{out}/{name}: {e}"))
}
