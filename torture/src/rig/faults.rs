//! Injects faults into every system call of one save and of one sweep: it fails once, permanently, with every errno of
//! a disk, and it is the last call of the process. The result is checked after each.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use serde_json::{Value, json};
use spillway_core::storage::bounds::Bounds;
use spillway_core::storage::directories::{Durability, StoreDirs};
use spillway_core::storage::open_store::OpenStore;
use spillway_core::storage::sweep::{SweepTrigger, sweep};

use super::args::word;
use super::child::Ended;
use super::content::{Block, Tag};
use super::one::OUTPUT;
use super::report::{Finding, Report};
use super::savers::{PREVIEW_BYTES, Saver};
use super::strace::{Call, Fault, inject, missing, trace};
use super::{Result, Rig, now_ms, outputs};

const ERRNOS: [&str; 24] = [
    "ENOSPC",
    "EDQUOT",
    "EIO",
    "EROFS",
    "EACCES",
    "EPERM",
    "ENAMETOOLONG",
    "ELOOP",
    "ENOTDIR",
    "EMFILE",
    "ENFILE",
    "EFBIG",
    "ENOMEM",
    "EBUSY",
    "ETXTBSY",
    "ESTALE",
    "EINTR",
    "EEXIST",
    "ENOENT",
    "EINVAL",
    "EOPNOTSUPP",
    "ENODEV",
    "ENXIO",
    "EISDIR",
];
/// A bad disk, a full one, a signal, and a removed folder.
const QUICK_ERRNOS: [&str; 4] = ["EIO", "ENOSPC", "EINTR", "ENOENT"];
/// Errors with another cause than a bad disk: the store may handle them and then encounter a second one.
const TELLING: [&str; 4] = ["ENOENT", "EEXIST", "EPERM", "EOPNOTSUPP"];
/// Maximum length of a notice, without its path.
const NOTICE_BYTES: u64 = 512;
const LANES: usize = 2;

/// The environment of an operation before the injected fault.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    saver: Saver,
    durability: Durability,
    /// Faults during the whole run, which force another code path.
    way: Vec<Fault>,
}

impl Setting {
    pub(crate) fn new(saver: Saver, durability: Durability) -> Self {
        Setting { saver, durability, way: Vec::new() }
    }

    /// Disables naming of unnamed files.
    fn named(mut self) -> Self {
        self.way.push(Fault::always("?access,?faccessat,?faccessat2", "ENOENT"));
        self
    }

    /// Disables exclusive renames too, so that the other name is a hard link.
    fn linked(self) -> Self {
        let mut setting = self.named();
        setting.way.push(Fault::always("renameat2", "EINVAL"));
        setting
    }

    /// Disables hard links too.
    fn moved(self) -> Self {
        let mut setting = self.linked();
        setting.way.push(Fault::always("linkat", "EPERM"));
        setting
    }

    fn has_temporary_names(&self) -> bool {
        !self.way.is_empty() || self.saver != Saver::Product
    }
}

/// One run: the faults, and the expectation.
#[derive(Debug, Clone)]
struct Case {
    faults: Vec<Fault>,
    errnos: Vec<String>,
    /// True if the other folder is healthy, so that the output must be saved.
    must_save: bool,
    is_kill: bool,
    may_leave: bool,
}

impl Case {
    fn new(faults: Vec<Fault>, errnos: &[&str]) -> Self {
        let may_leave = faults.iter().any(|fault| fault.names().starts_with("unlink"));
        Case {
            faults,
            errnos: errnos.iter().map(|&errno| errno.to_owned()).collect(),
            must_save: false,
            is_kill: false,
            may_leave,
        }
    }

    fn title(&self) -> String {
        self.faults.iter().map(Fault::to_string).collect::<Vec<_>>().join(" and ")
    }
}

/// The directories of one run.
struct Room {
    root: PathBuf,
    dirs: [PathBuf; 2],
}

impl Room {
    fn make(root: &Path) -> Result<Self> {
        let _ = fs::remove_dir_all(root);
        fs::create_dir_all(root)?;
        let dirs = [root.join("main"), root.join("fallback")];
        Ok(Room { root: root.to_owned(), dirs })
    }

    fn process(&self, rig: &Rig, setting: &Setting) -> Command {
        let mut command = rig.process("one");
        command.args(["--saver", setting.saver.name(), "--sessions"]);
        command.args(["--durability", word(setting.durability)]);
        for dir in &self.dirs {
            command.arg("--dir").arg(dir);
        }
        command
    }

