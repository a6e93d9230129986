//! Commands that only read.

use super::git::git_commands;
use super::programs::{Kind, Program};
use super::word::Word;
use crate::util::words::{has_word, row};

/// Commands of git that only read, whatever their arguments are but for those that raise a concern.
pub(super) const READ_ONLY_GIT: &str = "\
    status log diff show ls-files ls-tree rev-parse rev-list describe shortlog blame annotate grep cat-file show-ref \
    for-each-ref name-rev merge-base diff-tree diff-index diff-files whatchanged range-diff count-objects check-ignore \
    show-branch cherry verify-commit version";

/// Options of git before such a command that change nothing about it.
const PLAIN_OPTIONS: &str = "--no-pager -P --no-optional-locks --literal-pathspecs --version -v";

/// Options of `git branch`, `git tag` and `git remote` that only list.
const LISTS: &str = "\
    -a -r -v -vv -l -n --all --remotes --verbose --list --show-current --no-color --merged --no-merged --contains";

/// First words of commands that only read.
const READ_ONLY: &str = "\
    go version|go env|go list|go doc|npm ls|npm list|npm view|npm outdated|npm root|npm prefix|pnpm ls|pnpm list|pnpm why|\
    yarn list|yarn why|cargo tree|cargo metadata|pip list|pip show|pip freeze|pip3 list|pip3 show|pip3 freeze|gh pr view|\
    gh pr list|gh pr diff|gh pr checks|gh pr status|gh issue view|gh issue list|gh issue status|gh run view|gh run list|\
    gh repo view|gh repo list|gh release view|gh release list|gh search|gh api|docker ps|docker images|kubectl get|\
    brew list|brew info|kubectl describe|kubectl logs|kubectl top|kubectl version|kubectl api-resources|docker logs|\
    docker version|docker history|docker top|docker port|docker compose ps|docker compose logs|npm why|npm explain|\
    rustup show|uv pip list|poetry show|helm list|helm status|helm history|terraform version|systemctl status|\
    systemctl is-active|systemctl is-enabled|systemctl is-failed|systemctl list-units|systemctl list-unit-files|\
    systemctl list-timers|systemctl list-sockets|systemctl list-dependencies|journalctl|apt list|apt show|apt search|\
    apt policy|apt-cache|dpkg -l|dpkg -L|dpkg -s|dpkg -S|rpm -qa|rpm -qi|rpm -ql|docker info|docker network ls|\
    docker volume ls|docker image ls|docker container ls|docker context ls|docker system df|docker diff|docker-compose ps|\
    docker-compose logs|podman ps|podman images|podman logs|kubectl explain|kubectl api-versions|kubectl cluster-info|\
    kubectl config current-context|kubectl config get-contexts|kubectl rollout status|kubectl rollout history|\
    kubectl auth can-i|helm repo list|terraform state list|terraform workspace list|terraform workspace show|\
    tofu version|tofu state list|tofu workspace list|tofu workspace show|gh workflow list|gh workflow view|gh label list|\
    gh cache list|glab mr view|glab mr list|glab mr diff|glab issue view|glab issue list|glab ci list|glab ci status|\
    glab repo view|rustup toolchain list|rustup target list|rustup component list|rustup which|uv pip show|\
    uv pip freeze|uv python list|conda list|conda info|conda env list|gem list|brew leaves|brew deps|dotnet --info|\
    dotnet --list-sdks|dotnet --list-runtimes|ip addr show|ip address show|ip link show|ip route show|ip neigh show|\
    lsblk|netstat|ss|mount|diskutil list|lvs|vgs|pvs";

/// Options that alone print a version, with the programs that have them.
const VERSIONS: &str = "\
-v node npm yarn pnpm bun php perl ruby docker make nginx haproxy gcc clang git
-V python python3 pip pip3 ssh rustc cargo make tmux
-version java javac terraform";

/// Options of `kubectl` and `helm` before their command that only say where to look.
const PLACES: &str = "-n --namespace --context --kube-context";

