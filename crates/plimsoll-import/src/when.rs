//! Times of day that tools print, as nanoseconds since 1970.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

use plimsoll_plan::units::Nanos;

/// `2026-11-22T14:00:10+0000`, `2026-11-22 14:00:10`, `11/22/26 14:00:10`, `11/22/2026 02:00:10 PM`. Without a zone the
/// time is taken as UTC.
pub(super) fn instant(text: &str) -> Option<Nanos> {
    let text = text.trim();
    if let Ok(stamp) = text.parse::<jiff::Timestamp>() {
        return since_1970(stamp);
    }
    for form in ["%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S%:z"] {
        if let Ok(zoned) = jiff::Timestamp::strptime(form, text) {
            return since_1970(zoned);
        }
    }
    let text = text.trim_end_matches(" UTC");
    // `Fri Apr 19 16:11:02 GMT 2019`, with a zone that is ignored.
    if let [_, month, day, time, _, year] = text.split_whitespace().collect::<Vec<_>>()[..] {
        let date = Date::strptime("%b %d %Y", format!("{month} {day} {year}")).ok()?;
        return at(date, clock(time)?);
    }
    let (date, time) = text.split_once([' ', 'T'])?;
    at(day(date)?, clock(time)?)
}

/// `11/22/26`, `11/22/2026`, `2026-11-22`, `2026/11/22`.
pub(super) fn day(text: &str) -> Option<Date> {
    if text.trim().find('/') == Some(4) {
        return Date::strptime("%Y/%m/%d", text.trim()).ok();
    }
    let forms = ["%Y-%m-%d", "%m/%d/%Y", "%m/%d/%y"];
    let short = text
        .trim()
        .rsplit('/')
        .next()
        .is_some_and(|year| year.len() <= 2);
    forms
        .into_iter()
        .filter(|form| !short || *form != "%m/%d/%Y")
        .find_map(|form| Date::strptime(form, text.trim()).ok())
}

/// `14:00:10`, `14:00:10.123`, `02:00:10 PM`.
pub(super) fn clock(text: &str) -> Option<Time> {
    let text = text.trim();
    let forms = ["%H:%M:%S%.f", "%I:%M:%S %p"];
    forms
        .into_iter()
        .find_map(|form| Time::strptime(form, text).ok())
}

pub(super) fn at(date: Date, time: Time) -> Option<Nanos> {
    let zoned = DateTime::from_parts(date, time)
        .to_zoned(TimeZone::UTC)
        .ok()?;
    since_1970(zoned.timestamp())
}

fn since_1970(stamp: jiff::Timestamp) -> Option<Nanos> {
    /// 2200: later starts plus the length of a run would not fit.
    const LATEST: Nanos = Nanos::from_secs(7_258_118_400);
    u64::try_from(stamp.as_nanosecond())
        .ok()
        .map(Nanos)
        .filter(|at| *at < LATEST)
}

/// Nanoseconds since midnight.
pub(super) fn of_day(time: Time) -> Nanos {
    let seconds = time.hour() as u64 * 3600 + time.minute() as u64 * 60 + time.second() as u64;
    Nanos::from_secs(seconds) + Nanos(time.subsec_nanosecond() as u64)
}

/// RFC 3339 in UTC; `None` where it is beyond what can be written so.
pub(super) fn written(since_1970: Nanos) -> Option<String> {
    let stamp = jiff::Timestamp::from_nanosecond(i128::from(since_1970.0)).ok()?;
    Some(stamp.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_tools_print_them() {
        let expected = Some(Nanos::from_secs(1_795_356_010));
        for text in [
            "2026-11-22T14:00:10Z",
            "2026-11-22T14:00:10+0000",
            "2026-11-22T16:00:10+0200",
            "2026-11-22T15:00:10+01:00",
            "2026-11-22 14:00:10",
            "11/22/26 14:00:10",
            "11/22/2026 02:00:10 PM",
            "2026/11/22 14:00:10 UTC",
            "Sun Nov 22 14:00:10 GMT 2026",
        ] {
            assert_eq!(instant(text), expected, "{text}");
        }
        for text in [
            "",
            "x",
            "22/11/26 14:00:10",
            "11/22/26",
            "1960-01-01 00:00:00",
            "2554-07-21 23:00:00",
        ] {
            assert_eq!(instant(text), None, "{text}");
        }
        assert_eq!(
            written(Nanos::from_secs(1_795_356_010)).unwrap(),
            "2026-11-22T14:00:10Z"
        );
        assert_eq!(
            clock("14:00:10.250").map(of_day),
            Some(Nanos::from_millis(50_410_250))
        );
    }
}
