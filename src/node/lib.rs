//! The Node-API binding of Spillway.
//!
//! One small file per module of the core. A function here converts its arguments, asks the core, and converts the
//! answer; it decides nothing and calls no JavaScript. Every export catches panics: a fault becomes an error of the
//! call, never the end of the host process.

pub mod capture;
pub mod config;
pub mod error;
pub mod history;
pub mod intake;
pub mod read_back;
pub mod store;
pub mod strings;
pub mod task;
pub mod text;
