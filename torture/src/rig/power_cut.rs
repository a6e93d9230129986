//! Power failures: the file system is stopped between two writes and mounted again. A file with a final name must be
//! complete, and at the highest level an acknowledged one must exist.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use spillway_core::storage::directories::Durability;

use super::args::word;
use super::child::{Worker, tool};
use super::content::{Random, Tag};
use super::mounts::{Mount, make_image, missing_kind};
use super::report::{Finding, Report};
use super::savers::Saver;
use super::{Result, Rig, files, has_tool};

/// XFS needs at least 300 MiB.
const IMAGE: u64 = 320 << 20;
const LIMIT: Duration = Duration::from_secs(60);
const WRITERS: u64 = 2;
/// Typical maximum length of an output of a command.
const MAX_LENGTH: u64 = 128 << 10;
/// Stops the file system without writing out its log. Perl is part of every Debian, and avoids unsafe code.
const SHUTDOWN: &str = "open my $root, '<', $ARGV[0] or die $!; my $flag = pack('L', 2); ioctl($root, 0x8004587d, $flag) or die $!";

/// The result of some power failures.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    cuts: u64,
    finals: u64,
    acknowledged: u64,
    pub empty: u64,
    pub torn: u64,
    pub missing: u64,
    case: Option<String>,
}

impl Tally {
    fn figures(&self) -> Vec<(Value, &'static str)> {
        vec![
            (json!(self.cuts), "cuts"),
            (json!(self.finals), "files"),
            (json!(self.acknowledged), "acknowledged"),
            (json!(self.empty), "empty"),
            (json!(self.torn), "torn"),
            (json!(self.missing), "acknowledged and missing"),
        ]
    }
}

/// Cuts the power of some writers repeatedly.
pub(crate) fn cuts(
    rig: &Rig,
    kind: &str,
    saver: Saver,
    durability: Durability,
    cuts: u64,
) -> Result<Tally> {
    let image = rig.scratch.join("power.img");
    make_image(&image, kind, IMAGE)?;
    let mut tally = Tally::default();
    for number in 0..cuts {
        cut(rig, &image, saver, durability, number, &mut tally)?;
    }
    fs::remove_file(&image)?;
    Ok(tally)
}

fn cut(
    rig: &Rig,
    image: &Path,
    saver: Saver,
    durability: Durability,
    number: u64,
    tally: &mut Tally,
) -> Result<()> {
    let at = rig.scratch.join("power");
    let disk = Mount::image(image, &at)?;
    let dir = at.join(format!("cut-{number}"));
    fs::create_dir(&dir)?;
    // Earlier content is not part of the test.
    tool("sync", &["-f", &at.display().to_string()])?;
    let heard: Arc<Mutex<Vec<(Instant, String)>>> = Arc::default();
    let mut listeners = Vec::new();
    let mut stops = Vec::new();
    for writer in 0..WRITERS {
        let mut command = rig.process("save");
        command.args(["--saver", saver.name(), "--durability", word(durability)]);
        command.arg("--dir").arg(&dir).args(["--longest", &MAX_LENGTH.to_string()]);
        command.args(["--worker", &(number * WRITERS + writer).to_string()]);
        let mut worker = Worker::start(&mut command, LIMIT)?;
        worker.line()?;
        let heard = Arc::clone(&heard);
        stops.push(worker.stopper());
        listeners.push(thread::spawn(move || {
            // After a cut every save fails at once, and reports it until the writer is killed.
            while let Ok(line) = worker.line() {
                if let Ok(mut heard) = heard.lock() {
                    heard.push((Instant::now(), line));
                }
            }
        }));
    }
    thread::sleep(Duration::from_millis(40 + Random::new(number).below(160)));
    // A later acknowledgement may have been sent while the file system was going down, which a machine without power
    // could not do.
    let last = Instant::now();
    let done = tool("perl", &["-e", SHUTDOWN, &at.display().to_string()]);
    for stop in stops {
        stop();
    }
    for listener in listeners {
        listener.join().map_err(|_| "a listener panicked")?;
    }
    drop(disk);
    done?;
    let heard = heard.lock().map_err(|error| error.to_string())?;
    let acks: Vec<&str> = heard
        .iter()
        .filter(|(at, _)| *at < last)
        .filter_map(|(_, line)| line.split_once('\t').filter(|(path, _)| *path != "error"))
        .map(|(_, tag)| tag)
        .collect();
    let _disk = Mount::image(image, &at)?;
    check(rig, &dir, &acks, tally)?;
    fs::remove_dir_all(&dir).or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })?;
    Ok(())
}

fn check(rig: &Rig, dir: &Path, acks: &[&str], tally: &mut Tally) -> Result<()> {
    tally.cuts += 1;
    tally.acknowledged += acks.len() as u64;
    let mut missing: HashSet<&str> = acks.iter().copied().collect();
    for path in if dir.exists() { files(dir)? } else { Vec::new() } {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(tag) = Tag::read(name) else { continue };
        tally.finals += 1;
        missing.remove(tag.to_string().as_str());
        if rig.block.is_in(&tag, &path) {
            continue;
        }
        let found = fs::metadata(&path)?.len();
        if found == 0 {
            tally.empty += 1;
        } else {
            tally.torn += 1;
        }
        tally
            .case
            .get_or_insert_with(|| format!("{found} of {} bytes under a final name", tag.length));
    }
    tally.missing += missing.len() as u64;
    Ok(())
}

/// Returns the reason why no power can be cut here.
pub(crate) fn missing(rig: &Rig, kind: &str) -> Option<String> {
    let perl = (!has_tool("perl")).then(|| "perl is not there".to_owned());
    perl.or_else(|| missing_kind(rig, kind))
}

/// Checks that a planted bug is noticed by a cut at the highest level.
pub(crate) fn notices(rig: &Rig, saver: Saver) -> Result<Option<String>> {
    let tally = cuts(rig, "ext4", saver, Durability::Full, 3)?;
    let lost = (tally.missing > 0).then(|| format!("{} are missing", tally.missing));
    Ok(tally.case.or(lost))
}

pub(crate) fn bench(rig: &Rig, report: &mut Report) {
    let kinds: &[&str] = if rig.quick { &["ext4"] } else { &["ext4", "xfs"] };
    for kind in kinds {
        for (durability, quick) in
            [(Durability::File, 8), (Durability::Full, 8), (Durability::Process, 4)]
        {
            let name = format!("power cut, {kind}, level {}", word(durability));
            let bars = if durability == Durability::Full { "B5 B6" } else { "B5" };
            report.bench(bars, &name, || {
                if let Some(reason) = missing(rig, kind) {
                    return Ok(Finding::skipped(reason));
                }
                let full = if durability == Durability::Process { 40 } else { 200 };
                let tally = cuts(rig, kind, Saver::Product, durability, rig.count(full, quick))?;
                let figures = tally.figures();
                if durability == Durability::Process {
                    return Ok(Finding::compared(figures));
                }
                let is_idle = tally.acknowledged == 0 || tally.finals == 0;
                let idle = is_idle.then(|| "nothing was saved".to_owned());
                let lost = (durability == Durability::Full && tally.missing > 0)
                    .then(|| format!("{} acknowledged outputs are missing", tally.missing));
                Ok(Finding::new(figures, tally.case.or(lost).or(idle)))
            });
        }
    }
}
