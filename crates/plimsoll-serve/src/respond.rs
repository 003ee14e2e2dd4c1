//! Answers, with the headers that all of them have.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body as _, Frame, SizeHint};
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName,
    HeaderValue, LOCATION, REFERRER_POLICY, REFRESH, SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};
use plimsoll_report::runs::notice_page;
use sha2::{Digest, Sha256};
use tokio::sync::OwnedSemaphorePermit;

use crate::access::AccessRefusal;

pub(crate) type Body = BoxBody<Bytes, std::io::Error>;
pub(crate) type PageResponse = Response<Body>;

/// An answer that is longer ends its connection: one that is kept would have to be taken before the next head is due.
const LONG: u64 = 64 << 10;

/// What follows `script-src` in the policy of a page.
#[derive(Clone)]
pub(crate) enum ScriptPolicy {
    None,
    /// Files of the server's.
    Own,
    /// Only the one that the page holds, by its digest.
    Inline(String),
}

impl ScriptPolicy {
    /// Those of a report: its script is the last element of the page.
    pub fn of_report(html: &str) -> Self {
        let script = html
            .rsplit_once("<script>")
            .and_then(|(_, rest)| rest.split_once("</script>"));
        match script {
            Some((script, _)) => Self::Inline(base64(&Sha256::digest(script.as_bytes()))),
            None => Self::None,
        }
    }

    fn policy(&self) -> String {
        let scripts = match self {
            Self::None => "script-src 'none'".to_owned(),
            Self::Own => "script-src 'self'; connect-src 'self'".to_owned(),
            Self::Inline(digest) => format!("script-src 'sha256-{digest}'"),
        };
        // Charts set styles of their elements.
        format!(
            "default-src 'none'; {scripts}; style-src 'unsafe-inline'; img-src data:; form-action 'self'; \
             base-uri 'none'; frame-ancestors 'none'"
        )
    }
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let all = chunk
            .iter()
            .chain(&[0, 0])
            .take(3)
            .fold(0u32, |all, byte| all << 8 | u32::from(*byte));
        for place in 0..4 {
            text.push(if place <= chunk.len() {
                char::from(DIGITS[(all >> (18 - 6 * place) & 63) as usize])
            } else {
                '='
            });
        }
    }
    text
}

fn answer(status: StatusCode, kind: &'static str, policy: &str, body: Body) -> PageResponse {
    let is_long = body.size_hint().lower() > LONG;
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Made of letters, quotes and digits.
    if let Ok(policy) = HeaderValue::from_str(policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    if is_long { last(answer) } else { answer }
}

/// A text with its room in memory, until the last part of it was sent.
struct HeldText {
    text: String,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for HeldText {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

pub(crate) fn held(text: String, room: OwnedSemaphorePermit) -> Bytes {
    Bytes::from_owner(HeldText { text, _room: room })
}

/// A body that keeps something until it was sent.
struct KeepingBody<T> {
    body: Body,
    _kept: T,
}

impl<T: Unpin> hyper::body::Body for KeepingBody<T> {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Keeps something until an answer was sent, or its connection has ended.
pub(crate) fn until_sent(
    answer: PageResponse,
    kept: impl Send + Sync + Unpin + 'static,
) -> PageResponse {
    answer.map(|body| KeepingBody { body, _kept: kept }.boxed())
}

fn whole(text: Bytes) -> Body {
    Full::new(text).map_err(|never| match never {}).boxed()
}

/// The last answer of its connection.
pub(crate) fn last(answer: PageResponse) -> PageResponse {
    with_header(answer, CONNECTION, "close")
}

pub(crate) fn page(html: Bytes, scripts: &ScriptPolicy) -> PageResponse {
    page_with(StatusCode::OK, html, scripts)
}

fn page_with(status: StatusCode, html: Bytes, scripts: &ScriptPolicy) -> PageResponse {
    answer(
        status,
        "text/html; charset=utf-8",
        &scripts.policy(),
        whole(html),
    )
}

/// A page that explains why there is no other.
pub(crate) fn notice(status: StatusCode, title: &str, text: &str) -> PageResponse {
    page_with(status, notice_page(title, text).into(), &ScriptPolicy::None)
}

pub(crate) fn refusal(why: AccessRefusal) -> PageResponse {
    notice(why.status(), "Not answered", why.text())
}

pub(crate) fn only_get() -> PageResponse {
    let title = "Nothing can be changed here";
    let answer = notice(StatusCode::METHOD_NOT_ALLOWED, title, "Only GET and HEAD.");
    with_header(answer, ALLOW, "GET, HEAD")
}

pub(crate) fn no_bodies() -> PageResponse {
    let title = "Not answered";
    notice(
        StatusCode::PAYLOAD_TOO_LARGE,
        title,
        "Requests have no content.",
    )
}

pub(crate) fn redirect(address: &str) -> PageResponse {
    let answer = notice(StatusCode::SEE_OTHER, "Go on", address);
    with_header(answer, LOCATION, address)
}

pub(crate) fn redirect_with_cookie(address: &str, cookie: &str) -> PageResponse {
    with_header(redirect(address), SET_COOKIE, cookie)
}

/// The run has no file yet: the page asks again.
pub(crate) fn not_begun() -> PageResponse {
    let title = "The run has not begun";
    let text = "plimsoll prepares it. This page changes by itself.";
    with_header(notice(StatusCode::OK, title, text), REFRESH, "2")
}

fn with_header(mut answer: PageResponse, name: HeaderName, value: &str) -> PageResponse {
    // Addresses are encoded, and a token is of letters and digits.
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
    answer
}

pub(crate) fn script(text: &'static str) -> PageResponse {
    let body = whole(Bytes::from_static(text.as_bytes()));
    let kind = "text/javascript; charset=utf-8";
    answer(StatusCode::OK, kind, &ScriptPolicy::None.policy(), body)
}

/// What Prometheus scrapes.
pub(crate) fn metrics(text: Bytes) -> PageResponse {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    let policy = ScriptPolicy::None.policy();
    answer(StatusCode::OK, kind, &policy, whole(text))
}

pub(crate) fn event_stream(body: Body) -> PageResponse {
    let policy = ScriptPolicy::None.policy();
    answer(StatusCode::OK, "text/event-stream", &policy, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_base64() {
        let all = [&b""[..], b"f", b"fo", b"foo", b"foob", b"\xff\xfe\xfd"];
        let texts = all.map(base64);
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "//79"]);
    }

    #[test]
    fn a_report_may_run_its_own_script_and_no_other() {
        let page = r#"<script type="application/json">{}</script><script>run()</script></body>"#;
        let ScriptPolicy::Inline(digest) = ScriptPolicy::of_report(page) else {
            panic!("no script")
        };
        assert_eq!(digest, base64(&Sha256::digest("run()")));
        assert!(matches!(ScriptPolicy::of_report("<p>"), ScriptPolicy::None));
    }
}
