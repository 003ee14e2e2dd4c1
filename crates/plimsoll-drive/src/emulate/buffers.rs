//! Memory for data between a read's arrival and its answer. Taking it from the system for each read would cost as much
//! as the read: large blocks come from mmap and go back to it.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Two sizes are kept apart, so that small reads do not hold large memory.
const SMALL: usize = 64 << 10;
const KEPT_SMALL: usize = 512;
const KEPT_LARGE: usize = 64;

#[derive(Debug, Default)]
pub struct Buffers {
    small: Mutex<Vec<Vec<u8>>>,
    large: Mutex<Vec<Vec<u8>>>,
}

/// At least as long as it was asked for; what is beyond its use is from before.
#[derive(Debug, Default)]
pub struct Buffer {
    memory: Vec<u8>,
    len: usize,
}

impl Buffer {
    pub fn data(&self) -> &[u8] {
        &self.memory[..self.len]
    }

    pub fn space(&mut self) -> &mut [u8] {
        &mut self.memory[..self.len]
    }

    pub fn shorten(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

impl Buffers {
    fn shelf(&self, len: usize) -> MutexGuard<'_, Vec<Vec<u8>>> {
        let shelf = if len <= SMALL {
            &self.small
        } else {
            &self.large
        };
        shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn take(&self, len: usize) -> Buffer {
        let mut memory = self.shelf(len).pop().unwrap_or_default();
        if memory.len() < len {
            memory.resize(len, 0);
        }
        Buffer { memory, len }
    }

    pub fn give_back(&self, buffer: Buffer) {
        let len = buffer.memory.len();
        let most = if len <= SMALL { KEPT_SMALL } else { KEPT_LARGE };
        let mut shelf = self.shelf(len);
        if shelf.len() < most {
            shelf.push(buffer.memory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again() {
        let buffers = Buffers::default();
        let mut one = buffers.take(4096);
        one.space().fill(7);
        let at = one.data().as_ptr();
        buffers.give_back(one);
        let large = buffers.take(1 << 20);
        assert_eq!((large.data().len(), large.data()[0]), (1 << 20, 0));
        let mut again = buffers.take(512);
        assert_eq!((again.data().as_ptr(), again.data().len()), (at, 512));
        again.shorten(100);
        assert_eq!(again.data().len(), 100);
    }
}