/// Options of `journalctl` that only select and show.
const OF_JOURNAL: &str = "\
    --no-pager --since --until --unit --user-unit --lines --follow --boot --priority --grep --output --reverse --list-boots \
    --user --system --utc --quiet --all --catalog --identifier --dmesg --disk-usage --no-hostname --no-full --full --header";

fn text(word: Option<&Word>) -> &str {
    word.map_or("", |word| word.text.as_str())
}

/// Returns true if `gh api` sends a request that changes nothing.
pub(super) fn only_gets(words: &[Word]) -> bool {
    let is_get = |at: usize| {
        let word = words[at].text.as_str();
        let value =
            word.split_once('=').map_or_else(|| text(words.get(at + 1)), |(_, value)| value);
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        match letters {
            // With an attached value: `-XPOST`.
            Some(letters) if letters.starts_with('X') => {
                letters.eq_ignore_ascii_case("XGET") || (letters == "X" && value == "GET")
            }
            Some(letters) => {
                !letters.contains(['X', 'f', 'F']) || letters.starts_with(['q', 'H', 't', 'p'])
            }
            None if word.starts_with("--method") => value == "GET",
            None => {
                !["--m", "--f", "--r", "--i"].iter().any(|start| word.starts_with(start))
                    || matches!(word, "--include" | "--method")
            }
        }
    };
    words.iter().all(|word| word.known)
        && (1..words.len()).all(is_get)
        && !words.iter().any(|word| word.text.trim_matches('/') == "graphql")
}

/// Returns another form of a command, for which permissions count as well.
pub(super) fn same_as(base: &str, name: &Word, shown: &str) -> Option<String> {
    let rest = shown.strip_prefix(name.shown.as_str())?;
    if base == "[" {
        return Some(format!("test{}", rest.strip_suffix(" ]").unwrap_or(rest)));
    }
    (name.text != base).then(|| format!("{base}{rest}"))
}

/// Returns true if a command only reads files, the state of the system, or a repository. Concerns are handled
/// elsewhere.
pub(super) fn is_read_only(base: &str, program: Option<&Program>, words: &[Word]) -> bool {
    let has = |option: &str| words.iter().any(|word| word.text == option);
    match program.map(|program| program.kind) {
        // A name of a host is looked up in the network.
        Some(Kind::Inert) if base == "getent" => {
            !words[1..].iter().any(|word| word.text.contains("host"))
        }
        Some(Kind::Inert) => !matches!(base, "umask" | "ulimit" | "shift") || words.len() < 3,
        // It writes the parts of a file into others.
        Some(Kind::Reader) if base == "csplit" => false,
        Some(Kind::Reader | Kind::Grep | Kind::Lister | Kind::Awk) => true,
        Some(Kind::Sed) => !words.iter().any(|word| {
            let letters = word.text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
            letters.is_some_and(|letters| letters.contains('i')) || word.text.starts_with("--in")
        }),
        Some(Kind::Find) => !words.iter().any(|word| {
            ["-exec", "-ok", "-delete", "-fprint", "-fls"]
                .iter()
                .any(|start| word.text.starts_with(start))
        }),
        Some(Kind::Git) => is_read_only_git(words),
        _ => {
            let at = if matches!(base, "kubectl" | "helm") { after_places(words) } else { 1 };
            let begins = |known: &str| {
                known.bytes().next() == base.bytes().next() && {
                    let mut own =
                        std::iter::once(base).chain(words[at..].iter().map(|word| &*word.text));
                    known.split(' ').all(|part| own.next() == Some(part))
                }
            };
            let prints_version = |option: &str| {
                program.is_some() && matches!(option, "--version" | "--help")
                    || row(VERSIONS, option).is_some_and(|names| has_word(names, base))
            };
            (words.len() == 2 && prints_version(&words[1].text))
                || (base == "gofmt"
                    && !has("-w")
                    && !words.iter().any(|word| word.text.starts_with("-cpuprofile")))
                || (READ_ONLY.split('|').any(begins) && !does_more(base, &words[at..]))
        }
    }
}

