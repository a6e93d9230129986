//! Words of a command that name files with secrets, and variables that hold some.

use super::analyzer::Walker;
use super::program_names::base;
use super::programs::{Kind, Program};
use super::simple_command::{glued, is_message};
use super::word::Word;
use super::{
    AnalyzedCommand, Concern, CoveredBy, git::git_commands, git::git_pathspecs, grep_args,
    sed_awk_find,
};
use crate::permission::Domain;
use crate::permission::sensitive::without_classes;
use crate::util::words::has_word;

/// Programs with options for files that they leave out.
const LEAVE_OUT: &str =
    "tar bsdtar gtar rsync zip grep egrep fgrep ggrep ugrep ug ugrep+ ug+ du fd fdfind rg rga";

/// Returns the parts of a word that may be names of files, and the word.
pub(super) fn name_candidates(text: &str, is_git: bool) -> impl Iterator<Item = &str> {
    let letters = text.strip_prefix('-').filter(|_| !is_git);
    let included = letters.filter(|letters| letters.starts_with('i'));
    let included = included.and_then(|letters| Some(letters.split_once('!')?.1));
    // `{a,b}` lists names, and `{{.x}}` is a template.
    let is_template = text.contains("{{");
    // `name=@"x";type=y` of a form.
    let is_form = text.contains(['@', '<']);
    // `concat:a|b` of ffmpeg
    let is_list = text.contains("concat:");
    let is_end = move |letter: char| match letter {
        '=' | ':' | '@' | ',' | '<' | '#' => true,
        '|' => is_list,
        '{' | '}' => !is_template,
        ';' | '"' => is_form,
        _ => false,
    };
    text.split(is_end)
        .filter(move |piece| *piece != text)
        .chain([text].into_iter().filter(|text| !text.starts_with('-')))
        // After an option of one letter: `-Ifolder`.
        .chain(letters.and_then(|letters| glued(letters).next()))
        // `7z -i!name`
        .chain(included)
        .filter(|piece| !piece.is_empty())
}

impl Walker<'_> {
    /// Returns true if all files of a folder that the command may run in are secrets.
    fn is_among_secrets(&self) -> bool {
        self.places.iter().any(|place| self.sensitive.is_sensitive(&[place, "/x"].concat()))
    }

    /// Adds files with secrets, wherever their names occur, and other possible names of files.
    pub(super) fn secrets(
        &mut self,
        words: &[Word],
        program: Option<&Program>,
        command: &mut AnalyzedCommand,
    ) {
        let shows_no_content = program.is_some_and(|program| match program.kind {
            Kind::Inert | Kind::Shell => !matches!(words[0].text.as_str(), "source" | "."),
            // The paths of these are added anyway.
            Kind::Reader
            | Kind::Lister
            | Kind::Writer
            | Kind::Both
            | Kind::Filter
            | Kind::Copier => true,
            _ => false,
        });
        if shows_no_content {
            return;
        }
        // Git expands wildcards that the shell does not, and the values of its options are known.
        let is_git = program.is_some_and(|program| program.kind == Kind::Git);
        let takes_globs = is_git && !git_commands::names_no_files(words);
        // Other programs may take any pattern for one of names, in which a wildcard matches a leading dot.
        let may_take_globs = program.is_none_or(|program| program.kind.runs_arguments());
        let base = &*base(&words[0].text);
        // `pip install .[dev]`
        let takes_extras = ["pip", "pip3", "pipx", "uv", "uvx", "poetry", "pdm"].contains(&base);
        let mut is_in_folder = None;
        let is_grep = program.is_some_and(|program| program.kind == Kind::Grep);
        let texts = if is_grep { grep_args::texts(base, &words[1..]) } else { Vec::new() };
        let is_gh = matches!(base, "gh" | "glab");
        let is_find = program.is_some_and(|program| program.kind == Kind::Find);
        let leaves_out = has_word(LEAVE_OUT, base);
        let mut option = "";
        for (at, word) in words.iter().enumerate().skip(1) {
            if word.text.starts_with('-') {
                option = &word.text;
            }
            if !word.known {
                continue;
            }
            if (is_git
                && (git_commands::is_text(words, at) || git_pathspecs::is_exclusion(&word.text)))
                || texts.binary_search(&(at - 1)).is_ok()
                || (is_gh && is_filter(&words[at - 1].text, &word.text))
                || (is_gh && is_message(words, at, program))
                || (is_find && sed_awk_find::is_left_out(words, at - 1))
                || (leaves_out && is_left_out(base, option, &words[at - 1].text, &word.text))
            {
                continue;
            }
            let text = without_classes(&word.text);
            for piece in name_candidates(&text, is_git) {
                let piece = if takes_globs {
                    git_pathspecs::without_magic(piece, &word.text)
                } else {
                    piece
                };
                let glob = word.glob || (takes_globs && piece.contains(['*', '?', '[']));
                let is_secret = if glob {
                    self.sensitive.can_be_sensitive(piece, false)
                } else {
                    self.sensitive.is_sensitive(piece)
                        || (piece == word.text
                            && !piece.starts_with('/')
                            && *is_in_folder.get_or_insert_with(|| self.is_among_secrets()))
                };
                let is_pattern = (takes_globs || may_take_globs)
                    && !word.glob
                    && piece.contains(if takes_extras {
                        &['*', '?'][..]
                    } else {
                        &['*', '?', '[']
                    });
                if is_pattern && !is_secret && self.sensitive.can_be_found(piece, true) {
                    command.concerns.push(Concern::always(format!(
                        "{} can mean files with secrets",
                        word.brief()
                    )));
                }
                if !is_secret && !self.with_named {
                    continue;
                }
                // The letters of a path in any case can be any.
                let in_any_case =
                    is_git && !is_secret && git_pathspecs::folds_case(words, &word.text);
                let text = match in_any_case {
                    true => piece.replace(|letter: char| letter.is_ascii_alphabetic(), "?"),
                    false => piece.to_owned(),
                };
                let file = Word {
                    text,
                    shown: word.shown.clone(),
                    known: true,
                    glob: glob || in_any_case || (is_pattern && names_something(piece)),
                    tilde: word.tilde && piece == word.text,
                    ..Word::default()
                };
                let is_from_top = is_git && git_pathspecs::is_from_top(&word.text);
                let concern = self.at_tops(is_from_top, |walker| match is_secret {
                    true => walker.file(Domain::Read, &file),
                    false => {
                        walker.named(&file);
                        None
                    }
                });
                command.concerns.extend(concern);
            }
        }
    }
}

