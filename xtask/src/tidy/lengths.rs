//! One file, one concept; a function that fits on a screen.

use super::{Finding, Tree};

const FILE_WARN: usize = 400;
const FILE_MAX: usize = 500;
const FUNCTION_MAX: usize = 70;
const CODE: [&str; 8] = [".rs", ".ts", ".js", ".mjs", ".css", ".html", ".sql", ".sh"];

fn long_files(tree: &Tree, from: usize) -> impl Iterator<Item = (&String, usize)> {
    let code = tree.files.iter().filter(|(path, _)| CODE.iter().any(|end| path.ends_with(end)));
    code.map(|(path, text)| (path, text.lines().count())).filter(move |(_, lines)| *lines > from)
}

pub fn warnings(tree: &Tree) -> Vec<Finding> {
    let long = long_files(tree, FILE_WARN).filter(|(_, lines)| *lines <= FILE_MAX);
    long.map(|(path, lines)| Finding {
        path: path.clone(),
        line: 0,
        what: format!("{lines} lines; look whether it holds two concepts ({FILE_MAX} is the end)"),
    })
    .collect()
}

pub fn check(tree: &Tree) -> Vec<Finding> {
    let files = long_files(tree, FILE_MAX).map(|(path, lines)| Finding {
        path: path.clone(),
        line: 0,
        what: format!("{lines} lines, at most {FILE_MAX}: split it by concept"),
    });
    let functions = tree.sources().flat_map(|(path, source)| {
        source.functions().into_iter().filter(|function| function.lines.len() > FUNCTION_MAX).map(|function| Finding {
            path: path.to_string(),
            line: function.lines.start + 1,
            what: format!("fn {} has {} lines, at most {FUNCTION_MAX}", function.name, function.lines.len()),
        })
    });
    files.chain(functions).collect()
}

#[cfg(test)]
mod tests {
    use super::super::places;
    use super::*;

    fn function(body: usize) -> String {
        format!("// first\nfn f() {{\n{}}}\n", "    work();\n".repeat(body))
    }

    #[test]
    fn long_functions_are_found() {
        assert_eq!(places(&check(&Tree::of(&[("a.rs", &function(69))]))), ["a.rs:2"]);
        assert_eq!(places(&check(&Tree::of(&[("a.rs", &function(68))]))), [""; 0]);
    }

    #[test]
    fn long_files_are_found_or_warned_of() {
        let tree = Tree::of(&[
            ("a.rs", &"\n".repeat(501)),
            ("b.ts", &"\n".repeat(500)),
            ("c.sql", &"\n".repeat(400)),
            ("d.md", &"\n".repeat(9000)),
        ]);
        assert_eq!(places(&check(&tree)), ["a.rs:0"]);
        assert_eq!(places(&warnings(&tree)), ["b.ts:0"]);
    }
}
