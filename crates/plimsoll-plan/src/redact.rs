//! Texts without their passwords.

use std::ops::Range;

use crate::engine::ServerKind;
use crate::secret_option::{SHOWN, redact_options};

const KEY: &str = "password";
/// What names of secrets end with, in URLs, settings, variables and options.
const KEYS: [&str; 14] = [
    KEY,
    "passwd",
    "passphrase",
    "passphrase_command",
    "pass",
    "pwd",
    "secret",
    "secret_key",
    "access_key",
    "private_key",
    "api_key",
    "apikey",
    "token",
    "sst_auth",
];
/// Bytes in which a URL has its first colon.
const LONGEST_BEGINNING: usize = 1024;

/// The text with every password in a URL (`user:password@`) or key/value string (`password=…`) replaced by `***`.
///
/// Drivers take passwords that a URL ought not to contain: tokio-postgres reads up to the first `@`, whatever stands before
/// it. So where a quotation ends the URL, the last `@` in it ends the password; in running text the last `@` of the
/// first word that has one. Where more than one reading is possible, the one that hides more is taken. Only links of
/// the web are read as RFC 3986 has them, since they stand in texts about something else.
pub fn redact(text: &str) -> String {
    redact_fully(text, false)
}

/// As [`redact`], of a word of a command line: it may be a URL without its scheme, but not where it begins as a path does.
pub fn redact_word(word: &str) -> String {
    redact_fully(word, !word.starts_with(['/', '.', '~']))
}

/// What one password hid may have kept apart what now reads as another; so until nothing changes, which takes two
/// passes for all but rubbish.
pub(crate) fn redact_fully(text: &str, whole: bool) -> String {
    let pass = |text: &str| redact_options(&redact_keys(&redact_urls(text, whole)));
    let mut shown = pass(text);
    for _ in 0..16 {
        let next = pass(&shown);
        if next == shown {
            break;
        }
        shown = next;
    }
    shown
}

/// `whole`: if the text begins with a URL, nothing else follows it.
fn redact_urls(text: &str, whole: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    let mut urls = Urls::of(text);
    let mut next = urls.next_from(0);
    if next.is_none() && whole {
        next = Some(UrlStart {
            scheme: 0..0,
            rest: 0,
        });
    }
    while let Some(UrlStart {
        scheme,
        rest: start,
    }) = next
    {
        let rest = &text[start..];
        let region = if ["http", "https"]
            .iter()
            .any(|web| text[scheme.clone()].eq_ignore_ascii_case(web))
            && !whole
            && !is_value(text, scheme.start)
        {
            &rest[..rest
                .find(|c: char| c.is_whitespace() || "/?#\"'".contains(c))
                .unwrap_or(rest.len())]
        } else if whole && scheme.start == 0 {
            rest
        } else {
            enclosed(text, start).unwrap_or_else(|| in_prose(rest))
        };
        out.push_str(&text[done..start]);
        done = start;
        let is_server = is_servers(&text[scheme.clone()]);
        let password = password_in(region).or_else(|| bad_port(region).filter(|_| is_server));
        if let Some(password) = password {
            out.push_str(&region[..password.start]);
            out.push_str(SHOWN);
            done = start + password.end;
        }
        next = urls.next_from(done);
    }
    out.push_str(&text[done..]);
    out
}

/// Whether a value in quotation marks begins there, all of which may be a URL.
fn is_value(text: &str, start: usize) -> bool {
    let before = text[..start].strip_suffix(['"', '\'']);
    before.is_some_and(|before| before.trim_end().ends_with('='))
}

/// Where a URL begins.
#[derive(Clone)]
struct UrlStart {
    scheme: Range<usize>,
    /// What follows `://`, or what was typed instead.
    rest: usize,
}

/// The next URL of each kind: with `://`, of a server with other signs, and with none behind `url =`. Each is looked for
/// once, however many there are of the others.
struct Urls<'a> {
    text: &'a str,
    next: [Option<UrlStart>; 3],
}

type FindUrl = fn(&str, usize) -> Option<UrlStart>;

const KINDS: [FindUrl; 3] = [proper, mistyped, without_scheme];

