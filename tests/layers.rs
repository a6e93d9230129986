//! The layers of the core: which room may use which, read from the `crate::` paths in its source.
#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use regex::Regex;

/// Every room with the rooms that it may use. A room stands below all rooms that use it, so no circle can be written down here.
///
/// - `util`, `text`, `tokens` and `json` know nothing above them.
/// - `tools` knows names of tools, and no policy.
/// - `truncation` does not know where a text is saved, and `storage` does not know how a notice is worded.
/// - `permission` is the only room that understands commands; `history`, `fold` and `loop_detection` ask it. It asks `redaction` which names are
///   those of secrets.
/// - `options` reads the options of the rooms below it; `config` reads files of options.
const LAYERS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("util", &["error"]),
    ("text", &["error", "util"]),
    ("tokens", &["text", "util"]),
    ("json", &["error", "text", "util"]),
    ("tools", &["json", "text", "util"]),
    ("fs", &["error", "util"]),
    ("redaction", &["text", "util"]),
    ("storage", &["error", "fs", "json", "text", "util"]),
    ("truncation", &["error", "json", "text", "tokens", "tools", "util"]),
    ("permission", &["error", "json", "redaction", "text", "tools", "util"]),
    ("history", &["error", "fs", "json", "permission", "text", "tokens", "tools", "util"]),
    ("fold", &["history", "permission", "text", "tools", "truncation"]),
    ("capture", &["error", "redaction", "storage", "text", "truncation", "util"]),
    (
        "options",
        &["error", "redaction", "storage", "text", "tokens", "tools", "truncation", "util"],
    ),
    ("audit", &["error", "fs", "json", "options", "redaction", "storage", "text", "util"]),
    ("loop_detection", &["error", "json", "options", "permission", "text", "tools", "util"]),
    ("config", &["error", "json", "options", "permission", "text", "truncation", "util"]),
];

fn rust_files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in dir.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns the source without comments and unit tests, which may use any room.
fn production_code(source: &str) -> String {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or(source);
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Returns the rooms that each source file uses, by its path below `src`.
fn uses() -> BTreeMap<String, BTreeSet<String>> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let single = Regex::new(r"\bcrate::(\w+)").unwrap();
    let group = Regex::new(r"\bcrate::\{([^}]*(?:\{[^}]*\}[^}]*)*)\}").unwrap();
    let first = Regex::new(r"(?:^|,)\s*(\w+)").unwrap();
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let mut uses = BTreeMap::new();
    for path in files {
        let name = path.strip_prefix(&src).unwrap().to_string_lossy().replace('\\', "/");
        let is_test = name.contains("tests") || name.ends_with("fixture.rs");
        if is_test
            || ["node/", "base/", "examples/", "lib.rs"].iter().any(|start| name.starts_with(start))
        {
            continue;
        }
        let code = production_code(&std::fs::read_to_string(&path).unwrap());
        let mut rooms: BTreeSet<String> =
            single.captures_iter(&code).map(|found| found[1].to_owned()).collect();
        for group in group.captures_iter(&code) {
            rooms.extend(first.captures_iter(&group[1]).map(|found| found[1].to_owned()));
        }
        uses.insert(name, rooms);
    }
    uses
}

fn room_of(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap_or(file)
}

#[test]
fn a_room_uses_only_rooms_below_it() {
    let layers: BTreeMap<&str, &[&str]> = LAYERS.iter().copied().collect();
    let mut found = BTreeSet::new();
    for (file, rooms) in uses() {
        let room = room_of(&file);
        let allowed = layers.get(room).unwrap_or_else(|| panic!("{file}: {room} is in no layer"));
        for used in rooms.iter().filter(|used| *used != room && !allowed.contains(&used.as_str())) {
            found.insert((file.clone(), used.clone()));
        }
    }
    assert!(found.is_empty(), "these files use a room that is not below theirs: {found:?}");
}

#[test]
fn layers_have_no_circle() {
    let mut below = BTreeSet::new();
    for (room, uses) in LAYERS {
        assert!(uses.iter().all(|used| below.contains(used)), "{room} uses a room listed after it");
        below.insert(room);
    }
}

#[test]
fn only_permission_parses_commands() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (file, _) in uses() {
        let code = production_code(&std::fs::read_to_string(src.join(&file)).unwrap());
        assert!(!code.contains("brush_parser") || file.starts_with("permission/shell/"), "{file}");
    }
}

#[test]
fn tables_of_modules_name_each_module() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let module = Regex::new(r"(?m)^((?:#\[.*\]\n)*)(?:pub(?:\(\w+\))? )?mod (\w+);").unwrap();
    let name = Regex::new(r"`(\w+)`").unwrap();
    let mut files = Vec::new();
    rust_files(&src, &mut files);
    let mut tables = 0;
    for path in files.iter().filter(|path| path.ends_with("mod.rs")) {
        let source = std::fs::read_to_string(path).unwrap();
        let rows =
            source.lines().filter_map(|line| line.strip_prefix("//! | ")?.split(" | ").next());
        let named: BTreeSet<&str> = rows
            .flat_map(|cell| name.captures_iter(cell).map(|found| found.get(1).unwrap().as_str()))
            .collect();
        if named.is_empty() {
            continue;
        }
        tables += 1;
        let modules: BTreeSet<&str> = module
            .captures_iter(&source)
            .filter(|found| !found[1].contains("cfg(test)"))
            .map(|found| found.get(2).unwrap().as_str())
            .collect();
        assert_eq!(named, modules, "{}", path.display());
    }
    assert!(tables > 10, "{tables}");
}
