//! Retains the two ends and a few counts of a text while it streams through, so that it can be truncated at the end.
//! Memory is bounded by the limits, whatever the text is.

use std::borrow::Cow;
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memrchr};

use super::limits::{Direction, Limits};
use super::smart::rules::Rules;
use super::smart::scan::Scanner;
use super::smart::{Keep, Query};
use super::strategies::{OneLineDocument, Structured};
use super::terminal_preview::Screen;
use crate::text::terminal::source_map::Mark;
use crate::tokens::{Meter, Mode};

/// Number of bytes kept beyond the limits, so that a cut can find the line break or grapheme boundary near it.
const SLACK: usize = 4 * 1024;

/// Minimum number of bytes kept at the end for the smart strategies: what explains a failure is mostly near the end.
const SMART_TAIL: usize = 64 * 1024;

/// Number of bytes reserved at first. Limits are seldom larger.
const RESERVED: usize = 64 * 1024;

/// The counts of a whole text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Number of raw bytes.
    pub bytes: u64,
    /// Number of line feeds.
    pub breaks: u64,
    /// True if the last byte is a line feed.
    pub ends_with_break: bool,
}

/// The two ends of a text that streams through.
#[derive(Debug, Clone)]
pub struct Window {
    cap: usize,
    tail_cap: usize,
    keep_head: bool,
    keep_tail: bool,
    head: Vec<u8>,
    tail: Vec<u8>,
    totals: Totals,
    last_byte: Option<u8>,
    after_head: Option<u64>,
    before_tail: Option<u64>,
    /// `Some` only if tokens are limited, because counting takes time.
    meter: Option<Meter>,
    /// `Some` only for the smart strategy.
    scanner: Option<Box<Scanner>>,
    /// `Some` only for strategies that keep a structure, and for a document on one line.
    structured: Option<Structured>,
    /// `Some` as long as the text may be a document on one line.
    document: Option<OneLineDocument>,
    /// `Some` only if the text is terminal output as displayed.
    screen: Option<Box<Screen>>,
}

impl Window {
    /// Creates a buffer for these limits.
    pub fn new(limits: &Limits) -> Self {
        Window::judging(limits, None, None)
    }

    /// Creates a buffer with other rules for important lines than the default ones, and a question that lines may answer.
    pub fn judging(limits: &Limits, rules: Option<Arc<Rules>>, query: Option<Arc<Query>>) -> Self {
        let is_smart = limits.keep.is_smart();
        let cap = usize::try_from(limits.max_bytes).unwrap_or(usize::MAX).saturating_add(SLACK);
        Window {
            cap,
            tail_cap: if is_smart { cap.max(SMART_TAIL) } else { cap },
            // A document on one line is read from its start, whatever end is shown.
            keep_head: limits.keep != Keep::Ends || limits.direction != Direction::Tail,
            keep_tail: is_smart || limits.direction != Direction::Head,
            head: Vec::new(),
            tail: Vec::new(),
            totals: Totals::default(),
            last_byte: None,
            after_head: None,
            before_tail: None,
            meter: (limits.max_tokens != u64::MAX).then(|| Meter::new(Mode::Upper)),
            // Only if needed: compiling the rules takes milliseconds.
            scanner: is_smart
                .then(|| Box::new(Scanner::new(rules.unwrap_or_else(Rules::built_in), query))),
            structured: Structured::new(limits),
            document: OneLineDocument::new(limits),
            screen: limits.terminal.then(|| Box::new(Screen::new(cap))),
        }
    }

    /// Takes the next bytes of the output.
    pub fn push(&mut self, bytes: &[u8]) {
        match self.screen.take() {
            Some(mut screen) => {
                screen.push(bytes, self);
                self.screen = Some(screen);
            }
            None => self.pass(bytes),
        }
    }

    /// Ends the output. Terminal output must not be read from the buffer before.
    pub fn finish(&mut self) {
        if let Some(mut screen) = self.screen.take() {
            screen.finish(self);
            self.screen = Some(screen);
        }
    }

