//! Stores and saved outputs for tests.

use std::sync::Arc;

use super::directories::{Durability, StoreDirs};
use super::open_store::OpenStore;
use super::save::{Save, SaveRequest};

/// Creates a store in a directory of its own.
pub(crate) fn store() -> (tempfile::TempDir, Arc<OpenStore>) {
    let root = tempfile::tempdir().unwrap();
    let places = StoreDirs::of(vec![root.path().to_owned()], Durability::Process);
    (root, Arc::new(OpenStore::new(places)))
}

/// Creates a store in a directory of its own with one output, and returns the output's path.
pub(crate) fn saved(bytes: &[u8]) -> (tempfile::TempDir, StoreDirs, String) {
    let (root, store) = store();
    let mut save = Save::new(Arc::clone(&store), SaveRequest::default());
    save.write(bytes).unwrap();
    let path = save.publish().unwrap().path;
    (root, store.places.clone(), path)
}
