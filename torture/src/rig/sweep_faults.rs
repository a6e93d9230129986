//! Injects faults into every system call of a sweep, and ends the process at each. Files to keep must be kept, and the
//! next sweep must succeed.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
use serde_json::json;

use super::report::{Finding, Report};
use super::strace::{Fault, inject, missing, trace};
use super::sweepers::Sweeper;
use super::{Result, Rig, files};

const HOUR: Duration = Duration::from_secs(60 * 60);
/// Maximum duration of a sweep of a few files.
const PATIENCE: Duration = Duration::from_secs(60);
const SESSION: &str = "s-0123456789ab";

/// Names, ages in hours, and whether they are kept.
const FILES: [(&str, u32, bool); 9] = [
    ("x_1_aaaaaaaaaaaaa.txt", 24 * 8, false),
    ("x_1_bbbbbbbbbbbbb.txt", 24 * 8, false),
    ("x_1_ccccccccccccc.txt", 0, true),
    ("x_1_ddddddddddddd.txt", 24 * 6, true),
    (".spillway_1_eeeeeeeeeeeee.tmp", 2, false),
    (".spillway_1_fffffffffffff.tmp", 0, true),
    ("notes.txt", 24 * 800, true),
    ("s-0123456789ab/x_1_ggggggggggggg.txt", 24 * 8, false),
    ("s-0123456789ab/x_1_hhhhhhhhhhhhh.txt", 0, true),
];

/// Creates a store with every kind of file that a sweep can encounter, and a file outside that symlinks lead to.
fn furnish(root: &Path) -> Result<PathBuf> {
    let _ = fs::remove_dir_all(root);
    let dir = root.join("store");
    fs::create_dir_all(dir.join(SESSION))?;
    let old = SystemTime::now() - HOUR * 24 * 8;
    for (name, hours, _) in FILES {
        let file = File::create(dir.join(name))?;
        file.set_len(10)?;
        file.set_modified(SystemTime::now() - HOUR * hours)?;
    }
    // A sweep recognizes the folder of a session by this file.
    File::create(dir.join(SESSION).join(".lease"))?;
    for precious in ["linked", "hard-linked"] {
        File::create(root.join(precious))?.set_modified(old)?;
    }
    let link = dir.join("x_1_iiiiiiiiiiiii.txt");
    symlink(root.join("linked"), &link)?;
    let since = old.duration_since(SystemTime::UNIX_EPOCH)?;
    let time = Timespec { tv_sec: i64::try_from(since.as_secs())?, tv_nsec: 0 };
    let times = Timestamps { last_access: time, last_modification: time };
    utimensat(CWD, &link, &times, AtFlags::SYMLINK_NOFOLLOW)?;
    fs::hard_link(root.join("hard-linked"), dir.join("x_1_jjjjjjjjjjjjj.txt"))?;
    fs::create_dir(dir.join("x_1_kkkkkkkkkkkkk.txt"))?;
    Ok(dir)
}

/// Checks which files are missing after a sweep.
fn check(root: &Path, is_done: bool) -> Result<()> {
    let dir = root.join("store");
    let found: BTreeSet<PathBuf> = files(root)?.into_iter().collect();
    let stays = FILES.iter().filter(|(_, _, stays)| *stays).map(|(name, _, _)| dir.join(name));
    let others = [
        root.join("linked"),
        root.join("hard-linked"),
        dir.join("x_1_iiiiiiiiiiiii.txt"),
        dir.join("x_1_jjjjjjjjjjjjj.txt"),
    ];
    if let Some(gone) = stays.chain(others).find(|path| !found.contains(path)) {
        return Err(format!("{} is gone", gone.display()).into());
    }
    if !dir.join("x_1_kkkkkkkkkkkkk.txt").is_dir() {
        return Err("a folder is gone".into());
    }
    let goes = FILES.iter().filter(|(_, _, stays)| !stays).map(|(name, _, _)| dir.join(name));
    match goes.into_iter().find(|path| found.contains(path)) {
        Some(left) if is_done => Err(format!("{} is left", left.display()).into()),
        _ => Ok(()),
    }
}

fn process(rig: &Rig, sweeper: Sweeper, dir: &Path) -> Command {
    let mut command = rig.process("one");
    command.args(["--sweeper", sweeper.name()]).arg("--dir").arg(dir);
    command
}

/// Runs all faults of a sweep. Returns the number of calls and runs, and the first violation.
pub(crate) fn over(
    rig: &Rig,
    sweeper: Sweeper,
    errnos: &[&str],
) -> Result<(usize, usize, Option<String>)> {
    let root = rig.scratch.join("sweep-faults");
    let log = rig.scratch.join("sweep-log");
    let calls = trace(&process(rig, sweeper, &furnish(&root)?), &[], &log)?;
    if let Err(problem) = check(&root, true) {
        return Ok((calls.len(), 1, Some(format!("undisturbed: {problem}"))));
    }
    let mut runs = 0;
    for call in &calls {
        let errors = errnos.iter().flat_map(|errno| {
            // No program handles permanent interruption.
            let lasting = (*errno != "EINTR").then(|| Fault::lasting(call, errno));
            [Some(Fault::error(call, errno)), lasting].into_iter().flatten()
        });
        for fault in errors.chain([Fault::kill(call)]) {
            runs += 1;
            let dir = furnish(&root)?;
            let ended =
                inject(&process(rig, sweeper, &dir), std::slice::from_ref(&fault), &[], &log)?;
            let is_over = ended.code == Some(0) || ended.signal == Some(9);
            let result = match is_over {
                false => Err(format!("ended with {:?}: {}", ended.code, ended.complaint).into()),
                true => check(&root, false),
            };
            let result = result.and_then(|()| {
                let next = super::child::run(&mut process(rig, Sweeper::Product, &dir), PATIENCE)?;
                if next.code != Some(0) {
                    let (code, signal) = (next.code, next.signal);
                    return Err(format!(
                        "the next ended with {code:?} {signal:?}: {}",
                        next.complaint
                    )
                    .into());
                }
                check(&root, true)
            });
            if let Err(problem) = result {
                return Ok((calls.len(), runs, Some(format!("{fault}: {problem}"))));
            }
        }
    }
    Ok((calls.len(), runs, None))
}

/// Checks that a planted bug is noticed.
pub(crate) fn notices(rig: &Rig, sweeper: Sweeper) -> Result<Option<String>> {
    if let Some(reason) = missing() {
        return Err(reason.into());
    }
    Ok(over(rig, sweeper, &["EIO"])?.2)
}

pub(crate) fn bench(rig: &Rig, report: &mut Report) {
    report.bench("B2 B8", "a fault at every call of a sweep", || {
        if let Some(reason) = missing() {
            return Ok(Finding::skipped(reason));
        }
        let errnos: &[&str] = if rig.quick {
            &["EIO"]
        } else {
            &["EIO", "EACCES", "ENOENT", "ENOMEM", "EINTR", "EROFS"]
        };
        let (calls, runs, case) = over(rig, Sweeper::Product, errnos)?;
        Ok(Finding::new(vec![(json!(calls), "calls"), (json!(runs), "runs")], case))
    });
}
