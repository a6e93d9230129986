//! Holds an output in memory while it may still be short enough to be returned unchanged.

use memchr::memchr_iter;

use crate::text::lines::LineRule;
use crate::text::lossy::Source;
use crate::text::terminal::clean;
use crate::text::utf16;
use crate::truncation::head_tail::fits;
use crate::truncation::limits::Limits;
use crate::truncation::preview_buffer::Window;

/// The start of an output, complete so far.
#[derive(Debug)]
pub struct BoundedBuffer {
    limits: Limits,
    bytes: Vec<u8>,
    breaks: u64,
}

impl BoundedBuffer {
    /// Creates a buffer that holds an output as long as it can be within `limits`.
    pub fn new(limits: Limits) -> Self {
        BoundedBuffer { limits, bytes: Vec::new(), breaks: 0 }
    }

    /// Appends bytes and returns true, or returns false if they make the output too long.
    #[must_use]
    pub fn take(&mut self, bytes: &[u8]) -> bool {
        let Some(&last) = bytes.last() else { return true };
        let total = (self.bytes.len() + bytes.len()) as u64;
        let breaks = self.breaks + memchr_iter(b'\n', bytes).count() as u64;
        let lines = self.limits.line_rule.count(breaks, false, last == b'\n');
        // Malformed bytes are never displayed in fewer bytes than they have.
        if !self.limits.allow(lines, total) {
            return false;
        }
        self.bytes.extend_from_slice(bytes);
        self.breaks = breaks;
        true
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of bytes and lines so far.
    pub fn size(&self) -> (u64, u64) {
        let ends_with_break = self.bytes.last() == Some(&b'\n');
        let lines = LineRule::Terminated.count(self.breaks, self.bytes.is_empty(), ends_with_break);
        (self.bytes.len() as u64, lines)
    }

    /// Returns true if the output is within the limits in the form in which it is shown.
    pub fn fits(&self, source: Source) -> bool {
        fits(&self.window(&self.limits), source, &self.limits)
    }

    /// Copies the output into a preview buffer.
    pub fn window(&self, limits: &Limits) -> Window {
        let mut window = Window::new(limits);
        window.push(&self.bytes);
        window.finish();
        window
    }

    /// Returns the text as UTF-16: a string exactly as it came, bytes decoded as `TextDecoder` does.
    pub fn units(&self, source: Source) -> Vec<u16> {
        if self.limits.terminal {
            return units(&clean(&self.bytes), source);
        }
        units(&self.bytes, source)
    }
}

/// Decodes bytes into the UTF-16 that JavaScript would have.
pub fn units(bytes: &[u8], source: Source) -> Vec<u16> {
    match source {
        Source::Text => utf16::decode(bytes),
        Source::Bytes => utf16::of_text(&String::from_utf8_lossy(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truncation::limits::Direction;

    fn hold(max_lines: u64, max_bytes: u64) -> BoundedBuffer {
        let line_rule = LineRule::Terminated;
        BoundedBuffer::new(Limits {
            max_lines,
            max_bytes,
            max_tokens: u64::MAX,
            direction: Direction::Tail,
            line_rule,
            keep: Default::default(),
            terminal: false,
        })
    }

    #[test]
    fn a_limit_is_inclusive_and_what_passes_it_is_not_taken() {
        let mut hold = hold(2, 6);
        assert!(hold.take(b"a\nb"));
        assert!(hold.take(b"\n"));
        assert!(!hold.take(b"c"), "a third line");
        assert!(!hold.take(b"xyz"), "a seventh byte");
        assert_eq!((hold.bytes(), hold.size()), (&b"a\nb\n"[..], (4, 2)));
        assert!(hold.fits(Source::Bytes));
    }

    #[test]
    fn broken_bytes_may_be_too_long_when_they_are_shown() {
        let mut hold = hold(9, 4);
        assert!(hold.take(b"\xff\xff"));
        assert!(!hold.fits(Source::Bytes), "two marks of three bytes");
        assert_eq!(hold.units(Source::Bytes), [0xfffd, 0xfffd]);
    }

    #[test]
    fn a_lone_surrogate_stays_what_it_was_in_text_only() {
        let mut hold = hold(9, 9);
        assert!(hold.take(b"\xed\xa0\x80"));
        assert_eq!(hold.units(Source::Text), [0xd800]);
        assert_eq!(hold.units(Source::Bytes), [0xfffd; 3]);
    }
}
