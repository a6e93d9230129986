//! Git: the programs that its commands run, and the files that they access.

use super::git_pathspecs::{folds_all, is_from_top, pattern_of};
use super::git_settings::named_variables;
use crate::permission::Domain;
use crate::permission::sensitive::is_of_git;
use crate::permission::shell::commands_in_words::texts;
use crate::permission::shell::programs::flag;
use crate::permission::shell::read_only_commands::READ_ONLY_GIT;
use crate::permission::shell::simple_command::{glued, leads_out};
use crate::permission::shell::word::Word;
use crate::permission::shell::{AnalyzedCommand, Concern, CoveredBy};
use crate::util::words::has_word;

/// Commands of git that run no other program, whatever their arguments are but for the options below.
static GIT_COMMANDS: &str = "\
    status log diff show add commit branch checkout switch restore stash tag fetch pull push merge \
    rebase reset revert cherry-pick blame annotate grep ls-files ls-tree rev-parse describe remote rm mv \
    clean init clone worktree shortlog reflog cat-file rev-list name-rev show-ref for-each-ref apply am \
    notes fsck gc count-objects whatchanged range-diff merge-base symbolic-ref var version config \
    ls-remote diff-tree diff-index diff-files check-ignore show-branch cherry hash-object update-index \
    sparse-checkout verify-commit format-patch archive bisect submodule help prune stripspace";

static GIT_FLAGS: &[&str] = &[
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "-x",
    "--ext-diff",
    "--textconv",
    "--filters",
    "--open-files-in-pager",
    "--output",
    "--config",
    "--template",
    "--separate-git-dir",
    "--extcmd",
    "--tool",
    "--editor",
    "--strategy",
    "--gpg-sign",
    "--no-index",
    "--remote",
    "--edit",
    "--output-directory",
    "--reference",
    "--server-option",
    "--git-dir",
    "--work-tree",
    "--exec-path",
    "--config-env",
    "--unsafe-paths",
    "--build-fake-ancestor",
];

/// Built-in merge strategies of git; any other name is a program.
static STRATEGIES: &[&str] = &["ort", "recursive", "resolve", "octopus", "ours", "subtree"];

/// Returns the options of a command whose value is a text: a message, or a text to search for, and no file that is used.
fn text_options(name: &str) -> &'static [&'static str] {
    match name {
        "commit" | "tag" | "stash" | "notes" | "merge" => {
            &["-m", "--message", "--author", "--trailer"]
        }
        "log" | "diff" | "show" | "shortlog" | "reflog" | "rev-list" | "whatchanged"
        | "format-patch" | "range-diff" => &["-S", "-G", "--grep", "--author", "--committer"],
        "grep" => &["-e"],
        // Patterns of files that are left out.
        "clean" => &["-e", "--exclude"],
        "ls-files" => &["-x", "--exclude"],
        "apply" | "am" => &["--exclude"],
        _ => &[],
    }
}

/// Commands that change no file of the work tree, besides those that only read.
const LEAVE_FILES: [&str; 7] = ["branch", "config", "remote", "fetch", "add", "commit", "tag"];

/// Options whose value is a file that is read as data.
static READ_BY: &[&str] =
    &["-F", "--file", "--contents", "--template", "--pathspec-from-file", "--ignore-revs-file"];

/// Options of a command whose value is a file or a folder that it writes.
fn written_by(name: &str) -> &'static [&'static str] {
    match name {
        "archive" => &["-o", "--output"],
        "format-patch" | "diagnose" | "bugreport" => &["-o", "--output-directory", "--output"],
        "index-pack" | "mailsplit" => &["-o"],
        "checkout-index" | "read-tree" => &["--prefix", "--index-output"],
        "apply" | "am" => &["--directory"],
        "fast-export" | "fast-import" => &["--export-marks", "--export-pack-edges"],
        _ => &["--output"],
    }
}

/// Options of git before the command that do not change which programs run.
static HARMLESS_OPTIONS: &str = "\
    --version --no-pager -P --help -h --no-optional-locks --literal-pathspecs -v -p --paginate";

/// Options of git before the command whose value can be the next word.
static VALUED_OPTIONS: &[&str] =
    &["-c", "-C", "--git-dir", "--work-tree", "--config-env", "--exec-path", "--namespace"];

