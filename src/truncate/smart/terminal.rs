//! One line as a terminal would show it: colours gone, and what was written over replaced.

use std::borrow::Cow;

use vte::{Params, Parser, Perform};

/// A line wider than this is not a terminal's; only its escapes are taken out.
const WIDEST: usize = 16 * 1024;

/// The line, or the line as it would be left on the screen if it moves the cursor or sets colours.
pub fn clean(line: &str) -> Cow<'_, str> {
    if !line.bytes().any(|byte| (byte < 0x20 && byte != b'\t') || byte == 0x7f) {
        return Cow::Borrowed(line);
    }
    let mut screen = Row { cells: Vec::new(), at: 0 };
    Parser::new().advance(&mut screen, line.as_bytes());
    Cow::Owned(screen.cells.into_iter().collect())
}

struct Row {
    cells: Vec<char>,
    at: usize,
}

impl Row {
    fn put(&mut self, char: char) {
        while self.cells.len() < self.at {
            self.cells.push(' ');
        }
        match self.cells.get_mut(self.at) {
            Some(cell) => *cell = char,
            None => self.cells.push(char),
        }
        self.at += 1;
    }
}

impl Perform for Row {
    fn print(&mut self, char: char) {
        self.put(char);
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\r' => self.at = 0,
            8 => self.at = self.at.saturating_sub(1),
            b'\t' => self.put('\t'),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, _: &[u8], _: bool, action: char) {
        let first = params.iter().next().and_then(|param| param.first().copied()).unwrap_or(0);
        let steps = usize::from(first.max(1));
        match (action, first) {
            ('C', _) => self.at = (self.at + steps).min(WIDEST),
            ('D', _) => self.at = self.at.saturating_sub(steps),
            ('G', _) => self.at = (steps - 1).min(WIDEST),
            ('K', 0) => self.cells.truncate(self.at),
            ('K', 1) => {
                let end = self.at.saturating_add(1).min(self.cells.len());
                self.cells.iter_mut().take(end).for_each(|cell| *cell = ' ');
            }
            ('K' | 'J', 2) => self.cells.clear(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_what_a_terminal_would_leave() {
        let cases = [
            ("plain", "plain"),
            ("\u{1b}[31merror\u{1b}[0m: x\r", "error: x"),
            ("10%\r20%\r100%", "100%"),
            ("long text\rshort\u{1b}[K", "short"),
            ("abc\u{8}\u{8}X", "aXc"),
            ("\u{1b}]0;title\u{7}here", "here"),
            ("a\u{1b}[3Cb", "a   b"),
            ("a\tb\u{1b}[m", "a\tb"),
        ];
        for (line, shown) in cases {
            assert_eq!(clean(line), shown, "{line:?}");
        }
    }
}
