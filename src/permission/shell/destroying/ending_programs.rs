//! Programs that end all processes or the machine, or take its root away. They count where they run on this machine, and
//! not in a container.

use super::destroying_commands::{KILLS_ALL, STOPS_MACHINE};
use super::destroying_programs::{has_any, operands};
use crate::permission::places::Place;
use crate::permission::shell::analyzer::Walker;
use crate::permission::shell::word::{Word, without_options};
use crate::util::words::has_word;

/// Commands and targets of `systemctl` that end what runs on the machine, or put it to sleep.
const STOPS: [&str; 11] = [
    "poweroff",
    "reboot",
    "halt",
    "kexec",
    "emergency",
    "rescue",
    "soft-reboot",
    "suspend",
    "hibernate",
    "hybrid-sleep",
    "suspend-then-hibernate",
];

/// Targets that do so by another name.
const RUN_LEVELS: [&str; 6] = ["runlevel0", "runlevel1", "runlevel6", "sleep", "shutdown", "exit"];

/// Targets that a machine starts with.
const DEFAULTS: [&str; 6] = [
    "multi-user.target",
    "graphical.target",
    "default.target",
    "basic.target",
    "sysinit.target",
    "local-fs.target",
];

/// Folders with the programs, libraries and settings that everything needs.
const NEEDED: [&str; 10] =
    ["", "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/usr/bin", "/usr/sbin", "/usr/lib"];

/// Returns true for the name or number of a signal.
fn is_signal(text: &str) -> bool {
    let name = text.strip_prefix("SIG").unwrap_or(text);
    matches!(name, "KILL" | "TERM" | "HUP" | "INT" | "STOP" | "9" | "15")
}

/// Returns true if `kill` is given all processes or the first one.
fn kills_all(rest: &[Word]) -> bool {
    let targets = rest.iter().skip_while(|word| word.text == "-s" || word.text == "-n");
    let targets: Vec<&str> = targets.map(|word| word.text.as_str()).collect();
    let [first, others @ ..] = &*targets else { return false };
    let signalled = !others.is_empty();
    // The first one is a signal if more follow.
    let has_signal =
        first.starts_with('-') || rest[0].text.starts_with("-s") || rest[0].text == "-n";
    let after = if signalled && has_signal { others } else { &*targets };
    // Signal 0 only asks, and `-l` lists the names of signals.
    let is_valued = matches!(&*rest[0].text, "-s" | "-n");
    let is_harmless = matches!(*first, "-0" | "-l") || is_valued && *first == "0";
    !(signalled && is_harmless)
        && (after.contains(&"-1") && rest.len() > 1
            || signalled && has_signal && after.contains(&"1"))
}

/// Returns true for the words of a sentence in code that begins as a command does: `Reboot required`.
pub(super) fn is_sentence(base: &str, words: &[Word]) -> bool {
    matches!(base, "reboot" | "halt" | "poweroff")
        && words.first().is_some_and(|name| name.text.starts_with(char::is_uppercase))
        && operands(&words[1..]).any(is_prose)
}

/// Returns true for a word of a sentence, which `shutdown` refuses as a time.
fn is_prose(word: &Word) -> bool {
    let text = word.text.trim_end_matches([',', '.', ':', '!', '?']);
    word.known
        && !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphabetic())
        && (!text.eq_ignore_ascii_case("now") || word.text != text)
}