/// Programs that run git, or read its settings, in their working directory.
static READERS: &str = "\
    git gh glab hub git-lfs jj tig lazygit gitui delta pre-commit lefthook husky lint-staged semantic-release \
    standard-version release-it changeset lerna nx turbo commitizen cz commitlint go cargo goreleaser git-cliff \
    setuptools_scm bumpversion bump2version";

/// Returns true if a program reads the settings of git, which name programs to run.
pub(crate) fn reads_its_settings(base: &str, words: &[Word]) -> bool {
    let has = |names: &[&str]| words.iter().skip(1).any(|word| names.contains(&word.text.as_str()));
    match base {
        "npm" | "pnpm" | "yarn" => has(&["version", "publish"]),
        "npx" | "bunx" | "pnpx" => words.iter().skip(1).any(|word| has_word(READERS, &word.text)),
        "pip" | "pip3" | "uv" | "poetry" | "pdm" | "hatch" => {
            has(&["-e", "--editable", "install", "build", "version", "sync"])
        }
        _ => has_word(READERS, base) || base.starts_with("git-"),
    }
}

/// Returns the index of git's command, after git's own options and their values.
pub(crate) fn command_at(words: &[Word]) -> usize {
    1 + after_options(words.get(1..).unwrap_or_default())
}

/// Returns the index of git's command in the words after `git`.
pub(crate) fn after_options(rest: &[Word]) -> usize {
    let mut at = 0;
    while let Some(word) = rest.get(at).filter(|word| word.text.starts_with('-')) {
        at += 1 + usize::from(VALUED_OPTIONS.contains(&word.text.as_str()));
    }
    at.min(rest.len())
}

/// Prefixes of settings of git that do not name a program.
const HARMLESS_KEYS: &str = "\
    user.name user.email init.defaultbranch pull.rebase pull.ff push.default push.autosetupremote fetch.prune color. \
    advice. log. branch. status. column. rebase.auto merge.conflictstyle diff.algorithm diff.renames core.autocrlf core.eol \
    core.filemode core.ignorecase";

/// Returns true for an action of `git config` that only reads settings.
pub(crate) fn reads_settings(action: &str) -> bool {
    matches!(action, "--get" | "--get-all" | "--get-regexp" | "--list" | "-l" | "get" | "list")
}

/// Returns the name of the setting that `git config` changes, if it changes one.
fn set_key(rest: &[Word]) -> Option<&Word> {
    let mut words = rest.iter().filter(|word| !word.text.starts_with('-'));
    let first = words.next()?;
    let key = if matches!(first.text.as_str(), "set" | "unset") { words.next()? } else { first };
    (!rest.iter().any(|word| reads_settings(&word.text)) && words.next().is_some()).then_some(key)
}

/// Returns true if `git config` changes a setting in a file that it is given.
fn sets_in_file(rest: &[Word]) -> bool {
    let is_file = |at: usize| at > 0 && matches!(rest[at - 1].text.as_str(), "-f" | "--file");
    let words =
        rest.iter().enumerate().filter(|(at, _)| !is_file(*at)).map(|(_, word)| word.clone());
    let words: Vec<Word> = words.collect();
    set_key(&words).is_some()
        || words.iter().any(|word| {
            matches!(
                word.text.as_str(),
                "--unset" | "--add" | "--replace-all" | "--rename-section" | "--remove-section"
            )
        })
}

/// Returns true if a setting cannot name a program, whatever its value is.
fn is_harmless_key(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    HARMLESS_KEYS.split(' ').any(|known| key.starts_with(known))
}

