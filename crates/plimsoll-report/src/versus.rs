//! Runs side by side, in words and tables: every sentence follows from the figures beside it.

mod answer;
mod differences;
pub(crate) mod export;
mod gate;
pub(crate) mod gate_export;
mod html;
mod marks;
pub(crate) mod requirement;
mod svg;
pub(crate) mod tables;
#[cfg(test)]
mod tests;
mod text;
mod words;

pub use export::comparison_csv;
pub use gate::{gate_sentence, gate_text};
pub use gate_export::gate_csv;
pub use html::comparison_page;
pub use requirement::{missed_sentence, requirement_sentence, requirement_text};
pub use text::comparison_text;
pub(crate) use words::place;
