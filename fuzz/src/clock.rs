//! CPU time that an input takes, so that load on the machine does not matter.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::time::{ClockId, clock_gettime};

/// The slowest input so far in nanoseconds. Faster ones are not reported.
static SLOWEST: AtomicU64 = AtomicU64::new(1_000_000);

/// The file that the slowest input is written to.
static PATH: OnceLock<Option<PathBuf>> = OnceLock::new();

/// Runs a property and keeps the slowest input in the file that `SPILLWAY_FUZZ_SLOWEST` names.
pub fn timed(data: &[u8], check: fn(&[u8])) {
    let began = now();
    check(data);
    let took = now() - began;
    if took > SLOWEST.load(Ordering::Relaxed) {
        SLOWEST.store(took, Ordering::Relaxed);
        eprintln!("slowest: {} us, {} bytes", took / 1000, data.len());
        let path =
            PATH.get_or_init(|| std::env::var_os("SPILLWAY_FUZZ_SLOWEST").map(PathBuf::from));
        if let Some(path) = path {
            // The file is an aid for developers; a run does not depend on it.
            let _ = std::fs::write(path, data);
        }
    }
}

/// Returns the CPU time of this thread in nanoseconds.
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
