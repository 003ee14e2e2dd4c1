//! The oldest server that can be measured.

use plimsoll_plan::resolved::ServerKind;

use crate::error::LoadError;

/// A product and its version, such as MariaDB 10.2.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OldestServer {
    pub product: &'static str,
    pub major: u32,
    pub minor: u32,
    /// Speaks its protocol and is measured, too; facts and reports name it.
    pub stand_in: Option<&'static str>,
}

/// Refuses what is older, or of another product. `version` is as the server reports it, behind its product's name.
pub(super) fn check(
    version: &str,
    oldest: OldestServer,
    kind: ServerKind,
) -> Result<(), LoadError> {
    let OldestServer {
        product,
        major,
        minor,
        stand_in,
    } = oldest;
    if stand_in.is_some_and(|other| version.starts_with(other)) {
        return Ok(());
    }
    let is = version
        .strip_prefix(product)
        .map(|rest| numbers(rest.trim()));
    if is.is_some_and(|is| is >= [major, minor]) {
        return Ok(());
    }
    Err(LoadError::Unsupported {
        what: format!("measure {version}"),
        why: format!("plimsoll needs {product} {major}.{minor} or later"),
        next: next_step(kind),
    })
}

fn next_step(kind: ServerKind) -> String {
    let engine = kind.engine().name();
    if kind.managed().is_some() {
        format!(
            "Upgrade the server, name another one, or let plimsoll start its own: engine = \"{engine}\" in the plan."
        )
    } else {
        "Upgrade the server, or name another one.".into()
    }
}

/// The first two numbers; the second is missing in versions such as `17beta1`.
fn numbers(version: &str) -> [u32; 2] {
    let mut numbers = version
        .split(|c: char| !c.is_ascii_digit())
        .map(|digits| digits.parse().unwrap_or(0));
    [0, 1].map(|_| numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::servers::engine;
    use crate::engine::{mariadb, postgres};

    #[test]
    fn an_old_server_and_another_product_are_refused() {
        let postgres = postgres::DIALECT.oldest;
        let mariadb = mariadb::DIALECT.oldest;
        for (version, oldest) in [
            ("PostgreSQL 10.0", postgres),
            ("PostgreSQL 17beta1", postgres),
            ("PostgreSQL 15.14 (Debian 15.14-0+deb12u1)", postgres),
            ("MariaDB 10.2.44-MariaDB", mariadb),
            ("MariaDB 11.0.1-MariaDB-log", mariadb),
        ] {
            assert!(
                check(version, oldest, ServerKind::Postgres).is_ok(),
                "{version}"
            );
        }
        for (version, oldest) in [
            ("PostgreSQL 9.6.24", postgres),
            ("MariaDB 10.1.48-MariaDB", mariadb),
            ("MySQL 8.4.0", mariadb),
            ("MariaDB ", mariadb),
        ] {
            let error = check(version, oldest, ServerKind::Postgres)
                .unwrap_err()
                .to_string();
            assert!(
                error.starts_with(&format!("cannot measure {version}\n")),
                "{error}"
            );
            assert_eq!(error.lines().count(), 3, "{error}");
        }
        let error = check("PostgreSQL 9.6.24", postgres, ServerKind::Postgres)
            .unwrap_err()
            .to_string();
        assert!(error.contains("engine = \"postgres\""), "{error}");
        for kind in ServerKind::ALL
            .into_iter()
            .filter(|kind| kind.managed().is_none())
        {
            let oldest = engine(kind).dialect.oldest;
            let check = |version: &str| check(version, oldest, kind);
            let of_product = |version: &str| format!("{} {version}", oldest.product);
            assert!(check(&of_product("99.0.4135.4")).is_ok());
            assert!(oldest.stand_in.is_none_or(|other| check(other).is_ok()));
            let error = check(&of_product("1.0.2000.8")).unwrap_err().to_string();
            assert!(error.ends_with("or name another one."), "{error}");
        }
    }
}
