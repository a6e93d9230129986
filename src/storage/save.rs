//! Saves one output atomically: complete under a unique name, or not at all.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::auto_sweep;
use super::dedup::PreviousSaves;
use super::directories::{Durability, StoreDir, folder_of};
use super::head_tail_file::{DraftLayout, copy_range};
use super::open_store::OpenStore;
use super::read::Unfinished;
use crate::error::{Code, os_reason};
use crate::fs::file_names;
use crate::fs::folder::{Draft, Folder};
use crate::text::omitted_range::OmittedRange;
use crate::util::sync::lock;

/// A directory that was tried, and its error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attempt {
    pub dir: String,
    /// The error, beginning with the system's symbol.
    pub error: String,
}

/// The error if nothing was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SaveError {
    /// The public code.
    pub code: &'static str,
    pub message: String,
    /// All directories that were tried, in order.
    pub attempts: Vec<Attempt>,
}

/// An output that was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Saved {
    pub path: String,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Number of redacted secrets; `None` without rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redactions: Option<u64>,
    /// The part of the output that the file holds, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<OmittedRange>,
    /// Directories that failed before one succeeded.
    pub attempts: Vec<Attempt>,
}

/// The names under which an output is saved.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SaveRequest {
    /// The tool's name; any text.
    pub tool: String,
    /// The session's id in UTF-16 code units, because it need not be well-formed.
    pub session: Option<Vec<u16>>,
    /// The id of the tool call in UTF-16 code units.
    pub call: Option<Vec<u16>>,
    /// Time in milliseconds since the epoch.
    pub now_ms: u64,
}

/// A save in progress.
#[derive(Debug)]
pub struct Save {
    store: Arc<OpenStore>,
    /// Name of the session's folder in each directory.
    session: Option<String>,
    call: Option<Vec<u16>>,
    slug: String,
    now_ms: u64,
    next: usize,
    open: Option<Open>,
    written: u64,
    /// Maximum size of the file in bytes.
    max_bytes: Option<u64>,
    /// The part that the draft holds and its size, once the draft has the final form of an output that is too long.
    sealed: Option<(OmittedRange, u64)>,
    /// Number of bytes written when the free space was last checked.
    checked: u64,
    attempts: Vec<Attempt>,
}

#[derive(Debug)]
struct Open {
    folder: Folder,
    /// The directory; `folder` is the session's folder in it.
    place: StoreDir,
    session: Option<String>,
    draft: Draft,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.folder.discard(&mut self.draft);
    }
}

/// Maximum number of names tried: with 67 random bits, a single name that is taken is a sign of malice already.
const NAME_ATTEMPTS: usize = 8;

/// Number of bytes after which the free space is checked again.
const CHECK_SPACE_BYTES: u64 = 16 << 20;
/// Number of bytes left free on a file system, unless one percent of it is less: a full disk must not be filled further
/// by tool output.
const RESERVE: u64 = 64 << 20;

/// Checks that the reserve is still free after `bytes` more bytes.
fn check_reserve(folder: &Folder, bytes: u64) -> io::Result<()> {
    folder.space().map_or(Ok(()), |(free, total)| within_reserve(free, total, bytes))
}

fn within_reserve(free: u64, total: u64, bytes: u64) -> io::Result<()> {
    let reserve = RESERVE.min(total / 100);
    if free >= reserve.saturating_add(bytes) {
        return Ok(());
    }
    let wanted = if bytes > 0 { format!(", {bytes} are to be written") } else { String::new() };
    let problem = format!(
        "the reserve of free space is reached: {free} bytes are free{wanted}, and {reserve} are left to others"
    );
    Err(io::Error::new(io::ErrorKind::StorageFull, problem))
}

impl Save {
    /// Prepares a save. Does not access the disk before the first byte.
    pub fn new(store: Arc<OpenStore>, request: SaveRequest) -> Self {
        Save {
            store,
            session: request.session.as_deref().map(file_names::session),
            call: request.call,
            slug: file_names::slug(&request.tool),
            now_ms: request.now_ms,
            next: 0,
            open: None,
            written: 0,
            max_bytes: None,
            sealed: None,
            checked: 0,
            attempts: Vec::new(),
        }
    }

    /// Keeps only the first and the last part of an output with more than `max_bytes` bytes.
    pub fn with_limit(self, max_bytes: u64) -> Self {
        Save { max_bytes: Some(max_bytes), ..self }
    }

