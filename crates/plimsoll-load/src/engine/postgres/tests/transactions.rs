//! What the transactions leave in the database, in both modes and with many users.

use super::*;

/// Clause 2.4: one line local, one remote, one item twice.
#[test]
#[expect(clippy::too_many_lines, reason = "one scenario, step by step")]
fn a_new_order_does_what_the_specification_wants() {
    let shared = Shared::get();
    let _turn = shared.turn();
    block_on(async {
        let client = shared.client().await;
        let stock = "SELECT s_w_id, s_i_id, s_quantity, s_ytd, s_order_cnt, s_remote_cnt FROM stock
            WHERE (s_w_id, s_i_id) IN ((1, 100), (2, 200), (1, 300)) ORDER BY 1, 2";
        for mode in MODES {
            client
                .batch_execute("UPDATE stock SET s_quantity = 20 WHERE s_i_id IN (100, 200, 300)")
                .await
                .unwrap();
            let before = texts(&client, stock).await;
            let id: i32 = one(
                &client,
                "SELECT d_next_o_id FROM district WHERE d_w_id = 1 AND d_id = 3",
            )
            .await;
            let mut session = shared.session(mode).await;
            let input = new_order(&[(300, 1, 4), (100, 1, 10), (200, 2, 3), (100, 1, 5)]);
            assert_eq!(session.run(&input).await, Ok(TxnEnd::Committed));
            let after = texts(&client, stock).await;
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
            let lines: Vec<String> = texts(&client, &lines)
                .await
                .iter()
                .map(|row| row.join(" "))
                .collect();
            assert_eq!(
                lines,
                [
                    "1 300 1 4 t t",
                    "2 100 1 10 t t",
                    "3 200 2 3 t t",
                    "4 100 1 5 t t"
                ],
                "{mode:?}"
            );
            let header = format!(
                "SELECT o_c_id, o_carrier_id, o_ol_cnt, o_all_local, no_o_id IS NOT NULL, now() - o_entry_d < '1 minute'
                 FROM orders LEFT JOIN new_order ON (no_w_id, no_d_id, no_o_id) = (o_w_id, o_d_id, o_id)
                 WHERE o_w_id = 1 AND o_d_id = 3 AND o_id = {id}"
            );
            assert_eq!(
                texts(&client, &header).await,
                [["7", "NULL", "4", "0", "t", "t"]],
                "{mode:?}"
            );
        }
        // What the function gives back, computed again.
        let call = "BEGIN; CREATE TEMP TABLE f ON COMMIT DROP AS
               SELECT * FROM plimsoll_new_order(1, 3, 7, '{5,6}', '{1,1}', '{2,3}');
             SELECT total = sum(ol_amount) * (1 - c_discount) * (1 + w_tax + d_tax)
               FROM f, order_line, warehouse, district, customer
               WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = order_id AND w_id = 1 AND d_w_id = 1 AND d_id = 3
                 AND c_w_id = 1 AND c_d_id = 3 AND c_id = 7 GROUP BY total, c_discount, w_tax, d_tax;
             ROLLBACK";
        assert_eq!(texts(&client, call).await, [["t"]]);
        // Lines as the terminal shows them, an item twice; brand only where item and stock both have it.
        let call = "BEGIN; UPDATE item SET i_data = 'anORIGINALitem' WHERE i_id IN (5, 6);
             UPDATE item SET i_data = 'x' WHERE i_id = 8;
             UPDATE stock SET s_data = CASE s_i_id WHEN 6 THEN 'x' ELSE 'ORIGINAL' END WHERE s_i_id IN (5, 6, 8);
             CREATE TEMP TABLE f ON COMMIT DROP AS
               SELECT * FROM plimsoll_new_order(1, 3, 7, '{5,6,8,5}', '{1,1,1,1}', '{2,3,1,4}');
             SELECT n, brand, name = i_name, price = i_price, amount = ol_amount, ol_i_id,
                 last_name = c_last AND discount = c_discount AND entered_at = now()
               FROM f, unnest(numbers, brands, names, prices, amounts) AS l (n, brand, name, price, amount),
                 order_line, item, customer
               WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = order_id AND ol_number = n AND i_id = ol_i_id
                 AND c_w_id = 1 AND c_d_id = 3 AND c_id = 7 ORDER BY n;
             ROLLBACK";
        let lines: Vec<String> = texts(&client, call)
            .await
            .iter()
            .map(|row| row.join(" "))
            .collect();
        assert_eq!(
            lines,
            [
                "1 B t t t 5 t",
                "2 G t t t 6 t",
                "3 G t t t 8 t",
                "4 B t t t 5 t"
            ]
        );
    });
}

