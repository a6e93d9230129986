//! The Unix folder for systems without descriptors of folders, Windows above all; its methods are documented there. The
//! user's data and temporary folders are private on Windows by inheritance, so no permissions are set.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use tempfile::NamedTempFile;

use super::file_metadata::FileMetadata;
use super::file_names;
use super::symlink_policy::SymlinkPolicy;

#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

#[derive(Debug)]
pub struct Draft {
    pub file: File,
    temporary: Option<NamedTempFile>,
}

impl Draft {
    pub fn is_named(&self) -> bool {
        self.temporary.is_some()
    }

    pub fn reader(&self) -> io::Result<File> {
        self.temporary.as_ref().ok_or(io::ErrorKind::NotFound)?.reopen()
    }
}

impl Folder {
    /// Opens a folder. The owner of a link is not known here.
    pub fn open(path: &Path, links: SymlinkPolicy) -> io::Result<Self> {
        let folder = Folder { path: fs::canonicalize(path)? };
        if links == SymlinkPolicy::Deny && !folder.is(path) {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "a link was put in the way"));
        }
        Ok(folder)
    }

    pub fn is(&self, path: &Path) -> bool {
        self.path == path
    }

    pub fn open_or_make(path: &Path, links: SymlinkPolicy) -> io::Result<(Self, bool)> {
        let is_new = !path.exists();
        fs::create_dir_all(path)?;
        Ok((Folder::open(path, links)?, is_new))
    }

    pub fn enter(&self, name: &str) -> io::Result<Self> {
        Ok(Folder::open_or_make(&self.path.join(name), SymlinkPolicy::Deny)?.0)
    }

    pub fn draft(&self, now_ms: u64) -> io::Result<Draft> {
        let name = file_names::temporary(now_ms).map_err(io::Error::other)?;
        let temporary =
            tempfile::Builder::new().prefix(&name).rand_bytes(0).tempfile_in(&self.path)?;
        Ok(Draft { file: temporary.as_file().try_clone()?, temporary: Some(temporary) })
    }

    pub fn publish(&self, draft: &mut Draft, name: &str) -> io::Result<()> {
        let Some(temporary) = draft.temporary.take() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        match temporary.persist_noclobber(self.path.join(name)) {
            Ok(_) => Ok(()),
            Err(failed) => {
                draft.temporary = Some(failed.file);
                Err(failed.error)
            }
        }
    }

    pub fn discard(&self, draft: &mut Draft) {
        draft.temporary = None;
    }

    /// Does nothing: directory entries cannot be synced here, only files.
    pub fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    pub fn put(&self, name: &str, content: &[u8]) -> io::Result<()> {
        match OpenOptions::new().write(true).create_new(true).open(self.path.join(name)) {
            Ok(mut file) => file.write_all(content),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub fn read(&self, name: &str) -> io::Result<File> {
        let path = self.path.join(name);
        if !fs::symlink_metadata(&path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "not a plain file"));
        }
        File::open(path)
    }

    pub fn names(&self) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(&self.path)?;
        Ok(entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect())
    }

    pub fn holds_only(&self, name: &str) -> io::Result<bool> {
        for entry in fs::read_dir(&self.path)? {
            if entry?.file_name() != name {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Needs a writable handle: with a read-only one Windows does not set the date.
    pub fn renew(&self, name: &str) -> io::Result<()> {
        self.read(name)?;
        let file = OpenOptions::new().write(true).open(self.path.join(name))?;
        file.set_modified(SystemTime::now())
    }

    pub fn examine(&self, name: &str) -> Option<FileMetadata> {
        let data = fs::symlink_metadata(self.path.join(name)).ok().filter(|data| data.is_file())?;
        let modified = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let made = data.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(FileMetadata {
            bytes: data.len(),
            modified_ms: i64::try_from(modified.as_millis()).ok()?,
            ctime_ns: i128::try_from(made.as_nanos()).ok()?,
        })
    }

    pub fn left_behind(&self, name: &str) -> Option<i64> {
        self.examine(name).map(|file| file.modified_ms)
    }

    pub fn inner(&self, name: &str) -> io::Result<Self> {
        let path = self.path.join(name);
        if !fs::symlink_metadata(&path)?.is_dir() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "not a plain folder"));
        }
        Folder::open(&path, SymlinkPolicy::Deny)
    }

    pub fn lock_file(&self, name: &str) -> io::Result<File> {
        let path = self.path.join(name);
        if fs::symlink_metadata(&path).is_ok_and(|data| !data.is_file()) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "not a plain file"));
        }
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
    }

    /// Returns a lock file, because folders cannot be locked here.
    pub fn sweep_lock(&self) -> io::Result<File> {
        self.lock_file(".sweep.lock")
    }

    pub fn existing_lock_file(&self, name: &str) -> io::Result<Option<File>> {
        match self.read(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other.map(Some),
        }
    }

    /// Always true: open files cannot be removed here.
    pub fn has(&self, name: &str, _: &File) -> bool {
        self.path.join(name).exists()
    }

    /// Returns `None`: the standard library does not report free space.
    pub fn space(&self) -> Option<(u64, u64)> {
        None
    }

    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        if self.path.join(to).exists() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs::rename(self.path.join(from), self.path.join(to))
    }

    pub fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    pub fn remove_empty(&self, name: &str) -> io::Result<()> {
        fs::remove_dir(self.path.join(name))
    }
}

/// Always false: owners are not known here.
pub fn is_owned_by_another(_: &io::Error) -> bool {
    false
}
