//! What New-Orders and Payments leave in the database, by district: what a power cut is evaluated by
//! (see [`plimsoll_record::receipt`]).

use plimsoll_record::receipt::{CommitPlace, District};

use super::input::TpccInput;

const DISTRICTS: u32 = 10;

/// Type, place and count of what is in the database, in both dialects. A district's next order number grows by one with
/// each committed New-Order (clause 2.4.2.2); a Payment leaves one row of history (clause 2.5.2.2).
pub const SQL: &str = "SELECT CAST(0 AS bigint), CAST((d_w_id - 1) * 10 + d_id - 1 AS bigint), CAST(d_next_o_id AS bigint) \
     FROM district \
     UNION ALL \
     SELECT CAST(1 AS bigint), CAST((h_w_id - 1) * 10 + h_d_id - 1 AS bigint), CAST(count(*) AS bigint) \
     FROM history GROUP BY h_w_id, h_d_id";

/// New-Orders since the load (clause 4.3.3.1: a district's next order number is 3,001 then), in all dialects.
pub const ORDERS_ADDED: &str =
    "SELECT CAST(coalesce(sum(d_next_o_id - 3001), 0) AS bigint) FROM district";

/// Where a transaction can be found; `None` for types that leave nothing that could be counted by place.
pub fn place(input: &TpccInput) -> Option<CommitPlace> {
    match input {
        TpccInput::NewOrder(order) => Some(CommitPlace {
            txn: 0,
            place: district(order.warehouse, order.district),
        }),
        TpccInput::Payment(payment) => Some(CommitPlace {
            txn: 1,
            place: district(payment.warehouse, payment.district),
        }),
        TpccInput::OrderStatus(_) | TpccInput::Delivery(_) | TpccInput::StockLevel(_) => None,
    }
}

fn district(warehouse: i32, district: i32) -> u32 {
    ((warehouse - 1).unsigned_abs() * DISTRICTS) + (district - 1).unsigned_abs()
}

/// The district of a place.
pub fn district_of(place: u32) -> District {
    District {
        warehouse: place / DISTRICTS + 1,
        district: place % DISTRICTS + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tpcc::input::{CustomerBy, NewOrder, Payment};

    #[test]
    fn a_place_is_a_district() {
        let order = TpccInput::NewOrder(NewOrder {
            warehouse: 3,
            district: 10,
            customer: 1,
            lines: Vec::new(),
        });
        let payment = TpccInput::Payment(Payment {
            warehouse: 1,
            district: 1,
            customer_warehouse: 2,
            customer_district: 5,
            customer: CustomerBy::Id(1),
            amount_cents: 100,
        });
        assert_eq!(
            place(&order).map(|at| (at.txn, district_of(at.place))),
            Some((
                0,
                District {
                    warehouse: 3,
                    district: 10
                }
            ))
        );
        assert_eq!(
            place(&payment).map(|at| (at.txn, district_of(at.place))),
            Some((
                1,
                District {
                    warehouse: 1,
                    district: 1
                }
            ))
        );
    }
}
