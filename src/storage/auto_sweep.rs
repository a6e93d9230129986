//! Automatic sweeps: a store sweeps with its first save, and then with every hundredth. There is no timer, and no save
//! waits: a sweep runs on a thread of its own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use super::bounds::Bounds;
use super::open_store::OpenStore;
use super::sweep::{SweepReport, SweepTrigger, sweep};
use crate::util::sync::lock;
use crate::util::threads;

/// Number of saves from one sweep to the next.
const EVERY: u64 = 100;

/// Decides when a store sweeps, and holds the report of the last sweep.
#[derive(Debug, Default)]
pub struct AutoSweep {
    /// `None` disables automatic sweeps.
    bounds: Option<Bounds>,
    saves: AtomicU64,
    /// Time of the first save, by the clock that names the files.
    since_ms: OnceLock<i64>,
    thread: Mutex<Option<JoinHandle<()>>>,
    last: Mutex<Option<SweepReport>>,
}

impl AutoSweep {
    /// Creates the state for a store with these limits.
    pub fn within(bounds: Option<Bounds>) -> Self {
        AutoSweep { bounds, ..AutoSweep::default() }
    }

    /// Returns the report of the last sweep.
    pub fn last(&self) -> Option<SweepReport> {
        lock(&self.last).clone()
    }

    /// Waits for the sweep in progress.
    pub fn settle(&self) {
        let thread = lock(&self.thread).take();
        // A thread that panicked has no report.
        let _ = thread.map(JoinHandle::join);
    }
}

/// Counts a save, and starts a sweep when one is due. `named_ms` is the time in the file's name; `dated` reads the time
/// from the file system, which is done only if a sweep is due.
pub(crate) fn saved(
    store: &Arc<OpenStore>,
    named_ms: i64,
    dated: impl FnOnce() -> Option<SystemTime>,
) {
    let Some(bounds) = store.auto_sweep.bounds else { return };
    let since_ms = *store.auto_sweep.since_ms.get_or_init(|| named_ms);
    if !store.auto_sweep.saves.fetch_add(1, Ordering::Relaxed).is_multiple_of(EVERY) {
        return;
    }
    let Some(now) = dated().and_then(|dated| dated.duration_since(UNIX_EPOCH).ok()) else { return };
    // Another thread holds the lock: it starts a sweep, or waits for one.
    let Ok(mut thread) = store.auto_sweep.thread.try_lock() else { return };
    if thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
        return;
    }
    let ours = Arc::clone(store);
    let work = move || {
        let report = sweep(&ours, &bounds, SweepTrigger::Automatic { now, since_ms });
        *lock(&ours.auto_sweep.last) = Some(report);
    };
    // Without a free thread, the sweep is left to a later save.
    *thread = threads::start("spillway-sweep", Box::new(work)).ok();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::directories::{Durability, StoreDirs};
    use crate::storage::save::{Save, SaveRequest};
    use std::fs::{self, File};
    use std::path::Path;
    use std::time::Duration;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    fn store(dir: &Path) -> Arc<OpenStore> {
        let places = StoreDirs::of(vec![dir.to_owned()], Durability::Process);
        let bounds = Bounds { retention_days: 7.0, max_bytes: u64::MAX, max_files: u64::MAX };
        Arc::new(OpenStore::within(places, Some(bounds)))
    }

    fn save(store: &Arc<OpenStore>) -> String {
        save_at(store, SystemTime::now())
    }

    fn save_at(store: &Arc<OpenStore>, now: SystemTime) -> String {
        let now_ms = now.duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
        let mut save =
            Save::new(Arc::clone(store), SaveRequest { now_ms, ..SaveRequest::default() });
        save.write(b"text").unwrap();
        let path = save.publish().unwrap().path;
        store.auto_sweep.settle();
        path
    }

    fn old(dir: &Path, letter: char) -> std::path::PathBuf {
        let path = dir.join(format!("x_1_{}.txt", letter.to_string().repeat(13)));
        fs::write(&path, "old").unwrap();
        age(&path, 8 * DAY);
        path
    }

    fn age(path: &Path, by: Duration) {
        File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(SystemTime::now() - by)
            .unwrap();
    }

    #[test]
    fn the_first_save_sweeps_and_then_every_hundredth() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path());
        let first = old(root.path(), 'a');
        let saved = save(&store);
        assert!(!first.exists() && Path::new(&saved).exists());
        assert_eq!(store.auto_sweep.last().unwrap().removed_files, 1);
        let second = old(root.path(), 'b');
        for saves in [1, EVERY - 1] {
            store.auto_sweep.saves.store(saves, Ordering::Relaxed);
            save(&store);
            assert!(second.exists());
        }
        save(&store);
        assert!(!second.exists());
    }

    #[test]
    fn what_the_store_saved_itself_stays_whatever_its_date_was_set_to() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path());
        let saved = save(&store);
        age(Path::new(&saved), 8 * DAY);
        let other = old(root.path(), 'a');
        store.auto_sweep.saves.store(EVERY, Ordering::Relaxed);
        save(&store);
        assert!(Path::new(&saved).exists() && !other.exists());
        // Within the same millisecond it might be the file's own time.
        save_at(&self::store(root.path()), SystemTime::now() + Duration::from_secs(1));
        assert!(!Path::new(&saved).exists());
    }

    #[test]
    fn what_is_touched_after_the_save_is_not_swept_by_it() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path());
        let path = old(root.path(), 'a');
        let at = |now: SystemTime| {
            let now = now.duration_since(UNIX_EPOCH).unwrap();
            SweepTrigger::Automatic { now, since_ms: i64::MAX }
        };
        let bounds = Bounds::of_age(7.0);
        let second = Duration::from_secs(1);
        assert_eq!(sweep(&store, &bounds, at(SystemTime::now() - second)).removed_files, 0);
        assert!(path.exists());
        assert_eq!(sweep(&store, &bounds, at(SystemTime::now() + second)).removed_files, 1);
    }

    #[test]
    fn a_clock_that_jumped_removes_nothing_at_first() {
        let root = tempfile::tempdir().unwrap();
        let files = ['a', 'b'].map(|letter| old(root.path(), letter));
        for path in &files {
            age(path, 3650 * DAY);
        }
        save(&store(root.path()));
        assert!(files.iter().all(|path| path.exists()));
        // Once an output of today exists, the clock is trusted.
        age(&files[0], DAY);
        save(&store(root.path()));
        assert_eq!(files.map(|path| path.exists()), [true, false]);
    }

    #[test]
    fn without_bounds_nothing_is_swept() {
        let root = tempfile::tempdir().unwrap();
        let kept = old(root.path(), 'a');
        let places = StoreDirs::of(vec![root.path().to_owned()], Durability::Process);
        save(&Arc::new(OpenStore::new(places)));
        assert!(kept.exists());
    }
}
