//! The server itself: sessions that it ends, its log, deadlocks, types, who may enter.

use plimsoll_plan::resolved::ServerKind;

use super::*;
use crate::engine::contract::sysbench::{SMALL, Tables};
use crate::engine::contract::transactions::digest;
use crate::engine::sql::clean;
use crate::error::LoadError;

/// Asks again and again until the answer is yes.
async fn until(client: &Client, question: &str) {
    let clock = Clock::real();
    while !one::<bool>(client, question).await {
        assert!(clock.now() < Nanos::from_secs(60), "never true: {question}");
        clock.sleep(Nanos::from_millis(20)).await;
    }
}

/// On a runtime that goes on meanwhile, as a lane's does.
#[test]
fn a_killed_connection_is_lost_with_the_reason() {
    let shared = Shared::get(POSTGRES);
    let _turn = shared.turn();
    block_on(async {
        let client = client(&shared).await;
        let level = stock_level();
        // Only the session of this test: others use the server at the same time.
        let conninfo =
            conninfo(&shared).replace("application_name=plimsoll", "application_name=killed");
        let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE $1 AND application_name = 'killed'";
        for (mode, last) in [
            (TxnMode::Procedures, "SELECT plimsoll_stock_level%"),
            (TxnMode::Statements, "COMMIT%"),
        ] {
            let session = WorkSession::open(&conninfo, SCHEMA, &tpcc(mode)).await;
            let mut session: WorkSession<PostgresSession> = session.unwrap();
            session.run(&level).await.unwrap();
            assert!(client.execute(kill, &[&last]).await.unwrap() >= 1);
            let lost = session.run(&level).await;
            let reason = "terminating connection due to administrator command";
            assert!(
                matches!(&lost, Err(SessionError::Lost(why)) if why.contains(reason)),
                "{mode:?} {lost:?}"
            );
        }
    });
}

#[test]
fn a_session_that_the_server_ended_is_lost_with_the_reason() {
    let shared = Shared::get(POSTGRES);
    let _turn = shared.turn();
    block_on(async {
        let client = client(&shared).await;
        let conninfo = conninfo(&shared).replace(
            "options='",
            "options='-c idle_in_transaction_session_timeout=2000 ",
        );
        let conninfo = conninfo.replace("application_name=plimsoll", "application_name=idle");
        let work = SessionWork::new(&tpcc(TxnMode::Statements));
        let session = PostgresSession::connect(&conninfo, SCHEMA, &work).await;
        let mut session = session.unwrap();
        session.begin(TxnAccess::Write).await.unwrap();
        let district = [Param::Int(1), Param::Int(6)];
        session
            .query(TpccStmt::NextOrderNumber, &district)
            .await
            .unwrap();
        until(
            &client,
            "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'idle')",
        )
        .await;
        let lost = session.query(TpccStmt::NextOrderNumber, &district).await;
        assert!(
            matches!(&lost, Err(SessionError::Lost(why)) if why.contains("25P03")),
            "{lost:?}"
        );
    });
}

/// One New-Order in a hundred is rolled back by an error that the function raises: its lines in the log would be writes
/// on the medium that is measured.
#[test]
fn rollbacks_are_not_logged_and_what_matters_is() {
    let shared = Shared::get(POSTGRES);
    let _turn = shared.turn();
    let log = || {
        std::fs::read_to_string(
            shared
                .server()
                .process()
                .data_dir()
                .parent()
                .unwrap()
                .join("postgres.log"),
        )
        .unwrap()
    };
    block_on(async {
        let mut session = session(&shared, TxnMode::Procedures).await;
        assert_eq!(
            session
                .run(&new_order(&[(1, 1, 1), (UNUSED_ITEM, 1, 1)]))
                .await,
            Ok(TxnEnd::RolledBack)
        );
        let client = client(&shared).await;
        let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE query LIKE 'SELECT plimsoll_new_order%' AND pid <> pg_backend_pid()";
        client.batch_execute(kill).await.unwrap();
        let fatal = "FATAL:  terminating connection due to administrator command";
        assert!(
            crate::scratch::wait_until(60, || log().contains(fatal)),
            "{}",
            log()
        );
        assert!(!log().contains("item number is not valid"), "{}", log());
    });
}

