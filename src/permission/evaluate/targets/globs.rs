//! Targets of a call that are globs, and the links that wildcards match.

use super::{Extent, MAX_NAMED, Reader, is_url};
use crate::permission::Domain;
use crate::permission::defaults::Profile;
use crate::permission::evaluate::wildcards::Link;
use crate::permission::paths::slashes;

impl Reader<'_> {
    /// Adds a symlink that wildcards match. Its destination may contain further ones.
    pub(super) fn link(&mut self, domain: Domain, link: &Link, extent: Extent) {
        let path = match &link.leads_to {
            Some(path) => path,
            // There is nothing to read, but a file could be created there.
            None if domain == Domain::Read => return,
            None => &link.at,
        };
        let is_glob = path.contains(['*', '?', '[', '{']);
        let extent = match extent {
            Extent::Glob { wide, .. } if !is_glob || link.leads_to.is_none() => match wide {
                true => Extent::Whole,
                false => Extent::Names,
            },
            extent => extent,
        };
        if self.asked.len() >= MAX_NAMED {
            return self.blind.push("wildcards stand for too many links to be judged".to_owned());
        }
        if self.asked.insert((domain, path.to_owned(), extent)) {
            self.path(domain, path, extent);
        }
    }

    pub(super) fn names(&mut self, folder: Option<&str>, glob: &str) {
        if let Some(url) = [folder.unwrap_or_default(), glob].into_iter().find(|text| is_url(text))
        {
            return self.blind.push(format!("{url:?} can be a path or an address"));
        }
        // An exclusion adds no paths.
        if glob.starts_with('!') {
            return;
        }
        let moryflow = self.policy.options.profile == Some(Profile::Moryflow);
        let glob = if moryflow { glob.trim_start_matches('/') } else { glob };
        let glob = slashes(glob, self.policy.options.windows);
        let fixed = glob.find(['*', '?', '[', '{']).unwrap_or(glob.len());
        let (base, rest) = glob.split_at(glob[..fixed].rfind('/').map_or(0, |at| at + 1));
        self.settled(folder.unwrap_or("."), &self.folders.cwd.clone());
        let cwd = self.folders.absolute(folder.unwrap_or("."), &self.folders.cwd);
        if let Some(cwd) = &cwd {
            self.settled(if base.is_empty() { "." } else { base }, cwd);
        }
        let base = cwd
            .and_then(|cwd| self.folders.absolute(if base.is_empty() { "." } else { base }, &cwd));
        let Some(base) = base else {
            return self.blind.push(format!("{glob:?} is not a glob of paths"));
        };
        let path = format!("{}/{rest}", base.trim_end_matches('/'));
        if rest.contains("..") {
            self.blind.push(format!("where {glob:?} leads is not known"));
        }
        self.path(Domain::Read, &path, Extent::Glob { wide: false, dots: true });
    }
}
