//! What is in a store: the outputs in all its folders and sessions. Nothing else is ever counted or touched.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::examined::Examined;
use super::folder::Folder;
use super::lease::{self, is_leased};
use super::names;
use super::opened::OpenStore;
use super::sweep::Report;

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
    /// Its session is in use.
    pub leased: bool,
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
}

impl Inventory {
    /// Looks at one folder of a store; nothing if it cannot be read.
    pub fn take(dir: &Path, folder: Folder) -> Option<Self> {
        let mut inventory =
            Inventory { dir: dir.to_owned(), folder, items: Vec::new(), sessions: Vec::new() };
        for name in inventory.folder.names().ok()? {
            if names::is_output(&name) {
                inventory.items.extend(item(&inventory.folder, None, name, false));
            } else if names::is_session(&name)
                && let Ok(inner) = inventory.folder.inner(&name)
            {
                let leased = is_leased(&inner);
                for output in inner.names().unwrap_or_default() {
                    if names::is_output(&output) {
                        inventory.items.extend(item(&inner, Some(&name), output, leased));
                    }
                }
                inventory.sessions.push(name);
            }
        }
        Some(inventory)
    }

    /// Where an output is.
    pub fn path(&self, item: &Item) -> PathBuf {
        let folder = item.session.iter().fold(self.dir.clone(), |path, session| path.join(session));
        folder.join(&item.name)
    }

    /// Removes an output.
    pub fn remove(&self, item: &Item) -> std::io::Result<()> {
        match &item.session {
            Some(session) => self.folder.inner(session)?.remove(&item.name),
            None => self.folder.remove(&item.name),
        }
    }
}

fn item(folder: &Folder, session: Option<&str>, name: String, leased: bool) -> Option<Item> {
    let file = folder.examine(&name)?;
    let saved_ms = names::saved_ms(&name);
    Some(Item { session: session.map(str::to_owned), name, file, saved_ms, leased })
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
    let mut sessions = std::collections::HashSet::new();
    for dir in &store.places.dirs {
        let folder = Folder::open(dir).ok();
        let inventory = folder.and_then(|folder| Inventory::take(dir, folder));
        let items = inventory.as_ref().map_or(&[][..], |inventory| &inventory.items[..]);
        let (files, bytes) = (items.len() as u64, items.iter().map(|item| item.file.bytes).sum());
        usage.files += files;
        usage.bytes += bytes;
        let free = inventory.as_ref().and_then(|inventory| inventory.folder.space());
        let dir = dir.display().to_string();
        usage.dirs.push(DirUsage { dir, files, bytes, free_bytes: free.map(|(free, _)| free) });
        sessions.extend(inventory.into_iter().flat_map(|inventory| inventory.sessions));
    }
    usage.sessions = sessions.len() as u64;
    usage
}

/// Removes all outputs of a session, whoever uses it, and answers how many there were.
pub fn delete_session(store: &OpenStore, id: &[u16]) -> u64 {
    let name = names::session(id);
    let mut removed = 0;
    for dir in &store.places.dirs {
        let Ok(place) = Folder::open(dir) else { continue };
        let Ok(session) = place.inner(&name) else { continue };
        let files = session.names().unwrap_or_default();
        // First, because one of them may be the other name of an output, which is nobody's own as long as it has two.
        for file in files.iter().filter(|file| names::is_temporary(file)) {
            if session.left_behind(file).is_some() {
                let _ = session.remove(file);
            }
        }
        for file in files.iter().filter(|file| names::is_output(file)) {
            let is_own = session.examine(file).is_some();
            removed += u64::from(is_own && session.remove(file).is_ok());
        }
        lease::retire(&place, dir, &name, Some(&store.leases));
    }
    removed
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::store::fixture;
    use crate::store::save::{Save, SaveRequest};
    use std::fs;

    #[test]
    fn a_session_goes_with_what_a_killed_process_left_in_it() {
        let (root, store) = fixture::store();
        let id = [0x61];
        let request = SaveRequest { session: Some(id.to_vec()), ..SaveRequest::default() };
        let mut save = Save::new(std::sync::Arc::clone(&store), request);
        save.write(b"text").unwrap();
        let path = save.publish().unwrap().path;
        let session = root.path().join(names::session(&id));
        fs::hard_link(path, session.join(names::temporary(1).unwrap())).unwrap();
        assert_eq!(delete_session(&store, &id), 1);
        assert!(!session.exists());
    }
}
