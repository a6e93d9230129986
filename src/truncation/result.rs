//! The result of truncating a text: which parts are shown, and how much is missing.

use std::borrow::Cow;

use super::limits::{Direction, Limits, Unit};
use super::preview_buffer::{Totals, Window};
use super::terminal_preview::Traced;
use crate::tokens::{Mode, of_text};

/// A part of the text that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The displayed text: well-formed and within the limits.
    pub text: Cow<'a, str>,
    /// The byte range of the original that it shows.
    pub bytes: std::ops::Range<u64>,
    /// Number of its first line, from 1.
    pub first_line: u64,
    /// Number of its last line.
    pub last_line: u64,
    /// The line that is shown only in part, if there is one: its number and its byte range.
    pub partial: Option<(u64, std::ops::Range<u64>)>,
}

/// A line that is shown in part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partial {
    /// Line number, from 1.
    pub line: u64,
    /// Number of its bytes that are shown.
    pub shown: u64,
    /// Length of the line in bytes, without the break.
    pub total: u64,
}

/// The result of truncating a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut<'a> {
    /// The parts that are shown, in order, with a gap between each two.
    pub pieces: Vec<Piece<'a>>,
    /// The limit that was reached.
    pub limited_by: Unit,
    /// The direction that was used: with a budget too small for two ends, only the start is shown.
    pub direction: Direction,
    /// Number of lines of the text.
    pub total_lines: u64,
    /// Length of the text in bytes.
    pub total_bytes: u64,
    /// Upper estimate of the tokens of the text, if tokens are limited.
    pub total_tokens: Option<u64>,
    /// Source positions, if the text is terminal output as displayed. All numbers refer to the raw output then, except
    /// for the byte ranges of pieces and partial lines.
    pub traced: Option<Traced>,
}

impl Cut<'static> {
    /// Creates the result for selected pieces of a text. All numbers are those of the text.
    pub(super) fn of_pieces(
        pieces: Vec<Piece<'static>>,
        limited_by: Unit,
        window: &Window,
        limits: &Limits,
    ) -> Self {
        let Totals { bytes, breaks, ends_with_break } = window.totals();
        Cut {
            pieces,
            limited_by,
            direction: Direction::Both,
            total_lines: limits.line_rule.count(breaks, bytes == 0, ends_with_break),
            total_bytes: bytes,
            total_tokens: window.tokens(),
            traced: None,
        }
    }
}

impl Cut<'_> {
    /// Removes all pieces.
    pub fn clear(&mut self) {
        self.pieces.clear();
        self.traced = self.traced.take().map(|_| Traced { next_line: 1, ..Traced::default() });
    }

    /// Returns the number of lines shown at least in part.
    pub fn kept_lines(&self) -> u64 {
        if let Some(traced) = &self.traced {
            return traced.kept().0;
        }
        let mut lines = 0;
        let mut last = 0;
        for piece in self.pieces.iter().filter(|piece| !piece.text.is_empty()) {
            lines += piece.last_line + 1 - piece.first_line.max(last + 1).min(piece.last_line + 1);
            last = piece.last_line;
        }
        lines
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.pieces.iter().all(|piece| piece.text.is_empty())
    }

    /// Returns the number of bytes of the original that are shown.
    pub fn kept_bytes(&self) -> u64 {
        if let Some(traced) = &self.traced {
            return traced.kept().1;
        }
        self.pieces.iter().map(|piece| piece.bytes.end - piece.bytes.start).sum()
    }

    /// Returns the number of lines not shown at all.
    pub fn removed_lines(&self) -> u64 {
        self.total_lines.saturating_sub(self.kept_lines())
    }

    /// Returns the number of bytes of the original that are not shown.
    pub fn removed_bytes(&self) -> u64 {
        self.total_bytes.saturating_sub(self.kept_bytes())
    }

    /// Returns the number of tokens not shown, at least one. Only known if tokens are limited.
    pub fn removed_tokens(&self) -> u64 {
        let kept: u64 = self.pieces.iter().map(|piece| of_text(&piece.text, Mode::Upper)).sum();
        self.total_tokens.unwrap_or(0).saturating_sub(kept).max(1)
    }

    /// Returns the first line that is not shown completely, which is where to continue reading.
    pub fn next_line(&self) -> u64 {
        if let Some(traced) = &self.traced {
            return traced.next_line;
        }
        match self.pieces.first() {
            Some(piece) if piece.first_line == 1 && !piece.text.is_empty() => {
                piece.partial.as_ref().map_or(piece.last_line + 1, |(line, _)| *line)
            }
            _ => 1,
        }
    }

    /// Returns the number of bytes shown before the first that is not.
    pub fn shown_from_start(&self) -> u64 {
        if let Some(traced) = &self.traced {
            return traced.from_start;
        }
        let first = self.pieces.first().filter(|piece| piece.bytes.start == 0);
        first.map_or(0, |piece| piece.bytes.end)
    }

    /// Returns the lines that are shown in part. A line that both ends show a part of counts once.
    pub fn partials(&self) -> Vec<Partial> {
        let mut partials: Vec<Partial> = Vec::new();
        for piece in &self.pieces {
            let Some((line, range)) = &piece.partial else { continue };
            let shown = piece.bytes.end.min(range.end) - piece.bytes.start.max(range.start);
            match partials.last_mut().filter(|partial| partial.line == *line) {
                Some(partial) => partial.shown += shown,
                None => {
                    partials.push(Partial { line: *line, shown, total: range.end - range.start })
                }
            }
        }
        partials
    }
}

#[cfg(test)]
impl Cut<'_> {
    /// Copies the result, so that it does not borrow the buffer.
    pub(super) fn into_owned(self) -> Cut<'static> {
        let owned = |piece: Piece<'_>| Piece { text: Cow::Owned(piece.text.into_owned()), ..piece };
        Cut { pieces: self.pieces.into_iter().map(owned).collect(), ..self }
    }
}
