//! Properties that hold for any input. Each takes any bytes, builds a case from them, and panics if the property does
//! not hold.

pub mod capture;
pub mod config;
pub mod csv;
pub mod cut;
pub mod diff;
pub mod history;
mod input;
pub mod json;
mod json_part;
pub mod names;
pub mod permission;
pub mod ranges;
pub mod redact;
mod rendered;
pub mod search;
pub mod smart;
pub mod terminal;
pub mod utf16;
