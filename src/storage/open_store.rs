//! An open store: its directories, and the state between two calls.

use super::auto_sweep::Upkeep;
use super::bounds::Bounds;
use super::dedup::Calls;
use super::directories::Places;
use super::lease::Leases;
use super::line_index::LineIndexes;

#[derive(Debug)]
pub struct OpenStore {
    pub places: Places,
    /// Line indexes of the files that were read last.
    pub indexes: LineIndexes,
    /// Leases of the sessions that it saved into.
    pub leases: Leases,
    /// Outputs saved per call, for deduplication.
    pub calls: Calls,
    /// Automatic sweeps.
    pub upkeep: Upkeep,
}

impl OpenStore {
    /// Opens a store without automatic sweeps. Does not access the disk.
    pub fn new(places: Places) -> Self {
        OpenStore::within(places, None)
    }

    /// Opens a store that sweeps to stay within these limits. Does not access the disk.
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
