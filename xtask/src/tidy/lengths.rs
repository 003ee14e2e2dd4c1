//! One file, one concept. The length of functions is checked by clippy (`too_many_lines`, 100 lines without comments).

use super::{Finding, Tree};

const FILE_WARN: usize = 600;
const FILE_MAX: usize = 700;
const CODE: [&str; 8] = [".rs", ".ts", ".js", ".mjs", ".css", ".html", ".sql", ".sh"];

fn long_files(tree: &Tree, from: usize) -> impl Iterator<Item = (&String, usize)> {
    let code = tree
        .files
        .iter()
        .filter(|(path, _)| CODE.iter().any(|end| path.ends_with(end)));
    code.map(|(path, text)| (path, text.lines().count()))
        .filter(move |(_, lines)| *lines > from)
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
    long_files(tree, FILE_MAX)
        .map(|(path, lines)| Finding {
            path: path.clone(),
            line: 0,
            what: format!("{lines} lines, at most {FILE_MAX}: split it by concept"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::places;
    use super::*;

    #[test]
    fn long_files_are_found_or_warned_of() {
        let tree = Tree::of(&[
            ("a.rs", &"\n".repeat(701)),
            ("b.ts", &"\n".repeat(700)),
            ("c.sql", &"\n".repeat(600)),
            ("d.md", &"\n".repeat(9000)),
        ]);
        assert_eq!(places(&check(&tree)), ["a.rs:0"]);
        assert_eq!(places(&warnings(&tree)), ["b.ts:0"]);
    }
}
