//! A pipe that a command writes into, and the thread that reads it. Output of a command never passes through
//! JavaScript: the thread reads while the command runs, and ends after it.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::util::sync::{self, lock};
use crate::util::threads;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Timeouts and read size of the thread.
#[derive(Debug, Clone, Copy)]
struct DrainPolicy {
    /// How long to wait for output of children after the command has ended; its own output is in the pipe by then.
    idle_timeout: Duration,
    /// Maximum time to read output of children that keep running.
    max_wait: Duration,
    /// Bytes per read.
    read_size: usize,
}

const DRAIN_POLICY: DrainPolicy = DrainPolicy {
    idle_timeout: Duration::from_millis(100),
    max_wait: Duration::from_millis(1000),
    read_size: 256 * 1024,
};

/// The default maximum of Linux for unprivileged users. A larger pipe makes the command block less often.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 1024 * 1024;

/// The pipe as its owner sees it. Dropping it ends the thread at once.
#[derive(Debug)]
pub struct Pipe {
    writer: Option<PipeWriter>,
    /// Receives a byte when the command has ended; closing it means that the owner is gone.
    wake: PipeWriter,
    state: Arc<Shared>,
}

/// Waits for the thread.
#[derive(Debug)]
pub struct Waiter(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    end: Mutex<Option<End>>,
    changed: Condvar,
}

#[derive(Debug, Clone)]
enum End {
    /// All writers have closed the pipe, or the time after the end of the command is over.
    Done,
    Failed(String),
}

impl Pipe {
    /// Creates a pipe and a thread that passes everything read from it to `sink`.
    pub fn open(sink: impl FnMut(&[u8]) + Send + 'static) -> io::Result<Pipe> {
        Pipe::listening(DRAIN_POLICY, sink)
    }

    fn listening(
        manner: DrainPolicy,
        sink: impl FnMut(&[u8]) + Send + 'static,
    ) -> io::Result<Pipe> {
        // Both ends are close-on-exec: a program inherits only the end that is handed to it.
        let (reader, writer) = io::pipe()?;
        let (wake_reader, wake) = io::pipe()?;
        #[cfg(target_os = "linux")]
        // A smaller pipe works too.
        let _ = rustix::pipe::fcntl_setpipe_size(&reader, PIPE_BYTES);
        let state = Arc::new(Shared::default());
        let report = Report { state: Arc::clone(&state), end: None };
        let work = move || report.send(drain(manner, reader, wake_reader, sink));
        threads::start("spillway-pipe", Box::new(work))?;
        Ok(Pipe { writer: Some(writer), wake, state })
    }

