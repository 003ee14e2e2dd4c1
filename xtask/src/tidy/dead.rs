//! Files that nothing leads to: Rust files outside every module tree; SQL, messages and plans that nobody names.

use std::collections::{BTreeMap, BTreeSet};

use super::source::Source;
use super::{Finding, Tree};

pub fn check(tree: &Tree) -> Vec<Finding> {
    let sources: BTreeMap<&str, &Source> = tree.sources().collect();
    let reached = reach(&sources);
    let rust = sources
        .keys()
        .filter(|path| !reached.contains_key(**path))
        .map(|path| dead(path, "no mod declares this file"));
    let named = tree
        .files
        .keys()
        .filter(|path| must_be_named(path) && !is_named(tree, path));
    let named = named.map(|path| dead(path, "nothing includes or mentions this file"));
    rust.chain(named).collect()
}

fn dead(path: &str, what: &str) -> Finding {
    Finding {
        path: path.to_string(),
        line: 0,
        what: what.to_string(),
    }
}

/// Where cargo starts to compile.
fn is_root(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let in_src = folder == "src" || folder.ends_with("/src");
    in_src && matches!(name, "main.rs" | "lib.rs")
        || folder.ends_with("src/bin")
        || name == "build.rs"
        || is_test_root(path)
}

/// Each file in tests/, examples/, benches/ and fuzz_targets/ is a program of its own; main.rs in a folder there too.
fn is_test_root(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    if parts.contains(&"src") {
        return false;
    }
    match parts.as_slice() {
        [.., folder, _] => {
            is_test_folder(folder)
                || matches!(parts.as_slice(), [.., folder, _, "main.rs"] if is_test_folder(folder))
        }
        _ => false,
    }
}

fn is_test_folder(name: &str) -> bool {
    matches!(name, "tests" | "examples" | "benches" | "fuzz_targets")
}

/// The files reached from the roots, each with whether only tests see it.
fn reach(sources: &BTreeMap<&str, &Source>) -> BTreeMap<String, bool> {
    let mut reached: BTreeMap<String, bool> = BTreeMap::new();
    let roots = sources.keys().filter(|path| is_root(path));
    let mut queue: Vec<(String, bool)> = roots
        .map(|path| (path.to_string(), is_test_root(path)))
        .collect();
    while let Some((path, test)) = queue.pop() {
        if reached
            .get(&path)
            .is_some_and(|only_tests| !*only_tests || test)
        {
            continue; // known, and not as less than now
        }
        if let Some(source) = sources.get(path.as_str()) {
            for module in source.child_modules() {
                let base = module_folder(&path, is_root(&path));
                let name = &module.name;
                let places = match module.path {
                    // Counts from the folder of the file that contains it.
                    Some(file) => vec![format!("{}{file}", folder_of(&path))],
                    None => vec![format!("{base}{name}.rs"), format!("{base}{name}/mod.rs")],
                };
                let child = places
                    .into_iter()
                    .find(|place| sources.contains_key(place.as_str()));
                queue.extend(child.map(|child| (child, test || module.only_tests)));
            }
        }
        reached.insert(path, test);
    }
    reached
}

/// Where the child modules of a file lie, with a closing `/`.
fn module_folder(path: &str, is_root: bool) -> String {
    let folder = folder_of(path);
    if is_root || &path[folder.len()..] == "mod.rs" {
        folder.to_string()
    } else {
        format!("{}/", path.trim_end_matches(".rs"))
    }
}

fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..=at])
}

pub fn test_only_files(sources: &BTreeMap<String, Source>) -> BTreeSet<String> {
    let sources = sources
        .iter()
        .map(|(path, source)| (path.as_str(), source))
        .collect();
    reach(&sources)
        .into_iter()
        .filter(|(_, test)| *test)
        .map(|(path, _)| path)
        .collect()
}

fn must_be_named(path: &str) -> bool {
    path.ends_with(".sql")
        || path.ends_with(".ftl")
        || path.starts_with("plans/") && path.ends_with(".toml")
}

/// Named by another file; messages also by their folder, which fluent-templates takes as a whole.
fn is_named(tree: &Tree, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let folder = path
        .split('/')
        .rev()
        .find(|part| part.contains("locale") || part.contains("messages"));
    let folder = folder.filter(|_| path.ends_with(".ftl"));
    tree.files
        .iter()
        .filter(|(other, _)| *other != path && !other.ends_with(".ftl"))
        .any(|(_, text)| text.contains(name) || folder.is_some_and(|f| text.contains(f)))
}

#[cfg(test)]
mod tests {
    use super::super::places;
    use super::*;

    #[test]
    fn a_rust_file_without_a_mod_is_dead() {
        let tree = Tree::of(&[
            ("a/src/lib.rs", "mod one;\npub mod two;\n"),
            ("a/src/one.rs", "mod deep;\n"),
            ("a/src/one/deep.rs", ""),
            ("a/src/two/mod.rs", "mod leaf;\n"),
            ("a/src/two/leaf.rs", ""),
            ("a/src/two/dead.rs", ""),
            ("a/src/deep.rs", ""),
            ("a/tests/it.rs", "mod common;\n"),
            ("a/tests/common/mod.rs", ""),
            ("a/tests/common/dead.rs", ""),
            ("a/src/tests/dead.rs", ""),
        ]);
        assert_eq!(
            places(&check(&tree)),
            [
                "a/src/deep.rs:0",
                "a/src/tests/dead.rs:0",
                "a/src/two/dead.rs:0",
                "a/tests/common/dead.rs:0"
            ]
        );
    }

    #[test]
    fn files_only_tests_see() {
        let tree = Tree::of(&[
            ("a/src/lib.rs", "mod one;\n#[cfg(test)]\nmod fixtures;\n"),
            (
                "a/src/one.rs",
                "#[cfg(test)]\n#[path = \"one_tests.rs\"]\nmod tests;\n",
            ),
            ("a/src/one_tests.rs", ""),
            ("a/src/fixtures.rs", "fn f() {}\n"),
            ("a/tests/it.rs", "fn f() {}\n"),
        ]);
        let only_tests: Vec<_> = tree
            .sources()
            .filter(|(_, source)| source.in_test.iter().all(|test| *test))
            .map(|(path, _)| path)
            .collect();
        assert_eq!(
            only_tests,
            ["a/src/fixtures.rs", "a/src/one_tests.rs", "a/tests/it.rs"]
        );
    }

    #[test]
    fn sql_messages_and_plans_are_named_somewhere() {
        let tree = Tree::of(&[
            (
                "a/src/lib.rs",
                "const A: &str = include_str!(\"used.sql\");\nstatic_loader! { locales: \"./locales\" }\n",
            ),
            ("a/src/used.sql", ""),
            ("a/src/dead.sql", ""),
            ("a/locales/en/report.ftl", ""),
            ("b/messages/dead.ftl", ""),
            ("plans/used.toml", "# see dead.toml.old\n"),
            ("plans/dead2.toml", ""),
            ("README.md", "Try plans/used.toml.\n"),
        ]);
        assert_eq!(
            places(&check(&tree)),
            [
                "a/src/dead.sql:0",
                "b/messages/dead.ftl:0",
                "plans/dead2.toml:0"
            ]
        );
    }
}
