//! Parses control sequences: where one ends, and the action it stands for.

use vte::{Params, Parser, Perform};

/// Maximum length of a sequence in bytes; longer ones have no meaning.
const MAX_LENGTH: usize = 64;
const ESCAPE: u8 = 0x1b;

/// Actions of sequences. Counts are at least 1; rows and columns count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Up(usize),
    Down(usize),
    Right(usize),
    Left(usize),
    /// Moves to the first column of a row below, or above.
    NextRow(usize),
    PreviousRow(usize),
    Column(usize),
    Row(usize),
    Position(usize, usize),
    /// Erases from the cursor on (0), up to it (1), or all (2).
    EraseLine(u16),
    EraseScreen(u16),
    EraseCharacters(usize),
    DeleteCharacters(usize),
    InsertCharacters(usize),
    Save,
    Restore,
    /// Sets a scroll region: the rows above and below it do not move with it. Holds its last row, or `None` to reset
    /// it.
    Region(Option<usize>),
    /// Switches to the alternate screen, or back.
    Alternate(bool),
    LineFeed,
    ReverseFeed,
    Reset,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    Control,
    /// A title, a link or a picture: up to its terminator, the end of the line, or without an end.
    Text,
}

/// A sequence that is being parsed.
#[derive(Default, Clone)]
pub(super) struct Sequence {
    state: State,
    bytes: Vec<u8>,
}

impl std::fmt::Debug for Sequence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sequence").field("state", &self.state).finish_non_exhaustive()
    }
}

/// The result of parsing a chunk.
pub(super) struct Taken {
    /// Number of bytes that belong to the sequence.
    pub bytes: usize,
    pub action: Option<Action>,
}

impl Sequence {
    pub(crate) fn is_on(&self) -> bool {
        self.state != State::Ground
    }

    /// Parses bytes up to the end of the sequence. The first byte is an escape, unless a sequence is being parsed
    /// already.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Taken {
        if self.state == State::Ground
            && let Some(length) = colour(bytes)
        {
            return Taken { bytes: length, action: None };
        }
        for (at, &byte) in bytes.iter().enumerate() {
            let next = self.next(byte);
            match next {
                Step::On => {}
                Step::Done => return Taken { bytes: at + 1, action: self.done() },
                Step::Broken => {
                    self.reset();
                    return Taken { bytes: at, action: None };
                }
            }
        }
        Taken { bytes: bytes.len(), action: None }
    }

    fn next(&mut self, byte: u8) -> Step {
        if byte == ESCAPE {
            self.bytes.clear();
            self.bytes.push(byte);
            self.state = State::Escape;
            return Step::On;
        }
        if matches!(byte, 0x18 | 0x1a) {
            self.bytes.clear();
            return Step::Done;
        }
        match (self.state, byte) {
            // A broken sequence must not swallow the lines that follow.
            (_, b'\n') | (State::Ground, _) => Step::Broken,
            (State::Text, 7) => {
                self.bytes.clear();
                Step::Done
            }
            (State::Text, _) => Step::On,
            (_, 0..0x20 | 0x7f..) => Step::Broken,
            (State::Escape, b'[') if self.bytes.len() == 1 => {
                self.state = State::Control;
                self.keep(byte)
            }
            (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') if self.bytes.len() == 1 => {
                self.state = State::Text;
                Step::On
            }
            (State::Escape, 0x20..0x30) | (State::Control, 0x20..0x40) => self.keep(byte),
            _ => {
                self.keep(byte);
                Step::Done
            }
        }
    }

    fn keep(&mut self, byte: u8) -> Step {
        if self.bytes.len() <= MAX_LENGTH {
            self.bytes.push(byte);
        }
        Step::On
    }

    fn done(&mut self) -> Option<Action> {
        let mut reader = Reader(None);
        if (2..=MAX_LENGTH).contains(&self.bytes.len()) {
            Parser::<0>::new_with_size().advance(&mut reader, &self.bytes);
        }
        self.reset();
        reader.0
    }

    fn reset(&mut self) {
        self.state = State::Ground;
        self.bytes.clear();
    }
}

enum Step {
    On,
    Done,
    Broken,
}

/// Returns the length of a sequence that only sets colours, as most do.
fn colour(bytes: &[u8]) -> Option<usize> {
    let rest = bytes.strip_prefix(b"\x1b[")?;
    let rest = rest.get(..MAX_LENGTH - 3).unwrap_or(rest);
    let end = rest.iter().position(|byte| !matches!(byte, b'0'..=b';'))?;
    (rest.get(end) == Some(&b'm')).then_some(end + 3)
}

/// Receives a complete sequence from the parser.
struct Reader(Option<Action>);

impl Perform for Reader {
    fn csi_dispatch(&mut self, params: &Params, marks: &[u8], is_ignored: bool, action: char) {
        if is_ignored {
            return;
        }
        let mut values = params.iter().map(|param| param.first().copied().unwrap_or(0));
        if marks == b"?" {
            let is_screen = values.any(|mode| matches!(mode, 47 | 1047 | 1049));
            self.0 = match action {
                'h' if is_screen => Some(Action::Alternate(true)),
                'l' if is_screen => Some(Action::Alternate(false)),
                _ => None,
            };
            return;
        }
        if !marks.is_empty() {
            return;
        }
        let first = values.next().unwrap_or(0);
        let second = values.next();
        let count = usize::from(first.max(1));
        self.0 = Some(match action {
            'A' => Action::Up(count),
            'B' | 'e' => Action::Down(count),
            'C' | 'a' => Action::Right(count),
            'D' => Action::Left(count),
            'E' => Action::NextRow(count),
            'F' => Action::PreviousRow(count),
            'G' | '`' => Action::Column(count),
            'H' | 'f' => Action::Position(count, usize::from(second.unwrap_or(1).max(1))),
            'J' => Action::EraseScreen(first),
            'K' => Action::EraseLine(first),
            'P' => Action::DeleteCharacters(count),
            'X' => Action::EraseCharacters(count),
            '@' => Action::InsertCharacters(count),
            'd' => Action::Row(count),
            'r' => Action::Region(second.filter(|last| *last > 0).map(usize::from)),
            's' => Action::Save,
            'u' => Action::Restore,
            _ => return,
        });
    }

    fn esc_dispatch(&mut self, marks: &[u8], _: bool, byte: u8) {
        if marks.is_empty() {
            self.0 = match byte {
                b'7' => Some(Action::Save),
                b'8' => Some(Action::Restore),
                b'D' | b'E' => Some(Action::LineFeed),
                b'M' => Some(Action::ReverseFeed),
                b'c' => Some(Action::Reset),
                _ => None,
            };
        }
    }
}
