//! Keeping a store within its bounds: by age, by bytes, by number. Own files only, and never one younger than an hour.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::bounds::{Bounds, Candidate, DAY_MS, HOUR_MS, Kept, Reason};
use super::directories::Place;
use super::folder::Folder;
use super::inventory::{Inventory, Item, Temporary, remove_left_behind};
use super::lease::{Leases, is_leased, retire};
use super::open_store::OpenStore;
use crate::error::os_reason;

/// A clock that jumps does so by years: without a battery it starts in 1970.
const JUMP_MS: i64 = 365 * DAY_MS;
/// Files that a report names.
const NAMED: usize = 1000;
const NAMED_FAILURES: usize = 100;

/// Who wants a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// The caller, who says what time it is, in milliseconds since the epoch.
    Asked(i64),
    /// The caller, who only wants to know what would be removed at that time.
    Tried(i64),
    /// The store itself.
    Upkeep {
        /// The time since the epoch by the clock that dates the files, whatever time it is for this process. What was
        /// touched later stays.
        now: Duration,
        /// When the store saved for the first time, by the clock that names the files. What was saved since stays.
        since_ms: i64,
    },
}

impl Occasion {
    fn now_ms(self) -> i64 {
        match self {
            Occasion::Asked(now_ms) | Occasion::Tried(now_ms) => now_ms,
            Occasion::Upkeep { now, .. } => i64::try_from(now.as_millis()).unwrap_or(i64::MAX),
        }
    }
}

/// An output that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// Where it was.
    pub path: String,
    /// Its bytes.
    pub bytes: u64,
    /// Why.
    pub reason: Reason,
}

/// An output that should have gone and did not, or a folder that could not be looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failed {
    /// Where it is.
    pub path: String,
    /// What the system said.
    pub error: String,
}

/// What a sweep did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The first of the outputs that were removed.
    pub removed: Vec<Removed>,
    /// How many were removed.
    pub removed_files: u64,
    /// Their bytes.
    pub removed_bytes: u64,
    /// What is left.
    pub kept: Kept,
    /// The first of the outputs that could not be removed, and of the folders that could not be looked at.
    pub failed: Vec<Failed>,
    /// How many there are of both.
    pub failed_files: u64,
    /// Folders where nothing was done because another process sweeps them at this moment.
    pub skipped_dirs: Vec<String>,
}

/// Removes what is too old, and then what is over a bound: files of sessions that nobody uses first, and the oldest of them
/// before the others.
pub fn sweep(store: &OpenStore, bounds: &Bounds, occasion: Occasion) -> Report {
    let mut report = Report::default();
    let mut locks = Vec::new();
    let mut inventories = Vec::new();
    for dir in &store.places.dirs {
        match begin(dir) {
            Ok(Some((lock, inventory))) => {
                locks.push(lock);
                inventories.push(inventory);
            }
            Ok(None) => report.skipped_dirs.push(dir.path().display().to_string()),
            // Nothing was saved there yet.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => report.fail(dir.path(), &error),
        }
    }
    for (path, error) in inventories.iter().flat_map(|inventory| &inventory.unreadable) {
        report.fail(path, error);
    }
    let items: Vec<(&Inventory, &Item)> = inventories
        .iter()
        .flat_map(|inventory| inventory.items.iter().map(move |item| (inventory, item)))
        .collect();
    let candidates = candidates(&inventories, occasion);
    let now_ms = occasion.now_ms();
    report.kept = bounds.apply(&candidates, now_ms, |index, reason| {
        items.get(index).is_some_and(|(inventory, item)| match occasion {
            Occasion::Tried(_) => {
                report.count(&inventory.path(item), item, reason);
                true
            }
            _ => report.remove(inventory, item, reason),
        })
    });
    if matches!(occasion, Occasion::Tried(_)) {
        return report;
    }
    let ours = matches!(occasion, Occasion::Asked(_)).then_some(&store.leases);
    for inventory in &inventories {
        clear(inventory, now_ms, ours);
    }
    report
}

