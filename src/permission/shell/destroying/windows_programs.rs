//! Commands of Windows that destroy the machine, as `cmd` and PowerShell call them.

use super::destroying_commands::{
    CHANGES_RIGHTS, REMOVES_ROOT, STOPS_MACHINE, WRITES_DISK, WRITES_SYSTEM,
};
use crate::permission::shell::word::Word;

/// Commands that remove or empty what they name, or what a pipe lists.
const REMOVERS: [&str; 12] = [
    "del",
    "erase",
    "rd",
    "rmdir",
    "remove-item",
    "ri",
    "rm",
    "clear-content",
    "clc",
    "rename-item",
    "rni",
    "ren",
];

/// Commands of PowerShell that pass on the files that they name.
const LISTERS: [&str; 8] =
    ["get-childitem", "gci", "dir", "ls", "get-item", "gi", "resolve-path", "rvpa"];

/// Commands that destroy something with some words, or always.
const OTHERS: [&str; 16] = [
    "robocopy",
    "icacls",
    "takeown",
    "wbadmin",
    "clear-disk",
    "format-volume",
    "initialize-disk",
    "remove-partition",
    "diskpart",
    "bcdedit",
    "reg",
    "stop-computer",
    "restart-computer",
    "wmic",
    "wsl",
    "vssadmin",
];

/// Returns the names of all commands of which something is known here.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    REMOVERS.into_iter().chain(OTHERS)
}

/// Folders of a drive that Windows cannot do without.
const FOLDERS: [&str; 7] = ["", "*", "*.*", "windows", "users", "program files", "programdata"];

/// Variables for such folders, and for the home of the user.
const VARIABLES: [&str; 8] = [
    "%systemroot%",
    "%windir%",
    "%systemdrive%",
    "%userprofile%",
    "$env:systemroot",
    "$env:windir",
    "$env:systemdrive",
    "$env:userprofile",
];

/// Names that PowerShell has for the home of the user.
const HOMES: [&str; 5] = ["~", "$home", "${home}", "${env:userprofile}", "$env:homepath"];

/// Returns what a command of PowerShell passes on, if Windows cannot do without it.
pub(crate) fn listed(name: &str, words: &[Word]) -> Option<String> {
    let is_lister = LISTERS.contains(&name.to_ascii_lowercase().as_str());
    let named = words.iter().skip(1).map(|word| word.text.as_str());
    let named: Vec<&str> = named.filter(|path| is_lister && is_of_system(path)).collect();
    (!named.is_empty()).then(|| named.join("\n"))
}

/// Returns true if a text names a command that removes files, and what Windows cannot do without.
pub(super) fn text_removes(text: &str) -> bool {
    if !text.contains(':') {
        return false;
    }
    let text = text.to_ascii_lowercase();
    let (mut removes, mut on_system) = (false, false);
    for word in text.split(|letter: char| letter <= ' ' || "\"'`,;|(){}=".contains(letter)) {
        removes |= REMOVERS.contains(&word);
        on_system |= word.contains(['\\', '/', '$']) && (is_of_system(word) || is_home(word));
    }
    removes && on_system
}

