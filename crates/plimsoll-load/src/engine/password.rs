//! Passwords that a URL leaves to the environment, for machines that have another environment.

use plimsoll_plan::resolved::{Credential, ServerKind};
use plimsoll_record::lane::Endpoint;

use super::client_environment::{ClientEnvironment, PROCESS};
use super::servers;

/// The endpoint with what this process's environment adds to its URL. For sending only: it must not be stored.
pub fn with_password_of_environment(endpoint: Endpoint) -> Endpoint {
    let Endpoint::Server {
        engine,
        conninfo,
        schema,
    } = endpoint
    else {
        return endpoint;
    };
    Endpoint::Server {
        engine,
        conninfo: completed(engine, conninfo, &PROCESS),
        schema,
    }
}

/// What cannot be parsed stays as it is: the connection's error explains it.
fn completed(
    engine: ServerKind,
    conninfo: Credential,
    environment: &ClientEnvironment<'_>,
) -> Credential {
    let completed = (servers::engine(engine).complete_password)(&conninfo, environment);
    completed.unwrap_or(conninfo)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::engine::mariadb::address::MariadbAddress;
    use crate::engine::postgres;
    use crate::engine::server_url::ServerUrl;

    /// The text for a process elsewhere, where this one has that password.
    fn with_password(engine: ServerKind, text: &str, password: &str) -> Credential {
        let variable =
            |name: &str| (name == engine.password_variable()).then(|| password.to_owned());
        completed(engine, text.into(), &ClientEnvironment::new(&variable))
    }

    fn of_postgres(conninfo: &str) -> Option<Vec<u8>> {
        let address = postgres::address::parse(conninfo).unwrap();
        address.config.get_password().map(<[u8]>::to_vec)
    }

    proptest! {
        #[test]
        fn any_password_arrives_as_it_is(password in "\\PC{1,20}") {
            for text in [
                "postgres://u@h1:5432,h2:5433/db?sslmode=verify-full", "postgres://h", "postgresql://u@%2Frun%2Fpg/db",
                "host=/run/pg user=u", "host=h dbname=db",
            ] {
                let with = with_password(ServerKind::Postgres, text, &password);
                prop_assert_eq!(of_postgres(&with), Some(password.clone().into_bytes()), "{}", text);
            }
            for (kind, text) in [
                (ServerKind::Mysql, "mysql://u@[::1]:3307/db?socket=/a%20b"), (ServerKind::Mariadb, "mariadb://u@h"),
            ] {
                let with = with_password(kind, text, &password);
                let expected = MariadbAddress { password: password.clone().into(), ..MariadbAddress::parse(text).unwrap() };
                prop_assert_eq!(MariadbAddress::parse(&with).unwrap(), expected, "{}", text);
            }
            for kind in ServerKind::ALL.into_iter().filter(|kind| kind.managed().is_none()) {
                let text = kind.example_url();
                let with = with_password(kind, text, &password);
                let expected = ServerUrl {
                    password: Some(password.clone().into()), ..ServerUrl::parse(text, kind).unwrap()
                };
                prop_assert_eq!(ServerUrl::parse(&with, kind), Ok(expected), "{}", text);
            }
        }
    }

    #[test]
    fn a_password_of_the_url_stays() {
        for text in [
            "postgres://u:own@h/db",
            "host=h password=own",
            "postgres://h?password=own",
        ] {
            let with = with_password(ServerKind::Postgres, text, "other");
            assert_eq!(of_postgres(&with), Some(b"own".to_vec()), "{text}");
        }
        let with = with_password(ServerKind::Mariadb, "mariadb://u:own@h/db", "other");
        assert_eq!(&*MariadbAddress::parse(&with).unwrap().password, "own");
        for kind in ServerKind::ALL
            .into_iter()
            .filter(|kind| kind.managed().is_none())
        {
            let text = kind.example_url().replace('@', ":own@");
            assert_eq!(*with_password(kind, &text, "other"), text);
        }
    }
}
