//! Classifies tool calls for loop detection: whether a call is polling, and whether it may change state.

use std::cell::OnceCell;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::permission::shell;
use crate::tools::arguments::command_of;
use crate::tools::{Kind, kind_of, last_part, plain, waits};

/// The effect of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CallEffect {
    /// True if the call waits or polls, so that repeating it is expected.
    pub waits: bool,
    /// True if the state may differ after the call succeeds.
    pub changes: Changes,
}

/// The effect of a call on the state. A command is read when its effect is asked for: for most calls it never is, and
/// reading one takes longer than everything else that is done with a call.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "bool", into = "bool")]
pub struct Changes {
    known: OnceCell<bool>,
    command: Option<Box<str>>,
}

/// Maximum length of a command that is kept to be read later.
const MAX_KEPT_BYTES: usize = 1024;

impl Changes {
    fn of_command(command: String) -> Self {
        if command.len() > MAX_KEPT_BYTES {
            return (!reads_or_checks(&command)).into();
        }
        Changes { known: OnceCell::new(), command: Some(command.into()) }
    }

    /// Returns true if the state may differ after the call succeeds.
    pub fn get(&self) -> bool {
        let read = || self.command.as_deref().is_some_and(|command| !reads_or_checks(command));
        *self.known.get_or_init(read)
    }
}

impl From<bool> for Changes {
    fn from(changes: bool) -> Self {
        Changes { known: OnceCell::from(changes), command: None }
    }
}

impl From<Changes> for bool {
    fn from(changes: Changes) -> Self {
        changes.get()
    }
}