    fn outputs(&self) -> Result<Vec<PathBuf>> {
        let mut all = Vec::new();
        for dir in self.dirs.iter().filter(|dir| dir.exists()) {
            all.extend(outputs(dir)?);
        }
        Ok(all)
    }
}

/// Returns all single faults of a setting.
fn singles(calls: &[Call], errnos: &[&str]) -> Vec<Case> {
    let mut cases = Vec::new();
    for call in calls {
        for errno in errnos {
            let once = Case::new(vec![Fault::error(call, errno)], &[errno]);
            cases.push(Case { must_save: true, ..once });
            // No program handles permanent interruption.
            if *errno != "EINTR" {
                cases.push(Case::new(vec![Fault::lasting(call, errno)], &[errno]));
            }
        }
        let kill = Case::new(vec![Fault::kill(call)], &[]);
        cases.push(Case { is_kill: true, ..kill });
    }
    cases
}

/// For each failing call, returns each later call that fails as well.
fn doubles(
    rig: &Rig,
    setting: &Setting,
    calls: &[Call],
    every: usize,
    errnos: &[&str],
) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    let mut number = 0;
    for first in calls {
        for errno in errnos {
            number += 1;
            if number % every != 0 {
                continue;
            }
            let room = Room::make(&rig.scratch.join("fault-trace"))?;
            let fault = Fault::error(first, errno);
            let faults = [&setting.way[..], std::slice::from_ref(&fault)].concat();
            let then = trace(&room.process(rig, setting), &faults, &room.root.join("log"))?;
            let at = then.iter().position(|call| call == first).map_or(0, |at| at + 1);
            for second in &then[at.min(then.len())..] {
                if is_way(setting, second) {
                    continue;
                }
                let faults = match second.name == first.name {
                    true => vec![Fault::twice(first, second, errno)],
                    false => vec![fault.clone(), Fault::error(second, "EIO")],
                };
                cases.push(Case::new(faults, &[errno, "EIO"]));
            }
        }
    }
    Ok(cases)
}

fn is_way(setting: &Setting, call: &Call) -> bool {
    let named = |fault: &Fault| {
        fault.names().split(',').any(|name| name.trim_start_matches('?') == call.name)
    };
    setting.way.iter().any(named)
}

/// The result of all faults.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    calls: u64,
    runs: u64,
    pub broken: u64,
    pub case: Option<String>,
}

/// Runs the single faults of a setting, and some of the double ones.
pub(crate) fn over(
    rig: &Rig,
    setting: &Setting,
    errnos: &[&str],
    double_every: Option<usize>,
) -> Result<Tally> {
    let room = Room::make(&rig.scratch.join("fault-trace"))?;
    let log = room.root.join("log");
    let mut calls = trace(&room.process(rig, setting), &setting.way, &log)?;
    calls.retain(|call| !is_way(setting, call));
    let mut tally = Tally { calls: calls.len() as u64, ..Tally::default() };
    if let Err(problem) = check_order(&log, setting) {
        tally.broken += 1;
        tally.case = Some(problem.to_string());
    }
    let cases = match double_every {
        None => singles(&calls, errnos),
        Some(every) => doubles(rig, setting, &calls, every, errnos)?,
    };
    tally.runs = cases.len() as u64;
    let next = AtomicU64::new(0);
    let found = Mutex::new(tally);
    thread::scope(|scope| {
        for lane in 0..LANES {
            let (next, found, cases) = (&next, &found, &cases);
            scope.spawn(move || {
                let root = rig.scratch.join(format!("fault-{lane}"));
                while let Some(case) = usize::try_from(next.fetch_add(1, Ordering::Relaxed))
                    .ok()
                    .and_then(|at| cases.get(at))
                {
                    if let Err(problem) = try_case(rig, setting, case, &root)
                        && let Ok(mut found) = found.lock()
                    {
                        found.broken += 1;
                        let title = format!("{}, {}", case.title(), word(setting.durability));
                        found.case.get_or_insert_with(|| format!("{title}: {problem}"));
                    }
                }
            });
        }
    });
    Ok(found.into_inner()?)
}

