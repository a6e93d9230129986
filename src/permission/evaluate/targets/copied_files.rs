//! Files that a command puts into a folder.

use std::borrow::Cow;

use super::{Extent, MAX_NAMED, Reader};
use crate::permission::Domain;
use crate::permission::evaluate::Target;
use crate::permission::glob_overlap::{can_meet, literal};
use crate::permission::shell::{CopiedFile, FileUse, is_in};

/// Maximum number of names in a folder that are compared with the wildcards of a source.
const MAX_NAMES_COPIED: usize = 4096;

impl Reader<'_> {
    /// Adds the files that a command puts into folders, where a rule is about them or they say what runs later. The folders
    /// themselves are judged as what the command writes.
    pub(super) fn copied(&mut self, copied: &[CopiedFile], used: &[FileUse]) {
        let mut left = MAX_NAMED;
        for one in copied {
            if !one.file.glob {
                self.copied_to(&one.file.path, one, used, &mut left);
                continue;
            }
            match self.names_copied(one, used) {
                Some(names) => {
                    for name in names {
                        let path = [&one.folder, "/", &name].concat();
                        self.copied_to(&path, one, used, &mut left);
                    }
                }
                None => self.ask_if_banned(&one.file),
            }
        }
    }

    /// Returns the names that the wildcards of a source match, on the disk and among what the command itself writes, or `None` if
    /// they are not known.
    fn names_copied(&self, one: &CopiedFile, used: &[FileUse]) -> Option<Vec<String>> {
        let (folder, name) = one.from.rsplit_once('/')?;
        if folder.contains(['*', '?', '[', '{']) {
            return None;
        }
        let on_disk = self.real.names(folder, MAX_NAMES_COPIED + 1);
        if on_disk.is_empty() || on_disk.len() > MAX_NAMES_COPIED {
            return None;
        }
        let written = used.iter().filter_map(|file| {
            let rest = file.path.strip_prefix(folder)?.strip_prefix('/')?;
            (file.domain == Domain::Edit && !file.glob && !rest.contains('/'))
                .then(|| rest.to_owned())
        });
        let names = on_disk.into_iter().map(|(name, _)| name).chain(written);
        Some(names.filter(|own| can_meet(name, false, &literal(own))).collect())
    }

    fn copied_to(&mut self, path: &str, one: &CopiedFile, used: &[FileUse], left: &mut usize) {
        match left.checked_sub(1) {
            Some(fewer) => *left = fewer,
            None => {
                return self.blind.push("the command names too much to be judged".to_owned());
            }
        }
        let real = self.real(path).map(Cow::into_owned);
        let concerns = self.run_later(path, real.as_deref(), false);
        let real = real.filter(|real| real != path);
        for path in [Some(path), real.as_deref()].into_iter().flatten() {
            let text = self.placed(path);
            let target = Target {
                domain: Some(Domain::Edit),
                others: self.others(Domain::Edit, &text, path, Extent::Whole),
                text,
                concerns: concerns.clone(),
                quiet: true,
                ..Target::default()
            };
            let counts = !target.concerns.is_empty() || self.policy.guards(&target);
            if counts && self.is_folder(one, used) {
                self.push(target);
            }
        }
    }

    /// Returns true if the destination of a copy is a folder, or becomes one by the command.
    fn is_folder(&self, one: &CopiedFile, used: &[FileUse]) -> bool {
        let is_below = |file: &FileUse| {
            file.domain == Domain::Edit && file.path != one.folder && is_in(&file.path, &one.folder)
        };
        one.is_folder || used.iter().any(is_below) || self.real.is_folder(&one.folder)
    }
}
