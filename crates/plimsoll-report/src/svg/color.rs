//! Colors of lines and bars: one for each medium of a run, the same in all of its charts.

/// Colors that everyone can distinguish; behind them stands gray.
const COLORS: usize = 6;

/// A place in the palette, or the gray of what has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChartColor(pub Option<usize>);

impl ChartColor {
    /// Its style class.
    pub fn class(self) -> String {
        match self.0 {
            Some(place) => format!("s{}", place % COLORS + 1),
            None => format!("s{}", COLORS + 1),
        }
    }
}

/// Which medium has which color.
#[derive(Clone, Copy)]
pub(crate) struct MediumColors<'a> {
    /// Of the run, in the order of the plan.
    pub media: &'a [String],
}

impl MediumColors<'_> {
    /// The color of the medium; gray for what is none. Colors of a run with fewer than two media distinguish its lines,
    /// each by its place.
    pub fn of(self, medium: Option<&str>, place: usize) -> ChartColor {
        if self.media.len() < 2 {
            return ChartColor(Some(place));
        }
        let mut media = self.media.iter();
        ChartColor(media.position(|own| Some(own.as_str()) == medium))
    }

    /// The color of one of several things that are no media.
    pub fn other(self, place: usize) -> ChartColor {
        match self.media.len() {
            0 | 1 => ChartColor(Some(place)),
            media => ChartColor(Some(media + place)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_medium_has_one_color_and_what_is_none_is_gray() {
        let media = ["nvme", "sata", "disk"].map(str::to_owned);
        let colors = MediumColors { media: &media };
        assert_eq!(colors.of(Some("disk"), 0).class(), "s3");
        assert_eq!(colors.of(None, 1).class(), "s7");
        let one = MediumColors { media: &media[..1] };
        assert_eq!(one.of(Some("nvme"), 1).class(), "s2");
        assert_eq!(one.of(None, 6).class(), "s1");
    }
}
