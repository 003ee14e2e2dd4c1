//! Which writes continue an earlier one.

const STREAMS: usize = 16;

/// Ends of the last sixteen streams of writes, as a controller or a log-structured translation layer sees them.
#[derive(Debug, Clone)]
pub struct Streams {
    ends: [u64; STREAMS],
    oldest: usize,
}

impl Streams {
    pub fn new() -> Self {
        Self {
            ends: [u64::MAX; STREAMS],
            oldest: 0,
        }
    }

    /// Whether the request begins where another ended, give or take eight of its lengths: several requests of one
    /// stream may overtake each other.
    #[inline]
    pub fn continues(&mut self, offset: u64, len: u64) -> bool {
        let slack = len.saturating_mul(8);
        let from = offset.saturating_sub(slack);
        let width = offset.saturating_add(slack) - from;
        let end = offset.saturating_add(len);
        let found = self
            .ends
            .iter()
            .position(|end| end.wrapping_sub(from) <= width);
        match found {
            Some(at) => self.ends[at] = self.ends[at].max(end),
            None => {
                self.ends[self.oldest] = end;
                self.oldest = (self.oldest + 1) % STREAMS;
            }
        }
        found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_known_among_others_and_out_of_order() {
        let mut streams = Streams::new();
        assert!(!streams.continues(0, 4096));
        assert!(!streams.continues(1 << 30, 4096));
        assert!(streams.continues(8192, 4096), "overtook its predecessor");
        assert!(streams.continues(4096, 4096));
        assert!(streams.continues((1 << 30) + 4096, 4096));
        assert!(!streams.continues(1 << 20, 4096));
    }
}
