//! Files that commands read as text.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// No plan, drive or claim is larger; devices such as `/dev/zero` have no end.
const LARGEST: u64 = 4 << 20;

/// The text of a file.
pub fn read_text(path: &Path) -> Result<String> {
    read_text_from(File::open(path)?)
}

/// The text that comes from there.
///
/// # Errors
/// It is too large, or no UTF-8.
pub fn read_text_from(from: impl Read) -> Result<String> {
    let mut bytes = Vec::new();
    from.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(Error::new(
            ErrorKind::FileTooLarge,
            "it is larger than 4 MiB",
        ));
    }
    String::from_utf8(bytes)
        .map_err(|_| Error::new(ErrorKind::InvalidData, "it is no text in UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_not_read() {
        let error = read_text(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 4 MiB");
        assert!(read_text_from(&b"\xff"[..]).is_err());
        assert_eq!(read_text_from("é".as_bytes()).unwrap(), "é");
    }
}
