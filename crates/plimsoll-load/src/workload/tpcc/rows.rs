//! Where the initial population's rows go.
//!
//! The population (clause 4.3.3.1) is generated once, for all engines; each engine's loader is a [`RowSink`] that takes
//! the columns of each row in the order of the table's definition.

/// The nine tables, in the order in which they can be filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum TpccTable {
    Item,
    Warehouse,
    District,
    Customer,
    History,
    Stock,
    Orders,
    NewOrder,
    OrderLine,
}

/// Takes columns one by one, then the end of the row. Generic and monomorphic: no allocation per value.
pub trait RowSink {
    fn int(&mut self, value: i32);
    /// `numeric(12,2)` and the like: an amount in cents.
    fn cents(&mut self, value: i64);
    /// `numeric(4,4)`: taxes and discounts in ten-thousandths.
    fn rate(&mut self, ten_thousandths: i32);
    fn text(&mut self, value: &str);
    /// Microseconds since 1970-01-01 UTC.
    fn timestamp(&mut self, micros: i64);
    fn null(&mut self);
    fn end_row(&mut self);
}
