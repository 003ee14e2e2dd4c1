//! MySQL: a server that plimsoll creates on a medium, or one that exists. It speaks MariaDB's protocol, so that connections,
//! sessions and statistics are those of [`super::mariadb`]; here is what differs.

mod backup;
mod binaries;
mod dialect;
mod managed;
#[cfg(all(test, feature = "test-mysql"))]
mod tests;

pub(crate) use backup::MysqlBackups;
pub(crate) use dialect::DIALECT;
pub(crate) use managed::MYSQL_SETUP;
