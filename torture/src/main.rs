//! The torture rig: exposes the store to failures of the real world and checks what is left. `npm run torture` starts
//! it.
//!
//! It needs real processes, signals, mounts and fault injection of one system, so it runs on Linux only.
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
