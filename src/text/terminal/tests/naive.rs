//! A naive screen as an oracle: every column is a cell, and every line is kept.

use proptest::prelude::*;

use super::super::{ROWS, SURE_ROWS, WIDEST};

/// A random piece of output.
#[derive(Debug, Clone)]
pub(crate) enum Token {
    Text(&'static [u8]),
    Control(u8),
    Break,
    Csi(Vec<usize>, char),
    Private(bool),
    Escape(char),
    Nothing(&'static [u8]),
}

impl Token {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Token::Text(text) | Token::Nothing(text) => text.to_vec(),
            Token::Control(control) => vec![*control],
            Token::Break => b"\r\n".to_vec(),
            Token::Csi(values, action) => {
                let values: Vec<String> = values.iter().map(usize::to_string).collect();
                format!("\x1b[{}{action}", values.join(";")).into_bytes()
            }
            Token::Private(is_on) => {
                format!("\x1b[?1049{}", if *is_on { 'h' } else { 'l' }).into_bytes()
            }
            Token::Escape(action) => format!("\x1b{action}").into_bytes(),
        }
    }
}

pub(crate) fn token() -> impl Strategy<Value = Token> {
    let text = prop::sample::select(vec![
        "a".as_bytes(),
        b"bcd",
        b" ",
        b"  ",
        b"12345678901",
        "好".as_bytes(),
        "e\u{301}".as_bytes(),
        "\u{301}".as_bytes(),
        "\u{1f469}\u{200d}\u{1f469}".as_bytes(),
        b"\t",
        b"x\ty",
        "é世".as_bytes(),
        b"\xff",
        b"\xe4\xbd",
        b"\xed\xa0\x80",
    ]);
    let csi = (
        prop::collection::vec(prop_oneof![4 => 0usize..4, 2 => 0usize..12, 1 => 20usize..80], 0..3),
        prop::sample::select("ABCDEFGHJKPX@dsum".chars().collect::<Vec<_>>()),
    );
    let nothing = prop::sample::select(vec![
        b"\x1b[31;1m".as_slice(),
        b"\x1b]8;;http://x\x1b\\",
        b"\x1b]0;t\x07",
        b"\x1bPq#0\x1b\\",
        b"\x07",
        b"\0",
        b"\x7f",
        b"\x1b[?25l",
        b"\x1b(B",
        b"\x1b[38:2:1:2:3m",
        b"\x1b[>4;2m",
        b"\x1b[1\x18",
    ]);
    prop_oneof![
        10 => text.prop_map(Token::Text),
        4 => Just(Token::Control(b'\n')),
        3 => Just(Token::Control(b'\r')),
        1 => Just(Token::Break),
        2 => Just(Token::Control(8)),
        1 => Just(Token::Control(0x0b)),
        8 => csi.prop_map(|(values, action)| Token::Csi(values, action)),
        1 => (0usize..5, 0usize..30).prop_map(|(first, last)| Token::Csi(vec![first, last], 'r')),
        1 => any::<bool>().prop_map(Token::Private),
        2 => prop::sample::select(vec!['7', '8', 'D', 'M', 'c']).prop_map(Token::Escape),
        3 => nothing.prop_map(Token::Nothing),
    ]
}

/// A column of the naive screen: the character that begins in it, or the one that it belongs to.
#[derive(Debug, Clone, PartialEq)]
enum Cell {
    Text(Vec<u8>, bool),
    Second,
    /// With the characters that combine with it.
    Tab(Vec<u8>),
    InTab,
}

#[derive(Debug, Clone, Default)]
struct Line {
    lead: Vec<u8>,
    cells: Vec<Cell>,
    raw: u64,
    touched: bool,
    filler: bool,
}

const BLANK: fn() -> Cell = || Cell::Text(b" ".to_vec(), false);

