//! The inputs of the five transactions (clauses 2.4.1, 2.5.1, 2.6.1, 2.7.1, 2.8.1).

/// Input of one business transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TpccInput {
    NewOrder(NewOrder),
    Payment(Payment),
    OrderStatus(OrderStatus),
    Delivery(Delivery),
    StockLevel(StockLevel),
}

impl TpccInput {
    /// Index in the specification's order, as [`plimsoll_plan::resolved::TPCC_TXNS`].
    pub fn txn(&self) -> usize {
        match self {
            Self::NewOrder(_) => 0,
            Self::Payment(_) => 1,
            Self::OrderStatus(_) => 2,
            Self::Delivery(_) => 3,
            Self::StockLevel(_) => 4,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOrder {
    pub warehouse: i32,
    pub district: i32,
    pub customer: i32,
    /// 5 to 15; the last one carries an unused item when the transaction is to roll back (clause 2.4.1.5).
    pub lines: Vec<Line>,
}

/// The number that no item has (clause 2.4.1.5: items are 1 to 100,000).
pub const UNUSED_ITEM: i32 = 100_001;

impl NewOrder {
    /// Whether the transaction ends in the rollback that clause 2.4.1.4 wants of 1 % of orders.
    pub fn rolls_back(&self) -> bool {
        self.lines.iter().any(|line| line.item == UNUSED_ITEM)
    }

    /// Whether all that is ordered comes from the warehouse itself.
    pub fn is_local(&self) -> bool {
        let mut lines = self.lines.iter();
        lines.all(|line| line.supply_warehouse == self.warehouse)
    }

    /// The lines as procedures take them whose language has no arrays: 16 digits for each, sorted by item and warehouse:
    /// number (2), item (6), warehouse (6), quantity (2).
    pub fn write_lines(&self, out: &mut String) {
        use std::fmt::Write as _;
        let mut lines: Vec<_> = (1..).zip(&self.lines).collect();
        lines.sort_unstable_by_key(|(number, line)| (line.item, line.supply_warehouse, *number));
        for (number, line) in lines {
            let Line {
                item,
                supply_warehouse,
                quantity,
            } = line;
            // A String takes all text.
            let _ = write!(
                out,
                "{number:02}{item:06}{supply_warehouse:06}{quantity:02}"
            );
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    pub item: i32,
    pub supply_warehouse: i32,
    pub quantity: i32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    pub warehouse: i32,
    pub district: i32,
    /// The customer's, another warehouse in 15 % of cases (clause 2.5.1.2).
    pub customer_warehouse: i32,
    pub customer_district: i32,
    pub customer: CustomerBy,
    /// 1.00 to 5,000.00, in cents.
    pub amount_cents: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderStatus {
    pub warehouse: i32,
    pub district: i32,
    pub customer: CustomerBy,
}

/// Clause 2.5.2.2: the customer's number, or the last name, which stands for the middle one of all who bear it, sorted
/// by first name (position n/2 rounded up).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CustomerBy {
    Id(i32),
    LastName(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    pub warehouse: i32,
    pub carrier: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StockLevel {
    pub warehouse: i32,
    pub district: i32,
    /// 10 to 20.
    pub threshold: i32,
}
