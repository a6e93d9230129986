//! Files that a command may change although no table says that it does, and folders that it changes with everything in them. They
//! are compared with rules against changing files: what a rule may be about is asked about.

use super::edited_files;
use super::found_files::{content_found, content_of_fd, deletes_empty_folders};
use crate::permission::Domain;
use crate::permission::shell::analyzer::Walker;
use crate::permission::shell::code::reading_words::{command_reads, is_query, says_it_changes};
use crate::permission::shell::command_tables::CommandTable;
use crate::permission::shell::destroying::disk_writers::{archive_named, writes_archive};
use crate::permission::shell::named_secrets::name_candidates;
use crate::permission::shell::option_names::{EXCLUDING_STARTS, WRITING_WORDS, words_of};
use crate::permission::shell::program_names::base;
use crate::permission::shell::programs::{self, Kind, Program};
use crate::permission::shell::read_only_commands::READ_ONLY_GIT;
use crate::permission::shell::sed_awk_find::FOUND;
use crate::permission::shell::word::Word;
use crate::permission::shell::{Content, MAX_FOLDER_DEPTH, fd, git::git_commands};
use crate::util::words::has_word;

/// Programs that only read the files among their operands, although nothing in their names says so.
const READERS: &str = "\
    jest vitest mocha _mocha ava tap tape playwright cypress karma wdio cucumber-js testcafe nightwatch c8 nyc pytest py.test tox \
    nox nose2 unittest doctest coverage rspec minitest phpunit pest bats ctest behave robot newman k6 ab wrk hyperfine lighthouse \
    mypy dmypy pyright basedpyright pyre pytype flake8 pycodestyle pydocstyle pyflakes bandit vulture radon xenon refurb \
    trivy grype syft gitleaks cppcheck luacheck credo attw \
    tsc vue-tsc tsgo svelte-check madge depcheck knip gcc g++ cc c++ cpp clang clang++ tcc rustc rustdoc javac kotlinc scalac \
    ghc ocamlc nasm as ld swiftc nm ldd otool less more man w3m lynx links glow hexyl mdless tokei cloc scc onefetch dust ncdu \
    gdu jless fx fzf curl http https xh ssh ssh-add openssl pandoc open xdg-open firefox chromium google-chrome terser uglifyjs \
    esbuild acorn javap wasm2wat wasmtime md5 gron mlr lnav multitail goaccess ccze agrind difft dot \
    ctags htmlhint pa11y xsltproc grpcurl journalctl http.server http-server live-server surge gh-pages caddy cosign minisign twine serve meld lsd jsonschema \
    make gmake ninja rake gulp grunt nox invoke inv mage nx turbo lerna bazel \
    ansible-playbook skaffold tilt act json.tool py_compile ping dig mkdir";

/// Commands that only read their operands (`*`), as many of the first of them, or all but the last one.
static TABLE: CommandTable = CommandTable::new(
    "\
* gh,glab !clone,download,checkout
* semgrep !--autofix
* deno run,bench,doc,cache,task,eval
* npm,pnpm,yarn,bun +t,why,pack,i
* npm,pnpm,yarn,bun +test,run,run-script,ls,list,view
* yarn !add,init,create,config,link
* comby -match-only
* cargo t,build,b,c,clippy,r,doc,tree,metadata,bench,nextest !--fix
* go build,vet,doc,env,tool
* terraform,tofu plan,output,graph
* zip !-m,--move,-d,--delete
* unzip -l,-t,-v,-Z,-p,-z
1 unzip _
2 7z,7za,7zr,7zz x,e
2 ar x
* 7z,7za,7zr,7zz l,t,a,i,h,b !-sdel
last docker,podman,nerdctl,kubectl,oc,k cp
* docker,podman,nerdctl,docker-compose,podman-compose _
* kubectl,oc,k apply,create,delete,get,describe,replace,exec,kustomize
* helm template,upgrade,get
* aws,gcloud,az +ls,presign,describe
* mvn,mvnw,gradle,gradlew,dotnet,mix,flutter,dart,swift +build
0 pip,pip3 -t,--target
* sg,ast-grep !-r,--rewrite,-U,--update-all
* dasel !put,delete
* dotnet *.dll
* codesign -v,-d,--verify
* vim,nvim,vi -R,-M
* exiftool !*=*,-overwrite*,-delete*
* dpkg,dpkg-deb,rpm,pg_restore,gpg,gpg2 -i,-c,-I,-l,-q*,--verify,--list-packets,--import
* zipfile,tarfile,upx -l,--list,-t,--test
last aws s3 cp,sync
last gsutil +cp,rsync
last gcloud storage cp,rsync
last rclone copy,sync,copyto
last pdftotext !--help
last ffmpeg,convert,magick,sox,lame,cwebp,ps2pdf !--help,identify
0 sass +*:*
1 sass,lessc,tesseract,pdftoppm,wkhtmltopdf _",
);

