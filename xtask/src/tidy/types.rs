//! A type's name has one meaning in the whole workspace, so that who reads or searches it finds one type.

use std::collections::BTreeMap;

use super::{Finding, Tree};

pub fn check(tree: &Tree) -> Vec<Finding> {
    let shared = types(tree)
        .into_iter()
        .filter(|(_, places)| places.len() > 1);
    shared
        .map(|(name, places)| Finding {
            path: "crates".to_string(),
            line: 0,
            what: format!(
                "{} types are named {name}: {}",
                places.len(),
                places.join(", ")
            ),
        })
        .collect()
}

/// The places of each name that a type of a crate has, outside of tests.
fn types(tree: &Tree) -> BTreeMap<String, Vec<String>> {
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let sources = tree.sources().filter(|(path, _)| path.contains("/src/"));
    for (path, source) in sources.filter(|(path, _)| path.starts_with("crates/")) {
        for (line, code) in source.code.iter().enumerate() {
            if let Some(name) = type_name(code).filter(|_| !source.in_test[line]) {
                let place = format!("{path}:{}", line + 1);
                types.entry(name.to_string()).or_default().push(place);
            }
        }
    }
    types
}

/// The type that a line defines; `type Item = …` of a trait is none.
fn type_name(code: &str) -> Option<&str> {
    let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    let keyword = words.find(|word| ["struct", "enum", "trait", "type"].contains(word))?;
    let name = words.next()?;
    let is_associated = keyword == "type" && code.starts_with(' ');
    let is_item = code.trim_start().starts_with(keyword) || code.trim_start().starts_with("pub");
    (is_item && !is_associated && name.starts_with(char::is_uppercase)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_two_types_is_found() {
        let found = check(&Tree::of(&[
            (
                "crates/a/src/lib.rs",
                "pub struct One;\npub(crate) enum Two {}\nimpl X {\n    type Item = u8;\n}\n",
            ),
            (
                "crates/b/src/lib.rs",
                "type Two = u8;\n#[cfg(test)]\nstruct One;\nimpl Y {\n    type Item = u8;\n}\n",
            ),
        ]));
        assert_eq!(found.len(), 1);
        assert!(
            found[0]
                .what
                .starts_with("2 types are named Two: crates/a/src/lib.rs:2")
        );
    }
}
