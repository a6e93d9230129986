//! Finds the targets of a tool call by its name and its arguments.
//!
//! The names of tools and of their arguments are in [`crate::tools`]; a user's own entries take precedence. Every known argument is
//! evaluated, so that a second path cannot hide after the first.

mod further_arguments;
mod looks;

use serde_json::{Map, Value};

use self::further_arguments::{
    further_bases, further_of_address, further_of_command, further_paths, is_folder_of_command,
    path_or_glob, patterns_of_list,
};
pub(crate) use self::looks::{is_expanded, is_url};
use super::Domain;
use super::patch::patched;
use super::shell::has_known_options;
use crate::tools::arguments::{
    ADDRESS_KEYS, BASE_KEYS, COMMAND_KEYS, DESTINATION_KEYS, FOLDER_KEYS, GLOB_KEYS, INCLUDE_KEYS,
    PATCH_KEYS, PATH_KEYS, QUERY_KEYS, SOURCE_KEYS, names_folder,
};
use crate::tools::{self, Kind, Shape, is_same, plain};

/// Number of arguments up to which each is compared with the keys of a table.
const FEW_ARGUMENTS: usize = 8;

/// An entry of the table.
#[derive(Debug, Clone)]
pub struct Tool {
    /// The kind of access.
    pub domain: Domain,
    /// How its arguments state the targets.
    pub shape: Shape,
    /// The names of the arguments; the usual ones if it is empty.
    pub keys: Vec<String>,
}

impl Tool {
    /// An entry for a tool that touches nothing.
    pub const NONE: Tool = Tool { domain: Domain::Tool, shape: Shape::Nothing, keys: Vec::new() };
}

/// A target of a call before its path is resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnresolvedTarget {
    /// A path as given: a file, or a directory with everything in it.
    Path(Domain, String),
    /// A directory as given, whose names are listed.
    Folder(Domain, String),
    /// A glob below a directory.
    Names {
        /// The directory as given; `None` is the current one.
        folder: Option<String>,
        glob: String,
    },
    /// A command and the directory that it runs in.
    Command {
        /// The text for a shell.
        text: String,
        /// The directory as given.
        cwd: Option<String>,
    },
    /// A URL as given.
    Address(String),
    Query(String),
    /// A tool of a server: `server/tool`.
    Mcp(String),
    /// The tool itself, of which no more is known; true if it is said to touch nothing.
    Tool(bool),
    /// An argument that cannot be read.
    Unreadable(Domain, String),
    /// An argument that changes what a command is or may do.
    Powerful(String),
    /// An argument beside a command that may do anything.
    Unknown(String),
}

/// Returns the entry for a tool: a user's, or one made of its row in the table of tools.
pub fn find(name: &str, own: &[(String, Tool)]) -> Option<Tool> {
    if let Some((_, tool)) = own.iter().find(|(known, _)| is_same(known, name)) {
        return Some(tool.clone());
    }
    let shape = tools::shape(name)?;
    let domain = match shape {
        Shape::Command => Domain::Bash,
        Shape::Address => Domain::WebFetch,
        Shape::Query => Domain::WebSearch,
        _ if tools::kind(name) == Some(Kind::Edit) => Domain::Edit,
        _ => Domain::Read,
    };
    Some(Tool { domain, shape, keys: Vec::new() })
}

/// Splits a name into server and tool: `mcp:server/tool`, `mcp__server__tool`. The longest known server counts.
fn mcp(name: &str, servers: &[String]) -> Option<String> {
    let escape = |text: &str| text.replace('/', "%2F");
    if let Some(rest) = name.strip_prefix("mcp:").or_else(|| name.strip_prefix("mcp/")) {
        let (server, tool) = rest.split_once('/')?;
        return Some(format!("{}/{}", escape(server), escape(tool)));
    }
    let rest = name.strip_prefix("mcp__")?;
    let known = servers.iter().filter(|server| {
        rest.strip_prefix(server.as_str()).is_some_and(|tool| tool.starts_with("__"))
    });
    let (server, tool) = match known.max_by_key(|server| server.len()) {
        Some(server) => (server.as_str(), &rest[server.len() + 2..]),
        None => rest.split_once("__")?,
    };
    Some(format!("{}/{}", escape(server), escape(tool)))
}

