//! How long a preview may be.

use serde::{Deserialize, Serialize};

use crate::text::lines::LineRule;

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

/// What stopped a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// The number of lines.
    Lines,
    /// The number of bytes.
    Bytes,
}

/// The budget of a preview. Both limits are inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Lines at most. `u64::MAX` is no limit, which is `null` in JSON.
    #[serde(with = "or_unlimited")]
    pub max_lines: u64,
    /// Bytes of UTF-8 at most. `u64::MAX` is no limit, which is `null` in JSON.
    #[serde(with = "or_unlimited")]
    pub max_bytes: u64,
    /// Which part is kept.
    pub direction: Direction,
    /// What counts as a line.
    pub line_rule: LineRule,
}

impl Limits {
    /// Whether a text of this size keeps both limits.
    pub fn allow(&self, lines: u64, bytes: u64) -> bool {
        lines <= self.max_lines && bytes <= self.max_bytes
    }
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
