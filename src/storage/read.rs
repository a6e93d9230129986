//! Reads saved outputs back. Only files that belong to the store are opened, whatever path is requested.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use super::directories::StoreDirs;
use crate::error::{Code, Error, Result, os_reason};
use crate::fs::file_names;
use crate::fs::folder::Folder;
use crate::text::utf16;

/// Input of ranges and searches: a file, or bytes in memory.
pub trait Input: Read + Seek + Send + std::fmt::Debug {}

impl<T: Read + Seek + Send + std::fmt::Debug> Input for T {}

/// The bytes so far of an output in progress.
#[derive(Debug)]
pub struct Unfinished {
    pub file: Box<dyn Input>,
    /// Number of bytes.
    pub bytes: u64,
    /// True if they are only a part of what came.
    pub incomplete: bool,
}

impl Unfinished {
    /// Wraps an output in memory.
    pub fn of(bytes: Vec<u8>) -> Self {
        let length = bytes.len() as u64;
        Unfinished { file: Box::new(Cursor::new(bytes)), bytes: length, incomplete: false }
    }
}

/// The first bytes of a file, followed by bytes in memory.
#[derive(Debug)]
pub struct Joined {
    file: Box<dyn Input>,
    length: u64,
    rest: Vec<u8>,
    at: u64,
}

impl Joined {
    /// Joins `length` bytes of a file and the rest.
    pub fn new(file: Box<dyn Input>, length: u64, rest: Vec<u8>) -> Self {
        Joined { file, length, rest, at: 0 }
    }
}

