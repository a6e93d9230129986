//! The name of a program in its path, and whether it is the program that its name says.

use std::borrow::Cow;

/// Directories whose programs are those that their names say.
const SYSTEM_FOLDERS: [&str; 7] = [
    "/bin",
    "/usr/bin",
    "/usr/local/bin",
    "/sbin",
    "/usr/sbin",
    "/usr/local/sbin",
    "/opt/homebrew/bin",
];

/// Endings of programs that Windows runs without them.
const ENDINGS: [&str; 3] = [".exe", ".cmd", ".bat"];

/// Returns the name of a program without its directory.
pub(super) fn base(text: &str) -> Cow<'_, str> {
    let folder = text.bytes().rposition(|byte| matches!(byte, b'/' | b'\\'));
    let mut name = folder.map_or(text, |end| &text[end + 1..]);
    // Zsh and Nushell write programs so.
    while name.starts_with('=') || name.starts_with('^') {
        name = &name[1..];
    }
    if !name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Borrowed(without_ending(name));
    }
    let mut name = name.to_ascii_lowercase();
    name.truncate(without_ending(&name).len());
    Cow::Owned(name)
}

fn without_ending(name: &str) -> &str {
    ENDINGS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

/// Returns the name of a program of the system, by its path.
pub(super) fn name_in_system(path: &str) -> Option<&str> {
    let (folder, name) = path.rsplit_once('/')?;
    SYSTEM_FOLDERS.contains(&folder).then_some(name)
}