#[test]
fn a_deadlock_may_be_tried_again() {
    let shared = Shared::get(POSTGRES);
    let _turn = shared.turn();
    let before = digest(&mut shared.place().client());
    block_on(async {
        let (client, gate) = (client(&shared).await, client(&shared).await);
        let lock = |item: i32| {
            format!("SELECT FROM stock WHERE s_w_id = 1 AND s_i_id = {item} FOR UPDATE")
        };
        // A waiter checks for a deadlock once, after this time, and is the victim if there is one: the user shall be.
        client
            .batch_execute("SET deadlock_timeout = '60s'")
            .await
            .unwrap();
        let pid: i32 = one(&client, "SELECT pg_backend_pid()").await;
        let user_waits = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid)))";
        let client_waits =
            format!("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pid = {pid})");
        for mode in MODES {
            let mut session = session(&shared, mode).await;
            client
                .batch_execute(&format!("BEGIN; {}", lock(20)))
                .await
                .unwrap();
            gate.batch_execute(&format!("BEGIN; {}", lock(15)))
                .await
                .unwrap();
            let lines = [(10, 1, 1), (15, 1, 1), (20, 1, 1)];
            let user =
                tokio::task::spawn_local(async move { session.run(&new_order(&lines)).await });
            // The user now holds item 10 and waits at the gate, however long it takes until the client waits for that
            // item. Only then the user goes on to item 20, which closes the circle before the check.
            until(&gate, user_waits).await;
            let item_10 = lock(10);
            let open_gate = async {
                until(&gate, &client_waits).await;
                gate.batch_execute("ROLLBACK").await.unwrap();
            };
            let (locked, ()) = tokio::join!(client.batch_execute(&item_10), open_gate);
            locked.unwrap();
            let end = user.await.unwrap();
            assert!(
                matches!(&end, Err(SessionError::Retry(why)) if why.contains("40P01")),
                "{mode:?} {end:?}"
            );
            client.batch_execute("ROLLBACK").await.unwrap();
        }
    });
    assert_eq!(digest(&mut shared.place().client()), before);
}

#[test]
fn values_survive_the_server() {
    let shared = Shared::get(POSTGRES);
    let _turn = shared.turn();
    block_on(async {
        let mut session = session(&shared, TxnMode::Procedures).await;
        let sql = "SELECT $1::numeric(12,2), $1::numeric(12,2)::text, $2::numeric(14,2), $3::smallint, $4::integer, $5::bigint,
            $6::text, $7::varchar(9), $8::char(4), $9::timestamptz, ($9::timestamptz AT TIME ZONE 'UTC')::text,
            0.1234::numeric(4,4), NULL::integer, coalesce(sum(i_price), 0) FROM item WHERE i_id < 0";
        for cents in [
            0,
            1,
            -1,
            10,
            99,
            100,
            123_456,
            -9_999_999_999,
            1_000_000,
            30_000_000,
        ] {
            let params = [
                Param::Cents(cents),
                Param::Int(cents / 100),
                Param::Int(-7),
                Param::Int(70_000),
                Param::Int(1 << 40),
                Param::Text("ä"),
                Param::Text("b"),
                Param::Text("c"),
                Param::Int(1_000_000),
            ];
            let rows = session.connection.rows_of(sql, &params).await.unwrap();
            let sign = if cents < 0 { "-" } else { "" };
            let text = format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100);
            let expected = [
                Value::Cents(cents),
                Value::Text(text),
                Value::Cents(cents / 100 * 100),
                Value::Int(-7),
                Value::Int(70_000),
                Value::Int(1 << 40),
                Value::Text("ä".into()),
                Value::Text("b".into()),
                Value::Text("c   ".into()),
                Value::Int(1_000_000),
                Value::Text("1970-01-01 00:00:01".into()),
                Value::Rate(1234),
                Value::Null,
                Value::Cents(0),
            ];
            assert_eq!(rows, [expected]);
        }
        let nan = session
            .connection
            .rows_of("SELECT 'NaN'::numeric", &[])
            .await;
        let why = nan.unwrap_err().text;
        assert!(
            why.contains("cannot be read: NUMERIC is not a finite number"),
            "{why}"
        );
        let text = [Param::Text("x")];
        let wrong = session
            .connection
            .rows_of("SELECT $1::integer", &text)
            .await;
        assert!(wrong.is_err(), "a text is no integer");
    });
}

