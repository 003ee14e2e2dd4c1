//! What a Rust file names: the items it defines, what it imports and passes on, and the paths in its code.

use std::collections::BTreeSet;

use super::source::{Source, is_word};

/// `a::b::C`, segment by segment.
pub type Path = Vec<String>;

/// One name that a `use` brings in; `*` for all names of a module.
#[derive(Debug, PartialEq)]
pub struct Import {
    pub name: String,
    pub path: Path,
    /// `pub use`: other files can name it as well.
    pub is_public: bool,
}

/// The names of a file, without those that only its tests use.
pub struct Names {
    pub defined: BTreeSet<String>,
    pub imports: Vec<Import>,
    /// Paths in the code, and single names as paths of one segment.
    pub paths: BTreeSet<Path>,
}

impl Names {
    pub fn new(source: &Source) -> Self {
        let lines = source.code.iter().zip(&source.in_test);
        let code: Vec<&str> = lines
            .map(|(line, in_test)| if *in_test { "" } else { line.as_str() })
            .collect();
        let mut imports = Vec::new();
        let mut rest = String::new();
        for statement in code.join("\n").split_inclusive(';') {
            match split_use(statement) {
                Some((before, is_public, tree)) => {
                    rest.push_str(before);
                    expand(&[], tree, is_public, &mut imports);
                }
                None => rest.push_str(statement),
            }
        }
        Self {
            defined: code.iter().filter_map(|line| defined_name(line)).collect(),
            imports,
            paths: paths(&rest),
        }
    }

    pub fn import(&self, name: &str) -> Option<&Import> {
        self.imports.iter().find(|import| import.name == name)
    }

    /// Whether the code itself needs an import, which `pub use` may only pass on.
    pub fn uses(&self, import: &Import) -> bool {
        let mut first_names = self.paths.iter().filter_map(|path| path.first());
        !import.is_public || first_names.any(|name| *name == import.name)
    }
}

/// `… pub(super) use a::{b, c};` as what stands before, whether it is public, and `a::{b, c}`.
fn split_use(statement: &str) -> Option<(&str, bool, &str)> {
    let start = statement.rfind("\nuse ").map(|at| at + 1);
    let start = start.or(statement.starts_with("use ").then_some(0));
    let indented = || statement.rfind(" use ").map(|at| at + 1);
    let start = start.or_else(indented)?;
    let before = &statement[..start];
    let line = before.rsplit('\n').next().unwrap_or(before).trim();
    let tree = statement[start + "use ".len()..].strip_suffix(';')?;
    (line.is_empty() || line.starts_with("pub")).then_some((before, line.starts_with("pub"), tree))
}

/// The imports of a use tree, such as `a::{self, b::C as D, e::*}`.
fn expand(prefix: &[String], tree: &str, is_public: bool, imports: &mut Vec<Import>) {
    let tree = tree.trim();
    if let Some((head, list)) = tree.split_once('{') {
        let prefix: Path = prefix.iter().cloned().chain(segments(head)).collect();
        for part in list_items(list.strip_suffix('}').unwrap_or(list)) {
            expand(&prefix, part, is_public, imports);
        }
        return;
    }
    let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
    let mut path: Path = prefix.iter().cloned().chain(segments(path)).collect();
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let name = match alias.trim() {
        "" => path.last().cloned(),
        alias => Some(alias.to_string()),
    };
    imports.extend(name.filter(|name| !name.is_empty()).map(|name| Import {
        name,
        path,
        is_public,
    }));
}

fn segments(path: &str) -> impl Iterator<Item = String> {
    let segments = path.split("::").map(str::trim);
    segments.filter(|name| !name.is_empty()).map(String::from)
}

/// `a, b::{c, d}, e` at its outer commas.
fn list_items(list: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let mut open = 0_usize;
    let mut start = 0;
    for (at, c) in list.char_indices() {
        match c {
            '{' => open += 1,
            '}' => open -= 1,
            ',' if open == 0 => {
                items.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(&list[start..]);
    items
}

/// The item that an unindented line defines.
fn defined_name(line: &str) -> Option<String> {
    const KEYWORDS: [&str; 9] = [
        "fn",
        "struct",
        "enum",
        "trait",
        "type",
        "const",
        "static",
        "union",
        "macro_rules!",
    ];
    if line.starts_with([' ', '#', '}']) {
        return None;
    }
    let mut words = line.split_whitespace();
    words.find(|word| KEYWORDS.contains(word))?;
    let name = words.find(|word| !["fn", "unsafe", "mut"].contains(word))?;
    Some(name.chars().take_while(|c| is_word(*c)).collect())
}

/// `a::b` and `c` of `a::b(c)`; fields and methods are no paths.
fn paths(code: &str) -> BTreeSet<Path> {
    let mut paths = BTreeSet::new();
    let mut rest = code;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let end = path_end(rest);
        if end == 0 {
            before = c;
            rest = &rest[c.len_utf8()..];
            continue;
        }
        if before != '.' && before != '\'' && !c.is_numeric() {
            paths.insert(segments(&rest[..end]).collect());
        }
        before = ' ';
        rest = &rest[end..];
    }
    paths
}

/// Where the path ends that the text begins with.
fn path_end(text: &str) -> usize {
    let mut end = 0;
    loop {
        let rest = &text[end..];
        let word = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        if word == 0 {
            return end;
        }
        end += word;
        let goes_on = text[end..]
            .strip_prefix("::")
            .is_some_and(|next| next.starts_with(is_word));
        if !goes_on {
            return end;
        }
        end += "::".len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_definitions_and_paths_are_found() {
        let names = Names::new(&Source::new(
            "//! use not::This;\nuse a::{self, b::C as D, e::*};\npub(super) use f::G;\n\
             pub const fn one() { h::i(D::new(x.y)) }\npub struct Two<T>(T);\n#[cfg(test)]\nmod tests { use z::Z; }\n",
        ));
        let imports: Vec<String> = names
            .imports
            .iter()
            .map(|import| {
                format!(
                    "{} {} {}",
                    import.name,
                    import.path.join("::"),
                    import.is_public
                )
            })
            .collect();
        assert_eq!(
            imports,
            [
                "a a false",
                "D a::b::C false",
                "* a::e::* false",
                "G f::G true"
            ]
        );
        assert_eq!(Vec::from_iter(&names.defined), ["Two", "one"]);
        for path in ["h::i", "D::new", "x"] {
            assert!(
                names.paths.contains(&segments(path).collect::<Path>()),
                "{path}"
            );
        }
        assert!(!names.paths.contains(&vec!["y".to_string()]));
        assert!(names.uses(&names.imports[1]) && !names.uses(&names.imports[3]));
    }
}
