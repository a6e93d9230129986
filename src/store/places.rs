//! Which folders outputs go to, in order.

use std::path::{Component, Path, PathBuf};

use serde::Serialize;

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
    pub dirs: Vec<PathBuf>,
    /// What a save survives.
    pub durability: Durability,
}

impl Places {
    /// The folders that were asked for; without any, the user's data folder and then a private temporary one.
    pub fn new(asked: &[String], durability: Durability) -> Self {
        let dirs = if asked.is_empty() {
            default_dirs()
        } else {
            asked.iter().map(|dir| absolute(dir)).collect()
        };
        Places { dirs, durability }
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

    #[test]
    fn there_is_always_a_place() {
        let places = Places::new(&[], Durability::Process);
        assert!(!places.dirs.is_empty() && places.dirs.iter().all(|dir| dir.is_absolute()));
        assert!(places.dirs.last().is_some_and(|dir| dir.starts_with(std::env::temp_dir())));
    }
}
