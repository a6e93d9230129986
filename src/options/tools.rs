//! Defaults, and the names of tools in settings.

use serde::Serialize;

use crate::text::lines::LineRule;
use crate::tools::{self, Kind};
use crate::truncation::limits::Direction;
use crate::truncation::notice::{CHINESE, ENGLISH, MORYFLOW, OPENCODE, TAKUMI, Wording};
use crate::util::language::Language;

/// The settings of every tool.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Defaults {
    /// Maximum number of lines of a preview.
    pub max_lines: u64,
    /// Maximum number of bytes of a preview.
    pub max_bytes: u64,
    /// The end of the output that is kept.
    pub direction: Direction,
    /// False if outputs are never truncated.
    pub enabled: bool,
    /// Number of days after which a saved output expires.
    pub retention_days: f64,
}

/// 2,000 lines, 50 KiB, the start, seven days: the numbers of OpenCode, which most agents adopted.
pub const DEFAULTS: Defaults = Defaults {
    max_lines: 2000,
    max_bytes: 50 * 1024,
    direction: Direction::Head,
    enabled: true,
    retention_days: 7.0,
};

/// The settings that differ for one tool.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDefaults {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_lines: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// A kind of tool, its name in settings, and the settings that differ for it.
struct Tool {
    kind: Kind,
    name: &'static str,
    defaults: ToolDefaults,
}

static TOOLS: [Tool; 3] = [
    // The last lines of a command say how it ended.
    Tool {
        kind: Kind::Terminal,
        name: "bash",
        defaults: ToolDefaults {
            max_lines: Some(500),
            direction: Some(Direction::Tail),
            enabled: None,
        },
    },
    Tool {
        kind: Kind::Search,
        name: "grep",
        defaults: ToolDefaults { max_lines: Some(3000), direction: None, enabled: None },
    },
    // Reading is paged already, and it is how the rest of a saved output is read.
    Tool {
        kind: Kind::Read,
        name: "read",
        defaults: ToolDefaults { max_lines: None, direction: None, enabled: Some(false) },
    },
];

/// Returns the built-in settings by tool.
pub fn built_in_tools() -> impl Iterator<Item = (&'static str, ToolDefaults)> {
    TOOLS.iter().map(|tool| (tool.name, tool.defaults))
}

/// Returns the name of a tool in settings: `bash` for `shell`.
pub(super) fn canonical(name: &str) -> Option<&'static str> {
    let kind = tools::kind(name)?;
    TOOLS.iter().find(|tool| tool.kind == kind).map(|tool| tool.name)
}

pub(super) fn defaults_of(canonical: &str) -> Option<ToolDefaults> {
    TOOLS.iter().find(|tool| tool.name == canonical).map(|tool| tool.defaults)
}

/// The numbers, rules and messages of a known agent.
#[derive(Debug)]
pub(super) struct Profile {
    pub name: &'static str,
    pub line_rule: LineRule,
    /// True if its tools have different settings.
    pub tools: bool,
    /// True if it removes old outputs by default.
    pub sweeps: bool,
    wording: Option<&'static Wording>,
}

/// The profiles of known agents. One without messages of its own uses the default ones.
pub(super) static PROFILES: [Profile; 6] = [
    Profile {
        name: "opencode",
        line_rule: LineRule::Split,
        tools: true,
        sweeps: true,
        wording: Some(&OPENCODE),
    },
    Profile {
        name: "openclaw-2026-02",
        line_rule: LineRule::Terminated,
        tools: true,
        sweeps: true,
        wording: None,
    },
    Profile {
        name: "openclaw",
        line_rule: LineRule::Terminated,
        tools: true,
        sweeps: true,
        wording: None,
    },
    Profile {
        name: "snow",
        line_rule: LineRule::Terminated,
        tools: true,
        sweeps: true,
        wording: None,
    },
    Profile {
        name: "takumi",
        line_rule: LineRule::Split,
        tools: false,
        sweeps: false,
        wording: Some(&TAKUMI),
    },
    Profile {
        name: "moryflow",
        line_rule: LineRule::Terminated,
        tools: false,
        sweeps: true,
        wording: Some(&MORYFLOW),
    },
];

pub(super) fn profile(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

/// Returns the messages for a profile and a language; a profile may have its own.
pub(super) fn wording(profile: Option<&Profile>, language: Language) -> &'static Wording {
    profile.and_then(|profile| profile.wording).unwrap_or(match language {
        Language::English => &ENGLISH,
        Language::Chinese => &CHINESE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_known_by_many_names() {
        for name in ["bash", "Bash", "terminal-execute", "run_shell_command", "SHELL"] {
            assert_eq!(canonical(name), Some("bash"), "{name}");
        }
        for name in ["", "bashful", "__proto__", &"x".repeat(10_000)] {
            assert_eq!(canonical(name), None);
        }
    }
}