#[test]
fn what_only_reads_sees_one_snapshot_and_writes_nothing() {
    let shared = Shared::get();
    let _turn = shared.turn();
    block_on(async {
        let client = shared.client().await;
        let mut session = shared.session(TxnMode::Statements).await;
        session.begin(false).await.unwrap();
        let district = [Param::Int(1), Param::Int(6)];
        let before = session
            .query(Stmt::NextOrderNumber, &district)
            .await
            .unwrap();
        let change = |by: &str| {
            format!(
                "UPDATE district SET d_next_o_id = d_next_o_id {by} WHERE d_w_id = 1 AND d_id = 6"
            )
        };
        client.batch_execute(&change("+ 1")).await.unwrap();
        assert_eq!(
            session
                .query(Stmt::NextOrderNumber, &district)
                .await
                .unwrap(),
            before
        );
        client.batch_execute(&change("- 1")).await.unwrap();
        let written = session.query(Stmt::TakeOrderNumber, &district).await;
        assert!(
            matches!(&written, Err(SessionError::Failed(why)) if why.contains("read-only")),
            "{written:?}"
        );
        session.rollback().await.unwrap();
        assert_eq!(session.take_round_trips(), 4);
    });
}

/// Clause 2.5.2.2 wants the rows, and an index could do without them.
#[test]
fn customers_found_by_name_are_really_read() {
    let shared = Shared::get();
    let _turn = shared.turn();
    block_on(async {
        let client = shared.client().await;
        client.batch_execute("VACUUM customer").await.unwrap();
        let bearers = "SELECT c_last, count(*) FROM customer WHERE c_w_id = 2 AND c_d_id = 2
            GROUP BY 1 ORDER BY 2 DESC LIMIT 1";
        let row = client.query_one(bearers, &[]).await.unwrap();
        let (name, bearers): (String, i64) = (row.get(0), row.get(1));
        assert!(bearers > 1);
        for call in [
            format!("plimsoll_order_status(2, 2, NULL, '{name}')"),
            format!("plimsoll_payment(1, 1, 2, 2, NULL, '{name}', 1)"),
        ] {
            // Counts of earlier transactions may be pending still.
            let fetched =
                "SELECT coalesce(sum(idx_tup_fetch), 0)::bigint FROM pg_stat_xact_user_tables
                WHERE relid = 'customer'::regclass";
            client.batch_execute("BEGIN").await.unwrap();
            let before: i64 = one(&client, fetched).await;
            client
                .batch_execute(&format!("SELECT {call}"))
                .await
                .unwrap();
            let fetched = one::<i64>(&client, fetched).await - before;
            client.batch_execute("ROLLBACK").await.unwrap();
            assert_eq!(fetched, bearers + 1, "{call}");
        }
        let shown = "BEGIN; SELECT p.customer[3] = c_last AND p.customer[10] = c_credit AND p.since = c_since
              AND p.balance = c_balance AND p.warehouse_address[3] = w_city AND p.district_address[5] = d_zip
            FROM customer, warehouse, district, plimsoll_payment(1, 1, 2, 2, 5, NULL, 0) AS p
            WHERE (c_w_id, c_d_id, c_id) = (2, 2, 5) AND w_id = 1 AND (d_w_id, d_id) = (1, 1); ROLLBACK";
        assert_eq!(texts(&client, shown).await, [["t"]]);
    });
}

