//! Processes that end: at the latest when their time is over, with everything that they started.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::Result;

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What it printed.
    pub printed: String,
    /// What it complained about.
    pub complaint: String,
}

/// Runs a process to its end, or for so long.
pub fn run(command: &mut Command, limit: Duration) -> Result<Ended> {
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

/// Runs a tool of the system; what it complains about is the error.
pub fn tool(program: &str, args: &[&str]) -> Result<String> {
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

/// A process that goes on until it is killed or has done its work, and says line by line what it did.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    lines: BufReader<ChildStdout>,
    _watch: Watch,
}

impl Worker {
    /// Starts it.
    pub fn start(command: &mut Command, limit: Duration) -> Result<Self> {
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
    pub fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        match self.lines.read_line(&mut line)? {
            0 => Err("a process of the rig ended too early".into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    /// What kills it while another thread listens to it.
    pub fn stopper(&self) -> impl FnOnce() + use<> {
        let process = Pid::from_child(&self.child);
        move || {
            let _ = kill_process(process, Signal::KILL);
        }
    }

    /// What lets it go on when it has stopped, while another thread listens to it: again and again until it has ended,
    /// because it may not have stopped yet.
    pub fn resumer(&self) -> impl FnOnce() + use<> {
        let process = Pid::from_child(&self.child);
        move || {
            while kill_process(process, Signal::CONT).is_ok() {
                thread::sleep(Duration::from_millis(2));
            }
        }
    }

    /// Waits until it has ended, and answers the rest of its lines and its exit code.
    pub fn wait(&mut self) -> Result<(Vec<String>, Option<i32>)> {
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest)?;
        let code = self.child.wait()?.code();
        // A line without its end was being written when the process died.
        let whole = rest.rfind('\n').map_or("", |end| &rest[..end]);
        Ok((whole.lines().map(str::to_owned).collect(), code))
    }

    /// Kills it, and answers the rest of its lines.
    pub fn kill(&mut self) -> Result<Vec<String>> {
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
