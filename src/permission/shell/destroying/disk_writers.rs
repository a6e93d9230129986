//! Programs that write to a file which is named by an option or by one of several operands. A raw disk there is
//! overwritten, and so is a file that the system needs.

use super::destroyed_places::expanded_word;
use super::destroying_commands::WRITES_DISK;
use crate::permission::shell::analyzer::Walker;
use crate::permission::shell::printing::sed_output;
use crate::permission::shell::programs::{self, Kind};
use crate::permission::shell::word::Word;
use crate::util::words::{self, has_word, row};

/// Names of options whose value most programs write to, without hyphens.
const OUTPUTS: &[&str] = &["o", "out", "output", "outfile", "output-file", "outdev", "of", "hof"];

/// Other options of single programs whose value is written to, without hyphens.
const OWN_OUTPUTS: &str = "\
cpio O F file
dc3dd wipe hwipe
growisofs Z
mysqldump r result-file
ntfsclone O overwrite
pg_dump f file
redis-cli rdb
sgdisk b backup
tcpdump w
tshark w
wodim dev";

/// Programs that write to a disk which they name together with one of these words.
const DISK_VERBS: &str = "\
btrfs add replace
zpool create add attach replace
vgcreate *
vgextend *";

/// Programs that write to the operand with this index.
const OPERANDS: &[(&str, usize)] =
    &[("7z", 1), ("ddrescue", 1), ("mksquashfs", 1), ("script", 0), ("xfs_copy", 1), ("zip", 0)];

/// Programs that write to their last operand.
const LAST: &str = "aws convert ffmpeg gsutil magick rclone virt-resize";

/// Commands of `sqlite3` that write to a file.
const DOT_COMMANDS: &str = ".output .once .backup .save .clone .log";

impl Walker<'_> {
    /// Returns what a program destroys by writing to the value of an option.
    pub(super) fn output_destroys(&self, base: &str, rest: &[Word]) -> Option<&'static str> {
        self.writes_one_of(option_values(base, rest))
    }

    /// Returns what one of the programs of the tables destroys by writing to the file that one of its words names.
    pub(super) fn written_by(&self, base: &str, rest: &[Word]) -> Option<&'static str> {
        let operands = || rest.iter().filter(|word| !word.text.starts_with('-'));
        let has_verb =
            |verbs: &str| verbs == "*" || rest.iter().any(|word| has_word(verbs, &word.text));
        if row(DISK_VERBS, base).is_some_and(has_verb) && operands().any(|word| self.disk(word)) {
            return Some(WRITES_DISK);
        }
        let mut written = named_outputs(base, rest);
        if has_word(LAST, base) {
            // `magick` names the kind of a file before it.
            let last = operands().skip(1).last().map(|word| word.text.as_str());
            written.extend(last.map(|text| text.rsplit(':').next().unwrap_or(text)));
        }
        match base {
            "sed" | "gsed" => written.extend(sed_output::files_written(rest)),
            "socat" => written.extend(addresses_written(rest)),
            "tar" | "gtar" | "bsdtar" => written.extend(archive_written(rest)),
            "fio" => written.extend(files_tested(rest)),
            "fsarchiver" => written.extend(
                rest.iter()
                    .flat_map(|word| word.text.split(','))
                    .filter_map(|part| part.strip_prefix("dest=")),
            ),
            _ => {}
        }
        let joined = in_folder(base, rest);
        written.extend(joined.as_deref());
        self.writes_one_of(written)
    }

    fn writes_one_of(&self, files: Vec<&str>) -> Option<&'static str> {
        files.into_iter().find_map(|file| self.writes(std::iter::once(&expanded_word(file))))
    }
}

