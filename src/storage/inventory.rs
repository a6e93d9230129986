//! Lists the outputs of a store in all its folders and sessions. Other files are neither counted nor touched.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::directories::{self, StoreDir};
use super::lease;
use super::open_store::OpenStore;
use super::sweep::SweepReport;
use crate::error::{Code, Error, Result, os_reason};
use crate::fs::file_metadata::FileMetadata;
use crate::fs::file_names;
use crate::fs::folder::{Folder, is_owned_by_another};

/// An output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub session: Option<String>,
    pub name: String,
    pub file: FileMetadata,
    /// Time of the save in milliseconds, from the name.
    pub saved_ms: i64,
}

/// A file in progress, or one that a killed process left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Temporary {
    pub session: Option<String>,
    pub name: String,
}

/// The outputs in one folder of a store.
#[derive(Debug)]
pub struct Inventory {
    pub dir: PathBuf,
    pub folder: Folder,
    /// The outputs, without those that could not be examined.
    pub items: Vec<Item>,
    /// Names of the folders of sessions.
    pub sessions: Vec<String>,
    /// Folders of sessions that could not be read, with the errors.
    pub unreadable: Vec<(PathBuf, io::Error)>,
    pub(super) temporaries: Vec<Temporary>,
}

impl Inventory {
    /// Lists one folder of a store, and each folder in it.
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
                // Every save into a session leaves the session's lock file: a folder without one only looks like ours.
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

    /// Calls `work` with the folder itself, or with that of a session in it.
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

    /// Returns the path of an output.
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

/// Returns true if a folder with the name of a session is not ours, or does not exist any more.
fn is_foreign(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    is_owned_by_another(error) || matches!(error.kind(), NotADirectory | NotFound)
}

/// Removes a file that a process left that was killed, if it was last written before this, in milliseconds since the epoch.
pub(super) fn remove_left_behind(folder: &Folder, name: &str, before_ms: i64) {
    if folder.left_behind(name).is_some_and(|modified| modified < before_ms) {
        // The next sweep tries again.
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
    /// Number of sessions that have a folder.
    pub sessions: u64,
    /// Usage of each directory, in order of preference.
    pub dirs: Vec<DirUsage>,
    /// The report of the last automatic sweep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_sweep: Option<SweepReport>,
}

/// Usage of one directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DirUsage {
    pub dir: String,
    /// Number of outputs in it and in its sessions.
    pub files: u64,
    /// Total size in bytes.
    pub bytes: u64,
    /// Free bytes of its file system, if the directory exists and the system reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
}

/// Returns the usage of a store, in total and by directory.
pub fn usage(store: &OpenStore) -> Usage {
    let mut usage = Usage { last_sweep: store.auto_sweep.last(), ..Usage::default() };
    let mut sessions = BTreeSet::new();
    for (dir, inventory) in inventories(store) {
        let items = inventory.as_ref().map_or(&[][..], |inventory| &inventory.items[..]);
        let (files, bytes) = (items.len() as u64, items.iter().map(|item| item.file.bytes).sum());
        usage.files += files;
        usage.bytes += bytes;
        let free = inventory.as_ref().and_then(|inventory| inventory.folder.space());
        let dir = dir.path().display().to_string();
        usage.dirs.push(DirUsage { dir, files, bytes, free_bytes: free.map(|(free, _)| free) });
        sessions.extend(inventory.into_iter().flat_map(|inventory| inventory.sessions));
    }
    usage.sessions = sessions.len() as u64;
    usage
}

/// Returns each directory of a store once, with its outputs if it can be read.
fn inventories(store: &OpenStore) -> Vec<(&StoreDir, Option<Inventory>)> {
    let mut found: Vec<(&StoreDir, Option<Inventory>)> = Vec::new();
    for dir in &store.places.dirs {
        let folder = dir.open().ok();
        // A symlink can lead to a directory that was read already.
        let mut seen = found.iter().filter_map(|(_, inventory)| inventory.as_ref());
        if folder.is_some() && seen.any(|seen| dir.leads_to(None, &seen.folder)) {
            continue;
        }
        let inventory = folder.and_then(|folder| Inventory::take(dir.path(), folder).ok());
        found.push((dir, inventory));
    }
    found
}

/// A saved output in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedOutput {
    /// Its path.
    pub path: PathBuf,
    /// The name of the tool as it is in the file name.
    pub tool_name: String,
    /// Time of the save in milliseconds since the epoch, from the file name.
    pub saved_at: i64,
    /// Bytes of the file.
    pub bytes: u64,
    /// The file holds only a part of the output.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
}

/// Returns the outputs of a store, or of one session in it, the newest first.
pub fn list(store: &OpenStore, session: Option<&[u16]>) -> Vec<SavedOutput> {
    let wanted = session.map(file_names::session);
    let mut outputs: Vec<SavedOutput> = Vec::new();
    for inventory in inventories(store).into_iter().filter_map(|(_, inventory)| inventory) {
        let items = inventory.items.iter();
        outputs.extend(items.filter(|item| wanted.is_none() || item.session == wanted).map(
            |item| SavedOutput {
                path: inventory.path(item),
                tool_name: file_names::tool(&item.name).to_owned(),
                saved_at: item.saved_ms,
                bytes: item.file.bytes,
                partial: file_names::is_partial(&item.name),
            },
        ));
    }
    outputs.sort_by(|a, b| (b.saved_at, &a.path).cmp(&(a.saved_at, &b.path)));
    outputs
}

/// Removes one output and returns whether it was there.
pub fn remove(store: &OpenStore, path: &str) -> Result<bool> {
    match super::read::owned(&store.places, path)?.remove() {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => {
            let reason = format!("{path:?} could not be removed: {}", os_reason(&error));
            Err(Error::new(Code::StorageWrite, reason))
        }
    }
}

/// Removes all outputs of a session, even if it is in use, and returns their number. An output that cannot be removed
/// does not stop the others; the first such error is returned.
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
        // Temporary files first, because one of them may be another name of an output, which does not count as ours
        // while it has two.
        for file in files.iter().filter(|file| file_names::is_temporary(file)) {
            remove_left_behind(&session, file, i64::MAX);
        }
        let own = |file: &&String| file_names::is_output(file) && session.examine(file).is_some();
        for file in files.iter().filter(own) {
            match session.remove(file) {
                Ok(()) => removed += 1,
                // Removed by another process meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => fail(path.join(file), &error),
            }
        }
        lease::remove_if_unused(&place, dir.path(), &name, Some(&store.leases));
    }
    match failed {
        None => Ok(removed),
        Some(reason) => Err(Error::new(
            Code::StorageWrite,
            format!("not all of the session could be removed: {reason}"),
        )),
    }
}

/// Opens a folder of a store and that of a session in it, and lists the latter.
fn session_in(dir: &StoreDir, name: &str) -> io::Result<(Folder, Folder, Vec<String>)> {
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
    fn removing_a_session_removes_files_of_killed_processes() {
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
