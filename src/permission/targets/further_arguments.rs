//! Arguments that the tables of tools do not know, but whose names or values say what they are.

use serde_json::{Map, Value};

use super::looks::{is_url, leads_out};
use super::{Tool, UnresolvedTarget, is_given, is_usual_shell, strings};
use crate::permission::Domain;
use crate::tools::arguments::{
    ADDRESS_KEYS, BASE_KEYS, COMMAND_KEYS, DESTINATION_KEYS, FOLDER_KEYS, GLOB_KEYS, INCLUDE_KEYS,
    LIMIT_KEYS, PATH_KEYS, POWER_KEYS, QUERY_KEYS, SHELL_KEYS, SOURCE_KEYS, names_folder,
};
use crate::tools::{Shape, plain};

/// Ends of names of arguments that are paths, in the normal form of names.
const ENDS_OF_PATHS: &str = "\
    path paths file files filename filenames uri document location resource";

/// Names of further files that a tool writes.
const WRITTEN: &[&str] = &["output", "saveto", "saveas", "backup", "symlink"];

/// Ends of names of arguments that are the folder of a command.
const ENDS_OF_FOLDERS: &str = "directory cwd folder dir startin pwd";

/// Ends of names of arguments that the paths of a file tool may be relative to.
const ENDS_OF_BASES: &str = "\
    directory cwd folder dir root base workspace project repo repository parent prefix relativeto";

/// Maximum number of directories that paths are judged from.
const MAX_BASES: usize = 16;

/// Ends of names of arguments with text that is written or searched for, and names no file.
const ENDS_OF_TEXTS: &str = "\
    text texts string strings str code snippet newsource cellsource diff patch pattern patterns regex regexp query queries \
    search replace replacement instruction instructions prompt lines old new edit markdown";

/// Names of arguments with such text in any form: an object is written as JSON, or sent.
const DATA: &[&str] = &["data", "body", "value", "headers"];

/// Ends of names of arguments that a model explains itself with.
const ENDS_OF_NOTES: &str = "\
    description explanation reason reasoning justification rationale purpose intent goal summary title label thought \
    thoughts comment comments note notes message activeform progress risk risklevel toolaction";

/// Names of arguments beside a command that say when and where its output is shown.
const MODES: &[&str] = &[
    "id",
    "sessionid",
    "shellid",
    "terminalid",
    "processid",
    "taskid",
    "callid",
    "toolcallid",
    "tooluseid",
    "targetterminal",
    "mode",
    "commandtype",
    "encoding",
    "format",
    "outputformat",
    "outputmode",
    "timeout",
    "timeoutms",
    "priority",
];

/// Ends of names of arguments that are addresses.
const ENDS_OF_ADDRESSES: &str = "url urls uri proxy webhook endpoint host hostname";

fn has_end(name: &str, ends: &str) -> bool {
    ends.split(' ').any(|end| name.ends_with(end))
}

/// Returns true if a name, in its normal form, is one of the folder of a command.
pub(super) fn is_folder_of_command(key: &str) -> bool {
    has_end(key, ENDS_OF_FOLDERS) || matches!(key, "wd" | "cd")
}

/// Calls `visit` with each text in an argument that may name something, at any depth, and with the name of the member that
/// has it. A member can be named by a path, too.
fn texts_in<'a>(key: &'a str, value: &'a Value, visit: &mut impl FnMut(&'a str, &'a str)) {
    let name = plain(key);
    let is_data = DATA.contains(&name.as_str()) || has_end(&name, "content contents");
    match value {
        _ if is_data => {}
        Value::String(text) if !text.is_empty() && !is_text(&name) => visit(key, text),
        Value::Array(items) => items.iter().for_each(|item| texts_in(key, item, visit)),
        Value::Object(members) => {
            for (member, value) in members {
                if leads_out(member) {
                    visit(key, member);
                }
                texts_in(member, value, visit);
            }
        }
        _ => {}
    }
}

fn is_text(name: &str) -> bool {
    let names_files = name == "context" || name.starts_with("include") || name.starts_with("glob");
    !names_files && (has_end(name, ENDS_OF_TEXTS) || has_end(name, ENDS_OF_NOTES))
}