/// Returns the file that a program writes to by its name and its folder.
fn in_folder(base: &str, rest: &[Word]) -> Option<String> {
    let (folders, names): (&[&str], &[&str]) = match base {
        "aria2c" => (&["-d", "--dir"], &["-o", "--out"]),
        "curl" => (&["--output-dir"], &["-o", "--output"]),
        _ => return None,
    };
    let value = |options: &[&str]| {
        rest.iter().enumerate().find_map(|(at, word)| {
            let text = word.text.as_str();
            if options.contains(&text) {
                return rest.get(at + 1).map(|next| next.text.as_str());
            }
            let glued = |option: &&str| {
                let value = text.strip_prefix(option)?;
                if option.starts_with("--") { value.strip_prefix('=') } else { Some(value) }
            };
            options.iter().find_map(glued)
        })
    };
    Some([value(folders)?.trim_end_matches('/'), "/", value(names)?].concat())
}

/// Returns the files that a program writes to which its options do not tell, as operands or within its words.
pub(crate) fn named_outputs<'w>(base: &str, rest: &'w [Word]) -> Vec<&'w str> {
    let texts = || rest.iter().map(|word| word.text.as_str());
    // The other commands of `7z` read the archive.
    if base == "7z" && !texts().any(|text| matches!(text, "a" | "u" | "d" | "rn")) {
        return Vec::new();
    }
    if let Some((_, at)) = OPERANDS.iter().find(|(name, _)| *name == base) {
        return texts().filter(|text| !text.starts_with('-')).nth(*at).into_iter().collect();
    }
    match base {
        "sqlite3" => texts()
            .filter_map(|text| text.split_once(' '))
            .filter(|(command, _)| has_word(DOT_COMMANDS, command))
            .map(|(_, path)| path.trim())
            .collect(),
        "awk" | "gawk" => texts().filter_map(|text| behind_one_of(text, DUMPS)).collect(),
        "curl" => texts()
            .flat_map(|text| text.split("%output{").skip(1))
            .map(|text| text.split('}').next().unwrap_or(text).trim_start_matches(">>"))
            .collect(),
        "java" => texts().filter_map(|text| text.strip_prefix("-Xloggc:")).collect(),
        _ => Vec::new(),
    }
}

/// Options of `awk` with the file that it writes to.
const DUMPS: &[&str] = &["--dump-variables=", "--pretty-print=", "--profile=", "-d", "-o", "-p"];

fn behind_one_of<'t>(text: &'t str, starts: &[&str]) -> Option<&'t str> {
    let rest = starts.iter().find_map(|start| text.strip_prefix(start))?;
    (!rest.is_empty() && !rest.starts_with('-')).then_some(rest)
}

/// Returns the names of the programs of the tables.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let operands = OPERANDS.iter().map(|(name, _)| *name);
    let others = "aria2c socat sed gsed tar gtar bsdtar sqlite3 awk gawk curl java fio fsarchiver";
    let lists = [LAST, others].into_iter().flat_map(|list| list.split(' '));
    words::names(DISK_VERBS).chain(operands).chain(lists)
}

/// Returns the values of the options that a program writes to: `-o X`, `-oX`, `--output X`, `--output=X`, `of=X`.
pub(crate) fn option_values<'w>(base: &str, rest: &'w [Word]) -> Vec<&'w str> {
    let can_be = |word: &Word| word.text.starts_with('-') || word.text.contains('=');
    if !rest.iter().any(can_be) {
        return Vec::new();
    }
    let own = row(OWN_OUTPUTS, base).unwrap_or_default();
    // Programs that show something mean another thing with these names; the table of programs has their own options.
    let shows = matches!(
        programs::find(base).map(|program| program.kind),
        Some(
            Kind::Inert
                | Kind::Reader
                | Kind::Grep
                | Kind::Lister
                | Kind::Find
                | Kind::Sed
                | Kind::Awk
        )
    );
    let is_output = |name: &str| (!shows && OUTPUTS.contains(&name)) || has_word(own, name);
    let mut found = Vec::new();
    for (at, word) in rest.iter().enumerate() {
        let text = word.text.as_str();
        let name = text.trim_start_matches('-');
        if matches!(base, "time" | "gtime")
            && let Some((_, value)) = text.split_once('o').filter(|_| is_bundle(text))
        {
            let next = || rest.get(at + 1).map_or("", |next| &next.text);
            found.push(if value.is_empty() { next() } else { value });
        } else if let Some((name, value)) = name.split_once('=') {
            found.extend(is_output(name).then_some(value));
        } else if text.starts_with('-') && is_output(name) {
            found.extend(rest.get(at + 1).map(|next| next.text.as_str()));
        } else if text.starts_with('-') && name.is_char_boundary(1) {
            let (letter, value) = name.split_at(1);
            found.extend((is_output(letter) && value.contains('/')).then_some(value));
        }
    }
    found
}

