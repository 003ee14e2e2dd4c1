//! Any bytes as what a server sends: to the decoder that the environment variable `WIRE` names (`mariadb`, `mariadb-login`,
//! `postgres`).

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use plimsoll_load::engine::fuzzing::{mariadb_answers, mariadb_login, postgres_answers};

static DECODER: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    match std::env::var("WIRE").as_deref() {
        Ok("mariadb") => mariadb_answers,
        Ok("mariadb-login") => mariadb_login,
        Ok("postgres") => postgres_answers,
        other => panic!("WIRE is mariadb, mariadb-login or postgres, and not {other:?}"),
    }
});

fuzz_target!(|bytes: &[u8]| DECODER(bytes));
