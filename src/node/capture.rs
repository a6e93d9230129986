//! Bindings of the pipe of a command, whose output goes into an intake without passing through JavaScript.

use std::sync::{Arc, Mutex};

use napi::bindgen_prelude::{AsyncTask, External};
use napi_derive::napi;
use spillway_core::capture::pipe::Pipe;
use spillway_core::error::{Code, Error, os_reason};
use spillway_core::truncation::notice::{CHINESE, ENGLISH, EndReason, Wording};
use spillway_core::util::language::Language;
use spillway_core::util::sync::lock;

use crate::error::{Result, from_core};
use crate::intake::IntakeHandle;
use crate::options::{SettingsHandle, lock as lock_settings};
use crate::task::{Job, run};

/// A pipe, until it is closed.
pub type PipeHandle = External<Mutex<Option<Pipe>>>;

/// Creates a pipe into an intake. Fails where a command cannot inherit a descriptor.
#[napi(catch_unwind, ts_return_type = "object")]
pub fn pipe_open(#[napi(ts_arg_type = "object")] intake: &IntakeHandle) -> Result<PipeHandle> {
    let shared = Arc::clone(intake);
    let pipe = Pipe::open(move |bytes| shared.feed(bytes)).map_err(|error| {
        from_core(Error::new(Code::Internal, format!("no pipe: {}", os_reason(&error))))
    })?;
    Ok(External::new(Mutex::new(Some(pipe))))
}

/// Returns the descriptor that the command writes to.
#[napi(catch_unwind)]
pub fn pipe_writer(#[napi(ts_arg_type = "object")] pipe: &PipeHandle) -> Option<i32> {
    lock(pipe).as_ref().and_then(Pipe::writer_fd)
}

/// Closes our copy of that descriptor, once the command has its own.
#[napi(catch_unwind)]
pub fn pipe_close_writer(#[napi(ts_arg_type = "object")] pipe: &PipeHandle) {
    if let Some(pipe) = lock(pipe).as_mut() {
        pipe.close_writer();
    }
}

/// Signals that the command has ended, and waits until all its output is processed.
#[napi(catch_unwind, ts_return_type = "Promise<void>")]
pub fn pipe_end(#[napi(ts_arg_type = "object")] pipe: &PipeHandle) -> AsyncTask<Job<()>> {
    let waiter = lock(pipe).as_mut().map(Pipe::end);
    run(move || match waiter.map_or(Ok(()), |waiter| waiter.wait()) {
        Ok(()) => Ok(()),
        Err(error) => Err(Error::new(Code::Internal, format!("the pipe: {}", os_reason(&error)))),
    })
}

/// Stops reading at once.
#[napi(catch_unwind)]
pub fn pipe_close(#[napi(ts_arg_type = "object")] pipe: &PipeHandle) {
    lock(pipe).take();
}

/// Returns the message for a command that ran longer than the option of a command line allows.
#[napi(catch_unwind)]
pub fn command_timeout_note(language: String, limit: String, option: String) -> String {
    wording_in(&language).ended_by_option(&limit, &option)
}

/// Returns the line that says the exit code of a command.
#[napi(catch_unwind)]
pub fn exit_code_line(language: String, code: i32) -> String {
    wording_in(&language).exit_code(code)
}

fn wording_in(language: &str) -> &'static Wording {
    match Language::of(language) {
        Language::English => &ENGLISH,
        Language::Chinese => &CHINESE,
    }
}

/// Returns the message for a command that was stopped: after a number of milliseconds, else by its user or by the host.
#[napi(catch_unwind)]
pub fn command_note(
    #[napi(ts_arg_type = "object")] settings: &SettingsHandle,
    timeout_ms: Option<f64>,
    by_user: bool,
) -> String {
    let reason = match timeout_ms {
        Some(ms) => EndReason::Timeout { ms: ms as u64 },
        None if by_user => EndReason::User,
        None => EndReason::Host,
    };
    lock_settings(settings).wording().ended(reason)
}
