//! Commands that destroy the machine or all files of a user, in any spelling.
//!
//! Such a command gets a canonical text among its [other forms](super::Simple::others), which hard denies match. Words
//! with unknown values are expanded here as far as the command itself determines them (variables set in it, `$(echo
//! …)`, braces): a wrong guess can only add a denial of a canonical text, never allow anything.

use std::borrow::Cow;

use super::analyzer::Walker;
use super::decode;
use super::expand::{Expander, can_be_name};
use super::programs::{self, Kind};
use super::simple_command::SYSTEM_FOLDERS;
use super::word::Word;
use crate::permission::glob_overlap::can_meet;
use crate::permission::places::{Place, is_protected_file, protected, protected_folders};

/// Canonical texts, each of which a built-in hard deny matches.
pub(super) const REMOVES_ROOT: &str = "rm -rf /";
pub(super) const WRITES_DISK: &str = "mkfs /dev/sda";
pub(super) const WRITES_SYSTEM: &str = "truncate /etc/passwd";
const CHANGES_RIGHTS: &str = "chmod -R 777 /";
pub(super) const FORKS: &str = ":(){ :|:& };:";
const KILLS_ALL: &str = "kill -9 -1";
const STOPS_MACHINE: &str = "shutdown now";

const CANONICAL: [&str; 7] =
    [REMOVES_ROOT, WRITES_DISK, WRITES_SYSTEM, CHANGES_RIGHTS, FORKS, KILLS_ALL, STOPS_MACHINE];

/// Prefix of the entries among the variables for files that the command wrote.
pub(super) const WRITTEN: &str = "file ";

/// Maximum number of words at which the command of another program may begin.
const MAX_TAILS: usize = 16;

/// Programs that remove their arguments with everything in them.
const REMOVERS: &[&str] = &[
    "rm",
    "grm",
    "srm",
    "rimraf",
    "del",
    "del-cli",
    "trash",
    "trash-put",
    "wipe",
    "shred",
    "unlink",
    "truncate",
    "rmdir",
    "mv",
    "gmv",
    "erase",
    "rd",
];

/// Programs that create a file system, a partition or a volume on their argument.
const FORMATTERS: &[&str] = &[
    "mke2fs",
    "mkswap",
    "mkntfs",
    "mkdosfs",
    "mkexfatfs",
    "mkudffs",
    "mkreiserfs",
    "mkisofs",
    "pvcreate",
    "pvremove",
    "vgremove",
    "lvremove",
    "vgreduce",
    "blkdiscard",
    "nwipe",
    "scrub",
    "sg_format",
    "sg_sanitize",
];

/// Programs that do so only with one of these words, and on a disk.
const WITH_WORD: &[(&str, &[&str])] = &[
    ("wipefs", &["-a", "--all", "-o", "--offset", "-af", "-fa"]),
    (
        "hdparm",
        &[
            "--security-erase",
            "--security-erase-enhanced",
            "--trim-sector-ranges",
            "--write-sector",
            "--make-bad-sector",
            "--dco-restore",
            "--repair-sector",
        ],
    ),
    ("nvme", &["format", "sanitize", "write", "write-zeroes", "write-uncor", "dsm", "delete-ns"]),
    ("cryptsetup", &["luksFormat", "luksErase", "erase", "reencrypt", "format"]),
    ("mdadm", &["--create", "-C", "--zero-superblock", "--build", "-B"]),
    ("badblocks", &["-w", "-wsv", "-wv", "-ws", "-svw", "-n"]),
    ("debugfs", &["-w"]),
    ("partclone.restore", &["-s"]),
    ("gpart", &["destroy", "create", "delete"]),
    ("gpt", &["destroy", "create", "remove"]),
];

/// Programs that destroy what they name with one of these words, whatever the name is.
const POOLS: &[(&str, &[&str])] = &[
    ("zpool", &["destroy", "labelclear"]),
    ("zfs", &["destroy"]),
    (
        "diskutil",
        &[
            "erasedisk",
            "erasevolume",
            "partitiondisk",
            "zerodisk",
            "randomdisk",
            "secureerase",
            "reformat",
            "deletecontainer",
            "deletevolume",
        ],
    ),
];

