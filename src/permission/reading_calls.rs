//! Calls that certainly change nothing.

use serde_json::Value;

use super::shell;
use crate::tools::arguments::command_of;
use crate::tools::{self, Kind, Shape, last_part};

/// Returns true if a call certainly changes nothing. Nothing is known of tools that are not in the table.
pub fn only_reads(tool: &str, args: &Value) -> bool {
    let member = |key: &str| args.get(key).and_then(Value::as_str);
    let shape = tools::shape(tool).or_else(|| tools::shape(last_part(tool)));
    match (tools::kind_of(tool), shape) {
        (Some(Kind::Read | Kind::Search), _) => true,
        // Other terminals do not take a command line of a shell.
        (Some(Kind::Terminal), Some(Shape::Command)) => {
            command_of(args).is_some_and(|command| shell::is_read_only(&command, |_| false))
        }
        (Some(Kind::Edit), Some(Shape::Editor)) => member("command") == Some("view"),
        (Some(Kind::Other), Some(Shape::Address)) => {
            member("method").is_none_or(|method| method.eq_ignore_ascii_case("get"))
        }
        (Some(Kind::Other), shape) => shape.is_some(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_command_line_of_a_shell_says_that_it_reads() {
        for (tool, reads) in
            [("bash", true), ("mcp__box__exec", true), ("powershell", false), ("run_task", false)]
        {
            assert_eq!(only_reads(tool, &json!({ "command": "ls" })), reads, "{tool}");
        }
    }
}
