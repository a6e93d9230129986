//! Folders that a command shows or copies with everything in them. The policy judges them by the names that are there.

use super::found_files::content_found;
use crate::permission::Domain;
use crate::permission::shell::analyzer::Walker;
use crate::permission::shell::command_tables::CommandTable;
use crate::permission::shell::destroying::disk_writers::writes_archive;
use crate::permission::shell::grep_args::{is_ripgrep, letters_of, takes_glob, valued_letters};
use crate::permission::shell::program_names::base;
use crate::permission::shell::programs::{self, Kind, Program};
use crate::permission::shell::sed_awk_find::has_alternatives;
use crate::permission::shell::word::Word;
use crate::permission::shell::{Content, FileUse, MAX_FOLDER_DEPTH, fd, grep_args};
use crate::util::words::has_word;

/// The operands that are such folders:
///
/// | sign | folders |
/// | --- | --- |
/// | `*` | all operands |
/// | `<` | all but the last one, which is written |
/// | `.` | all operands; the current folder if there are none |
/// | `@` | the current folder |
/// | `-x,--long` | the value of this option |
static TABLE: CommandTable = CommandTable::new(
    "\
@ zip -R
* zip -r,--recurse-paths
* bestzip,surge !--help
* git +diff --no-index
@ git grep --no-index,--untracked,--no-exclude-standard
* gh +gist,release +create,upload
* 7z,7za,7zz,7zr a,u
* jar,pax,mksquashfs,genisoimage,mkisofs,xorriso !-t,--help
* restic,kopia,borg,duplicity,tarsnap,bup +backup,create,full,save,-c*
* croc,wormhole,ffsend send,upload
< ditto !--help
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
-r webfsd -r
@ webfsd !--help
-d,--root static-web-server -d,--root
@ static-web-server !--help,--version
@ vercel,vc deploy
@ vercel,vc --prod
--dir,-d netlify deploy --dir,-d
@ netlify deploy
* wrangler pages deploy,publish
-t php -S -t
@ php -S
--root caddy file-server --root
@ caddy file-server
@ ruby -run
-h busybox,toybox httpd -h
@ busybox,toybox httpd !-m,-d,-e
-d,--directory jwebserver -d,--directory
@ jwebserver
@ httpd,caddy +.
* rclone serve
@ kubectl,oc,k,gcloud,az +create,deploy,upload-batch +.,./",
);

/// How many folders deep secrets are looked for in a search, which shows only some lines: where it begins.
const SHALLOW: usize = 1;

/// Options whose value is a name that is left out, or with which a search takes only some files.
const WITHOUT: [&str; 5] = ["--exclude", "--exclude-dir", "--ignore", "--ignore-dir", "-x"];
const ONLY: [&str; 4] = ["--include", "-g", "--glob", "--iglob"];

/// Options of `ack` that name a type of files.
const TYPES: &str = "--cc --cpp --css --go --html --java --js --json --kotlin --markdown --perl --php --python --ruby --rust \
    --scala --shell --sql --swift --ts --type --xml --yaml";

/// Modules of Python that show or copy folders. The last three show the current one.
const MODULES: [&str; 5] = ["zipfile", "tarfile", "http.server", "pyftpdlib", "RangeHTTPServer"];

/// Programs that print no content of their files.
const COUNTS: [&str; 8] =
    ["wc", "stat", "file", "md5sum", "sha1sum", "sha256sum", "cksum", "dirname"];

