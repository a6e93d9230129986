//! A disk that accepts every byte and reports only at the sync that it could not store them: an image larger than the
//! file system that contains it.

use serde_json::{Value, json};
use spillway_core::storage::directories::Durability;
use std::time::Duration;

use super::args::word;
use super::child::run;
use super::content::Tag;
use super::faults::check_final;
use super::mounts::{Mount, make_image, missing_kind};
use super::one::OUTPUT;
use super::report::{Finding, Report};
use super::savers::Saver;
use super::{Result, Rig, outputs};

/// Nominal size of the image, which exceeds the available space.
const SAID: u64 = 256 << 20;
const REAL: &str = "size=24m";
/// Length of the output: the image accepts it, but there is no space for it.
const LENGTH: u64 = 8 << 20;

pub(crate) fn bench(rig: &Rig, report: &mut Report) {
    report.bench("B11", "a disk that fails at the sync", || {
        if let Some(reason) = missing_kind(rig, "ext4") {
            return Ok(Finding::skipped(reason));
        }
        let mut wrong = None;
        for durability in [Durability::File, Durability::Full] {
            wrong = wrong.or(late(rig, Saver::Product, durability)?);
        }
        Ok(Finding::new(
            vec![(json!(2), "levels"), (json!(u64::from(wrong.is_some())), "broken promises")],
            wrong,
        ))
    });
}

/// Checks that a planted bug is noticed because it publishes there.
pub(crate) fn notices(rig: &Rig, saver: Saver) -> Result<Option<String>> {
    late(rig, saver, Durability::File)
}

fn late(rig: &Rig, saver: Saver, durability: Durability) -> Result<Option<String>> {
    let small = Mount::tmpfs(&rig.scratch.join("late-below"), REAL)?;
    let image = small.at().join("image");
    make_image(&image, "ext4", SAID)?;
    let disk = Mount::image(&image, &rig.scratch.join("late"))?;
    let elsewhere = rig.folder("late-elsewhere")?;
    let main = disk.at().join("outputs");
    // The remaining space is less than one output, though the image has room for many.
    let taken = free(small.at())?.saturating_sub(LENGTH / 2);
    std::fs::write(small.at().join("filler"), vec![1; usize::try_from(taken)?])?;
    let mut one = rig.process("one");
    one.args(["--saver", saver.name(), "--durability", word(durability)]);
    one.arg("--length")
        .arg(LENGTH.to_string())
        .arg("--dir")
        .arg(&main)
        .arg("--dir")
        .arg(&elsewhere);
    let ended = run(&mut one, Duration::from_secs(60))?;
    let found: Value = serde_json::from_str(&ended.printed).map_err(|_| ended.complaint.clone())?;
    let saved = &found["outcome"]["saved"];
    let visible = if main.exists() { outputs(&main)? } else { Vec::new() };
    let attempt = saved["attempts"][0]["error"].as_str().unwrap_or_default();
    let path = saved["path"].as_str().unwrap_or_default();
    let tag = Tag { length: LENGTH, ..OUTPUT };
    let problem = if !attempt.starts_with("EIO") && !attempt.starts_with("ENOSPC") {
        Some(format!("the reason is {attempt:?}: {found}"))
    } else if !path.starts_with(&elsewhere.display().to_string()) {
        Some(format!("saved as {path}"))
    } else if let Err(problem) = check_final(&rig.block, path.as_ref(), &tag) {
        Some(problem.to_string())
    } else {
        visible.first().map(|file| format!("{} is visible", file.display()))
    };
    drop(disk);
    Ok(problem)
}

fn free(at: &std::path::Path) -> Result<u64> {
    let stat = rustix::fs::statvfs(at)?;
    Ok(stat.f_bavail * stat.f_frsize)
}
