//! `plimsoll drive cut`: a power cut by hand.

use std::process::ExitCode;

use plimsoll_drive::emulate::cut::request;
use plimsoll_drive::emulate::protocol::Lost;

use super::super::io::print;
use crate::cli::CutArgs;
use crate::failure::Failure;

pub fn cut(args: &CutArgs) -> Result<ExitCode, Failure> {
    let lost = request(&args.dir).map_err(|error| Failure::run(error.to_string()))?;
    print(&sentence(&lost))
}

pub fn sentence(lost: &Lost) -> String {
    let Lost {
        writes,
        bytes,
        flushed_writes,
    } = lost;
    match (writes, flushed_writes) {
        (0, _) => "Nothing was lost: every acknowledged write survived.".into(),
        (_, 0) => format!(
            "Lost {writes} acknowledged writes ({bytes}); no flush had been acknowledged for them."
        ),
        _ => format!(
            "Lost {writes} acknowledged writes ({bytes}), {flushed_writes} of them after a flush had been acknowledged: \
             this drive lies."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_plan::units::Bytes;

    #[test]
    fn what_was_lost_is_said() {
        let said = |writes, flushed_writes| {
            sentence(&Lost {
                writes,
                bytes: Bytes(8192),
                flushed_writes,
            })
        };
        assert!(said(0, 0).starts_with("Nothing was lost"));
        assert_eq!(
            said(2, 0),
            "Lost 2 acknowledged writes (8.0 KiB); no flush had been acknowledged for them."
        );
        assert!(said(2, 1).contains("1 of them after a flush") && said(2, 1).ends_with("lies."));
    }
}
