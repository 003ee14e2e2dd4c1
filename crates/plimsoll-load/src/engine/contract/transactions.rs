//! What the transactions leave in the database, in both modes and with many users.

use super::*;
use crate::workload::tpcc::generator::{TpccGenerator, UNUSED_ITEM};
use crate::workload::tpcc::rows::TpccTable;

/// A digest of what a New-Order changes: rows, and the columns of those that it updates.
pub fn digest(client: &mut Client) -> Vec<String> {
    let names = TpccTable::ALL.iter().map(|table| table.name());
    names
        .map(|name| format!("SELECT count(*), {} FROM {name}", sums(name)))
        .map(|sql| client.lines(&sql).concat())
        .collect()
}

/// Of the columns that a New-Order changes.
fn sums(table: &str) -> &'static str {
    match table {
        "district" => "sum(d_next_o_id)",
        "stock" => "sum(s_ytd), sum(s_quantity), sum(s_order_cnt), sum(s_remote_cnt)",
        _ => "0",
    }
}

/// Clause 2.4: one line local, one remote, one item twice.
pub fn new_order_rows(engine: Engine) {
    let shared = Shared::get(engine);
    let _turn = shared.turn();
    let mut client = shared.place().client();
    let stock = "SELECT s_quantity, s_ytd, s_order_cnt, s_remote_cnt FROM stock
        WHERE s_w_id = 1 AND s_i_id IN (100, 300) OR s_w_id = 2 AND s_i_id = 200 ORDER BY s_w_id, s_i_id";
    for &mode in engine.modes() {
        client.execute("UPDATE stock SET s_quantity = 20 WHERE s_i_id IN (100, 200, 300)");
        let before = numbers(&mut client, stock);
        let order = client.number("SELECT d_next_o_id FROM district WHERE d_w_id = 1 AND d_id = 3");
        let input = new_order(&[(300, 1, 4), (100, 1, 10), (200, 2, 3), (100, 1, 5)]);
        assert_eq!(
            shared.user(mode).run(&input),
            Ok(TxnEnd::Committed),
            "{mode:?}"
        );
        let after = numbers(&mut client, stock);
        let change = |column: usize| [0, 1, 2].map(|row| after[row][column] - before[row][column]);
        // 20 − 10 = 10; then 10 − 5 is below 10, so + 91. Item 200 is of another warehouse.
        assert_eq!(change(0), [76, -4, -3], "{mode:?} s_quantity");
        assert_eq!(change(1), [15, 4, 3], "{mode:?} s_ytd");
        assert_eq!(change(2), [2, 1, 1], "{mode:?} s_order_cnt");
        assert_eq!(change(3), [0, 0, 1], "{mode:?} s_remote_cnt");
        order_and_lines(engine, &mut client, order);
    }
    shared.place().assert_consistent();
}

fn order_and_lines(engine: Engine, client: &mut Client, order: i64) {
    let lines = format!(
        "SELECT ol_number, ol_i_id, ol_supply_w_id, ol_quantity, {}, {}
         FROM order_line JOIN item ON i_id = ol_i_id JOIN stock ON s_w_id = ol_supply_w_id AND s_i_id = i_id
         WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = {order} ORDER BY 1",
        truth("ol_delivery_d IS NULL"),
        truth("ol_amount = ol_quantity * i_price AND ol_dist_info = s_dist_03")
    );
    let expected = [
        "1 300 1 4 1 1",
        "2 100 1 10 1 1",
        "3 200 2 3 1 1",
        "4 100 1 5 1 1",
    ];
    assert_eq!(client.lines(&lines), expected);
    let header = format!(
        "SELECT o_c_id, o_carrier_id, o_ol_cnt, o_all_local, {}, {}
         FROM orders LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
         WHERE o_w_id = 1 AND o_d_id = 3 AND o_id = {order}",
        truth("no_o_id IS NOT NULL"),
        truth(&format!("{} < 60", engine.age("o_entry_d")))
    );
    assert_eq!(client.lines(&header), ["7 NULL 4 0 1 1"]);
}

fn numbers(client: &mut Client, sql: &str) -> Vec<Vec<i64>> {
    let number = |text: &String| text.replace('.', "").parse().unwrap();
    let rows = client.texts(sql);
    rows.iter()
        .map(|row| row.iter().map(number).collect())
        .collect()
}

pub fn unused_item(engine: Engine) {
    let shared = Shared::get(engine);
    let _turn = shared.turn();
    let mut client = shared.place().client();
    let before = digest(&mut client);
    for &mode in engine.modes() {
        let mut user = shared.user(mode);
        let input = new_order(&[
            (1, 1, 1),
            (1, 1, 2),
            (2, 2, 3),
            (4, 1, 1),
            (UNUSED_ITEM, 1, 1),
        ]);
        assert_eq!(user.run(&input), Ok(TxnEnd::RolledBack), "{mode:?}");
        // The session is fit for the next one.
        let status = order_status(CustomerBy::Id(1));
        assert_eq!(user.run(&status), Ok(TxnEnd::Committed), "{mode:?}");
        let nobody = user.run(&order_status(CustomerBy::Id(9_999)));
        assert!(
            matches!(nobody, Err(SessionError::Failed(_))),
            "{mode:?} {nobody:?}"
        );
    }
    assert_eq!(digest(&mut client), before);
}

