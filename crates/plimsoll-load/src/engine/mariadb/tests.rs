//! What is MariaDB's own, against a real server.

use plimsoll_plan::resolved::{ManagedKind, Script, Sysbench, Tpcc, TxnMode, Workload};

use super::client::MariadbClient;
use crate::engine::LoadControl;
use crate::engine::contract::sysbench::{SMALL, Tables};
use crate::engine::contract::transactions::digest;
use crate::engine::contract::{
    MARIADB, Shared, TPCC, User, contract_of_managed_servers, new_order,
};
use crate::engine::server::{IfOther, MANAGED_SCHEMA, Target};
use crate::error::LoadError;
use crate::session::{SessionError, TxnEnd};
use crate::workload::sysbench::input::Operation;
use crate::workload::{Input, Source};

contract_of_managed_servers!(ManagedKind::Mariadb);

#[test]
fn an_encrypted_connection_is_a_connection_like_any_other() {
    contract::encryption::encrypted(ManagedKind::Mariadb)
}

const MODES: [TxnMode; 2] = [TxnMode::Procedures, TxnMode::Statements];

fn conninfo(shared: &Shared) -> String {
    shared.target().conninfo.to_string()
}

fn connection(shared: &Shared) -> MariadbClient {
    MariadbClient::connect_to(&conninfo(shared), MANAGED_SCHEMA).unwrap()
}

fn user_of(shared: &Shared, mode: TxnMode) -> User {
    shared.place().user(&Workload::Tpcc(Tpcc { mode, ..TPCC }))
}

#[test]
fn a_deadlock_and_a_long_wait_may_be_tried_again() {
    let shared = Shared::get(MARIADB);
    let _turn = shared.turn();
    let mut client = connection(&shared);
    let before = digest(&mut shared.place().client());
    let lock = |item: i32| {
        format!("SELECT s_ytd FROM stock WHERE s_w_id = 1 AND s_i_id = {item} FOR UPDATE")
    };
    for mode in MODES {
        let opener = shared
            .place()
            .opener(&Workload::Tpcc(Tpcc { mode, ..TPCC }));
        client.query("BEGIN").unwrap();
        // Whoever has changed less is the victim: the user has three rows to lose, so this one needs more.
        client
            .query("UPDATE stock SET s_ytd = s_ytd + 1 WHERE s_w_id = 2 AND s_i_id < 100")
            .unwrap();
        client.query(&lock(20)).unwrap();
        let user = std::thread::spawn(move || {
            let mut session = User::open(&opener, 0).unwrap();
            session.run(&new_order(&[(10, 1, 1), (20, 1, 1)]))
        });
        // The user now holds item 10 and waits for item 20.
        let mut watcher = connection(&shared);
        let waiting =
            "SELECT count(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'";
        let user_waits = || {
            // The server refreshes this view only when it was not read for a tenth of a second.
            std::thread::sleep(std::time::Duration::from_millis(200));
            let waits = watcher.results(waiting).unwrap().concat();
            waits[0].get::<i64>(0).unwrap() > 0
        };
        assert!(crate::scratch::wait_until(60, user_waits));
        client.query(&lock(10)).unwrap();
        let end = user.join().unwrap();
        assert!(
            matches!(&end, Err(SessionError::Retry(why)) if why.contains("1213")),
            "{mode:?} {end:?}"
        );
        client.query("ROLLBACK").unwrap();

        let mut session = user_of(&shared, mode);
        session.set("SET innodb_lock_wait_timeout = 1");
        client.query("BEGIN").unwrap();
        client.query(&lock(20)).unwrap();
        let end = session.run(&new_order(&[(10, 1, 1), (20, 1, 1)]));
        assert!(
            matches!(&end, Err(SessionError::Retry(why)) if why.contains("1205")),
            "{mode:?} {end:?}"
        );
        client.query("ROLLBACK").unwrap();
    }
    assert_eq!(digest(&mut shared.place().client()), before);
}

