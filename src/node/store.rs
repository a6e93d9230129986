//! Reading saved outputs back, and sweeping them.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use napi::bindgen_prelude::{AsyncTask, External, Utf16String};
use napi_derive::napi;
use spillway_core::store::inventory::{delete_session, usage};
use spillway_core::store::names;
use spillway_core::store::opened::OpenStore;
use spillway_core::store::places::{Durability, Places};
use spillway_core::store::read::{Reader, owns};
use spillway_core::store::retention;
use spillway_core::store::sweep::{Bounds, sweep};

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
pub(crate) const PIECE_BYTES: usize = 512 * 1024;

/// An open store.
pub type StoreHandle = External<Arc<OpenStore>>;

/// Opens a store of these folders; the disk is not touched.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn store_open(dirs: Vec<String>) -> StoreHandle {
    External::new(Arc::new(OpenStore::new(places(&dirs))))
}

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

/// A reader of bytes in memory.
pub(crate) fn reader_over(bytes: Vec<u8>) -> ReaderHandle {
    let reader = Some(Reader::over(bytes));
    External::new(Arc::new(Mutex::new(LazyReader {
        dirs: Vec::new(),
        path: String::new(),
        reader,
    })))
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
pub fn store_cleanup(
    #[napi(ts_arg_type = "object")] store: &StoreHandle,
    retention_days: f64,
    now_ms: f64,
) -> AsyncTask<Job<f64>> {
    let store = Arc::clone(store);
    run(move || Ok(retention::cleanup(&store, retention_days, now_ms as i64) as f64))
}

/// Keeps a store within its bounds and reports what it did, as JSON.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn store_sweep(
    #[napi(ts_arg_type = "object")] store: &StoreHandle,
    retention_days: f64,
    max_bytes: f64,
    max_files: f64,
    now_ms: f64,
) -> AsyncTask<Job<String>> {
    let store = Arc::clone(store);
    let bounds =
        Bounds { retention_days, max_bytes: max_bytes as u64, max_files: max_files as u64 };
    run(move || Ok(json(&sweep(&store, &bounds, now_ms as i64))))
}

/// How much a store holds, as JSON.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn store_usage(#[napi(ts_arg_type = "object")] store: &StoreHandle) -> AsyncTask<Job<String>> {
    let store = Arc::clone(store);
    run(move || Ok(json(&usage(&store.places))))
}

/// Removes all outputs of a session and answers how many there were.
#[napi(catch_unwind, ts_return_type = "Promise<number>")]
pub fn store_delete_session(
    #[napi(ts_arg_type = "object")] store: &StoreHandle,
    session: Utf16String,
) -> AsyncTask<Job<f64>> {
    let store = Arc::clone(store);
    run(move || Ok(delete_session(&store, &session) as f64))
}

/// The name of the folder of a session.
#[napi(catch_unwind)]
pub fn session_folder(session: Utf16String) -> String {
    names::session(&session)
}

/// Gives back what a store holds.
#[napi(catch_unwind)]
pub fn store_close(#[napi(ts_arg_type = "object")] store: &StoreHandle) {
    store.leases.release_all();
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn places(dirs: &[String]) -> Places {
    Places::new(dirs, Durability::Process)
}
