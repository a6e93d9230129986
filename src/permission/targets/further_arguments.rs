//! Arguments that the tables of tools do not know, but whose names or values say what they are.

use serde_json::{Map, Value};

use super::{Tool, Touched, is_given, strings};
use crate::permission::Domain;
use crate::tools::arguments::{
    BASE_KEYS, COMMAND_KEYS, CWD_KEYS, DESTINATION_KEYS, FOLDER_KEYS, GLOB_KEYS, INCLUDE_KEYS,
    PATCH_KEYS, PATH_KEYS, POWER_KEYS, SHELL_KEYS, SOURCE_KEYS,
};
use crate::tools::{Shape, plain};

/// Ends of names of arguments that are paths, in the normal form of names.
const ENDS_OF_PATHS: [&str; 8] =
    ["path", "paths", "file", "files", "filename", "filenames", "uri", "document"];

/// Ends of names of arguments that are the folder of a command.
const ENDS_OF_FOLDERS: [&str; 6] = ["directory", "cwd", "folder", "workdir", "startin", "pwd"];

/// Returns true if a name, in its normal form, is one of the folder of a command.
pub(super) fn is_folder_of_command(key: &str) -> bool {
    ENDS_OF_FOLDERS.iter().any(|end| key.ends_with(end)) || key == "wd"
}

/// Ends of names of arguments that are folders of a search.
const ENDS_OF_NAMES: [&str; 4] = ["directories", "folders", "dirs", "directory"];

/// Arguments that give a search options.
const OPTION_KEYS: [&str; 6] = ["args", "arguments", "options", "flags", "extraargs", "extraflags"];

/// Parts of names of files that the output of a command is written to.
const OUTPUTS: [&str; 6] = ["out", "log", "err", "save", "dest", "write"];

/// Returns the target of a path that a tool expands if it has wildcards.
pub(super) fn path_or_glob(domain: Domain, text: String) -> Touched {
    match text.contains(['*', '?', '{', '[']) {
        true => Touched::Names { folder: None, glob: text },
        false => Touched::Path(domain, text),
    }
}

/// Adds the patterns of a tool that lists the names in directories.
pub(super) fn patterns_of_list(args: &Map<String, Value>, tool: &Tool, found: &mut Vec<Touched>) {
    const KEYS: [&str; 5] = ["pattern", "glob", "glob_pattern", "globPattern", "patterns"];
    let mut texts = Vec::new();
    strings(args, tool, &KEYS, &mut texts, Touched::Query);
    let folders: Vec<Option<String>> = found
        .iter()
        .map(|one| match one {
            Touched::Folder(_, folder) => Some(folder.clone()),
            _ => None,
        })
        .collect();
    for text in texts {
        match text {
            Touched::Query(glob) => found.extend(
                folders
                    .iter()
                    .map(|folder| Touched::Names { folder: folder.clone(), glob: glob.clone() }),
            ),
            other => found.push(other),
        }
    }
}

/// Adds the paths in arguments that the tables do not know, but whose names say what they are: `TargetFile`, `output_path`. A
/// tool may use them in place of a known one.
pub(super) fn further_paths(args: &Map<String, Value>, tool: &Tool, found: &mut Vec<Touched>) {
    let is_search = matches!(tool.shape, Shape::Search | Shape::Glob);
    let domain = if is_search { Domain::Read } else { tool.domain };
    let usual = match tool.shape {
        Shape::Folder | Shape::Glob | Shape::Search => [FOLDER_KEYS, GLOB_KEYS, INCLUDE_KEYS],
        Shape::Move | Shape::Copy => [SOURCE_KEYS, DESTINATION_KEYS, &[]],
        _ => [PATH_KEYS, PATCH_KEYS, &[]],
    };
    let is_known = |key: &str| {
        tool.keys.iter().any(|own| own == key) || usual.iter().any(|keys| keys.contains(&key))
    };
    for (key, value) in args.iter().filter(|(key, _)| !is_known(key)) {
        let name = plain(key);
        if BASE_KEYS.contains(&name.as_str()) {
            continue;
        }
        let gives_options = OPTION_KEYS.contains(&name.as_str()) || key.starts_with("--");
        if is_search && gives_options && is_given(value) {
            found.push(Touched::Unreadable(domain, key.clone()));
        }
        let is_path = ENDS_OF_PATHS.iter().any(|end| name.ends_with(end))
            || matches!(name.as_str(), "dst" | "target")
            || (is_search && ENDS_OF_NAMES.iter().any(|end| name.ends_with(end)))
            || (is_search && (name.starts_with("include") || name.starts_with("glob")));
        // Each of several edits may name a file of its own.
        for object in value.as_array().into_iter().flatten().filter_map(Value::as_object) {
            let paths = object.iter().filter(|(key, _)| PATH_KEYS.contains(&key.as_str()));
            found.extend(
                paths
                    .filter_map(|(_, value)| value.as_str())
                    .map(|path| Touched::Path(domain, path.to_owned())),
            );
        }
        let texts: Vec<&str> = match value {
            Value::String(text) => vec![text.as_str()],
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            _ => continue,
        };
        for text in texts.into_iter().filter(|text| is_path && !text.is_empty()) {
            found.push(match is_search && text.contains(['*', '?', '{']) {
                true => Touched::Names { folder: None, glob: text.to_owned() },
                false => Touched::Path(domain, text.to_owned()),
            });
        }
    }
}

/// Returns what a tool does with the file that an argument names, if it names one.
fn use_of_file(name: &str) -> Option<Domain> {
    let is_written = OUTPUTS.iter().any(|part| name.contains(part));
    let is_file = ["file", "path"].iter().any(|end| name.ends_with(end));
    is_file.then_some(if is_written { Domain::Edit } else { Domain::Read })
}

/// Adds the files that a request sends, or that its answer is written to.
pub(super) fn files_of_address(args: &Map<String, Value>, tool: &Tool, found: &mut Vec<Touched>) {
    for (key, value) in args.iter().filter(|(key, _)| !tool.keys.contains(key)) {
        if let Some(domain) = use_of_file(&plain(key))
            && let Value::String(text) = value
        {
            found.push(Touched::Path(domain, text.clone()));
        }
    }
}

/// Adds what arguments of a command do that the tables do not know: files that it is fed from or prints to, and options in an
/// object of their own.
pub(super) fn further_of_command(args: &Map<String, Value>, tool: &Tool, found: &mut Vec<Touched>) {
    let is_known = |key: &String| tool.keys.contains(key) || COMMAND_KEYS.contains(&key.as_str());
    for (key, value) in args.iter().filter(|(key, _)| !is_known(key)) {
        match value {
            Value::String(text) if !text.is_empty() => {
                let name = plain(key);
                if CWD_KEYS.contains(&name.as_str()) || BASE_KEYS.contains(&name.as_str()) {
                    continue;
                }
                if let Some(domain) = use_of_file(&name) {
                    found.push(Touched::Path(domain, text.clone()));
                } else if name.ends_with("command") || name.ends_with("commandline") {
                    found.push(Touched::Command { text: text.clone(), cwd: None });
                }
            }
            Value::Object(members) => {
                let changes = |key: &String| {
                    let name = plain(key);
                    BASE_KEYS.contains(&name.as_str())
                        || POWER_KEYS.contains(&key.as_str())
                        || SHELL_KEYS.contains(&key.as_str())
                };
                if members.keys().any(changes) && !POWER_KEYS.contains(&key.as_str()) {
                    found.push(Touched::Powerful(key.clone()));
                }
            }
            _ => {}
        }
    }
}