/// A function of the same name and other arguments is the user's.
#[test]
fn loading_again_drops_no_foreign_function() {
    let shared = Shared::get();
    let _turn = shared.turn();
    block_on(async {
        let client = shared.client().await;
        let theirs = "DROP FUNCTION plimsoll_delivery(integer, integer);
            CREATE FUNCTION plimsoll_delivery(text) RETURNS text LANGUAGE sql AS 'SELECT $1'";
        client.batch_execute(theirs).await.unwrap();
        let control = LoadControl::default();
        assert_eq!(
            load(
                &shared.conninfo(),
                SCHEMA,
                POPULATION,
                IfOther::Refuse,
                &control
            )
            .unwrap(),
            Loaded::Reused
        );
        assert_eq!(
            one::<String>(&client, "SELECT plimsoll_delivery('theirs'::text)").await,
            "theirs"
        );
        client
            .batch_execute("DROP FUNCTION plimsoll_delivery(text)")
            .await
            .unwrap();
    });
}

#[test]
fn an_order_with_an_unused_item_leaves_no_trace() {
    let shared = Shared::get();
    let _turn = shared.turn();
    block_on(async {
        let client = shared.client().await;
        let before = digest(&client).await;
        for mode in MODES {
            let mut session = shared.session(mode).await;
            let input = new_order(&[
                (1, 1, 1),
                (1, 1, 2),
                (2, 2, 3),
                (4, 1, 1),
                (UNUSED_ITEM, 1, 1),
            ]);
            assert_eq!(
                session.run(&input).await,
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
                session.run(&status).await,
                Ok(TxnEnd::Committed),
                "{mode:?}"
            );
        }
        assert_eq!(digest(&client).await, before);
    });
}

/// Clause 2.5: by number and by name, with good and bad credit.
#[test]
fn a_payment_does_what_the_specification_wants() {
    let shared = Shared::get();
    let _turn = shared.turn();
    block_on(async {
        let client = shared.client().await;
        // Position n/2 rounded up: the second of three and of four.
        let bearers = |n: i32| {
            format!(
                "SELECT c_last, array_agg(c_id ORDER BY c_first) FROM customer WHERE c_w_id = 2 AND c_d_id = 5
                 GROUP BY 1 HAVING count(*) = {n} LIMIT 1"
            )
        };
        let three = client.query_one(&bearers(3), &[]).await.unwrap();
        let four = client.query_one(&bearers(4), &[]).await.unwrap();
        let (three, second_of_three) = (three.get::<_, String>(0), three.get::<_, Vec<i32>>(1)[1]);
        let (four, second_of_four) = (four.get::<_, String>(0), four.get::<_, Vec<i32>>(1)[1]);
        for mode in MODES {
            for (customer, id, credit) in [
                (CustomerBy::Id(11), 11, "GC"),
                (CustomerBy::Id(11), 11, "BC"),
                (CustomerBy::LastName(three.clone()), second_of_three, "BC"),
                (CustomerBy::LastName(four.clone()), second_of_four, "GC"),
            ] {
                let row = format!("c_w_id = 2 AND c_d_id = 5 AND c_id = {id}");
                let set = format!("UPDATE customer SET c_credit = '{credit}' WHERE {row}");
                client.batch_execute(&set).await.unwrap();
                let sums = format!(
                    "SELECT c_balance + c_ytd_payment, c_ytd_payment, c_payment_cnt, c_data, w_ytd, d_ytd,
                       (SELECT count(*) FROM history) FROM customer, warehouse, district
                     WHERE {row} AND w_id = 1 AND d_w_id = 1 AND d_id = 9"
                );
                let before = &texts(&client, &sums).await[0];
                let payment = input::Payment {
                    warehouse: 1,
                    district: 9,
                    customer_warehouse: 2,
                    customer_district: 5,
                    customer,
                    amount_cents: 123_456,
                };
                let mut session = shared.session(mode).await;
                let payment = Input::Tpcc(input::Input::Payment(payment));
                assert_eq!(session.run(&payment).await, Ok(TxnEnd::Committed));
                let after = &texts(&client, &sums).await[0];
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
                     FROM history JOIN district ON (d_w_id, d_id) = (h_w_id, h_d_id) JOIN warehouse ON w_id = d_w_id
                     ORDER BY h_date DESC LIMIT 1";
                let expected = [&id.to_string(), "5", "2", "9", "1", "1234.56", "t"];
                assert_eq!(texts(&client, history).await, [expected], "{mode:?}");
            }
        }
    });
    shared.assert_consistent();
}

