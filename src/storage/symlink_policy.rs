//! Links in the path of a folder.

/// Which of them are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// None: whoever knows what a path leads to wants that folder, and not what was put in its way since.
    None,
    /// This user's and root's: whoever may put one into a folder further up must not choose where outputs go.
    Trusted,
}
