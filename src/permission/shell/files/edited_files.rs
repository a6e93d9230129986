//! Files that programs change in place: formatters and linters that mend, and one-liners.

use crate::permission::Domain;
use crate::permission::shell::analyzer::Walker;
use crate::permission::shell::command_tables::{CommandTable, is_match};
use crate::permission::shell::programs;
use crate::permission::shell::word::Word;
use crate::permission::shell::{AnalyzedCommand, Content};
use crate::util::words::has_word;

/// The commands that change the files among their operands: the number of operands before these, `.` if the current folder
/// is changed when there are none, and options with a value in the next word.
static TABLE: CommandTable = CommandTable::new(
    "\
0 black,blue,isort,pyupgrade !--check,--check-only,-c,--diff
0:-j,--jobs,--max-line-length,--ignore,--select,--pep8-passes,--indent-size,--global-config,--imports,--config,--style,--wrap-summaries,--wrap-descriptions yapf,autopep8,autoflake,docformatter -i,--in-place,--inplace
1. ruff format !--check,--diff
1. ruff check --fix,--fix-only,--add-noqa !--diff
0. ruff --fix !check,--diff
0:-local,-srcdir,-lang,-modpath gofmt,goimports,gofumpt -w,--write !-w=false,--w=false
0:-i,-ln,-filename shfmt -w,--write
1.:-c,--config golangci-lint run +--fix
1.:-c,--config golangci-lint fmt !-d,--diff,--diff-colored,--stdin
0:--config,--parser,--plugin,--log-level prettier,prettierd -w,--write
0. oxfmt !--check,--list-different,-l
0:--config,-c,--formatter,-f,--custom-syntax,--config-basedir,--custom-formatter,-s,--syntax,--plugin stylelint +--fix
0:--config,-c,--rules,-r eslint,eslint_d,standard,xo,tslint,oxlint,ansible-lint +--fix
0:--config,-c,--ignore,-p markdownlint,markdownlint-cli2 -f,--fix
1. biome,rome check,format,lint,ci +--write,--fix,--apply,--apply-unsafe
0:--emit,--edition,--config,--config-path,--color rustfmt !--check !--emit=stdout,--emit=json,--emit=checkstyle,--emit=coverage
0. standardrb +--fix
0.:-c,--config,-r,--require,--plugin rubocop +-a,-A,-x,--autocorrect*,--auto-correct*,--fix-layout
0:--style,-style,--assume-filename,--config,-c clang-format,cmake-format,ormolu,fourmolu,ocamlformat +-i,--i,--in-place,--inplace,-inplace
0 google-java-format +-i,-r,--replace,-replace
0:-p,-checks clang-tidy +-fix,--fix,--fix-errors,-fix-errors
0:--config,-c stylua,swiftformat,csharpier,nixfmt,alejandra,scalafmt !--check,--lint,--test
0 ktlint +-F,--format
0 djlint +--reformat
1. buf format -w,--write
0 swift-format +-i,--in-place
1.:-c,--config,-a,--autoload-file,--rules,--path-mode,--cache-file,--format,--using-cache,--allow-risky,--only,--memory-limit php-cs-fixer,rector fix,process !--dry-run
0. pint !--test
1.:-l,--line-length,--page-width,-o,--output dart format !-o=none,-o=show,-o=json,--output=none,--output=show,--output=json
1. dart fix +--apply
1. mix,taplo,dune,gleam format !--check,--check-formatted
1. cargo,deno,dprint,forge,go,taplo,terraform,tofu,zig fmt !--check,-check
1. deno lint +--fix
0:-m,--max,-S,--size,-d,--dest,-T,--threshold,-w,--workers jpegoptim !-n,--noaction,-d,--dest
0:-resize,-quality,-format,-crop,-rotate,-geometry,-density,-gravity,-extent,-background,-colorspace,-path mogrify !-path
0:-dir,-out,-log optipng !-simulate,-dir,-out
0.:-i,--input,-d,--directory,-o,--output,-p,--strip,-r,--reject-file,-D,--ifdef,-F,--fuzz,-B,--prefix,-z,--suffix,-V,-Y,-g patch !--dry-run,-o,--output,-v
0:-c,-p ed,ex !--help
0 phpcbf,sponge,mdformat,astyle !--dry-run,--help,--check
0:-mode,--mode,-lint,--lint,-type,--type,-path,--path,-warnings,--warnings,-config,--config buildifier !-d,-help,--help,-mode=check,-mode=diff,--mode=check,--mode=diff
2 sd !-p,--preview
0 codespell -w,--write-changes
0 perltidy +-b
0:-c uncrustify +--replace,--no-backup
1.:--dialect,-d,--config,--rules,-r sqlfluff fix,format
1. swiftlint lint +--fix,--autocorrect
0. swiftlint +--fix,--autocorrect
0:-i,--include,-f,--file,-e,-v,-F gawk -f,--file,-e +*inplace
1:-i,--include,-v,-F gawk +*inplace
2:-p,-o,-I yq eval,e,eval-all,ea -i,--in-place,--inplace
1:-p,-o,-I yq -i,--in-place,--inplace",
);

