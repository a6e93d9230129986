//! Follows the structure of a diff line by line.
//!
//! Hunks are read by the line counts in their headers, so that a removed line `-- x` is not taken for a file name.

use std::borrow::Cow;

use super::retained::{Part, RetainedLine, RetainedLines};
use crate::truncation::line_buffer::{LineBuffer, RawLine};
use crate::truncation::notice::Tally;
use crate::truncation::smart::scan::plain;

/// Maximum number of parents of a merge.
const PARENTS: usize = 8;

/// The part of a diff that the next line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the first file.
    Outside,
    /// The header of a commit; true once its subject was found.
    Commit(bool),
    /// The header of a file, before its hunks.
    Header,
    /// The data of a binary file.
    Binary,
    /// After the end of a hunk.
    Between,
    /// Within a hunk.
    Hunk(Hunk),
}

/// Remaining lines of a hunk: of each parent, and of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hunk {
    parents: usize,
    old: [u64; PARENTS],
    new: u64,
}

/// A diff that is being scanned.
#[derive(Debug, Clone)]
pub struct Scanner {
    lines: LineBuffer,
    /// Number of lines so far.
    number: u64,
    place: Place,
    /// A line `--- name`, which is a file name only if `+++ name` follows.
    held_back: Option<RetainedLine>,
    hunk: u64,
    round: u32,
    depth: u64,
    /// Number of lines outside of a diff.
    strange: u64,
    memory: RetainedLines,
}

impl Scanner {
    /// Creates a scanner that retains enough for a preview of `max_bytes`.
    pub fn new(max_bytes: u64) -> Self {
        Scanner {
            lines: LineBuffer::default(),
            number: 0,
            place: Place::Outside,
            held_back: None,
            hunk: 0,
            round: 0,
            depth: 0,
            strange: 0,
            memory: RetainedLines::new(max_bytes),
        }
    }

    /// Takes the next bytes of the text.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut lines = std::mem::take(&mut self.lines);
        lines.push(bytes, |line| self.read(line));
        self.lines = lines;
    }

    /// Returns the number of bytes retained.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.finish().map_or(0, |memory| memory.held())
    }

    /// Returns the retained lines if the text, ending here, is a diff.
    pub(super) fn finish(&self) -> Option<RetainedLines> {
        let mut end = self.clone();
        if let Some(line) = self.lines.last() {
            end.read(line);
        }
        end.release(false);
        let is_diff = end.memory.all().files > 0 && end.strange * 2 <= end.number;
        is_diff.then_some(end.memory)
    }

    fn read(&mut self, RawLine { number, at, length, text }: RawLine<'_>) {
        self.number = number;
        let cleaned: Cow<'_, [u8]> = plain(text);
        let (part, own) = self.part(&cleaned);
        if matches!(part, Some(Part::Head | Part::File)) {
            self.depth = 0;
        }
        let kept = RetainedLine {
            number,
            bytes: at..at + length,
            text: Box::default(),
            part: part.unwrap_or(Part::Other),
            hunk: self.hunk,
            round: self.round,
            depth: self.depth,
            before: Tally::default(),
            own,
        };
        self.depth += length;
        if part.is_none() && cleaned.starts_with(b"--- ") {
            self.release(false);
            self.held_back = Some(RetainedLine { text: text.into(), ..kept });
            return;
        }
        self.release(part == Some(Part::File));
        self.strange += u64::from(part.is_none() && !cleaned.trim_ascii().is_empty());
        self.memory.take(kept, text);
    }

    /// Decides whether the held line is a file name, and processes it.
    fn release(&mut self, is_file: bool) {
        let Some(mut kept) = self.held_back.take() else { return };
        kept.part = if is_file { Part::File } else { Part::Other };
        self.strange += u64::from(!is_file);
        let text = std::mem::take(&mut kept.text);
        self.memory.take(kept, &text);
    }

    /// Returns the role of a line and the changes in it; no role means that the line is outside of a diff.
    fn part(&mut self, line: &[u8]) -> (Option<Part>, Tally) {
        if let Place::Hunk(mut hunk) = self.place {
            if let Some(own) = hunk.take(line) {
                self.place = if hunk.is_over() { Place::Between } else { Place::Hunk(hunk) };
                return (Some(Part::Body), own);
            }
            // The hunk has fewer lines than its header says.
            self.place = Place::Between;
        }
        let part = self.outside(line);
        let files = u64::from(match part {
            Some(Part::File) => line.starts_with(b"diff ") || line.starts_with(b"+++ "),
            _ => false,
        });
        (part, Tally { files, ..Tally::default() })
    }

    /// Returns the role of a line outside of hunks.
    fn outside(&mut self, line: &[u8]) -> Option<Part> {
        let starts = |words: &[&[u8]]| words.iter().any(|word| line.starts_with(word));
        if starts(&[b"diff --git ", b"diff --cc ", b"diff --combined ", b"diff -"]) {
            self.place = Place::Header;
            self.round = 0;
            return Some(Part::File);
        }
        if is_commit(line) {
            self.place = Place::Commit(false);
            return Some(Part::Commit);
        }
        if let Some(hunk) = Hunk::new(line).filter(|_| self.has_file()) {
            self.hunk += 1;
            self.round = if self.place == Place::Header { 0 } else { self.round + 1 };
            self.place = if hunk.is_over() { Place::Between } else { Place::Hunk(hunk) };
            return Some(Part::Head);
        }
        match self.place {
            Place::Header if starts(&[b"--- ", b"+++ ", b"index ", b"old mode", b"new mode"]) => {
                Some(Part::Body)
            }
            Place::Header if starts(&[b"similarity ", b"dissimilarity ", b"mode "]) => {
                Some(Part::Body)
            }
            Place::Header
                if starts(&[
                    b"new file ",
                    b"deleted file ",
                    b"rename ",
                    b"copy ",
                    b"Binary files ",
                    b"Files ",
                ]) =>
            {
                Some(Part::Note)
            }
            Place::Header if starts(&[b"GIT binary patch"]) => {
                self.place = Place::Binary;
                Some(Part::Note)
            }
            Place::Binary => Some(Part::Other),
            Place::Between if line.starts_with(b"\\ ") => Some(Part::Body),
            _ if line.starts_with(b"+++ ") && self.held_back.is_some() => {
                self.place = Place::Header;
                self.round = 0;
                Some(Part::File)
            }
            Place::Commit(false) if is_subject(line) => {
                self.place = Place::Commit(true);
                Some(Part::Commit)
            }
            // Author, date, the rest of the message, statistics.
            Place::Commit(_) if !line.starts_with(b"--- ") => Some(Part::Other),
            _ if starts(&[b"Only in ", b"Binary files ", b"Index: ", b"======="]) => {
                Some(Part::Note)
            }
            _ => None,
        }
    }

    fn has_file(&self) -> bool {
        matches!(self.place, Place::Header | Place::Between | Place::Hunk(_))
            && self.memory.all().files > 0
    }
}

