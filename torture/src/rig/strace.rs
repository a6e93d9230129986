//! Fault injection by strace: a trace lists the calls of one operation, and each of them can then be made to fail, or
//! to be the last of the process.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::Result;
use super::child::{Ended, run};
use super::one::MARKS;

/// Calls for memory and signals, and calls that cannot fail.
const LEFT_OUT: [&str; 14] = [
    "mmap",
    "munmap",
    "mremap",
    "mprotect",
    "madvise",
    "brk",
    "futex",
    "rt_sigaction",
    "rt_sigprocmask",
    "sigaltstack",
    "exit_group",
    "geteuid",
    "getpid",
    "fcntl",
];

/// A system call of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub name: String,
    /// Its index among the calls of this name in the process, from 1.
    pub nth: u64,
}

/// A fault in the syntax of strace's `inject`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault(String);

impl Fault {
    /// Makes a call fail.
    pub(crate) fn error(call: &Call, errno: &str) -> Self {
        Fault(format!("{}:error={errno}:when={}", call.name, call.nth))
    }

    /// Makes a call and all later ones of its name fail.
    pub(crate) fn lasting(call: &Call, errno: &str) -> Self {
        Fault(format!("{}:error={errno}:when={}+", call.name, call.nth))
    }

    /// Makes two calls of a name fail.
    pub(crate) fn twice(first: &Call, second: &Call, errno: &str) -> Self {
        let step = second.nth - first.nth;
        Fault(format!("{}:error={errno}:when={}..{}+{step}", first.name, first.nth, second.nth))
    }

    /// Kills the process before the call.
    pub(crate) fn kill(call: &Call) -> Self {
        Fault(format!("{}:signal=KILL:when={}", call.name, call.nth))
    }

    /// Makes all calls of these names fail.
    pub(crate) fn always(names: &str, errno: &str) -> Self {
        Fault(format!("{names}:error={errno}"))
    }

    /// Returns the names of its calls.
    pub(crate) fn names(&self) -> &str {
        self.0.split(':').next().unwrap_or_default()
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Runs a single-threaded process under faults. Requested calls are logged.
pub(crate) fn inject(
    process: &Command,
    faults: &[Fault],
    also: &[&str],
    log: &Path,
) -> Result<Ended> {
    let names: Vec<&str> = faults.iter().map(Fault::names).chain(also.iter().copied()).collect();
    let mut command = Command::new("strace");
    command.arg("-qq").arg("-o").arg(log).arg("-e").arg(format!("trace={}", names.join(",")));
    under(command, process, faults)
}

/// Runs a multi-threaded process under a fault, which affects each thread.
pub(crate) fn inject_threads(process: &Command, fault: &Fault) -> Result<Ended> {
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null", "-e"]).arg(format!("trace={}", fault.names()));
    under(command, process, std::slice::from_ref(fault))
}

fn under(mut command: Command, process: &Command, faults: &[Fault]) -> Result<Ended> {
    for fault in faults {
        command.arg("-e").arg(format!("inject={fault}"));
    }
    command.arg(process.get_program()).args(process.get_args()).current_dir("/");
    run(&mut command, Duration::from_secs(20))
}

/// Returns the calls that a process makes between its marks, under faults.
pub(crate) fn trace(process: &Command, faults: &[Fault], log: &Path) -> Result<Vec<Call>> {
    let ended = inject(process, faults, &["all"], log)?;
    if ended.code != Some(0) {
        return Err(
            format!("a traced process ended with {:?}: {}", ended.code, ended.complaint).into()
        );
    }
    let mut calls = Vec::new();
    let mut counts: HashMap<String, u64> = HashMap::new();
    let mut is_inside = false;
    for line in std::fs::read_to_string(log)?.lines() {
        let Some((name, _)) = line.split_once('(') else { continue };
        let count = counts.entry(name.to_owned()).or_default();
        *count += 1;
        if line.contains(MARKS[0]) {
            is_inside = true;
        } else if line.contains(MARKS[1]) {
            return Ok(calls);
        } else if is_inside && !LEFT_OUT.contains(&name) {
            calls.push(Call { name: name.to_owned(), nth: *count });
        }
    }
    Err("the trace has no end".into())
}

/// Returns the reason why nothing can be traced here.
pub(crate) fn missing() -> Option<String> {
    if !super::has_tool("strace") {
        return Some("strace is not there".to_owned());
    }
    let mut probe = Command::new("strace");
    probe.args(["-qq", "-o", "/dev/null", "-e", "inject=getpid:error=EIO", "true"]);
    match run(&mut probe, Duration::from_secs(20)) {
        Ok(ended) if ended.code == Some(0) => None,
        _ => Some("no right to trace".to_owned()),
    }
}
