//! The bytes of an output as text.

use super::fault::ImportError;

/// UTF-8, with or without a byte order mark, and UTF-16 with one, as PowerShell's redirection writes it. Bytes of other
/// encodings that contain ASCII (a name in Latin-1) are replaced: they are in no figure.
///
/// # Errors
/// UTF-16 without a byte order mark, UTF-32 and binary data; UTF-16 with a broken character.
pub fn decode(file: &str, bytes: &[u8]) -> Result<String, ImportError> {
    text(bytes).map_err(|found| ImportError::Encoding {
        file: file.to_owned(),
        found,
    })
}

fn text(bytes: &[u8]) -> Result<String, &'static str> {
    const BROKEN: &str = "has broken UTF-16";
    match bytes {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Err("is UTF-32"),
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes).ok_or(BROKEN),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes).ok_or(BROKEN),
        _ if bytes.contains(&0) => {
            Err("contains zero bytes: binary data, or UTF-16 without its mark")
        }
        _ => {
            let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            Ok(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let pairs = bytes.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    let units = pairs.map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units)
        .collect::<Result<String, _>>()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf_16_with_its_mark_is_read_and_other_encodings_are_refused() {
        let little: Vec<u8> = "\u{feff}a\u{e4}\r\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let big: Vec<u8> = "\u{feff}a\u{e4}\r\n"
            .encode_utf16()
            .flat_map(u16::to_be_bytes)
            .collect();
        for bytes in [little.as_slice(), &big, "\u{feff}a\u{e4}\r\n".as_bytes()] {
            assert_eq!(decode("a.txt", bytes).unwrap(), "a\u{e4}\r\n");
        }
        assert_eq!(decode("a.txt", b"M\xfcller 1").unwrap(), "M\u{fffd}ller 1");
        for bytes in [
            &little[2..],
            &little[..3],
            b"\xff\xfe\0\0a\0\0\0",
            b"\xff\xfe\0\xd8a\0",
            b"\x7fELF\0\0",
        ] {
            let error = decode("a.txt", bytes).unwrap_err().to_string();
            assert!(
                error.starts_with("cannot import a.txt: unknown encoding\nIt "),
                "{error}"
            );
        }
    }
}