    /// Appends bytes. After a failure everything written so far is moved to the next directory; the error is that of
    /// the last one.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), SaveError> {
        if self.open.is_none() {
            self.open = Some(self.open_next(0)?);
        }
        let is_due = self.written - self.checked >= CHECK_SPACE_BYTES;
        while let Some(open) = &mut self.open {
            let room = if is_due { check_reserve(&open.folder, 0) } else { Ok(()) };
            let append = |()| match self.max_bytes {
                Some(max_bytes) if self.written + bytes.len() as u64 > max_bytes => {
                    DraftLayout::new(max_bytes).write(&mut open.draft.file, self.written, bytes)
                }
                _ => open.draft.file.write_all(bytes),
            };
            match room.and_then(append) {
                Ok(()) => break,
                Err(error) => self.move_on(&error)?,
            }
        }
        if is_due {
            self.checked = self.written;
        }
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Returns a reader of the bytes so far: only the start if the output has become too long, because the rest still
    /// changes.
    pub fn reader(&self) -> io::Result<Unfinished> {
        let Some(open) = &self.open else { return Ok(Unfinished::of(Vec::new())) };
        let long = self.max_bytes.filter(|max_bytes| self.written > *max_bytes);
        let bytes = match long {
            Some(max_bytes) => DraftLayout::new(max_bytes).head(),
            None => self.written,
        };
        let file = Box::new(open.draft.reader()?);
        Ok(Unfinished { file, bytes, incomplete: long.is_some() })
    }

    /// Gives the file its name, which makes it visible. An output equal to one saved for the same call is not saved
    /// again.
    pub fn publish(mut self) -> Result<Saved, SaveError> {
        if self.open.is_none() {
            self.open = Some(self.open_next(0)?);
        }
        let store = Arc::clone(&self.store);
        let call = self.call.take().map(|call| store.calls.of(self.session.as_deref(), call));
        let mut earlier = call.as_ref().map(|call| lock(call));
        while let Err(error) = self.seal() {
            self.move_on(&error)?;
        }
        let bytes = self.held();
        let path = match earlier.as_mut().and_then(|earlier| self.find_same(earlier)) {
            Some(path) => path,
            None => self.publish_new()?,
        };
        if let Some(earlier) = &mut earlier {
            earlier.note(&path, bytes);
        }
        drop(earlier);
        let dated = || self.open.as_ref()?.draft.file.metadata().ok()?.modified().ok();
        auto_sweep::saved(&store, i64::try_from(self.now_ms).unwrap_or(i64::MAX), dated);
        let (path, part) = (path.display().to_string(), self.sealed.map(|(part, _)| part));
        Ok(Saved { path, bytes, redactions: None, part, attempts: self.attempts })
    }

    fn find_same(&mut self, earlier: &mut PreviousSaves) -> Option<PathBuf> {
        let bytes = self.held();
        let open = self.open.as_mut()?;
        earlier.find(&self.store.places, &mut open.draft.file, bytes)
    }

    fn publish_new(&mut self) -> Result<PathBuf, SaveError> {
        let mut was_removed = false;
        loop {
            let (is_partial, held) = (self.sealed.is_some(), self.held());
            let Some(open) = &mut self.open else { return Err(self.failure()) };
            let in_place = open.stay_in_place(&self.store, self.now_ms, held);
            if in_place.is_ok()
                && let Err(error) = open.settle(self.store.places.durability)
            {
                self.move_on(&error)?;
                continue;
            }
            let publish = |()| open.publish(&self.store, &self.slug, self.now_ms, is_partial);
            match in_place.and_then(publish) {
                Ok(path) => return Ok(path),
                // The folder was removed at this moment.
                Err(error) if error.kind() == io::ErrorKind::NotFound && !was_removed => {
                    was_removed = true;
                }
                Err(error) => self.move_on(&error)?,
            }
        }
    }

    /// Returns the size of the draft in bytes.
    fn held(&self) -> u64 {
        match self.sealed {
            Some((_, bytes)) => bytes,
            None => self.max_bytes.unwrap_or(u64::MAX).min(self.written),
        }
    }

    /// Writes the parts of an output that is too long to a new draft in their order. The previous draft is kept until
    /// then, so that it can still be moved to the next directory.
    fn seal(&mut self) -> io::Result<()> {
        let Some(max_bytes) = self.max_bytes.filter(|max_bytes| self.written > *max_bytes) else {
            return Ok(());
        };
        let held = self.held();
        let Some(open) = self.open.as_mut().filter(|_| self.sealed.is_none()) else {
            return Ok(());
        };
        open.stay_in_place(&self.store, self.now_ms, held)?;
        check_reserve(&open.folder, max_bytes)?;
        let (ring, total) = (DraftLayout::new(max_bytes), self.written);
        let mut draft = open.folder.draft(self.now_ms)?;
        match ring.seal(&mut open.draft.file, total, &mut draft.file) {
            Ok(sealed) => {
                open.folder.discard(&mut open.draft);
                open.draft = draft;
                self.sealed = Some(sealed);
                Ok(())
            }
            Err(error) => {
                open.folder.discard(&mut draft);
                Err(error)
            }
        }
    }

    /// Begins a draft in the next directory that works and has room for `bytes` bytes.
    fn open_next(&mut self, bytes: u64) -> Result<Open, SaveError> {
        while let Some(dir) = self.store.places.dirs.get(self.next).cloned() {
            self.next += 1;
            match self.try_open(&dir, bytes) {
                Ok(open) => return Ok(open),
                Err(error) => self.note(&dir, &error),
            }
        }
        Err(self.failure())
    }

