//! Searches a saved output line by line, in memory independent of its size.
//!
//! Whole buffers are searched at once, and line feeds are counted in vectors; single lines are examined only where
//! there is a match. [`super::excerpt`] then reads the text that is shown.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use memchr::{memchr, memchr_iter, memrchr};
use serde::{Deserialize, Serialize};

use super::directories::StoreDirs;
use super::excerpt::{Found, Match, excerpt};
use super::parallel_scan::{LineRun, ParallelScan};
use super::pattern::{Pattern, PatternOptions, compile};
use super::read::{Input, is_incomplete, open_output_of, unreadable};
use crate::error::{Code, Error, Result};
use crate::text::lines::LineRule;

/// Bytes read at a time.
const BLOCK: usize = 256 * 1024;
/// Maximum length of a line that is searched in one piece; a longer one is searched in overlapping pieces.
const MAX_LINE_LENGTH: usize = 1 << 20;
/// Number of bytes that two pieces share: a match up to this length is never missed.
const OVERLAP: usize = 64 * 1024;
/// Maximum number of lines shown before and after a match.
pub const MAX_CONTEXT: u32 = 100;
/// Default number of matching lines of one call.
pub const MATCHES: u64 = 100;
/// Maximum number of matching lines of one call.
pub const MAX_MATCHES: u64 = 10_000;
/// Default number of bytes of text of one call.
pub const SHOWN_BYTES: u64 = 64 * 1024;
/// Maximum number of bytes of text of one call.
pub const MAX_SHOWN_BYTES: u64 = 4 << 20;
/// Number of bytes before a piece that decide whether a word or line begins with it.
const LOOK_BEHIND: usize = 8;

/// A search request.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Query {
    pub pattern: String,
    /// Matches upper and lower case alike.
    #[serde(default)]
    pub ignore_case: bool,
    /// Treats the pattern as plain text.
    #[serde(default)]
    pub literal: bool,
    /// Number of lines shown before a match.
    pub before: u32,
    /// Number of lines shown after a match.
    pub after: u32,
    /// Maximum number of matching lines of one call.
    pub max_matches: u64,
    /// Maximum number of bytes of text of one call.
    pub max_bytes: u64,
    /// Position at which an earlier call stopped.
    pub cursor: Option<String>,
}

impl Query {
    fn reading(&self) -> PatternOptions {
        PatternOptions { ignore_case: self.ignore_case, literal: self.literal }
    }
}

/// The result of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Findings {
    /// The matching lines in order.
    pub matches: Vec<Match>,
    /// True if a limit stopped the search before the end.
    pub truncated: bool,
    /// Cursor to continue with, if the search was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Number of lines searched by this call.
    pub lines_searched: u64,
    /// True if the file holds only a part of the output.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
}

/// A search in progress.
#[derive(Debug)]
pub struct Search {
    file: Box<dyn Input>,
    size: u64,
    query: Query,
    pattern: Pattern,
    scan: Option<ParallelScan>,
    /// Offset up to which the pre-scan found possible matches: no more is read before that is searched.
    open_to: u64,
    /// Bytes of the file, and space for the next ones. Never cleared, because that takes as long as reading.
    buffer: Vec<u8>,
    filled: usize,
    /// Offset of the buffer in the file.
    offset: u64,
    /// Index in the buffer at which the search continues.
    from: usize,
    /// Index in the buffer up to which line feeds are counted.
    counted: usize,
    /// Number of the line at `counted`, from 1.
    line: u64,
    first_line: u64,
    /// Start of the line that the buffer begins within, if any.
    line_start: Option<u64>,
    /// True if that line has matched already.
    line_done: bool,
    shown_bytes: u64,
    findings: Findings,
    /// Set if there is no room for more matches: the offset from which the end of the last matching line is looked for.
    ending: Option<u64>,
}

impl Search {
    /// Opens an output and compiles the pattern; with the folder of a session, only an output that belongs to it.
    pub fn open(
        places: &StoreDirs,
        path: &str,
        session: Option<&str>,
        query: Query,
    ) -> Result<Self> {
        let pattern = compile(&query.pattern, query.reading())?;
        let file = open_output_of(places, path, session)?;
        let size = file.metadata().map_err(unreadable)?.len();
        let scan_file = file.try_clone().map_err(unreadable)?;
        let search = Search::of(Box::new(file), size, path, pattern, query)?;
        let scan = ParallelScan::of(scan_file, size, search.offset, &search.pattern);
        Ok(Search { scan, ..search })
    }

    /// Searches bytes in memory, under a path like that of a file.
    pub fn over(bytes: Vec<u8>, path: &str, query: Query) -> Result<Self> {
        let pattern = compile(&query.pattern, query.reading())?;
        let size = bytes.len() as u64;
        Search::of(Box::new(Cursor::new(bytes)), size, path, pattern, query)
    }

