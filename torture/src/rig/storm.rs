//! Many processes in one folder: some save, some sweep, some read, and one is stopped in the middle of a save. Nothing
//! may be lost, no names may collide, and no process may remove a file that another is working on.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Signal, getpid, kill_process};
use serde_json::json;
use spillway_core::capture::pipeline::Intake;
use spillway_core::storage::directories::{Durability, StoreDirs};
use spillway_core::storage::open_store::OpenStore;
use spillway_core::storage::read::Reader;
use spillway_core::storage::save::SaveRequest;
use spillway_core::text::lines::LineRule;
use spillway_core::text::lossy::Source;
use spillway_core::truncation::limits::{Direction, Limits};

use super::args::Args;
use super::child::{Worker, run};
use super::content::{MAX_LENGTH, Tag, stretch};
use super::report::{Finding, Report};
use super::savers::Saver;
use super::sweepers::Sweeper;
use super::{Result, Rig, files, now_ms, outputs, say};

const WRITERS: u64 = 8;
const HELPERS: u64 = 2;
const LENGTH: u64 = 4096;
const LIMIT: Duration = Duration::from_secs(240);
/// Number of expired outputs at the start.
const OLD: u64 = 500;
const HOUR: Duration = Duration::from_secs(60 * 60);

/// Sweeps one folder until it is killed: `--sweeper`, `--dir`.
pub(crate) fn sweep_loop(args: &Args) -> Result<()> {
    let sweeper = Sweeper::named(args.text("sweeper")?)?;
    let store = OpenStore::new(StoreDirs::of(args.paths("dir"), Durability::Process));
    say("ready")?;
    loop {
        // Far more files than the limit: only their age protects them.
        sweeper.sweep(&store, 7.0, 10, i64::try_from(now_ms())?);
    }
}

/// Reads the files of one folder until it is killed, and reports incomplete ones: `--dir`.
pub(crate) fn read_loop(args: &Args) -> Result<()> {
    let dirs = args.paths("dir");
    let places = StoreDirs::of(dirs.clone(), Durability::Process);
    say("ready")?;
    loop {
        for path in files(&dirs[0]).unwrap_or_default() {
            let is_live = path.metadata().is_ok_and(|found| found.len() > 1);
            if !is_live || path.extension().is_none_or(|end| end != "txt") {
                continue;
            }
            if let Err(problem) = read_one(&places, &path) {
                say(&format!("{}: {problem}", path.display()))?;
            }
        }
    }
}

fn read_one(places: &StoreDirs, path: &Path) -> Result<()> {
    let mut reader = Reader::open(places, &path.display().to_string())?;
    while reader.next_piece(1 << 20)?.is_some() {}
    match path.metadata()?.len() {
        LENGTH => Ok(()),
        other => Err(format!("{other} bytes").into()),
    }
}

/// Stops itself when half of an output is written, and continues on a signal: `--dir`, `--block`.
pub(crate) fn paused(args: &Args) -> Result<()> {
    let tag = Tag { worker: 0, number: 0, length: MAX_LENGTH, start: 9 };
    let content = stretch(Path::new(args.text("block")?), &tag)?;
    let limits = Limits {
        max_lines: 10,
        max_bytes: 1000,
        max_tokens: u64::MAX,
        direction: Direction::Head,
        line_rule: LineRule::Terminated,
        keep: Default::default(),
        terminal: false,
    };
    let request = SaveRequest {
        tool: tag.to_string(),
        session: Some("a session".encode_utf16().collect()),
        call: None,
        now_ms: now_ms(),
    };
    let places = StoreDirs::of(args.paths("dir"), Durability::Process);
    let store = Arc::new(OpenStore::new(places));
    let mut intake = Intake::new(limits, Source::Bytes, Some((store, request)));
    let (first, second) = content.split_at(content.len() / 2);
    intake.push_bytes(first);
    say("half")?;
    kill_process(getpid(), Signal::STOP)?;
    intake.push_bytes(second);
    let outcome = intake.finish();
    say(&json!(outcome).to_string())
}

