//! Code that a command gives a program: among its words, in its input, or in a file that the command wrote before. Deny rules
//! are compared with the commands in it, and the files that its strings name count if they hold secrets or a rule is about them.

use std::collections::BTreeSet;

use super::names_in_code::{Language, MAX_STRINGS, all_names, names};
use super::reading_words::{changes, is_only_read, is_query};
use crate::permission::Domain;
use crate::permission::shell::analyzer::{Walker, pieces};
use crate::permission::shell::commands_in_words::{commands_of_line, with_arguments};
use crate::permission::shell::container_paths::paths_of_machine;
use crate::permission::shell::destroying::destroying_code::{
    HOMES, commands_in, with_joined_paths, with_joined_strings,
};
use crate::permission::shell::destroying::destroying_commands::{
    LOCAL_WRAPPERS, MAX_TAILS, is_code_from_input, is_shell_text,
};
use crate::permission::shell::expand::decoded_all;
use crate::permission::shell::known_values::Fact;
use crate::permission::shell::program_names::{base, name_in_system};
use crate::permission::shell::programs::{self, Kind, Program};
use crate::permission::shell::script_safety::sed_is_harmless;
use crate::permission::shell::shells::reads_shell_scripts;
use crate::permission::shell::simple_command::leads_out;
use crate::permission::shell::word::Word;
use crate::permission::shell::{
    AnalyzedCommand, Concern, decode, files::edited_files, printing::sed_output,
};
use crate::util::words::{has_word, row};

/// Maximum number of lines of a text, and maximum length of a name of a file.
const MAX_LINES: usize = 256;
const MAX_NAME: usize = 512;

/// Programs with code in their words that their kind does not tell, and a word that such code has.
const OTHERS: [(&str, &str); 13] = [
    ("emacs", ""),
    ("emacsclient", ""),
    ("make", "="),
    ("gmake", "="),
    ("yq", "load"),
    ("jq", "clude"),
    ("jq", "import"),
    ("gojq", "clude"),
    ("gojq", "import"),
    ("jaq", "clude"),
    ("jaq", "import"),
    ("kotlin", ""),
    ("nim", ""),
];

/// Programs that take expressions of a language of their own, in which files can be named.
const WITH_EXPRESSIONS: &str = "\
    socat websocat mlr q octosql trdsql csvq usql duckdb clickhouse clickhouse-local clickhouse-client xmllint xmlstarlet \
    xsltproc pkl gs terraform tofu terragrunt magick convert identify mogrify montage composite dasel xq dhall nickel jsonnet cue typst";

/// Programs that pass their input on, change its form, or take it for data.
const TAKE_DATA: &str = "\
    curl wget nc ncat netcat pbcopy xclip xsel wl-copy clip docker podman nerdctl kubectl oc helm gh glab openssl gpg gpg2 less \
    most fzf figlet cowsay lolcat mail mailx sendmail sponge ts pv age rage http https xh aws gcloud az redis-cli aspell hunspell \
    codespell typos say espeak notify-send claude llm mods glow at batch npm npx pnpm yarn bun cargo go pip pip3 uv jest vitest \
    pytest vim vi nvim nano code patch delta ansi2html highlight pygmentize jless fx xargs gxargs parallel tmux osascript eslint \
    prettier ruff shellcheck hadolint yamllint jsonlint ssh sudo socat logger wall write openclaw mosquitto_pub kcat nats";

/// Words of calls that run commands, and that decode them. A script without any is not read for the commands in its strings.
const RUN_WORDS: [&str; 14] = [
    "system",
    "exec",
    "popen",
    "Popen",
    "spawn",
    "subprocess",
    "shell_",
    "Command(",
    "run-program",
    "do shell",
    "Process",
    "`",
    "%x",
    "b64",
];

/// Words of calls that take globs of files.
const FIND_WORDS: [&str; 3] = ["glob", "Glob", "Dir["];

/// Words of calls that put paths together.
const JOIN_WORDS: [&str; 6] = ["join", "Path(", "resolve(", "catfile", "concat", "Pathname"];

/// Calls that join strings, and what joins them as well.
const JOINS: [(&str, &str); 4] =
    [(".concat(", "+"), (".joinpath(", ","), ("os.sep", "'/'"), ("path.sep", "'/'")];

/// Words of calls that are given a folder.
const FOLDER_WORDS: [&str; 8] =
    ["chdir", "move", "copy", "rename", "walk(", "listdir", "readdir", "scandir"];

/// Folders at the top of a machine.
const TOP_FOLDERS: &str = "etc home usr var tmp root opt srv mnt media proc sys dev boot bin sbin lib lib64 run Users Library \
    Applications System Volumes private";

