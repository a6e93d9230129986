//! Notices: how much of a text is missing, where it is saved, and how to continue reading.
//!
//! Messages are data, one [`Wording`] per language and profile. [`contains_marker`] reads the same data, so it
//! recognizes every marker that can be written.

mod marker;
mod messages;

pub use marker::{contains_bare_marker, contains_marker, names_all_failures};
use messages::Advice;
pub use messages::{CHINESE, ENGLISH, JsonWords, MORYFLOW, OPENCODE, TAKUMI, Wording};

use super::limits::{Direction, Unit};
use super::result::{Cut, Partial};
use crate::text::omitted_range::OmittedRange;
use crate::text::{graphemes, join_sentences};
use crate::tools::{self, Kind};

/// A part of JSON that a preview shows incompletely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonPart {
    /// An array: the elements shown, their total number, and the path.
    Items(String, u64, String),
    /// An object: the number of members shown, their total number, and the path.
    Members(u64, u64, String),
    /// JSON Lines: the values shown, and their total number.
    Values(String, u64),
    /// Number of other arrays and objects.
    More(u64),
    /// Number of strings.
    Texts(u64),
}

/// Changes in a part of a diff.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of files that begin in it.
    pub files: u64,
    /// Number of added lines.
    pub added: u64,
    /// Number of removed lines.
    pub removed: u64,
}

/// Maximum number of line ranges that are listed.
const MAX_STRETCHES: usize = 3;

/// Maximum length in bytes of the list of incomplete JSON parts.
const MAX_JSON_BYTES: usize = 210;

/// Facts beyond the cut that a notice states.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Circumstances {
    pub failed: bool,
    /// Path of the saved output; empty if nothing was saved.
    pub path: String,
    /// The part of the output that was saved, if not all.
    pub part: Option<OmittedRange>,
    /// The reason why nothing was saved.
    pub lost: Option<String>,
    /// The hard ceiling in bytes that overruled the tool's own setting.
    pub ceiling: Option<u64>,
    /// Tools of the model, under the names that it knows.
    pub tools: Vec<String>,
    /// True if a custom strategy made the preview, so that the lines shown are unknown.
    pub foreign: bool,
    /// Notices of earlier previews that were in the output and are not in this preview.
    pub earlier: Option<String>,
}

/// Maximum length of a reason in bytes, so that it does not displace other facts.
const MAX_REASON_BYTES: usize = 160;

/// The reason why a command was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// It ran longer than `ms` milliseconds.
    Timeout { ms: u64 },
    /// Its user aborted it.
    User,
    /// The host aborted it, as a parent agent or a budget does.
    Host,
}

impl Wording {
    /// Returns the message for a command that was stopped.
    pub fn ended(&self, reason: EndReason) -> String {
        let [by_timeout, by_user, by_host] = self.ended;
        match reason {
            EndReason::Timeout { ms } => by_timeout.replace("{ms}", &ms.to_string()),
            EndReason::User => by_user.to_owned(),
            EndReason::Host => by_host.to_owned(),
        }
    }

    /// Returns the message for a command that ran longer than the `option` of a command line allows.
    pub fn ended_by_option(&self, limit: &str, option: &str) -> String {
        self.ended_by_option.replace("{option}", option).replace("{limit}", limit)
    }

    /// Returns the line that says the exit code of a command.
    pub fn exit_code(&self, code: i32) -> String {
        self.exit_code.replace("{code}", &code.to_string())
    }

    /// Returns the line that replaces missing text.
    pub fn marker(&self, unit: Unit, removed: u64) -> String {
        let template = match unit {
            Unit::Lines => self.lines,
            Unit::Bytes => self.bytes,
            Unit::Tokens => self.tokens,
        };
        fill_numbers(template, &[("n", removed)])
    }

