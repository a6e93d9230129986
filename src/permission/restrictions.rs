//! The rules that ask about or deny something in particular. A command is compared with them also where it is not certain what it touches.

use std::collections::HashSet;

use super::Domain;
use super::glob_overlap::{can_meet, literal};
use super::paths::fold;
use super::rules::Rule;

/// The restrictions of a policy, and the domains and folders that they are about.
#[derive(Debug)]
pub(super) struct Restrictions {
    /// Those about files, by their places among the rules that are no hard denials.
    pub places: Vec<usize>,
    /// There is one about reading, about editing, and about programs.
    reading: bool,
    editing: bool,
    programs: bool,
    /// There is one of the user's own about changing some files.
    pub of_edits: bool,
    /// Folders of which they cover everything, as targets.
    folders: HashSet<(Domain, String)>,
    fold_case: bool,
}

impl Restrictions {
    /// Returns those among the rules and the hard denials. `is_own` says if a rule is one of the user's.
    pub(super) fn of(
        rules: &[Rule],
        hard: &[Rule],
        is_own: impl Fn(&Rule) -> bool,
        fold_case: bool,
    ) -> Self {
        let is_of_files =
            |rule: &Rule| rule.is_particular() && rule.domain.is_none_or(Domain::is_of_files);
        let is_about = |rule: &Rule, domain: Domain| rule.domain.is_none_or(|own| own == domain);
        let all = || rules.iter().chain(hard);
        let of_files = || all().filter(|rule| is_of_files(rule));
        let has = |domain: Domain| of_files().any(|rule| is_about(rule, domain));
        let folders = of_files().filter_map(|rule| Some((rule, rule.pattern.all_of()?)));
        let folders = folders.flat_map(|(rule, folder)| {
            let domains = [Domain::Read, Domain::Edit].into_iter();
            let about = domains.filter(|domain| is_about(rule, *domain));
            about.map(move |domain| (domain, folder.clone()))
        });
        Restrictions {
            places: (0..rules.len()).filter(|at| rules.get(*at).is_some_and(is_of_files)).collect(),
            reading: has(Domain::Read),
            editing: has(Domain::Edit),
            programs: all().any(|rule| rule.is_particular() && is_about(rule, Domain::Bash)),
            of_edits: of_files().any(|rule| is_own(rule) && is_about(rule, Domain::Edit)),
            folders: folders.collect(),
            fold_case,
        }
    }

    /// Returns true if there is one about this domain.
    pub(super) fn has(&self, domain: Domain) -> bool {
        match domain {
            Domain::Read => self.reading,
            Domain::Edit => self.editing,
            Domain::Bash => self.programs,
            _ => false,
        }
    }

    /// Returns the folders that a target is, or can mean if it is a glob, of which one covers everything.
    pub(super) fn folders(&self, domain: Domain, target: &str, is_glob: bool) -> Vec<String> {
        if self.folders.is_empty() {
            return Vec::new();
        }
        let target = fold(target, self.fold_case);
        if !is_glob {
            let known = self.folders.get(&(domain, target));
            return known.map(|(_, folder)| folder.clone()).into_iter().collect();
        }
        let own = self.folders.iter().filter(|(own, _)| *own == domain);
        own.map(|(_, folder)| folder)
            .filter(|folder| can_meet(&target, false, &literal(folder)))
            .cloned()
            .collect()
    }

    /// Returns the folders below one, or the same, of which one covers everything.
    pub(super) fn folders_below(&self, domain: Domain, folder: &str) -> impl Iterator<Item = &str> {
        let folder = fold(folder, self.fold_case);
        let above = [folder.trim_end_matches('/'), "/"].concat();
        let own = self.folders.iter().filter(move |(own, _)| *own == domain);
        own.map(|(_, below)| below.as_str())
            .filter(move |below| below.starts_with(&above) || *below == folder)
    }
}
