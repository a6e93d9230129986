//! A sample of a JSON text in bounded memory: the first and the last elements of every array and object, and anomalies.
//!
//! The sample is a tree that grows while the text is parsed, one frame per open container. A closed container becomes
//! one child of its parent, and the parent decides at once whether to keep it: children at either end are kept up to a
//! number, and between the ends only those with the highest anomaly scores, because a list of a thousand similar
//! records is described by its ends and by the records that differ.
//!
//! The numbers come from a table of levels ([`caps`]). When the tree exceeds its memory, it moves to the next level,
//! which keeps less of everything, and children kept so far are thinned out by the new numbers. Since the level depends
//! only on the values seen, and not on when they arrived, the sample is the same however the text is split into chunks.

use std::collections::HashSet;

use crate::truncation::anomaly::{COLUMNS, Cell, Columns, Signal, of_cell};
use crate::util::hash::{fnv1a, mix};
use crate::util::sort::sort_by_key;

/// Maximum depth of containers that are shown. Deeper ones are shown empty.
const DEPTH: usize = 48;
/// Minimum and maximum memory of a sample in bytes, depending on the size of the preview.
const ROOM: (u64, u64) = (1 << 18, 1 << 21);

/// A position in the text: the offset, and the number of line feeds before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Mark {
    pub at: u64,
    pub line: u64,
}

/// The name of a member.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    /// The text between the quotes; `None` if it is too long to be shown.
    pub name: Option<Box<[u8]>>,
    pub start: Mark,
}

/// A string: the text between the quotes, escapes included, or its two ends.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub head: Box<[u8]>,
    pub tail: Box<[u8]>,
    pub bytes: u64,
}

/// A value that contains no other values.
#[derive(Debug, Clone)]
pub(crate) enum Scalar {
    Text(Text),
    /// The digits; `None` if there are too many to be shown.
    Number(Option<Box<[u8]>>),
    Word(&'static str),
}

/// A sampled value.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Scalar(Scalar),
    Group(Group),
}

/// An array or an object.
#[derive(Debug, Clone, Default)]
pub(crate) struct Group {
    pub is_object: bool,
    /// The sampled children in order.
    pub kept: Vec<Child>,
    /// Number of children in the text.
    pub total: u64,
    /// True for a part of a schema that is only useful if complete: more of it is kept.
    pub is_essential: bool,
}

/// Names under which JSON Schema lists what a caller must know to make a call.
const ESSENTIAL: [&[u8]; 5] = [b"required", b"enum", b"properties", b"$defs", b"definitions"];

/// A member or an element.
#[derive(Debug, Clone)]
pub(crate) struct Child {
    pub key: Option<Key>,
    /// Index among its siblings.
    pub ordinal: u64,
    pub value: Value,
    /// Position at which it begins, name included.
    pub start: Mark,
    /// Position at which its value begins.
    pub value_start: Mark,
    pub end: Mark,
    /// Anomaly score, from 0 to 1,000.
    pub score: u16,
    /// Memory of the child and its descendants in bytes.
    held: usize,
}

/// How much is kept.
#[derive(Debug, Clone, Copy)]
struct Caps {
    /// Number of elements at either end.
    ends: usize,
    /// Number of members at the start.
    members: usize,
    /// Number of anomalies between the ends.
    special: usize,
    /// Number of bytes at either end of a string.
    text: usize,
    depth: usize,
}

/// Returns how much is kept at a level; 0 is the initial one.
fn caps(level: usize, room: usize) -> Caps {
    let row = |ends, members, special, text, depth| Caps { ends, members, special, text, depth };
    match level {
        0 => row(96, 256, 64, (room / 8).max(4096), DEPTH),
        1 => row(48, 128, 48, 4096, DEPTH),
        2 => row(32, 64, 32, 1024, DEPTH),
        3 => row(16, 32, 24, 512, 32),
        4 => row(8, 24, 16, 256, 24),
        5 => row(6, 16, 8, 128, 16),
        6 => row(4, 12, 4, 96, 12),
        7 => row(3, 8, 3, 64, 10),
        _ => row(2, 4, 1, 32, 16usize.saturating_sub(level).max(1)),
    }
}

