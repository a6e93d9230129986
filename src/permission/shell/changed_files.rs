//! Files that a command may change although no table says that it does, and folders that it changes with everything in them. They
//! are compared with rules that ban changing files: what a rule may be about is asked about.

use super::analyzer::Walker;
use super::command_tables::CommandTable;
use super::destroying_commands::base;
use super::disk_writers::{archive_named, writes_archive};
use super::named_secrets::name_candidates;
use super::option_names::{HARMLESS_STARTS, WRITING_WORDS, words_of};
use super::programs::{self, Kind, Program};
use super::read_only_commands::GIT_LOOKS;
use super::whole_folders::content_found;
use super::word::Word;
use super::{Content, MAX_FOLDER_DEPTH, edited_files, fd, git};
use crate::permission::Domain;
use crate::util::words::has_word;

/// Programs that only read the files among their operands.
const READERS: &str = "\
    jest vitest mocha _mocha ava tap tape playwright cypress karma wdio cucumber-js testcafe nightwatch c8 nyc pytest py.test tox \
    nox nose2 unittest doctest coverage rspec minitest phpunit pest bats ctest behave robot newman k6 \
    mypy dmypy pyright basedpyright pyre pytype flake8 pylint pycodestyle pydocstyle pyflakes bandit vulture radon xenon refurb \
    shellcheck hadolint yamllint actionlint jsonlint tflint checkov trivy gitleaks cppcheck luacheck credo \
    tsc vue-tsc tsgo svelte-check madge depcheck knip gcc g++ cc c++ cpp clang clang++ tcc rustc rustdoc javac kotlinc scalac \
    ghc ocamlc nasm as ld swiftc nm ldd otool less more man w3m lynx links glow hexyl mdless tokei cloc scc onefetch dust ncdu \
    gdu jless fx fzf curl http https xh ssh ssh-add pandoc pdfinfo mediainfo exif identify open xdg-open \
    ansible-playbook ansible-lint skaffold tilt act json.tool py_compile ping dig mkdir";

/// Commands that only read the files that they name, and those that may change their last operand only.
static TABLE: CommandTable = CommandTable::new(
    "\
reads gh,glab !clone,download,checkout
reads semgrep !--autofix
reads deno run,test,check,bench,lint,doc,info,cache,task,eval
reads npm,pnpm,yarn,bun +test,t,run,run-script,ls,list,view,why
reads cargo test,t,check,build,b,c,clippy,run,r,doc,tree,metadata,bench,nextest,audit !--fix
reads go test,build,vet,run,list,doc,version,env,tool,install
reads terraform,tofu plan,validate,show,output,graph
reads zip !-m,--move,-d,--delete
reads unzip -l,-t,-v,-Z,-p,-z
reads 7z,7za,7zr,7zz l,t,a,i,h,b !-sdel
reads docker,podman,nerdctl build,buildx,exec,logs,inspect,compose,push,tag,pull,ps,images,run
reads docker-compose,podman-compose _
reads kubectl,oc,k apply,create,diff,delete,get,describe,replace,exec,logs,kustomize,explain
reads helm template,lint,install,upgrade,diff,get,test
reads aws,gcloud,az +ls,list,presign,describe
reads mvn,mvnw,gradle,gradlew,dotnet,mix,flutter,dart,swift +test,build,run,analyze,check,verify
reads sqlite3,duckdb +select*,.schema*,.tables*,.dump*,explain* !*delete*,*insert*,*update*,*drop*,*create*,*alter*,*vacuum*,*replace*,*attach*,*copy*
last aws s3 cp,sync
last gsutil +cp,rsync
last gcloud storage cp,rsync
last rclone copy,sync,copyto
last docker,podman,nerdctl,kubectl,oc,k cp
last pdftotext !--help
last ffmpeg,convert,magick,sox,lame,cwebp,ps2pdf !--help",
);

/// Programs that run commands and change files that they name.
const RUN_AND_CHANGE: &str = "\
    gio age rage sops ansible-vault ansible-galaxy ansible dotenv dotenvx direnv packer pulumi terragrunt just sg ast-grep task";

/// Languages with commands of their own that change files.
const WITH_COMMANDS: [&str; 3] = ["bun", "deno", "swift"];

/// Commands of many programs, which are no files.
const COMMANDS: &str = "\
    build test tests docs doc release publish deploy dist clean lint package generate gen install run start init out coverage";

/// Commands of git, beside those whose files are known, that may change the files that they name.
const GIT_CHANGES: &str = "\
    stash merge-file sparse-checkout lfs read-tree subtree apply am submodule checkout-index svn crypt git-crypt annex filter-repo";

/// Options of `git reset` that change files.
const RESETS: [&str; 4] = ["--hard", "--merge", "--keep", "--patch"];

/// Words of options for the folder in which a program works.
const FOLDER_WORDS: [&str; 4] = ["prefix", "cwd", "dir", "directory"];

/// The words of a command that may name files that it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    /// The values of options to which programs write.
    Outputs,
    /// The last operand, and the same.
    Last,
}

