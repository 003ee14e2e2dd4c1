//! The same transactions on every engine leave the same rows. SQLite, whose sessions go through its library, is the reference
//! for those that read and write a wire themselves.

use std::sync::OnceLock;

use super::*;
use crate::workload::Source;

/// So many in the test suite; `PLIMSOLL_TEST_TRANSACTIONS` is another number.
const TRANSACTIONS: u32 = 1_000;
const ONE: Tpcc = Tpcc {
    warehouses: 1,
    ..TPCC
};

/// What became of the transactions, and rows that they may have changed, without times: each table's lines.
#[derive(Debug, PartialEq)]
struct Outcome {
    committed: u32,
    rolled_back: u32,
    rows: Vec<Vec<String>>,
}

/// In cents.
fn money(engine: Engine, column: &str) -> String {
    match engine {
        Engine::Sqlite => column.to_owned(),
        Engine::Server(_) => format!("{column} * 100"),
    }
}

fn queries(engine: Engine) -> [String; 7] {
    let cents = |column| money(engine, column);
    [
        format!(
            "SELECT d_id, {}, d_next_o_id, (SELECT {} FROM warehouse) FROM district ORDER BY d_id",
            cents("d_ytd"),
            cents("w_ytd")
        ),
        format!(
            "SELECT c_d_id, c_id, {}, {}, c_payment_cnt, c_delivery_cnt, \
             CASE WHEN c_credit = 'BC' THEN c_data ELSE '' END \
             FROM customer WHERE c_payment_cnt > 1 OR c_delivery_cnt > 0 ORDER BY c_d_id, c_id",
            cents("c_balance"),
            cents("c_ytd_payment")
        ),
        format!(
            "SELECT h_c_d_id, h_c_id, h_d_id, {} AS paid, h_data FROM history WHERE h_amount <> {} \
             ORDER BY h_c_d_id, h_c_id, h_d_id, paid",
            cents("h_amount"),
            engine.amount(1_000)
        ),
        "SELECT no_d_id, no_o_id FROM new_order ORDER BY no_d_id, no_o_id".into(),
        "SELECT o_d_id, o_id, o_c_id, o_carrier_id, o_ol_cnt, o_all_local FROM orders \
         WHERE o_id > 2100 ORDER BY o_d_id, o_id"
            .into(),
        format!(
            "SELECT ol_d_id, ol_o_id, ol_number, ol_i_id, ol_quantity, {}, ol_dist_info, \
             CASE WHEN ol_delivery_d IS NULL THEN 0 ELSE 1 END FROM order_line \
             WHERE ol_o_id > 2900 ORDER BY ol_d_id, ol_o_id, ol_number",
            cents("ol_amount")
        ),
        "SELECT s_i_id, s_quantity, s_ytd, s_order_cnt, s_remote_cnt FROM stock \
         WHERE s_order_cnt > 0 ORDER BY s_i_id"
            .into(),
    ]
}

/// Numbers without what databases print behind their point.
fn plain(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(number) => number.to_string(),
        Err(_) => text.trim_end().to_owned(),
    }
}

fn one_warehouse(mode: TxnMode) -> Workload {
    Workload::Tpcc(Tpcc { mode, ..ONE })
}

/// Procedures and statements take turns, where there are both.
fn outcome(engine: Engine, transactions: u32) -> Outcome {
    let shared = Shared::get(engine);
    let _turn = shared.turn();
    let place = shared.other("as_on_sqlite");
    let loaded = place.load(
        &one_warehouse(TxnMode::Statements),
        IfOther::Replace,
        &LoadControl::default(),
    );
    loaded.unwrap();
    let modes = engine.modes().iter();
    let mut users: Vec<User> = modes
        .map(|&mode| place.user(&one_warehouse(mode)))
        .collect();
    let mut source = Source::new(&one_warehouse(TxnMode::Statements), 11, 0, 0);
    let mut outcome = Outcome {
        committed: 0,
        rolled_back: 0,
        rows: Vec::new(),
    };
    for number in 0..transactions as usize {
        let turn = number % users.len();
        match users[turn].run(&source.next()).unwrap() {
            TxnEnd::Committed => outcome.committed += 1,
            TxnEnd::RolledBack => outcome.rolled_back += 1,
        }
    }
    let mut client = place.client();
    let queries = queries(engine).into_iter();
    outcome.rows = queries.map(|sql| lines(&mut client, &sql)).collect();
    outcome
}

fn lines(client: &mut Client, sql: &str) -> Vec<String> {
    let rows = client.texts(sql).into_iter();
    rows.map(|row| {
        let plain: Vec<String> = row.iter().map(|text| plain(text)).collect();
        plain.join(" ")
    })
    .collect()
}

pub fn as_on_sqlite(kind: ServerKind) {
    /// The same for every server.
    static ON_SQLITE: OnceLock<Outcome> = OnceLock::new();
    let transactions = std::env::var("PLIMSOLL_TEST_TRANSACTIONS")
        .map_or(TRANSACTIONS, |number| number.parse().unwrap());
    let expected = ON_SQLITE.get_or_init(|| outcome(Engine::Sqlite, transactions));
    let found = outcome(Engine::Server(kind), transactions);
    assert_eq!(
        (found.committed, found.rolled_back),
        (expected.committed, expected.rolled_back)
    );
    assert!(found.rolled_back > 0, "unused items");
    for (found, expected) in found.rows.iter().zip(&expected.rows) {
        assert_eq!(found.len(), expected.len());
        for (own, theirs) in found.iter().zip(expected) {
            assert_eq!(own, theirs);
        }
    }
}
