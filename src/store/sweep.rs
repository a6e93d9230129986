//! Keeping a store within its bounds: by age, by bytes, by number. Own files only, and never one younger than an hour.

use serde::Serialize;

use super::inventory::{Inventory, Item};
use super::lease::retire;
use super::opened::OpenStore;
use super::retention::{self, HOUR_MS};
use crate::error::os_reason;

/// The lock file that keeps two sweeps of one folder apart.
const LOCK: &str = ".sweep.lock";
const DAY_MS: i64 = 24 * HOUR_MS;
/// Files that a report names.
const NAMED: usize = 1000;
const NAMED_FAILURES: usize = 100;

/// The bounds of a store.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Days that an output is kept; infinity is for ever.
    pub retention_days: f64,
    /// Bytes of all outputs.
    pub max_bytes: u64,
    /// Outputs.
    pub max_files: u64,
}

/// Why an output was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// It was too old.
    Age,
    /// The store held too many bytes.
    Bytes,
    /// The store held too many outputs.
    Count,
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

/// An output that should have gone and did not.
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
    /// The first of the outputs that could not be removed.
    pub failed: Vec<Failed>,
    /// How many could not be removed.
    pub failed_files: u64,
    /// Folders that another process sweeps at this moment; nothing was done there.
    pub skipped_dirs: Vec<String>,
}

/// What a sweep left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Outputs.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Removes what is too old, and then what is over a bound: files of sessions that nobody uses first, and the oldest of them
/// before the others.
pub fn sweep(store: &OpenStore, bounds: &Bounds, now_ms: i64) -> Report {
    let mut report = Report::default();
    let mut locks = Vec::new();
    let mut inventories = Vec::new();
    for dir in &store.places.dirs {
        let Some(inventory) = Inventory::take(dir) else { continue };
        // A folder where no lock file can be made is not ours to sweep either.
        match inventory.folder.lock_file(LOCK) {
            Ok(lock) if lock.try_lock().is_ok() => locks.push(lock),
            _ => {
                report.skipped_dirs.push(dir.display().to_string());
                continue;
            }
        }
        // Taken again, because somebody may have swept until now.
        inventories.extend(Inventory::take(dir));
    }
    let mut items: Vec<(&Inventory, &Item)> = inventories
        .iter()
        .flat_map(|inventory| inventory.items.iter().map(move |item| (inventory, item)))
        .collect();
    let age_ms = retention::age_ms(bounds.retention_days);
    items.retain(|(inventory, item)| {
        let is_old = age_ms.is_some_and(|age| now_ms.saturating_sub(item.modified_ms) > age);
        !(is_old && report.remove(inventory, item, Reason::Age))
    });
    items.sort_by_key(|(_, item)| (item.leased, item.modified_ms));
    let mut kept =
        Kept { files: items.len() as u64, bytes: items.iter().map(|(_, item)| item.bytes).sum() };
    for (inventory, item) in items {
        let reason = if kept.bytes > bounds.max_bytes {
            Reason::Bytes
        } else if kept.files > bounds.max_files {
            Reason::Count
        } else {
            break;
        };
        let age = now_ms.saturating_sub(item.modified_ms);
        // What is dated far in the future was made under a wrong clock, and would otherwise stay for ever.
        let may_go = !(-DAY_MS..=HOUR_MS).contains(&age);
        if may_go && report.remove(inventory, item, reason) {
            kept.files -= 1;
            kept.bytes -= item.bytes;
        }
    }
    report.kept = kept;
    for inventory in &inventories {
        retention::remove_left_behind(&inventory.folder, now_ms);
        for session in &inventory.sessions {
            if let Ok(inner) = inventory.folder.inner(session) {
                retention::remove_left_behind(&inner, now_ms);
            }
            retire(&inventory.folder, &inventory.dir, session, &store.leases);
        }
    }
    report
}

impl Report {
    fn remove(&mut self, inventory: &Inventory, item: &Item, reason: Reason) -> bool {
        let path = || inventory.path(item).display().to_string();
        match inventory.remove(item) {
            Ok(()) => {
                self.removed_files += 1;
                self.removed_bytes += item.bytes;
                if self.removed.len() < NAMED {
                    self.removed.push(Removed { path: path(), bytes: item.bytes, reason });
                }
                true
            }
            // Somebody else was faster.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
            Err(error) => {
                self.failed_files += 1;
                if self.failed.len() < NAMED_FAILURES {
                    self.failed.push(Failed { path: path(), error: os_reason(&error) });
                }
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::folder::Folder;
    use crate::store::names;
    use crate::store::places::{Durability, Places};
    use std::fs::{self, File};
    use std::path::Path;
    use std::time::{Duration, UNIX_EPOCH};

    const NOW: i64 = 1_800_000_000_000;
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
        OpenStore::new(Places { dirs, durability: Durability::Process })
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
        let report = sweep(&store, &bounds, NOW);
        let expected =
            [('a', Reason::Age), ('b', Reason::Bytes), ('c', Reason::Bytes), ('d', Reason::Count)];
        assert_eq!(gone(&report), expected);
        assert_eq!(
            (report.kept.files, report.removed_files, report.removed_bytes),
            (4, 4, 4 << 30)
        );
        // Younger than an hour: kept, whatever the bounds; from a wrong clock: not.
        let report = sweep(&store, &Bounds { max_files: 1, ..NONE }, NOW);
        assert_eq!(
            gone(&report),
            [('e', Reason::Count), ('f', Reason::Count), ('w', Reason::Count)]
        );
        let report = sweep(&store, &Bounds { max_bytes: 1, ..NONE }, NOW);
        assert_eq!((report.kept.files, report.failed_files), (1, 0));
    }

    #[test]
    fn what_is_in_use_goes_last() {
        let root = tempfile::tempdir().unwrap();
        let session = names::session(&[0x61]);
        file(&root.path().join(&session), 'a', 10, HOUR_MS * 9);
        file(root.path(), 'b', 10, HOUR_MS * 2);
        let (store, user) = (store(&[root.path()]), store(&[root.path()]));
        let place = Folder::open(root.path()).unwrap();
        user.leases.hold(&root.path().join(&session), &place.inner(&session).unwrap());
        let report = sweep(&store, &Bounds { max_files: 1, ..NONE }, NOW);
        assert_eq!(gone(&report), [('b', Reason::Count)]);
        let report = sweep(&store, &Bounds { max_bytes: 5, ..NONE }, NOW);
        assert_eq!(gone(&report), [('a', Reason::Bytes)]);
        assert!(root.path().join(&session).exists());
        user.leases.release_all();
        sweep(&store, &NONE, NOW);
        assert!(!root.path().join(&session).exists());
    }

    #[test]
    fn a_folder_that_is_being_swept_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        file(root.path(), 'a', 10, HOUR_MS * 9);
        let lock = Folder::open(root.path()).unwrap().lock_file(LOCK).unwrap();
        lock.lock().unwrap();
        let store = store(&[root.path()]);
        let bounds = Bounds { max_files: 0, ..NONE };
        let report = sweep(&store, &bounds, NOW);
        assert_eq!((report.skipped_dirs.len(), report.removed_files), (1, 0));
        drop(lock);
        assert_eq!(sweep(&store, &bounds, NOW).removed_files, 1);
    }
}