impl Read for Joined {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = if self.at < self.length {
            self.file.seek(SeekFrom::Start(self.at))?;
            (&mut self.file).take(self.length - self.at).read(buffer)?
        } else {
            let from = usize::try_from(self.at - self.length).unwrap_or(usize::MAX);
            self.rest.get(from..).unwrap_or_default().read(buffer)?
        };
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Joined {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let end = self.length + self.rest.len() as u64;
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => end.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// Reads a saved output from start to end.
#[derive(Debug)]
pub struct Reader {
    file: Box<dyn Input>,
    /// The start of a character that the next piece completes.
    pending: Vec<u8>,
}

/// An output located by its store: whatever path was requested, it is opened relative to the store's folder.
pub(super) struct Owned {
    /// The folder of the store, or of a session in it, that contains the output.
    pub place: Folder,
    session: Option<String>,
    name: String,
}

impl Owned {
    pub(crate) fn open(&self) -> io::Result<File> {
        self.within(|folder| folder.read(&self.name))
    }

    /// Removes it, if it is an output of this user.
    pub(crate) fn remove(&self) -> io::Result<()> {
        self.open()?;
        self.within(|folder| folder.remove(&self.name))
    }

    /// Sets the modification time to now, as if the output were saved again.
    pub(crate) fn renew(&self) -> io::Result<()> {
        self.within(|folder| folder.renew(&self.name))
    }

    fn within<T>(&self, work: impl FnOnce(&Folder) -> io::Result<T>) -> io::Result<T> {
        match &self.session {
            Some(session) => work(&self.place.inner(session)?),
            None => work(&self.place),
        }
    }
}

/// Locates the output with this path: its name must be one of ours, and its folder, with symlinks resolved, a directory
/// of the store or the folder of a session in one. The output need not exist.
pub(super) fn owner(places: &StoreDirs, path: &Path) -> Option<Owned> {
    let name = output_name(path)?.to_owned();
    let parent = path.parent()?;
    let folder = match parent.canonicalize() {
        Ok(folder) => folder,
        // A session's folder is removed with its last output.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            parent.parent()?.canonicalize().ok()?.join(parent.file_name()?)
        }
        Err(_) => return None,
    };
    if let Some(place) = place_at(places, &folder) {
        return Some(Owned { place, session: None, name });
    }
    let session =
        folder.file_name()?.to_str().filter(|name| file_names::is_session(name))?.to_owned();
    let place = place_at(places, folder.parent()?)?;
    Some(Owned { place, session: Some(session), name })
}

/// Returns the last component of a path if it can be the name of an output. A trailing `/` or `/.` denotes a folder.
fn output_name(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str().filter(|name| file_names::is_output(name))?;
    path.as_os_str().as_encoded_bytes().ends_with(name.as_bytes()).then_some(name)
}

fn place_at(places: &StoreDirs, folder: &Path) -> Option<Folder> {
    let mut opened = places.dirs.iter().filter_map(|place| place.open().ok());
    opened.find(|place| place.is(folder))
}

/// Returns true if a path is that of an output of these directories, and the file, if it exists, is a regular file of
/// this user.
pub fn owns(places: &StoreDirs, path: &Path) -> bool {
    let Some(owned) = owner(places, path) else { return false };
    match owned.open() {
        Ok(_) => true,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Returns the output of these places that has this path.
pub(super) fn owned(places: &StoreDirs, path: &str) -> Result<Owned> {
    owner(places, Path::new(path))
        .ok_or_else(|| not_owned(path, "is not an output that this store saved"))
}

/// Opens an output of these directories, and nothing else.
pub(super) fn open_output(places: &StoreDirs, path: &str) -> Result<File> {
    open_output_of(places, path, None)
}

/// Opens an output of these directories; with the folder of a session, only if the output is in it, with symlinks
/// resolved.
pub(super) fn open_output_of(
    places: &StoreDirs,
    path: &str,
    session: Option<&str>,
) -> Result<File> {
    let Some(owned) = owner(places, Path::new(path)) else {
        if was_lost(places, Path::new(path), session) {
            return Err(failed(path, &io::ErrorKind::NotFound.into()));
        }
        return Err(not_owned(path, "is not an output that this store saved"));
    };
    if session.is_some() && owned.session.as_deref() != session {
        return Err(not_owned(path, "is not an output of this session"));
    }
    owned.open().map_err(|error| failed(path, &error))
}

/// Returns true if the path is that of an output in a directory that does not exist any more, so that there are no
/// symlinks to resolve. With a session, of an output of that session.
fn was_lost(places: &StoreDirs, path: &Path, session: Option<&str>) -> bool {
    let lost = |folder: Option<&Path>| {
        let mut lost = places.dirs.iter().filter(|place| place.is_lost());
        folder.is_some_and(|folder| lost.any(|place| place.is_called(folder)))
    };
    let folder = path.parent();
    let own = folder.and_then(Path::file_name).and_then(OsStr::to_str);
    let own = own.filter(|name| file_names::is_session(name));
    let in_session = || lost(folder.and_then(Path::parent));
    output_name(path).is_some()
        && match session {
            Some(asked) => own == Some(asked) && in_session(),
            None => lost(folder) || (own.is_some() && in_session()),
        }
}

fn not_owned(path: &str, problem: &str) -> Error {
    Error {
        code: Code::StorageNotOwned,
        message: format!("{path:?} {problem}"),
        field: Some("path".to_owned()),
    }
}

/// Returns true if the file holds only a part of its output.
pub(super) fn is_incomplete(path: &str) -> bool {
    Path::new(path).file_name().and_then(|name| name.to_str()).is_some_and(file_names::is_partial)
}

/// Returns the error for an output that exists and cannot be read.
pub(crate) fn unreadable(error: io::Error) -> Error {
    Error::new(Code::StorageRead, os_reason(&error))
}

impl Reader {
    /// Opens an output.
    pub fn open(places: &StoreDirs, path: &str) -> Result<Self> {
        Ok(Reader { file: Box::new(open_output(places, path)?), pending: Vec::new() })
    }

    /// Reads bytes in memory.
    pub fn over(bytes: Vec<u8>) -> Self {
        Reader { file: Box::new(Cursor::new(bytes)), pending: Vec::new() }
    }

    /// Returns the next piece as UTF-16, of about `bytes` bytes at most, or `None` at the end.
    pub fn next_piece(&mut self, bytes: usize) -> Result<Option<Vec<u16>>> {
        let mut piece = std::mem::take(&mut self.pending);
        let held = piece.len();
        let read = (&mut self.file).take(bytes as u64).read_to_end(&mut piece);
        let read = read.map_err(unreadable)?;
        if read > 0 {
            let keep = piece.len() - utf16::incomplete_suffix(&piece);
            self.pending = piece.split_off(keep);
        }
        Ok((read > 0 || held > 0).then(|| utf16::decode(&piece)))
    }
}

fn failed(path: &str, error: &io::Error) -> Error {
    let (code, problem) = match error.kind() {
        io::ErrorKind::NotFound => {
            (Code::StorageNotFound, "is no longer there; it was probably swept".to_owned())
        }
        io::ErrorKind::PermissionDenied => (Code::StorageNotOwned, os_reason(error)),
        _ => (Code::StorageRead, os_reason(error)),
    };
    Error { code, message: format!("{path:?}: {problem}"), field: Some("path".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::fixture::saved;
    use std::fs;

    #[test]
    fn pieces_join_to_the_whole() {
        let text = "a你😀\u{fffd}é".repeat(50);
        let mut raw = text.clone().into_bytes();
        raw.extend_from_slice(b"\xed\xa0\x80");
        let (_root, places, path) = saved(&raw);
        for size in 1..12 {
            let mut reader = Reader::open(&places, &path).unwrap();
            let mut units = Vec::new();
            while let Some(piece) = reader.next_piece(size).unwrap() {
                units.extend(piece);
            }
            let expected: Vec<u16> = text.encode_utf16().chain([0xd800]).collect();
            assert_eq!(units, expected, "pieces of {size}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_does_not_lead_into_another_session() {
        let (root, places, _) = saved(b"");
        let ids: [Vec<u16>; 2] = ["me", "they"].map(|id| id.encode_utf16().collect());
        let [mine, theirs] = ids.map(|id| file_names::session(&id));
        let name = "x_5_aaaaaaaaaaaaa.txt";
        for session in [&mine, &theirs] {
            fs::create_dir(root.path().join(session)).unwrap();
            fs::write(root.path().join(session).join(name), session).unwrap();
        }
        let open = |path: &Path| {
            let file = open_output_of(&places, path.to_str().unwrap(), Some(&mine));
            file.map_err(|error| error.code).map(|file| io::read_to_string(file).unwrap())
        };
        assert_eq!(open(&root.path().join(&mine).join(name)), Ok(mine.clone()));
        assert_eq!(open(&root.path().join(&theirs).join(name)), Err(Code::StorageNotOwned));
        let elsewhere = tempfile::tempdir().unwrap();
        let disguise = elsewhere.path().join(&mine);
        std::os::unix::fs::symlink(root.path().join(&theirs), &disguise).unwrap();
        assert_eq!(open(&disguise.join(name)), Err(Code::StorageNotOwned));
    }

    #[test]
    fn only_own_files_are_read() {
        let (root, places, path) = saved(b"text");
        let code = |path: &str| Reader::open(&places, path).map(|_| ()).unwrap_err().code;
        fs::write(root.path().join("notes.txt"), "x").unwrap();
        assert_eq!(code("/etc/passwd"), Code::StorageNotOwned);
        assert_eq!(code(root.path().join("notes.txt").to_str().unwrap()), Code::StorageNotOwned);
        assert_eq!(code(&format!("{path}/../../etc/passwd")), Code::StorageNotOwned);
        for ending in ["/", "//", "/.", "/./"] {
            assert_eq!(code(&format!("{path}{ending}")), Code::StorageNotOwned, "{ending}");
            assert!(!owns(&places, Path::new(&format!("{path}{ending}"))));
        }
        #[cfg(unix)]
        {
            let link = root.path().join("x_5_aaaaaaaaaaaaa.txt");
            std::os::unix::fs::symlink("/etc/passwd", &link).unwrap();
            assert_eq!(code(link.to_str().unwrap()), Code::StorageNotOwned);
            let socket = root.path().join("x_5_ccccccccccccc.txt");
            let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
            assert_eq!(code(socket.to_str().unwrap()), Code::StorageNotOwned);
            let hard = root.path().join("x_5_bbbbbbbbbbbbb.txt");
            fs::hard_link(root.path().join("notes.txt"), &hard).unwrap();
            assert_eq!(code(hard.to_str().unwrap()), Code::StorageNotOwned);
        }
        fs::remove_file(&path).unwrap();
        assert_eq!(code(&path), Code::StorageNotFound);
    }

    #[test]
    fn outputs_that_went_with_the_whole_folder_are_gone() {
        let (root, places, path) = saved(b"text");
        let id: Vec<u16> = "me".encode_utf16().collect();
        let mine = file_names::session(&id);
        let in_session = root.path().join(&mine).join("x_5_aaaaaaaaaaaaa.txt");
        let code = |path: &Path, session: Option<&str>| {
            open_output_of(&places, path.to_str().unwrap(), session).unwrap_err().code
        };
        fs::remove_dir_all(root.path()).unwrap();
        for is_file in [false, true] {
            assert_eq!(code(Path::new(&path), None), Code::StorageNotFound, "{is_file}");
            assert_eq!(code(&in_session, Some(&mine)), Code::StorageNotFound);
            assert_eq!(code(&in_session, Some("s-000000000000")), Code::StorageNotOwned);
            assert_eq!(code(Path::new(&path), Some(&mine)), Code::StorageNotOwned);
            assert_eq!(code(&root.path().join("notes.txt"), None), Code::StorageNotOwned);
            assert_eq!(
                code(&root.path().join("../x_5_aaaaaaaaaaaaa.txt"), None),
                Code::StorageNotOwned
            );
            // A file at that path is not a store.
            fs::write(root.path(), "").unwrap_or_default();
        }
        fs::remove_file(root.path()).unwrap();
    }
}