impl Walker<'_> {
    /// Adds a file that a program may change. If that is unknown, the user is asked only about one that a rule bans.
    pub(super) fn doubted(&mut self, word: &Word) {
        let before = self.files_len();
        let _ = self.file(Domain::Edit, word);
        self.out.doubted.extend(self.out.files.drain(before..));
    }

    /// Adds what a program may change: files among its words, and folders with everything in them.
    pub(super) fn may_change(
        &mut self,
        base: &str,
        program: Option<&Program>,
        words: &[Word],
        operands: &[usize],
    ) {
        if self.with_doubts {
            self.doubted_files(base, program, words, operands);
            self.changed_folders(base, program, words, operands);
        }
    }

    fn doubted_files(
        &mut self,
        base: &str,
        program: Option<&Program>,
        words: &[Word],
        operands: &[usize],
    ) {
        if program.is_some_and(|program| program.kind == Kind::Git) {
            return self.doubted_by_git(words);
        }
        if matches!(base, "tar" | "gtar" | "bsdtar") {
            return self.doubted_by_tar(words);
        }
        let Some(which) = which(base, program, words) else { return };
        let last = operands.last().copied();
        let mut before: Vec<&str> = Vec::new();
        for (at, word) in words.iter().enumerate().skip(1) {
            let is_option = is_option(word);
            if operands.contains(&at) {
                // The command that it runs is judged by itself.
                if program.is_some_and(|program| runs(program, &before, &word.text)) {
                    return;
                }
                before.push(&word.text);
                if before.len() == 1 && has_word(COMMANDS, &word.text) {
                    continue;
                }
            }
            let follows = (at > 1).then(|| &words[at - 1]);
            let name = if is_option { Some(word) } else { follows };
            let name = name.filter(|name| is_option || is_option_without_value(name));
            let is_output = name.is_some_and(|name| is_output(&name.text));
            let counts =
                which == Which::All || is_output || which == Which::Last && last == Some(at);
            if counts && !name.is_some_and(|name| leaves_out(&name.text)) {
                self.doubted_word(word);
            }
        }
    }

    fn doubted_word(&mut self, word: &Word) {
        if !word.known {
            return;
        }
        for piece in name_candidates(&word.text, false) {
            let is_pattern = piece.contains(['*', '?']) && !piece.starts_with('*');
            let glob = word.glob || is_pattern;
            let tilde = word.tilde && piece == word.text;
            self.doubted(&Word { glob, tilde, ..Word::plain(piece) });
        }
    }

    fn doubted_by_git(&mut self, words: &[Word]) {
        let at = git::command_at(words);
        let Some(name) = words.get(at).map(|word| word.text.as_str()) else { return };
        let takes_tree = |word: &Word| word.text.starts_with("--work-tree");
        if !has_word(GIT_LOOKS, name) && words[1..at].iter().any(takes_tree) {
            words[1..at].iter().for_each(|word| self.doubted_word(word));
        }
        let resets = || words[at..].iter().any(|word| RESETS.contains(&&*word.text));
        if has_word(GIT_CHANGES, name) || name == "reset" && resets() {
            for word in &words[at + 1..] {
                let text = word.text.trim_start_matches(['!', '/']).to_owned();
                self.doubted_word(&Word { text, ..word.clone() });
            }
        }
    }

    fn doubted_by_tar(&mut self, words: &[Word]) {
        let rest = words.get(1..).unwrap_or_default();
        let removes = rest.iter().any(|word| word.text == "--delete");
        let archive = archive_named(rest);
        if removes || writes_archive(rest) {
            return archive.into_iter().for_each(|name| self.doubted_word(&Word::plain(name)));
        }
        let extracts = |(at, word): (usize, &Word)| {
            word.text == "--extract"
                || word.text == "--get"
                || (at == 0 || is_option(word) && !word.text.starts_with("--"))
                    && word.text.contains('x')
        };
        if rest.iter().enumerate().any(extracts) {
            let own = rest.iter().filter(|word| Some(&*word.text) != archive);
            own.for_each(|word| self.doubted_word(word));
        }
    }

    fn changed_folders(
        &mut self,
        base: &str,
        program: Option<&Program>,
        words: &[Word],
        operands: &[usize],
    ) {
        let rest = words.get(1..).unwrap_or_default();
        let mut content = Content { depth: MAX_FOLDER_DEPTH, ..Content::default() };
        let plain = rest.iter().filter(|word| !is_option(word));
        let folders: Vec<Word> = match program.map(|program| program.kind) {
            Some(Kind::Writer) if is_recursive(rest) => plain.cloned().collect(),
            Some(Kind::Mover) => {
                let mut found: Vec<Word> = plain.cloned().collect();
                found.pop();
                found
            }
            Some(Kind::Fd) => {
                let (own, commands) = fd::commands_of(base, words);
                if !commands.iter().any(|command| changes(command)) {
                    return;
                }
                let own_words: Vec<Word> = own.iter().map(|at| words[*at].clone()).collect();
                let of_fd = || operands.iter().filter(|at| own.contains(at));
                // A plain pattern is a part of the names.
                let pattern = of_fd().next().map(|at| words[*at].text.as_str());
                let is_plain = |text: &&str| {
                    text.chars().all(|letter| letter.is_alphanumeric() || "._- ".contains(letter))
                        && *text != "."
                };
                content = Content::on_disk();
                if let Some(pattern) = pattern.filter(is_plain) {
                    content.only = vec![["*", pattern, "*"].concat()];
                }
                fd::roots_of(&own_words, of_fd(), words)
            }
            _ => return,
        };
        for folder in folders {
            self.changed_folder(folder, &content);
        }
    }

    /// Adds a folder of which a command changes everything that is selected.
    pub(super) fn changed_folder(&mut self, folder: Word, content: &Content) {
        if self.with_doubts && folder.known && !folder.text.is_empty() {
            self.whole_folder(Domain::Edit, folder, content);
        }
    }

    /// Adds the folders in which `find` removes what it finds, or runs a program on it that may change it.
    pub(super) fn folders_changed_by_find(
        &mut self,
        roots: &[Word],
        words: &[Word],
        inner: &[Word],
    ) {
        if inner.is_empty() || changes(inner) {
            let content = content_found(words);
            for root in roots {
                self.changed_folder(root.clone(), &content);
            }
        }
    }
}

