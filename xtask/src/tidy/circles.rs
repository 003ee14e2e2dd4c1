//! Modules of a crate use each other in one direction only.
//!
//! A module is a file or folder directly below `src`. It uses another where its code outside of tests names it through
//! `crate::` or through as many `super::` as lead to the crate's root.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Tree};

type Graph<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, graph) in graphs(tree) {
        for circle in circles(&graph) {
            findings.push(Finding {
                path: format!("crates/{name}/src"),
                line: 0,
                what: format!("modules use each other in a circle: {}", circle.join(", ")),
            });
        }
    }
    findings
}

/// For each crate below `crates`: which module uses which.
fn graphs(tree: &Tree) -> BTreeMap<&str, Graph<'_>> {
    let mut graphs: BTreeMap<&str, Graph<'_>> = BTreeMap::new();
    for (path, _) in tree.sources() {
        if let Some((name, module, _)) = place(path) {
            graphs.entry(name).or_default().entry(module).or_default();
        }
    }
    for (path, source) in tree.sources() {
        let Some((name, module, depth)) = place(path) else {
            continue;
        };
        let graph = graphs.entry(name).or_default();
        let code: Vec<&str> = source
            .code
            .iter()
            .zip(&source.in_test)
            .filter(|(_, test)| !**test)
            .map(|(line, _)| line.as_str())
            .collect();
        let used = names_from_root(&code.join("\n"), depth);
        let modules: Vec<&str> = graph
            .keys()
            .copied()
            .filter(|other| *other != module && used.contains(*other))
            .collect();
        graph.entry(module).or_default().extend(modules);
    }
    graphs
}

/// The crate's folder, the module below its root, and how many `super::` lead to the root; `None` for the root itself.
fn place(path: &str) -> Option<(&str, &str, usize)> {
    let (name, rest) = path.strip_prefix("crates/")?.split_once("/src/")?;
    let inside = rest.strip_suffix(".rs")?;
    let inside = inside.strip_suffix("/mod").unwrap_or(inside);
    let module = inside.split('/').next()?;
    let is_root = ["lib", "main"].contains(&module);
    (!is_root).then(|| (name, module, inside.split('/').count()))
}

/// Names directly below the crate's root that the code uses: `a` of `crate::a::B` and of `crate::{a, c::D}`.
fn names_from_root(code: &str, depth: usize) -> BTreeSet<String> {
    let supers = "super::".repeat(depth);
    let mut names = BTreeSet::new();
    for root in ["crate::", supers.as_str()] {
        for (at, _) in code.match_indices(root) {
            // `super::super::` must not be read as its second half.
            let goes_on = code[..at].ends_with("::")
                || code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            if !goes_on {
                names.extend(first_names(&code[at + root.len()..]));
            }
        }
    }
    names
}

/// What a path begins with; of a list in braces what each of its paths begins with.
fn first_names(path: &str) -> Vec<String> {
    let Some(list) = path.strip_prefix('{') else {
        return vec![identifier(path)];
    };
    let mut names = vec![identifier(list)];
    let mut open = 0;
    let mut begins = false;
    for (at, c) in list.char_indices() {
        match c {
            '{' => open += 1,
            '}' if open == 0 => break,
            '}' => open -= 1,
            ',' if open == 0 => begins = true,
            _ => {}
        }
        if begins {
            names.push(identifier(&list[at + 1..]));
            begins = false;
        }
    }
    names
}

fn identifier(text: &str) -> String {
    text.trim_start()
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect()
}

/// Groups of modules that all lead to each other, each in alphabetical order.
fn circles<'a>(graph: &Graph<'a>) -> BTreeSet<Vec<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&'a str>> = graph
        .keys()
        .map(|module| (*module, reachable(graph, module)))
        .collect();
    graph
        .keys()
        .map(|module| {
            let others = reached[module].iter().copied();
            others
                .filter(|other| reached[other].contains(module))
                .collect::<Vec<_>>()
        })
        .filter(|circle| circle.len() > 1)
        .collect()
}

/// All modules that one leads to, itself only through others.
fn reachable<'a>(graph: &Graph<'a>, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<&str> = graph[from].iter().copied().collect();
    while let Some(module) = waiting.pop() {
        if let Some((name, next)) = graph.get_key_value(module)
            && reached.insert(*name)
        {
            waiting.extend(next.iter().copied());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_found_and_what_tests_use_is_none() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "mod one; mod two; mod three;"),
            ("crates/a/src/one.rs", "use crate::two::Two;\n"),
            ("crates/a/src/two/mod.rs", "mod deep;\n"),
            (
                "crates/a/src/two/deep.rs",
                "use super::super::{\n    three::{Three, one},\n};\n",
            ),
            ("crates/a/src/three.rs", "fn f() { super::one::g() }\n"),
            ("crates/b/src/one.rs", "use crate::two;\n"),
            (
                "crates/b/src/two.rs",
                "#[cfg(test)]\nmod tests {\n    use crate::one;\n}\n",
            ),
        ]);
        let found: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            ["crates/a/src: modules use each other in a circle: one, three, two"]
        );
    }

    #[test]
    fn lists_in_braces_name_several_modules() {
        assert_eq!(first_names("{a::{b, c}, d, e::F}; g"), ["a", "d", "e"]);
        assert_eq!(first_names("a::b"), ["a"]);
    }
}
