//! Files that programs change in place: formatters and linters that mend, and one-liners.

use super::AnalyzedCommand;
use super::analyzer::Walker;
use super::command_tables::CommandTable;
use super::word::Word;
use crate::permission::Domain;

/// The commands that change the files among their operands, with the number of operands before these.
static TABLE: CommandTable = CommandTable::new(
    "\
0 black,blue,isort,pyupgrade !--check,--check-only,-c,--diff
0 yapf,autopep8,autoflake,docformatter +-i,--in-place,--inplace
1 ruff format !--check,--diff
1 ruff check --fix,--fix-only,--add-noqa !--diff
0 gofmt,goimports,gofumpt,shfmt +-w,--write
1 golangci-lint run +--fix
0 prettier,prettierd,oxfmt +-w,--write
0 eslint,eslint_d,standard,xo,tslint,stylelint,markdownlint,oxlint,standardrb,ansible-lint +--fix
1 biome,rome check,format,lint,ci +--write,--fix,--apply,--apply-unsafe
0 rustfmt !--check,--emit
0 rubocop +-a,-A,-x,--autocorrect*,--auto-correct*,--fix-layout
0 clang-format,cmake-format,google-java-format,ormolu,fourmolu,ocamlformat +-i,--in-place,--inplace,--replace
0 clang-tidy +-fix,--fix,--fix-errors
0 stylua,swiftformat,csharpier,nixfmt,alejandra,scalafmt !--check,--lint,--test
0 ktlint +-F,--format
0 djlint +--reformat
1 buf,swift-format format +-i,--in-place,-w,--write
1 php-cs-fixer,rector fix,process !--dry-run
1 dart,mix,taplo,dune,gleam format !--check,--check-formatted
1 cargo,deno,dprint,forge,go,taplo,terraform,tofu,zig fmt !--check,-check
0 phpcbf,ed,ex,jpegoptim,mogrify,optipng,patch,sponge !--dry-run,--help
1 yq +-i,--in-place,--inplace",
);

impl Walker<'_> {
    /// Adds the files that a program changes in place. The operands are indexes of words.
    pub(super) fn edited_files(
        &mut self,
        base: &str,
        (words, operands): (&[Word], &[usize]),
        command: &mut AnalyzedCommand,
    ) {
        let rest = words.get(1..).unwrap_or_default();
        let files: Vec<&Word> = match TABLE.find(base, rest) {
            Some((before, _)) => {
                let before = before.parse().unwrap_or(0);
                let own = operands.iter().skip(before).map(|at| &words[*at]);
                // The same option of another program of the same row has a value.
                let behind =
                    rest.windows(2).filter(|pair| pair[0].text == "-i").map(|pair| &pair[1]);
                own.chain(behind.filter(|word| !word.text.starts_with('-'))).collect()
            }
            None if matches!(base, "perl" | "ruby") && rest.iter().any(is_in_place) => {
                files_of_one_liner(rest)
            }
            None => return,
        };
        for file in files.into_iter().filter(|file| file.known) {
            // Formatters expand wildcards, too.
            let glob = file.glob || file.text.contains(['*', '?', '[']);
            command.concerns.extend(self.file(Domain::Edit, &Word { glob, ..file.clone() }));
        }
    }
}

/// Returns true for the option of `perl`, `ruby` or `sed` with which files are changed in place.
pub(super) fn is_in_place(word: &Word) -> bool {
    word.text.starts_with("--in-place")
        || word.text.strip_prefix('-').is_some_and(|letters| {
            !letters.starts_with(['-', 'I', 'M', 'e', 'f', 'r']) && letters.contains('i')
        })
}

/// Returns the files of an interpreter with code in an option, or with a script before them.
fn files_of_one_liner(rest: &[Word]) -> Vec<&Word> {
    let gives_code = |word: &Word| {
        word.text.starts_with('-')
            && !word.text.starts_with("--")
            && word.text.ends_with(['e', 'E'])
    };
    let script = usize::from(!rest.iter().any(gives_code));
    let is_file = |at: &usize| {
        !rest[*at].text.starts_with('-')
            && at.checked_sub(1).is_none_or(|at| !gives_code(&rest[at]))
    };
    (0..rest.len()).filter(is_file).map(|at| &rest[at]).skip(script).collect()
}
