//! TLS of connections to servers: which certificates are believed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    SupportedProtocolVersion,
};

use crate::error::LoadError;

/// Whether a server must prove who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CertificateTrust {
    /// By a certificate that one of these authorities has signed.
    Verified {
        authorities: Authorities,
        /// Whether the certificate must be for the name that is connected to.
        checks_name: bool,
    },
    /// Any certificate: encrypts, and does not authenticate the server.
    AnyCertificate,
}

impl CertificateTrust {
    /// A certificate for the server's name that one of the system's authorities has signed.
    pub const SYSTEM: Self = Self::Verified {
        authorities: Authorities::System,
        checks_name: true,
    };
}

/// Who may sign certificates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Authorities {
    /// The system's; `SSL_CERT_FILE` names others.
    System,
    /// Those whose certificates are in this file, as PEM.
    File(PathBuf),
}

impl Authorities {
    fn trusted(&self) -> Result<Arc<TrustedCertificates>, LoadError> {
        static SYSTEM: OnceLock<Arc<TrustedCertificates>> = OnceLock::new();
        match self {
            Self::System => Ok(Arc::clone(SYSTEM.get_or_init(|| {
                let certificates = rustls_native_certs::load_native_certs().certs;
                Arc::new(TrustedCertificates::new(certificates))
            }))),
            Self::File(path) => file_certificates(path)
                .map(|certificates| Arc::new(TrustedCertificates::new(certificates))),
        }
    }
}

/// Certificates of authorities, as they are and as webpki reads them.
#[derive(Debug)]
struct TrustedCertificates {
    certificates: Vec<CertificateDer<'static>>,
    roots: Arc<RootCertStore>,
}

impl TrustedCertificates {
    fn new(certificates: Vec<CertificateDer<'static>>) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates.iter().cloned());
        Self {
            certificates,
            roots: Arc::new(roots),
        }
    }
}

pub(crate) fn client_config(
    trust: &CertificateTrust,
    versions: &[&'static SupportedProtocolVersion],
) -> Result<ClientConfig, LoadError> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)
        .map_err(|error| LoadError::other("TLS", error))?;
    let verifier: Arc<dyn ServerCertVerifier> = match trust {
        CertificateTrust::Verified {
            authorities,
            checks_name,
        } => Arc::new(Verified::new(authorities, *checks_name, provider)?),
        CertificateTrust::AnyCertificate => Arc::new(Unverified(provider)),
    };
    Ok(config
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth())
}

fn file_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, LoadError> {
    let certificates = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| unusable(path, error.to_string()))?;
    let certificates: Vec<CertificateDer<'static>> = certificates;
    if certificates.is_empty() {
        return Err(unusable(path, "it holds no certificate".into()));
    }
    Ok(certificates)
}

fn unusable(path: &Path, why: String) -> LoadError {
    LoadError::Missing {
        what: format!("A certificate of an authority in {}", path.display()),
        searched: why,
        next: "Name a file of certificates in PEM: sslrootcert for PostgreSQL, ssl-ca for MariaDB and MySQL.".into(),
    }
}

/// Takes certificates that an authority has signed, or that are an authority's own.
#[derive(Debug)]
struct Verified {
    webpki: Arc<WebPkiServerVerifier>,
    trusted: Arc<TrustedCertificates>,
    checks_name: bool,
}