#[test]
fn a_refused_user_gets_the_next_step() {
    let shared = Shared::get(POSTGRES);
    block_on(async {
        let client = client(&shared).await;
        let hba = shared.server().process().data_dir().join("pg_hba.conf");
        std::fs::write(
            &hba,
            "local all guarded scram-sha-256\nlocal all barred reject\nlocal all all trust\n",
        )
        .unwrap();
        client
            .batch_execute(
                "CREATE ROLE guarded LOGIN PASSWORD 'right'; CREATE ROLE barred LOGIN; CREATE ROLE plain LOGIN;
                 SELECT pg_reload_conf(); SELECT pg_sleep(0.3)",
            )
            .await
            .unwrap();
        let at = |user: &str, more: &str| {
            // Only a superuser may set what is logged.
            let conninfo = conninfo(&shared).replace(" options='-c log_min_messages=log'", "");
            conninfo.replace("user=plimsoll", &format!("user={user}")) + more
        };
        connect(&at("guarded", " password=right")).await.unwrap();
        let error = connect(&at("guarded", " password=wr0ng"))
            .await
            .unwrap_err();
        assert!(
            matches!(&error, LoadError::Refused { next, .. } if next.contains("PGPASSWORD")),
            "{error}"
        );
        assert!(!error.to_string().contains("wr0ng"));
        let error = connect(&at("guarded", "")).await.unwrap_err();
        assert!(
            matches!(&error, LoadError::Refused { next, .. } if next.contains("PGPASSWORD")),
            "{error}"
        );
        let error = connect(&at("barred", "")).await.unwrap_err();
        assert!(
            matches!(&error, LoadError::Refused { next, .. } if next.contains("pg_hba.conf")),
            "{error}"
        );
        let error = connect(&conninfo(&shared).replace("dbname=postgres", "dbname=none"))
            .await
            .unwrap_err();
        assert!(
            matches!(&error, LoadError::Missing { next, .. } if next.contains("createdb none")),
            "{error}"
        );
        let target = Target {
            conninfo: at("plain", "").into(),
            schema: "newschema".into(),
            ..shared.target()
        };
        let error = target
            .load(
                &Workload::Tpcc(TPCC),
                1,
                IfOther::Replace,
                &LoadControl::default(),
            )
            .unwrap_err();
        assert!(
            matches!(&error, LoadError::Refused { next, .. } if next.contains("GRANT")),
            "{error}"
        );
    });
}

/// A marker or table of a role that this one is no member of is another's, even for a superuser.
#[test]
fn tables_of_another_role_are_not_removed() {
    let tables = Tables::of_server(ServerKind::Postgres, "of_another_role");
    tables.load(&SMALL, IfOther::Refuse).unwrap();
    let mut client = tables.place.client();
    client.execute("CREATE ROLE stranger");
    for table in ["plimsoll_sysbench", "sbtest2"] {
        client.execute(&format!("ALTER TABLE {table} OWNER TO stranger"));
        let refusals = [
            clean::clean(tables.target()).map(drop),
            tables.target().forget(),
            tables.load(&SMALL, IfOther::Replace).map(drop),
        ];
        for refused in refusals {
            let text = refused.unwrap_err().to_string();
            assert!(
                text.contains(&format!(
                    "Table {table} in schema of_another_role is not known to be plimsoll's"
                )) && text.contains("belongs to the role stranger"),
                "{text}"
            );
        }
        client.execute(&format!("ALTER TABLE {table} OWNER TO CURRENT_USER"));
    }
    client.execute("GRANT stranger TO CURRENT_USER");
    for table in ["plimsoll_sysbench", "sbtest1", "sbtest2"] {
        client.execute(&format!("ALTER TABLE {table} OWNER TO stranger"));
    }
    assert_eq!(clean::clean(tables.target()).unwrap().names.len(), 3);
    client.execute("DROP ROLE stranger");
}

/// A trigger on the marker would run as whoever cleans.
#[test]
fn a_marker_with_a_trigger_is_not_changed() {
    let tables = Tables::of_server(ServerKind::Postgres, "marker_with_trigger");
    tables.load(&SMALL, IfOther::Refuse).unwrap();
    let mut client = tables.place.client();
    client.execute(
        "CREATE FUNCTION as_whoever_cleans() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'ran'; END $$;
         CREATE TRIGGER ran BEFORE UPDATE ON plimsoll_sysbench EXECUTE FUNCTION as_whoever_cleans()",
    );
    let text = clean::clean(tables.target()).unwrap_err().to_string();
    assert!(text.contains("has rules or triggers"), "{text}");
}