/// A customer of warehouse 2, district 5.
struct Bearer {
    name: String,
    /// Of the second by first name.
    id: i64,
}

impl Bearer {
    /// Of a last name that so many have.
    fn of(client: &mut Client, number: u32) -> Self {
        let names = format!(
            "SELECT c_last FROM customer WHERE c_w_id = 2 AND c_d_id = 5 GROUP BY c_last HAVING count(*) = {number}"
        );
        let name = client.column(&names).remove(0);
        let ids = format!(
            "SELECT c_id FROM customer WHERE c_w_id = 2 AND c_d_id = 5 AND c_last = '{name}' ORDER BY c_first"
        );
        let id = client.column(&ids)[1].parse().unwrap();
        Self { name, id }
    }

    fn by_name(&self) -> CustomerBy {
        CustomerBy::LastName(self.name.clone())
    }
}

/// Clause 2.5: by number and by name, with good and bad credit.
pub fn payment_rows(engine: Engine) {
    let shared = Shared::get(engine);
    let _turn = shared.turn();
    let mut client = shared.place().client();
    // Position n/2 rounded up: the second of three and of four.
    let three = Bearer::of(&mut client, 3);
    let four = Bearer::of(&mut client, 4);
    for &mode in engine.modes() {
        let mut user = shared.user(mode);
        for (customer, id, credit) in [
            (CustomerBy::Id(11), 11, "GC"),
            (CustomerBy::Id(11), 11, "BC"),
            (three.by_name(), three.id, "BC"),
            (four.by_name(), four.id, "GC"),
        ] {
            let amount = engine.amount(123_456);
            pay(
                &mut client,
                &mut user,
                customer,
                Paid {
                    id,
                    credit,
                    amount: &amount,
                },
            );
        }
    }
    shared.place().assert_consistent();
}

/// The customer's row, and the amount as the database prints it.
struct Paid<'a> {
    id: i64,
    credit: &'a str,
    amount: &'a str,
}

fn pay(client: &mut Client, user: &mut User, customer: CustomerBy, paid: Paid<'_>) {
    let Paid { id, credit, amount } = paid;
    let row = format!("c_w_id = 2 AND c_d_id = 5 AND c_id = {id}");
    client.execute(&format!(
        "UPDATE customer SET c_credit = '{credit}' WHERE {row}"
    ));
    let sums = format!(
        "SELECT c_balance + c_ytd_payment, c_ytd_payment, c_payment_cnt, w_ytd, d_ytd,
           (SELECT count(*) FROM history) FROM customer, warehouse, district
         WHERE {row} AND w_id = 1 AND d_w_id = 1 AND d_id = 9"
    );
    let data = format!("SELECT c_data FROM customer WHERE {row}");
    let before = numbers(client, &sums).concat();
    let data_before = client.column(&data).concat();
    let payment = input::Payment {
        warehouse: 1,
        district: 9,
        customer_warehouse: 2,
        customer_district: 5,
        customer,
        amount_cents: 123_456,
    };
    let payment = Input::Tpcc(input::TpccInput::Payment(payment));
    assert_eq!(user.run(&payment), Ok(TxnEnd::Committed));
    let changes: Vec<i64> = numbers(client, &sums)
        .concat()
        .iter()
        .zip(&before)
        .map(|(after, before)| after - before)
        .collect();
    assert_eq!(changes, [0, 123_456, 1, 123_456, 123_456, 1], "{credit}");
    let expected = match credit {
        "BC" => format!("{id} 5 2 9 1 1234.56|{data_before}")
            .chars()
            .take(500)
            .collect(),
        _ => data_before,
    };
    assert_eq!(client.column(&data).concat(), expected, "{credit}");
    let history = format!(
        "SELECT h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_amount, {}
         FROM history JOIN district ON d_w_id = h_w_id AND d_id = h_d_id JOIN warehouse ON w_id = d_w_id
         WHERE h_date = (SELECT max(h_date) FROM history)",
        truth("h_data = concat(w_name, '    ', d_name)")
    );
    assert_eq!(client.lines(&history), [format!("{id} 5 2 9 1 {amount} 1")]);
}

