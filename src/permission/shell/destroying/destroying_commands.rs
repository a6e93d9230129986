//! Commands that destroy the machine or all files of a user, in any spelling.
//!
//! Such a command gets a canonical text among its [other forms](crate::permission::shell::AnalyzedCommand::others), which hard denies match. Words
//! with unknown values are expanded here as far as the command itself determines them (variables set in it, `$(echo
//! …)`, braces): a wrong guess can only add a denial of a canonical text, never allow anything.

use super::destroyed_places::expanded_word;
use super::destroyer_names::{REMOVERS, RIGHTS};
use super::destroying_code::commands_in;
use super::fork_bombs::{evaluates_itself, starts_shells, with_own_name};
use crate::permission::places::{Place, is_essential_program, is_protected_file};
use crate::permission::shell::analyzer::{MAX_PIECES, MIN_REREAD, Walker};
use crate::permission::shell::container_paths::{
    mounts_of, names_container, on_machine, with_paths_of_machine,
};
use crate::permission::shell::expand::{can_be_name, in_double_quotes, without_patterns};
use crate::permission::shell::known_values::Fact;
use crate::permission::shell::program_names::{base, name_in_system};
use crate::permission::shell::programs::{self, Kind};
use crate::permission::shell::shells::{is_of_same_language, running_texts, runs_texts};
use crate::permission::shell::simple_command::{MAX_DESTROYED, is_message};
use crate::permission::shell::word::Word;
use crate::permission::shell::wrappers::{is_lookup, shell_text};
use crate::permission::shell::{
    git::git_helpers, passed_input, printing::printed_text, printing::sed_output,
};
use crate::util::words::has_word;

/// Canonical texts, each of which a built-in hard deny matches.
pub(super) const REMOVES_ROOT: &str = "rm -rf /";
pub(super) const WRITES_DISK: &str = "mkfs /dev/sda";
pub(super) const WRITES_SYSTEM: &str = "truncate /etc/passwd";
pub(super) const CHANGES_RIGHTS: &str = "chmod -R 777 /";
pub(crate) const FORKS: &str = ":(){ :|:& };:";
pub(super) const KILLS_ALL: &str = "kill -9 -1";
pub(super) const STOPS_MACHINE: &str = "shutdown now";
pub(super) const OPENS_NETWORK: &str = "iptables -F INPUT FORWARD OUTPUT";

const CANONICAL: [&str; 8] = [
    REMOVES_ROOT,
    WRITES_DISK,
    WRITES_SYSTEM,
    CHANGES_RIGHTS,
    FORKS,
    KILLS_ALL,
    STOPS_MACHINE,
    OPENS_NETWORK,
];

/// Maximum number of words at which the command of another program may begin.
pub(crate) const MAX_TAILS: usize = 16;

/// Words before a command in a construct of a shell.
pub(super) const KEYWORDS: &str = "do then else elif if while until ! time";

/// Programs that run their arguments on this machine and outside of any container.
pub(crate) const LOCAL_WRAPPERS: &str = "\
    sudo doas nohup timeout gtimeout nice ionice env setsid time command exec builtin stdbuf chronic run0 pkexec busybox \
    toybox systemd-run xargs";

