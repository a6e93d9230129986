//! Judges a program of the table by its kind.

use super::analyzer::Walker;
use super::git::git_commands::{self, git};
use super::named_secrets::{reads_by_name, reads_filter};
use super::programs::{Kind, Program};
use super::simple_command::tails;
use super::word::Word;
use super::{
    AnalyzedCommand, Concern, Content, CoveredBy, commands_in_words, git::git_helpers, grep_args,
    read_only_commands,
};
use crate::permission::Domain;
use crate::util::words::has_word;

impl Walker<'_> {
    /// Judges a program by what its kind says of its words.
    pub(super) fn judge_known(
        &mut self,
        base: &str,
        program: &Program,
        (words, with_settings, operands): (&[Word], &[Word], &[usize]),
        command: &mut AnalyzedCommand,
    ) {
        command.prefix = program.is_plain()
            && matches!(program.kind, Kind::Inert | Kind::Reader | Kind::Grep | Kind::Lister);
        match program.kind {
            Kind::Inert => judge_inert(base, words, command),
            Kind::Runner => {
                command.others.extend(tails(&words[1..]));
                command.others.extend(commands_in_words::texts(&words[1..]));
                command.others.extend(commands_in_words::commands_of_parallel(words));
            }
            Kind::Code => {
                command.others.extend(tails(&words[1..]));
                // The traditional options of tar have no dash.
                if let ("tar", Some(word)) = (base, words.get(1))
                    && !word.text.starts_with('-')
                    && word.text.contains(['I', 'F', 'P'])
                {
                    command.concerns.push(Concern {
                        reason: "an option of tar can run something".into(),
                        covered_by: CoveredBy::Word(word.shown.clone()),
                    });
                }
            }
            Kind::Reader => {
                let filter = grep_args::filter_of_jq(base, words).unwrap_or(words.len());
                self.files(Domain::Read, &words[1..filter], command);
                self.files(Domain::Read, words.get(filter + 1..).unwrap_or_default(), command);
                match base {
                    "jq" | "gojq" | "jaq" => {
                        reads_by_name(words, &["import", "include"], command);
                        reads_filter(words, command);
                    }
                    "yq" => reads_by_name(words, &["load"], command),
                    _ => {}
                }
            }
            Kind::Grep => {
                self.files(Domain::Read, &grep_args::files(base, &words[1..]), command);
                command.concerns.extend(grep_args::secrets(base, &words[1..], self.sensitive));
            }
            Kind::Lister => {
                let before = self.files_len();
                self.files(Domain::Read, &words[1..], command);
                if words[1..].iter().all(|word| word.text.starts_with('-')) {
                    command.concerns.extend(self.file(Domain::Read, &Word::plain(".")));
                }
                self.only_names_from(before);
            }
            Kind::Writer => self.files(Domain::Edit, &words[1..], command),
            Kind::Both => {
                self.files(Domain::Read, &words[1..], command);
                if !writes_elsewhere(base, words) {
                    self.files(Domain::Edit, &words[1..], command);
                }
            }
            Kind::Filter => self.judge_filter(words, operands, command),
            Kind::Mover => {
                self.target_folder(&words[1..], command);
                self.files(Domain::Edit, &words[1..], command);
            }
            Kind::Copier => self.judge_copy(words, command),
            Kind::Dd => self.judge_dd(words, command),
            Kind::Git => {
                git(words, command);
                let texts = git_helpers::run_texts(with_settings);
                let values: Vec<&str> =
                    texts.iter().map(|text| git_helpers::run_value(text)).collect();
                self.guess_values(&values, command);
                let sensitive = self.sensitive;
                for used in git_commands::files(with_settings, &|name| sensitive.is_sensitive(name))
                {
                    let concern = self
                        .at_tops(used.is_from_top, |walker| walker.file(used.domain, &used.file));
                    command.concerns.extend(concern);
                    if used.domain == Domain::Edit && git_commands::changes_all(with_settings) {
                        let content = Content::on_disk();
                        self.changed_folder(used.file, &content);
                    }
                }
            }
            Kind::Sed => self.sed(words, command),
            Kind::Awk => self.awk(words, command),
            Kind::Find => self.find(words, command),
            Kind::Fd => command.others.extend(tails(&words[1..])),
            Kind::Shell => self.builtin(base, words, command),
        }
    }

    /// Judges the files of a program that writes to all of them but the first.
    fn judge_filter(&mut self, words: &[Word], operands: &[usize], command: &mut AnalyzedCommand) {
        for (at, word) in words.iter().enumerate().skip(1) {
            let place = operands.iter().position(|operand| *operand == at);
            let is_written = place.is_some_and(|place| place > 0);
            let domain = if is_written { Domain::Edit } else { Domain::Read };
            if place.is_some() || word.text.starts_with('-') {
                self.files(domain, std::slice::from_ref(word), command);
            }
        }
    }

    fn judge_copy(&mut self, words: &[Word], command: &mut AnalyzedCommand) {
        let to_folder = self.target_folder(&words[1..], command);
        let last = words.iter().rposition(|word| !word.text.starts_with('-')).unwrap_or(0);
        if to_folder {
            self.files(Domain::Edit, &words[1..], command);
        }
        for (at, word) in words.iter().enumerate().skip(1) {
            let domain = if at == last { Domain::Edit } else { Domain::Read };
            self.files(domain, std::slice::from_ref(word), command);
        }
    }

    fn judge_dd(&mut self, words: &[Word], command: &mut AnalyzedCommand) {
        for word in &words[1..] {
            let (domain, path) = match word.text.split_once('=') {
                Some(("if", path)) => (Domain::Read, path),
                Some(("of", path)) => (Domain::Edit, path),
                _ => continue,
            };
            // Some shells expand it to the home directory after `=` too.
            let tilde = path.starts_with('~');
            let file = Word { text: path.to_owned(), tilde, ..word.clone() };
            command.concerns.extend(self.file(domain, &file));
        }
    }
}

/// Returns true for `strip -o`, and if a program that compresses files prints, lists or tests them only.
fn writes_elsewhere(base: &str, words: &[Word]) -> bool {
    const PACKERS: &str =
        "gzip gunzip bzip2 bunzip2 xz unxz lzma unlzma brotli pigz pbzip2 lzop zstd unzstd zstdmt";
    let only_prints = |word: &Word| {
        ["--stdout", "--to-stdout", "--list", "--test"].contains(&&*word.text)
            || word.option_letters("oSTDp").0.contains(['c', 'l', 't'])
    };
    let rest = &words[1..];
    base == "strip" && rest.iter().any(|word| word.text.starts_with("-o"))
        || has_word(PACKERS, base) && rest.iter().any(only_prints)
}

/// Judges a program that only decides which command runs next.
fn judge_inert(base: &str, words: &[Word], command: &mut AnalyzedCommand) {
    let changes =
        |pair: &&[Word]| read_only_commands::changes_system(base, &pair[0].text, &pair[1].text);
    if let Some([_, word]) = words.windows(2).find(changes) {
        command.concerns.push(Concern {
            reason: format!("{} changes a setting of the system", word.brief()),
            covered_by: CoveredBy::Word(word.shown.clone()),
        });
    }
    command.quiet = matches!(base, "break" | "continue" | "exit" | "return")
        && words[0].text == base
        && command.concerns.is_empty();
}
