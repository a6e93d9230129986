//! Finds what git takes from variables: the settings of `--config-env` and of `GIT_CONFIG_…`, and its folders. They count as the
//! options do that say the same.

use std::borrow::Cow;

use super::analyzer::Walker;
use super::known_values::Fact;
use super::word::Word;

/// Maximum number of options that variables stand for.
const MAX_OPTIONS: usize = 32;

/// Variables whose value is that of an option.
const FOLDERS: [(&str, &str); 3] = [
    ("GIT_DIR", "--git-dir="),
    ("GIT_WORK_TREE", "--work-tree="),
    ("GIT_EXEC_PATH", "--exec-path="),
];

impl Walker<'_> {
    /// Returns a command of git with what the command gives it by variables as options in front of its own.
    pub(super) fn with_settings<'w>(&self, base: &str, words: &'w [Word]) -> Cow<'w, [Word]> {
        let Some((name, rest)) = words.split_first().filter(|_| base == "git") else {
            return Cow::Borrowed(words);
        };
        let folders = FOLDERS.iter().flat_map(|(name, option)| {
            self.values_of(name).map(move |value| [*option, value].concat())
        });
        let settings = self.settings(rest).into_iter().flat_map(|text| ["-c".to_owned(), text]);
        let mut given = folders.chain(settings).map(|text| Word::plain(&text)).peekable();
        if given.peek().is_none() {
            return Cow::Borrowed(words);
        }
        let name = std::iter::once(name.clone());
        Cow::Owned(name.chain(given).chain(rest.iter().cloned()).collect())
    }

    /// Returns the settings that the command gives git by variables, `key=value`.
    pub(super) fn settings(&self, rest: &[Word]) -> Vec<String> {
        let set = |key: &str, variable: &str| {
            let values = self.values_of(variable).map(|value| [key, "=", value].concat());
            values.collect::<Vec<_>>()
        };
        let numbered = self.facts.iter().filter_map(|(own, key)| match own {
            Fact::Value(name) => Some((name.strip_prefix("GIT_CONFIG_KEY_")?, key)),
            _ => None,
        });
        let numbered =
            numbered.flat_map(|(number, key)| set(key, &["GIT_CONFIG_VALUE_", number].concat()));
        let given = named_variables(rest).flat_map(|(key, variable)| set(key, variable));
        // `'key=value' 'key'='value'`
        let listed = self.values_of("GIT_CONFIG_PARAMETERS").flat_map(|list| {
            let list = list.replace("'='", "=");
            let texts = list.split('\'').filter(|text| text.contains('=')).map(str::to_owned);
            texts.collect::<Vec<_>>()
        });
        numbered.chain(given).chain(listed).take(MAX_OPTIONS).collect()
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
