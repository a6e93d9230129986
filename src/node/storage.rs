//! Bindings of the storage: reading outputs, listing, sweeping.

use std::path::Path;
use std::sync::{Arc, Mutex};

use napi::bindgen_prelude::{AsyncTask, External, Utf16String};
use napi_derive::napi;
use spillway_core::fs::file_names;
use spillway_core::storage::bounds::{Bounds, Candidate, RemovalReason};
use spillway_core::storage::directories;
use spillway_core::storage::inventory::{delete_session, list, remove, usage};
use spillway_core::storage::open_store::OpenStore;
use spillway_core::storage::read::{Reader, owns};
use spillway_core::storage::sweep::{SweepTrigger, sweep};
use spillway_core::util::sync::lock;

use crate::error::{Result, from_core};
use crate::json::json;
use crate::options::{SettingsHandle, lock as lock_settings};
use crate::task::{Job, run};

/// The name of the folder for the outputs of a project.
#[napi]
pub const PROJECT_DIR: &str = directories::PROJECT_DIR;

/// A saved output that is being read.
pub type ReaderHandle = External<Arc<Mutex<LazyReader>>>;

/// A reader that is opened with the first piece, because opening may wait for the disk.
pub enum LazyReader {
    /// Requested, not opened yet.
    Asked(Arc<OpenStore>, String),
    /// Opened.
    Open(Reader),
}

/// Length of a piece in bytes: a string of this size is made well within a frame of the event loop.
pub(crate) const PIECE_BYTES: usize = 512 * 1024;

/// An open store.
pub type StoreHandle = External<Arc<OpenStore>>;

/// Opens a store with the given settings, without accessing the disk.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn store_open(#[napi(ts_arg_type = "object")] settings: &SettingsHandle) -> StoreHandle {
    let settings = lock_settings(settings);
    let auto_sweep = settings.sweeps_on_save().then(|| settings.bounds());
    External::new(Arc::new(OpenStore::within(settings.places(), auto_sweep)))
}

/// Returns the directories of a store, in order of preference.
#[napi(catch_unwind)]
pub fn store_dirs(#[napi(ts_arg_type = "object")] store: &StoreHandle) -> Vec<String> {
    store.places.dirs.iter().map(|dir| dir.path().display().to_string()).collect()
}

/// Returns true if a path is that of an output of a store.
#[napi(catch_unwind)]
pub fn store_owns(#[napi(ts_arg_type = "object")] store: &StoreHandle, path: String) -> bool {
    owns(&store.places, Path::new(&path))
}

/// Prepares to read a saved output.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn reader_open(
    #[napi(ts_arg_type = "object")] store: &StoreHandle,
    path: String,
) -> ReaderHandle {
    let store = Arc::clone(store);
    External::new(Arc::new(Mutex::new(LazyReader::Asked(store, path))))
}

/// Prepares to read bytes in memory as an output.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn reader_of_bytes(bytes: &[u8]) -> ReaderHandle {
    reader_over(bytes.to_vec())
}

/// Returns a reader of bytes in memory.
pub(crate) fn reader_over(bytes: Vec<u8>) -> ReaderHandle {
    External::new(Arc::new(Mutex::new(LazyReader::Open(Reader::over(bytes)))))
}

/// Reads the next piece; resolves to nothing at the end.
#[napi(catch_unwind, ts_return_type = "Promise<string | null>")]
pub fn reader_next(
    #[napi(ts_arg_type = "object")] reader: &ReaderHandle,
) -> AsyncTask<Job<Option<Utf16String>>> {
    let reader = Arc::clone(reader);
    run(move || {
        let mut lazy = lock(&reader);
        if let LazyReader::Asked(store, path) = &*lazy {
            *lazy = LazyReader::Open(Reader::open(&store.places, path)?);
        }
        let LazyReader::Open(reader) = &mut *lazy else { return Ok(None) };
        Ok(reader.next_piece(PIECE_BYTES)?.map(Utf16String::from))
    })
}

/// Removes outputs older than a number of days, and resolves to how many were removed.
#[napi(catch_unwind, ts_return_type = "Promise<number>")]
pub fn store_cleanup(
    #[napi(ts_arg_type = "object")] store: &StoreHandle,
    retention_days: f64,
    now_ms: f64,
) -> AsyncTask<Job<f64>> {
    let store = Arc::clone(store);
    run(move || {
        store.auto_sweep.settle();
        let trigger = SweepTrigger::Requested(now_ms as i64);
        Ok(sweep(&store, &Bounds::of_age(retention_days), trigger).removed_files as f64)
    })
}

