//! TPC-C's nine tables in SQLite's dialect, and what workloads need to write their own.
//!
//! Amounts are INTEGER cents, taxes and discounts INTEGER ten-thousandths, times INTEGER microseconds since 1970: exact,
//! where SQLite's REAL is not. Tables with short rows are WITHOUT ROWID, clustered by their primary key. Customer and
//! stock are not: SQLite's documentation advises against it for rows above a twentieth of a page (withoutrowid.html, §4),
//! because inner pages of such a table hold whole rows; their keys are indexes.

use crate::workload::statement::TableSyntax;

pub(crate) static TABLE_SYNTAX: TableSyntax = TableSyntax {
    id: "INTEGER NOT NULL",
    table_options: "",
    integer: "INTEGER",
    length: "length",
    next_id: None,
};

/// Executed before the data. Columns are in the order of [`crate::workload::tpcc::rows::TpccTable::columns`].
pub const TABLES: &str = "
CREATE TABLE item (
  i_id INTEGER PRIMARY KEY, i_im_id INTEGER NOT NULL, i_name TEXT NOT NULL, i_price INTEGER NOT NULL,
  i_data TEXT NOT NULL
) STRICT;
CREATE TABLE warehouse (
  w_id INTEGER PRIMARY KEY, w_name TEXT NOT NULL, w_street_1 TEXT NOT NULL, w_street_2 TEXT NOT NULL,
  w_city TEXT NOT NULL, w_state TEXT NOT NULL, w_zip TEXT NOT NULL, w_tax INTEGER NOT NULL, w_ytd INTEGER NOT NULL
) STRICT;
CREATE TABLE district (
  d_id INTEGER NOT NULL, d_w_id INTEGER NOT NULL, d_name TEXT NOT NULL, d_street_1 TEXT NOT NULL,
  d_street_2 TEXT NOT NULL, d_city TEXT NOT NULL, d_state TEXT NOT NULL, d_zip TEXT NOT NULL, d_tax INTEGER NOT NULL,
  d_ytd INTEGER NOT NULL, d_next_o_id INTEGER NOT NULL,
  PRIMARY KEY (d_w_id, d_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE customer (
  c_id INTEGER NOT NULL, c_d_id INTEGER NOT NULL, c_w_id INTEGER NOT NULL, c_first TEXT NOT NULL,
  c_middle TEXT NOT NULL, c_last TEXT NOT NULL, c_street_1 TEXT NOT NULL, c_street_2 TEXT NOT NULL,
  c_city TEXT NOT NULL, c_state TEXT NOT NULL, c_zip TEXT NOT NULL, c_phone TEXT NOT NULL, c_since INTEGER NOT NULL,
  c_credit TEXT NOT NULL, c_credit_lim INTEGER NOT NULL, c_discount INTEGER NOT NULL, c_balance INTEGER NOT NULL,
  c_ytd_payment INTEGER NOT NULL, c_payment_cnt INTEGER NOT NULL, c_delivery_cnt INTEGER NOT NULL,
  c_data TEXT NOT NULL
) STRICT;
CREATE TABLE history (
  h_c_id INTEGER NOT NULL, h_c_d_id INTEGER NOT NULL, h_c_w_id INTEGER NOT NULL, h_d_id INTEGER NOT NULL,
  h_w_id INTEGER NOT NULL, h_date INTEGER NOT NULL, h_amount INTEGER NOT NULL, h_data TEXT NOT NULL
) STRICT;
CREATE TABLE stock (
  s_i_id INTEGER NOT NULL, s_w_id INTEGER NOT NULL, s_quantity INTEGER NOT NULL, s_dist_01 TEXT NOT NULL,
  s_dist_02 TEXT NOT NULL, s_dist_03 TEXT NOT NULL, s_dist_04 TEXT NOT NULL, s_dist_05 TEXT NOT NULL,
  s_dist_06 TEXT NOT NULL, s_dist_07 TEXT NOT NULL, s_dist_08 TEXT NOT NULL, s_dist_09 TEXT NOT NULL,
  s_dist_10 TEXT NOT NULL, s_ytd INTEGER NOT NULL, s_order_cnt INTEGER NOT NULL, s_remote_cnt INTEGER NOT NULL,
  s_data TEXT NOT NULL
) STRICT;
CREATE TABLE orders (
  o_id INTEGER NOT NULL, o_d_id INTEGER NOT NULL, o_w_id INTEGER NOT NULL, o_c_id INTEGER NOT NULL,
  o_entry_d INTEGER NOT NULL, o_carrier_id INTEGER, o_ol_cnt INTEGER NOT NULL, o_all_local INTEGER NOT NULL,
  PRIMARY KEY (o_w_id, o_d_id, o_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE new_order (
  no_o_id INTEGER NOT NULL, no_d_id INTEGER NOT NULL, no_w_id INTEGER NOT NULL,
  PRIMARY KEY (no_w_id, no_d_id, no_o_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE order_line (
  ol_o_id INTEGER NOT NULL, ol_d_id INTEGER NOT NULL, ol_w_id INTEGER NOT NULL, ol_number INTEGER NOT NULL,
  ol_i_id INTEGER NOT NULL, ol_supply_w_id INTEGER NOT NULL, ol_delivery_d INTEGER, ol_quantity INTEGER NOT NULL,
  ol_amount INTEGER NOT NULL, ol_dist_info TEXT NOT NULL,
  PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)
) STRICT, WITHOUT ROWID;
";

/// Executed one by one after the data: keys of the tables with long rows, and the two ways in that are no keys.
pub const INDEXES: [&str; 4] = [
    "CREATE UNIQUE INDEX customer_key ON customer (c_w_id, c_d_id, c_id)",
    "CREATE INDEX customer_name ON customer (c_w_id, c_d_id, c_last, c_first)",
    "CREATE UNIQUE INDEX stock_key ON stock (s_w_id, s_i_id)",
    "CREATE INDEX orders_customer ON orders (o_w_id, o_d_id, o_c_id, o_id)",
];

/// Records what was loaded. The file gets its name only when everything is in it; this table records what that was.
pub const MARKER: &str = "
CREATE TABLE plimsoll_load (format INTEGER NOT NULL, warehouses INTEGER NOT NULL, seed INTEGER NOT NULL) STRICT";

/// `application_id` of a database that plimsoll made ("PlDb").
pub const APPLICATION_ID: i32 = 0x506c_4462;