/// Partition editors, which only read with these words.
const PARTITIONERS: &[&str] = &["fdisk", "sfdisk", "cfdisk", "gdisk", "sgdisk", "cgdisk", "parted"];
const LOOKS: &[&str] = &[
    "-l",
    "--list",
    "-d",
    "--dump",
    "-J",
    "--json",
    "-V",
    "--verify",
    "-p",
    "--print",
    "-i",
    "--info",
    "-v",
    "--version",
    "-s",
    "--show-size",
    "-g",
    "--show-geometry",
    "-x",
    "-lu",
    "-ul",
    "--list-free",
    "-F",
    "print",
    "p",
    "-h",
    "--help",
];
const PART_VERBS: &[&str] = &[
    "mklabel",
    "mktable",
    "mkpart",
    "mkpartfs",
    "mkfs",
    "rm",
    "resizepart",
    "resize",
    "rescue",
    "name",
    "set",
    "toggle",
    "disk_set",
    "-o",
    "-Z",
    "--zap-all",
    "--zap",
    "-n",
    "--new",
    "-t",
    "--typecode",
    "--delete",
    "--clear",
    "-R",
    "-z",
];

/// Programs that write to their last argument.
const IMAGERS: &[&str] = &[
    "ddrescue",
    "e2image",
    "qemu-img",
    "nbdcopy",
    "bmaptool",
    "asr",
    "partclone.dd",
    "xorriso",
    "dcfldd",
    "dc3dd",
];

/// Programs that change permissions.
const RIGHTS: &[&str] = &["chmod", "chown", "chgrp", "setfacl", "chattr", "chflags", "icacls"];

/// Shells, which run their input.
const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "ash", "rbash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "busybox",
    "toybox", "source", ".", "parallel", "at", "crontab", "batch", "xargs", "gxargs", "pwsh", "nu",
];

/// Programs that run their arguments on this machine and outside of any container.
const LOCAL_WRAPPERS: &[&str] = &[
    "sudo",
    "doas",
    "nohup",
    "timeout",
    "gtimeout",
    "nice",
    "ionice",
    "env",
    "setsid",
    "time",
    "command",
    "exec",
    "builtin",
    "stdbuf",
    "chronic",
    "run0",
    "pkexec",
    "busybox",
    "toybox",
    "systemd-run",
    "xargs",
];

/// Calls of other languages that remove a directory.
const REMOVING_CALLS: &[&str] = &[
    "rmtree(",
    "rmSync(",
    "rmdirSync(",
    "rm_rf(",
    "rm_r(",
    "rm_rf ",
    "remove_entry(",
    "remove_tree(",
    "rmtree ",
    "rimraf(",
    "remove_dir_all(",
    "removeSync(",
    "emptyDirSync(",
    ".rm(",
    "Remove-Item ",
    "deltree(",
    "unlink glob",
];

/// Returns the name of a program without its directory.
fn base(text: &str) -> Cow<'_, str> {
    let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
    if !name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Borrowed(name.strip_suffix(".exe").unwrap_or(name));
    }
    let mut name = name.to_ascii_lowercase();
    let end = name.strip_suffix(".exe").map_or(name.len(), str::len);
    name.truncate(end);
    Cow::Owned(name)
}