/// Words of calls that decode base64.
const DECODE_WORDS: [&str; 3] = ["b64", "atob", "base64"];

/// Files that programs run without being told. A star is any beginning or end of a name.
const RUN_BY_DEFAULT: &str = "\
make Makefile makefile GNUmakefile
gmake Makefile makefile GNUmakefile
just justfile Justfile .justfile
ninja build.ninja
task Taskfile.yml Taskfile.yaml
npm package.json
npx package.json
yarn package.json
pnpm package.json
bun package.json
rake Rakefile rakefile
rspec *_spec.rb
prove *.t
bats *.bats
go *.go
pip setup.py
pip3 setup.py
uv setup.py
pytest conftest.py test_* *_test.py
nox noxfile.py
gulp gulpfile.js
grunt Gruntfile.js
gradle build.gradle
cargo build.rs src/main.rs src/lib.rs
git .git/config ~/.gitconfig
cmake CMakeLists.txt
ctest CTestTestfile.cmake
mise mise.toml .mise.toml mise.local.toml
pixi pixi.toml pyproject.toml
poetry pyproject.toml
pdm pyproject.toml
hatch pyproject.toml
tox tox.ini
deno deno.json deno.jsonc
composer composer.json
direnv .envrc
invoke tasks.py
inv tasks.py
fab fabfile.py
scons SConstruct
meson meson.build
ant build.xml
foreman Procfile
honcho Procfile
overmind Procfile
lefthook lefthook.yml
eslint .eslintrc.js eslint.config.js eslint.config.mjs
terraform main.tf
jest jest.config.js *.test.js *.test.ts
vite vite.config.ts vite.config.js
vitest vite.config.ts vite.config.js *.test.js *.test.ts";

/// Programs with a language of lines in such a file, as in an argument.
const TAKE_LINES: [&str; 6] = ["make", "gmake", "just", "ninja", "task", "crontab"];

/// Programs that put files into their output which their input names.
const COMPILERS: [&str; 8] = ["gcc", "g++", "cc", "c++", "cpp", "clang", "clang++", "tcc"];

/// Returns the language of the code that a program takes.
fn language(name: &str, program: Option<&Program>) -> Option<Language> {
    if reads_shell_scripts(name) {
        return Some(Language::Shell);
    }
    if TAKE_LINES.contains(&name) {
        return Some(Language::Lines);
    }
    if COMPILERS.contains(&name) {
        return Some(Language::Lines);
    }
    let program = program?;
    match program.kind {
        Kind::Awk => Some(Language::Script),
        Kind::Sed => Some(Language::Pattern),
        _ if program.script && !matches!(name, "expect" | "tclsh" | "wish" | "m4") => {
            Some(Language::Script)
        }
        _ if program.script => Some(Language::Statements),
        _ if program.stdin || program.sql || program.copies => Some(Language::Statements),
        Kind::Runner => Some(Language::Lines),
        _ if program.input == "*" => Some(Language::Lines),
        _ => None,
    }
}