/// Adds the directories, named beside a path or deeper, that the tables do not know and that it may be relative to.
pub(super) fn further_bases<'a>(
    args: &'a Map<String, Value>,
    tool: &Tool,
    bases: &mut Vec<&'a str>,
    found: &mut Vec<UnresolvedTarget>,
) {
    if !tool.keys.is_empty() {
        return;
    }
    for (key, value) in args {
        let is_known = BASE_KEYS.contains(&plain(key).as_str());
        texts_in(key, value, &mut |at, text| {
            let is_new = !(is_known && at == key) && has_end(&plain(at), ENDS_OF_BASES);
            if is_new && bases.len() < MAX_BASES {
                bases.push(text);
            } else if is_new {
                found.push(UnresolvedTarget::Unreadable(tool.domain, at.to_owned()));
            }
        });
    }
}

/// Number of targets up to which a further one is compared with each.
const MAX_COMPARED: usize = 16;

/// Ends of names of arguments that are folders of a search.
const ENDS_OF_NAMES: &str = "directories folders dirs directory";

/// Arguments that give a search options.
const OPTION_KEYS: [&str; 6] = ["args", "arguments", "options", "flags", "extraargs", "extraflags"];

/// Parts of names of files that the output of a command is written to.
const OUTPUTS: [&str; 6] = ["out", "log", "err", "save", "dest", "write"];

/// Returns the target of a path that a tool expands if it has wildcards.
pub(super) fn path_or_glob(domain: Domain, text: String) -> UnresolvedTarget {
    match text.contains(['*', '?', '{', '[']) {
        true => UnresolvedTarget::Names { folder: None, glob: text },
        false => UnresolvedTarget::Path(domain, text),
    }
}

/// Adds the patterns of a tool that lists the names in directories.
pub(super) fn patterns_of_list(
    args: &Map<String, Value>,
    tool: &Tool,
    found: &mut Vec<UnresolvedTarget>,
) {
    const KEYS: [&str; 5] = ["pattern", "glob", "glob_pattern", "globPattern", "patterns"];
    let mut texts = Vec::new();
    strings(args, tool, &KEYS, &mut texts, UnresolvedTarget::Query);
    let folders: Vec<Option<String>> = found
        .iter()
        .map(|one| match one {
            UnresolvedTarget::Folder(_, folder) => Some(folder.clone()),
            _ => None,
        })
        .collect();
    for text in texts {
        match text {
            UnresolvedTarget::Query(glob) => found.extend(folders.iter().map(|folder| {
                UnresolvedTarget::Names { folder: folder.clone(), glob: glob.clone() }
            })),
            other => found.push(other),
        }
    }
}

/// Adds the paths in arguments that the tables do not know, but whose names say what they are (`TargetFile`, `output_path`), or
/// whose texts lead elsewhere. A tool may use them in place of a known one.
pub(super) fn further_paths(
    args: &Map<String, Value>,
    tool: &Tool,
    found: &mut Vec<UnresolvedTarget>,
) {
    let is_search = matches!(tool.shape, Shape::Search | Shape::Glob);
    let domain = if is_search { Domain::Read } else { tool.domain };
    let usual = match tool.shape {
        Shape::Folder | Shape::Glob | Shape::Search => [FOLDER_KEYS, GLOB_KEYS, INCLUDE_KEYS],
        Shape::Move | Shape::Copy => [SOURCE_KEYS, DESTINATION_KEYS, &[]],
        _ => [PATH_KEYS, &[], &[]],
    };
    for (key, value) in args {
        let name = plain(key);
        let is_own = tool.keys.contains(key);
        let is_judged = is_own
            || usual.iter().any(|keys| keys.contains(&key.as_str()))
            || BASE_KEYS.contains(&name.as_str());
        let gives_options = OPTION_KEYS.contains(&name.as_str()) || key.starts_with("--");
        if is_search && !is_judged && gives_options && is_given(value) {
            found.push(UnresolvedTarget::Unreadable(domain, key.clone()));
        }
        texts_in(key, value, &mut |at, text| {
            if is_judged && at == key {
                return;
            }
            let name = plain(at);
            let is_path = has_end(&name, ENDS_OF_PATHS)
                || matches!(name.as_str(), "dst" | "target")
                || (at != key && PATH_KEYS.contains(&at))
                || (domain == Domain::Edit && WRITTEN.contains(&name.as_str()))
                || (is_search && has_end(&name, ENDS_OF_NAMES))
                || (is_search && (name.starts_with("include") || name.starts_with("glob")));
            // Who gives an entry of the table keys of its own knows the other arguments.
            let leads_out = tool.keys.is_empty() && leads_out(text);
            let one = match is_search && text.contains(['*', '?', '{']) {
                _ if is_search && !is_path && tool.keys.is_empty() && text.starts_with('-') => {
                    UnresolvedTarget::Unreadable(domain, key.clone())
                }
                _ if !is_path && !leads_out => return,
                true => UnresolvedTarget::Names { folder: None, glob: text.to_owned() },
                false => UnresolvedTarget::Path(domain, text.to_owned()),
            };
            // More are compared when they are resolved.
            if found.len() > MAX_COMPARED || !found.contains(&one) {
                found.push(one);
            }
        });
    }
}

