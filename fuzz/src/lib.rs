//! What the fuzz targets share. The properties stand in [`properties`], which the tests of the core run too.

pub mod clock;
pub mod properties;

pub use clock::timed;