/// The result of a storm.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    saves: u64,
    swept: u64,
    seconds: f64,
    pub case: Option<String>,
}

/// Runs writers, sweepers and readers in one folder.
pub(crate) fn storm(rig: &Rig, saver: Saver, sweeper: Option<Sweeper>, each: u64) -> Result<Tally> {
    let dir = rig.folder("storm")?;
    let mut tally = Tally::default();
    let mut helpers = Vec::new();
    if let Some(sweeper) = sweeper {
        put_old(&dir)?;
        for _ in 0..HELPERS {
            for role in ["sweep-loop", "read-loop"] {
                let mut command = rig.process(role);
                command.arg("--dir").arg(&dir).args(["--sweeper", sweeper.name()]);
                let mut worker = Worker::start(&mut command, LIMIT)?;
                worker.line()?;
                helpers.push((role, worker));
            }
        }
    }
    let started = Instant::now();
    let mut writers = Vec::new();
    for number in 0..WRITERS {
        let mut command = rig.process("save");
        command.arg("--dir").arg(&dir).args(["--saver", saver.name(), "--same-name", "--sessions"]);
        command.args(["--length", &LENGTH.to_string(), "--count", &each.to_string()]);
        command.args(["--worker", &number.to_string()]);
        writers.push(Worker::start(&mut command, LIMIT)?);
    }
    // All at once, or a full pipe would block the others.
    let waiting: Vec<_> =
        writers.into_iter().map(|mut worker| thread::spawn(move || worker.wait())).collect();
    let mut acks: HashMap<String, Tag> = HashMap::new();
    for worker in waiting {
        let (lines, code) = worker.join().map_err(|_| "a writer's listener panicked")??;
        if code != Some(0) {
            tally.case.get_or_insert_with(|| format!("a writer ended with {code:?}"));
        }
        for line in lines.iter().filter(|line| *line != "ready") {
            let Some((path, tag)) = line.split_once('\t') else { continue };
            let Some(tag) = Tag::read(tag) else {
                tally.case.get_or_insert_with(|| format!("a save failed: {tag}"));
                continue;
            };
            tally.saves += 1;
            if acks.insert(path.to_owned(), tag).is_some() {
                tally.case.get_or_insert_with(|| format!("two outputs are called {path}"));
            }
        }
    }
    tally.seconds = started.elapsed().as_secs_f64();
    for (role, mut worker) in helpers {
        let lines = worker.kill()?;
        if let Some(complaint) = lines.first().filter(|_| role == "read-loop") {
            tally.case.get_or_insert_with(|| format!("a reader says {complaint}"));
        }
    }
    let (old, wrong) = check(rig, &dir, &acks)?;
    tally.swept = if sweeper.is_some() { OLD - old } else { 0 };
    tally.case = tally.case.or(wrong);
    if tally.saves != WRITERS * each {
        let saves = tally.saves;
        tally.case.get_or_insert_with(|| format!("{saves} of {} were saved", WRITERS * each));
    }
    Ok(tally)
}

fn put_old(dir: &Path) -> Result<()> {
    let then = SystemTime::now() - 8 * 24 * HOUR;
    for number in 0..OLD {
        let file = File::create(dir.join(format!("old_1_{number:013}.txt")))?;
        file.set_modified(then)?;
    }
    Ok(())
}

/// Checks that exactly the acknowledged outputs exist, and counts the expired ones.
fn check(rig: &Rig, dir: &Path, acks: &HashMap<String, Tag>) -> Result<(u64, Option<String>)> {
    let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let names: Vec<String> = outputs(dir)?.iter().filter_map(name).collect();
    let old = names.iter().filter(|name| name.starts_with("old_")).count();
    let live = names.len() - old;
    let lost = acks.iter().find(|(path, tag)| !rig.block.is_in(tag, Path::new(path)));
    let wrong = match lost {
        Some((path, _)) => Some(format!("{path} is lost or not what was saved")),
        None if live != acks.len() => Some(format!("{live} files, {} acknowledged", acks.len())),
        None => None,
    };
    Ok((old as u64, wrong))
}