/// Returns the index of the first word after options that say where to look.
fn after_places(words: &[Word]) -> usize {
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| word.known) {
        let (name, is_joined) =
            word.text.split_once('=').map_or((&*word.text, false), |(name, _)| (name, true));
        if !has_word(PLACES, name) {
            break;
        }
        at += if is_joined { 1 } else { 2 };
    }
    at.min(words.len())
}

/// Returns true if the words after the name of a command that reads make it show secrets, build or start something.
fn does_more(base: &str, rest: &[Word]) -> bool {
    rest.iter().any(|word| match base {
        "kubectl" => {
            word.text == "--raw"
                || (text(rest.first()) != "logs"
                    && ["-f", "-k", "--filename", "--kustomize"]
                        .iter()
                        .any(|name| word.text.starts_with(name)))
                || word
                    .text
                    .split([',', '/', '.'])
                    .any(|kind| kind.to_ascii_lowercase().trim_end_matches('s') == "secret")
        }
        "go" => {
            matches!(
                word.text.trim_start_matches('-'),
                "mod=mod" | "export" | "http" | "compiled" | "m"
            )
        }
        "mount" => true,
        // They end connections, write to a file or read what to do from one.
        "ss" => {
            word.text.starts_with("--")
                || (word.text.starts_with('-') && word.text.contains(['K', 'D', 'F', 'N']))
        }
        "journalctl" => {
            let name = word.text.split('=').next().unwrap_or_default();
            name.starts_with("-D")
                || name.starts_with("-M")
                || (name.starts_with("--") && !has_word(OF_JOURNAL, name))
        }
        "gh" | "glab" => {
            word.text.to_ascii_lowercase().contains("method-override")
                || word.text.contains("://")
                || word.text == "--live"
        }
        _ => false,
    })
}

fn is_read_only_git(words: &[Word]) -> bool {
    let at = git_commands::command_at(words);
    let own = &words[1..at];
    if at == words.len() {
        return own.iter().any(|word| matches!(word.text.as_str(), "--version" | "-v"));
    }
    if !own.iter().all(|word| has_word(PLAIN_OPTIONS, &word.text)) {
        return false;
    }
    let name = text(words.get(at));
    let rest = words.get(at + 1..).unwrap_or_default();
    let first = text(rest.first());
    let lists = |word: &Word| {
        let option = word.text.split('=').next().unwrap_or_default();
        has_word(LISTS, option)
            || matches!(option, "--format" | "--sort" | "--points-at" | "--column")
    };
    match name {
        "branch" => rest.iter().all(lists),
        "tag" => {
            rest.is_empty()
                || (matches!(first, "-l" | "--list" | "-n")
                    && !rest
                        .iter()
                        .any(|word| matches!(word.text.as_str(), "-d" | "-a" | "-s" | "-f")))
        }
        "remote" => {
            let is_verbose = matches!(first, "-v" | "--verbose");
            let action = if is_verbose { text(rest.get(1)) } else { first };
            matches!(action, "" | "show" | "get-url")
        }
        "stash" | "worktree" | "notes" => matches!(first, "list" | "show"),
        "submodule" => matches!(first, "status" | "summary"),
        "bisect" => first == "log",
        "reflog" => matches!(first, "" | "show") || first.starts_with('-'),
        "config" => git_commands::reads_settings(first),
        _ => has_word(READ_ONLY_GIT, name),
    }
}

/// Returns true if an argument makes a program that only prints set the name of the machine or its clock.
pub(super) fn changes_system(base: &str, before: &str, text: &str) -> bool {
    match base {
        "hostname" => !text.starts_with('-'),
        "date" => {
            let is_text = matches!(before, "-d" | "--date" | "-r" | "--reference" | "-v" | "-f");
            !is_text
                && text.len() >= 8
                && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        }
        _ => false,
    }
}
