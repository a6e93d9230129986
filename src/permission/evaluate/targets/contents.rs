//! The content of folders that a command shows or copies as a whole: secrets, and files that rules are about.

use super::Reader;
use crate::permission::Domain;
use crate::permission::paths::normal;
use crate::permission::sensitive::matches_glob;
use crate::permission::shell::{Content, FileUse, MAX_FOLDER_DEPTH};

/// Maximum number of names, and of folders, that are examined for one call.
const MAX_NAMES: usize = 2048;
const MAX_FOLDERS: usize = 256;

/// Folders with files that others wrote, or that programs make.
const GENERATED: [&str; 8] =
    [".git", "node_modules", ".venv", "venv", "target", "vendor", "__pycache__", "site-packages"];

impl Content {
    /// Returns a text that is the same for the same files of the same folder.
    pub(super) fn key(&self, folder: &FileUse) -> String {
        let Content { only, without, is_visible, is_link, depth } = self;
        format!("{:?}", (folder.domain, &folder.written, only, without, is_visible, is_link, depth))
    }

    /// Returns true if a file is among those that are shown or copied.
    fn includes(&self, path: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|glob| matches_path(glob, path))
    }

    /// Returns true if a name is left out, with everything below it.
    pub(super) fn leaves_out(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        (self.is_visible && name.starts_with('.'))
            || self.without.iter().any(|glob| matches_path(glob, path))
    }
}

/// Returns true if a glob for a name, or for a path if it has a slash, means a file of a folder, in any case.
fn matches_path(glob: &str, path: &str) -> bool {
    let (glob, path) = (&*glob.to_ascii_lowercase(), &*path.to_ascii_lowercase());
    let name = path.rsplit('/').next().unwrap_or(path);
    let glob = glob.trim_end_matches('/');
    match glob.trim_start_matches("**/") {
        name_glob if !name_glob.contains('/') => matches_glob(name_glob, name, false),
        _ => {
            let glob = glob.trim_start_matches(['.', '/']);
            matches_glob(glob, path, true) || matches_glob(glob.trim_end_matches("/*"), path, true)
        }
    }
}

impl Reader<'_> {
    /// Adds the files of a folder that hold secrets, or that rules ask about or deny.
    pub(super) fn content(&mut self, folder: &FileUse, content: &Content) {
        let Some(top) = normal(&folder.written) else { return };
        let top = top.trim_end_matches('/');
        let has_restrictions = self.policy.options.restrictions.has(folder.domain);
        if folder.domain == Domain::Edit {
            self.changed(top, content);
            if content.depth == 0 {
                return;
            }
        }
        // Rules are compared with what is there as deep as in a copy.
        let depth = if has_restrictions { MAX_FOLDER_DEPTH } else { content.depth };
        if self.names_left == 0 {
            return self.blind.push("the command shows too many folders to be judged".to_owned());
        }
        let mut folders = vec![(String::new(), 1)];
        let (mut at, mut left) = (0, if depth > 0 { MAX_NAMES } else { 0 });
        while let Some((below, level)) = folders.get(at).cloned().filter(|_| at < MAX_FOLDERS) {
            at += 1;
            let names = self.real.names(&[top, &below].concat(), left.min(self.names_left));
            left -= names.len();
            // Opening a folder costs as much as a name.
            self.names_left = self.names_left.saturating_sub(names.len() + 1);
            for (name, is_link) in names {
                let path = [&below, "/", &name].concat();
                if content.leaves_out(&path[1..]) {
                    continue;
                }
                if content.includes(&path[1..]) && (is_link || !content.is_link) {
                    let path = [top, &path].concat();
                    match folder.domain {
                        Domain::Edit => self.ask_if_restricted(&plain_file(Domain::Edit, path)),
                        _ => self.add_file(path, level <= content.depth, has_restrictions),
                    }
                }
                // Does not follow links: they may lead anywhere.
                if !is_link && level < depth && !GENERATED.contains(&name.as_str()) {
                    folders.push((path, level + 1));
                }
            }
        }
    }

    fn add_file(&mut self, path: String, is_near: bool, has_restrictions: bool) {
        if is_near && self.policy.options.sensitive.is_sensitive(&path) {
            self.written(Domain::Read, &path, super::Extent::Whole);
        } else if has_restrictions {
            self.named(&plain_file(Domain::Read, path));
        }
    }

    /// Asks about a folder of which everything that is selected is changed, as far as names alone tell that a rule is about it.
    fn changed(&mut self, top: &str, content: &Content) {
        if content.only.is_empty() && !content.is_link {
            self.ask_if_restriction_is_below(if top.is_empty() { "/" } else { top }, content);
        }
        for glob in content.only.iter().filter(|glob| glob.contains('/') && !glob.starts_with('*'))
        {
            let path = [top, "/", glob.trim_start_matches("./").trim_start_matches('/')].concat();
            self.ask_if_restricted(&FileUse { glob: true, ..plain_file(Domain::Edit, path) });
        }
    }
}

fn plain_file(domain: Domain, path: String) -> FileUse {
    FileUse { domain, path: path.clone(), written: path, glob: false, names: false }
}