/// Options with which a search prints no lines.
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
    pub(crate) fn whole_folders(
        &mut self,
        base: &str,
        program: Option<&Program>,
        words: &[Word],
        operands: &[usize],
    ) {
        let rest = words.get(1..).unwrap_or_default();
        let plain = || rest.iter().filter(|word| !word.text.starts_with('-')).cloned();
        let kind = program.map(|program| program.kind);
        let mut content = Content { depth: MAX_FOLDER_DEPTH, ..Content::default() };
        let mut folders: Vec<Word> = match kind {
            Some(Kind::Grep) => {
                if !searches_folders(base, rest) {
                    return;
                }
                content.depth = SHALLOW;
                content.is_visible = (is_ripgrep(base) || base == "ag" || base.starts_with("ug"))
                    && !shows_hidden(base, rest);
                let files = grep_args::files(base, rest);
                let is_file = |word: &Word| !word.text.starts_with('-');
                let found: Vec<Word> = files.into_iter().filter(is_file).collect();
                match found.is_empty() {
                    // A search reads what comes in.
                    true if self.has_input && !is_recursive(valued_letters(base), rest) => return,
                    true => vec![Word::plain(".")],
                    false => found,
                }
            }
            Some(Kind::Reader | Kind::Copier | Kind::Both) => {
                if !is_recursive("", rest) {
                    return;
                }
                let to_last = kind == Some(Kind::Copier)
                    && !rest
                        .iter()
                        .any(|word| word.has_letter('t') || word.text.starts_with("--t"));
                let mut found: Vec<Word> = plain().collect();
                if to_last && found.len() > 1 {
                    found.pop();
                }
                found
            }
            _ if matches!(base, "tar" | "gtar" | "bsdtar") && writes_archive(rest) => {
                in_changed_folders(rest)
            }
            Some(Kind::Fd) => {
                let (own, commands) = fd::commands_of(base, words);
                if !commands.iter().any(|command| shows_content(command)) {
                    return;
                }
                let own_words: Vec<Word> = own.iter().map(|at| words[*at].clone()).collect();
                content.is_visible = !shows_hidden(base, &own_words);
                fd::roots_of(&own_words, operands.iter().filter(|at| own.contains(at)), words)
            }
            _ if base.starts_with("python") => {
                let Some(module) = rest.iter().find(|word| MODULES.contains(&&*word.text)) else {
                    return;
                };
                let is_given =
                    |word: &Word| word.text.starts_with("-d") || word.text.starts_with("--d");
                match MODULES[2..].contains(&&*module.text) && !rest.iter().any(is_given) {
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
                    options if options.starts_with('-') => found = values_of(rest, options),
                    "." if found.is_empty() => found.push(Word::plain(".")),
                    _ => {}
                }
                found
            }
        };
        folders.retain(|word| word.known && !word.text.is_empty());
        if !folders.is_empty() {
            (content.only, content.without) = selected(base, kind == Some(Kind::Grep), rest);
        }
        for folder in folders {
            self.whole_folder(Domain::Read, folder, &content);
        }
    }

    pub(super) fn whole_folder(&mut self, domain: Domain, mut folder: Word, content: &Content) {
        let mut content = content.clone();
        if folder.glob {
            let (above, name) = glob_in(&folder.text);
            // The names that the wildcards match, and everything below them.
            if let Some(name) = name.filter(|name| *name != "*" && content.only.is_empty()) {
                content.only = vec![name.to_owned(), [name, "/**"].concat()];
            }
            folder = Word { text: above.to_owned(), glob: false, ..folder };
        }
        let before = self.files_len();
        let _ = self.file(domain, &folder);
        let files = self.out.files.drain(before..).filter(|file| !file.glob);
        let found: Vec<(FileUse, Content)> = files.map(|file| (file, content.clone())).collect();
        self.out.contents.extend(found);
    }

    /// Adds the folders that `find` searches, if it runs a program on the files that shows what is in them.
    pub(crate) fn found_folders(&mut self, roots: &[Word], words: &[Word], inner: &[Word]) {
        if !shows_content(inner) {
            return;
        }
        let mut content = Content { is_link: false, ..content_found(words) };
        // Files of other alternatives can hold secrets.
        if has_alternatives(words) {
            (content.only, content.without) = (Vec::new(), Vec::new());
        }
        for root in roots.iter().filter(|root| root.known) {
            self.whole_folder(Domain::Read, root.clone(), &content);
        }
    }
}

/// Returns true if a program may show what is in the files that are found for it.
fn shows_content(command: &[Word]) -> bool {
    let Some(name) = command.first().map(|word| base(&word.text)) else { return false };
    let kind = programs::find(&name).map(|program| program.kind);
    let lists = kind == Some(Kind::Grep) && is_listing(&name, &command[1..]);
    !lists
        && !COUNTS.contains(&&*name)
        && !matches!(kind, Some(Kind::Inert | Kind::Lister | Kind::Writer | Kind::Mover))
}

/// Returns true if a program goes into folders, given the letters of its options that have a value.
fn is_recursive(valued: &str, rest: &[Word]) -> bool {
    rest.iter().any(|word| {
        word.option_letters(valued).0.contains(['r', 'R', 'a'])
            || ["--archive", "--recursive", "--dereference-recursive"]
                .iter()
                .any(|name| word.text.len() > 4 && name.starts_with(&*word.text))
            || word.text.ends_with("recurse")
    })
}

