//! Leases on the folders of sessions: a process that uses one holds its lock file. A lease ends with its process,
//! however that ends.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::fs::folder::Folder;
use crate::util::sync::lock;

/// Name of the lock file in the folder of a session.
pub(crate) const NAME: &str = ".lease";

/// Maximum number of leases held, each of which takes a descriptor. The most recently used sessions are kept.
const MAX: usize = 128;

type Held = Vec<(PathBuf, File)>;

/// Leases of stores that were dropped without being closed. A session lasts as long as its process, not as long as a
/// JavaScript object.
static LEFT: Mutex<Held> = Mutex::new(Vec::new());

/// The leases that a store holds, newest last.
#[derive(Debug, Default)]
pub struct Leases {
    held: Mutex<Held>,
}

impl Leases {
    /// Takes the lease of a session's folder. Saving neither waits for a lease nor fails without one.
    pub fn hold(&self, path: &Path, folder: &Folder) {
        let mut held = lock(&self.held);
        // A folder that was removed and created again has another lock file.
        if held.last().is_some_and(|(known, file)| known == path && folder.has(NAME, file)) {
            return;
        }
        let known = held.iter().position(|(known, _)| known == path).map(|at| held.remove(at).1);
        let known = known.filter(|file| folder.has(NAME, file));
        if let Some(file) = known.or_else(|| take(folder)) {
            keep(&mut held, path.to_owned(), file);
        }
    }

    /// Releases the lease of one folder.
    pub fn release(&self, path: &Path) {
        for held in [&self.held, &LEFT] {
            lock(held).retain(|(known, _)| known != path);
        }
    }

    /// Releases all leases.
    pub fn release_all(&self) {
        lock(&self.held).clear();
    }
}

impl Drop for Leases {
    fn drop(&mut self) {
        let mut left = lock(&LEFT);
        for (path, file) in lock(&self.held).drain(..) {
            left.retain(|(known, _)| *known != path);
            keep(&mut left, path, file);
        }
    }
}

fn take(folder: &Folder) -> Option<File> {
    let file = folder.lock_file(NAME).ok()?;
    (file.try_lock_shared().is_ok() && folder.has(NAME, &file)).then_some(file)
}

fn keep(held: &mut Held, path: PathBuf, file: File) {
    if held.len() >= MAX {
        held.remove(0);
    }
    held.push((path, file));
}

/// Returns true if any process holds the lease of a session's folder, this one included.
pub(crate) fn is_leased(session: &Folder) -> bool {
    !is_free(session.existing_lock_file(NAME).as_ref())
}

/// Returns true if no process holds the lock file, which is locked then. An error counts as held.
fn is_free(lock: Result<&Option<File>, &io::Error>) -> bool {
    lock.is_ok_and(|file| file.as_ref().is_none_or(|file| file.try_lock().is_ok()))
}

/// Removes the folder of a session if it is empty and no process uses it other than through the leases in `ours`.
pub(crate) fn remove_if_unused(place: &Folder, dir: &Path, name: &str, ours: Option<&Leases>) {
    let Ok(session) = place.inner(name) else { return };
    if session.holds_only(NAME).unwrap_or(false) {
        if let Some(leases) = ours {
            leases.release(&dir.join(name));
        }
        let lock = session.existing_lock_file(NAME);
        if is_free(lock.as_ref()) {
            let _ = session.remove(NAME);
            // Fails if something was saved into it meanwhile, as it should.
            let _ = place.remove_empty(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::file_names;
    use crate::fs::symlink_policy::SymlinkPolicy;

    #[test]
    fn a_folder_in_use_is_not_removed() {
        let root = tempfile::tempdir().unwrap();
        let (ours, theirs) = (Leases::default(), Leases::default());
        let place = Folder::open(root.path(), SymlinkPolicy::TrustedOwners).unwrap();
        let name = file_names::session(&[0x61]);
        let session = place.enter(&name).unwrap();
        let path = root.path().join(&name);
        assert!(!is_leased(&session));
        ours.hold(&path, &session);
        theirs.hold(&path, &session);
        assert!(is_leased(&session));
        theirs.release_all();
        remove_if_unused(&place, root.path(), &name, None);
        assert!(path.exists() && is_leased(&session));
        theirs.hold(&path, &session);
        remove_if_unused(&place, root.path(), &name, Some(&ours));
        assert!(path.exists() && is_leased(&session));
        theirs.release_all();
        assert!(!is_leased(&session));
        std::fs::write(path.join("foreign"), "").unwrap();
        remove_if_unused(&place, root.path(), &name, Some(&ours));
        assert!(path.exists());
        std::fs::remove_file(path.join("foreign")).unwrap();
        remove_if_unused(&place, root.path(), &name, Some(&ours));
        assert!(!path.exists());
        // A folder that was created again has a lease of its own.
        theirs.hold(&path, &session);
        let session = place.enter(&name).unwrap();
        theirs.hold(&path, &session);
        assert!(is_leased(&session));
    }

    #[test]
    fn a_folder_whose_lease_cannot_be_asked_for_is_taken_for_used() {
        let root = tempfile::tempdir().unwrap();
        let place = Folder::open(root.path(), SymlinkPolicy::TrustedOwners).unwrap();
        let name = file_names::session(&[0x61]);
        let session = place.enter(&name).unwrap();
        std::fs::create_dir(root.path().join(&name).join(NAME)).unwrap();
        assert!(is_leased(&session));
        remove_if_unused(&place, root.path(), &name, None);
        assert!(root.path().join(&name).exists());
    }

    #[test]
    fn a_lease_outlives_the_store_that_was_not_closed() {
        let root = tempfile::tempdir().unwrap();
        let place = Folder::open(root.path(), SymlinkPolicy::TrustedOwners).unwrap();
        let name = file_names::session(&[0x61]);
        let (session, path) = (place.enter(&name).unwrap(), root.path().join(&name));
        let leases = Leases::default();
        leases.hold(&path, &session);
        drop(leases);
        assert!(is_leased(&session));
        Leases::default().release(&path);
        assert!(!is_leased(&session));
    }

    #[test]
    fn a_store_of_many_sessions_holds_the_last_of_them() {
        let root = tempfile::tempdir().unwrap();
        let place = Folder::open(root.path(), SymlinkPolicy::TrustedOwners).unwrap();
        let leases = Leases::default();
        let sessions: Vec<(PathBuf, Folder)> = (0..MAX as u16 + 10)
            .map(|id| file_names::session(&[id]))
            .map(|name| (root.path().join(&name), place.enter(&name).unwrap()))
            .collect();
        for (path, session) in &sessions {
            leases.hold(path, session);
            leases.hold(&sessions[0].0, &sessions[0].1);
        }
        let leased: Vec<bool> = sessions.iter().map(|(_, session)| is_leased(session)).collect();
        assert_eq!(leased.iter().filter(|leased| **leased).count(), MAX);
        assert!(leased[0] && !leased[1] && leased[sessions.len() - 1]);
    }
}
