//! What the reader is told about the rest: how much is missing, where it is, and how to read on.
//!
//! The words are data, one [`Wording`] per language and profile. [`contains_marker`] reads the same data, so it knows
//! every marker that can be written.

use serde::{Deserialize, Serialize};

use super::cut::Cut;
use super::limits::{Direction, Unit};
use crate::store::part::Part;
use crate::text::graphemes;
use crate::tool_names::{self, Kind};

/// The words of a notice. Braces are filled in.
#[derive(Debug)]
pub struct Wording {
    /// `{n}`: how many lines are missing.
    lines: &'static str,
    /// `{n}`: how many bytes are missing.
    bytes: &'static str,
    /// The same when tokens stopped the cut.
    tokens: &'static str,
    /// `{n}`, `{from}`, `{to}`: how many lines are missing between two that are shown, and which.
    gap: &'static str,
    /// The same where all of them are like the line `{like}` before them.
    repeats: &'static str,
    /// What stands in place of binary data: `{n}` bytes, of a kind that is not known, and of the kind `{kind}`.
    binary: [&'static str; 2],
    /// What is said of a preview of JSON.
    json: JsonWords,
    /// How the call went: well, badly.
    outcome: [&'static str; 2],
    /// `{from}`, `{to}`, `{total}`: a range of lines that is shown.
    shown: &'static str,
    /// `{shown}`, `{total}`, `{line}`: a line that is shown in part.
    partial: &'static str,
    /// `{path}`: where everything is.
    saved: &'static str,
    /// `{head}`, `{tail}`, `{total}`, `{path}`: how many bytes of either end are where.
    part: &'static str,
    /// `{reason}`: why nothing was kept.
    lost: &'static str,
    /// `{limit}`: the ceiling above which even a tool's own wish is overruled.
    ceiling: &'static str,
    /// What is said of a command that was ended: `{ms}`, by its timeout; by its user.
    ended: [&'static str; 2],
    /// How to read on; see [`Advice`].
    advice: Advice,
    /// `{path}`: marker and place in one line, for where there is no room for more.
    compact: &'static str,
    /// The same where only a part was saved.
    compact_part: &'static str,
    /// Whether that line is the usual form where the whole text keeps the limits and both ends are shown.
    is_compact: bool,
}

/// What is missing in a preview of JSON, which cannot say so itself.
#[derive(Debug, Clone, Copy)]
pub struct JsonWords {
    /// `{list}`: all of the following.
    shown: &'static str,
    /// `{which}`, `{total}`, `{path}`: the elements of an array that are shown.
    items: &'static str,
    /// `{shown}`, `{total}`, `{path}`: how many members of an object are shown.
    members: &'static str,
    /// `{shown}`, `{total}`: how many of the values that the text consists of are shown.
    values: &'static str,
    /// `{n}`: arrays and objects beside those.
    more: &'static str,
    /// `{n}`: strings of which only the ends are shown.
    texts: &'static str,
    /// Between two of them.
    between: &'static str,
}

/// One thing that a preview of JSON shows only a part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonPart {
    /// An array: which of its elements are shown, how many there are, and where it is.
    Items(String, u64, String),
    /// An object: how many of its members are shown, how many there are, and where it is.
    Members(u64, u64, String),
    /// JSON Lines: which values are shown, and how many there are.
    Values(String, u64),
    /// Other arrays and objects.
    More(u64),
    /// Strings.
    Texts(u64),
}

/// What a list of what is missing may take.
const MAX_JSON_BYTES: usize = 210;

/// The next call to make.
#[derive(Debug, Clone, Copy)]
enum Advice {
    /// Sentences for the tools that the model has: search, read (`{line}`), delegate; each names `{tool}`.
    Available([&'static str; 3]),
    /// The same words whatever the tools are, and other words when a sub-agent can be asked.
    Fixed { plain: &'static str, delegate: Option<&'static str> },
}

/// The words by default.
pub static ENGLISH: Wording = Wording {
    lines: "...{n} lines truncated...",
    bytes: "...{n} bytes truncated...",
    tokens: "...{n} tokens truncated...",
    gap: "...{n} lines truncated: {from}-{to}...",
    repeats: "...{n} lines truncated: {from}-{to}, all like line {like}...",
    binary: ["[binary data, {n} bytes]", "[binary data: {kind}, {n} bytes]"],
    json: JsonWords {
        shown: "Shown: {list}.",
        items: "items {which} of {total} in {path}",
        members: "{shown} of {total} keys of {path}",
        values: "values {which} of {total}",
        more: "other arrays and objects in part: {n}",
        texts: "long strings without their middle (\u{2026}): {n}",
        between: "; ",
    },
    outcome: [
        "The tool call succeeded but the output was truncated.",
        "The tool call failed and its output was truncated.",
    ],
    shown: "Shown: lines {from}-{to} of {total}.",
    partial: "Shown: {shown} of {total} bytes of line {line}.",
    saved: "Full output saved to: {path}",
    part: "First {head} and last {tail} of its {total} bytes saved to: {path}",
    lost: "The full output could not be saved and was not kept ({reason}).",
    ceiling: "It was bounded although its tool asked to leave it alone, because it is over {limit} bytes.",
    ended: [
        "The command was ended because it ran longer than {ms} ms. If it needs more time and does not wait for input, \
         run it again with a larger timeout in milliseconds.",
        "The command was aborted by the user.",
    ],
    advice: Advice::Available([
        "Use {tool} to search that file.",
        "Use {tool} on that file from line {line} to read on.",
        "Use {tool} to have a sub-agent go through that file.",
    ]),
    compact: "... output truncated; full output saved to {path} ...",
    compact_part: "... output truncated; its first and last part saved to {path} ...",
    is_compact: false,
};

/// The same in Chinese.
pub static CHINESE: Wording = Wording {
    lines: "...已截断 {n} 行...",
    bytes: "...已截断 {n} 字节...",
    tokens: "...已截断 {n} 词元...",
    gap: "...已截断 {n} 行：第 {from}-{to} 行...",
    repeats: "...已截断 {n} 行：第 {from}-{to} 行，均与第 {like} 行相似...",
    binary: ["[二进制数据，{n} 字节]", "[二进制数据：{kind}，{n} 字节]"],
    json: JsonWords {
        shown: "显示：{list}。",
        items: "{path} 的第 {which} 项（共 {total} 项）",
        members: "{path} 的 {total} 个键中的 {shown} 个",
        values: "第 {which} 个值（共 {total} 个）",
        more: "另有 {n} 个数组或对象只显示一部分",
        texts: "{n} 个长字符串省略了中间（\u{2026}）",
        between: "；",
    },
    outcome: ["工具调用成功，但输出已被截断。", "工具调用失败，输出已被截断。"],
    shown: "显示第 {from}-{to} 行，共 {total} 行。",
    partial: "第 {line} 行显示 {shown} 字节，共 {total} 字节。",
    saved: "完整输出已保存到：{path}",
    part: "其 {total} 字节的前 {head}、后 {tail} 字节已保存到：{path}",
    lost: "完整输出未能保存，也没有保留（{reason}）。",
    ceiling: "工具要求不作处理，但输出超过 {limit} 字节，因此仍被截断。",
    ended: [
        "命令运行超过 {ms} 毫秒，已被终止。如果它需要更长时间且不是在等待输入，请用更大的超时值（毫秒）重新运行。",
        "命令已被用户中止。",
    ],
    advice: Advice::Available([
        "可用 {tool} 搜索该文件。",
        "可用 {tool} 从该文件第 {line} 行继续读取。",
        "可用 {tool} 让子代理处理该文件。",
    ]),
    compact: "... 输出已截断；完整输出已保存到 {path} ...",
    compact_part: "... 输出已截断；开头和结尾部分已保存到 {path} ...",
    is_compact: false,
};

/// The words of OpenCode.
pub static OPENCODE: Wording = Wording {
    shown: "",
    advice: Advice::Fixed {
        plain: "Use Grep to search the full content or Read with offset/limit to view specific sections.",
        delegate: Some(
            "Use the Task tool to have an explore agent process this file with Grep and Read (offset/limit). \
             Do not read the whole file yourself: delegate to save context.",
        ),
    },
    compact: "... output truncated; full content saved to {path} ...",
    is_compact: true,
    ..ENGLISH
};

/// The words of Takumi, which does not say how the call went.
pub static TAKUMI: Wording = Wording {
    outcome: ["", ""],
    lost: "(Failed to save full output to file)",
    advice: Advice::Fixed {
        plain: "Use Grep to search the full content or Read with offset/limit to view specific sections.",
        delegate: None,
    },
    is_compact: false,
    ..OPENCODE
};

/// The words of Moryflow, which offers to run the command again where saving failed.
pub static MORYFLOW: Wording = Wording {
    lost: "The full output could not be saved and was not kept ({reason}). Retry the command if you need it.",
    ..ENGLISH
};

static ALL: [&Wording; 5] = [&ENGLISH, &CHINESE, &OPENCODE, &TAKUMI, &MORYFLOW];

/// The language of the default words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Language {
    /// English.
    #[default]
    #[serde(rename = "en")]
    English,
    /// Simplified Chinese.
    #[serde(rename = "zh-CN")]
    Chinese,
}

/// Everything around a cut that its notice speaks of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Circumstances {
    /// The call failed.
    pub failed: bool,
    /// Where everything is; empty when nothing was saved.
    pub path: String,
    /// What of it is there, if not everything.
    pub part: Option<Part>,
    /// Why nothing was saved.
    pub lost: Option<String>,
    /// The ceiling that overruled the tool's own wish.
    pub ceiling: Option<u64>,
    /// The tools that the model has, by the names it knows.
    pub tools: Vec<String>,
    /// The preview was made by somebody else, so nobody knows which lines it shows.
    pub foreign: bool,
}

/// A reason is a detail; a long one must not crowd out the rest.
const MAX_REASON_BYTES: usize = 160;

impl Wording {
    /// What is said of a command that was ended before its end: after so many milliseconds, or by its user.
    pub fn ended(&self, timeout_ms: Option<u64>) -> String {
        let [by_timeout, by_user] = self.ended;
        match timeout_ms {
            Some(ms) => by_timeout.replace("{ms}", &ms.to_string()),
            None => by_user.to_owned(),
        }
    }

    /// The line that stands where text is missing.
    pub fn marker(&self, unit: Unit, removed: u64) -> String {
        let template = match unit {
            Unit::Lines => self.lines,
            Unit::Bytes => self.bytes,
            Unit::Tokens => self.tokens,
        };
        fill(template, &[("n", &removed.to_string())])
    }

    /// The line that stands where lines from one number to another are missing; they may all be like the line before.
    pub fn gap(&self, removed: u64, from: u64, to: u64, like: Option<u64>) -> String {
        let template = if like.is_some() { self.repeats } else { self.gap };
        let [n, from, to, like] =
            [removed, from, to, like.unwrap_or(0)].map(|number| number.to_string());
        fill(template, &[("n", &n), ("from", &from), ("to", &to), ("like", &like)])
    }

    /// What stands in place of so many bytes of binary data, whose kind is empty if it is not known.
    pub fn binary(&self, kind: &str, bytes: u64) -> String {
        let [unknown, known] = self.binary;
        let template = if kind.is_empty() { unknown } else { known };
        fill(template, &[("n", &bytes.to_string()), ("kind", kind)])
    }

    /// What a preview of JSON shows of what is there, the most important first.
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
                JsonPart::Texts(n) => fill(words.texts, &[("n", &n.to_string())]),
            };
            // Room for what is said of the others.
            let is_kept = text.len() + words.between.len() + 60 <= left;
            if !is_kept && !matches!(part, JsonPart::Texts(_)) {
                more += 1;
                continue;
            }
            left = left.saturating_sub(text.len() + words.between.len());
            list.push(text);
        }
        if more > 0 {
            list.push(fill(words.more, &[("n", &more.to_string())]));
        }
        if list.is_empty() {
            return String::new();
        }
        fill(words.shown, &[("list", &list.join(words.between))])
    }

    /// The one line that is marker and hint at once. There is none where nothing was saved.
    pub fn compact(&self, circumstances: &Circumstances) -> Option<String> {
        let template = if circumstances.part.is_some() { self.compact_part } else { self.compact };
        circumstances.lost.is_none().then(|| fill(template, &[("path", &circumstances.path)]))
    }

    /// Whether that line is the usual form of a text that keeps the limits as a whole.
    pub fn is_compact(&self) -> bool {
        self.is_compact
    }

    /// Where the rest is and how to read on, at most five lines.
    pub fn hint(&self, cut: &Cut<'_>, circumstances: &Circumstances) -> String {
        self.hint_of(cut, circumstances, None)
    }

    /// The same, with these words for what is shown.
    pub fn hint_of(
        &self,
        cut: &Cut<'_>,
        circumstances: &Circumstances,
        shown: Option<&str>,
    ) -> String {
        let mut first = vec![self.outcome[usize::from(circumstances.failed)].to_owned()];
        if let Some(limit) = circumstances.ceiling {
            first.push(fill(self.ceiling, &[("limit", &limit.to_string())]));
        }
        if let Some(shown) = shown {
            first.push(shown.to_owned());
        } else if !circumstances.foreign {
            first.extend(self.shown(cut));
        }
        let place = match &circumstances.lost {
            None => self.place(circumstances),
            Some(reason) => {
                // One line, whatever a storage of the caller's says.
                let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
                let end = graphemes::floor_char(&reason, MAX_REASON_BYTES);
                fill(self.lost, &[("reason", reason.get(..end).unwrap_or_default())])
            }
        };
        let mut lines = Vec::new();
        first.retain(|sentence| !sentence.is_empty());
        // OpenCode's words stand on one line with the place.
        if matches!(self.advice, Advice::Fixed { .. }) {
            first.push(place);
            lines.push(first.join(" "));
        } else {
            lines.push(first.join(" "));
            lines.push(place);
        }
        if circumstances.lost.is_none() {
            lines.extend(self.advice(cut, circumstances));
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

    /// Partial lines first: the other numbers make no sense without them.
    fn shown(&self, cut: &Cut<'_>) -> Vec<String> {
        let partials = cut.partials().into_iter().map(|partial| {
            let (shown, total, line) =
                (partial.shown.to_string(), partial.total.to_string(), partial.line.to_string());
            fill(self.partial, &[("shown", &shown), ("total", &total), ("line", &line)])
        });
        let total = cut.total_lines.to_string();
        let whole = cut.pieces.iter().filter_map(|piece| {
            let (mut from, mut to) = (piece.first_line, piece.last_line);
            if let Some((line, _)) = &piece.partial {
                if *line == from {
                    from += 1;
                } else {
                    to -= 1;
                }
            }
            (from <= to && !piece.text.is_empty()).then(|| {
                fill(
                    self.shown,
                    &[("from", &from.to_string()), ("to", &to.to_string()), ("total", &total)],
                )
            })
        });
        partials.chain(whole).collect()
    }

    fn advice(&self, cut: &Cut<'_>, circumstances: &Circumstances) -> Option<String> {
        let Circumstances { tools, part, .. } = circumstances;
        let first = |kind| tools.iter().find(|tool| tool_names::kind(tool) == Some(kind));
        let delegate_tool = first(Kind::Delegate);
        match &self.advice {
            // Those words speak of the full content.
            Advice::Fixed { .. } if part.is_some() => None,
            Advice::Fixed { plain, delegate } => {
                Some(delegate.filter(|_| delegate_tool.is_some()).unwrap_or(plain).to_owned())
            }
            Advice::Available([search, read, delegate]) => {
                let line = cut.next_line().to_string();
                // Behind the gap of a partial file the lines have other numbers.
                let is_there = part.is_none_or(|part| cut.shown_from_start() < part.head_bytes);
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
                (!sentences.is_empty()).then(|| sentences.join(" "))
            }
        }
    }

    /// The longest marker that a text of this size can need.
    pub fn longest_marker(&self, total_bytes: u64) -> usize {
        let units = [Unit::Lines, Unit::Bytes, Unit::Tokens];
        units.map(|unit| self.marker(unit, total_bytes).len()).into_iter().max().unwrap_or(0)
    }
}

/// A tool's name goes into a sentence, so it must be one that can stand there.
fn printable(name: &str) -> &str {
    if name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_graphic()) {
        name
    } else {
        "the tool"
    }
}

