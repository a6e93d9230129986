//! The state machine of a recovery.
//!
//! The transitions are data: [`TRANSITIONS`] is the whole machine, and [`next`] only looks them up. A recovery
//! terminates, because every transition to a state with a step counts as an attempt, and without attempts only
//! [`State::Failed`] follows.

use serde::{Deserialize, Serialize};

/// The order of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Results first, which is local and instant; then compaction, which needs a model.
    CheapestFirst,
    /// Compaction first, as in the document.
    CompactionFirst,
}

/// The state of a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Initial state.
    Start,
    /// Limiting every single result.
    Oversized,
    /// Limiting all results together.
    Aggregate,
    /// Compaction by the caller.
    Compaction,
    /// Final: the request can be sent again.
    Retry,
    /// Final: nothing more can be done.
    Failed,
}

/// The outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// The history fits, by the estimate.
    Fits,
    /// It is smaller by enough to count, and does not fit.
    Smaller,
    /// There was nothing to do, or too little to count; the history is unchanged. In the initial state: it does not
    /// fit.
    Nothing,
    /// The result would separate a call from its result; the history is unchanged.
    Refused,
    /// The step failed; the history is unchanged.
    Error,
}

/// The condition of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Guard {
    Always,
    /// The caller can compact, compaction neither overflowed nor failed in this call, and attempts at it are left.
    CompactionLeft,
    /// Compaction was tried in this call, and results were not limited to the remaining room yet.
    LastResort,
    /// Results were not truncated since the recovery began.
    TruncationUntried,
}

/// One transition.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Transition {
    /// The order that it belongs to.
    pub order: Order,
    pub from: State,
    /// The outcomes that it applies to.
    pub on: &'static [Event],
    pub when: Guard,
    pub to: State,
    /// True if the count of compactions restarts.
    pub resets_compactions: bool,
    /// The reason for the transition.
    pub why: &'static str,
}

use Event::{Error, Fits, Nothing, Refused, Smaller};
use Guard::{Always, CompactionLeft, LastResort, TruncationUntried};
use Order::{CheapestFirst, CompactionFirst};
use State::{Aggregate, Compaction, Failed, Oversized, Retry, Start};

const NOT_FITTING: &[Event] = &[Smaller, Nothing, Refused, Error];
const FRUITLESS: &[Event] = &[Nothing, Refused, Error];

const fn row(
    order: Order,
    from: State,
    on: &'static [Event],
    when: Guard,
    to: State,
    why: &'static str,
) -> Transition {
    Transition { order, from, on, when, to, resets_compactions: false, why }
}

/// All transitions. The first that matches is taken.
pub static TRANSITIONS: &[Transition] = &[
    row(CheapestFirst, Start, &[Fits], Always, Retry, "the history fits already"),
    row(CheapestFirst, Start, FRUITLESS, Always, Oversized, "cutting is local and instant"),
    row(CheapestFirst, Oversized, &[Fits], Always, Retry, "single results were the cause"),
    row(
        CheapestFirst,
        Oversized,
        NOT_FITTING,
        Always,
        Aggregate,
        "many medium results can be the cause",
    ),
    row(CheapestFirst, Aggregate, &[Fits], Always, Retry, "the results together were the cause"),
    row(
        CheapestFirst,
        Aggregate,
        NOT_FITTING,
        CompactionLeft,
        Compaction,
        "the conversation itself is too long",
    ),
    row(
        CheapestFirst,
        Aggregate,
        NOT_FITTING,
        LastResort,
        Aggregate,
        "nothing else is left: results give as much as they can",
    ),
    row(CheapestFirst, Aggregate, NOT_FITTING, Always, Failed, "every step was tried"),
    row(CheapestFirst, Compaction, &[Fits], Always, Retry, "the conversation was the cause"),
    row(
        CheapestFirst,
        Compaction,
        NOT_FITTING,
        Always,
        Aggregate,
        "results give what compaction could not",
    ),
    row(CompactionFirst, Start, &[Fits], Always, Retry, "the history fits already"),
    row(
        CompactionFirst,
        Start,
        FRUITLESS,
        CompactionLeft,
        Compaction,
        "the document begins with compaction",
    ),
    row(
        CompactionFirst,
        Start,
        FRUITLESS,
        TruncationUntried,
        Oversized,
        "no compaction is left, or it was compaction that overflowed",
    ),
    row(CompactionFirst, Start, FRUITLESS, Always, Failed, "results are cut only once"),
    row(
        CompactionFirst,
        Compaction,
        &[Fits, Smaller],
        Always,
        Retry,
        "something was compacted; the provider says whether it is enough",
    ),
    row(
        CompactionFirst,
        Compaction,
        FRUITLESS,
        TruncationUntried,
        Oversized,
        "there was nothing to compact",
    ),
    row(CompactionFirst, Compaction, FRUITLESS, Always, Failed, "results are cut only once"),
    Transition {
        resets_compactions: true,
        ..row(
            CompactionFirst,
            Oversized,
            &[Fits, Smaller],
            Always,
            Retry,
            "results were cut; compactions are counted again, within the total",
        )
    },
    row(CompactionFirst, Oversized, FRUITLESS, Always, Failed, "no result is too long"),
];

