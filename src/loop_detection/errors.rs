//! Recognizes errors in the text of a result.

use serde_json::Value;

/// Returns true if a result that is not marked as an error begins as one.
pub fn says_error(result: &str) -> bool {
    let start = result.trim_start();
    if start.starts_with('{') {
        let value: Option<Value> = serde_json::from_str(start).ok();
        let is = |key: &str, what: bool| {
            value.as_ref().and_then(|v| v.get(key)).and_then(Value::as_bool) == Some(what)
        };
        return is("success", false) || is("isError", true) || is("is_error", true);
    }
    ["Error:", "error:", "Error ", "ERROR:"].iter().any(|word| start.starts_with(word))
}

/// Words of an error without specific information.
const EMPTY_WORDS: [&str; 18] = [
    "exit",
    "exited",
    "code",
    "status",
    "process",
    "with",
    "error",
    "errors",
    "command",
    "failed",
    "failure",
    "returned",
    "returncode",
    "output",
    "stdout",
    "stderr",
    "exitcode",
    "null",
];

/// Returns true if an error is specific: `exit code 1` and a search without matches are not.
pub fn says_something(result: &str) -> bool {
    const MIN_LETTERS: usize = 8;
    let words = result
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !EMPTY_WORDS.contains(&word.to_lowercase().as_str()));
    let mut letters = 0;
    words.map(|word| word.chars().count()).any(|count| {
        letters += count;
        letters >= MIN_LETTERS
    })
}

/// Returns true if the error is that the tool does not exist.
pub fn says_unknown_tool(result: &str) -> bool {
    let start: String = result.chars().take(500).collect::<String>().to_lowercase();
    start.contains("tool")
        && [
            "unknown tool",
            "no such tool",
            "not found",
            "does not exist",
            "not available",
            "unavailable",
        ]
        .iter()
        .any(|words| start.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_that_begin_as_errors() {
        for text in [
            "Error: no",
            "  error: no",
            "ERROR:\nno",
            r#"{"success":false}"#,
            r#"{"isError":true}"#,
        ] {
            assert!(says_error(text), "{text}");
        }
        for text in ["", "0 errors", "Errors are values", r#"{"success":true}"#, "{broken"] {
            assert!(!says_error(text), "{text}");
        }
    }

    #[test]
    fn errors_that_say_nothing() {
        for text in [
            "",
            "exit code 1",
            "Process exited with code 127",
            "<returncode>1</returncode>",
            "{\"exitCode\":2}",
        ] {
            assert!(!says_something(text), "{text}");
        }
        for text in ["spawn rg ENOENT", "timed out after 120 s", "没有找到这个文件或者目录"]
        {
            assert!(says_something(text), "{text}");
        }
    }

    #[test]
    fn tools_that_are_not_there() {
        assert!(says_unknown_tool("Tool teleport not found"));
        assert!(says_unknown_tool("Unknown tool: x"));
        assert!(!says_unknown_tool("file not found"));
    }
}
