//! A deadline of the whole process, for a program whose answer another one waits for. A timer of JavaScript cannot keep
//! it: it waits for calls that block, such as the opening of a file on a network drive that is gone.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::sleep;
use std::time::Duration;

use napi_derive::napi;
use spillway_core::util::threads;

/// The owner of the answer: the caller and the thread of the deadline each try to move it on from [`RUNNING`], and the first
/// one does.
static STATE: AtomicU8 = AtomicU8::new(IDLE);

/// No deadline was set.
const IDLE: u8 = 0;
const RUNNING: u8 = 1;
/// The answer is the caller's.
const MET: u8 = 2;
/// The late answer is being written.
const MISSED: u8 = 3;

/// Returns true if this call has moved the state on.
fn moved(from: u8, to: u8) -> bool {
    STATE.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok()
}

// SAFETY: both are functions of C with these arguments. `_write` of Windows takes and returns 32 bits, which is what the
// few bytes of an answer need.
unsafe extern "C" {
    /// Ends the process at once: what the runtime would tidy up at its exit is in use by the thread that blocks.
    safe fn _exit(code: c_int) -> !;
    /// The writers of the standard library would add 4 KB to the binary.
    #[cfg_attr(windows, link_name = "_write")]
    fn write(file: c_int, bytes: *const u8, count: usize) -> isize;
}

/// Starts a thread that writes these texts and ends the process with 0 after `ms` milliseconds, unless the deadline is
/// met before. A process has one deadline: later calls set none. There is none either if the system has no free thread.
#[napi(catch_unwind)]
pub fn deadline_start(ms: u32, stdout: String, stderr: String) {
    if !moved(IDLE, RUNNING) {
        return;
    }
    let answer_late = move || {
        sleep(Duration::from_millis(ms.into()));
        if moved(RUNNING, MISSED) {
            for (file, text) in [(1, &stdout), (2, &stderr)] {
                // SAFETY: the text has as many bytes. No caller is left that an error could be reported to.
                unsafe { write(file, text.as_ptr(), text.len()) };
            }
            _exit(0);
        }
    };
    let _ = threads::start("spillway-deadline", Box::new(answer_late));
}

/// Meets the deadline: from here on the answer is the caller's. Does not return if the late answer is being written.
#[napi(catch_unwind)]
pub fn deadline_meet() {
    if !moved(RUNNING, MET) && STATE.load(Ordering::Relaxed) == MISSED {
        sleep(Duration::MAX);
    }
}
