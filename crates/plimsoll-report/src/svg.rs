//! Drawings that need no script.

pub(crate) mod chart;
pub(crate) mod color;

use std::fmt::Write as _;

/// A point: x, y.
type SvgPoint = [f64; 2];

/// Marks of a drawing, in the order of drawing.
#[derive(Default)]
pub(crate) struct Drawing {
    body: String,
}

impl Drawing {
    pub fn line(&mut self, class: &str, [x1, y1]: SvgPoint, [x2, y2]: SvgPoint) {
        self.add(format_args!(
            "<line class=\"{class}\" x1=\"{x1:.1}\" x2=\"{x2:.1}\" y1=\"{y1:.1}\" y2=\"{y2:.1}\"/>"
        ));
    }

    pub fn write(&mut self, class: &str, [x, y]: SvgPoint, text: &str) {
        let text = escaped(text);
        self.add(format_args!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"
        ));
    }

    pub fn circle(&mut self, class: &str, [x, y]: SvgPoint, radius: f64) {
        self.add(format_args!(
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>"
        ));
    }

    pub fn rect(&mut self, class: &str, [x, y]: SvgPoint, [width, height]: [f64; 2]) {
        self.add(format_args!(
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
        ));
    }

    pub fn path(&mut self, class: &str, points: impl Iterator<Item = SvgPoint>) {
        let points: Vec<String> = points.map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
        let points = points.join(" ");
        self.add(format_args!(
            "<polyline class=\"{class}\" points=\"{points}\"/>"
        ));
    }

    fn add(&mut self, mark: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.body.write_fmt(mark);
    }

    /// Of this size, with a title for those who do not see it.
    pub fn framed(&self, class: &str, width: f64, height: f64, title: &str) -> String {
        let title = escaped(title);
        let body = &self.body;
        format!(
            "<svg class=\"{class}\" viewBox=\"0 0 {width} {height:.0}\" role=\"img\" aria-label=\"{title}\">{body}</svg>"
        )
    }
}

/// Text and attributes.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// A round distance between ticks, not below `rough`, which is above 0.
pub(crate) fn round_step(rough: f64) -> f64 {
    let unit = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|m| m * unit)
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert_eq!(
            [0.3, 1.0, 1.1, 23.0, 700.0].map(round_step),
            [0.5, 1.0, 2.0, 50.0, 1000.0]
        );
    }

    #[test]
    fn text_is_no_markup() {
        assert_eq!(escaped("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
    }
}
