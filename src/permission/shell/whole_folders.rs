//! Folders that a command shows or copies with everything in them. The policy judges them by the names that are there.

use super::FileUse;
use super::analyzer::Walker;
use super::command_tables::CommandTable;
use super::destroying_commands::base;
use super::disk_writers::writes_archive;
use super::programs::{self, Kind, Program};
use super::sed_awk_find::is_left_out;
use super::word::Word;
use super::{Content, grep_args};
use crate::permission::Domain;

/// The operands that are such folders: all (`*`), all but the last, which is written (`<`), all, and the current folder
/// without any (`.`), or none but the current folder (`@`).
static TABLE: CommandTable = CommandTable::new(
    "\
@ zip -R
* zip -r,--recurse-paths
* bestzip,surge !--help
* git +diff --no-index
* gh +gist,release +create,upload
* 7z,7za,7zz,7zr a,u
* jar,pax,mksquashfs,genisoimage,mkisofs,xorriso !-t,--help
* restic,kopia,borg,duplicity,tarsnap,bup +backup,create,full,save,-c*
* croc,wormhole,ffsend send,upload
< rsync -a,-r,--archive,--recursive
< scp -r
< docker,podman,nerdctl,kubectl,oc,k,docker-compose cp
< docker,podman,nerdctl container,compose cp
< oc rsync
< aws s3 cp,sync,mv
< gsutil +cp,rsync,mv
< gcloud storage cp,rsync,mv
< rclone copy,sync,move,copyto,moveto
< mc,mcli,s3cmd,s5cmd,b2,azcopy +cp,copy,mirror,put,sync,upload
. repomix,code2prompt,files-to-prompt,gitingest,yek !--help,--version
. http-server,serve,live-server,miniserve,darkhttpd,dufs,simple-http-server !--help,--version
@ php -S !-t
@ caddy file-server !--root
@ ruby -run
@ jwebserver !-d,--directory
. fd,fdfind -x,-X,--exec,--exec-batch -H,-u,--hidden,--unrestricted",
);

/// How many folders deep secrets are looked for: those of a search, which shows only some lines, where it begins.
const DEEP: usize = 3;
const SHALLOW: usize = 1;

/// Options whose value is a name that is left out, or taken.
const WITHOUT: [&str; 5] = ["--exclude", "--exclude-dir", "--ignore", "--ignore-dir", "-x"];
const ONLY: [&str; 5] = ["--include", "-g", "--glob", "--iglob", "-G"];

/// Modules of Python that show or copy folders, the one first that takes the current one.
const MODULES: [&str; 3] = ["http.server", "zipfile", "tarfile"];

/// Programs of which the names of the files are no content.
const COUNTS: [&str; 8] =
    ["wc", "stat", "file", "md5sum", "sha1sum", "sha256sum", "cksum", "dirname"];

/// Letters and names of options with which a search shows no lines.
const LISTS: [&str; 6] = [
    "--files-with-matches",
    "--files-without-match",
    "--count",
    "--quiet",
    "--files",
    "--count-matches",
];

impl Walker<'_> {
    /// Adds the folders of which a program shows or copies all that is in them.
    pub(super) fn whole_folders(
        &mut self,
        base: &str,
        program: Option<&Program>,
        words: &[Word],
        operands: &[usize],
    ) {
        let rest = words.get(1..).unwrap_or_default();
        let plain = || rest.iter().filter(|word| !word.text.starts_with('-')).cloned();
        let kind = program.map(|program| program.kind);
        let mut content = Content { depth: DEEP, ..named_by(base, rest) };
        let mut folders: Vec<Word> = match kind {
            Some(Kind::Grep) => {
                if !searches_folders(base, rest) {
                    return;
                }
                content.depth = SHALLOW;
                content.is_visible = matches!(base, "rg" | "ag")
                    && !rest.iter().any(|word| {
                        word.text.starts_with("-uu")
                            || word.text.starts_with("--unrestricted")
                            || matches!(&*word.text, "--hidden" | "-." | "--no-ignore")
                            || (base == "ag" && word.has_letter('u'))
                    });
                let files = grep_args::files(base, rest);
                let is_file = |word: &Word| !word.text.starts_with('-');
                let found: Vec<Word> = files.into_iter().filter(is_file).collect();
                if found.is_empty() { vec![Word::plain(".")] } else { found }
            }
            Some(Kind::Reader | Kind::Copier | Kind::Both) => {
                if !is_recursive(rest) {
                    return;
                }
                let to_last = kind == Some(Kind::Copier)
                    && !rest
                        .iter()
                        .any(|word| word.has_letter('t') || word.text.starts_with("--t"));
                plain().take(plain().count() - usize::from(to_last && rest.len() > 1)).collect()
            }
            _ if matches!(base, "tar" | "gtar" | "bsdtar") && writes_archive(rest) => {
                in_changed_folders(rest)
            }
            _ if base.starts_with("python") => {
                let Some(module) = rest.iter().find(|word| MODULES.contains(&&*word.text)) else {
                    return;
                };
                let is_given =
                    |word: &Word| word.text.starts_with("-d") || word.text.starts_with("--d");
                match module.text == MODULES[0] && !rest.iter().any(is_given) {
                    true => vec![Word::plain(".")],
                    false => plain().collect(),
                }
            }
            _ => {
                let Some((which, _)) = TABLE.find(base, rest) else { return };
                let count = operands.len();
                let count = if which == "<" { count.saturating_sub(1) } else { count };
                let mut found: Vec<Word> =
                    operands[..count].iter().map(|at| words[*at].clone()).collect();
                match which {
                    "@" => found = vec![Word::plain(".")],
                    "." if found.is_empty() => found.push(Word::plain(".")),
                    _ => {}
                }
                found
            }
        };
        folders.retain(|word| word.known && !word.text.is_empty());
        for folder in folders {
            self.whole_folder(folder, &content);
        }
    }

    fn whole_folder(&mut self, mut folder: Word, content: &Content) {
        let end = folder.text.strip_suffix('*').filter(|_| folder.glob).map(str::len);
        if let Some(end) = end {
            folder.text.truncate(end);
            folder.text.push('.');
            folder.glob = false;
        }
        let before = self.files_len();
        let _ = self.file(Domain::Read, &folder);
        let files = self.out.files.drain(before..).filter(|file| !file.glob);
        let found: Vec<(FileUse, Content)> = files.map(|file| (file, content.clone())).collect();
        self.out.contents.extend(found);
    }

    /// Adds the folders that `find` searches, if it runs a program on the files that shows what is in them.
    pub(super) fn found_folders(&mut self, roots: &[Word], words: &[Word], inner: &[Word]) {
        let Some(name) = inner.first().map(|word| base(&word.text)) else { return };
        let kind = programs::find(&name).map(|program| program.kind);
        let lists = kind == Some(Kind::Grep) && is_listing(&name, &inner[1..]);
        if matches!(kind, Some(Kind::Inert | Kind::Lister | Kind::Writer | Kind::Mover))
            || COUNTS.contains(&&*name)
            || lists
        {
            return;
        }
        let mut content = Content { depth: DEEP, ..Content::default() };
        for (at, pair) in words.windows(2).enumerate() {
            if matches!(
                pair[0].text.as_str(),
                "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-iwholename"
            ) {
                let list =
                    if is_left_out(words, at) { &mut content.without } else { &mut content.only };
                list.push(pair[1].text.clone());
            }
        }
        // Expressions are compared with the names of secrets elsewhere.
        if words.iter().any(|word| matches!(&*word.text, "-regex" | "-iregex")) {
            content.depth = 0;
        }
        for root in roots.iter().filter(|root| root.known) {
            self.whole_folder(root.clone(), &content);
        }
    }
}

