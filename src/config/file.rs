//! The configuration file: read with a size limit, changed by one writer at a time, replaced atomically.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::edit::edit;
use super::load::{Found, Unreadable};
use super::tree::{Node, position};
use crate::error::{Code, Error, Result, os_reason};

/// Maximum size of a file in bytes.
pub const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Maximum time that a writer waits for others.
const PATIENCE: Duration = Duration::from_secs(10);

/// The reason why a file was not read.
enum Refused {
    Nothing,
    Because(Unreadable),
}

/// Reads a file; `None` if it does not exist.
pub fn read(path: &Path) -> std::result::Result<Option<String>, Unreadable> {
    match text_of(path) {
        Ok(text) => Ok(Some(text)),
        Err(Refused::Nothing) => Ok(None),
        Err(Refused::Because(reason)) => Err(reason),
    }
}

/// Reads a file that is to be changed; empty if it does not exist.
pub fn text(path: &Path) -> Result<String> {
    let problem = |Unreadable { reason, place }| {
        let place = place.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
        Error::new(Code::StorageRead, format!("{}{place}: {reason}", path.display()))
    };
    Ok(read(path).map_err(problem)?.unwrap_or_default())
}

/// Converts the result of reading to the input of `load`.
pub fn found(read: &std::result::Result<Option<String>, Unreadable>) -> Found<'_> {
    match read {
        Ok(Some(text)) => Found::Text(text),
        Ok(None) => Found::Nothing,
        Err(problem) => Found::Unreadable(problem.clone()),
    }
}

fn text_of(path: &Path) -> std::result::Result<String, Refused> {
    let because = |reason| Refused::Because(Unreadable { reason, place: None });
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Refused::Nothing,
        _ => because(os_reason(&error)),
    };
    // Reading a pipe would block until another process writes to it.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(because("is not a file".into()));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(because(format!("has more than {MAX_FILE_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..at]);
        let before = before.strip_prefix('\u{feff}').unwrap_or(&before);
        let byte = error.as_bytes().get(at).copied().unwrap_or(0);
        Refused::Because(Unreadable {
            reason: format!("is not UTF-8: the byte {byte:02x} does not belong there"),
            place: Some(position(before, before.len())),
        })
    })
}

/// The result of an update.
#[derive(Debug, PartialEq, Eq)]
pub enum Updated {
    /// The file was changed; this is its text.
    Done(String),
    /// Another process has changed the file.
    Moved,
}

/// Changes a file; with `seen`, only if that is still its text. Concurrent updates wait for each other.
pub fn update(path: &Path, change: &Node, seen: Option<&str>) -> Result<Updated> {
    let path = target(path)?;
    if let Some(folder) = path.parent() {
        make_folder(folder).map_err(|error| failure(&error))?;
    }
    let _lock = lock(&path)?;
    let (text, exists) = (text(&path)?, path.exists());
    let text = text.as_str();
    if seen.is_some_and(|seen| seen != text) {
        return Ok(Updated::Moved);
    }
    let after = edit(text, change).map_err(|mut error| {
        if error.field.is_none() {
            error.message = format!("{}: {}", path.display(), error.message);
        }
        error
    })?;
    if after.len() as u64 > MAX_FILE_BYTES {
        return Err(Error::new(
            Code::StorageWrite,
            format!("{}: would have more than {MAX_FILE_BYTES} bytes", path.display()),
        ));
    }
    if !exists || after != text {
        write(&path, &after).map_err(|error| failure(&error))?;
    }
    Ok(Updated::Done(after))
}

fn failure(error: &io::Error) -> Error {
    Error::new(
        Code::StorageWrite,
        format!("the configuration could not be written: {}", os_reason(error)),
    )
}

/// Resolves symlinks: the file that a symlink leads to is replaced, not the symlink.
fn target(path: &Path) -> Result<PathBuf> {
    match fs::canonicalize(path) {
        Ok(path) => return Ok(path),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failure(&error)),
        Err(_) => {}
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(fs::read_link(path).map_or_else(|_| path.to_owned(), |link| folder.join(link)))
}

fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(ending);
    path.with_file_name(name)
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

/// A lock on a file of its own. The file is removed before the lock is released, so that nothing is left.
struct Lock {
    file: File,
    path: PathBuf,
}

/// Waits for the lock beside a file.
fn lock(path: &Path) -> Result<Lock> {
    let beside = beside(path, ".lock");
    let began = Instant::now();
    loop {
        let file = private()
            .create(true)
            .truncate(false)
            .open(&beside)
            .map_err(|error| failure(&error))?;
        match file.try_lock() {
            Ok(()) if is_at(&file, &beside) => return Ok(Lock { file, path: beside }),
            // Its holder removed it before this lock was taken: the next writers lock another file.
            Ok(()) => {}
            Err(fs::TryLockError::Error(error)) => return Err(failure(&error)),
            Err(fs::TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(2)),
        }
        if began.elapsed() > PATIENCE {
            return Err(Error::new(
                Code::StorageWrite,
                format!("{}: another process holds its lock", path.display()),
            ));
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Only where the others notice that it is another file.
        #[cfg(unix)]
        let _ = fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

/// Returns true if the path still leads to the open file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |facts: fs::Metadata| (facts.dev(), facts.ino());
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => identity(open) == identity(named),
        _ => false,
    }
}

/// The file is never removed there.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let before = fs::metadata(path).ok().map(|facts| facts.permissions());
    if before.as_ref().is_some_and(fs::Permissions::readonly) {
        return Err(io::Error::from(io::ErrorKind::PermissionDenied));
    }
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let draft = beside(path, &format!(".{:016x}.tmp", u64::from_le_bytes(random)));
    let written = private().create_new(true).open(&draft).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        if let Some(permissions) = before {
            file.set_permissions(permissions)?;
        }
        file.sync_all()?;
        fs::rename(&draft, path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}