/// Programs of the table with other commands, which may change further files.
const WITH_OTHER_COMMANDS: &str = "buf dart mix taplo dune gleam cargo deno dprint forge go terraform tofu zig swift-format yq ed ex codespell";

/// Options of `black` whose value is the next word, whatever it is.
const VALUED_BY_BLACK: &str = "\
    --config --force-exclude --include --line-length --required-version --stdin-filename --target-version --workers -l -t -W";

impl Walker<'_> {
    /// Adds the files that a program changes in place. The operands are indexes of words.
    pub(crate) fn edited_files(
        &mut self,
        base: &str,
        (words, operands): (&[Word], &[usize]),
        command: &mut AnalyzedCommand,
    ) {
        let base = unversioned(base);
        let files = match has(base) {
            true => own_files(base, words, operands),
            false if is_interpreter(base) => files_of_one_liner(base, &words[1..]),
            false => return,
        };
        for file in files.into_iter().filter(|file| file.known && file.text != "-") {
            // Formatters expand wildcards, too.
            let glob = file.glob || file.text.contains(['*', '?', '[']);
            let file = Word { glob, ..file };
            command.concerns.extend(self.file(Domain::Edit, &file));
            if has(base) {
                self.changed_folder(file, &Content::default());
            }
        }
    }
}

/// Returns true for a program that can change files in place.
pub(crate) fn has(base: &str) -> bool {
    TABLE.has(base)
}

/// Returns true for a program that does nothing else with the files that it names: it changes them, or only reads them.
pub(crate) fn is_of_files(base: &str) -> bool {
    has(base) && !has_word(WITH_OTHER_COMMANDS, base)
}

/// Returns true for an interpreter that can change files in place by a line of code.
pub(crate) fn is_interpreter(base: &str) -> bool {
    matches!(base, "perl" | "ruby")
}

/// Returns the name of a program without its version: `clang-format-15`, `perl5.36.0`.
pub(crate) fn unversioned(base: &str) -> &str {
    let is_of_version = |letter: char| letter.is_ascii_digit() || letter == '.';
    match has(base) {
        true => base,
        false => base.trim_end_matches(is_of_version).trim_end_matches('-'),
    }
}

/// Returns the option of a program for the folder in which it works.
fn folder_options(base: &str) -> &'static [&'static str] {
    match base {
        "terraform" | "tofu" => &["-chdir"],
        "patch" => &["-d", "--directory"],
        _ => &[],
    }
}

/// Returns the files that a program of the table changes. The operands are indexes of words.
fn own_files(base: &str, words: &[Word], operands: &[usize]) -> Vec<Word> {
    // Neither is for the command: values that can look like an option, and the toolchain of `cargo`.
    let is_own = |at: &usize| {
        let before = words[at - 1].text.as_str();
        let takes_any = matches!(before, "--exclude" | "--extend-exclude")
            || base == "black" && has_word(VALUED_BY_BLACK, before);
        !takes_any && !words[*at].text.starts_with('+')
    };
    // Behind `--` there are files only, but for options of the program that `cargo fmt` runs.
    let ends = |word: &Word| base != "cargo" && word.text == "--";
    let end = words.iter().position(ends).unwrap_or(words.len());
    let own: Vec<usize> = (1..words.len()).filter(is_own).collect();
    let is_behind = |list: &str, at: usize| {
        let mut options = list.split([' ', ',']).map(|one| one.trim_start_matches('+'));
        options.any(|one| one == words[at - 1].text)
    };
    let found = TABLE.lines(base).find_map(|(does, pattern)| {
        let (before, valued) = does.split_once(':').unwrap_or((does, ""));
        let letters = valued.split(',').filter(|name| name.len() == 2);
        let letters: String = letters.filter_map(|name| name.get(1..)).collect();
        let is_value = |at: usize| {
            words[at - 1].text.starts_with('-')
                && (is_behind(valued, at) || operands.binary_search(&at).is_err())
        };
        let before_end: Vec<usize> = own.iter().copied().filter(|at| *at < end).collect();
        let joined = with_values(words, &before_end, &letters, is_value);
        let rest: Vec<Word> = before_end.iter().map(|at| words[*at].clone()).collect();
        is_match(pattern, &rest, &joined).then_some((before, valued, pattern, joined))
    });
    let Some((before, valued, pattern, joined)) = found else { return Vec::new() };
    // The same option of another program can have a value.
    let is_file = |at: &usize| {
        is_own(at)
            && !is_behind(valued, *at)
            && (operands.binary_search(at).is_ok()
                || !words[*at].text.starts_with('-') && is_behind(pattern, *at))
    };
    let files = (1..words.len()).filter(is_file).map(|at| words[at].clone());
    let mut files: Vec<Word> =
        files.skip(before.trim_end_matches('.').parse().unwrap_or(0)).collect();
    // The value of an option can be such a word.
    let only_tells = |at: &usize| {
        matches!(&*words[*at].text, "--help" | "-help" | "-h" | "--version")
            && (!words[at - 1].text.starts_with('-') || is_behind(pattern, *at))
    };
    if files.is_empty() && before.ends_with('.') && !own.iter().any(only_tells) {
        files.push(Word::plain("."));
    }
    let mut options = joined.iter().filter_map(|word| word.text.split_once('='));
    let folder = options.find(|(name, _)| programs::flag(name, folder_options(base)).is_some());
    if let Some((_, folder)) = folder {
        enter(folder, &mut files);
    }
    files
}