impl PartialEq for Changes {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Changes {}

/// Values of the member `action` or `command` with which a process tool waits.
const WAITING_ACTIONS: [&str; 6] = ["poll", "wait", "status", "log", "output", "list"];

/// Words in the names of tools that change state.
const CHANGING_WORDS: [&str; 21] = [
    "edit", "write", "create", "update", "delete", "remove", "insert", "patch", "replace", "move",
    "rename", "apply", "save", "set", "add", "install", "commit", "push", "send", "post", "undo",
];

/// Words in the names of tools whose changes do not count as progress.
const NOTES: [&str; 4] = ["todo", "plan", "memory", "todos"];

/// The first words of commands that change nothing that lasts, beside those that only look.
const CHECKS: &str = "\
    pytest|python -m pytest|python3 -m pytest|jest|npx jest|vitest|npx vitest|tsc|npx tsc|ruff|go test|go build|go vet|go list|\
    cargo test|cargo check|cargo build|cargo clippy|npm test|npm run|npm ls|pnpm test|pnpm run|pnpm ls|yarn test|yarn run|\
    sleep|cd|type|less|more";

/// Classifies a call. `arguments` are parsed if possible; `own` are further tools that wait.
pub fn effect(tool: &str, arguments: Option<&Value>, own: &[String]) -> CallEffect {
    let name = plain(last_part(tool));
    let member = |key: &str| arguments.and_then(|value| value.get(key)).and_then(Value::as_str);
    let listed = waits(&name) || own.contains(&name) || own.contains(&plain(tool));
    if listed {
        return CallEffect { waits: true, changes: false.into() };
    }
    if name == "writestdin" {
        let waits =
            member("chars").or_else(|| member("input")).is_none_or(|text| text.trim().is_empty());
        return CallEffect { waits, changes: (!waits).into() };
    }
    let action = member("action").or_else(|| member("command"));
    if name == "process" && action.is_some_and(|action| WAITING_ACTIONS.contains(&action)) {
        return CallEffect { waits: true, changes: false.into() };
    }
    if kind_of(tool) == Some(Kind::Terminal) {
        let command = arguments.and_then(command_of).unwrap_or_default();
        let waits =
            command.trim_start().starts_with("sleep ") || command.trim_start().starts_with("wait ");
        let changes = if waits { false.into() } else { Changes::of_command(command) };
        return CallEffect { waits, changes };
    }
    let looks = action.is_some_and(|action| matches!(action, "view" | "read" | "list" | "open"));
    let words = words_of(last_part(tool));
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let changes = !looks && has(&CHANGING_WORDS) && !has(&NOTES);
    CallEffect { waits: false, changes: changes.into() }
}

/// Returns true if a command certainly changes nothing, or checks what is there. A command that is not understood may
/// change something: a repeated call is then not taken for a loop, so that a question comes later at worst.
fn reads_or_checks(command: &str) -> bool {
    let checks = |simple: &str| {
        CHECKS.split('|').any(|known| {
            simple.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
    };
    shell::is_read_only(command, checks)
}

/// Splits a name into its words, however they are joined.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_is_small = false;
    for letter in name.chars().take(256) {
        let starts = letter.is_uppercase() && before_is_small;
        before_is_small = letter.is_lowercase();
        if !letter.is_alphanumeric() || starts {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(tool: &str, arguments: Value) -> (bool, bool) {
        let CallEffect { waits, changes } = effect(tool, Some(&arguments), &[]);
        (waits, changes.get())
    }

    #[test]
    fn tools_that_wait() {
        assert_eq!(of("wait_agent", json!({})), (true, false));
        assert_eq!(of("BashOutput", json!({ "id": 1 })), (true, false));
        assert_eq!(of("write_stdin", json!({ "session_id": 3, "chars": "" })), (true, false));
        assert_eq!(of("write_stdin", json!({ "session_id": 3, "chars": "y\n" })), (false, true));
        assert_eq!(of("process", json!({ "action": "poll" })), (true, false));
        assert_eq!(of("bash", json!({ "command": "sleep 30; cat log" })), (true, false));
        assert_eq!(of("read", json!({ "action": "poll" })), (false, false));
        assert!(effect("my-watch", None, &["mywatch".to_owned()]).waits);
    }

    #[test]
    fn tools_that_change() {
        for tool in [
            "Edit",
            "write_file",
            "apply_patch",
            "MultiEdit",
            "mcp__git__create_branch",
            "str_replace_editor",
        ] {
            assert_eq!(of(tool, json!({ "command": "create" })), (false, true), "{tool}");
        }
        for tool in
            ["Read", "grep", "str_replace_editor", "TodoWrite", "update_plan", "settings", "ls"]
        {
            assert_eq!(of(tool, json!({ "command": "view" })), (false, false), "{tool}");
        }
    }

    #[test]
    fn a_command_that_was_not_read_yet_is_saved_by_what_it_does() {
        let long = format!("rm {}", "x".repeat(MAX_KEPT_BYTES));
        for (command, expected) in [("ls", false), ("rm x", true), (&long, true)] {
            let conduct = effect("bash", Some(&json!({ "command": command })), &[]);
            let saved = json!({ "waits": false, "changes": expected });
            assert_eq!(serde_json::to_value(&conduct).unwrap(), saved);
            assert_eq!(serde_json::from_value::<CallEffect>(saved).unwrap(), conduct);
        }
    }

    #[test]
    fn commands_that_change() {
        let differ = |commands: &[&'static str], expected: (bool, bool)| -> Vec<&'static str> {
            let unlike = |command: &&&str| of("bash", json!({ "command": command })) != expected;
            commands.iter().filter(unlike).copied().collect()
        };
        let reading = [
            "ls -la",
            "cd x && git status --short",
            "LANG=C rg -n 'a' | head -5",
            "sed -n '1,5p' f",
            "go test ./... 2>&1 | tail",
            "timeout 60 pytest -q",
            "pwd",
            "grep -c x f >/dev/null",
            "for f in a b; do cat $f; done",
            "git diff --stat && npm test 2>&1 | tail -5",
            "[ -f x ] && cat x",
        ];
        assert_eq!(differ(&reading, (false, false)), Vec::<&str>::new());
        let changing = [
            "sed -i s/a/b/ f",
            "echo x > f",
            "pip install y",
            "git commit -m z",
            "find . -delete",
            "env X=1 rm -rf d",
            "timeout 60 rm f",
            "python fix.py",
            "ls $(rm x)",
            "cat f; rm f",
            "sed -n 'w x' f",
            "sed 's/a/b/e' f",
            "sort -o f f",
            "find . -fprint x",
            "find . -exec rm {} +",
            "git diff --output=x",
            "git branch x",
            "git remote add a b",
            "awk '{print > \"x\"}' f",
            "awk 'BEGIN{system(\"rm f\")}'",
            "cat f | tee x",
            "uniq a b",
            "xxd -r a b",
            "rg --pre=./x y",
            "go test -o x ./...",
            "pytest --junitxml=x",
            "date -s tomorrow",
        ];
        assert_eq!(differ(&changing, (false, true)), Vec::<&str>::new());
        assert_eq!(of("exec", json!({ "command": ["bash", "-lc", "ls"] })), (false, false));
    }
}
