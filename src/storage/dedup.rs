//! Deduplicates the outputs of a call: agents replay results when they resume, and a result may pass through several
//! layers that all save it.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::directories::StoreDirs;
use super::read::owner;
use super::sweep;
use crate::util::sync::lock;

/// Maximum number of calls remembered: more than an agent has in its context, in a few hundred kilobytes.
const REMEMBERED: usize = 1000;
/// Maximum number of different outputs remembered per call.
const OUTPUTS: usize = 4;
/// Number of bytes compared at a time.
const BLOCK: usize = 64 * 1024;

/// The session's folder, and the id of the call.
type Key = (Option<String>, Vec<u16>);

/// The outputs saved per call, for the most recent calls of a store.
#[derive(Debug, Default)]
pub struct SavedCalls {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    // A tree and not a hash map, which needs random bytes from the system and panics without them.
    calls: BTreeMap<Key, Arc<Mutex<PreviousSaves>>>,
    order: VecDeque<Key>,
}

/// The outputs saved for one call. A save holds its lock, so that a concurrent save for the same call sees the result.
#[derive(Debug, Default)]
pub struct PreviousSaves {
    outputs: VecDeque<(PathBuf, u64)>,
}

impl SavedCalls {
    /// Returns the outputs saved for a call.
    pub fn of(&self, session: Option<&str>, call: Vec<u16>) -> Arc<Mutex<PreviousSaves>> {
        let mut known = lock(&self.known);
        let key = (session.map(str::to_owned), call);
        if let Some(earlier) = known.calls.get(&key) {
            return Arc::clone(earlier);
        }
        if known.order.len() >= REMEMBERED
            && let Some(oldest) = known.order.pop_front()
        {
            known.calls.remove(&oldest);
        }
        let earlier = Arc::<Mutex<PreviousSaves>>::default();
        known.calls.insert(key.clone(), Arc::clone(&earlier));
        known.order.push_back(key);
        earlier
    }
}

impl PreviousSaves {
    /// Returns a saved output with the same content that still exists. Its date is renewed, so that it is kept as long
    /// as a new one.
    pub fn find(&self, places: &StoreDirs, draft: &mut File, bytes: u64) -> Option<PathBuf> {
        let same_size = self.outputs.iter().filter(|(_, size)| *size == bytes);
        same_size.map(|(path, _)| path).find(|path| is_same(places, path, draft)).cloned()
    }

    /// Remembers an output.
    pub fn note(&mut self, path: &Path, bytes: u64) {
        self.outputs.retain(|(known, _)| known != path);
        if self.outputs.len() >= OUTPUTS {
            self.outputs.pop_front();
        }
        self.outputs.push_back((path.to_owned(), bytes));
    }
}

fn is_same(places: &StoreDirs, path: &Path, draft: &mut File) -> bool {
    let Some(owned) = owner(places, path) else { return false };
    if !owned.open().and_then(|mut file| equal(&mut file, draft)).unwrap_or(false) {
        return false;
    }
    // A sweep in progress may have found the file expired already. The sweep is held off only now, so that none is
    // delayed while contents are compared.
    let Some(_hold) = sweep::hold_off(&owned.place) else { return false };
    owned.renew().is_ok()
}

fn equal(one: &mut File, other: &mut File) -> io::Result<bool> {
    other.seek(SeekFrom::Start(0))?;
    let (mut ours, mut theirs) = (vec![0; BLOCK], vec![0; BLOCK]);
    loop {
        let read = one.read(&mut ours)?;
        let (Some(ours), Some(theirs)) = (ours.get(..read), theirs.get_mut(..read)) else {
            return Ok(false);
        };
        match other.read_exact(theirs) {
            Ok(()) if ours == theirs => {}
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
        if read == 0 {
            return Ok(other.read(&mut [0])? == 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::file_names;
    use crate::storage::fixture;
    use crate::storage::save::{Save, SaveRequest, Saved};
    use std::fs;
    use std::time::SystemTime;

    fn save(store: &Arc<super::super::open_store::OpenStore>, call: &str, content: &[u8]) -> Saved {
        let request = SaveRequest {
            tool: "x".to_owned(),
            session: Some(vec![0x61]),
            call: Some(call.encode_utf16().collect()),
            now_ms: 5,
        };
        let mut save = Save::new(Arc::clone(store), request);
        save.write(content).unwrap();
        save.publish().unwrap()
    }

    #[test]
    fn the_same_content_of_the_same_call_is_saved_once() {
        let (root, store) = fixture::store();
        let long = vec![b'x'; 3 * BLOCK];
        let first = save(&store, "call", &long);
        assert_eq!(save(&store, "call", &long), first);
        let mut other = long.clone();
        other[2 * BLOCK] = b'y';
        let changed = save(&store, "call", &other);
        assert_ne!(changed.path, first.path);
        assert_eq!(save(&store, "call", &long).path, first.path);
        assert_ne!(save(&store, "another call", &long).path, first.path);
        let session = root.path().join(file_names::session(&[0x61]));
        let outputs = fs::read_dir(session).unwrap().filter(|entry| {
            file_names::is_output(entry.as_ref().unwrap().file_name().to_str().unwrap())
        });
        assert_eq!(outputs.count(), 3);
    }

    #[test]
    fn what_is_no_longer_there_is_saved_again() {
        let (_root, store) = fixture::store();
        let first = save(&store, "call", b"text");
        fs::remove_file(&first.path).unwrap();
        let second = save(&store, "call", b"text");
        assert_ne!(second.path, first.path);
        for spoilt in ["tex_", "te", "", "text and more"] {
            let before = save(&store, "call", b"text");
            fs::write(&before.path, spoilt).unwrap();
            let after = save(&store, "call", b"text");
            assert_ne!(after.path, before.path, "{spoilt:?}");
            assert_eq!(fs::read(after.path).unwrap(), b"text");
        }
    }

    #[test]
    fn what_is_saved_again_is_as_young_as_a_new_one() {
        let (_root, store) = fixture::store();
        let first = save(&store, "call", b"text");
        let file = File::options().write(true).open(&first.path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(save(&store, "call", b"text"), first);
        assert!(file.metadata().unwrap().modified().unwrap().elapsed().unwrap().as_secs() < 3600);
    }

    #[test]
    fn calls_are_not_remembered_without_end() {
        let calls = SavedCalls::default();
        for call in 0..2 * REMEMBERED as u16 {
            calls.of(None, vec![call]);
        }
        let known = calls.known.lock().unwrap();
        assert_eq!((known.calls.len(), known.order.len()), (REMEMBERED, REMEMBERED));
    }
}
