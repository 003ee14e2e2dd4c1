//! The processors and who sets their clock.

use std::collections::BTreeSet;

use super::source::KernelFiles;

/// Where sysfs has them.
pub const DIRECTORY: &str = "sys/devices/system/cpu";

/// Numbers of the processors that are in use.
pub fn online(source: &KernelFiles) -> Option<Vec<u32>> {
    cpu_list(&source.read(&format!("{DIRECTORY}/online")).ok()?)
}

/// The governors of all processors in use, each once, in order; none without a governor (virtual machines).
pub fn governors(source: &KernelFiles) -> Vec<String> {
    let each: BTreeSet<String> = online(source)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|number| {
            let path = format!("{DIRECTORY}/cpu{number}/cpufreq/scaling_governor");
            source.read(&path).ok()
        })
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
        .collect();
    each.into_iter().collect()
}

/// `0-3,8,10-11`; no more numbers than any kernel has.
fn cpu_list(text: &str) -> Option<Vec<u32>> {
    const MOST: u32 = 1 << 16;
    let mut all = Vec::new();
    for range in text.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let first: u32 = first.parse().ok()?;
        let last: u32 = last.parse().ok()?;
        if last >= MOST {
            return None;
        }
        all.extend(first..=last);
        if all.len() > MOST as usize {
            return None;
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_of_processors() {
        assert_eq!(cpu_list("0-2,8\n"), Some(vec![0, 1, 2, 8]));
        assert_eq!(cpu_list("0-99999"), None, "more than any kernel has");
        assert!(online(&KernelFiles::new("/")).is_some_and(|cpus| !cpus.is_empty()));
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(text in "[0-9,-]{0,40}", any in "\\PC*") {
            cpu_list(&text);
            cpu_list(&any);
        }
    }
}