/// Returns the values of options, `-h,--long`: each in the word of the option or the next word.
pub(crate) fn values_of(words: &[Word], options: &str) -> Vec<Word> {
    let value = |(at, word): (usize, &Word)| {
        options.split(',').find_map(|option| match word.text.strip_prefix(option)? {
            "" => words.get(at + 1).cloned(),
            glued if option.starts_with("--") => glued.strip_prefix('=').map(Word::plain),
            glued => Some(Word::plain(glued)),
        })
    };
    words.iter().enumerate().filter_map(value).collect()
}

fn is_listing(base: &str, rest: &[Word]) -> bool {
    // `rg -L` follows links.
    let letters: &[char] = if is_ripgrep(base) { &['l', 'c', 'q'] } else { &['l', 'L', 'c', 'q'] };
    rest.iter()
        .any(|word| LISTS.contains(&&*word.text) || letters_of(base, word).0.contains(letters))
}

/// Returns true if a search reads hidden files, too.
fn shows_hidden(base: &str, rest: &[Word]) -> bool {
    let letters = || rest.iter().flat_map(|word| letters_of(base, word).0.chars());
    let unrestricted = letters().filter(|letter| *letter == 'u').count();
    unrestricted >= if is_ripgrep(base) { 2 } else { 1 }
        || letters().any(|letter| letter == if base.starts_with("fd") { 'H' } else { '.' })
        || rest.iter().any(|word| {
            word.text.starts_with("--unrestricted")
                || matches!(&*word.text, "--hidden" | "--no-ignore")
        })
}

/// Returns the folder before the first name with wildcards, and that name if it is the last one.
fn glob_in(text: &str) -> (&str, Option<&str>) {
    let text = text.trim_end_matches('/');
    let at = text.find(['*', '?', '[']).unwrap_or(text.len());
    let begins = text[..at].rfind('/').map_or(0, |slash| slash + 1);
    let above = match &text[..begins] {
        "" => ".",
        above => above,
    };
    (above, Some(&text[begins..]).filter(|name| !name.contains('/')))
}

/// Returns true if a search reads what is in folders, and shows lines of it.
fn searches_folders(base: &str, rest: &[Word]) -> bool {
    // `ag -t` searches all text.
    let is_of_type = |word: &Word| {
        let text = word.text.as_str();
        (base != "ag" && text.starts_with("-t"))
            || text == "--type"
            || text.starts_with("--type=")
            || (base == "ack" && has_word(TYPES, text))
    };
    match base {
        "grep" | "egrep" | "fgrep" | "ggrep" => {
            is_recursive(valued_letters(base), rest) && !is_listing(base, rest)
        }
        _ => !is_listing(base, rest) && !rest.iter().any(is_of_type),
    }
}

/// Returns the globs of what options take and leave out. Programs that copy have further rules of what they take, so that
/// with any of those nothing counts as left out.
fn selected(base: &str, is_search: bool, rest: &[Word]) -> (Vec<String>, Vec<String>) {
    let (mut only, mut without) = (Vec::new(), Vec::new());
    for (at, word) in rest.iter().enumerate() {
        let next = || rest.get(at + 1).map_or("", |next| &next.text);
        let (name, value) = match (letters_of(base, word), word.text.split_once('=')) {
            ((_, Some(value)), _) if is_search && takes_glob(base, word) => {
                ("-g", if value.is_empty() { next() } else { value.trim_start_matches('=') })
            }
            (_, Some((name, value))) => (name, value),
            (_, None) => (&*word.text, next()),
        };
        let is_only = ONLY.contains(&name);
        let is_out = WITHOUT.contains(&name) && (name != "-x" || base == "zip")
            || name == "-E" && base.starts_with("fd");
        match value.strip_prefix('!') {
            _ if value.is_empty() || !(is_only || is_out) => {}
            Some(value) if is_search && is_only => without.push(value.to_owned()),
            _ if is_search && is_only => only.push(value.to_owned()),
            _ if is_only && name != "-g" => return (Vec::new(), Vec::new()),
            _ if is_only => {}
            _ => without.push(value.to_owned()),
        }
        // `zip -x a b`
        if base == "zip" && is_out {
            let more = rest.iter().skip(at + 2).take_while(|word| !word.text.starts_with('-'));
            without.extend(more.map(|word| word.text.clone()));
        }
    }
    (only, without)
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