    fn of(
        file: Box<dyn Input>,
        size: u64,
        path: &str,
        pattern: Pattern,
        query: Query,
    ) -> Result<Self> {
        let (line, offset) = match &query.cursor {
            Some(cursor) => parse_cursor(cursor, size)?,
            None => (1, 0),
        };
        let mut search = Search {
            file,
            size,
            query,
            pattern,
            scan: None,
            open_to: 0,
            buffer: Vec::new(),
            filled: 0,
            offset,
            from: 0,
            counted: 0,
            line,
            first_line: line,
            line_start: None,
            line_done: false,
            shown_bytes: 0,
            ending: None,
            findings: Findings { incomplete: is_incomplete(path), ..Findings::default() },
        };
        search.file.seek(SeekFrom::Start(offset)).map_err(unreadable)?;
        Ok(search)
    }

    /// Searches about `budget` bytes. Returns `None` if it must be called again.
    pub fn step(&mut self, budget: u64) -> Result<Option<Findings>> {
        let mut read = 0;
        while read < budget {
            let advanced = match self.ending {
                Some(at) => self.find_end(at),
                None => self.skip_lines().and_then(|passed| match passed {
                    0 => self.advance(),
                    passed => Ok(Some(passed)),
                }),
            };
            match advanced.map_err(unreadable)? {
                Some(bytes) => read += bytes,
                None => {
                    self.findings.lines_searched = self.line - self.first_line;
                    return Ok(Some(std::mem::take(&mut self.findings)));
                }
            }
        }
        Ok(None)
    }

    /// Skips lines without a match, and returns the number of bytes skipped.
    fn skip_lines(&mut self) -> io::Result<u64> {
        let is_at_line = self.from == 0 && self.line_start.is_none() && !self.line_done;
        // Bytes that were read are searched first.
        let is_free = is_at_line && self.offset >= self.open_to;
        let Some(scan) = self.scan.as_mut().filter(|_| is_free) else { return Ok(0) };
        let passed = match scan.next(self.offset) {
            Some(LineRun::NoMatch(bytes, breaks)) => {
                self.line += breaks;
                bytes
            }
            Some(LineRun::MayMatch(bytes)) => {
                self.open_to = self.offset + bytes;
                0
            }
            None => return Ok(0),
        };
        self.offset += passed;
        (self.filled, self.counted) = (0, 0);
        self.file.seek(SeekFrom::Start(self.offset))?;
        Ok(passed)
    }

    /// Reads the next block and searches the lines that it completes. Returns the number of bytes read, or `None` at
    /// the end.
    fn advance(&mut self) -> io::Result<Option<u64>> {
        let held = self.filled;
        if self.buffer.len() < held + BLOCK {
            self.buffer.resize(held + BLOCK, 0);
        }
        let wanted = match self.open_to.saturating_sub(self.at(held)) {
            0 => BLOCK,
            left => BLOCK.min(left as usize),
        };
        let room = self.buffer.get_mut(held..held + wanted).unwrap_or_default();
        let read = self.file.read(room)?;
        self.filled += read;
        let fresh = self.buffer.get(held..self.filled).unwrap_or_default();
        let end = match memrchr(b'\n', fresh) {
            Some(last) => held + last + 1,
            None if read == 0 || self.filled >= MAX_LINE_LENGTH => self.filled,
            None => return Ok(Some(read as u64)),
        };
        let is_piece = read > 0 && self.buffer.get(end - 1) != Some(&b'\n');
        let goes_on = self.search_to(end, is_piece)?;
        if self.ending.is_some() {
            return Ok(Some(read as u64));
        }
        if !goes_on || read == 0 {
            return Ok(None);
        }
        if is_piece {
            self.keep_overlap()
        } else {
            self.forget(end)
        }
        Ok(Some(read as u64))
    }

