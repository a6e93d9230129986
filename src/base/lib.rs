//! The lowest layer of Spillway's core, which `spillway-core` re-exports: what a text is, how many tokens it has, what can go
//! wrong, and helpers. Nothing in here knows a room above it.
#![forbid(unsafe_code)]

#[path = "../error.rs"]
pub mod error;
#[path = "../text/mod.rs"]
pub mod text;
#[path = "../tokens/mod.rs"]
pub mod tokens;
#[path = "../util/mod.rs"]
pub mod util;
