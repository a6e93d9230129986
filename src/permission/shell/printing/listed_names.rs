//! The names that programs list: all files below a folder, or all processes. Other commands get them from a pipe, through
//! `xargs` or as `$(…)`. It only adds denials, so that a guess may be wrong.

use crate::permission::shell::word::Word;
use crate::util::words::{has_word, row};

/// Programs whose lists are known.
pub(super) const LISTERS: &str = "\
    rg fd fdfind tree du locate plocate mlocate slocate git ps pgrep compgen dpkg dpkg-query rpm pacman apk repoquery lsblk \
    blkid fdisk df mount findmnt getent cut whereis ldd apt apt-mark dnf yum lsof";

/// The words for all processes: the first one, and each that may be sent a signal. The star says that a filter leaves some of
/// them.
pub(super) const ALL_PROCESSES: &str = "1 -1 *";

/// The files that a package of the system can consist of.
const OF_PACKAGE: &str = "/ /bin/* /usr/bin/* /usr/lib/*";

/// All packages, with an essential one. The star says that a filter leaves some of them.
const ALL_PACKAGES: &str = "bash *";

/// The folders at which all file systems are mounted. The star says that a filter leaves some of them.
const MOUNTED: &str = "/ /*";

/// The homes of all accounts, and one of their names.
const ACCOUNTS: &str = "root /root /home/*";

/// Returns what a program lists, if it lists everything.
pub(super) fn listed(name: &str, words: &[Word]) -> Option<String> {
    let rest = words.get(1..)?;
    let has = |names: &[&str]| rest.iter().any(|word| names.contains(&word.text.as_str()));
    let operands =
        || rest.iter().filter(|word| !word.text.starts_with('-')).map(|word| word.text.as_str());
    if lists_packages(name, rest) {
        return Some(ALL_PACKAGES.to_owned());
    }
    match name {
        "rg" if has(&["--files"]) && !has(&["-g", "--glob", "--iglob", "-t", "--type", "-T"]) => {
            Some(everything(operands()))
        }
        "fd" | "fdfind" if !has(&["-e", "--extension", "-x", "-X", "--exec", "--exec-batch"]) => {
            let mut operands = operands();
            matches!(operands.next().unwrap_or("."), "." | ".*" | "" | "*" | "^")
                .then(|| everything(operands))
        }
        "tree" if !has(&["-P", "-I", "--filelimit"]) => Some(everything(operands())),
        "du" => Some(everything(operands())),
        "locate" | "plocate" | "mlocate" | "slocate" => operands()
            .any(|pattern| matches!(pattern, "/" | "*" | "/*" | "" | "."))
            .then(|| everything(["/"].into_iter())),
        "git" if has(&["ls-files"]) => {
            let folder =
                rest.windows(2).find(|pair| pair[0].text == "-C").map(|pair| pair[1].text.as_str());
            Some(everything(folder.into_iter()))
        }
        "dpkg" | "dpkg-query" if has(&["-L", "--listfiles"]) => Some(OF_PACKAGE.to_owned()),
        "rpm" | "repoquery" if rest.iter().any(|word| word.has_letter('l')) || has(&["--list"]) => {
            Some(OF_PACKAGE.to_owned())
        }
        "pacman" if rest.iter().any(|word| is_query_of_files(&word.text)) => {
            Some(OF_PACKAGE.to_owned())
        }
        "apk" if has(&["-L", "--contents", "manifest"]) => Some(OF_PACKAGE.to_owned()),
        "ldd" if operands().next().is_some() => Some("/lib64/* /lib/libc.so.6".to_owned()),
        "lsblk" if has(&["-p", "--paths"]) || rest.iter().any(|word| word.has_letter('p')) => {
            Some(DISK.to_owned())
        }
        "blkid" => Some(DISK.to_owned()),
        "fdisk" if has(&["-l", "--list"]) => Some(DISK.to_owned()),
        "df" | "findmnt" => Some(MOUNTED.to_owned()),
        "mount" if operands().next().is_none() => Some(MOUNTED.to_owned()),
        "getent" if operands().next() == Some("passwd") => Some(ACCOUNTS.to_owned()),
        "cut" if operands().any(|path| path == "/etc/passwd") => Some(ACCOUNTS.to_owned()),
        "whereis" => Some(programs(operands())),
        "compgen" => Some(operands().collect::<Vec<_>>().join(" ")),
        "ps" if !selects_processes(rest) => Some(ALL_PROCESSES.to_owned()),
        "pgrep" => {
            let of_user = has(&["-u", "-U", "--euid", "--uid"]);
            let mut patterns = operands().skip(usize::from(of_user));
            let is_all = patterns.all(|pattern| matches!(pattern, "." | ".*" | "^" | ""));
            is_all.then(|| ALL_PROCESSES.to_owned())
        }
        _ => None,
    }
}

