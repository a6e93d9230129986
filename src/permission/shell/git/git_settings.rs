//! Finds what git takes from variables: the settings of `--config-env` and of `GIT_CONFIG_…`, and its folders. They count as the
//! options do that say the same.

use std::borrow::Cow;

use crate::permission::shell::Concern;
use crate::permission::shell::analyzer::{TOO_MUCH, Walker};
use crate::permission::shell::known_values::Fact;
use crate::permission::shell::word::Word;

/// Maximum number of settings that are read from variables.
const MAX_SETTINGS: usize = 32;

/// Variables whose value is that of an option.
const FOLDERS: [(&str, &str); 3] = [
    ("GIT_DIR", "--git-dir="),
    ("GIT_WORK_TREE", "--work-tree="),
    ("GIT_EXEC_PATH", "--exec-path="),
];

impl Walker<'_> {
    /// Returns what the command gives git by variables, as options, given the words after `git`, and whether there are more
    /// settings than are read.
    pub(crate) fn given_options(&self, rest: &[Word]) -> (Vec<Word>, bool) {
        let folders = FOLDERS.iter().flat_map(|(name, option)| {
            self.values_of(name).map(move |value| [*option, value].concat())
        });
        let mut settings = self.settings(rest);
        let read = settings.by_ref().take(MAX_SETTINGS);
        let read = read.flat_map(|text| ["-c".to_owned(), text]);
        let options = folders.chain(read).map(|text| Word::plain(&text)).collect();
        (options, settings.next().is_some())
    }

    /// Returns a command of git with what the command gives it by variables as options in front of its own. More settings than
    /// are read are asked about.
    pub(crate) fn with_settings<'w>(
        &self,
        words: &'w [Word],
        concerns: &mut Vec<Concern>,
    ) -> Cow<'w, [Word]> {
        let (name, rest) = words.split_at(1);
        let (options, is_cut) = self.given_options(rest);
        concerns.extend(is_cut.then(|| Concern::unread(TOO_MUCH)));
        if options.is_empty() {
            return Cow::Borrowed(words);
        }
        Cow::Owned([name, &options, rest].concat())
    }

    /// Returns the settings that the command gives git by variables, `key=value`.
    fn settings(&self, rest: &[Word]) -> impl Iterator<Item = String> {
        let set = |key: &str, variable: &str| {
            let values = self.values_of(variable).map(|value| [key, "=", value].concat());
            values.collect::<Vec<_>>()
        };
        let numbered = self.facts.iter().filter_map(|(own, key)| match own {
            Fact::Value(name) => Some((name.strip_prefix("GIT_CONFIG_KEY_")?, key)),
            _ => None,
        });
        let numbered = numbered
            .flat_map(move |(number, key)| set(key, &["GIT_CONFIG_VALUE_", number].concat()));
        let given = named_variables(rest).flat_map(move |(key, variable)| set(key, variable));
        // `'key=value' 'key'='value'`
        let listed = self.values_of("GIT_CONFIG_PARAMETERS").flat_map(|list| {
            let list = list.replace("'='", "=");
            let texts = list.split('\'').filter(|text| text.contains('=')).map(str::to_owned);
            texts.collect::<Vec<_>>()
        });
        numbered.chain(given).chain(listed)
    }
}

/// Returns the settings that git takes from variables which its options name, and these: `--config-env=key=VARIABLE`.
pub(super) fn named_variables(words: &[Word]) -> impl Iterator<Item = (&str, &str)> {
    words.iter().enumerate().filter_map(|(at, word)| {
        let value = match word.text.strip_prefix("--config-env")? {
            "" => &words.get(at + 1)?.text,
            value => value.strip_prefix('=')?,
        };
        value.rsplit_once('=')
    })
}