impl Scalar {
    fn cell(&self) -> Cell<'_> {
        match self {
            Scalar::Word(word) => Cell::Word(word),
            Scalar::Number(digits) => Cell::Number(digits.as_deref().unwrap_or_default()),
            Scalar::Text(text) => Cell::Text(&text.head, text.bytes),
        }
    }
}

/// Scores an element against those before it.
fn novelty(columns: &mut Columns, value: &Value, ordinal: u64, in_object: bool) -> u16 {
    // The members of an object always differ; only an object with many of them is treated as a list.
    if in_object && ordinal < 8 {
        return 0;
    }
    let score = columns.shape(shape(value));
    match value {
        Value::Scalar(scalar) => score.max(columns.cell(0, scalar.cell(), ordinal)),
        Value::Group(group) => group
            .kept
            .iter()
            .take(COLUMNS)
            .filter_map(|child| match (&child.value, &child.key) {
                (Value::Scalar(scalar), Some(key)) => {
                    Some(columns.cell(fnv1a(key.name.as_deref()?), scalar.cell(), ordinal))
                }
                _ => None,
            })
            .fold(score, u16::max),
    }
}

/// Hashes the kind of a value; of an object also the names and kinds of its members.
fn shape(value: &Value) -> u64 {
    match value {
        Value::Scalar(scalar) => scalar.cell().kind(),
        Value::Group(group) if !group.is_object => 5,
        Value::Group(group) => group.kept.iter().fold(6, |shape, child| {
            let kind = match &child.value {
                Value::Scalar(scalar) => scalar.cell().kind(),
                Value::Group(group) => 5 + u64::from(group.is_object),
            };
            let name = child.key.as_ref().and_then(|key| key.name.as_deref()).unwrap_or_default();
            mix(shape, fnv1a(name)) ^ kind
        }),
    }
}

#[derive(Debug, Clone)]
pub(super) struct Sketch {
    /// The values of the text, and the open containers.
    frames: Vec<Frame>,
    /// Number of open containers that are too deep to be sampled.
    skipped: usize,
    caps: Caps,
    level: usize,
    held: usize,
    room: usize,
}

#[derive(Debug, Clone, Default)]
struct Frame {
    group: Group,
    key: Option<Key>,
    start: Mark,
    signal: Signal,
    columns: Columns,
    /// The names of the children kept, once there are many.
    names: HashSet<u64>,
}

/// Number of members from which on names are looked up in a set.
const MANY: usize = 24;

