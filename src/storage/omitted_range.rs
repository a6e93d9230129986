//! What of an output its file holds, if not all of it.

use serde::{Deserialize, Serialize};

/// The parts of an output that its file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Bytes of its start, which are the first of the file.
    pub head_bytes: u64,
    /// Bytes of its end, which are the last of the file.
    pub tail_bytes: u64,
    /// Bytes between them, which are not in the file.
    pub omitted_bytes: u64,
}

impl Part {
    /// Bytes of the whole output.
    pub fn total_bytes(&self) -> u64 {
        self.head_bytes + self.tail_bytes + self.omitted_bytes
    }

    /// Where its end begins in the output.
    pub fn tail_start(&self) -> u64 {
        self.head_bytes + self.omitted_bytes
    }
}
