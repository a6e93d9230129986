//! A folder that is opened once and then used by its descriptor, so that nothing swapped in at its path can redirect a
//! file.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

pub(crate) use super::draft::Draft;
use super::file_metadata::FileMetadata;
use super::file_names;
#[cfg(target_os = "linux")]
use super::open_folder::OPEN_FILES;
pub(crate) use super::open_folder::is_owned_by_another;
use super::open_folder::{OwnedByAnother, PASSAGE, make, make_all, open_dir, refused};
use super::symlink_policy::SymlinkPolicy;

fn private_file() -> Mode {
    Mode::RUSR | Mode::WUSR
}

/// An open folder that belongs to this user.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
}

impl Folder {
    /// Opens a folder.
    pub fn open(path: &Path, links: SymlinkPolicy) -> io::Result<Self> {
        let folder = Folder { fd: open_dir(path, OFlags::RDONLY, links)? };
        folder.check()?;
        Ok(folder)
    }

    /// Returns true if this is the folder at a resolved path. A symlink that was planted there since is not followed.
    pub fn is(&self, path: &Path) -> bool {
        let there =
            open_dir(path, PASSAGE, SymlinkPolicy::Deny).and_then(|fd| identity(fd.as_fd()));
        matches!((identity(self.fd.as_fd()), there), (Ok(here), Ok(there)) if here == there)
    }