    /// Returns the buffer as it is if the output ends here.
    pub fn ended(&self) -> Cow<'_, Window> {
        if self.screen.as_ref().is_none_or(|screen| screen.has_ended()) {
            return Cow::Borrowed(self);
        }
        let mut ended = self.clone();
        ended.finish();
        Cow::Owned(ended)
    }

    /// Records the source of a line, or of the rest of one, that follows in the text.
    pub(super) fn note(&mut self, line: u64, byte: u64, mark: Mark) {
        if let Some(scanner) = &mut self.scanner {
            scanner.note(line, byte, mark);
        }
    }

    /// Takes the next bytes of the text.
    pub(super) fn pass(&mut self, bytes: &[u8]) {
        let Some(&last) = bytes.last() else { return };
        if self.keep_head {
            self.push_head(bytes);
        }
        if self.keep_tail {
            self.push_tail(bytes);
        }
        if let Some(meter) = &mut self.meter {
            meter.take(bytes);
        }
        if let Some(scanner) = &mut self.scanner {
            scanner.push(bytes);
        }
        self.read_structure(bytes);
        self.totals.bytes += bytes.len() as u64;
        self.totals.breaks += memchr_iter(b'\n', bytes).count() as u64;
        self.totals.ends_with_break = last == b'\n';
        self.last_byte = Some(last);
    }

    fn read_structure(&mut self, bytes: &[u8]) {
        match &mut self.document {
            Some(document) => {
                // All bytes so far may be white space, which counts in positions.
                let before = usize::try_from(self.totals.bytes).unwrap_or(usize::MAX);
                let so_far = self.head.get(..before).unwrap_or_default();
                self.structured = document.read(self.structured.take(), so_far, bytes);
                if self.structured.is_none() && document.is_over() {
                    self.document = None;
                }
            }
            None => {
                if let Some(structured) = &mut self.structured {
                    structured.push(bytes);
                }
            }
        }
    }

    fn push_head(&mut self, bytes: &[u8]) {
        let (kept, rest) = bytes.split_at(bytes.len().min(self.cap - self.head.len()));
        if self.head.is_empty() {
            // Avoids copies while the buffer grows.
            self.head.reserve_exact(self.cap.min(RESERVED));
        }
        self.head.extend_from_slice(kept);
        if self.after_head.is_some() {
            return;
        }
        if let Some(at) = memchr(b'\n', rest) {
            let before = match at.checked_sub(1) {
                Some(before) => rest.get(before).copied(),
                None => kept.last().copied().or(self.last_byte),
            };
            let end = self.totals.bytes + (kept.len() + at) as u64;
            self.after_head = Some(end - u64::from(before == Some(b'\r')));
        }
    }

    fn push_tail(&mut self, bytes: &[u8]) {
        // Twice the capacity, so that old bytes are moved only once per `tail_cap` new ones.
        if self.tail.len() + bytes.len() <= self.tail_cap.saturating_mul(2) {
            self.tail.extend_from_slice(bytes);
            return;
        }
        let from_bytes = bytes.len().min(self.tail_cap);
        let from_tail = (self.tail_cap - from_bytes).min(self.tail.len());
        let start = self.totals.bytes - self.tail.len() as u64;
        let dropped_tail = self.tail.len() - from_tail;
        let dropped_bytes = bytes.len() - from_bytes;
        let newer = bytes.get(..dropped_bytes).and_then(|dropped| memrchr(b'\n', dropped));
        let older = self.tail.get(..dropped_tail).and_then(|dropped| memrchr(b'\n', dropped));
        if let Some(at) = newer {
            self.before_tail = Some(self.totals.bytes + at as u64);
        } else if let Some(at) = older {
            self.before_tail = Some(start + at as u64);
        }
        self.tail.drain(..dropped_tail);
        self.tail.extend_from_slice(bytes.get(dropped_bytes..).unwrap_or_default());
    }

    /// Returns the scanner for important lines, if there is one.
    pub fn scanner(&self) -> Option<&Scanner> {
        self.scanner.as_deref()
    }

    /// Returns the scanner for the structure to keep, if there is one.
    pub fn structured(&self) -> Option<&Structured> {
        self.structured.as_ref()
    }

    /// Returns the terminal that the output was written to, if there is one.
    pub fn screen(&self) -> Option<&Screen> {
        self.screen.as_deref()
    }

    /// Returns the counts of the raw output.
    pub fn raw_totals(&self) -> Totals {
        self.screen.as_ref().map_or(self.totals, |screen| screen.totals())
    }

    /// Returns the first bytes of the raw output.
    pub fn raw_head(&self) -> &[u8] {
        self.screen.as_ref().map_or(&self.head, |screen| screen.head())
    }

    /// Returns the whole text if the buffer holds it.
    pub fn all(&self) -> Option<&[u8]> {
        let (head, is_all) = self.head();
        let (tail, is_tail_all) = self.tail();
        if is_all && self.keep_head {
            Some(head)
        } else {
            (is_tail_all && self.keep_tail).then_some(tail)
        }
    }

    /// Returns the counts so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Returns the tokens so far by their upper estimate, if they are limited.
    pub fn tokens(&self) -> Option<u64> {
        self.meter.as_ref().map(Meter::tokens)
    }

    /// Returns the start of the text, and whether that is all of it.
    pub fn head(&self) -> (&[u8], bool) {
        (&self.head, self.head.len() as u64 == self.totals.bytes)
    }

    /// Returns the end of the text, and whether that is all of it.
    pub fn tail(&self) -> (&[u8], bool) {
        let from = self.tail.len().saturating_sub(self.tail_cap);
        (self.tail.get(from..).unwrap_or_default(), self.totals.bytes <= self.tail_cap as u64)
    }

    /// Returns the end of the line that [`Window::head`] ends in.
    pub fn head_line_end(&self) -> u64 {
        self.after_head.unwrap_or(self.totals.bytes)
    }

    /// Returns the start of the line that [`Window::tail`] begins in.
    pub fn tail_line_start(&self) -> u64 {
        let from = self.tail.len().saturating_sub(self.tail_cap);
        let start = self.totals.bytes - self.tail.len() as u64;
        let inside = self.tail.get(..from).and_then(|skipped| memrchr(b'\n', skipped));
        inside.map(|at| start + at as u64).or(self.before_tail).map_or(0, |at| at + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truncation::fixture::limits;
    use proptest::prelude::*;

    fn window(max_bytes: u64) -> Window {
        Window::new(&limits(10, max_bytes, Direction::Both))
    }

    proptest! {
        #[test]
        fn the_ends_do_not_depend_on_the_pieces(
            pieces in prop::collection::vec((0usize..5000, 0u8..3), 0..12),
        ) {
            let mut whole = Vec::new();
            let mut split = window(7);
            for (length, kind) in pieces {
                let mut piece = vec![b'a' + kind; length];
                if kind == 1 && length > 0 {
                    piece[length / 2] = b'\n';
                }
                split.push(&piece);
                whole.extend_from_slice(&piece);
            }
            let cap = 7 + SLACK;
            prop_assert_eq!(split.head().0, &whole[..whole.len().min(cap)]);
            prop_assert_eq!(split.tail().0, &whole[whole.len().saturating_sub(cap)..]);
            prop_assert_eq!(split.totals().bytes, whole.len() as u64);
            prop_assert_eq!(split.totals().breaks, whole.iter().filter(|&&b| b == b'\n').count() as u64);
            let end = whole.iter().skip(cap).position(|&b| b == b'\n').map_or(whole.len(), |at| cap + at);
            prop_assert_eq!(split.head_line_end(), end as u64);
            let before = &whole[..whole.len().saturating_sub(cap)];
            let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
            prop_assert_eq!(split.tail_line_start(), start as u64);
            prop_assert!(split.tail.len() <= 2 * cap);
        }
    }
}