/// Returns true if a glob does not stand for files in general, such as `**/*.ts`.
fn names_something(glob: &str) -> bool {
    !(glob.starts_with('*') && glob.rsplit('/').next().is_some_and(|last| last.starts_with('*')))
}

/// Returns true if a text names files that a program leaves out, `tar --exclude=.env` and `zip -r a . -x .env`, given the last
/// option and the word in front of it.
fn is_left_out(base: &str, option: &str, before: &str, text: &str) -> bool {
    match base {
        "zip" => !text.starts_with('-') && matches!(option, "-x" | "--exclude"),
        _ if grep_args::is_ripgrep(base) => {
            text.starts_with('!') && matches!(before, "-g" | "--glob" | "--iglob")
        }
        _ => {
            leaves_out(text) || matches!(before, "--exclude" | "--exclude-dir") || {
                before == "-E" && base.starts_with("fd")
            }
        }
    }
}

/// Returns true if an option names what a program leaves out.
pub(super) fn leaves_out(option: &str) -> bool {
    option.starts_with("--exclude=") || option.starts_with("--exclude-dir=")
}

/// Returns true if a word is a filter or a template for the output of `gh`.
pub(super) fn is_filter(before: &str, word: &str) -> bool {
    const NAMES: [&str; 4] = ["--jq", "-q", "--template", "--json"];
    NAMES.contains(&before)
        || NAMES.iter().any(|name| {
            name.starts_with("--")
                && word.strip_prefix(name).is_some_and(|rest| rest.starts_with('='))
        })
}

/// A file can hold a filter of `jq`.
pub(super) fn reads_filter(words: &[Word], command: &mut AnalyzedCommand) {
    let is_file = |word: &&Word| {
        let letters = word.text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        word.text.starts_with("--from") || letters.is_some_and(|rest| rest.contains('f'))
    };
    command.concerns.extend(words[1..].iter().find(is_file).map(|word| Concern {
        reason: "the filter is in a file".into(),
        covered_by: CoveredBy::Word(word.shown.clone()),
    }));
}

/// Adds the files that a filter of `jq` or `yq` names.
pub(super) fn reads_by_name(words: &[Word], names: &[&str], command: &mut AnalyzedCommand) {
    let names_files = |word: &&Word| {
        let mut parts = word.text.split(|letter: char| !letter.is_alphanumeric());
        parts.any(|part| names.contains(&part)) && word.text.contains(['"', '('])
    };
    command.concerns.extend(words[1..].iter().find(names_files).map(|word| Concern {
        reason: "a filter can read files".into(),
        covered_by: CoveredBy::Word(word.shown.clone()),
    }));
}
