//! The same as the Unix folder for systems without descriptors of folders: Windows above all. The user's data folder
//! and temporary folder are private there by inheritance, so no rights are set.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use tempfile::NamedTempFile;

use super::file_metadata::Examined;
use super::file_names;
use super::symlink_policy::Links;

/// A folder.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

/// A file that is being written in a folder and has no final name yet.
#[derive(Debug)]
pub struct Draft {
    /// The file, for writing and for reading it back.
    pub file: File,
    temporary: Option<NamedTempFile>,
}

impl Draft {
    /// Whether its folder shows it under a temporary name.
    pub fn is_named(&self) -> bool {
        self.temporary.is_some()
    }

    /// Reads what has been written, without disturbing the writing.
    pub fn reader(&self) -> io::Result<File> {
        self.temporary.as_ref().ok_or(io::ErrorKind::NotFound)?.reopen()
    }
}

impl Folder {
    /// Opens a folder. Whose a link is cannot be told here.
    pub fn open(path: &Path, links: Links) -> io::Result<Self> {
        let folder = Folder { path: fs::canonicalize(path)? };
        if links == Links::None && !folder.is(path) {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "a link was put in the way"));
        }
        Ok(folder)
    }

    /// Whether this folder is the one at a path in which all links are resolved.
    pub fn is(&self, path: &Path) -> bool {
        self.path == path
    }

    /// Opens a folder, making it if it is not there; whether it was made comes with it.
    pub fn open_or_make(path: &Path, links: Links) -> io::Result<(Self, bool)> {
        let is_new = !path.exists();
        fs::create_dir_all(path)?;
        Ok((Folder::open(path, links)?, is_new))
    }

    /// Opens the folder of that name in this one, making it if it is not there.
    pub fn enter(&self, name: &str) -> io::Result<Self> {
        Ok(Folder::open_or_make(&self.path.join(name), Links::None)?.0)
    }

    /// Begins a file.
    pub fn draft(&self, now_ms: u64) -> io::Result<Draft> {
        let name = file_names::temporary(now_ms).map_err(io::Error::other)?;
        let temporary =
            tempfile::Builder::new().prefix(&name).rand_bytes(0).tempfile_in(&self.path)?;
        Ok(Draft { file: temporary.as_file().try_clone()?, temporary: Some(temporary) })
    }

    /// Gives the file its final name, unless that is taken: then `AlreadyExists`.
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

    /// Forgets a file that will not be published.
    pub fn discard(&self, draft: &mut Draft) {
        draft.temporary = None;
    }

    /// Entries of folders cannot be synced here; the file itself can.
    pub fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    /// Puts a small file into the folder, if there is none of that name.
    pub fn put(&self, name: &str, content: &[u8]) -> io::Result<()> {
        match OpenOptions::new().write(true).create_new(true).open(self.path.join(name)) {
            Ok(mut file) => file.write_all(content),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Opens a regular file. Links are not followed.
    pub fn read(&self, name: &str) -> io::Result<File> {
        let path = self.path.join(name);
        if !fs::symlink_metadata(&path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "not a plain file"));
        }
        File::open(path)
    }

    /// The names in the folder.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(&self.path)?;
        Ok(entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect())
    }

    /// Whether nothing is in the folder but this, if even that.
    pub fn holds_only(&self, name: &str) -> io::Result<bool> {
        for entry in fs::read_dir(&self.path)? {
            if entry?.file_name() != name {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Dates a file as if it were written now. Whoever opens it only for reading may not do so on Windows.
    pub fn renew(&self, name: &str) -> io::Result<()> {
        self.read(name)?;
        let file = OpenOptions::new().write(true).open(self.path.join(name))?;
        file.set_modified(SystemTime::now())
    }

    /// Looks at a file. `None` if it is not one of ours, or cannot be examined.
    pub fn examine(&self, name: &str) -> Option<Examined> {
        let data = fs::symlink_metadata(self.path.join(name)).ok().filter(|data| data.is_file())?;
        let modified = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let made = data.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Examined {
            bytes: data.len(),
            modified_ms: i64::try_from(modified.as_millis()).ok()?,
            touched_ns: i128::try_from(made.as_nanos()).ok()?,
        })
    }

    /// When a file of ours was last written that a process left behind.
    pub fn left_behind(&self, name: &str) -> Option<i64> {
        self.examine(name).map(|file| file.modified_ms)
    }

    /// Opens the folder of that name in this one. Links are not followed.
    pub fn inner(&self, name: &str) -> io::Result<Self> {
        let path = self.path.join(name);
        if !fs::symlink_metadata(&path)?.is_dir() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "not a plain folder"));
        }
        Folder::open(&path, Links::None)
    }

    /// Opens a file that is only there to be locked, making it if it is not there.
    pub fn lock_file(&self, name: &str) -> io::Result<File> {
        let path = self.path.join(name);
        if fs::symlink_metadata(&path).is_ok_and(|data| !data.is_file()) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "not a plain file"));
        }
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
    }

    /// What two sweeps of the folder lock against each other: folders cannot be locked here.
    pub fn sweep_lock(&self) -> io::Result<File> {
        self.lock_file(".sweep.lock")
    }

    /// The lock file of that name, if it is there.
    pub fn existing_lock_file(&self, name: &str) -> io::Result<Option<File>> {
        match self.read(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other.map(Some),
        }
    }

    /// Whether a file is still the one of that name: open files cannot be removed here.
    pub fn has(&self, name: &str, _: &File) -> bool {
        self.path.join(name).exists()
    }

    /// The free space of a file system cannot be asked for here.
    pub fn space(&self) -> Option<(u64, u64)> {
        None
    }

    /// Gives a file another name, which nothing has.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        if self.path.join(to).exists() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs::rename(self.path.join(from), self.path.join(to))
    }

    /// Removes a file.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    /// Removes a folder that is empty.
    pub fn remove_empty(&self, name: &str) -> io::Result<()> {
        fs::remove_dir(self.path.join(name))
    }
}

/// Whether a folder was refused because another user owns it, which cannot be told here.
pub fn is_anothers(_: &io::Error) -> bool {
    false
}