impl Walker<'_> {
    /// Returns the canonical texts of what a command destroys. `read` are the texts of its input.
    pub(crate) fn destroys(&mut self, words: &[Word], read: &[String]) -> Vec<String> {
        let marks = self.separators();
        if marks.is_empty() || words.iter().all(|word| word.known) {
            let words = self.expanded(words);
            return self.destroys_anywhere(&words, read);
        }
        // The separators may be in force or not, so both readings count.
        let mut found = Vec::new();
        for marks in [&marks, ""] {
            let words = self.expanded_by(words, marks).into_owned();
            found.extend(self.destroys_anywhere(&words, read));
        }
        found
    }

    fn destroys_anywhere(&mut self, words: &[Word], read: &[String]) -> Vec<String> {
        if is_lookup(words) {
            return Vec::new();
        }
        // A wrapper can run its command in another folder.
        let name = words.first().map(|word| base(&word.text)).unwrap_or_default();
        if !has_word(LOCAL_WRAPPERS, &name) && name != "parallel" {
            return self.destroys_here(words, read);
        }
        let own = words.iter().skip(1).take(MAX_TAILS).cloned().collect::<Vec<_>>();
        let folders = self.folders_among(&own, 0);
        let outer = self.places.clone();
        for folder in folders {
            let place = outer.first().map_or("/", |place| place.as_str());
            self.places.extend(self.folders.absolute(&folder, place));
        }
        let found = self.destroys_here(words, read);
        self.places = outer;
        found
    }

    fn destroys_here(&mut self, words: &[Word], read: &[String]) -> Vec<String> {
        let Some(name) = words.first() else { return Vec::new() };
        let mut found = self.alias_destroys(words, read);
        found.extend(self.program_destroys(name, words, read).into_iter().map(str::to_owned));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns what a command destroys whose first word is an alias.
    fn alias_destroys(&mut self, words: &[Word], read: &[String]) -> Vec<String> {
        let is_it = |(own, _): &(Fact, String)| matches!(own, Fact::Alias(name) if is_same_path(name, &words[0].text));
        let Some(at) = self.facts.iter().rposition(is_it) else { return Vec::new() };
        // An alias may have its own name in its text, and aliases that lead to each other grow.
        if !self.spend(words.len()) {
            self.is_overfull = true;
            return Vec::new();
        }
        let alias = self.facts.remove(at);
        let mut all: Vec<Word> = alias.1.split_whitespace().map(expanded_word).collect();
        all.extend_from_slice(&words[1..]);
        let found = self.destroys_here(&all, read);
        self.facts.insert(at.min(self.facts.len()), alias);
        found
    }

    /// Returns what a command destroys if its first word is no alias: a shell without a terminal expands none.
    fn program_destroys(
        &mut self,
        name: &Word,
        words: &[Word],
        read: &[String],
    ) -> Vec<&'static str> {
        let base = &*base(&name.text);
        let program = programs::find(base);
        let kind = program.map(|program| program.kind);
        let has_folder = name.text.rfind('/').is_some_and(|end| end > 0);
        let is_itself = !has_folder || name_in_system(&name.text).is_some();
        let last = || name.text.rsplit('/').next().unwrap_or_default();
        // A pattern that says nothing is a comment or the sign of a list: `/**`, `* `, `src/*`.
        let is_option = |word: &Word| word.text.starts_with('-') && word.text.len() > 1;
        let says_name = has_folder && name.text.starts_with('/')
            || has_literal_letter(last())
            || words.iter().skip(1).any(is_option);
        let is_glob = name.known && name.glob && says_name && name.text.contains(['*', '?', '[']);
        let can_be = |known: &str| can_be_name(last(), known);
        let is_shell = !name.known || runs_texts(base) || (is_glob && running_texts().any(can_be));
        // Programs of these kinds run none of their words.
        let runs = is_shell
            || match kind {
                None => !matches!(base, "man" | "info"),
                Some(kind) if kind.runs_arguments() => true,
                _ => matches!(base, "eval" | "trap" | "alias"),
            };
        let is_wrapper = has_word(LOCAL_WRAPPERS, base);
        let mut found: Vec<&'static str> = Vec::new();
        found.extend(self.destroys_by(base, words, is_itself));
        found.extend(self.function_destroys(&name.text));
        // None of them destroys anything without a place.
        let names_place = || {
            words[1..].iter().any(|word| {
                let value = word.text.split_once('=').map(|(_, value)| expanded_word(value));
                let is_place = |word: &Word| {
                    self.any_place(word).is_some() || !self.file_places(word).is_empty()
                };
                !word.known || is_place(word) || value.is_some_and(|value| is_place(&value))
            })
        };
        if is_glob && names_place() {
            let names = [REMOVERS, "dd mkfs", RIGHTS].into_iter().flat_map(|list| list.split(' '));
            for known in names.filter(|known| can_be(known)) {
                found.extend(self.destroys_by(known, words, false));
            }
        }
        if runs {
            let is_local = is_itself && is_wrapper;
            found.extend(self.runner_destroys(base, words, is_local));
            if runs_in_container(base, words) {
                found.retain(|it| !matches!(*it, KILLS_ALL | STOPS_MACHINE));
            }
            let mounted = with_paths_of_machine(words);
            if let Some((words, folder)) = &mounted {
                let outer = self.places.clone();
                self.places.extend(folder.clone());
                found.extend(self.runner_destroys(base, words, false));
                let inputs: Vec<String> = read.iter().chain(&self.piped).cloned().collect();
                for text in inputs {
                    let text =
                        mounts_of(words).iter().fold(text, |text, mount| on_machine(&text, *mount));
                    found.extend(self.text_destroys(&text));
                }
                self.places = outer;
            }
            if kind.is_some_and(Kind::runs_arguments) {
                let is_code =
                    |at: &usize| !is_sent(words, *at, program) && !is_shell_text(words, *at);
                for at in (1..words.len().min(MAX_TAILS)).filter(is_code) {
                    found.extend(self.code_runs(&words[at].text));
                }
            }
        }
        found.extend(self.scripts_destroy(kind, words));
        if program.is_some_and(|program| program.input == "*") {
            found.extend(
                words[1..].iter().take(MAX_TAILS).find_map(|word| self.editor_writes(&word.text)),
            );
        }
        let names_shell = || words.iter().any(|word| runs_texts(&self::base(&word.text)));
        let starts_shell = is_shell || (is_wrapper && names_shell());
        if starts_shell || words.len() == 1 {
            found.extend(self.files_destroy(words, starts_shell));
        }
        let piped = self.piped.clone();
        let input = || read.iter().chain(&piped);
        if is_shell || base == "ssh" || (runs && names_shell()) || opens_shell(base, words) {
            for text in input() {
                found.extend(self.text_destroys(&as_read_by(base, text)));
            }
            found.extend(self.xargs_destroys(words, read));
        } else if is_code_from_input(program, words)
            || passed_input::passes(program, words)
            || program.is_some_and(|program| program.sql)
        {
            for text in input() {
                found.extend(self.code_runs(text));
                found.extend(self.text_destroys(text));
            }
        } else if !matches!(
            kind,
            Some(Kind::Inert | Kind::Reader | Kind::Grep | Kind::Writer | Kind::Git)
        ) && !passed_input::is_text(base, kind, words)
        {
            for text in read {
                found.extend(self.text_destroys(text));
            }
        }
        found
    }

    /// Returns what a command of an editor overwrites: `:w! /dev/sda`.
    fn editor_writes(&self, text: &str) -> Option<&'static str> {
        let (name, path) = text.trim_start_matches([':', '+']).split_once(' ')?;
        let is_write = matches!(name.trim_end_matches('!'), "w" | "write" | "sav" | "saveas");
        let place = is_protected_file(path.trim()).filter(|_| is_write)?;
        Some(if place == Place::Disk { WRITES_DISK } else { WRITES_SYSTEM })
    }

    /// Returns what a program destroys that may run its words.
    fn runner_destroys(&mut self, base: &str, words: &[Word], is_local: bool) -> Vec<&'static str> {
        let mut found = Vec::new();
        for at in 1..words.len().min(MAX_TAILS) {
            let inner = self::base(&words[at].text);
            found.extend(self.destroys_by(&inner, &words[at..], is_local));
        }
        let program = programs::find(base);
        let places = 1..words.len();
        let (texts, others): (Vec<usize>, Vec<usize>) = places
            .filter(|at| !is_sent(words, *at, program))
            .partition(|at| is_shell_text(words, *at));
        let mut inner: Vec<String> =
            others.iter().flat_map(|at| commands_in(&words[*at].text)).collect();
        inner.extend(others.iter().flat_map(|at| in_double_quotes(&words[*at])));
        let joined = |words: &[Word]| {
            words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
        };
        if base == "eval" {
            if self
                .facts
                .iter()
                .any(|(own, text)| matches!(own, Fact::Value(name) if evaluates_itself(name, text)))
            {
                found.push(FORKS);
            }
            let text = joined(&words[1..]);
            match others.is_empty() {
                true => found.extend(self.shell_text_destroys(&text).into_iter().flatten()),
                false => inner.push(text),
            }
            return found.into_iter().chain(self.commands_destroy(&inner)).collect();
        }
        if words[0].text.contains(' ') || !words[0].known {
            inner.push(joined(words));
        }
        for at in texts.into_iter().take(MAX_TAILS) {
            found.extend(self.shell_text_destroys(&words[at].text).into_iter().flatten());
        }
        for at in others.into_iter().take(MAX_TAILS) {
            let (word, quoted) = (&words[at], in_double_quotes(&words[at]));
            let text = word.text.as_str();
            let text = if word.known { text } else { text.trim_matches('"') };
            let mut texts = std::iter::once(text).chain(quoted.iter().map(String::as_str));
            found.extend(texts.find_map(|text| self.code_destroys(text)));
        }
        found.into_iter().chain(self.commands_destroy(&inner)).collect()
    }

    /// Returns what texts destroy of which each may be a command.
    pub(super) fn commands_destroy(&mut self, texts: &[String]) -> Vec<&'static str> {
        let texts = texts.iter().take(MAX_TAILS);
        texts.flat_map(|text| self.shell_text_destroys(text).into_iter().flatten()).collect()
    }

    /// Returns what the scripts of `awk` and `sed` and the settings and helpers of `git` destroy.
    fn scripts_destroy(&mut self, kind: Option<Kind>, words: &[Word]) -> Vec<&'static str> {
        let all = || words[1..].iter().map(|word| word.text.clone());
        let texts: Vec<String> = match kind {
            Some(Kind::Awk) => {
                let runs = |word: &Word| word.text.contains(['|', '(']);
                let made = printed_text::of_awk(words, self.piped.clone());
                all().chain(made.filter(|_| words.iter().any(runs))).collect()
            }
            Some(Kind::Sed) => all().chain(sed_output::run_texts(words)).collect(),
            // Messages and patterns are not run.
            Some(Kind::Git) => git_helpers::run_texts(&self.with_settings(words, &mut Vec::new())),
            _ => return Vec::new(),
        };
        let texts: Vec<String> = texts.iter().flat_map(|text| commands_in(text)).collect();
        texts.iter().take(MAX_TAILS).flat_map(|text| self.text_destroys(text)).collect()
    }

    /// Returns what the files destroy that the command wrote and now runs.
    fn files_destroy(&mut self, words: &[Word], is_shell: bool) -> Vec<&'static str> {
        let texts_at = |path: &str| self.written_texts(path).map(str::to_owned).collect::<Vec<_>>();
        let file_of_start = |(own, value): &(Fact, String)| match own {
            Fact::Value(name) => match name.as_str() {
                "BASH_ENV" | "ENV" => Some(value.clone()),
                "ZDOTDIR" => Some([value, "/.zshenv"].concat()),
                _ => None,
            },
            _ => None,
        };
        let read_first: Vec<String> = self
            .facts
            .iter()
            .filter(|_| is_shell)
            .filter_map(file_of_start)
            .flat_map(|path| texts_at(&path).into_iter().chain([path]))
            .collect();
        if read_first.iter().any(|text| starts_shells(text)) {
            return vec![FORKS];
        }
        let written: Vec<String> = words
            .iter()
            .flat_map(|word| {
                texts_at(&word.text).into_iter().map(|text| with_own_name(&text, &word.text))
            })
            .chain(read_first)
            .collect();
        written.iter().flat_map(|text| self.text_destroys(text)).collect()
    }

    /// Returns what a text destroys that was not understood, by the commands that it may contain.
    pub(crate) fn pieces_destroy(&mut self, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        if text.contains(" (") {
            // Fish writes substitutions so, and csh lists.
            let others = [text.replace(" (", " $("), text.replace(" (", " ").replace(')', " ")];
            found.extend(self.commands_destroy(&others).into_iter().map(str::to_owned));
        }
        let text = &without_patterns(text);
        for (at, _) in text.match_indices('>').take(MAX_TAILS) {
            let file = text[at + 1..].trim_start_matches(['>', '|', '&', ' ', '"', '\'']);
            let end =
                file.find(|letter: char| letter.is_whitespace() || ";&|()\"'`".contains(letter));
            let file = expanded_word(&file[..end.unwrap_or(file.len())]);
            found.extend(destroyed_by_writing(&file.text).map(str::to_owned));
        }
        let pieces = text.split([';', '&', '|', '(', ')', '{', '}', '`', '\n', '\0']);
        for piece in pieces.take(MAX_PIECES) {
            self.remember_loop(piece);
            if !may_destroy(piece) {
                continue;
            }
            let Some(left) = self.pieces_left.checked_sub(piece.len() + MIN_REREAD) else { break };
            self.pieces_left = left;
            let words: Vec<Word> = piece
                .split_whitespace()
                .skip_while(|word| has_word(KEYWORDS, word))
                .take(MAX_DESTROYED)
                .map(|word| match word.contains('$') {
                    true => Word { known: false, ..expanded_word(word) },
                    false => expanded_word(&word.replace(['"', '\'', '\\'], "")),
                })
                .collect();
            if !words.is_empty() {
                found.extend(self.destroys(&words, &[]));
            }
        }
        found
    }

    /// Records the values of a loop that was not understood: `select x in a b`, `for x in a b`, `set x a` of fish.
    fn remember_loop(&mut self, piece: &str) {
        let words: Vec<&str> = piece.split_whitespace().take(MAX_TAILS).collect();
        let values = match words[..] {
            ["select" | "for", _, "in", ..] => &words[3..],
            ["foreach" | "set", _, ..] => &words[2..],
            _ => return,
        };
        for value in values {
            self.remember_value(words[1], value);
        }
    }

    /// Returns what a function that was defined before destroys where it is called.
    fn function_destroys(&mut self, name: &str) -> Vec<&'static str> {
        if self.functions.is_empty() {
            return Vec::new();
        }
        // A recursive function is read once.
        let (called, others) =
            self.functions.drain(..).partition(|function| function.fname.value == name);
        self.functions = others;
        let called: Vec<_> = called;
        called
            .into_iter()
            .flat_map(|function| self.text_destroys(&function.body.0.to_string()))
            .collect()
    }

    /// Returns what a text destroys that a shell may read, or another program.
    pub(crate) fn text_destroys(&mut self, text: &str) -> Vec<&'static str> {
        let Some(mut found) = self.shell_text_destroys(text) else { return Vec::new() };
        if found.is_empty() {
            found.extend(self.code_destroys(text));
        }
        found
    }

    /// Returns what a text destroys that a shell reads; `None` if it is not read.
    fn shell_text_destroys(&mut self, text: &str) -> Option<Vec<&'static str>> {
        if !may_destroy(text) {
            return None;
        }
        let mut inner = self.shadow(text)?;
        inner.source(text);
        let reading = self.end_shadow(inner);
        let mut found = Vec::new();
        for other in reading.commands.iter().flat_map(|one| one.others.iter().chain([&one.text])) {
            found.extend(CANONICAL.iter().find(|known| *known == other).copied());
        }
        for file in
            reading.files.iter().filter(|file| file.domain == crate::permission::Domain::Edit)
        {
            found.extend(destroyed_by_writing(&file.path));
        }
        Some(found)
    }
}