/// Programs that run commands and change files that they name.
const RUNNERS_THAT_CHANGE_FILES: &str = "\
    gio age rage sops ansible-vault ansible-galaxy ansible dotenv dotenvx direnv packer pulumi terragrunt sg ast-grep";

/// Languages with commands of their own that change files.
const WITH_COMMANDS: [&str; 3] = ["bun", "deno", "swift"];

/// Commands of many programs, which are no files.
const COMMANDS: &str =
    "build test release publish deploy clean lint package generate gen install run start init";

/// Commands of git, beside those whose files are known, that may change the files that they name.
const GIT_CHANGES: &str = "\
    stash reset merge-file sparse-checkout lfs read-tree subtree apply am submodule checkout-index svn crypt git-crypt annex filter-repo";

/// Options of `git reset` that change files.
const RESETS: [&str; 3] = ["--hard", "--merge", "--keep"];

/// Words of options for the folder in which a program works.
const FOLDER_WORDS: [&str; 4] = ["prefix", "cwd", "dir", "directory"];

impl Walker<'_> {
    /// Adds a file that a program may change. If that is unknown, the user is asked only about one that a rule is about.
    pub(crate) fn add_possible_change(&mut self, word: &Word) {
        let before = self.files_len();
        let _ = self.file(Domain::Edit, word);
        self.out.possibly_changed.extend(self.out.files.drain(before..));
    }

    /// Adds what a program may change: files among its words, and folders with everything in them.
    pub(crate) fn may_change(
        &mut self,
        base: &str,
        program: Option<&Program>,
        words: &[Word],
        operands: &[usize],
    ) {
        if !self.with_edit_rules {
            return;
        }
        let kind = program.map(|program| program.kind);
        let (folders, content) = folders_changed(base, kind, words, operands);
        for folder in folders {
            self.changed_folder(folder, &content);
        }
        if kind == Some(Kind::Git) {
            return self.add_files_changed_by_git(words);
        }
        if matches!(base, "tar" | "gtar" | "bsdtar" | "jar") {
            return self.add_files_changed_by_tar(words);
        }
        let Some(only_read) = operands_only_read(base, program, words, operands) else { return };
        let mut before: Vec<&str> = Vec::new();
        for (at, word) in words.iter().enumerate().skip(1) {
            let is_option = is_option(word);
            if operands.contains(&at) {
                // The command that it runs is judged by itself.
                if program.is_some_and(|program| runs(program, &before, &word.text)) {
                    return;
                }
                before.push(&word.text);
                let is_command = before.len() == 1 && has_word(COMMANDS, &word.text);
                if is_command && !says_it_changes(base) {
                    continue;
                }
            }
            let follows = (at > 1).then(|| &words[at - 1]);
            let name = if is_option { Some(word) } else { follows };
            let name = name.filter(|name| is_option || is_option_without_value(name));
            let is_output = name.is_some_and(|name| is_output(&name.text));
            let is_changed = only_read == 0 || operands.iter().skip(only_read).any(|it| *it == at);
            let counts = is_output || is_changed;
            if counts && !name.is_some_and(|name| leaves_out(&name.text)) {
                self.add_possible_changes_in(word);
            }
        }
    }

    fn add_possible_changes_in(&mut self, word: &Word) {
        if !word.known {
            return;
        }
        for piece in name_candidates(&word.text, false) {
            let is_pattern = piece.contains(['*', '?']) && !piece.starts_with('*');
            let glob = word.glob || is_pattern;
            let tilde = word.tilde && piece == word.text;
            self.add_possible_change(&Word { glob, tilde, ..Word::plain(piece) });
        }
    }

    fn add_files_changed_by_git(&mut self, words: &[Word]) {
        let at = git_commands::command_at(words);
        let Some(name) = words.get(at).map(|word| word.text.as_str()) else { return };
        let takes_tree = |word: &Word| word.text.starts_with("--work-tree");
        if !has_word(READ_ONLY_GIT, name) && words[1..at].iter().any(takes_tree) {
            words[1..at].iter().for_each(|word| self.add_possible_changes_in(word));
        }
        let rest = &words[at + 1..];
        let is_kept = name == "reset" && !rest.iter().any(|word| RESETS.contains(&&*word.text));
        if is_kept || !has_word(GIT_CHANGES, name) || command_reads("git", rest) {
            return;
        }
        let end = rest.iter().position(|word| word.text == "--");
        let before = |at: usize| if at > 0 { &*rest[at - 1].text } else { "" };
        let is_file = |at: usize| match name {
            // Commits precede the files.
            "reset" => end.is_some_and(|end| at > end),
            // The other operands are patches.
            "apply" | "am" => {
                is_option(&rest[at]) || matches!(before(at), "--include" | "--directory")
            }
            _ => !matches!(before(at), "-m" | "--message"),
        };
        for (at, word) in rest.iter().enumerate() {
            if is_file(at) {
                let text = word.text.trim_start_matches(['!', '/']).to_owned();
                self.add_possible_changes_in(&Word { text, ..word.clone() });
            }
        }
    }

    fn add_files_changed_by_tar(&mut self, words: &[Word]) {
        let rest = words.get(1..).unwrap_or_default();
        let removes = rest.iter().any(|word| word.text == "--delete");
        let archive = archive_named(rest);
        if removes || writes_archive(rest) {
            return archive
                .into_iter()
                .for_each(|name| self.add_possible_changes_in(&Word::plain(name)));
        }
        let extracts = |(at, word): (usize, &Word)| {
            word.text == "--extract"
                || word.text == "--get"
                || (at == 0 || is_option(word) && !word.text.starts_with("--"))
                    && word.text.contains('x')
        };
        if rest.iter().enumerate().any(extracts) {
            let own = rest.iter().filter(|word| Some(&*word.text) != archive);
            own.for_each(|word| self.add_possible_changes_in(word));
        }
    }

    /// Adds a folder of which a command changes everything that is selected.
    pub(crate) fn changed_folder(&mut self, folder: Word, content: &Content) {
        // The search that found it knows more of it.
        let is_found = folder.shown == FOUND;
        if self.with_edit_rules && folder.known && !folder.text.is_empty() && !is_found {
            self.whole_folder(Domain::Edit, folder, content);
        }
    }

    /// Adds the folders in which `find` removes what it finds, or runs a program on it that may change it.
    pub(crate) fn folders_changed_by_find(
        &mut self,
        roots: &[Word],
        words: &[Word],
        inner: &[Word],
    ) {
        if inner.is_empty() && deletes_empty_folders(words) {
            return;
        }
        if inner.is_empty() || changes(inner) {
            let content = Content { depth: MAX_FOLDER_DEPTH, ..content_found(words) };
            for root in roots {
                self.changed_folder(root.clone(), &content);
            }
        }
    }
}