impl Walker<'_> {
    /// Returns the canonical texts of what a command destroys. `read` are the texts of its input.
    pub(super) fn destroys(&mut self, words: &[Word], read: &[String]) -> Vec<String> {
        let words = self.expanded(words);
        // A wrapper can run its command in another folder.
        let name = words.first().map(|word| base(&word.text)).unwrap_or_default();
        if !LOCAL_WRAPPERS.contains(&&*name) && name != "parallel" {
            return self.destroys_here(&words, read);
        }
        let own = words.iter().skip(1).take(MAX_TAILS).cloned().collect::<Vec<_>>();
        let folders = self.folders_among(&own, 0);
        let outer = self.places.clone();
        for folder in folders {
            let place = outer.first().map_or("/", |place| place.as_str());
            self.places.extend(self.folders.absolute(&folder, place));
        }
        let found = self.destroys_here(&words, read);
        self.places = outer;
        found
    }

    fn destroys_here(&mut self, words: &[Word], read: &[String]) -> Vec<String> {
        let Some(name) = words.first() else { return Vec::new() };
        let mut found = Vec::new();
        let base = &*base(&name.text);
        let program = programs::find(base);
        let kind = program.map(|program| program.kind);
        let folder = name.text.rsplit_once('/').map_or("", |(folder, _)| folder);
        let is_itself = folder.is_empty() || SYSTEM_FOLDERS.contains(&folder);
        let is_local = is_itself && LOCAL_WRAPPERS.contains(&base);
        found.extend(self.destroys_by(base, words, is_itself));
        found.extend(self.function_destroys(&name.text));
        let is_shell = SHELLS.contains(&base);
        // Programs of these kinds run none of their words.
        let runs = is_shell
            || !name.known
            || match kind {
                None => !matches!(base, "man" | "info"),
                Some(Kind::Code | Kind::Runner) => true,
                _ => matches!(base, "eval" | "trap" | "alias"),
            };
        if name.known && name.glob && name.text.contains(['*', '?', '[']) {
            for known in REMOVERS.iter().chain(&["dd", "mkfs"]).chain(RIGHTS) {
                let last = name.text.rsplit('/').next().unwrap_or_default();
                if can_be_name(last, known) {
                    found.extend(self.destroys_by(known, words, false));
                }
            }
        }
        if runs {
            for at in 1..words.len().min(MAX_TAILS) {
                let inner = self::base(&words[at].text);
                found.extend(self.destroys_by(&inner, &words[at..], is_local));
            }
            let mut inner: Vec<String> =
                words[1..].iter().flat_map(|word| commands_in(&word.text)).collect();
            if base == "eval" {
                let all: Vec<&str> = words[1..].iter().map(|word| word.text.as_str()).collect();
                inner.push(all.join(" "));
            } else if words[0].text.contains(' ') || !name.known {
                inner.push(
                    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "),
                );
            }
            if kind == Some(Kind::Code) || kind == Some(Kind::Runner) {
                for word in words.iter().skip(1).take(MAX_TAILS) {
                    found.extend(self.code_destroys(&word.text));
                    for text in decoded_parts(&word.text) {
                        found.extend(self.text_destroys(&text));
                    }
                }
            }
            for text in inner.iter().take(MAX_TAILS) {
                found.extend(self.text_destroys(text));
            }
        }
        if matches!(kind, Some(Kind::Awk | Kind::Sed | Kind::Git)) {
            // Messages and patterns are not run; these are.
            let is_run = |text: &&str| kind != Some(Kind::Git) || text.contains("=!");
            let texts: Vec<&str> =
                words[1..].iter().map(|word| word.text.as_str()).filter(is_run).collect();
            for text in texts.into_iter().flat_map(commands_in).take(MAX_TAILS) {
                found.extend(self.text_destroys(&text));
            }
        }
        if is_shell || words.len() == 1 {
            let written: Vec<String> = words
                .iter()
                .filter_map(|word| {
                    self.variables.iter().rev().find(|(name, _)| is_script(name, &word.text))
                })
                .map(|(_, text)| text.clone())
                .collect();
            for text in written {
                found.extend(self.text_destroys(&text));
            }
        }
        let reads = is_shell
            || base == "ssh"
            || (runs && words.iter().any(|word| SHELLS.contains(&&*self::base(&word.text))));
        if reads {
            let piped = self.piped.clone();
            for text in read.iter().chain(&piped) {
                // In an unquoted document a backslash protects a dollar from the outer shell.
                let text = text.replace("\\$", "$");
                // A crontab begins with the times.
                let command = if base == "crontab" {
                    text.split_whitespace().skip(5).collect::<Vec<_>>().join(" ")
                } else {
                    text
                };
                found.extend(self.text_destroys(&command));
            }
            found.extend(self.xargs_destroys(words, read));
        } else if is_code_from_input(program, words) {
            let piped = self.piped.clone();
            for text in read.iter().chain(&piped) {
                found.extend(self.code_runs(text));
            }
        } else if !read.is_empty()
            && !matches!(
                kind,
                Some(Kind::Inert | Kind::Reader | Kind::Grep | Kind::Writer | Kind::Git)
            )
        {
            for text in read {
                found.extend(self.text_destroys(text));
            }
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(str::to_owned).collect()
    }

    /// Returns the targets that code of another language destroys, by its calls and by the commands in its strings.
    fn code_runs(&mut self, text: &str) -> Vec<&'static str> {
        let mut found: Vec<&'static str> = self.code_destroys(text).into_iter().collect();
        let texts = commands_in(text).into_iter().chain(decoded_parts(text));
        for text in texts.take(MAX_TAILS) {
            found.extend(self.text_destroys(&text));
        }
        found
    }

    /// Returns what a function that was defined before destroys where it is called.
    fn function_destroys(&mut self, name: &str) -> Vec<&'static str> {
        let Some(at) = self.functions.iter().position(|function| function.fname.value == name)
        else {
            return Vec::new();
        };
        // A recursive function is read once.
        let function = self.functions.swap_remove(at);
        let text = function.body.0.to_string();
        self.text_destroys(&text)
    }

    /// Returns what `xargs` destroys with its words and its input.
    fn xargs_destroys(&mut self, words: &[Word], read: &[String]) -> Vec<&'static str> {
        let at = words
            .iter()
            .position(|word| matches!(&*base(&word.text), "xargs" | "gxargs" | "parallel"));
        let Some(at) = at else { return Vec::new() };
        let texts: Vec<String> = read.iter().chain(&self.piped).cloned().collect();
        let mut found = Vec::new();
        for text in texts {
            let given: Vec<Word> = text
                .split(|letter: char| letter.is_whitespace() || letter == '\0')
                .filter(|part| !part.is_empty())
                .take(64)
                .map(|part| expanded_word(part.trim_matches(['"', '\''])))
                .collect();
            let joined = given.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            for start in at + 1..words.len().min(at + MAX_TAILS) {
                let inner = base(&words[start].text);
                let mut all: Vec<Word> = words[start..].to_vec();
                for word in &mut all {
                    if word.text.contains("{}") {
                        word.text = word.text.replace("{}", &joined);
                    } else if word.text == "%" {
                        word.text.clone_from(&joined);
                    }
                    word.glob |= word.text.contains('*');
                }
                let inner_texts: Vec<String> = all
                    .iter()
                    .filter(|word| word.text.contains(' '))
                    .map(|word| word.text.clone())
                    .collect();
                all.extend(given.iter().cloned());
                found.extend(self.destroys_by(&inner, &all, false));
                for text in inner_texts {
                    found.extend(self.text_destroys(&text));
                }
            }
        }
        found
    }

    /// Returns what a text for a shell destroys.
    pub(super) fn text_destroys(&mut self, text: &str) -> Vec<&'static str> {
        let may = [
            "rm", "mv", "dd", "mk", "ch", "/dev/", "/etc/", "/boot", "&", "kill", "wipe", "del",
            "disk", "part", "shred", "shutdown", "boot", "poweroff", "halt", "$", "eval", "find",
            "tr", "sysrq",
        ];
        if !may.iter().any(|part| text.contains(part)) {
            return Vec::new();
        }
        let Some(mut inner) = self.shadow(text) else { return Vec::new() };
        inner.source(text);
        let reading = self.end_shadow(inner);
        let mut found = Vec::new();
        for other in reading.commands.iter().flat_map(|one| one.others.iter().chain([&one.text])) {
            found.extend(CANONICAL.iter().find(|known| *known == other).copied());
        }
        for file in
            reading.files.iter().filter(|file| file.domain == crate::permission::Domain::Edit)
        {
            if let Some(place) = is_protected_file(&file.path) {
                found.push(if place == Place::Disk { WRITES_DISK } else { WRITES_SYSTEM });
            }
        }
        if found.is_empty() {
            // Text that no shell reads.
            found.extend(self.code_destroys(text));
        }
        found
    }

    /// Returns what a text in another language destroys, by the names of its calls.
    fn code_destroys(&self, text: &str) -> Option<&'static str> {
        if !text.contains(['(', ' ']) {
            return None;
        }
        let forks = text.contains("fork")
            && ["while", "loop", "for ", "for(", "until"].iter().any(|word| text.contains(word));
        if forks && !text.contains("git") {
            return Some(FORKS);
        }
        let quoted = || {
            text.split(['"', '\'', '`', ',', '(', ')', ' '])
                .filter(|part| part.starts_with(['/', '~']))
        };
        if REMOVING_CALLS.iter().any(|call| text.contains(call)) {
            let is_it = |path: &str| self.place(path, path.contains('*'), true).is_some();
            if quoted().any(is_it) {
                return Some(REMOVES_ROOT);
            }
        }
        let writes = [
            "'w", "\"w", "write", "'r+", "\"r+", "'a", "\">", "'>", "copyfile", "copyFile",
            "truncate",
        ]
        .iter()
        .any(|way| text.contains(way));
        let place = quoted().find_map(is_protected_file).filter(|_| writes)?;
        Some(if place == Place::Disk { WRITES_DISK } else { WRITES_SYSTEM })
    }

    /// Returns what one program destroys with its arguments, which begin at the second word.
    fn destroys_by(&self, base: &str, words: &[Word], is_first: bool) -> Option<&'static str> {
        let rest = words.get(1..).unwrap_or_default();
        let has = |names: &[&str]| rest.iter().any(|word| names.contains(&word.text.as_str()));
        let operands =
            || rest.iter().filter(|word| !word.text.starts_with(['-', '+']) || word.text.len() < 2);
        let is_disk = |word: &Word| self.disk(word);
        let on_disk = || operands().any(is_disk);
        let unknown = || rest.iter().any(|word| !word.known);
        // Another file can have the name of a program.
        let base = if base.starts_with("mkfs.")
            || base.starts_with("newfs")
            || base == "mkfs"
            || base.starts_with("mkfs_")
        {
            "mke2fs"
        } else {
            base
        };
        if has(&["--help", "--version", "-V"]) && base != "sfdisk" {
            return None;
        }
        if REMOVERS.contains(&base) {
            return self
                .removes(base, rest)
                .then_some(REMOVES_ROOT)
                .or_else(|| self.writes(operands()));
        }
        if FORMATTERS.contains(&base) {
            let is_volume =
                matches!(base, "vgremove" | "lvremove" | "vgreduce") && operands().next().is_some();
            return (is_volume || on_disk() || unknown()).then_some(WRITES_DISK);
        }
        if let Some((_, verbs)) = WITH_WORD.iter().find(|(name, _)| *name == base) {
            let does = rest.iter().any(|word| {
                verbs.iter().any(|verb| {
                    word.text == *verb
                        || (verb.starts_with("--") && word.text.starts_with(&format!("{verb}=")))
                })
            });
            return (does && (on_disk() || unknown())).then_some(WRITES_DISK);
        }
        if let Some((_, verbs)) = POOLS.iter().find(|(name, _)| *name == base) {
            let does =
                rest.iter().any(|word| verbs.contains(&word.text.to_ascii_lowercase().as_str()));
            return (does && operands().count() > 1).then_some(WRITES_DISK);
        }
        if PARTITIONERS.contains(&base) {
            let looks = has(LOOKS)
                && !(base == "parted" && has(PART_VERBS))
                && !has(&["--zap-all", "-Z", "-o", "--delete", "-n", "--new"]);
            return (!looks && (on_disk() || unknown())).then_some(WRITES_DISK);
        }
        if IMAGERS.contains(&base) {
            let last = rest.last().is_some_and(is_disk) && operands().count() > 1;
            let named = rest.iter().any(|word| {
                word.text.split_once("of=").is_some_and(|(_, path)| self.disk(&expanded_word(path)))
            });
            return (last || named).then_some(WRITES_DISK);
        }
        if base == "dd" {
            let out = rest
                .iter()
                .filter_map(|word| word.text.strip_prefix("of="))
                .map(expanded_word)
                .collect::<Vec<_>>();
            return self.writes(out.iter());
        }
        if matches!(base, "cp" | "tee" | "install" | "ln" | "sponge" | "touch" | "gcp") {
            return match base {
                "tee" | "sponge" => self.writes(operands()),
                _ => self.writes(rest.last().into_iter()),
            };
        }
        if RIGHTS.contains(&base) {
            return self.changes_rights(base, rest).then_some(CHANGES_RIGHTS);
        }
        match base {
            "rsync" => {
                let deletes = rest.iter().any(|word| {
                    word.text.starts_with("--del") || word.text == "--remove-source-files"
                });
                let is_end = |word: &&Word| self.any_place(word).is_some();
                (deletes && operands().any(|word| is_end(&word))).then_some(REMOVES_ROOT)
            }
            "tar" | "zip" | "7z" => {
                let removes = has(&["--remove-files", "-m", "--move", "-sdel"])
                    && (base != "tar" || has(&["--remove-files"]));
                (removes && operands().any(|word| self.any_place(word).is_some()))
                    .then_some(REMOVES_ROOT)
            }
            "git" => {
                let cleans = has(&["clean"])
                    && rest
                        .iter()
                        .any(|word| word.text.starts_with('-') && word.text.contains('f'));
                let at = |path: &str| self.place(path, false, true).is_some();
                let elsewhere =
                    rest.windows(2).any(|pair| pair[0].text == "-C" && at(&pair[1].text));
                (cleans
                    && !has(&["-n", "--dry-run"])
                    && (elsewhere || self.places.iter().any(|place| at(place))))
                .then_some(REMOVES_ROOT)
            }
            "find" | "gfind" | "fd" | "fdfind" => self
                .finds_and_removes(base, rest)
                .then_some(REMOVES_ROOT)
                .or_else(|| self.finds_and_changes(rest).then_some(CHANGES_RIGHTS)),
            "kill" if is_first => {
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
            "userdel" | "deluser" => {
                operands().any(|word| word.text == "root").then_some(WRITES_SYSTEM)
            }
            "killall5" => is_first.then_some(KILLS_ALL),
            "pkill" if is_first => {
                let all = operands()
                    .any(|word| matches!(word.text.as_str(), "." | ".*" | "" | "^" | "*"));
                all.then_some(KILLS_ALL)
            }
            "shutdown" => {
                let only_tells = has(&["-c", "-k", "--show"]);
                (is_first && !only_tells).then_some(STOPS_MACHINE)
            }
            "reboot" | "halt" | "poweroff" => is_first.then_some(STOPS_MACHINE),
            "init" | "telinit" => (is_first
                && rest.len() == 1
                && matches!(rest[0].text.as_str(), "0" | "6" | "1" | "s" | "S"))
            .then_some(STOPS_MACHINE),
            "systemctl" => {
                let stops =
                    ["poweroff", "reboot", "halt", "kexec", "emergency", "rescue", "soft-reboot"];
                (is_first
                    && operands().next().is_some_and(|word| stops.contains(&word.text.as_str())))
                .then_some(STOPS_MACHINE)
            }
            _ => None,
        }
    }

    /// Returns what writing to a file destroys whose name is unknown.
    pub(super) fn destroys_file(&mut self, word: &Word) -> Option<&'static str> {
        let words = self.expanded(std::slice::from_ref(word));
        self.writes(words.iter().filter(|word| word.known))
    }

    fn disk(&self, word: &Word) -> bool {
        self.file_places(word).contains(&Place::Disk)
    }

    /// Returns what a command destroys by writing to files.
    fn writes<'w>(&self, mut words: impl Iterator<Item = &'w Word>) -> Option<&'static str> {
        words.find_map(|word| {
            let place = self.file_places(word).into_iter().next()?;
            Some(if place == Place::Disk { WRITES_DISK } else { WRITES_SYSTEM })
        })
    }

    fn file_places(&self, word: &Word) -> Vec<Place> {
        let root = [String::from("/")];
        let text = word.text.as_str();
        if text.is_empty() || text.starts_with('-') {
            return Vec::new();
        }
        let places = if text.starts_with(['/', '~']) { &root[..] } else { &self.places[..] };
        places
            .iter()
            .filter_map(|place| is_protected_file(&self.folders.absolute(text, place)?))
            .collect()
    }

    /// Returns true if a program that removes its arguments is given a protected place.
    fn removes(&self, base: &str, rest: &[Word]) -> bool {
        let needs_recursion = matches!(
            base,
            "rm" | "grm" | "srm" | "rmdir" | "unlink" | "shred" | "truncate" | "wipe"
        );
        let is_recursive = !needs_recursion
            || rest.iter().any(|word| match word.text.strip_prefix("--") {
                Some(long) => {
                    !long.is_empty() && "recursive".starts_with(long) || long == "no-preserve-root"
                }
                None => word.text.starts_with('-') && word.text.contains(['r', 'R']),
            })
            || rest.iter().any(|word| !word.known && !word.text.starts_with(['/', '"']));
        let operands: Vec<&Word> = rest.iter().filter(|word| !word.text.starts_with('-')).collect();
        // The last one is the destination of a move.
        let moves = matches!(base, "mv" | "gmv")
            && !rest.iter().any(|word| word.text.starts_with("-t") || word.text.starts_with("--t"));
        let count = operands.len() - usize::from(moves && !operands.is_empty());
        operands[..count].iter().any(|word| match self.any_place(word) {
            Some((_, is_all_in_it)) => is_recursive || is_all_in_it,
            None => false,
        })
    }

    fn changes_rights(&self, base: &str, rest: &[Word]) -> bool {
        let is_recursive = rest.iter().any(|word| match word.text.strip_prefix("--") {
            Some(long) => !long.is_empty() && "recursive".starts_with(long),
            None => {
                word.text.starts_with('-') && word.text.contains('R')
                    || word.text.eq_ignore_ascii_case("/t")
            }
        });
        let mode = rest
            .iter()
            .find(|word| !word.text.starts_with('-') || word.text == "-x")
            .map_or("", |word| word.text.as_str());
        let takes_all = !mode.is_empty() && mode.bytes().all(|byte| byte == b'0')
            || mode.starts_with("a-")
            || mode.starts_with("ugo-")
            || mode.starts_with("-x")
            || mode == "a="
            || mode.starts_with("-rwx");
        let gives_all = mode.ends_with("777") || mode.starts_with("a+rwx") || mode == "a=rwx";
        let is_minus = |word: &&Word| {
            let letters = word.text.strip_prefix('-').unwrap_or_default();
            !letters.is_empty() && letters.bytes().all(|byte| b"rwxXst".contains(&byte))
        };
        let first_file = usize::from(base != "chattr" && !rest.iter().any(|word| is_minus(&word)));
        let files = rest.iter().filter(|word| !word.text.starts_with('-')).skip(first_file);
        let files: Vec<&Word> = files.collect();
        let by_reference = rest.iter().any(|word| word.text.starts_with("--reference"));
        let all = rest.iter().filter(|word| by_reference && !word.text.starts_with('-'));
        files.into_iter().chain(all).any(|word| match self.any_place(word) {
            Some((Place::Root | Place::System | Place::Homes, is_all_in_it)) => {
                is_recursive || is_all_in_it || (base == "chmod" && takes_all)
            }
            Some((Place::Home, is_all_in_it)) => {
                base == "chmod" && (takes_all || (gives_all && (is_recursive || is_all_in_it)))
            }
            _ => false,
        }) || (base == "chmod"
            && rest.iter().skip(1).any(|word| takes_all && !self.file_places(word).is_empty()))
    }

    /// Returns true if `find` removes everything in a protected place.
    fn finds_and_removes(&self, base: &str, rest: &[Word]) -> bool {
        let is_fd = base.starts_with("fd");
        let runs = |word: &Word| {
            matches!(
                word.text.as_str(),
                "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch"
            )
        };
        let removes = rest.iter().any(|word| word.text == "-delete")
            || rest.iter().enumerate().any(|(at, word)| {
                runs(word)
                    && rest[at + 1..].iter().take(MAX_TAILS).any(|word| {
                        let name = self::base(&word.text);
                        REMOVERS.contains(&&*name) || word.text.contains("rm ")
                    })
            });
        if !removes {
            return false;
        }
        let selects = selects(rest);
        let end = rest.iter().position(runs).unwrap_or(rest.len());
        let roots = rest[..end].iter().take_while(|word| {
            is_fd
                || !word.text.starts_with(['(', '!'])
                    && (!word.text.starts_with('-') || word.text.len() == 2)
        });
        let mut roots: Vec<&Word> = roots.filter(|word| !word.text.starts_with('-')).collect();
        let here = Word::plain(".");
        if roots.is_empty() {
            roots.push(&here);
        }
        roots.into_iter().any(|root| match self.any_place(root) {
            Some((Place::Root, _)) => true,
            Some(_) => !selects,
            None => false,
        })
    }

    /// Returns true if `find` changes permissions of everything in a protected place.
    fn finds_and_changes(&self, rest: &[Word]) -> bool {
        let Some(at) = rest
            .iter()
            .position(|word| word.text.starts_with("-exec") || word.text.starts_with("-ok"))
        else {
            return false;
        };
        let inner = base(rest.get(at + 1).map_or("", |word| word.text.as_str()));
        if !RIGHTS.contains(&&*inner) || selects(rest) {
            return false;
        }
        let given = |word: &Word| match word.text.as_str() {
            "{}" => expanded_word(&format!("{}/*", rest[0].text.trim_end_matches('/'))),
            _ => word.clone(),
        };
        let words: Vec<Word> = rest[at + 2..].iter().map(given).collect();
        self.changes_rights(&inner, &words)
    }

    /// Returns the protected place that a word denotes, and whether it denotes only its content.
    pub(super) fn any_place(&self, word: &Word) -> Option<(Place, bool)> {
        self.place(&word.text, word.glob, word.tilde || !word.known)
    }

    fn place(&self, text: &str, glob: bool, tilde: bool) -> Option<(Place, bool)> {
        let (above, last) = text
            .trim_end_matches('/')
            .rsplit_once('/')
            .unwrap_or((".", text.trim_end_matches('/')));
        let is_all = glob && stands_for_all(last);
        let folder = match is_all {
            true if above.is_empty() => "/",
            true => above,
            false => text,
        };
        if folder.starts_with('~') {
            if !tilde {
                return None;
            }
            let name = folder.trim_end_matches('/');
            // The home directory of any user.
            if name.len() == 1
                || !name.contains('/')
                    && name[1..]
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
            {
                return Some((Place::Home, is_all));
            }
        }
        let root = [String::from("/")];
        let places = if folder.starts_with(['/', '~']) { &root[..] } else { &self.places[..] };
        places.iter().find_map(|place| {
            let path = self.folders.absolute(folder, place)?;
            if let Some(found) = protected(&path, self.folders) {
                return Some((found, is_all));
            }
            (glob && path.contains(['*', '?', '[']))
                .then(|| {
                    protected_folders(self.folders).find(|(known, _)| can_meet(&path, false, known))
                })
                .flatten()
                .map(|(_, place)| (place, is_all))
        })
    }

    /// Expands words by the known values, possibly to more words.
    pub(super) fn expanded<'w>(&mut self, words: &'w [Word]) -> Cow<'w, [Word]> {
        if words.iter().all(|word| word.known) {
            return Cow::Borrowed(words);
        }
        let mut all = Vec::new();
        for word in words {
            if word.known {
                all.push(word.clone());
                continue;
            }
            let texts = Expander::new(self).texts(&word.text);
            if texts.is_empty() {
                all.push(word.clone());
            }
            for text in texts {
                let is_quoted = word.text.starts_with('"');
                if !is_quoted || word.text.contains("[@]") || word.text.contains("$@") {
                    all.extend(text.split_whitespace().map(expanded_word));
                } else {
                    all.push(expanded_word(&text));
                }
            }
        }
        Cow::Owned(all)
    }
}

