//! MariaDB's SQL.

use super::address::MariadbAddress;
use super::client::MariadbClient;
use crate::engine::sql::guard::{self, Use};
use crate::engine::sql::{
    CatalogTypes, Dialect, OldestServer, STANDARD_BOOLEAN, Scripts, SqlClient,
};
use crate::error::LoadError;
use crate::workload::statement::TableSyntax;

/// As sysbench's driver mysql makes its tables.
pub(crate) static TABLE_SYNTAX: TableSyntax = TableSyntax {
    id: "INTEGER NOT NULL AUTO_INCREMENT",
    table_options: " /*! ENGINE = innodb */",
    integer: "SIGNED",
    length: "length",
    next_id: Some("0"),
};

pub static DIALECT: Dialect = BASE;

/// That of the account, or of all accounts; 0 is none.
pub(crate) const USER_LIMIT: &str =
    "SELECT 'max_user_connections', @@session.max_user_connections, COUNT(*)
    FROM information_schema.PROCESSLIST WHERE USER = SUBSTRING_INDEX(CURRENT_USER(), '@', 1)
    HAVING @@session.max_user_connections > 0";

/// What MySQL changes some of.
pub const BASE: Dialect = Dialect {
    table_syntax: &TABLE_SYNTAX,
    connect: |conninfo| Ok(Box::new(MariadbClient::connect(conninfo)?)),
    check_url: |conninfo| MariadbAddress::parse(conninfo).map(drop),
    try_lock: |client, schema, purpose| lock(client, schema, purpose),
    unlock: "DO RELEASE_LOCK(CONCAT('plimsoll ', LEFT(SHA2({schema}, 256), 24), ' door'))",
    quote: '`',
    escapes: true,
    schema_exists: "SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {schema}",
    create_schema: "CREATE DATABASE {name}",
    drop_schema: "DROP DATABASE {name}",
    made_schema: None,
    use_schema: "USE {name}",
    // Tables of other engines may be those of another server. Nothing has an owner.
    relations: "SELECT TABLE_NAME, CASE WHEN TABLE_TYPE = 'BASE TABLE'
            AND ENGINE IN ('InnoDB', 'Aria', 'MyISAM', 'ROCKSDB', 'TokuDB', 'ndbcluster') THEN 1 ELSE 0 END, '', 1
        FROM information_schema.TABLES WHERE TABLE_SCHEMA = {schema} ORDER BY 1",
    columns: "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS
        WHERE TABLE_SCHEMA = {schema} ORDER BY TABLE_NAME, ORDINAL_POSITION",
    routines: "SELECT ROUTINE_NAME, 1, '', 1 FROM information_schema.ROUTINES
        WHERE ROUTINE_SCHEMA = {schema} AND ROUTINE_TYPE = 'PROCEDURE' AND ROUTINE_NAME LIKE 'plimsoll%' ORDER BY 1",
    dependents: &[
        "SELECT REFERENCED_TABLE_NAME, CONCAT('foreign key ', CONSTRAINT_NAME, ' of ', CONSTRAINT_SCHEMA, '.', TABLE_NAME)
        FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE UNIQUE_CONSTRAINT_SCHEMA = {schema} ORDER BY 1, 2",
        // Definitions have full names. A view whose definition this user may not see is not found.
        "SELECT t.TABLE_NAME, CONCAT('view ', v.TABLE_SCHEMA, '.', v.TABLE_NAME)
        FROM information_schema.TABLES t JOIN information_schema.VIEWS v ON LOCATE(CONCAT('`',
            REPLACE(t.TABLE_SCHEMA, '`', '``'), '`.`', t.TABLE_NAME, '`'), v.VIEW_DEFINITION) > 0
        WHERE t.TABLE_SCHEMA = {schema} AND t.TABLE_TYPE = 'BASE TABLE' ORDER BY 1, 2",
        "SELECT EVENT_OBJECT_TABLE, CONCAT('trigger ', TRIGGER_SCHEMA, '.', TRIGGER_NAME)
        FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = {schema} ORDER BY 1, 2",
    ],
    catalog_types: CatalogTypes {
        integer: "int",
        text: "varchar",
        boolean: "tinyint",
        timestamp: "datetime",
    },
    lock_tables: |tables| format!("LOCK TABLES {} WRITE", tables.join(" WRITE, ")),
    tables: "SELECT TABLE_NAME FROM information_schema.TABLES
        WHERE TABLE_SCHEMA = {schema} AND TABLE_TYPE = 'BASE TABLE'",
    table_sizes: "SELECT TABLE_NAME, CAST(COALESCE(DATA_LENGTH + INDEX_LENGTH, 0) AS UNSIGNED)
        FROM information_schema.TABLES WHERE TABLE_SCHEMA = {schema} AND TABLE_TYPE = 'BASE TABLE'",
    shares_schemas: false,
    transactional_tables: false,
    boolean: STANDARD_BOOLEAN,
    timestamp: "datetime(6)",
    now: "UTC_TIMESTAMP(6)",
    now_micros: "SELECT CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)",
    cancel: "KILL QUERY {id}",
    // The sum is no text that ProxySQL answers by itself.
    connection_id: Some("SELECT CONNECTION_ID() + 0"),
    connection_limits: &[
        "SELECT 'max_connections', @@global.max_connections, VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS
            WHERE VARIABLE_NAME = 'THREADS_CONNECTED'",
        USER_LIMIT,
    ],
    pooler_name: |_, client| pooler_name(client),
    analyze: "ANALYZE TABLE {table}",
    // AUTO_INCREMENT goes on behind the largest id by itself.
    continue_ids: None,
    // Every condition reads its tables as a whole. The optimizer would compute the sums anew for each customer: hours
    // instead of seconds.
    check_setup: "SET SESSION optimizer_switch = 'split_materialized=off'",
    words: &[(" AS TEXT)", " AS CHAR)"), (" AS bigint)", " AS SIGNED)")],
    snapshot: "START TRANSACTION WITH CONSISTENT SNAPSHOT",
    version: "SELECT CONCAT(IF(version() LIKE '%MariaDB%', 'MariaDB ', 'MySQL '), version())",
    // Recursive common table expressions.
    oldest: OldestServer {
        product: "MariaDB",
        major: 10,
        minor: 2,
        stand_in: None,
    },
    // The size is as the server counts it, which is an estimate for InnoDB's tables.
    about: "SELECT CONCAT('MariaDB ', version(), ', ', @@version_comment),
        (SELECT CAST(COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0) AS UNSIGNED) FROM information_schema.TABLES)",
    // Those that are set, and those that decide whether a commit is durable and how the drive is used, whatever they
    // are. Paths are left out.
    settings: &["SELECT LOWER(VARIABLE_NAME), COALESCE(GLOBAL_VALUE, '') FROM information_schema.SYSTEM_VARIABLES
        WHERE VARIABLE_SCOPE <> 'SESSION ONLY'
          AND (GLOBAL_VALUE_ORIGIN IN ('CONFIG', 'SQL') OR VARIABLE_NAME IN (
            'innodb_buffer_pool_size', 'innodb_doublewrite', 'innodb_flush_log_at_trx_commit', 'innodb_flush_method',
            'innodb_io_capacity', 'innodb_log_file_size', 'innodb_page_size', 'log_bin', 'sync_binlog', 'tx_isolation',
            'transaction_isolation'))
          AND VARIABLE_NAME NOT IN ('datadir', 'socket', 'pid_file', 'tmpdir', 'lc_messages', 'log_warnings')
        ORDER BY 1"],
    scripts: Scripts {
        clustered: true,
        // One byte per character, which is all that clause 1.3.1 asks for, whatever the server's default is.
        table_options: " ENGINE = InnoDB CHARACTER SET latin1 COLLATE latin1_bin",
        indexes: include_str!("sql/indexes.sql"),
        procedures: include_str!("sql/procedures.sql"),
        separator: "\n$$\n",
        schema_options: " CHARACTER SET latin1 COLLATE latin1_bin",
    },
};