/// Returns all targets of a call; empty if the targets of a known tool cannot be determined.
pub fn touched(
    name: &str,
    args: &Value,
    own: &[(String, Tool)],
    servers: &[String],
) -> Vec<UnresolvedTarget> {
    if let Some(target) = mcp(name, servers) {
        return vec![UnresolvedTarget::Mcp(target)];
    }
    let Some(tool) = find(name, own) else { return vec![UnresolvedTarget::Tool(false)] };
    if tool.shape == Shape::Nothing {
        return vec![UnresolvedTarget::Tool(true)];
    }
    let is_own = own.iter().any(|(known, _)| is_same(known, name));
    let text_alone;
    let args = match args {
        Value::Object(object) => object,
        // The whole argument is the relevant one.
        Value::String(text) => {
            let key = match tool.shape {
                Shape::Command => "command",
                Shape::Address => "url",
                Shape::Query => "query",
                Shape::Glob => "pattern",
                Shape::Patch => "patch",
                _ => "path",
            };
            let key = tool.keys.first().cloned().unwrap_or_else(|| key.to_owned());
            text_alone = Map::from_iter([(key, Value::String(text.clone()))]);
            &text_alone
        }
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    match tool.shape {
        Shape::Paths if tools::takes_globs(name) => {
            for keys in [PATH_KEYS, INCLUDE_KEYS] {
                strings(args, &tool, keys, &mut found, |text| path_or_glob(tool.domain, text));
            }
        }
        Shape::Paths => strings(args, &tool, PATH_KEYS, &mut found, |text| {
            UnresolvedTarget::Path(tool.domain, text)
        }),
        Shape::Move => {
            moved(args, &tool, &mut found);
            strings(args, &tool, SOURCE_KEYS, &mut found, |text| {
                UnresolvedTarget::Path(tool.domain, text)
            });
        }
        Shape::Copy => moved(args, &tool, &mut found),
        Shape::Editor => {
            let views = args.get("command").and_then(Value::as_str) == Some("view");
            let tool =
                Tool { domain: if views { Domain::Read } else { tool.domain }, ..tool.clone() };
            strings(args, &tool, PATH_KEYS, &mut found, |text| {
                UnresolvedTarget::Path(tool.domain, text)
            });
        }
        Shape::Folder => {
            strings(args, &tool, FOLDER_KEYS, &mut found, |text| {
                UnresolvedTarget::Folder(tool.domain, text)
            });
            if found.is_empty() {
                found.push(UnresolvedTarget::Folder(tool.domain, ".".into()));
            }
            patterns_of_list(args, &tool, &mut found);
        }
        Shape::Glob | Shape::Search => globs(args, &tool, &mut found),
        Shape::Patch => {
            strings(args, &tool, PATH_KEYS, &mut found, |text| {
                UnresolvedTarget::Path(Domain::Edit, text)
            });
            let mut texts = Vec::new();
            strings(args, &tool, PATCH_KEYS, &mut texts, UnresolvedTarget::Query);
            for text in texts {
                match text {
                    UnresolvedTarget::Query(text) => patched(&text, &mut found),
                    other => found.push(other),
                }
            }
        }
        Shape::Command => commands(args, &tool, &mut found),
        Shape::Address => {
            strings(args, &tool, ADDRESS_KEYS, &mut found, UnresolvedTarget::Address);
            further_of_address(args, &tool, &mut found);
        }
        Shape::Query => {
            strings(args, &tool, QUERY_KEYS, &mut found, UnresolvedTarget::Query);
            further_of_address(args, &tool, &mut found);
        }
        Shape::Nothing => {}
    }
    if tool.domain.is_of_files() && !found.is_empty() {
        further_paths(args, &tool, &mut found);
    }
    // Its entry states the kind of access, but no argument states a target.
    if is_own && found.is_empty() {
        found.push(UnresolvedTarget::Tool(false));
    }
    if tool.domain.is_of_files() && !found.is_empty() {
        from_bases(args, &tool, &mut found);
    }
    found
}

/// Returns the directories in arguments of these names, by name.
fn folders_in<'a>(
    args: &'a Map<String, Value>,
    tool: &Tool,
    is_known: impl Fn(&str) -> bool,
) -> Vec<(&'a String, &'a Value)> {
    let is_own = |key: &String| tool.keys.contains(key);
    args.iter().filter(|(key, _)| !is_own(key) && is_known(&plain(key))).collect()
}

