//! Programs that pass their standard input on to an interpreter elsewhere: on another machine, in a container, as
//! another user, or line by line. The code in that input stands outside of the command, so that it cannot be judged.

use super::programs::{self, Kind, Program};
use super::word::Word;
use super::{Doubt, Simple};

/// Programs that run a shell on their input if they are given no command, and usually also if they are.
const LOGINS: [&str; 20] = [
    "ssh",
    "autossh",
    "mosh",
    "rsh",
    "slogin",
    "dbclient",
    "sshpass",
    "su",
    "runuser",
    "newgrp",
    "sg",
    "login",
    "wsl",
    "script",
    "unshare",
    "chroot",
    "nsenter",
    "nix-shell",
    "batch",
    "at",
];

/// Programs that run a command in a container, a virtual machine or a device.
const CARRIERS: [&str; 38] = [
    "docker",
    "docker-compose",
    "podman",
    "podman-compose",
    "nerdctl",
    "buildah",
    "ctr",
    "crictl",
    "kubectl",
    "oc",
    "k3s",
    "microk8s",
    "minikube",
    "lxc",
    "lxc-attach",
    "incus",
    "machinectl",
    "systemd-run",
    "systemd-nspawn",
    "multipass",
    "limactl",
    "lima",
    "colima",
    "vagrant",
    "adb",
    "distrobox",
    "toolbox",
    "apptainer",
    "singularity",
    "flatpak",
    "nomad",
    "heroku",
    "flyctl",
    "fly",
    "gcloud",
    "az",
    "aws",
    "railway",
];

/// Commands of carriers that connect the input to the program that they run.
const CONNECTING: [&str; 10] =
    ["exec", "run", "attach", "start", "shell", "ssh", "console", "enter", "rsh", "debug"];

/// Shells that are in no row of the table.
const SHELLS: [&str; 12] =
    ["sh", "bash", "dash", "ash", "rbash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "busybox"];

/// Maximum number of words that are examined.
const MAX_WORDS: usize = 64;

/// Adds a question if a command passes input that cannot be judged to an interpreter.
pub(super) fn ask(
    base: &str,
    program: Option<&Program>,
    words: &[Word],
    has_input: bool,
    command: &mut Simple,
) {
    if base == "parallel" {
        if !names_command(words) {
            add(command, "parallel runs the lines of its input");
        }
        return;
    }
    if !has_input {
        return;
    }
    if LOGINS.contains(&base) {
        add(command, &format!("{base} can run its input"));
        return;
    }
    let words = &words[1..words.len().min(MAX_WORDS)];
    let is_carrier = CARRIERS.contains(&base);
    if is_carrier && words.iter().any(|word| CONNECTING.contains(&word.text.as_str())) {
        add(command, &format!("{base} passes its input to a program that may run it"));
        return;
    }
    // Interpreters take their own words for a script and its arguments; their input is judged with their options.
    let may_run = program.is_none_or(|program| {
        matches!(program.kind, Kind::Code | Kind::Runner) && !program.script && !program.sql
    });
    let names_interpreter = |word: &Word| word.text.split_whitespace().any(is_interpreter);
    if may_run && words.iter().any(names_interpreter) {
        add(command, &format!("{base} can pass its input to an interpreter"));
    }
}

fn add(command: &mut Simple, reason: &str) {
    command.doubts.push(Doubt { reason: reason.to_owned(), token: Some("-".into()) });
}

/// Returns true if `parallel` is given a command, so that its input is only arguments.
fn names_command(words: &[Word]) -> bool {
    const VALUED: [&str; 12] =
        ["-a", "-I", "-N", "-n", "-L", "-s", "-d", "-E", "-C", "-P", "-j", "-S"];
    let mut rest = words[1..].iter();
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        if VALUED.contains(&text)
            || matches!(text, "--arg-file" | "--jobs" | "--delimiter" | "--colsep")
        {
            rest.next();
        } else if text.starts_with(":::") {
            return false;
        } else if !text.starts_with('-') {
            // The command itself comes from the input: `parallel {}`.
            return !text.starts_with('{');
        }
    }
    words.iter().any(|word| matches!(word.text.as_str(), "--version" | "--help" | "-V" | "-h"))
}

/// Returns true for the name of a program that runs its input, also as the name of an image: `library/python:3`.
fn is_interpreter(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default();
    let name = name.split([':', '@']).next().unwrap_or_default();
    let name = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    SHELLS.contains(&name)
        || (name.len() > 2
            && programs::find(name).is_some_and(|program| program.script || program.stdin))
}