/// Returns what a tool does with the file that an argument names, if it names one.
fn use_of_file(name: &str) -> Option<Domain> {
    has_end(name, "file path").then(|| use_of(name))
}

fn use_of(name: &str) -> Domain {
    match OUTPUTS.iter().any(|part| name.contains(part)) {
        true => Domain::Edit,
        false => Domain::Read,
    }
}

/// Adds the files that a request sends or that its answer is written to, and the further addresses that it names.
pub(super) fn further_of_address(
    args: &Map<String, Value>,
    tool: &Tool,
    found: &mut Vec<UnresolvedTarget>,
) {
    let usual = if tool.shape == Shape::Query { QUERY_KEYS } else { ADDRESS_KEYS };
    let is_known = |key: &String| tool.keys.contains(key) || usual.contains(&key.as_str());
    for (key, value) in args.iter().filter(|(key, _)| !is_known(key)) {
        texts_in(key, value, &mut |at, text| {
            let name = plain(at);
            let is_alone = tool.keys.is_empty();
            let one = match use_of_file(&name) {
                Some(domain) => UnresolvedTarget::Path(domain, text.to_owned()),
                None if is_alone && leads_out(text) && !is_url(text) => {
                    UnresolvedTarget::Path(use_of(&name), text.to_owned())
                }
                None if is_alone && (leads_out(text) || has_end(&name, ENDS_OF_ADDRESSES)) => {
                    UnresolvedTarget::Address(text.to_owned())
                }
                None => return,
            };
            found.push(one);
        });
    }
}

/// Adds what arguments of a command do that the tables do not know: files that it is fed from or prints to, further commands,
/// and texts that may be anything.
pub(super) fn further_of_command(
    args: &Map<String, Value>,
    tool: &Tool,
    found: &mut Vec<UnresolvedTarget>,
) {
    let is_known = |key: &String| tool.keys.contains(key) || COMMAND_KEYS.contains(&key.as_str());
    for (key, value) in args.iter().filter(|(key, _)| !is_known(key)) {
        beside_command((key, true), key, value, tool, found);
    }
}

/// Adds what a member of an argument does. `is_top` is true for the argument itself.
fn beside_command(
    (key, is_top): (&str, bool),
    argument: &str,
    value: &Value,
    tool: &Tool,
    found: &mut Vec<UnresolvedTarget>,
) {
    let name = plain(key);
    let is = |keys: &[&str]| keys.contains(&name.as_str());
    let changes = (is(POWER_KEYS) && is_given(value))
        || (is(SHELL_KEYS) && !is_usual_shell(value))
        || (is(LIMIT_KEYS) && *value == Value::Bool(false));
    if changes {
        return found.push(UnresolvedTarget::Powerful(argument.to_owned()));
    }
    match value {
        _ if is(SHELL_KEYS) => {}
        Value::String(text) if !says_little(text) => {
            let one = if names_folder(&name) || is_folder_of_command(&name) {
                // That of the argument itself is judged with the command.
                if is_top {
                    return;
                }
                UnresolvedTarget::Powerful(argument.to_owned())
            } else if let Some(domain) = use_of_file(&name) {
                UnresolvedTarget::Path(domain, text.clone())
            } else if has_end(&name, "command commandline") {
                UnresolvedTarget::Command { text: text.clone(), cwd: None }
            } else if is(MODES) || has_end(&name, ENDS_OF_NOTES) || !tool.keys.is_empty() {
                return;
            } else {
                UnresolvedTarget::Unknown(argument.to_owned())
            };
            if found.last() != Some(&one) {
                found.push(one);
            }
        }
        Value::Array(items) => {
            for item in items {
                beside_command((key, false), argument, item, tool, found);
            }
        }
        Value::Object(members) => {
            for (member, value) in members {
                beside_command((member, false), argument, value, tool, found);
            }
        }
        _ => {}
    }
}

/// Returns true for a number or a truth value as some models write them.
fn says_little(text: &str) -> bool {
    let text = text.trim();
    text.is_empty()
        || ["true", "false"].iter().any(|word| text.eq_ignore_ascii_case(word))
        || text.parse::<f64>().is_ok()
}
