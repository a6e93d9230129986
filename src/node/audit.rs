//! Bindings of the audit log.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use napi::bindgen_prelude::{AsyncTask, External};
use napi_derive::napi;
use serde_json::{Map, Value};
use spillway_core::audit::log::Log;
use spillway_core::audit::options;
use spillway_core::audit::record::Sealer;
use spillway_core::audit::verify::Verifier;
use spillway_core::error::{Code, Error};
use spillway_core::util::sync::lock;

use crate::error::{Result, from_core};
use crate::json::{json, parse};
use crate::task::{Job, run};

/// The log of a session.
pub type AuditHandle = External<Arc<Mutex<Log>>>;

/// A verification in progress.
pub type VerifierHandle = External<Arc<Mutex<Option<Verifier>>>>;

/// Prepares a log without accessing the disk. `options` is JSON.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn audit_open(options: String) -> Result<AuditHandle> {
    let options: Value = parse(&options)?;
    let log = Log::new(options::read(&options).map_err(from_core)?).map_err(from_core)?;
    Ok(External::new(Arc::new(Mutex::new(log))))
}

/// Returns the path of the file that records are appended to.
#[napi(catch_unwind)]
pub fn audit_path(#[napi(ts_arg_type = "object")] log: &AuditHandle) -> String {
    lock(log).path().display().to_string()
}

/// Appends events, each a JSON object, and returns a receipt for each, as JSON. `dropped` is the number of events lost
/// before.
#[napi(catch_unwind, ts_return_type = "Promise<string>")]
pub fn audit_append(
    #[napi(ts_arg_type = "object")] log: &AuditHandle,
    events: Vec<String>,
    now_ms: f64,
    dropped: f64,
) -> AsyncTask<Job<String>> {
    let log = Arc::clone(log);
    run(move || {
        let events: std::result::Result<Vec<Map<String, Value>>, _> =
            events.iter().map(|event| serde_json::from_str(event)).collect();
        let mut log = lock(&log);
        log.drop_events(dropped as u64);
        let events = events.map_err(|error| {
            Error::new(Code::Internal, format!("the facade sent bad JSON: {error}"))
        })?;
        let receipts = log.append(events, now_ms as u64)?;
        Ok(json(&receipts))
    })
}

/// Opens a log for verification. `key` is hexadecimal; `heads` are hashes that must occur in it.
#[napi(catch_unwind, ts_return_type = "Promise<void>")]
pub fn audit_verify_open(
    #[napi(ts_arg_type = "object")] verifier: &VerifierHandle,
    file: String,
    key: Option<String>,
    heads: Vec<String>,
) -> AsyncTask<Job<()>> {
    let verifier = Arc::clone(verifier);
    run(move || {
        let sealer = Sealer::new(key.map(|key| options::key(&key)).transpose()?);
        let heads: BTreeSet<String> = heads.into_iter().collect();
        *lock(&verifier) = Some(Verifier::open(Path::new(&file), sealer, heads)?);
        Ok(())
    })
}

/// Creates the handle that `auditVerifyOpen` fills.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn audit_verifier() -> VerifierHandle {
    External::new(Arc::new(Mutex::new(None)))
}

/// Continues for one step; returns the report as JSON with the last one.
#[napi(catch_unwind, ts_return_type = "Promise<string | null>")]
pub fn audit_verify_step(
    #[napi(ts_arg_type = "object")] verifier: &VerifierHandle,
) -> AsyncTask<Job<Option<String>>> {
    let verifier = Arc::clone(verifier);
    run(move || {
        let mut verifier = lock(&verifier);
        let Some(verifier) = verifier.as_mut() else {
            return Err(Error::new(Code::Internal, "the log was not opened"));
        };
        Ok(verifier.step()?.map(|report| json(&report)))
    })
}
