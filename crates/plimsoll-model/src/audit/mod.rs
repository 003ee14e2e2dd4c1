//! The audit: rules that a figure has to survive before it may be quoted.
//!
//! A rule that cannot be judged says so and why: silence is never a pass.

mod evidence;
mod judged;
mod rule;

pub use evidence::{Evidence, Missing, Next};
pub use judged::{About, Judged, Load, Outcome};
pub use rule::Rule;
