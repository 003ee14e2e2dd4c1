//! Encrypted connections to servers of MySQL's family.

use std::path::Path;

use super::*;
use crate::engine::mariadb::client::MariadbClient;

/// MySQL makes itself a certificate, MariaDB gets one.
pub fn settings_of(kind: ManagedKind, medium: &Path) -> BTreeMap<String, String> {
    if kind != ManagedKind::Mariadb {
        return BTreeMap::new();
    }
    let [key, certificate] = ["key.pem", "certificate.pem"].map(|name| medium.join(name));
    let made = Command::new("openssl")
        .args("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost".split(' '))
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output()
        .unwrap_or_else(|error| panic!("install openssl: {error}"));
    assert!(made.status.success(), "{made:?}");
    // The server runs as another user, and the key is of no use to anybody.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(&key, open).unwrap();
    let [key, certificate] = [key, certificate].map(|path| path.display().to_string());
    settings(&[("ssl_key", &key), ("ssl_cert", &certificate)])
}

/// How the user logs in: by the methods that the servers have by default.
fn identified(kind: ManagedKind) -> &'static str {
    match kind {
        ManagedKind::Mysql => "IDENTIFIED WITH caching_sha2_password BY 'secret'",
        ManagedKind::Mariadb | ManagedKind::Postgres => "IDENTIFIED BY 'secret'",
    }
}

pub fn encrypted(kind: ManagedKind) {
    let shared = Shared::get(Engine::Server(kind.server()));
    let _turn = shared.turn();
    let (proxy, endpoint) = shared.behind_proxy(kind);
    let mut root = shared.place().client();
    let identified = identified(kind);
    root.execute(&format!(
        "CREATE USER encrypting@localhost {identified} REQUIRE SSL"
    ));
    root.execute("GRANT ALL ON *.* TO encrypting@localhost");
    let scheme = kind.server().engine().name();
    let at = |password: &str, mode: &str| {
        let port = proxy.port;
        format!("{scheme}://encrypting:{password}@127.0.0.1:{port}?ssl-mode={mode}")
    };

    for mode in ["required", "preferred"] {
        let mut client = MariadbClient::connect(&at("secret", mode)).unwrap();
        let version = client
            .rows("testing", "SHOW STATUS LIKE 'Ssl_version'")
            .unwrap();
        assert_eq!(version[0].text(1), Some("TLSv1.3"), "{mode}");
    }
    for wrong in [at("wr0ng", "required"), at("secret", "disabled")] {
        let error = MariadbClient::connect(&wrong).err().unwrap();
        assert!(matches!(error, LoadError::Refused { .. }), "{error}");
        let text = error.to_string();
        assert!(
            !text.contains("wr0ng") && !text.contains("secret"),
            "{text}"
        );
    }
    let unproven = MariadbClient::connect(&at("secret", "verify_identity"))
        .err()
        .unwrap();
    assert!(
        matches!(&unproven, LoadError::Unreachable { next, .. } if next.contains("ssl-ca=FILE")),
        "{unproven}"
    );

    let Endpoint::Server { engine, schema, .. } = endpoint else {
        unreachable!()
    };
    let endpoint = Endpoint::Server {
        engine,
        schema,
        conninfo: at("secret", "required").into(),
    };
    for &mode in shared.engine.modes() {
        let opener = opener(endpoint.clone(), &tpcc(mode));
        let mut user = User::open(&opener, 0).unwrap();
        for input in [
            new_order(&[(10, 1, 1), (20, 2, 3)]),
            delivery(1),
            stock_level(),
        ] {
            assert_eq!(user.run(&input), Ok(TxnEnd::Committed), "{mode:?}");
        }
        proxy.cut_after(9);
        let end = user.run(&stock_level());
        assert!(matches!(end, Err(SessionError::Lost(_))), "{end:?}");
        proxy.cut_after(usize::MAX);
    }
    shared.place().assert_consistent();
}