fn is_recursive(rest: &[Word]) -> bool {
    rest.iter().any(|word| {
        ['r', 'R', 'a'].into_iter().any(|letter| word.has_letter(letter))
            || ["--archive", "--recursive", "--dereference-recursive"]
                .iter()
                .any(|name| word.text.len() > 4 && name.starts_with(&*word.text))
            || word.text.ends_with("recurse")
    })
}

fn is_listing(base: &str, rest: &[Word]) -> bool {
    let letters: &[char] = if base == "rg" { &['l', 'c', 'q'] } else { &['l', 'L', 'c', 'q'] };
    rest.iter().any(|word| {
        LISTS.contains(&&*word.text) || letters.iter().any(|letter| word.has_letter(*letter))
    })
}

/// Returns true if a search reads what is in folders, and shows lines of it.
fn searches_folders(base: &str, rest: &[Word]) -> bool {
    let is_of_type = |word: &Word| {
        let text = word.text.as_str();
        text.starts_with("-t")
            || text.starts_with("--type")
            || (base == "ack" && text.starts_with("--"))
    };
    match base {
        "grep" | "egrep" | "fgrep" => is_recursive(rest) && !is_listing(base, rest),
        _ => !is_listing(base, rest) && !rest.iter().any(is_of_type),
    }
}

/// Returns the names that options leave out or take.
fn named_by(base: &str, rest: &[Word]) -> Content {
    let mut content = Content::default();
    for (at, word) in rest.iter().enumerate() {
        let (name, value) = match word.text.split_once('=') {
            Some((name, value)) => (name, value),
            None => (&*word.text, rest.get(at + 1).map_or("", |next| &next.text)),
        };
        let is_out = WITHOUT.contains(&name) && (name != "-x" || base == "zip");
        let list = match value.strip_prefix('!') {
            Some(value) if ONLY.contains(&name) => {
                content.without.push(value.to_owned());
                continue;
            }
            _ if is_out => &mut content.without,
            _ if ONLY.contains(&name) && (name != "-G" || base == "ag") => &mut content.only,
            _ => continue,
        };
        list.push(value.to_owned());
        // `zip -x a b`
        if base == "zip" && is_out {
            let more = rest.iter().skip(at + 2).take_while(|word| !word.text.starts_with('-'));
            list.extend(more.map(|word| word.text.clone()));
        }
    }
    content
}

/// Returns the operands of `tar`, each in the folder that an option before it changes to.
fn in_changed_folders(rest: &[Word]) -> Vec<Word> {
    let mut folder = String::new();
    let mut found = Vec::new();
    let mut is_folder = false;
    for word in rest {
        let text = word.text.as_str();
        let inline = text.strip_prefix("--directory=");
        if std::mem::take(&mut is_folder) || inline.is_some() {
            folder = inline.unwrap_or(text).to_owned();
        } else if text.starts_with('-') {
            is_folder = text == "--directory" || (!text.starts_with("--") && text.ends_with('C'));
        } else if folder.is_empty() || text.starts_with(['/', '~']) {
            found.push(word.clone());
        } else {
            let text = [&folder, "/", text].concat();
            found.push(Word { text, ..word.clone() });
        }
    }
    found
}
