//! Child processes with a time limit, which are ended together with everything that they started.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::Result;

/// The result of a process.
#[derive(Debug)]
pub(crate) struct Ended {
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Standard output.
    pub printed: String,
    /// Standard error.
    pub complaint: String,
}

/// Runs a process until it ends or the limit is over.
pub(crate) fn run(command: &mut Command, limit: Duration) -> Result<Ended> {
    let child = command
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let watch = Watch::start(&child, limit);
    let output = child.wait_with_output()?;
    drop(watch);
    Ok(Ended {
        code: output.status.code(),
        signal: output.status.signal(),
        printed: String::from_utf8_lossy(&output.stdout).into_owned(),
        complaint: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Runs a tool of the system; its standard error becomes the error.
pub(crate) fn tool(program: &str, args: &[&str]) -> Result<String> {
    let ended = run(Command::new(program).args(args), Duration::from_secs(60))?;
    if ended.code == Some(0) {
        return Ok(ended.printed);
    }
    Err(format!("{program} {}: {}", args.join(" "), ended.complaint.trim()).into())
}

/// Kills a process group after a while, unless it is dropped before.
#[derive(Debug)]
struct Watch(#[allow(dead_code, reason = "dropping it is what ends the watch")] mpsc::Sender<()>);

impl Watch {
    fn start(child: &Child, limit: Duration) -> Self {
        let (alive, ended) = mpsc::channel::<()>();
        let group = Pid::from_child(child);
        thread::spawn(move || {
            if ended.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                let _ = kill_process_group(group, Signal::KILL);
            }
        });
        Watch(alive)
    }
}

/// A process that runs until it is killed or has finished, and reports its progress line by line.
#[derive(Debug)]
pub(crate) struct Worker {
    child: Child,
    lines: BufReader<ChildStdout>,
    _watch: Watch,
}

impl Worker {
    /// Starts it.
    pub(crate) fn start(command: &mut Command, limit: Duration) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let lines = BufReader::new(child.stdout.take().ok_or("no pipe")?);
        let watch = Watch::start(&child, limit);
        Ok(Worker { child, lines, _watch: watch })
    }

    /// Waits for its next line; an error if it ended instead.
    pub(crate) fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        match self.lines.read_line(&mut line)? {
            0 => Err("a process of the rig ended too early".into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    /// Returns a function that kills it while another thread reads its output.
    pub(crate) fn stopper(&self) -> impl FnOnce() + use<> {
        let process = Pid::from_child(&self.child);
        move || {
            let _ = kill_process(process, Signal::KILL);
        }
    }

    /// Returns a function that resumes it while another thread reads its output: repeatedly until it has ended, because
    /// it may not have stopped yet.
    pub(crate) fn resumer(&self) -> impl FnOnce() + use<> {
        let process = Pid::from_child(&self.child);
        move || {
            while kill_process(process, Signal::CONT).is_ok() {
                thread::sleep(Duration::from_millis(2));
            }
        }
    }

    /// Waits until it has ended, and returns the remaining lines and the exit code.
    pub(crate) fn wait(&mut self) -> Result<(Vec<String>, Option<i32>)> {
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest)?;
        let code = self.child.wait()?.code();
        // An incomplete line was being written when the process ended.
        let whole = rest.rfind('\n').map_or("", |end| &rest[..end]);
        Ok((whole.lines().map(str::to_owned).collect(), code))
    }

    /// Kills it, and returns the remaining lines.
    pub(crate) fn kill(&mut self) -> Result<Vec<String>> {
        self.signal(Signal::KILL);
        Ok(self.wait()?.0)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}
