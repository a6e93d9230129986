//! Commands that destroy the machine or all files of a user, in any spelling.
//!
//! Such a command gets a canonical text among its [other forms](super::Simple::others), which hard denies match. Words
//! with unknown values are expanded here as far as the command itself determines them (variables set in it, `$(echo
//! …)`, braces): a wrong guess can only add a denial of a canonical text, never allow anything.

use std::borrow::Cow;

use super::analyzer::Walker;
use super::destroyed_places::expanded_word;
use super::destroying_code::{commands_in, decoded_parts};
use super::destroying_programs::{REMOVERS, RIGHTS};
use super::expand::can_be_name;
use super::programs::{self, Kind};
use super::simple_command::SYSTEM_FOLDERS;
use super::word::Word;
use crate::permission::places::{Place, is_protected_file};

/// Canonical texts, each of which a built-in hard deny matches.
pub(super) const REMOVES_ROOT: &str = "rm -rf /";
pub(super) const WRITES_DISK: &str = "mkfs /dev/sda";
pub(super) const WRITES_SYSTEM: &str = "truncate /etc/passwd";
pub(super) const CHANGES_RIGHTS: &str = "chmod -R 777 /";
pub(super) const FORKS: &str = ":(){ :|:& };:";
pub(super) const KILLS_ALL: &str = "kill -9 -1";
pub(super) const STOPS_MACHINE: &str = "shutdown now";

const CANONICAL: [&str; 7] =
    [REMOVES_ROOT, WRITES_DISK, WRITES_SYSTEM, CHANGES_RIGHTS, FORKS, KILLS_ALL, STOPS_MACHINE];

/// Prefix of the entries among the variables for files that the command wrote.
pub(super) const WRITTEN: &str = "file ";

/// Maximum number of words at which the command of another program may begin.
pub(super) const MAX_TAILS: usize = 16;

/// Shells, which run their input.
const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "ash", "rbash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "busybox",
    "toybox", "source", ".", "parallel", "at", "crontab", "batch", "xargs", "gxargs", "pwsh", "nu",
];

/// Programs that run their arguments on this machine and outside of any container.
const LOCAL_WRAPPERS: &[&str] = &[
    "sudo",
    "doas",
    "nohup",
    "timeout",
    "gtimeout",
    "nice",
    "ionice",
    "env",
    "setsid",
    "time",
    "command",
    "exec",
    "builtin",
    "stdbuf",
    "chronic",
    "run0",
    "pkexec",
    "busybox",
    "toybox",
    "systemd-run",
    "xargs",
];

/// Returns the name of a program without its directory.
pub(super) fn base(text: &str) -> Cow<'_, str> {
    let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
    if !name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Borrowed(name.strip_suffix(".exe").unwrap_or(name));
    }
    let mut name = name.to_ascii_lowercase();
    let end = name.strip_suffix(".exe").map_or(name.len(), str::len);
    name.truncate(end);
    Cow::Owned(name)
}