    /// Returns the gap line for the lines `from` to `to`, which may all resemble the line `like`.
    pub fn gap(&self, removed: u64, from: u64, to: u64, like: Option<u64>) -> String {
        let template = if like.is_some() { self.repeats } else { self.gap };
        let like = like.unwrap_or(0);
        fill_numbers(template, &[("n", removed), ("from", from), ("to", to), ("like", like)])
    }

    /// Returns the gap line for missing lines of a diff.
    pub fn changes(&self, (removed, from, to): (u64, u64, u64), missing: Tally) -> String {
        if missing == Tally::default() {
            return self.gap(removed, from, to, None);
        }
        let [plain, with_files] = self.changes;
        let Tally { files, added, removed: deleted } = missing;
        let all = [
            ("n", removed),
            ("from", from),
            ("to", to),
            ("files", files),
            ("added", added),
            ("removed", deleted),
        ];
        fill_numbers(if files > 0 { with_files } else { plain }, &all)
    }

    /// Describes lines that are missing in many places. Returns `None` if the ranges shown can be listed.
    pub fn scattered(&self, cut: &Cut<'_>) -> Option<String> {
        let is_scattered = cut.pieces.len() > MAX_STRETCHES && !self.shown.is_empty();
        let numbers = [("n", cut.kept_lines()), ("total", cut.total_lines)];
        is_scattered.then(|| fill_numbers(self.scattered, &numbers))
    }

    /// Describes the part of a diff that is shown: files and hunks, each with the total number.
    pub fn diff(&self, files: (u64, u64), hunks: (u64, u64), all: Tally) -> String {
        let all = [
            ("shown", files.0),
            ("files", files.1),
            ("hunks", hunks.0),
            ("total", hunks.1),
            ("added", all.added),
            ("removed", all.removed),
        ];
        fill_numbers(self.diff, &all)
    }

    /// Describes the rows of a table that are shown beside its header, with the total number.
    pub fn csv(&self, shown: u64, total: u64, lines: &str) -> String {
        let (shown, total) = (shown.to_string(), total.to_string());
        fill(self.csv, &[("shown", &shown), ("total", &total), ("lines", lines)])
    }

    /// Describes the failures of a test run that are named, with the total number.
    pub fn tests(&self, shown: u64, total: u64) -> String {
        fill_numbers(self.tests, &[("shown", shown), ("total", total)])
    }

    /// Says that a test run has no result, after a sentence about what is shown or, without one, after the lines shown.
    pub fn unfinished(&self, cut: &Cut<'_>, shown: Option<String>) -> String {
        let mut sentences = shown.map_or_else(|| self.shown(cut), |shown| vec![shown]);
        sentences.push(self.unfinished.to_owned());
        join_sentences(&sentences)
    }

    /// Describes binary data; `kind` is empty if it is unknown.
    pub fn binary(&self, kind: &str, bytes: u64) -> String {
        let [unknown, known] = self.binary;
        let template = if kind.is_empty() { unknown } else { known };
        fill(template, &[("n", &bytes.to_string()), ("kind", kind)])
    }

    /// Describes what a preview of JSON shows, the most important parts first.
    pub fn json_parts(&self, parts: &[JsonPart]) -> String {
        let words = &self.json;
        let mut list: Vec<String> = Vec::new();
        let (mut left, mut more) = (MAX_JSON_BYTES, 0);
        for part in parts {
            let text = match part {
                JsonPart::Items(which, total, path) => fill(
                    words.items,
                    &[("which", which), ("total", &total.to_string()), ("path", path)],
                ),
                JsonPart::Members(shown, total, path) => fill(
                    words.members,
                    &[("shown", &shown.to_string()), ("total", &total.to_string()), ("path", path)],
                ),
                JsonPart::Values(which, total) => {
                    fill(words.values, &[("which", which), ("total", &total.to_string())])
                }
                JsonPart::More(n) => {
                    more += n;
                    continue;
                }
                JsonPart::Texts(n) => fill_numbers(words.texts, &[("n", *n)]),
            };
            // Leaves room for the number of other parts.
            let is_kept = text.len() + words.between.len() + 60 <= left;
            if !is_kept && !matches!(part, JsonPart::Texts(_)) {
                more += 1;
                continue;
            }
            left = left.saturating_sub(text.len() + words.between.len());
            list.push(text);
        }
        if more > 0 {
            list.push(fill_numbers(words.more, &[("n", more)]));
        }
        if list.is_empty() {
            return String::new();
        }
        fill(words.shown, &[("list", &list.join(words.between))])
    }

