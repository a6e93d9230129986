//! What is in a store: the outputs in all its folders and sessions. Nothing else is ever counted or touched.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::directories::{self, Place};
use super::file_metadata::Examined;
use super::file_names;
use super::folder::{Folder, is_anothers};
use super::lease;
use super::open_store::OpenStore;
use super::sweep::Report;
use crate::error::{Code, Error, Result, os_reason};

/// An output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The session it belongs to.
    pub session: Option<String>,
    /// Its file name.
    pub name: String,
    /// What is known of it.
    pub file: Examined,
    /// When it was saved, by its name.
    pub saved_ms: i64,
}

/// A file that is being written, or that a killed process left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Temporary {
    pub session: Option<String>,
    pub name: String,
}

/// The outputs in one folder of a store.
#[derive(Debug)]
pub struct Inventory {
    /// The folder.
    pub dir: PathBuf,
    /// The same, open.
    pub folder: Folder,
    /// What is in it, without what could not be examined.
    pub items: Vec<Item>,
    /// The folders of sessions.
    pub sessions: Vec<String>,
    /// Folders of sessions that could not be read, and why.
    pub unreadable: Vec<(PathBuf, io::Error)>,
    pub(super) temporaries: Vec<Temporary>,
}

impl Inventory {
    /// Looks at one folder of a store, and at each folder in it once.
    pub fn take(dir: &Path, folder: Folder) -> io::Result<Self> {
        let (sessions, files): (Vec<String>, Vec<String>) =
            folder.names()?.into_iter().partition(|name| file_names::is_session(name));
        let (items, temporaries) = look(&folder, None, files);
        let mut inventory = Inventory {
            dir: dir.to_owned(),
            folder,
            items,
            sessions: Vec::new(),
            unreadable: Vec::new(),
            temporaries,
        };
        for session in sessions {
            let look = |folder: &Folder| {
                let names = folder.names()?;
                // Whoever saves into a session leaves its lock file: without one the folder only looks like ours.
                if !names.iter().any(|name| name == lease::NAME) {
                    return Err(io::ErrorKind::NotFound.into());
                }
                Ok(look(folder, Some(&session), names))
            };
            match inventory.within(Some(&session), look) {
                Ok((items, temporaries)) => {
                    inventory.items.extend(items);
                    inventory.temporaries.extend(temporaries);
                    inventory.sessions.push(session);
                }
                Err(error) if is_foreign(&error) => {}
                Err(error) => inventory.unreadable.push((dir.join(session), error)),
            }
        }
        Ok(inventory)
    }

    /// Works in the folder itself, or in that of a session in it.
    pub(super) fn within<T>(
        &self,
        session: Option<&str>,
        work: impl FnOnce(&Folder) -> io::Result<T>,
    ) -> io::Result<T> {
        match session {
            Some(session) => work(&self.folder.inner(session)?),
            None => work(&self.folder),
        }
    }

    /// Where an output is.
    pub fn path(&self, item: &Item) -> PathBuf {
        directories::folder_of(&self.dir, item.session.as_deref()).join(&item.name)
    }

    /// Removes an output.
    pub fn remove(&self, item: &Item) -> io::Result<()> {
        self.within(item.session.as_deref(), |folder| folder.remove(&item.name))
    }
}

fn look(folder: &Folder, session: Option<&str>, names: Vec<String>) -> (Vec<Item>, Vec<Temporary>) {
    let (mut items, mut temporaries) = (Vec::new(), Vec::new());
    for name in names {
        let session = session.map(str::to_owned);
        if file_names::is_temporary(&name) {
            temporaries.push(Temporary { session, name });
        } else if file_names::is_output(&name)
            && let Some(file) = folder.examine(&name)
        {
            let saved_ms = file_names::saved_ms(&name);
            items.push(Item { session, name, file, saved_ms });
        }
    }
    (items, temporaries)
}

/// Whether what is called like the folder of a session is none of ours, or is gone by now.
fn is_foreign(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    is_anothers(error) || matches!(error.kind(), NotADirectory | NotFound)
}

/// Removes a file that a process left that was killed, if it was last written before this, in milliseconds since the epoch.
pub(super) fn remove_left_behind(folder: &Folder, name: &str, before_ms: i64) {
    if folder.left_behind(name).is_some_and(|modified| modified < before_ms) {
        // What cannot be removed is tried again by the next sweep.
        let _ = folder.remove(name);
    }
}