/// Fills in literally: a value with braces in it is not looked at again.
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

/// How the parts of the whole text are put together, with `between` between any two of them.
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

/// A whole text, and where the preview begins in it.
#[derive(Debug, PartialEq, Eq)]
pub struct Assembled {
    /// Preview and notice.
    pub content: String,
    /// The offset of the preview, in bytes.
    pub preview_start: usize,
}

/// Whether a text holds a line that only a notice of Spillway writes, in any language and profile, so that a tool that
/// writes files can refuse a preview that was taken for the whole.
pub fn contains_marker(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim();
        ALL.iter().any(|wording| {
            is_filled(wording.lines, line, true)
                || is_filled(wording.bytes, line, true)
                || is_filled(wording.tokens, line, true)
                || has_numbers(wording.gap, line)
                || has_numbers(wording.repeats, line)
                || is_filled(wording.compact, line, false)
                || is_filled(wording.compact_part, line, false)
        })
    })
}

/// Whether a line is a template with a number at each of its places.
fn has_numbers(template: &str, line: &str) -> bool {
    let mut rest = line;
    for (index, part) in template.split('{').enumerate() {
        let words = if index == 0 { part } else { part.split_once('}').map_or(part, |it| it.1) };
        if index > 0 {
            let number = rest.trim_start_matches(|char: char| char.is_ascii_digit());
            if number.len() == rest.len() {
                return false;
            }
            rest = number;
        }
        match rest.strip_prefix(words) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest.is_empty()
}

fn is_filled(template: &str, line: &str, digits: bool) -> bool {
    let Some((before, after)) = template.split_once('{') else { return false };
    let Some((_, after)) = after.split_once('}') else { return false };
    let value = line.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    value.is_some_and(|value| {
        !value.is_empty() && (!digits || value.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests;
