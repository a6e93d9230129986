//! Reading saved outputs back, and sweeping them.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use napi::bindgen_prelude::{AsyncTask, External, Utf16String};
use napi_derive::napi;
use spillway_core::store::places::{Durability, Places};
use spillway_core::store::read::{Reader, owns};
use spillway_core::store::retention;

use crate::task::{Job, run};

/// A saved output that is being read.
pub type ReaderHandle = External<Arc<Mutex<LazyReader>>>;

/// Opened with the first piece, because opening may wait for the disk.
pub struct LazyReader {
    dirs: Vec<String>,
    path: String,
    reader: Option<Reader>,
}

/// Bytes of a piece: a string of this size is made well within a frame of the event loop.
const PIECE_BYTES: usize = 512 * 1024;

/// The folders that a store uses, in order; without any asked for, the default ones.
#[napi(catch_unwind)]
pub fn store_dirs(asked: Vec<String>) -> Vec<String> {
    places(&asked).dirs.iter().map(|dir| dir.display().to_string()).collect()
}

/// Whether a path is that of an output of these folders.
#[napi(catch_unwind)]
pub fn store_owns(dirs: Vec<String>, path: String) -> bool {
    owns(&places(&dirs), Path::new(&path))
}

/// Prepares to read a saved output.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn reader_open(dirs: Vec<String>, path: String) -> ReaderHandle {
    External::new(Arc::new(Mutex::new(LazyReader { dirs, path, reader: None })))
}

/// The next piece of it; nothing at the end.
#[napi(catch_unwind, ts_return_type = "Promise<string | null>")]
pub fn reader_next(
    #[napi(ts_arg_type = "object")] reader: &ReaderHandle,
) -> AsyncTask<Job<Option<Utf16String>>> {
    let reader = Arc::clone(reader);
    run(move || {
        let mut lazy = reader.lock().unwrap_or_else(PoisonError::into_inner);
        let LazyReader { dirs, path, reader } = &mut *lazy;
        let reader = match reader {
            Some(reader) => reader,
            None => reader.insert(Reader::open(&places(dirs), path)?),
        };
        Ok(reader.next_piece(PIECE_BYTES)?.map(Utf16String::from))
    })
}

/// Removes outputs that are older than so many days and answers how many.
#[napi(catch_unwind, ts_return_type = "Promise<number>")]
pub fn store_cleanup(dirs: Vec<String>, retention_days: f64, now_ms: f64) -> AsyncTask<Job<f64>> {
    run(move || Ok(retention::cleanup(&places(&dirs), retention_days, now_ms as i64) as f64))
}

fn places(dirs: &[String]) -> Places {
    Places::new(dirs, Durability::Process)
}