/// How much a store holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Outputs.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sessions that have a folder.
    pub sessions: u64,
    /// Folder by folder, in order.
    pub dirs: Vec<DirUsage>,
    /// What the last sweep did that the store made by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_sweep: Option<Report>,
}

/// How much one folder holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DirUsage {
    /// The folder.
    pub dir: String,
    /// Outputs in it and in its sessions.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that are free on its file system, if the folder is there and the system says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
}

/// How much a store holds, all folders together.
pub fn usage(store: &OpenStore) -> Usage {
    let mut usage = Usage { last_sweep: store.upkeep.last(), ..Usage::default() };
    let mut sessions = BTreeSet::new();
    let mut seen: Vec<Folder> = Vec::new();
    for dir in &store.places.dirs {
        let folder = dir.open().ok();
        // By a link, another path can lead to what was counted already.
        if folder.is_some() && seen.iter().any(|seen| dir.leads_to(None, seen)) {
            continue;
        }
        let inventory = folder.and_then(|folder| Inventory::take(dir.path(), folder).ok());
        let items = inventory.as_ref().map_or(&[][..], |inventory| &inventory.items[..]);
        let (files, bytes) = (items.len() as u64, items.iter().map(|item| item.file.bytes).sum());
        usage.files += files;
        usage.bytes += bytes;
        let free = inventory.as_ref().and_then(|inventory| inventory.folder.space());
        let dir = dir.path().display().to_string();
        usage.dirs.push(DirUsage { dir, files, bytes, free_bytes: free.map(|(free, _)| free) });
        if let Some(inventory) = inventory {
            sessions.extend(inventory.sessions);
            seen.push(inventory.folder);
        }
    }
    usage.sessions = sessions.len() as u64;
    usage
}

/// Removes all outputs of a session, whoever uses it, and answers how many there were. What cannot be removed does not keep
/// the rest: the first of it is the error.
pub fn delete_session(store: &OpenStore, id: &[u16]) -> Result<u64> {
    let name = file_names::session(id);
    let (mut removed, mut failed) = (0, None);
    for dir in &store.places.dirs {
        let mut fail = |path: PathBuf, error: &io::Error| {
            failed.get_or_insert_with(|| format!("{} ({})", os_reason(error), path.display()));
        };
        let path = dir.path().join(&name);
        let (place, session, files) = match session_in(dir, &name) {
            Ok(found) => found,
            Err(error) if is_foreign(&error) => continue,
            Err(error) => {
                fail(path, &error);
                continue;
            }
        };
        // First, because one of them may be the other name of an output, which is nobody's own as long as it has two.
        for file in files.iter().filter(|file| file_names::is_temporary(file)) {
            remove_left_behind(&session, file, i64::MAX);
        }
        let own = |file: &&String| file_names::is_output(file) && session.examine(file).is_some();
        for file in files.iter().filter(own) {
            match session.remove(file) {
                Ok(()) => removed += 1,
                // Somebody else removed it just now.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => fail(path.join(file), &error),
            }
        }
        lease::retire(&place, dir.path(), &name, Some(&store.leases));
    }
    match failed {
        None => Ok(removed),
        Some(reason) => Err(Error::new(
            Code::StorageWrite,
            format!("not all of the session could be removed: {reason}"),
        )),
    }
}

/// A folder of a store, that of a session in it, and the names in that.
fn session_in(dir: &Place, name: &str) -> io::Result<(Folder, Folder, Vec<String>)> {
    let place = dir.open()?;
    let session = place.inner(name)?;
    let names = session.names()?;
    Ok((place, session, names))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::storage::fixture;
    use crate::storage::save::{Save, SaveRequest};
    use std::fs;

    #[test]
    fn a_session_goes_with_what_a_killed_process_left_in_it() {
        let (root, store) = fixture::store();
        let id = [0x61];
        let request = SaveRequest { session: Some(id.to_vec()), ..SaveRequest::default() };
        let mut save = Save::new(std::sync::Arc::clone(&store), request);
        save.write(b"text").unwrap();
        let path = save.publish().unwrap().path;
        let session = root.path().join(file_names::session(&id));
        fs::hard_link(path, session.join(file_names::temporary(1).unwrap())).unwrap();
        assert_eq!(delete_session(&store, &id).unwrap(), 1);
        assert!(!session.exists());
    }
}