/// Returns what `systemctl` ends.
fn stops_units(rest: &[Word]) -> Option<&'static str> {
    const VALUED: &str = "-n -p -t -o -H -M -s --lines --property --type --output";
    let mut operands = without_options(rest, VALUED).map(|word| word.text.as_str());
    let verb = operands.next().unwrap_or_default();
    let units: Vec<&str> = operands.collect();
    // Units of `isolate` are targets, also without the end of their name.
    let is_target = |unit: &&str| {
        let target = unit.strip_suffix(".target").or(Some(*unit).filter(|_| verb == "isolate"));
        target.is_some_and(|target| STOPS.contains(&target) || RUN_LEVELS.contains(&target))
    };
    let ends_all = matches!(verb, "stop" | "kill" | "disable" | "mask")
        && units.iter().any(|unit| matches!(*unit, "*" | "*.service"));
    // They start everything else.
    let ends_default = matches!(verb, "stop" | "kill" | "mask")
        && units.iter().any(|unit| DEFAULTS.contains(unit));
    // They are of one user, and not those of the machine.
    if rest.iter().any(|word| word.text == "--user") {
        return None;
    }
    // Commands that start none of their units.
    const KEEP: &str = "\
        status show cat is-active is-enabled is-failed list-dependencies list-units list-unit-files help stop mask disable unmask \
        edit revert preset";
    let stops = STOPS.contains(&verb)
        || verb == "exit"
        || ends_default
        || !has_word(KEEP, verb)
            && (verb != "enable" || has_any(rest, "--now"))
            // `add-wants` changes its first unit, which starts the others.
            && units.iter().skip(usize::from(verb.starts_with("add-"))).any(is_target);
    stops.then_some(STOPS_MACHINE).or(ends_all.then_some(KILLS_ALL))
}

