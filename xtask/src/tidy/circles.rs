//! Files of a crate use each other in one direction only, and so do its folders.
//!
//! A file uses another where its code outside of tests names something that is defined there. What a file only passes on
//! (`pub use`) belongs to the file that defines it.

use std::collections::{BTreeMap, BTreeSet};

use super::paths::{Import, Names, Path};
use super::{Finding, Tree};

/// Which module uses which. The crate's root is the empty name.
type Graph = BTreeMap<String, Circle>;
type Circle = BTreeSet<String>;

/// How often a name is followed from file to file.
const MAX_HOPS: usize = 8;

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, modules) in crates(tree) {
        let graph = modules.graph();
        findings.extend(circular(name, "files", &graph));
        let apart = without_family(&graph);
        findings.extend(circular(
            name,
            "files apart from parents and children",
            &apart,
        ));
        findings.extend(circular(name, "folders", &folders(&graph)));
    }
    findings
}

/// With each use within the circles.
fn circular(name: &str, kind: &str, graph: &Graph) -> Option<Finding> {
    let circles = circles(graph);
    let count: usize = circles.iter().map(BTreeSet::len).sum();
    let mut what = format!("{count} {kind} use each other in circles (circles.rs)");
    for (number, circle) in circles.iter().enumerate() {
        for module in circle {
            let used: Vec<&str> = graph[module]
                .intersection(circle)
                .map(String::as_str)
                .collect();
            what += &format!("\n    {}: {module} → {}", number + 1, used.join(", "));
        }
    }
    (count > 0).then(|| Finding {
        path: format!("crates/{name}/src"),
        line: 0,
        what,
    })
}

/// Without uses between a file and those in its folder.
fn without_family(graph: &Graph) -> Graph {
    let mut graph = graph.clone();
    for (module, used) in &mut graph {
        used.retain(|used| !is_below(used, module) && !is_below(module, used));
    }
    graph
}

fn is_below(module: &str, parent: &str) -> bool {
    parent.is_empty()
        || module
            .strip_prefix(parent)
            .is_some_and(|rest| rest.starts_with("::"))
}

/// The same for the files and folders directly below the root.
fn folders(graph: &Graph) -> Graph {
    let mut folders = Graph::new();
    for (module, used) in graph.iter().filter(|(module, _)| !module.is_empty()) {
        let folder = folder_of(module);
        let used = used.iter().map(|used| folder_of(used));
        let others = used.filter(|used| !used.is_empty() && *used != folder);
        folders.entry(folder.clone()).or_default().extend(others);
    }
    folders
}

/// Groups of modules that all lead to each other.
fn circles(graph: &Graph) -> BTreeSet<Circle> {
    let reached: BTreeMap<&String, Circle> = graph
        .keys()
        .map(|module| (module, reachable(graph, module)))
        .collect();
    reached
        .iter()
        .map(|(module, others)| {
            let others = others
                .iter()
                .filter(|other| reached[other].contains(*module));
            others.cloned().collect::<Circle>()
        })
        .filter(|circle| circle.len() > 1)
        .collect()
}

/// All modules that one leads to, itself only through others.
fn reachable(graph: &Graph, from: &str) -> Circle {
    let mut reached = Circle::new();
    let mut waiting = vec![from];
    while let Some(module) = waiting.pop() {
        for used in graph.get(module).into_iter().flatten() {
            if reached.insert(used.clone()) {
                waiting.push(used);
            }
        }
    }
    reached
}

/// The modules of each crate below `crates`, without those that only tests see.
fn crates(tree: &Tree) -> BTreeMap<&str, Modules> {
    let mut crates: BTreeMap<&str, Modules> = BTreeMap::new();
    for (path, source) in tree.sources() {
        if let Some((name, module)) = place(path)
            && !source.in_test.iter().all(|in_test| *in_test)
        {
            let modules = crates.entry(name).or_default();
            modules.0.insert(module, Names::new(source));
        }
    }
    crates
}

/// The crate's folder and the module's path in it.
fn place(path: &str) -> Option<(&str, String)> {
    let (name, rest) = path.strip_prefix("crates/")?.split_once("/src/")?;
    let inside = rest.strip_suffix(".rs")?;
    let inside = inside.strip_suffix("/mod").unwrap_or(inside);
    let module = if inside == "lib" { "" } else { inside };
    (inside != "main").then(|| (name, module.replace('/', "::")))
}

#[derive(Default)]
struct Modules(BTreeMap<String, Names>);

/// Where a path leads.
enum Target {
    Module(String),
    ItemOf(String),
}

impl Modules {
    fn graph(&self) -> Graph {
        self.0
            .iter()
            .map(|(module, names)| (module.clone(), self.used_by(module, names)))
            .collect()
    }

    fn used_by(&self, module: &str, names: &Names) -> BTreeSet<String> {
        let imports = names.imports.iter().filter(|import| names.uses(import));
        let paths = names.paths.iter().filter(|path| path.len() > 1);
        imports
            .filter_map(|import| self.imported_from(module, import))
            .chain(paths.filter_map(|path| self.defining(module, path)))
            .filter(|used| used != module)
            .collect()
    }

