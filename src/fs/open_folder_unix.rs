//! How a folder is opened and created, so that no symlink planted in its path redirects it.

#[cfg(target_os = "linux")]
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
#[cfg(target_os = "linux")]
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

#[cfg(target_os = "linux")]
use rustix::fs::AtFlags;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::symlink_policy::SymlinkPolicy;

#[cfg(target_os = "linux")]
pub(super) const OPEN_FILES: &str = "/proc/self/fd";

const PRIVATE_DIR: Mode = Mode::RWXU;

/// The error for a folder that another user owns.
#[derive(Debug)]
pub(super) struct OwnedByAnother;

impl fmt::Display for OwnedByAnother {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the folder belongs to another user")
    }
}

impl std::error::Error for OwnedByAnother {}

/// Returns true if a folder was refused because another user owns it.
pub(crate) fn is_owned_by_another(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|why| why.is::<OwnedByAnother>())
}

pub(super) fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

#[cfg(target_os = "linux")]
pub(super) fn open_dir(path: &Path, access: OFlags, links: SymlinkPolicy) -> io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;

    let flags = access | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match retry_on_intr(|| {
        rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
    }) {
        Ok(fd) => Ok(fd),
        Err(Errno::LOOP) if links == SymlinkPolicy::Deny => Err(Errno::LOOP.into()),
        // There is a symlink, or the kernel or a sandbox does not support this call.
        Err(Errno::LOOP | Errno::NOSYS | Errno::PERM | Errno::INVAL) => walk(path, flags, links),
        Err(error) => Err(error.into()),
    }
}

/// Maximum number of symlinks followed, as in Linux.
#[cfg(target_os = "linux")]
const MAX_LINKS: usize = 40;

/// Opens a folder component by component and checks every symlink before following it.
#[cfg(target_os = "linux")]
fn walk(path: &Path, flags: OFlags, links: SymlinkPolicy) -> io::Result<OwnedFd> {
    let step = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = retry_on_intr(|| rustix::fs::openat(CWD, ".", step, Mode::empty()))?;
    let mut ahead = parts_reversed(path);
    let mut followed = 0;
    while let Some(part) = ahead.pop() {
        let next =
            retry_on_intr(|| rustix::fs::openat(&at, part.as_os_str(), step, Mode::empty()))?;
        let stat = retry_on_intr(|| rustix::fs::fstat(&next))?;
        if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::Symlink {
            at = next;
            continue;
        }
        followed += 1;
        if links == SymlinkPolicy::Deny || followed > MAX_LINKS {
            return Err(Errno::LOOP.into());
        }
        if stat.st_uid != rustix::process::geteuid().as_raw() && stat.st_uid != 0 {
            return Err(refused("a link in the path of the folder belongs to another user"));
        }
        let target = retry_on_intr(|| rustix::fs::readlinkat(&next, "", Vec::new()))?;
        ahead.extend(parts_reversed(Path::new(OsStr::from_bytes(target.as_bytes()))));
    }
    Ok(retry_on_intr(|| rustix::fs::openat(&at, ".", flags, Mode::empty()))?)
}

#[cfg(target_os = "linux")]
fn parts_reversed(path: &Path) -> Vec<OsString> {
    path.components().rev().map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn open_dir(path: &Path, access: OFlags, links: SymlinkPolicy) -> io::Result<OwnedFd> {
    let last = if links == SymlinkPolicy::Deny { OFlags::NOFOLLOW } else { OFlags::empty() };
    let flags = access | last | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(retry_on_intr(|| rustix::fs::openat(CWD, path, flags, Mode::empty()))?)
}

/// Opens a folder for traversal, which needs no read permission.
#[cfg(target_os = "linux")]
pub(super) const PASSAGE: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
pub(super) const PASSAGE: OFlags = OFlags::RDONLY;

/// Creates a folder and its parents. Each is opened relative to its parent, so that a symlink planted meanwhile is not
/// followed.
pub(super) fn make_all(path: &Path, links: SymlinkPolicy) -> io::Result<OwnedFd> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return open_dir(path, OFlags::RDONLY, links);
    };
    let above = match open_dir(parent, PASSAGE, links) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make_all(parent, links)?,
        other => other?,
    };
    make(above.as_fd(), name)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(retry_on_intr(|| rustix::fs::openat(&above, name, flags, Mode::empty()))?)
}

/// Creates a folder, unless another process created it in between.
pub(super) fn make(dir: BorrowedFd<'_>, name: impl rustix::path::Arg + Copy) -> io::Result<()> {
    match retry_on_intr(|| rustix::fs::mkdirat(dir, name, PRIVATE_DIR)) {
        Ok(()) => make_private(dir, name),
        Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Sets the mode of a folder that was just created, independent of the umask.
fn make_private(dir: BorrowedFd<'_>, path: impl rustix::path::Arg + Copy) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if rustix::fs::access(OPEN_FILES, rustix::fs::Access::EXISTS).is_ok() {
        // An `O_PATH` descriptor needs no permissions on the folder, and a symlink cannot redirect it.
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| rustix::fs::openat(dir, path, flags, Mode::empty()))?;
        let open = format!("{OPEN_FILES}/{}", fd.as_raw_fd());
        let no_flags = AtFlags::empty();
        return Ok(retry_on_intr(|| rustix::fs::chmodat(CWD, &open, PRIVATE_DIR, no_flags))?);
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = retry_on_intr(|| rustix::fs::openat(dir, path, flags, Mode::empty()))?;
    Ok(retry_on_intr(|| rustix::fs::fchmod(&fd, PRIVATE_DIR))?)
}
