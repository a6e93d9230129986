//! The core of Spillway: lets a coding agent take in any amount of tool output and keep its context small, without
//! losing a byte.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`text`] | what a text is: UTF-16 in, WTF-8 kept, lines, graphemes, what is shown |
//! | [`truncation`] | which part of a long text stays, and what the reader is told about the rest |
//! | [`capture`] | an output that comes in while it is made: held until it is too long, and the pipe of a command |
//! | [`storage`] | where full outputs are kept: saving, redacting, reading back, searching, retention |
//! | [`history`] | which results of tools a history can do without |
//! | [`loop_detection`] | whether an agent goes in circles |
//! | [`audit`] | what happened, in files that show when somebody changed them |
//! | [`permission`] | whether a call of a tool may run, must be asked for, or may not run |
//! | [`options`] | settings: what may be set where, and which layer wins |
//! | [`config`] | the configuration of a user: read, checked, put together, changed |
//! | [`tokens`] | how many tokens a text has, nearly |
//! | [`tools`] | the names that agents give their tools, and what kind of tool each is |
//! | [`json`] | members of JSON objects, and the canonical form of a value |
//! | [`util`] | sorting, hexadecimal digits, near misses of a name |
//! | [`error`] | what can go wrong, as stable codes |
//!
//! There is no Node in here: `src/node` converts, and TypeScript owns every JavaScript value.
#![forbid(unsafe_code)]
// Not a published interface: a comment is written where there is something to say.
#![allow(missing_docs)]

pub use spillway_base::{error, text, tokens, util};

pub mod audit;
pub mod capture;
pub mod config;
pub mod history;
pub mod json;
pub mod loop_detection;
pub mod options;
pub mod permission;
pub mod storage;
pub mod tools;
pub mod truncation;
