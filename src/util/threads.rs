//! Starts threads, with one copy of the code for all work.

use std::io;
use std::thread::{Builder, JoinHandle};

/// Starts a thread of this name. Fails if the system has no free one.
pub fn start(name: &str, work: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
    Builder::new().name(name.to_owned()).spawn(work)
}
