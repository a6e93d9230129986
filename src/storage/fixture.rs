//! A store for the tests, and a saved output for those of what reads one.

use std::sync::Arc;

use super::directories::{Durability, Places};
use super::open_store::OpenStore;
use super::save::{Save, SaveRequest};

/// A store in a folder of its own.
pub fn store() -> (tempfile::TempDir, Arc<OpenStore>) {
    let root = tempfile::tempdir().unwrap();
    let places = Places::of(vec![root.path().to_owned()], Durability::Process);
    (root, Arc::new(OpenStore::new(places)))
}

/// A store in a folder of its own, and the path of the one output in it.
pub fn saved(bytes: &[u8]) -> (tempfile::TempDir, Places, String) {
    let (root, store) = store();
    let mut save = Save::new(Arc::clone(&store), SaveRequest::default());
    save.write(bytes).unwrap();
    let path = save.publish().unwrap().path;
    (root, store.places.clone(), path)
}
