//! Questions about what a command may change, if a rule is about it in particular.

use std::borrow::Cow;

use super::Reader;
use crate::permission::Domain;
use crate::permission::evaluate::Target;
use crate::permission::paths::normal;
use crate::permission::rules::Source;
use crate::permission::shell::{Concern, Content, FileUse};

impl Reader<'_> {
    /// Asks about a path that a command may change, if a rule is about changing it in particular.
    pub(super) fn ask_if_restricted(&mut self, file: &FileUse) {
        let is_new = self.possibly_changed.insert(file.written.clone());
        let Some(path) = normal(&file.written).filter(|_| is_new) else { return };
        let real = (!file.glob).then(|| self.real(&path).map(Cow::into_owned)).flatten();
        for path in [Some(&path), real.as_ref().filter(|real| **real != path)].into_iter().flatten()
        {
            let target = self.placed(path);
            let texts = [target, ["fs:", path].concat()];
            let found = match file.glob {
                true => texts
                    .iter()
                    .find_map(|text| self.policy.options.restriction_met_by(Domain::Edit, text)),
                false => texts.iter().find_map(|text| self.policy.edit_restriction(text)),
            };
            let Some(rule) = found else { continue };
            let reason = format!(
                "the command may change {path}, which {:?} is about",
                rule.pattern.source()
            );
            let is_hard = rule.source == Source::Hard;
            return self.ask_about_edit(reason, is_hard);
        }
    }

    /// Asks about a folder that a command changes with everything in it but what is left out, if a rule is about all of a folder
    /// below it.
    pub(super) fn ask_if_restriction_is_below(&mut self, path: &str, content: &Content) {
        let target = self.placed(path);
        let texts = [target, ["fs:", path].concat()];
        let found = texts.iter().find_map(|text| {
            let is_changed = |folder: &&str| {
                let below = folder.get(text.len()..).unwrap_or_default().trim_start_matches('/');
                !content.leaves_out(below)
            };
            self.policy.options.restrictions.folders_below(Domain::Edit, text).find(is_changed)
        });
        if let Some(folder) = found {
            self.ask_about_edit(
                format!("the command changes {path}, and a rule is about {folder}"),
                false,
            );
        }
    }

    /// Asks about a change that a rule may deny. Full access does not cover a hard denial.
    fn ask_about_edit(&mut self, reason: String, is_hard: bool) {
        let concern = if is_hard { Concern::unread } else { Concern::always };
        self.push(Target {
            domain: Some(Domain::Edit),
            concerns: vec![concern(reason)],
            quiet: true,
            ..Target::default()
        });
    }
}
