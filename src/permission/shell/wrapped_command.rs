//! Commands that other programs run, and the environment that they set for them.

use super::analyzer::Walker;
use super::commands_in_words::texts;
use super::destroying::destroying_commands::MAX_TAILS;
use super::env_command::{self, Environment};
use super::program_names::base;
use super::programs::{self, Kind};
use super::simple_command::{MAX_DESTROYED, shown, tails};
use super::word::Word;
use super::wrappers::{self, Wrapped};
use super::{AnalyzedCommand, Concern, CoveredBy, possible_commands, variables};
use crate::permission::Domain;

impl Walker<'_> {
    pub(super) fn wrapped(
        &mut self,
        wrapped: Wrapped,
        words: &[Word],
        command: &mut AnalyzedCommand,
    ) {
        match wrapped {
            Wrapped::Words(at) => {
                command.quiet = command.concerns.is_empty();
                let inner = self.judge(&words[at..], Vec::new());
                self.push(inner);
            }
            Wrapped::Environment(env) => self.environment(&env, words, command),
            Wrapped::Powerful(at) => {
                let set = words[1..at].iter().filter_map(|word| word.text.split_once('='));
                let changes = set.filter(|(name, value)| !variables::is_handed(name, value));
                command.concerns.extend(
                    changes
                        .filter(|(name, _)| !name.starts_with('-'))
                        .map(|(name, _)| Concern::always(variables::can_change(name))),
                );
                let mut inner = self.judge(&words[at..], Vec::new());
                inner.quiet = true;
                command.concerns.append(&mut inner.concerns);
                self.push(inner);
            }
            Wrapped::WordsAndMore(at) => {
                command.quiet = command.concerns.is_empty();
                let inner = &words[at..];
                let program = programs::find(&base(&inner[0].text));
                // Its input may name any file, so it is harmless only if it shows no content.
                let harmless =
                    program.is_some_and(|program| {
                        matches!(program.kind, Kind::Inert | Kind::Lister) && program.is_plain()
                    }) || matches!(inner[0].text.as_str(), "wc" | "stat" | "md5sum" | "sha256sum");
                let mut inner = self.judge(inner, Vec::new());
                if !harmless {
                    inner
                        .concerns
                        .push(Concern::always("further arguments come from what it reads"));
                }
                self.push(inner);
            }
            Wrapped::Text(at) => {
                command.quiet = command.concerns.is_empty();
                let text = words[at].text.clone();
                self.apart(|walker| walker.source(&text));
            }
            Wrapped::Texts(at, texts) => {
                command.quiet = command.concerns.is_empty();
                for text in texts {
                    self.apart(|walker| walker.source(&text));
                }
                // Restrictions are about the command in front of the arguments of `parallel`, too.
                let end = words.iter().position(|word| word.text == ":::").unwrap_or(at);
                let text = wrappers::joined(&words[at..end]);
                if !text.contains("{}") {
                    self.guessing(possible_commands::Guess::Drop, command, |walker| {
                        walker.apart(|walker| walker.source(&text));
                    });
                }
            }
            Wrapped::Nothing => {
                command.is_read_only = self.wants_read_only && wrappers::is_lookup(words);
            }
            Wrapped::Unknown => {
                self.arguments_from_file(words, command);
                command.others.extend(tails(&words[1..]));
                command.others.extend(texts(&words[1..]));
                let about =
                    words.get(1).map_or_else(|| words[0].shown.clone(), |word| word.shown.clone());
                let known = words.iter().all(|word| word.known)
                    && words.len() > 1
                    && words.len() <= MAX_TAILS
                    && !self.is_nested();
                command.concerns.push(Concern {
                    reason: format!("what {} runs is not known", words[0].shown),
                    covered_by: known.then_some(about).map_or(CoveredBy::Nothing, CoveredBy::Word),
                });
                self.guess(words, 1, possible_commands::Guess::Keep, command);
            }
        }
    }

    /// Adds the file that the arguments of a command come from: `xargs -a x`.
    fn arguments_from_file(&mut self, words: &[Word], command: &mut AnalyzedCommand) {
        for pair in words.windows(2).filter(|_| words[0].text.ends_with("xargs")) {
            let option = &pair[1];
            let inline = option.text.strip_prefix("--arg-file=");
            let inline = inline.or_else(|| option.text.strip_prefix("-a"));
            let is_next = matches!(pair[0].text.as_str(), "-a" | "--arg-file");
            let value = if is_next { option.text.as_str() } else { inline.unwrap_or_default() };
            if !value.is_empty() {
                self.value_of(Domain::Read, option, value, command);
            }
        }
    }

    /// Returns the command that `git -C folder` runs in that directory.
    pub(super) fn in_folder(
        &mut self,
        words: &[Word],
        concerns: &[Concern],
    ) -> Option<AnalyzedCommand> {
        let is_plain =
            |word: &Word| matches!(word.text.as_str(), "--no-pager" | "-P" | "--no-optional-locks");
        if words[0].text != "git" {
            return None;
        }
        let at = 1 + words[1..].iter().take_while(|word| is_plain(word)).count();
        let folder = words.get(at + 1).filter(|word| word.known && !word.glob)?;
        if words[at].text != "-C" || folder.text.is_empty() {
            return None;
        }
        let mut inner = None;
        self.apart(|walker| {
            let mut concerns = concerns.to_vec();
            concerns.extend(walker.within(folder));
            let rest = [&words[..at], &words[at + 2..]].concat();
            inner = Some(walker.judge(&rest, concerns));
        });
        let mut inner = inner?;
        let same = std::mem::replace(&mut inner.text, shown(words));
        inner.others.push(same.clone());
        inner.same_as = Some(inner.same_as.take().unwrap_or(same));
        Some(inner)
    }

    /// Judges the command of `env` with its directory and variables.
    pub(super) fn environment(
        &mut self,
        env: &Environment,
        words: &[Word],
        command: &mut AnalyzedCommand,
    ) {
        let value = |(at, from): (usize, usize)| Word {
            text: words[at].text[from..].to_owned(),
            ..words[at].clone()
        };
        if env.folder.is_some() || env.split.is_some() {
            command.concerns.push(Concern {
                reason: format!("what {} runs is not known", words[0].shown),
                covered_by: CoveredBy::Word(words[1].shown.clone()),
            });
        }
        for place in &env.written {
            command.concerns.extend(self.file(Domain::Edit, &value(*place)));
        }
        let set = |at: &usize| words[*at].text.split('=').next().unwrap_or_default();
        let concerns =
            env.assigned.iter().map(|at| Concern::always(variables::can_change(set(at))));
        let concerns: Vec<Concern> = concerns.collect();
        let inner = match env.split {
            None => words[env.at..].to_vec(),
            Some((at, from)) => [
                vec![Word::plain("env")],
                env_command::split(&words[at].text[from..]),
                words.get(at + 1..).unwrap_or_default().to_vec(),
            ]
            .concat(),
        };
        self.apart(|walker| {
            if let Some(folder) = env.folder {
                command.concerns.extend(walker.within(&value(folder)));
            }
            let destroyed = match env.folder.is_some() && inner.len() <= 2 * MAX_DESTROYED {
                true => walker.destroys(&inner, &[]),
                false => Vec::new(),
            };
            let mut inner = walker.judge(&inner, concerns);
            inner.others.extend(destroyed);
            // The command as it is without `env`.
            if !env.assigned.is_empty() && env.split.is_none() {
                let set: Vec<Word> = env.assigned.iter().map(|at| words[*at].clone()).collect();
                inner.others.push(inner.text.clone());
                inner.text = format!("{} {}", shown(&set), inner.text);
            } else if !env.assigned.is_empty() {
                command.concerns.append(&mut inner.concerns);
            }
            inner.quiet |= env.split.is_some();
            walker.push(inner);
        });
        command.quiet = command.concerns.is_empty();
    }
}
