//! Published tables, so that a report can be audited without its raw data.
//!
//! A claim restates figures, what is known of the configuration of each side, what is compared with what, and sentences
//! that are claimed. What a report does not state is left out, and not evaluated.

mod check;
mod figure;
mod gather;
mod published;
mod row;
mod table;

pub use figure::ClaimFigure;
pub use published::{
    ClaimComparison, ClaimDuration, ClaimPart, ClaimSentence, ClaimSide, LatencyFrom, Method,
    Percentiles, PublishedClaim, Relation,
};

use super::Audit;
use plimsoll_plan::{PlanErrors, read_toml};

impl PublishedClaim {
    /// Reads a claim and looks up every name in it.
    ///
    /// # Errors
    /// Everything that is wrong with it, with places.
    pub fn parse(text: &str) -> Result<Self, PlanErrors> {
        let claim: Self = read_toml(text)?;
        check::check(text, &claim)?;
        Ok(claim)
    }

    pub fn audit(&self) -> Audit {
        let thresholds = self.audit.unwrap_or_default();
        Audit::of(self.title.clone(), &thresholds, &gather::of_claim(self))
    }
}

#[cfg(test)]
mod tests;
