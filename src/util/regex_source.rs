//! A regular expression given by a caller, which each room compiles within its own limits.

/// A regular expression and its flags.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RegexSource {
    pub source: String,
    /// Matches upper and lower case alike.
    pub ignore_case: bool,
    /// `^` and `$` match at the ends of a line.
    pub multi_line: bool,
    /// `.` matches any character, line feeds included.
    pub dot_all: bool,
}