/// Words with which a package manager lists what is installed. Those that begin with a dash are options.
const LIST_PACKAGES: &str = "\
apt list --installed
apt-mark showmanual showauto
dnf list installed --installed
yum list installed --installed
dpkg -l --list --get-selections -W --show
dpkg-query -l --list -W --show
rpm -qa -qqa -aq
pacman -Q -Qq -Qe -Qqe -Qeq -Qn -Qqn -Qnq
apk info list -I --installed";

/// Returns true if a package manager lists all that is installed, and not what a name or a state selects.
fn lists_packages(name: &str, rest: &[Word]) -> bool {
    let Some(words) = row(LIST_PACKAGES, name) else { return false };
    // The form of each line.
    let is_form = |text: &str| text.contains(['$', '%']);
    let takes = |word: &Word| {
        has_word(words, &word.text)
            || is_form(&word.text)
            || word.text.starts_with("-f")
            || word.text == "--qf"
    };
    let lists = |word: &Word| has_word(words, &word.text) && word.text != "list";
    rest.iter().any(lists) && rest.iter().all(takes)
}

/// A disk.
const DISK: &str = "/dev/sda";

/// Returns the paths of programs of the system.
pub(super) fn programs<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("/usr/bin/{name} ")).collect::<String>().trim_end().to_owned()
}

/// Returns true for `-Ql` and the like, with which `pacman` lists the files of packages.
fn is_query_of_files(text: &str) -> bool {
    text.starts_with("-Q") && text.contains('l') || matches!(text, "-l" | "--list")
}

/// Returns the paths of everything in each root, by default in the current folder.
pub(super) fn everything<'r>(roots: impl Iterator<Item = &'r str>) -> String {
    let of_root = |root: &str| {
        let root = root.trim_end_matches('/');
        format!("{} {root}/*", if root.is_empty() { "/" } else { root })
    };
    let all: Vec<String> = roots.map(of_root).collect();
    if all.is_empty() { of_root(".") } else { all.join(" ") }
}

/// Returns true if `awk` prints fields of every line: `{print $2}`.
pub(super) fn prints_fields(words: &[Word]) -> bool {
    let script = words.iter().skip(1).find(|word| word.text.contains('{'));
    script.is_some_and(|script| {
        let text = script.text.trim();
        text.strip_prefix('{').is_some_and(|text| text.trim_start().starts_with("print"))
            && !text.contains(['~', '?'])
            && !text.contains("if")
    })
}

/// Returns true if `ps` shows only some processes, or a text of its own.
fn selects_processes(rest: &[Word]) -> bool {
    rest.iter().any(|word| {
        let text = word.text.as_str();
        let starts = ["-C", "-p", "-q", "-g", "-G", "-s", "-t", "-u", "-U"];
        // A heading with spaces is a text that is printed.
        text.contains(' ')
            || text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
            || starts.iter().any(|start| text.starts_with(start))
            || ["--pid", "--ppid", "--sid", "--tty", "--user", "--User", "--group", "--quick-pid"]
                .iter()
                .any(|start| text.starts_with(start))
    })
}