/// Returns what writing to a file destroys.
fn destroyed_by_writing(path: &str) -> Option<&'static str> {
    match is_protected_file(path) {
        Some(Place::Disk) => Some(WRITES_DISK),
        Some(_) => Some(WRITES_SYSTEM),
        None => is_essential_program(path).then_some(WRITES_SYSTEM),
    }
}

/// Returns true unless no part of a text is a part of what destroys something.
pub(super) fn may_destroy(text: &str) -> bool {
    const PARTS: &str = "\
        mount|ctl|tab|nft|ufw|wall|grub|linux|lilo|nvram|ip |nmcli|ifdown|ifconfig|route|group|usermod|passwd|service|rm|mv|\
        gdd|fldd|c3dd|mk|ch|/dev/|/etc/|/boot|&|kill|wipe|del|disk|part|shred|shutdown|boot|poweroff|halt|$|eval|find|tr|sysrq|remove|\
        rd |ri |computer|tar|zip|cpio|sync|7z|cp |mdadm|fastboot|chsh|dscl|pool|fuser|pkg|merge|purge|erase|pacman|rpm|\
        geli|control|mirror|raid|label|trim|unlink|replace(|symlink|readdir|scandir|cpsync|copytree|fork|spawn|system|exec|zip|\
        xz|zst|lz|compress|brotli|rip |gio|rar |bfs|hg |svn|jj|reset|restore|checkout|stash|read-tree|rename|upx|patchelf|aria2|qemu|cmake|gdb|.remove";
    let lower = text.to_ascii_lowercase();
    // `dd` only as a word, because `add` has it, too. `gdd`, `dcfldd` and `dc3dd` are above, by their endings.
    let mut dd = lower.match_indices("dd").map(|(at, _)| &lower[..at]);
    PARTS.split('|').any(|part| lower.contains(part))
        || dd.any(|before| !before.ends_with(|letter: char| letter.is_ascii_alphanumeric()))
}

