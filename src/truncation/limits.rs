//! The limits of a preview.

use serde::{Deserialize, Serialize};

use super::smart::Keep;
use crate::text::lines::LineRule;
use crate::tokens::{Mode, of_text};

/// The part of a long text that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The start.
    #[default]
    Head,
    /// The end.
    Tail,
    /// Both ends; the middle is omitted.
    Both,
}

impl Direction {
    pub const ALL: [Direction; 3] = [Direction::Head, Direction::Tail, Direction::Both];
}

/// Units of limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    Lines,
    Bytes,
    /// Tokens by their upper estimate.
    Tokens,
}

/// The limits of a preview, all inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Maximum number of lines. `u64::MAX` means unlimited, which is `null` in JSON.
    #[serde(with = "or_unlimited")]
    pub max_lines: u64,
    /// Maximum number of bytes of UTF-8. `u64::MAX` means unlimited, which is `null` in JSON.
    #[serde(with = "or_unlimited")]
    pub max_bytes: u64,
    /// Maximum number of tokens by their upper estimate. `u64::MAX` means unlimited, which is `null` in JSON.
    #[serde(with = "or_unlimited", default = "unlimited")]
    pub max_tokens: u64,
    /// The part that is kept.
    pub direction: Direction,
    /// The rule for counting lines.
    pub line_rule: LineRule,
    /// The strategy for a text that is too long.
    #[serde(default)]
    pub keep: Keep,
    /// True if the limits apply to the text that a terminal would show.
    #[serde(default)]
    pub terminal: bool,
}

impl Limits {
    /// Returns true if a text of this size is within the limits on lines and bytes.
    pub fn allow(&self, lines: u64, bytes: u64) -> bool {
        lines <= self.max_lines && bytes <= self.max_bytes
    }

    /// Returns true if a text is within the limit on tokens.
    pub fn allow_tokens(&self, text: &str) -> bool {
        self.max_tokens == u64::MAX || of_text(text, Mode::Upper) <= self.max_tokens
    }
}

fn unlimited() -> u64 {
    u64::MAX
}

mod or_unlimited {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        Some(*value).filter(|value| *value != u64::MAX).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(u64::MAX))
    }
}
