//! Code shared by the fuzz targets. The properties are in [`properties`] and run in the tests of the core too.

pub mod clock;
pub mod properties;

pub use clock::timed;