/// Returns the commands that a word may contain: itself, the value of an option, quoted text, and the text after `!` or
/// `e`.
fn commands_in(text: &str) -> Vec<String> {
    if !text.contains([' ', ';', '(', '\n', '|']) {
        return Vec::new();
    }
    let mut found = vec![text.to_owned()];
    for separator in ["=", "!", "e "] {
        found.extend(
            text.split_once(separator).map(|(_, rest)| rest.trim_start_matches('!').to_owned()),
        );
    }
    found.extend(text.match_indices('=').take(4).map(|(at, _)| text[at + 1..].to_owned()));
    for quote in ['"', '\'', '`'] {
        found.extend(text.split(quote).skip(1).step_by(2).map(str::to_owned));
    }
    found.retain(|text| text.contains([' ', '{', '>']));
    found.dedup();
    found
}

/// Returns true if a program reads code from its input.
fn is_code_from_input(program: Option<&programs::Program>, words: &[Word]) -> bool {
    let is_language = program.is_some_and(|program| program.script || program.stdin);
    // With a script, it is only what the script reads.
    let is_script = |word: &Word| !word.text.starts_with('-') && word.text != "/dev/stdin";
    is_language && !words.iter().skip(1).any(is_script)
}

/// The texts that stand encoded in a text.
fn decoded_parts(text: &str) -> Vec<String> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "+/=_-".contains(letter);
    let parts = text.split(|letter: char| !is_letter(letter)).filter(|part| part.len() >= 8);
    let decoded =
        parts.take(MAX_TAILS).filter_map(|part| decode::base64(part).or_else(|| decode::hex(part)));
    decoded.collect()
}

