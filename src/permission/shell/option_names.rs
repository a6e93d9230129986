//! The names and values of options, as far as they say by themselves that something is run, loaded or written.

use super::shells::is_shell;
use crate::util::words::has_word;

/// Words in the names of options that run a program, for any program.
const RUNNING_WORDS: &str = "\
    exec execute executable command cmd shell plugin plugins loader loaders preload hook hooks script eval wrapper launcher \
    pager askpass";

/// Further such words in the names of options, for programs whose arguments are code and for those in no row.
const LOADING_WORDS: &str = "\
    config conf configfile rcfile rc init initfile require requires import imports resolver runner transform setup teardown \
    interpreter python browser editor viewer bootstrap extension extensions toolexec linker callback processor sequencer \
    serializers environment reporter formatter rsh addon addons preview checks library chooser engine scripts helper \
    helpers classpath generator";

/// Events at which an option can run a command: `--onSuccess`, `--on-change`.
const EVENTS: &str = "\
    success change changed start started exit end done finish complete save build rebuild close port pass fail failure";

/// Ends of the names of settings.
const SETTINGS_ENDS: &str = "\
    toml yaml yml json json5 jsonc cfg conf config ini rc xml hcl properties cnf";

/// Prefixes of options that disable a setting, or leave files out.
pub(super) const EXCLUDING_STARTS: [&str; 7] =
    ["no", "disable", "without", "skip", "ignore", "exclude", "omit"];

/// Prefixes of options that show or limit a setting.
const SHOWING_STARTS: [&str; 5] = ["list", "show", "print", "only", "max"];

/// Words in the names of options that write to their value.
pub(super) const WRITING_WORDS: &str = "\
    out output outfile outdir log logfile report dest destination dump trace save cache target junit xml";

/// Ends of the names of scripts.
const SCRIPT_ENDS: &str = "js mjs cjs ts mts cts py rb lua sh pl php so dylib dll scm";

/// First words of programs in no row that run what follows them.
pub(super) const RUNNING_COMMANDS: &str = "\
    exec eval shell repl console execute runscript runner cmd plugin plugins";

/// Names of built-in reporters, formats, parsers and environments.
const BUILT_IN: &str = "dot spec tap json json-stream verbose default basic junit html list min nyan progress tap-flat \
    hanging-process github-actions github agent tree line blob text lcov lcovonly summary text-summary text-lcov cobertura clover \
    teamcity none stylish compact unix checkstyle json-with-metadata jslint-xml visualstudio table simple minimal \
    documentation d p pretty short long yaml full oneline sarif gitlab grouped concise pylint rdjson azure colored parseable \
    msvs msbuild typescript babel babel-ts babel-flow flow acorn espree meriyah css scss less markdown mdx html vue angular \
    graphql jsdom node happy-dom edge-runtime bdd tdd qunit exports v8 istanbul threads forks vmThreads vmForks trx console \
    worst offenders files fuubar emacs clang quiet autogenconf colour-text csv xml sonarqube code-climate tab \
    prefork solo gevent eventlet sync gthread uvloop asyncio auto httptools h11 websockets off on c ci terminal ndjson";

/// Returns true for the name of the standard input.
pub(super) fn is_input(word: &str) -> bool {
    matches!(word, "-" | "/dev/stdin" | "CON" | "con")
        || word.starts_with("/dev/fd/")
        || (word.starts_with("/proc/") && word.contains("/fd/"))
}

/// Splits a name into words: `--globalSetup`, `--global-setup`, `--global.setup`.
pub(super) fn words_of(name: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut was_lower = false;
    for letter in name.trim_start_matches('-').chars() {
        let is_upper = letter.is_ascii_uppercase();
        if matches!(letter, '-' | '_' | '.' | ':') || (is_upper && was_lower) {
            found.push(String::new());
        }
        was_lower = letter.is_ascii_lowercase();
        if letter.is_ascii_alphanumeric()
            && let Some(last) = found.last_mut()
        {
            last.push(letter.to_ascii_lowercase());
        }
    }
    found.retain(|word| !word.is_empty());
    found
}

/// Returns true if the name of an option says that it runs a program.
pub(super) fn says_it_runs(name: &str, is_code: bool) -> bool {
    let words = words_of(name);
    let is_harmless =
        |first: &str| EXCLUDING_STARTS.contains(&first) || SHOWING_STARTS.contains(&first);
    if words.first().is_none_or(|first| is_harmless(first)) {
        return false;
    }
    if let [first, event, ..] = words.as_slice()
        && first == "on"
        && has_word(EVENTS, event)
    {
        return true;
    }
    // Names without separators: `--globalsetup`.
    let ends = |word: &str, known: &str| {
        known.len() > 4 && word.len() > known.len() && word.ends_with(known)
    };
    let is_it = |known: &str| words.iter().any(|word| word == known || ends(word, known));
    // The place of a program: `--curl-bin`.
    if words.len() > 1 && words.last().is_some_and(|last| matches!(last.as_str(), "bin" | "binary"))
    {
        return true;
    }
    let loads = || LOADING_WORDS.split(' ').any(is_it);
    RUNNING_WORDS.split(' ').any(is_it) || (is_code && loads())
}

/// Returns true if a short option of a program in no row probably gives it code: a text that is not a plain word, a script, or
/// the name of a program in the directory.
pub(super) fn letter_runs(letter: &str, value: &str) -> bool {
    let is_text = value.contains(|c: char| c.is_whitespace() || "(;|$!`{\\".contains(c));
    let end = value.rsplit_once('.').map_or("", |(_, end)| end);
    let is_script = has_word(SCRIPT_ENDS, end) || value.starts_with("./");
    match letter {
        "-e" | "-c" | "-x" | "-E" | "-g" => is_text || is_script,
        "-r" | "-l" | "-s" | "-p" | "-u" | "-S" | "-L" | "-X" | "-F" | "-C" => is_script,
        _ => false,
    }
}