/// Returns what a command of Windows destroys, for what it names and what a pipe lists.
pub(super) fn destroys(base: &str, rest: &[Word], piped: Option<&str>) -> Option<&'static str> {
    let has = |names: &[&str]| {
        rest.iter().any(|word| names.iter().any(|name| word.text.eq_ignore_ascii_case(name)))
    };
    let begins =
        |start: &str| rest.iter().any(|word| word.text.to_ascii_lowercase().starts_with(start));
    let on_system = || rest.iter().any(|word| is_of_system(&word.text));
    match base {
        _ if REMOVERS.contains(&base) => {
            let mut all = rest.iter().map(|word| &*word.text).chain(piped.unwrap_or("").lines());
            let is_own = |path: &str| {
                matches!(base, "remove-item" | "ri") && HOMES.contains(&plain(path).as_str())
            };
            all.any(|path| is_of_system(path) || is_home(path) || is_own(path))
                .then_some(REMOVES_ROOT)
        }
        "clear-disk" | "format-volume" | "initialize-disk" | "remove-partition" => {
            Some(WRITES_DISK)
        }
        "diskpart" => {
            let cleans = piped.is_some_and(|text| {
                let verbs = ["clean", "format", "delete", "create", "convert"];
                text.split_whitespace().any(|word| verbs.contains(&word))
            });
            (cleans || has(&["/s"])).then_some(WRITES_DISK)
        }
        "bcdedit" => begins("/delete").then_some(WRITES_SYSTEM),
        "reg" => (has(&["delete"]) && begins("hklm")).then_some(WRITES_SYSTEM),
        "stop-computer" | "restart-computer" => Some(STOPS_MACHINE),
        "wmic" => has(&["shutdown", "reboot"])
            .then_some(STOPS_MACHINE)
            .or((has(&["shadowcopy"]) && has(&["delete"])).then_some(WRITES_DISK)),
        // The machine in it, and all copies of the disks.
        "wsl" => has(&["--unregister"]).then_some(WRITES_DISK),
        "vssadmin" | "wbadmin" => has(&["delete"]).then_some(WRITES_DISK),
        // It removes all that the source does not have.
        "robocopy" => {
            let on_home = || rest.iter().any(|word| is_home(&word.text));
            (has(&["/mir", "/purge"]) && (on_system() || on_home())).then_some(REMOVES_ROOT)
        }
        "icacls" => (has(&["/t"]) && on_system()).then_some(CHANGES_RIGHTS),
        "takeown" => (has(&["/r"]) && on_system()).then_some(CHANGES_RIGHTS),
        _ => None,
    }
}

/// Returns a path as it is compared, without the name of the parameter before it and the sign for all that is in it.
fn plain(path: &str) -> String {
    let path = path.to_ascii_lowercase().replace('\\', "/");
    let names = ["-path:", "-literalpath:"];
    let path = names.iter().find_map(|name| path.strip_prefix(name)).unwrap_or(&path);
    path.strip_suffix("/*").unwrap_or(path).trim_end_matches('/').to_owned()
}

/// Returns true for the folder of a user on a drive, or all in it.
fn is_home(path: &str) -> bool {
    let path = plain(path);
    let user = path.get(1..).and_then(|rest| rest.strip_prefix(":/users/"));
    user.is_some_and(|user| !user.is_empty() && !user.contains('/') && user != "public")
}

/// Returns true for a drive, a folder of the system on one, all in it, or a variable for the home of the user.
pub(super) fn is_of_system(path: &str) -> bool {
    // Bash takes a backslash and a space for a quoted space, and PowerShell for the end of a word.
    let path = if path.get(1..3) == Some(": ") { &path[..2] } else { path };
    let path = &*plain(path);
    let is_drive =
        |drive: &str| drive.len() == 1 && drive.bytes().all(|byte| byte.is_ascii_alphabetic());
    match path.split_once(':').filter(|(drive, _)| is_drive(drive) || *drive == "hklm") {
        // The registry.
        Some(("hklm", key)) => {
            matches!(key.trim_matches('/'), "" | "system" | "software" | "sam" | "security")
        }
        Some((_, folder)) => FOLDERS.contains(&folder.trim_start_matches('/')),
        None => VARIABLES.contains(&path),
    }
}

#[cfg(test)]
mod tests {
    use super::is_of_system;

    #[test]
    fn drives_and_folders_of_the_system_are_known() {
        for path in [
            "C:\\",
            "c:",
            "D:/*",
            "C:\\Windows",
            "C:Windows\\*",
            "%SystemRoot%",
            "$env:USERPROFILE",
        ] {
            assert!(is_of_system(path), "{path}");
        }
        for path in
            ["C:\\x", "C:\\Users\\u\\x", "build", "~", "%TEMP%", "http://x", "C:\\Windows.old\\x"]
        {
            assert!(!is_of_system(path), "{path}");
        }
    }
}