/// Adds the paths that relative ones denote if the call names a directory that they may be relative to. Tools differ in
/// whether they use it.
fn from_bases(args: &Map<String, Value>, tool: &Tool, found: &mut Vec<UnresolvedTarget>) {
    let is_relative =
        |path: &str| !path.starts_with(['/', '~', '\\']) && path.as_bytes().get(1) != Some(&b':');
    let takes_folders = matches!(tool.shape, Shape::Folder | Shape::Glob | Shape::Search);
    let mut more = Vec::new();
    let mut bases: Vec<&str> = Vec::new();
    for (key, value) in folders_in(args, tool, |key| BASE_KEYS.contains(&key)) {
        match value {
            Value::Null => {}
            Value::String(base) => bases.push(base),
            // Each directory of a tool that takes many was handled already.
            _ if takes_folders && FOLDER_KEYS.contains(&key.as_str()) => {}
            _ => more.push(UnresolvedTarget::Unreadable(tool.domain, key.clone())),
        }
    }
    further_bases(args, tool, &mut bases, &mut more);
    for base in bases {
        let below = |path: &str| [base.trim_end_matches('/'), "/", path].concat();
        for one in found.iter() {
            match one {
                UnresolvedTarget::Path(domain, path) if is_relative(path) && path != base => {
                    more.push(UnresolvedTarget::Path(*domain, below(path)));
                }
                UnresolvedTarget::Folder(domain, path) if is_relative(path) && path != base => {
                    more.push(UnresolvedTarget::Folder(*domain, below(path)));
                }
                UnresolvedTarget::Names { folder, glob } => {
                    let folder = folder.as_deref().unwrap_or(".");
                    if is_relative(folder) && folder != base {
                        let folder = Some(below(folder));
                        more.push(UnresolvedTarget::Names { folder, glob: glob.clone() });
                    }
                }
                _ => {}
            }
        }
    }
    found.extend(more);
}

/// Adds files that are renamed or copied: their content becomes readable elsewhere, so they are read. If one side is
/// unknown the call cannot be evaluated.
fn moved(args: &Map<String, Value>, tool: &Tool, found: &mut Vec<UnresolvedTarget>) {
    for (keys, domain) in [(SOURCE_KEYS, Domain::Read), (DESTINATION_KEYS, tool.domain)] {
        let before = found.len();
        strings(args, tool, keys, found, |text| UnresolvedTarget::Path(domain, text));
        if found.len() == before {
            found.push(UnresolvedTarget::Unreadable(domain, keys[0].to_owned()));
        }
    }
}

/// Returns the keys of a table that arguments have, or all if there are many arguments. A call has few of them and a table
/// many keys: this takes a tenth of the time of a search for each key.
fn keys_in<'k>(
    args: &Map<String, Value>,
    keys: &'k [&'k str],
) -> impl Iterator<Item = &'k str> + use<'k> {
    let are_many = args.len() > FEW_ARGUMENTS;
    let place = |name: &String| keys.iter().position(|key| key == name);
    let places = args.keys().take(FEW_ARGUMENTS).filter_map(place);
    let are_there = places.fold(0_u64, |all, place| all | 1 << place);
    let is_there = move |place: usize| are_many || are_there >> place & 1 == 1;
    keys.iter().enumerate().filter(move |(place, _)| is_there(*place)).map(|(_, key)| *key)
}

