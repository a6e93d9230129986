//! Previews that keep what a developer would look for: errors and what explains them, sums and exits, the two ends.
//!
//! While the text streams by, [`scan`] judges its lines by the rules of [`table`] and remembers the ones that matter and
//! what stands around them, in bounded memory. At the end [`select`] chooses, within the budget, and [`layout`] writes the
//! chosen lines in their order with the exact gap at every cut.

mod layout;
pub mod rules;
pub mod scan;
mod select;
pub mod table;
pub(super) mod template;

use serde::{Deserialize, Serialize};

use crate::tool_names::{self, Kind};

pub use layout::{Selection, preview};

/// What of a text is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// One end or both, as the direction says.
    #[default]
    Ends,
    /// What matters, and both ends; the later end more than the first. For commands, builds and tests.
    SmartLate,
    /// What matters, and both ends; the start more than the end. For files and search results.
    SmartEarly,
    /// Of JSON what keeps it JSON; of anything else as [`Keep::SmartLate`].
    JsonLate,
    /// Of JSON what keeps it JSON; of anything else as [`Keep::SmartEarly`].
    JsonEarly,
}

impl Keep {
    /// What `smart` keeps of the output of a tool.
    pub fn smart(tool: &str) -> Self {
        match tool_names::kind(tool) {
            Some(Kind::Read | Kind::Search) => Keep::SmartEarly,
            _ => Keep::SmartLate,
        }
    }

    /// What `json` keeps of the output of a tool.
    pub fn json(tool: &str) -> Self {
        if Keep::smart(tool) == Keep::SmartEarly { Keep::JsonEarly } else { Keep::JsonLate }
    }

    /// Whether JSON is to stay JSON.
    pub fn is_json(self) -> bool {
        matches!(self, Keep::JsonLate | Keep::JsonEarly)
    }

    /// Whether the start counts more than the end.
    fn is_early(self) -> bool {
        matches!(self, Keep::SmartEarly | Keep::JsonEarly)
    }

    /// Whether it is one of `smart`, which is what becomes of JSON that is none.
    pub fn is_smart(self) -> bool {
        self != Keep::Ends
    }

    /// Shares of the budget in percent that the head and the tail get before anything else.
    fn reserved(self) -> (u64, u64) {
        if self.is_early() { (50, 12) } else { (8, 22) }
    }

    /// The head's share in percent of what is left when all that matters is in.
    fn head_share(self) -> u64 {
        if self.is_early() { 60 } else { 30 }
    }
}