/// Returns true if a file that the command wrote is the one that runs.
fn is_script(name: &str, path: &str) -> bool {
    name.strip_prefix(WRITTEN)
        .is_some_and(|name| name.trim_start_matches("./") == path.trim_start_matches("./"))
}

/// Returns true if tests of `find` select only some of the files.
pub(super) fn selects(words: &[Word]) -> bool {
    words.windows(2).any(|pair| {
        let names = matches!(
            pair[0].text.as_str(),
            "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-regex" | "-iregex"
        );
        (names && !pair[1].text.trim_matches(['*', '.', '/']).is_empty())
            || matches!(
                pair[0].text.as_str(),
                "-mtime"
                    | "-atime"
                    | "-ctime"
                    | "-mmin"
                    | "-amin"
                    | "-newer"
                    | "-inum"
                    | "-empty"
                    | "-samefile"
                    | "-size"
                    | "-user"
                    | "-nouser"
                    | "-e"
                    | "--extension"
                    | "-xtype"
            )
    })
}

/// Returns a word as a shell expands it.
pub(super) fn expanded_word(text: &str) -> Word {
    Word {
        text: text.to_owned(),
        told: text.to_owned(),
        known: true,
        glob: text.contains(['*', '?', '[']),
        tilde: text.starts_with('~'),
        ..Word::default()
    }
}

/// Returns true if a glob matches nearly every name: it has a star, and no literal character.
fn stands_for_all(glob: &str) -> bool {
    // With a leading dot it matches all hidden files.
    let glob = glob.strip_prefix('.').unwrap_or(glob);
    let mut rest = glob;
    while let Some((before, list)) = rest.split_once('[') {
        let end = list.find(']').map_or(list.len(), |end| end + 1);
        if !before.bytes().all(|byte| matches!(byte, b'*' | b'?')) {
            return false;
        }
        rest = &list[end..];
    }
    glob.contains('*') && rest.bytes().all(|byte| matches!(byte, b'*' | b'?'))
}
