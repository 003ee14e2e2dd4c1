//! What the contract needs of the SQL of MariaDB and MySQL.

use std::process::Command;

use super::address::MariadbAddress;
use crate::engine::contract::server_sql::{
    CHANGE_ID, ContractSql, PartOfOthers, RENAME, SysbenchDriver,
};
use crate::engine::server::Target;

pub(crate) static CONTRACT: ContractSql = ContractSql {
    age: "TIMESTAMPDIFF(SECOND, {column}, UTC_TIMESTAMP(6))",
    count_indexes:
        "SELECT count(DISTINCT TABLE_NAME, INDEX_NAME) FROM information_schema.STATISTICS
        WHERE TABLE_SCHEMA = 'plimsoll'",
    odd_schema: "cut `off\" by' \\",
    qualified: "{schema}.{table}",
    copy_table: Some("CREATE TABLE {copy} LIKE {name}"),
    drop_part: Some("DROP SCHEMA part"),
    create_procedure: "CREATE PROCEDURE plimsoll_delivery(a int, b int) SELECT 'mine'",
    call_procedure: "CALL plimsoll_delivery(1, 2)",
    stock_level: "CALL plimsoll_stock_level(1, 2, 15)",
    parts_of_others: &[PartOfOthers {
        create: "CREATE TRIGGER mine BEFORE UPDATE ON sbtest1 FOR EACH ROW SET NEW.k = 1",
        drop: "DROP TRIGGER mine",
        name: "trigger dependents.mine",
    }],
    kill: "KILL CONNECTION {id}",
    rename: RENAME,
    change_id: CHANGE_ID,
    shows_sizes: true,
    sysbench: Some(SysbenchDriver {
        connect: connect_sysbench,
        describe: &["SHOW CREATE TABLE sbtest1", "SHOW CREATE TABLE sbtest2"],
        next_id: "ENGINE=InnoDB AUTO_INCREMENT=501",
        matches: "REGEXP",
    }),
};

fn connect_sysbench(program: &mut Command, target: &Target) {
    let address = MariadbAddress::parse(&target.conninfo).unwrap();
    program
        .arg("--db-driver=mysql")
        .arg(format!(
            "--mysql-socket={}",
            address.socket.unwrap().display()
        ))
        .arg(format!("--mysql-user={}", address.user))
        .arg(format!("--mysql-db={}", target.schema));
}
