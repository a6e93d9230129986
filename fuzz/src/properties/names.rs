//! Any name of a tool or a session gives a portable file name that the store recognizes, and that no other name gives.

use std::path::Path;

use spillway_core::fs::file_names::{
    is_output, is_session, is_temporary, output, session, slug, temporary,
};
use spillway_core::storage::directories::{Durability, StoreDirs};
use spillway_core::storage::read::owns;
use spillway_core::text::utf16;
use spillway_core::tools;

use super::input::Input;

/// Maximum length of names on common file systems.
const MAX_LENGTH: usize = 255;

pub fn check(data: &[u8]) {
    let mut input = Input::new(data);
    let now_ms = input.count();
    let asks_disk = input.byte() >= 0xf0;
    let raw = input.rest();
    let name = String::from_utf8_lossy(raw).into_owned();
    let units = utf16::decode(raw);
    tools::kind(&name);

    let slug = slug(&name);
    assert!((1..=48).contains(&slug.len()) && is_plain(&slug), "{slug:?}");
    let is_partial = now_ms % 2 == 1;
    let file = output(&slug, now_ms, is_partial).expect("there are random bytes");
    let hidden = temporary(now_ms).expect("there are random bytes");
    let folder = session(&units);
    assert!(is_plain(stem(&file)) && is_plain(&folder));
    assert_eq!(kinds(&file), (true, false, false));
    assert_eq!(kinds(&hidden), (false, true, false));
    assert_eq!(kinds(&folder), (false, false, true));
    assert!([&file, &hidden, &folder].into_iter().all(|name| name.len() < MAX_LENGTH));

    // One unit more is another session.
    let other: Vec<u16> = units.iter().copied().chain([0xd800]).collect();
    assert_ne!(session(&other).to_lowercase(), folder.to_lowercase());
    assert_eq!(session(&units), folder);

    // A name from outside: one that is taken for ours is portable and of one kind only.
    let (is_file, is_draft, is_folder) = kinds(&name);
    assert!(u8::from(is_file) + u8::from(is_draft) + u8::from(is_folder) <= 1);
    if is_file || is_draft || is_folder {
        assert!(
            name.len() < MAX_LENGTH
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        );
    }
    if asks_disk {
        check_owner(&name, &file, &folder);
    }
}

fn stem(file: &str) -> &str {
    let name = file.strip_suffix(".txt").unwrap_or_default();
    name.strip_suffix(".partial").unwrap_or(name)
}

fn kinds(name: &str) -> (bool, bool, bool) {
    (is_output(name), is_temporary(name), is_session(name))
}

fn is_plain(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !name.is_empty() && name.bytes().all(is_allowed) && !name.starts_with('-')
}

/// Checks that an owned path is in the store's folder, or in one of a session, under a name of ours.
fn check_owner(name: &str, file: &str, folder: &str) {
    let dir = std::env::temp_dir();
    let dir = dir.canonicalize().unwrap_or(dir);
    let places = StoreDirs::new(&[dir.display().to_string()], Durability::Process);
    assert!(owns(&places, &dir.join(file)) && owns(&places, &dir.join(folder).join(file)));
    for path in [dir.join(name), dir.join(name).join(file), Path::new(name).join(file)] {
        if owns(&places, &path) {
            let parent =
                path.parent().map(|parent| parent.canonicalize().unwrap_or(parent.to_owned()));
            let parent = parent.unwrap_or_default();
            let is_inner = parent.parent() == Some(&dir)
                && parent.file_name().and_then(|name| name.to_str()).is_some_and(is_session);
            assert!(parent == dir || is_inner, "{}", path.display());
        }
    }
}
