//! Attacks over real connections: what is sent, and how it is refused.

use super::*;

struct Attack {
    name: &'static str,
    /// Lines end with `\n` here; `HOST` is the right host.
    request: &'static str,
    /// 0: closed without an answer.
    status: &'static [u16],
}

/// A request that would be answered, but for what is added to it.
macro_rules! with_header {
    ($header:literal) => {
        concat!("GET /run/a.plimsoll HTTP/1.1\nHost: HOST\n", $header)
    };
}

const ATTACKS: &[Attack] = &[
    Attack {
        name: "a foreign host in the address beside the right one in the header",
        request: "GET http://evil.example/ HTTP/1.1\nHost: HOST",
        status: &[421],
    },
    Attack {
        name: "the right host in the address beside a foreign one in the header",
        request: "GET http://HOST/ HTTP/1.1\nHost: evil.example",
        status: &[421],
    },
    Attack {
        name: "a user in the address",
        request: "GET http://HOST@evil.example/ HTTP/1.1\nHost: HOST",
        status: &[400, 421],
    },
    Attack {
        name: "an authority as the address",
        request: "GET evil.example:80 HTTP/1.1\nHost: HOST",
        status: &[400, 421],
    },
    Attack {
        name: "a tunnel",
        request: "CONNECT evil.example:443 HTTP/1.1\nHost: HOST",
        status: &[405],
    },
    Attack {
        name: "a file as the address",
        request: "GET file:///etc/passwd HTTP/1.1\nHost: HOST",
        status: &[400, 404, 421],
    },
    Attack {
        name: "all of the server",
        request: "OPTIONS * HTTP/1.1\nHost: HOST",
        status: &[405],
    },
    Attack {
        name: "two hosts",
        request: "GET / HTTP/1.1\nHost: HOST\nHost: HOST",
        status: &[400, 421],
    },
    Attack {
        name: "no host",
        request: "GET / HTTP/1.1\nX: y",
        status: &[400, 421],
    },
    Attack {
        name: "a host with a comma",
        request: "GET / HTTP/1.1\nHost: HOST, evil.example",
        status: &[400, 421],
    },
    Attack {
        name: "a host that rebinding resolves to this machine",
        request: "GET / HTTP/1.1\nHost: 127.0.0.1.nip.io",
        status: &[421],
    },
    Attack {
        name: "the host of no address",
        request: "GET / HTTP/1.1\nHost: 0.0.0.0",
        status: &[421],
    },
    Attack {
        name: "an image on a page of another site",
        request: with_header!("Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: no-cors"),
        status: &[403],
    },
    Attack {
        name: "a frame on a page of another port",
        request: with_header!(
            "Sec-Fetch-Site: same-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: iframe"
        ),
        status: &[403],
    },
    Attack {
        name: "two origins",
        request: with_header!("Origin: http://HOST\nOrigin: http://evil.example"),
        status: &[403],
    },
    Attack {
        name: "two lengths",
        request: with_header!("Content-Length: 1\nContent-Length: 2"),
        status: &[400],
    },
    Attack {
        name: "a length and chunks: a request hidden in the body of another",
        request: with_header!(
            "Content-Length: 4\nTransfer-Encoding: chunked\n\n0\n\nGET /metrics HTTP/1.1\nHost: HOST"
        ),
        status: &[400, 413],
    },
    Attack {
        name: "chunks without an end",
        request: with_header!("Transfer-Encoding: chunked\n\nffffffffffffffff\nx"),
        status: &[400, 413],
    },
    Attack {
        name: "an unknown coding",
        request: with_header!("Transfer-Encoding: chunked, identity"),
        status: &[400, 413],
    },
    Attack {
        name: "a negative length",
        request: with_header!("Content-Length: -1"),
        status: &[400],
    },
    Attack {
        name: "a length of more than 64 bits",
        request: with_header!("Content-Length: 99999999999999999999"),
        status: &[400],
    },
    Attack {
        name: "a body that is announced only",
        request: with_header!("Expect: 100-continue\nContent-Length: 1000000000"),
        status: &[413],
    },
    Attack {
        name: "the beginning of HTTP/2",
        request: "PRI * HTTP/2.0\n\nSM\n",
        status: &[0, 400, 505],
    },
    Attack {
        name: "HTTP/0.9",
        request: "GET /run/a.plimsoll",
        status: &[0, 400],
    },
    Attack {
        name: "HTTP/1.2",
        request: "GET / HTTP/1.2\nHost: HOST",
        status: &[0, 400, 505],
    },
    Attack {
        name: "a TLS handshake",
        request: "\x16\x03\x01\x02\x00\x01\x00\x01",
        status: &[0, 400],
    },
    Attack {
        name: "a header with a zero byte",
        request: with_header!("X: a\0b"),
        status: &[400],
    },
    Attack {
        name: "a folded header",
        request: with_header!("X: a\n b"),
        status: &[400],
    },
    Attack {
        name: "a space before the colon",
        request: with_header!("Content-Length : 5"),
        status: &[400],
    },
    Attack {
        name: "an overlong slash",
        request: "GET /run/..%c0%afsecret.txt HTTP/1.1\nHost: HOST",
        status: &[404],
    },
    Attack {
        name: "an encoded zero byte",
        request: "GET /run/a.plimsoll%00 HTTP/1.1\nHost: HOST",
        status: &[404],
    },
    Attack {
        name: "half an escape",
        request: "GET /run/%2 HTTP/1.1\nHost: HOST",
        status: &[404],
    },
    Attack {
        name: "a method that changes what is asked",
        request: "POST / HTTP/1.1\nHost: HOST\nX-HTTP-Method-Override: GET",
        status: &[405],
    },
    Attack {
        name: "a file beside the runs",
        request: "GET /run/secret.txt HTTP/1.1\nHost: HOST",
        status: &[404],
    },
];

