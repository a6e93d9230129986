//! What has to be remembered of a text while it streams by, so that it can be cut at the end: its two ends and a few
//! counts. Memory is bounded by the limits, whatever comes.

use std::borrow::Cow;
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memrchr};

use super::limits::{Direction, Limits};
use super::smart::rules::Rules;
use super::smart::scan::Scanner;
use super::strategies::Structured;
use super::terminal_preview::Screen;
use crate::text::terminal::source_map::Mark;
use crate::tokens::{Meter, Mode};

/// How far beyond the limits the ends are kept, so that a cut can see the break or the grapheme it falls into.
const SLACK: usize = 4 * 1024;

/// Limits are seldom larger than this, and memory is only reserved for what is likely to be used.
const RESERVED: usize = 64 * 1024;

/// The counts of a whole text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Raw bytes.
    pub bytes: u64,
    /// Line feeds.
    pub breaks: u64,
    /// Whether the last byte is a line feed.
    pub ends_with_break: bool,
}

/// The two ends of a text that streams by.
#[derive(Debug, Clone)]
pub struct Window {
    cap: usize,
    keep_head: bool,
    keep_tail: bool,
    head: Vec<u8>,
    tail: Vec<u8>,
    totals: Totals,
    last_byte: Option<u8>,
    after_head: Option<u64>,
    before_tail: Option<u64>,
    /// Only where tokens are limited: counting them takes time.
    meter: Option<Meter>,
    /// Only where what matters is kept.
    scanner: Option<Box<Scanner>>,
    /// Only where a form is to be kept.
    structured: Option<Structured>,
    /// Only where the text is what a terminal would show.
    screen: Option<Box<Screen>>,
}

impl Window {
    /// A window wide enough for cuts within these limits.
    pub fn new(limits: &Limits) -> Self {
        Window::judging(limits, None)
    }

    /// The same, with other rules for what matters than those by default.
    pub fn judging(limits: &Limits, rules: Option<Arc<Rules>>) -> Self {
        let is_smart = limits.keep.is_smart();
        let cap = usize::try_from(limits.max_bytes).unwrap_or(usize::MAX).saturating_add(SLACK);
        Window {
            cap,
            keep_head: is_smart || limits.direction != Direction::Tail,
            keep_tail: is_smart || limits.direction != Direction::Head,
            head: Vec::new(),
            tail: Vec::new(),
            totals: Totals::default(),
            last_byte: None,
            after_head: None,
            before_tail: None,
            meter: (limits.max_tokens != u64::MAX).then(|| Meter::new(Mode::Upper)),
            // Only then: making the rules ready takes milliseconds.
            scanner: is_smart
                .then(|| rules.or_else(Rules::built_in))
                .flatten()
                .map(|rules| Box::new(Scanner::new(rules))),
            structured: Structured::new(limits),
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

    /// Ends the output. Nothing may be asked before of an output that goes over a screen.
    pub fn finish(&mut self) {
        if let Some(mut screen) = self.screen.take() {
            screen.finish(self);
            self.screen = Some(screen);
        }
    }

    /// The window as it is if the output ends here.
    pub fn ended(&self) -> Cow<'_, Window> {
        if self.screen.as_ref().is_none_or(|screen| screen.has_ended()) {
            return Cow::Borrowed(self);
        }
        let mut ended = self.clone();
        ended.finish();
        Cow::Owned(ended)
    }

    /// Says that a line, or the rest of one, that comes next in the text is from there.
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
        if let Some(structured) = &mut self.structured {
            structured.push(bytes);
        }
        self.totals.bytes += bytes.len() as u64;
        self.totals.breaks += memchr_iter(b'\n', bytes).count() as u64;
        self.totals.ends_with_break = last == b'\n';
        self.last_byte = Some(last);
    }

    fn push_head(&mut self, bytes: &[u8]) {
        let (kept, rest) = bytes.split_at(bytes.len().min(self.cap - self.head.len()));
        if self.head.is_empty() {
            // Grown in steps it would be copied at every one.
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
        // Twice the cap, so that old bytes move only once per cap of new ones.
        if self.tail.len() + bytes.len() <= self.cap.saturating_mul(2) {
            self.tail.extend_from_slice(bytes);
            return;
        }
        let from_bytes = bytes.len().min(self.cap);
        let from_tail = (self.cap - from_bytes).min(self.tail.len());
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

    /// The lines that matter, if they are looked for.
    pub fn scanner(&self) -> Option<&Scanner> {
        self.scanner.as_deref()
    }

    /// What is remembered of a form that is to be kept.
    pub fn structured(&self) -> Option<&Structured> {
        self.structured.as_ref()
    }

    /// The screen that the output went over, if it did.
    pub fn screen(&self) -> Option<&Screen> {
        self.screen.as_deref()
    }

    /// The counts of the output as it came.
    pub fn raw_totals(&self) -> Totals {
        self.screen.as_ref().map_or(self.totals, |screen| screen.totals())
    }

    /// The first bytes of the output as it came.
    pub fn raw_head(&self) -> &[u8] {
        self.screen.as_ref().map_or(&self.head, |screen| screen.head())
    }

    /// All of the text, if it is all held.
    pub fn all(&self) -> Option<&[u8]> {
        let (head, is_all) = self.head();
        let (tail, is_tail_all) = self.tail();
        if is_all && self.keep_head {
            Some(head)
        } else {
            (is_tail_all && self.keep_tail).then_some(tail)
        }
    }

    /// The counts so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Tokens so far by their upper estimate, if they are limited.
    pub fn tokens(&self) -> Option<u64> {
        self.meter.as_ref().map(Meter::tokens)
    }

    /// The start of the text, and whether that is all of it.
    pub fn head(&self) -> (&[u8], bool) {
        (&self.head, self.head.len() as u64 == self.totals.bytes)
    }

    /// The end of the text, and whether that is all of it.
    pub fn tail(&self) -> (&[u8], bool) {
        let from = self.tail.len().saturating_sub(self.cap);
        (self.tail.get(from..).unwrap_or_default(), self.totals.bytes <= self.cap as u64)
    }

    /// Where the line ends that is under way at the end of [`Window::head`].
    pub fn head_line_end(&self) -> u64 {
        self.after_head.unwrap_or(self.totals.bytes)
    }

    /// Where the line begins that is under way at the start of [`Window::tail`].
    pub fn tail_line_start(&self) -> u64 {
        let from = self.tail.len().saturating_sub(self.cap);
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
