//! Metadata of a file.

/// Metadata of a regular file of this user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileMetadata {
    pub bytes: u64,
    /// Modification time (mtime) in milliseconds since the epoch.
    pub modified_ms: i64,
    /// Status change time (ctime) in nanoseconds since the epoch, or the creation time where ctime is not available.
    pub ctime_ns: i128,
}