fn is_bundle(text: &str) -> bool {
    text.starts_with('-') && !text.starts_with("--")
}

/// Returns the files among the addresses of `socat` that it writes to: both, unless an option says the direction.
fn addresses_written<'w>(rest: &'w [Word]) -> Vec<&'w str> {
    let texts = || rest.iter().map(|word| word.text.as_str());
    let addresses: Vec<&str> =
        texts().filter(|text| *text == "-" || !text.starts_with('-')).collect();
    let has = |letter: char| {
        texts()
            .any(|text| text.strip_prefix('-').is_some_and(|letters| letters.starts_with(letter)))
    };
    let written = match (has('u'), has('U')) {
        (true, _) => addresses.get(1..).unwrap_or_default(),
        (_, true) => addresses.get(..1).unwrap_or_default(),
        _ => &addresses[..],
    };
    // The kind of the file is before it, and options after it.
    let path = |address: &&'w str| {
        let path = address.split_once(':').map_or(*address, |(_, path)| path);
        path.split(',').next()
    };
    written.iter().filter_map(path).collect()
}

/// Returns the files that `fio` writes to: without a kind of access it only reads.
fn files_tested(rest: &[Word]) -> Vec<&str> {
    let values = |names: &'static [&str]| {
        rest.iter().enumerate().filter_map(move |(at, word)| {
            let (name, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
            let next = || rest.get(at + 1).map_or("", |next| next.text.as_str());
            names
                .contains(&name.trim_start_matches('-'))
                .then(|| if value.is_empty() { next() } else { value })
        })
    };
    let writes = values(&["rw", "readwrite"]).any(|kind| !matches!(kind, "read" | "randread"));
    let files = values(&["filename"]).flat_map(|names| names.split(':'));
    files.filter(|_| writes).collect()
}

/// Returns the archive that `tar` makes or changes, if it does. A tape is for archives.
fn archive_written(rest: &[Word]) -> Option<&str> {
    let is_tape = |path: &&str| path.starts_with("/dev/st") || path.starts_with("/dev/nst");
    archive_named(rest).filter(|path| writes_archive(rest) && !is_tape(path))
}

/// Returns the archive that `tar` is given.
pub(crate) fn archive_named(rest: &[Word]) -> Option<&str> {
    rest.iter().enumerate().find_map(|(at, word)| {
        let is_last = letters_of(at, word).ends_with('f') || word.text == "--file";
        let next = is_last.then(|| rest.get(at + 1)).flatten().map(|next| next.text.as_str());
        next.or_else(|| word.text.strip_prefix("--file="))
            // The first letters may be in any order, with the values after them.
            .or_else(|| {
                (at == 0 && letters_of(at, word).contains('f'))
                    .then(|| rest.get(1))
                    .flatten()
                    .map(|next| next.text.as_str())
            })
    })
}

/// Returns true if `tar` makes an archive or changes one.
pub(crate) fn writes_archive(rest: &[Word]) -> bool {
    rest.iter().enumerate().any(|(at, word)| {
        letters_of(at, word).contains(['c', 'r', 'u', 'A'])
            || matches!(word.text.as_str(), "--create" | "--append" | "--update" | "--catenate")
    })
}

/// Returns the letters of the options of `tar`, which need no dash in its first word.
fn letters_of(at: usize, word: &Word) -> &str {
    match word.text.strip_prefix('-') {
        Some(letters) if !letters.starts_with('-') => letters,
        None if at == 0 => &word.text,
        _ => "",
    }
}
