//! MySQL against a real server: `cargo xtask test mysql`.

use plimsoll_plan::resolved::ServerKind;

use crate::engine::contract::contract_of_servers;

contract_of_servers!(ServerKind::Mysql);
