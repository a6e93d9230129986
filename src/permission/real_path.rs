//! Resolves paths in the file system.

use std::borrow::Cow;
#[cfg(target_os = "linux")]
use std::cell::RefCell;
#[cfg(target_os = "linux")]
use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Read};
#[cfg(target_os = "linux")]
use std::ops::Bound::{Excluded, Unbounded};
use std::path::{Component, Path, PathBuf};

use super::paths::{RealPaths, Repository, slashes};

/// The file system of this machine during one decision: results are cached until its end.
#[derive(Debug, Default)]
pub struct FileSystem {
    /// Paths without symlinks as far as they exist. The paths of a decision mostly are in a few directories, and each
    /// component costs a system call.
    #[cfg(target_os = "linux")]
    straight: RefCell<BTreeSet<String>>,
}

/// Number of unknown components from which on resolving the whole path at once takes less time than examining each.
#[cfg(target_os = "linux")]
const DEEP: usize = 3;

/// Maximum number of parents of a path that does not exist.
const MAX_STEPS: usize = 512;

/// Maximum size of a `.git` file in bytes.
const MAX_LINK_BYTES: u64 = 4096;

impl RealPaths for FileSystem {
    fn repository(&self, folder: &str) -> Repository {
        let at = |name: &str| PathBuf::from(native(folder)).join(name);
        let is_there = |name: &str| fs::symlink_metadata(at(name)).is_ok();
        if let Ok(found) = fs::symlink_metadata(at(".git")) {
            if found.is_dir() {
                return Repository::Own;
            }
            let mut text = String::new();
            let target = if found.is_symlink() {
                fs::canonicalize(at(".git")).ok().map(|path| path.to_string_lossy().into_owned())
            } else {
                let read = fs::File::open(at(".git"))
                    .and_then(|file| file.take(MAX_LINK_BYTES).read_to_string(&mut text));
                read.ok()
                    .and_then(|_| text.strip_prefix("gitdir:"))
                    .map(|path| path.trim().to_owned())
            };
            return Repository::Linked(target.unwrap_or_default());
        }
        let is_bare = is_there("HEAD")
            && (is_there("commondir") || (is_there("objects") && is_there("refs")));
        if is_bare { Repository::Bare } else { Repository::None }
    }

    fn real<'p>(&self, path: &'p str) -> Option<Cow<'p, str>> {
        #[cfg(target_os = "linux")]
        if self.is_straight(path) {
            return Some(path.into());
        }
        self.followed(path).map(Cow::Owned)
    }

    fn is_folder(&self, path: &str) -> bool {
        Path::new(native(path)).is_dir()
    }

    #[cfg(unix)]
    fn names(&self, folder: &str, max: usize) -> Vec<(String, bool)> {
        use rustix::fs::{FileType, Mode, OFlags};
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(folder, flags, Mode::empty());
        let Ok(entries) = opened.and_then(rustix::fs::Dir::new) else { return Vec::new() };
        let name = |entry: rustix::fs::DirEntry| {
            let name = entry.file_name().to_str().ok()?;
            // Some file systems do not report the type of an entry.
            let is_link = match entry.file_type() {
                FileType::Unknown => fs::read_link([folder, "/", name].concat()).is_ok(),
                kind => kind == FileType::Symlink,
            };
            Some((name.to_owned(), is_link))
        };
        let is_own =
            |entry: &rustix::fs::DirEntry| !matches!(entry.file_name().to_bytes(), b"." | b"..");
        entries.flatten().filter(is_own).take(max).filter_map(name).collect()
    }

    #[cfg(not(unix))]
    fn names(&self, folder: &str, max: usize) -> Vec<(String, bool)> {
        let Ok(entries) = fs::read_dir(native(folder)) else { return Vec::new() };
        let name = |entry: fs::DirEntry| {
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            Some((entry.file_name().into_string().ok()?, is_link))
        };
        entries.flatten().take(max).filter_map(name).collect()
    }
}

/// Returns a path in the notation of this machine.
fn native(path: &str) -> &str {
    if cfg!(windows) {
        path.strip_prefix('/').filter(|rest| rest.contains(':')).unwrap_or(path)
    } else {
        path
    }
}

