//! Cursor movement and erasure.

use super::super::line::{Place, Row};
use super::super::sequence::Action;
use super::super::{ROWS, Raw, SURE_ROWS, Sink, WIDEST};
use super::{Page, Saved};

impl Page {
    /// Executes the action of a control sequence.
    pub(crate) fn act(&mut self, action: Action, raw: &Raw, sink: &mut dyn Sink) {
        use Action::*;
        match action {
            LineFeed => return self.feed(raw, sink),
            Region(last) => {
                self.region = last;
                return;
            }
            Reset | EraseScreen(2) => return self.clear(raw),
            EraseScreen(0) if self.away.is_some_and(|(row, column)| row * column == 1) => {
                return self.clear(raw);
            }
            // There is nothing after the end to erase.
            EraseLine(0) | EraseScreen(0) if self.is_text() && !self.is_returned => return,
            _ => {}
        }
        self.rows();
        match action {
            Position(row, column) => self.position(row, column, raw),
            Row(row) => self.position(row, self.column + 1, raw),
            Save => {
                let row = self.above + self.row as u64;
                self.saved = Some(Saved { row, column: self.column, away: self.away });
            }
            Restore => self.restore(),
            _ if self.away.is_some() => {}
            Up(count) => self.up(count),
            PreviousRow(count) => {
                self.up(count);
                self.column = 0;
            }
            ReverseFeed => self.up(1),
            Down(count) => self.down(count),
            NextRow(count) => {
                self.down(count);
                self.column = 0;
            }
            // Text can reach further to the right than the cursor alone.
            Right(count) => self.column = (self.column + count).min(self.column.max(WIDEST)),
            Left(count) => self.column = self.column.saturating_sub(count),
            Column(column) => self.column = (column - 1).min(WIDEST),
            EraseScreen(mode) => self.erase_screen(mode),
            _ => {
                if let Some(row) = self.rows.get_mut(self.row) {
                    change(row, self.column, action);
                    if !row.is_open {
                        row.place = raw.place();
                    }
                }
            }
        }
    }

    fn up(&mut self, count: usize) {
        self.reach(count);
        self.row = self.row.saturating_sub(count);
    }

    fn down(&mut self, count: usize) {
        self.row = (self.row.saturating_add(count)).min(self.rows.len().saturating_sub(1));
    }

    fn position(&mut self, row: usize, column: usize, raw: &Raw) {
        let bottom = self.above + self.rows.len() as u64;
        let is_known = |top: &u64| bottom - *top <= SURE_ROWS as u64;
        let is_inside = row <= self.region.unwrap_or(ROWS).min(ROWS);
        let Some(top) = self.top.filter(is_known).filter(|_| is_inside) else {
            self.away = Some((row, column));
            return;
        };
        self.away = None;
        self.go_to(top + row as u64 - 1);
        let wanted = top + row as u64 - 1;
        while self.above + (self.rows.len() as u64) <= wanted {
            let mut filler = self::Row::new(raw.place());
            filler.is_filler = true;
            self.rows.push(filler);
            self.row = self.rows.len() - 1;
        }
        self.column = (column - 1).min(WIDEST);
    }

    /// Moves to a line, or to the nearest that can be reached.
    fn go_to(&mut self, line: u64) {
        let current = self.above + self.row as u64;
        if line < current {
            self.up(usize::try_from(current - line).unwrap_or(usize::MAX));
        } else {
            self.down(usize::try_from(line - current).unwrap_or(usize::MAX));
        }
    }

    fn restore(&mut self) {
        let Some(Saved { row, column, away }) = self.saved else { return };
        self.away = away;
        if away.is_none() {
            self.go_to(row);
            self.column = column;
        }
    }

    /// Clears the screen and moves the cursor to its top.
    fn clear(&mut self, raw: &Raw) {
        self.rows();
        self.reach(ROWS);
        let is_open = self.rows.first().is_some_and(|row| row.is_open);
        self.rows.truncate(usize::from(is_open));
        self.rows.iter_mut().for_each(Row::clear);
        self.rows.push(Row::new(Place { start: raw.at, ..raw.place() }));
        self.row = self.rows.len() - 1;
        self.column = 0;
        self.floor = self.above + self.row as u64;
        (self.top, self.away) = (Some(self.floor), None);
    }

    fn erase_screen(&mut self, mode: u16) {
        let cursor = self.row;
        match mode {
            0 => {
                // Lines that scrolled out do not return when the screen has fewer lines.
                let bottom = self.above + self.rows.len() as u64;
                self.floor = self.floor.max(bottom.saturating_sub(ROWS as u64));
                self.top = self.top.map(|top| top.max(self.floor));
                self.rows.truncate(cursor + 1);
                self.rows.iter_mut().skip(cursor).for_each(|row| row.erase_from(self.column));
            }
            1 => {
                self.reach(ROWS);
                let cursor = self.row;
                for row in self.rows.iter_mut().take(cursor) {
                    row.clear();
                }
                let at = self.column + 1;
                self.rows.iter_mut().skip(cursor).take(1).for_each(|row| row.erase(0, at));
            }
            _ => {}
        }
    }
}

/// Changes a row without writing to it.
fn change(row: &mut Row, column: usize, action: Action) {
    match action {
        Action::EraseLine(0) => row.erase_from(column),
        Action::EraseLine(1) => row.erase(0, column + 1),
        Action::EraseLine(2) => row.clear(),
        Action::EraseCharacters(count) => row.erase(column, count),
        Action::DeleteCharacters(count) => row.delete(column, count.min(WIDEST)),
        Action::InsertCharacters(count) => row.insert(column, count.min(WIDEST), WIDEST),
        _ => {}
    }
}
