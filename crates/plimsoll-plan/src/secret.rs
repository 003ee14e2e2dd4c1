//! Values that are used but never shown, and texts without their passwords.

use std::ops::Range;

use serde::{Deserialize, Serialize};

const SHOWN: &str = "***";
const KEY: &str = "password";
/// In running text also the variable that MariaDB's programs read; libpq's ends with the word above.
const KEYS: [&str; 2] = [KEY, "mysql_pwd"];

/// A value that is used but never shown: `Debug` and `Serialize` give it redacted.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself. For handing to a driver only.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// As [`redact`], knowing that all of it is one value.
    pub fn redacted(&self) -> String {
        redact_fully(&self.0, true)
    }
}

impl Secret {
    /// The URL as it can be typed: its password belongs in a variable of the environment.
    pub fn without_password(&self) -> String {
        self.redacted().replacen(":***@", "@", 1)
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.redacted())
    }
}

impl Serialize for Secret {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.redacted())
    }
}

/// The text with every password in a URL (`user:password@`) or key/value string (`password=…`) replaced by `***`.
///
/// Drivers take passwords that a URL ought not to contain: tokio-postgres reads up to the first `@`, whatever stands before
/// it. So where a quotation ends the URL, the last `@` in it ends the password; in running text the last `@` of the
/// first word that has one. Where more than one reading is possible, the one that hides more is taken. Only links of
/// the web are read as RFC 3986 has them, since they stand in texts about something else.
pub fn redact(text: &str) -> String {
    redact_fully(text, false)
}

/// What one password hid may have kept apart what now reads as another; so until nothing changes, which takes two
/// passes for all but rubbish.
fn redact_fully(text: &str, whole: bool) -> String {
    let pass = |text: &str| redact_keys(&redact_urls(text, whole));
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
    while let Some(at) = text[done..].find("://").map(|at| done + at) {
        let start = at + 3;
        let scheme = &text[scheme_start(&text[..at])..at];
        let rest = &text[start..];
        let region = if ["http", "https"]
            .iter()
            .any(|web| scheme.eq_ignore_ascii_case(web))
        {
            &rest[..rest
                .find(|c: char| c.is_whitespace() || "/?#\"'".contains(c))
                .unwrap_or(rest.len())]
        } else if whole && scheme_start(&text[..at]) == 0 {
            rest
        } else {
            enclosed(text, start).unwrap_or_else(|| in_prose(rest))
        };
        out.push_str(&text[done..start]);
        done = start;
        if let Some(password) = password_in(region) {
            out.push_str(&region[..password.start]);
            out.push_str(SHOWN);
            done = start + password.end;
        }
    }
    out.push_str(&text[done..]);
    out
}

fn scheme_start(before: &str) -> usize {
    before
        .trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "+-.".contains(c))
        .len()
}

/// Where the password lies in what follows `://`.
fn password_in(url: &str) -> Option<Range<usize>> {
    let colon = url.find(':')?;
    let first = url.find('@')?;
    let lower = url.to_ascii_lowercase();
    let query = lower
        .match_indices(KEY)
        .map(|(i, _)| i)
        .find(|i| lower[..*i].ends_with(['?', '&']));
    let (from, to) = match query {
        // Either a password with a ? in it or a parameter with an @ in it.
        Some(query) if query < first => return (colon < query).then(|| colon + 1..url.len()),
        Some(query) => (colon, url[..query].rfind('@')?),
        None => (colon, url.rfind('@')?),
    };
    (from < to).then(|| from + 1..to)
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
    let lower = text.to_ascii_lowercase();
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    let next = |done: usize| {
        let found = KEYS
            .iter()
            .filter_map(|key| lower[done..].find(key).map(|at| (done + at, key.len())));
        found.min()
    };
    while let Some((at, length)) = next(done) {
        let key_end = at + length;
        out.push_str(&text[done..key_end]);
        done = key_end;
        let after = text[key_end..].trim_start();
        let Some(value) = after.strip_prefix('=').map(str::trim_start) else {
            continue;
        };
        let start = text.len() - value.len();
        out.push_str(&text[key_end..start]);
        out.push_str(SHOWN);
        done = start + value_end(text, at, start);
    }
    out.push_str(&text[done..]);
    out
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
        for (text, shown) in [
            ("postgres://u:p@ss@host/db", "postgres://u:***@host/db"),
            ("postgres://u:pa/ss@h/db", "postgres://u:***@h/db"),
            ("postgres://u:pa?ss@h/db", "postgres://u:***@h/db"),
            ("postgres://u:pa ss@h/db", "postgres://u:***@h/db"),
            (
                "cannot open 'postgres://u:pa'ss@h/db'",
                "cannot open 'postgres://u:***@h/db'",
            ),
            (
                "url = \"postgres://u:secret@h:5432/db\" # x@y",
                "url = \"postgres://u:***@h:5432/db\" # x@y",
            ),
            (
                r#"url = "postgres://u:a\"b c@h/db""#,
                "url = \"postgres://u:***@h/db\"",
            ),
            (
                "postgres://u@host/db?password=x&sslmode=require",
                "postgres://u@host/db?password=***&sslmode=require",
            ),
            (
                "postgres://u@h:5432/db?password=a@b&x=1",
                "postgres://u@h:5432/db?password=***&x=1",
            ),
            ("postgres://u:a?password=x@h/db", "postgres://u:***"),
            ("host=h password='a b' user=u", "host=h password=*** user=u"),
            (
                "host=h password = ab user=u",
                "host=h password = *** user=u",
            ),
            (
                r"host=h password='a\'bcd' user=u",
                "host=h password=*** user=u",
            ),
            (
                r"host=h password=a\ bcd user=u",
                "host=h password=*** user=u",
            ),
            (
                r#"url = "host=h password='a\\'bcd' user=u""#,
                "url = \"host=h password=*** user=u\"",
            ),
            (
                r#"url = "host=h password=a'bcd" # x"#,
                "url = \"host=h password=***\" # x",
            ),
            ("PGPASSWORD=ab psql", "PGPASSWORD=*** psql"),
            ("mysql://u:p@ss@h:3306/db", "mysql://u:***@h:3306/db"),
            (
                "url = \"mariadb://u:secret@h\"",
                "url = \"mariadb://u:***@h\"",
            ),
            ("MYSQL_PWD=ab mariadb", "MYSQL_PWD=*** mariadb"),
        ] {
            assert_eq!(redact(text), shown);
            assert_eq!(
                redact(&redact(text)),
                shown,
                "redacting twice changes nothing"
            );
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
        fn redacting_twice_changes_nothing(parts in prop::collection::vec(prop::sample::select(vec![
            "postgres", "http", "://", "u", ":", "p", "@", "/", "?", "&", "password", "=", " ", "'", "\"", "\\", "\n", "***", ",", "é",
        ]), 0..24)) {
            let once = redact(&parts.concat());
            prop_assert_eq!(redact(&once), once);
            let once = Secret::new(parts.concat()).redacted();
            prop_assert_eq!(Secret::new(&*once).redacted(), once);
        }
    }
}
