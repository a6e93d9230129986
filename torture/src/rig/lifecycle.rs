//! Programs that end while they save through Node: by `process.exit()`, by a signal, with worker threads; and a program
//! with two copies of the package.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use super::child::{Worker, run};
use super::content::{Random, Tag};
use super::kill::{finals, left_over};
use super::report::{Finding, Report};
use super::{Result, Rig};

const LIMIT: Duration = Duration::from_secs(120);
/// Files that the package needs at run time.
const PACKAGE: [&str; 3] = ["index.js", "dist", "package.json"];

/// The files left after some programs have ended.
#[derive(Debug, Default)]
struct Tally {
    programs: u64,
    finals: u64,
    case: Option<String>,
}

impl Tally {
    /// Checks the files that a program left.
    fn check(
        &mut self,
        rig: &Rig,
        dir: &Path,
        ended: std::result::Result<(), String>,
    ) -> Result<()> {
        self.programs += 1;
        if let Err(problem) = ended {
            self.case.get_or_insert(problem);
        }
        for path in finals(dir)? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_whole = Tag::read(name).is_some_and(|tag| rig.block.is_in(&tag, &path));
            if !is_whole {
                self.case.get_or_insert_with(|| format!("{name} is torn"));
            }
            self.finals += 1;
            fs::remove_file(path)?;
        }
        let left = left_over(dir)?;
        if left > 0 {
            self.case.get_or_insert_with(|| format!("{left} files are left over"));
        }
        Ok(())
    }
}

fn program(rig: &Rig, package: &Path, mode: &str, dir: &Path, number: u64) -> Command {
    let mut command = Command::new("node");
    command.arg(package.join("torture/workers/lifecycle.mjs")).args(["--mode", mode]);
    command.arg("--dir").arg(dir).arg("--block").arg(rig.block_file());
    command.args(["--worker", &number.to_string()]);
    command
}

/// Runs programs that end by themselves, and must do so without an error.
fn ending(
    rig: &Rig,
    package: &Path,
    mode: &str,
    times: u64,
    more: &[&str],
    tally: &mut Tally,
) -> Result<()> {
    let dir = rig.folder("lifecycle")?;
    for number in 0..times {
        let ended = run(program(rig, package, mode, &dir, number + 1).args(more), LIMIT)?;
        let result = match ended.code {
            Some(0) => Ok(()),
            _ => Err(format!("{mode}: {:?} {:?}: {}", ended.code, ended.signal, ended.complaint)),
        };
        tally.check(rig, &dir, result)?;
    }
    Ok(())
}

/// Runs programs that a signal ends, as a terminal does.
fn signalled(rig: &Rig, package: &Path, times: u64, tally: &mut Tally) -> Result<()> {
    let dir = rig.folder("lifecycle")?;
    let mut random = Random::new(times);
    for number in 0..times {
        let signal = if number % 2 == 0 { Signal::INT } else { Signal::TERM };
        let mut worker =
            Worker::start(&mut program(rig, package, "signal", &dir, number + 1), LIMIT)?;
        worker.line()?;
        thread::sleep(Duration::from_millis(random.below(80)));
        worker.signal(signal);
        worker.wait()?;
        tally.check(rig, &dir, Ok(()))?;
    }
    Ok(())
}

/// Uses a second copy of the package, as two dependencies of a program can bring.
fn copies(rig: &Rig, package: &Path, times: u64, tally: &mut Tally) -> Result<()> {
    let copy = rig.folder("copy")?;
    let entries = fs::read_dir(package)?.flatten().map(|entry| entry.file_name());
    let binaries =
        entries.filter(|name| Path::new(name).extension().is_some_and(|end| end == "node"));
    for name in binaries.chain(PACKAGE.map(Into::into)) {
        super::child::tool(
            "cp",
            &["-r", &package.join(&name).display().to_string(), &copy.display().to_string()],
        )?;
    }
    let main = copy.join("index.js").display().to_string();
    ending(rig, package, "copies", times, &["--copy", &main], tally)
}

pub(crate) fn bench(rig: &Rig, report: &mut Report) {
    report.bench("B39", "programs that end while they save, through Node", || {
        let Some(package) = &rig.package else {
            return Ok(Finding::skipped("the add-on is not built"));
        };
        let threads = rig.count(200, 20).to_string();
        let mut tally = Tally::default();
        ending(rig, package, "exit", rig.count(50, 4), &[], &mut tally)?;
        signalled(rig, package, rig.count(50, 4), &mut tally)?;
        ending(rig, package, "threads", 1, &["--count", &threads], &mut tally)?;
        copies(rig, package, rig.count(5, 1), &mut tally)?;
        let figures = vec![
            (json!(tally.programs), "programs"),
            (json!(rig.count(200, 20)), "worker threads ended"),
            (json!(tally.finals), "files, all whole"),
        ];
        let idle = (tally.finals == 0).then(|| "nothing was saved".to_owned());
        Ok(Finding::new(figures, tally.case.or(idle)))
    });
}
