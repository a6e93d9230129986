//! Copies JavaScript strings with one raw copy, which is the cheapest way across the boundary.

use napi::bindgen_prelude::JsValue;
use napi::{Env, Error, JsString, Status, sys};

/// Appends the UTF-16 code units of `text` to `units`.
pub fn append_utf16(env: &Env, text: &JsString<'_>, units: &mut Vec<u16>) -> napi::Result<()> {
    let mut length = 0;
    // SAFETY: `env` and `text` are alive for the whole call, which runs on the JavaScript thread. A null buffer asks
    // for the length alone.
    check(unsafe {
        sys::napi_get_value_string_utf16(
            env.raw(),
            text.raw(),
            std::ptr::null_mut(),
            0,
            &mut length,
        )
    })?;
    let capacity = length + 1;
    let held = units.len();
    units
        .try_reserve(capacity)
        .map_err(|error| Error::new(Status::GenericFailure, error.to_string()))?;
    // SAFETY: `try_reserve` made room for `capacity` units after the `held` ones, the call writes at most `capacity`
    // including the final NUL, and reports in `length` how many it wrote without it; only those are counted in.
    unsafe {
        let end = units.as_mut_ptr().add(held);
        check(sys::napi_get_value_string_utf16(env.raw(), text.raw(), end, capacity, &mut length))?;
        units.set_len(held + length);
    }
    Ok(())
}

/// Appends the low byte of each unit of `text` to `bytes`, up to `limit` of them: the whole text if it holds only
/// Latin-1, for half the copying.
pub fn append_low_bytes(
    env: &Env,
    text: &JsString<'_>,
    limit: usize,
    bytes: &mut Vec<u8>,
) -> napi::Result<()> {
    let held = bytes.len();
    let capacity = limit + 1;
    bytes
        .try_reserve(capacity)
        .map_err(|error| Error::new(Status::GenericFailure, error.to_string()))?;
    let mut length = 0;
    // SAFETY: `env` and `text` are alive for the whole call, which runs on the JavaScript thread. `try_reserve` made
    // room for `capacity` bytes after the `held` ones, the call writes at most `capacity` including the final NUL, and
    // reports in `length` how many it wrote without it; only those are counted in.
    unsafe {
        let end = bytes.as_mut_ptr().add(held).cast();
        check(sys::napi_get_value_string_latin1(
            env.raw(),
            text.raw(),
            end,
            capacity,
            &mut length,
        ))?;
        bytes.set_len(held + length);
    }
    Ok(())
}

/// Splits concatenated texts by their lengths in units.
pub fn pieces<'a, T>(texts: &'a [T], lengths: &'a [u32]) -> impl Iterator<Item = &'a [T]> {
    let mut rest = texts;
    lengths.iter().map(move |&length| {
        let (text, after) = rest.split_at(rest.len().min(length as usize));
        rest = after;
        text
    })
}

fn check(status: sys::napi_status) -> napi::Result<()> {
    match Status::from(status) {
        Status::Ok => Ok(()),
        status => Err(Error::new(status, "reading a string failed")),
    }
}
