//! What the transactions leave in the database, in both modes and with many users.

use super::*;

/// Clause 2.4: one line local, one remote, one item twice.
#[test]
fn a_new_order_does_what_the_specification_wants() {
    let shared = Shared::get();
    let _turn = shared.turn();
    let mut client = shared.client();
    let stock = "SELECT s_w_id, s_i_id, s_quantity, s_ytd, s_order_cnt, s_remote_cnt FROM stock
        WHERE (s_w_id, s_i_id) IN ((1, 100), (2, 200), (1, 300)) ORDER BY 1, 2";
    for mode in MODES {
        client
            .query_drop("UPDATE stock SET s_quantity = 20 WHERE s_i_id IN (100, 200, 300)")
            .unwrap();
        let before = texts(&mut client, stock);
        let id: i32 = one(
            &mut client,
            "SELECT d_next_o_id FROM district WHERE d_w_id = 1 AND d_id = 3",
        );
        let input = new_order(&[(300, 1, 4), (100, 1, 10), (200, 2, 3), (100, 1, 5)]);
        assert_eq!(
            run(&mut shared.session(mode), &input),
            Ok(TxnEnd::Committed),
            "{mode:?}"
        );
        let after = texts(&mut client, stock);
        let change = |row: usize, column: usize| {
            let number = |rows: &[Vec<String>]| rows[row][column].parse::<i64>().unwrap();
            number(&after) - number(&before)
        };
        // 20 − 10 = 10; then 10 − 5 is below 10, so + 91. Item 200 is of another warehouse.
        assert_eq!(
            [0, 1, 2].map(|row| change(row, 2)),
            [76, -4, -3],
            "{mode:?} s_quantity"
        );
        assert_eq!(
            [0, 1, 2].map(|row| change(row, 3)),
            [15, 4, 3],
            "{mode:?} s_ytd"
        );
        assert_eq!(
            [0, 1, 2].map(|row| change(row, 4)),
            [2, 1, 1],
            "{mode:?} s_order_cnt"
        );
        assert_eq!(
            [0, 1, 2].map(|row| change(row, 5)),
            [0, 0, 1],
            "{mode:?} s_remote_cnt"
        );
        let lines = format!(
            "SELECT ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_delivery_d IS NULL,
               ol_amount = ol_quantity * i_price AND ol_dist_info = s_dist_03
             FROM order_line JOIN item ON i_id = ol_i_id JOIN stock ON s_w_id = ol_supply_w_id AND s_i_id = i_id
             WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = {id} ORDER BY 1"
        );
        let lines: Vec<String> = texts(&mut client, &lines)
            .iter()
            .map(|row| row.join(" "))
            .collect();
        assert_eq!(
            lines,
            [
                "1 300 1 4 1 1",
                "2 100 1 10 1 1",
                "3 200 2 3 1 1",
                "4 100 1 5 1 1"
            ],
            "{mode:?}"
        );
        let header = format!(
            "SELECT o_c_id, o_carrier_id, o_ol_cnt, o_all_local, no_o_id IS NOT NULL,
               TIMESTAMPDIFF(SECOND, o_entry_d, UTC_TIMESTAMP(6)) < 60
             FROM orders LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
             WHERE o_w_id = 1 AND o_d_id = 3 AND o_id = {id}"
        );
        assert_eq!(
            texts(&mut client, &header),
            [["7", "NULL", "4", "0", "1", "1"]],
            "{mode:?}"
        );
    }
    // What the procedure gives back, computed again.
    let given = "CALL plimsoll_new_order(1, 3, 7, 2, 1, '01000005000001020200000600000103')";
    let given = &texts(&mut client, given)[0];
    let total = format!(
        "SELECT CAST(sum(ol_amount) * (1 - c_discount) * (1 + w_tax + d_tax) AS decimal(12,2)), c_last
         FROM order_line, warehouse, district, customer
         WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = {} AND w_id = 1 AND d_w_id = 1 AND d_id = 3
           AND c_w_id = 1 AND c_d_id = 3 AND c_id = 7 GROUP BY c_discount, w_tax, d_tax, c_last",
        given[0]
    );
    assert_eq!(
        texts(&mut client, &total),
        [[given[2].clone(), given[3].clone()]]
    );
    assert_eq!(given[8].matches('|').count(), 12, "{given:?}");
    shared.assert_consistent();
}

#[test]
fn an_order_with_an_unused_item_leaves_no_trace() {
    let shared = Shared::get();
    let _turn = shared.turn();
    let mut client = shared.client();
    let before = digest(&mut client);
    for mode in MODES {
        let mut session = shared.session(mode);
        let input = new_order(&[
            (1, 1, 1),
            (1, 1, 2),
            (2, 2, 3),
            (4, 1, 1),
            (UNUSED_ITEM, 1, 1),
        ]);
        assert_eq!(
            run(&mut session, &input),
            Ok(TxnEnd::RolledBack),
            "{mode:?}"
        );
        // The session is fit for the next one.
        let status = input::OrderStatus {
            warehouse: 1,
            district: 1,
            customer: CustomerBy::Id(1),
        };
        let status = Input::Tpcc(input::Input::OrderStatus(status));
        assert_eq!(
            run(&mut session, &status),
            Ok(TxnEnd::Committed),
            "{mode:?}"
        );
        let order_status = input::OrderStatus {
            warehouse: 1,
            district: 1,
            customer: CustomerBy::Id(9_999),
        };
        let order_status = run(
            &mut session,
            &Input::Tpcc(input::Input::OrderStatus(order_status)),
        );
        assert!(
            matches!(&order_status, Err(SessionError::Failed(why)) if why.contains("not loaded")),
            "{mode:?} {order_status:?}"
        );
    }
    assert_eq!(digest(&mut client), before);
}

