//! sysbench's OLTP load as a resolved plan has it (sysbench 1.0.20, `oltp_common.lua`).

use serde::{Deserialize, Serialize};

use crate::words::plan_words;

/// sysbench OLTP. What a plan cannot set is as sysbench has it by default.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sysbench {
    pub script: Script,
    pub tables: u32,
    /// Of each table (`--table_size`).
    pub rows: u32,
    /// How ids are drawn (`--rand-type`).
    pub distribution: Distribution,
    /// Point selects in a transaction of the mixed scripts.
    pub point_selects: u32,
    /// Ids that a range covers.
    pub range_size: u32,
}

plan_words! {
    /// What a transaction does: `oltp_NAME.lua`.
    #[derive(strum::VariantArray)]
    pub enum Script {
        ReadWrite,
        ReadOnly,
        WriteOnly,
        PointSelect,
        UpdateIndex,
        UpdateNonIndex,
        Insert,
        Delete,
    }
}

impl Script {
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The one transaction type that the script has.
    pub fn txn_names(self) -> &'static [&'static str] {
        match self {
            Self::ReadWrite => &["read_write"],
            Self::ReadOnly => &["read_only"],
            Self::WriteOnly => &["write_only"],
            Self::PointSelect => &["point_select"],
            Self::UpdateIndex => &["update_index"],
            Self::UpdateNonIndex => &["update_non_index"],
            Self::Insert => &["insert"],
            Self::Delete => &["delete"],
        }
    }

    /// Whether it has point selects in a number of choice, and ranges.
    pub fn has_ranges(self) -> bool {
        matches!(self, Self::ReadWrite | Self::ReadOnly)
    }

    /// Whether every transaction leaves the ids that it found.
    pub fn keeps_rows(self) -> bool {
        !matches!(self, Self::Insert | Self::Delete)
    }

    /// Whether a transaction changes, adds or removes rows.
    pub fn changes_rows(self) -> bool {
        !matches!(self, Self::ReadOnly | Self::PointSelect)
    }
}

plan_words! {
    /// How ids are drawn.
    #[derive(strum::VariantArray)]
    pub enum Distribution {
        /// All ids alike.
        Uniform,
        /// The mean of 12 uniform draws: a bell around the middle.
        Gaussian,
        /// 75 % of the draws go to the middle 1 % of the ids, the others as gaussian.
        Special,
        /// 80 % of the draws go to the lowest 20 % of the ids, and so on within these.
        Pareto,
        /// Id i with a chance of 1/i to the power of 0.8.
        Zipfian,
    }
}

impl Distribution {
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;
}
