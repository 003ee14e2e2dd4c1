//! The first screen of a page.

use plimsoll_analysis::summary::Verdict;

use crate::answer::NextStep;
use crate::message::Messages;
use crate::svg::chart::Chart;
use crate::table::Grid;

/// What a page does not have is empty.
pub(crate) struct PageAnswer {
    /// One sentence.
    pub answer: String,
    pub verdict: &'static str,
    pub verdict_word: String,
    /// What has to be known beside it, each a paragraph.
    pub beside: Vec<String>,
    /// Why it can or cannot be trusted.
    pub trust: String,
    /// What limits that, the most important first.
    pub limits: Vec<String>,
    pub chart: Option<Chart>,
    pub table: Grid,
    pub table_name: String,
    pub notes: Vec<AnswerNote>,
    pub next_title: String,
    pub next: Vec<NextStep>,
}

/// What limits the result, what to do next.
pub(crate) struct AnswerNote {
    pub heading: String,
    pub lines: Vec<String>,
}

impl PageAnswer {
    pub fn new(m: &Messages, answer: String, verdict: Verdict, trust: String) -> Self {
        Self {
            answer,
            verdict: verdict.name(),
            verdict_word: m.text(&format!("verdict-{}", verdict.name())),
            beside: Vec::new(),
            trust,
            limits: Vec::new(),
            chart: None,
            table: Grid::default(),
            table_name: String::new(),
            notes: Vec::new(),
            next_title: m.text("answer-next-title"),
            next: Vec::new(),
        }
    }
}
