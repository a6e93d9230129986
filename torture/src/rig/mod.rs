//! The benches and the processes that they run.

mod args;
mod child;
mod content;
mod degrade;
mod faults;
mod full_disk;
mod kill;
mod late_sync;
mod lifecycle;
mod meta;
mod mounts;
mod one;
mod power_cut;
mod report;
mod savers;
mod service;
mod storm;
mod strace;
mod sweep_faults;
mod sweepers;
mod worker;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::process::{Signal, set_parent_process_death_signal};

use args::Args;
use content::Block;
use report::Report;

/// Errors of the rig itself, as sentences.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The context of all benches.
#[derive(Debug)]
struct Rig {
    /// Path of this program, reachable by every user, for starting processes.
    program: PathBuf,
    /// Directory for temporary files.
    scratch: PathBuf,
    /// Directory of the package, for processes that use it through Node; without it those are skipped.
    package: Option<PathBuf>,
    /// True for a shorter run.
    quick: bool,
    block: Block,
}

impl Rig {
    fn new(args: &Args) -> Result<Self> {
        let scratch = PathBuf::from(args.text("scratch")?);
        let block = Block::make(&scratch.join("block"))?;
        Ok(Rig {
            program: PathBuf::from(args.text("program")?),
            package: args.paths("package").pop(),
            quick: args.has("quick"),
            block,
            scratch,
        })
    }

    /// Returns the file with the contents to save.
    fn block_file(&self) -> PathBuf {
        self.scratch.join("block")
    }

    /// Creates an empty directory.
    fn folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.scratch.join(name);
        if path.exists() {
            std::fs::remove_dir_all(&path)?;
        }
        std::fs::create_dir(&path)?;
        Ok(path)
    }

    /// Returns the command of a process of the rig.
    fn process(&self, role: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(role).arg("--block").arg(self.block_file()).current_dir("/");
        command
    }

    /// Returns the full number, or the smaller one for a shorter run.
    fn count(&self, full: u64, quick: u64) -> u64 {
        if self.quick { quick } else { full }
    }
}

/// Runs the role in the first argument.
pub(crate) fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let role = words.next().unwrap_or_default();
    let args = Args::read(words);
    // No process is left, however the parent ends.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let result = match role.as_str() {
        "bench" => bench(&args),
        "save" => worker::main(&args),
        "one" => one::main(&args),
        "sweep-loop" => storm::sweep_loop(&args),
        "read-loop" => storm::read_loop(&args),
        "paused" => storm::paused(&args),
        "kill-loop" => kill::main(&args),
        _ => Err(format!("no part of the rig is called {role:?}").into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "torture: {role}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn bench(args: &Args) -> Result<()> {
    let rig = Rig::new(args)?;
    let mut report = Report::new(args.all("only").map(str::to_owned).collect());
    kill::bench(&rig, &mut report);
    faults::bench(&rig, &mut report);
    sweep_faults::bench(&rig, &mut report);
    service::bench(&rig, &mut report);
    full_disk::bench(&rig, &mut report);
    degrade::bench(&rig, &mut report);
    late_sync::bench(&rig, &mut report);
    power_cut::bench(&rig, &mut report);
    storm::bench(&rig, &mut report);
    lifecycle::bench(&rig, &mut report);
    meta::bench(&rig, &mut report);
    if report.is_bad() { Err("a promise was not kept".into()) } else { Ok(()) }
}

/// Prints a line at once.
fn say(line: &str) -> Result<()> {
    Ok(std::io::stdout().write_all(format!("{line}\n").as_bytes())?)
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Returns true if a tool of the system is available.
fn has_tool(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain([PathBuf::from("/usr/sbin")])
        .any(|dir| dir.join(name).exists())
}

/// Marker and lock files of the store beside the outputs.
const OWN_FILES: [&str; 4] = [".gitignore", "CACHEDIR.TAG", ".lease", ".sweep.lock"];

/// Returns all files in a directory tree that may be outputs or parts of one.
fn outputs(dir: &Path) -> Result<Vec<PathBuf>> {
    let is_own = |path: &PathBuf| {
        path.file_name().is_some_and(|name| OWN_FILES.iter().any(|own| name == *own))
    };
    Ok(files(dir)?.into_iter().filter(|path| !is_own(path)).collect())
}

/// Returns all files in a directory tree.
fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => found.extend(files(&entry.path())?),
            false => found.push(entry.path()),
        }
    }
    Ok(found)
}
