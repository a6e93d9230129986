//! Synchronous functions of a text.

use std::cell::RefCell;

use napi::bindgen_prelude::{Either, Uint8Array};
use napi::{Env, JsString};
use napi_derive::napi;
use spillway_core::text::lines::{self, LineRule};
use spillway_core::text::utf16;
use spillway_core::tokens::{Mode, of_units};
use spillway_core::truncation::{notice, test_run};
use spillway_core::util::size;

use crate::strings::{append_low_bytes, append_utf16};

/// Returns the version of the native module; the facade refuses one that is not its own.
#[napi(catch_unwind)]
pub fn native_version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

thread_local! {
    /// Kept between calls: new memory would cost as much as the copy into it.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Returns an upper bound of the number of line feeds of a text of `length` UTF-16 units, which is exact for Latin-1.
/// Counts low bytes, so that nothing is widened. For short texts: the memory of the longest is kept.
#[napi(catch_unwind)]
pub fn breaks_at_most(env: &Env, text: JsString<'_>, length: u32) -> napi::Result<f64> {
    SCRATCH.with_borrow_mut(|bytes| {
        bytes.clear();
        append_low_bytes(env, &text, length as usize, bytes)?;
        Ok(lines::breaks(bytes) as f64)
    })
}

/// Returns the number of bytes of a size such as `50k`, or nothing if it is not a size.
#[napi(catch_unwind)]
pub fn size_in_bytes(text: String) -> Option<f64> {
    size::bytes(&text).map(|bytes| bytes as f64)
}

/// Returns true if a text is within its limits. `Infinity` turns a limit off.
#[napi(catch_unwind)]
pub fn within(
    env: &Env,
    text: JsString<'_>,
    max_lines: f64,
    max_bytes: f64,
    max_tokens: f64,
    split: bool,
) -> napi::Result<bool> {
    let mut units = Vec::new();
    append_utf16(env, &text, &mut units)?;
    let measure = utf16::measure(&units);
    let rule = if split { LineRule::Split } else { LineRule::Terminated };
    let lines = rule.count(measure.breaks as u64, units.is_empty(), units.last() == Some(&0x0a));
    let allowed = lines as f64 <= max_lines && measure.bytes as f64 <= max_bytes;
    // Counting tokens takes longer than the other checks together.
    Ok(allowed && (max_tokens.is_infinite() || of_units(&units, Mode::Upper) as f64 <= max_tokens))
}

/// Returns true if a text contains a notice of Spillway; with `bare`, also for a line that replaces missing text.
#[napi(catch_unwind)]
pub fn contains_truncation_marker(text: String, bare: Option<bool>) -> bool {
    if bare == Some(true) {
        notice::contains_bare_marker(&text)
    } else {
        notice::contains_marker(&text)
    }
}

/// Returns the test run that a text is the output of, as JSON, or nothing if no known runner printed it.
#[napi(catch_unwind)]
pub fn test_run_of(
    #[napi(ts_arg_type = "string | Uint8Array")] text: Either<String, Uint8Array>,
) -> Option<String> {
    let run = match &text {
        Either::A(text) => test_run::read(text.as_bytes()),
        Either::B(bytes) => test_run::read(bytes),
    };
    run.and_then(|run| serde_json::to_string(&run).ok())
}

/// Returns true if a text is a preview of a test run that says that it names all of its failures.
#[napi(catch_unwind)]
pub fn names_all_failures(text: String, count: u32) -> bool {
    notice::names_all_failures(&text, u64::from(count))
}

/// Returns the lines of a text by the default rule, and its UTF-8 bytes, as `[lines, bytes]`.
#[napi(catch_unwind)]
pub fn measure(env: &Env, text: JsString<'_>) -> napi::Result<Vec<f64>> {
    let mut units = Vec::new();
    append_utf16(env, &text, &mut units)?;
    let measure = utf16::measure(&units);
    let lines = LineRule::Terminated.count(
        measure.breaks as u64,
        units.is_empty(),
        units.last() == Some(&0x0a),
    );
    Ok(vec![lines as f64, measure.bytes as f64])
}