    /// Returns the single line that combines marker and hint, or `None` if nothing was saved.
    pub fn compact(&self, circumstances: &Circumstances) -> Option<String> {
        let template = if circumstances.part.is_some() { self.compact_part } else { self.compact };
        circumstances.lost.is_none().then(|| fill(template, &[("path", &circumstances.path)]))
    }

    /// Returns true if that line is the default form where the limits include the notice.
    pub fn is_compact(&self) -> bool {
        self.is_compact
    }

    /// Returns where the full output is and how to continue reading, in at most five lines.
    pub fn hint(&self, cut: &Cut<'_>, circumstances: &Circumstances) -> String {
        self.hint_of(cut, circumstances, None)
    }

    /// Returns the hint with the given description of what is shown.
    pub fn hint_of(
        &self,
        cut: &Cut<'_>,
        circumstances: &Circumstances,
        shown: Option<&str>,
    ) -> String {
        let mut first = vec![self.outcome[usize::from(circumstances.failed)].to_owned()];
        if let Some(limit) = circumstances.ceiling {
            first.push(fill_numbers(self.ceiling, &[("limit", limit)]));
        }
        if let Some(shown) = shown {
            first.push(shown.to_owned());
        } else if !circumstances.foreign {
            first.extend(self.shown(cut));
        }
        let place = match &circumstances.lost {
            None => self.place(circumstances),
            Some(reason) => {
                // One line, whatever a custom storage returns.
                let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
                let reason: String = reason.chars().filter(|char| is_printable(*char)).collect();
                let end = graphemes::floor_char(&reason, MAX_REASON_BYTES);
                fill(self.lost, &[("reason", reason.get(..end).unwrap_or_default())])
            }
        };
        let mut lines = Vec::new();
        first.retain(|sentence| !sentence.is_empty());
        // OpenCode puts its messages on one line with the path.
        if matches!(self.advice, Advice::Fixed { .. }) {
            first.push(place);
            lines.push(join_sentences(&first));
        } else {
            lines.push(join_sentences(&first));
            lines.push(place);
        }
        if circumstances.lost.is_none() {
            lines.extend(self.advice(cut, circumstances));
        }
        if let Some(earlier) = &circumstances.earlier {
            lines.push(self.earlier.to_owned());
            lines.push(earlier.clone());
        }
        lines.join("\n")
    }

    fn place(&self, circumstances: &Circumstances) -> String {
        let path = ("path", circumstances.path.as_str());
        let Some(part) = circumstances.part else { return fill(self.saved, &[path]) };
        let [head, tail, total] =
            [part.head_bytes, part.tail_bytes, part.total_bytes()].map(|bytes| bytes.to_string());
        fill(self.part, &[("head", &head), ("tail", &tail), ("total", &total), path])
    }

    /// Describes the lines shown, partial lines first: the other numbers make no sense without them.
    fn shown(&self, cut: &Cut<'_>) -> Vec<String> {
        let partials = cut.partials().into_iter().map(|partial| {
            let Partial { shown, total, line } = partial;
            fill_numbers(self.partial, &[("shown", shown), ("total", total), ("line", line)])
        });
        let total = cut.total_lines;
        let whole = cut.pieces.iter().filter_map(|piece| {
            let (mut from, mut to) = (piece.first_line, piece.last_line);
            if let Some((line, _)) = &piece.partial {
                if *line == from {
                    from += 1;
                } else {
                    to -= 1;
                }
            }
            (from <= to && !piece.text.is_empty())
                .then(|| fill_numbers(self.shown, &[("from", from), ("to", to), ("total", total)]))
        });
        partials.chain(whole).collect()
    }