/// Makes names in the folder in which a program works relative to that of the command.
fn enter(folder: &str, files: &mut [Word]) {
    for file in files.iter_mut().filter(|file| !file.text.starts_with(['/', '~'])) {
        file.text = [folder, "/", &file.text].concat();
        file.tilde = folder.starts_with('~');
    }
}

/// Returns the words at these places with each value joined to its option by `=`, also one that is attached to one of the letters.
fn with_values(
    words: &[Word],
    places: &[usize],
    letters: &str,
    is_value: impl Fn(usize) -> bool,
) -> Vec<Word> {
    let mut joined = Vec::<Word>::new();
    for (at, word) in places.iter().map(|at| (*at, &words[*at])) {
        let text = match word.option_letters(letters) {
            (option, Some(value)) if !value.is_empty() => {
                ["-", option, "=", value.trim_start_matches('=')].concat()
            }
            _ => word.text.clone(),
        };
        match joined.last_mut() {
            Some(option) if !text.starts_with('-') && is_value(at) => {
                option.text.extend(["=", &text]);
            }
            _ => joined.push(Word { text, ..word.clone() }),
        }
    }
    joined
}

/// Returns the letters of options of `perl`, `ruby` or `sed` with a value, which is attached or the next word.
pub(crate) fn valued_letters(base: &str) -> &'static str {
    match base {
        "perl" => "eEiIMmFxD",
        "ruby" => "eEiIrFCxX",
        _ => "efi",
    }
}

/// Returns true for the option of `perl`, `ruby` or `sed` with which files are changed in place.
pub(crate) fn is_in_place(base: &str, word: &Word) -> bool {
    let name = word.text.split('=').next().unwrap_or_default();
    (name.len() > 2 && "--in-place".starts_with(name))
        || word.option_letters(valued_letters(base)).0.ends_with('i')
}

/// Returns the files that an interpreter changes, with code in an option, or with a script before them.
fn files_of_one_liner(base: &str, rest: &[Word]) -> Vec<Word> {
    let mut files = Vec::new();
    let (mut in_place, mut has_code) = (false, false);
    let mut folder = None;
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let (letters, value) = word.option_letters(valued_letters(base));
        let gives_code = letters.ends_with(['e', 'E']);
        in_place |= is_in_place(base, word);
        has_code |= gives_code;
        // Those of `perl` are about Unicode.
        let enters = base == "ruby" && letters.ends_with(['C', 'X']);
        if value == Some("") && (gives_code || enters || letters.ends_with(['I', 'r', 'C'])) {
            let next = words.next().map(|word| word.text.as_str());
            folder = next.filter(|_| enters).or(folder);
        } else if enters {
            folder = value;
        } else if word.text == "--" || !word.text.starts_with('-') {
            files.extend(Some(word).filter(|word| has_code && word.text != "--").cloned());
            // Options behind a script are its own.
            if !has_code || word.text == "--" {
                let script = usize::from(!has_code && word.text == "--");
                files.extend(words.by_ref().skip(script).cloned());
            }
        }
    }
    if let Some(folder) = folder {
        enter(folder, &mut files);
    }
    if in_place { files } else { Vec::new() }
}
