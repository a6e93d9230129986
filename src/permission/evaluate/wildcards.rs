//! Where wildcards lead: a name that they stand for can be that of a link.

use crate::permission::glob_overlap::can_meet;
use crate::permission::paths::RealPaths;

/// So many names are looked at for the paths of one call.
pub(super) const MAX_NAMES: usize = 16_384;

/// So many of them for one path.
const MAX_NAMES_OF_PATH: usize = 4096;

const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// A link that wildcards stand for.
pub(super) struct Link {
    /// Where it is.
    pub at: String,
    /// Where it leads, with what follows it there. `None` if that is nowhere.
    pub leads_to: Option<String>,
}

/// The links that a glob stands for; `None` if there are too many names to look at. `**` stands for one name here, as it does
/// in most shells, and the part of `path` without wildcards is taken to have no links.
pub(super) fn links(path: &str, left: &mut usize, real: &dyn RealPaths) -> Option<Vec<Link>> {
    let most = (*left).min(MAX_NAMES_OF_PATH);
    let mut left_here = most;
    let found = within(path, &mut left_here, real);
    *left -= most - left_here;
    found
}

fn within(path: &str, left: &mut usize, real: &dyn RealPaths) -> Option<Vec<Link>> {
    let fixed = path.find(WILDCARDS).map_or(path.len(), |at| path[..at].rfind('/').unwrap_or(0));
    let (start, rest) = path.split_at(fixed);
    let mut found = Vec::new();
    let mut folders = vec![start.to_owned()];
    let mut rest = rest.strip_prefix('/');
    while let Some(parts) = rest {
        let (part, behind) = match parts.split_once('/') {
            Some((part, behind)) => (part, Some(behind)),
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
                let leads_to = real.real(&one).map(|led| match behind {
                    Some(behind) => [led.trim_end_matches('/'), "/", behind].concat(),
                    None => led.into_owned(),
                });
                found.push(Link { at: one, leads_to });
            }
        }
        folders = next;
        rest = behind;
    }
    Some(found)
}

/// What a part of a path stands for in a folder, and which of it are links. `left` names may be looked at.
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
    // One name more than may be looked at shows that there are too many.
    let mut names = real.names(folder, *left + 1);
    if names.len() > *left {
        *left = 0;
        return None;
    }
    *left -= names.len();
    names.retain(|(name, _)| can_meet(part, false, &literal(name)));
    Some(names)
}

/// A name as a glob that matches it and nothing else.
fn literal(name: &str) -> String {
    let is_plain = |letter: char| !WILDCARDS.contains(&letter) && letter != '\\';
    let escaped = |letter: char| (!is_plain(letter)).then_some('\\').into_iter().chain([letter]);
    name.chars().flat_map(escaped).collect()
}
