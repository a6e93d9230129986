//! Which folders outputs go to, in order.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde::Serialize;

use super::folder::Folder;
use super::symlink_policy::Links;

/// How much a save survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// A killed process: no file is ever torn.
    #[default]
    Process,
    /// A power cut as well: a file that is there is whole.
    File,
    /// And what was acknowledged is there.
    Full,
}

impl Durability {
    /// All of them.
    pub const ALL: [Durability; 3] = [Durability::Process, Durability::File, Durability::Full];
}

/// Where outputs are saved. Any failure of one folder moves on to the next.
#[derive(Debug, Clone)]
pub struct Places {
    /// The folders, in order of preference.
    pub dirs: Vec<Place>,
    /// What a save survives.
    pub durability: Durability,
}

/// A folder that outputs go to. What its path leads to is found out when it is opened first, and holds: a link that is put in
/// its way later is not followed.
#[derive(Debug, Clone)]
pub struct Place {
    path: PathBuf,
    /// The same with its links resolved, once it was opened.
    real: Arc<OnceLock<PathBuf>>,
}

impl Place {
    /// The folder of this path, which need not be there.
    pub fn new(path: PathBuf) -> Self {
        Place { path, real: Arc::default() }
    }

    /// The path that was asked for.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens it.
    pub(super) fn open(&self) -> io::Result<Folder> {
        if let Some(real) = self.real.get() {
            return Folder::open(real, Links::None);
        }
        let folder = Folder::open(&self.path, Links::Trusted)?;
        self.pin(&folder);
        Ok(folder)
    }

    /// Opens it, making it if it is not there; whether it was made comes with it.
    pub(super) fn open_or_make(&self) -> io::Result<(Folder, bool)> {
        if let Some(real) = self.real.get() {
            return Folder::open_or_make(real, Links::None);
        }
        match Folder::open(&self.path, Links::Trusted) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => {
                let folder = opened?;
                self.pin(&folder);
                return Ok((folder, false));
            }
        }
        // Its links are resolved before it is made: a link that takes its place right after that is not followed.
        let Some(real) = resolve_missing(&self.path) else {
            let (folder, is_new) = Folder::open_or_make(&self.path, Links::Trusted)?;
            self.pin(&folder);
            return Ok((folder, is_new));
        };
        let made = Folder::open_or_make(&real, Links::None)?;
        let _ = self.real.set(real);
        Ok(made)
    }

    /// Whether its path still leads to this folder, which was opened as its own or as the session's in it.
    pub(super) fn leads_to(&self, session: Option<&str>, folder: &Folder) -> bool {
        folder.is(&folder_of(self.real.get().unwrap_or(&self.path), session))
    }

    /// Whether there is no folder where it was.
    pub(super) fn is_lost(&self) -> bool {
        use io::ErrorKind::{NotADirectory, NotFound};
        self.open().is_err_and(|error| matches!(error.kind(), NotFound | NotADirectory))
    }

    /// Whether this is its path, as it was asked for or with its links resolved.
    pub(super) fn is_called(&self, path: &Path) -> bool {
        self.path == path || self.real.get().is_some_and(|real| real == path)
    }

    fn pin(&self, folder: &Folder) {
        // Where the path leads elsewhere by now, the next to open it looks again.
        if let Some(real) = self.path.canonicalize().ok().filter(|real| folder.is(real)) {
            let _ = self.real.set(real);
        }
    }
}

/// Resolves the links in the part of a path that is there, and appends the part that is not. Nothing comes of a path through
/// a link to what is not there.
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

impl Places {
    /// The folders that were asked for; without any, the user's data folder and then a private temporary one.
    pub fn new(asked: &[String], durability: Durability) -> Self {
        let dirs = if asked.is_empty() {
            default_dirs()
        } else {
            asked.iter().map(|dir| absolute(dir)).collect()
        };
        Places::of(dirs, durability)
    }

    /// Just these folders, each once.
    pub fn of(dirs: Vec<PathBuf>, durability: Durability) -> Self {
        let mut places: Vec<Place> = Vec::with_capacity(dirs.len());
        for dir in dirs {
            // They are few. A hash set would ask the system for random bytes, and end the process where it has none.
            if places.iter().all(|place| place.path != dir) {
                places.push(Place::new(dir));
            }
        }
        Places { dirs: places, durability }
    }
}

/// The folder in a place that outputs go to: that of the session, if there is one.
pub(super) fn folder_of(place: &Path, session: Option<&str>) -> PathBuf {
    session.map_or_else(|| place.to_owned(), |session| place.join(session))
}

/// A folder that was asked for: taken from the working folder, `~` being the home.
fn absolute(dir: &str) -> PathBuf {
    // A shell would have replaced it; a setting comes without one.
    let in_home = dir.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    if let (Some(rest), Some(home)) = (in_home, dirs::home_dir()) {
        return home.join(rest.trim_start_matches('/'));
    }
    std::path::absolute(dir).unwrap_or_else(|_| PathBuf::from(dir))
}

/// Whether a path is one of the root itself, as far as can be told without looking at the disk.
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
    // A home that is relative or the root is no home: nothing is ever written into `/`.
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
    // The temporary folder is the user's own already.
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
            let place = Place::new(asked.clone());
            assert!(place.open().is_err(), "it is not there");
            assert!(place.open_or_make().unwrap().1);
            let holds = |place: &Place, file| place.open().unwrap().put(file, b"").is_ok();
            assert!(holds(&place.clone(), "first") && dir.join(name).join("first").exists());
            // The link that was there may lead elsewhere by now, and one may have been put where there was none.
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
        let places = Places::new(&[], Durability::Process);
        let paths: Vec<&Path> = places.dirs.iter().map(Place::path).collect();
        assert!(!paths.is_empty() && paths.iter().all(|dir| dir.is_absolute()));
        assert!(paths.last().is_some_and(|dir| dir.starts_with(std::env::temp_dir())));
    }
}
