//! What systems on one medium do to each other, and backups, on the terminal.

use plimsoll_analysis::summary::{BackupSummary, Effect};

use super::fitted;
use crate::message::Messages;
use crate::table::Table;
use crate::{backup, effect};

pub(super) fn effect(m: &Messages, effect: &Effect) -> String {
    let mut head = vec![effect::heading(m, effect)];
    head.extend(effect::notes(m, effect));
    head.push(m.text("effect-note"));
    let mut parts = vec![
        head.join("\n"),
        table(
            m,
            effect::table(effect),
            &["effect-column-p50", "effect-column-n"],
        ),
    ];
    let sentences = effect::describe(m, effect);
    if !sentences.is_empty() {
        parts.push(sentences.join("\n"));
    }
    format!("{}\n\n", parts.join("\n"))
}

pub(super) fn backups(m: &Messages, backups: &BackupSummary) -> String {
    let mut head = vec![backup::heading(m, backups)];
    head.extend(backup::drives(m, backups));
    let dispensable = [
        "backup-column-spread",
        "backup-column-target",
        "backup-column-source",
    ];
    let parts = [
        head.join("\n"),
        table(m, backup::times(m, backups), &dispensable),
        table(m, backup::io(m, backups), &dispensable),
        table(
            m,
            backup::operations(m, backups),
            &["backup-column-target-ms", "backup-column-at"],
        ),
    ];
    format!("{}\n\n", parts.join("\n\n"))
}

fn table(m: &Messages, table: Table, dispensable: &[&str]) -> String {
    let Table { ids, words, rows } = table.without_empty_columns();
    fitted(m, &ids, rows, dispensable, words)
}
