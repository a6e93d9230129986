//! Which programs are shells. The lists differ in what a command may rely on, not in what a shell is.

/// Shells whose options are known here too, so that what they run is known.
const OF_KNOWN_OPTIONS: [&str; 6] = ["sh", "bash", "dash", "ash", "rbash", "zsh"];

/// Further shells that read a text much as it is read here.
const OF_SAME_LANGUAGE: [&str; 2] = ["ksh", "mksh"];

/// Shells with a language of their own.
const OF_OTHER_LANGUAGES: [&str; 3] = ["fish", "csh", "tcsh"];

/// Programs that run a text as a shell does, or hand it to one.
const RUN_TEXTS: [&str; 12] = [
    "busybox", "toybox", "source", ".", "parallel", "at", "crontab", "batch", "xargs", "gxargs",
    "pwsh", "nu",
];

/// Returns true for a shell whose options are known: what it runs can be judged, and allowed.
pub(in crate::permission) fn has_known_options(name: &str) -> bool {
    OF_KNOWN_OPTIONS.contains(&name)
}

/// Returns true for a shell that reads a text much as it is read here.
pub(super) fn is_of_same_language(name: &str) -> bool {
    has_known_options(name) || OF_SAME_LANGUAGE.contains(&name)
}

/// Returns true for a program that reads a file of shell commands much as it is read here.
pub(super) fn reads_shell_scripts(name: &str) -> bool {
    is_of_same_language(name) || matches!(name, "source" | ".")
}

/// Returns true for a shell of any language.
pub(super) fn is_shell(name: &str) -> bool {
    is_of_same_language(name) || OF_OTHER_LANGUAGES.contains(&name)
}

/// Returns true for a shell, and a program that runs a text as one does.
pub(super) fn runs_texts(name: &str) -> bool {
    is_shell(name) || RUN_TEXTS.contains(&name)
}

/// Returns the names of all programs that do.
pub(super) fn running_texts() -> impl Iterator<Item = &'static str> {
    let shells = OF_KNOWN_OPTIONS.iter().chain(&OF_SAME_LANGUAGE).chain(&OF_OTHER_LANGUAGES);
    shells.chain(&RUN_TEXTS).copied()
}