#[test]
fn a_refused_user_gets_the_next_step() {
    let shared = Shared::get(MARIADB);
    let mut client = connection(&shared);
    for sql in [
        "CREATE USER guarded@localhost IDENTIFIED BY 'right'",
        "CREATE USER plain@localhost",
        "GRANT SELECT ON plimsoll.* TO plain@localhost",
    ] {
        client.query(sql).unwrap();
    }
    let at = |user: &str| conninfo(&shared).replace("root@", &format!("{user}@"));
    MariadbClient::connect(&at("guarded:right")).unwrap();
    for wrong in ["guarded:wr0ng", "guarded"] {
        let error = MariadbClient::connect(&at(wrong)).err().unwrap();
        assert!(
            matches!(&error, LoadError::Refused { next, .. } if next.contains("MYSQL_PWD")),
            "{error}"
        );
        assert!(!error.to_string().contains("wr0ng"), "{error}");
    }
    let target = Target {
        conninfo: at("plain").into(),
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
}

/// Computed again.
#[test]
fn the_new_order_procedure_gives_back_what_the_terminal_shows() {
    let shared = Shared::get(MARIADB);
    let _turn = shared.turn();
    let mut client = shared.place().client();
    let given = "CALL plimsoll_new_order(1, 3, 7, 2, 1, '01000005000001020200000600000103')";
    let given = &client.texts(given)[0];
    let total = format!(
        "SELECT CAST(sum(ol_amount) * (1 - c_discount) * (1 + w_tax + d_tax) AS decimal(12,2)), c_last
         FROM order_line, warehouse, district, customer
         WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = {} AND w_id = 1 AND d_w_id = 1 AND d_id = 3
           AND c_w_id = 1 AND c_d_id = 3 AND c_id = 7 GROUP BY c_discount, w_tax, d_tax, c_last",
        given[0]
    );
    assert_eq!(client.texts(&total), [[given[2].clone(), given[3].clone()]]);
    assert_eq!(given[8].matches('|').count(), 12, "{given:?}");
    shared.place().assert_consistent();
}

/// What was done before it is undone, and the session is fit for the next one.
#[test]
fn a_long_wait_is_rolled_back_as_a_whole_and_may_be_tried_again() {
    let sbtest = Tables::new(MARIADB, "sysbench_waits");
    let sysbench = Sysbench {
        script: Script::WriteOnly,
        tables: 1,
        ..SMALL
    };
    sbtest.load(&sysbench, IfOther::Refuse).unwrap();
    let sums = "SELECT CAST(sum(k) AS SIGNED) FROM sbtest1";
    let mut client = sbtest.place.client();
    let before = client.number(sums);
    let mut session = sbtest.user(&sysbench);
    session.set("SET innodb_lock_wait_timeout = 1");
    let input = Source::new(&Workload::Sysbench(sysbench), 7, 0, 0).next();
    let Input::Sysbench(ref operations) = input else {
        unreachable!()
    };
    let Operation::Insert { id, .. } = operations.operations[3] else {
        panic!("{operations:?}")
    };
    client.execute("BEGIN");
    client.execute(&format!("SELECT 1 FROM sbtest1 WHERE id = {id} FOR UPDATE"));
    let end = session.run(&input);
    assert!(
        matches!(&end, Err(SessionError::Retry(why)) if why.contains("1205")),
        "{end:?}"
    );
    client.execute("ROLLBACK");
    assert_eq!(client.number(sums), before);
    assert_eq!(session.run(&input), Ok(TxnEnd::Committed));
    sbtest.assert_holds(&sysbench);
}

/// The error of innodb_snapshot_isolation, raised by a trigger: older servers do not have that setting.
#[test]
fn a_row_changed_since_the_snapshot_may_be_tried_again() {
    let sbtest = Tables::new(MARIADB, "sysbench_snapshot");
    sbtest.load(&SMALL, IfOther::Refuse).unwrap();
    let raise =
        "SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1020, MESSAGE_TEXT = 'Record has changed'";
    let trigger = format!("CREATE TRIGGER changed BEFORE UPDATE ON sbtest1 FOR EACH ROW {raise}");
    sbtest.place.client().execute(&trigger);
    let sysbench = Sysbench {
        script: Script::UpdateIndex,
        tables: 1,
        ..SMALL
    };
    let input = Source::new(&Workload::Sysbench(sysbench), 7, 0, 0).next();
    let end = sbtest.user(&sysbench).run(&input);
    assert!(
        matches!(&end, Err(SessionError::Retry(why)) if why.contains("1020")),
        "{end:?}"
    );
}