impl Walker<'_> {
    /// Judges the code among the words of a program.
    pub(crate) fn code_in_words(
        &mut self,
        name: &str,
        program: Option<&Program>,
        words: &[Word],
        command: &mut AnalyzedCommand,
    ) {
        if self.with_code
            && program.is_some_and(|program| matches!(program.kind, Kind::Code | Kind::Fd))
        {
            for at in (1..words.len().min(MAX_TAILS)).filter(|at| is_shell_text(words, *at)) {
                command.others.extend(pieces(&words[at].text));
            }
        }
        self.shared_files(name, words, command);
        if has_word(WITH_EXPRESSIONS, name) {
            self.expressions(words, command);
        }
        for (text, inside) in paths_of_machine(words) {
            if text != inside {
                self.code_names(&text, false, command);
                for name in names(&text, Language::Lines, true) {
                    self.code_names(name, false, command);
                }
            }
        }
        let other = || OTHERS.iter().filter(|(known, _)| *known == name);
        let is_other = other().next().is_some();
        let of_kind = language(name, program).filter(|_| !is_other);
        let Some(language) = of_kind.or(is_other.then_some(Language::Lines)) else { return };
        let is_code = |word: &Word| {
            word.known
                && word.text.contains([' ', '"', '\'', '(', '\n'])
                && (!is_other || other().any(|(_, part)| word.text.contains(part)))
        };
        let is_own = |at: &usize| is_code(&words[*at]) && !is_shell_text(words, *at);
        for at in (1..words.len().min(MAX_TAILS)).filter(is_own) {
            self.code(&words[at].text, language, command);
        }
        if matches!(name, "pwsh" | "powershell") {
            for text in words.iter().take(MAX_TAILS).filter_map(|word| decode::base64(&word.text)) {
                self.code(&text, language, command);
            }
        }
        if program.is_some_and(|program| program.kind == Kind::Sed)
            && sed_output::scripts(words).iter().any(|script| !sed_is_harmless(script))
        {
            for file in sed_output::files_named(words) {
                self.code_names(file, false, command);
                if leads_out(file) {
                    self.value_of(Domain::Read, &Word::plain(file), file, command);
                }
            }
            let texts = sed_output::run_texts(words);
            command.others.extend(texts.iter().flat_map(|text| pieces(text)));
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            self.guess_values(&texts, command);
        }
    }

    /// Judges the expressions among the words of a program.
    fn expressions(&mut self, words: &[Word], command: &mut AnalyzedCommand) {
        let is_expression =
            |word: &&Word| word.known && word.text.contains([' ', '"', '\'', '(', '[']);
        for word in words.iter().skip(1).take(MAX_TAILS).filter(is_expression) {
            self.code(&word.text, Language::Expressions, command);
        }
    }

    /// Judges the code that a program reads from its input.
    pub(crate) fn code_in_input(
        &mut self,
        texts: &[String],
        words: &[Word],
        command: &mut AnalyzedCommand,
    ) {
        let name = base(&words[0].text).into_owned();
        if self.with_code && name == "parallel" {
            let lines = texts.iter().chain(&self.piped).flat_map(|text| text.lines());
            command.others.extend(with_arguments(words, lines));
        }
        let program = programs::find(&name);
        let is_settings =
            |word: &Word| word.text.starts_with("-K") || word.text.starts_with("--config");
        if name == "curl" && words.iter().any(is_settings) {
            for text in texts.iter().chain(&self.piped.clone()) {
                self.code(text, Language::Lines, command);
            }
        }
        let reads = is_code_from_input(program, words)
            || name == "crontab"
            || (COMPILERS.contains(&name.as_str()) && words.iter().any(|word| word.text == "-"))
            || program.is_some_and(|program| program.sql || program.stdin || program.input == "*");
        let known = language(&name, program);
        let own = known.filter(|one| *one != Language::Shell && reads);
        let language = match own {
            None | Some(Language::Lines) if may_include(&name, program) => {
                Some(Language::Expressions)
            }
            _ => own,
        };
        if let Some(language) = language {
            let texts: Vec<String> = texts.iter().chain(&self.piped).cloned().collect();
            for text in texts {
                self.code(&text, language, command);
            }
        }
    }

    /// Judges the code in files that the command wrote and now runs.
    pub(crate) fn code_in_files(&mut self, words: &[Word], command: &mut AnalyzedCommand) {
        if !self.facts.iter().any(|(own, _)| matches!(own, Fact::Written(_))) {
            return;
        }
        let first = base(&words[0].text).into_owned();
        let is_wrapped = has_word(LOCAL_WRAPPERS, &first);
        let mut running = None;
        for (at, word) in words.iter().enumerate().take(MAX_TAILS) {
            let name = base(&word.text).into_owned();
            let texts: Vec<String> = self.written_texts(&word.text).map(str::to_owned).collect();
            let by = running.or((at == 0 || is_wrapped).then_some(Language::Shell));
            let includes = at == 0 && may_include(&name, programs::find(&name));
            for text in texts.iter().filter(|text| !text.is_empty()) {
                match by {
                    Some(Language::Shell) => {
                        command.others.extend(pieces(text));
                        self.guess_texts(std::slice::from_ref(text), command);
                    }
                    Some(language) => {
                        self.code(text, language, command);
                        self.code_in_file_destroys(text, language, command);
                    }
                    None => {}
                }
            }
            // Its scripts have a command in each line.
            let own = (name == "cmake").then_some(Language::Lines);
            running = language(&name, programs::find(&name))
                .filter(|one| !(includes && *one == Language::Lines))
                .or(own)
                .filter(|_| !word.text.starts_with('-'))
                .or(includes.then_some(Language::Expressions))
                .or(running);
            for file in row(RUN_BY_DEFAULT, &name).into_iter().flat_map(|files| files.split(' ')) {
                if file.contains('*') {
                    for text in self.texts_written_like(file) {
                        let found = self.code_runs(&text);
                        command.others.extend(found.into_iter().map(str::to_owned));
                    }
                    continue;
                }
                let texts: Vec<String> = self.written_texts(file).map(str::to_owned).collect();
                for text in texts {
                    self.code(&text, Language::Lines, command);
                    self.code_in_file_destroys(&text, Language::Lines, command);
                    let found = self.code_runs(&text);
                    command.others.extend(found.into_iter().map(str::to_owned));
                }
            }
        }
    }

    /// Returns the texts of the written files whose names begin or end as a tool looks for them: `test_*`.
    fn texts_written_like(&self, pattern: &str) -> Vec<String> {
        let (begin, end) = pattern.split_once('*').unwrap_or((pattern, ""));
        let is_it = |name: &str| {
            let name = name.rsplit('/').next().unwrap_or_default();
            name.starts_with(begin) && name.ends_with(end)
        };
        let texts = self.facts.iter().filter_map(|(own, text)| match own {
            Fact::Written(name) if is_it(name) => Some(text.clone()),
            _ => None,
        });
        texts.take(MAX_TAILS).collect()
    }

    /// Adds what the code in a file destroys.
    fn code_in_file_destroys(
        &mut self,
        text: &str,
        language: Language,
        command: &mut AnalyzedCommand,
    ) {
        let mut found = Vec::new();
        match language {
            Language::Script | Language::Pattern
                if RUN_WORDS.iter().any(|word| text.contains(word)) =>
            {
                found.extend(self.code_runs(text));
            }
            Language::Script | Language::Pattern => found.extend(self.code_destroys(text)),
            _ => {
                for line in text.lines().take(MAX_LINES) {
                    let line = line.trim_start_matches(|letter: char| " \t@-+".contains(letter));
                    let value = line.split_once(['=', ':']).map(|(_, value)| value.trim());
                    for text in [Some(line), value].into_iter().flatten() {
                        found.extend(self.text_destroys(text));
                    }
                }
            }
        }
        command.others.extend(found.into_iter().map(str::to_owned));
    }

    /// Adds the commands and the files that a text of code names.
    fn code(&mut self, text: &str, language: Language, command: &mut AnalyzedCommand) {
        let joined = text.contains(['"', '\'']).then(|| with_joined_strings(text));
        let decoded = text.contains('\\').then(|| decoded_all(text));
        let further = [joined, decoded].into_iter().flatten().filter(|other| other != text);
        let texts: Vec<String> = std::iter::once(text.to_owned()).chain(further).collect();
        let finds = FIND_WORDS.iter().any(|word| text.contains(word));
        let decodes = DECODE_WORDS.iter().any(|word| text.contains(word));
        let changes = self.with_edit_rules && changes(text);
        let mut seen = BTreeSet::new();
        for (form, name) in all_names(&texts, language, true) {
            // A form in which strings are joined may have lost the arguments after them.
            let is_joined = form != text;
            let only_reads = match language {
                _ if !self.with_edit_rules || !seen.insert((is_joined, name)) => true,
                Language::Script => !(is_joined && changes) && is_only_read(form, name, changes),
                Language::Statements | Language::Expressions => is_query(form),
                _ => false,
            };
            self.code_names(name, only_reads, command);
            if let Some(decoded) = decode::base64(name).filter(|_| decodes) {
                self.code_names(&decoded, false, command);
            }
            let takes_globs = matches!(language, Language::Statements | Language::Expressions)
                && name.contains('/')
                && !name.contains(char::is_whitespace);
            if (finds || takes_globs) && name.contains(['*', '?']) {
                self.code_finds(name, command);
            }
            self.printed_by_text(name, command);
        }
        for piece in commands_in(text).iter().take(MAX_STRINGS) {
            self.printed_by_text(piece, command);
        }
        if matches!(language, Language::Script | Language::Statements | Language::Expressions) {
            self.code_reaches(&texts, language, command);
        }
        if !self.with_code {
            return;
        }
        let mut found = BTreeSet::new();
        for piece in texts.iter().chain(&commands_in(text)).flat_map(|text| pieces(text)) {
            if !matches!(language, Language::Shell | Language::Script | Language::Pattern) {
                found.extend(commands_of_line(&piece));
            }
            // By its path: `/bin/x`.
            let command = piece.trim_start_matches("shell:");
            let program = command.split(' ').next().unwrap_or_default();
            if let Some(name) = name_in_system(program) {
                found.insert(command[program.len() - name.len()..].to_owned());
            }
            found.insert(piece);
        }
        command.others.extend(found.into_iter().filter(|one| can_begin(one)));
    }

    /// Adds the paths outside that code names, in a string or in several that it puts together.
    fn code_reaches(
        &mut self,
        texts: &[String],
        language: Language,
        command: &mut AnalyzedCommand,
    ) {
        let mut text = texts.first().cloned().unwrap_or_default();
        for (call, sign) in JOINS {
            text = text.replace(call, sign);
        }
        let text = text.as_str();
        let joins = JOIN_WORDS.iter().any(|word| text.contains(word));
        // The strings of a list stay apart, or are the parts of a path.
        let ways = if joins { &["\0", "/", ""][..] } else { &["\0"] };
        let paths: Vec<String> = ways.iter().map(|by| with_joined_paths(text, by)).collect();
        let runs = matches!(language, Language::Statements | Language::Expressions)
            || RUN_WORDS.iter().any(|word| text.contains(word));
        let given: BTreeSet<&str> =
            all_names(texts, language, true).map(|(_, name)| name).collect();
        let changes = !self.with_edit_rules || changes(&texts[0]);
        let all: Vec<String> = texts.iter().chain(&paths).cloned().collect();
        for (text, name) in all_names(&all, language, runs) {
            if !given.contains(name) {
                let only_reads =
                    language == Language::Script && !changes && is_only_read(text, name, changes);
                self.code_names(name, only_reads, command);
            }
            if let Some(path) = outside(name) {
                self.value_of(Domain::Read, &Word::plain(path), path, command);
            }
        }
        let takes_folder = FOLDER_WORDS.iter().any(|word| text.contains(word));
        if text.contains("cwd().parent")
            || takes_folder && names(text, Language::Script, false).any(|name| name == "..")
        {
            self.value_of(Domain::Read, &Word::plain(".."), "..", command);
        }
        let home = HOMES.iter().any(|home| {
            text.match_indices(home).any(|(at, _)| {
                text[at + home.len()..].trim_start().starts_with(['+', '/', ',', '.', '<'])
            })
        });
        if home {
            self.value_of(Domain::Read, &Word::plain("~"), "~", command);
        }
    }

    /// Adds a file that code names, if it holds secrets or a rule may be about it.
    fn code_names(&mut self, name: &str, only_reads: bool, command: &mut AnalyzedCommand) {
        if name.is_empty() || name.len() > MAX_NAME {
            return;
        }
        let file = Word { tilde: name.starts_with('~'), ..Word::plain(name) };
        if self.sensitive.is_sensitive(name) {
            command.concerns.extend(self.file(Domain::Read, &file));
        } else if self.with_named {
            self.named(&file);
        }
        if self.with_edit_rules && !only_reads {
            self.add_possible_change(&file);
        }
    }

    /// Adds a glob in code that can mean files with secrets, or what a rule is about.
    fn code_finds(&mut self, glob: &str, command: &mut AnalyzedCommand) {
        if self.sensitive.can_be_found(glob, true) {
            command.concerns.push(Concern::always(format!("{glob} can mean files with secrets")));
        } else if self.with_named {
            self.named(&Word { glob: true, ..Word::plain(glob) });
        }
        if self.with_edit_rules {
            self.add_possible_change(&Word { glob: true, ..Word::plain(glob) });
        }
    }
}