/// Adds every string under the keys, in arrays too. Any other value under a known key cannot be evaluated.
fn strings(
    args: &Map<String, Value>,
    tool: &Tool,
    usual: &[&str],
    found: &mut Vec<UnresolvedTarget>,
    make: impl Fn(String) -> UnresolvedTarget,
) {
    let own = tool.keys.iter().map(String::as_str);
    let usual = keys_in(args, usual).filter(|_| tool.keys.is_empty());
    for key in own.chain(usual) {
        match args.get(key) {
            None | Some(Value::Null) => {}
            Some(value) => each(value, key, tool, found, &make, 0),
        }
    }
}

fn each(
    value: &Value,
    key: &str,
    tool: &Tool,
    found: &mut Vec<UnresolvedTarget>,
    make: &impl Fn(String) -> UnresolvedTarget,
    depth: usize,
) {
    match value {
        Value::String(text) => {
            found.push(make(text.clone()));
            // Some tools take a list that is written as JSON.
            if text.starts_with(['[', '{'])
                && let Ok(value) = serde_json::from_str::<Value>(text)
            {
                each_within(&value, found, make);
            }
        }
        Value::Array(items) if depth < 2 && !items.is_empty() => {
            for item in items {
                each(item, key, tool, found, make, depth + 1);
            }
        }
        Value::Object(object) if depth > 0 => {
            let before = found.len();
            for value in PATH_KEYS.iter().filter_map(|key| object.get(*key)) {
                match value {
                    Value::Null => {}
                    Value::String(text) => found.push(make(text.clone())),
                    _ => found.push(UnresolvedTarget::Unreadable(tool.domain, key.to_owned())),
                }
            }
            if found.len() == before {
                found.push(UnresolvedTarget::Unreadable(tool.domain, key.to_owned()));
            }
        }
        _ => found.push(UnresolvedTarget::Unreadable(tool.domain, key.to_owned())),
    }
}

/// Adds every string in a value.
fn each_within(
    value: &Value,
    found: &mut Vec<UnresolvedTarget>,
    make: &impl Fn(String) -> UnresolvedTarget,
) {
    match value {
        Value::String(text) => found.push(make(text.clone())),
        Value::Array(items) => items.iter().for_each(|item| each_within(item, found, make)),
        Value::Object(members) => {
            members.values().for_each(|member| each_within(member, found, make));
        }
        _ => {}
    }
}

fn globs(args: &Map<String, Value>, tool: &Tool, found: &mut Vec<UnresolvedTarget>) {
    let mut folders = Vec::new();
    strings(args, &Tool { keys: Vec::new(), ..tool.clone() }, FOLDER_KEYS, &mut folders, |text| {
        UnresolvedTarget::Path(Domain::Read, text)
    });
    let usual = if tool.shape == Shape::Glob { GLOB_KEYS } else { INCLUDE_KEYS };
    let mut patterns = Vec::new();
    strings(args, tool, usual, &mut patterns, UnresolvedTarget::Query);
    let folder_of = |touched: &UnresolvedTarget| match touched {
        UnresolvedTarget::Path(_, folder) => Some(folder.clone()),
        _ => None,
    };
    for pattern in patterns {
        match pattern {
            UnresolvedTarget::Query(glob) if folders.is_empty() => {
                found.push(UnresolvedTarget::Names { folder: None, glob })
            }
            UnresolvedTarget::Query(glob) => found.extend(folders.iter().map(|folder| {
                UnresolvedTarget::Names { folder: folder_of(folder), glob: glob.clone() }
            })),
            other => found.push(other),
        }
    }
    if tool.shape == Shape::Search && folders.is_empty() && found.is_empty() {
        found.push(UnresolvedTarget::Path(Domain::Read, ".".into()));
    }
    if !found.is_empty() || tool.shape == Shape::Search {
        found.extend(folders);
    }
}

