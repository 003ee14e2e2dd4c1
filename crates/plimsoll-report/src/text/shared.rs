//! What systems on one medium do to each other, and backups, on the terminal.

use plimsoll_analysis::summary::{BackupSummary, NoiseEffect};

use crate::message::Messages;
use crate::{backup, effect};

pub(super) fn effect(m: &Messages, effect: &NoiseEffect) -> String {
    let mut lines = vec![effect::heading(m, effect)];
    lines.extend(effect::notes(m, effect));
    lines.push(m.text("effect-note"));
    lines.push(effect::table().to_text(m, &effect::rows(effect)));
    lines.extend(effect::describe(m, effect));
    format!("{}\n\n", lines.join("\n"))
}

pub(super) fn backups(m: &Messages, backups: &BackupSummary) -> String {
    let mut head = vec![backup::heading(m, backups)];
    head.extend(backup::drives(m, backups));
    let parts = [
        head.join("\n"),
        backup::times().to_text(m, &backup::kinds(backups)),
        backup::io().to_text(m, &backup::media(backups)),
        backup::operations().to_text(m, &backup::operation_rows(backups)),
    ];
    format!("{}\n\n", parts.join("\n\n"))
}
