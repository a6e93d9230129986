//! The directories that outputs are saved to, in order of preference.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde::Serialize;

use crate::fs::folder::Folder;
use crate::fs::symlink_policy::SymlinkPolicy;

/// The name of the folder for the outputs of a project.
pub const PROJECT_DIR: &str = ".agent-output";

/// The failures that a save survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// A killed process: no file is ever incomplete.
    #[default]
    Process,
    /// Also a power failure: a file that exists is complete.
    File,
    /// Also a power failure: a save that was acknowledged exists.
    Full,
}

impl Durability {
    pub const ALL: [Durability; 3] = [Durability::Process, Durability::File, Durability::Full];
}

/// The directories of a store. A save that fails in one directory is tried in the next.
#[derive(Debug, Clone)]
pub struct StoreDirs {
    pub dirs: Vec<StoreDir>,
    pub durability: Durability,
}

/// A directory that outputs are saved to. Its path is resolved once, when it is first opened; a symlink planted later
/// is not followed.
#[derive(Debug, Clone)]
pub struct StoreDir {
    path: PathBuf,
    /// The resolved path, once the directory was opened.
    real: Arc<OnceLock<PathBuf>>,
    /// Set once a save was made in it.
    entered: Arc<OnceLock<()>>,
}

impl StoreDir {
    /// Creates an entry for a path, which need not exist.
    pub fn new(path: PathBuf) -> Self {
        StoreDir { path, real: Arc::default(), entered: Arc::default() }
    }

    /// Returns the path as it was configured.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true the first time if this is the folder of a project.
    pub(super) fn is_project_entered_first(&self) -> bool {
        self.path.ends_with(PROJECT_DIR) && self.entered.set(()).is_ok()
    }

    /// Opens the directory.
    pub(super) fn open(&self) -> io::Result<Folder> {
        if let Some(real) = self.real.get() {
            return Folder::open(real, SymlinkPolicy::Deny);
        }
        let folder = Folder::open(&self.path, SymlinkPolicy::TrustedOwners)?;
        self.pin(&folder);
        Ok(folder)
    }

    /// Opens the directory, creating it if it does not exist. Returns whether it was created.
    pub(super) fn open_or_make(&self) -> io::Result<(Folder, bool)> {
        if let Some(real) = self.real.get() {
            return Folder::open_or_make(real, SymlinkPolicy::Deny);
        }
        match Folder::open(&self.path, SymlinkPolicy::TrustedOwners) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => {
                let folder = opened?;
                self.pin(&folder);
                return Ok((folder, false));
            }
        }
        // Symlinks are resolved before the directory is created: one that takes its place right after that is not
        // followed.
        let Some(real) = resolve_missing(&self.path) else {
            let (folder, is_new) = Folder::open_or_make(&self.path, SymlinkPolicy::TrustedOwners)?;
            self.pin(&folder);
            return Ok((folder, is_new));
        };
        let made = Folder::open_or_make(&real, SymlinkPolicy::Deny)?;
        let _ = self.real.set(real);
        Ok(made)
    }

    /// Returns true if the path still leads to `folder`, which was opened as this directory or as a session's folder in
    /// it.
    pub(super) fn leads_to(&self, session: Option<&str>, folder: &Folder) -> bool {
        folder.is(&folder_of(self.real.get().unwrap_or(&self.path), session))
    }

    /// Returns true if the directory does not exist any more.
    pub(super) fn is_lost(&self) -> bool {
        use io::ErrorKind::{NotADirectory, NotFound};
        self.open().is_err_and(|error| matches!(error.kind(), NotFound | NotADirectory))
    }

    /// Returns true if `path` is the path of this directory, as configured or resolved.
    pub(super) fn is_called(&self, path: &Path) -> bool {
        self.path == path || self.real.get().is_some_and(|real| real == path)
    }

    fn pin(&self, folder: &Folder) {
        // If the path leads elsewhere by now, the next open resolves it again.
        if let Some(real) = self.path.canonicalize().ok().filter(|real| folder.is(real)) {
            let _ = self.real.set(real);
        }
    }
}

/// Resolves the symlinks in the existing part of a path, and appends the rest. Returns `None` if a symlink leads to a
/// path that does not exist.
fn resolve_missing(path: &Path) -> Option<PathBuf> {
    if path.is_symlink() {
        return None;
    }
    let (parent, name) = (path.parent()?, path.file_name()?);
    let above = match parent.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => resolve_missing(parent)?,
        resolved => resolved.ok()?,
    };
    Some(above.join(name))
}

impl StoreDirs {
    /// Resolves the configured directories; without any, the user's data directory and then a private temporary one.
    pub fn new(asked: &[String], durability: Durability) -> Self {
        let dirs = if asked.is_empty() {
            default_dirs()
        } else {
            asked.iter().map(|dir| absolute(dir)).collect()
        };
        StoreDirs::of(dirs, durability)
    }

