//! Sweeps: removes outputs by age, total bytes and number. Only own files, and none younger than an hour.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::bounds::{Bounds, Candidate, DAY_MS, HOUR_MS, RemovalReason, StoreTotals};
use super::directories::StoreDir;
use super::inventory::{Inventory, Item, Temporary, remove_left_behind};
use super::lease::{Leases, is_leased, remove_if_unused};
use super::open_store::OpenStore;
use crate::error::os_reason;
use crate::fs::folder::Folder;

/// Minimum jump of a wrong clock: without a battery it starts in 1970.
const JUMP_MS: i64 = 365 * DAY_MS;
/// Maximum number of files named in a report.
const NAMED: usize = 1000;
const NAMED_FAILURES: usize = 100;

/// The reason for a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepTrigger {
    /// The caller asked for it, at this time in milliseconds since the epoch.
    Requested(i64),
    /// The caller asked which outputs a sweep would remove at this time.
    DryRun(i64),
    /// An automatic sweep.
    Automatic {
        /// Time since the epoch by the clock that dates the files, which may differ from that of the process. Files
        /// changed later are kept.
        now: Duration,
        /// Time of the store's first save, by the clock that names the files. Outputs saved since are kept.
        since_ms: i64,
    },
}

impl SweepTrigger {
    fn now_ms(self) -> i64 {
        match self {
            SweepTrigger::Requested(now_ms) | SweepTrigger::DryRun(now_ms) => now_ms,
            SweepTrigger::Automatic { now, .. } => {
                i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
            }
        }
    }
}

/// An output that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Removed {
    pub path: String,
    pub bytes: u64,
    pub reason: RemovalReason,
}

/// An output that could not be removed, or a folder that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failed {
    pub path: String,
    /// The error of the system.
    pub error: String,
}

/// The result of a sweep.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SweepReport {
    /// The first of the outputs that were removed.
    pub removed: Vec<Removed>,
    /// Number of outputs removed.
    pub removed_files: u64,
    /// Total size of the removed outputs in bytes.
    pub removed_bytes: u64,
    /// The outputs that were kept.
    pub kept: StoreTotals,
    /// The first of the outputs that could not be removed and of the folders that could not be read.
    pub failed: Vec<Failed>,
    /// Number of both.
    pub failed_files: u64,
    /// Directories that were skipped because another process is sweeping them.
    pub skipped_dirs: Vec<String>,
}

/// Removes expired outputs, and then outputs in excess of a limit: those of sessions not in use first, and the oldest
/// first.
pub fn sweep(store: &OpenStore, bounds: &Bounds, trigger: SweepTrigger) -> SweepReport {
    let mut report = SweepReport::default();
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
    let candidates = candidates(&inventories, trigger);
    let now_ms = trigger.now_ms();
    report.kept = bounds.apply(&candidates, now_ms, |index, reason| {
        items.get(index).is_some_and(|(inventory, item)| match trigger {
            SweepTrigger::DryRun(_) => {
                report.count(&inventory.path(item), item, reason);
                true
            }
            _ => report.remove(inventory, item, reason),
        })
    });
    if matches!(trigger, SweepTrigger::DryRun(_)) {
        return report;
    }
    let ours = matches!(trigger, SweepTrigger::Requested(_)).then_some(&store.leases);
    for inventory in &inventories {
        clear(inventory, now_ms, ours);
    }
    report
}