pub(crate) fn git(words: &[Word], command: &mut AnalyzedCommand) {
    let AnalyzedCommand { concerns, others, .. } = command;
    let at = command_at(words);
    for (key, _) in named_variables(&words[..at]).filter(|(key, _)| !is_harmless_key(key)) {
        let reason = format!("the value of {key} comes from a variable");
        concerns.push(Concern::unless_exact(reason));
    }
    let mut ask = |word: &Word, reason: String| {
        concerns.push(Concern { reason, covered_by: CoveredBy::Word(word.shown.clone()) })
    };
    let options = words.iter().take(at).skip(1).filter(|word| word.text.starts_with('-'));
    // The owner of the directory decides what git runs there.
    for word in options.filter(|word| !has_word(HARMLESS_OPTIONS, &word.text)) {
        ask(word, format!("{} of git can run something", word.brief()));
    }
    let Some(sub) = words.get(at) else { return };
    let name = sub.text.as_str();
    let rest = &words[at + 1..];
    let first = rest.first().map_or("", |word| word.text.as_str());
    if !has_word(GIT_COMMANDS, name) {
        return ask(sub, format!("git {} can be another program or an alias", sub.shown));
    }
    let harmless = match name {
        "config" => {
            let name = if matches!(first, "--global" | "--local" | "--system") { 1 } else { 0 };
            // A name followed by a value sets the setting.
            let is_name = rest.get(name).is_some_and(|word| word.known && !first.is_empty());
            let asks = is_name && rest.len() == name + 1 && !rest[name].text.starts_with('-');
            asks || rest.get(name).is_some_and(|action| reads_settings(&action.text))
        }
        "bisect" => {
            matches!(first, "start" | "good" | "bad" | "reset" | "log" | "skip" | "old" | "new")
        }
        "submodule" => matches!(first, "" | "status" | "summary" | "init"),
        "archive" => false,
        // Otherwise it writes a file for each commit.
        "format-patch" => {
            rest.iter().any(|word| word.text == "--stdout")
                && !rest
                    .iter()
                    .any(|word| ["-o", "--output"].iter().any(|name| word.text.starts_with(name)))
        }
        "help" => false,
        _ => true,
    };
    if let ("config", Some(key)) = (name, set_key(rest))
        && !is_harmless_key(&key.text)
    {
        // Only a rule that names the setting can allow it: many settings are commands.
        ask(key, format!("the setting {} of git can run something", key.shown));
    }
    for word in rest.iter().filter(|word| word.text.starts_with('-')) {
        let value = word.text.split_once('=').map_or("", |(_, value)| value);
        if is_of_git(value, word.glob) {
            ask(word, format!("{} is where git reads what it runs", word.brief()));
        }
    }
    if !harmless {
        ask(sub, format!("git {} can run something or write somewhere else", sub.shown));
    }
    for (at, word) in rest.iter().enumerate() {
        let text = word.text.as_str();
        // It may be the value of an option, followed by further options.
        if text == "--" {
            continue;
        }
        let short = match name {
            "clone" => flag(text, &["-u", "-c", "--bare", "--mirror"]),
            // A repository that an edit can write to decides what git runs in it.
            "init" => flag(text, &["--bare"]),
            "grep" => flag(text, &["-O"]),
            "rebase" => flag(text, &["-x", "-s"]),
            "merge" => flag(text, &["-s"]),
            "pull" => flag(text, &["-s", "-o"]),
            "push" | "fetch" | "ls-remote" => flag(text, &["-o"]),
            _ => None,
        };
        let next = rest.get(at + 1).map_or("", |word| word.text.as_str());
        let short = short.filter(|found| {
            let value = if text == "-s" { next } else { text.trim_start_matches("-s") };
            *found != "-s" || !STRATEGIES.contains(&value)
        });
        // `-x` alone is a flag of some commands that runs nothing.
        let long = if text.starts_with("--") { flag(text, GIT_FLAGS) } else { None };
        let long = long.filter(|found| {
            let value = text.split_once('=').map_or(next, |(_, value)| value);
            !(matches!((name, text), ("config", "--edit") | ("stash" | "remote" | "push", "--"))
                || (*found == "--strategy" && STRATEGIES.contains(&value)))
        });
        if let Some(found) = short.or(long) {
            others.extend(texts(&rest[at..rest.len().min(at + 2)]));
            ask(word, format!("{found} of git {name} can run something or write somewhere else"));
        }
        if text.contains("::")
            && !matches!(name, "log" | "commit" | "grep" | "diff" | "show" | "blame")
        {
            ask(word, "an address of git with :: names a program".into());
        }
    }
}

