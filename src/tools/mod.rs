//! Classifies tools by the names that agents give them.
//!
//! Names that differ only in case and in how their words are joined are the same name: `run_command`, `runCommand` and
//! `Run-Command`.
//!
//! ```
//! use spillway_core::tools::{Kind, is_same, kind, last_part};
//!
//! assert!(matches!(kind(last_part("mcp__box__exec_command")), Some(Kind::Terminal)));
//! assert!(is_same("readFile", "read_file"));
//! assert!(kind("frobnicate").is_none());
//! ```

use std::collections::HashMap;
use std::sync::LazyLock;

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
    /// Creates or changes files.
    Edit,
    /// A known tool of none of the other kinds.
    Other,
}

/// Tools that run a shell command.
pub(crate) const COMMANDS: &[&str] = &[
    "terminal-execute",
    "terminal",
    "bash",
    "shell",
    "sh",
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
    "terminal_command",
];

/// Tools that change the files whose paths they are given.
pub(crate) const EDITS: &[&str] = &[
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
    "move",
    "delete",
];

/// Tools that take a patch.
pub(crate) const PATCHES: &[&str] = &["apply_diff", "apply_patch", "patch"];

/// Tool names by kind. No name is listed twice.
static NAMES: [(Kind, &[&str]); 8] = [
    (Kind::Terminal, COMMANDS),
    (
        Kind::Terminal,
        &[
            "zsh",
            "cmd",
            "powershell",
            "pwsh",
            "bash_output",
            "write_stdin",
            "get_terminal_output",
            "read_terminal",
        ],
    ),
    (
        Kind::Read,
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
        &[
            "grep",
            "grep_search",
            "rg",
            "ripgrep",
            "search_files",
            "search_file_content",
            "search_in_file",
            "search_output",
            "spillway_search_output",
        ],
    ),
    (Kind::Delegate, &["task", "new_task", "explore", "subagent"]),
    (Kind::Edit, EDITS),
    (Kind::Edit, PATCHES),
    (
        Kind::Other,
        &[
            "read_files",
            "read_many_files",
            "read_multiple_files",
            "view_image",
            "notebook_read",
            "search",
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

/// Prefixes of tools that never run commands: `filesystem-edit`, `ace-find_definition`.
const OTHER_SPACES: [&str; 4] = ["filesystem-", "ace-", "notebook-", "websearch-"];

/// Length above which a name cannot be in a table.
const LONGEST: usize = 256;

static KNOWN: LazyLock<HashMap<String, Kind>> = LazyLock::new(|| {
    NAMES.iter().flat_map(|(kind, names)| names.iter().map(|name| (plain(name), *kind))).collect()
});

/// Returns the kind of a tool, or `None` if its name is not known.
pub fn kind(name: &str) -> Option<Kind> {
    if name.len() > LONGEST {
        return None;
    }
    let in_space =
        || OTHER_SPACES.iter().any(|space| name.starts_with(space)).then_some(Kind::Other);
    KNOWN.get(&plain(name)).copied().or_else(in_space)
}

/// Returns true for the tools of `createOutputTools` and of the MCP proxy, which read or search saved outputs anywhere.
pub fn reads_saved_outputs(name: &str) -> bool {
    matches!(
        plain(last_part(name)).as_str(),
        "readoutput" | "spillwayreadoutput" | "searchoutput" | "spillwaysearchoutput"
    )
}

/// Returns the last part of a name with a server or name space before it: `exec_command` for `mcp__box__exec_command`
/// and `functions.exec_command`.
pub fn last_part(name: &str) -> &str {
    let last = name.rsplit("__").next().unwrap_or(name);
    last.rsplit(['.', '/', ':']).next().unwrap_or(last)
}

/// Normalizes a name: lower case, without the characters that join words.
pub fn plain(name: &str) -> String {
    letters(name).collect()
}

/// Returns true if two names have the same normal form.
pub fn is_same(a: &str, b: &str) -> bool {
    letters(a).eq(letters(b))
}

fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars()
        .filter(|letter| !matches!(letter, '-' | '_' | '.' | ' '))
        .flat_map(char::to_lowercase)
}

/// Returns true if a tool matches one of the patterns by its whole name or by its last part. `*` in a pattern matches
/// any characters.
pub fn is_one_of(name: &str, patterns: &[String]) -> bool {
    let last = last_part(name);
    patterns.iter().any(|pattern| {
        if pattern.contains('*') {
            let pattern = plain(pattern);
            matches(&plain(name), &pattern) || matches(&plain(last), &pattern)
        } else {
            is_same(pattern, name) || is_same(pattern, last)
        }
    })
}

/// Returns true if a pattern matches a whole name. Linear in the name for each `*`: taking the first occurrence of a
/// part never loses a match.
fn matches(name: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(name) = name.strip_prefix(start) else { return false };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(mut name) = name.strip_suffix(end) else { return false };
    middle.split('*').all(|part| match name.split_once(part) {
        Some((_, behind)) => {
            name = behind;
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_in_case_and_joints_only() {
        for name in [
            "bash",
            "Bash",
            "terminal-execute",
            "TerminalExecute",
            "runShellCommand",
            "container.exec",
        ] {
            assert_eq!(kind(name), Some(Kind::Terminal), "{name}");
        }
        assert_eq!(kind("Read"), Some(Kind::Read));
        assert_eq!(kind("filesystem-read"), Some(Kind::Read));
        assert_eq!(kind("filesystem-anything"), Some(Kind::Other));
        for name in
            ["", "deploy", "bash2", "__proto__", "constructor", "执行", &"bash".repeat(1000)]
        {
            assert_eq!(kind(name), None, "{name}");
        }
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        let is = |name: &str, pattern: &str| is_one_of(name, &[pattern.to_owned()]);
        for (name, pattern) in [
            ("exec", "ex*"),
            ("Exec_Command", "EXEC*"),
            ("exec", "exec"),
            ("exec", "*"),
            ("", "*"),
            ("web_fetch", "*fetch"),
            ("mcp__files__read", "mcp__*__read"),
            ("mcp__files__read_file", "read*"),
            ("abcab", "a*b*a*b"),
            ("ab", "a**b"),
        ] {
            assert!(is(name, pattern), "{name} {pattern}");
        }
        for (name, pattern) in [
            ("exec", "ex"),
            ("exec", "*ex"),
            ("aba", "ab*ba"),
            ("abc", "a*b"),
            ("axbxc", "a*c*b*c"),
            ("exec", ""),
            ("exec", "ex?c"),
        ] {
            assert!(!is(name, pattern), "{name} {pattern}");
        }
    }

    #[test]
    fn no_name_is_in_two_tables() {
        let all: Vec<String> =
            NAMES.iter().flat_map(|(_, names)| names.iter().map(|name| plain(name))).collect();
        assert_eq!(KNOWN.len(), all.len());
    }
}
