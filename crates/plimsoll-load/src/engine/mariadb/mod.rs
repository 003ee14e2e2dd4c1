//! MariaDB: a server that plimsoll creates on a medium, or one that exists. A schema is a database there.
//!
//! Everything here blocks its caller; a [`MariadbSession`] has a thread of its own.

mod backup;
pub mod binaries;
mod bulk;
pub mod check;
pub mod connect;
mod dialect;
pub mod facts;
mod guard;
mod insight;
pub mod load;
pub mod managed;
pub mod session;
pub mod sysbench;
#[cfg(test)]
mod tests;
mod tsv;

pub(crate) use backup::{dump, restore_elsewhere, row_counts};
pub use check::{books, check, orders_added};
pub use facts::facts;
pub use insight::Insight;
pub use load::{forget, load};
pub use managed::ManagedMariadb;
pub use session::MariadbSession;

/// A name as SQL quotes it.
fn quote_ident(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
