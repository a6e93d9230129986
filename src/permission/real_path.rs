//! Where the file system says that a path leads.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use super::paths::{RealPaths, slashes};

/// Asks the file system of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileSystem;

/// A path that is not there has so many folders above it at most.
const MAX_STEPS: usize = 512;

impl RealPaths for FileSystem {
    fn real(&self, path: &str) -> Option<String> {
        let windows = cfg!(windows);
        let native = if windows {
            path.strip_prefix('/').filter(|rest| rest.contains(':')).unwrap_or(path)
        } else {
            path
        };
        let full = Path::new(native);
        let mut missing: Vec<&std::ffi::OsStr> = Vec::new();
        let mut there = full;
        for _ in 0..MAX_STEPS {
            match fs::canonicalize(there) {
                Ok(real) => {
                    let mut real: PathBuf = real;
                    real.extend(missing.iter().rev());
                    return real.to_str().map(|real| slashes(real, windows));
                }
                // A link that leads nowhere is there and has no real path: whoever writes to it makes a file elsewhere.
                Err(error)
                    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
                {
                    if fs::symlink_metadata(there).is_ok() {
                        return None;
                    }
                    match there.components().next_back() {
                        Some(Component::Normal(name)) => missing.push(name),
                        _ => return None,
                    }
                    there = there.parent()?;
                }
                Err(_) => return None,
            }
        }
        None
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_and_what_is_missing_stays() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let at = |name: &str| format!("{}/{name}", root.display());
        fs::create_dir(root.join("real")).unwrap();
        symlink(root.join("real"), root.join("link")).unwrap();
        symlink(root.join("nowhere"), root.join("dangling")).unwrap();
        symlink(root.join("loop"), root.join("loop")).unwrap();
        assert_eq!(FileSystem.real(&at("link/new/file")), Some(at("real/new/file")));
        assert_eq!(FileSystem.real(&at("dangling")), None);
        assert_eq!(FileSystem.real(&at("dangling/x")), None);
        assert_eq!(FileSystem.real(&at("loop")), None);
        assert_eq!(FileSystem.real("/"), Some("/".into()));
    }
}
