//! Media: their names, and the figures of their I/O for programs.

use plimsoll_analysis::summary::MediumFigures;

use crate::message::Messages;
use crate::table::Table;

/// By its name, and that it is emulated: its curve and its row have the name alone.
pub(crate) fn name(m: &Messages, name: &str, emulated: bool) -> String {
    if emulated {
        m.text_with("medium-emulated", &[("medium", name.to_owned())])
    } else {
        name.to_owned()
    }
}

/// That figures are those of an emulated drive; empty where there is none.
pub(crate) fn emulated(m: &Messages, drive: Option<&String>) -> String {
    drive.map_or_else(String::new, |drive| modeled(m, drive, false))
}

/// That figures are those of a model, in real or in virtual time.
pub(crate) fn modeled(m: &Messages, drive: &str, is_simulated: bool) -> String {
    let message = match is_simulated {
        true => "simulated-drive",
        false => "emulated-drive",
    };
    m.text_with(message, &[("drive", drive.to_owned())])
}

/// Reads and writes of the medium of one side.
pub(crate) fn fields<'a, R: 'a>(
    table: Table<'a, R>,
    side: &str,
    of: fn(&R) -> Option<MediumFigures>,
) -> Table<'a, R> {
    table
        .field(format!("{side}reads_per_second"), move |r| {
            Some(of(r)?.reads_per_second)
        })
        .field(format!("{side}writes_per_second"), move |r| {
            Some(of(r)?.writes_per_second)
        })
        .field(format!("{side}read_mb_per_second"), move |r| {
            Some(of(r)?.read_mb_per_second)
        })
        .field(format!("{side}write_mb_per_second"), move |r| {
            Some(of(r)?.write_mb_per_second)
        })
        .field(format!("{side}read_ms"), move |r| of(r)?.read_ms)
        .field(format!("{side}write_ms"), move |r| of(r)?.write_ms)
}
