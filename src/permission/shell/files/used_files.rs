//! Adds the files that a command uses: those that its operands and options name.

use crate::permission::Domain;
use crate::permission::paths::normal;
use crate::permission::shell::analyzer::Walker;
use crate::permission::shell::known_values::Fact;
use crate::permission::shell::named_secrets::leaves_out;
use crate::permission::shell::simple_command::{glued, leads_out};
use crate::permission::shell::word::Word;
use crate::permission::shell::{AnalyzedCommand, Concern, FileUse, dialects};

/// Maximum number of links of the command itself through which a file is judged; one that leads through more is asked about.
const MAX_LINKS_JUDGED: usize = 8;

impl Walker<'_> {
    /// Adds a file given by a known word, and what it is through the links that the command made.
    pub(crate) fn file(&mut self, domain: Domain, word: &Word) -> Option<Concern> {
        if !word.known || !word.concerns.is_empty() {
            return Some(Concern::always(format!(
                "the file {} is not known beforehand",
                word.brief()
            )));
        }
        if is_standard(&word.text) {
            return None;
        }
        // A quoted `~` is an ordinary name.
        let text = if word.text.starts_with('~') && !word.tilde {
            format!("./{}", word.text)
        } else {
            word.text.clone()
        };
        let mut concern = self.file_at(domain, word, &text);
        // The link itself is changed, unless something below it is named.
        let is_link = |own: &Fact| matches!(own, Fact::Link(link) if *link == text);
        if domain == Domain::Edit && self.facts.iter().any(|(own, _)| is_link(own)) {
            return concern;
        }
        let (led, is_cut) = self.through_links(&text, MAX_LINKS_JUDGED);
        for path in &led {
            concern = concern.or(self.file_at(domain, word, path));
        }
        let leads = || Concern::always(format!("{} leads through too many links", word.brief()));
        concern.or_else(|| is_cut.then(leads))
    }

    fn file_at(&mut self, domain: Domain, word: &Word, text: &str) -> Option<Concern> {
        if self.places.is_empty() && !text.starts_with(['/', '~']) {
            return Some(Concern::always(format!(
                "the folder of {} is not known beforehand",
                word.brief()
            )));
        }
        let leads_up = |part: &str| dialects::can_be_parent(part);
        if word.glob && (after_wildcard(text).contains("..") || text.split('/').any(leads_up)) {
            return Some(Concern::always(format!("where {} leads is not known", word.brief())));
        }
        let root = [String::from("/")];
        let places = if text.starts_with(['/', '~']) { &root[..] } else { &self.places[..] };
        for place in places {
            let written = self.folders.written(text, place);
            match written.and_then(|written| Some((normal(&written)?, written))) {
                Some((path, written)) => {
                    let glob = word.glob;
                    self.out.files.push(FileUse { domain, path, written, glob, names: false });
                }
                None => return Some(Concern::always(format!("{} is not a path", word.brief()))),
            }
        }
        None
    }

    /// Runs `work` in each folder that may be the top of a work tree of git, if paths begin there: that of the command, and
    /// those around it in the vault.
    pub(crate) fn at_tops<T>(&mut self, begins: bool, work: impl FnOnce(&mut Self) -> T) -> T {
        let own = self.places.clone();
        if begins {
            let around = own.iter().flat_map(|place| self.folders.around(place));
            let mut tops: Vec<String> = own.iter().cloned().chain(around).collect();
            tops.dedup();
            self.places = tops;
        }
        let done = work(self);
        self.places = own;
        done
    }

    /// Adds an argument that may be the name of a file. If that is unknown, the user is not asked.
    pub(crate) fn named(&mut self, word: &Word) {
        let before = self.files_len();
        let _ = self.file(Domain::Read, word);
        self.out.named.extend(self.out.files.drain(before..));
    }

    pub(crate) fn files_len(&self) -> usize {
        self.out.files.len()
    }

    /// Marks the files from an index on as revealing only their names.
    pub(crate) fn only_names_from(&mut self, from: usize) {
        for file in &mut self.out.files[from..] {
            file.names = true;
        }
    }

    /// Adds every argument that is not an option as a file, and the value of an option that looks like one.
    pub(crate) fn files(&mut self, domain: Domain, words: &[Word], command: &mut AnalyzedCommand) {
        let mut options = true;
        for word in words {
            if options && word.text == "--" {
                options = false;
                continue;
            }
            if !(options && word.text.starts_with('-')) {
                command.concerns.extend(self.file(domain, word));
                continue;
            }
            // `--file=/x`, `-f/x`, `-f.env`, `-rf/x`.
            let sensitive = self.sensitive;
            let is_told = |value: &str| leads_out(value) || sensitive.is_sensitive(value);
            let value = match word.text.split_once('=') {
                _ if leaves_out(&word.text) => None,
                Some((_, value)) => Some(value).filter(|value| is_told(value)),
                None if word.text.starts_with("--") => None,
                None => glued(&word.text[1..]).find(|value| is_told(value)),
            };
            // A slash alone is a delimiter.
            if let Some(value) = value.filter(|value| *value != "/") {
                let file = Word { text: value.to_owned(), ..word.clone() };
                command.concerns.extend(self.file(domain, &file));
            } else if let Some((_, value)) =
                word.text.split_once('=').filter(|_| self.with_named && !leaves_out(&word.text))
            {
                self.named(&Word { text: value.to_owned(), ..word.clone() });
            }
        }
    }

    /// Handles the directory that an option names as the destination of all other arguments. Returns whether there is
    /// one.
    pub(crate) fn target_folder(&mut self, words: &[Word], command: &mut AnalyzedCommand) -> bool {
        let mut found = false;
        for word in words {
            let value = match word.text.strip_prefix("--t") {
                Some(long) => long.split_once('=').map_or("", |(_, value)| value),
                None if word.text.starts_with("--") => continue,
                None => {
                    let bundle = word.text.strip_prefix('-').and_then(|word| word.split_once('t'));
                    let Some((_, value)) = bundle else { continue };
                    value
                }
            };
            found = true;
            if !value.is_empty() {
                let folder = Word { text: value.to_owned(), ..word.clone() };
                command.concerns.extend(self.file(Domain::Edit, &folder));
            }
        }
        found
    }
}

/// Returns true for the name of a standard stream or of the null device.
fn is_standard(path: &str) -> bool {
    let number = path.strip_prefix("/dev/fd/");
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin")
        || number.is_some_and(|number| {
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        })
}

fn after_wildcard(text: &str) -> &str {
    text.find(['*', '?', '[']).map_or("", |at| &text[at..])
}
