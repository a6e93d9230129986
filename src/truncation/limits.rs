//! How long a preview may be.

use serde::{Deserialize, Serialize};

use super::smart::Keep;
use crate::text::lines::LineRule;
use crate::tokens::{Mode, of_text};

/// Which part of a long text is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The start.
    #[default]
    Head,
    /// The end.
    Tail,
    /// Start and end; the middle is left out.
    Both,
}

impl Direction {
    /// All of them.
    pub const ALL: [Direction; 3] = [Direction::Head, Direction::Tail, Direction::Both];
}

/// What stopped a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// The number of lines.
    Lines,
    /// The number of bytes.
    Bytes,
    /// The number of tokens, by their upper estimate.
    Tokens,
}

/// The budget of a preview. All limits are inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Lines at most. `u64::MAX` is no limit, which is `null` in JSON.
    #[serde(with = "or_unlimited")]
    pub max_lines: u64,
    /// Bytes of UTF-8 at most. `u64::MAX` is no limit, which is `null` in JSON.
    #[serde(with = "or_unlimited")]
    pub max_bytes: u64,
    /// Tokens at most, by their upper estimate. `u64::MAX` is no limit, which is `null` in JSON.
    #[serde(with = "or_unlimited", default = "unlimited")]
    pub max_tokens: u64,
    /// Which part is kept.
    pub direction: Direction,
    /// What counts as a line.
    pub line_rule: LineRule,
    /// What is kept of a text that is too long.
    #[serde(default)]
    pub keep: Keep,
    /// Whether all of this is asked of the text that a terminal would show.
    #[serde(default)]
    pub terminal: bool,
}

impl Limits {
    /// Whether a text of this size keeps the limits in lines and bytes.
    pub fn allow(&self, lines: u64, bytes: u64) -> bool {
        lines <= self.max_lines && bytes <= self.max_bytes
    }

    /// Whether a text keeps the limit in tokens.
    pub fn allow_tokens(&self, text: &str) -> bool {
        self.max_tokens == u64::MAX || of_text(text, Mode::Upper) <= self.max_tokens
    }
}

fn unlimited() -> u64 {
    u64::MAX
}

mod or_unlimited {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        Some(*value).filter(|value| *value != u64::MAX).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(u64::MAX))
    }
}
