//! Where MySQL's SQL is not MariaDB's.

use crate::engine::mariadb;
use crate::engine::sql::{Dialect, OldestServer};

pub static DIALECT: Dialect = Dialect {
    // The optimizer has no such switch, and needs none.
    check_setup: "DO 0",
    oldest: OldestServer {
        product: "MySQL",
        major: 8,
        minor: 0,
        stand_in: None,
    },
    connection_limits: &[
        "SELECT 'max_connections', @@global.max_connections, VARIABLE_VALUE FROM performance_schema.global_status
            WHERE VARIABLE_NAME = 'Threads_connected'",
        mariadb::USER_LIMIT,
    ],
    about: "SELECT CONCAT('MySQL ', version(), ', ', @@version_comment),
        (SELECT CAST(COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0) AS UNSIGNED) FROM information_schema.TABLES)",
    // As MariaDB's: those that are set, and those that decide whether a commit is durable and how the drive is used. What
    // a session sets for itself has the source DYNAMIC, as what was set for all.
    settings: &["SELECT g.VARIABLE_NAME, COALESCE(g.VARIABLE_VALUE, '')
        FROM performance_schema.global_variables g JOIN performance_schema.variables_info i USING (VARIABLE_NAME)
        WHERE (i.VARIABLE_SOURCE NOT IN ('COMPILED', 'COMMAND_LINE', 'DYNAMIC') OR VARIABLE_NAME IN (
            'innodb_buffer_pool_size', 'innodb_doublewrite', 'innodb_flush_log_at_trx_commit', 'innodb_flush_method',
            'innodb_io_capacity', 'innodb_page_size', 'innodb_redo_log_capacity', 'log_bin', 'sync_binlog',
            'transaction_isolation'))
          AND VARIABLE_NAME NOT IN ('datadir', 'socket', 'pid_file', 'tmpdir', 'lc_messages', 'lc_messages_dir',
            'plugin_dir', 'log_error_verbosity')
        ORDER BY 1"],
    ..mariadb::BASE
};
