//! Saving one output: complete under a name of its own, or not at all.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use serde::{Deserialize, Serialize};

use super::calls::Earlier;
use super::folder::{Draft, Folder};
use super::names;
use super::opened::OpenStore;
use super::part::{Part, Ring, copy_range};
use super::places::Durability;
use super::read::Unfinished;
use super::upkeep;
use crate::error::{Code, os_reason};

/// A folder that was tried, and what it said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// The folder.
    pub dir: String,
    /// The reason, with the system's symbol first.
    pub error: String,
}

/// Nothing was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SaveError {
    /// The public code.
    pub code: &'static str,
    /// A sentence.
    pub message: String,
    /// Every folder that was tried, in order.
    pub attempts: Vec<Attempt>,
}

/// An output that was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Saved {
    /// Where.
    pub path: String,
    /// Bytes of the file.
    pub bytes: u64,
    /// How many secrets were redacted, if there were rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redactions: Option<u64>,
    /// What of the output it is, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// Folders that failed before one did not.
    pub attempts: Vec<Attempt>,
}

/// Under which names an output is saved.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SaveRequest {
    /// The tool's name; any text.
    pub tool: String,
    /// The session's id in UTF-16 units, because it need not be well-formed.
    pub session: Option<Vec<u16>>,
    /// The id of the tool's call, likewise.
    pub call: Option<Vec<u16>>,
    /// Milliseconds since the epoch.
    pub now_ms: u64,
}

/// An output on its way to the disk.
#[derive(Debug)]
pub struct Save {
    store: Arc<OpenStore>,
    /// The folder of the session inside each place.
    session: Option<String>,
    call: Option<Vec<u16>>,
    slug: String,
    now_ms: u64,
    next: usize,
    open: Option<Open>,
    written: u64,
    /// Bytes that the file may have.
    most: Option<u64>,
    /// The draft is what will be published of an output that is too long, and has so many bytes.
    sealed: Option<(Part, u64)>,
    /// What was written when the free space was last asked for.
    checked: u64,
    attempts: Vec<Attempt>,
}

#[derive(Debug)]
struct Open {
    folder: Folder,
    /// The place, and the session's folder in it.
    place: PathBuf,
    session: Option<String>,
    draft: Draft,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.folder.discard(&mut self.draft);
    }
}

/// Chosen anew so often when a name is taken; with 67 random bits once is already a sign of malice.
const NAME_ATTEMPTS: usize = 8;

/// Bytes after which the free space is asked for again.
const CHECK_SPACE_BYTES: u64 = 16 << 20;
/// Bytes that are left free on a file system, unless a hundredth of it is less: a host with a full disk has other worries
/// than the output of a tool.
const RESERVE: u64 = 64 << 20;

fn check_reserve(folder: &Folder) -> io::Result<()> {
    folder.space().map_or(Ok(()), |(free, total)| within_reserve(free, total))
}

fn within_reserve(free: u64, total: u64) -> io::Result<()> {
    let reserve = RESERVE.min(total / 100);
    if free >= reserve {
        return Ok(());
    }
    let problem = format!(
        "the reserve of free space is reached: {free} bytes are free, and {reserve} are left to others"
    );
    Err(io::Error::new(io::ErrorKind::StorageFull, problem))
}

impl Save {
    /// Prepares; the disk is not touched before the first byte.
    pub fn new(store: Arc<OpenStore>, request: SaveRequest) -> Self {
        Save {
            store,
            session: request.session.as_deref().map(names::session),
            call: request.call,
            slug: names::slug(&request.tool),
            now_ms: request.now_ms,
            next: 0,
            open: None,
            written: 0,
            most: None,
            sealed: None,
            checked: 0,
            attempts: Vec::new(),
        }
    }

    /// Keeps only the first and the last part of an output that has more bytes than this.
    pub fn with_most(self, most: u64) -> Self {
        Save { most: Some(most), ..self }
    }