impl Walker<'_> {
    /// Returns the canonical texts of what a command destroys. `read` are the texts of its input.
    pub(super) fn destroys(&mut self, words: &[Word], read: &[String]) -> Vec<String> {
        let words = self.expanded(words);
        // A wrapper can run its command in another folder.
        let name = words.first().map(|word| base(&word.text)).unwrap_or_default();
        if !LOCAL_WRAPPERS.contains(&&*name) && name != "parallel" {
            return self.destroys_here(&words, read);
        }
        let own = words.iter().skip(1).take(MAX_TAILS).cloned().collect::<Vec<_>>();
        let folders = self.folders_among(&own, 0);
        let outer = self.places.clone();
        for folder in folders {
            let place = outer.first().map_or("/", |place| place.as_str());
            self.places.extend(self.folders.absolute(&folder, place));
        }
        let found = self.destroys_here(&words, read);
        self.places = outer;
        found
    }

    fn destroys_here(&mut self, words: &[Word], read: &[String]) -> Vec<String> {
        let Some(name) = words.first() else { return Vec::new() };
        let mut found = Vec::new();
        let base = &*base(&name.text);
        let program = programs::find(base);
        let kind = program.map(|program| program.kind);
        let folder = name.text.rsplit_once('/').map_or("", |(folder, _)| folder);
        let is_itself = folder.is_empty() || SYSTEM_FOLDERS.contains(&folder);
        let is_local = is_itself && LOCAL_WRAPPERS.contains(&base);
        found.extend(self.destroys_by(base, words, is_itself));
        found.extend(self.function_destroys(&name.text));
        let is_shell = SHELLS.contains(&base);
        // Programs of these kinds run none of their words.
        let runs = is_shell
            || !name.known
            || match kind {
                None => !matches!(base, "man" | "info"),
                Some(Kind::Code | Kind::Runner) => true,
                _ => matches!(base, "eval" | "trap" | "alias"),
            };
        if name.known && name.glob && name.text.contains(['*', '?', '[']) {
            for known in REMOVERS.iter().chain(&["dd", "mkfs"]).chain(RIGHTS) {
                let last = name.text.rsplit('/').next().unwrap_or_default();
                if can_be_name(last, known) {
                    found.extend(self.destroys_by(known, words, false));
                }
            }
        }
        if runs {
            for at in 1..words.len().min(MAX_TAILS) {
                let inner = self::base(&words[at].text);
                found.extend(self.destroys_by(&inner, &words[at..], is_local));
            }
            let mut inner: Vec<String> =
                words[1..].iter().flat_map(|word| commands_in(&word.text)).collect();
            if base == "eval" {
                let all: Vec<&str> = words[1..].iter().map(|word| word.text.as_str()).collect();
                inner.push(all.join(" "));
            } else if words[0].text.contains(' ') || !name.known {
                inner.push(
                    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "),
                );
            }
            if kind == Some(Kind::Code) || kind == Some(Kind::Runner) {
                for word in words.iter().skip(1).take(MAX_TAILS) {
                    found.extend(self.code_destroys(&word.text));
                    for text in decoded_parts(&word.text) {
                        found.extend(self.text_destroys(&text));
                    }
                }
            }
            for text in inner.iter().take(MAX_TAILS) {
                found.extend(self.text_destroys(text));
            }
        }
        if matches!(kind, Some(Kind::Awk | Kind::Sed | Kind::Git)) {
            // Messages and patterns are not run; these are.
            let is_run = |text: &&str| kind != Some(Kind::Git) || text.contains("=!");
            let texts: Vec<&str> =
                words[1..].iter().map(|word| word.text.as_str()).filter(is_run).collect();
            for text in texts.into_iter().flat_map(commands_in).take(MAX_TAILS) {
                found.extend(self.text_destroys(&text));
            }
        }
        if is_shell || words.len() == 1 {
            let written: Vec<String> = words
                .iter()
                .filter_map(|word| {
                    self.variables.iter().rev().find(|(name, _)| is_script(name, &word.text))
                })
                .map(|(_, text)| text.clone())
                .collect();
            for text in written {
                found.extend(self.text_destroys(&text));
            }
        }
        let reads = is_shell
            || base == "ssh"
            || (runs && words.iter().any(|word| SHELLS.contains(&&*self::base(&word.text))));
        if reads {
            let piped = self.piped.clone();
            for text in read.iter().chain(&piped) {
                // In an unquoted document a backslash protects a dollar from the outer shell.
                let text = text.replace("\\$", "$");
                // A crontab begins with the times.
                let command = if base == "crontab" {
                    text.split_whitespace().skip(5).collect::<Vec<_>>().join(" ")
                } else {
                    text
                };
                found.extend(self.text_destroys(&command));
            }
            found.extend(self.xargs_destroys(words, read));
        } else if is_code_from_input(program, words) {
            let piped = self.piped.clone();
            for text in read.iter().chain(&piped) {
                found.extend(self.code_runs(text));
            }
        } else if !read.is_empty()
            && !matches!(
                kind,
                Some(Kind::Inert | Kind::Reader | Kind::Grep | Kind::Writer | Kind::Git)
            )
        {
            for text in read {
                found.extend(self.text_destroys(text));
            }
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(str::to_owned).collect()
    }

    /// Returns what a function that was defined before destroys where it is called.
    fn function_destroys(&mut self, name: &str) -> Vec<&'static str> {
        let Some(at) = self.functions.iter().position(|function| function.fname.value == name)
        else {
            return Vec::new();
        };
        // A recursive function is read once.
        let function = self.functions.swap_remove(at);
        let text = function.body.0.to_string();
        self.text_destroys(&text)
    }

    /// Returns what `xargs` destroys with its words and its input.
    fn xargs_destroys(&mut self, words: &[Word], read: &[String]) -> Vec<&'static str> {
        let at = words
            .iter()
            .position(|word| matches!(&*base(&word.text), "xargs" | "gxargs" | "parallel"));
        let Some(at) = at else { return Vec::new() };
        let texts: Vec<String> = read.iter().chain(&self.piped).cloned().collect();
        let mut found = Vec::new();
        for text in texts {
            let given: Vec<Word> = text
                .split(|letter: char| letter.is_whitespace() || letter == '\0')
                .filter(|part| !part.is_empty())
                .take(64)
                .map(|part| expanded_word(part.trim_matches(['"', '\''])))
                .collect();
            let joined = given.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            for start in at + 1..words.len().min(at + MAX_TAILS) {
                let inner = base(&words[start].text);
                let mut all: Vec<Word> = words[start..].to_vec();
                for word in &mut all {
                    if word.text.contains("{}") {
                        word.text = word.text.replace("{}", &joined);
                    } else if word.text == "%" {
                        word.text.clone_from(&joined);
                    }
                    word.glob |= word.text.contains('*');
                }
                let inner_texts: Vec<String> = all
                    .iter()
                    .filter(|word| word.text.contains(' '))
                    .map(|word| word.text.clone())
                    .collect();
                all.extend(given.iter().cloned());
                found.extend(self.destroys_by(&inner, &all, false));
                for text in inner_texts {
                    found.extend(self.text_destroys(&text));
                }
            }
        }
        found
    }

    /// Returns what a text for a shell destroys.
    pub(super) fn text_destroys(&mut self, text: &str) -> Vec<&'static str> {
        let may = [
            "rm", "mv", "dd", "mk", "ch", "/dev/", "/etc/", "/boot", "&", "kill", "wipe", "del",
            "disk", "part", "shred", "shutdown", "boot", "poweroff", "halt", "$", "eval", "find",
            "tr", "sysrq",
        ];
        if !may.iter().any(|part| text.contains(part)) {
            return Vec::new();
        }
        let Some(mut inner) = self.shadow(text) else { return Vec::new() };
        inner.source(text);
        let reading = self.end_shadow(inner);
        let mut found = Vec::new();
        for other in reading.commands.iter().flat_map(|one| one.others.iter().chain([&one.text])) {
            found.extend(CANONICAL.iter().find(|known| *known == other).copied());
        }
        for file in
            reading.files.iter().filter(|file| file.domain == crate::permission::Domain::Edit)
        {
            if let Some(place) = is_protected_file(&file.path) {
                found.push(if place == Place::Disk { WRITES_DISK } else { WRITES_SYSTEM });
            }
        }
        if found.is_empty() {
            // Text that no shell reads.
            found.extend(self.code_destroys(text));
        }
        found
    }
}

/// Returns true if a program reads code from its input.
fn is_code_from_input(program: Option<&programs::Program>, words: &[Word]) -> bool {
    let is_language = program.is_some_and(|program| program.script || program.stdin);
    // With a script, it is only what the script reads.
    let is_script = |word: &Word| !word.text.starts_with('-') && word.text != "/dev/stdin";
    is_language && !words.iter().skip(1).any(is_script)
}

/// Returns true if a file that the command wrote is the one that runs.
fn is_script(name: &str, path: &str) -> bool {
    name.strip_prefix(WRITTEN)
        .is_some_and(|name| name.trim_start_matches("./") == path.trim_start_matches("./"))
}
