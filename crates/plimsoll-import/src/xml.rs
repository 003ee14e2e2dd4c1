//! The elements of an XML text with their lines. Document types and CDATA sections are refused: no tool writes them,
//! and nothing can grow or lead elsewhere.

use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

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
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    // Names of end tags are checked here, for the line and what was expected there.
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    let mut documents = XmlDocuments::default();
    let mut place = XmlCursor::new(text);
    loop {
        place.move_to(reader.buffer_position());
        match reader.read_event() {
            Ok(Event::Eof) => return documents.finish(text),
            Ok(event) => documents.add(event, place.line)?,
            Err(error) => {
                place.move_to(reader.error_position());
                let expected = format!("XML ({error})");
                return Err(Fault::at(place.line, place.rest(), expected));
            }
        }
    }
}

/// A byte of a text, and its line.
struct XmlCursor<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> XmlCursor<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            line: 1,
        }
    }

    /// Forwards only.
    fn move_to(&mut self, at: u64) {
        let at = self.at.max(at as usize);
        let passed = self.text.as_bytes().get(self.at..at).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.at = at;
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }
}

#[derive(Default)]
struct XmlDocuments {
    roots: Vec<Element>,
    /// From the outermost to the innermost.
    open: Vec<Element>,
}

impl XmlDocuments {
    fn add(&mut self, event: Event<'_>, line: usize) -> Read<()> {
        match event {
            Event::Start(tag) => self.open(&tag, line)?,
            Event::Empty(tag) => {
                self.open(&tag, line)?;
                self.close();
            }
            Event::End(tag) => self.end(tag.name().0, line)?,
            Event::Text(text) => self.text(&text, line)?,
            Event::GeneralRef(entity) => self.text(&resolved(&entity), line)?,
            Event::DocType(found) => return Err(not_read(&found, line)),
            Event::CData(found) => return Err(not_read(&found, line)),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::Eof => {}
        }
        Ok(())
    }

    fn open(&mut self, tag: &BytesStart<'_>, line: usize) -> Read<()> {
        let name = tag.name().0;
        if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return Err(Fault::at(line, tag, "the name of an element"));
        }
        if self.open.len() >= DEEPEST {
            let expected = format!("at most {DEEPEST} elements within each other");
            return Err(Fault::at(line, name, expected));
        }
        let mut element = Element {
            name: name.to_owned(),
            line,
            ..Element::default()
        };
        for attribute in tag.attributes().with_checks(false) {
            let attribute =
                attribute.map_err(|error| Fault::at(line, tag, format!("attributes ({error})")))?;
            let value = attribute
                .normalized_value(XmlVersion::Implicit1_0)
                .unwrap_or_default()
                .into_owned();
            element.attributes.push((attribute.key.0.to_owned(), value));
        }
        self.open.push(element);
        Ok(())
    }

    fn end(&mut self, name: &str, line: usize) -> Read<()> {
        match self.open.last() {
            Some(top) if top.name == name => self.close(),
            top => {
                let expected = top.map_or("an element".into(), |top| format!("</{}>", top.name));
                return Err(Fault::at(line, &format!("</{name}>"), expected));
            }
        }
        Ok(())
    }

    fn close(&mut self) {
        let Some(mut element) = self.open.pop() else {
            return;
        };
        element.text = element.text.trim().to_owned();
        match self.open.last_mut() {
            Some(parent) => parent.children.push(element),
            None => self.roots.push(element),
        }
    }

    fn text(&mut self, text: &str, line: usize) -> Read<()> {
        let is_blank = text.trim_start_matches('\u{feff}').trim().is_empty();
        match self.open.last_mut() {
            Some(top) => top.text.push_str(text),
            None if self.roots.is_empty() && !is_blank => {
                return Err(Fault::at(line, text, "an XML document"));
            }
            None => {}
        }
        Ok(())
    }

    fn finish(self, text: &str) -> Read<Vec<Element>> {
        match self.open.last() {
            Some(top) => Err(Fault::end(text, format!("</{}>", top.name))),
            None if self.roots.is_empty() => Err(Fault::end(text, "an XML document")),
            None => Ok(self.roots),
        }
    }
}

fn not_read(found: &str, line: usize) -> Fault {
    let expected = "elements only; document types and sections are not read";
    Fault::at(line, found, expected)
}

/// The character that an entity stands for; other names stay as they are.
fn resolved(entity: &BytesRef<'_>) -> String {
    let name: &str = entity;
    match entity.resolve_char_ref() {
        Ok(Some(character)) => character.to_string(),
        _ => quick_xml::escape::resolve_predefined_entity(name)
            .map_or_else(|| format!("&{name};"), str::to_owned),
    }
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
        let mut attributes = self.attributes.iter();
        attributes
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
            assert!(parse(text).is_err(), "{text:?}");
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
