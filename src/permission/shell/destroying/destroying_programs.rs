//! Programs that destroy the places in their arguments: they remove, format, overwrite or change the rights of a place that
//! contains all files of the machine or of a user.

use std::sync::LazyLock;

use super::copying_programs::copies_over;
use super::destroyed_places::expanded_word;
use super::destroyer_names::{
    COMPRESSORS, FIRMWARE, FORMATTERS, GLOBBERS, IMAGERS, KEEPING_COMPRESSORS, LINKS, OTHERS,
    PART_VERBS, PARTITIONER_READ_OPTIONS, PARTITIONERS, POOLS, PRETENDING, REMOVERS, REWRITERS,
    RIGHTS, SGDISK_READ_OPTIONS, UNPACKERS, WITH_WORD,
};
use super::destroying_commands::{CHANGES_RIGHTS, REMOVES_ROOT, WRITES_DISK, WRITES_SYSTEM};
use super::destroying_searches::is_search;
use super::ending_programs::is_sentence;
use super::essential_packages::{PACKAGE_MANAGERS, removes_essential};
use super::locking_commands::{LOCKS, locks_out};
use super::{disk_writers, windows_programs};
use crate::permission::places::Place;
use crate::permission::shell::analyzer::Walker;
use crate::permission::shell::files::edited_files::is_in_place;
use crate::permission::shell::word::Word;
use crate::util::hash::NameMap;
use crate::util::words::{has_word, names, row};

/// All of them: most commands are of none.
static NAMES: LazyLock<NameMap<()>> = LazyLock::new(|| {
    let lists =
        [REMOVERS, FORMATTERS, PARTITIONERS, IMAGERS, RIGHTS, COMPRESSORS, REWRITERS, OTHERS];
    let lists = lists.into_iter().flat_map(|list| list.split(' '));
    let tables = [WITH_WORD, FIRMWARE, POOLS, PACKAGE_MANAGERS].into_iter().flat_map(names);
    let others = disk_writers::names().chain(windows_programs::names());
    lists.chain(tables).chain(others).map(|name| (name, ())).collect()
});

/// Returns true if a command has one of these words.
pub(super) fn has_any(rest: &[Word], names: &str) -> bool {
    rest.iter().any(|word| has_word(names, &word.text))
}

/// Returns the words that do not begin as an option does.
pub(super) fn operands(rest: &[Word]) -> impl Iterator<Item = &Word> {
    rest.iter().filter(|word| !word.text.starts_with(['-', '+']) || word.text.len() < 2)
}

/// Returns true for a disk or a part of one that FreeBSD names without its folder: `ada0`, `da1p2`.
fn is_disk_of_bsd(text: &str) -> bool {
    const KINDS: &str = "ada da nda nvd vtbd mmcsd mfid aacd";
    let kind = text.find(|letter: char| letter.is_ascii_digit()).map(|at| text.split_at(at));
    kind.is_some_and(|(kind, rest)| {
        has_word(KINDS, kind)
            && rest.len() < 7
            && rest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'h' | b'p' | b's'))
    })
}

/// Returns true for a number, a file with the image of a disk, and a disk of FreeBSD in the memory, `md0`, which has its content from one.
fn is_image(text: &str) -> bool {
    const ENDS: &str = "img iso raw bin vmdk vhd qcow2 dd";
    let number = text.strip_prefix("md").unwrap_or(text);
    number.starts_with(|letter: char| letter.is_ascii_digit())
        || text.starts_with("./")
        || text.rsplit_once('.').is_some_and(|(_, end)| has_word(ENDS, end))
}

/// Returns true if a program removes `root`, or an account with its home folder.
fn removes_account(base: &str, rest: &[Word]) -> bool {
    let with_home = has_any(rest, "--remove --remove-home --remove-all-files")
        || (base == "userdel" && rest.iter().any(|word| word.has_letter('r')));
    let is_root = operands(rest).any(|word| word.text == "root");
    matches!(base, "userdel" | "deluser")
        && (is_root || (with_home && operands(rest).next().is_some()))
}

/// Returns true if a compressor removes the files that it compressed.
fn replaces_files(base: &str, rest: &[Word]) -> bool {
    let keeps = rest.iter().any(|word| {
        let letters = word.option_letters("STFMbop").0;
        letters.contains(['k', 'c', 'l', 't'])
            || has_word("--keep --stdout --to-stdout --test --list", &word.text)
    });
    let asks = row(KEEPING_COMPRESSORS, base);
    !keeps && asks.is_none_or(|options| has_any(rest, options))
}

