//! Files that a command puts into a folder.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{Extent, MAX_NAMED, Reader};
use crate::permission::Domain;
use crate::permission::evaluate::Target;
use crate::permission::glob_overlap::{WILDCARDS, can_meet, literal};
use crate::permission::paths::{Walk, is_in, normal};
use crate::permission::places::{Place, is_essential_program, is_protected_file, protected};
use crate::permission::sensitive::{is_of_git, is_startup};
use crate::permission::shell::{Concern, Content, Copied, FileUse, MAX_FOLDER_DEPTH, Source};

/// Maximum number of names in folders that are judged, each of which takes some microseconds.
const MAX_NAMES_COPIED: usize = 4096;

/// Maximum number of folders that a destination with wildcards may mean.
const MAX_FOLDERS_MEANT: usize = 64;

/// Names in a folder, and whether each is a link; `None` where they are not known.
type Names = Option<Rc<Vec<(String, bool)>>>;

/// State of the copies of one command.
pub(super) struct Copies<'a> {
    /// The files that the command reads and writes.
    used: &'a [FileUse],
    /// Paths that were written by copying so far.
    made: BTreeSet<String>,
    /// Folders of which the content was judged, with what selects it and where it is put.
    judged: BTreeSet<String>,
    /// The names in a folder that a pattern matches; without one, all of them.
    names: BTreeMap<String, Names>,
    /// Number of names that may still be judged where they lead.
    resolved: usize,
    /// Number of names in folders that may still be judged.
    left: usize,
    is_exhausted: bool,
}

