//! The one table of tools: their names, the work that they do, and how their arguments state what they touch.
//!
//! To add a name, add it to the row of the tools that it resembles. Permission reads the shape; history, previews,
//! folding and loop detection read the kind.

/// The kind of work a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Runs commands, or returns their output.
    Terminal,
    /// Reads a file in pages.
    Read,
    /// Searches in files.
    Search,
    /// Delegates work to another agent.
    Delegate,
    /// Creates, changes, moves or deletes files.
    Edit,
    /// A known tool of none of the other kinds.
    Other,
}

/// How a kind of tool states its targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Paths of files.
    Paths,
    /// A directory, by default the current one.
    Folder,
    /// A directory, and a glob of the names in it.
    Glob,
    /// A directory or file, and globs of the files whose content is searched.
    Search,
    /// A patch that names its files.
    Patch,
    /// A command.
    Command,
    /// A URL.
    Address,
    /// A query.
    Query,
    /// Paths of files that are renamed: their content can be read under the new names.
    Move,
    /// Paths of files that are copied.
    Copy,
    /// Paths of files that are changed or, with the command `view`, shown.
    Editor,
    /// The tool touches nothing.
    Nothing,
}

/// A kind, a shape, and the tools that have both. Without a shape, permission decides by the name of the tool alone.
type Row = (Kind, Option<Shape>, &'static [&'static str]);

/// Every known tool. No name is listed twice, in whatever spelling.
pub(crate) static TABLE: &[Row] = &[
    (
        Kind::Terminal,
        Some(Shape::Command),
        &[
            "terminal-execute",
            "terminal",
            "bash",
            "shell",
            "sh",
            "zsh",
            "exec",
            "exec_command",
            "execute_command",
            "execute_bash",
            "execute_shell",
            "execute_shell_command",
            "execute_terminal_command",
            "run_command",
            "run_commands",
            "run_bash",
            "run_shell",
            "run_shell_command",
            "run_terminal_cmd",
            "run_terminal_command",
            "run_in_terminal",
            "bash_code_execution",
            "local_shell",
            "shell_command",
            "shell_exec",
            "container.exec",
            "terminal_command",
        ],
    ),
    // Commands in a syntax that permission does not read, and what goes into or comes out of a running command.
    (
        Kind::Terminal,
        None,
        &[
            "cmd",
            "powershell",
            "pwsh",
            "execute_pwsh",
            "bash_output",
            "read_bash",
            "read_powershell",
            "write_stdin",
            "write_bash",
            "execute",
            "launch_process",
            "process",
            "run_process",
            "start_process",
            "interact_with_process",
            "read_process",
            "read_process_output",
            "get_process_output",
            "get_terminal_output",
            "read_terminal",
            "read_command_output",
            "get_command_output",
            "job_output",
            "get_task_output",
        ],
    ),
    // Programs that are chosen already: the arguments are theirs, and no command line.
    (
        Kind::Terminal,
        None,
        &[
            "build",
            "build_project",
            "run_build",
            "compile",
            "make",
            "run_test",
            "run_tests",
            "run_unit_tests",
            "run_test_suite",
            "test_runner",
            "lint",
            "run_lint",
            "run_linter",
            "typecheck",
            "run_typecheck",
            "pytest",
            "run_pytest",
            "npm",
            "cargo",
            "cargo_build",
            "cargo_check",
            "cargo_clippy",
            "cargo_run",
            "cargo_test",
            "go_build",
            "go_test",
            "go_vet",
            "gradle",
            "maven",
            "mvn",
            "run_script",
            "run_npm_script",
            "run_task",
            "create_and_run_task",
            "execute_run_configuration",
        ],
    ),
    (
        Kind::Read,
        Some(Shape::Paths),
        &[
            "read",
            "read_file",
            "read_text_file",
            "read_output",
            "spillway_read_output",
            "filesystem-read",
            "view",
            "view_file",
            "open_file",
            "cat",
        ],
    ),
    (
        Kind::Search,
        Some(Shape::Search),
        &[
            "grep",
            "grep_search",
            "rg",
            "ripgrep",
            "search_files",
            "search_file_content",
            "search_in_file",
        ],
    ),
    (Kind::Search, Some(Shape::Paths), &["search_output", "spillway_search_output", "lsp"]),
    (Kind::Delegate, None, &["task", "new_task", "explore", "subagent"]),
    (
        Kind::Edit,
        Some(Shape::Paths),
        &[
            "edit",
            "edit_file",
            "multi_edit",
            "filesystem-edit",
            "filesystem-edit_search",
            "str_replace",
            "search_replace",
            "search_and_replace",
            "replace",
            "replace_in_file",
            "write",
            "write_file",
            "write_to_file",
            "append_file",
            "create_file",
            "create_directory",
            "create_dir",
            "mkdir",
            "filesystem-create",
            "delete",
            "delete_file",
            "remove_file",
            "insert_content",
            "notebook_edit",
        ],
    ),
    (Kind::Edit, Some(Shape::Editor), &["str_replace_editor", "str_replace_based_edit_tool"]),
    (Kind::Edit, Some(Shape::Move), &["move", "move_file", "rename", "rename_file"]),
    (Kind::Edit, Some(Shape::Copy), &["copy_file"]),
    (Kind::Edit, Some(Shape::Patch), &["apply_diff", "apply_patch", "patch"]),
    (
        Kind::Other,
        Some(Shape::Paths),
        &[
            "read_files",
            "read_many_files",
            "read_multiple_files",
            "read_media_file",
            "get_file_info",
            "view_image",
            "notebook_read",
        ],
    ),
    (
        Kind::Other,
        Some(Shape::Folder),
        &[
            "ls",
            "list",
            "list_dir",
            "list_files",
            "list_directory",
            "directory_tree",
            "list_code_definition_names",
        ],
    ),
    (
        Kind::Other,
        Some(Shape::Glob),
        &["glob", "glob_file_search", "find", "find_files", "file_search"],
    ),
    (Kind::Other, Some(Shape::Search), &["codebase_search"]),
    (
        Kind::Other,
        Some(Shape::Address),
        &["web_fetch", "fetch", "fetch_url", "url_fetch", "open_url", "http_request"],
    ),
    (Kind::Other, Some(Shape::Query), &["web_search", "google_search", "search_web"]),
    // `search` searches files in one agent and the web in another.
    (
        Kind::Other,
        None,
        &[
            "search",
            "ace-tools",
            "browser_action",
            "todo",
            "todo_read",
            "todo_write",
            "update_plan",
            "save_memory",
            "ask_user",
            "ask_followup_question",
            "attempt_completion",
        ],
    ),
];