#[test]
fn each_attack_is_refused_and_the_server_goes_on() {
    let site = TestSite::open();
    std::fs::write(site.dir.path().join("secret.txt"), "SECRET").unwrap();
    for attack in ATTACKS {
        let text = site.raw(attack.request).0;
        let answers: Vec<u16> = text
            .split("HTTP/1.1 ")
            .skip(1)
            .map(|rest| rest[..3].parse().unwrap())
            .collect();
        let first = answers.first().copied().unwrap_or(0);
        assert!(attack.status.contains(&first), "{}: {text}", attack.name);
        assert!(answers.len() <= 1, "{}: {text}", attack.name);
        assert!(!text.contains("SECRET") && !text.contains("report of"));
    }
    assert_eq!(site.get("/run/a.plimsoll").status(), 200);
}

/// Each tries to be answered with a page without the token.
#[test]
fn no_way_around_the_token() {
    let site = TestSite::protected();
    let head = "GET / HTTP/1.1\nHost: HOST\n";
    let wrong = &TOKEN[..TOKEN.len() - 1];
    for request in [
        format!("GET http://HOST/ HTTP/1.1\nHost: HOST\nX-Token: {TOKEN}"),
        format!("{head}Authorization: Bearer {wrong}"),
        format!("{head}Authorization: Bearer {TOKEN}{TOKEN}"),
        format!("{head}Authorization: Bearer x\nAuthorization: Bearer {TOKEN}"),
        format!("{head}Authorization: Bearer \0{TOKEN}"),
        format!("{head}Authorization: {TOKEN}"),
        format!("{head}Referer: http://HOST/?token={TOKEN}"),
        format!("{head}Cookie: plimsoll={TOKEN}"),
        format!("{head}Cookie: xplimsoll-PORT={TOKEN}"),
        format!("GET /?token={wrong}&token= HTTP/1.1\nHost: HOST"),
        format!("GET /?TOKEN={TOKEN} HTTP/1.1\nHost: HOST"),
        format!("GET /token={TOKEN} HTTP/1.1\nHost: HOST"),
        format!("GET /#?token={TOKEN} HTTP/1.1\nHost: HOST"),
        format!("HEAD / HTTP/1.1\nHost: HOST\nX: {TOKEN}"),
    ] {
        let answer = site.raw(&request.replace("PORT", &site.address.port().to_string()));
        assert!(matches!(answer.status(), 400 | 401), "{request}");
        assert!(!answer.0.contains(TOKEN) && !answer.0.contains("a.plimsoll"));
    }
}

#[test]
fn names_of_runs_add_no_header_and_no_markup() {
    let site = TestSite::with(None, true);
    let name = "x\r\nSet-Cookie: a=b\r\n\r\n<script>alert(1)<.plimsoll";
    let dir = site.dir.path();
    std::fs::rename(dir.join("a.plimsoll"), dir.join(name)).unwrap();
    let answer = site.get("/");
    assert_eq!(answer.status(), 303);
    assert_eq!(answer.header("set-cookie"), None, "{}", answer.0);
    let address = answer.header("location").unwrap();
    assert!(address.starts_with("/run/x%0D%0ASet-Cookie:"), "{address}");
    assert!(!answer.0.contains("<script>alert"), "{}", answer.0);
}

#[test]
fn silent_connections_make_room_for_others() {
    let site = TestSite::open();
    let silent: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = TcpStream::connect(site.address).unwrap();
            // It may have been closed for the next.
            let _ = stream.write_all(b"GET / HTTP/1.1\r\n");
            stream
        })
        .collect();
    assert_eq!(site.get("/").status(), 200);
    drop(silent);
}