/// The budget of a recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counters {
    /// Number of steps tried since the recovery began, whatever their outcome.
    pub attempts: u32,
    /// Maximum of `attempts`.
    pub max_attempts: u32,
    /// Number of compactions tried.
    pub compactions: u32,
    /// Maximum of `compactions`.
    pub max_compactions: u32,
    /// True if the caller can compact, and nothing speaks against trying.
    pub can_compact: bool,
    /// True if results were truncated since the recovery began.
    pub truncated: bool,
    /// True if results were limited to the remaining room, because compaction was not possible any more.
    pub squeezed: bool,
}

impl Counters {
    fn allow(&self, guard: Guard) -> bool {
        let compaction_left = self.can_compact && self.compactions < self.max_compactions;
        match guard {
            Always => true,
            CompactionLeft => compaction_left,
            LastResort => !compaction_left && !self.squeezed,
            TruncationUntried => !self.truncated,
        }
    }
}

/// Returns the transition from a state: none from a final state, and only to failure if no attempt is left.
pub fn next(
    order: Order,
    from: State,
    event: Event,
    counters: &Counters,
) -> Option<&'static Transition> {
    let matches = |row: &&Transition| {
        row.order == order
            && row.from == from
            && row.on.contains(&event)
            && counters.allow(row.when)
    };
    let acts = |state: State| !matches!(state, Retry | Failed);
    TRANSITIONS
        .iter()
        .find(matches)
        .filter(|row| counters.attempts < counters.max_attempts || !acts(row.to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EVENTS: [Event; 5] = [Fits, Smaller, Nothing, Refused, Error];

    #[test]
    fn no_state_is_without_a_way_out() {
        let counters = |can_compact, truncated, squeezed| Counters {
            attempts: 0,
            max_attempts: 8,
            compactions: 0,
            max_compactions: 3,
            can_compact,
            truncated,
            squeezed,
        };
        for order in [CheapestFirst, CompactionFirst] {
            let reachable = TRANSITIONS.iter().filter(|row| row.order == order).map(|row| row.from);
            for from in reachable {
                for event in EVENTS {
                    if from == Start && event == Smaller {
                        continue;
                    }
                    for bits in 0..8 {
                        let counters = counters(bits & 1 > 0, bits & 2 > 0, bits & 4 > 0);
                        assert!(
                            next(order, from, event, &counters).is_some(),
                            "{order:?} {from:?} {event:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn every_row_can_be_taken() {
        for (at, row) in TRANSITIONS.iter().enumerate() {
            let shadowed = TRANSITIONS[..at].iter().any(|before| {
                (before.order, before.from) == (row.order, row.from)
                    && before.when == Always
                    && row.on.iter().all(|event| before.on.contains(event))
            });
            assert!(!shadowed, "{row:?}");
        }
    }

    proptest! {
        #[test]
        fn every_path_ends_within_the_total(
            first: bool,
            events in prop::collection::vec(0usize..5, 60),
            max_attempts in 0u32..20,
            max_compactions in 0u32..9,
            can_compact: bool,
        ) {
            let order = if first { CheapestFirst } else { CompactionFirst };
            let mut counters = Counters {
                attempts: 0, max_attempts, compactions: 0, max_compactions, can_compact, truncated: false, squeezed: false,
            };
            let (mut state, mut steps) = (Start, 0);
            for event in events {
                let event = if state == Start && EVENTS[event] == Smaller { Nothing } else { EVENTS[event] };
                let Some(row) = next(order, state, event, &counters) else { state = Failed; break };
                state = row.to;
                if matches!(state, Retry | Failed) {
                    break;
                }
                counters.attempts += 1;
                steps += 1;
                match state {
                    Compaction => counters.compactions += 1,
                    _ => counters.truncated = true,
                }
                counters.squeezed |= state == Aggregate && !(can_compact && counters.compactions < max_compactions);
            }
            prop_assert!(matches!(state, Retry | Failed));
            prop_assert!(steps <= max_attempts);
        }
    }
}
