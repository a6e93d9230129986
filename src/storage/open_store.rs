//! A store as it is used: its folders, and what is remembered between two calls.

use super::auto_sweep::Upkeep;
use super::bounds::Bounds;
use super::dedup::Calls;
use super::directories::Places;
use super::lease::Leases;
use super::line_index::LineIndexes;

/// An open store.
#[derive(Debug)]
pub struct OpenStore {
    /// Its folders.
    pub places: Places,
    /// Where the lines of the files are that were read last.
    pub indexes: LineIndexes,
    /// The sessions that it saved into.
    pub leases: Leases,
    /// What was saved for which call.
    pub calls: Calls,
    /// When it sweeps by itself.
    pub upkeep: Upkeep,
}

impl OpenStore {
    /// Opens a store that never sweeps by itself; the disk is not touched.
    pub fn new(places: Places) -> Self {
        OpenStore::within(places, None)
    }

    /// Opens a store that keeps itself within these bounds; the disk is not touched.
    pub fn within(places: Places, bounds: Option<Bounds>) -> Self {
        OpenStore {
            places,
            indexes: LineIndexes::default(),
            leases: Leases::default(),
            calls: Calls::default(),
            upkeep: Upkeep::within(bounds),
        }
    }
}