impl Walker<'_> {
    /// Returns what a program ends with its arguments.
    pub(super) fn ends_machine(&self, base: &str, rest: &[Word]) -> Option<&'static str> {
        let has = |names: &[&str]| rest.iter().any(|word| names.contains(&word.text.as_str()));
        let operands = || operands(rest);
        match base {
            "kill" => kills_all(rest).then_some(KILLS_ALL),
            "killall5" => Some(KILLS_ALL),
            "pkill" | "killall" | "skill" | "slay" => {
                let is_all = |word: &Word| {
                    matches!(word.text.as_str(), "." | ".*" | "" | "^" | "*")
                        && (base == "pkill" || has(&["-r", "--regexp"]))
                };
                // All processes of a user, whatever their names are.
                let of_user = has(&["-u", "-U", "--user", "--euid", "--uid"]) || base == "slay";
                let named = operands().filter(|word| !is_signal(&word.text)).count();
                // All processes but those that are named.
                let is_inverse = |word: &Word| {
                    word.option_letters("FGLOPUdgrstu").0.contains('v') || word.text == "--inverse"
                };
                let others = base == "pkill" && rest.iter().any(is_inverse);
                (operands().any(is_all) || others || (of_user && named < 2)).then_some(KILLS_ALL)
            }
            "fuser" => {
                let kills = rest.iter().any(|word| word.has_letter('k') || word.text == "--kill");
                let is_used = |word: &Word| self.any_place(word).is_some();
                (kills && operands().any(is_used)).then_some(KILLS_ALL)
            }
            "loginctl" => match operands().next().map_or("", |word| word.text.as_str()) {
                "terminate-user" | "kill-user" => Some(KILLS_ALL),
                "poweroff" | "reboot" | "halt" => Some(STOPS_MACHINE),
                _ => None,
            },
            "launchctl" => {
                let is_system = has(&["bootout"]) && has(&["system", "system/"]);
                (has(&["reboot"]) || is_system).then_some(STOPS_MACHINE)
            }
            "ipmitool" => {
                let is_power = has(&["power", "chassis"]);
                (is_power && has(&["off", "cycle", "reset", "soft", "diag"]))
                    .then_some(STOPS_MACHINE)
            }
            "gdb" | "lldb" => {
                let is_first =
                    |word: &Word| matches!(&*word.text, "-p1" | "--pid=1" | "-pid=1" | "attach 1");
                let is_named = |pair: &[Word]| {
                    matches!(&*pair[0].text, "-p" | "--pid" | "-pid") && pair[1].text == "1"
                };
                let ends = |word: &Word| {
                    let text = word.text.trim_start_matches("process ");
                    matches!(text.split(' ').next(), Some("kill" | "k" | "signal"))
                        || ["kill(", "exit(", "abort("].iter().any(|call| text.contains(call))
                };
                ((rest.iter().any(is_first) || rest.windows(2).any(is_named))
                    && rest.iter().any(ends))
                .then_some(KILLS_ALL)
            }
            "kexec" => has(&["-e", "--exec"]).then_some(STOPS_MACHINE),
            "busctl" | "dbus-send" | "gdbus" | "qdbus" | "qdbus6" => {
                let stops = ["PowerOff", "Reboot", "Halt", "KExec"];
                let is_it = |word: &Word| {
                    stops.iter().any(|verb| word.text.rsplit('.').next() == Some(*verb))
                };
                operands().any(is_it).then_some(STOPS_MACHINE)
            }
            "shutdown" => {
                let only_tells = has(&["-c", "-k", "--show"])
                    || !rest.iter().any(|word| word.text.starts_with('-'))
                        && operands().next().is_some_and(is_prose);
                (!only_tells).then_some(STOPS_MACHINE)
            }
            "reboot" | "halt" | "poweroff" => Some(STOPS_MACHINE),
            "init" | "telinit" => (rest.len() == 1
                && matches!(rest[0].text.as_str(), "0" | "6" | "1" | "s" | "S"))
            .then_some(STOPS_MACHINE),
            "pmset" => has(&["sleepnow"]).then_some(STOPS_MACHINE),
            "rtcwake" => {
                (!has(&["no", "show", "disable", "--dry-run", "-n"])).then_some(STOPS_MACHINE)
            }
            "fsfreeze" => {
                let is_place = |word: &Word| self.any_place(word).is_some();
                (has(&["-f", "--freeze"]) && operands().any(is_place)).then_some(STOPS_MACHINE)
            }
            "systemctl" => stops_units(rest),
            "umount" => {
                let is_used = |word: &Word| match self.any_place(word) {
                    // The disk of another system stays as it is.
                    Some((Place::Root, _))
                        if word.text.starts_with("/mnt/") && !word.text.contains("..") =>
                    {
                        false
                    }
                    Some((Place::Root | Place::Homes | Place::Home, _)) => true,
                    place => place.is_some() && NEEDED.contains(&word.text.trim_end_matches('/')),
                };
                let is_all = |word: &Word| {
                    let letters = word.text.strip_prefix('-');
                    word.text == "--all"
                        || letters.is_some_and(|rest| !rest.starts_with('-') && rest.contains('a'))
                };
                let all = rest.iter().any(is_all) && !has(&["-t", "--types"]);
                (all || operands().any(is_used)).then_some(STOPS_MACHINE)
            }
            "mount" => {
                let is_root = |word: &Word| matches!(self.any_place(word), Some((Place::Root, _)));
                let is_read_only = |word: &Word| {
                    word.text.contains("remount")
                        && (has(&["-r", "--read-only"])
                            || word.text.split([',', '=']).any(|part| part == "ro"))
                };
                let is_hidden = self.hides_system(rest);
                (is_hidden || rest.iter().any(is_read_only) && operands().any(is_root))
                    .then_some(STOPS_MACHINE)
            }
            _ => None,
        }
    }

    /// Returns true if `mount` puts a folder or an empty file system over one of the system, or moves one away.
    fn hides_system(&self, rest: &[Word]) -> bool {
        let is_kind = |word: &Word| {
            let text = word.text.as_str();
            matches!(
                text,
                "--bind"
                    | "--rbind"
                    | "--move"
                    | "-B"
                    | "-R"
                    | "-M"
                    | "tmpfs"
                    | "ramfs"
                    | "overlay"
            ) || text.split([',', '=']).any(|part| matches!(part, "bind" | "rbind" | "move"))
        };
        let is_moved = |word: &Word| matches!(word.text.as_str(), "--move" | "-M");
        let is_needed = |word: &&Word| {
            let path = word.text.trim_end_matches('/');
            // A disk for the homes is usual.
            let is_home = matches!(self.any_place(word), Some((Place::Homes | Place::Home, _)));
            is_home && rest.iter().any(is_kind)
                || NEEDED.contains(&path) && self.any_place(word).is_some()
                || rest.iter().any(is_kind) && self.file_places(word).contains(&Place::File)
        };
        let mut operands = rest.iter().filter(|word| !word.text.starts_with('-'));
        // A device over one that is in use.
        let is_device = || {
            operands.clone().any(|word| word.text.starts_with("/dev/") && self.disk(word))
                && !rest.iter().any(|word| word.text.contains("remount"))
        };
        (rest.iter().any(is_kind) || is_device())
            && (rest.last().is_some_and(|word| is_needed(&word))
                || rest.iter().any(is_moved) && operands.any(|word| is_needed(&word)))
    }
}