/// Returns the values of options of git itself that lead outside: a repository, the files that are checked out from it, and
/// settings.
fn places_outside(words: &[Word]) -> Vec<(Domain, Word)> {
    let at = command_at(words);
    let is_read_only = words.get(at).is_some_and(|name| {
        let name = name.text.as_str();
        has_word(READ_ONLY_GIT, name) || LEAVE_FILES.contains(&name)
    });
    // `git clone -c` sets the same of the new repository.
    let clones = words.get(at).is_some_and(|name| name.text == "clone");
    let count = if clones { words.len() } else { at };
    let options = words.iter().enumerate().take(count).skip(1);
    let value = |(at, word): (usize, &Word)| {
        // `git clone -ccore.hooksPath=../x`
        let glued = word.text.strip_prefix("-c").filter(|glued| clones && !glued.is_empty());
        let whole = word.text.split_once('=').unwrap_or((&word.text, ""));
        let (option, value) = glued.map_or(whole, |glued| ("-c", glued));
        let next = || words.get(at + 1).map_or("", |next| next.text.as_str());
        let mut value = if value.is_empty() { next() } else { value };
        let domain = match option {
            "--work-tree" if !is_read_only => Domain::Edit,
            "--work-tree" | "--git-dir" | "--exec-path" => Domain::Read,
            // `core.hooksPath=../x`
            "-c" | "--config" => {
                let (key, path) = value.split_once('=')?;
                value = path;
                match key.to_ascii_lowercase().as_str() {
                    "safe.directory" => return None,
                    "core.worktree" if !is_read_only => Domain::Edit,
                    _ => Domain::Read,
                }
            }
            _ => return None,
        };
        leads_out(value).then(|| {
            (domain, Word { text: value.to_owned(), tilde: value.starts_with('~'), ..word.clone() })
        })
    };
    options.filter_map(value).collect()
}

/// A file that a command of git writes or reads.
pub(crate) struct GitFile {
    pub domain: Domain,
    pub file: Word,
    /// True if its path begins at the top of the work tree.
    pub is_from_top: bool,
}

impl GitFile {
    fn new(domain: Domain, file: Word) -> Self {
        GitFile { domain, file, is_from_top: false }
    }
}

/// Returns the files that a command of git writes, and those that it reads and that may be outside or that `is_secret`:
/// git does so with any path it is given. Files of its repository are not included.
pub(crate) fn files(words: &[Word], is_secret: &dyn Fn(&str) -> bool) -> Vec<GitFile> {
    let outside = places_outside(words).into_iter();
    let mut found: Vec<GitFile> =
        outside.map(|(domain, file)| GitFile::new(domain, file)).collect();
    let Some((name, rest)) = words.get(command_at(words)..).and_then(<[Word]>::split_first) else {
        return found;
    };
    let name = name.text.as_str();
    found.extend(values_of_outputs(name, rest));
    let options = Options::of(name, rest);
    let end = options.end;
    let keeps_files = options.keep_files(name);
    let is_told = |path: &str| leads_out(path) || is_secret(path);
    let folds = folds_all(words);
    let texts = text_options(name);
    let mut arguments = 0;
    let (mut patterns, mut excluded) = (0, 0);
    for (at, word) in rest.iter().enumerate() {
        if options.has_value_at(at, options.valued) || options.has_value_at(at, texts) {
            continue;
        }
        let (path, is_argument) = match word.text.strip_prefix('-') {
            None => {
                arguments += 1;
                (Some(word.text.as_str()), true)
            }
            Some(long) if long.starts_with('-') => {
                let value = word.text.split_once('=').filter(|(name, _)| !texts.contains(name));
                (value.map(|(_, value)| value).filter(|value| is_told(value)), false)
            }
            // Its only value is a pattern of files that it leaves.
            Some(_) if name == "clean" => (None, false),
            Some(letters) => {
                // A text may be attached to its option.
                let is_text = |letter: char| texts.contains(&format!("-{letter}").as_str());
                let end = letters.find(is_text).unwrap_or(letters.len());
                let value = glued(letters).find(|value| is_told(value));
                (value.filter(|value| letters.len() - value.len() <= end), false)
            }
        };
        let Some(path) = path else { continue };
        let is_written = match name {
            "init" | "mv" | "pack-objects" => true,
            // The first argument says what is done.
            "worktree" => !is_argument || arguments > 1,
            "bundle" => rest[0].text == "create" && is_argument && arguments == 2,
            "clone" => at + 1 == rest.len() && (arguments > 1 || !is_argument),
            "restore" | "rm" | "clean" => is_argument && !keeps_files,
            "checkout" => {
                let is_branch = end + 1 == rest.len() && at < end;
                let is_path = arguments > 1 || at > end || !is_branch && is_like_path(path);
                is_argument && !keeps_files && is_path
            }
            "stash" => is_argument && (at > end || arguments > 1 && rest[0].text == "push"),
            "checkout-index" => is_argument,
            _ => false,
        };
        if is_written && has_word(TAKE_PATTERNS, name) {
            let file = pattern_of(word, folds);
            patterns += 1;
            excluded += usize::from(file.is_none());
            let is_from_top = is_from_top(&word.text);
            found.extend(file.map(|file| GitFile { domain: Domain::Edit, file, is_from_top }));
            continue;
        }
        let path = path.strip_prefix("file://").unwrap_or(path);
        let is_address = path.contains("://") || (name == "clone" && path.contains(':'));
        // `HEAD:../x`: a file as it was in a commit.
        let in_commit = path
            .split_once(':')
            .map(|(_, path)| path)
            .filter(|path| leads_out(path) && !path.starts_with('/'));
        let path = in_commit.filter(|_| !is_address && is_argument).unwrap_or(path);
        // Their input becomes content of the repository, in which a symlink can lead anywhere.
        let is_read = matches!(name, "hash-object" | "apply" | "am")
            || (at > 0 && READ_BY.contains(&rest[at - 1].text.as_str()));
        if is_address || !(is_written || is_read || leads_out(path) || !is_argument) {
            continue;
        }
        let domain = if is_written { Domain::Edit } else { Domain::Read };
        found.push(GitFile::new(domain, Word { text: path.to_owned(), ..word.clone() }));
    }
    // Patterns that only leave files out mean all others.
    let is_all = name == "clean" && arguments == 0 && !keeps_files;
    if is_all || patterns > 0 && patterns == excluded {
        found.push(GitFile::new(Domain::Edit, Word::plain(".")));
    }
    found
}

