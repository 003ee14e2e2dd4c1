//! A MariaDB whose answers are a fuzzer's.

use plimsoll_plan::resolved::ServerKind;

use super::address::{Encryption, MariadbAddress};
use super::codec::values;
use super::login::log_in;
use super::protocol::MariadbWire;
use crate::engine::client_environment::PasswordFile;
use crate::engine::fuzzing::{messages, server_of, to_the_end};
use crate::workload::statement::Param;

/// Packets that begin with this number.
fn packets(bytes: &[u8], first: usize) -> Vec<u8> {
    messages(bytes, |number, body| {
        let length = (body.len() as u32).to_le_bytes();
        [&length[..3], &[(number + first) as u8], body].concat()
    })
}

/// A statement is prepared and executed, one is sent as text, a file is loaded; all with the same answers, in packets and
/// as they are.
pub fn mariadb_answers(bytes: &[u8]) {
    for stream in [packets(bytes, 1), bytes.to_vec()] {
        let wire = || MariadbWire::new(server_of(stream.clone())).logged_in();
        to_the_end(async {
            let mut preparing = wire();
            if let Ok(mut statement) = preparing.prepare("SELECT ?").await {
                // The answer of the statement is the same again.
                let mut executing = wire();
                let read = |row: &[u8], columns: &[_]| values(row, columns).map(drop);
                let params = [Param::Int(1)].into_iter();
                let _ = executing.execute(&mut statement, params, read).await;
                let params = [Param::Int(1)].into_iter();
                let _ = preparing.execute(&mut statement, params, read).await;
            }
            let _ = wire().text("SELECT 1").await;
            let mut loading = wire();
            if loading.begin_load("LOAD", "").await.is_ok() {
                let _ = loading.end_load().await;
            }
        });
    }
}

pub fn mariadb_login(bytes: &[u8]) {
    let address = MariadbAddress {
        kind: ServerKind::Mysql,
        host: "localhost".into(),
        port: 1,
        socket: None,
        user: "user".into(),
        password: "password".into(),
        database: None,
        encryption: Encryption::Never,
        password_file: PasswordFile::Without,
    };
    for stream in [packets(bytes, 0), bytes.to_vec()] {
        to_the_end(async {
            let _ = log_in(&address, server_of(stream), &Encryption::Never).await;
        });
    }
}
