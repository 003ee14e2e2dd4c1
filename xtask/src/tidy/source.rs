//! A Rust file seen without its strings and comments, good enough for rustfmt'd code: rules look for words in code, and
//! a word in a message or a comment is none.

use std::ops::Range;

/// The text three times, line by line alike: everything that does not belong is blank.
pub struct Source {
    raw: Vec<String>,
    pub code: Vec<String>,
    pub comments: Vec<String>,
    /// Per line: inside an item marked `#[cfg(test)]`, `#[test]` and the like.
    pub in_test: Vec<bool>,
}

#[derive(Debug, PartialEq)]
pub struct Module {
    pub name: String,
    /// As in `#[path = "…"]`.
    pub path: Option<String>,
    pub only_tests: bool,
}

/// `fn` with the lines from its signature to its closing brace (0-based, end excluded).
pub struct Function {
    pub name: String,
    pub lines: Range<usize>,
    pub is_test: bool,
}

impl Source {
    pub fn new(text: &str) -> Self {
        let (code, comments) = split(text);
        let code: Vec<String> = code.split('\n').map(String::from).collect();
        let comments = comments.split('\n').map(String::from).collect();
        let in_test = test_lines(&code);
        let raw = text.split('\n').map(String::from).collect();
        Self {
            raw,
            code,
            comments,
            in_test,
        }
    }

    pub fn functions(&self) -> Vec<Function> {
        let mut functions = Vec::new();
        for (line, text) in self.code.iter().enumerate() {
            let Some(at) = find_word(text, "fn") else {
                continue;
            };
            let name: String = text[at + 2..]
                .trim_start()
                .chars()
                .take_while(|c| is_word(*c))
                .collect();
            if name.is_empty() {
                continue; // a type: fn(u8)
            }
            let is_test = self.attributes_above(line).any(is_test_attribute);
            functions.push(Function {
                name,
                lines: line..item_end(&self.code, line, at),
                is_test,
            });
        }
        functions
    }

    fn attributes_above(&self, line: usize) -> impl Iterator<Item = &str> {
        self.code[..line]
            .iter()
            .rev()
            .map(|text| text.trim())
            .take_while(|text| text.starts_with("#[") || text.is_empty())
    }

    /// What is declared as `mod name;`.
    pub fn child_modules(&self) -> Vec<Module> {
        let declared = self.code.iter().enumerate().filter_map(|(line, text)| {
            let at = find_word(text, "mod")?;
            let name = text[at + 3..].trim().strip_suffix(';')?.trim().to_string();
            let only_tests =
                self.in_test[line] || self.attributes_above(line).any(is_test_attribute);
            let path = self.raw[..line]
                .iter()
                .rev()
                .take_while(|text| text.trim().starts_with("#["))
                .find_map(|text| {
                    Some(
                        text.trim()
                            .strip_prefix("#[path = \"")?
                            .strip_suffix("\"]")?
                            .to_string(),
                    )
                });
            Some(Module {
                name,
                path,
                only_tests,
            })
        });
        declared.collect()
    }
}

fn is_test_attribute(text: &str) -> bool {
    let text = text.trim();
    ["#[cfg(test)]", "#[test]", "#[tokio::test", "#[cfg(all(test"]
        .iter()
        .any(|start| text.starts_with(start))
}

pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where `word` begins, not as part of a longer word. Its ends may be anything (`.unwrap()`, `todo!`).
pub fn find_word(text: &str, word: &str) -> Option<usize> {
    text.match_indices(word).map(|(at, _)| at).find(|at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !goes_on(word.chars().next(), before) && !goes_on(word.chars().next_back(), after)
    })
}

fn goes_on(edge: Option<char>, neighbour: Option<char>) -> bool {
    edge.is_some_and(is_word) && neighbour.is_some_and(is_word)
}

fn test_lines(code: &[String]) -> Vec<bool> {
    let mut in_test = vec![false; code.len()];
    for line in 0..code.len() {
        if !in_test[line] && is_test_attribute(&code[line]) {
            let end = item_end(code, line, code[line].rfind(']').map_or(0, |at| at + 1));
            in_test[line..end].fill(true);
        }
    }
    in_test
}

/// The line after the item that begins at (line, column): after its matching brace, or after a `;` without one.
fn item_end(code: &[String], line: usize, column: usize) -> usize {
    let mut braces = 0_usize;
    let mut others = 0_usize;
    for (number, text) in code.iter().enumerate().skip(line) {
        for c in text.chars().skip(if number == line {
            text[..column].chars().count()
        } else {
            0
        }) {
            match c {
                '(' | '[' => others += 1,
                ')' | ']' => others = others.saturating_sub(1),
                '{' => braces += 1,
                '}' if braces <= 1 => return number + 1,
                '}' => braces -= 1,
                ';' if braces == 0 && others == 0 => return number + 1,
                _ => {}
            }
        }
    }
    code.len()
}

/// The text as code only and as comments only; what is left out is blank, newlines stay.
fn split(text: &str) -> (String, String) {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::new();
    let mut comments = String::new();
    let mut at = 0;
    while at < chars.len() {
        let (kind, end) = token(&chars, at);
        for c in &chars[at..end] {
            let blank = if *c == '\n' { '\n' } else { ' ' };
            code.push(if kind == Kind::Code { *c } else { blank });
            comments.push(if kind == Kind::Comment { *c } else { blank });
        }
        at = end;
    }
    (code, comments)
}

#[derive(PartialEq)]
enum Kind {
    Code,
    Comment,
    Text,
}