/// Returns true for a text that a shell reads: what is in quotes in it is an argument there, and no command.
pub(crate) fn is_shell_text(words: &[Word], at: usize) -> bool {
    if !words[at].known {
        return false;
    }
    let is_text_of = |shell: usize| {
        is_of_same_language(&base(&words[shell].text))
            && shell_text(&words[shell..], |_| true) == Some(at - shell)
    };
    base(&words[0].text) == "eval" || (at.saturating_sub(MAX_TAILS)..at).rev().any(is_text_of)
}

/// Returns true if a glob has a letter that it matches as it is: not `*`, and not `[a-z]*`, but `[r]m`.
fn has_literal_letter(glob: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric();
    glob.split('[').enumerate().any(|(at, part)| match part.split_once(']') {
        Some((set, rest)) if at > 0 => {
            rest.contains(is_letter) || set.len() == 1 && set.contains(is_letter)
        }
        None if at > 0 => false,
        _ => part.contains(is_letter),
    })
}

/// Returns true if a command runs in a container that has processes of its own.
fn runs_in_container(base: &str, words: &[Word]) -> bool {
    let is_of_machine = |word: &Word| word.text.contains("nsenter") || word.text.contains("chroot");
    (names_container(words) || matches!(base, "kubectl" | "oc"))
        && words.iter().take(MAX_TAILS).any(|word| word.text == "exec")
        && !words.iter().any(is_of_machine)
}

