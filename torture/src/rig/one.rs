//! A process that runs one operation between two marks that a trace shows, and reports the result.

use std::io::IoSlice;
use std::path::Path;

use serde_json::json;
use spillway_core::storage::directories::StoreDirs;
use spillway_core::storage::open_store::OpenStore;

use super::args::Args;
use super::content::{Tag, stretch};
use super::savers::{Job, Saver};
use super::sweepers::Sweeper;
use super::{Result, now_ms};

/// Files that do not exist; looking them up marks the beginning and the end.
pub(crate) const MARKS: [&str; 2] = ["/torture-begin", "/torture-end"];
/// The output: several chunks and a remainder.
pub(crate) const OUTPUT: Tag = Tag { worker: 0, number: 0, length: 200_001, start: 77 };

/// Runs an operation: `save` with `--saver`, `--dir …`, `--block`, `--durability` and `--length`, or `sweep` with
/// `--sweeper` and `--dir …`.
pub(crate) fn main(args: &Args) -> Result<()> {
    let dirs = args.paths("dir");
    let what = if args.has("sweeper") {
        let sweeper = Sweeper::named(args.text("sweeper")?)?;
        let store = OpenStore::new(StoreDirs::of(dirs, args.durability()));
        mark(0);
        let removed = sweeper.sweep(&store, 7.0, u64::MAX, i64::try_from(now_ms())?);
        mark(1);
        json!({ "removed": removed })
    } else {
        let saver = Saver::named(args.text("saver")?)?;
        let tag = Tag { length: args.number("length", OUTPUT.length), ..OUTPUT };
        let content = stretch(Path::new(args.text("block")?), &tag)?;
        let job = Job {
            dirs: &dirs,
            durability: args.durability(),
            tool: &tag.to_string(),
            session: args.has("sessions").then_some("a session"),
            content: &content,
        };
        mark(0);
        let (outcome, text) = saver.save(&job, &mut |_| ());
        mark(1);
        json!({ "outcome": outcome, "shown": text.len(), "memory": peak_memory_kib() })
    };
    // By a system call that nothing else uses, so that a fault of all later writes does not affect it.
    rustix::io::writev(std::io::stdout(), &[IoSlice::new(what.to_string().as_bytes())])?;
    Ok(())
}

fn mark(which: usize) {
    let _ = std::fs::metadata(MARKS[which]);
}

/// Returns the peak memory of this process in KiB; 0 where the system does not report it.
fn peak_memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
