//! PostgreSQL's functions and snapshots; what transactions leave in the tables is in the contract.

use super::*;

/// Computed again, and lines as the terminal shows them, an item twice; brand only where item and stock both have it.
#[test]
fn the_new_order_function_gives_back_what_the_terminal_shows() {
    let shared = Shared::get(POSTGRES);
    let _turn = shared.turn();
    block_on(async {
        let client = client(&shared).await;
        let call = "BEGIN; CREATE TEMP TABLE f ON COMMIT DROP AS
               SELECT * FROM plimsoll_new_order(1, 3, 7, '{5,6}', '{1,1}', '{2,3}');
             SELECT total = sum(ol_amount) * (1 - c_discount) * (1 + w_tax + d_tax)
               FROM f, order_line, warehouse, district, customer
               WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = order_id AND w_id = 1 AND d_w_id = 1 AND d_id = 3
                 AND c_w_id = 1 AND c_d_id = 3 AND c_id = 7 GROUP BY total, c_discount, w_tax, d_tax;
             ROLLBACK";
        assert_eq!(texts(&client, call).await, [["t"]]);
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
fn the_order_status_function_gives_back_the_last_order() {
    let shared = Shared::get(POSTGRES);
    let _turn = shared.turn();
    block_on(async {
        let client = client(&shared).await;
        let status = "SELECT s.order_id = o_id AND s.last_name = c_last AND s.balance = c_balance
                AND cardinality(s.items) = o_ol_cnt AND cardinality(s.delivered) = o_ol_cnt
                AND (SELECT sum(a) FROM unnest(s.amounts) AS a) = (SELECT sum(ol_amount) FROM order_line
                WHERE (ol_w_id, ol_d_id, ol_o_id) = (o_w_id, o_d_id, o_id))
              FROM plimsoll_order_status(2, 2, 5, NULL) AS s, orders, customer
              WHERE o_w_id = 2 AND o_d_id = 2 AND o_c_id = 5 AND (c_w_id, c_d_id, c_id) = (2, 2, 5)
              ORDER BY o_id DESC LIMIT 1";
        assert!(one::<bool>(&client, status).await);
    });
}

#[test]
fn what_only_reads_sees_one_snapshot_and_writes_nothing() {
    let shared = Shared::get(POSTGRES);
    let _turn = shared.turn();
    block_on(async {
        let client = client(&shared).await;
        let mut session = session(&shared, TxnMode::Statements).await.connection;
        session.begin(TxnAccess::ReadSnapshot).await.unwrap();
        let district = [Param::Int(1), Param::Int(6)];
        let before = session
            .query(TpccStmt::NextOrderNumber, &district)
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
                .query(TpccStmt::NextOrderNumber, &district)
                .await
                .unwrap(),
            before
        );
        client.batch_execute(&change("- 1")).await.unwrap();
        let written = session.query(TpccStmt::TakeOrderNumber, &district).await;
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
    let shared = Shared::get(POSTGRES);
    let _turn = shared.turn();
    block_on(async {
        let client = client(&shared).await;
        client.batch_execute("VACUUM customer").await.unwrap();
        let bearers = "SELECT c_last, count(*) FROM customer WHERE c_w_id = 2 AND c_d_id = 2
            GROUP BY 1 ORDER BY 2 DESC LIMIT 1";
        let row = client.query_one(bearers, &[]).await.unwrap();
        let name: String = row.get(0);
        let bearers: i64 = row.get(1);
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
    let shared = Shared::get(POSTGRES);
    let _turn = shared.turn();
    block_on(async {
        let client = client(&shared).await;
        let theirs = "DROP FUNCTION plimsoll_delivery(integer, integer);
            CREATE FUNCTION plimsoll_delivery(text) RETURNS text LANGUAGE sql AS 'SELECT $1'";
        client.batch_execute(theirs).await.unwrap();
        let control = LoadControl::default();
        let target = shared.target();
        let loaded = target.load(&Workload::Tpcc(TPCC), 42, IfOther::Refuse, &control);
        assert_eq!(loaded.unwrap(), Loaded::Reused);
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

/// Statistics are there before anything is measured.
#[test]
fn loaded_tables_are_analyzed() {
    let shared = Shared::get(POSTGRES);
    let analyzed = "SELECT count(*) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
        WHERE nspname = 'plimsoll' AND relkind = 'r' AND relname <> 'plimsoll_load' AND reltuples > 0";
    assert_eq!(shared.place().client().number(analyzed), 9);
}
