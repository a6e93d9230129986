//! Where a command cannot be handed a descriptor: its output comes in through JavaScript.

use std::io;

/// There is none here.
#[derive(Debug)]
pub struct Pipe(std::convert::Infallible);

/// Nothing to wait for.
#[derive(Debug)]
pub struct Waiter(std::convert::Infallible);

impl Pipe {
    /// Always fails.
    pub fn open(_sink: impl FnMut(&[u8]) + Send + 'static) -> io::Result<Pipe> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The descriptor to hand to the command.
    pub fn writer_fd(&self) -> Option<i32> {
        match self.0 {}
    }

    /// Closes our copy of the writing end.
    pub fn close_writer(&mut self) {
        match self.0 {}
    }

    /// Says that the command has ended.
    pub fn end(&mut self) -> Waiter {
        match self.0 {}
    }
}

impl Waiter {
    /// Waits for the thread.
    pub fn wait(self) -> io::Result<()> {
        match self.0 {}
    }
}
