//! Loop detection: whether an agent repeats itself without progress.
//!
//! The detector checks a call before it runs, and its outcome is recorded afterwards. It reads no clock and calls no
//! other component: the same calls give the same answers.
//!
//! | module | contents |
//! | --- | --- |
//! | [`detector`] | one run: its counts, its questions, its approvals |
//! | [`signature`] | the identity of calls and of results |
//! | [`call_effect`] | the effect of a call: reads, changes or waits |
//! | [`errors`] | recognizing errors by the text of a result |
//! | [`call_history`] | the loops in the last calls |
//! | [`repeated_replies`] | loops without calls: the same exchange of messages |
//! | [`repetition`] | a passage that one answer repeats |
//! | [`rules`] | the numbers, and those of each profile |
//! | [`messages`] | messages for users and models |
//!
//! ```
//! use spillway_core::loop_detection::detector::{Action, Detector};
//! use spillway_core::loop_detection::rules::LoopRules;
//!
//! let mut detector = Detector::new(LoopRules::default());
//! let action = (0..10)
//!     .map(|turn| {
//!         let id = format!("call-{turn}");
//!         let action = detector.check(&id, "read_file", r#"{"path": "a.txt"}"#, None, None).action;
//!         detector.record(&id, "the same content", None);
//!         action
//!     })
//!     .find(|action| *action != Action::Allow);
//! assert_eq!(action, Some(Action::Ask));
//! ```

pub mod call_effect;
pub mod call_history;
pub mod detector;
pub mod errors;
pub mod messages;
pub mod repeated_replies;
pub mod repetition;
pub mod rules;
pub mod signature;
