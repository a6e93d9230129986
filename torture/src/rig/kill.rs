//! Kills processes at random moments while they save. A file with a final name must be complete, an acknowledged one
//! must exist, and nothing else may be left.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use spillway_core::storage::bounds::Bounds;
use spillway_core::storage::directories::{Durability, StoreDirs};
use spillway_core::storage::open_store::OpenStore;
use spillway_core::storage::sweep::{SweepTrigger, sweep};

use super::args::Args;
use super::child::{Worker, run};
use super::content::{Block, Random, Tag};
use super::report::{Finding, Report};
use super::savers::Saver;
use super::{Result, Rig, files, has_tool, now_ms, outputs, say};

/// A worker that does not end when killed is the fault of the machine, not of the store.
const LIMIT: Duration = Duration::from_secs(60);
/// Number of concurrent processes, so that several save into one folder.
const LANES: u64 = 3;

/// The result of a loop.
#[derive(Debug, Default, Clone)]
pub(crate) struct Tally {
    kills: u64,
    finals: u64,
    acknowledged: u64,
    pub torn: u64,
    pub missing: u64,
    pub left_over: u64,
    /// Number of files left after a cleanup whose clock is past the grace hour.
    pub after_cleanup: u64,
    case: Option<String>,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.kills += other.kills;
        self.finals += other.finals;
        self.acknowledged += other.acknowledged;
        self.torn += other.torn;
        self.missing += other.missing;
        self.case = self.case.take().or_else(|| other.case.clone());
    }

    fn note(&mut self, case: impl FnOnce() -> String) {
        self.case.get_or_insert_with(case);
    }

    fn to_json(&self) -> Value {
        json!([
            self.kills,
            self.finals,
            self.acknowledged,
            self.torn,
            self.missing,
            self.left_over,
            self.after_cleanup,
            self.case
        ])
    }

    fn from_json(value: &Value) -> Self {
        let number = |at: usize| value[at].as_u64().unwrap_or(u64::MAX);
        Tally {
            kills: number(0),
            finals: number(1),
            acknowledged: number(2),
            torn: number(3),
            missing: number(4),
            left_over: number(5),
            after_cleanup: number(6),
            case: value[7].as_str().map(str::to_owned),
        }
    }

    /// Returns the problem, if unnamed files should have left nothing, or a cleanup should have removed it.
    fn wrong(&self, until_cleanup: bool) -> Option<String> {
        let left = if until_cleanup { self.after_cleanup } else { self.left_over };
        let is_idle = self.finals == 0 || self.acknowledged == 0;
        let is_wrong = self.torn + self.missing + left > 0 || is_idle;
        is_wrong.then(|| self.case.clone().unwrap_or_else(|| format!("{left} files are left over")))
    }

    fn finding(&self, until_cleanup: bool) -> Finding {
        Finding::new(self.figures(), self.wrong(until_cleanup))
    }

    fn figures(&self) -> Vec<(Value, &'static str)> {
        vec![
            (json!(self.kills), "kills"),
            (json!(self.finals), "files"),
            (json!(self.acknowledged), "acknowledged"),
            (json!(self.torn), "torn"),
            (json!(self.missing), "missing"),
            (json!(self.left_over), "left over"),
            (json!(self.after_cleanup), "left after cleanup"),
        ]
    }
}

/// A loop: the saver, its folder, the number of kills, and the lifetime.
pub(crate) struct Loop<'a> {
    /// Makes the command that saves; `--worker` and its number are added.
    pub command: &'a (dyn Fn() -> Command + Sync),
    pub dir: &'a Path,
    pub block: &'a Block,
    pub kills: u64,
    pub life: Duration,
    /// True if files are located by acknowledgements and not by their names.
    pub is_cacache: bool,
}

