//! A saved output for the tests of what reads one.

use super::places::{Durability, Places};
use super::save::Save;

/// A store in a folder of its own, and the path of the one output in it.
pub fn saved(bytes: &[u8]) -> (tempfile::TempDir, Places, String) {
    let root = tempfile::tempdir().unwrap();
    let places = Places { dirs: vec![root.path().to_owned()], durability: Durability::Process };
    let mut save = Save::new(places.clone(), None, "x", 5);
    save.write(bytes).unwrap();
    let path = save.publish().unwrap().path;
    (root, places, path)
}