/// Locks a directory and lists it. Returns `None` if another sweep is in progress there.
fn begin(dir: &StoreDir) -> io::Result<Option<(File, Inventory)>> {
    let folder = dir.open()?;
    let lock = folder.sweep_lock()?;
    match lock.try_lock() {
        Ok(()) => Ok(Some((lock, Inventory::take(dir.path(), folder)?))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn candidates(inventories: &[Inventory], trigger: SweepTrigger) -> Vec<Candidate> {
    let age = |item: &Item| trigger.now_ms().saturating_sub(item.file.modified_ms);
    let mut items = inventories.iter().flat_map(|inventory| &inventory.items);
    let may_have_jumped = !items.any(|item| (HOUR_MS..JUMP_MS).contains(&age(item)));
    let stays = |item: &Item| match trigger {
        SweepTrigger::Requested(_) | SweepTrigger::DryRun(_) => false,
        SweepTrigger::Automatic { now, since_ms } => {
            let is_later = item.file.ctime_ns > now.as_nanos().cast_signed();
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

/// Returns the sessions that are in use.
fn leased(inventory: &Inventory) -> BTreeSet<&str> {
    let is_leased =
        |session: &&str| inventory.within(Some(session), |folder| Ok(is_leased(folder)));
    let sessions = inventory.sessions.iter().map(String::as_str);
    sessions.filter(|session| is_leased(session).unwrap_or(false)).collect()
}

/// Removes temporary files of killed processes, because no process writes to one file for an hour, and empty folders.
fn clear(inventory: &Inventory, now_ms: i64, ours: Option<&Leases>) {
    let before_ms = now_ms.saturating_sub(HOUR_MS);
    for Temporary { session, name } in &inventory.temporaries {
        // A folder that does not exist any more is empty.
        let _ = inventory.within(session.as_deref(), |folder| {
            remove_left_behind(folder, name, before_ms);
            Ok(())
        });
    }
    for session in &inventory.sessions {
        remove_if_unused(&inventory.folder, &inventory.dir, session, ours);
    }
}

/// Blocks sweeps of a folder until the returned file is dropped. Returns `None` if one is in progress there.
pub(super) fn hold_off(folder: &Folder) -> Option<File> {
    let lock = folder.sweep_lock().ok()?;
    lock.try_lock_shared().ok()?;
    Some(lock)
}

impl SweepReport {
    fn remove(&mut self, inventory: &Inventory, item: &Item, reason: RemovalReason) -> bool {
        let path = inventory.path(item);
        match inventory.remove(item) {
            Ok(()) => {
                self.count(&path, item, reason);
                true
            }
            // Another process removed it first.
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            Err(error) => {
                self.fail(&path, &error);
                false
            }
        }
    }

    fn count(&mut self, path: &Path, item: &Item, reason: RemovalReason) {
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
    use crate::fs::file_names;
    use crate::fs::symlink_policy::SymlinkPolicy;
    use crate::storage::directories::{Durability, StoreDirs};
    use crate::storage::lease;
    use std::fs;
    use std::time::{Duration, UNIX_EPOCH};

    const NOW: i64 = 1_800_000_000_000;
    const ASKED: SweepTrigger = SweepTrigger::Requested(NOW);
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
        OpenStore::new(StoreDirs::of(dirs, Durability::Process))
    }

    fn gone(report: &SweepReport) -> Vec<(char, RemovalReason)> {
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
        let expected = [
            ('a', RemovalReason::Age),
            ('b', RemovalReason::Bytes),
            ('c', RemovalReason::Bytes),
            ('d', RemovalReason::Count),
        ];
        assert_eq!(gone(&report), expected);
        assert_eq!(
            (report.kept.files, report.removed_files, report.removed_bytes),
            (4, 4, 4 << 30)
        );
        // Outputs younger than an hour are kept, whatever the limits are, but not outputs dated by a wrong clock.
        let report = sweep(&store, &Bounds { max_files: 1, ..NONE }, ASKED);
        assert_eq!(
            gone(&report),
            [('e', RemovalReason::Count), ('f', RemovalReason::Count), ('w', RemovalReason::Count)]
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
        let place = Folder::open(root.path(), SymlinkPolicy::TrustedOwners).unwrap();
        user.leases.hold(&root.path().join(&session), &place.inner(&session).unwrap());
        let report = sweep(&store, &Bounds { max_files: 1, ..NONE }, ASKED);
        assert_eq!(gone(&report), [('b', RemovalReason::Count)]);
        let report = sweep(&store, &Bounds { max_bytes: 5, ..NONE }, ASKED);
        assert_eq!(gone(&report), [('a', RemovalReason::Bytes)]);
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
        assert_eq!(gone(&report), [('a', RemovalReason::Age), ('e', RemovalReason::Age)]);
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
        assert!(
            Folder::open(root.path(), SymlinkPolicy::TrustedOwners).unwrap().read(&output).is_ok()
        );
    }

    #[test]
    fn nothing_younger_than_an_hour_goes() {
        let root = tempfile::tempdir().unwrap();
        file(root.path(), 'a', 1, HOUR_MS);
        file(root.path(), 'b', 1, HOUR_MS + 1);
        let report = sweep(&store(&[root.path()]), &Bounds::of_age(0.0001), ASKED);
        assert_eq!(gone(&report), [('b', RemovalReason::Age)]);
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
        let lock =
            Folder::open(root.path(), SymlinkPolicy::TrustedOwners).unwrap().sweep_lock().unwrap();
        lock.lock().unwrap();
        let store = store(&[root.path()]);
        let bounds = Bounds { max_files: 0, ..NONE };
        let report = sweep(&store, &bounds, ASKED);
        assert_eq!((report.skipped_dirs.len(), report.removed_files), (1, 0));
        drop(lock);
        assert_eq!(sweep(&store, &bounds, ASKED).removed_files, 1);
    }
}