/// The kind of what begins here and where it ends.
fn token(chars: &[char], at: usize) -> (Kind, usize) {
    match chars[at..] {
        ['/', '/', ..] => return (Kind::Comment, seek(chars, at, |rest| rest[0] == '\n')),
        ['/', '*', ..] => return (Kind::Comment, block_comment_end(chars, at)),
        _ => {}
    }
    let after_word = at > 0 && is_word(chars[at - 1]);
    match chars[at] {
        '"' => (Kind::Text, quoted_end(chars, at + 1, '"')),
        'r' | 'b' | 'c' if !after_word => {
            raw_string_end(chars, at).map_or((Kind::Code, at + 1), |end| (Kind::Text, end))
        }
        '\'' if is_char_literal(chars, at) => (Kind::Text, quoted_end(chars, at + 1, '\'')),
        _ => (Kind::Code, at + 1),
    }
}

fn seek(chars: &[char], from: usize, is_end: impl Fn(&[char]) -> bool) -> usize {
    (from..chars.len())
        .find(|at| is_end(&chars[*at..]))
        .unwrap_or(chars.len())
}

fn block_comment_end(chars: &[char], at: usize) -> usize {
    let mut depth = 1;
    let mut at = at + 2;
    while at < chars.len() && depth > 0 {
        match &chars[at..] {
            ['/', '*', ..] => depth += 1,
            ['*', '/', ..] => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
    }
    at.min(chars.len())
}

fn quoted_end(chars: &[char], mut at: usize, quote: char) -> usize {
    while at < chars.len() && chars[at] != quote {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

/// `r"…"`, `r#"…"#`, `br"…"` and so on; other strings are found at their quote.
fn raw_string_end(chars: &[char], at: usize) -> Option<usize> {
    let rest = &chars[at..];
    let prefix = rest
        .iter()
        .take_while(|c| matches!(c, 'r' | 'b' | 'c'))
        .count();
    let hashes = rest[prefix..].iter().take_while(|c| **c == '#').count();
    if rest[prefix - 1] != 'r' || prefix > 2 || rest.get(prefix + hashes) != Some(&'"') {
        return None;
    }
    let quote = seek(chars, at + prefix + hashes + 1, |rest| {
        rest[0] == '"' && rest[1..].iter().take_while(|c| **c == '#').count() >= hashes
    });
    Some((quote + 1 + hashes).min(chars.len()))
}

/// `'x'` and `'\n'`, not the lifetime `'x`.
fn is_char_literal(chars: &[char], at: usize) -> bool {
    matches!(&chars[at..], ['\'', '\\', ..] | ['\'', _, '\'', ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_are_not_code() {
        let text = "let a = \"todo!() \\\" fn x {\"; // unsafe\n/* a /* b */ dbg! */ let c = '\"'; fn f<'a>(x: &'a str) {}\n\
                    let r = r#\"quote \" panic!\"#; let b = b\"x{\"; let q = '\\''; let for_r = 1;";
        let source = Source::new(text);
        let code = source.code.join("\n");
        for gone in ["todo", "unsafe", "dbg", "panic", "x{", "\""] {
            assert!(!code.contains(gone), "{gone} in {code}");
        }
        for kept in [
            "let a = ",
            "let c = ",
            "fn f<'a>(x: &'a str) {}",
            "let q = ",
            "let for_r = 1;",
        ] {
            assert!(code.contains(kept), "{kept} not in {code}");
        }
        assert!(source.comments[0].contains("// unsafe") && !source.comments[0].contains("todo"));
    }

    #[test]
    fn rubbish_does_not_panic_and_keeps_its_lines() {
        for text in [
            "",
            "\"",
            "'",
            "r#",
            "r#\"",
            "br",
            "/*",
            "/*/",
            "'\\",
            "fn",
            "fn f(",
            "#[cfg(test)]",
            "mod ;",
            "é\"ß\n'ü'",
            "cr",
        ] {
            let source = Source::new(text);
            assert_eq!(source.code.len(), text.split('\n').count());
            source.functions();
            source.child_modules();
        }
    }

    #[test]
    fn test_items_end_where_their_brace_closes() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n#[cfg(test)]\nuse x::y;\nfn d() {}\n";
        let lines: Vec<usize> = Source::new(text)
            .in_test
            .iter()
            .enumerate()
            .filter(|(_, test)| **test)
            .map(|(line, _)| line)
            .collect();
        assert_eq!(lines, [1, 2, 3, 4, 6, 7]);
    }

    #[test]
    fn functions_with_their_lines() {
        let text = "#[test]\nfn one(\n    a: [u8; 3],\n) {\n    if a { b }\n}\ntype F = fn(u8);\nfn two();\n";
        let found: Vec<_> = Source::new(text)
            .functions()
            .into_iter()
            .map(|f| (f.name, f.lines, f.is_test))
            .collect();
        assert_eq!(
            found,
            [
                ("one".to_string(), 1..6, true),
                ("two".to_string(), 7..8, false)
            ]
        );
    }

    #[test]
    fn modules_declared_and_whether_for_tests() {
        let text = "pub mod a;\nmod inline {\n}\n#[cfg(test)]\n#[path = \"b_tests.rs\"]\nmod b;\n// mod c;\npub(crate) mod d;\n";
        let module = |name: &str, path: Option<&str>, only_tests| Module {
            name: name.into(),
            path: path.map(String::from),
            only_tests,
        };
        let expected = [
            module("a", None, false),
            module("b", Some("b_tests.rs"), true),
            module("d", None, false),
        ];
        assert_eq!(Source::new(text).child_modules(), expected);
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(find_word("unsafe_code unsafe", "unsafe"), Some(12));
        assert_eq!(find_word("eprintln!(1)", "println!"), None);
        assert_eq!(find_word("x.unwrap()", ".unwrap()"), Some(1));
        assert_eq!(find_word("sleep_until", "sleep"), None);
    }
}
