//! Programs that end all processes or the machine, or take its root away. They count where they run on this machine, and
//! not in a container.

use super::analyzer::Walker;
use super::destroying_commands::{KILLS_ALL, STOPS_MACHINE};
use super::word::Word;
use crate::permission::places::Place;

/// Returns true for the name or number of a signal.
fn is_signal(text: &str) -> bool {
    let name = text.strip_prefix("SIG").unwrap_or(text);
    matches!(name, "KILL" | "TERM" | "HUP" | "INT" | "STOP" | "9" | "15")
}

impl Walker<'_> {
    /// Returns what a program ends with its arguments.
    pub(super) fn ends_machine(&self, base: &str, rest: &[Word]) -> Option<&'static str> {
        let has = |names: &[&str]| rest.iter().any(|word| names.contains(&word.text.as_str()));
        let operands =
            || rest.iter().filter(|word| !word.text.starts_with(['-', '+']) || word.text.len() < 2);
        match base {
            "kill" => {
                let mut targets =
                    rest.iter().skip_while(|word| word.text == "-s" || word.text == "-n");
                let first = targets.next()?;
                let all: Vec<&str> =
                    std::iter::once(first).chain(targets).map(|word| word.text.as_str()).collect();
                // The first one is a signal if more follow.
                let behind = if all.len() > 1
                    && (all[0].starts_with('-')
                        || rest[0].text.starts_with("-s")
                        || rest[0].text == "-n")
                {
                    &all[1..]
                } else {
                    &all[..]
                };
                let signalled = all.len() > 1;
                (behind.contains(&"-1") && (signalled || rest.len() > 1)
                    || (signalled && behind.contains(&"1")))
                .then_some(KILLS_ALL)
            }
            "killall5" => Some(KILLS_ALL),
            "pkill" | "killall" | "skill" | "slay" => {
                let is_all = |word: &Word| {
                    matches!(word.text.as_str(), "." | ".*" | "" | "^" | "*")
                        && (base == "pkill" || has(&["-r", "--regexp"]))
                };
                // All processes of a user, whatever their names are.
                let of_user = has(&["-u", "-U", "--user", "--euid", "--uid"]) || base == "slay";
                let named = operands().filter(|word| !is_signal(&word.text)).count();
                (operands().any(is_all) || (of_user && named < 2)).then_some(KILLS_ALL)
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
            "kexec" => has(&["-e", "--exec"]).then_some(STOPS_MACHINE),
            "busctl" | "dbus-send" | "gdbus" => {
                let stops = ["PowerOff", "Reboot", "Halt", "KExec"];
                let is_it = |word: &Word| {
                    stops.iter().any(|verb| word.text.rsplit('.').next() == Some(*verb))
                };
                operands().any(is_it).then_some(STOPS_MACHINE)
            }
            "shutdown" => {
                let only_tells = has(&["-c", "-k", "--show"]);
                (!only_tells).then_some(STOPS_MACHINE)
            }
            "reboot" | "halt" | "poweroff" => Some(STOPS_MACHINE),
            "init" | "telinit" => (rest.len() == 1
                && matches!(rest[0].text.as_str(), "0" | "6" | "1" | "s" | "S"))
            .then_some(STOPS_MACHINE),
            "systemctl" => {
                let stops =
                    ["poweroff", "reboot", "halt", "kexec", "emergency", "rescue", "soft-reboot"];
                (operands().next().is_some_and(|word| stops.contains(&word.text.as_str()))
                    || operands().skip(1).any(|word| {
                        let target = word.text.strip_suffix(".target");
                        target.is_some_and(|target| stops.contains(&target))
                    }))
                .then_some(STOPS_MACHINE)
            }
            "umount" => {
                let is_root = |word: &Word| matches!(self.any_place(word), Some((Place::Root, _)));
                let is_all = |word: &Word| {
                    let letters = word.text.strip_prefix('-');
                    word.text == "--all"
                        || letters.is_some_and(|rest| !rest.starts_with('-') && rest.contains('a'))
                };
                let all = rest.iter().any(is_all) && !has(&["-t", "--types"]);
                (all || operands().any(is_root)).then_some(STOPS_MACHINE)
            }
            "mount" => {
                let is_root = |word: &Word| matches!(self.any_place(word), Some((Place::Root, _)));
                let is_read_only = |word: &Word| {
                    word.text.contains("remount")
                        && word.text.split([',', '=']).any(|part| part == "ro")
                };
                (rest.iter().any(is_read_only) && operands().any(is_root)).then_some(STOPS_MACHINE)
            }
            _ => None,
        }
    }
}
