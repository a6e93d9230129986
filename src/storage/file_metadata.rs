//! What is known of a file without reading it.

/// A plain file of this user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Examined {
    /// Its bytes.
    pub bytes: u64,
    /// When it was last written, or what its date was set to, in milliseconds since the epoch.
    pub modified_ms: i64,
    /// When anything about it was last changed, its date included, in nanoseconds since the epoch; where the system does not
    /// say, when it was made.
    pub touched_ns: i128,
}
