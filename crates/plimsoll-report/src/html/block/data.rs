//! The part of the data island that the charts of block I/O are drawn from.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::BlockSummary;
use serde::Serialize;

use super::curve::{self, CurveData};
use super::rounds::{self, RoundsData};
use super::seconds::{self, SecondsData};
use super::sweep::{self, BarsData};
use crate::block::{across, medium_name};
use crate::message::Messages;

/// One step. Charts name their data by place: see [`super::chart::ChartView`].
#[derive(Serialize)]
pub(crate) struct BlockData {
    media: Vec<String>,
    /// As the run calls them.
    media_ids: Vec<String>,
    bars: Vec<BarsData>,
    curves: Vec<CurveData>,
    rounds: Vec<RoundsData>,
    seconds: Vec<SecondsData>,
}

impl BlockData {
    /// How many seconds a drawn point stands for, where not all are drawn.
    pub fn reduced_to(&self) -> Option<f64> {
        let jobs = self.seconds.iter();
        jobs.filter_map(SecondsData::reduced_to).reduce(f64::max)
    }
}

pub(crate) fn island(m: &Messages, summary: &Summary) -> Vec<BlockData> {
    summary
        .figures
        .blocks
        .iter()
        .map(|step| of_step(m, step))
        .collect()
}

fn of_step(m: &Messages, step: &BlockSummary) -> BlockData {
    let all = across(step);
    BlockData {
        media: step.media.iter().map(|own| medium_name(m, own)).collect(),
        media_ids: step.media.iter().map(|own| own.medium.clone()).collect(),
        bars: sweep::data(m, step.media.len(), &all),
        curves: curve::data(&all),
        rounds: rounds::data(&all),
        seconds: seconds::data(m, &all),
    }
}
