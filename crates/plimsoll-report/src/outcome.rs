//! What became of something, as a verdict and a sentence.

pub(crate) struct Outcome {
    /// Name of a verdict.
    pub verdict: &'static str,
    pub text: String,
}
