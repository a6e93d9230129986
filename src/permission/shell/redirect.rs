//! Redirections: the files that they read and write, and the input that they pass to a command.

use super::name_letters::is_in_variable;
use brush_parser::ast::{
    IoFileRedirectKind as Kind, IoFileRedirectTarget as Target, IoHereDocument, IoRedirect,
};

use super::analyzer::{TOO_MUCH, Walker};
use super::printing::printed_environment::expands_secret;
use super::word::{self, Word};
use super::{AnalyzedCommand, Concern, dialects};
use crate::permission::Domain;

/// The reason to ask about a document for a command that may run it.
pub(super) const HERE_DOCUMENT: &str = "it has a here-document";

/// The input of a command that is a part of its own text.
#[derive(Debug, Default)]
pub(super) struct Fed {
    pub texts: Vec<String>,
    pub has_document: bool,
    /// True if a variable of the environment in it holds a secret.
    pub has_secret: bool,
}

impl Walker<'_> {
    /// Handles a redirection that belongs to no simple command.
    pub(crate) fn redirect_alone(&mut self, redirect: &IoRedirect) {
        let mut concerns = self.redirect(redirect);
        if std::mem::take(&mut self.fed).has_document {
            concerns.push(Concern::always(HERE_DOCUMENT));
        }
        for concern in concerns {
            self.push(AnalyzedCommand {
                text: "redirection".into(),
                concerns: vec![concern],
                ..AnalyzedCommand::default()
            });
        }
    }

    pub(crate) fn redirect(&mut self, redirect: &IoRedirect) -> Vec<Concern> {
        // That there is more than is read has been said.
        if self.is_exhausted() {
            return Vec::new();
        }
        match redirect {
            IoRedirect::File(_, _, Target::Fd(_)) => Vec::new(),
            IoRedirect::File(_, kind, Target::ProcessSubstitution(_, shell)) => {
                if matches!(kind, Kind::Read) {
                    let printed = self.printed(&shell.list);
                    self.fed.texts.extend(printed);
                }
                let printed = self.output.clone();
                self.apart(|walker| walker.with_input(printed, |walker| walker.list(&shell.list)));
                Vec::new()
            }
            IoRedirect::File(_, kind, Target::Duplicate(raw)) => {
                let word = self.word(&raw.value);
                let number = word.text.trim_end_matches('-');
                if word.known && number.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Vec::new();
                }
                let domain =
                    if matches!(kind, Kind::DuplicateInput) { Domain::Read } else { Domain::Edit };
                self.redirected(&[domain], &word)
            }
            IoRedirect::File(_, kind, Target::Filename(raw)) => {
                let word = self.word(&raw.value);
                if matches!(kind, Kind::Read) {
                    let written: Vec<String> =
                        self.written_texts(&word.text).map(str::to_owned).collect();
                    self.fed.texts.extend(written);
                }
                match kind {
                    Kind::Read | Kind::DuplicateInput => self.redirected(&[Domain::Read], &word),
                    Kind::ReadAndWrite => self.redirected(&[Domain::Read, Domain::Edit], &word),
                    Kind::Write | Kind::Append | Kind::Clobber | Kind::DuplicateOutput => {
                        self.redirected(&[Domain::Edit], &word)
                    }
                }
            }
            IoRedirect::OutputAndError(raw, _) => {
                let word = self.word(&raw.value);
                self.redirected(&[Domain::Edit], &word)
            }
            IoRedirect::HereDocument(_, document) => {
                self.fed.has_document = true;
                self.fed.texts.push(document.doc.value.clone());
                if !ends_where_it_says(document, &self.text, self.depth > 1) {
                    return vec![Concern::always(HERE_DOCUMENT)];
                }
                if !document.requires_expansion {
                    return Vec::new();
                }
                let value = &document.doc.value;
                self.fed.has_secret |= expands_secret(value, &self.copies);
                let word = word::read_document(&document.doc.value, &self.options);
                for inner in &word.inner {
                    self.substitution(inner);
                }
                word.concerns.iter().map(|reason| Concern::always(*reason)).collect()
            }
            IoRedirect::HereString(_, raw) => {
                let word = self.word(&raw.value);
                self.fed.has_secret |= !word.known && expands_secret(&word.text, &self.copies);
                self.fed.texts.push(word.text);
                word.concerns.iter().map(|reason| Concern::always(*reason)).collect()
            }
        }
    }

    fn redirected(&mut self, domains: &[Domain], word: &Word) -> Vec<Concern> {
        if !self.spend(1) {
            return vec![Concern::unread(TOO_MUCH)];
        }
        if word.text.starts_with("/dev/tcp/") || word.text.starts_with("/dev/udp/") {
            return vec![Concern::always("it opens a connection")];
        }
        if dialects::is_part_of_operator(&word.text) {
            return vec![Concern::always("some shells take the next word for the file")];
        }
        if domains.contains(&Domain::Edit)
            && (!word.known || word.glob)
            && let Some(destroyed) = self.destroys_file(word)
        {
            let others = vec![destroyed.to_owned()];
            self.push(AnalyzedCommand {
                text: format!("> {}", word.shown),
                others,
                ..AnalyzedCommand::default()
            });
        }
        domains.iter().filter_map(|domain| self.file(*domain, word)).collect()
    }
}

/// Returns true if a redirection connects the standard input to a text or a file.
pub(super) fn gives_input(redirect: &IoRedirect) -> bool {
    match redirect {
        IoRedirect::File(
            number,
            Kind::Read | Kind::ReadAndWrite | Kind::DuplicateInput,
            target,
        ) => {
            let is_empty = match target {
                Target::Filename(raw) => {
                    matches!(raw.value.trim_matches(['\'', '"']), "/dev/null" | "/dev/tty")
                }
                Target::Duplicate(raw) => raw.value == "-",
                _ => false,
            };
            number.is_none_or(|number| number == 0) && !is_empty
        }
        IoRedirect::HereDocument(..) | IoRedirect::HereString(..) => true,
        _ => false,
    }
}

/// Returns true if no shell ends a document earlier than the parser. A substitution must end with it, because the
/// parser reads the text after it differently: some shells find the end of a substitution by counting parentheses, and
/// bash also takes a line that begins with the delimiter and contains a parenthesis for the end.
fn ends_where_it_says(document: &IoHereDocument, text: &str, in_substitution: bool) -> bool {
    let end = document.here_end.value.trim_matches(['\'', '"']);
    let body = document.doc.value.as_str();
    let is_end = |line: &str| line.trim_start_matches('\t') == end;
    let mut open = 0_i64;
    let balanced = body.bytes().all(|byte| {
        open += i64::from(byte == b'(') - i64::from(byte == b')');
        open >= 0
    });
    let ends_text = || {
        text.trim_end().lines().next_back().is_some_and(is_end)
            && !body.lines().any(|line| line.trim_start().starts_with(end))
    };
    text.lines().any(is_end)
        && !end.is_empty()
        && end.chars().all(is_in_variable)
        && body.lines().all(|line| line.trim() != end && !line.ends_with('\\'))
        && (!in_substitution || (balanced && open == 0 && ends_text()))
}
