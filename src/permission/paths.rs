//! Where a path lies: in the vault or outside. Only text is looked at; where links lead is answered from outside.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Longer paths are not looked at.
pub const MAX_PATH_BYTES: usize = 16 * 1024;

/// Says where a path really leads: links followed, names as they are on the disk. For a path that does not exist, its
/// nearest folder that does, and the rest of the path below it. `None` if that cannot be known.
pub trait RealPaths {
    /// `path` is absolute, has no `..`, and is written with `/`.
    fn real<'p>(&self, path: &'p str) -> Option<Cow<'p, str>>;

    /// The first names in a folder, up to `most` of them, and whether each is a link. Empty if it cannot be read.
    fn names(&self, folder: &str, most: usize) -> Vec<(String, bool)>;

    /// What git would take a folder for.
    fn repository(&self, _folder: &str) -> Repository {
        Repository::None
    }
}

/// What git takes a folder for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repository {
    /// No repository, or a part of one.
    None,
    /// One with a folder `.git`.
    Own,
    /// One whose `.git` is a file or a link, which names this folder.
    Linked(String),
    /// The folder itself has what is in `.git` elsewhere, or a part of it.
    Bare,
}

/// The folders that paths are judged by, absolute and in normal form.
#[derive(Debug, Clone)]
pub struct Folders {
    /// As it was given.
    pub vault: String,
    /// Where it really is; not asked for until a path has to be placed.
    pub real_vault: Option<String>,
    /// What relative paths begin at.
    pub cwd: String,
    /// What `~` stands for.
    pub home: Option<String>,
    /// Whether paths are those of Windows.
    pub windows: bool,
    /// Whether upper and lower case of paths are the same.
    pub fold_case: bool,
}

/// What a path with `..` in it means to the file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Walk {
    /// What its text says.
    AsWritten,
    /// Another place, absolute and in normal form.
    Elsewhere(String),
    /// That cannot be known.
    Unknown,
}

impl Folders {
    /// An absolute path without `.` and `..`, or `None` if the text cannot be one.
    pub fn absolute(&self, path: &str, cwd: &str) -> Option<String> {
        normal(&self.written(path, cwd)?)
    }

    /// An absolute path with every `..` that was written, or `None` if the text cannot be one.
    pub fn written(&self, path: &str, cwd: &str) -> Option<String> {
        if path.is_empty() || path.len() > MAX_PATH_BYTES || path.contains('\0') {
            return None;
        }
        let path = slashes(path, self.windows);
        let path = match path.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                format!("{}{rest}", self.home.as_deref()?)
            }
            _ => path,
        };
        // Two slashes in front would be a share.
        let cwd = cwd.trim_end_matches('/');
        Some(if is_absolute(&path) { path } else { [cwd, "/", &path].concat() })
    }

    /// Where the file system comes to by a [`written`](Self::written) path if that is not what its text says: it takes a
    /// `..` behind a link to mean the folder above the one that the link leads to. Windows goes by the text.
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

    /// The target of an absolute path in normal form.
    pub fn target(&self, path: &str) -> String {
        self.inside(path).map_or_else(|| ["fs:", path].concat(), |rest| ["vault:/", rest].concat())
    }

    /// What follows the vault in a path that lies in it.
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

/// The form that paths are compared in: composed, and without case if the file system has none.
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

/// A path written with `/`. The drive of Windows becomes a folder, and its long form a usual one.
pub fn slashes(path: &str, windows: bool) -> String {
    if !windows {
        return path.to_owned();
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

/// Without `.`, `..` and empty components; `None` if a drive is followed by a relative path.
pub fn normal(path: &str) -> Option<String> {
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
