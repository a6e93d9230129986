//! The torture rig: does to the store what the world does, and checks what is left. `npm run torture` starts it.
//!
//! Everything it does needs real processes, signals, mounts and faults of one system, so it runs on Linux only.
#![forbid(unsafe_code)]

use std::process::ExitCode;

#[cfg(target_os = "linux")]
mod rig;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    rig::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::SUCCESS
}
