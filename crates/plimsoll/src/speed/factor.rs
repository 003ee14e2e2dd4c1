//! The smallest slow-down at which all drives answer in time.

/// Factors in the order in which they are tried.
pub const FACTORS: [u32; 6] = [1, 2, 5, 10, 20, 50];

/// The factor after `factor`; `None` after the last one.
pub fn next(factor: u32) -> Option<u32> {
    FACTORS.into_iter().find(|other| *other > factor)
}

/// A drive that could not answer in time at a factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TooFast<W> {
    /// Its place among the drives.
    pub drive: usize,
    pub factor: u32,
    /// Evidence that it failed.
    pub why: W,
}

/// The factor for all drives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice<W> {
    pub factor: u32,
    /// The failure at the highest factor that was too small; with [`Choice::factor`] if even the last one was.
    pub too_fast: Option<TooFast<W>>,
}

/// The smallest factor at which `probe` finds nothing against any of the drives. A drive that keeps up is not probed at
/// higher factors: more time between requests never makes it late.
pub fn smallest<W, E>(
    drives: usize,
    mut probe: impl FnMut(usize, u32) -> Result<Option<W>, E>,
) -> Result<Choice<W>, E> {
    let mut choice = Choice {
        factor: FACTORS[0],
        too_fast: None,
    };
    for drive in 0..drives {
        while let Some(why) = probe(drive, choice.factor)? {
            let factor = choice.factor;
            choice.too_fast = Some(TooFast { drive, factor, why });
            match next(factor) {
                Some(higher) => choice.factor = higher,
                None => return Ok(choice),
            }
        }
    }
    Ok(choice)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Each drive keeps up from a place in the list on; beyond the list: never.
        #[test]
        fn it_is_the_smallest_that_every_drive_keeps_up_at(
            needs in prop::collection::vec(0usize..=FACTORS.len(), 0..5)
        ) {
            let mut probed = BTreeSet::new();
            let place = |factor: u32| FACTORS.iter().position(|other| *other == factor).unwrap();
            let choice = smallest(needs.len(), |drive, factor| {
                prop_assert!(probed.insert((drive, place(factor))), "never probed twice");
                Ok((place(factor) < needs[drive]).then_some(()))
            })?;
            let most = needs.iter().copied().max().unwrap_or(0);
            let last = FACTORS.len() - 1;
            prop_assert_eq!(place(choice.factor), most.min(last));
            match choice.too_fast {
                None => prop_assert_eq!(most, 0),
                Some(failed) => {
                    prop_assert_eq!(place(failed.factor), most - 1);
                    prop_assert!(needs[failed.drive] == most);
                }
            }
            // Most cost one probe: only failures raise the factor.
            prop_assert!(probed.len() <= needs.len() + last);
        }

        #[test]
        fn the_next_factor_is_larger_and_the_last_has_none(factor in 0u32..100) {
            match next(factor) {
                Some(higher) => prop_assert!(higher > factor && FACTORS.contains(&higher)),
                None => prop_assert!(factor >= 50),
            }
        }
    }

    #[test]
    fn an_error_ends_the_search() {
        let failed: Result<Choice<()>, &str> = smallest(2, |_, _| Err("no"));
        assert_eq!(failed, Err("no"));
        let none: Result<Choice<()>, Infallible> = smallest(0, |_, _| Ok(Some(())));
        assert_eq!(none.unwrap().factor, 1);
    }
}