/// Clauses 2.6 to 2.8.
#[test]
fn deliveries_take_the_oldest_orders_and_readers_read() {
    let shared = Shared::get();
    let _turn = shared.turn();
    block_on(async {
        let client = shared.client().await;
        let oldest =
            "SELECT no_d_id, min(no_o_id) FROM new_order WHERE no_w_id = 1 GROUP BY 1 ORDER BY 1";
        for mode in MODES {
            let mut session = shared.session(mode).await;
            let before = texts(&client, oldest).await;
            assert_eq!(before.len(), 10);
            let delivery = Input::Tpcc(input::Input::Delivery(input::Delivery {
                warehouse: 1,
                carrier: 8,
            }));
            assert_eq!(session.run(&delivery).await, Ok(TxnEnd::Committed));
            let after = texts(&client, oldest).await;
            for (was, is) in before.iter().zip(&after) {
                let (district, order) = (&was[0], was[1].parse::<i32>().unwrap());
                assert_eq!(
                    is[1],
                    (order + 1).to_string(),
                    "{mode:?} district {district}"
                );
                let delivered = format!(
                    "SELECT o_carrier_id, bool_and(now() - ol_delivery_d < '1 minute'),
                       count(*) = o_ol_cnt, c_delivery_cnt > 0
                     FROM orders JOIN order_line ON (ol_w_id, ol_d_id, ol_o_id) = (o_w_id, o_d_id, o_id)
                     JOIN customer ON (c_w_id, c_d_id, c_id) = (o_w_id, o_d_id, o_c_id)
                     WHERE o_w_id = 1 AND o_d_id = {district} AND o_id = {order} GROUP BY 1, o_ol_cnt, c_delivery_cnt"
                );
                assert_eq!(
                    texts(&client, &delivered).await,
                    [["8", "t", "t", "t"]],
                    "{mode:?} district {district}"
                );
            }
            let level = input::StockLevel {
                warehouse: 1,
                district: 2,
                threshold: 15,
            };
            assert_eq!(
                session
                    .run(&Input::Tpcc(input::Input::StockLevel(level)))
                    .await,
                Ok(TxnEnd::Committed)
            );
            for customer in [CustomerBy::Id(5), CustomerBy::LastName("BARBARBAR".into())] {
                let status = input::OrderStatus {
                    warehouse: 2,
                    district: 2,
                    customer,
                };
                assert_eq!(
                    session
                        .run(&Input::Tpcc(input::Input::OrderStatus(status)))
                        .await,
                    Ok(TxnEnd::Committed)
                );
            }
        }
        let level = "SELECT plimsoll_stock_level(1, 2, 15) = (SELECT count(DISTINCT s_i_id) FROM stock WHERE s_w_id = 1
              AND s_quantity < 15 AND s_i_id IN (SELECT ol_i_id FROM order_line JOIN district
                ON d_w_id = ol_w_id AND d_id = ol_d_id WHERE ol_w_id = 1 AND ol_d_id = 2
                AND ol_o_id BETWEEN d_next_o_id - 20 AND d_next_o_id - 1))";
        assert!(one::<bool>(&client, level).await);
        let status = "SELECT s.order_id = o_id AND s.last_name = c_last AND s.balance = c_balance
                AND cardinality(s.items) = o_ol_cnt AND cardinality(s.delivered) = o_ol_cnt
                AND (SELECT sum(a) FROM unnest(s.amounts) AS a) = (SELECT sum(ol_amount) FROM order_line
                WHERE (ol_w_id, ol_d_id, ol_o_id) = (o_w_id, o_d_id, o_id))
              FROM plimsoll_order_status(2, 2, 5, NULL) AS s, orders, customer
              WHERE o_w_id = 2 AND o_d_id = 2 AND o_c_id = 5 AND (c_w_id, c_d_id, c_id) = (2, 2, 5)
              ORDER BY o_id DESC LIMIT 1";
        assert!(one::<bool>(&client, status).await);
    });
    shared.assert_consistent();
}

