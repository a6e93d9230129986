//! The look of texts that a tool may take for a path.

use crate::permission::paths::MAX_PATH_BYTES;

/// Returns true if some tools would take a path for a URL, such as `file:///etc/passwd`.
pub(crate) fn is_url(text: &str) -> bool {
    let text = text.trim_start();
    text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("file:")) || text.contains("://")
}

/// Returns true if a path begins with a variable or the name of a user, which some tools replace: `$HOME/x`, `${HOME}/x`,
/// `%USERPROFILE%`, `~root/x`.
pub(crate) fn is_expanded(path: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_uppercase() || first == '_')
            && name.bytes().all(|one| matches!(one, b'A'..=b'Z' | b'0'..=b'9' | b'_'))
    };
    let name = if let Some(rest) = path.strip_prefix("${") {
        rest.split_once('}').map(|(name, _)| name)
    } else if let Some(rest) = path.strip_prefix('$') {
        rest.split(['/', '\\']).next()
    } else if let Some(rest) = path.strip_prefix('%') {
        rest.split_once('%').map(|(name, _)| name)
    } else {
        let mut user = path.strip_prefix('~').unwrap_or_default().bytes();
        return user.next().is_some_and(|first| first.is_ascii_alphabetic());
    };
    name.is_some_and(is_name)
}

/// Returns true if a text looks like a path from the root, from a home directory or from the directory above, or like a URL.
pub(crate) fn leads_out(text: &str) -> bool {
    let text = text.trim();
    let text = text.strip_prefix('@').unwrap_or(text);
    if text.len() > MAX_PATH_BYTES || text.contains(char::is_control) {
        return false;
    }
    let is_drive = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.get(1..3).is_some_and(|next| matches!(next, ":/" | ":\\"));
    text.starts_with('/')
        || text.starts_with("\\\\")
        || text == "~"
        || text.starts_with("~/")
        || text.split(['/', '\\']).any(|part| part == "..")
        || is_drive
        || is_expanded(text)
        || (is_url(text) && !text.contains(char::is_whitespace))
}