    fn defining(&self, module: &str, path: &[String]) -> Option<String> {
        match self.resolve(module, path, MAX_HOPS)? {
            Target::ItemOf(used) => Some(used),
            Target::Module(_) => None,
        }
    }

    /// A module that is imported is used by the paths that begin with it.
    fn imported_from(&self, module: &str, import: &Import) -> Option<String> {
        match import.path.strip_suffix(&["*".to_string()]) {
            None => self.defining(module, &import.path),
            Some(path) => match self.resolve(module, path, MAX_HOPS)? {
                Target::Module(used) | Target::ItemOf(used) => Some(used),
            },
        }
    }

    fn resolve(&self, from: &str, path: &[String], hops: usize) -> Option<Target> {
        let first = path.first()?.as_str();
        let mut at = from.to_string();
        let mut rest = path;
        match first {
            "super" => {}
            "self" => rest = &path[1..],
            "crate" => {
                at.clear();
                rest = &path[1..];
            }
            _ if self.knows(from, first) => {}
            _ => return None, // another crate, or a local name
        }
        while let Some((name, after)) = rest.split_first() {
            let inner = child(&at, name);
            if name == "super" {
                at = parent(&at);
            } else if self.0.contains_key(&inner) {
                at = inner;
            } else {
                return self.item(&at, name, after, hops);
            }
            rest = after;
        }
        Some(Target::Module(at))
    }

    /// Whether a path in a module can begin with this name.
    fn knows(&self, module: &str, name: &str) -> bool {
        self.0.contains_key(&child(module, name)) || self.0[module].import(name).is_some()
    }

    /// What a name of a module is: its own, imported by name, or by `*`.
    fn item(&self, at: &str, name: &str, after: &[String], hops: usize) -> Option<Target> {
        let names = self.0.get(at)?;
        if names.defined.contains(name) {
            return Some(Target::ItemOf(at.to_string()));
        }
        if let Some(import) = names.import(name) {
            let path: Path = import.path.iter().chain(after).cloned().collect();
            return self.follow(at, &path, hops);
        }
        let globs = names.imports.iter().filter(|import| import.name == "*");
        let from_globs = globs.filter_map(|glob| {
            let mut path = glob.path.clone();
            *path.last_mut()? = name.to_string();
            self.follow(at, &path, hops)
        });
        let is_elsewhere =
            |target: &Target| !matches!(target, Target::ItemOf(module) if module == at);
        let mut from_globs = from_globs.filter(is_elsewhere);
        Some(
            from_globs
                .next()
                .unwrap_or_else(|| Target::ItemOf(at.to_string())),
        )
    }

    fn follow(&self, from: &str, path: &[String], hops: usize) -> Option<Target> {
        self.resolve(from, path, hops.checked_sub(1)?)
    }
}

fn child(module: &str, name: &str) -> String {
    match module {
        "" => name.to_string(),
        module => format!("{module}::{name}"),
    }
}

fn parent(module: &str) -> String {
    let end = module.rfind("::").unwrap_or(0);
    module[..end].to_string()
}

fn folder_of(module: &str) -> String {
    let folder = module.split("::").next().unwrap_or_default();
    folder.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files))
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_circle_of_files_is_found_through_re_exports() {
        let circle = found(&[
            ("crates/a/src/lib.rs", "mod one; mod two; mod three;"),
            ("crates/a/src/one.rs", "use crate::two::Two;\n"),
            ("crates/a/src/two/mod.rs", "mod deep;\npub use deep::Two;\n"),
            (
                "crates/a/src/two/deep.rs",
                "use super::super::{\n    three::{Three, one},\n};\npub struct Two;\n",
            ),
            (
                "crates/a/src/three.rs",
                "pub struct Three;\nfn f() { super::one::g() }\n",
            ),
        ]);
        let uses = "\n    1: one → two::deep\n    1: three → one\n    1: two::deep → three";
        assert!(circle[0].ends_with(uses), "{circle:?}");
        assert!(circle[1].contains("3 files apart from parents and children"));
        assert!(circle[2].contains("3 folders") && circle.len() == 3);
    }

    #[test]
    fn a_child_that_uses_its_parent_must_not_be_used_by_it() {
        let child = (
            "crates/a/src/one/child.rs",
            "use super::Up;\npub struct Down;\n",
        );
        let circle = |parent: &str| found(&[("crates/a/src/one.rs", parent), child]);
        assert_eq!(
            circle("mod child;\nuse child::Down;\npub struct Up;\n").len(),
            1
        );
        assert_eq!(
            circle("mod child;\npub struct Up;\nfn f() { child::Down; }\n").len(),
            1
        );
        assert_eq!(
            circle("mod child;\npub use child::Down;\npub struct Up(Down);\n").len(),
            1
        );
        for one_way in [
            "mod child;\npub use child::Down;\npub struct Up;\n",
            "mod child;\nuse crate::other::Up;\nuse child::Down;\n",
            "mod child;\npub struct Up;\n#[cfg(test)]\nmod tests { use super::child::Down; }\n",
        ] {
            assert!(circle(one_way).is_empty(), "{one_way}");
        }
    }
}
