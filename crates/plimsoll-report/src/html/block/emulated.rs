//! What emulated drives were asked for, and whether they kept up with their models.

use super::super::drive;
use super::super::tables::{Grid, Row, head, words};
use super::{Across, none, typical};
use crate::message::Messages;

/// Of each job the round that stands for it, one row for each drive and kind of operation.
pub(super) fn grid(m: &Messages, all: &[Across<'_>]) -> Grid {
    let mut rows: Vec<Row> = Vec::new();
    for across in all {
        let drives = across
            .on
            .iter()
            .filter_map(|on| typical(on.job))
            .flat_map(|point| &point.drives);
        for of in drives {
            rows.extend(drive::rows(
                m,
                &[words(across.job.to_owned()), words(of.drive.clone())],
                of,
            ));
        }
    }
    if rows.is_empty() {
        return none();
    }
    Grid {
        header: drive::header(m, vec![head(m, "column-job"), head(m, "column-drive")]),
        rows,
    }
}
