//! Any bytes as what a client sends to `plimsoll serve`, which asks for a token. They begin with a 0 where they are a
//! stream already; else the first line is an address, and further ones are headers of a request with the right host, and with
//! the token where they begin with a 1. Only then a page is answered, and never a file beside the runs.

#![no_main]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use plimsoll_record::fixture;
use plimsoll_record::runfile::{RunFile, read_head};
use plimsoll_serve::fuzzing::{FuzzedServer, LONGEST_ANSWER};
use plimsoll_serve::{FoundRun, RunSource, ServeOptions, Token};

const TOKEN: &str = "nobody-guesses-this-token-9f27";
const HOST: &str = "127.0.0.1:7070";
const SECRET: &[u8] = b"what stands beside the runs";

struct Runs(PathBuf);

impl RunSource for Runs {
    fn runs(&self) -> Result<Vec<FoundRun>, String> {
        let path = self.0.join("a.plimsoll");
        let head = read_head(&path).map_err(|error| error.to_string())?;
        let name = "a.plimsoll".to_owned();
        Ok(vec![FoundRun { name, path, head }])
    }

    fn growing(&self) -> Result<Vec<PathBuf>, String> {
        Ok(vec![self.0.join("a.plimsoll")])
    }

    /// The file that a path leads to: a secret one would be answered.
    fn report(&self, path: &Path) -> Result<String, String> {
        let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn compare(&self, paths: &[PathBuf]) -> Result<String, String> {
        paths.iter().map(|path| self.report(path)).collect()
    }
}

static SERVER: LazyLock<FuzzedServer> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a directory").keep();
    let record = fixture::single_point();
    let runs = dir.join("runs");
    std::fs::create_dir(&runs).expect("a directory");
    let file = RunFile::of_record(&runs.join("a.plimsoll"), &record).expect("a run file");
    file.finish(record.run.status, None, record.run.lasted)
        .expect("a run file");
    for place in [&dir, &runs] {
        std::fs::write(place.join("secret.txt"), SECRET).expect("a file");
    }
    let options = ServeOptions {
        listen: HOST.parse().expect("an address"),
        token: Token::from_text(TOKEN).ok(),
        beside_run: false,
        warn: |_| (),
    };
    FuzzedServer::new(options, Box::new(Runs(runs)))
});

fn request(with_token: bool, text: &[u8]) -> Vec<u8> {
    let (address, headers) = match text.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&text[..end], &text[end + 1..]),
        None => (text, &b""[..]),
    };
    let token = match with_token {
        true => format!("Authorization: Bearer {TOKEN}\r\n"),
        false => String::new(),
    };
    let host = format!(" HTTP/1.1\r\nHost: {HOST}\r\n{token}");
    [b"GET ", address, host.as_bytes(), headers, b"\r\n\r\n"].concat()
}

fn holds(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fuzz_target!(|bytes: &[u8]| {
    let sent = match bytes.split_first() {
        Some((b'0', rest)) => rest.to_vec(),
        Some((first, rest)) => request(*first == b'1', rest),
        None => return,
    };
    let answer = SERVER.converse(&sent);
    assert!((answer.len() as u64) < LONGEST_ANSWER, "too long");
    assert!(!holds(&answer, SECRET), "a file that is no run");
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1."));
    if !holds(&sent, TOKEN.as_bytes()) {
        assert!(!holds(&answer, b"HTTP/1.1 200"), "without the token");
        assert!(!holds(&answer, b"HTTP/1.0 200"), "without the token");
        assert!(!holds(&answer, TOKEN.as_bytes()), "the token itself");
    }
});