/// Checks that a process stopped in the middle of a save keeps its draft, however long it takes.
fn stopped(rig: &Rig) -> Result<Option<String>> {
    let dir = rig.folder("paused")?;
    let mut worker = Worker::start(rig.process("paused").arg("--dir").arg(&dir), LIMIT)?;
    worker.line()?;
    let store = OpenStore::new(StoreDirs::of(vec![dir.clone()], Durability::Process));
    for hours in [0, 2, 24 * 30] {
        let later = i64::try_from(now_ms())? + hours * 60 * 60 * 1000;
        Sweeper::Product.sweep(&store, 7.0, 1, later);
    }
    // It may not have stopped yet: the signal is sent until it has printed a line.
    let resume = worker.resumer();
    let reminder = thread::spawn(resume);
    let line = worker.line()?;
    worker.wait()?;
    reminder.join().map_err(|_| "a reminder panicked")?;
    let found: serde_json::Value = serde_json::from_str(&line)?;
    let path = found["saved"]["path"].as_str().unwrap_or_default().to_owned();
    let tag = Tag { worker: 0, number: 0, length: MAX_LENGTH, start: 9 };
    Ok((!rig.block.is_in(&tag, Path::new(&path))).then(|| format!("after a stop: {line}")))
}

pub(crate) fn bench(rig: &Rig, report: &mut Report) {
    let each = rig.count(10_000, 1_000);
    report.bench("B7", "eight processes save into one folder", || {
        let tally = storm(rig, Saver::Product, None, each)?;
        let figures = vec![
            (json!(WRITERS * each), "saves"),
            (json!(tally.saves), "whole and distinct"),
            (json!((tally.seconds * 10.0).round() / 10.0), "s"),
        ];
        Ok(Finding::new(figures, tally.case))
    });
    report.bench("B13", "a crowd: eight save, two sweep, two read", || {
        let end = Instant::now() + Duration::from_secs(rig.count(60, 5));
        let (mut rounds, mut saves, mut swept, mut case) = (0, 0, 0, None);
        while case.is_none() && (rounds == 0 || Instant::now() < end) {
            let tally = storm(rig, Saver::Product, Some(Sweeper::Product), each / 2)?;
            rounds += 1;
            saves += tally.saves;
            swept += tally.swept;
            case = tally.case;
        }
        if swept == 0 {
            case = case.or_else(|| Some("nothing was ever swept".to_owned()));
        }
        let figures = vec![
            (json!(rounds), "rounds"),
            (json!(saves), "saves kept"),
            (json!(swept), "old outputs swept"),
        ];
        Ok(Finding::new(figures, case))
    });
    report.bench("B13", "stopped in the middle of a save while others sweep", || {
        let wrong = stopped(rig)?;
        Ok(Finding::new(vec![(json!(3), "sweeps, up to a month later")], wrong))
    });
    if !rig.quick {
        report.bench("B13", "saved while another cleans up: cacache 20.0.4", || cacache(rig));
    }
}

fn cacache(rig: &Rig) -> Result<Finding> {
    let Some(package) = &rig.package else {
        return Ok(Finding::skipped("the add-on is not built"));
    };
    let mut command = Command::new("node");
    command.arg(package.join("torture/workers/crowd.mjs")).arg(rig.folder("cacache")?);
    match serde_json::from_str::<serde_json::Value>(&run(&mut command, LIMIT)?.printed) {
        Ok(found) => Ok(Finding::compared(vec![
            (found["times"].clone(), "saves"),
            (found["lost"].clone(), "lost"),
        ])),
        Err(_) => Ok(Finding::skipped("not installed: npm install --prefix torture")),
    }
}