/// Clause 2.5: by number and by name, with good and bad credit.
#[test]
fn a_payment_does_what_the_specification_wants() {
    let shared = Shared::get();
    let _turn = shared.turn();
    let mut client = shared.client();
    // Position n/2 rounded up: the second of three and of four.
    let bearers = |client: &mut Conn, n: i32| {
        let sql = format!(
            "SELECT c_last, GROUP_CONCAT(c_id ORDER BY c_first) FROM customer WHERE c_w_id = 2 AND c_d_id = 5
             GROUP BY 1 HAVING count(*) = {n} LIMIT 1"
        );
        let row = texts(client, &sql).remove(0);
        let second = row[1].split(',').nth(1).unwrap().parse::<i32>().unwrap();
        (row[0].clone(), second)
    };
    let (three, second_of_three) = bearers(&mut client, 3);
    let (four, second_of_four) = bearers(&mut client, 4);
    for mode in MODES {
        for (customer, id, credit) in [
            (CustomerBy::Id(11), 11, "GC"),
            (CustomerBy::Id(11), 11, "BC"),
            (CustomerBy::LastName(three.clone()), second_of_three, "BC"),
            (CustomerBy::LastName(four.clone()), second_of_four, "GC"),
        ] {
            let row = format!("c_w_id = 2 AND c_d_id = 5 AND c_id = {id}");
            client
                .query_drop(format!(
                    "UPDATE customer SET c_credit = '{credit}' WHERE {row}"
                ))
                .unwrap();
            let sums = format!(
                "SELECT c_balance + c_ytd_payment, c_ytd_payment, c_payment_cnt, c_data, w_ytd, d_ytd,
                   (SELECT count(*) FROM history) FROM customer, warehouse, district
                 WHERE {row} AND w_id = 1 AND d_w_id = 1 AND d_id = 9"
            );
            let before = texts(&mut client, &sums).remove(0);
            let payment = input::Payment {
                warehouse: 1,
                district: 9,
                customer_warehouse: 2,
                customer_district: 5,
                customer,
                amount_cents: 123_456,
            };
            let payment = Input::Tpcc(input::Input::Payment(payment));
            assert_eq!(
                run(&mut shared.session(mode), &payment),
                Ok(TxnEnd::Committed),
                "{mode:?}"
            );
            let after = texts(&mut client, &sums).remove(0);
            let number = |text: &str| text.replace('.', "").parse::<i64>().unwrap();
            let changes = [0, 1, 2, 4, 5, 6].map(|i| number(&after[i]) - number(&before[i]));
            assert_eq!(
                changes,
                [0, 123_456, 1, 123_456, 123_456, 1],
                "{mode:?} {credit}"
            );
            let data = match credit {
                "BC" => format!("{id} 5 2 9 1 1234.56|{}", before[3])
                    .chars()
                    .take(500)
                    .collect(),
                _ => before[3].clone(),
            };
            assert_eq!(after[3], data, "{mode:?} {credit}");
            let history = "SELECT h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_amount,
                   h_data = w_name || '    ' || d_name
                 FROM history JOIN district ON d_w_id = h_w_id AND d_id = h_d_id JOIN warehouse ON w_id = d_w_id
                 ORDER BY h_date DESC LIMIT 1";
            let expected = [&id.to_string(), "5", "2", "9", "1", "1234.56", "1"];
            assert_eq!(texts(&mut client, history), [expected], "{mode:?}");
        }
    }
    shared.assert_consistent();
}

