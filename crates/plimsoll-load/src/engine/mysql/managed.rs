//! How a MySQL server is set up.

use plimsoll_plan::resolved::ManagedKind;

use super::binaries;
use crate::engine::mariadb::FamilySetup;

/// A data directory is made where nothing is but hidden files.
pub static MYSQL_SETUP: FamilySetup = FamilySetup {
    kind: ManagedKind::Mysql,
    programs: binaries::find,
    options: "log_error_verbosity = 2\nmysqlx = OFF\nsecure_file_priv = \"\"\n",
    maker: &["--initialize-insecure"],
    log_dir: ".redo_log",
    log_option: "",
};