/// Locks a folder and looks at it; nothing if another sweep is under way there.
fn begin(dir: &Place) -> io::Result<Option<(File, Inventory)>> {
    let folder = dir.open()?;
    let lock = folder.sweep_lock()?;
    match lock.try_lock() {
        Ok(()) => Ok(Some((lock, Inventory::take(dir.path(), folder)?))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn candidates(inventories: &[Inventory], occasion: Occasion) -> Vec<Candidate> {
    let age = |item: &Item| occasion.now_ms().saturating_sub(item.file.modified_ms);
    let mut items = inventories.iter().flat_map(|inventory| &inventory.items);
    let may_have_jumped = !items.any(|item| (HOUR_MS..JUMP_MS).contains(&age(item)));
    let stays = |item: &Item| match occasion {
        Occasion::Asked(_) | Occasion::Tried(_) => false,
        Occasion::Upkeep { now, since_ms } => {
            let is_later = item.file.touched_ns > now.as_nanos().cast_signed();
            may_have_jumped || item.saved_ms >= since_ms || is_later
        }
    };
    let mut candidates = Vec::new();
    for inventory in inventories {
        let leased = leased(inventory);
        candidates.extend(inventory.items.iter().map(|item| Candidate {
            modified_ms: item.file.modified_ms,
            bytes: item.file.bytes,
            leased: item.session.as_deref().is_some_and(|session| leased.contains(session)),
            stays: stays(item),
        }));
    }
    candidates
}

/// The sessions that are in use.
fn leased(inventory: &Inventory) -> BTreeSet<&str> {
    let is_leased =
        |session: &&str| inventory.within(Some(session), |folder| Ok(is_leased(folder)));
    let sessions = inventory.sessions.iter().map(String::as_str);
    sessions.filter(|session| is_leased(session).unwrap_or(false)).collect()
}

/// Removes what killed processes left, for nobody writes to one file for an hour unseen, and folders that have become empty.
fn clear(inventory: &Inventory, now_ms: i64, ours: Option<&Leases>) {
    let before_ms = now_ms.saturating_sub(HOUR_MS);
    for Temporary { session, name } in &inventory.temporaries {
        // A folder that is gone has nothing in it.
        let _ = inventory.within(session.as_deref(), |folder| {
            remove_left_behind(folder, name, before_ms);
            Ok(())
        });
    }
    for session in &inventory.sessions {
        retire(&inventory.folder, &inventory.dir, session, ours);
    }
}

/// Keeps sweeps out of a folder until what is answered is dropped; nothing if one is under way there.
pub(super) fn hold_off(folder: &Folder) -> Option<File> {
    let lock = folder.sweep_lock().ok()?;
    lock.try_lock_shared().ok()?;
    Some(lock)
}

impl Report {
    fn remove(&mut self, inventory: &Inventory, item: &Item, reason: Reason) -> bool {
        let path = inventory.path(item);
        match inventory.remove(item) {
            Ok(()) => {
                self.count(&path, item, reason);
                true
            }
            // Somebody else was faster.
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            Err(error) => {
                self.fail(&path, &error);
                false
            }
        }
    }

    fn count(&mut self, path: &Path, item: &Item, reason: Reason) {
        self.removed_files += 1;
        self.removed_bytes += item.file.bytes;
        if self.removed.len() < NAMED {
            let path = path.display().to_string();
            self.removed.push(Removed { path, bytes: item.file.bytes, reason });
        }
    }

    fn fail(&mut self, path: &Path, error: &io::Error) {
        self.failed_files += 1;
        if self.failed.len() < NAMED_FAILURES {
            let path = path.display().to_string();
            self.failed.push(Failed { path, error: os_reason(error) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::directories::{Durability, Places};
    use crate::storage::file_names;
    use crate::storage::lease;
    use crate::storage::symlink_policy::Links;
    use std::fs;
    use std::time::{Duration, UNIX_EPOCH};

    const NOW: i64 = 1_800_000_000_000;
    const ASKED: Occasion = Occasion::Asked(NOW);
    const NONE: Bounds =
        Bounds { retention_days: f64::INFINITY, max_bytes: u64::MAX, max_files: u64::MAX };

    fn file(dir: &Path, letter: char, bytes: u64, age_ms: i64) {
        fs::create_dir_all(dir).unwrap();
        let path = dir.join(format!("x_1_{}.txt", letter.to_string().repeat(13)));
        let file = File::create(path).unwrap();
        file.set_len(bytes).unwrap();
        let modified = UNIX_EPOCH + Duration::from_millis((NOW - age_ms) as u64);
        file.set_modified(modified).unwrap();
    }

    fn store(dirs: &[&Path]) -> OpenStore {
        let dirs = dirs.iter().map(|dir| dir.to_path_buf()).collect();
        OpenStore::new(Places::of(dirs, Durability::Process))
    }

    fn gone(report: &Report) -> Vec<(char, Reason)> {
        let letter = |path: &str| path.chars().rev().nth(4).unwrap();
        report.removed.iter().map(|each| (letter(&each.path), each.reason)).collect()
    }

    #[test]
    fn bounds_are_kept_oldest_first_and_across_folders() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (at, letter) in "abcdef".chars().enumerate() {
            let dir = if at % 2 == 0 { one.path() } else { two.path() };
            file(dir, letter, 1 << 30, HOUR_MS * (20 - at as i64));
        }
        file(one.path(), 'y', 1 << 40, HOUR_MS);
        file(two.path(), 'w', 1, -2 * DAY_MS);
        let store = store(&[one.path(), two.path()]);
        let bounds = Bounds {
            retention_days: 19.5 / 24.0,
            max_bytes: (1 << 40) + (3 << 30) + 1,
            max_files: 4,
        };
        let report = sweep(&store, &bounds, ASKED);
        let expected =
            [('a', Reason::Age), ('b', Reason::Bytes), ('c', Reason::Bytes), ('d', Reason::Count)];
        assert_eq!(gone(&report), expected);
        assert_eq!(
            (report.kept.files, report.removed_files, report.removed_bytes),
            (4, 4, 4 << 30)
        );
        // Younger than an hour: kept, whatever the bounds; from a wrong clock: not.
        let report = sweep(&store, &Bounds { max_files: 1, ..NONE }, ASKED);
        assert_eq!(
            gone(&report),
            [('e', Reason::Count), ('f', Reason::Count), ('w', Reason::Count)]
        );
        let report = sweep(&store, &Bounds { max_bytes: 1, ..NONE }, ASKED);
        assert_eq!((report.kept.files, report.failed_files), (1, 0));
    }

    #[test]
    fn what_is_in_use_goes_last() {
        let root = tempfile::tempdir().unwrap();
        let session = file_names::session(&[0x61]);
        file(&root.path().join(&session), 'a', 10, HOUR_MS * 9);
        file(root.path(), 'b', 10, HOUR_MS * 2);
        let (store, user) = (store(&[root.path()]), store(&[root.path()]));
        let place = Folder::open(root.path(), Links::Trusted).unwrap();
        user.leases.hold(&root.path().join(&session), &place.inner(&session).unwrap());
        let report = sweep(&store, &Bounds { max_files: 1, ..NONE }, ASKED);
        assert_eq!(gone(&report), [('b', Reason::Count)]);
        let report = sweep(&store, &Bounds { max_bytes: 5, ..NONE }, ASKED);
        assert_eq!(gone(&report), [('a', Reason::Bytes)]);
        assert!(root.path().join(&session).exists());
        user.leases.release_all();
        sweep(&store, &NONE, ASKED);
        assert!(!root.path().join(&session).exists());
    }

    #[test]
    fn only_own_files_older_than_asked_go() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path();
        let week = 7 * DAY_MS;
        for (letter, age) in [('a', week + 1), ('b', week), ('c', 0), ('d', -week)] {
            file(dir, letter, 1, age);
        }
        let session = dir.join(file_names::session(&[0x61]));
        file(&session, 'e', 1, week + 1);
        fs::write(session.join(lease::NAME), "").unwrap();
        for foreign in ["keep.txt", "tool_old"] {
            fs::write(dir.join(foreign), "x").unwrap();
        }
        fs::create_dir(dir.join(format!("x_1_{}.txt", "f".repeat(13)))).unwrap();
        let store = store(&[dir, &dir.join("missing")]);
        assert_eq!(sweep(&store, &Bounds::of_age(f64::INFINITY), ASKED).removed_files, 0);
        let report = sweep(&store, &Bounds::of_age(7.0), ASKED);
        assert_eq!(gone(&report), [('a', Reason::Age), ('e', Reason::Age)]);
        let left: std::collections::BTreeSet<String> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let outputs = ["b", "c", "d", "f"].map(|letter| format!("x_1_{}.txt", letter.repeat(13)));
        let others = ["keep.txt", "tool_old"].map(str::to_owned);
        assert_eq!(left, outputs.into_iter().chain(others).collect());
        assert!(!dir.join("missing").exists());
    }

    #[cfg(unix)]
    #[test]
    fn the_other_name_of_an_output_goes() {
        let root = tempfile::tempdir().unwrap();
        file(root.path(), 'a', 1, HOUR_MS + 1);
        let output = format!("x_1_{}.txt", "a".repeat(13));
        let other = root.path().join(file_names::temporary(1).unwrap());
        fs::hard_link(root.path().join(&output), &other).unwrap();
        assert_eq!(sweep(&store(&[root.path()]), &Bounds::of_age(7.0), ASKED).removed_files, 0);
        assert!(!other.exists());
        assert!(Folder::open(root.path(), Links::Trusted).unwrap().read(&output).is_ok());
    }

    #[test]
    fn nothing_younger_than_an_hour_goes() {
        let root = tempfile::tempdir().unwrap();
        file(root.path(), 'a', 1, HOUR_MS);
        file(root.path(), 'b', 1, HOUR_MS + 1);
        let report = sweep(&store(&[root.path()]), &Bounds::of_age(0.0001), ASKED);
        assert_eq!(gone(&report), [('b', Reason::Age)]);
    }

    #[test]
    fn a_folder_that_cannot_be_read_is_reported() {
        let root = tempfile::tempdir().unwrap();
        let (file, good) = (root.path().join("a-file"), root.path().join("good"));
        fs::write(&file, "").unwrap();
        self::file(&good, 'a', 10, HOUR_MS * 9);
        let store = store(&[&file, &root.path().join("missing"), &good]);
        let report = sweep(&store, &Bounds { max_files: 0, ..NONE }, ASKED);
        assert_eq!((report.removed_files, report.failed_files), (1, 1));
        assert_eq!(report.failed[0].path, file.display().to_string());
        assert!(report.skipped_dirs.is_empty() && !report.failed[0].error.is_empty());
    }

    #[test]
    fn a_folder_that_is_being_swept_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        file(root.path(), 'a', 10, HOUR_MS * 9);
        let lock = Folder::open(root.path(), Links::Trusted).unwrap().sweep_lock().unwrap();
        lock.lock().unwrap();
        let store = store(&[root.path()]);
        let bounds = Bounds { max_files: 0, ..NONE };
        let report = sweep(&store, &bounds, ASKED);
        assert_eq!((report.skipped_dirs.len(), report.removed_files), (1, 0));
        drop(lock);
        assert_eq!(sweep(&store, &bounds, ASKED).removed_files, 1);
    }
}