/// Clauses 2.6 to 2.8.
#[test]
fn deliveries_take_the_oldest_orders_and_readers_read() {
    let shared = Shared::get();
    let _turn = shared.turn();
    let mut client = shared.client();
    let oldest =
        "SELECT no_d_id, min(no_o_id) FROM new_order WHERE no_w_id = 1 GROUP BY 1 ORDER BY 1";
    for mode in MODES {
        let mut session = shared.session(mode);
        let before = texts(&mut client, oldest);
        assert_eq!(before.len(), 10);
        let delivery = Input::Tpcc(input::Input::Delivery(input::Delivery {
            warehouse: 1,
            carrier: 8,
        }));
        assert_eq!(
            run(&mut session, &delivery),
            Ok(TxnEnd::Committed),
            "{mode:?}"
        );
        let after = texts(&mut client, oldest);
        for (was, is) in before.iter().zip(&after) {
            let (district, order) = (&was[0], was[1].parse::<i32>().unwrap());
            assert_eq!(
                is[1],
                (order + 1).to_string(),
                "{mode:?} district {district}"
            );
            let delivered = format!(
                "SELECT o_carrier_id, min(TIMESTAMPDIFF(SECOND, ol_delivery_d, UTC_TIMESTAMP(6)) < 60),
                   count(*) = o_ol_cnt, c_delivery_cnt > 0
                 FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
                 JOIN customer ON c_w_id = o_w_id AND c_d_id = o_d_id AND c_id = o_c_id
                 WHERE o_w_id = 1 AND o_d_id = {district} AND o_id = {order} GROUP BY 1, o_ol_cnt, c_delivery_cnt"
            );
            assert_eq!(
                texts(&mut client, &delivered),
                [["8", "1", "1", "1"]],
                "{mode:?} district {district}"
            );
        }
        let level = input::StockLevel {
            warehouse: 1,
            district: 2,
            threshold: 15,
        };
        assert_eq!(
            run(&mut session, &Input::Tpcc(input::Input::StockLevel(level))),
            Ok(TxnEnd::Committed)
        );
        for customer in [CustomerBy::Id(5), CustomerBy::LastName("BARBARBAR".into())] {
            let status = input::OrderStatus {
                warehouse: 2,
                district: 2,
                customer,
            };
            assert_eq!(
                run(
                    &mut session,
                    &Input::Tpcc(input::Input::OrderStatus(status))
                ),
                Ok(TxnEnd::Committed)
            );
        }
    }
    let low = "SELECT count(DISTINCT s_i_id) FROM stock WHERE s_w_id = 1 AND s_quantity < 15 AND s_i_id IN
        (SELECT ol_i_id FROM order_line JOIN district ON d_w_id = ol_w_id AND d_id = ol_d_id
         WHERE ol_w_id = 1 AND ol_d_id = 2 AND ol_o_id BETWEEN d_next_o_id - 20 AND d_next_o_id - 1)";
    assert_eq!(
        texts(&mut client, "CALL plimsoll_stock_level(1, 2, 15)"),
        texts(&mut client, low)
    );
    shared.assert_consistent();
}

/// A few hundred transactions of four users in each mode; what they report is what the database holds.
#[test]
fn concurrent_users_keep_the_database_consistent() {
    let shared = Shared::get();
    let _turn = shared.turn();
    for mode in MODES {
        let mut client = shared.client();
        let taken = "SELECT CAST(sum(d_next_o_id) AS SIGNED) FROM district";
        let before: i64 = one(&mut client, taken);
        let user = |user: u32| {
            let tpcc = Tpcc {
                warehouses: 2,
                mode,
                home: Home::Fixed,
            };
            let mut generator = Generator::new(7, 0, user, &tpcc);
            let mut session = shared.session(mode);
            let (mut orders, mut rolled_back) = (0, 0);
            for _ in 0..150 {
                let input = Input::Tpcc(generator.next());
                let mut end = run(&mut session, &input);
                while matches!(end, Err(SessionError::Retry(_))) {
                    end = run(&mut session, &input);
                }
                match end.unwrap() {
                    TxnEnd::Committed => orders += i64::from(input.txn() == 0),
                    TxnEnd::RolledBack => rolled_back += 1,
                }
            }
            (orders, rolled_back, session.take_round_trips())
        };
        let (mut orders, mut rolled_back, mut round_trips) = (0, 0, 0);
        std::thread::scope(|scope| {
            let users: Vec<_> = (0..4).map(|n| scope.spawn(move || user(n))).collect();
            for user in users {
                let (o, r, t) = user.join().unwrap();
                (orders, rolled_back, round_trips) = (orders + o, rolled_back + r, round_trips + t);
            }
        });
        assert_eq!(one::<i64>(&mut client, taken) - before, orders, "{mode:?}");
        assert!(orders > 200 && rolled_back < 20, "{orders} {rolled_back}");
        match mode {
            TxnMode::Procedures => assert!((600..700).contains(&round_trips), "{round_trips}"),
            TxnMode::Statements => assert!(round_trips > 600 * 10, "{round_trips}"),
        }
        shared.assert_consistent();
    }
}

/// Deliveries of one warehouse at the same time: each order once, no order left behind.
#[test]
fn concurrent_deliveries_never_take_an_order_twice() {
    let shared = Shared::get();
    let _turn = shared.turn();
    for mode in MODES {
        let mut client = shared.client();
        let waiting = "SELECT count(*) FROM new_order WHERE no_w_id = 2";
        let before: i64 = one(&mut client, waiting);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut session = shared.session(mode);
                    let delivery = Input::Tpcc(input::Input::Delivery(input::Delivery {
                        warehouse: 2,
                        carrier: 1,
                    }));
                    for _ in 0..10 {
                        while let Err(error) = run(&mut session, &delivery) {
                            assert!(matches!(error, SessionError::Retry(_)), "{error:?}");
                        }
                    }
                });
            }
        });
        assert_eq!(
            before - one::<i64>(&mut client, waiting),
            4 * 10 * 10,
            "{mode:?}"
        );
        shared.assert_consistent();
    }
}
