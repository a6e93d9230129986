//! Tells whether a command prints a listing, whose start says most, or a diff.

use crate::permission::shell::git::git_commands::command_at;
use crate::permission::shell::read_alone;
use crate::permission::shell::word::{Word, without_options};
use crate::tools::Printed;

/// Maximum length of a command of which the output is known. Longer ones are scripts, which print more than one thing.
const MAX_COMMAND_BYTES: usize = 4096;

/// Programs that pass on what comes in, or a part of it, if no file is named.
const FILTERS: [&str; 15] = [
    "cat",
    "head",
    "tail",
    "sed",
    "nl",
    "less",
    "more",
    "delta",
    "diff-so-fancy",
    "sort",
    "uniq",
    "awk",
    "cut",
    "column",
    "tac",
];

/// Filters whose first operand is a script.
const SCRIPTED: [&str; 2] = ["sed", "awk"];

/// Programs that print files, names of files, rows of a table, or lines that were searched for.
const LISTERS: [&str; 50] = [
    "ack", "ag", "awk", "bat", "cat", "column", "cut", "df", "dir", "du", "egrep", "env", "fd",
    "fdfind", "fgrep", "find", "grep", "head", "hexdump", "history", "jq", "ls", "lsof", "man",
    "mysql", "netstat", "nl", "nm", "objdump", "od", "printenv", "ps", "psql", "rg", "rga", "sed",
    "sort", "sqlite3", "ss", "strings", "tac", "tail", "tldr", "tree", "uniq", "xmllint", "xxd",
    "yq", "zcat", "zgrep",
];

/// Subcommands that print rows of a table, of whatever program.
const LISTING_COMMANDS: [&str; 9] =
    ["api-resources", "freeze", "get", "images", "list", "ls", "outdated", "ps", "tree"];

/// Subcommands whose operands are no subcommands.
const RUNNING_COMMANDS: [&str; 14] = [
    "add",
    "build",
    "exec",
    "install",
    "logs",
    "pull",
    "push",
    "remove",
    "run",
    "start",
    "test",
    "uninstall",
    "up",
    "workspace",
];

/// Options with a value that come before or between subcommands.
const VALUED_BEFORE_COMMANDS: &str =
    "-C -F -R -c -f -n -o --context --filter --namespace --profile --region";

/// Programs whose subcommands are read. Such a word of another program is a file or a script.
const WITH_COMMANDS: [&str; 22] = [
    "apt",
    "aws",
    "az",
    "brew",
    "cargo",
    "composer",
    "conda",
    "docker",
    "dotnet",
    "gcloud",
    "gem",
    "gh",
    "helm",
    "kubectl",
    "npm",
    "oc",
    "pip",
    "pip3",
    "pnpm",
    "podman",
    "terraform",
    "yarn",
];

/// Returns what a command prints, as far as its programs say.
pub fn printed_form(command: &str) -> Printed {
    if command.len() > MAX_COMMAND_BYTES {
        return Printed::Other;
    }
    let reading = read_alone(command);
    let printers = reading.commands.iter().filter(|simple| !simple.quiet);
    let forms: Vec<Printed> = printers.filter_map(|simple| form_of(&simple.text)).collect();
    let Some((last, others)) = forms.split_last() else { return Printed::Other };
    // The last of several commands with pipes between them prints.
    let is_pipeline = !command.contains([';', '&', '\n']);
    if is_pipeline || others.iter().all(|other| other == last) { *last } else { Printed::Other }
}

/// Returns what a simple command prints; nothing if it passes on what comes in, or prints nothing.
fn form_of(text: &str) -> Option<Printed> {
    let words = words_of(text);
    let program = words.first()?.text.as_str();
    let has = |options: &[&str]| words.iter().any(|word| options.contains(&word.text.as_str()));
    let mut own = words.iter().take_while(|word| word.text != "--");
    match program {
        "cd" | "export" | "set" => None,
        "git" => {
            let at = command_at(&words);
            Some(match words.get(at)?.text.as_str() {
                "log" | "stash" if !has(&["-p", "-u", "--patch"]) => Printed::Listing,
                // `git show HEAD:src/lib.rs` prints the file.
                "show" if words[at + 1..].iter().any(|word| word.text.contains(':')) => {
                    Printed::Listing
                }
                "diff" | "show" | "log" | "stash" | "format-patch" | "diff-tree" | "diff-index" => {
                    Printed::Diff
                }
                "grep" | "ls-files" | "ls-tree" | "blame" => Printed::Listing,
                _ => Printed::Other,
            })
        }
        _ if own.any(|word| word.text == "--help") => Some(Printed::Listing),
        "diff" | "colordiff" | "interdiff" => Some(Printed::Diff),
        "hg" | "svn" | "jj" if words.get(1)?.text == "diff" => Some(Printed::Diff),
        "gh" if words.get(1)?.text == "pr" && words.get(2)?.text == "diff" => Some(Printed::Diff),
        _ if FILTERS.contains(&program) && !names_file(program, &words[1..]) => None,
        _ if FILTERS.contains(&program) && words.iter().any(|word| is_log(&word.text)) => {
            Some(Printed::Other)
        }
        _ if LISTERS.contains(&program) => Some(Printed::Listing),
        // `docker compose ps`, `gh pr list`
        _ if WITH_COMMANDS.contains(&program) => {
            // `gh run` is about runs.
            let runs = |text: &&str| program != "gh" && RUNNING_COMMANDS.contains(text);
            let commands = without_options(before_dashes(&words[1..]), VALUED_BEFORE_COMMANDS);
            let commands = commands.map(|word| word.text.as_str()).take(3);
            let mut commands = commands.take_while(|text| !runs(text));
            let lists = commands.any(|text| LISTING_COMMANDS.contains(&text));
            Some(if lists { Printed::Listing } else { Printed::Other })
        }
        _ => Some(Printed::Other),
    }
}

