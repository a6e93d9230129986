//! A file that is written before it gets its name.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A file in progress, which has no final name yet.
#[derive(Debug)]
pub struct Draft {
    /// The file, open for writing and reading.
    pub file: File,
    /// The temporary name, on file systems without unnamed files.
    pub(super) name: Option<String>,
}

impl Draft {
    /// Returns true if the folder lists it under a temporary name.
    pub fn is_named(&self) -> bool {
        self.name.is_some()
    }

    /// Returns a reader of the bytes written so far, which does not move the writer's position.
    pub fn reader(&self) -> io::Result<DraftReader> {
        Ok(DraftReader { file: self.file.try_clone()?, at: 0 })
    }
}

/// A reader with a position of its own.
#[derive(Debug)]
pub struct DraftReader {
    file: File,
    at: u64,
}

impl io::Read for DraftReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl io::Seek for DraftReader {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        let (base, by) = match to {
            io::SeekFrom::Start(at) => (at, 0),
            io::SeekFrom::Current(by) => (self.at, by),
            io::SeekFrom::End(by) => (self.file.metadata()?.len(), by),
        };
        self.at = base.checked_add_signed(by).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
