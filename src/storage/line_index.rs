//! An index of line starts in a large file: the number of line feeds before every MiB. It is built while lines are
//! looked for, no further than needed, and kept for the files that were read last.

use std::fs::Metadata;
use std::io::{self, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use memchr::memchr_iter;

use super::read::Input;
use crate::util::sync::lock;

/// Bytes between two entries. A line is found within them in less than a millisecond.
pub const STRIDE: u64 = 1 << 20;
/// Bytes read at a time, so that they stay in the CPU cache between reading and counting.
const BLOCK: usize = 256 * 1024;
/// Number of files whose index is kept. The index of a file of 1 GiB takes 8 KiB.
const KEPT: usize = 16;

/// The index of one file.
#[derive(Debug, Default)]
pub struct LineIndex {
    /// Number of line feeds before each stride. The last entry is where counting stopped.
    before: Vec<u64>,
    /// True if the whole file is indexed.
    complete: bool,
}

/// Result of looking for a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinePosition {
    /// The line begins at this offset.
    At(u64),
    /// The file has fewer lines.
    Beyond,
    /// The budget is used up: ask again.
    Unknown,
}

impl LineIndex {
    /// Looks for the start of a line, counted from 0, reading at most about `budget` bytes.
    pub fn find(
        &mut self,
        file: &mut dyn Input,
        line: u64,
        budget: u64,
    ) -> io::Result<LinePosition> {
        if line == 0 {
            return Ok(LinePosition::At(0));
        }
        if self.before.is_empty() {
            self.before.push(0);
        }
        let mut read = 0;
        while !self.complete && self.before.last().is_some_and(|&known| known < line) {
            if read >= budget {
                return Ok(LinePosition::Unknown);
            }
            read += self.extend(file)?;
        }
        // The line begins in the last stride that has fewer line feeds before it than the line needs.
        let Some(stride) = self.before.partition_point(|&count| count < line).checked_sub(1) else {
            return Ok(LinePosition::Beyond);
        };
        let missing = line - self.before.get(stride).copied().unwrap_or(0);
        Ok(match nth_break(file, stride as u64 * STRIDE, missing)? {
            Some(at) => LinePosition::At(at + 1),
            None => LinePosition::Beyond,
        })
    }

    /// Counts the line feeds of a file after [`find`](Self::find) answered that a line is beyond its end.
    pub fn line_feeds(&self, file: &mut dyn Input) -> io::Result<u64> {
        let last_stride = (self.before.len() as u64).saturating_sub(1) * STRIDE;
        let mut found = self.before.last().copied().unwrap_or(0);
        each_block(file, last_stride, |block| {
            found += memchr_iter(b'\n', block).count() as u64;
            true
        })?;
        Ok(found)
    }

    /// Marks the index as incomplete, because the file may have grown.
    pub fn resume(&mut self) {
        self.complete = false;
    }

    /// Counts the next stride.
    fn extend(&mut self, file: &mut dyn Input) -> io::Result<u64> {
        let start = (self.before.len() as u64 - 1) * STRIDE;
        let (mut read, mut found) = (0, 0);
        each_block(file, start, |block| {
            read += block.len() as u64;
            found += memchr_iter(b'\n', block).count() as u64;
            true
        })?;
        // A file of whole strides ends with an empty one.
        if read < STRIDE {
            self.complete = true;
        } else {
            self.before.push(self.before.last().copied().unwrap_or(0) + found);
        }
        Ok(read)
    }
}

/// Returns the offset after the `nth` line feed of a stride, counted from 1.
fn nth_break(file: &mut dyn Input, start: u64, nth: u64) -> io::Result<Option<u64>> {
    let (mut at, mut missing, mut found) = (start, nth, None);
    each_block(file, start, |block| {
        let count = memchr_iter(b'\n', block).count() as u64;
        if count < missing {
            missing -= count;
            at += block.len() as u64;
            return true;
        }
        let wanted = usize::try_from(missing).unwrap_or(usize::MAX) - 1;
        found = memchr_iter(b'\n', block).nth(wanted).map(|offset| at + offset as u64);
        false
    })?;
    Ok(found)
}

/// Passes one stride block by block to `take`, until that returns a result.
fn each_block(
    file: &mut dyn Input,
    start: u64,
    mut take: impl FnMut(&[u8]) -> bool,
) -> io::Result<()> {
    file.seek(SeekFrom::Start(start))?;
    let mut block = vec![0; BLOCK];
    let mut left = STRIDE;
    while left > 0 {
        let wanted = left.min(BLOCK as u64) as usize;
        let read = file.read(block.get_mut(..wanted).unwrap_or_default())?;
        if read == 0 || !take(block.get(..read).unwrap_or_default()) {
            break;
        }
        left -= read as u64;
    }
    Ok(())
}

