//! Symlinks among the paths that wildcards match.

use crate::permission::glob_overlap::{WILDCARDS, can_meet, literal};
use crate::permission::paths::RealPaths;

/// Maximum number of names examined for the paths of one call.
pub(super) const MAX_NAMES: usize = 16_384;

/// Maximum number of names examined for one path.
const MAX_NAMES_OF_PATH: usize = 4096;

/// A symlink that wildcards match.
pub(super) struct Link {
    /// Path of the symlink.
    pub at: String,
    /// Its destination, with the rest of the path appended. `None` if it leads nowhere.
    pub leads_to: Option<String>,
}

/// Returns the symlinks that a glob matches, or `None` if there are too many names to examine. `**` matches one name
/// here, as in most shells, and the part of `path` without wildcards is assumed to have no symlinks.
pub(super) fn links(path: &str, left: &mut usize, real: &dyn RealPaths) -> Option<Vec<Link>> {
    let max = (*left).min(MAX_NAMES_OF_PATH);
    let mut left_here = max;
    let found = within(path, &mut left_here, real);
    *left -= max - left_here;
    found
}

fn within(path: &str, left: &mut usize, real: &dyn RealPaths) -> Option<Vec<Link>> {
    let fixed = path.find(WILDCARDS).map_or(path.len(), |at| path[..at].rfind('/').unwrap_or(0));
    let (start, rest) = path.split_at(fixed);
    let mut found = Vec::new();
    let mut folders = vec![start.to_owned()];
    let mut rest = rest.strip_prefix('/');
    while let Some(parts) = rest {
        let (part, after) = match parts.split_once('/') {
            Some((part, after)) => (part, Some(after)),
            None => (parts, None),
        };
        let mut next = Vec::new();
        for folder in &folders {
            for (name, is_link) in named(part, folder, left, real)? {
                let one = [folder, "/", &name].concat();
                if !is_link {
                    next.push(one);
                    continue;
                }
                let leads_to = real.real(&one).map(|led| match after {
                    Some(after) => [led.trim_end_matches('/'), "/", after].concat(),
                    None => led.into_owned(),
                });
                found.push(Link { at: one, leads_to });
            }
        }
        folders = next;
        rest = after;
    }
    Some(found)
}

/// Returns the names in a directory that a component matches, and which of them are symlinks. At most `left` names are
/// examined.
fn named(
    part: &str,
    folder: &str,
    left: &mut usize,
    real: &dyn RealPaths,
) -> Option<Vec<(String, bool)>> {
    if !part.contains(WILDCARDS) {
        *left = left.checked_sub(1)?;
        let path = [folder, "/", part].concat();
        let is_link = real.real(&path).is_none_or(|led| led != path);
        return Some(vec![(part.to_owned(), is_link)]);
    }
    let folder = if folder.is_empty() { "/" } else { folder };
    // One name in excess shows that there are too many.
    let mut names = real.names(folder, *left + 1);
    if names.len() > *left {
        *left = 0;
        return None;
    }
    *left -= names.len();
    names.retain(|(name, _)| can_meet(part, false, &literal(name)));
    Some(names)
}