/// Sweeps a store to stay within its limits, and resolves to the report as JSON.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn store_sweep(
    #[napi(ts_arg_type = "object")] store: &StoreHandle,
    retention_days: f64,
    max_bytes: f64,
    max_files: f64,
    now_ms: f64,
    dry_run: bool,
) -> AsyncTask<Job<String>> {
    let store = Arc::clone(store);
    let trigger = if dry_run {
        SweepTrigger::DryRun(now_ms as i64)
    } else {
        SweepTrigger::Requested(now_ms as i64)
    };
    let bounds =
        Bounds { retention_days, max_bytes: max_bytes as u64, max_files: max_files as u64 };
    run(move || {
        store.auto_sweep.settle();
        Ok(json(&sweep(&store, &bounds, trigger)))
    })
}

/// Selects the outputs in memory to remove, given their dates and sizes: their indexes and reasons, as JSON.
#[napi(catch_unwind)]
pub fn bounds_apply(
    modified_ms: Vec<f64>,
    bytes: Vec<f64>,
    retention_days: f64,
    max_bytes: f64,
    max_files: f64,
    now_ms: f64,
) -> String {
    let candidate = |(modified_ms, bytes): (f64, f64)| Candidate {
        modified_ms: modified_ms as i64,
        bytes: bytes as u64,
        leased: false,
        stays: false,
    };
    let candidates: Vec<Candidate> = modified_ms.into_iter().zip(bytes).map(candidate).collect();
    let bounds =
        Bounds { retention_days, max_bytes: max_bytes as u64, max_files: max_files as u64 };
    let mut gone: Vec<(usize, RemovalReason)> = Vec::new();
    bounds.apply(&candidates, now_ms as i64, |index, reason| {
        gone.push((index, reason));
        true
    });
    json(&gone)
}

/// Returns the usage of a store as JSON.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn store_usage(#[napi(ts_arg_type = "object")] store: &StoreHandle) -> AsyncTask<Job<String>> {
    let store = Arc::clone(store);
    run(move || Ok(json(&usage(&store))))
}

/// Lists the outputs of a store, or of one session in it, newest first, as JSON.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn store_list(
    #[napi(ts_arg_type = "object")] store: &StoreHandle,
    session: Option<Utf16String>,
) -> AsyncTask<Job<String>> {
    let store = Arc::clone(store);
    run(move || Ok(json(&list(&store, session.as_deref()))))
}

/// Removes one output, and resolves to whether it existed.
#[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
pub fn store_remove(
    #[napi(ts_arg_type = "object")] store: &StoreHandle,
    path: String,
) -> AsyncTask<Job<bool>> {
    let store = Arc::clone(store);
    run(move || remove(&store, &path))
}

/// Removes all outputs of a session, and resolves to how many there were.
#[napi(catch_unwind, ts_return_type = "Promise<number>")]
pub fn store_delete_session(
    #[napi(ts_arg_type = "object")] store: &StoreHandle,
    session: Utf16String,
) -> AsyncTask<Job<f64>> {
    let store = Arc::clone(store);
    run(move || Ok(delete_session(&store, &session)? as f64))
}

/// Returns a name for a new output of a tool, or for a part of one.
#[napi(catch_unwind)]
pub fn output_name(tool: String, now_ms: f64, is_partial: bool) -> Result<String> {
    file_names::output(&file_names::slug(&tool), now_ms as u64, is_partial).map_err(from_core)
}

/// Returns the name of the folder of a session.
#[napi(catch_unwind)]
pub fn session_folder(session: Utf16String) -> String {
    file_names::session(&session)
}

/// Waits for the sweep in progress, and releases the resources of a store.
#[napi(catch_unwind, ts_return_type = "Promise<void>")]
pub fn store_close(#[napi(ts_arg_type = "object")] store: &StoreHandle) -> AsyncTask<Job<()>> {
    let store = Arc::clone(store);
    run(move || {
        store.auto_sweep.settle();
        store.leases.release_all();
        Ok(())
    })
}
