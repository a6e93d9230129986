//! Decides whether a path is in the vault or outside, by its text; where symlinks lead is answered by [`RealPaths`].

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Maximum length of a path in bytes.
pub const MAX_PATH_BYTES: usize = 16 * 1024;

/// Maximum number of folders around one.
const MAX_AROUND: usize = 16;

/// Resolves paths: follows symlinks, and spells names as the disk does. If a path does not exist, the nearest
/// existing parent is resolved, and the rest is appended. `None` if the result is unknown.
pub trait RealPaths {
    /// Resolves an absolute path without `..`, written with `/`.
    fn real<'p>(&self, path: &'p str) -> Option<Cow<'p, str>>;

    /// Returns the first names in a directory, at most `max`, and whether each is a symlink. Empty if it cannot be
    /// read.
    fn names(&self, folder: &str, max: usize) -> Vec<(String, bool)>;

    /// Returns true if a path is a directory, or a symlink to one.
    fn is_folder(&self, path: &str) -> bool {
        !self.names(path, 1).is_empty()
    }

    /// Returns what git would take a directory for.
    fn repository(&self, _folder: &str) -> Repository {
        Repository::None
    }
}

/// Returns true if a path is a folder or something in it.
pub(super) fn is_in(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The role that a directory has for git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repository {
    /// Not a repository, nor a part of one.
    None,
    /// A repository with a directory `.git`.
    Own,
    /// A repository whose `.git` is a file or a symlink that names this directory.
    Linked(String),
    /// The directory itself has the content of `.git`, or a part of it.
    Bare,
}

/// The directories that paths are compared with, absolute and normalized.
#[derive(Debug, Clone)]
pub struct Folders {
    /// As given.
    pub vault: String,
    /// The resolved vault; `None` until it is needed.
    pub real_vault: Option<String>,
    /// Base of relative paths.
    pub cwd: String,
    /// The home directory, which `~` denotes.
    pub home: Option<String>,
    /// True for Windows paths.
    pub windows: bool,
    /// True if paths are case-insensitive.
    pub fold_case: bool,
}

/// The meaning of a path with `..` in the file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Walk {
    /// The path that its text denotes.
    AsWritten,
    /// Another path, absolute and normalized.
    Elsewhere(String),
    /// Unknown.
    Unknown,
}

impl Folders {
    /// Returns the absolute path without `.` and `..`, or `None` if the text is not a path.
    pub fn absolute(&self, path: &str, cwd: &str) -> Option<String> {
        normal(&self.written(path, cwd)?)
    }

    /// Returns the absolute path with every `..` as written, or `None` if the text is not a path.
    pub fn written(&self, path: &str, cwd: &str) -> Option<String> {
        if path.is_empty() || path.len() > MAX_PATH_BYTES || path.contains('\0') {
            return None;
        }
        let slashed;
        let path = match self.windows {
            true => {
                slashed = slashes(path, true);
                slashed.as_str()
            }
            false => from_root(path),
        };
        let path = match path.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                Cow::Owned([self.home.as_deref()?, rest].concat())
            }
            _ => Cow::Borrowed(path),
        };
        // Two slashes in front would be a share.
        let cwd = cwd.trim_end_matches('/');
        Some(if is_absolute(&path) { path.into_owned() } else { [cwd, "/", &path].concat() })
    }

    /// Resolves a [`written`](Self::written) path as the file system does, if that differs from its text: `..` after a
    /// symlink denotes the parent of the symlink's destination. Windows reads the text alone.
    pub fn walked(&self, written: &str, real: &dyn RealPaths) -> Walk {
        if self.windows || !written.split('/').any(|part| part == "..") {
            return Walk::AsWritten;
        }
        let mut at = String::new();
        let mut strayed = false;
        for part in written.split('/').filter(|part| !matches!(*part, "" | ".")) {
            if part != ".." {
                at = format!("{at}/{part}");
                continue;
            }
            let Some(folder) = real.real(if at.is_empty() { "/" } else { &at }) else {
                return Walk::Unknown;
            };
            let folder = folder.into_owned();
            at.truncate(at.rfind('/').unwrap_or(0));
            let above = folder.rfind('/').map_or("", |end| &folder[..end]);
            let by_text = real.real(if at.is_empty() { "/" } else { &at });
            if by_text.as_deref().map(|path| path.trim_end_matches('/')) != Some(above) {
                strayed = true;
                at = above.to_owned();
            }
        }
        match strayed {
            true if at.is_empty() => Walk::Elsewhere("/".to_owned()),
            true => Walk::Elsewhere(at),
            false => Walk::AsWritten,
        }
    }

    /// Returns the target of an absolute, normalized path.
    pub fn target(&self, path: &str) -> String {
        self.inside(path).map_or_else(|| ["fs:", path].concat(), |rest| ["vault:/", rest].concat())
    }

    /// Returns the folders of the vault around a folder, the outermost first.
    pub fn around(&self, folder: &str) -> impl Iterator<Item = String> {
        let outer = folder.match_indices('/').map(|(end, _)| &folder[..end]);
        let outer = outer.filter(|outer| self.inside(outer).is_some());
        outer.take(MAX_AROUND).map(str::to_owned)
    }

    /// Returns the part of a path after the vault, if it is in the vault.
    fn inside<'p>(&self, path: &'p str) -> Option<&'p str> {
        [Some(&self.vault), self.real_vault.as_ref()].into_iter().flatten().find_map(|vault| {
            let vault = vault.trim_end_matches('/');
            let length = vault.len();
            let start = path.get(..length)?;
            let same = start == vault || (self.fold_case && fold(start, true) == fold(vault, true));
            match path.get(length..) {
                Some("") if same => Some(""),
                Some(rest) if same => rest.strip_prefix('/'),
                _ => None,
            }
        })
    }
}