    /// Returns the descriptor to hand to the command, until [`Pipe::close_writer`] is called.
    pub fn writer_fd(&self) -> Option<RawFd> {
        self.writer.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Closes our copy of the writing end. The pipe ends when the command and its children have closed theirs.
    pub fn close_writer(&mut self) {
        self.writer = None;
    }

    /// Signals that the command has ended.
    pub fn end(&mut self) -> Waiter {
        self.close_writer();
        // The write fails only if the thread has ended already.
        let _ = self.wake.write_all(&[1]);
        Waiter(Arc::clone(&self.state))
    }
}

impl Waiter {
    /// Waits until the thread has passed everything on: at most `max_wait` of [`DrainPolicy`] after [`Pipe::end`], unless the
    /// sink is slow.
    pub fn wait(self) -> io::Result<()> {
        let mut end = lock(&self.0.end);
        loop {
            match end.as_ref() {
                Some(End::Done) => return Ok(()),
                Some(End::Failed(reason)) => return Err(io::Error::other(reason.clone())),
                None => end = sync::wait(&self.0.changed, end),
            }
        }
    }
}

/// Reports how the thread ended, a panic included.
struct Report {
    state: Arc<Shared>,
    end: Option<End>,
}

impl Report {
    fn send(mut self, result: io::Result<()>) {
        self.end = Some(match result {
            Ok(()) => End::Done,
            Err(error) => End::Failed(error.to_string()),
        });
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        let end = self.end.take().unwrap_or_else(|| End::Failed("the reader panicked".to_owned()));
        *lock(&self.state.end) = Some(end);
        self.state.changed.notify_all();
    }
}
fn drain(
    manner: DrainPolicy,
    mut reader: PipeReader,
    mut wake_reader: PipeReader,
    mut sink: impl FnMut(&[u8]),
) -> io::Result<()> {
    let DrainPolicy { idle_timeout, max_wait, read_size } = manner;
    let mut buffer = vec![0; read_size];
    let mut deadline: Option<Instant> = None;
    // Output in the pipe when the command ended is read completely, however long the disk takes.
    let mut owed = 0;
    loop {
        let left =
            deadline.map(|at| at.saturating_duration_since(Instant::now()).min(idle_timeout));
        let (has_data, has_news) = wait(&reader, &wake_reader, left)?;
        if has_news {
            match read(&mut wake_reader, &mut [0])? {
                0 => return Ok(()),
                _ => {
                    deadline = Some(Instant::now() + max_wait);
                    owed = rustix::io::ioctl_fionread(&reader)?;
                }
            }
        }
        if has_data {
            match read(&mut reader, &mut buffer)? {
                0 => return Ok(()),
                length => {
                    owed = owed.saturating_sub(length as u64);
                    sink(buffer.get(..length).unwrap_or_default());
                }
            }
        }
        let is_over = deadline.is_some_and(|at| at <= Instant::now());
        let is_quiet = left.is_some() && !has_data && !has_news;
        if owed == 0 && (is_over || is_quiet) {
            return Ok(());
        }
    }
}

/// Waits for output or a signal until the timeout. Returns which of the two are ready.
fn wait(
    reader: &PipeReader,
    wake_reader: &PipeReader,
    left: Option<Duration>,
) -> io::Result<(bool, bool)> {
    let timeout = left.map(|left| Timespec {
        tv_sec: left.as_secs().cast_signed(),
        tv_nsec: left.subsec_nanos().into(),
    });
    let mut waited = [PollFd::new(reader, PollFlags::IN), PollFd::new(wake_reader, PollFlags::IN)];
    loop {
        match poll(&mut waited, timeout.as_ref()) {
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(_) => break,
        }
    }
    let [data, news] = waited.map(|each| !each.revents().is_empty());
    Ok((data, news))
}

fn read(from: &mut PipeReader, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match from.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use std::sync::mpsc;

    /// Long enough never to pass in a test.
    const AGES: Duration = Duration::from_secs(3600);

    fn collecting(manner: DrainPolicy) -> (Arc<Mutex<Vec<u8>>>, Pipe) {
        let kept: Arc<Mutex<Vec<u8>>> = Arc::default();
        let sink = Arc::clone(&kept);
        let sink = move |bytes: &[u8]| lock(&sink).extend_from_slice(bytes);
        let pipe = Pipe::listening(manner, sink).unwrap();
        (kept, pipe)
    }

    #[test]
    fn everything_that_was_written_arrives() {
        let (kept, mut pipe) = collecting(DRAIN_POLICY);
        let mut other = pipe.writer.as_ref().unwrap().try_clone().unwrap();
        let text = vec![b'x'; 3_000_000];
        other.write_all(&text).unwrap();
        drop(other);
        pipe.end().wait().unwrap();
        assert_eq!(lock(&kept).len(), text.len());
    }

    #[test]
    fn one_that_holds_the_pipe_open_is_not_waited_for() {
        let (kept, mut pipe) = collecting(DrainPolicy { max_wait: AGES, ..DRAIN_POLICY });
        let mut other = pipe.writer.as_ref().unwrap().try_clone().unwrap();
        other.write_all(b"said").unwrap();
        pipe.end().wait().unwrap();
        assert_eq!(*lock(&kept), b"said");
        assert_eq!(other.write_all(b"late").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn one_that_never_falls_silent_is_not_waited_for() {
        let max_wait = Duration::from_millis(20);
        let (_kept, mut pipe) =
            collecting(DrainPolicy { idle_timeout: AGES, max_wait, ..DRAIN_POLICY });
        let mut other = pipe.writer.as_ref().unwrap().try_clone().unwrap();
        let noise = thread::spawn(move || while other.write_all(b"noise\n").is_ok() {});
        pipe.end().wait().unwrap();
        noise.join().unwrap();
    }

    #[test]
    fn what_the_command_wrote_is_read_however_slow_the_disk_is() {
        let kept: Arc<Mutex<Vec<u8>>> = Arc::default();
        let sink = Arc::clone(&kept);
        let (busy, is_busy) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel();
        // The time is over as soon as the command has ended, and what it wrote takes several reads.
        let manner =
            DrainPolicy { idle_timeout: Duration::ZERO, max_wait: Duration::ZERO, read_size: 4 };
        let mut pipe = Pipe::listening(manner, move |bytes| {
            if lock(&sink).is_empty() {
                busy.send(()).unwrap();
                may_go_on.recv().unwrap();
            }
            lock(&sink).extend_from_slice(bytes);
        })
        .unwrap();
        let mut other = pipe.writer.as_ref().unwrap().try_clone().unwrap();
        other.write_all(b"what ").unwrap();
        is_busy.recv().unwrap();
        other.write_all(b"the command wrote").unwrap();
        let waiter = pipe.end();
        go_on.send(()).unwrap();
        waiter.wait().unwrap();
        assert_eq!(*lock(&kept), b"what the command wrote");
    }

    #[test]
    fn a_pipe_that_is_dropped_ends_its_thread() {
        let (_kept, mut pipe) = collecting(DRAIN_POLICY);
        let state = Arc::clone(&pipe.state);
        let _writer = pipe.writer.take();
        drop(pipe);
        Waiter(state).wait().unwrap();
    }

    #[test]
    fn a_sink_that_panics_is_reported() {
        let mut pipe = Pipe::open(|_| std::panic::resume_unwind(Box::new("planted"))).unwrap();
        pipe.writer.as_mut().unwrap().write_all(b"x").unwrap();
        assert!(pipe.end().wait().is_err());
    }
}
