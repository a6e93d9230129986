//! Serializes the selected values, and describes those omitted.

use super::sampled_tree::{Key, Mark, Scalar, Value};
use super::select::{Choice, Item, name};
use crate::truncation::notice::{self, JsonPart, Wording};
use crate::truncation::result::Piece;
use crate::truncation::strategies::ranges;
use crate::util::sort::sort_by_key;

/// JSON, and the ranges of the text that it shows.
pub(super) struct Written {
    pub text: String,
    pub pieces: Vec<Piece<'static>>,
}

/// Serializes the selection, spread over as many lines as allowed.
pub(super) fn write(choice: &Choice<'_>, max_lines: u64) -> Written {
    let depth = (0..=choice.spread()).rev().find(|depth| lines(choice, *depth) <= max_lines);
    let mut writer = Writer {
        choice,
        depth: depth.unwrap_or(0),
        text: String::new(),
        pieces: Vec::new(),
        last: None,
    };
    let mut next = 0;
    for index in 0..choice.roots {
        let Some(item) = choice.items.get(index).filter(|item| item.is_shown) else { continue };
        if !writer.text.is_empty() {
            writer.text.push('\n');
        }
        writer.value(item, item.child.ordinal == next);
        next = item.child.ordinal + 1;
    }
    Written { text: writer.text, pieces: writer.pieces }
}

/// Returns the number of lines if containers are spread down to this depth.
fn lines(choice: &Choice<'_>, depth: usize) -> u64 {
    choice
        .items
        .iter()
        .filter(|item| item.is_shown)
        .map(|item| match item.depth {
            0 => 1,
            inside => u64::from(inside <= depth),
        } + u64::from(item.depth < depth && item.shown_inside > 0))
        .sum()
}

/// Maximum number of bytes of a container that is always written on one line.
const SHORT: u64 = 60;

struct Writer<'a> {
    choice: &'a Choice<'a>,
    depth: usize,
    text: String,
    pieces: Vec<Piece<'static>>,
    /// End of the last range, if it can be extended.
    last: Option<Mark>,
}

impl Writer<'_> {
    /// Writes a value, which may extend the previous range.
    fn value(&mut self, item: &Item<'_>, goes_on: bool) {
        let (choice, child) = (self.choice, item.child);
        if !goes_on {
            self.last = None;
        }
        if let Some(name) = child.key.as_ref().and_then(|key| name(key, choice.source)) {
            self.text.push('"');
            self.text.push_str(&name);
            self.text.push_str("\": ");
        }
        match &child.value {
            Value::Scalar(Scalar::Word(word)) => self.text.push_str(word),
            Value::Scalar(Scalar::Number(digits)) => {
                self.text.push_str(&String::from_utf8_lossy(digits.as_deref().unwrap_or_default()));
            }
            Value::Scalar(Scalar::Text(_)) => {
                self.text.push('"');
                let part = item.part.as_ref();
                self.text.push_str(part.map_or("", |part| &part.text));
                self.text.push('"');
                if let Some((head, tail)) = part.and_then(|part| part.ends) {
                    // From the name to the last byte of the shown start, and from the first of the shown end.
                    let open = child.value_start;
                    let shown = Mark { at: open.at + 1 + head, ..open };
                    self.shows(child.start, shown);
                    self.last = None;
                    self.shows(Mark { at: child.end.at - 1 - tail, ..child.end }, child.end);
                    return;
                }
            }
            Value::Group(group) => {
                let open = child.value_start;
                self.shows(child.start, Mark { at: open.at + 1, ..open });
                self.inside(item, group.is_object, group.total);
                return;
            }
        }
        self.shows(child.start, child.end);
    }

    fn inside(&mut self, item: &Item<'_>, is_object: bool, total: u64) {
        let (open, close) = if is_object { ('{', '}') } else { ('[', ']') };
        self.text.push(open);
        let is_spread = item.depth < self.depth && item.shown_inside > 0 && !self.is_short(item);
        let mut next = 0;
        let mut is_first = true;
        for index in item.inside.clone() {
            let Some(inner) = self.choice.items.get(index).filter(|inner| inner.is_shown) else {
                continue;
            };
            if !is_first {
                self.text.push(',');
            }
            if is_spread {
                self.text.push('\n');
                self.text.extend(std::iter::repeat_n(' ', inner.depth));
            } else if !is_first {
                self.text.push(' ');
            }
            is_first = false;
            self.value(inner, inner.child.ordinal == next);
            next = inner.child.ordinal + 1;
        }
        if is_spread {
            self.text.push('\n');
            self.text.extend(std::iter::repeat_n(' ', item.depth));
        }
        self.text.push(close);
        if next == total && self.last.is_some() {
            self.shows(item.child.end, item.child.end);
        } else {
            self.last = None;
        }
    }

    /// Returns true if a container is so short that it reads better on one line.
    fn is_short(&self, item: &Item<'_>) -> bool {
        let inside = self.choice.items.get(item.inside.clone()).unwrap_or_default();
        let mut room = SHORT;
        inside.iter().filter(|inner| inner.is_shown).all(|inner| {
            let length = inner.child.end.at - inner.child.start.at;
            let fits = matches!(inner.child.value, Value::Scalar(_)) && length <= room;
            room = room.saturating_sub(length);
            fits
        })
    }

    /// Records that a range of the text is shown.
    fn shows(&mut self, from: Mark, to: Mark) {
        match self.pieces.last_mut() {
            Some(last) if self.last.is_some() => {
                last.bytes.end = to.at;
                last.last_line = to.line + 1;
            }
            _ => self.pieces.push(Piece {
                text: "\n".into(),
                bytes: from.at..to.at,
                first_line: from.line + 1,
                last_line: to.line + 1,
                partial: None,
            }),
        }
        self.last = Some(to);
    }
}