impl Loop<'_> {
    /// Runs the loop, and returns the result with the acknowledgements.
    pub(crate) fn run(&self) -> Result<(Tally, Vec<String>)> {
        let next = AtomicU64::new(0);
        let total = Mutex::new((Tally::default(), Vec::new()));
        let lanes: Vec<Result<()>> = thread::scope(|scope| {
            let lane = || -> Result<()> {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= self.kills {
                        return Ok(());
                    }
                    let (tally, acks) = self.once(number)?;
                    let mut total = total.lock().map_err(|error| error.to_string())?;
                    total.0.add(&tally);
                    total.1.extend(acks);
                }
            };
            let started: Vec<_> = (0..LANES).map(|_| scope.spawn(lane)).collect();
            started
                .into_iter()
                .map(|lane| lane.join().unwrap_or_else(|_| Err("a lane panicked".into())))
                .collect()
        });
        lanes.into_iter().collect::<Result<()>>()?;
        let (mut tally, acks) = total.into_inner()?;
        if !self.is_cacache {
            tally.left_over = left_over(self.dir)?;
            let store =
                OpenStore::new(StoreDirs::of(vec![self.dir.to_owned()], Durability::Process));
            let later = i64::try_from(now_ms())? + 2 * 60 * 60 * 1000;
            sweep(&store, &Bounds::of_age(365.0), SweepTrigger::Requested(later));
            tally.after_cleanup = left_over(self.dir)?;
        }
        Ok((tally, acks))
    }

    fn once(&self, number: u64) -> Result<(Tally, Vec<String>)> {
        let mut command = (self.command)();
        command.arg("--worker").arg(number.to_string());
        let mut worker = Worker::start(&mut command, LIMIT)?;
        worker.line()?;
        let life = u64::try_from(self.life.as_micros())?;
        thread::sleep(Duration::from_micros(Random::new(number).below(life)));
        let lines = worker.kill()?;
        if let Some(error) = lines.iter().find(|line| line.starts_with("error")) {
            return Err(error.clone().into());
        }
        let acks: Vec<String> =
            lines.iter().filter_map(|line| Some(line.split_once('\t')?.1.to_owned())).collect();
        if self.is_cacache {
            let acknowledged = acks.len() as u64;
            return Ok((Tally { kills: 1, acknowledged, ..Tally::default() }, acks));
        }
        Ok((self.check(number, &acks)?, Vec::new()))
    }

    /// Checks the files of one worker, and removes them.
    fn check(&self, worker: u64, acks: &[String]) -> Result<Tally> {
        let mut tally = Tally { kills: 1, acknowledged: acks.len() as u64, ..Tally::default() };
        let mut missing: HashSet<&str> = acks.iter().map(String::as_str).collect();
        for path in finals(self.dir)? {
            let Some(tag) = tag_of(&path).filter(|tag| tag.worker == worker) else { continue };
            tally.finals += 1;
            if !self.block.is_in(&tag, &path) {
                tally.torn += 1;
                tally.note(|| format!("torn: {tag}"));
            }
            missing.remove(tag.to_string().as_str());
            fs::remove_file(&path)?;
        }
        tally.missing = missing.len() as u64;
        if let Some(tag) = missing.iter().next() {
            tally.note(|| format!("acknowledged and not there: {tag}"));
        }
        Ok(tally)
    }
}

fn tag_of(path: &Path) -> Option<Tag> {
    path.file_name().and_then(OsStr::to_str).and_then(Tag::read)
}

/// Returns the files with a final name in a folder that others write to at the same time.
pub(crate) fn finals(dir: &Path) -> Result<Vec<PathBuf>> {
    let is_final = |path: &PathBuf| path.extension() == Some(OsStr::new("txt"));
    Ok(files(dir)?.into_iter().filter(is_final).collect())
}

/// Counts files that are neither outputs nor marker files of the store.
pub(crate) fn left_over(dir: &Path) -> Result<u64> {
    Ok(outputs(dir)?.len() as u64)
}

/// Runs a loop in a separate process and namespace: `--program`, `--dir`, `--kills`.
pub(crate) fn main(args: &Args) -> Result<()> {
    let block_file = args.paths("block").pop().unwrap_or_default();
    let dir = args.paths("dir").pop().unwrap_or_default();
    let program = args.text("program")?;
    let command = || {
        let mut command = Command::new(program);
        command.arg("save").arg("--block").arg(&block_file).arg("--dir").arg(&dir);
        command.args(["--saver", "product", "--sessions"]).current_dir("/");
        command
    };
    let (tally, _) = Loop {
        command: &command,
        dir: &dir,
        block: &Block::load(&block_file)?,
        kills: args.number("kills", 1),
        life: LIFE,
        is_cacache: false,
    }
    .run()?;
    say(&tally.to_json().to_string())
}

/// About as long as a dozen saves take.
const LIFE: Duration = Duration::from_millis(6);

/// Runs a loop with a saver of this program.
pub(crate) fn over_saver(rig: &Rig, saver: Saver, dir: &Path, kills: u64) -> Result<Tally> {
    let command = || {
        let mut command = rig.process("save");
        command.arg("--dir").arg(dir).args(["--saver", saver.name(), "--sessions"]);
        command
    };
    let (tally, _) =
        Loop { command: &command, dir, block: &rig.block, kills, life: LIFE, is_cacache: false }
            .run()?;
    Ok(tally)
}

