//! Which files a call shows or writes, by its tool and its arguments: reads, edits, and commands that only print files.

use serde_json::Value;

use crate::history::pruning::superseded::{Access, normal_path, path_of};
use crate::permission::shell;
use crate::tools::arguments::command_of;
use crate::tools::{self, Kind};

/// Extensions of files that programs write what went wrong into.
const LOGS: [&str; 5] = ["log", "txt", "out", "err", "trace"];

/// Files that a call shows or writes.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ShownFiles {
    paths: Vec<String>,
    /// The text is that of the files and of nothing else.
    only_these: bool,
}

impl ShownFiles {
    /// Returns the files of a call whose arguments are JSON.
    pub(crate) fn of(tool: &str, args: &Value) -> ShownFiles {
        match Access::of(tool, args) {
            Access::Read(read) => ShownFiles { paths: vec![read.path], only_these: true },
            Access::Write => {
                ShownFiles { paths: path_of(args).into_iter().collect(), only_these: false }
            }
            Access::None => {
                let kind = tools::kind_of(tool);
                let command = (kind == Some(Kind::Terminal)).then(|| command_of(args)).flatten();
                let paths = command.as_deref().and_then(shell::printed_files).unwrap_or_default();
                let paths: Vec<String> = paths.iter().map(|path| normal_path(path)).collect();
                let only_these = !paths.is_empty();
                ShownFiles { paths, only_these }
            }
        }
    }

    /// The file, if it is one.
    pub(crate) fn single(&self) -> Option<&str> {
        let (first, rest) = self.paths.split_first()?;
        rest.iter().all(|path| path == first).then_some(first)
    }

    /// Returns true if a text is the content of files other than logs, because lines of source code are not errors of the run.
    pub(crate) fn are_source(&self) -> bool {
        self.only_these && !self.paths.is_empty() && self.paths.iter().all(|path| is_source(path))
    }
}

fn is_source(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
    extension.is_some_and(|extension| !LOGS.contains(&extension.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(args: &Value) -> (Vec<String>, bool) {
        let files = ShownFiles::of("exec_command", args);
        let is_source = files.are_source();
        (files.paths, is_source)
    }

    #[test]
    fn commands_that_only_print_files_show_them() {
        for (command, paths, source) in [
            ("cat src/a.ts", &["src/a.ts"][..], true),
            ("cat ./src/a.ts | head -50", &["src/a.ts"], true),
            ("sed -n '260,620p' cmd/main.go", &["cmd/main.go"], true),
            ("nl -ba a.rs | sed -n '1,40p'", &["a.rs"], true),
            ("cd src && sed -n 1,20p a.rs; tail -n 5 b.py", &["a.rs", "b.py"], true),
            ("head -n 20 build.log", &["build.log"], false),
            ("cat Makefile", &["Makefile"], false),
        ] {
            let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
            assert_eq!(shown(&json!({ "cmd": command })), (paths, source), "{command}");
        }
        let listed = json!({ "command": ["bash", "-lc", "cat a.ts"] });
        assert_eq!(shown(&listed), (vec!["a.ts".to_owned()], true));
    }

    #[test]
    fn other_commands_show_none() {
        for command in [
            "cat a.ts && npm test",
            "cat $FILE",
            "cat *.ts",
            "cat a.ts > b.ts",
            "cat a.ts | grep error",
            "sed 's/a/b/' a.ts",
            "sed -n '/error/p' a.ts",
            "sed -i -n 1p a.ts",
            "head -5",
            "cat a.ts & npm test",
            "cat a.ts || npm test",
            "cat \"$(ls)\"",
            "cat 'a.ts",
            "npm test",
            "",
        ] {
            assert_eq!(shown(&json!({ "cmd": command })), (vec![], false), "{command}");
        }
    }

    #[test]
    fn an_edit_is_about_its_file_and_says_more_than_it() {
        let files = ShownFiles::of("edit_file", &json!({ "path": "./a.ts" }));
        assert_eq!((files.single(), files.are_source()), (Some("a.ts"), false));
        let read = ShownFiles::of("Read", &json!({ "file_path": "a.ts" }));
        assert_eq!((read.single(), read.are_source()), (Some("a.ts"), true));
    }
}
