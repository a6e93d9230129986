//! The facts known about one tool result.
//!
//! Reading a text costs more than everything else together, so facts are collected in steps: first those of the message
//! itself, then those of the tool's name, then those of the ends of the text, then those of the whole. Every fact
//! therefore has three states: true, false and unknown.

/// A set of facts, encoded as bits for JavaScript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facts(u16);

impl Facts {
    /// The message says that the call failed.
    pub const FAILED: Facts = Facts(1);
    /// Must not be replaced: it holds more than text, or it is a placeholder already.
    pub const FIXED: Facts = Facts(1 << 1);
    /// The tool is known to run commands in a terminal.
    pub const TERMINAL_TOOL: Facts = Facts(1 << 2);
    /// The tool is known to do something else.
    pub const OTHER_TOOL: Facts = Facts(1 << 3);
    /// The start of the text was checked for an error message.
    pub const START_KNOWN: Facts = Facts(1 << 4);
    /// The text starts as an error message does.
    pub const STARTS_AS_ERROR: Facts = Facts(1 << 5);
    /// The exit code was looked for.
    pub const EXIT_KNOWN: Facts = Facts(1 << 6);
    /// There is an exit code, and it is not 0.
    pub const EXIT_FAILED: Facts = Facts(1 << 7);
    /// The error stream was looked for.
    pub const STDERR_KNOWN: Facts = Facts(1 << 8);
    /// There is an error stream, and it is not empty.
    pub const STDERR_FILLED: Facts = Facts(1 << 9);
    /// The text was checked for the shape of a terminal's result.
    pub const SHAPE_KNOWN: Facts = Facts(1 << 10);
    /// The text has the shape of a terminal's result.
    pub const TERMINAL_SHAPE: Facts = Facts(1 << 11);

    /// The call is known to have succeeded: the start of its text and its exit code do not matter.
    pub const SUCCEEDED: Facts = Facts(1 << 12);

    /// Nothing is known.
    pub const NONE: Facts = Facts(0);
    /// Everything was checked and nothing found, as for an empty text.
    pub const PLAIN: Facts = Facts(
        Self::START_KNOWN.0 | Self::EXIT_KNOWN.0 | Self::STDERR_KNOWN.0 | Self::SHAPE_KNOWN.0,
    );

    /// Decodes the facts from JavaScript.
    pub const fn from_bits(bits: u16) -> Self {
        Facts(bits)
    }

    /// Encodes the facts for JavaScript.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Returns the union of two sets.
    pub const fn and(self, more: Facts) -> Self {
        Facts(self.0 | more.0)
    }

    /// Returns true if any of these facts is known to be true.
    pub const fn any(self, of: Facts) -> bool {
        self.0 & of.0 != 0
    }

    const fn all(self, of: Facts) -> bool {
        self.0 & of.0 == of.0
    }

    /// Returns true if the result reports an error, or `None` if that is unknown.
    ///
    /// Exit codes and error streams belong to terminals: a file that happens to contain them does not count as a failed command.
    pub fn is_error(self, stderr_is_error: bool) -> Option<bool> {
        let (mut signs, mut known) = (Self::FAILED, Self::NONE);
        let open = !self.any(Self::SUCCEEDED);
        if open {
            signs = signs.and(Self::STARTS_AS_ERROR);
            known = known.and(Self::START_KNOWN);
        }
        if !self.any(Self::OTHER_TOOL) {
            if open {
                signs = signs.and(Self::EXIT_FAILED);
                known = known.and(Self::EXIT_KNOWN);
            }
            if stderr_is_error {
                signs = signs.and(Self::STDERR_FILLED);
                known = known.and(Self::STDERR_KNOWN);
            }
        }
        if self.any(signs) {
            return Some(true);
        }
        self.all(known).then_some(false)
    }

    /// Returns true if the result comes from a terminal, or `None` if that is unknown. A known tool decides, otherwise
    /// the text.
    pub fn is_terminal(self) -> Option<bool> {
        if self.any(Self::TERMINAL_TOOL.and(Self::OTHER_TOOL)) {
            return Some(self.any(Self::TERMINAL_TOOL));
        }
        self.any(Self::SHAPE_KNOWN).then_some(self.any(Self::TERMINAL_SHAPE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_needs_one_sign_and_its_absence_needs_all() {
        assert_eq!(Facts::NONE.is_error(true), None);
        assert_eq!(Facts::FAILED.is_error(true), Some(true));
        assert_eq!(Facts::PLAIN.is_error(true), Some(false));
        assert_eq!(Facts::START_KNOWN.and(Facts::EXIT_KNOWN).is_error(true), None);
        assert_eq!(Facts::START_KNOWN.and(Facts::EXIT_KNOWN).is_error(false), Some(false));
        assert_eq!(Facts::PLAIN.and(Facts::STDERR_FILLED).is_error(true), Some(true));
        assert_eq!(Facts::PLAIN.and(Facts::STDERR_FILLED).is_error(false), Some(false));
    }

    #[test]
    fn what_is_no_terminal_fails_by_its_start_alone() {
        let read = Facts::OTHER_TOOL.and(Facts::START_KNOWN);
        assert_eq!(read.is_error(true), Some(false));
        assert_eq!(
            read.and(Facts::EXIT_FAILED).and(Facts::STDERR_FILLED).is_error(true),
            Some(false)
        );
        assert_eq!(read.and(Facts::STARTS_AS_ERROR).is_error(true), Some(true));
    }

    #[test]
    fn what_ended_well_is_an_error_only_by_its_error_stream() {
        let shown = Facts::SUCCEEDED.and(Facts::STARTS_AS_ERROR).and(Facts::EXIT_FAILED);
        assert_eq!(shown.is_error(false), Some(false));
        assert_eq!(shown.is_error(true), None, "the error stream has not been looked at");
        assert_eq!(shown.and(Facts::STDERR_KNOWN).is_error(true), Some(false));
        assert_eq!(shown.and(Facts::STDERR_FILLED).is_error(true), Some(true));
        assert_eq!(shown.and(Facts::OTHER_TOOL).is_error(true), Some(false));
        assert_eq!(shown.and(Facts::FAILED).is_error(false), Some(true));
    }

    #[test]
    fn a_known_tool_is_asked_before_the_text() {
        assert_eq!(Facts::NONE.is_terminal(), None);
        assert_eq!(Facts::TERMINAL_TOOL.and(Facts::PLAIN).is_terminal(), Some(true));
        assert_eq!(
            Facts::OTHER_TOOL.and(Facts::PLAIN).and(Facts::TERMINAL_SHAPE).is_terminal(),
            Some(false)
        );
        assert_eq!(Facts::PLAIN.is_terminal(), Some(false));
        assert_eq!(Facts::PLAIN.and(Facts::TERMINAL_SHAPE).is_terminal(), Some(true));
    }
}
