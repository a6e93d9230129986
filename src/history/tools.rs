//! Which tools run commands in a terminal, by the names that agents give them.
//!
//! Names differ in case and in what joins their words: `run_command`, `runCommand` and `Run-Command` are one. A name
//! with a server or name space in front (`mcp__box__exec_command`, `functions.exec_command`) goes by its last part if
//! nobody knows the whole.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::facts::Facts;

/// The tools that are known to run commands, unless the caller says which do.
pub const TERMINAL_TOOLS: [&str; 32] = [
    "terminal-execute",
    "terminal",
    "bash",
    "shell",
    "sh",
    "zsh",
    "cmd",
    "powershell",
    "pwsh",
    "exec",
    "exec_command",
    "execute_command",
    "execute_bash",
    "execute_shell",
    "execute_shell_command",
    "run_command",
    "run_commands",
    "run_bash",
    "run_shell",
    "run_shell_command",
    "run_terminal_cmd",
    "run_terminal_command",
    "run_in_terminal",
    "local_shell",
    "shell_command",
    "shell_exec",
    "container.exec",
    "bash_output",
    "write_stdin",
    "get_terminal_output",
    "read_terminal",
    "terminal_command",
];

/// The tools that are known to do something else, whatever is in their text.
const OTHER_TOOLS: [&str; 76] = [
    "read",
    "read_file",
    "read_files",
    "read_many_files",
    "read_text_file",
    "read_multiple_files",
    "read_output",
    "filesystem-read",
    "view",
    "view_file",
    "view_image",
    "open_file",
    "cat",
    "edit",
    "edit_file",
    "multi_edit",
    "filesystem-edit",
    "filesystem-edit_search",
    "str_replace",
    "str_replace_editor",
    "str_replace_based_edit_tool",
    "search_replace",
    "search_and_replace",
    "apply_diff",
    "apply_patch",
    "patch",
    "replace",
    "replace_in_file",
    "write",
    "write_file",
    "write_to_file",
    "create_file",
    "filesystem-create",
    "delete_file",
    "move_file",
    "insert_content",
    "notebook_edit",
    "notebook_read",
    "grep",
    "grep_search",
    "rg",
    "ripgrep",
    "search",
    "search_files",
    "search_file_content",
    "search_in_file",
    "search_output",
    "file_search",
    "codebase_search",
    "find",
    "find_files",
    "glob",
    "glob_file_search",
    "ls",
    "list",
    "list_dir",
    "list_files",
    "list_directory",
    "list_code_definition_names",
    "ace-tools",
    "web_fetch",
    "web_search",
    "fetch",
    "fetch_url",
    "http_request",
    "browser_action",
    "task",
    "todo",
    "todo_read",
    "todo_write",
    "update_plan",
    "save_memory",
    "ask_user",
    "ask_followup_question",
    "attempt_completion",
    "new_task",
];

/// Name spaces of tools of which none runs commands: `filesystem-read`, `ace-find_definition`.
const OTHER_SPACES: [&str; 4] = ["filesystem-", "ace-", "notebook-", "websearch-"];

/// Longer names are in no table.
const LONGEST: usize = 256;

static KNOWN_TERMINALS: LazyLock<HashSet<String>> =
    LazyLock::new(|| TERMINAL_TOOLS.map(plain).into());
static KNOWN_OTHERS: LazyLock<HashSet<String>> = LazyLock::new(|| OTHER_TOOLS.map(plain).into());

/// What a tool's name says about its results: [`Facts::TERMINAL_TOOL`], [`Facts::OTHER_TOOL`], or nothing.
#[derive(Debug)]
pub struct ToolNames {
    terminal: Option<HashSet<String>>,
}

impl ToolNames {
    /// With the caller's own terminal tools instead of [`TERMINAL_TOOLS`], if there are any. They win over the tools
    /// that are known to do something else.
    pub fn new(terminal: Option<&[String]>) -> Self {
        ToolNames { terminal: terminal.map(|names| names.iter().map(|name| plain(name)).collect()) }
    }

    /// What is known about the tool of this name.
    pub fn kind(&self, name: &str) -> Facts {
        if name.len() > LONGEST {
            return Facts::NONE;
        }
        let whole = self.exactly(name);
        if whole != Facts::NONE {
            return whole;
        }
        let last = name.rsplit("__").next().unwrap_or(name);
        self.exactly(last.rsplit(['.', '/', ':']).next().unwrap_or(last))
    }

    fn exactly(&self, name: &str) -> Facts {
        let plain = plain(name);
        if self.terminal.as_ref().unwrap_or(&KNOWN_TERMINALS).contains(&plain) {
            Facts::TERMINAL_TOOL
        } else if KNOWN_OTHERS.contains(&plain)
            || OTHER_SPACES.iter().any(|space| name.starts_with(space))
        {
            Facts::OTHER_TOOL
        } else {
            Facts::NONE
        }
    }
}

/// A name without what differs from agent to agent.
fn plain(name: &str) -> String {
    name.chars()
        .filter(|letter| !matches!(letter, '-' | '_' | '.' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_in_case_and_joints_only() {
        let names = ToolNames::new(None);
        for name in [
            "bash",
            "Bash",
            "terminal-execute",
            "terminal_execute",
            "TerminalExecute",
            "runShellCommand",
            "container.exec",
        ] {
            assert_eq!(names.kind(name), Facts::TERMINAL_TOOL, "{name}");
        }
        for name in [
            "read",
            "Read",
            "filesystem-read",
            "filesystem-anything",
            "ace-find_definition",
            "grep",
            "TodoWrite",
            "WebFetch",
        ] {
            assert_eq!(names.kind(name), Facts::OTHER_TOOL, "{name}");
        }
        for name in
            ["", "deploy", "bash2", "__proto__", "constructor", "执行", &"bash".repeat(1000)]
        {
            assert_eq!(names.kind(name), Facts::NONE, "{name}");
        }
    }

    #[test]
    fn the_last_part_of_a_name_speaks_for_an_unknown_whole() {
        let names = ToolNames::new(None);
        for name in [
            "mcp__box__exec_command",
            "functions.exec_command",
            "box/bash",
            "box:bash",
            "mcp__a.b__bash",
        ] {
            assert_eq!(names.kind(name), Facts::TERMINAL_TOOL, "{name}");
        }
        assert_eq!(names.kind("mcp__files__read_file"), Facts::OTHER_TOOL);
        assert_eq!(names.kind("mcp__box__deploy"), Facts::NONE);
    }

    #[test]
    fn the_callers_terminal_tools_replace_the_known_ones_and_win() {
        let names = ToolNames::new(Some(&["my-shell".into(), "read".into()]));
        assert_eq!(names.kind("my_shell"), Facts::TERMINAL_TOOL);
        assert_eq!(names.kind("read"), Facts::TERMINAL_TOOL);
        assert_eq!(names.kind("bash"), Facts::NONE);
        assert_eq!(names.kind("grep"), Facts::OTHER_TOOL);
        assert_eq!(ToolNames::new(Some(&[])).kind("bash"), Facts::NONE);
    }

    #[test]
    fn no_tool_is_both() {
        assert!(KNOWN_TERMINALS.is_disjoint(&KNOWN_OTHERS));
    }
}
