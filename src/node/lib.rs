//! The Node-API binding of Spillway.
//!
//! One small file per module of the core. A function here converts its arguments, asks the core, and converts the
//! answer; it decides nothing and calls no JavaScript. Every export catches panics: a fault becomes an error of the
//! call, never the end of the host process.

pub mod audit;
pub mod capture;
pub mod compact;
pub mod config;
pub mod error;
pub mod history;
pub mod intake;
mod json;
mod lock;
pub mod loop_detection;
pub mod options;
pub mod overflow;
pub mod pairs;
pub mod permission;
pub mod prune;
pub mod read_back;
pub mod storage;
pub mod strings;
pub mod task;
pub mod text;
pub mod tokens;

/// A panic becomes an error of its call, or an answer that asks; printing it as well would put lines into the host's
/// terminal that nobody can act on. `NODE_DEBUG=spillway` shows where it was.
#[napi_derive::module_init]
fn report_panics_to_who_asks() {
    let show = std::panic::take_hook();
    let asked =
        std::env::var("NODE_DEBUG").is_ok_and(|names| names.to_lowercase().contains("spillway"));
    std::panic::set_hook(Box::new(move |panic| {
        if asked {
            show(panic);
        }
    }));
}