    fn try_open(&self, dir: &StoreDir, bytes: u64) -> io::Result<Open> {
        match self.open_in(dir, bytes) {
            // A sweep removed the session's empty folder while it was entered.
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.open_in(dir, bytes),
            other => other,
        }
    }

    fn open_in(&self, dir: &StoreDir, bytes: u64) -> io::Result<Open> {
        let folder = enter(&self.store, dir, self.session.as_deref())?;
        check_reserve(&folder, bytes)?;
        let draft = folder.draft(self.now_ms)?;
        Ok(Open { folder, place: dir.clone(), session: self.session.clone(), draft })
    }

    /// Moves everything written so far to the next directory that works.
    fn move_on(&mut self, error: &io::Error) -> Result<(), SaveError> {
        let held = self.held();
        let Some(mut failed) = self.open.take() else { return Err(self.failure()) };
        self.note(&failed.place.clone(), error);
        loop {
            let mut next = self.open_next(held)?;
            match copy_range(&mut failed.draft.file, 0..held, &mut next.draft.file) {
                Ok(()) => {
                    self.open = Some(next);
                    return Ok(());
                }
                Err(error) => self.note(&next.place.clone(), &error),
            }
        }
    }

    fn note(&mut self, dir: &StoreDir, error: &io::Error) {
        self.attempts
            .push(Attempt { dir: dir.path().display().to_string(), error: os_reason(error) });
    }

    fn failure(&self) -> SaveError {
        let reasons: Vec<String> = self
            .attempts
            .iter()
            .map(|attempt| format!("{} ({})", attempt.error, attempt.dir))
            .collect();
        SaveError {
            code: Code::StorageWrite.as_str(),
            message: if reasons.is_empty() {
                "there is no folder to save to".to_owned()
            } else {
                reasons.join("; ")
            },
            attempts: self.attempts.clone(),
        }
    }
}

impl Open {
    /// Continues in the folder that the directory's path leads to: the folder of the draft may have been removed or
    /// moved, and a file published there would not be found.
    fn stay_in_place(&mut self, store: &OpenStore, now_ms: u64, bytes: u64) -> io::Result<()> {
        if self.place.leads_to(self.session.as_deref(), &self.folder) {
            return Ok(());
        }
        let folder = enter(store, &self.place, self.session.as_deref())?;
        if self.draft.is_named() {
            let mut draft = folder.draft(now_ms)?;
            if let Err(error) = copy_range(&mut self.draft.file, 0..bytes, &mut draft.file) {
                folder.discard(&mut draft);
                return Err(error);
            }
            self.folder.discard(&mut self.draft);
            self.draft = draft;
        }
        self.folder = folder;
        Ok(())
    }

    /// Syncs the draft as far as promised. A failed sync is never retried, whatever the error: the system reports a
    /// failed write-back only once.
    fn settle(&self, durability: Durability) -> io::Result<()> {
        if durability == Durability::Process { Ok(()) } else { self.draft.file.sync_all() }
    }

    fn publish(
        &mut self,
        store: &OpenStore,
        slug: &str,
        now_ms: u64,
        is_partial: bool,
    ) -> io::Result<PathBuf> {
        let mut attempts = 0;
        loop {
            let name = file_names::output(slug, now_ms, is_partial).map_err(io::Error::other)?;
            match self.folder.publish(&mut self.draft, &name) {
                Ok(()) => {
                    if store.places.durability == Durability::Full {
                        // The file exists under its name. That its entry may not survive a power failure does not make
                        // the save a failure, and a second copy elsewhere would not be better.
                        let _ = self.folder.sync();
                    }
                    return Ok(folder_of(self.place.path(), self.session.as_deref()).join(name));
                }
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists && attempts < NAME_ATTEMPTS =>
                {
                    attempts += 1
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// See <https://bford.info/cachedir/>: the first line is a signature.
const CACHE_TAG: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55\n\
    # Outputs of tools that Spillway saved. They are removed when they are old.\n";

/// Opens the folder for an output, creating it if needed, and takes the lease of the session.
fn enter(store: &OpenStore, place: &StoreDir, session: Option<&str>) -> io::Result<Folder> {
    let (folder, is_new) = place.open_or_make()?;
    if place.is_project_entered_first() || is_new {
        // The folder may be inside a project: version control and backups must not pick up its files. Saving continues
        // without these files if they cannot be written. Other folders that were there before are not ours alone.
        for (name, content) in [(".gitignore", &b"*\n"[..]), ("CACHEDIR.TAG", CACHE_TAG)] {
            let _ = folder.put(name, content);
        }
    }
    let Some(session) = session else { return Ok(folder) };
    let inner = folder.enter(session)?;
    if store.places.durability == Durability::Full {
        folder.sync()?;
    }
    store.leases.hold(&place.path().join(session), &inner);
    Ok(inner)
}

#[cfg(test)]
mod tests;
