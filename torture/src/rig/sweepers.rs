//! Sweepers: the store, and implementations with one planted bug each.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use spillway_core::fs::file_names;
use spillway_core::storage::bounds::Bounds;
use spillway_core::storage::open_store::OpenStore;
use spillway_core::storage::sweep::{SweepTrigger, sweep};

use super::Result;

const HOUR_MS: i64 = 60 * 60 * 1000;

/// A sweeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sweeper {
    /// The store.
    Product,
    /// A correct sweeper, which the bugs are planted in.
    Sound,
    /// Takes a file that cannot be examined for an expired one.
    StatDeletes,
    /// Removes recent files.
    SweepsFresh,
    /// Removes the target of a symlink.
    FollowsLink,
}

const SWEEPERS: [(&str, Sweeper); 5] = [
    ("product", Sweeper::Product),
    ("sound", Sweeper::Sound),
    ("stat-deletes", Sweeper::StatDeletes),
    ("sweeps-fresh", Sweeper::SweepsFresh),
    ("follows-link", Sweeper::FollowsLink),
];

impl Sweeper {
    /// Returns the sweeper with a name.
    pub(crate) fn named(name: &str) -> Result<Self> {
        let known = SWEEPERS.iter().find(|(each, _)| *each == name);
        known
            .map(|(_, sweeper)| *sweeper)
            .ok_or_else(|| format!("no sweeper is called {name}").into())
    }

    pub(crate) fn name(self) -> &'static str {
        SWEEPERS.iter().find(|(_, each)| *each == self).map_or("", |(name, _)| *name)
    }

    /// Removes files older than `days` or in excess of a number, and returns how many it removed.
    pub(crate) fn sweep(self, store: &OpenStore, days: f64, max_files: u64, now_ms: i64) -> u64 {
        if self == Sweeper::Product {
            let bounds = Bounds { retention_days: days, max_bytes: u64::MAX, max_files };
            return sweep(store, &bounds, SweepTrigger::Requested(now_ms)).removed_files;
        }
        let age = (days * 24.0 * HOUR_MS as f64) as i64;
        store
            .places
            .dirs
            .iter()
            .map(|dir| self.sweep_folder(dir.path(), age, max_files, now_ms))
            .sum()
    }

    fn sweep_folder(self, dir: &Path, age: i64, max_files: u64, now_ms: i64) -> u64 {
        let mut removed = 0;
        let names = names_in(dir);
        let is_full = names.len() as u64 > max_files;
        for name in &names {
            let path = dir.join(name);
            if file_names::is_session(name) {
                removed += self.sweep_folder(&path, age, max_files, now_ms);
                continue;
            }
            let limit = match name.as_str() {
                name if file_names::is_temporary(name) => HOUR_MS,
                name if !file_names::is_output(name) => continue,
                _ if is_full && self == Sweeper::SweepsFresh => -1,
                _ if is_full => HOUR_MS.min(age),
                _ => age,
            };
            let found = match self {
                Sweeper::FollowsLink => fs::metadata(&path),
                _ => fs::symlink_metadata(&path),
            };
            let modified = match found {
                // A file with another name may belong to another program, unless it is a temporary one.
                Ok(found) if !found.is_file() || (found.nlink() > 1 && limit != HOUR_MS) => {
                    continue;
                }
                Ok(found) => {
                    found.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok())
                }
                Err(_) if self == Sweeper::StatDeletes => Some(std::time::Duration::ZERO),
                Err(_) => None,
            };
            let modified = modified.and_then(|since| i64::try_from(since.as_millis()).ok());
            if modified.is_some_and(|modified| now_ms - modified > limit) {
                let target = match self {
                    Sweeper::FollowsLink => path.canonicalize().unwrap_or(path),
                    _ => path,
                };
                removed += u64::from(fs::remove_file(target).is_ok());
            }
        }
        removed
    }
}

/// Returns the names in a folder. The standard library panics if a folder cannot be closed.
fn names_in(dir: &Path) -> Vec<String> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let Ok(folder) = openat(CWD, dir, flags, Mode::empty()) else { return Vec::new() };
    let entries = Dir::read_from(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
    names.filter(|name| !matches!(name.as_str(), "." | "..")).collect()
}
