//! Frames: a length of four bytes, lowest first, and so many bytes of JSON.

use std::io::{self, ErrorKind, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A second of a thousand transaction types would be a tenth of it.
pub const MOST_BYTES: u32 = 16 << 20;

pub fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    let length = u32::try_from(frame.len() - 4).unwrap_or(u32::MAX);
    if length > MOST_BYTES {
        return Err(too_long(length));
    }
    frame[..4].copy_from_slice(&length.to_le_bytes());
    Ok(frame)
}

pub fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    to.write_all(&encode(message)?)?;
    to.flush()
}

/// The next message; `None` where the other side has closed between two of them.
pub fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let Some(bytes) = read_bytes(from)? else {
        return Ok(None);
    };
    // Whole, and still no message: reading on makes no sense, as it does after a cut.
    let message = serde_json::from_slice(&bytes)
        .map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
    Ok(Some(message))
}

/// Takes no more memory than has arrived, whatever the length promises.
pub fn read_bytes(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    let mut have = 0;
    while have < length.len() {
        match from.read(&mut length[have..]) {
            Ok(0) if have == 0 => return Ok(None),
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(more) => have += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let length = u32::from_le_bytes(length);
    if length > MOST_BYTES {
        return Err(too_long(length));
    }
    let mut bytes = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut bytes)?;
    if bytes.len() < length as usize {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(bytes))
}

fn too_long(length: u32) -> io::Error {
    let why = format!("a message of {length} bytes, at most {MOST_BYTES} are allowed");
    io::Error::new(ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::protocol::{Request, WorkerReply};

    #[test]
    fn half_a_frame_is_an_error_and_none_is_the_end() {
        let frame = encode(&vec![1, 2, 3]).unwrap();
        for end in 1..frame.len() {
            let cut = read::<Vec<u8>>(&mut &frame[..end]);
            assert_eq!(cut.unwrap_err().kind(), ErrorKind::UnexpectedEof, "{end}");
        }
        assert_eq!(
            read::<Vec<u8>>(&mut &frame[..]).unwrap().unwrap(),
            [1, 2, 3]
        );
        assert!(read::<Vec<u8>>(&mut &frame[..0]).unwrap().is_none());
        let long = [0xff; 4];
        let error = read::<Vec<u8>>(&mut &long[..]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
    }

    proptest! {
        #[test]
        fn garbage_is_an_error_and_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = read::<Request>(&mut &bytes[..]);
            let mut framed = u32::try_from(bytes.len()).unwrap().to_le_bytes().to_vec();
            framed.extend(&bytes);
            let error = read::<Request>(&mut &framed[..]).map(|_| ()).unwrap_err();
            prop_assert_eq!(error.kind(), ErrorKind::InvalidData);
            let _ = read::<WorkerReply>(&mut &framed[..]);
        }
    }
}
