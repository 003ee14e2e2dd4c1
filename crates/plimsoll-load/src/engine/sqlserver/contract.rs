//! What the contract needs of SQL Server's SQL.

use crate::engine::contract::server_sql::ContractSql;

pub(super) static CONTRACT: ContractSql = ContractSql {
    age: "DATEDIFF(SECOND, {column}, SYSUTCDATETIME())",
    count_indexes:
        "SELECT count(*) FROM sys.indexes i JOIN sys.objects o ON o.object_id = i.object_id
        WHERE o.type = 'U' AND i.type > 0",
    // Babelfish finds no database whose name has its mark around names.
    odd_schema: "cut `off by' \\",
    qualified: "{schema}.dbo.{table}",
    copy_table: None,
    // While a session has just ended there it is in use.
    drop_part: None,
    create_procedure: "CREATE PROCEDURE plimsoll_delivery AS SELECT 'mine'",
    call_procedure: "EXEC plimsoll_delivery",
    stock_level: "EXEC plimsoll_stock_level 1, 2, 15",
    parts_of_others: &[],
    kill: "KILL {id}",
    rename: "EXEC sp_rename '{from}', '{to}', 'OBJECT'",
    // An identity cannot be changed.
    change_id: "SET IDENTITY_INSERT sbtest2 ON; INSERT INTO sbtest2 (id, k, c, pad)
        SELECT 501, k, c, pad FROM sbtest2 WHERE id = 5;
        SET IDENTITY_INSERT sbtest2 OFF; DELETE FROM sbtest2 WHERE id = 5",
    shows_sizes: false,
    sysbench: None,
};