/// Connections beyond this number share in what the others hold.
const PLACES: u32 = 256;

/// A lock's name, at most 64 characters, for something that is SQL.
fn name(schema: &str, of: &str) -> String {
    let schema = DIALECT.literal(schema);
    format!("CONCAT('plimsoll ', LEFT(SHA2({schema}, 256), 24), ' ', {of})")
}

/// The server has exclusive locks only: whoever measures or checks takes any of a number of places, and a loader takes
/// the door and then checks that all places are free. Both take theirs first and check the other's after that, so that
/// never both go on.
fn lock(client: &mut dyn SqlClient, schema: &str, purpose: Use) -> Result<bool, LoadError> {
    let mut locks = Locks { client, schema };
    match purpose {
        Use::Load => locks.take_door(),
        Use::Keep => locks.take_place(),
    }
}

struct Locks<'a> {
    client: &'a mut dyn SqlClient,
    schema: &'a str,
}

impl Locks<'_> {
    fn number(&mut self, sql: &str) -> Result<Option<u32>, LoadError> {
        let row = self.client.row(&guard::what(self.schema), sql)?;
        row.text(0).map(|_| row.get(0)).transpose()
    }

    fn take(&mut self, of: &str) -> Result<bool, LoadError> {
        let lock = format!("SELECT GET_LOCK({}, 0)", name(self.schema, of));
        Ok(self.number(&lock)? == Some(1))
    }

    fn release(&mut self, of: &str) -> Result<(), LoadError> {
        let release = format!("SELECT RELEASE_LOCK({})", name(self.schema, of));
        self.number(&release).map(drop)
    }

    fn take_door(&mut self) -> Result<bool, LoadError> {
        if !self.take("'door'")? {
            return Ok(false);
        }
        let place = name(self.schema, "i");
        let free = format!(
            "WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < {PLACES} - 1)
             SELECT MIN(IS_FREE_LOCK({place})) FROM n"
        );
        if self.number(&free)? == Some(1) {
            return Ok(true);
        }
        self.release("'door'")?;
        Ok(false)
    }

    fn take_place(&mut self) -> Result<bool, LoadError> {
        let own = self.number("SELECT CONNECTION_ID()")?.unwrap_or_default();
        let mut held = None;
        // Neighbouring connections have neighbouring numbers.
        for place in (0..8).map(|step| ((own + step * 31) % PLACES).to_string()) {
            if self.take(&place)? {
                held = Some(place);
                break;
            }
        }
        let door = name(self.schema, "'door'");
        if self.number(&format!("SELECT IS_FREE_LOCK({door})"))? == Some(1) {
            return Ok(true);
        }
        if let Some(place) = held {
            self.release(&place)?;
        }
        Ok(false)
    }
}