/// Returns the words of a command that may name files which it changes. Tables say more exactly what those of most kinds do.
fn which(base: &str, program: Option<&Program>, words: &[Word]) -> Option<Which> {
    let name = edited_files::unversioned(base);
    let is_of_words = match program {
        None => true,
        Some(program) if program.script => {
            let first = words.iter().skip(1).find(|word| !is_option(word));
            WITH_COMMANDS.contains(&name) && first.is_some_and(|word| !word.text.contains('.'))
        }
        Some(program) => matches!(program.kind, Kind::Code | Kind::Runner) && !program.copies,
    };
    if !is_of_words || matches!(name, "xargs" | "gxargs") {
        return None;
    }
    let rest = words.get(1..).unwrap_or_default();
    let known = TABLE.find(base, rest).or_else(|| TABLE.find(name, rest));
    match known.map(|(does, _)| does) {
        Some("last") => Some(Which::Last),
        Some(_) => Some(Which::Outputs),
        None if has_word(READERS, name) || edited_files::is_of_files(name) => Some(Which::Outputs),
        None if runs_words(program) && !has_word(RUN_AND_CHANGE, name) => Some(Which::Outputs),
        None => Some(Which::All),
    }
}

fn runs_words(program: Option<&Program>) -> bool {
    program.is_some_and(|program| program.kind == Kind::Runner)
}

/// Returns true if a word is a command that a program runs. One that may be a command of its own counts if it only reads its files.
fn runs(program: &Program, before: &[&str], text: &str) -> bool {
    let is_told = || program.runs.split(',').any(|one| one == text || one == "*");
    let only_reads = || has_word(READERS, text) || edited_files::is_of_files(text);
    program.runs(before, text)
        && (!before.is_empty() || !program.runs.contains('?') || is_told() || only_reads())
}

/// Returns true if a command that is run on files may change them.
fn changes(command: &[Word]) -> bool {
    let Some(name) = command.first().map(|word| base(&word.text)) else { return false };
    let rest = &command[1..];
    match programs::find(&name).map(|program| program.kind) {
        Some(Kind::Inert | Kind::Reader | Kind::Grep | Kind::Lister | Kind::Awk) => false,
        Some(Kind::Sed) => rest.iter().any(|word| edited_files::is_in_place("sed", word)),
        Some(Kind::Git) => {
            command.get(git::command_at(command)).is_none_or(|it| !has_word(GIT_LOOKS, &it.text))
        }
        kind => {
            kind != Some(Kind::Code)
                || which(&name, programs::find(&name), command) == Some(Which::All)
                || edited_files::is_of_files(&name)
        }
    }
}

fn is_option(word: &Word) -> bool {
    word.text.len() > 1 && word.text.starts_with('-')
}

fn is_option_without_value(word: &Word) -> bool {
    is_option(word) && !word.text.contains('=')
}

fn is_recursive(rest: &[Word]) -> bool {
    rest.iter().any(|word| {
        let is_short = word.text.starts_with('-') && !word.text.starts_with("--");
        is_short && word.text.contains(['r', 'R'])
            || word.text.len() > 4 && "--recursive".starts_with(&*word.text)
    })
}

/// Returns true for the name of an option whose value most programs write to.
fn is_output(option: &str) -> bool {
    let name = option.split('=').next().unwrap_or_default();
    let says = |word: &String| has_word(WRITING_WORDS, word) || FOLDER_WORDS.contains(&&**word);
    name == "-o" || name.starts_with("--") && words_of(name).iter().any(says)
}

/// Returns true for the name of an option with files that are left out.
fn leaves_out(option: &str) -> bool {
    let name = option.split('=').next().unwrap_or_default();
    let first = words_of(name).into_iter().next().unwrap_or_default();
    name.starts_with("--") && HARMLESS_STARTS[..7].contains(&first.as_str())
}
