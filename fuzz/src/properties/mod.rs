//! What must hold whatever comes in. Each takes any bytes, makes a case of them, and panics where the promise is broken.

pub mod capture;
pub mod config;
pub mod csv;
pub mod cut;
pub mod diff;
pub mod history;
mod input;
pub mod json;
pub mod names;
pub mod permission;
pub mod ranges;
mod rendered;
pub mod search;
pub mod smart;
pub mod terminal;
pub mod utf16;