    /// Uses exactly these directories, without duplicates.
    pub fn of(dirs: Vec<PathBuf>, durability: Durability) -> Self {
        let mut places: Vec<StoreDir> = Vec::with_capacity(dirs.len());
        for dir in dirs {
            // There are only a few. A hash set needs random bytes from the system and panics without them.
            if places.iter().all(|place| place.path != dir) {
                places.push(StoreDir::new(dir));
            }
        }
        StoreDirs { dirs: places, durability }
    }
}

/// Returns the folder for outputs in a directory: that of the session, if there is one.
pub(super) fn folder_of(place: &Path, session: Option<&str>) -> PathBuf {
    session.map_or_else(|| place.to_owned(), |session| place.join(session))
}

/// Makes a configured path absolute: relative to the working directory, with `~` for the home directory.
fn absolute(dir: &str) -> PathBuf {
    // A shell would have expanded it; a setting does not pass through one.
    let in_home = dir.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    if let (Some(rest), Some(home)) = (in_home, dirs::home_dir()) {
        return home.join(rest.trim_start_matches('/'));
    }
    std::path::absolute(dir).unwrap_or_else(|_| PathBuf::from(dir))
}

/// Returns true if a path is the root directory, judging by its text alone.
pub fn is_root(dir: &str) -> bool {
    let path = absolute(dir);
    let depth = path.components().fold(0_usize, |depth, part| match part {
        Component::Normal(_) => depth + 1,
        Component::ParentDir => depth.saturating_sub(1),
        _ => depth,
    });
    path.has_root() && depth == 0
}

fn default_dirs() -> Vec<PathBuf> {
    let inside = |base: &Path| base.join("spillway").join("tool-output");
    // A home directory that is relative or the root is ignored: nothing is ever written to `/`.
    let has_home =
        dirs::home_dir().is_some_and(|home| home.is_absolute() && home.parent().is_some());
    let data = dirs::data_dir().filter(|dir| has_home && dir.is_absolute());
    let temporary = std::env::temp_dir().join(format!("spillway-{}", user()));
    data.iter().map(|dir| inside(dir)).chain([temporary.join("tool-output")]).collect()
}

#[cfg(unix)]
fn user() -> String {
    rustix::process::geteuid().as_raw().to_string()
}

#[cfg(not(unix))]
fn user() -> String {
    // The temporary directory is private to the user already.
    "user".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_has_many_names() {
        for dir in ["/", "//", "/.", "/tmp/..", "/../..", "/a/./../b/.."] {
            assert!(is_root(dir), "{dir}");
        }
        for dir in ["/a", "a", "/a/../b", "~/x", "~a"] {
            assert!(!is_root(dir), "{dir}");
        }
        assert_eq!(Some(absolute("~")), dirs::home_dir());
        assert!(absolute("~/a/b").ends_with("a/b") && absolute("~a").ends_with("~a"));
    }

    #[cfg(unix)]
    #[test]
    fn what_a_path_leads_to_is_found_out_once() {
        use std::fs;
        use std::os::unix::fs::symlink;

        let root = tempfile::tempdir().unwrap();
        let (dir, link, outside) =
            (root.path().join("dir"), root.path().join("link"), root.path().join("outside"));
        fs::create_dir(&outside).unwrap();
        symlink("dir", &link).unwrap();
        for asked in [dir.join("a"), link.join("b")] {
            let name = asked.file_name().unwrap();
            let place = StoreDir::new(asked.clone());
            assert!(place.open().is_err(), "it is not there");
            assert!(place.open_or_make().unwrap().1);
            let holds = |place: &StoreDir, file| place.open().unwrap().put(file, b"").is_ok();
            assert!(holds(&place.clone(), "first") && dir.join(name).join("first").exists());
            // The symlink may lead elsewhere by now, and one may have been planted where there was none.
            fs::remove_file(&link).unwrap();
            symlink(&outside, &link).unwrap();
            fs::create_dir_all(outside.join(name)).unwrap();
            assert!(holds(&place, "second") && dir.join(name).join("second").exists());
            fs::rename(&dir, root.path().join("moved")).unwrap();
            symlink(&outside, &dir).unwrap();
            assert!(place.open().is_err() && place.open_or_make().is_err());
            fs::remove_file(&dir).unwrap();
            assert!(place.open_or_make().unwrap().1, "it is made anew where it was");
            assert!(holds(&place, "third") && dir.join(name).join("third").exists());
            assert_eq!(fs::read_dir(outside.join(name)).unwrap().count(), 0);
            fs::remove_dir_all(root.path().join("moved")).unwrap();
            fs::remove_file(&link).unwrap();
            symlink("dir", &link).unwrap();
        }
    }

    #[test]
    fn there_is_always_a_place() {
        let places = StoreDirs::new(&[], Durability::Process);
        let paths: Vec<&Path> = places.dirs.iter().map(StoreDir::path).collect();
        assert!(!paths.is_empty() && paths.iter().all(|dir| dir.is_absolute()));
        assert!(paths.last().is_some_and(|dir| dir.starts_with(std::env::temp_dir())));
    }
}