/// The poolers answer this one by themselves, or name themselves in the server's version.
fn pooler_name(client: &mut dyn SqlClient) -> Option<&'static str> {
    let asked = ["select @@version_comment limit 1", "SELECT version()"];
    let mut answers = asked.iter().filter_map(|sql| {
        let row = client.row("asking for the version", sql).ok()?;
        row.text(0).map(str::to_ascii_lowercase)
    });
    answers.find_map(|answer| {
        [("proxysql", "ProxySQL"), ("maxscale", "MaxScale")]
            .into_iter()
            .find_map(|(word, name)| answer.contains(word).then_some(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::sysbench::sql::{NewRow, create_table, insert_next};

    /// `create_table` of `oltp_common.lua` and `event` of `oltp_insert.lua`, for its driver mysql.
    #[test]
    fn mariadb_gets_what_sysbench_sends_a_mysql() {
        assert_eq!(
            create_table(3, &TABLE_SYNTAX),
            "CREATE TABLE sbtest3(id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL, \
             c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)) \
             /*! ENGINE = innodb */"
        );
        let row = NewRow {
            k: 5,
            c: "1-2".into(),
            pad: "3-4".into(),
        };
        assert_eq!(
            insert_next(3, &row, &TABLE_SYNTAX),
            "INSERT INTO sbtest3 (id, k, c, pad) VALUES (0, 5, '1-2', '3-4')"
        );
    }
}
