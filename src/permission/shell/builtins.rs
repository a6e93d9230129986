//! Builtin commands of the shell, and what they change.

use super::analyzer::Walker;
use super::possible_commands::Guess;
use super::variable_names::is_harmless;
use super::variables::is_own;
use super::word::Word;
use super::{AnalyzedCommand, Concern};
use crate::permission::Domain;

impl Walker<'_> {
    pub(super) fn builtin(&mut self, base: &str, words: &[Word], command: &mut AnalyzedCommand) {
        let plain = |word: &Word| word.known && !word.text.contains(['[', '$', '(', '`']);
        let ask = |command: &mut AnalyzedCommand, reason: &str| {
            command.concerns.push(Concern::always(format!("{base} {reason}")))
        };
        if sets_variables(base) && self.constants.disable() {
            ask(command, "can set a variable that is known once more");
        }
        match base {
            "cd" => {
                let is_option = |word: &Word| matches!(word.text.as_str(), "-P" | "-L");
                let mut rest: Vec<&Word> = words[1..].iter().skip_while(|w| is_option(w)).collect();
                let is_named = rest.first().is_some_and(|word| word.text == "--");
                if is_named {
                    rest.remove(0);
                }
                if rest.len() > 1 {
                    ask(command, "has more than one folder");
                }
                // With another option and without a directory it changes to the home directory, or to one that the
                // shell remembers.
                let is_odd =
                    |word: &&Word| word.text.len() > 1 && word.text.starts_with(['-', '+']);
                if !is_named && rest.first().is_some_and(is_odd) {
                    command.concerns.push(self.lost("cd has an option that is not known"));
                    return;
                }
                command.concerns.extend(self.enter(rest.first().copied()));
                // Reading the directory is evaluated; the command has no other effect.
                command.quiet = command.concerns.is_empty();
            }
            "eval" => {
                if words.iter().all(|word| word.known && !word.glob) {
                    let text = words[1..]
                        .iter()
                        .map(|word| word.text.as_str())
                        .collect::<Vec<_>>()
                        .join(" ");
                    self.source(&text);
                }
                ask(command, "reads its words as a command once more");
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                self.judge_declaration(base, words, command)
            }
            "set" => {
                let known = words[1..].iter().all(|word| {
                    let text = word.text.as_str();
                    matches!(text, "pipefail" | "errexit" | "nounset" | "xtrace")
                        || (text.starts_with(['-', '+'])
                            && text[1..].bytes().all(|byte| b"euxo".contains(&byte)))
                });
                if !known || words.len() == 1 {
                    ask(command, "can change how commands are read");
                }
                command.quiet = command.concerns.is_empty();
            }
            // The value that it assigns to a variable is as unknown as the variable was before.
            "read"
                if words[1..]
                    .iter()
                    .all(|word| word.text == "-r" || (plain(word) && is_own(&word.text))) =>
            {
                command.quiet = command.concerns.is_empty();
            }
            "history" => {
                for pair in words.windows(2).filter(|pair| !pair[1].text.starts_with('-')) {
                    let domain = match pair[0].text.as_str() {
                        "-w" | "-a" => Domain::Edit,
                        "-r" | "-n" => Domain::Read,
                        _ => continue,
                    };
                    command.concerns.extend(self.file(domain, &pair[1]));
                }
                ask(command, "changes the shell itself");
            }
            "kill" | "bg" | "fg" | "disown" | "times" | "dirs" | "caller" | "logout"
            | "suspend" => {}
            "unset" if words[1..].iter().all(|word| plain(word) && is_own(&word.text)) => {
                command.quiet = command.concerns.is_empty();
            }
            "pushd" if words.len() == 2 && !words[1].text.starts_with(['-', '+']) => {
                command.concerns.extend(self.enter(words.get(1)));
                ask(command, "changes the folder");
            }
            "pushd" | "popd" => {
                self.places.clear();
                ask(command, "changes the folder");
            }
            _ => {
                ask(command, "changes the shell itself");
                self.guess(words, 1, Guess::Drop, command);
            }
        }
    }

    /// Judges the variables that a builtin gives values or attributes.
    fn judge_declaration(&mut self, base: &str, words: &[Word], command: &mut AnalyzedCommand) {
        let exports = words.iter().any(|word| word.text == "export" || word.text == "-x");
        let handed: fn(&str) -> bool = if exports { is_harmless } else { is_own };
        let mut values = Vec::new();
        for word in &words[1..] {
            let (name, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
            let option = base != "export" && matches!(name, "-r" | "-x" | "-g");
            // The value of an integer is arithmetic, and so are indexes.
            let odd = name.starts_with('-') && !option
                || name.contains(['[', '(', '+', '$'])
                || value.starts_with('(');
            if odd || (!option && !handed(name)) {
                command.concerns.push(Concern::always(format!("{base} can change what is run")));
                values.push(value);
            }
        }
        self.guess_values(&values, command);
        command.quiet = command.concerns.is_empty();
    }
}

/// Returns true if a builtin can set variables whose names are computed.
fn sets_variables(base: &str) -> bool {
    matches!(
        base,
        "eval"
            | "read"
            | "declare"
            | "typeset"
            | "local"
            | "unset"
            | "mapfile"
            | "readarray"
            | "getopts"
            | "let"
            | "source"
            | "."
            | "readonly"
            | "alias"
            | "trap"
    )
}
