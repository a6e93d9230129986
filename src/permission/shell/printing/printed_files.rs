//! Which files a command prints, if it does nothing else, and which lines of them.

use crate::permission::shell::{AnalyzedCommand, Domain};
use crate::util::words::has_word;

/// Programs that print files, or what comes in.
const PRINTERS: [&str; 6] = ["cat", "head", "tail", "sed", "nl", "bat"];

/// Options that change no line, but for numbers and marks.
const MARKS: &str =
    "-n -b -A -e -E -T -v -ba -bt -p -pp --number --number-nonblank --show-all --plain";

/// Lines that `head` prints by default.
const HEAD_LINES: usize = 10;

/// Consecutive lines of a file, from 1 on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrintedLines {
    /// The file as it is written in the command.
    pub path: String,
    /// First line.
    pub from: usize,
    /// Last line; nothing for the end of the file.
    pub to: Option<usize>,
}

/// Returns the files that a command prints, whole or some of their lines, as they are written; nothing if it does
/// anything else, or if a file is not known beforehand.
pub fn printed_files(command: &str) -> Option<Vec<String>> {
    let files: Vec<String> =
        printers(command)?.into_iter().flat_map(|printer| printer.files).collect();
    (!files.is_empty()).then_some(files)
}

/// Returns the lines that a command prints if it does nothing but print consecutive lines of one file, as `cat a.ts` and
/// `nl -ba a.ts | sed -n '40,80p'` do.
pub fn printed_lines(command: &str) -> Option<PrintedLines> {
    // Only of commands with pipes between them one reads what the other prints.
    if command.contains([';', '&', '\n']) {
        return None;
    }
    let mut printers = printers(command)?.into_iter();
    let first = printers.next()?;
    let [path] = &first.files[..] else { return None };
    let (mut from, mut to) = first.lines?;
    for Printer { files, lines } in printers {
        let (start, end) = lines.filter(|_| files.is_empty())?;
        let before = from - 1;
        from = before.saturating_add(start);
        let end = end.map(|end| before.saturating_add(end));
        to = [end, to].into_iter().flatten().min();
    }
    Some(PrintedLines { path: path.clone(), from, to })
}

/// A simple command that prints files, or what comes in.
struct Printer {
    files: Vec<String>,
    /// First and last line of what it prints; nothing if they depend on the file or are several stretches.
    lines: Option<(usize, Option<usize>)>,
}

/// Returns the simple commands of a command that does nothing but print files.
fn printers(command: &str) -> Option<Vec<Printer>> {
    let reading = crate::permission::shell::read_alone(command);
    if reading.files.iter().any(|file| file.glob || file.domain == Domain::Edit) {
        return None;
    }
    reading.commands.iter().map(printer).collect()
}

fn printer(simple: &AnalyzedCommand) -> Option<Printer> {
    let mut words = simple.text.split(' ').peekable();
    let program = words.next().filter(|_| simple.concerns.is_empty())?;
    if program == "cd" {
        return Some(Printer { files: Vec::new(), lines: None });
    }
    if !PRINTERS.contains(&program) {
        return None;
    }
    let mut lines = match program {
        "head" => Some((1, Some(HEAD_LINES))),
        "tail" => None,
        _ => Some((1, None)),
    };
    if program == "sed" {
        words.next_if_eq(&"-n")?;
        let script = words.next()?.trim_matches('\'');
        let is_address = |byte: u8| byte.is_ascii_digit() || b",$p".contains(&byte);
        if !script.bytes().all(is_address) {
            return None;
        }
        lines = addressed(script);
    }
    let mut files = Vec::new();
    while let Some(word) = words.next() {
        if matches!(word, "-n" | "-c") && matches!(program, "head" | "tail") {
            let count = words.next()?;
            lines = (word == "-n").then(|| counted(program, count)).flatten();
        } else if word.contains(['\'', '"', '\\', '$', '`']) {
            return None;
        } else if let Some(option) = word.strip_prefix('-') {
            if matches!(program, "head" | "tail") {
                lines = counted(program, option.strip_prefix('n').unwrap_or(option));
            } else if !has_word(MARKS, word) {
                lines = None;
            }
        } else {
            files.push(word.to_owned());
        }
    }
    Some(Printer { files, lines })
}

/// Returns the lines of an address of `sed`: `40p`, `40,80p` or `40,$p`.
fn addressed(script: &str) -> Option<(usize, Option<usize>)> {
    let address = script.strip_suffix('p')?;
    let (from, to) = address.split_once(',').unwrap_or((address, address));
    let from = from.parse().ok().filter(|from| *from > 0)?;
    if to == "$" {
        return Some((from, None));
    }
    to.parse().ok().filter(|to| *to >= from).map(|to| (from, Some(to)))
}

/// Returns the lines that `head -n COUNT` or `tail -n COUNT` prints.
fn counted(program: &str, count: &str) -> Option<(usize, Option<usize>)> {
    if program == "tail" {
        return count.strip_prefix('+')?.parse().ok().map(|from: usize| (from.max(1), None));
    }
    count.parse().ok().filter(|count| *count > 0).map(|count| (1, Some(count)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_lines_of_one_file_are_known_by_the_command() {
        for (command, from, to) in [
            ("cat a.ts", 1, None),
            ("bat a.ts", 1, None),
            ("head a.ts", 1, Some(10)),
            ("head -n 40 a.ts", 1, Some(40)),
            ("head -40 a.ts", 1, Some(40)),
            ("head -n40 a.ts", 1, Some(40)),
            ("tail -n +12 a.ts", 12, None),
            ("sed -n 7p a.ts", 7, Some(7)),
            ("sed -n '40,80p' a.ts", 40, Some(80)),
            ("sed -n '40,$p' a.ts", 40, None),
            ("cat a.ts | head -50", 1, Some(50)),
            ("nl -ba a.ts | sed -n '40,80p'", 40, Some(80)),
            ("tail -n +10 a.ts | head -n 5", 10, Some(14)),
            ("head -20 a.ts | sed -n '11,40p'", 11, Some(20)),
            ("sed -n '10,20p' a.ts | head -100", 10, Some(20)),
        ] {
            let lines = PrintedLines { path: "a.ts".to_owned(), from, to };
            assert_eq!(printed_lines(command), Some(lines), "{command}");
        }
    }

    #[test]
    fn other_commands_print_no_lines_that_are_known() {
        for command in [
            "tail a.ts",
            "tail -n 5 a.ts",
            "tail -5 a.ts",
            "head -c 100 a.ts",
            "head -n -5 a.ts",
            "sed -n '1p,9p' a.ts",
            "sed -n '9,1p' a.ts",
            "sed -n 0p a.ts",
            "cat a.ts b.ts",
            "cat a.ts; cat b.ts",
            "cat a.ts; head -5",
            "cat a.ts && sed -n 1,5p",
            "bat -r40:80 a.ts",
            "bat --line-range=40:80 a.ts",
            "cat -s a.ts",
            "cd src && cat a.ts",
            "cat a.ts | grep x",
            "cat a.ts > b.ts",
            "cat *.ts",
            "head -99999999999999999999 a.ts",
            "",
        ] {
            assert_eq!(printed_lines(command), None, "{command}");
        }
    }
}
