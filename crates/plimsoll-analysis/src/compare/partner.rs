//! Which load of one side belongs to which of the other.

use super::side::{ComparedSide, SidePoint};
use plimsoll_record::LoadKey;

pub(super) struct Partners<'a> {
    pub pairs: Vec<(&'a SidePoint, &'a SidePoint)>,
    pub only_first: Vec<&'a LoadKey>,
    pub only_second: Vec<&'a LoadKey>,
}

/// Loads belong together that are the same load of the same step in the same scene. Where that leaves a choice, medium and
/// system must have the same names, and workloads be alike if any are; where it leaves none, names and workloads may
/// differ: that is then what is compared.
pub(super) fn partners<'a>(first: &'a ComparedSide, second: &'a ComparedSide) -> Partners<'a> {
    let mut taken = vec![false; second.points.len()];
    let mut found: Vec<Option<usize>> = vec![None; first.points.len()];
    for wanted in [
        PartnerMatch::NamesAndWorkload,
        PartnerMatch::Names,
        PartnerMatch::Load,
    ] {
        for (i, point) in first
            .points
            .iter()
            .enumerate()
            .filter(|(_, point)| is_measured(point))
        {
            if found[i].is_some() {
                continue;
            }
            let alone = first
                .points
                .iter()
                .filter(|other| other.has_load_of(point))
                .count()
                == 1;
            let candidates: Vec<usize> = (0..second.points.len())
                .filter(|j| !taken[*j] && second.points[*j].has_load_of(point))
                .collect();
            let named = |j: &usize| second.points[*j].has_names_of(point);
            let partner = match wanted {
                PartnerMatch::NamesAndWorkload => candidates
                    .into_iter()
                    .find(|j| named(j) && second.points[*j].workload.is_alike(&point.workload)),
                PartnerMatch::Names => candidates.into_iter().find(named),
                PartnerMatch::Load => candidates
                    .first()
                    .copied()
                    .filter(|_| alone && candidates.len() == 1),
            };
            if let Some(j) = partner {
                (taken[j], found[i]) = (true, Some(j));
            }
        }
    }
    let pairs = found.iter().enumerate();
    Partners {
        pairs: pairs
            .filter_map(|(i, j)| Some((&first.points[i], &second.points[(*j)?])))
            .collect(),
        only_first: found
            .iter()
            .zip(&first.points)
            .filter(|(j, _)| j.is_none())
            .map(|(_, p)| &p.key)
            .collect(),
        only_second: taken
            .iter()
            .zip(&second.points)
            .filter(|(taken, _)| !**taken)
            .map(|(_, p)| &p.key)
            .collect(),
    }
}

/// How alike partners have to be, from the strictest on.
enum PartnerMatch {
    NamesAndWorkload,
    Names,
    Load,
}

fn is_measured(point: &SidePoint) -> bool {
    !point.repeats.is_empty()
}
