//! The limits of a history and of the part that is kept, with the numbers of each profile.

use serde::Serialize;

/// How the size of a text is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Estimated by script and format, with an overhead per message.
    Estimate,
    /// Four UTF-16 code units are a token, without overheads.
    Quarters,
}

/// The numbers of one agent.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Numbers {
    /// Name of the profile.
    #[serde(skip)]
    pub name: &'static str,
    /// Share of the usable size at which compaction begins.
    pub trigger_share: f64,
    /// True if compaction begins when exactly that share is used.
    pub inclusive: bool,
    /// Maximum number of tokens reserved for an answer.
    pub answer_tokens: f64,
    /// Maximum share of the window reserved for an answer.
    pub answer_share: f64,
    /// Limit in UTF-16 code units if the window is unknown; `None` means no limit.
    pub max_chars: Option<f64>,
    /// Number of newest turns that are protected.
    pub recent_turns: u32,
    /// The newest outputs before them are kept up to this total of tokens.
    pub protect_output_tokens: f64,
    /// Outputs are replaced only if they have more tokens than this in total.
    pub min_output_tokens: f64,
    /// Tools whose outputs are kept.
    pub protected_tools: &'static [&'static str],
    /// The text that replaces an output; `None` for the pruner's placeholder.
    pub placeholder: Option<&'static str>,
    pub measure: Measure,
}

/// The numbers of the decision record.
pub const DOCUMENT: Numbers = Numbers {
    name: "",
    trigger_share: 0.8,
    inclusive: false,
    answer_tokens: 4096.0,
    answer_share: 0.2,
    max_chars: Some(120_000.0),
    recent_turns: 3,
    protect_output_tokens: 0.0,
    min_output_tokens: 0.0,
    protected_tools: &["task", "tasks_*", "write", "edit", "move", "delete"],
    placeholder: None,
    measure: Measure::Estimate,
};

/// All profiles; the first is the default.
pub static PROFILES: [Numbers; 4] = [
    DOCUMENT,
    Numbers {
        name: "moryflow",
        protected_tools: &["subagent", "write", "edit", "move", "delete"],
        measure: Measure::Quarters,
        ..DOCUMENT
    },
    Numbers {
        name: "opencode",
        trigger_share: 1.0,
        inclusive: true,
        answer_tokens: 20_000.0,
        // Its reserve is constant; it would leave nothing of a small window.
        answer_share: 0.5,
        max_chars: None,
        recent_turns: 2,
        protect_output_tokens: 40_000.0,
        min_output_tokens: 20_000.0,
        protected_tools: &["skill"],
        placeholder: Some("[Old tool result content cleared]"),
        measure: Measure::Quarters,
    },
    Numbers {
        name: "takumi",
        trigger_share: 0.7,
        answer_tokens: 0.0,
        answer_share: 0.0,
        max_chars: None,
        recent_turns: 2,
        protect_output_tokens: 40_000.0,
        min_output_tokens: 20_000.0,
        protected_tools: &["skill", "task"],
        ..DOCUMENT
    },
];

/// Returns the numbers of a profile; the empty name is the default.
pub fn numbers(name: &str) -> Option<&'static Numbers> {
    PROFILES.iter().find(|numbers| numbers.name == name)
}

impl Numbers {
    /// Returns the room in a window beside the answer and the reserve; negative if those do not fit.
    pub fn room(&self, window: f64, reserved: f64) -> f64 {
        window - self.answer_tokens.min((self.answer_share * window).floor()) - reserved
    }
}

/// Share of the usable size that a summary may take.
const SUMMARY_SHARE: f64 = 0.15;

/// Minimum fraction of that size with which a summary is accepted in favour of whole turns.
const MIN_SUMMARY_SHARE: f64 = 2.0 / 3.0;

/// Share kept if the newest turn has to be split. A history that is full again after the next answer would be split at
/// every answer.
const CUT_SHARE: f64 = 0.5;