impl Line {
    fn cut(&mut self, at: usize) {
        match self.cells.get(at) {
            Some(Cell::Second) => {
                let Cell::Text(bytes, _) = self.cells[at - 1].clone() else { unreachable!() };
                let length = String::from_utf8_lossy(&bytes).chars().next().unwrap().len_utf8();
                self.cells[at - 1] = BLANK();
                self.cells[at] = Cell::Text([b" ", &bytes[length..]].concat(), false);
            }
            Some(Cell::InTab) => {
                let mut before = at - 1;
                while self.cells[before] == Cell::InTab {
                    self.cells[before] = BLANK();
                    before -= 1;
                }
                let tab = std::mem::replace(&mut self.cells[before], BLANK());
                self.cells[at] = tab;
            }
            _ => {}
        }
    }

    fn put(&mut self, at: &mut usize, char: &[u8], width: usize) {
        if char == b"\t" {
            let stop = *at / 8 * 8 + 8;
            if *at >= self.cells.len() {
                self.cells.resize(*at, BLANK());
                self.cells.push(Cell::Tab(Vec::new()));
                self.cells.resize(stop, Cell::InTab);
            }
            *at = stop;
            return;
        }
        if *at < self.cells.len() {
            self.touched = true;
        } else {
            self.cells.resize(*at, BLANK());
        }
        self.cut(*at);
        self.cut(*at + width);
        if width == 0 {
            let owner = self.cells[..*at]
                .iter_mut()
                .rev()
                .find(|cell| !matches!(cell, Cell::Second | Cell::InTab));
            match owner {
                Some(Cell::Text(bytes, _) | Cell::Tab(bytes)) => bytes.extend_from_slice(char),
                _ => self.lead.extend_from_slice(char),
            }
            return;
        }
        if self.cells.len() < *at + width {
            self.cells.resize(*at + width, BLANK());
        }
        self.cells[*at] = Cell::Text(char.to_vec(), width == 2);
        if width == 2 {
            self.cells[*at + 1] = Cell::Second;
        }
        *at += width;
    }

    fn erase(&mut self, from: usize, to: usize) {
        if to >= self.cells.len() {
            if from < self.cells.len() {
                self.cut(from);
                self.cells.truncate(from);
                self.touched = true;
            }
            return;
        }
        self.cut(from);
        self.cut(to);
        self.cells[from..to].fill(BLANK());
        self.touched = true;
    }

    fn no_tabs(&mut self) {
        let mut marks = Vec::new();
        for at in 0..self.cells.len() {
            match self.cells[at].clone() {
                Cell::Tab(bytes) => marks = bytes,
                Cell::InTab => {}
                _ => continue,
            }
            let is_last = self.cells.get(at + 1) != Some(&Cell::InTab);
            let marks = if is_last { std::mem::take(&mut marks) } else { Vec::new() };
            self.cells[at] = Cell::Text([b" ", &marks[..]].concat(), false);
        }
    }

    fn text(&self) -> Vec<u8> {
        let mut text = self.lead.clone();
        for cell in &self.cells {
            match cell {
                Cell::Text(bytes, _) => text.extend_from_slice(bytes),
                Cell::Tab(marks) => text.extend([b"\t", &marks[..]].concat()),
                Cell::Second | Cell::InTab => {}
            }
        }
        while self.touched && text.last() == Some(&b' ') {
            text.pop();
        }
        text
    }
}

/// A row and a column.
type Position = (usize, usize);

/// A screen that keeps every line.
#[derive(Debug, Clone)]
struct Naive {
    lines: Vec<Line>,
    row: usize,
    column: usize,
    floor: usize,
    top: usize,
    away: Option<Position>,
    region: usize,
    saved: Option<(Position, Option<Position>)>,
}

impl Naive {
    fn new(raw: u64) -> Self {
        let lines = vec![Line { raw, ..Line::default() }];
        Naive { lines, row: 0, column: 0, floor: 0, top: 0, away: None, region: ROWS, saved: None }
    }

    fn up(&mut self, count: usize) {
        let first_row = self.floor.max(self.lines.len().saturating_sub(ROWS));
        self.row = self.row.saturating_sub(count).max(first_row);
    }