/// Returns the files that options of a command name for its output.
fn values_of_outputs(name: &str, rest: &[Word]) -> Vec<GitFile> {
    let is_setting = name == "config" && sets_in_file(rest);
    let written = if is_setting { &["-f", "--file"] } else { written_by(name) };
    let value_at = |at: usize, word: &Word| -> Option<Word> {
        let attached = |value: &str| Word { text: value.to_owned(), ..word.clone() };
        let is_output = |option: &str| {
            let is_abbreviated = option.len() > 4 && option.starts_with("--");
            written.iter().any(|name| *name == option || is_abbreviated && name.starts_with(option))
        };
        if let Some(value) = word.text.strip_prefix("-o").filter(|value| !value.is_empty()) {
            return is_output("-o").then(|| attached(value));
        }
        match word.text.split_once('=') {
            Some((option, value)) => is_output(option).then(|| attached(value)),
            None if is_output(&word.text) => rest.get(at + 1).cloned(),
            None => None,
        }
    };
    let values = rest.iter().enumerate().filter_map(|(at, word)| value_at(at, word));
    let files = values.filter(|value| !value.text.is_empty() && value.text != "-");
    files.map(|file| GitFile::new(Domain::Edit, file)).collect()
}

/// The options of a command of git.
struct Options<'w> {
    rest: &'w [Word],
    /// The index of `--`, after which there are none.
    end: usize,
    /// Those with a value that is no file.
    valued: &'static [&'static str],
}

impl<'w> Options<'w> {
    fn of(name: &str, rest: &'w [Word]) -> Self {
        let end = rest.iter().position(|word| word.text == "--").unwrap_or(rest.len());
        Options { rest, end, valued: valued_by(name) }
    }

    /// Returns true if a word is the value of one of these options.
    fn has_value_at(&self, at: usize, options: &[&str]) -> bool {
        (1..=self.end).contains(&at) && takes_text(&self.rest[at - 1].text, options)
    }

    fn has(&self, names: &[&str]) -> bool {
        (0..self.end).any(|at| {
            !self.has_value_at(at, self.valued)
                && !self.follows_abbreviation(at)
                && flag(without_value(&self.rest[at], self.valued), names).is_some()
        })
    }

    /// Returns true if a word is the value of an option whose long name is shortened: `--exc -n`.
    fn follows_abbreviation(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map_or("", |at| self.rest[at].text.as_str());
        before.len() > 2
            && before.starts_with("--")
            && self.valued.iter().any(|name| name.starts_with(before))
    }

    /// Returns true if there is one of these options, and none that undoes it, as `--no-dry` undoes `--dry-run`.
    fn is_set(&self, names: &[&str]) -> bool {
        let is_undone = |name: &str| {
            let words = self.rest[..self.end].iter();
            let mut undone = words.filter_map(|word| word.text.strip_prefix("--no-"));
            name.strip_prefix("--").is_some_and(|name| undone.any(|start| name.starts_with(start)))
        };
        self.has(names) && !names.iter().any(|name| is_undone(name))
    }

