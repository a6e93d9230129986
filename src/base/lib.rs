//! The lowest layer of Spillway's core, which `spillway-core` re-exports: text, token estimates, errors and helpers.
//! Nothing in here depends on a module above it.
#![forbid(unsafe_code)]
// Not a published interface: a comment is written where there is something to say.
#![allow(missing_docs)]

#[path = "../error.rs"]
pub mod error;
#[path = "../text/mod.rs"]
pub mod text;
#[path = "../tokens/mod.rs"]
pub mod tokens;
#[path = "../util/mod.rs"]
pub mod util;
