//! Which programs are shells. The lists differ in what a command may rely on, not in what a shell is.

use crate::util::words::has_word;

/// Shells whose options are known here too, so that what they run is known.
const OF_KNOWN_OPTIONS: &str = "sh bash dash ash rbash zsh";

/// Further shells that read a text much as it is read here.
const OF_SAME_LANGUAGE: &str = "ksh mksh";

/// Shells with a language of their own.
const OF_OTHER_LANGUAGES: &str = "fish csh tcsh";

/// Programs that run a text as a shell does, or hand it to one.
const RUN_TEXTS: &str = "busybox toybox source . parallel at crontab batch xargs gxargs pwsh nu";

/// Returns true for a shell whose options are known: what it runs can be judged, and allowed.
pub(in crate::permission) fn has_known_options(name: &str) -> bool {
    has_word(OF_KNOWN_OPTIONS, name)
}

/// Returns true for a shell that reads a text much as it is read here.
pub(super) fn is_of_same_language(name: &str) -> bool {
    has_known_options(name) || has_word(OF_SAME_LANGUAGE, name)
}

/// Returns true for a program that reads a file of shell commands much as it is read here.
pub(super) fn reads_shell_scripts(name: &str) -> bool {
    is_of_same_language(name) || matches!(name, "source" | ".")
}

/// Returns true for a shell of any language.
pub(super) fn is_shell(name: &str) -> bool {
    is_of_same_language(name) || has_word(OF_OTHER_LANGUAGES, name)
}

/// Returns true for a shell, and a program that runs a text as one does.
pub(super) fn runs_texts(name: &str) -> bool {
    is_shell(name) || has_word(RUN_TEXTS, name)
}

/// Returns the names of all programs that do.
pub(super) fn running_texts() -> impl Iterator<Item = &'static str> {
    [OF_KNOWN_OPTIONS, OF_SAME_LANGUAGE, OF_OTHER_LANGUAGES, RUN_TEXTS]
        .into_iter()
        .flat_map(|list| list.split(' '))
}