impl<'a> Urls<'a> {
    fn of(text: &'a str) -> Self {
        Self {
            text,
            next: KINDS.map(|find| find(text, 0)),
        }
    }

    /// The first from there on.
    fn next_from(&mut self, from: usize) -> Option<UrlStart> {
        for (next, find) in self.next.iter_mut().zip(KINDS) {
            if next
                .as_ref()
                .is_some_and(|url| url.scheme.start < from || url.rest <= from)
            {
                *next = find(self.text, from);
            }
        }
        let first = self.next.iter().flatten().min_by_key(|url| url.rest);
        first.cloned()
    }
}

fn proper(text: &str, from: usize) -> Option<UrlStart> {
    let at = from + text[from..].find("://")?;
    Some(UrlStart {
        scheme: scheme_start(&text[..at])..at,
        rest: at + 3,
    })
}

/// `postgres:/user:…`, `postgres:user:…`.
fn mistyped(text: &str, from: usize) -> Option<UrlStart> {
    let mut colons = text[from..].match_indices(':').map(|(i, _)| from + i);
    colons.find_map(|colon| {
        let scheme = scheme_start(&text[..colon]);
        let rest = &text[colon + 1..];
        let is_known = is_servers(&text[scheme..colon]);
        let goes_on = !rest.starts_with("//") && !rest.starts_with(char::is_whitespace);
        (is_known && goes_on && scheme >= from).then_some(UrlStart {
            scheme: scheme..colon,
            rest: colon + 1,
        })
    })
}

/// `url = "user:…"` of a plan.
fn without_scheme(text: &str, from: usize) -> Option<UrlStart> {
    let mut keys = text[from..].match_indices("url").map(|(i, _)| from + i);
    keys.find_map(|key| {
        let value = text[key + 3..].trim_start().strip_prefix('=')?.trim_start();
        let value = value.trim_start_matches(['"', '\'']);
        let rest = text.len() - value.len();
        let beginning = &value[..value.floor_char_boundary(LONGEST_BEGINNING)];
        let line = beginning.lines().next().unwrap_or_default();
        let scheme = &line[..line.find(':')?];
        let has_scheme = line.contains("://") || is_servers(scheme);
        (!has_scheme).then_some(UrlStart {
            scheme: rest..rest,
            rest,
        })
    })
}

/// Whether URLs of a server begin with this scheme.
fn is_servers(scheme: &str) -> bool {
    ServerKind::ALL
        .iter()
        .flat_map(|server| server.schemes())
        .filter_map(|known| known.strip_suffix("://"))
        .any(|known| scheme.eq_ignore_ascii_case(known))
}

fn scheme_start(before: &str) -> usize {
    before
        .trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "+-.".contains(c))
        .len()
}

/// Where the password lies in what follows `://`.
fn password_in(url: &str) -> Option<Range<usize>> {
    let colon = url.find(':')?;
    // Percent-encoded by mistake where there is no other.
    let sign = if url.contains('@') { "@" } else { "%40" };
    let first = url.find(sign)?;
    let lower = url.to_ascii_lowercase();
    let query = lower
        .match_indices(KEY)
        .map(|(i, _)| i)
        .find(|i| lower[..*i].ends_with(['?', '&']));
    let (from, to) = match query {
        // Either a password with a ? in it or a parameter with an @ in it.
        Some(query) if query < first => return (colon < query).then(|| colon + 1..url.len()),
        Some(query) => (colon, url[..query].rfind(sign)?),
        None => (colon, url.rfind(sign)?),
    };
    (from < to).then(|| from + 1..to)
}

/// What stands for a port and is no number: a password whose host is missing.
fn bad_port(url: &str) -> Option<Range<usize>> {
    let end = url.find(|c: char| c.is_whitespace() || "/?#\"'".contains(c));
    let authority = url[..end.unwrap_or(url.len())].trim_end_matches([':', ',', '.', ';', ')']);
    let colon = authority.rfind(']').map_or(0, |bracket| bracket + 1);
    let colon = colon + authority[colon..].find(':')?;
    let is_port = |part: &str| {
        let port = part.rsplit_once(':').map_or("", |(_, port)| port);
        port.bytes().all(|byte| byte.is_ascii_digit())
    };
    (!authority.split(',').all(is_port)).then_some(colon + 1..authority.len())
}