impl Sketch {
    pub(crate) fn new(max_bytes: u64) -> Self {
        let room =
            max_bytes.saturating_mul(2).max((max_bytes.saturating_mul(16)).clamp(ROOM.0, ROOM.1));
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        Sketch {
            frames: vec![Frame::default()],
            skipped: 0,
            caps: caps(0, room),
            level: 0,
            held: 0,
            room,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values().total == 0
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    /// Returns the top-level values of the text.
    pub(crate) fn values(&self) -> &Group {
        static NONE: Group =
            Group { is_object: false, kept: Vec::new(), total: 0, is_essential: false };
        self.frames.first().map_or(&NONE, |frame| &frame.group)
    }

    /// Returns true if the next value may be shown.
    pub(crate) fn is_listening(&self) -> bool {
        self.skipped == 0
    }

    /// Returns the number of bytes of either end of a string that are examined.
    pub(crate) fn longest_text(&self) -> usize {
        self.caps.text
    }

    pub(crate) fn open(&mut self, is_object: bool, key: Option<Key>, at: Mark) {
        if self.skipped > 0 {
            self.count_skipped();
            self.skipped += 1;
            return;
        }
        // The first frame is that of the whole text.
        self.skipped = usize::from(self.frames.len() > self.caps.depth);
        let name = key.as_ref().and_then(|key| key.name.as_deref()).unwrap_or_default();
        let is_essential = ESSENTIAL.contains(&name);
        let group = Group { is_object, is_essential, ..Group::default() };
        self.frames.push(Frame { group, key, start: at, ..Frame::default() });
    }

    pub(crate) fn close(&mut self, end: Mark) {
        if self.skipped > 1 {
            self.skipped -= 1;
            return;
        }
        self.skipped = 0;
        let Some(frame) = self.frames.pop() else { return };
        let Frame { group, key, start, mut signal, .. } = frame;
        let name = key.as_ref().and_then(|key| key.name.as_deref());
        signal.close(name, group.total);
        let inside: usize = group.kept.iter().map(|child| child.held).sum();
        self.attach(key, Value::Group(group), (start, end), signal, inside);
    }

    pub(crate) fn scalar(&mut self, scalar: Scalar, key: Option<Key>, start: Mark, end: Mark) {
        if self.skipped > 0 {
            self.count_skipped();
            return;
        }
        let name = key.as_ref().and_then(|key| key.name.as_deref());
        let signal = of_cell(name, scalar.cell());
        let inside = match &scalar {
            Scalar::Text(text) => text.head.len() + text.tail.len(),
            Scalar::Number(digits) => digits.as_ref().map_or(0, |digits| digits.len()),
            Scalar::Word(_) => 0,
        };
        self.held += inside;
        self.attach(key, Value::Scalar(scalar), (start, end), signal, inside);
    }

    /// Counts a value that is not sampled.
    fn count_skipped(&mut self) {
        if self.skipped == 1
            && let Some(frame) = self.frames.last_mut()
        {
            frame.group.total += 1;
        }
    }

    fn attach(
        &mut self,
        key: Option<Key>,
        value: Value,
        (start, end): (Mark, Mark),
        signal: Signal,
        inside: usize,
    ) {
        let own = size_of::<Child>()
            + key.as_ref().and_then(|key| key.name.as_ref()).map_or(0, |name| name.len());
        self.held += own;
        let caps = self.caps;
        let Some(frame) = self.frames.last_mut() else { return };
        let (start, value_start) = (key.as_ref().map_or(start, |key| key.start), start);
        let ordinal = frame.group.total;
        let news = novelty(&mut frame.columns, &value, ordinal, frame.group.is_object);
        let score = frame.signal.take(signal).max(news);
        let child =
            Child { key, ordinal, value, start, value_start, end, score, held: own + inside };
        frame.group.total += 1;
        self.held = self.held.saturating_sub(frame.add(child, &caps));
        while self.held > self.room && self.level < 16 {
            self.level += 1;
            self.caps = self::caps(self.level, self.room);
            self.shrink();
        }
    }

    /// Moves to the next level, which keeps less of everything.
    fn shrink(&mut self) {
        let caps = self.caps;
        self.held = 0;
        for (depth, frame) in self.frames.iter_mut().enumerate() {
            thin(&mut frame.group, &caps, true);
            for child in &mut frame.group.kept {
                shrink_child(child, &caps, depth + 1);
                self.held += child.held;
            }
            frame.note_names();
        }
    }
}

impl Frame {
    /// Adds a child, and returns the number of bytes released for it.
    fn add(&mut self, child: Child, caps: &Caps) -> usize {
        let mut freed = self.remove_namesake(&child);
        if let Some(name) = child.key.as_ref().and_then(|key| key.name.as_ref())
            && self.group.kept.len() >= MANY
        {
            if self.names.is_empty() {
                self.note_names();
            }
            self.names.insert(fnv1a(name));
        }
        self.group.kept.push(child);
        let before = self.group.kept.len();
        freed += thin(&mut self.group, caps, false);
        if self.group.kept.len() < before {
            self.note_names();
        }
        freed
    }

    fn note_names(&mut self) {
        self.names.clear();
        if self.group.is_object && self.group.kept.len() >= MANY {
            self.names.extend(
                self.group
                    .kept
                    .iter()
                    .filter_map(|child| child.key.as_ref()?.name.as_ref())
                    .map(|name| fnv1a(name)),
            );
        }
    }

    /// Removes a member of the same name: of several, the last one counts.
    fn remove_namesake(&mut self, child: &Child) -> usize {
        let Some(name) = child.key.as_ref().and_then(|key| key.name.as_ref()) else { return 0 };
        if self.group.kept.len() >= MANY && !self.names.contains(&fnv1a(name)) {
            return 0;
        }
        let found = self.group.kept.iter().position(|other| {
            other.key.as_ref().and_then(|key| key.name.as_ref()).is_some_and(|it| is_same(it, name))
        });
        found.map_or(0, |at| self.group.kept.remove(at).held)
    }
}

/// Returns true if two names are equal after unescaping.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a == b || (a.contains(&b'\\') || b.contains(&b'\\')) && spelt(a) == spelt(b)
}

/// Unescapes a name.
pub(super) fn spelt(name: &[u8]) -> Vec<u8> {
    let quoted = [b"\"", name, b"\""].concat();
    serde_json::from_slice::<String>(&quoted).map_or_else(|_| name.to_vec(), String::into_bytes)
}

/// Removes the least anomalous children between the ends, and returns the number of bytes released.
fn thin(group: &mut Group, caps: &Caps, at_once: bool) -> usize {
    let first = if group.is_object { caps.members } else { caps.ends };
    let first = if group.is_essential { 8 * first } else { first };
    let max_children = first + caps.special + caps.ends;
    let slack = if at_once { 0 } else { caps.ends };
    let count = group.kept.len();
    if count <= max_children + slack {
        return 0;
    }
    let middle = first..count - caps.ends;
    let mut scores: Vec<(std::cmp::Reverse<u16>, usize)> = group
        .kept
        .iter()
        .enumerate()
        .skip(middle.start)
        .take(middle.len())
        .filter(|(_, child)| child.score > 0)
        .map(|(index, child)| (std::cmp::Reverse(child.score), index))
        .collect();
    sort_by_key(&mut scores, |score| *score);
    let mut special: Vec<usize> =
        scores.into_iter().take(caps.special).map(|(_, index)| index).collect();
    sort_by_key(&mut special, |index| *index);
    let (mut index, mut freed) = (0, 0);
    group.kept.retain(|child| {
        let stays = !middle.contains(&index) || special.binary_search(&index).is_ok();
        index += 1;
        freed += if stays { 0 } else { child.held };
        stays
    });
    freed
}

fn shrink_child(child: &mut Child, caps: &Caps, depth: usize) {
    let name = child.key.as_ref().and_then(|key| key.name.as_ref()).map_or(0, |name| name.len());
    child.held = size_of::<Child>() + name;
    match &mut child.value {
        Value::Scalar(Scalar::Text(text)) => {
            text.shorten(caps.text);
            child.held += text.head.len() + text.tail.len();
        }
        Value::Scalar(Scalar::Number(Some(digits))) => child.held += digits.len(),
        Value::Scalar(_) => {}
        Value::Group(group) if depth > caps.depth => group.kept = Vec::new(),
        Value::Group(group) => {
            thin(group, caps, true);
            group.kept.shrink_to_fit();
            for inner in &mut group.kept {
                shrink_child(inner, caps, depth + 1);
                child.held += inner.held;
            }
        }
    }
}

impl Text {
    /// Returns true if the string is complete.
    pub(crate) fn is_whole(&self) -> bool {
        self.bytes == self.head.len() as u64
    }

    fn shorten(&mut self, max_bytes: usize) {
        // Two ends that meet are the complete string.
        let longest = if self.is_whole() { 2 * max_bytes } else { max_bytes };
        if self.head.len() <= longest {
            return;
        }
        if self.is_whole() {
            let rest = self.head.get(max_bytes..).unwrap_or_default();
            self.tail = rest.get(rest.len().saturating_sub(max_bytes)..).unwrap_or_default().into();
        } else {
            let from = self.tail.len().saturating_sub(max_bytes);
            self.tail = self.tail.get(from..).unwrap_or_default().into();
        }
        self.head = self.head.get(..max_bytes).unwrap_or_default().into();
    }
}
