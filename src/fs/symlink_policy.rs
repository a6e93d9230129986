//! Symlinks in the path of a folder.

/// Which symlinks are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymlinkPolicy {
    /// None, for a path that was resolved already: a symlink in it was planted since.
    Deny,
    /// Those of this user and of root: another user with write permission further up must not redirect outputs.
    TrustedOwners,
}
