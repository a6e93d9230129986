//! Removing old outputs: our own files only, by the time of their last change.

use super::folder::Folder;
use super::lease::retire;
use super::names;
use super::opened::OpenStore;

pub(super) const HOUR_MS: i64 = 60 * 60 * 1000;
const DAY_MS: f64 = 24.0 * 60.0 * 60.0 * 1000.0;

/// The age in milliseconds above which an output goes; nothing if it never does.
pub(super) fn age_ms(retention_days: f64) -> Option<i64> {
    retention_days.is_finite().then(|| ((retention_days * DAY_MS) as i64).max(HOUR_MS))
}

/// Removes every output that is older than so many days, in all places and the folders of their sessions, and answers
/// how many. What cannot be examined is kept, and so is what is younger than an hour or dated in the future.
pub fn cleanup(store: &OpenStore, retention_days: f64, now_ms: i64) -> u64 {
    let Some(age_ms) = age_ms(retention_days) else { return 0 };
    let mut removed = 0;
    for dir in &store.places.dirs {
        let Ok(folder) = Folder::open(dir) else { continue };
        removed += cleanup_folder(&folder, age_ms, now_ms);
        for name in folder.names().unwrap_or_default().iter().filter(|name| names::is_session(name))
        {
            let Ok(session) = folder.inner(name) else { continue };
            let gone = cleanup_folder(&session, age_ms, now_ms);
            removed += gone;
            let is_old = session
                .changed_ms()
                .is_some_and(|changed| now_ms.saturating_sub(changed) > HOUR_MS);
            if gone > 0 || is_old {
                retire(&folder, dir, name, &store.leases);
            }
        }
    }
    removed
}

fn cleanup_folder(folder: &Folder, age_ms: i64, now_ms: i64) -> u64 {
    remove_left_behind(folder, now_ms);
    let modified = |name: &str| Some(folder.examine(name)?.0);
    remove_older(folder, age_ms, now_ms, names::is_output, modified)
}

/// Removes what a process left that was killed: nobody writes to one file for an hour unseen.
pub(super) fn remove_left_behind(folder: &Folder, now_ms: i64) {
    remove_older(folder, HOUR_MS, now_ms, names::is_temporary, |name| folder.left_behind(name));
}

fn remove_older(
    folder: &Folder,
    age_ms: i64,
    now_ms: i64,
    is_ours: fn(&str) -> bool,
    modified: impl Fn(&str) -> Option<i64>,
) -> u64 {
    let mut removed = 0;
    for name in folder.names().unwrap_or_default().iter().filter(|name| is_ours(name)) {
        let is_old =
            modified(name).is_some_and(|modified| now_ms.saturating_sub(modified) > age_ms);
        removed += u64::from(is_old && folder.remove(name).is_ok());
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::places::{Durability, Places};
    use std::fs::{self, File};
    use std::path::Path;
    use std::time::{Duration, UNIX_EPOCH};

    const DAY: u64 = 24 * 60 * 60 * 1000;
    const NOW: u64 = 1_800_000_000_000;

    fn file(dir: &Path, name: &str, age_ms: i64) {
        let path = dir.join(name);
        fs::write(&path, "x").unwrap();
        let modified = UNIX_EPOCH + Duration::from_millis(NOW.checked_add_signed(-age_ms).unwrap());
        File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    }

    fn name(letter: char) -> String {
        format!("bash_1_{}.txt", letter.to_string().repeat(13))
    }

    #[test]
    fn only_old_files_of_ours_go() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path();
        let week = 7 * DAY as i64;
        file(dir, &name('a'), week + 1);
        file(dir, &name('b'), week);
        file(dir, &name('c'), 0);
        file(dir, &name('d'), -week);
        file(dir, "keep.txt", 100 * week);
        file(dir, "tool_old", 100 * week);
        let session = dir.join(names::session(&[0x61]));
        fs::create_dir(&session).unwrap();
        file(&session, &name('e'), week + 1);
        fs::create_dir(dir.join(name('f'))).unwrap();
        let store = OpenStore::new(Places {
            dirs: vec![dir.to_owned(), dir.join("missing")],
            durability: Durability::Process,
        });
        assert_eq!(cleanup(&store, f64::INFINITY, NOW as i64), 0);
        assert_eq!(cleanup(&store, 7.0, NOW as i64), 2);
        let mut left: Vec<String> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(
            left,
            [name('b'), name('c'), name('d'), name('f'), "keep.txt".into(), "tool_old".into()]
        );
        assert!(!dir.join("missing").exists());
    }

    #[cfg(unix)]
    #[test]
    fn the_other_name_of_an_output_goes() {
        let root = tempfile::tempdir().unwrap();
        let output = name('a');
        file(root.path(), &output, HOUR_MS + 1);
        let other = root.path().join(names::temporary(1).unwrap());
        fs::hard_link(root.path().join(&output), &other).unwrap();
        let store = OpenStore::new(Places {
            dirs: vec![root.path().to_owned()],
            durability: Durability::Process,
        });
        assert_eq!(cleanup(&store, 7.0, NOW as i64), 0);
        assert!(!other.exists());
        assert!(Folder::open(root.path()).unwrap().read(&output).is_ok());
    }

    #[test]
    fn nothing_younger_than_an_hour_goes() {
        let root = tempfile::tempdir().unwrap();
        file(root.path(), &name('a'), HOUR_MS);
        file(root.path(), &name('b'), HOUR_MS + 1);
        let store = OpenStore::new(Places {
            dirs: vec![root.path().to_owned()],
            durability: Durability::Process,
        });
        assert_eq!(cleanup(&store, 0.0001, NOW as i64), 1);
    }
}