/// Returns true for `commit` or `From`, followed by a hash.
fn is_commit(line: &[u8]) -> bool {
    let number = line.strip_prefix(b"commit ").or_else(|| line.strip_prefix(b"From "));
    number.is_some_and(|number| {
        let digits = number.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let is_ended = number.get(digits).is_none_or(u8::is_ascii_whitespace);
        (if line.starts_with(b"From ") { digits >= 40 } else { digits >= 7 }) && is_ended
    })
}

/// Returns true for the first line of a message, or the subject of a mail.
fn is_subject(line: &[u8]) -> bool {
    line.starts_with(b"Subject: ")
        || line.strip_prefix(b"    ").is_some_and(|text| !text.trim_ascii().is_empty())
}

impl Hunk {
    /// Parses a header: `@@ -1,7 +1,6 @@`, with one more at sign and range for each further parent.
    fn new(line: &[u8]) -> Option<Self> {
        let signs = line.iter().take_while(|byte| **byte == b'@').count();
        let parents = signs.checked_sub(1).filter(|parents| (1..=PARENTS).contains(parents))?;
        let mut words = line.get(signs..)?.strip_prefix(b" ")?.split(|byte| *byte == b' ');
        let mut hunk = Hunk { parents, old: [0; PARENTS], new: 0 };
        for old in hunk.old.iter_mut().take(parents) {
            *old = count(words.next()?.strip_prefix(b"-")?)?;
        }
        hunk.new = count(words.next()?.strip_prefix(b"+")?)?;
        let end = words.next()?;
        (end.len() == signs && end.iter().all(|byte| *byte == b'@')).then_some(hunk)
    }

    /// Takes a line of the hunk and returns its changes, or `None` if the line is not part of one.
    fn take(&mut self, line: &[u8]) -> Option<Tally> {
        if line.starts_with(b"\\ ") {
            return Some(Tally::default());
        }
        // Some programs strip trailing white space, which includes the marker of a blank line.
        let marks = line.get(..self.parents).unwrap_or(line);
        if !marks.iter().all(|mark| matches!(mark, b' ' | b'+' | b'-')) {
            return None;
        }
        let mark = |parent: usize| marks.get(parent).copied().unwrap_or(b' ');
        let is_removed = marks.contains(&b'-');
        for (parent, old) in self.old.iter_mut().take(self.parents).enumerate() {
            let is_there = if is_removed { mark(parent) == b'-' } else { mark(parent) == b' ' };
            *old = old.checked_sub(u64::from(is_there))?;
        }
        self.new = self.new.checked_sub(u64::from(!is_removed))?;
        let is_added = !is_removed && marks.contains(&b'+');
        Some(Tally { files: 0, added: is_added.into(), removed: is_removed.into() })
    }

    fn is_over(&self) -> bool {
        self.new == 0 && self.old.iter().all(|old| *old == 0)
    }
}

/// Parses the number of lines of a range, which defaults to 1.
fn count(range: &[u8]) -> Option<u64> {
    let mut numbers = range.split(|byte| *byte == b',');
    let start: u64 = std::str::from_utf8(numbers.next()?).ok()?.parse().ok()?;
    match numbers.next() {
        None => Some(1),
        Some(lines) => {
            let lines: u64 = std::str::from_utf8(lines).ok()?.parse().ok()?;
            start.checked_add(lines).map(|_| lines)
        }
    }
}
