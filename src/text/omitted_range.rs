//! The part of an output that is not in its saved file.

use serde::{Deserialize, Serialize};

/// The line in place of omitted bytes, in a saved file as in an English preview; `{n}` is their number.
pub const MARKER: &str = "...{n} bytes truncated...";

/// Describes a file that holds only the start and the end of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OmittedRange {
    /// Number of bytes from the start of the output, which are the first of the file.
    pub head_bytes: u64,
    /// Number of bytes from the end of the output, which are the last of the file.
    pub tail_bytes: u64,
    /// Number of bytes between them, which are not in the file.
    pub omitted_bytes: u64,
}

impl OmittedRange {
    /// Returns the line that stands for the omitted bytes.
    pub fn marker(omitted_bytes: u64) -> String {
        MARKER.replace("{n}", &omitted_bytes.to_string())
    }

    /// Returns the length of the whole output in bytes.
    pub fn total_bytes(&self) -> u64 {
        self.head_bytes + self.tail_bytes + self.omitted_bytes
    }

    /// Returns the offset in the output at which its kept end begins.
    pub fn tail_start(&self) -> u64 {
        self.head_bytes + self.omitted_bytes
    }
}