impl Reader<'_> {
    /// Adds the files that a command puts into folders, where a rule is about them or they say what runs later. The folders
    /// themselves are judged as what the command writes.
    pub(super) fn copied(&mut self, copied: &[Copied], used: &[FileUse]) {
        let mut copies = Copies {
            used,
            made: BTreeSet::new(),
            judged: BTreeSet::new(),
            names: BTreeMap::new(),
            resolved: MAX_NAMED,
            left: MAX_NAMES_COPIED,
            is_exhausted: false,
        };
        // Named files are judged first: nothing else that there is must push them out.
        for one in copied {
            for folder in self.destinations(one) {
                if let Source::Named { name, .. } = &one.source {
                    self.copied_into(&folder, name, one, &mut copies);
                }
            }
        }
        for one in copied {
            for folder in self.destinations(one) {
                if copies.is_exhausted {
                    return;
                }
                self.content_copied(&folder, one, &mut copies);
            }
        }
    }

    /// Returns the paths that a destination may mean.
    fn destinations(&mut self, one: &Copied) -> Vec<String> {
        let Some(path) = normal(&one.to) else { return Vec::new() };
        if !one.is_glob {
            let walked = self.folders.walked(&one.to, self.real);
            let other = if let Walk::Elsewhere(other) = walked { Some(other) } else { None };
            return [path].into_iter().chain(other).collect();
        }
        let Some((above, pattern)) = path.rsplit_once('/') else { return Vec::new() };
        let above_names =
            self.real.names(if above.is_empty() { "/" } else { above }, MAX_NAMES_COPIED);
        let met =
            above_names.into_iter().filter(|(name, _)| can_meet(pattern, false, &literal(name)));
        let paths = met.map(|(name, _)| [above, "/", &name].concat());
        paths.filter(|path| self.real.is_folder(path)).take(MAX_FOLDERS_MEANT).collect()
    }

    /// Judges a file that is named, in the folder that it is put into.
    fn copied_into(&mut self, folder: &str, name: &str, one: &Copied, copies: &mut Copies<'_>) {
        let path = [folder.trim_end_matches('/'), "/", name].concat();
        if !copies.made.insert(path.clone()) {
            return;
        }
        let mut real = None;
        if copies.resolved > 0 {
            copies.resolved -= 1;
            real = self.real(&path).map(Cow::into_owned).filter(|real| *real != path);
        }
        let concerns = self.run_later(&path, real.as_deref(), false);
        for path in [Some(&path), real.as_ref()].into_iter().flatten() {
            let target = self.target_of_copy(path, concerns.clone());
            let counts = !target.concerns.is_empty() || self.policy.guards(&target);
            if counts && self.is_copied_into(folder, one, copies) {
                self.push(target);
            }
        }
    }

    fn target_of_copy(&mut self, path: &str, concerns: Vec<Concern>) -> Target {
        let text = self.placed(path);
        let others = self.others(Domain::Edit, &text, path, Extent::Whole);
        let domain = Some(Domain::Edit);
        Target { domain, others, text, concerns, quiet: true, ..Target::default() }
    }

    /// Judges what is in the folders that are copied.
    fn content_copied(&mut self, folder: &str, one: &Copied, copies: &mut Copies<'_>) {
        let content = Content { without: one.without.clone(), ..Content::default() };
        let into = folder.trim_end_matches('/');
        let (from, pattern, into) = match &one.source {
            Source::Named { name, from: Some(from) } if one.is_recursive => {
                let into = match self.is_copied_into(folder, one, copies) {
                    true => [into, "/", name].concat(),
                    false => into.to_owned(),
                };
                (from, &None, into)
            }
            Source::Named { .. } => return,
            Source::Names { folder: from, pattern } => {
                if pattern.is_some() && !self.is_copied_into(folder, one, copies) {
                    return;
                }
                (from, pattern, into.to_owned())
            }
        };
        let Some(from) = normal(from) else { return };
        let selected = format!("{from}\0{pattern:?}\0{into}\0{:?}", one.without);
        if !copies.judged.insert(selected) {
            return;
        }
        let mut folders = vec![(from, String::new(), pattern.clone())];
        let mut at = 0;
        while let Some((from, below, pattern)) = folders.get(at).cloned() {
            at += 1;
            let Some(names) = self.names_copied(&from, &pattern, &into, copies) else {
                if below.is_empty() && matches!(one.source, Source::Names { .. }) {
                    self.unknown_copied(&into, pattern.as_deref(), one, copies);
                }
                continue;
            };
            for (name, is_link) in names.iter() {
                let below = [&*below, name].concat();
                if copies.is_exhausted || content.leaves_out(&below) {
                    continue;
                }
                if copies.left == 0 {
                    self.exhaust(&into, copies);
                    continue;
                }
                copies.left -= 1;
                let path = [&into, "/", &below].concat();
                self.content_copied_to(&path);
                copies.made.insert(path);
                let depth = below.matches('/').count() + 1;
                if one.is_recursive && !is_link && depth < MAX_FOLDER_DEPTH {
                    folders.push(([&from, "/", name].concat(), below + "/", None));
                }
            }
        }
    }

    /// Judges names that are not known beforehand: only rules for that very folder, and patterns for such a name.
    fn unknown_copied(
        &mut self,
        into: &str,
        pattern: Option<&str>,
        one: &Copied,
        copies: &mut Copies<'_>,
    ) {
        let path = [into, "/", pattern.unwrap_or("*")].concat();
        let folder = self.placed(into) + "/";
        let meant = self.placed(&path);
        let rule = self.policy.options.restriction_met_by(Domain::Edit, &meant);
        if rule.is_some_and(|rule| rule.pattern.source().starts_with(&folder)) {
            self.ask_if_restricted(&FileUse {
                domain: Domain::Edit,
                path: path.clone(),
                written: path.clone(),
                glob: true,
                names: false,
            });
        }
        let Some(pattern) = pattern.filter(|pattern| !pattern.starts_with('*')) else { return };
        if can_meet(pattern, false, "HEAD") {
            self.copied_into(into, "HEAD", one, copies);
        }
        if is_startup(&path, true) {
            let concerns = self.run_later(&path, None, true);
            let target = self.target_of_copy(&path, concerns);
            self.push(target);
        }
    }

    /// Returns the names that a pattern matches, on the disk and among what the command itself writes, or `None` if they are not
    /// known.
    fn names_copied(
        &mut self,
        folder: &str,
        pattern: &Option<String>,
        into: &str,
        copies: &mut Copies<'_>,
    ) -> Names {
        if folder.contains(WILDCARDS) {
            return None;
        }
        let key = format!("{folder}\0{pattern:?}");
        if let Some(known) = copies.names.get(&key) {
            return known.clone();
        }
        let max = self.names_left.min(MAX_NAMES_COPIED);
        let on_disk = self.real.names(folder, max + 1);
        self.names_left = self.names_left.saturating_sub(on_disk.len() + 1);
        if on_disk.len() > max {
            self.exhaust(into, copies);
            return None;
        }
        let inside = [folder.trim_end_matches('/'), "/"].concat();
        let name_of = |path: &str| {
            let name = path.strip_prefix(&*inside)?.split('/').next()?;
            (!name.is_empty()).then(|| (name.to_owned(), false))
        };
        let edits = copies.used.iter().filter(|file| file.domain == Domain::Edit && !file.glob);
        let written: Vec<_> = edits.filter_map(|file| name_of(&file.path)).collect();
        let made = copies.made.range(inside.clone()..).map_while(|path| name_of(path));
        let made: Vec<_> = made.collect();
        let is_known = !on_disk.is_empty() || !written.is_empty() || !made.is_empty();
        let meets = |name: &str| match pattern.as_deref() {
            None => true,
            // Wildcards of a shell match no dot at the beginning.
            Some(pattern) => {
                (!name.starts_with('.') || pattern.starts_with('.'))
                    && can_meet(pattern, false, &literal(name))
            }
        };
        // The entry on the disk counts before another of its name.
        let mut all: Vec<(String, bool)> = Vec::new();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for (name, is_link) in on_disk.into_iter().chain(written).chain(made) {
            if meets(&name) && seen.insert(name.clone()) {
                all.push((name, is_link));
            }
        }
        let found = (is_known || self.real.is_folder(folder)).then(|| Rc::new(all));
        copies.names.insert(key, found.clone());
        found
    }

    /// Says once that too much is copied, where a rule or a place of the system makes a difference.
    fn exhaust(&mut self, into: &str, copies: &mut Copies<'_>) {
        if std::mem::replace(&mut copies.is_exhausted, true) {
            return;
        }
        // Full access does not cover a place of the system.
        let concern = match protected(into, &self.folders) {
            Some(_) => Concern::unread,
            None if self.policy.options.restrictions.of_edits => Concern::always,
            None => return,
        };
        let concerns = vec![concern(format!("too much is copied into {into} to be judged"))];
        self.push(Target {
            domain: Some(Domain::Edit),
            concerns,
            quiet: true,
            ..Target::default()
        });
    }

    /// Judges a file that is copied with all that is around it. A rule about it is asked about: its author may not have meant copies.
    /// A file that says how git treats others says it where it comes from as well; one that makes a folder a repository, or runs when
    /// a user logs in, is new.
    fn content_copied_to(&mut self, path: &str) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_head = name.eq_ignore_ascii_case("HEAD") && !is_of_git(path, false);
        if is_head || self.is_startup_of_user(path) {
            let concerns = self.run_later(path, None, false);
            let target = self.target_of_copy(path, concerns);
            self.push(target);
        } else if is_protected_file(path).is_some() || is_essential_program(path) {
            let target = self.target_of_copy(path, Vec::new());
            self.push(target);
        }
        if self.policy.options.restrictions.of_edits {
            let (path, written) = (path.to_owned(), path.to_owned());
            let (domain, glob, names) = (Domain::Edit, false, false);
            self.ask_if_restricted(&FileUse { domain, path, written, glob, names });
        }
    }

    /// Returns true if a file runs when a user logs in, and is among the hidden files of a home.
    fn is_startup_of_user(&self, path: &str) -> bool {
        is_startup(path, false)
            && path
                .match_indices("/.")
                .any(|(at, _)| at > 0 && protected(&path[..at], &self.folders) == Some(Place::Home))
    }

    /// Returns true if the destination of a copy is a folder, or becomes one by the command.
    fn is_copied_into(&self, folder: &str, one: &Copied, copies: &Copies<'_>) -> bool {
        let is_below = |path: &str| path != folder && is_in(path, folder);
        let is_written = |file: &FileUse| file.domain == Domain::Edit && is_below(&file.path);
        one.is_folder
            || protected(folder, &self.folders).is_some()
            || copies.used.iter().any(is_written)
            || self.real.is_folder(folder)
    }
}