/// Returns true if a program that rewrites others only reads them, or writes to a file of its own.
fn only_reads_program(rest: &[Word]) -> bool {
    rest.iter().any(|word| {
        word.text.starts_with("--print")
            || word.text.starts_with("--output")
            || word.text.starts_with("-o")
            || has_word("-l -t -d --list --test", &word.text)
    })
}

/// Returns true for the beginning of a command of `parted` that writes. One letter can be a unit.
fn is_part_verb(word: &Word) -> bool {
    let text = word.text.as_str();
    let is_long = text.len() > 1 || matches!(text, "n" | "t");
    is_long && PART_VERBS.split(' ').any(|verb| verb.starts_with(text))
}

/// Returns true if an option makes a program only say what it would do. Later words may be values of options.
fn only_pretends(base: &str, rest: &[Word]) -> bool {
    let mut parts = row(PRETENDING, base).unwrap_or_default().splitn(3, ' ');
    let (Some(letter), Some(others), Some(names)) = (parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let letters = |word: &Word| word.option_letters("").0.to_owned();
    let is_plain = |word: &&Word| {
        let letters = letters(word);
        let are_known = letters.chars().all(|own| letter.contains(own) || others.contains(own));
        word.known && (has_word(names, &word.text) || (!letters.is_empty() && are_known))
    };
    rest.iter().take_while(is_plain).any(|word| {
        letters(word).contains(letter) || matches!(word.text.as_str(), "--test" | "--no-act")
    })
}

impl Walker<'_> {
    /// Returns what one program destroys with its arguments, which begin at the second word.
    pub(super) fn destroys_by(
        &self,
        base: &str,
        words: &[Word],
        is_first: bool,
    ) -> Option<&'static str> {
        let rest = words.get(1..).unwrap_or_default();
        if only_pretends(base, rest) {
            return None;
        }
        // Another file can have the name of a program.
        let base = if base.starts_with("mkfs.")
            || base.starts_with("newfs")
            || base == "mkfs"
            || base.starts_with("mkfs_")
        {
            "mke2fs"
        } else if base.starts_with("qemu-system-") || matches!(base, "qemu-kvm" | "kvm") {
            "qemu-system"
        } else {
            base
        };
        let only_tells = |word: &Word| matches!(word.text.as_str(), "--help" | "--version" | "-V");
        if base != "sfdisk" && rest.iter().any(only_tells) || is_sentence(base, words) {
            return None;
        }
        let listed = || {
            windows_programs::destroys(base, rest, self.piped.as_deref())
                .or_else(|| self.written_by(base, rest))
                .or_else(|| self.output_destroys(base, rest))
                .or_else(|| self.destroys_listed(base, rest, is_first))
                .or_else(|| is_first.then(|| locks_out(base, rest)).flatten())
                .or_else(|| {
                    (is_first && self.unpacks_over_root(base, rest)).then_some(WRITES_SYSTEM)
                })
        };
        if NAMES.contains_key(base) || LOCKS.has(base) {
            return listed();
        }
        debug_assert_eq!(listed(), self.output_destroys(base, rest), "{base} is in no list");
        self.output_destroys(base, rest)
    }

    fn destroys_listed(&self, base: &str, rest: &[Word], is_first: bool) -> Option<&'static str> {
        self.removes_given(base, rest)
            .or_else(|| self.writes_disk(base, rest))
            .or_else(|| self.writes_named(base, rest))
            .or_else(|| self.edits_in_place(base, rest))
            .or_else(|| self.removes_content(base, rest))
            .or_else(|| {
                let changes = has_word(RIGHTS, base) && self.changes_rights(base, rest);
                changes.then_some(CHANGES_RIGHTS)
            })
            .or_else(|| {
                let removes =
                    is_first && (removes_essential(base, rest) || removes_account(base, rest));
                removes.then_some(WRITES_SYSTEM)
            })
            .or_else(|| is_first.then(|| self.ends_machine(base, rest)).flatten())
    }

    fn removes_given(&self, base: &str, rest: &[Word]) -> Option<&'static str> {
        if !has_word(REMOVERS, base) {
            return None;
        }
        self.removes(base, rest)
            .then_some(REMOVES_ROOT)
            .or_else(|| (base == "mv" && self.replaces_link(rest)).then_some(WRITES_SYSTEM))
            .or_else(|| self.writes(operands(rest)))
    }

    /// Returns what a program for disks, volumes or firmware destroys.
    fn writes_disk(&self, base: &str, rest: &[Word]) -> Option<&'static str> {
        let has = |names: &str| has_any(rest, names);
        let is_disk = |word: &Word| self.disk(word) || is_disk_of_bsd(&word.text);
        let may_be_disk = || operands(rest).any(is_disk) || rest.iter().any(|word| !word.known);
        let formats = || {
            let is_volume = matches!(base, "vgremove" | "lvremove" | "vgreduce" | "lvreduce")
                && operands(rest).next().is_some();
            has_word(FORMATTERS, base) && (is_volume || has("--autonuke") || may_be_disk())
        };
        let does = |verbs: &str| {
            rest.iter().any(|word| {
                verbs.split(' ').any(|verb| {
                    word.text == verb
                        || (base == "badblocks"
                            && verb.chars().nth(1).is_some_and(|letter| word.has_letter(letter)))
                        || (verb.starts_with("--") && word.text.starts_with(&format!("{verb}=")))
                })
            })
        };
        let is_verb = |verbs: &str, word: &Word| has_word(verbs, &word.text.to_ascii_lowercase());
        // Pools have any name; only their labels are on a disk or in a file.
        let are_names = base == "zfs" || (base == "zpool" && !has("labelclear"));
        let ends_pool = |verbs: &str| {
            let mut named = operands(rest).filter(|word| !is_verb(verbs, word));
            rest.iter().any(|word| is_verb(verbs, word))
                && named.any(|word| are_names || is_disk(word) || !is_image(&word.text))
        };
        let partitions = || {
            let only_reads = match base {
                "sgdisk" => rest.iter().all(|word| {
                    let name = word.text.split('=').next().unwrap_or_default();
                    !name.starts_with('-') || has_word(SGDISK_READ_OPTIONS, name)
                }),
                "parted" => has(PARTITIONER_READ_OPTIONS) && !operands(rest).any(is_part_verb),
                _ => has(PARTITIONER_READ_OPTIONS) && !has("--delete -o -n --new"),
            };
            has_word(PARTITIONERS, base) && !only_reads && may_be_disk()
        };
        let images = || {
            let last = operands(rest).last().is_some_and(is_disk) && operands(rest).count() > 1;
            let named = rest.iter().any(|word| {
                word.text.split_once("of=").is_some_and(|(_, path)| self.disk(&expanded_word(path)))
            });
            has_word(IMAGERS, base) && (last || named) && (base != "balena" || has("flash"))
        };
        let is_drive = |word: &Word| {
            let name = word.text.trim_end_matches(['\\', '/']);
            name.len() == 2 && name.ends_with(':')
        };
        (formats()
            || row(WITH_WORD, base).is_some_and(|verbs| does(verbs) && may_be_disk())
            || row(POOLS, base).is_some_and(ends_pool)
            || row(FIRMWARE, base)
                .is_some_and(|verbs| !rest.is_empty() && (verbs == "*" || has(verbs)))
            || self.shrinks(base, rest)
            || partitions()
            || images()
            || (base == "qemu-system" && self.gives_disk(rest))
            || (base == "format" && operands(rest).any(is_drive)))
        .then_some(WRITES_DISK)
    }

    /// Returns what a program destroys by writing to the files that it is given.
    fn writes_named(&self, base: &str, rest: &[Word]) -> Option<&'static str> {
        match base {
            "dd" => {
                let out = rest.iter().filter_map(|word| word.text.strip_prefix("of="));
                let out: Vec<Word> = out.map(expanded_word).collect();
                self.writes(out.iter())
            }
            "tee" | "sponge" => self.writes(operands(rest)),
            "ln" if self.replaces_link(rest) => Some(WRITES_SYSTEM),
            "cp" | "install" | "ln" | "touch" | "gcp" | "scp" => {
                self.writes(rest.last().into_iter())
            }
            _ => None,
        }
    }

    /// Returns what a program destroys that changes the files in its arguments, by commands from them or from its input.
    fn edits_in_place(&self, base: &str, rest: &[Word]) -> Option<&'static str> {
        let is_command = |word: &Word| {
            matches!(word.text.as_str(), "-c" | "-s" | "-S" | "-es" | "-Es" | "-sc")
                || (word.text.starts_with('+') && word.text.len() > 1)
        };
        let edits = match base {
            "ed" | "ex" | "patch" => true,
            "vi" | "vim" | "nvim" => rest.iter().any(is_command),
            "perl" | "ruby" | "sed" | "gsed" => rest.iter().any(|word| is_in_place(base, word)),
            "awk" | "gawk" => has_any(rest, "inplace"),
            // Its options have values, which it only reads.
            "patchelf" if !only_reads_program(rest) => return self.writes(rest.last().into_iter()),
            _ => has_word(REWRITERS, base) && !only_reads_program(rest),
        };
        edits.then(|| self.writes(operands(rest))).flatten()
    }

    /// Returns what a program destroys that removes what is in a folder beside its other work.
    fn removes_content(&self, base: &str, rest: &[Word]) -> Option<&'static str> {
        let is_place = |word: &Word| self.any_place(word).is_some();
        let with_place = |removes: bool| removes && operands(rest).any(is_place);
        let removes = match base {
            "rsync" | "rclone" => copies_over(base, rest, is_place),
            "tar" | "zip" | "7z" => {
                let is_move = |word: &Word| {
                    word.text == "--move"
                        || word.text.strip_prefix('-').is_some_and(|letters| {
                            !letters.starts_with('-') && letters.contains('m')
                        })
                };
                let moves = base == "zip" && rest.iter().any(is_move);
                with_place(moves || has_any(rest, "--remove-files -sdel"))
            }
            "git" => self.changes_work_tree(rest),
            "hg" | "svn" | "jj" => self.empties_checkout(base, rest),
            _ if is_search(base) => self.finds_and_removes(base, rest),
            "rename" | "rename.ul" | "prename" | "file-rename" | "perl-rename" | "mmv" => {
                self.renames(base, rest)
            }
            "gio" => rest.split_first().is_some_and(|(verb, rest)| {
                matches!(&*verb.text, "remove" | "trash" | "move") && self.removes(base, rest)
            }),
            "rar" => with_place(
                has_any(rest, "-df") || rest.first().is_some_and(|verb| verb.text == "m"),
            ),
            "btrfs" => with_place(
                operands(rest).any(|word| word.text.len() > 1 && "delete".starts_with(&*word.text)),
            ),
            _ if has_word(COMPRESSORS, base) => self.gives_way(base, rest),
            _ => false,
        };
        if removes {
            return Some(REMOVES_ROOT);
        }
        match base {
            "rsync" | "rclone" => self.writes(rest.last().into_iter()),
            _ if has_word(COMPRESSORS, base) && replaces_files(base, rest) => {
                self.writes(operands(rest))
            }
            _ if is_search(base) => {
                let prints =
                    |pair: &&[Word]| pair[0].text.starts_with("-fprint") || pair[0].text == "-fls";
                self.finds_and_changes(rest)
                    .then_some(CHANGES_RIGHTS)
                    .or_else(|| self.destroys_found(base, rest))
                    .or_else(|| self.writes(rest.windows(2).filter(prints).map(|pair| &pair[1])))
            }
            _ => None,
        }
    }

    /// Returns true if compressed files take the place of those in a protected place.
    fn gives_way(&self, base: &str, rest: &[Word]) -> bool {
        let is_recursive =
            rest.iter().any(|word| word.has_letter('r') || word.text == "--recursive")
                || base == "lrzip" && rest.iter().any(|word| word.has_letter('R'));
        replaces_files(base, rest)
            && operands(rest).any(|word| match self.any_place(word) {
                Some((_, is_all_in_it)) => is_recursive || is_all_in_it,
                None => false,
            })
    }

    /// Returns true if a program gives new names to everything in a protected place, or to the place itself.
    fn renames(&self, base: &str, rest: &[Word]) -> bool {
        if has_any(rest, "-n --no-act --nono --just-print --dry-run") {
            return false;
        }
        let operands: Vec<&Word> = operands(rest).collect();
        if base == "mmv" {
            let from = operands.split_last().map_or(&[][..], |(_, from)| from);
            return from.iter().any(|word| self.any_place(&expanded_word(&word.text)).is_some());
        }
        // In front of the files are an expression, or two parts of a name.
        operands
            .iter()
            .skip(1)
            .enumerate()
            .any(|(at, word)| (at > 0 || word.text.len() > 1) && self.any_place(word).is_some())
    }

    /// Returns true if a virtual machine is given a disk of this one that it can write to.
    fn gives_disk(&self, rest: &[Word]) -> bool {
        if has_any(rest, "-snapshot --snapshot") {
            return false;
        }
        rest.windows(2).any(|pair| match pair[0].text.trim_start_matches('-') {
            "hda" | "hdb" | "hdc" | "hdd" => self.disk(&pair[1]),
            "drive" | "blockdev" => {
                let parts = || pair[1].text.split(',');
                let is_read = |part: &str| {
                    matches!(part, "readonly" | "readonly=on" | "read-only=on" | "snapshot=on")
                };
                let files = parts()
                    .filter_map(|part| part.split_once('='))
                    .filter(|(name, _)| matches!(*name, "file" | "filename" | "file.filename"));
                !parts().any(is_read)
                    && files.into_iter().any(|(_, path)| self.disk(&expanded_word(path)))
            }
            _ => false,
        })
    }

    /// Returns true if the destination of a link or a move is replaced, where a link leads to a folder of the system.
    fn replaces_link(&self, rest: &[Word]) -> bool {
        let has = |long: &str, letter: char| {
            rest.iter().any(|word| word.text == long || word.has_letter(letter))
        };
        let is_replaced = has("--no-target-directory", 'T')
            || has("--no-dereference", 'n') && has("--force", 'f');
        is_replaced
            && rest.last().is_some_and(|word| {
                let name = word.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                has_word(LINKS, name) && matches!(self.any_place(word), Some((Place::System, _)))
            })
    }

    /// Returns true if a program unpacks or copies into the root.
    fn unpacks_over_root(&self, base: &str, rest: &[Word]) -> bool {
        let is_root = |text: &str| {
            matches!(self.place(text, text.contains('*'), false), Some((Place::Root, _)))
        };
        if matches!(base, "cp" | "gcp" | "rsync") {
            let is_content = |word: &Word| {
                word.text.ends_with("/.")
                    || word.glob
                    || (base == "rsync" && word.text.ends_with('/'))
            };
            return rest.split_last().is_some_and(|(last, sources)| {
                is_root(&last.text)
                    && sources.iter().any(is_content)
                    && sources.iter().any(|word| {
                        ['r', 'R', 'a'].into_iter().any(|letter| word.has_letter(letter))
                            || word.text.starts_with("--r")
                            || word.text == "--archive"
                    })
            });
        }
        let Some((_, unpacks, names)) = UNPACKERS.iter().find(|(all, _, _)| all.contains(&base))
        else {
            return false;
        };
        let is_action = |(at, word): (usize, &Word)| {
            let letters = word.text.strip_prefix('-').or((at == 0).then_some(&*word.text));
            letters.is_some_and(|text| match text.strip_prefix('-') {
                Some(long) => matches!(long, "extract" | "get"),
                None => text.starts_with(['x', 'i', 'e']) || text.contains(*unpacks),
            })
        };
        // `unzip` lists and tests with a letter.
        let does = match unpacks.is_empty() {
            true => {
                !rest.iter().any(|word| ['l', 't', 'p'].iter().any(|one| word.has_letter(*one)))
            }
            false => rest.iter().enumerate().any(is_action),
        };
        let mut folders = rest.iter().enumerate().filter_map(|(at, word)| {
            let next = || rest.get(at + 1).map_or("", |next| next.text.as_str());
            let (letter, long) = names.split_once(' ').unwrap_or((names, "--"));
            let value = match word.text.strip_prefix("--") {
                Some(name) => name.strip_prefix(long)?.trim_start_matches('='),
                None => word.text.strip_prefix('-')?.split_once(letter)?.1,
            };
            Some(if value.is_empty() { next() } else { value })
        });
        // `tar xfC x /` has its values after the letters.
        let has_values_after = names.contains(' ')
            && rest
                .first()
                .is_some_and(|word| !word.text.starts_with('-') && word.text.contains(&names[..1]));
        does && match folders.next() {
            Some(folder) => is_root(folder) || folders.any(is_root),
            None if has_values_after => rest.iter().any(|word| is_root(&word.text)),
            None => is_root("."),
        }
    }

    /// Returns what writing to a file destroys whose name is unknown.
    pub(crate) fn destroys_file(&mut self, word: &Word) -> Option<&'static str> {
        let words = self.expanded(std::slice::from_ref(word));
        self.writes(words.iter().filter(|word| word.known))
    }

    /// Returns true if a program makes a file system or a volume of the machine smaller.
    fn shrinks(&self, base: &str, rest: &[Word]) -> bool {
        let operands: Vec<&Word> = rest.iter().filter(|word| !word.text.starts_with('-')).collect();
        match base {
            // With a size after the device.
            "resize2fs" => operands.len() > 1 && operands.iter().any(|word| self.disk(word)),
            "lvresize" => rest.iter().enumerate().any(|(at, word)| {
                let size = word.text.strip_prefix("-L").or(word.text.strip_prefix("--size="));
                let next = || rest.get(at + 1).map_or("", |next| next.text.as_str());
                let is_next = word.text == "--size" || size == Some("");
                (if is_next { Some(next()) } else { size })
                    .is_some_and(|size| size.starts_with('-'))
            }),
            "btrfs" => {
                let size = operands.iter().skip_while(|word| word.text != "resize").nth(1);
                size.is_some_and(|size| !size.text.starts_with(['+', 'm']))
                    && operands.last().is_some_and(|word| {
                        matches!(self.any_place(word), Some((Place::Root | Place::System, _)))
                    })
            }
            _ => false,
        }
    }

    pub(super) fn disk(&self, word: &Word) -> bool {
        self.file_places(word).contains(&Place::Disk)
    }

    /// Returns what a command destroys by writing to files.
    pub(crate) fn writes<'w>(
        &self,
        mut words: impl Iterator<Item = &'w Word>,
    ) -> Option<&'static str> {
        words.find_map(|word| {
            // All files of the system.
            let all = self.any_place(word).filter(|(_, is_all)| *is_all && word.glob);
            if let Some((Place::Root | Place::System, _)) = all {
                return Some(WRITES_SYSTEM);
            }
            let place = self.file_places(word).into_iter().next()?;
            Some(if place == Place::Disk { WRITES_DISK } else { WRITES_SYSTEM })
        })
    }

    /// Returns true if a program that removes its arguments is given a protected place.
    pub(crate) fn removes(&self, base: &str, rest: &[Word]) -> bool {
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
        let place = |word: &Word| match has_word(GLOBBERS, base) {
            true => self.place(&word.text, word.text.contains('*'), word.tilde || !word.known),
            false => self.any_place(word),
        };
        operands[..count].iter().any(|word| match place(word) {
            Some((_, is_all_in_it)) => is_recursive || is_all_in_it,
            None => false,
        })
    }

    pub(super) fn changes_rights(&self, base: &str, rest: &[Word]) -> bool {
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
        let clears = |word: &Word| {
            base == "setfacl"
                && (matches!(word.text.as_str(), "--remove-all" | "--remove-default")
                    || word.option_letters("msxMX").0.contains(['b', 'k']))
        };
        let has_mode = base != "chattr" && !rest.iter().any(|word| is_minus(&word) || clears(word));
        let first_file = usize::from(has_mode);
        let files = rest.iter().filter(|word| !word.text.starts_with('-')).skip(first_file);
        let files: Vec<&Word> = files.collect();
        let by_reference = rest.iter().any(|word| word.text.starts_with("--reference"));
        let all = rest.iter().filter(|word| by_reference && !word.text.starts_with('-'));
        files.into_iter().chain(all).any(|word| match self.any_place(word) {
            Some((Place::Root | Place::System | Place::Homes, is_all_in_it)) => {
                is_recursive
                    || is_all_in_it
                    || (base == "chmod" && takes_all)
                    || (base == "chattr" && has_any(rest, "+i +a =i =a +ia +ai"))
            }
            Some((Place::Home, is_all_in_it)) => {
                base == "chmod" && (takes_all || (gives_all && (is_recursive || is_all_in_it)))
            }
            _ => false,
        }) || (base == "chmod"
            && rest.iter().skip(1).any(|word| takes_all && !self.file_places(word).is_empty()))
    }
}
