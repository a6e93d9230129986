//! When a history is too long, and how much of it may stay; the numbers of each profile.

use serde::Serialize;

/// How a text is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// By script and format, with what a message takes beside its text.
    Estimate,
    /// Four UTF-16 units are a token, and nothing else counts.
    Quarters,
}

/// The numbers of one agent.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Numbers {
    /// Whose they are.
    #[serde(skip)]
    pub name: &'static str,
    /// Compaction begins at this share of what is usable.
    pub trigger_share: f64,
    /// It begins when exactly so much is used, too.
    pub inclusive: bool,
    /// Tokens that an answer gets at most,
    pub answer_tokens: f64,
    /// and the share of the window that it gets at most.
    pub answer_share: f64,
    /// So many UTF-16 units are too many where nobody knows the window; `None`: never.
    pub max_chars: Option<f64>,
    /// So many of the newest turns are protected.
    pub recent_turns: u32,
    /// The newest outputs before them stay as long as they have no more tokens than this together.
    pub protect_output_tokens: f64,
    /// Outputs go only if they have more tokens than this together.
    pub min_output_tokens: f64,
    /// Outputs of these tools stay.
    pub protected_tools: &'static [&'static str],
    /// What stands for an output that went; `None`: the pruner's words.
    pub placeholder: Option<&'static str>,
    /// How texts are measured.
    pub measure: Measure,
}

/// The decision record's numbers.
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

/// All profiles; the first is what holds without one.
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
        // Its reserve is the same for every window; of a small one it would leave nothing.
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

/// The numbers of a profile; those of the document for the empty name.
pub fn numbers(name: &str) -> Option<&'static Numbers> {
    PROFILES.iter().find(|numbers| numbers.name == name)
}

impl Numbers {
    /// What a window has room for beside an answer and what is reserved: below 0 if there is not even room for these.
    pub fn room(&self, window: f64, reserved: f64) -> f64 {
        window - self.answer_tokens.min((self.answer_share * window).floor()) - reserved
    }
}

/// What a summary may have of what is usable.
const SUMMARY_SHARE: f64 = 0.15;

/// So much of that is room enough for one, where turns stay whole in exchange.
const LEAST_OF_SUMMARY: f64 = 2.0 / 3.0;

/// What stays when the newest turn has to be cut: a history that is full again after the next answer would be cut at every answer.
const CUT_SHARE: f64 = 0.5;

/// The sizes that decide, in tokens, or in UTF-16 units where nobody knows the window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Compaction begins above.
    pub trigger: f64,
    /// Nothing may be larger; protected turns are whole as long as they fit into this.
    pub usable: f64,
    /// What stays when the newest turn has to be cut.
    pub cut: f64,
    /// What a summary may have.
    pub summary: f64,
}

impl Limits {
    /// For a window. Never less than 1, so that a window that is all reserved is one that is full.
    pub fn of_window(window: f64, reserved: f64, summary: f64, numbers: &Numbers) -> Limits {
        Limits::of(numbers.room(window, reserved).max(1.0), numbers.trigger_share, summary)
    }

    /// Where nobody knows the window.
    pub fn of_chars(chars: f64, summary: f64, numbers: &Numbers) -> Limits {
        let share = numbers.trigger_share;
        Limits { trigger: chars, ..Limits::of((chars / share).max(1.0), share, summary) }
    }

    /// For a size that the caller asks for.
    pub fn of_target(target: f64, summary: f64) -> Limits {
        Limits::of(target.max(1.0), 1.0, summary)
    }

    fn of(usable: f64, share: f64, summary: f64) -> Limits {
        Limits {
            trigger: usable * share,
            usable,
            cut: usable * CUT_SHARE.min(share),
            summary: summary.min(usable * SUMMARY_SHARE),
        }
    }

    /// What a summary needs at least.
    pub fn least_summary(&self) -> f64 {
        self.summary * LEAST_OF_SUMMARY
    }

    /// Whether this is too much.
    pub fn is_over(&self, size: f64, inclusive: bool) -> bool {
        size > self.trigger || (inclusive && size >= self.trigger)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_numbers() {
        let limits = Limits::of_window(4000.0, 0.0, 4096.0, &DOCUMENT);
        assert_eq!((limits.usable, limits.trigger), (3200.0, 2560.0));
        assert!(!limits.is_over(2560.0, false) && limits.is_over(2560.25, false));
        let large = Limits::of_window(200_000.0, 10_000.0, 4096.0, &DOCUMENT);
        assert_eq!((large.usable, large.summary), (185_904.0, 4096.0));
        assert_eq!(Limits::of_chars(120_000.0, 1e9, &DOCUMENT).trigger, 120_000.0);
        assert_eq!(Limits::of_window(100.0, 1000.0, 0.0, &DOCUMENT).usable, 1.0);
    }

    #[test]
    fn each_profile_has_its_trigger() {
        let trigger = |name: &str, window: f64| {
            numbers(name).map(|numbers| Limits::of_window(window, 0.0, 0.0, numbers).trigger)
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
            let mut last = Limits::of_window(0.0, 0.0, 4096.0, numbers);
            for window in (0..60_000).step_by(7).map(f64::from) {
                let limits = Limits::of_window(window, 0.0, 4096.0, numbers);
                assert!(limits.usable >= last.usable && limits.cut >= last.cut, "{window}");
                last = limits;
            }
        }
    }
}
