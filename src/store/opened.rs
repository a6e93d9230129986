//! A store as it is used: its folders, and what is remembered between two calls.

use std::sync::Arc;

use super::lease::Leases;
use super::line_index::LineIndexes;
use super::places::Places;

/// An open store.
#[derive(Debug)]
pub struct OpenStore {
    /// Its folders.
    pub places: Places,
    /// Where the lines of the files are that were read last.
    pub indexes: LineIndexes,
    /// The sessions that it saved into.
    pub leases: Arc<Leases>,
}

impl OpenStore {
    /// Opens a store; the disk is not touched.
    pub fn new(places: Places) -> Self {
        OpenStore { places, indexes: LineIndexes::default(), leases: Arc::default() }
    }
}