/// Checks that an undisturbed run syncs the file before it is named, and the folder afterwards, as its level requires.
fn check_order(log: &Path, setting: &Setting) -> Result<()> {
    let text = fs::read_to_string(log)?;
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(" = 0")).collect();
    let published =
        lines.iter().rposition(|line| line.starts_with("link") || line.starts_with("rename"));
    let Some(published) = published else { return Err("nothing is published".into()) };
    let syncs = |lines: &[&str]| {
        lines.iter().any(|line| line.starts_with("fsync") || line.starts_with("fdatasync"))
    };
    let (before, after) = (syncs(&lines[..published]), syncs(&lines[published..]));
    match setting.durability {
        Durability::Process => Ok(()),
        _ if !before => Err("the file is not synced before it gets its name".into()),
        Durability::Full if !after => Err("the folder is not synced after that".into()),
        _ => Ok(()),
    }
}

fn try_case(rig: &Rig, setting: &Setting, case: &Case, root: &Path) -> Result<()> {
    let room = Room::make(root)?;
    let faults = [&setting.way[..], &case.faults[..]].concat();
    let log = room.root.join("log");
    let also = ["fsync", "fdatasync", "openat", "close"];
    let ended = inject(&room.process(rig, setting), &faults, &also, &log)?;
    judge(rig, setting, case, &room, &ended)?;
    no_second_sync(&fs::read_to_string(&log)?)
}

fn judge(rig: &Rig, setting: &Setting, case: &Case, room: &Room, ended: &Ended) -> Result<()> {
    let (finals, others): (Vec<PathBuf>, Vec<PathBuf>) =
        room.outputs()?.into_iter().partition(|path| path.extension() == Some(OsStr::new("txt")));
    for path in &finals {
        check_final(&rig.block, path, &OUTPUT)?;
    }
    let may_stay = case.may_leave || (case.is_kill && setting.has_temporary_names());
    if !others.is_empty() {
        if !may_stay {
            return Err(format!("{} is left", others[0].display()).into());
        }
        clean_up_later(room)?;
        let left = room.outputs()?.len() - finals.len();
        if left > 0 {
            return Err(format!("{left} files outlive a cleanup").into());
        }
    }
    if case.is_kill {
        return match (ended.signal, finals.len()) {
            (Some(9), 0 | 1) => Ok(()),
            other => Err(format!("(signal, files) are {other:?}").into()),
        };
    }
    if ended.code != Some(0) {
        return Err(
            format!("ended with {:?} {:?}: {}", ended.code, ended.signal, ended.complaint).into()
        );
    }
    let found: Value = serde_json::from_str(&ended.printed)?;
    check_outcome(case, room, &found, &finals)
}

/// Checks that a file with a final name is complete and not readable by others.
pub(crate) fn check_final(block: &Block, path: &Path, tag: &Tag) -> Result<()> {
    if !block.is_in(tag, path) {
        return Err(format!("{} is torn", path.display()).into());
    }
    let mode = fs::metadata(path)?.permissions().mode() & 0o777;
    if mode == 0o600 { Ok(()) } else { Err(format!("mode {mode:o}").into()) }
}

fn check_outcome(case: &Case, room: &Room, found: &Value, finals: &[PathBuf]) -> Result<()> {
    let outcome = &found["outcome"];
    let longest = PREVIEW_BYTES + NOTICE_BYTES + room.root.as_os_str().len() as u64 + 200;
    if found["shown"].as_u64().is_none_or(|shown| shown == 0 || shown > longest) {
        return Err(format!("the text for the model has {} bytes", found["shown"]).into());
    }
    let attempts = |of: &Value| of["attempts"].as_array().cloned().unwrap_or_default();
    let reasons = |of: &Value| -> Vec<String> {
        attempts(of).iter().filter_map(|each| Some(each["error"].as_str()?.to_owned())).collect()
    };
    let names = |reason: &String| {
        // Random bytes do not come from a file, and their crate reports no errno.
        reason.contains("the system gave no random bytes")
            || case.errnos.iter().any(|errno| {
                // One errno has two names.
                let errno = if errno == "EOPNOTSUPP" { "ENOTSUP" } else { errno };
                reason.starts_with(errno)
            })
    };
    let is_telling = case.errnos.iter().any(|errno| TELLING.contains(&errno.as_str()));
    let check_reasons = |reasons: &[String]| -> Result<()> {
        match reasons
            .iter()
            .find(|reason| !(names(reason) || is_telling && reason.starts_with('E')))
        {
            Some(reason) => Err(format!("the reason is {reason:?}").into()),
            None => Ok(()),
        }
    };
    if let Some(path) = outcome["saved"]["path"].as_str() {
        if finals != [Path::new(path)] {
            return Err(format!("saved as {path}, and there are {finals:?}").into());
        }
        let reasons = reasons(&outcome["saved"]);
        if reasons.is_empty() != path.starts_with(room.dirs[0].to_str().unwrap_or_default()) {
            return Err(format!("saved as {path} after {reasons:?}").into());
        }
        if case.must_save && case.errnos == ["EINTR"] && !reasons.is_empty() {
            return Err(format!("an interruption shows: {reasons:?}").into());
        }
        return check_reasons(&reasons);
    }
    if case.must_save {
        return Err(format!("not saved: {}", outcome["saveError"]["message"]).into());
    }
    if !finals.is_empty() {
        return Err(format!("said to be lost, and there are {finals:?}").into());
    }
    let reasons = reasons(&outcome["saveError"]);
    if reasons.len() != 2 {
        return Err(format!("both folders should have a reason: {reasons:?}").into());
    }
    check_reasons(&reasons)
}