/// Returns the folders of which a program changes what is selected.
fn folders_changed(
    base: &str,
    kind: Option<Kind>,
    words: &[Word],
    operands: &[usize],
) -> (Vec<Word>, Content) {
    let rest = words.get(1..).unwrap_or_default();
    let content = Content { depth: MAX_FOLDER_DEPTH, ..Content::default() };
    let mut plain: Vec<Word> = rest.iter().filter(|word| !is_option(word)).cloned().collect();
    match kind {
        Some(Kind::Writer) if is_recursive(rest) => (plain, content),
        Some(Kind::Mover) => {
            plain.pop();
            (plain, content)
        }
        Some(Kind::Fd) => {
            let (own, commands) = fd::commands_of(base, words);
            if !commands.iter().any(|command| changes(command)) {
                return (Vec::new(), content);
            }
            let own_words: Vec<Word> = own.iter().map(|at| words[*at].clone()).collect();
            let of_fd = operands.iter().filter(|at| own.contains(at));
            (fd::roots_of(&own_words, of_fd, words), content_of_fd(&own_words))
        }
        _ => (Vec::new(), content),
    }
}

/// Returns how many of the operands of a command it only reads; none if other tables say what it changes. With 0, which is the
/// default, the values of its options may be files that it changes, too.
fn operands_only_read(
    base: &str,
    program: Option<&Program>,
    words: &[Word],
    operands: &[usize],
) -> Option<usize> {
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
    let changes_files = has_word(RUNNERS_THAT_CHANGE_FILES, name);
    let is_reader = || {
        has_word(READERS, base)
            || has_word(READERS, name)
            || edited_files::is_of_files(name)
            || !changes_files && (is_runner(program) || command_reads(base, rest))
            || matches!(base, "sqlite3" | "duckdb") && rest.iter().any(|word| is_query(&word.text))
    };
    let known = TABLE.find(base, rest).or_else(|| TABLE.find(name, rest));
    Some(match known {
        Some(("last", _)) => operands.len().saturating_sub(1),
        Some((count, _)) => count.parse().unwrap_or(usize::MAX),
        None if is_reader() => usize::MAX,
        None => 0,
    })
}

fn is_runner(program: Option<&Program>) -> bool {
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
        Some(Kind::Git) => command
            .get(git_commands::command_at(command))
            .is_none_or(|it| !has_word(READ_ONLY_GIT, &it.text)),
        kind => {
            kind != Some(Kind::Code)
                || operands_only_read(&name, programs::find(&name), command, &[]) == Some(0)
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
    name == "-C"
        || name.starts_with("-o")
        || name.starts_with('-') && words_of(name).iter().any(says)
}

/// Returns true for the name of an option with files that are left out.
fn leaves_out(option: &str) -> bool {
    let name = option.split('=').next().unwrap_or_default();
    let first = words_of(name).into_iter().next().unwrap_or_default();
    name.starts_with("--") && EXCLUDING_STARTS.contains(&first.as_str())
}