/// Returns true if a program starts a shell although its words name none.
fn opens_shell(base: &str, words: &[Word]) -> bool {
    let is_option = |word: &Word| {
        matches!(word.text.as_str(), "-s" | "-i" | "--shell" | "--login" | "-is" | "-si")
    };
    matches!(base, "sudo" | "doas" | "run0" | "pkexec") && words.iter().any(is_option)
}

/// Returns an input as a shell reads it.
fn as_read_by(base: &str, text: &str) -> String {
    // In an unquoted document a backslash protects a dollar from the outer shell.
    let text = text.replace("\\$", "$");
    if base != "crontab" {
        return text;
    }
    // Each line begins with the times, or with a name for them.
    let command = |line: &str| {
        let times = if line.trim_start().starts_with('@') { 1 } else { 5 };
        line.split_whitespace().skip(times).collect::<Vec<_>>().join(" ")
    };
    text.lines().map(command).collect::<Vec<_>>().join("\n")
}

/// Options of `curl` whose value is sent.
const SENT: &str =
    "-d --data --data-raw --data-ascii --data-binary --data-urlencode --json -H --header -A";

/// Returns true if a word is a text that a program only sends or records.
fn is_sent(words: &[Word], at: usize, program: Option<&programs::Program>) -> bool {
    is_message(words, at, program)
        || (words[0].text == "curl" && words[at].known && has_word(SENT, &words[at - 1].text))
}

/// Returns true if a program reads code from its input.
pub(crate) fn is_code_from_input(program: Option<&programs::Program>, words: &[Word]) -> bool {
    let is_language = program.is_some_and(|program| program.script || program.stdin);
    // With a script, it is only what the script reads.
    let is_script = |word: &Word| !word.text.starts_with('-') && word.text != "/dev/stdin";
    is_language && !words.iter().skip(1).any(is_script)
}

/// Returns true if two words are the same path, which may begin with the current folder.
pub(crate) fn is_same_path(a: &str, b: &str) -> bool {
    a.trim_start_matches("./") == b.trim_start_matches("./")
}
