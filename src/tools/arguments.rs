//! The names of arguments, by what they state, and the command among them.

use serde_json::Value;

/// Paths of files.
pub(crate) const PATH_KEYS: &[&str] = &[
    "path",
    "file_path",
    "filePath",
    "file",
    "filename",
    "fileName",
    "file_name",
    "filepath",
    "paths",
    "files",
    "file_paths",
    "filePaths",
    "target_file",
    "targetFile",
    "notebook_path",
    "absolute_path",
    "absolutePath",
    "relative_path",
    "relativePath",
    "source",
    "destination",
    "src",
    "dest",
    "from",
    "to",
    "old_path",
    "new_path",
    "oldPath",
    "newPath",
    "source_path",
    "destination_path",
    "target",
    "target_path",
];
/// Arguments of tools that rename or copy files: source and destination.
pub(crate) const SOURCE_KEYS: &[&str] = &[
    "source",
    "src",
    "from",
    "path",
    "paths",
    "file",
    "files",
    "file_path",
    "filePath",
    "file_paths",
    "filePaths",
    "filename",
    "fileName",
    "file_name",
    "filepath",
    "absolute_path",
    "absolutePath",
    "relative_path",
    "relativePath",
    "notebook_path",
    "old_path",
    "oldPath",
    "old_name",
    "oldName",
    "source_path",
    "sourcePath",
    "source_file",
    "sourceFile",
    "from_path",
    "fromPath",
];
pub(crate) const DESTINATION_KEYS: &[&str] = &[
    "destination",
    "dest",
    "to",
    "new_path",
    "newPath",
    "new_name",
    "newName",
    "destination_path",
    "destinationPath",
    "destination_file",
    "destinationFile",
    "dest_path",
    "destPath",
    "to_path",
    "toPath",
    "target",
    "target_path",
    "targetPath",
    "target_file",
    "targetFile",
];
pub(crate) const FOLDER_KEYS: &[&str] = &[
    "path",
    "paths",
    "dir",
    "dir_path",
    "dirPath",
    "directory",
    "folder",
    "target_directory",
    "relative_workspace_path",
    "cwd",
    "root",
    "base",
    "file_path",
    "filePath",
    "file",
];
pub(crate) const GLOB_KEYS: &[&str] =
    &["pattern", "glob", "glob_pattern", "globPattern", "query", "patterns", "name"];
pub(crate) const INCLUDE_KEYS: &[&str] = &[
    "include",
    "glob",
    "include_pattern",
    "includePattern",
    "file_pattern",
    "filePattern",
    "globs",
];
pub(crate) const COMMAND_KEYS: &[&str] =
    &["command", "cmd", "commands", "script", "input", "code", "args", "arguments", "argv"];
/// Arguments that relative paths of any tool may be relative to, in any spelling.
pub(crate) const BASE_KEYS: &[&str] = &[
    "cwd",
    "workdir",
    "workingdir",
    "workingdirectory",
    "currentdir",
    "currentdirectory",
    "basedir",
    "basepath",
    "rootdir",
    "rootpath",
    "projectdir",
    "projectroot",
    "projectpath",
    "dirpath",
    "dir",
    "directory",
    "folder",
    "root",
    "base",
];
/// Further arguments for the directory of a command.
pub(crate) const CWD_KEYS: &[&str] = &["path", "chdir", "location", "folderpath"];
/// Arguments that change which program runs, where, or what it may do, in any spelling.
pub(crate) const POWER_KEYS: &[&str] = &[
    "rcfile",
    "initfile",
    "env",
    "environment",
    "envvars",
    "elevated",
    "withescalatedpermissions",
    "sandboxpermissions",
    "requiredpermissions",
    "dangerouslydisablesandbox",
    "runas",
    "user",
    "host",
    "remote",
    "ssh",
    "machine",
    "sudo",
    "asroot",
    "privileged",
    "container",
    "program",
    "interpreter",
];
/// Arguments that do so if they are false, in any spelling.
pub(crate) const LIMIT_KEYS: &[&str] = &["sandbox", "sandboxed", "usesandbox"];
/// The shell by name.
pub(crate) const SHELL_KEYS: &[&str] = &["shell", "executable"];
pub(crate) const ADDRESS_KEYS: &[&str] = &["url", "urls", "uri", "href", "address", "link"];
pub(crate) const QUERY_KEYS: &[&str] =
    &["query", "q", "search_query", "searchQuery", "search_term", "queries", "keywords"];
pub(crate) const PATCH_KEYS: &[&str] = &["patch", "input", "patch_text", "patchText", "diff"];

/// Arguments of terminals that hold the command, in the order in which they are looked for.
const WHOLE_COMMAND_KEYS: [&str; 5] = ["command", "cmd", "script", "code", "input"];

/// Returns true if an argument, in its plain spelling, names the folder of a command.
pub(crate) fn names_folder(key: &str) -> bool {
    BASE_KEYS.contains(&key) || CWD_KEYS.contains(&key)
}

/// Returns the command of a call of a terminal. Arguments that are a text are the command.
pub fn command_of(args: &Value) -> Option<String> {
    let value = match args {
        Value::String(_) => args,
        _ => WHOLE_COMMAND_KEYS.iter().find_map(|key| args.get(key))?,
    };
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            Some(match words.as_slice() {
                // Given as `["bash", "-lc", "…"]`.
                [_, flag, script] if flag.starts_with('-') => (*script).to_owned(),
                _ => words.join(" "),
            })
        }
        _ => None,
    }
}