    fn advice(&self, cut: &Cut<'_>, circumstances: &Circumstances) -> Option<String> {
        let Circumstances { tools, part, path, foreign, .. } = circumstances;
        // These messages promise the full content.
        let is_file = !path.contains("://") && !path.starts_with("memory:");
        let reads_it = |tool: &&String| is_file || tools::reads_saved_outputs(tool);
        let first =
            |kind| tools.iter().filter(reads_it).find(|tool| tools::kind(tool) == Some(kind));
        let delegate_tool = first(Kind::Delegate);
        match &self.advice {
            // After the gap of a partial file the line numbers differ.
            Advice::Fixed { .. } if part.is_some() => None,
            Advice::Fixed { plain, delegate } => {
                Some(delegate.filter(|_| delegate_tool.is_some()).unwrap_or(plain).to_owned())
            }
            Advice::Available([search, read, delegate]) => {
                // Reading starts at the top, because it is unknown what a custom strategy shows.
                let (line, shown) =
                    if *foreign { (1, 0) } else { (cut.next_line(), cut.shown_from_start()) };
                let line = line.to_string();
                let is_there = part.is_none_or(|part| shown < part.head_bytes);
                let sentences: Vec<String> = [
                    (search, first(Kind::Search)),
                    (read, first(Kind::Read).filter(|_| is_there)),
                    (delegate, delegate_tool),
                ]
                .into_iter()
                .filter_map(|(template, tool)| {
                    Some(fill(template, &[("tool", printable(tool?)), ("line", &line)]))
                })
                .collect();
                (!sentences.is_empty()).then(|| join_sentences(&sentences))
            }
        }
    }

    /// Returns the length of the longest marker for a text of this size.
    pub fn longest_marker(&self, total_bytes: u64) -> usize {
        let units = [Unit::Lines, Unit::Bytes, Unit::Tokens];
        units.map(|unit| self.marker(unit, total_bytes).len()).into_iter().max().unwrap_or(0)
    }
}

/// Returns a tool's name if it is safe to put into a sentence.
fn printable(name: &str) -> &str {
    if name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_graphic()) {
        name
    } else {
        "the tool"
    }
}

/// Returns true if a character of an output is safe in a sentence: no control, no line break, and no character that
/// hides text or changes its direction.
pub(crate) fn is_printable(char: char) -> bool {
    let is_format = matches!(char,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    !char.is_control() && !is_format
}

/// Fills in a template. Braces in a value are not expanded.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            rest = after;
            break;
        };
        out.push_str(values.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| value));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Fills in a template with numbers.
fn fill_numbers(template: &str, values: &[(&str, u64)]) -> String {
    let values: Vec<_> = values.iter().map(|(name, value)| (*name, value.to_string())).collect();
    let values: Vec<_> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    fill(template, &values)
}

/// Assembles the whole text, with `between` between its parts.
pub fn assemble(preview: &str, notice: &[&str], between: &str, direction: Direction) -> Assembled {
    let before = if direction == Direction::Tail { notice } else { &[] };
    let after = if direction == Direction::Tail { &[] } else { notice };
    let mut content = String::with_capacity(preview.len() + 1024);
    let mut preview_start = 0;
    for (index, part) in before.iter().chain([&preview]).chain(after).enumerate() {
        if !content.is_empty() && !part.is_empty() {
            content.push_str(between);
        }
        if index == before.len() {
            preview_start = content.len();
        }
        content.push_str(part);
    }
    Assembled { content, preview_start }
}

/// A whole text, and the position of the preview in it.
#[derive(Debug, PartialEq, Eq)]
pub struct Assembled {
    /// Preview and notice.
    pub content: String,
    /// Offset of the preview in bytes.
    pub preview_start: usize,
}

#[cfg(test)]
mod tests;
