//! The statements of the client-side transactions.

use crate::workload::statement::{ComparedName, Statement, StatementKind};

/// A statement, named after what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::VariantArray)]
pub enum TpccStmt {
    /// (w, d, c) → w_tax, c_discount, c_last, c_credit
    OrderingCustomer,
    /// (w, d) → the order's number, d_tax. Locks the district's row until the transaction ends.
    TakeOrderNumber,
    /// (o, d, w, c, lines, all_local)
    InsertOrder,
    /// (o, d, w)
    InsertNewOrder,
    /// (item) → i_price, i_name, i_data; no row for an unused item
    Item,
    /// (item, supply w, quantity, 1 when remote else 0, d) → s_quantity, s_dist_xx, s_data
    TakeStock,
    /// (o, d, w, number, item, supply w, quantity, amount, dist_info)
    InsertOrderLine,
    /// (w, d, last name) → c_id, c_balance, c_first, c_middle of all who bear it, sorted by c_first
    CustomersByName,
    /// (w, d, c, amount, text put before c_data when the credit is bad) → the customer's columns of clause 2.5.3.3
    PayCustomer,
    /// (w, d, amount) → d_name, address
    PayDistrict,
    /// (w, amount) → w_name, address
    PayWarehouse,
    /// (c, c_d, c_w, d, w, amount, data)
    InsertHistory,
    /// (w, d, c) → c_balance, c_first, c_middle, c_last
    CustomerById,
    /// (w, d, c) → o_id, o_entry_d, o_carrier_id of the latest order
    LastOrder,
    /// (w, d, o) → ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
    OrderLines,
    /// (w, d) → number of the oldest undelivered order, taken out; no row when there is none or when another session has
    /// just taken it
    TakeNewOrder,
    /// (w, d) → 1 when any undelivered order is left
    AnyNewOrder,
    /// (w, d, o, carrier) → o_c_id
    DeliverOrder,
    /// (w, d, o) → ol_amount of each line
    DeliverLines,
    /// (w, d, c, amount)
    DeliverCustomer,
    /// (w, d) → d_next_o_id
    NextOrderNumber,
    /// (w, d, first o, end o, threshold) → count of distinct items below the threshold
    LowStock,
}

/// Clause 2.4.2.2: stock that would fall below 10 is filled up by 91.
const TAKE_STOCK: &str = "UPDATE stock SET
       s_quantity = CASE WHEN s_quantity - $3 >= 10 THEN s_quantity - $3 ELSE s_quantity - $3 + 91 END,
       s_ytd = s_ytd + $3, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + $4
     WHERE s_w_id = $2 AND s_i_id = $1
     RETURNING s_quantity,
       CASE CAST($5 AS INTEGER) WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
         WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
         WHEN 9 THEN s_dist_09 ELSE s_dist_10 END,
       s_data";

const INSERT_ORDER_LINE: &str =
    "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,
       ol_quantity, ol_amount, ol_dist_info)
     VALUES ($1, $2, $3, $4, $5, $6, NULL, $7, $8, $9)";

const PAY_CUSTOMER: &str = "UPDATE customer SET c_balance = c_balance - $4, c_ytd_payment = c_ytd_payment + $4,
       c_payment_cnt = c_payment_cnt + 1,
       c_data = CASE c_credit WHEN 'BC' THEN substr($5 || c_data, 1, 500) ELSE c_data END
     WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3
     RETURNING c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since,
       c_credit, c_credit_lim, c_discount, c_balance,
       CASE c_credit WHEN 'BC' THEN substr(c_data, 1, 200) END";

impl TpccStmt {
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The statement as engines translate it.
    pub fn statement(self) -> Statement {
        Statement {
            sql: self.sql().into(),
            amount: self.amount(),
            name: match self {
                Self::CustomersByName => Some(ComparedName {
                    param: 3,
                    length: 16,
                }),
                _ => None,
            },
            kind: match self {
                Self::TakeNewOrder => StatementKind::TakeFirst,
                Self::AnyNewOrder => StatementKind::Latest,
                _ => StatementKind::Plain,
            },
        }
    }

