//! Relative links in Markdown lead to a file of the project, and their #anchor to a heading in it.

use std::collections::BTreeMap;

use super::{Finding, Tree};

pub fn check(tree: &Tree) -> Vec<Finding> {
    let pages = tree.files.iter().filter(|(path, _)| path.ends_with(".md"));
    pages
        .flat_map(|(path, text)| check_page(tree, path, text))
        .collect()
}

fn check_page(tree: &Tree, path: &str, text: &str) -> Vec<Finding> {
    let targets = prose(text)
        .enumerate()
        .flat_map(|(line, text)| targets(&text).into_iter().map(move |to| (line + 1, to)));
    let broken = targets.filter_map(|(line, to)| Some((line, broken(tree, path, &to)?)));
    broken
        .map(|(line, what)| Finding {
            path: path.to_string(),
            line,
            what,
        })
        .collect()
}

/// The lines with code blanked: a link in an example is none.
fn prose(text: &str) -> impl Iterator<Item = String> {
    let mut fence: Option<&str> = None;
    text.lines().map(move |line| {
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| line.trim_start().starts_with(mark));
        if mark.is_some() && (fence.is_none() || fence == mark) {
            fence = if fence.is_none() { mark } else { None };
            return String::new();
        }
        if fence.is_some() {
            String::new()
        } else {
            without_code(line)
        }
    })
}

fn without_code(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    let last = parts.len() - 1;
    // An unpaired backtick is a character like any other.
    parts
        .iter()
        .enumerate()
        .filter(|(n, _)| n % 2 == 0 || *n == last)
        .map(|(_, part)| *part)
        .collect::<Vec<_>>()
        .join("`")
}

/// What `[text](target)`, `![text](target)`, `[name]: target` and `src="target"` on this line lead to.
fn targets(line: &str) -> Vec<String> {
    let mut found: Vec<String> = line
        .match_indices("](")
        .map(|(at, _)| until(&line[at + 2..], ')'))
        .collect();
    if let Some((name, target)) = line
        .trim_start()
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "))
        && !name.contains(']')
    {
        found.push(target.trim().to_string());
    }
    for attribute in ["src=\"", "href=\""] {
        found.extend(
            line.match_indices(attribute)
                .map(|(at, _)| until(&line[at + attribute.len()..], '"')),
        );
    }
    found.iter().map(|text| without_title(text)).collect()
}

/// `<page> "title"` leads to `page`.
fn without_title(target: &str) -> String {
    target
        .split_whitespace()
        .next()
        .unwrap_or("")
        .trim_matches(['<', '>'])
        .to_string()
}

fn until(text: &str, end: char) -> String {
    text.split(end).next().unwrap_or("").to_string()
}

fn broken(tree: &Tree, page: &str, target: &str) -> Option<String> {
    let scheme = target
        .split(':')
        .next()
        .is_some_and(|s| s.len() < target.len() && s.chars().all(char::is_alphabetic));
    if scheme || target.starts_with("//") {
        return None;
    }
    let (file, anchor) = target
        .split_once('#')
        .map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let path = if file.is_empty() {
        page.to_string()
    } else {
        resolve(page, file)
    };
    let is_folder = path.is_empty()
        || tree
            .paths
            .iter()
            .any(|other| other.starts_with(&format!("{}/", path.trim_end_matches('/'))));
    if target.is_empty() || !is_folder && !tree.paths.contains(&path) {
        return Some(format!("the link '{target}' leads nowhere ({path})"));
    }
    let text = tree.files.get(&path).filter(|_| path.ends_with(".md"))?;
    let anchor = anchor?;
    (!anchors(text).iter().any(|known| known == anchor))
        .then(|| format!("{path} has no heading '#{anchor}'"))
}

/// `target` as seen from the page, as a path from the checkout. A leading `/` is the checkout.
fn resolve(page: &str, target: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    if target.starts_with('/') {
        parts.clear();
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." if !parts.is_empty() && parts.last() != Some(&"..") => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts.join("/")
}

/// The anchors GitHub gives to headings: lower case, punctuation gone, spaces as `-`; a repeated one gets `-1`, `-2`.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut found: Vec<String> = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let title = line.trim_start_matches('#');
        if !fenced && title.len() < line.len() && title.starts_with(' ') {
            let slug = slug(title.trim());
            let count = seen
                .entry(slug.clone())
                .and_modify(|count| *count += 1)
                .or_insert(0);
            found.push(if *count == 0 {
                slug
            } else {
                format!("{slug}-{count}")
            });
        }
        for attribute in ["id=\"", "name=\""] {
            found.extend(
                line.match_indices(attribute)
                    .map(|(at, _)| until(&line[at + attribute.len()..], '"')),
            );
        }
    }
    found
}

fn slug(title: &str) -> String {
    // A link in a heading counts with its text only.
    let mut text = String::new();
    let mut rest = title;
    while let Some((before, after)) = rest.split_once("](") {
        text.push_str(before);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let kept = text
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase)
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::places;
    use super::*;

    #[test]
    fn broken_links_and_anchors_are_found() {
        let tree = Tree::of(&[
            (
                "README.md",
                "[a](docs/a.md) [b](docs/b.md)\n![p](p.png \"t\")\n[c](docs/a.md#two-words) [d](docs/a.md#three)\n\
                           [e](#here)\n# Here\n[f]: docs/none.md\n<img src=\"docs/x.png\">\n[out](https://x.y/z) [m](mailto:a@b)\n",
            ),
            (
                "docs/a.md",
                "# Two `words`!\n[up](../README.md) [dir](../docs) [far](../../x)\n[root](/docs/a.md)\n",
            ),
        ]);
        let found = places(&check(&tree));
        let expected = [
            "README.md:1",
            "README.md:2",
            "README.md:3",
            "README.md:6",
            "README.md:7",
            "docs/a.md:2",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn links_in_code_are_examples() {
        let text = "```\n[a](none.md)\n```\nwrite `[a](none.md)` so\n    ~~~\n[b](none.md)\n    ~~~\na ` alone [c](none.md)\n";
        assert_eq!(places(&check(&Tree::of(&[("a.md", text)]))), ["a.md:8"]);
    }

    #[test]
    fn anchors_as_github_makes_them() {
        let text = "# One, two & three\n## [Linked](x.md) title\n## Same\n## Same\n```\n# no heading\n```\n#hash\n<a id=\"own\"></a>\n";
        assert_eq!(
            anchors(text),
            ["one-two--three", "linked-title", "same", "same-1", "own"]
        );
    }

    #[test]
    fn rubbish_does_not_panic() {
        for text in [
            "",
            "](",
            "[](",
            "[]: ",
            "`",
            "#",
            "# ",
            "[a](#",
            "](<>)",
            "src=\"",
            "[a](../../../..)",
            "[é](ü#ß)",
        ] {
            check(&Tree::of(&[("a/b.md", text)]));
        }
    }
}
