//! Who uses the folder of a session: the processes that hold its lock file. A lease ends with its process, however that ends.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::folder::Folder;

/// The lock file in the folder of a session.
pub const NAME: &str = ".lease";

/// The leases that a store holds.
#[derive(Debug, Default)]
pub struct Leases {
    held: Mutex<HashMap<PathBuf, File>>,
}

impl Leases {
    /// Holds the lease of a session's folder from now on. Saving never waits for one and never fails for want of one.
    pub fn hold(&self, path: &Path, folder: &Folder) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        // A folder that was removed and made anew has another lock file.
        if held.get(path).is_some_and(|file| folder.has(NAME, file)) {
            return;
        }
        held.remove(path);
        if let Ok(file) = folder.lock_file(NAME)
            && file.try_lock_shared().is_ok()
            && folder.has(NAME, &file)
        {
            held.insert(path.to_owned(), file);
        }
    }

    /// Gives the lease of one folder back.
    pub fn release(&self, path: &Path) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
    }

    /// Gives all leases back.
    pub fn release_all(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Whether anybody holds the lease of a session's folder, this process included.
pub fn is_leased(session: &Folder) -> bool {
    // What cannot be asked is taken for used.
    session.existing_lock_file(NAME).is_some_and(|file| file.try_lock().is_err())
}

/// Removes the folder of a session if nothing is left in it and nobody else uses it.
pub fn retire(place: &Folder, dir: &Path, name: &str, leases: &Leases) {
    let Ok(session) = place.inner(name) else { return };
    if session
        .names()
        .is_ok_and(|names| names.iter().all(|name| matches!(name.as_str(), "." | ".." | NAME)))
    {
        leases.release(&dir.join(name));
        let lock = session.existing_lock_file(NAME);
        if lock.as_ref().is_none_or(|file| file.try_lock().is_ok()) {
            let _ = session.remove(NAME);
            // Fails if something was saved into it meanwhile, which is the point.
            let _ = place.remove_empty(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::names;

    #[test]
    fn a_folder_stays_as_long_as_somebody_uses_it() {
        let root = tempfile::tempdir().unwrap();
        let (ours, theirs) = (Leases::default(), Leases::default());
        let place = Folder::open(root.path()).unwrap();
        let name = names::session(&[0x61]);
        let session = place.enter(&name).unwrap();
        let path = root.path().join(&name);
        assert!(!is_leased(&session));
        ours.hold(&path, &session);
        theirs.hold(&path, &session);
        assert!(is_leased(&session));
        retire(&place, root.path(), &name, &ours);
        assert!(path.exists() && is_leased(&session));
        theirs.release_all();
        assert!(!is_leased(&session));
        std::fs::write(path.join("foreign"), "").unwrap();
        retire(&place, root.path(), &name, &ours);
        assert!(path.exists());
        std::fs::remove_file(path.join("foreign")).unwrap();
        retire(&place, root.path(), &name, &ours);
        assert!(!path.exists());
        // A folder that was made anew has a lease of its own.
        theirs.hold(&path, &session);
        let session = place.enter(&name).unwrap();
        theirs.hold(&path, &session);
        assert!(is_leased(&session));
    }
}
