//! Savers: the store, and implementations with one planted bug each, so that a bench is seen to notice it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use spillway_core::capture::pipeline::{Intake, Outcome, RenderRequest, Style};
use spillway_core::error::os_reason;
use spillway_core::fs::file_names;
use spillway_core::storage::directories::{Durability, StoreDirs};
use spillway_core::storage::open_store::OpenStore;
use spillway_core::storage::save::{Attempt, SaveError, SaveRequest, Saved};
use spillway_core::text::lines::LineRule;
use spillway_core::text::lossy::Source;
use spillway_core::truncation::limits::{Direction, Limits};
use spillway_core::truncation::notice::ENGLISH;

use super::{Result, now_ms};

/// Length of previews in bytes.
pub(crate) const PREVIEW_BYTES: u64 = 2000;
/// Length of chunks in bytes, as from a pipe.
const PIECE: usize = 64 << 10;

/// A saver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Saver {
    /// The store.
    Product,
    /// A correct saver, which the bugs are planted in.
    Sound,
    /// Writes under the final name.
    FinalName,
    /// Takes a short write for a complete one.
    ShortWrite,
    /// Never syncs.
    NoSync,
    /// Syncs again after a failure.
    SyncTwice,
    /// Overwrites by renaming, and its names repeat.
    RenameOver,
    /// Acknowledges before the file is named.
    EarlyAck,
    /// Uses one temporary name for all processes.
    SharedTemp,
    /// Leaves the temporary file after a failure.
    LeavesTemp,
    /// Creates files that others can read.
    Readable,
}

const SAVERS: [(&str, Saver); 11] = [
    ("product", Saver::Product),
    ("sound", Saver::Sound),
    ("final-name", Saver::FinalName),
    ("short-write", Saver::ShortWrite),
    ("no-sync", Saver::NoSync),
    ("sync-twice", Saver::SyncTwice),
    ("rename-over", Saver::RenameOver),
    ("early-ack", Saver::EarlyAck),
    ("shared-temp", Saver::SharedTemp),
    ("leaves-temp", Saver::LeavesTemp),
    ("readable", Saver::Readable),
];

/// One save.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    /// The folders in order of preference.
    pub dirs: &'a [PathBuf],
    pub durability: Durability,
    pub tool: &'a str,
    pub session: Option<&'a str>,
    pub content: &'a [u8],
}

impl Saver {
    /// Returns the saver with a name.
    pub(crate) fn named(name: &str) -> Result<Self> {
        let known = SAVERS.iter().find(|(each, _)| *each == name);
        known.map(|(_, saver)| *saver).ok_or_else(|| format!("no saver is called {name}").into())
    }