/// Returns the form in which paths are compared: composed, and folded if the file system is case-insensitive.
pub fn fold(path: &str, case: bool) -> String {
    if path.is_ascii() {
        return if case { path.to_ascii_lowercase() } else { path.to_owned() };
    }
    let composed: String = match is_nfc_quick(path.chars()) {
        IsNormalized::Yes => path.to_owned(),
        _ => path.nfc().collect(),
    };
    if case { composed.to_lowercase() } else { composed }
}

/// Returns a path with one slash in front: two of them name a share on Windows, and the root elsewhere.
fn from_root(path: &str) -> &str {
    let slashes = path.len() - path.trim_start_matches('/').len();
    &path[slashes.saturating_sub(1)..]
}

/// Writes a path with `/`. A drive of Windows becomes a directory, and its extended form an ordinary one.
pub fn slashes(path: &str, windows: bool) -> String {
    if !windows {
        return from_root(path).to_owned();
    }
    let path = path.replace('\\', "/");
    let path = path.strip_prefix("//?/UNC/").map(|rest| format!("//{rest}")).unwrap_or(path);
    let path = ["//?/", "//./"].iter().find_map(|start| path.strip_prefix(start)).unwrap_or(&path);
    let mut letters = path.chars();
    match (letters.next(), letters.next()) {
        (Some(drive), Some(':')) if drive.is_ascii_alphabetic() => {
            format!("/{}:{}", drive.to_ascii_uppercase(), &path[2..])
        }
        _ => path.to_owned(),
    }
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/')
}

/// Returns true if no component of an absolute path is empty or begins with a dot.
fn is_normal(path: &str) -> bool {
    let bytes = path.as_bytes();
    path.len() > 1
        && bytes[0] == b'/'
        && !bytes.windows(2).any(|pair| pair[0] == b'/' && matches!(pair[1], b'/' | b'.'))
        && !path.ends_with('/')
}

/// Removes `.`, `..` and empty components; returns `None` if a drive is followed by a relative path.
pub fn normal(path: &str) -> Option<String> {
    if is_normal(path) {
        return Some(path.to_owned());
    }
    let share = path.starts_with("//") && !path.starts_with("///");
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let mut text = String::with_capacity(path.len() + 1);
    text.push_str(if share { "//" } else { "/" });
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            text.push('/');
        }
        text.push_str(part);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders() -> Folders {
        Folders {
            vault: "/home/u/notes".into(),
            real_vault: Some("/disk/notes".into()),
            cwd: "/home/u/notes".into(),
            home: Some("/home/u".into()),
            windows: false,
            fold_case: false,
        }
    }

    #[test]
    fn a_path_lies_in_the_vault_or_outside() {
        let folders = folders();
        let target = |path: &str| folders.target(&folders.absolute(path, &folders.cwd).unwrap());
        assert_eq!(target("notes/a.md"), "vault:/notes/a.md");
        assert_eq!(target("./x/../a.md"), "vault:/a.md");
        assert_eq!(target("a/../../x.md"), "fs:/home/u/x.md");
        assert_eq!(target("../../../../../etc/passwd"), "fs:/etc/passwd");
        assert_eq!(target("/home/u/notesx/a"), "fs:/home/u/notesx/a");
        assert_eq!(target("/disk/notes/a"), "vault:/a");
        assert_eq!(target("~/a"), "fs:/home/u/a");
        assert_eq!(target("//etc/passwd"), "fs:/etc/passwd");
        assert_eq!(target("//home/u/notes/a"), "vault:/a");
        assert_eq!(target("."), "vault:/");
        assert_eq!(folders.absolute("a\0b", "/"), None);
        assert_eq!(folders.absolute("", "/"), None);
    }

    #[test]
    fn windows_paths_have_the_same_form() {
        let folders = Folders {
            vault: "/C:/Users/u/notes".into(),
            real_vault: None,
            cwd: "/C:/Users/u/notes".into(),
            home: None,
            windows: true,
            fold_case: true,
        };
        let target = |path: &str| folders.target(&folders.absolute(path, &folders.cwd).unwrap());
        assert_eq!(target("a\\b.md"), "vault:/a/b.md");
        assert_eq!(target("c:\\users\\U\\notes\\b.md"), "vault:/b.md");
        assert_eq!(target("\\\\?\\C:\\x"), "fs:/C:/x");
        assert_eq!(target("\\\\server\\share\\x"), "fs://server/share/x");
        assert_eq!(target("..\\x"), "fs:/C:/Users/u/x");
    }
}