/// The limits in tokens, or in UTF-16 code units if the window is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionLimits {
    /// Size above which compaction begins.
    pub trigger: f64,
    /// Maximum size; protected turns are kept whole while they fit.
    pub usable: f64,
    /// Size kept if the newest turn has to be split.
    pub cut: f64,
    /// Maximum size of a summary.
    pub summary: f64,
}

impl CompactionLimits {
    /// Returns the limits for a window. Never less than 1, so that a window that is reserved completely is full.
    pub fn of_window(
        window: f64,
        reserved: f64,
        summary: f64,
        numbers: &Numbers,
    ) -> CompactionLimits {
        CompactionLimits::of(
            numbers.room(window, reserved).max(1.0),
            numbers.trigger_share,
            summary,
        )
    }

    /// Returns the limits if the window is unknown.
    pub fn of_chars(chars: f64, summary: f64, numbers: &Numbers) -> CompactionLimits {
        let share = numbers.trigger_share;
        CompactionLimits {
            trigger: chars,
            ..CompactionLimits::of((chars / share).max(1.0), share, summary)
        }
    }

    /// Returns the limits for a size that the caller requests.
    pub fn of_target(target: f64, summary: f64) -> CompactionLimits {
        CompactionLimits::of(target.max(1.0), 1.0, summary)
    }

    fn of(usable: f64, share: f64, summary: f64) -> CompactionLimits {
        CompactionLimits {
            trigger: usable * share,
            usable,
            cut: usable * CUT_SHARE.min(share),
            summary: summary.min(usable * SUMMARY_SHARE),
        }
    }

    /// Returns the minimum room that a summary needs.
    pub fn min_summary(&self) -> f64 {
        self.summary * MIN_SUMMARY_SHARE
    }

    /// Returns true if a size is too large.
    pub fn is_over(&self, size: f64, inclusive: bool) -> bool {
        size > self.trigger || (inclusive && size >= self.trigger)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_numbers() {
        let limits = CompactionLimits::of_window(4000.0, 0.0, 4096.0, &DOCUMENT);
        assert_eq!((limits.usable, limits.trigger), (3200.0, 2560.0));
        assert!(!limits.is_over(2560.0, false) && limits.is_over(2560.25, false));
        let large = CompactionLimits::of_window(200_000.0, 10_000.0, 4096.0, &DOCUMENT);
        assert_eq!((large.usable, large.summary), (185_904.0, 4096.0));
        assert_eq!(CompactionLimits::of_chars(120_000.0, 1e9, &DOCUMENT).trigger, 120_000.0);
        assert_eq!(CompactionLimits::of_window(100.0, 1000.0, 0.0, &DOCUMENT).usable, 1.0);
    }

    #[test]
    fn each_profile_has_its_trigger() {
        let trigger = |name: &str, window: f64| {
            numbers(name)
                .map(|numbers| CompactionLimits::of_window(window, 0.0, 0.0, numbers).trigger)
        };
        assert_eq!(trigger("takumi", 200_000.0), Some(140_000.0));
        assert_eq!(trigger("opencode", 200_000.0), Some(180_000.0));
        assert_eq!(trigger("opencode", 16_000.0), Some(8_000.0));
        assert_eq!(trigger("moryflow", 4000.0), trigger("", 4000.0));
        assert_eq!(trigger("nobody", 1.0), None);
    }

    #[test]
    fn a_larger_window_never_has_less() {
        for numbers in &PROFILES {
            let mut last = CompactionLimits::of_window(0.0, 0.0, 4096.0, numbers);
            for window in (0..60_000).step_by(7).map(f64::from) {
                let limits = CompactionLimits::of_window(window, 0.0, 4096.0, numbers);
                assert!(limits.usable >= last.usable && limits.cut >= last.cut, "{window}");
                last = limits;
            }
        }
    }
}