/// Maximum number of bytes of a path in a sentence.
const PATH: usize = 60;

/// Describes the omitted values in a sentence.
pub(super) fn missing(choice: &Choice<'_>, wording: &Wording) -> String {
    let mut parts: Vec<(u64, JsonPart)> = Vec::new();
    let mut more = 0;
    let roots = choice.items.iter().take(choice.roots);
    let shown: Vec<u64> =
        roots.filter(|item| item.is_shown).map(|item| item.child.ordinal).collect();
    if (shown.len() as u64) < choice.values {
        parts.push((u64::MAX, JsonPart::Values(ranges(&shown), choice.values)));
    }
    let mut found: Vec<(u64, usize)> = Vec::new();
    for (index, item) in choice.items.iter().enumerate().filter(|(_, item)| item.is_shown) {
        if let Value::Group(group) = &item.child.value
            && item.shown_inside < group.total
        {
            found.push((group.total - item.shown_inside, index));
        }
    }
    sort_by_key(&mut found, |(count, index)| (std::cmp::Reverse(*count), *index));
    for (rank, (count, index)) in found.into_iter().enumerate() {
        let Some(item) = choice.items.get(index).filter(|_| rank < 8) else {
            more += 1;
            continue;
        };
        let Value::Group(group) = &item.child.value else { continue };
        let path = choice.path(index);
        let part = if group.is_object {
            JsonPart::Members(item.shown_inside, group.total, path)
        } else {
            let inside = choice.items.get(item.inside.clone()).unwrap_or_default();
            let shown: Vec<u64> =
                inside.iter().filter(|it| it.is_shown).map(|it| it.child.ordinal).collect();
            JsonPart::Items(ranges(&shown), group.total, path)
        };
        parts.push((count, part));
    }
    let texts = choice.items.iter().filter(|item| item.is_shown);
    let texts = texts.filter_map(|item| item.part.as_ref()?.ends).count() as u64;
    let mut parts: Vec<JsonPart> = parts.into_iter().map(|(_, part)| part).collect();
    if texts > 0 {
        parts.push(JsonPart::Texts(texts));
    }
    parts.push(JsonPart::More(more));
    wording.json_parts(&parts)
}

impl Choice<'_> {
    /// Returns the JSONPath of a value.
    fn path(&self, index: usize) -> String {
        let mut steps: Vec<String> = Vec::new();
        let mut at = Some(index);
        while let Some(item) = at.and_then(|at| self.items.get(at)) {
            at = item.parent;
            let is_in_list = match at.and_then(|at| self.items.get(at)) {
                Some(_) => item.child.key.is_none(),
                None if self.values > 1 => true,
                None => break,
            };
            steps.push(match &item.child.key {
                Some(key) if !is_in_list => step(key, self.source),
                _ => format!("[{}]", item.child.ordinal),
            });
        }
        steps.push("$".to_owned());
        steps.reverse();
        let path = steps.concat();
        let cut = crate::text::graphemes::floor_char(&path, PATH);
        if cut == path.len() {
            return path;
        }
        format!("{}\u{2026}", path.get(..cut).unwrap_or_default())
    }
}

fn step(key: &Key, source: crate::text::lossy::Source) -> String {
    let name = name(key, source).unwrap_or_default();
    let is_plain = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$'));
    if is_plain { format!(".{name}") } else { format!("[\"{}\"]", quotable(&name)) }
}

/// Maximum number of bytes of a name in a path.
const NAME: usize = 40;

/// Escapes a name for use between quotes in a sentence: it must neither end the quotes nor the line, nor change the
/// direction of the text after it.
fn quotable(name: &str) -> String {
    let cut = crate::text::graphemes::floor_char(name, NAME);
    let cut = if cut < name.len() { super::shorten::before_escape(name, cut) } else { cut };
    let mut out = String::new();
    for char in name.get(..cut).unwrap_or_default().chars() {
        if notice::is_printable(char) {
            out.push(char);
        } else {
            out.extend(char.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    if cut < name.len() {
        out.push('\u{2026}');
    }
    out
}
