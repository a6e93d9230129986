//! The core of Spillway: lets a coding agent take in any amount of tool output and keep its context small, without
//! losing a byte.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`text`] | what a text is: UTF-16 in, WTF-8 kept, lines, graphemes, what is shown |
//! | [`truncate`] | which part of a long text stays, and what the reader is told about the rest |
//! | [`intake`] | one output on its way through: counted, kept at its ends, saved |
//! | [`capture`] | an output that comes in while it is made: held until it is too long, and the pipe of a command |
//! | [`store`] | where full outputs are kept: saving, reading back, retention |
//! | [`history`] | which results of tools a history can do without |
//! | [`config`] | settings: what may be set where, and which layer wins |
//! | [`tool_names`] | what tools are for, by the names that agents give them |
//! | [`suggest`] | what somebody who misspelt a name probably meant |
//! | [`error`] | what can go wrong, as stable codes |
//!
//! There is no Node in here: `src/node` converts, and TypeScript owns every JavaScript value.
#![forbid(unsafe_code)]

pub mod capture;
pub mod config;
pub mod error;
pub mod history;
pub mod intake;
pub mod store;
pub mod suggest;
pub mod text;
pub mod tool_names;
pub mod truncate;