    /// Appends bytes. A failure moves everything written so far to the next folder; the error is the last one's.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), SaveError> {
        if self.open.is_none() {
            self.open = Some(self.open_next()?);
        }
        let is_due = self.written - self.checked >= CHECK_SPACE_BYTES;
        while let Some(open) = &mut self.open {
            let room = if is_due { check_reserve(&open.folder) } else { Ok(()) };
            let append = |()| match self.most {
                Some(most) if self.written + bytes.len() as u64 > most => {
                    Ring::new(most).write(&mut open.draft.file, self.written, bytes)
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

    /// Reads what was written so far: of an output that has become too long only its start, because the rest still changes.
    pub fn reader(&self) -> io::Result<Unfinished> {
        let Some(open) = &self.open else { return Ok(Unfinished::of(Vec::new())) };
        let long = self.most.filter(|most| self.written > *most);
        let bytes = match long {
            Some(most) => Ring::new(most).head(),
            None => open.draft.file.metadata()?.len(),
        };
        let file = Box::new(open.draft.reader()?);
        Ok(Unfinished { file, bytes, incomplete: long.is_some() })
    }

    /// Gives the file its name. Only now can anybody see it. What was saved of the same call before is not saved again.
    pub fn publish(mut self) -> Result<Saved, SaveError> {
        if self.open.is_none() {
            self.open = Some(self.open_next()?);
        }
        let store = Arc::clone(&self.store);
        let call = self.call.take().map(|call| store.calls.of(self.session.as_deref(), call));
        let mut earlier =
            call.as_ref().map(|call| call.lock().unwrap_or_else(PoisonError::into_inner));
        while let Err(error) = self.seal() {
            self.move_on(&error)?;
        }
        let bytes = self.held();
        let dated =
            self.open.as_ref().and_then(|open| open.draft.file.metadata().ok()?.modified().ok());
        let path = match earlier.as_mut().and_then(|earlier| self.find_same(earlier)) {
            Some(path) => path,
            None => self.publish_new()?,
        };
        if let Some(earlier) = &mut earlier {
            earlier.note(&path, bytes);
        }
        drop(earlier);
        upkeep::saved(&store, i64::try_from(self.now_ms).unwrap_or(i64::MAX), dated);
        let (path, part) = (path.display().to_string(), self.sealed.map(|(part, _)| part));
        Ok(Saved { path, bytes, redactions: None, part, attempts: self.attempts })
    }

    fn find_same(&mut self, earlier: &mut Earlier) -> Option<PathBuf> {
        let bytes = self.held();
        let open = self.open.as_mut()?;
        earlier.find(&self.store.places, &mut open.draft.file, bytes)
    }

    fn publish_new(&mut self) -> Result<PathBuf, SaveError> {
        loop {
            let durability = self.store.places.durability;
            let is_partial = self.sealed.is_some();
            let Some(open) = &mut self.open else { return Err(self.failure()) };
            match open.publish(&self.slug, self.now_ms, durability, is_partial) {
                Ok(path) => return Ok(path),
                Err(error) => self.move_on(&error)?,
            }
        }
    }

    /// Bytes of the draft.
    fn held(&self) -> u64 {
        match self.sealed {
            Some((_, bytes)) => bytes,
            None => self.most.unwrap_or(u64::MAX).min(self.written),
        }
    }

    /// Puts the parts of an output that is too long in order, in a draft of their own. The other stays as it is until
    /// that is done, so that it can still go to the next folder.
    fn seal(&mut self) -> io::Result<()> {
        let Some(most) = self.most.filter(|most| self.written > *most) else { return Ok(()) };
        let Some(open) = self.open.as_mut().filter(|_| self.sealed.is_none()) else {
            return Ok(());
        };
        let (ring, total) = (Ring::new(most), self.written);
        let round = &mut open.draft.file;
        let (part, line) = ring.cut(total, |from, to| {
            let mut bytes = Vec::new();
            ring.copy(round, from..to, &mut bytes)?;
            Ok(bytes)
        })?;
        let mut draft = match open.folder.draft(self.now_ms) {
            // The folder was removed under the draft, which is still there.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let durability = self.store.places.durability;
                open.folder = enter(&open.place, open.session.as_deref(), durability)?;
                open.folder.draft(self.now_ms)?
            }
            other => other?,
        };
        let ordered = &mut draft.file;
        let copied = ring
            .copy(round, 0..part.head_bytes, ordered)
            .and_then(|()| ordered.write_all(line.as_bytes()))
            .and_then(|()| ring.copy(round, part.tail_start()..total, ordered));
        if let Err(error) = copied {
            open.folder.discard(&mut draft);
            return Err(error);
        }
        open.folder.discard(&mut open.draft);
        open.draft = draft;
        self.sealed = Some((part, part.head_bytes + line.len() as u64 + part.tail_bytes));
        Ok(())
    }

    fn open_next(&mut self) -> Result<Open, SaveError> {
        while let Some(dir) = self.store.places.dirs.get(self.next).cloned() {
            self.next += 1;
            match self.try_open(&dir) {
                Ok(open) => return Ok(open),
                Err(error) => self.note(&dir, &error),
            }
        }
        Err(self.failure())
    }

    fn try_open(&self, dir: &Path) -> io::Result<Open> {
        match self.open_in(dir) {
            // A sweep removed the session's folder as empty just when it was entered.
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.open_in(dir),
            other => other,
        }
    }

    fn open_in(&self, dir: &Path) -> io::Result<Open> {
        let folder = enter(dir, self.session.as_deref(), self.store.places.durability)?;
        check_reserve(&folder)?;
        if let Some(session) = &self.session {
            self.store.leases.hold(&dir.join(session), &folder);
        }
        let draft = folder.draft(self.now_ms)?;
        Ok(Open { folder, place: dir.to_owned(), session: self.session.clone(), draft })
    }

    /// Takes what was written so far to the next folder that works.
    fn move_on(&mut self, error: &io::Error) -> Result<(), SaveError> {
        let held = self.held();
        let Some(mut failed) = self.open.take() else { return Err(self.failure()) };
        self.note(&failed.place.clone(), error);
        loop {
            let mut next = self.open_next()?;
            match copy_range(&mut failed.draft.file, 0..held, &mut next.draft.file) {
                Ok(()) => {
                    self.open = Some(next);
                    return Ok(());
                }
                Err(error) => self.note(&next.place.clone(), &error),
            }
        }
    }

    fn note(&mut self, dir: &Path, error: &io::Error) {
        self.attempts.push(Attempt { dir: dir.display().to_string(), error: os_reason(error) });
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
    fn publish(
        &mut self,
        slug: &str,
        now_ms: u64,
        durability: Durability,
        is_partial: bool,
    ) -> io::Result<PathBuf> {
        if durability != Durability::Process {
            // Never tried again on the same file: the system reports a failed write-back only once.
            self.draft.file.sync_all()?;
        }
        let mut attempts = 0;
        let mut was_removed = false;
        loop {
            let name = names::output(slug, now_ms, is_partial).map_err(io::Error::other)?;
            match self.folder.publish(&mut self.draft, &name) {
                Ok(()) => {
                    if durability == Durability::Full {
                        // The file is there under its name; that its entry may not survive a power cut does not make
                        // the save a failure, and a second copy elsewhere would not be better.
                        let _ = self.folder.sync();
                    }
                    let path = self
                        .session
                        .iter()
                        .fold(self.place.clone(), |path, session| path.join(session));
                    return Ok(path.join(name));
                }
                // The folder was removed under the file, which is still there without a name.
                Err(error) if error.kind() == io::ErrorKind::NotFound && !was_removed => {
                    was_removed = true;
                    self.folder = enter(&self.place, self.session.as_deref(), durability)?;
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

/// Opens the folder that an output goes to, making what is not there.
fn enter(place: &Path, session: Option<&str>, durability: Durability) -> io::Result<Folder> {
    let (folder, is_new) = Folder::open_or_make(place)?;
    if is_new && is_inside_working_dir(place) {
        // Asked to keep outputs inside a project: its version control must not pick them up.
        folder.put(".gitignore", b"*\n")?;
    }
    let Some(session) = session else { return Ok(folder) };
    let inner = folder.enter(session)?;
    if durability == Durability::Full {
        folder.sync()?;
    }
    Ok(inner)
}

fn is_inside_working_dir(dir: &Path) -> bool {
    std::env::current_dir()
        .is_ok_and(|working| working.components().count() > 1 && dir.starts_with(working))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::part::Collection;
    use crate::store::places::Places;
    use std::fs;

    fn save_to(dirs: &[PathBuf], session: Option<Vec<u16>>) -> Save {
        let places = Places { dirs: dirs.to_vec(), durability: Durability::Full };
        let request = SaveRequest { tool: "bash".to_owned(), session, call: None, now_ms: 5 };
        Save::new(Arc::new(OpenStore::new(places)), request)
    }

    #[test]
    fn a_saved_file_is_whole_private_and_alone() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("deep/er");
        let mut save = save_to(std::slice::from_ref(&dir), Some(vec![0x61]));
        save.write(b"hello ").unwrap();
        let session = fs::read_dir(dir.join(names::session(&[0x61]))).unwrap();
        assert!(!session.map(|entry| entry.unwrap().file_name()).any(|name| name != ".lease"));
        save.write(b"world").unwrap();
        let saved = save.publish().unwrap();
        assert_eq!(fs::read(&saved.path).unwrap(), b"hello world");
        assert_eq!(saved.bytes, 11);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &str| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&saved.path), 0o600);
            assert_eq!(mode(dir.to_str().unwrap()), 0o700);
        }
    }

    #[test]
    fn a_folder_that_fails_is_left_for_the_next() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("a-file");
        fs::write(&file, "").unwrap();
        let good = root.path().join("good");
        let mut save = save_to(&[file.clone(), good.clone()], None);
        save.write(b"text").unwrap();
        let saved = save.publish().unwrap();
        assert!(saved.path.starts_with(good.to_str().unwrap()));
        assert_eq!(saved.attempts.len(), 1);
        assert!(saved.attempts[0].error.starts_with("ENOTDIR"), "{:?}", saved.attempts);
        let error = save_to(&[file], None).write(b"text").unwrap_err();
        assert_eq!((error.code, error.attempts.len()), ("STORAGE_WRITE", 1));
    }

    #[test]
    fn a_reserve_of_free_space_is_left() {
        let gib = 1 << 30;
        assert!(within_reserve(RESERVE, 100 * gib).is_ok());
        let error = within_reserve(RESERVE - 1, 100 * gib).unwrap_err();
        assert!(crate::error::os_reason(&error).contains("reserve of free space"));
        // On a small file system a hundredth of it will do.
        assert!(within_reserve(1 << 20, 100 << 20).is_ok() && within_reserve(0, 100).is_err());
        assert!(within_reserve(0, 0).is_ok());
    }

    #[test]
    fn an_abandoned_save_leaves_nothing() {
        let root = tempfile::tempdir().unwrap();
        let mut save = save_to(&[root.path().to_owned()], None);
        save.write(b"text").unwrap();
        drop(save);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_that_is_removed_meanwhile_is_made_again() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("place");
        let mut save = save_to(std::slice::from_ref(&dir), Some(vec![0x61]));
        save.write(b"text").unwrap();
        fs::remove_dir_all(&dir).unwrap();
        assert_eq!(fs::read(save.publish().unwrap().path).unwrap(), b"text");
    }

    fn numbered(lines: usize) -> String {
        (0..lines).map(|line| format!("line {line} 你\n")).collect()
    }

    #[test]
    fn a_file_over_its_bound_holds_both_ends_and_says_so() {
        let root = tempfile::tempdir().unwrap();
        let text = numbered(5000);
        for piece in [1, 100, 4000, 30_000, text.len()] {
            let mut save = save_to(&[root.path().to_owned()], None).with_most(9000);
            for bytes in text.as_bytes().chunks(piece) {
                save.write(bytes).unwrap();
            }
            let saved = save.publish().unwrap();
            let part = saved.part.unwrap();
            let mut expected = Collection::default().with_most(9000);
            expected.push(text.as_bytes());
            let (bytes, expected_part) = expected.finish();
            assert_eq!(fs::read(&saved.path).unwrap(), bytes, "pieces of {piece}");
            assert_eq!((Some(part), saved.bytes), (expected_part, bytes.len() as u64));
            assert!(saved.path.ends_with(".partial.txt"));
        }
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 5);
        let mut save = save_to(&[root.path().to_owned()], None).with_most(9000);
        save.write(&text.as_bytes()[..9000]).unwrap();
        let saved = save.publish().unwrap();
        assert_eq!(fs::read(&saved.path).unwrap(), text.as_bytes()[..9000]);
        assert!(saved.part.is_none() && !saved.path.contains("partial"));
    }

    #[test]
    fn a_file_over_its_bound_moves_on_like_any_other() {
        let root = tempfile::tempdir().unwrap();
        let text = numbered(5000);
        let expected = {
            let mut collection = Collection::default().with_most(9000);
            collection.push(text.as_bytes());
            collection.finish().0
        };
        let full = || io::Error::from_raw_os_error(28);
        for at in [10, 4500, 9000, 20_000, 43_210] {
            let dirs = [root.path().join("a"), root.path().join("b"), root.path().join("c")];
            let mut save = save_to(&dirs, None).with_most(9000);
            let (before, after) = text.as_bytes().split_at(at);
            save.write(before).unwrap();
            save.move_on(&full()).unwrap();
            for piece in after.chunks(1234) {
                save.write(piece).unwrap();
            }
            save.seal().unwrap();
            save.move_on(&full()).unwrap();
            let saved = save.publish().unwrap();
            assert_eq!(fs::read(&saved.path).unwrap(), expected, "moved at {at}");
            assert_eq!(saved.attempts.len(), 2);
        }
        let left = |dir: &str| fs::read_dir(root.path().join(dir)).unwrap().count();
        assert_eq!(["a", "b", "c"].map(left), [0, 0, 5]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_over_its_bound_needs_no_folder_before_it_is_whole() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("place");
        let mut save = save_to(std::slice::from_ref(&dir), Some(vec![0x61])).with_most(4096);
        save.write(numbered(500).as_bytes()).unwrap();
        fs::remove_dir_all(&dir).unwrap();
        let saved = save.publish().unwrap();
        assert_eq!((saved.attempts.len(), fs::read(saved.path).unwrap().len() > 4000), (0, true));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_moves_what_was_written() {
        // A device that is always full stands in for the first folder's file.
        let root = tempfile::tempdir().unwrap();
        let mut save = save_to(&[root.path().join("a"), root.path().join("b")], None);
        save.write(b"first ").unwrap();
        let open = save.open.as_mut().unwrap();
        let half = fs::OpenOptions::new().read(true).open(root.path()).unwrap();
        let kept = std::mem::replace(&mut open.draft.file, half);
        // Writing to a folder's descriptor fails; reading the kept part back must still work.
        assert!(open.draft.file.write_all(b"x").is_err());
        open.draft.file = kept;
        save.move_on(&io::Error::from_raw_os_error(28)).unwrap();
        save.write(b"second").unwrap();
        let saved = save.publish().unwrap();
        assert_eq!(fs::read(&saved.path).unwrap(), b"first second");
        assert!(saved.attempts[0].error.starts_with("ENOSPC"));
    }
}