/// Clauses 2.6 to 2.8.
pub fn delivery_rows(engine: Engine) {
    let shared = Shared::get(engine);
    let _turn = shared.turn();
    let mut client = shared.place().client();
    let oldest =
        "SELECT no_d_id, min(no_o_id) FROM new_order WHERE no_w_id = 1 GROUP BY no_d_id ORDER BY 1";
    for &mode in engine.modes() {
        let mut user = shared.user(mode);
        let before = numbers(&mut client, oldest);
        assert_eq!(before.len(), 10);
        assert_eq!(user.run(&delivery(1)), Ok(TxnEnd::Committed), "{mode:?}");
        let after = numbers(&mut client, oldest);
        for (was, is) in before.iter().zip(&after) {
            let district = was[0];
            let order = was[1];
            assert_eq!(is[1], order + 1, "{mode:?} district {district}");
            let delivered = format!(
                "SELECT o_carrier_id, {}, {}, {}
                 FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
                 JOIN customer ON c_w_id = o_w_id AND c_d_id = o_d_id AND c_id = o_c_id
                 WHERE o_w_id = 1 AND o_d_id = {district} AND o_id = {order} GROUP BY o_carrier_id, o_ol_cnt, c_delivery_cnt",
                truth(&format!("max({}) < 60", engine.age("ol_delivery_d"))),
                truth("count(*) = o_ol_cnt"),
                truth("c_delivery_cnt > 0")
            );
            assert_eq!(
                client.lines(&delivered),
                ["8 1 1 1"],
                "{mode:?} district {district}"
            );
        }
        let by_name = order_status(CustomerBy::LastName("BARBARBAR".into()));
        for input in [stock_level(), order_status(CustomerBy::Id(5)), by_name] {
            assert_eq!(user.run(&input), Ok(TxnEnd::Committed));
        }
    }
    let low = "SELECT count(DISTINCT s_i_id) FROM stock WHERE s_w_id = 1 AND s_quantity < 15 AND s_i_id IN
        (SELECT ol_i_id FROM order_line JOIN district ON d_w_id = ol_w_id AND d_id = ol_d_id
         WHERE ol_w_id = 1 AND ol_d_id = 2 AND ol_o_id BETWEEN d_next_o_id - 20 AND d_next_o_id - 1)";
    let call = match engine {
        Engine::Sqlite => low,
        Engine::Server(kind) => server_sql(kind).stock_level,
    };
    assert_eq!(client.texts(call), client.texts(low));
    shared.place().assert_consistent();
}

/// What a user's transactions came to.
#[derive(Default)]
struct Ends {
    orders: i64,
    rolled_back: u64,
    round_trips: u64,
}

/// A few hundred transactions of four users in each mode; what they report is what the database holds.
pub fn concurrent_users(engine: Engine) {
    let shared = Shared::get(engine);
    let _turn = shared.turn();
    let mut client = shared.place().client();
    let taken = "SELECT sum(d_next_o_id) FROM district";
    for &mode in engine.modes() {
        let before = client.number(taken);
        let mut ends = Ends::default();
        for one in users(&shared, mode, |user, number| work(user, number, mode)) {
            ends.orders += one.orders;
            ends.rolled_back += one.rolled_back;
            ends.round_trips += one.round_trips;
        }
        assert_eq!(client.number(taken) - before, ends.orders, "{mode:?}");
        assert!(
            ends.orders > 200 && ends.rolled_back < 20,
            "{}",
            ends.orders
        );
        let trips = ends.round_trips;
        match mode {
            TxnMode::Procedures => assert!((600..700).contains(&trips), "{trips}"),
            TxnMode::Statements => assert!(trips > 600 * 10, "{trips}"),
        }
    }
    shared.place().assert_consistent();
}

fn work(user: &mut User, number: u32, mode: TxnMode) -> Ends {
    let mut generator = TpccGenerator::new(7, 0, number, &Tpcc { mode, ..TPCC });
    let mut ends = Ends::default();
    for _ in 0..150 {
        let input = Input::Tpcc(generator.next());
        match user.insist(&input) {
            TxnEnd::Committed => ends.orders += i64::from(input.txn() == 0),
            TxnEnd::RolledBack => ends.rolled_back += 1,
        }
    }
    ends.round_trips = user.session.take_round_trips();
    ends
}

/// Four users at the same time, of one lane.
fn users<T: Send>(
    shared: &Shared,
    mode: TxnMode,
    work: impl Fn(&mut User, u32) -> T + Sync,
) -> Vec<T> {
    let opener = shared.place().opener(&tpcc(mode));
    std::thread::scope(|scope| {
        let start = |number| {
            let opener = &opener;
            let work = &work;
            scope.spawn(move || work(&mut User::open(opener, number).unwrap(), number))
        };
        let running: Vec<_> = (0..4).map(start).collect();
        let ends = running.into_iter().map(|user| user.join());
        ends.map(Result::unwrap).collect()
    })
}

/// Deliveries of one warehouse at the same time: each order once, no order left behind.
pub fn concurrent_deliveries(engine: Engine) {
    let shared = Shared::get(engine);
    let _turn = shared.turn();
    let mut client = shared.place().client();
    let waiting = "SELECT count(*) FROM new_order WHERE no_w_id = 2";
    for &mode in engine.modes() {
        let before = client.number(waiting);
        users(&shared, mode, |user, _| {
            for _ in 0..10 {
                user.insist(&delivery(2));
            }
        });
        assert_eq!(before - client.number(waiting), 4 * 10 * 10, "{mode:?}");
    }
    shared.place().assert_consistent();
}
