//! Bindings of token estimates.

use std::cell::RefCell;

use napi::bindgen_prelude::Uint32ArraySlice;
use napi::{Env, JsString};
use napi_derive::napi;
use spillway_core::tokens::{Mode, factor, of_latin1, of_units};

use crate::strings::{append_low_bytes, append_utf16, pieces};

thread_local! {
    /// Kept between calls: new memory would cost as much as the copy into it.
    static LATIN1: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Maximum size of the memory kept, in bytes.
const KEPT: usize = 1024 * 1024;

/// Returns the tokens of a text. `latin1` promises that no unit is above 0xff.
#[napi(catch_unwind)]
pub fn text_tokens(env: &Env, text: JsString<'_>, latin1: bool, upper: bool) -> napi::Result<f64> {
    let mode = mode(upper);
    if !latin1 {
        let mut units = Vec::new();
        append_utf16(env, &text, &mut units)?;
        return Ok(of_units(&units, mode) as f64);
    }
    LATIN1.with_borrow_mut(|bytes| {
        bytes.clear();
        append_low_bytes(env, &text, text.latin1_len()?, bytes)?;
        let tokens = of_latin1(bytes, mode);
        bytes.clear();
        bytes.shrink_to(KEPT);
        Ok(tokens as f64)
    })
}

/// Returns the tokens of each of many texts, which are concatenated to one string; `lengths` has their lengths in
/// UTF-16 units. The tokens of the longest possible string fit 32 bits. `latin1` promises that no unit is above 0xff.
/// The array is made here, because writes of a native module to an array of the caller are lost in Bun before 1.4.
#[napi(catch_unwind, ts_return_type = "Uint32Array")]
pub fn texts_tokens<'env>(
    env: &'env Env,
    texts: JsString<'_>,
    lengths: &[u32],
    latin1: bool,
    upper: bool,
) -> napi::Result<Uint32ArraySlice<'env>> {
    let mode = mode(upper);
    let tokens: Vec<u32> = if latin1 {
        LATIN1.with_borrow_mut(|bytes| {
            bytes.clear();
            append_low_bytes(env, &texts, texts.latin1_len()?, bytes)?;
            let tokens = pieces(bytes, lengths).map(|text| of_latin1(text, mode) as u32).collect();
            bytes.clear();
            bytes.shrink_to(KEPT);
            napi::Result::Ok(tokens)
        })?
    } else {
        let mut units = Vec::new();
        append_utf16(env, &texts, &mut units)?;
        pieces(&units, lengths).map(|text| of_units(text, mode) as u32).collect()
    };
    Uint32ArraySlice::copy_from(env, tokens)
}

/// Returns the factor that real counts suggest for estimates.
#[napi(catch_unwind)]
pub fn calibration_factor(estimated: Vec<f64>, actual: Vec<f64>) -> f64 {
    factor(&estimated, &actual)
}

fn mode(upper: bool) -> Mode {
    if upper { Mode::Upper } else { Mode::Typical }
}