impl FileSystem {
    /// Returns true if a path has no symlinks as far as it exists, so that it resolves to itself. Names are
    /// case-sensitive here, so that an existing path has the spelling of the disk.
    #[cfg(target_os = "linux")]
    fn is_straight(&self, path: &str) -> bool {
        use rustix::io::Errno;
        let is_plain = path.starts_with('/') && !path.contains("//");
        if !is_plain || path.split('/').any(|part| matches!(part, "." | "..")) {
            return false;
        }
        let mut known = self.straight.borrow_mut();
        if is_within(&known, path) {
            return true;
        }
        let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
        let parts = ends.map(|end| &path[..end]).skip_while(|part| is_within(&known, part));
        if parts.clone().count() >= DEEP
            && let Some(is_straight) = has_no_link(path)
        {
            if is_straight {
                known.insert(path.to_owned());
            }
            return is_straight;
        }
        let mut target = [std::mem::MaybeUninit::uninit(); 1];
        let mut furthest = None;
        let mut is_straight = true;
        for part in parts {
            match rustix::fs::readlinkat_raw(rustix::fs::CWD, part, &mut target) {
                // It exists and is not a symlink.
                Err(Errno::INVAL) => furthest = Some(part),
                // Nothing below it exists.
                Err(Errno::NOENT | Errno::NOTDIR) => break,
                _ => {
                    is_straight = false;
                    break;
                }
            }
        }
        known.extend(furthest.map(str::to_owned));
        is_straight
    }

    fn followed(&self, path: &str) -> Option<String> {
        let windows = cfg!(windows);
        let full = Path::new(native(path));
        let mut missing: Vec<&std::ffi::OsStr> = Vec::new();
        let mut there = full;
        for _ in 0..MAX_STEPS {
            match fs::canonicalize(there) {
                Ok(real) => {
                    let mut real: PathBuf = real;
                    real.extend(missing.iter().rev());
                    return real.to_str().map(|real| slashes(real, windows));
                }
                // A dangling symlink has no real path: writing to it creates a file elsewhere.
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

/// Returns true if a path is one of these, or a parent of one.
#[cfg(target_os = "linux")]
fn is_within(known: &BTreeSet<String>, path: &str) -> bool {
    let is = |known: &String| {
        known.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    // A name that sorts in between, such as one that continues with a dash, hides it: it is resolved again then.
    known.contains(path)
        || known.range::<str, _>((Excluded(path), Unbounded)).next().is_some_and(is)
}

/// Returns true if a path has no symlinks as far as it exists; `None` where the system cannot tell.
#[cfg(target_os = "linux")]
fn has_no_link(path: &str) -> Option<bool> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::Errno;
    // Without `NOFOLLOW`, which would open a symlink at the end itself.
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // The resolution ended at a missing file, or below a regular file, without a symlink before.
        Ok(_) | Err(Errno::NOENT | Errno::NOTDIR) => Some(true),
        Err(Errno::LOOP) => Some(false),
        Err(_) => None,
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
        fs::write(root.join("real/file"), "").unwrap();
        let system = FileSystem::default();
        let real = |path: &str| system.real(path).map(Cow::into_owned);
        assert_eq!(real(&at("real/file")), Some(at("real/file")));
        assert_eq!(real(&at("real/file/below")), Some(at("real/file/below")));
        assert_eq!(real(&at("real/new/file")), Some(at("real/new/file")));
        assert_eq!(real(&at("link/new/file")), Some(at("real/new/file")));
        assert_eq!(real(&at("link")), Some(at("real")));
        assert_eq!(real(&at("link/")), Some(at("real")));
        assert_eq!(real(&at("real")), Some(at("real")));
        assert_eq!(real(&at("real-not")), Some(at("real-not")));
        assert_eq!(real(&at("dangling")), None);
        assert_eq!(real(&at("dangling/x")), None);
        assert_eq!(real(&at("loop")), None);
        assert_eq!(real("/"), Some("/".into()));
    }

    #[test]
    fn a_link_anywhere_on_the_way_to_what_is_missing_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let at = |name: &str| format!("{}/{name}", root.display());
        fs::create_dir_all(root.join("a/b/c")).unwrap();
        fs::write(root.join("a/file"), "").unwrap();
        symlink(root.join("a"), root.join("a/b/link")).unwrap();
        for (path, led) in [
            ("a/b/c/new/x/y", "a/b/c/new/x/y"),
            ("a/new/b/c/d", "a/new/b/c/d"),
            ("a/file/b/c/d", "a/file/b/c/d"),
            ("a/b/link/new/x/y", "a/new/x/y"),
            ("a/b/link/b/link/b/link/new", "a/new"),
            ("a/b/link/file/x/y", "a/file/x/y"),
        ] {
            // Each path by itself, and after the others.
            assert_eq!(FileSystem::default().real(&at(path)), Some(at(led).into()), "{path}");
        }
        let system = FileSystem::default();
        assert_eq!(system.real(&at("a/b/new/x/y")), Some(at("a/b/new/x/y").into()));
        assert_eq!(system.real(&at("a/b")), Some(at("a/b").into()));
        assert_eq!(system.real(&at("a/b/link/x")), Some(at("a/x").into()));
    }
}