/// Tools that run tests if they are those of a server, in normal form. By itself it is the
/// name of a tool that a host tries out.
pub(super) const TESTS_OF_SERVERS: [&str; 2] = ["test", "tests"];

/// Prefixes of tools that never run commands: `filesystem-edit`, `ace-find_definition`.
pub(super) const OTHER_SPACES: [&str; 4] = ["filesystem-", "ace-", "notebook-", "websearch-"];

/// Tools that read or search saved outputs, in normal form: those of `createOutputTools` and of the MCP proxy.
pub(super) const OF_SAVED_OUTPUTS: [&str; 4] =
    ["readoutput", "spillwayreadoutput", "searchoutput", "spillwaysearchoutput"];

/// Tools that expand wildcards in paths, in normal form.
pub(super) const TAKE_GLOBS: [&str; 3] = ["readmanyfiles", "readfiles", "readmultiplefiles"];

/// Tools that wait for a process, an agent or a person, or switch a mode, in normal form. Many are not in [`TABLE`]:
/// tools of these names have in common that they wait, and nothing else.
pub(super) const WAIT: &str = "\
    wait waitfor waitagent waitforagent sleep poll bashoutput killbash taskoutput getterminaloutput \
    readterminal getcommandoutput commandstatus checkcommandstatus checkstatus getstatus status \
    joboutput readprocess listagents agentoutput exitplanmode enterplanmode switchmode askuser \
    askuserquestion askfollowupquestion";