/// Distinguishes versions of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Identity {
    path: std::path::PathBuf,
    size: u64,
    modified: Option<SystemTime>,
    inode: (u64, u64),
}

impl Identity {
    fn of(path: &Path, data: &Metadata) -> Self {
        Identity {
            path: path.to_owned(),
            size: data.len(),
            modified: data.modified().ok(),
            inode: inode(data),
        }
    }
}

#[cfg(unix)]
fn inode(data: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (data.dev(), data.ino())
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

/// The indexes of the files that were read last, newest last.
#[derive(Debug, Default)]
pub struct LineIndexes {
    kept: Mutex<Vec<(Identity, Arc<Mutex<LineIndex>>)>>,
}

impl LineIndexes {
    /// Returns the index of a file: an empty one if the file is new or has changed.
    pub fn of(&self, path: &Path, data: &Metadata) -> Arc<Mutex<LineIndex>> {
        let identity = Identity::of(path, data);
        let mut kept = lock(&self.kept);
        let known = kept.iter().position(|(known, _)| known.path == identity.path);
        let known = known.map(|at| kept.remove(at)).filter(|(known, _)| *known == identity);
        let index = known.map(|(_, index)| index).unwrap_or_default();
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((identity, Arc::clone(&index)));
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, Write};

    #[test]
    fn lines_are_found_however_far_the_index_reaches() {
        let mut text = Vec::new();
        let mut starts = vec![0u64];
        for line in 0..60_000 {
            let long = if line % 20_000 == 7 { 1_500_000 } else { line % 90 };
            text.extend(std::iter::repeat_n(b'x', long));
            text.push(b'\n');
            starts.push(text.len() as u64);
        }
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&text).unwrap();
        let mut shared = LineIndex::default();
        for line in [59_999, 0, 1, 7, 8, 9, 20_007, 20_008, 40_007, 60_000, 59_998] {
            let place = loop {
                match shared.find(&mut file, line, STRIDE).unwrap() {
                    LinePosition::Unknown => {}
                    place => break place,
                }
            };
            assert_eq!(place, LinePosition::At(starts[line as usize]), "line {line}");
            let mut fresh = LineIndex::default();
            assert_eq!(fresh.find(&mut file, line, u64::MAX).unwrap(), place);
        }
        assert_eq!(shared.find(&mut file, 60_001, u64::MAX).unwrap(), LinePosition::Beyond);
    }

    #[test]
    fn lines_of_a_file_that_grows_are_found() {
        let mut file = tempfile::tempfile().unwrap();
        let mut index = LineIndex::default();
        for round in 1..5u64 {
            file.seek(SeekFrom::End(0)).unwrap();
            file.write_all(&b"0123456\n".repeat(100_000)).unwrap();
            index.resume();
            for lines in [round * 100_000, round * 100_000 - 1] {
                assert_eq!(
                    index.find(&mut file, lines, u64::MAX).unwrap(),
                    LinePosition::At(lines * 8)
                );
            }
            assert_eq!(index.find(&mut file, 1_000_000, u64::MAX).unwrap(), LinePosition::Beyond);
        }
    }

    #[test]
    fn a_file_that_ends_with_a_stride_is_counted_to_its_end() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![b'\n'; STRIDE as usize * 2]).unwrap();
        let mut index = LineIndex::default();
        assert_eq!(
            index.find(&mut file, STRIDE * 2, u64::MAX).unwrap(),
            LinePosition::At(STRIDE * 2)
        );
        assert_eq!(index.find(&mut file, STRIDE * 2 + 1, u64::MAX).unwrap(), LinePosition::Beyond);
    }

    #[test]
    fn only_the_last_files_are_remembered_and_only_as_they_were() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a");
        let data = |content: &str| {
            std::fs::write(&path, content).unwrap();
            std::fs::metadata(&path).unwrap()
        };
        let indexes = LineIndexes::default();
        let first = data("1");
        let index = indexes.of(&path, &first);
        assert!(Arc::ptr_eq(&index, &indexes.of(&path, &first)));
        assert!(!Arc::ptr_eq(&index, &indexes.of(&path, &data("22"))));
        for other in 0..100 {
            indexes.of(&root.path().join(other.to_string()), &first);
        }
        assert_eq!(indexes.kept.lock().unwrap().len(), KEPT);
    }
}
