//! Sections on a terminal: their lines, with a blank line between sections.

use crate::document::{ReportBlock, ReportSection};

pub(crate) fn sections<'a>(sections: impl IntoIterator<Item = &'a ReportSection>) -> String {
    let mut out = String::new();
    for section in sections {
        let lines: Vec<String> = section.on_terminal().map(lines).collect();
        let lines = lines.join("\n");
        let lines = lines.trim_matches('\n');
        if lines.is_empty() {
            continue;
        }
        if !out.is_empty() && !section.is_attached {
            out.push('\n');
        }
        out.push_str(lines);
        out.push('\n');
    }
    out
}

/// Blocks that only pages show have none.
fn lines(block: &ReportBlock) -> String {
    match block {
        ReportBlock::Heading(heading) => heading.text.clone(),
        ReportBlock::Text { text, .. } | ReportBlock::Table { text, .. } => text.clone(),
        ReportBlock::List { items, .. } => joined(items.iter().map(|item| item.text.clone())),
        ReportBlock::Findings(all) => joined(all.iter().map(|finding| finding.line())),
        ReportBlock::Facts { facts, .. } => {
            joined(facts.iter().map(|(key, value)| format!("  {key}: {value}")))
        }
        ReportBlock::Bars { .. }
        | ReportBlock::Chart(_)
        | ReportBlock::Drawing(_)
        | ReportBlock::Group { .. }
        | ReportBlock::Details { .. }
        | ReportBlock::Code(_)
        | ReportBlock::Answer(_)
        | ReportBlock::Form(_)
        | ReportBlock::Links { .. }
        | ReportBlock::WithoutScript(_) => String::new(),
    }
}

fn joined(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_apart_and_gaps_are_between_their_lines_only() {
        let mut first = ReportSection::new("first", "On a page");
        first.gap();
        first.line("a");
        first.page(ReportBlock::text("on a page"));
        first.gap();
        first.both(ReportBlock::list(["b".to_owned(), "c".to_owned()]));
        first.gap();
        let of_page = ReportSection::new("second", "On a page");
        let mut third = ReportSection::bare("third");
        third.both(ReportBlock::facts(vec![("d".to_owned(), "e".to_owned())]));
        let mut last = ReportSection::bare("last").attached();
        last.line("f");
        assert_eq!(
            sections([&first, &of_page, &third, &last]),
            "a\n\nb\nc\n\n  d: e\nf\n"
        );
        assert!(of_page.if_filled().is_none());
    }
}