/// A few hundred transactions of four users in each mode; what they report is what the database holds.
#[test]
fn concurrent_users_keep_the_database_consistent() {
    let shared = Shared::get();
    let _turn = shared.turn();
    for mode in MODES {
        block_on(async {
            let client = shared.client().await;
            let taken = "SELECT sum(d_next_o_id) FROM district";
            let before: i64 = one(&client, taken).await;
            let user = |user: u32| {
                let shared = shared.clone();
                async move {
                    let tpcc = Tpcc {
                        warehouses: 2,
                        mode,
                        home: Home::Fixed,
                    };
                    let mut generator = Generator::new(7, 0, user, &tpcc);
                    let mut session = shared.session(mode).await;
                    let (mut orders, mut rolled_back) = (0, 0);
                    for _ in 0..150 {
                        let input = Input::Tpcc(generator.next());
                        let mut end = session.run(&input).await;
                        while matches!(end, Err(SessionError::Retry(_))) {
                            end = session.run(&input).await;
                        }
                        match end.unwrap() {
                            TxnEnd::Committed => orders += i64::from(input.txn() == 0),
                            TxnEnd::RolledBack => rolled_back += 1,
                        }
                    }
                    (orders, rolled_back, session.take_round_trips())
                }
            };
            let users: Vec<_> = (0..4).map(|u| tokio::task::spawn_local(user(u))).collect();
            let (mut orders, mut rolled_back, mut round_trips) = (0, 0, 0);
            for user in users {
                let (o, r, t) = user.await.unwrap();
                (orders, rolled_back, round_trips) = (orders + o, rolled_back + r, round_trips + t);
            }
            assert_eq!(
                one::<i64>(&client, taken).await - before,
                orders,
                "{mode:?}"
            );
            assert!(orders > 200 && rolled_back < 20, "{orders} {rolled_back}");
            match mode {
                TxnMode::Procedures => assert!((600..650).contains(&round_trips), "{round_trips}"),
                TxnMode::Statements => assert!(round_trips > 600 * 10, "{round_trips}"),
            }
        });
        shared.assert_consistent();
    }
}

/// Deliveries of one warehouse at the same time: each order once, no order left behind.
#[test]
fn concurrent_deliveries_never_take_an_order_twice() {
    let shared = Shared::get();
    let _turn = shared.turn();
    for mode in MODES {
        block_on(async {
            let client = shared.client().await;
            let waiting = "SELECT count(*) FROM new_order WHERE no_w_id = 2";
            let before: i64 = one(&client, waiting).await;
            let users: Vec<_> = (0..4)
                .map(|_| {
                    let shared = shared.clone();
                    tokio::task::spawn_local(async move {
                        let mut session = shared.session(mode).await;
                        let delivery = input::Delivery {
                            warehouse: 2,
                            carrier: 1,
                        };
                        let delivery = Input::Tpcc(input::Input::Delivery(delivery));
                        for _ in 0..10 {
                            while let Err(error) = session.run(&delivery).await {
                                assert!(matches!(error, SessionError::Retry(_)), "{error:?}");
                            }
                        }
                    })
                })
                .collect();
            for user in users {
                user.await.unwrap();
            }
            assert_eq!(
                before - one::<i64>(&client, waiting).await,
                4 * 10 * 10,
                "{mode:?}"
            );
        });
        shared.assert_consistent();
    }
}
