//! The paths that the words of a command for a container have on the machine.

use super::AnalyzedCommand;
use super::analyzer::Walker;
use super::destroying::destroyed_places::expanded_word;
use super::program_names::base;
use super::simple_command::leads_out;
use super::word::Word;
use crate::permission::Domain;

/// Maximum number of words before the name of a program for containers.
const MAX_BEFORE_CONTAINER: usize = 4;

/// Programs that run a command in a container.
const CONTAINERS: [&str; 8] = [
    "docker",
    "docker-compose",
    "podman",
    "nerdctl",
    "buildah",
    "singularity",
    "apptainer",
    "finch",
];

/// Returns true for a program that runs commands in containers, or copies into them and out of them.
pub(super) fn has_containers(base: &str) -> bool {
    CONTAINERS.contains(&base)
        || matches!(base, "podman-compose" | "kubectl" | "oc" | "lxc" | "incus")
}

/// Commands that store a file of the machine, and the word that follows them; none if any does.
const STORE: [(&str, &str); 7] = [
    ("secret", "create"),
    ("config", "create"),
    ("plugin", "create"),
    ("trust", "key"),
    ("copy", ""),
    ("add", ""),
    ("push", ""),
];

impl Walker<'_> {
    /// Adds the files outside that a command stores or sends, or to which it writes an image.
    fn stored_files(&mut self, words: &[Word], command: &mut AnalyzedCommand) {
        let operands: Vec<&Word> =
            words.iter().skip(1).filter(|word| !word.text.starts_with('-')).collect();
        let [first, second, rest @ ..] = operands.as_slice() else { return };
        let is_stored = STORE
            .iter()
            .any(|(name, next)| first.text == *name && (next.is_empty() || second.text == *next));
        for word in std::iter::once(second).chain(rest).filter(|_| is_stored) {
            self.reaches(word, &word.text, command);
        }
    }

    /// Adds the files outside that a container is given, and those that are copied into it or out of it.
    pub(super) fn shared_files(
        &mut self,
        base: &str,
        words: &[Word],
        command: &mut AnalyzedCommand,
    ) {
        if !has_containers(base) {
            return;
        }
        for (of_machine, _) in mounts_of(words) {
            if leads_out(of_machine) {
                self.value_of(Domain::Read, &Word::plain(of_machine), of_machine, command);
            }
        }
        self.stored_files(words, command);
        let mut operands = words.iter().skip(1).filter(|word| !word.text.starts_with('-'));
        if !operands.by_ref().take(2).any(|word| word.text == "cp") {
            return;
        }
        // The other one is in the container: `name:path`.
        let is_local = |word: &&Word| !word.text.contains(':') && word.text != "cp";
        let last = words.last();
        for word in words.iter().skip(1).filter(|word| !word.text.starts_with('-')).filter(is_local)
        {
            let domain = if last.is_some_and(|last| std::ptr::eq(last, word)) {
                Domain::Edit
            } else {
                Domain::Read
            };
            if domain == Domain::Edit || leads_out(&word.text) {
                self.value_of(domain, word, &word.text, command);
            }
        }
    }
}

/// Returns true if a command is one for a container, perhaps behind others that run it.
pub(super) fn names_container(words: &[Word]) -> bool {
    let mut first = words.iter().take(MAX_BEFORE_CONTAINER).map(|word| base(&word.text));
    first.any(|name| CONTAINERS.contains(&&*name))
}

/// Returns the words of a command for a container with the paths that they have on the machine, if it mounts some, and the
/// working directory.
pub(super) fn with_paths_of_machine(words: &[Word]) -> Option<(Vec<Word>, Option<String>)> {
    if !names_container(words) {
        return None;
    }
    let mounts = mounts_of(words);
    if mounts.is_empty() {
        return None;
    }
    let outside =
        |text: &str| mounts.iter().fold(text.to_owned(), |text, mount| on_machine(&text, *mount));
    let mut made = Vec::new();
    let mut folder = None;
    let mut before = "";
    for word in words {
        let text = word.text.as_str();
        let value = text.split_once('=').filter(|(name, _)| name.starts_with("--"));
        if matches!(before, "-w" | "--workdir") {
            folder = Some(outside(text));
        }
        match value {
            Some(("--workdir", value)) => folder = Some(outside(value)),
            // The program precedes its arguments.
            Some(("--entrypoint", value)) => made.push(expanded_word(value)),
            _ => {}
        }
        made.push(expanded_word(&outside(text)));
        before = text;
    }
    Some((made, folder))
}

/// Returns the mounts of a container: the path on the machine, and inside.
pub(super) fn mounts_of(words: &[Word]) -> Vec<(&str, &str)> {
    // Nothing is inside an empty path.
    let mounts = words.iter().filter_map(|word| mount(&word.text));
    mounts.filter(|(_, inside)| !inside.is_empty()).collect()
}

/// Returns a text with the path on the machine in place of that of a mount.
pub(super) fn on_machine(text: &str, (of_machine, inside): (&str, &str)) -> String {
    let folder = of_machine.trim_end_matches('/');
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(inside) {
        made.push_str(before);
        let begins =
            !before.ends_with(|letter: char| letter.is_alphanumeric() || "/._-:".contains(letter));
        let ends =
            !after.starts_with(|letter: char| letter.is_alphanumeric() || "._-:".contains(letter));
        made.push_str(match begins && ends {
            // The root itself has no other name.
            true if folder.is_empty() && !after.starts_with('/') => "/",
            true => folder,
            false => inside,
        });
        rest = after;
    }
    made.push_str(rest);
    made
}

/// Returns the two paths of a mount: `-v /:/mnt`, `type=bind,source=/,target=/mnt`.
fn mount(text: &str) -> Option<(&str, &str)> {
    if text.contains("source=") || text.contains("src=") {
        let value = |names: &[&str]| {
            let named = |name: &&str| text.split(',').find_map(|part| part.split_once(*name));
            names.iter().find_map(named).map(|(_, value)| value)
        };
        return value(&["source=", "src="]).zip(value(&["target=", "destination=", "dst="]));
    }
    let text = text.rsplit_once('=').map_or(text, |(_, value)| value);
    let text = text.strip_prefix("-v").or_else(|| text.strip_prefix("-B")).unwrap_or(text);
    let (of_machine, inside) = text.split_once(':')?;
    let inside = inside.split(':').next().unwrap_or_default();
    (of_machine.starts_with(['/', '~', '.']) && inside.len() > 1 && inside.starts_with('/'))
        .then_some((of_machine, inside.trim_end_matches('/')))
}

/// Returns the texts of the words of a command for a container with the paths of the machine, and as they are inside.
pub(super) fn paths_of_machine(words: &[Word]) -> Vec<(String, &str)> {
    if !names_container(words) {
        return Vec::new();
    }
    let mounts = mounts_of(words);
    let outside =
        |text: &str| mounts.iter().fold(text.to_owned(), |text, mount| on_machine(&text, *mount));
    words
        .iter()
        .filter(|_| !mounts.is_empty())
        .map(|word| (outside(&word.text), word.text.as_str()))
        .collect()
}