/// Checks that a planted bug is noticed by incomplete, missing or leftover files.
pub(crate) fn notices(rig: &Rig, saver: Saver) -> Result<Option<String>> {
    let tally = over_saver(rig, saver, &rig.folder("kill-planted")?, 150)?;
    Ok((tally.torn + tally.missing + tally.after_cleanup > 0)
        .then(|| format!("{} torn, {} missing", tally.torn, tally.missing)))
}

pub(crate) fn bench(rig: &Rig, report: &mut Report) {
    let kills = rig.count(10_000, 1_000);
    report.bench("B1 B3 B4", "killed while saving", || {
        Ok(over_saver(rig, Saver::Product, &rig.folder("kill")?, kills)?.finding(false))
    });
    report
        .bench("B1 B3 B4", "killed while saving, named temporary files", || named(rig, kills / 2));
    for (bars, name, saver, kills) in [
        ("B1 B3 B4", "killed while saving, through Node", "spillway", rig.count(60, 15)),
        ("B1", "killed while saving: fs.promises.writeFile", "write-file", rig.count(60, 0)),
        (
            "B1",
            "killed while saving: write-file-atomic 7.0.1",
            "write-file-atomic",
            rig.count(60, 0),
        ),
        ("B1", "killed while saving: cacache 20.0.4", "cacache", rig.count(60, 0)),
    ] {
        if kills > 0 {
            report.bench(bars, name, || through_node(rig, saver, kills));
        }
    }
}

/// Without `/proc` an unnamed file cannot be given a name, so the store uses temporary names.
fn named(rig: &Rig, kills: u64) -> Result<Finding> {
    if !has_tool("unshare") {
        return Ok(Finding::skipped("unshare is not there"));
    }
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", "mount -t tmpfs none /proc && exec \"$0\" \"$@\""]);
    command.arg(&rig.program).arg("kill-loop").arg("--block").arg(rig.block_file());
    command.arg("--program").arg(&rig.program).args(["--kills", &kills.to_string()]);
    command.arg("--dir").arg(rig.folder("kill-named")?);
    let ended = run(&mut command, Duration::from_secs(600))?;
    if ended.complaint.contains("not permitted") || ended.complaint.contains("ermission denied") {
        return Ok(Finding::skipped("no right to mount"));
    }
    let tally = serde_json::from_str(&ended.printed).map_err(|_| ended.complaint.clone())?;
    let tally = Tally::from_json(&tally);
    let mut finding = tally.finding(true);
    if tally.left_over == 0 && tally.wrong(true).is_none() {
        finding = Finding::new(tally.figures(), Some("no temporary name was ever used".to_owned()));
    }
    Ok(finding)
}

fn through_node(rig: &Rig, saver: &str, kills: u64) -> Result<Finding> {
    let Some(package) = &rig.package else {
        return Ok(Finding::skipped("the add-on is not built"));
    };
    let script = package.join("torture/workers/save.mjs");
    let probe = run(
        Command::new("node").arg(&script).args(["--saver", saver, "--probe"]),
        Duration::from_secs(20),
    )?;
    if probe.code != Some(0) {
        let install = "not installed: npm install --prefix torture";
        let reason = if saver == "spillway" { "the add-on is not built" } else { install };
        return Ok(Finding::skipped(reason));
    }
    let dir = rig.folder("kill-node")?;
    let command = || {
        let mut command = Command::new("node");
        command.arg(&script).arg("--block").arg(rig.block_file()).arg("--dir").arg(&dir);
        command.args(["--saver", saver]);
        command
    };
    let life = Duration::from_millis(60);
    let is_cacache = saver == "cacache";
    let (mut tally, acks) =
        Loop { command: &command, dir: &dir, block: &rig.block, kills, life, is_cacache }.run()?;
    if is_cacache {
        let list = rig.scratch.join("acks");
        fs::write(&list, acks.join("\n"))?;
        let script = package.join("torture/workers/cacache-check.mjs");
        let mut check = Command::new("node");
        check.arg(script).arg(&dir).arg(rig.block_file()).arg(&list);
        let found: Value = serde_json::from_str(&run(&mut check, LIMIT)?.printed)?;
        let number = |name: &str| found[name].as_u64().unwrap_or(u64::MAX);
        tally.finals = number("files");
        tally.torn = number("torn");
        tally.missing = number("missing");
        tally.left_over = number("leftOver");
    }
    if saver == "spillway" {
        return Ok(tally.finding(false));
    }
    let mut figures = tally.figures();
    // No other cleanup was run.
    figures.pop();
    Ok(Finding::compared(figures))
}