    fn down(&mut self, count: usize) {
        self.row = (self.row + count).min(self.lines.len() - 1);
    }

    fn feed(&mut self, raw: u64) {
        self.column = 0;
        if self.away.take().is_some() {
            self.row = self.lines.len() - 1;
            let last = &self.lines[self.row];
            if last.lead.is_empty() && last.cells.is_empty() {
                return;
            }
        }
        self.row += 1;
        if self.row == self.lines.len() {
            // Lines that the cursor passed exist.
            self.lines.iter_mut().for_each(|line| line.filler = false);
            self.lines.push(Line { raw, ..Line::default() });
        }
    }

    fn clear(&mut self, raw: u64) {
        let kept = self.floor.max(self.lines.len().saturating_sub(ROWS));
        self.lines.truncate(kept);
        self.lines.push(Line { raw, ..Line::default() });
        (self.row, self.column, self.away) = (kept, 0, None);
        (self.floor, self.top) = (kept, kept);
    }

    fn csi(&mut self, values: &[usize], action: char, raw: u64) {
        let first = values.first().copied().unwrap_or(0);
        let count = first.max(1);
        if action == 'r' {
            self.region = values.get(1).copied().filter(|last| *last > 0).unwrap_or(ROWS);
            return;
        }
        if action == 'J' && (first == 2 || first == 0 && self.away == Some((1, 1))) {
            return self.clear(raw);
        }
        if let 'H' | 'd' = action {
            let column = if action == 'd' {
                self.column + 1
            } else {
                values.get(1).copied().unwrap_or(1).max(1)
            };
            if self.lines.len() - self.top > SURE_ROWS || count > self.region.min(ROWS) {
                self.away = Some((count, column));
                return;
            }
            self.away = None;
            self.row = self.top + count - 1;
            while self.lines.len() <= self.row {
                self.lines.push(Line { raw, filler: true, ..Line::default() });
            }
            self.column = (column - 1).min(WIDEST);
            return;
        }
        match action {
            's' => return self.save(),
            'u' => return self.restore(),
            _ if self.away.is_some() => return,
            'A' => return self.up(count),
            'B' => return self.down(count),
            'E' => {
                self.down(count);
                self.column = 0;
                return;
            }
            'F' => {
                self.up(count);
                self.column = 0;
                return;
            }
            'C' => self.column = (self.column + count).min(self.column.max(WIDEST)),
            'D' => self.column = self.column.saturating_sub(count),
            'G' => self.column = (count - 1).min(WIDEST),
            'J' => {
                if first == 0 {
                    self.floor = self.floor.max(self.lines.len().saturating_sub(ROWS));
                    self.top = self.top.max(self.floor);
                    self.lines.truncate(self.row + 1);
                    self.lines[self.row].erase(self.column, usize::MAX);
                } else if first == 1 {
                    let first_row = self.floor.max(self.lines.len().saturating_sub(ROWS));
                    for line in &mut self.lines[first_row..self.row] {
                        line.erase(0, usize::MAX);
                    }
                    self.lines[self.row].erase(0, self.column + 1);
                }
            }
            _ => {}
        }
        let column = self.column;
        let line = &mut self.lines[self.row];
        match (action, first) {
            ('K', 0) => line.erase(column, usize::MAX),
            ('K', 1) => line.erase(0, column + 1),
            ('K', 2) => line.erase(0, usize::MAX),
            ('X', _) => line.erase(column, column + count),
            ('P', _) if column + count >= line.cells.len() => line.erase(column, usize::MAX),
            ('P', _) => {
                line.no_tabs();
                line.cut(column);
                line.cut(column + count);
                line.cells.drain(column..column + count);
                line.touched = true;
            }
            ('@', _) if column < line.cells.len() => {
                line.no_tabs();
                line.cut(column);
                let end = line.cells.len().max(WIDEST);
                line.cells.splice(column..column, std::iter::repeat_n(BLANK(), count));
                line.erase(end, usize::MAX);
                line.touched = true;
            }
            _ => {}
        }
        if "KXP@".contains(action) {
            line.raw = raw;
        }
    }

