//! A file system with room for only some pages of an output, for every number of pages. A short write must never pass
//! for a complete one.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use spillway_core::storage::directories::Durability;

use super::child::run;
use super::content::Tag;
use super::mounts::{Mount, missing};
use super::report::{Finding, Report};
use super::savers::{Job, Saver};
use super::{Result, Rig, files};

const PAGE: u64 = 4096;
/// Numbers of free pages that are tried.
const RESTS: u64 = 256;
/// Number of pages of the whole file system.
const PAGES: u64 = 2 * RESTS;

/// The result.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    saves: u64,
    elsewhere: u64,
    refused: u64,
    pub silent: u64,
    pub left: u64,
    case: Option<String>,
}

/// Fills a file system except for `pages` pages.
fn leave(filler: &Path, pages: u64) -> Result<()> {
    // Holes take no space: the pages have to be written.
    let bytes = usize::try_from((PAGES - pages) * PAGE)?;
    Ok(fs::write(filler, vec![1; bytes])?)
}

/// Saves outputs into every remainder of a file system: slightly too long, just fitting, and far too long, with and
/// without another folder.
pub(crate) fn over(rig: &Rig, saver: Saver) -> Result<Tally> {
    let mount = Mount::tmpfs(&rig.scratch.join("full"), &format!("size={}k", PAGES * PAGE / 1024))?;
    let elsewhere = rig.folder("full-elsewhere")?;
    let filler = mount.at().join("filler");
    let mut tally = Tally::default();
    for rest in 0..RESTS {
        let _ = fs::remove_file(&filler);
        leave(&filler, rest)?;
        for (number, length) in
            [rest * PAGE + 1, rest * PAGE, RESTS * PAGE + 1].into_iter().enumerate()
        {
            let dirs = [mount.at().to_owned(), elsewhere.clone()];
            let dirs = if number == 2 && rest % 8 == 0 { &dirs[..] } else { &dirs[..1] };
            let tag = Tag { worker: rest, number: number as u64, length: length.max(1), start: 3 };
            save_one(rig, saver, dirs, &tag, &mut tally)?;
        }
        let left = files(mount.at())?.len() as u64 - 1;
        if left > 0 {
            tally.left += left;
            tally.case.get_or_insert_with(|| format!("{left} files left with {rest} pages"));
            for file in files(mount.at())?.iter().filter(|file| **file != filler) {
                fs::remove_file(file)?;
            }
        }
    }
    Ok(tally)
}

fn save_one(rig: &Rig, saver: Saver, dirs: &[PathBuf], tag: &Tag, tally: &mut Tally) -> Result<()> {
    let job = Job {
        dirs,
        durability: Durability::Process,
        tool: &tag.to_string(),
        session: None,
        content: rig.block.of(tag),
    };
    let (outcome, _) = saver.save(&job, &mut |_| ());
    tally.saves += 1;
    match outcome.saved {
        Some(saved) => {
            let path = Path::new(&saved.path);
            if !rig.block.is_in(tag, path) {
                tally.silent += 1;
                let found =
                    File::open(path).and_then(|file| file.metadata()).map_or(0, |it| it.len());
                tally.case.get_or_insert_with(|| {
                    format!("{found} of {} bytes, and no error", tag.length)
                });
            }
            tally.elsewhere += u64::from(!path.starts_with(&dirs[0]));
            fs::remove_file(path)?;
        }
        None => {
            tally.refused += 1;
            if dirs.len() > 1 {
                tally.case.get_or_insert_with(|| "the other folder was not used".to_owned());
            }
            let reason = outcome.save_error.map(|error| error.message).unwrap_or_default();
            if !reason.contains("ENOSPC") && !reason.contains("reserve of free space") {
                tally.case.get_or_insert_with(|| format!("the reason is {reason:?}"));
            }
        }
    }
    Ok(())
}

/// Checks that a planted bug is noticed by an incomplete file.
pub(crate) fn notices(rig: &Rig, saver: Saver) -> Result<Option<String>> {
    let tally = over(rig, saver)?;
    Ok((tally.silent + tally.left > 0).then_some(tally.case).flatten())
}

pub(crate) fn bench(rig: &Rig, report: &mut Report) {
    report.bench("B10", "nearly full disk", || {
        if let Some(reason) = missing(rig) {
            return Ok(Finding::skipped(reason));
        }
        let tally = over(rig, Saver::Product)?;
        let figures = vec![
            (json!(RESTS), "numbers of free pages"),
            (json!(tally.saves), "saves"),
            (json!(tally.refused), "reported as failed"),
            (json!(tally.elsewhere), "saved elsewhere"),
            (json!(tally.silent), "silently cut short"),
            (json!(tally.left), "left over"),
        ];
        Ok(Finding::new(figures, tally.case))
    });
    for (name, saver) in [
        ("nearly full disk: fs.promises.writeFile", "write-file"),
        ("nearly full disk: write-file-atomic 7.0.1", "write-file-atomic"),
        ("nearly full disk: cacache 20.0.4", "cacache"),
    ] {
        if !rig.quick {
            report.bench("B10", name, || compare(rig, saver));
        }
    }
}

fn compare(rig: &Rig, saver: &str) -> Result<Finding> {
    let Some(package) = &rig.package else {
        return Ok(Finding::skipped("the add-on is not built"));
    };
    if let Some(reason) = missing(rig) {
        return Ok(Finding::skipped(reason));
    }
    let mount = Mount::tmpfs(&rig.scratch.join("full"), &format!("size={}k", PAGES * PAGE / 1024))?;
    let mut command = Command::new("node");
    command.arg(package.join("torture/workers/full-disk.mjs")).arg(saver).arg(mount.at());
    command.args([PAGES.to_string(), RESTS.to_string()]);
    let ended = run(&mut command, Duration::from_secs(120))?;
    let Ok(found) = serde_json::from_str::<Value>(&ended.printed) else {
        return Ok(Finding::skipped("not installed: npm install --prefix torture"));
    };
    Ok(Finding::compared(vec![
        (found["saves"].clone(), "saves"),
        (found["refused"].clone(), "reported as failed"),
        (found["silent"].clone(), "silently cut short"),
        (found["torn"].clone(), "torn under the final name"),
    ]))
}