/// Returns true if `-c` gives a program its settings, in which commands, plugins and paths can be.
pub(super) fn names_settings(letter: &str, value: &str) -> bool {
    let end = value.rsplit_once('.').map_or("", |(_, end)| end);
    letter == "-c"
        && (has_word(SETTINGS_ENDS, end) || has_word(SCRIPT_ENDS, end) || end.ends_with("rc"))
}

/// Words before the name of a shell for which a program in no row only prints or installs something.
const BEFORE_SHELL_NAMES: &str = "\
    completion completions complete autocomplete generate hook init activate shellenv shell env install add remove info \
    help - explain";

/// Programs in no row that take the name of a program and do not run it.
const ABOUT_PROGRAMS: &str = "tldr whatis apropos cheat pidof pkill killall chsh eg";

/// Returns true if a word of a program in no row, after this one, starts a shell: `choom -n 0 sh`, `socket -p 'sh -i' h 1`.
pub(super) fn starts_shell(base: &str, text: &str, before: &str) -> bool {
    let mut parts = text.split_whitespace();
    let name = parts.next().unwrap_or_default();
    let is_shell = is_shell(name);
    match parts.next() {
        Some(next) => is_shell && next.starts_with(['-', '>', '<']),
        None => {
            is_shell
                && (!before.starts_with('-') || before == "--")
                && !has_word(BEFORE_SHELL_NAMES, before)
                && !has_word(ABOUT_PROGRAMS, base)
        }
    }
}

/// Returns true if an option names a file: `--config`, `-F`.
pub(super) fn names_file(name: &str) -> bool {
    const PARTS: [&str; 10] =
        ["file", "conf", "path", "dir", "root", "rc", "www", "script", "include", "settings"];
    matches!(
        name,
        "-c" | "-O" | "-f" | "-F" | "-C" | "-I" | "-i" | "-o" | "-T" | "-K" | "-s" | "-S" | "-l"
    ) || (name.len() > 2 && PARTS.iter().any(|part| name.contains(part)))
}

/// Returns true if a program that others connect by is `ssh` with nothing but a port or a user: `ssh -p 22`.
pub(super) fn is_plain_ssh(value: &str) -> bool {
    let mut words = value.split_whitespace();
    if words.next() != Some("ssh") {
        return false;
    }
    let is_text = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte))
    };
    while let Some(word) = words.next() {
        let value = word.strip_prefix("-p").or_else(|| word.strip_prefix("-l"));
        let is_it = match value {
            Some("") => words.next().is_some_and(is_text),
            Some(value) => is_text(value),
            None => matches!(word, "-q" | "-C" | "-T" | "-x" | "-4" | "-6"),
        };
        if !is_it {
            return false;
        }
    }
    true
}

/// Returns true for a version of Python, or its program of that name: `3.12`, `python3`.
pub(super) fn is_python(value: &str) -> bool {
    let version = ["python", "cpython", "pypy"].iter().find_map(|name| value.strip_prefix(name));
    let version = version.unwrap_or(value);
    !value.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit() || b".@-".contains(&byte))
}

/// Returns true if a module is built into a program.
pub(super) fn is_built_in(value: &str) -> bool {
    value.split(',').all(|name| has_word(BUILT_IN, name.trim()))
}

/// Returns true if options that are passed to another program make it run a program or write elsewhere.
pub(super) fn hands_danger(value: &str) -> bool {
    let words = [
        "%output", "extld", "linkmode", "tool", "plugin", "-o", "-r ", "-I ", "-B ", "../",
        "wrapper", "dumpdir", "profile", "#(", ".lua",
    ];
    // The resources that a container shares with the machine.
    value == "host"
        || value.starts_with("container:")
        || words.iter().any(|word| value.contains(word))
}

/// Returns true if a statement of a database runs a program or accesses a file.
pub(super) fn sql_touches(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let commands = text.lines().any(|line| line.trim_start().starts_with(['.', '\\', '!']));
    let words = [
        "attach",
        "load",
        "readfile",
        "writefile",
        "edit(",
        "fts3_tokenizer",
        "copy",
        "install",
        "export",
        "import",
        "read_",
        "vacuum",
        "outfile",
        "dumpfile",
        "\\!",
        "program",
        "sniff_",
        "glob(",
        "pragma",
        "system",
        "getenv",
    ];
    commands || words.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_that_something_is_run() {
        for name in [
            "--exec",
            "--script-shell",
            "--preScript",
            "--post_hook",
            "--load-plugin",
            "--globalsetup",
            "--run-command",
            "--onSuccess",
            "--on-change",
            "-config-file",
        ] {
            assert!(says_it_runs(name, true), "{name}");
        }
        for name in [
            "--on-conflict",
            "--online",
            "--description",
            "--subscription",
            "--no-config",
            "--ignore-scripts",
            "--list-plugins",
            "--verbose",
        ] {
            assert!(!says_it_runs(name, true), "{name}");
        }
        assert!(says_it_runs("--config", true) && !says_it_runs("--config", false));
    }

    #[test]
    fn warnings_and_options_of_others() {
        assert!(hands_danger("-extld=./evil") && !hands_danger("-s -w -X main.version=1"));
        assert!(is_built_in("dot,json") && !is_built_in("./evil") && !is_built_in("evil"));
        assert!(
            sql_touches(".shell ls")
                && sql_touches("select writefile('x', 1)")
                && !sql_touches("select 1")
        );
    }
}