    fn save(&mut self) {
        self.saved = Some(((self.row, self.column), self.away));
    }

    fn restore(&mut self) {
        let Some(((row, column), away)) = self.saved else { return };
        self.away = away;
        if away.is_none() {
            if row < self.row {
                self.up(self.row - row)
            } else {
                self.down(row - self.row)
            }
            self.column = column;
        }
    }
}

/// Returns the lines that the naive screen shows after all tokens.
pub(crate) fn naive(tokens: &[Token]) -> Vec<(Vec<u8>, u64)> {
    let mut raw = 1;
    let mut screen = Naive::new(raw);
    let mut behind: Option<Naive> = None;
    for token in tokens {
        match token {
            Token::Text(text) => {
                for chunk in text.utf8_chunks() {
                    let surrogate = chunk.invalid() == [0xed];
                    for char in chunk.valid().chars() {
                        let mut bytes = [0; 4];
                        let bytes = char.encode_utf8(&mut bytes).as_bytes();
                        let width = unicode_width::UnicodeWidthChar::width(char).unwrap_or(0);
                        write(&mut screen, bytes, width, raw);
                    }
                    if surrogate {
                        write(&mut screen, b"\xed\xa0\x80", 1, raw);
                        break;
                    }
                    if !chunk.invalid().is_empty() {
                        write(&mut screen, chunk.invalid(), 1, raw);
                    }
                }
            }
            Token::Control(b'\n') | Token::Break => {
                raw += 1;
                screen.feed(raw);
            }
            Token::Control(b'\r') => screen.column = 0,
            Token::Control(8) if screen.away.is_none() => {
                screen.column = screen.column.saturating_sub(1)
            }
            Token::Control(0x0b) => screen.feed(raw),
            Token::Control(_) | Token::Nothing(_) => {}
            Token::Csi(values, action) => screen.csi(values, *action, raw),
            Token::Private(true) if behind.is_none() => {
                behind = Some(std::mem::replace(&mut screen, Naive::new(raw)));
            }
            Token::Private(false) if behind.is_some() => screen = behind.take().unwrap(),
            Token::Private(_) => {}
            Token::Escape('7') => screen.save(),
            Token::Escape('8') => screen.restore(),
            Token::Escape('D') => screen.feed(raw),
            Token::Escape('M') if screen.away.is_none() => screen.up(1),
            Token::Escape('c') => screen.clear(raw),
            Token::Escape(_) => {}
        }
    }
    let settled = |mut screen: Naive| {
        while screen.lines.len() > 1 && screen.lines.last().unwrap().filler {
            screen.lines.pop();
        }
        screen.lines.into_iter().collect::<Vec<Line>>()
    };
    let lines = match behind {
        None => settled(screen),
        Some(main) => {
            let mut lines = settled(main);
            let floor = screen.floor;
            let mut other = settled(screen);
            other.drain(..floor.max(other.len().saturating_sub(ROWS)));
            if other.iter().any(|line| line.text().iter().any(|byte| *byte != b' ')) {
                if lines.last().is_some_and(|line| line.lead.is_empty() && line.cells.is_empty()) {
                    lines.pop();
                }
                lines.extend(other);
            }
            lines
        }
    };
    let mut lines: Vec<(Vec<u8>, u64)> = lines.iter().map(|line| (line.text(), line.raw)).collect();
    // A break at the end starts no line.
    if lines.last().is_some_and(|(text, _)| text.is_empty()) {
        lines.pop();
    }
    lines
}

fn write(screen: &mut Naive, char: &[u8], width: usize, raw: u64) {
    if screen.away.is_some() {
        return;
    }
    let Naive { lines, row, column, .. } = screen;
    let line = &mut lines[*row];
    line.put(column, char, width);
    (line.raw, line.filler) = (raw, false);
}
