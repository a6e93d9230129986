//! Recognizes terminal tools by their names.

use std::collections::HashSet;

use super::result_facts::Facts;
use crate::tools::{self, Kind, last_part, plain};

/// Maps the name of a tool to facts about its results: [`Facts::TERMINAL_TOOL`], [`Facts::OTHER_TOOL`], or none.
#[derive(Debug)]
pub struct ToolNames {
    terminal: Option<HashSet<String>>,
}

impl ToolNames {
    /// Uses the caller's terminal tools instead of the known ones, if any are given. They take precedence over tools
    /// known to do something else.
    pub fn new(terminal: Option<&[String]>) -> Self {
        ToolNames { terminal: terminal.map(|names| names.iter().map(|name| plain(name)).collect()) }
    }

    /// Returns the facts about the tool of this name. An unknown name is looked up by its last part.
    pub fn kind(&self, name: &str) -> Facts {
        match self.exactly(name) {
            Facts::NONE => self.exactly(last_part(name)),
            known => known,
        }
    }

    fn exactly(&self, name: &str) -> Facts {
        let known = tools::kind(name);
        let is_terminal = match &self.terminal {
            Some(own) => own.contains(&plain(name)),
            None => known == Some(Kind::Terminal),
        };
        match known {
            _ if is_terminal => Facts::TERMINAL_TOOL,
            Some(kind) if kind != Kind::Terminal => Facts::OTHER_TOOL,
            _ => Facts::NONE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
