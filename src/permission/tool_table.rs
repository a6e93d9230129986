//! Tools by their targets: their usual names, and the names of their arguments.

use super::Domain;
use super::targets::Shape;
use crate::tools::{COMMANDS, EDITS, PATCHES};

type Row = (&'static [&'static str], Domain, Shape);

pub(super) static TABLE: &[Row] = &[
    (
        &[
            "read",
            "read_file",
            "read_text_file",
            "read_files",
            "read_many_files",
            "read_multiple_files",
            "filesystem-read",
            "view",
            "view_file",
            "view_image",
            "open_file",
            "cat",
            "notebook_read",
            "read_media_file",
            "get_file_info",
            "read_output",
            "search_output",
        ],
        Domain::Read,
        Shape::Paths,
    ),
    // Before the other editing tools, which they are a part of.
    (&["move", "move_file", "rename", "rename_file"], Domain::Edit, Shape::Move),
    (&["copy_file"], Domain::Edit, Shape::Copy),
    (&["str_replace_editor", "str_replace_based_edit_tool"], Domain::Edit, Shape::Editor),
    (EDITS, Domain::Edit, Shape::Paths),
    (
        &["multiedit", "remove_file", "create_directory", "create_dir", "mkdir", "append_file"],
        Domain::Edit,
        Shape::Paths,
    ),
    (PATCHES, Domain::Edit, Shape::Patch),
    (
        &[
            "ls",
            "list",
            "list_dir",
            "list_files",
            "list_directory",
            "directory_tree",
            "list_code_definition_names",
        ],
        Domain::Read,
        Shape::Folder,
    ),
    (&["glob", "glob_file_search", "find_files", "file_search", "find"], Domain::Read, Shape::Glob),
    (
        &[
            "grep",
            "grep_search",
            "rg",
            "ripgrep",
            "search_files",
            "search_file_content",
            "search_in_file",
            "codebase_search",
        ],
        Domain::Read,
        Shape::Search,
    ),
    (COMMANDS, Domain::Bash, Shape::Command),
    (
        &["web_fetch", "webfetch", "fetch", "fetch_url", "http_request", "url_fetch", "open_url"],
        Domain::WebFetch,
        Shape::Address,
    ),
    (&["web_search", "websearch", "google_search", "search_web"], Domain::WebSearch, Shape::Query),
];

pub(super) const PATH_KEYS: &[&str] = &[
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
pub(super) const SOURCE_KEYS: &[&str] = &[
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
pub(super) const DESTINATION_KEYS: &[&str] = &[
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
pub(super) const FOLDER_KEYS: &[&str] = &[
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
pub(super) const GLOB_KEYS: &[&str] =
    &["pattern", "glob", "glob_pattern", "globPattern", "query", "patterns", "name"];
pub(super) const INCLUDE_KEYS: &[&str] = &[
    "include",
    "glob",
    "include_pattern",
    "includePattern",
    "file_pattern",
    "filePattern",
    "globs",
];
pub(super) const COMMAND_KEYS: &[&str] =
    &["command", "cmd", "commands", "script", "input", "code", "args", "arguments", "argv"];
/// Arguments that relative paths of any tool may be relative to, in any spelling.
pub(super) const BASE_KEYS: &[&str] = &[
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
pub(super) const CWD_KEYS: &[&str] = &["path", "chdir", "location", "folderpath"];
/// Arguments that change which program runs, where, or what it may do.
pub(super) const POWER_KEYS: &[&str] = &[
    "env",
    "environment",
    "env_vars",
    "envVars",
    "elevated",
    "with_escalated_permissions",
    "withEscalatedPermissions",
    "sandbox_permissions",
    "sandboxPermissions",
    "dangerously_disable_sandbox",
    "dangerouslyDisableSandbox",
    "run_as",
    "runAs",
    "user",
    "host",
    "sudo",
    "as_root",
    "asRoot",
    "privileged",
    "container",
    "program",
    "interpreter",
];
/// Arguments that do so if they are false.
pub(super) const LIMIT_KEYS: &[&str] = &["sandbox", "sandboxed", "use_sandbox", "useSandbox"];
/// The shell by name.
pub(super) const SHELL_KEYS: &[&str] = &["shell", "executable"];
pub(super) const SHELLS: &[&str] = &["bash", "sh", "zsh", "dash"];
pub(super) const ADDRESS_KEYS: &[&str] = &["url", "urls", "uri", "href", "address", "link"];
pub(super) const QUERY_KEYS: &[&str] =
    &["query", "q", "search_query", "searchQuery", "search_term", "queries", "keywords"];
pub(super) const PATCH_KEYS: &[&str] = &["patch", "input", "patch_text", "patchText", "diff"];