/// Returns true if an argument has a value.
fn is_given(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is_true) => *is_true,
        Value::Object(members) => !members.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::String(text) => !text.is_empty(),
        Value::Number(_) => true,
    }
}

/// Returns true if the argument that selects the shell leaves the command to an ordinary one, or is empty.
fn is_usual_shell(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::String(name) => {
            let plain = ["/bin/", "/usr/bin/"].iter().find_map(|folder| name.strip_prefix(folder));
            name.is_empty() || has_known_options(plain.unwrap_or(name))
        }
        _ => false,
    }
}

fn commands(args: &Map<String, Value>, tool: &Tool, found: &mut Vec<UnresolvedTarget>) {
    // The tool uses one of them, but it is unknown which.
    let mut given = Vec::new();
    if args.keys().any(|key| !COMMAND_KEYS.contains(&key.as_str())) {
        given = folders_in(args, tool, names_folder);
        let further = folders_in(args, tool, |key| !names_folder(key) && is_folder_of_command(key));
        given.extend(further.into_iter().filter(|(_, value)| value.is_string()));
    }
    further_of_command(args, tool, found);
    let cwd = given.iter().find_map(|(_, value)| value.as_str()).map(str::to_owned);
    for (key, value) in &given {
        match value.as_str() {
            Some(folder) => {
                let folder = UnresolvedTarget::Path(Domain::Read, folder.to_owned());
                if !found.contains(&folder) {
                    found.push(folder);
                }
            }
            None if value.is_null() && cwd.is_none() => {}
            None => found.push(UnresolvedTarget::Unreadable(Domain::Bash, (*key).clone())),
        }
    }
    let texts: Vec<&str> = given.iter().filter_map(|(_, value)| value.as_str()).collect();
    let plain_path = |path: &str| {
        let path = path.strip_prefix("./").unwrap_or(path).trim_end_matches('/');
        if path.is_empty() { String::from(".") } else { path.to_owned() }
    };
    if texts.windows(2).any(|pair| plain_path(pair[0]) != plain_path(pair[1])) {
        let key = given.last().map_or("cwd", |(key, _)| key);
        found.push(UnresolvedTarget::Unreadable(Domain::Bash, key.to_owned()));
    }
    let own = tool.keys.iter().map(String::as_str);
    let usual = keys_in(args, COMMAND_KEYS).filter(|_| tool.keys.is_empty());
    for key in own.chain(usual) {
        match args.get(key) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => {
                found.push(UnresolvedTarget::Command { text: text.clone(), cwd: cwd.clone() })
            }
            // Words that no shell interprets: quoted, a shell leaves them unchanged.
            Some(Value::Array(words))
                if !words.is_empty() && words.iter().all(Value::is_string) =>
            {
                let plain: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                let words: Vec<String> =
                    plain.iter().map(|word| super::shell::quoted(word)).collect();
                let mut texts = vec![words.join(" ")];
                match args.get("command") {
                    Some(Value::String(program))
                        if matches!(key, "args" | "arguments" | "argv") =>
                    {
                        found.retain(|one| !matches!(one, UnresolvedTarget::Command { .. }));
                        // Some hosts join a program and its words into a command line without quoting.
                        let can_run =
                            |word: &&str| word.contains([';', '&', '|', '<', '>', '`', '$', '\n']);
                        if plain.iter().any(can_run) {
                            texts.push(plain.join(" "));
                        }
                        for text in &mut texts {
                            text.insert_str(0, &[program, " "].concat());
                        }
                    }
                    // The argument says that each of its texts is a command.
                    _ if key == "commands" => texts.extend(plain.iter().map(|&one| one.to_owned())),
                    _ => {}
                }
                found.extend(
                    texts
                        .into_iter()
                        .map(|text| UnresolvedTarget::Command { text, cwd: cwd.clone() }),
                );
            }
            Some(_) => found.push(UnresolvedTarget::Unreadable(Domain::Bash, key.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests;