/// Returns the words of a command as [`AnalyzedCommand`](crate::permission::shell::AnalyzedCommand) has it.
fn words_of(text: &str) -> Vec<Word> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let (mut is_quoted, mut chars) = (false, text.chars());
    while let Some(char) = chars.next() {
        match char {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(Word::plain(&std::mem::take(&mut word))),
            '\\' if !is_quoted => word.extend(chars.next()),
            _ => word.push(char),
        }
    }
    words.push(Word::plain(&word));
    words
}

/// Returns true if a filter is given a file: an argument that is no option, no value of one, and no script.
fn names_file(program: &str, args: &[Word]) -> bool {
    let valued = match program {
        "awk" => "-F -v",
        "column" => "-s -o",
        "cut" => "-b -c -d -f",
        "sort" => "-k -t",
        _ => "",
    };
    let is_number = |word: &&Word| word.text.bytes().all(|byte| byte.is_ascii_digit());
    let files =
        without_options(before_dashes(args), valued).filter(|word| !is_number(word)).count();
    files > usize::from(SCRIPTED.contains(&program))
}

/// Returns the words before a `--`.
fn before_dashes(words: &[Word]) -> &[Word] {
    words.split(|word| word.text == "--").next().unwrap_or_default()
}

/// Returns true for a file that another command may have printed: its end counts.
fn is_log(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let words = name.split(|letter: char| !letter.is_ascii_alphabetic());
    words
        .into_iter()
        .any(|word| matches!(word, "log" | "logs" | "out" | "output" | "err" | "stderr" | "stdout"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_prints_is_known_by_its_programs() {
        let table: [(Printed, &[&str]); 3] = [
            (
                Printed::Diff,
                &[
                    "git diff",
                    "cd a && git diff HEAD~3 | head -300",
                    "git -C a --no-pager diff --cached",
                    "git show abc123",
                    "git log -p -3 2>&1 | cat",
                    "git stash show -p",
                    "diff -ru a b",
                    "gh pr diff 12",
                    "git diff a; git diff b",
                    "git diff | cut -c 1-200",
                ],
            ),
            (
                Printed::Listing,
                &[
                    "cat a.ts",
                    "sed -n 1,80p a.ts",
                    "sed -n '1,400p' a.ts | nl",
                    "rg -n foo src | head -50",
                    "git diff | grep '^+'",
                    "git log --oneline | head",
                    "git show HEAD:a.ts",
                    "ls -R; find . -name x",
                    "cd a; cat b",
                    "find . -name x | sort | uniq -c",
                    "cut -d: -f1 /etc/passwd",
                    "kubectl get pods -A -o wide",
                    "kubectl -n web get pods",
                    "docker compose ps",
                    "docker images",
                    "gh pr list --limit 500",
                    "npm ls --all",
                    "pip list | head -400",
                    "psql -c 'select * from users'",
                    "env | sort",
                    "ps aux",
                    "cargo tree",
                    "cargo test --help",
                    "gh run list",
                    "gcloud compute instances list",
                    "docker compose -f x.yml ps",
                    "kubectl -n web -o wide get pods",
                    "cut -d , -f 1 names.csv",
                ],
            ),
            (
                Printed::Other,
                &[
                    "npm test",
                    "cat a | node b.js",
                    "git diff; npm test",
                    "npm test 2>&1 | tail -50",
                    "make && cat log",
                    "cat build/build.log",
                    "tail -n 400 /tmp/test-output.txt",
                    "sed -n '1,400p' server.log.1",
                    "head -5",
                    "",
                    "$(x)",
                    "git push",
                    "kubectl logs get",
                    "docker compose up",
                    "npm test | sort",
                    "npm run list",
                    "go get ./...",
                    "awk '{print}' build.log",
                    "npm test | cut -d , -f 1",
                    "make | awk -F : '{print $1}'",
                    "make | awk -v n=3 '{print n}'",
                    "npm test | sort -t , -k 2",
                    "pnpm --filter list build",
                    "yarn workspace tree build",
                    "npm start list",
                    "npm start -- --help",
                ],
            ),
        ];
        for (expected, commands) in table {
            for command in commands {
                assert_eq!(printed_form(command), expected, "{command}");
            }
        }
        let script = format!("cat <<E\n{}E\n", "x\n".repeat(MAX_COMMAND_BYTES));
        assert_eq!(printed_form(&script), Printed::Other);
    }
}