    /// Searches the buffer up to `end`, which is the end of a line unless `is_piece`. Returns whether to continue.
    fn search_to(&mut self, end: usize, is_piece: bool) -> io::Result<bool> {
        if self.line_done {
            let ended = memchr(b'\n', self.buffer.get(..end).unwrap_or_default());
            (self.from, self.line_done) = ended.map_or((end, true), |at| (at + 1, false));
        }
        while self.from < end {
            let region = self.buffer.get(..end).unwrap_or_default();
            let Some(hit) = self.pattern.earliest_match_end(region, self.from) else { break };
            if is_piece && hit >= end {
                // The end of the piece only looks like the end of a word or line: the next piece decides.
                break;
            }
            let begin =
                memrchr(b'\n', region.get(..hit).unwrap_or_default()).map_or(0, |at| at + 1);
            if begin >= end {
                // No line begins after the last break, but a pattern may match an empty text there.
                break;
            }
            let stop = region.get(hit..).and_then(|rest| memchr(b'\n', rest)).map(|at| hit + at);
            let inside = begin == 0 && self.line_start.is_some();
            let looked = if inside || is_piece {
                self.pattern.find_at(region, self.from.max(begin)).map(|found| (found.start, hit))
            } else {
                let content_end = match stop {
                    Some(at) => begin.max(LineRule::Terminated.content_end(region, at)),
                    None => end,
                };
                let content = region.get(begin..content_end).unwrap_or_default();
                self.pattern.find(content).map(|found| (begin + found.start, begin + found.end))
            };
            self.count_to(begin);
            if let Some((from, to)) = looked {
                let line_start = self.line_start.filter(|_| begin == 0).unwrap_or(self.at(begin));
                let found =
                    Found { line: self.line, line_start, from: self.at(from), to: self.at(to) };
                if !self.show(&found)? {
                    return Ok(false);
                }
            }
            match stop {
                Some(at) => self.from = at + 1,
                // One match per line is enough: the search continues after the line.
                None => (self.from, self.line_done) = (end, is_piece && looked.is_some()),
            }
        }
        self.count_to(end);
        if !is_piece && end > 0 && self.buffer.get(end - 1) != Some(&b'\n') {
            // The last line may lack a break to be counted by.
            self.line += 1;
        }
        Ok(true)
    }

    fn at(&self, index: usize) -> u64 {
        self.offset + index as u64
    }

    fn count_to(&mut self, end: usize) {
        let fresh = self.buffer.get(self.counted..end).unwrap_or_default();
        self.line += memchr_iter(b'\n', fresh).count() as u64;
        self.counted = self.counted.max(end);
    }

    /// Adds the excerpt of a match. Returns whether there is room for more.
    fn show(&mut self, found: &Found) -> io::Result<bool> {
        let room = self.query.max_bytes.saturating_sub(self.shown_bytes);
        let (before, after) = (self.query.before as usize, self.query.after as usize);
        let found_before = !self.findings.matches.is_empty();
        let place = self.file.stream_position()?;
        let shown =
            excerpt(&mut *self.file, self.size, found, (before, after), room, found_before)?;
        self.file.seek(SeekFrom::Start(place))?;
        let Some(shown) = shown else {
            self.stop(found.line, found.line_start);
            return Ok(false);
        };
        self.shown_bytes += shown.bytes();
        self.findings.matches.push(shown);
        if self.findings.matches.len() as u64 >= self.query.max_matches {
            (self.line, self.ending) = (found.line, Some(found.to));
            return Ok(false);
        }
        Ok(true)
    }

    /// Looks for the end of the line at `from` in the next block, and stops after it. It may be far away.
    fn find_end(&mut self, from: u64) -> io::Result<Option<u64>> {
        self.file.seek(SeekFrom::Start(from))?;
        let room = self.buffer.get_mut(..BLOCK).unwrap_or_default();
        let read = self.file.read(room)?;
        let end = memchr(b'\n', room.get(..read).unwrap_or_default());
        if end.is_none() && read > 0 {
            self.ending = Some(from + read as u64);
            return Ok(Some(read as u64));
        }
        self.line += 1;
        let next_line = end.map(|at| from + at as u64 + 1);
        if let Some(next_line) = next_line.filter(|next_line| *next_line < self.size) {
            self.stop(self.line, next_line);
        }
        Ok(None)
    }

    fn stop(&mut self, line: u64, byte: u64) {
        self.line = line;
        self.findings.truncated = true;
        self.findings.next = Some(format!("{line}:{byte}"));
    }

    /// Drops the lines that were searched.
    fn forget(&mut self, end: usize) {
        self.drop_front(end);
        (self.from, self.counted, self.line_start) = (0, 0, None);
    }

    fn drop_front(&mut self, bytes: usize) {
        self.buffer.copy_within(bytes..self.filled, 0);
        self.filled -= bytes;
        self.offset += bytes as u64;
    }

    /// Drops all of a long line but the overlap with the next piece. There is no break in the bytes read so far.
    fn keep_overlap(&mut self) {
        self.line_start = Some(self.line_start.unwrap_or(self.offset));
        self.drop_front(self.filled - OVERLAP - LOOK_BEHIND);
        self.from = LOOK_BEHIND;
        self.counted = self.filled;
    }
}

/// Parses a cursor: the line and the offset at which the next call begins.
fn parse_cursor(cursor: &str, size: u64) -> Result<(u64, u64)> {
    let parts = cursor.split_once(':');
    let numbers = parts.and_then(|(line, byte)| Some((line.parse().ok()?, byte.parse().ok()?)));
    // Every line before the offset has at least one byte.
    let is_possible = |&(line, byte): &(u64, u64)| line >= 1 && byte <= size && line - 1 <= byte;
    numbers.filter(is_possible).ok_or_else(|| {
        let problem = format!("expected the `next` of an earlier search, received {cursor:?}");
        Error::field(Code::InvalidArgument, "options.after", problem)
    })
}

#[cfg(test)]
mod tests;
