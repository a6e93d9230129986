//! Programs: what they do with the files that they are given, and which of their options run something or write somewhere
//! else.
//!
//! An option that stands here makes a command a question even where a rule allows the program, unless the rule names the
//! option itself. A short one is found in a bundle (`-xI`), a long one by its beginning (`--upload-p`).

use std::collections::HashMap;
use std::sync::LazyLock;

use super::program_table::TABLE;

/// What a program does with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing that anybody could use: their values need not be known.
    Inert,
    /// Shows what is in files.
    Reader,
    /// The same, but the first argument is a pattern.
    Grep,
    /// Shows the names in folders; the current one if there is no argument.
    Lister,
    /// Changes files.
    Writer,
    /// Reads all but the last, which it writes.
    Copier,
    /// Changes both ends.
    Mover,
    /// Arguments are programs, or name what is run.
    Code,
    /// Arguments are a command, or a text for a shell.
    Runner,
    /// `git`, with its own commands.
    Git,
    /// A stream editor with a script.
    Sed,
    /// A language for lines.
    Awk,
    /// Finds files, and runs programs on them.
    Find,
    /// Writes what `of=` says and reads what `if=` says.
    Dd,
    /// Runs with arguments, but changes the shell itself.
    Shell,
}

/// One line of the table.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// What it does with its arguments.
    pub kind: Kind,
    /// The options that run something.
    pub flags: &'static [&'static str],
}

static PROGRAMS: LazyLock<HashMap<&'static str, Program>> = LazyLock::new(|| {
    let rows = TABLE.iter().flat_map(|(names, kind, flags)| {
        names.iter().map(|name| (*name, Program { kind: *kind, flags }))
    });
    rows.collect()
});

/// The line about a program, by its name without a folder.
pub fn find(name: &str) -> Option<Program> {
    PROGRAMS.get(name).copied()
}

/// The option of the table that a word is, or could be short for.
pub fn flag<'f>(word: &str, flags: &[&'f str]) -> Option<&'f str> {
    // Most words are no options.
    if !word.starts_with(['-', '+']) && !word.contains('=') {
        return flags.iter().copied().find(|flag| *flag == word);
    }
    let name = word.split('=').next().unwrap_or(word);
    flags.iter().copied().find(|flag| match *flag {
        "=" => word.contains('=') && !word.starts_with('-'),
        "+" => word.starts_with('+'),
        flag if flag.starts_with("--") => {
            // Programs take the beginning of a long option for the whole, where nothing else begins so.
            name.len() > 2 && name.starts_with("--") && (flag.starts_with(name) || name == flag)
        }
        flag if flag.len() == 2 && flag.starts_with('-') => {
            let short = word.starts_with('-') && !word.starts_with("--");
            short && word[1..].contains(&flag[1..])
        }
        flag => name == flag || (flag.starts_with('-') && word.starts_with(flag)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_stands_once() {
        let all: usize = TABLE.iter().map(|(names, ..)| names.len()).sum();
        assert_eq!(PROGRAMS.len(), all);
    }

    #[test]
    fn options_are_found_however_they_are_written() {
        let tar = find("tar").unwrap().flags;
        for word in ["-I", "-xIf", "-Izstd", "--to-command=x", "--to-com", "--checkpoint-a=exec=x"]
        {
            assert!(flag(word, tar).is_some(), "{word}");
        }
        for word in ["-xf", "--exclude=x", "a.tar", "-", "--", "--verbose"] {
            assert!(flag(word, tar).is_none(), "{word}");
        }
        assert!(flag("-execdir", find("go").unwrap().flags).is_some());
        assert!(flag("CC=evil", find("make").unwrap().flags).is_some());
    }
}