    /// The parameter that is an amount of money, counted from 1.
    fn amount(self) -> Option<usize> {
        match self {
            Self::PayWarehouse => Some(2),
            Self::PayDistrict => Some(3),
            Self::PayCustomer | Self::DeliverCustomer => Some(4),
            Self::InsertHistory => Some(6),
            Self::InsertOrderLine => Some(8),
            _ => None,
        }
    }

    fn sql(self) -> &'static str {
        match self {
            Self::OrderingCustomer => {
                "SELECT w_tax, c_discount, c_last, c_credit FROM warehouse, customer
                 WHERE w_id = $1 AND c_w_id = $1 AND c_d_id = $2 AND c_id = $3"
            }
            Self::TakeOrderNumber => {
                "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1 AND d_id = $2
                 RETURNING d_next_o_id - 1, d_tax"
            }
            Self::InsertOrder => {
                "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
                 VALUES ($1, $2, $3, $4, {now}, NULL, $5, $6)"
            }
            Self::InsertNewOrder => "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES ($1, $2, $3)",
            Self::Item => "SELECT i_price, i_name, i_data FROM item WHERE i_id = $1",
            Self::TakeStock => TAKE_STOCK,
            Self::InsertOrderLine => INSERT_ORDER_LINE,
            Self::CustomersByName => {
                "SELECT c_id, c_balance, c_first, c_middle FROM customer
                 WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3 ORDER BY c_first"
            }
            Self::PayCustomer => PAY_CUSTOMER,
            Self::PayDistrict => {
                "UPDATE district SET d_ytd = d_ytd + $3 WHERE d_w_id = $1 AND d_id = $2
                 RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip"
            }
            Self::PayWarehouse => {
                "UPDATE warehouse SET w_ytd = w_ytd + $2 WHERE w_id = $1
                 RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip"
            }
            Self::InsertHistory => {
                "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
                 VALUES ($1, $2, $3, $4, $5, {now}, $6, $7)"
            }
            Self::CustomerById => {
                "SELECT c_balance, c_first, c_middle, c_last FROM customer
                 WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3"
            }
            Self::LastOrder => {
                "SELECT o_id, o_entry_d, o_carrier_id FROM orders
                 WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3 ORDER BY o_id DESC LIMIT 1"
            }
            Self::OrderLines => {
                "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
                 WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3"
            }
            Self::TakeNewOrder => {
                "SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 ORDER BY no_o_id"
            }
            Self::AnyNewOrder => "SELECT 1 FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 LIMIT 1",
            Self::DeliverOrder => {
                "UPDATE orders SET o_carrier_id = $4 WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3 RETURNING o_c_id"
            }
            Self::DeliverLines => {
                "UPDATE order_line SET ol_delivery_d = {now} WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3
                 RETURNING ol_amount"
            }
            Self::DeliverCustomer => {
                "UPDATE customer SET c_balance = c_balance + $4, c_delivery_cnt = c_delivery_cnt + 1
                 WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3"
            }
            Self::NextOrderNumber => "SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2",
            Self::LowStock => {
                "SELECT count(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = $1 AND s_i_id = ol_i_id
                 WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id >= $3 AND ol_o_id < $4 AND s_quantity < $5"
            }
        }
    }
}

/// Its place among [`TpccStmt::ALL`].
impl From<TpccStmt> for usize {
    fn from(stmt: TpccStmt) -> Self {
        stmt as Self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_statements_are_listed_once() {
        for (i, &stmt) in TpccStmt::ALL.iter().enumerate() {
            assert_eq!(stmt as usize, i, "{stmt:?}");
        }
        assert_eq!(TpccStmt::LowStock as usize + 1, TpccStmt::ALL.len());
    }
}
