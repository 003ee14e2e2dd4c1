//! Runs side by side, in words and tables: every sentence follows from the figures beside it.

mod answer;
mod differences;
pub(crate) mod export;
mod gate;
pub(crate) mod gate_export;
mod marks;
pub(crate) mod requirement;
mod sections;
mod svg;
pub(crate) mod tables;
#[cfg(test)]
mod tests;
mod words;

pub use export::comparison_csv;
pub use gate::{gate_sentence, gate_text};
pub use gate_export::gate_csv;
pub use requirement::{missed_sentence, requirement_sentence, requirement_text};
pub use sections::{comparison_page, comparison_text};
pub(crate) use words::place;