    /// Opens a folder, creating it if it does not exist. Returns whether it was created.
    pub fn open_or_make(path: &Path, links: SymlinkPolicy) -> io::Result<(Self, bool)> {
        match Folder::open(path, links) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let folder = Folder { fd: make_all(path, links)? };
                folder.check()?;
                Ok((folder, true))
            }
            other => Ok((other?, false)),
        }
    }

    /// Opens a subfolder, creating it if it does not exist. Symlinks are not followed.
    pub fn enter(&self, name: &str) -> io::Result<Self> {
        match self.inner(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make(self.fd.as_fd(), name)?;
                self.inner(name)
            }
            other => other,
        }
    }

    /// Refuses a folder that another user owns or that everyone may write to. Write permission of the group is removed
    /// from a folder of this user: members of the group could replace outputs.
    fn check(&self) -> io::Result<()> {
        let stat = retry_on_intr(|| rustix::fs::fstat(&self.fd))?;
        let me = rustix::process::geteuid().as_raw();
        if stat.st_uid != me && stat.st_uid != 0 {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, OwnedByAnother));
        }
        let mode = Mode::from_raw_mode(stat.st_mode);
        if mode.contains(Mode::WOTH) && !mode.contains(Mode::SVTX) {
            return Err(refused("everybody may write to the folder"));
        }
        // A folder of root that is shared with a group, such as a container's volume, is left as it is.
        if mode.contains(Mode::WGRP) && !mode.contains(Mode::SVTX) && stat.st_uid == me {
            retry_on_intr(|| rustix::fs::fchmod(&self.fd, mode - Mode::WGRP))
                .map_err(|_| refused("the group may write to the folder"))?;
        }
        Ok(())
    }

    /// Begins a file.
    pub fn draft(&self, now_ms: u64) -> io::Result<Draft> {
        let mut draft = match self.unnamed() {
            Some(file) => Draft { file, name: None },
            None => {
                let name = file_names::temporary(now_ms).map_err(io::Error::other)?;
                let flags = OFlags::RDWR
                    | OFlags::CREATE
                    | OFlags::EXCL
                    | OFlags::NOFOLLOW
                    | OFlags::CLOEXEC;
                let fd = retry_on_intr(|| {
                    rustix::fs::openat(&self.fd, name.as_str(), flags, private_file())
                })?;
                Draft { file: File::from(fd), name: Some(name) }
            }
        };
        // By descriptor, because the umask may have removed even the owner's permissions.
        if let Err(error) = retry_on_intr(|| rustix::fs::fchmod(&draft.file, private_file())) {
            self.discard(&mut draft);
            return Err(error.into());
        }
        Ok(draft)
    }

    #[cfg(target_os = "linux")]
    fn unnamed(&self) -> Option<File> {
        // An unnamed file is linked through this path.
        rustix::fs::access(OPEN_FILES, rustix::fs::Access::EXISTS).ok()?;
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        // Every error leads to an attempt with a name, which reports the real error.
        let open = || rustix::fs::openat(&self.fd, ".", flags, private_file());
        retry_on_intr(open).ok().map(File::from)
    }

    #[cfg(not(target_os = "linux"))]
    fn unnamed(&self) -> Option<File> {
        None
    }

    /// Gives the file its final name. Fails with `AlreadyExists` if the name is taken.
    pub fn publish(&self, draft: &mut Draft, name: &str) -> io::Result<()> {
        let Some(temporary) = draft.name.as_deref() else {
            let open = format!("/proc/self/fd/{}", draft.file.as_raw_fd());
            let follow = AtFlags::SYMLINK_FOLLOW;
            return Ok(retry_on_intr(|| rustix::fs::linkat(CWD, &open, &self.fd, name, follow))?);
        };
        // Renames if possible: between linking and removing the temporary name, a killed process would leave an output
        // with two names, of which one is never removed.
        match retry_on_intr(|| rename_exclusively(&self.fd, temporary, name)) {
            Ok(()) => draft.name = None,
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                let link =
                    || rustix::fs::linkat(&self.fd, temporary, &self.fd, name, AtFlags::empty());
                match retry_on_intr(link) {
                    Ok(()) => self.discard(draft),
                    // Hard links are not supported either.
                    Err(Errno::PERM | Errno::NOTSUP | Errno::MLINK) => {
                        look_and_rename(&self.fd, temporary, name)?;
                        draft.name = None;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Discards a file that will not be published.
    pub fn discard(&self, draft: &mut Draft) {
        if let Some(name) = draft.name.take() {
            // The next sweep removes it.
            let _ = retry_on_intr(|| rustix::fs::unlinkat(&self.fd, &name, AtFlags::empty()));
        }
    }

    /// Syncs the folder's entries to the disk.
    pub fn sync(&self) -> io::Result<()> {
        Ok(retry_on_intr(|| rustix::fs::fsync(&self.fd))?)
    }

    /// Creates a small file unless one of that name exists.
    pub fn put(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match retry_on_intr(|| rustix::fs::openat(&self.fd, name, flags, private_file())) {
            Ok(fd) => {
                // The umask may have removed even the owner's permissions.
                retry_on_intr(|| rustix::fs::fchmod(&fd, private_file()))?;
                io::Write::write_all(&mut File::from(fd), content)
            }
            Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a regular file of this user that has no other name. Symlinks are not followed, and pipes do not block.
    pub fn read(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = match retry_on_intr(|| rustix::fs::openat(&self.fd, name, flags, Mode::empty())) {
            Ok(fd) => fd,
            // A symlink, or a socket.
            Err(Errno::LOOP | Errno::NXIO) => return Err(refused(NOT_PLAIN)),
            Err(error) => return Err(error.into()),
        };
        let file = File::from(fd);
        let stat = retry_on_intr(|| rustix::fs::fstat(&file))?;
        // Deleted since it was opened.
        if stat.st_nlink == 0 {
            return Err(io::ErrorKind::NotFound.into());
        }
        if !is_own(&stat) {
            return Err(refused(NOT_PLAIN));
        }
        Ok(file)
    }

    /// Sets the modification time of a file to now.
    pub fn renew(&self, name: &str) -> io::Result<()> {
        self.read(name)?.set_modified(SystemTime::now())
    }

    /// Returns the names in the folder.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in self.entries()? {
            if let Ok(name) = entry?.file_name().to_str() {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Returns true if the folder contains at most this name.
    pub fn holds_only(&self, name: &str) -> io::Result<bool> {
        for entry in self.entries()? {
            let other = entry?;
            let other = other.file_name().to_bytes();
            if other != name.as_bytes() && !matches!(other, b"." | b"..") {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn entries(&self) -> io::Result<rustix::fs::Dir> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // Opened here, because the crate's own iterator does not retry after a signal.
        let fd = retry_on_intr(|| rustix::fs::openat(&self.fd, ".", flags, Mode::empty()))?;
        Ok(rustix::fs::Dir::new(fd)?)
    }

    /// Returns the metadata of a file, or `None` if it is not one of ours or cannot be examined.
    pub fn examine(&self, name: &str) -> Option<FileMetadata> {
        let stat = self.stat(name)?;
        is_own(&stat).then(|| FileMetadata {
            bytes: u64::try_from(stat.st_size).unwrap_or(0),
            modified_ms: modified_ms(&stat),
            ctime_ns: ctime_ns(&stat),
        })
    }

    /// Returns the modification time of a file that a killed process left. It may be another name of an output.
    pub fn left_behind(&self, name: &str) -> Option<i64> {
        let stat = self.stat(name)?;
        is_plain(&stat).then(|| modified_ms(&stat))
    }

    fn stat(&self, name: &str) -> Option<rustix::fs::Stat> {
        let no_links = AtFlags::SYMLINK_NOFOLLOW;
        retry_on_intr(|| rustix::fs::statat(&self.fd, name, no_links)).ok()
    }

    /// Opens a subfolder. Symlinks are not followed.
    pub fn inner(&self, name: &str) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let fd = retry_on_intr(|| rustix::fs::openat(&self.fd, name, flags, Mode::empty()))?;
        let folder = Folder { fd };
        folder.check()?;
        Ok(folder)
    }

    /// Opens a lock file, creating it if it does not exist.
    pub fn lock_file(&self, name: &str) -> io::Result<File> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| rustix::fs::openat(&self.fd, name, flags, private_file()))?;
        let file = File::from(fd);
        if !is_own(&retry_on_intr(|| rustix::fs::fstat(&file))?) {
            return Err(refused(NOT_PLAIN));
        }
        // The umask may have removed even the owner's permissions, so that the next process could not open it.
        retry_on_intr(|| rustix::fs::fchmod(&file, private_file()))?;
        Ok(file)
    }

    /// Returns the file that sweeps of this folder lock: the folder itself.
    pub fn sweep_lock(&self) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| rustix::fs::openat(&self.fd, ".", flags, Mode::empty()))?;
        Ok(File::from(fd))
    }

    /// Opens a lock file if it exists.
    pub fn existing_lock_file(&self, name: &str) -> io::Result<Option<File>> {
        match self.read(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other.map(Some),
        }
    }

    /// Returns true if an open file still has this name.
    pub fn has(&self, name: &str, file: &File) -> bool {
        let named = self.stat(name).map(|stat| number(&stat));
        matches!((named, identity(file.as_fd())), (Some(named), Ok(open)) if named == open)
    }

    /// Returns the free bytes for this user and the total bytes of the file system.
    pub fn space(&self) -> Option<(u64, u64)> {
        let stat = retry_on_intr(|| rustix::fs::fstatvfs(&self.fd)).ok()?;
        let bytes = |blocks: u64| blocks.saturating_mul(stat.f_frsize);
        Some((bytes(stat.f_bavail), bytes(stat.f_blocks)))
    }

    /// Renames a file to a name that is not taken.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        if self.stat(to).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(retry_on_intr(|| rustix::fs::renameat(&self.fd, from, &self.fd, to))?)
    }

    /// Removes a file.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        Ok(retry_on_intr(|| rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()))?)
    }

    /// Removes an empty folder.
    pub fn remove_empty(&self, name: &str) -> io::Result<()> {
        Ok(retry_on_intr(|| rustix::fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR))?)
    }
}

