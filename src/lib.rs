//! The core of Spillway: lets a coding agent take in any amount of tool output and keep its context small, without
//! losing a byte.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`text`] | what a text is: UTF-16 in, WTF-8 kept, lines, graphemes, what is shown |
//! | [`truncate`] | which part of a long text stays, and what the reader is told about the rest |
//! | [`intake`] | one output on its way through: counted, kept at its ends, saved |
//! | [`capture`] | an output that comes in while it is made: held until it is too long, and the pipe of a command |
//! | [`store`] | where full outputs are kept: saving, redacting, reading back, searching, retention |
//! | [`history`] | which results of tools a history can do without |
//! | [`doom_loop`] | whether an agent goes in circles |
//! | [`audit`] | what happened, in files that show when somebody changed them |
//! | [`canonical`] | JSON in one form, so that equal values give equal bytes |
//! | [`permission`] | whether a call of a tool may run, must be asked for, or may not run |
//! | [`config`] | settings: what may be set where, and which layer wins |
//! | [`config_file`] | the configuration of a user: read, checked, put together, changed |
//! | [`tokens`] | how many tokens a text has, nearly |
//! | [`tool_names`] | what tools are for, by the names that agents give them |
//! | [`suggest`] | what somebody who misspelt a name probably meant |
//! | [`error`] | what can go wrong, as stable codes |
//!
//! There is no Node in here: `src/node` converts, and TypeScript owns every JavaScript value.
#![forbid(unsafe_code)]

pub mod audit;
pub mod canonical;
pub mod capture;
pub mod config;
pub mod config_file;
pub mod doom_loop;
pub mod error;
mod hex;
pub mod history;
pub mod intake;
pub mod order;
pub mod permission;
pub mod store;
pub mod suggest;
pub mod text;
pub mod tokens;
pub mod tool_names;
pub mod truncate;
