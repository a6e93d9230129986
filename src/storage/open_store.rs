//! An open store: its directories, and the state between two calls.

use super::auto_sweep::AutoSweep;
use super::bounds::Bounds;
use super::dedup::SavedCalls;
use super::directories::StoreDirs;
use super::lease::Leases;
use super::line_index::LineIndexes;

#[derive(Debug)]
pub struct OpenStore {
    pub places: StoreDirs,
    /// Line indexes of the files that were read last.
    pub indexes: LineIndexes,
    /// Leases of the sessions that it saved into.
    pub leases: Leases,
    /// Outputs saved per call, for deduplication.
    pub calls: SavedCalls,
    /// Automatic sweeps.
    pub auto_sweep: AutoSweep,
}

impl OpenStore {
    /// Opens a store without automatic sweeps. Does not access the disk.
    pub fn new(places: StoreDirs) -> Self {
        OpenStore::within(places, None)
    }

    /// Opens a store that sweeps to stay within these limits. Does not access the disk.
    pub fn within(places: StoreDirs, bounds: Option<Bounds>) -> Self {
        OpenStore {
            places,
            indexes: LineIndexes::default(),
            leases: Leases::default(),
            calls: SavedCalls::default(),
            auto_sweep: AutoSweep::within(bounds),
        }
    }
}