impl Verified {
    fn new(
        authorities: &Authorities,
        checks_name: bool,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, LoadError> {
        let trusted = authorities.trusted()?;
        let roots = Arc::clone(&trusted.roots);
        let webpki = WebPkiServerVerifier::builder_with_provider(roots, provider);
        let webpki = webpki.build().map_err(|error| {
            let next = "Name the authorities' certificates with SSL_CERT_FILE, or install the system's (ca-certificates).";
            LoadError::other("TLS", format!("no authority is known: {error}\n{next}"))
        })?;
        Ok(Self {
            webpki,
            trusted,
            checks_name,
        })
    }
}

impl ServerCertVerifier for Verified {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self
            .webpki
            .verify_server_cert(certificate, between, name, ocsp, now);
        match verified {
            // The signatures hold: names are compared last.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_name => Ok(ServerCertVerified::assertion()),
            // `openssl req -x509` makes an authority of a server: OpenSSL takes it for both, webpki does not. Its dates
            // are compared before.
            Err(Error::InvalidCertificate(CertificateError::Other(_)))
                if self.trusted.certificates.contains(certificate) =>
            {
                if self.checks_name {
                    verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            // An authority's own certificate, of one that is not known.
            Err(Error::InvalidCertificate(CertificateError::Other(other)))
                if other.to_string().contains("CaUsedAsEndEntity") =>
            {
                Err(Error::InvalidCertificate(CertificateError::UnknownIssuer))
            }
            done => done,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let webpki = &self.webpki;
        webpki.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let webpki = &self.webpki;
        webpki.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.webpki.supported_verify_schemes()
    }
}

/// Takes any certificate. Its holder has to prove that it has the key, unless the certificate cannot be read.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

/// A certificate that cannot be read is no obstacle to a client that believes any: `openssl x509 -req` makes some of
/// version 1, which OpenSSL takes and webpki does not.
fn unless_unreadable(
    verified: Result<HandshakeSignatureValid, Error>,
) -> Result<HandshakeSignatureValid, Error> {
    match verified {
        Err(Error::InvalidCertificate(
            CertificateError::Other(_) | CertificateError::BadEncoding,
        )) => Ok(HandshakeSignatureValid::assertion()),
        done => done,
    }
}

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        unless_unreadable(verify_tls12_signature(
            message,
            certificate,
            signature,
            algorithms,
        ))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        unless_unreadable(verify_tls13_signature(
            message,
            certificate,
            signature,
            algorithms,
        ))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rustls::ServerConfig;
    use rustls::pki_types::PrivateKeyDer;
    use rustls::sign::{CertifiedKey, SingleCertAndKey};
    use tokio_rustls::{TlsAcceptor, TlsConnector};

    use super::*;

    /// Certificates by the command line that people use.
    struct Certificates(tempfile::TempDir);

    impl Certificates {
        fn make() -> Self {
            let made = Self(tempfile::tempdir().unwrap());
            let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
            let days = "-days 2";
            std::fs::write(made.path("names"), "subjectAltName=DNS:localhost").unwrap();
            for line in [
                format!(
                    "req -x509 {key} {days} -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout self.key -out self.pem"
                ),
                format!("req -x509 {key} {days} -subj /CN=authority -keyout ca.key -out ca.pem"),
                format!("req {key} -subj /CN=localhost -keyout signed.key -out signed.csr"),
                format!(
                    "x509 -req -in signed.csr -CA ca.pem -CAkey ca.key -CAcreateserial {days} -extfile names -out signed.pem"
                ),
                format!("req {key} -subj /CN=localhost -keyout old.key -out old.csr"),
                format!(
                    "x509 -req -in old.csr -CA ca.pem -CAkey ca.key -CAcreateserial {days} -out old.pem"
                ),
            ] {
                let mut openssl = Command::new("openssl");
                let output = openssl
                    .args(line.split(' '))
                    .current_dir(made.0.path())
                    .output();
                let output = output.unwrap_or_else(|error| panic!("install openssl: {error}"));
                assert!(output.status.success(), "{line}: {output:?}");
            }
            made
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn server(&self, name: &str) -> TlsAcceptor {
            let chain = file_certificates(&self.path(&format!("{name}.pem"))).unwrap();
            let key = PrivateKeyDer::from_pem_file(self.path(&format!("{name}.key"))).unwrap();
            let key = ring::sign::any_supported_type(&key).unwrap();
            // With a certificate of version 1, too.
            let certified = SingleCertAndKey::from(CertifiedKey::new(chain, key));
            let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
                .with_protocol_versions(rustls::ALL_VERSIONS)
                .unwrap()
                .with_no_client_auth()
                .with_cert_resolver(Arc::new(certified));
            TlsAcceptor::from(Arc::new(config))
        }

        /// Whether a client with this trust connects by this name to the server with that certificate.
        async fn connects(
            &self,
            server: &str,
            trust: &CertificateTrust,
            name: &str,
        ) -> Result<(), String> {
            let config = client_config(trust, rustls::ALL_VERSIONS).map_err(|e| e.to_string())?;
            let name = ServerName::try_from(name.to_owned()).unwrap();
            let (ours, theirs) = tokio::io::duplex(1 << 14);
            let connector = TlsConnector::from(Arc::new(config));
            let acceptor = self.server(server);
            let (client, _) = tokio::join!(connector.connect(name, ours), acceptor.accept(theirs));
            client.map(drop).map_err(|error| error.to_string())
        }

        fn verified(&self, authorities: &str, checks_name: bool) -> CertificateTrust {
            CertificateTrust::Verified {
                authorities: Authorities::File(self.path(authorities)),
                checks_name,
            }
        }
    }

    #[tokio::test]
    async fn certificates_are_believed_as_libpq_believes_them() {
        let made = Certificates::make();
        let any = CertificateTrust::AnyCertificate;
        let full = |authorities| made.verified(authorities, true);
        let authority = |authorities| made.verified(authorities, false);
        for (server, trust, name, is_believed) in [
            ("self", any.clone(), "elsewhere", true),
            ("signed", any.clone(), "elsewhere", true),
            ("old", any, "localhost", true),
            ("self", authority("self.pem"), "elsewhere", true),
            ("self", full("self.pem"), "localhost", true),
            ("self", full("self.pem"), "elsewhere", false),
            ("self", authority("ca.pem"), "localhost", false),
            ("signed", authority("ca.pem"), "elsewhere", true),
            ("signed", full("ca.pem"), "localhost", true),
            ("signed", full("ca.pem"), "elsewhere", false),
            ("signed", authority("self.pem"), "localhost", false),
            ("signed", CertificateTrust::SYSTEM, "localhost", false),
            ("old", authority("self.pem"), "localhost", false),
        ] {
            let connected = made.connects(server, &trust, name).await;
            let case = format!("{server} as {name} by {trust:?}: {connected:?}");
            assert_eq!(connected.is_ok(), is_believed, "{case}");
        }
        std::fs::write(made.path("empty.pem"), "").unwrap();
        for missing in ["empty.pem", "none.pem"] {
            let error = client_config(&full(missing), rustls::ALL_VERSIONS).unwrap_err();
            assert!(error.to_string().contains(missing), "{error}");
        }
    }
}