/// Returns true if a program may take files into its output that its input names.
fn may_include(name: &str, program: Option<&Program>) -> bool {
    let is_of_code = program.is_none_or(|program| {
        program.kind == Kind::Code && !program.script && !program.sql && !program.copies
    });
    is_of_code
        && !reads_shell_scripts(name)
        && !has_word(LOCAL_WRAPPERS, name)
        && !has_word(TAKE_DATA, name)
        && !edited_files::is_of_files(name)
}

/// Returns the part of a string of code that is a path outside of the folder that the code runs in, as far as it is known. A
/// path that begins with another name than one of the folders at the top of a machine is a route or an expression.
fn outside(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(['<', '>', '+', ' ']);
    let text = text.strip_prefix("file://").unwrap_or(text);
    let end = text.find(|letter: char| letter.is_whitespace() || "$%*<>(|\\{?\"'".contains(letter));
    let path = &text[..end.unwrap_or(text.len())];
    let first = path.split('/').find(|part| !matches!(*part, "" | ".")).unwrap_or_default();
    let is_top = || has_word(TOP_FOLDERS, first);
    let is_program = || name_in_system(path).is_some();
    let is_outside = match path.as_bytes() {
        [b'~', b'/', ..] | [b'.', b'.', b'/', ..] => true,
        [b'/', ..] => is_top() && !is_program(),
        _ => path.contains("/../") && leads_out(path),
    };
    is_outside.then_some(path)
}

/// Returns true if a command can begin so.
fn can_begin(text: &str) -> bool {
    let text = text.strip_prefix("shell:").unwrap_or(text);
    text.starts_with(|letter: char| letter.is_ascii_alphanumeric() || "/.~_".contains(letter))
}
