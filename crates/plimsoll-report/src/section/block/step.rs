//! A step on media with what its charts have in common.

use plimsoll_analysis::summary::BlockSummary;

use crate::block::Across;
use crate::chart::LineColor;
use crate::message::Messages;
use crate::svg::color::MediumColors;

pub(super) struct StepOnMedia<'a> {
    pub m: &'a Messages,
    /// Among the steps on media.
    pub place: usize,
    pub step: &'a BlockSummary,
    pub all: &'a [Across<'a>],
    pub colors: MediumColors<'a>,
}

impl StepOnMedia<'_> {
    /// Of one of the step's media.
    pub fn color(&self, place: usize) -> LineColor {
        let medium = &self.step.media[place].medium;
        self.colors.of(Some(medium), place).into()
    }

    /// Of the scale of its charts over time.
    pub fn switch(&self) -> String {
        format!("block-{}", self.place)
    }
}