/// The rest of the quotation that `start` lies in; `None` outside of any. Only TOML's threefold marks span lines.
fn enclosed(text: &str, start: usize) -> Option<&str> {
    let quote = open_quote(&text[..start])?;
    let rest = &text[start..];
    let rest = if quote.len() == 3 {
        rest
    } else {
        &rest[..rest.find('\n').unwrap_or(rest.len())]
    };
    let end = rest
        .match_indices(quote)
        .map(|(i, _)| i)
        .find(|i| closes(rest, *i, quote))?;
    Some(&rest[..end])
}

/// The quotation mark that is open at the end of `before`, on its last line.
fn open_quote(before: &str) -> Option<&str> {
    let mut line = &before[before.rfind('\n').map_or(0, |i| i + 1)..];
    let mut open = None;
    let mut last = ' ';
    while let Some(c) = line.chars().next() {
        let len = match c {
            '"' | '\'' if line[1..].starts_with(c) && line[2..].starts_with(c) => 3,
            _ => c.len_utf8(),
        };
        match open {
            // An apostrophe within a word opens nothing.
            None if "\"'".contains(c) && !last.is_alphanumeric() && last != '\\' => {
                open = Some(&line[..len])
            }
            Some(quote) if quote == &line[..len] && last != '\\' => open = None,
            _ => {}
        }
        last = c;
        line = &line[len..];
    }
    open
}

/// Whether the quotation mark at `i` ends a quotation: it is not escaped and no word goes on behind it.
fn closes(text: &str, i: usize, quote: &str) -> bool {
    !text[..i].ends_with('\\')
        && !text[i + quote.len()..].starts_with(|c: char| c.is_alphanumeric())
}

/// The part of running text that may be a URL's: one line, up to the next URL or the end of the first word with an `@`.
fn in_prose(rest: &str) -> &str {
    let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
    let mut next = line
        .match_indices("://")
        .map(|(i, _)| scheme_start(&line[..i]));
    let next =
        next.find(|i| line[..*i].ends_with(|c: char| c.is_whitespace() || ",;\"'".contains(c)));
    let line = &line[..next.unwrap_or(line.len())];
    let Some(at) = line.find('@') else {
        return line;
    };
    let end = line[at..]
        .find(char::is_whitespace)
        .map_or(line.len(), |i| at + i);
    &line[..end]
}

fn redact_keys(text: &str) -> String {
    let decoded = Decoded::of(text);
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for key in decoded.keys() {
        if key.start < done {
            continue;
        }
        let Some(start) = value_start(text, key.end) else {
            continue;
        };
        out.push_str(&text[done..start]);
        out.push_str(SHOWN);
        done = start + value_end(text, key.start, start);
    }
    out.push_str(&text[done..]);
    out
}

/// Where the value begins of the key that ends at `end`: behind `=`, or behind the `":` of JSON.
fn value_start(text: &str, end: usize) -> Option<usize> {
    let after = text[end..].trim_start_matches('\\');
    let value = match after.strip_prefix(['"', '\'']) {
        Some(quoted) => quoted.trim_start().strip_prefix(['=', ':']),
        None => after.trim_start().strip_prefix('=').or_else(|| {
            let encoded = after.get(..3)?;
            encoded.eq_ignore_ascii_case("%3d").then_some(&after[3..])
        }),
    };
    Some(text.len() - value?.trim_start().len())
}

/// A text in lower case and without percent encoding, which URLs may have in their keys, too.
struct Decoded {
    text: String,
    /// Where each byte of it stands in the original, and the end of that.
    places: Vec<usize>,
}