/// Checks that a failed sync is never repeated on the same file: the system reports a failed write-back only once.
fn no_second_sync(log: &str) -> Result<()> {
    let mut failed = BTreeSet::new();
    for line in log.lines() {
        let Some((name, rest)) = line.split_once('(') else { continue };
        let Some(descriptor) = rest.split([')', ',']).next() else { continue };
        match name {
            "close" => drop(failed.remove(descriptor)),
            "fsync" | "fdatasync" => {
                if failed.contains(descriptor) {
                    return Err("a failed sync was tried again".into());
                }
                if line.contains("= -1") && !line.contains("EINTR") {
                    failed.insert(descriptor.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn clean_up_later(room: &Room) -> Result<()> {
    let places = StoreDirs::of(room.dirs.to_vec(), Durability::Process);
    let later = SweepTrigger::Requested(i64::try_from(now_ms())? + 2 * 60 * 60 * 1000);
    sweep(&OpenStore::new(places), &Bounds::of_age(365.0), later);
    Ok(())
}

/// Checks that a planted bug is noticed under a few faults.
pub(crate) fn notices(rig: &Rig, setting: &Setting) -> Result<Option<String>> {
    if let Some(reason) = missing() {
        return Err(reason.into());
    }
    Ok(over(rig, setting, &["EIO"], None)?.case)
}

fn finding(tallies: &[Tally]) -> Finding {
    let sum = |of: fn(&Tally) -> u64| tallies.iter().map(of).sum::<u64>();
    let figures = vec![
        (json!(sum(|tally| tally.calls)), "calls"),
        (json!(sum(|tally| tally.runs)), "runs"),
        (json!(sum(|tally| tally.broken)), "broken promises"),
    ];
    Finding::new(figures, tallies.iter().find_map(|tally| tally.case.clone()))
}

pub(crate) fn bench(rig: &Rig, report: &mut Report) {
    let errnos = if rig.quick { &QUICK_ERRNOS[..] } else { &ERRNOS[..] };
    let product = |durability| Setting::new(Saver::Product, durability);
    let mut settings = vec![product(Durability::Full), product(Durability::Process).named()];
    if !rig.quick {
        settings.extend([
            product(Durability::Process),
            product(Durability::File),
            product(Durability::Full).named(),
            product(Durability::Full).linked(),
            product(Durability::Process).moved(),
        ]);
    }
    report.bench("B2 B8", "a fault at every call of a save", || {
        if let Some(reason) = missing() {
            return Ok(Finding::skipped(reason));
        }
        let over = |setting: &Setting| over(rig, setting, errnos, None);
        Ok(finding(&settings.iter().map(over).collect::<Result<Vec<_>>>()?))
    });
    report.bench("B9", "two faults in one save", || {
        if let Some(reason) = missing() {
            return Ok(Finding::skipped(reason));
        }
        let every = if rig.quick { 12 } else { 2 };
        let over = |setting: &Setting| over(rig, setting, &["ENOSPC", "EIO"], Some(every));
        let settings = &settings[..if rig.quick { 2 } else { settings.len() }];
        Ok(finding(&settings.iter().map(over).collect::<Result<Vec<_>>>()?))
    });
}
