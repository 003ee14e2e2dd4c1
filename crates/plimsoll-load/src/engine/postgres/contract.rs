//! What the contract needs of PostgreSQL's SQL.

use std::process::Command;

use crate::engine::contract::server_sql::{
    CHANGE_ID, ContractSql, PartOfOthers, RENAME, SysbenchDriver,
};
use crate::engine::server::Target;

pub(super) static CONTRACT: ContractSql = ContractSql {
    age: "extract(epoch FROM now() - {column})",
    count_indexes: "SELECT count(*) FROM pg_indexes WHERE schemaname = 'plimsoll'",
    odd_schema: "cut `off\" by' \\",
    qualified: "{schema}.{table}",
    copy_table: Some("CREATE TABLE {copy} (LIKE plimsoll.{name} INCLUDING ALL)"),
    drop_part: Some("DROP SCHEMA part CASCADE"),
    create_procedure: "CREATE FUNCTION plimsoll_delivery(integer, integer) RETURNS text LANGUAGE sql AS $$ SELECT 'mine' $$",
    call_procedure: "SELECT plimsoll_delivery(1, 2)",
    stock_level: "SELECT plimsoll_stock_level(1, 2, 15)",
    parts_of_others: &[
        PartOfOthers {
            create: "CREATE SEQUENCE mine OWNED BY sbtest1.k",
            drop: "DROP SEQUENCE mine",
            name: "sequence mine",
        },
        PartOfOthers {
            create: "CREATE TRIGGER mine BEFORE UPDATE ON sbtest1 FOR EACH ROW
                EXECUTE PROCEDURE suppress_redundant_updates_trigger()",
            drop: "DROP TRIGGER mine ON sbtest1",
            name: "trigger mine",
        },
        PartOfOthers {
            create: "CREATE POLICY mine ON sbtest1",
            drop: "DROP POLICY mine ON sbtest1",
            name: "policy mine",
        },
        PartOfOthers {
            create: "CREATE PUBLICATION mine FOR TABLE sbtest1",
            drop: "DROP PUBLICATION mine",
            name: "publication mine",
        },
    ],
    kill: "SELECT pg_terminate_backend({id})",
    rename: RENAME,
    change_id: CHANGE_ID,
    shows_sizes: true,
    sysbench: Some(SysbenchDriver {
        connect: connect_sysbench,
        describe: &[
            "SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, character_maximum_length,
               replace(column_default, table_schema || '.', '')) FROM information_schema.columns
             WHERE table_schema = current_schema AND table_name LIKE 'sbtest%' ORDER BY table_name, ordinal_position",
            "SELECT replace(indexdef, schemaname || '.', '') FROM pg_indexes WHERE schemaname = current_schema
             ORDER BY indexname",
            "SELECT sequencename || ' ' || last_value FROM pg_sequences WHERE schemaname = current_schema
             ORDER BY sequencename",
        ],
        next_id: "sbtest1_id_seq 500",
        matches: "~",
    }),
};

fn connect_sysbench(program: &mut Command, target: &Target) {
    let config = super::address::parse(&target.conninfo).unwrap().config;
    let [tokio_postgres::config::Host::Unix(socket)] = config.get_hosts() else {
        panic!("{config:?}")
    };
    program
        .arg("--db-driver=pgsql")
        .arg(format!("--pgsql-host={}", socket.display()))
        .arg("--pgsql-port=5432")
        .arg(format!("--pgsql-user={}", config.get_user().unwrap()))
        .arg(format!("--pgsql-db={}", config.get_dbname().unwrap()))
        .env("PGOPTIONS", format!("-csearch_path={}", target.schema));
}