impl Decoded {
    fn of(original: &str) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut places = Vec::with_capacity(original.len() + 1);
        let mut rest = original.chars();
        loop {
            let place = original.len() - rest.as_str().len();
            let Some(c) = rest.next() else {
                places.push(original.len());
                return Self { text, places };
            };
            let code = rest
                .as_str()
                .get(..2)
                .filter(|_| c == '%')
                .and_then(|hex| u8::from_str_radix(hex, 16).ok())
                .filter(u8::is_ascii_alphabetic);
            if code.is_some() {
                rest.nth(1);
            }
            let c = code.map_or(c, char::from).to_ascii_lowercase();
            places.extend(std::iter::repeat_n(place, c.len_utf8()));
            text.push(c);
        }
    }

    /// Names of secrets in the original, in order; several may end at the same place.
    fn keys(&self) -> Vec<Range<usize>> {
        let of_key = |key: &&str| {
            let found = self.text.match_indices(*key);
            found
                .map(|(at, key)| self.places[at]..self.places[at + key.len()])
                .collect::<Vec<_>>()
        };
        let mut found: Vec<_> = KEYS.iter().flat_map(of_key).collect();
        found.sort_by_key(|key| (key.start, key.end));
        found
    }
}

/// Length of the value at `start`, whose key is at `key`. Whatever stands behind a backslash belongs to it: libpq reads
/// `\x` as x, and within a plan's quotation the backslash itself may be doubled.
fn value_end(text: &str, key: usize, start: usize) -> usize {
    let value = &text[start..];
    if let Some(quote @ ('\'' | '"')) = value.chars().next() {
        let inner = value[1..].match_indices(quote).map(|(i, _)| i + 1);
        return inner
            .into_iter()
            .find(|i| !value[..*i].ends_with('\\'))
            .map_or(value.len(), |i| i + 1);
    }
    let limit = enclosed(text, start).map_or(value.len(), str::len);
    let value = &value[..limit];
    let query = text[..key].ends_with(['?', '&']);
    let ends = |(i, c): &(usize, char)| match c {
        '&' | '\n' if query => true,
        c => !query && c.is_whitespace() && !value[..*i].ends_with('\\'),
    };
    value
        .char_indices()
        .find(ends)
        .map_or(value.len(), |(i, _)| i)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::secret::Secret;
    use crate::tests::cases;

    #[test]
    fn a_url_can_be_shown_without_its_password() {
        for (url, shown) in [
            ("postgres://u:p@ss@h/db", "postgres://u@h/db"),
            ("postgres://u@h/db", "postgres://u@h/db"),
            ("mariadb://u:x@h:3306", "mariadb://u@h:3306"),
        ] {
            assert_eq!(Secret::new(url).without_password(), shown);
        }
    }

    #[test]
    fn passwords_do_not_show() {
        for (text, shown) in cases(
            r#"
postgres://u:p@ss@host/db => postgres://u:***@host/db
postgres://u:pa/ss@h/db => postgres://u:***@h/db
postgres://u:pa?ss@h/db => postgres://u:***@h/db
postgres://u:pa ss@h/db => postgres://u:***@h/db
cannot open 'postgres://u:pa'ss@h/db' => cannot open 'postgres://u:***@h/db'
url = "postgres://u:secret@h:5432/db" # x@y => url = "postgres://u:***@h:5432/db" # x@y
url = "postgres://u:a\"b c@h/db" => url = "postgres://u:***@h/db"
postgres://u@host/db?password=x&sslmode=require => postgres://u@host/db?password=***&sslmode=require
postgres://u@h:5432/db?password=a@b&x=1 => postgres://u@h:5432/db?password=***&x=1
postgres://u:a?password=x@h/db => postgres://u:***
host=h password='a b' user=u => host=h password=*** user=u
host=h password = ab user=u => host=h password = *** user=u
host=h password='a\'bcd' user=u => host=h password=*** user=u
host=h password=a\ bcd user=u => host=h password=*** user=u
url = "host=h password='a\\'bcd' user=u" => url = "host=h password=*** user=u"
url = "host=h password=a'bcd" # x => url = "host=h password=***" # x
PGPASSWORD=ab psql => PGPASSWORD=*** psql
mysql://u:p@ss@h:3306/db => mysql://u:***@h:3306/db
url = "mariadb://u:secret@h" => url = "mariadb://u:***@h"
MYSQL_PWD=ab mariadb => MYSQL_PWD=*** mariadb
"#,
        ) {
            assert_eq!(redact(text), shown);
            assert_eq!(
                redact(&redact(text)),
                shown,
                "redacting twice changes nothing"
            );
        }
    }

    #[test]
    fn odd_forms_hide_their_password() {
        for (text, shown) in cases(
            r#"
user:Zq1@h/db => user:***@h/db
postgres:/u:Zq1@h/db => postgres:/u:***@h/db
postgres:u:Zq1@h/db => postgres:u:***@h/db
POSTGRES:\\u:Zq1@h => POSTGRES:\\u:***@h
POSTGRES://u:Zq1@Zq2@h => POSTGRES://u:***@h
jdbc:mysql://u:Zq1@h => jdbc:mysql://u:***@h
mysql+ssl://u:Zq1@h => mysql+ssl://u:***@h
https://u:Zq1/Zq2@h => https://u:***@h
postgres://u:Zq1%40h/db => postgres://u:***%40h/db
postgres://u:Zq1/db => postgres://u:***/db
postgres://u@h?p%61ssword=Zq1 => postgres://u@h?p%61ssword=***
postgres://u@h?password%3DZq1 => postgres://u@h?password%3D***
mssql://h;user=sa;Pwd=Zq1 => mssql://h;user=sa;Pwd=***
--url=user:Zq1@h => --url=user:***@h
"#,
        ) {
            assert_eq!(redact_word(text), shown);
            assert_eq!(redact_word(shown), shown);
        }
        for (text, shown) in cases(
            r#"
url = "u:Zq1@h/db" # x => url = "u:***@h/db" # x
url='u:Zq1 @h' => url='u:***@h'
url = "postgres:/u:Zq1@h" => url = "postgres:/u:***@h"
cannot reach postgres:/u:Zq1@h: no route => cannot reach postgres:/u:***@h: no route
{"password": "Zq1", "a": 1} => {"password": *** "a": 1}
env PGPASSWORD=Zq1 SSHPASS=Zq2 x => env PGPASSWORD=*** SSHPASS=*** x
docker exec -e API_KEY=Zq1 h => docker exec -e API_KEY=*** h
report_password = Zq1 => report_password = ***
"#,
        ) {
            assert_eq!(redact(text), shown);
            assert_eq!(redact(shown), shown);
        }
    }

    #[test]
    fn what_holds_no_password_stays() {
        for text in [
            "no secret here: 12:30 a@b",
            "postgres://h:5432/db cannot be reached",
            "\"postgres://h:5432/db\" cannot be reached as u@h",
            "postgres://u@h/db cannot be reached: ask a:b@c",
            "see https://docs.example:443/a or write to me@example.org",
            "the password is wrong",
            "mysql: cannot connect to a@b",
            "postgres://[::1]:5432,h2:5433/db: connection refused",
            "password_encryption = scram-sha-256",
            "url = \"postgres://u@h/db\"",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    #[test]
    fn two_on_one_line_are_both_redacted_and_both_reported() {
        let line = "postgres://u:p/1@h1/a, postgres://v:p?2@h2/b, see https://x:q@h3/ and postgres://h4:1/c";
        let shown = "postgres://u:***@h1/a, postgres://v:***@h2/b, see https://x:***@h3/ and postgres://h4:1/c";
        assert_eq!(redact(line), shown);
        assert_eq!(
            redact(r#"["postgres://u:a b@h1", 'postgres://v:c@h2']"#),
            r#"["postgres://u:***@h1", 'postgres://v:***@h2']"#
        );
        assert_eq!(
            redact("postgres://h:1/a and postgres://v:c@h2"),
            "postgres://h:1/a and postgres://v:***@h2"
        );
    }

    #[test]
    fn words_of_commands_stay() {
        for word in [
            "/mnt/a:b@c/x",
            "./10:30@host",
            "run",
            "--rate=1:2",
            "drive=raid5:6:sata",
            "a@b",
        ] {
            assert_eq!(redact_word(word), word);
        }
    }

    #[test]
    fn a_whole_value_hides_what_running_text_may_not() {
        assert_eq!(
            Secret::new("postgres://u:a@b c\n://d@h/db").redacted(),
            "postgres://u:***@h/db"
        );
    }

    const MARKS: [&str; 3] = ["Zq1", "Zq2", "Zq3"];

    /// Marks with anything between them: no mark may survive.
    fn password(between: &'static str) -> impl Strategy<Value = String> {
        (between, between).prop_map(|(a, b)| [MARKS[0], &a, MARKS[1], &b, MARKS[2]].concat())
    }

    fn hidden(shown: &str) -> bool {
        !MARKS.iter().any(|mark| shown.contains(mark))
    }

    proptest! {
        #[test]
        fn a_password_never_survives_in_a_url(any in password("[ -~\n\té]{0,8}"), text in password("[ -?A-~é]{0,8}")) {
            let whole = Secret::new(format!("postgres://u:{any}@h:5432/db")).redacted();
            prop_assert!(hidden(&whole), "{}", whole);
            // Lines within a plan's text are checked one by one.
            let line = any.replace('\n', " ");
            let toml = toml::Value::String(format!("postgres://u:{line}@h/db?x=a@b"));
            prop_assert!(hidden(&redact(&format!("url = {toml} # a@b"))), "{}", toml);
            prop_assume!(!text.contains("://") && !text.contains('?'));
            let prose = redact(&format!("postgres://u:{text}@h/db failed: ask a@b"));
            prop_assert!(hidden(&prose), "{}", prose);
        }

        #[test]
        fn a_password_never_survives_as_a_value(any in password("[ -~\n\té]{0,8}")) {
            let escaped = any.replace('\\', r"\\").replace('\'', r"\'");
            let bare: String = any.chars().flat_map(|c| if c.is_whitespace() || "\\'".contains(c) { vec!['\\', c] } else { vec![c] }).collect();
            for conninfo in [format!("host=h password='{escaped}' user=u"), format!("password = {bare} user=u")] {
                prop_assert!(hidden(&redact(&conninfo)), "{}", conninfo);
                prop_assert!(hidden(&Secret::new(&*conninfo).redacted()), "{}", conninfo);
                let toml = toml::Value::String(conninfo).to_string();
                prop_assert!(hidden(&redact(&format!("url = {toml}"))), "{}", toml);
            }
        }

        #[test]
        fn a_password_never_survives_in_an_odd_form(
            any in password("[ -~é]{0,8}"),
            bare in password("[!#$%(-.0-9;<=>?A-Z^_`a-z{|}~é]{0,6}"),
            scheme in prop::sample::select(vec!["", "postgres:", "Postgresql:/", "mysql:///", "MARIADB://", "https://", "x+y://", "mssql:\\\\"]),
        ) {
            let word = redact_word(&format!("{scheme}u:{any}@h"));
            prop_assert!(hidden(&word), "{}", word);
            let plan = format!("url = {} # x", toml::Value::String(format!("{scheme}u:{bare}@h")));
            prop_assert!(hidden(&redact(&plan)), "{} {}", plan, redact(&plan));
            for via in [format!("sshpass -p {bare} ssh h"), format!("mysql -p{bare} x"), format!("env SSHPASS={bare} x"), format!("x --token {bare} y")] {
                let via = format!("via = {}", toml::Value::String(via));
                prop_assert!(hidden(&redact(&via)), "{} {}", via, redact(&via));
            }
        }

        #[test]
        fn redacting_twice_changes_nothing(parts in prop::collection::vec(prop::sample::select(vec![
            "postgres", "http", "://", "u", ":", "p", "@", "/", "?", "&", "password", "=", " ", "'", "\"", "\\", "\n", "***", ",", "é",
            "url", "%", "40", "%3d", "-p", "sshpass", "mysql", "pass", "token", ".", ";",
        ]), 0..24)) {
            let once = redact(&parts.concat());
            prop_assert_eq!(redact(&once), once);
            let once = Secret::new(parts.concat()).redacted();
            prop_assert_eq!(Secret::new(&*once).redacted(), once);
        }
    }
}