    pub(crate) fn name(self) -> &'static str {
        SAVERS.iter().find(|(_, each)| *each == self).map_or("", |(name, _)| *name)
    }

    /// Saves, and acknowledges with the path. Returns the outcome and the text for the model.
    pub(crate) fn save(self, job: &Job<'_>, ack: &mut dyn FnMut(&str)) -> (Outcome, String) {
        if self == Saver::Product {
            let (outcome, text) = product(job);
            if let Some(saved) = &outcome.saved {
                ack(&saved.path);
            }
            return (outcome, text);
        }
        let outcome = self.planted(job, ack);
        (outcome, "a preview".to_owned())
    }

    fn planted(self, job: &Job<'_>, ack: &mut dyn FnMut(&str)) -> Outcome {
        let mut attempts = Vec::new();
        for dir in job.dirs {
            match self.try_in(dir, job, ack) {
                Ok(path) => {
                    let path = path.display().to_string();
                    if self != Saver::EarlyAck {
                        ack(&path);
                    }
                    let bytes = job.content.len() as u64;
                    let saved = Saved { path, bytes, redactions: None, part: None, attempts };
                    return Outcome { saved: Some(saved), ..Outcome::default() };
                }
                Err(error) => attempts
                    .push(Attempt { dir: dir.display().to_string(), error: os_reason(&error) }),
            }
        }
        let message = attempts.iter().map(|each| each.error.clone()).collect::<Vec<_>>().join("; ");
        let error = SaveError { code: "STORAGE_WRITE", message, attempts };
        Outcome { save_error: Some(error), ..Outcome::default() }
    }

    fn try_in(self, dir: &Path, job: &Job<'_>, ack: &mut dyn FnMut(&str)) -> io::Result<PathBuf> {
        fs::create_dir_all(dir)?;
        let random = file_names::output(&file_names::slug(job.tool), now_ms(), false)
            .map_err(io::Error::other)?;
        let (name, temporary) = match self {
            Saver::RenameOver => (format!("{}_{}.txt", job.tool, now_ms()), None),
            Saver::FinalName => (random.clone(), Some(random)),
            Saver::SharedTemp => (random, Some(".spillway.tmp".to_owned())),
            _ => (random, None),
        };
        let temporary = match temporary {
            Some(name) => name,
            None => file_names::temporary(now_ms()).map_err(io::Error::other)?,
        };
        let (last, temporary) = (dir.join(name), dir.join(temporary));
        if self == Saver::EarlyAck {
            ack(&last.display().to_string());
        }
        let written = self.write(&temporary, job).and_then(|()| self.publish(&temporary, &last));
        if written.is_err() && self != Saver::LeavesTemp {
            let _ = fs::remove_file(&temporary);
        }
        written?;
        if job.durability == Durability::Full {
            let _ = File::open(dir).and_then(|dir| dir.sync_all());
        }
        Ok(last)
    }

    fn write(self, path: &Path, job: &Job<'_>) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).mode(if self == Saver::Readable { 0o644 } else { 0o600 });
        let mut file = match self {
            Saver::SharedTemp => options.create(true).truncate(true).open(path)?,
            _ => options.create_new(true).open(path)?,
        };
        if self == Saver::ShortWrite {
            #[allow(clippy::unused_io_amount, reason = "this is the bug")]
            file.write(job.content)?;
        } else {
            for piece in job.content.chunks(PIECE) {
                file.write_all(piece)?;
            }
        }
        if job.durability == Durability::Process || self == Saver::NoSync {
            return Ok(());
        }
        match file.sync_all() {
            Err(_) if self == Saver::SyncTwice => file.sync_all(),
            other => other,
        }
    }

    fn publish(self, temporary: &Path, last: &Path) -> io::Result<()> {
        match self {
            Saver::FinalName => Ok(()),
            Saver::RenameOver => fs::rename(temporary, last),
            _ => Ok(renameat_with(CWD, temporary, CWD, last, RenameFlags::NOREPLACE)?),
        }
    }
}

/// Passes an output through the store as an agent does: in chunks, saved whole, and shown in part.
fn product(job: &Job<'_>) -> (Outcome, String) {
    let limits = Limits {
        max_lines: 100,
        max_bytes: PREVIEW_BYTES,
        max_tokens: u64::MAX,
        direction: Direction::Tail,
        line_rule: LineRule::Terminated,
        keep: Default::default(),
        terminal: false,
    };
    let request = SaveRequest {
        tool: job.tool.to_owned(),
        session: job.session.map(|id| id.encode_utf16().collect()),
        call: None,
        now_ms: now_ms(),
    };
    let places = StoreDirs::of(job.dirs.to_vec(), job.durability);
    let store = Arc::new(OpenStore::new(places));
    let mut intake = Intake::new(limits, Source::Bytes, Some((store, request)));
    for piece in job.content.chunks(PIECE) {
        intake.push_bytes(piece);
    }
    let outcome = intake.finish().clone();
    let style = Style { wording: &ENGLISH, notice_inside: false, available_tools: Vec::new() };
    (outcome, intake.render(&style, &RenderRequest::default()).content)
}