/// Returns the device and the number of an open file or folder, which no other one has.
fn identity(open: BorrowedFd<'_>) -> io::Result<(u64, u64)> {
    Ok(number(&retry_on_intr(|| rustix::fs::fstat(open))?))
}

#[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
fn number(stat: &rustix::fs::Stat) -> (u64, u64) {
    (stat.st_dev as u64, stat.st_ino as u64)
}

#[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
fn ctime_ns(stat: &rustix::fs::Stat) -> i128 {
    i128::from(stat.st_ctime as i64) * 1_000_000_000 + i128::from(stat.st_ctime_nsec as i64)
}

#[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
fn modified_ms(stat: &rustix::fs::Stat) -> i64 {
    stat.st_mtime as i64 * 1000 + stat.st_mtime_nsec as i64 / 1_000_000
}

fn is_own(stat: &rustix::fs::Stat) -> bool {
    is_plain(stat) && stat.st_nlink == 1
}

fn is_plain(stat: &rustix::fs::Stat) -> bool {
    let kind = rustix::fs::FileType::from_raw_mode(stat.st_mode);
    kind == rustix::fs::FileType::RegularFile && stat.st_uid == rustix::process::geteuid().as_raw()
}

#[cfg(target_os = "linux")]
fn rename_exclusively(dir: &OwnedFd, from: &str, to: &str) -> Result<(), Errno> {
    rustix::fs::renameat_with(dir, from, dir, to, rustix::fs::RenameFlags::NOREPLACE)
}

#[cfg(not(target_os = "linux"))]
fn rename_exclusively(_: &OwnedFd, _: &str, _: &str) -> Result<(), Errno> {
    Err(Errno::NOTSUP)
}

/// Renames after checking that the name is free. The random part makes the name ours; the check only turns a planted
/// file into an error.
fn look_and_rename(dir: &OwnedFd, from: &str, to: &str) -> Result<(), Errno> {
    if rustix::fs::statat(dir, to, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
        return Err(Errno::EXIST);
    }
    retry_on_intr(|| rustix::fs::renameat(dir, from, dir, to))
}

const NOT_PLAIN: &str = "not a plain file of this user";

#[cfg(test)]
#[path = "folder_unix/tests.rs"]
mod tests;