    /// Returns true if the command changes the index only, shows what it would do, or makes a branch.
    fn keep_files(&self, name: &str) -> bool {
        match name {
            "restore" => self.is_set(&["--staged", "-S"]) && !self.has(&["--worktree", "-W"]),
            "rm" => self.is_set(&["--cached"]) || self.is_set(&["-n", "--dry-run"]),
            "clean" => self.is_set(&["-n", "--dry-run"]),
            "checkout" => {
                let kinds =
                    [&["-b", "-B"][..], &["--orphan"], &["-t", "--track"], &["-d", "--detach"]];
                kinds.iter().any(|names| self.is_set(names))
            }
            _ => false,
        }
    }
}

/// Returns true if a command changes everything in the folders that it is given.
pub(crate) fn changes_all(words: &[Word]) -> bool {
    let name = words.get(command_at(words)).map_or("", |word| word.text.as_str());
    has_word(TAKE_PATTERNS, name) || name == "mv"
}

/// Commands whose arguments are patterns of files in the work tree that they change.
const TAKE_PATTERNS: &str = "restore rm clean checkout stash";

/// Options of such a command with a value that is no file.
fn valued_by(name: &str) -> &'static [&'static str] {
    match name {
        "restore" => &["-s", "--source", "--conflict"],
        "checkout" => &["-b", "-B", "--orphan", "--conflict"],
        "clean" => &["-e", "--exclude"],
        _ => &[],
    }
}

/// Returns an option without the value that is attached to its letters.
fn without_value<'w>(word: &'w Word, valued: &[&str]) -> &'w str {
    let letters: String = valued.iter().filter_map(|name| name.get(1..2)).collect();
    match word.text.starts_with("--") {
        true => &word.text,
        false => word.text.get(..1 + word.option_letters(&letters).0.len()).unwrap_or(&word.text),
    }
}

/// Returns true if the first argument of `git checkout` is more likely a file than a branch, a tag or a remote branch.
fn is_like_path(text: &str) -> bool {
    text.contains(['/', '.'])
        && !["origin/", "upstream/"].iter().any(|remote| text.starts_with(remote))
}

/// Returns true if the next word is the text of an option, which can be the last of several letters.
fn takes_text(option: &str, texts: &[&str]) -> bool {
    if option.starts_with("--") {
        return texts.contains(&option);
    }
    let Some(letters) = option.strip_prefix('-') else { return false };
    let text_at = letters.find(|letter: char| texts.contains(&format!("-{letter}").as_str()));
    text_at.is_some_and(|at| at + 1 == letters.len())
}

/// Returns true if a command has only names of branches, tags and settings among its arguments, so that wildcards match
/// no files.
pub(crate) fn names_no_files(words: &[Word]) -> bool {
    let name = words.get(command_at(words)).map_or("", |word| word.text.as_str());
    matches!(
        name,
        "tag"
            | "branch"
            | "for-each-ref"
            | "ls-remote"
            | "describe"
            | "show-ref"
            | "remote"
            | "config"
    )
}

/// Returns true if a word is the text of an option, as a word of its own or attached.
pub(crate) fn is_text(words: &[Word], at: usize) -> bool {
    let sub = command_at(words);
    // All words after it are names of files.
    if at <= sub || words[sub..at].iter().any(|word| word.text == "--") {
        return false;
    }
    let texts = text_options(words.get(sub).map_or("", |word| word.text.as_str()));
    let (option, value) = words[at].text.split_once('=').unwrap_or((&words[at].text, ""));
    (!value.is_empty() && option.starts_with("--") && texts.contains(&option))
        || (at > sub + 1 && takes_text(&words[at - 1].text, texts))
}

/// Returns true if a word is a message.
pub(crate) fn is_message(words: &[Word], at: usize) -> bool {
    let sub = command_at(words);
    let name = words.get(sub).map_or("", |word| word.text.as_str());
    let has_messages = matches!(name, "commit" | "tag" | "stash" | "notes" | "merge");
    has_messages && at > sub + 1 && takes_text(&words[at - 1].text, &["-m", "--message"])
}

/// Returns true if the standard input of the command is a message.
pub(crate) fn reads_message(words: &[Word]) -> bool {
    let sub = command_at(words);
    let is_it = words.get(sub).is_some_and(|word| matches!(word.text.as_str(), "commit" | "tag"));
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    is_it
        && (sub + 1..words.len()).any(|at| match text(at) {
            "-F-" | "--file=-" => true,
            "-F" | "--file" => text(at + 1) == "-",
            _ => false,
        })
}
