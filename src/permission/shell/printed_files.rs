//! Which files a command prints, if it does nothing else.

use super::{AnalyzedCommand, Domain};

/// Programs that print files, or what comes in.
const PRINTERS: [&str; 6] = ["cat", "head", "tail", "sed", "nl", "bat"];

/// Returns the files that a command prints, whole or some of their lines, as they are written; nothing if it does
/// anything else, or if a file is not known beforehand.
pub fn printed_files(command: &str) -> Option<Vec<String>> {
    let reading = super::read_alone(command);
    if reading.files.iter().any(|file| file.glob || file.domain == Domain::Edit) {
        return None;
    }
    let files: Option<Vec<Vec<String>>> = reading.commands.iter().map(files_of).collect();
    files.map(|files| files.concat()).filter(|files| !files.is_empty())
}

/// Returns the files that a simple command is given; nothing if it does anything but print them.
fn files_of(simple: &AnalyzedCommand) -> Option<Vec<String>> {
    let mut words = simple.text.split(' ').peekable();
    let program = words.next().filter(|_| simple.concerns.is_empty())?;
    if program == "cd" {
        return Some(Vec::new());
    }
    if !PRINTERS.contains(&program) {
        return None;
    }
    if program == "sed" {
        // Only addresses of lines.
        words.next_if_eq(&"-n")?;
        let is_address = |byte: u8| byte.is_ascii_digit() || b",$p".contains(&byte);
        words.next().filter(|script| script.trim_matches('\'').bytes().all(is_address))?;
    }
    let mut files = Vec::new();
    while let Some(word) = words.next() {
        if matches!(word, "-n" | "-c") && matches!(program, "head" | "tail") {
            words.next()?;
        } else if word.contains(['\'', '"', '\\', '$', '`']) {
            return None;
        } else if !word.starts_with('-') {
            files.push(word.to_owned());
        }
    }
    Some(files)
}
