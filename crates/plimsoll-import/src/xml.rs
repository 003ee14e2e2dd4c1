//! As much XML as tools write their results in: elements, attributes, text, the five entities. No document types, so
//! nothing that could grow or lead elsewhere.

use super::fault::{Fault, Read};

/// An element with its line.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Element {
    pub name: String,
    pub line: usize,
    pub attributes: Vec<(String, String)>,
    pub children: Vec<Element>,
    pub text: String,
}

/// Elements within each other; more is no result of a tool.
const DEEPEST: usize = 64;

/// The outermost elements, one after the other; what stands between them is left out.
pub(super) fn documents(text: &str) -> Read<Vec<Element>> {
    let (mut roots, mut open): (Vec<Element>, Vec<Element>) = (Vec::new(), Vec::new());
    let (mut rest, mut line) = (text.trim_start_matches('\u{feff}'), 1);
    while let Some(at) = rest.find('<') {
        let before = &rest[..at];
        if let Some(top) = open.last_mut() {
            top.text.push_str(&plain(before.trim()));
        } else if roots.is_empty() && !before.trim().is_empty() {
            return Err(Fault::at(line, before, "an XML document"));
        }
        line += before.matches('\n').count();
        let tag_line = line;
        let (tag, after) = tag(&rest[at..], tag_line)?;
        line += rest[at..rest.len() - after.len()].matches('\n').count();
        rest = after;
        match tag {
            Tag::Skipped => {}
            Tag::Open(element, closed) => {
                if open.len() >= DEEPEST {
                    return Err(Fault::at(
                        tag_line,
                        &element.name,
                        format!("at most {DEEPEST} elements within each other"),
                    ));
                }
                open.push(Element {
                    line: tag_line,
                    ..element
                });
                if closed {
                    roots.extend(close(&mut open));
                }
            }
            Tag::Close(name) => {
                if open.last().is_none_or(|top| top.name != name) {
                    let expected = open
                        .last()
                        .map_or("an element".into(), |top| format!("</{}>", top.name));
                    return Err(Fault::at(tag_line, &format!("</{name}>"), expected));
                }
                roots.extend(close(&mut open));
            }
        }
    }
    match open.last() {
        None if !roots.is_empty() => Ok(roots),
        top => Err(Fault::end(
            text,
            top.map_or("an XML document".into(), |top| format!("</{}>", top.name)),
        )),
    }
}

/// Closes the innermost element; the outermost is returned.
fn close(open: &mut Vec<Element>) -> Option<Element> {
    let element = open.pop()?;
    match open.last_mut() {
        Some(parent) => {
            parent.children.push(element);
            None
        }
        None => Some(element),
    }
}

enum Tag {
    /// With whether it is closed at once.
    Open(Element, bool),
    Close(String),
    /// Declarations and comments.
    Skipped,
}

/// The tag that `text` begins with, and what follows it.
fn tag(text: &str, line: usize) -> Read<(Tag, &str)> {
    let until = |end: &str| {
        let at = text
            .find(end)
            .ok_or_else(|| Fault::at(line, text, format!("`{end}`")))?;
        Ok((&text[..at], &text[at + end.len()..]))
    };
    if text.starts_with("<!--") {
        return Ok((Tag::Skipped, until("-->")?.1));
    }
    if text.starts_with("<?") {
        return Ok((Tag::Skipped, until("?>")?.1));
    }
    if text.starts_with("<!") {
        return Err(Fault::at(
            line,
            text,
            "elements only; document types and sections are not read",
        ));
    }
    let (inside, after) = until(">")?;
    let inside = &inside[1..];
    if let Some(name) = inside.strip_prefix('/') {
        return Ok((Tag::Close(name.trim().to_owned()), after));
    }
    let (inside, closed) = inside
        .strip_suffix('/')
        .map_or((inside, false), |inside| (inside, true));
    // A name follows its bracket at once.
    let name = inside.split(char::is_whitespace).next().unwrap_or_default();
    if name.is_empty() {
        return Err(Fault::at(line, text, "the name of an element"));
    }
    let element = Element {
        name: name.to_owned(),
        attributes: attributes(&inside[name.len()..]),
        ..Element::default()
    };
    Ok((Tag::Open(element, closed), after))
}

fn attributes(mut text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    while let Some((name, rest)) = text.split_once('=') {
        let rest = rest.trim_start();
        let Some(quote) = rest
            .chars()
            .next()
            .filter(|quote| matches!(quote, '"' | '\''))
        else {
            break;
        };
        let Some((value, after)) = rest[1..].split_once(quote) else {
            break;
        };
        found.push((name.trim().to_owned(), plain(value)));
        text = after;
    }
    found
}

fn plain(text: &str) -> String {
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ];
    entities
        .into_iter()
        .fold(text.to_owned(), |text, (entity, plain)| {
            text.replace(entity, plain)
        })
}

impl Element {
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// Text of a child.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.child(name).map(|child| child.text.as_str())
    }

    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Read<Element> {
        Ok(documents(text)?.remove(0))
    }

    /// Found by fuzzing: an ideographic space is three bytes long.
    #[test]
    fn a_space_before_a_name_is_refused() {
        for text in ["<\u{3000}a>", "< a></a>", "<a>\u{3000}< b/></a>"] {
            assert!(
                tag(text.trim_start_matches("<a>\u{3000}"), 1).is_err(),
                "{text:?}"
            );
        }
    }

    #[test]
    fn several_documents_follow_each_other() {
        let all =
            documents("<A>1</A>\n\u{feff}# second\n<?xml version=\"1.0\"?><A>2</A>\n").unwrap();
        assert_eq!(
            all.iter()
                .map(|a| (a.line, a.text.as_str()))
                .collect::<Vec<_>>(),
            [(1, "1"), (3, "2")]
        );
        assert_eq!(
            documents("<A>1</A>\n<A>")
                .map_err(|fault| fault.line)
                .unwrap_err(),
            2
        );
    }

    #[test]
    fn elements_attributes_and_text_are_read_with_their_lines() {
        let root =
            parse("<?xml version=\"1.0\"?>\n<!-- a -->\n<R>\n <A>1 &lt; 2</A>\n <B x=\"1\" y='2'/>\n</R>\n").unwrap();
        assert_eq!(
            (root.name.as_str(), root.line, root.value("A")),
            ("R", 3, Some("1 < 2"))
        );
        let b = root.child("B").unwrap();
        assert_eq!(
            (b.line, b.attribute("x"), b.attribute("y"), b.attribute("z")),
            (5, Some("1"), Some("2"), None)
        );
    }

    #[test]
    fn a_syntax_error_has_its_line() {
        let fault = |text: &str| {
            parse(text)
                .map_err(|fault| (fault.line, fault.expected))
                .unwrap_err()
        };
        assert_eq!(fault("<R>\n<A>\n</R>"), (3, "</A>".into()));
        assert_eq!(fault("<R>\n<A>1</A>"), (2, "</R>".into()));
        assert_eq!(fault("text\n").1, "an XML document");
        assert!(fault("<!DOCTYPE r>").1.starts_with("elements only"));
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(text in "[<>/a= \"'!?&;\n-]{0,80}") {
            let _ = parse(&text);
        }
    }
}
