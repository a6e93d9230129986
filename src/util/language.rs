//! The languages of messages.

use serde::{Deserialize, Serialize};

/// A language that messages are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Language {
    #[default]
    #[serde(rename = "en")]
    English,
    #[serde(rename = "zh-CN")]
    Chinese,
}

impl Language {
    /// Returns the language of a tag: English for everything but `zh-CN`.
    pub fn of(tag: &str) -> Self {
        if tag == "zh-CN" { Language::Chinese } else { Language::English }
    }
}
