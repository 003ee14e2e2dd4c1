//! `plimsoll drive cut`: a power cut by hand.

use std::process::ExitCode;

use plimsoll_drive::emulate::cut::request;
use plimsoll_drive::emulate::protocol::Lost;
use plimsoll_report::message::Messages;

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
    let id = match (writes, flushed_writes) {
        (0, _) => "cut-nothing-lost",
        (_, 0) => "cut-unflushed-lost",
        _ => "cut-flushed-lost",
    };
    let args = [
        ("writes", writes.to_string()),
        ("bytes", bytes.to_string()),
        ("flushed", flushed_writes.to_string()),
    ];
    Messages::english().text_with(id, &args)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_plan::units::Bytes;

    #[test]
    fn what_was_lost_is_reported() {
        let text = |writes, flushed_writes| {
            sentence(&Lost {
                writes,
                bytes: Bytes(8192),
                flushed_writes,
            })
        };
        assert!(text(0, 0).starts_with("Nothing was lost"));
        assert_eq!(
            text(2, 0),
            "Lost 2 acknowledged writes (8.0 KiB); no flush had been acknowledged for them."
        );
        assert!(text(2, 1).contains("1 of them after a flush") && text(2, 1).ends_with("lies."));
    }
}
