//! Who is answered: by host name, origin and token.

use std::net::{IpAddr, SocketAddr};

use hyper::header::{AUTHORIZATION, COOKIE, HOST, HeaderName, ORIGIN};
use hyper::{HeaderMap, StatusCode, Uri};

use crate::token::Token;

/// Whether an address can be reached from other machines.
pub fn needs_token(listen: &SocketAddr) -> bool {
    !listen.ip().is_loopback()
}

#[derive(Debug)]
pub(crate) struct AccessRules {
    pub listen: SocketAddr,
    pub token: Option<Token>,
}

/// How a request that is answered showed that it may be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Granted,
    /// By an address with the token: it becomes a cookie, and the browser goes to the address without it.
    ByAddress {
        cookie: String,
        address: String,
    },
}

/// Why a request is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessRefusal {
    Host,
    Origin,
    Token,
}

impl AccessRefusal {
    pub fn status(self) -> StatusCode {
        match self {
            Self::Host => StatusCode::MISDIRECTED_REQUEST,
            Self::Origin => StatusCode::FORBIDDEN,
            Self::Token => StatusCode::UNAUTHORIZED,
        }
    }

    pub fn text(self) -> &'static str {
        match self {
            Self::Host => "This host name is not served.\nUse the address that plimsoll printed.",
            Self::Origin => "Pages of other sites are not answered.",
            Self::Token => {
                "A token is needed.\nUse the address that plimsoll printed, which has it."
            }
        }
    }
}

impl AccessRules {
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<Admission, AccessRefusal> {
        let host = text(headers, &HOST).ok_or(AccessRefusal::Host)?;
        if !self.serves(host) {
            return Err(AccessRefusal::Host);
        }
        // RFC 9112, 3.2.2: a host in the address is what counts.
        if uri.authority().is_some_and(|own| own.as_str() != host) {
            return Err(AccessRefusal::Host);
        }
        // A page of another site may send requests, and then its origin is not this host.
        let is_own = |origin: &str| origin.strip_prefix("http://") == Some(host);
        if headers.contains_key(ORIGIN) && !text(headers, &ORIGIN).is_some_and(is_own) {
            return Err(AccessRefusal::Origin);
        }
        if is_embedded_elsewhere(headers) {
            return Err(AccessRefusal::Origin);
        }
        let Some(token) = &self.token else {
            return Ok(Admission::Granted);
        };
        if self.has_token(headers, token) {
            return Ok(Admission::Granted);
        }
        let query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        let mut given = query.filter(|(key, _)| key == "token");
        if given.any(|(_, given)| token.matches(&given)) {
            return Ok(self.by_address(uri, token));
        }
        Err(AccessRefusal::Token)
    }

    /// A name that resolves to this machine may belong to anybody (DNS rebinding); a number does not.
    fn serves(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port),
            _ => (host, ""),
        };
        // Any port: one that ssh forwards is another.
        if !port.bytes().all(|c| c.is_ascii_digit()) {
            return false;
        }
        if name.eq_ignore_ascii_case("localhost") {
            return true;
        }
        let number = name
            .strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'))
            .unwrap_or(name);
        let Ok(ip) = number.parse::<IpAddr>() else {
            return false;
        };
        ip.is_loopback() || ip == self.listen.ip() || self.listen.ip().is_unspecified()
    }

    fn has_token(&self, headers: &HeaderMap, token: &Token) -> bool {
        let bearer = text(headers, &AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        if bearer.is_some_and(|given| token.matches(given)) {
            return true;
        }
        let name = self.cookie_name();
        let cookies = headers.get_all(COOKIE).iter();
        cookies
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(key, given)| key == name && token.matches(given))
    }

    /// Browsers keep one set of cookies for all ports of a host.
    fn cookie_name(&self) -> String {
        format!("plimsoll-{}", self.listen.port())
    }

    fn by_address(&self, uri: &Uri, token: &Token) -> Admission {
        let mut rest = form_urlencoded::Serializer::new(String::new());
        for (key, value) in form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
            if key != "token" {
                rest.append_pair(&key, &value);
            }
        }
        let rest = rest.finish();
        let mark = if rest.is_empty() { "" } else { "?" };
        // Two slashes at its beginning would name another host.
        let path = uri.path().trim_start_matches('/');
        Admission::ByAddress {
            cookie: format!(
                "{}={}; HttpOnly; SameSite=Strict; Path=/",
                self.cookie_name(),
                token.as_str()
            ),
            address: format!("/{path}{mark}{rest}"),
        }
    }
}

/// A page of another site loads it as an image, a script or a frame of its own. A link to it is followed.
fn is_embedded_elsewhere(headers: &HeaderMap) -> bool {
    let is = |name: &str, value: &str| headers.get(name).is_some_and(|own| own == value);
    let is_foreign = is("sec-fetch-site", "cross-site") || is("sec-fetch-site", "same-site");
    is_foreign && !(is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document"))
}

/// The value of a header that a request has once.
fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then(|| value.to_str().ok())?
}
