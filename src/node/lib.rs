//! The Node-API binding of Spillway.
//!
//! There is one small file per module of the core. A function here converts its arguments, calls the core, and converts
//! the result; it decides nothing and calls no JavaScript. Every export catches panics: a bug becomes an error of the
//! call, never the end of the host process.

pub mod audit;
pub mod capture;
pub mod compact;
pub mod config;
pub mod deadline;
pub mod error;
pub mod fold;
pub mod history;
pub mod intake;
mod intake_stages;
mod json;
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

/// Silences the panic hook: a panic becomes an error of its call, and printing it too would put lines into the host's
/// terminal that its user cannot act on. `NODE_DEBUG=spillway` prints its location.
#[napi_derive::module_init]
fn report_panics_on_request() {
    let show = std::panic::take_hook();
    let asked =
        std::env::var("NODE_DEBUG").is_ok_and(|names| names.to_lowercase().contains("spillway"));
    std::panic::set_hook(Box::new(move |panic| {
        if asked {
            show(panic);
        }
    }));
}
