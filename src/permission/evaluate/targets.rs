//! Turns the targets of one call into the form in which rules are evaluated.

mod contents;
mod copied_files;
mod given;
mod globs;
mod possible_edits;
mod repositories;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::wildcards;
use super::{Policy, Request, Target};
use crate::permission::Domain;
use crate::permission::paths::{Folders, RealPaths, Walk, normal, slashes};
use crate::permission::places::{
    Place, canonical, is_essential_program, is_protected_file, protected,
};
use crate::permission::sensitive::{is_file_of_git, is_of_git, is_startup};
use crate::permission::shell::{self, Concern, CoveredBy};
use crate::permission::targets::{UnresolvedTarget, is_url, touched};

/// Number of targets up to which duplicates are searched linearly.
const FEW: usize = 16;

/// Maximum number of arguments examined as paths, each of which costs at least one system call.
const MAX_NAMED: usize = 1000;

/// Maximum number of paths resolved, each of which costs at least one system call.
const MAX_PATHS: usize = 2000;

/// Maximum number of pairs of a path with wildcards and a deny rule that are compared, each of which takes a
/// microsecond or two.
const MAX_MEETINGS: usize = 20_000;

/// The text by which a rule refers to git's directory.
const GIT: &str = "/.git/";

/// Collects the targets of one call.
pub(super) struct Reader<'a> {
    policy: &'a Policy,
    request: &'a Request,
    real: &'a dyn RealPaths,
    /// Resolved paths.
    led: BTreeMap<String, Option<String>>,
    folders: Folders,
    pub(super) targets: Vec<Target>,
    /// The simple targets, once there are more than [`FEW`].
    seen: BTreeSet<(Domain, String, bool)>,
    /// Paths that were evaluated: each is evaluated once.
    asked: BTreeSet<(Domain, String, Extent)>,
    /// The reason to ask about git in a directory, by directory, so that each is examined once per call.
    planted: BTreeMap<String, Option<Concern>>,
    /// Number of names that wildcards may still be compared with.
    names_left: usize,
    /// Paths that a command may change and that were compared with rules.
    possibly_changed: BTreeSet<String>,
    pub(super) blind: Vec<String>,
    pub(super) addresses: Vec<String>,
}

/// The part of a path that is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    /// Its existence, and the names in it.
    Names,
    /// A file, or a directory with everything in it.
    Whole,
    /// All paths that its wildcards match. `wide`: a wildcard for any name matches files with secrets too. `dots`:
    /// wildcards match a leading dot, as in search tools.
    Glob { wide: bool, dots: bool },
}

impl<'a> Reader<'a> {
    pub(super) fn new(policy: &'a Policy, request: &'a Request, real: &'a dyn RealPaths) -> Self {
        let options = &policy.options;
        let mut blind = Vec::new();
        let vault = slashes(&request.vault, options.windows);
        let vault = if vault.starts_with('/') {
            normal(&vault).unwrap_or(vault)
        } else {
            blind.push("the vault is not an absolute path".to_owned());
            "/".to_owned()
        };
        let mut folders = Folders {
            real_vault: None,
            cwd: vault.clone(),
            vault,
            home: options.style.home.clone(),
            windows: options.windows,
            fold_case: options.style.fold_case,
        };
        if let Some(cwd) = &request.cwd {
            match folders.absolute(cwd, &folders.vault) {
                Some(path) => {
                    let written = folders.written(cwd, &folders.vault);
                    if written.is_none_or(|path| folders.walked(&path, real) != Walk::AsWritten) {
                        blind.push("the current folder is not known".to_owned());
                    }
                    folders.cwd = path;
                }
                None => blind.push("the current folder is not a path".to_owned()),
            }
        }
        Reader {
            policy,
            request,
            real,
            led: BTreeMap::new(),
            folders,
            targets: Vec::new(),
            seen: BTreeSet::new(),
            planted: BTreeMap::new(),
            names_left: wildcards::MAX_NAMES,
            blind,
            asked: BTreeSet::new(),
            possibly_changed: BTreeSet::new(),
            addresses: Vec::new(),
        }
    }

    /// Resolves a path. Each is resolved once per call, because that takes several system calls.
    fn real<'p>(&mut self, path: &'p str) -> Option<Cow<'p, str>> {
        if let Some(known) = self.led.get(path) {
            return known.clone().map(Cow::Owned);
        }
        let real = self.real.real(path);
        // A path that resolves to itself needs no entry.
        if !matches!(real, Some(Cow::Borrowed(_))) {
            self.led.insert(path.to_owned(), real.clone().map(Cow::into_owned));
        }
        real
    }

    /// Returns the target of a normalized path.
    fn placed(&mut self, path: &str) -> String {
        if self.folders.real_vault.is_none() {
            let vault = self.folders.vault.clone();
            let real = self.real(&vault).map(Cow::into_owned);
            self.folders.real_vault = Some(real.unwrap_or(vault));
        }
        self.folders.target(path)
    }

    fn push(&mut self, target: Target) {
        if !target.is_simple() || self.is_new(&target) {
            self.targets.push(target);
        }
    }

    /// Returns true if a simple target is new. A few targets are compared one by one.
    fn is_new(&mut self, target: &Target) -> bool {
        fn key(target: &Target) -> (Domain, &str, bool) {
            (target.domain(), &target.text, target.quiet)
        }
        let mut simple = self.targets.iter().filter(|one| one.is_simple()).map(key);
        if self.targets.len() < FEW {
            return simple.all(|known| known != key(target));
        }
        let owned = |(domain, text, quiet): (Domain, &str, bool)| (domain, text.to_owned(), quiet);
        if self.seen.is_empty() {
            // Not collected, because that would instantiate another sort.
            self.seen.extend(simple.map(owned));
        }
        self.seen.insert(owned(key(target)))
    }

    pub(super) fn call(&mut self) {
        let options = &self.policy.options;
        if self.request.touches_nothing {
            return self.tool(true);
        }
        for one in touched(&self.request.tool, &self.request.args, &options.tools, &options.servers)
        {
            match one {
                UnresolvedTarget::Path(domain, text) => self.given(domain, &text, Extent::Whole),
                UnresolvedTarget::Folder(domain, text) => self.given(domain, &text, Extent::Names),
                UnresolvedTarget::Names { folder: None, glob } => self.names(None, &glob),
                UnresolvedTarget::Names { folder: Some(folder), glob } => {
                    for folder in given::spellings(&folder) {
                        self.names(Some(&folder), &glob);
                    }
                }
                UnresolvedTarget::Command { text, cwd } => self.command(&text, cwd.as_deref()),
                UnresolvedTarget::Address(text) => self.address(&text),
                UnresolvedTarget::Query(text) => {
                    self.plain(Domain::WebSearch, format!("query:{text}"))
                }
                UnresolvedTarget::Tool(is_none) => self.tool(is_none),
                UnresolvedTarget::Mcp(text) => self.plain(Domain::Mcp, format!("mcp:{text}")),
                UnresolvedTarget::Powerful(key) => self
                    .blind
                    .push(format!("the argument {key:?} changes what the command is or may do")),
                UnresolvedTarget::Unknown(key) => self
                    .blind
                    .push(format!("what the argument {key:?} does to the command is not known")),
                UnresolvedTarget::Unreadable(domain, key) => {
                    self.blind.push(format!(
                        "the argument {key:?} for {} cannot be read",
                        domain.as_str()
                    ));
                }
            }
        }
    }

    fn plain(&mut self, domain: Domain, text: String) {
        let concerns = control(&text);
        self.push(Target { domain: Some(domain), text, concerns, wide: true, ..Target::default() });
    }

    /// Adds the tool itself, under the name that the host uses.
    fn tool(&mut self, touches_nothing: bool) {
        let text = ["tool:", &self.request.tool].concat();
        let harmless = touches_nothing || self.request.touches_nothing;
        let concerns = control(&text);
        self.push(Target {
            domain: Some(Domain::Tool),
            text,
            concerns,
            harmless,
            ..Target::default()
        });
    }

    fn address(&mut self, text: &str) {
        let Some(address) = self.request.addresses.get(text) else {
            self.addresses.push(text.to_owned());
            return self.blind.push(format!("{text:?} is not an address"));
        };
        let target = address.target();
        let mut concerns = control(&target);
        let reason = address.concern();
        concerns.extend(reason.map(|reason| Concern {
            reason: reason.to_owned(),
            covered_by: CoveredBy::Word(target.clone()),
        }));
        self.push(Target {
            domain: Some(Domain::WebFetch),
            text: target,
            concerns,
            wide: reason.is_none(),
            ..Target::default()
        });
    }

    fn command(&mut self, text: &str, folder: Option<&str>) {
        let Some(cwd) = self.folders.absolute(folder.unwrap_or("."), &self.folders.cwd) else {
            return self.blind.push("the folder of the command is not a path".to_owned());
        };
        // The current directory was examined already.
        if let Some(folder) = folder {
            self.settled(folder, &self.folders.cwd.clone());
        }
        let options = &self.policy.options;
        let kinds = shell::RuleKinds {
            files: options.restrictions.has(Domain::Read),
            edits: options.restrictions.of_edits,
            programs: options.restrictions.has(Domain::Bash),
            read_only: options.read_only,
        };
        let reading = shell::read(text, &self.folders, &cwd, &options.sensitive, kinds);
        // Without writes nothing is copied into a repository.
        let copies = reading.commands.iter().any(|one| !one.repositories.is_empty())
            && reading.files.iter().any(|file| file.domain == Domain::Edit)
            && reading
                .files
                .iter()
                .any(|file| !file.glob && !file.names && self.is_repository(&file.path));
        for mut one in reading.commands {
            let scheme = |text: String| {
                if text.starts_with("shell:") { text } else { ["shell:", &text].concat() }
            };
            let mut concerns = std::mem::take(&mut one.concerns);
            for folder in &one.repositories {
                if !self.planted.contains_key(folder) {
                    let concern = self.planted_in(folder);
                    self.planted.insert(folder.clone(), concern);
                }
            }
            concerns
                .extend(one.repositories.iter().find_map(|folder| self.planted[folder].clone()));
            if copies && !one.repositories.is_empty() {
                concerns.push(Concern::always(
                    "the command copies a folder that git takes for a repository",
                ));
            }
            self.push(Target {
                domain: Some(Domain::Bash),
                text: ["shell:", &one.text].concat(),
                others: one.others.into_iter().map(scheme).collect(),
                concerns,
                quiet: one.quiet,
                wide: one.prefix,
                same_as: one.same_as.as_ref().map(|text| ["shell:", text].concat()),
                is_read_only: one.is_read_only,
                ..Target::default()
            });
        }
        for file in &reading.files {
            let extent = match file.glob {
                true => Extent::Glob { wide: !file.names, dots: false },
                false if file.names => Extent::Names,
                false => Extent::Whole,
            };
            self.written(file.domain, &file.written, extent);
        }
        let mut seen = BTreeSet::new();
        for (folder, content) in &reading.contents {
            if seen.insert(content.key(folder)) {
                self.content(folder, content);
            }
        }
        if reading.named.len() > MAX_NAMED {
            self.blind.push("the command names too much to be judged".to_owned());
        }
        for file in reading.named.iter().take(MAX_NAMED) {
            self.named(file);
        }
        if reading.possibly_changed.len() > MAX_NAMED {
            self.blind.push("the command names too much to be judged".to_owned());
        }
        for file in reading.possibly_changed.iter().take(MAX_NAMED) {
            self.ask_if_restricted(file);
        }
        self.copied(&reading.copied, &reading.files);
    }

    /// Adds a path that an argument may denote. Only denials and questions count for it.
    fn named(&mut self, file: &shell::FileUse) {
        let Some(path) = normal(&file.written) else { return };
        if file.glob {
            return self.named_glob(path);
        }
        let real = self.real(&path).map(Cow::into_owned).filter(|real| *real != path);
        for path in [Some(path), real].into_iter().flatten() {
            let text = self.placed(&path);
            let target = Target {
                domain: Some(Domain::Read),
                others: self.others(Domain::Read, &text, &path, Extent::Whole),
                text,
                quiet: true,
                ..Target::default()
            };
            if self.policy.guards(&target) {
                self.push(target);
            }
        }
    }

    /// Adds an argument with wildcards, if they can mean what a rule is about.
    fn named_glob(&mut self, path: String) {
        let extent = Extent::Glob { wide: true, dots: false };
        let text = self.placed(&path);
        let others = self.others(Domain::Read, &text, &path, extent);
        let is_new = self.asked.insert((Domain::Read, path.clone(), extent));
        let texts = || std::iter::once(&text).chain(&others);
        if let Some(concern) = self.met(Domain::Read, &path, extent, texts()).filter(|_| is_new) {
            let concerns = vec![concern];
            self.push(Target {
                domain: Some(Domain::Read),
                text,
                concerns,
                quiet: true,
                ..Target::default()
            });
        }
    }

    /// Adds a path as it is written: by its text and, where `..` follows a symlink, as the file system resolves it.
    /// Tools differ in which of the two they use.
    fn written(&mut self, domain: Domain, written: &str, extent: Extent) {
        if !self.asked.insert((domain, written.to_owned(), extent)) {
            return;
        }
        if self.asked.len() > MAX_PATHS {
            if self.asked.len() == MAX_PATHS + 1 {
                self.blind.push("the call names too many files to be judged".to_owned());
            }
            // A hard deny matches the text.
            if let Some(path) = normal(written) {
                let text = self.placed(&path);
                self.push(Target { domain: Some(domain), text, ..Target::default() });
            }
            return;
        }
        if let Some(path) = normal(written) {
            self.path(domain, &path, extent);
        }
        match self.folders.walked(written, self.real) {
            Walk::AsWritten => {}
            Walk::Elsewhere(path) => self.path(domain, &path, extent),
            Walk::Unknown => self.blind.push(format!("where {written} leads is not known")),
        }
    }

    /// Checks that a directory that other paths are relative to denotes a single place.
    fn settled(&mut self, folder: &str, from: &str) {
        let Some(written) = self.folders.written(folder, from) else { return };
        if self.folders.walked(&written, self.real) != Walk::AsWritten {
            self.blind.push(format!("where {folder} leads is not known"));
        }
    }

    /// Returns true if the tool removes its targets with everything in them.
    fn removes(&self) -> bool {
        let tool = self.request.tool.to_ascii_lowercase();
        ["delete", "remove", "trash"].iter().any(|name| tool.contains(name))
    }

    /// Returns other forms of a target, for which denials and questions count in addition.
    fn others(&self, domain: Domain, text: &str, path: &str, extent: Extent) -> Vec<String> {
        let other = ["fs:", path].concat();
        let mut others = if other == text { Vec::new() } else { vec![other] };
        if domain == Domain::Edit
            && let Some(place) = is_protected_file(path)
        {
            others.push(canonical(place).to_owned());
        }
        if domain == Domain::Edit && is_essential_program(path) {
            others.push(canonical(Place::File).to_owned());
        }
        if domain == Domain::Edit && self.removes() && protected(path, &self.folders).is_some() {
            others.push(canonical(Place::File).to_owned());
        }
        // A deny of everything in a directory covers the directory, also if a wildcard for what is changed can mean it.
        let is_changed = domain == Domain::Edit && matches!(extent, Extent::Glob { .. });
        if extent == Extent::Whole || is_changed {
            let options = &self.policy.options;
            let all = [text, others.first().map_or("", String::as_str)].into_iter();
            let restricted =
                all.flat_map(|folder| options.restrictions.folders(domain, folder, is_changed));
            let within: Vec<_> = restricted.map(|folder| folder + "/").collect();
            others.extend(within);
        }
        others
    }

    /// Returns the concern about a glob that may mean what a deny rule is about, or a folder that is read as a whole.
    fn met<'t>(
        &self,
        domain: Domain,
        path: &str,
        extent: Extent,
        texts: impl Iterator<Item = &'t String> + Clone,
    ) -> Option<Concern> {
        let options = &self.policy.options;
        if options.restrictions.places.len().saturating_mul(self.asked.len()) > MAX_MEETINGS {
            return Some(Concern::always("the call has too many wildcards to be judged"));
        }
        let is_read = domain == Domain::Read && matches!(extent, Extent::Glob { wide: true, .. });
        let folder =
            |text: &String| options.restrictions.folders(domain, text, true).into_iter().next();
        if let Some(folder) = texts.clone().filter(|_| is_read).find_map(folder) {
            return Some(Concern::always(format!(
                "{path} may mean {folder}, which a rule is about"
            )));
        }
        let rule = texts.into_iter().find_map(|text| options.restriction_met_by(domain, text))?;
        let about = rule.pattern.source();
        Some(Concern::always(format!("{path} may mean what {about:?} is about")))
    }

    /// Returns the concerns about changing a file that says what runs later: for git, when a shell starts or a user logs in.
    fn run_later(&self, path: &str, real: Option<&str>, is_glob: bool) -> Vec<Concern> {
        let either = |is: &dyn Fn(&str) -> bool| is(path) || real.is_some_and(is);
        let is_run_by_git = |path: &str| {
            is_of_git(path, is_glob)
                || (!is_glob && (is_file_of_git(path) || self.is_setting(path)))
        };
        let mut concerns = Vec::new();
        if either(&is_run_by_git) {
            concerns.push(Concern {
                reason: format!("{path} is where git reads what it runs"),
                covered_by: CoveredBy::Word(GIT.to_owned()),
            });
        }
        if either(&|path| is_startup(path, is_glob)) {
            concerns.push(Concern {
                reason: format!("{path} says what runs when a shell starts or a user logs in"),
                covered_by: path
                    .rsplit('/')
                    .next()
                    .map_or(CoveredBy::Nothing, |name| CoveredBy::Word(["**/", name].concat())),
            });
        }
        concerns
    }

    /// Adds a normalized path.
    fn path(&mut self, domain: Domain, path: &str, extent: Extent) {
        let is_glob = matches!(extent, Extent::Glob { .. });
        // Resolved before the vault, because the vault mostly contains it.
        let real = match is_glob {
            false => self.real(path),
            true => {
                let fixed = path.find(['*', '?', '[', '{']).unwrap_or(path.len());
                let (folder, rest) = path.split_at(path[..fixed].rfind('/').unwrap_or(0));
                self.real(if folder.is_empty() { "/" } else { folder })
                    .map(|folder| Cow::Owned([folder.trim_end_matches('/'), rest].concat()))
            }
        };
        let first = self.placed(path);
        let (is_read, is_edit) = (domain == Domain::Read, domain == Domain::Edit);
        let sensitive = |path: &str| {
            let names = &self.policy.options.sensitive;
            (is_read || is_edit)
                && match extent {
                    Extent::Glob { wide, dots } => {
                        let fixed = path.find(['*', '?', '[', '{']).unwrap_or(path.len());
                        let rest = &path[path[..fixed].rfind('/').map_or(0, |at| at + 1)..];
                        names.can_be_sensitive(path, wide && is_read)
                            || (dots && is_read && names.can_be_found(rest, true))
                    }
                    Extent::Names | Extent::Whole => names.is_sensitive(path),
                }
        };
        let secret =
            sensitive(path) || real.as_deref().is_some_and(|real| real != path && sensitive(real));
        let mut concerns = control(path);
        if is_edit {
            concerns.extend(self.run_later(path, real.as_deref(), is_glob));
        }
        let real = real.unwrap_or_else(|| {
            concerns.push(Concern::always(format!("where {path} leads is not known")));
            Cow::Borrowed("")
        });
        // A path that cannot be resolved is outside.
        let second = if real.is_empty() { format!("fs:{path}") } else { self.placed(&real) };
        let make = |text: String, path: &str| {
            let others = self.others(domain, &text, path, extent);
            let mut concerns = concerns.clone();
            if is_glob {
                let texts = std::iter::once(&text).chain(&others);
                concerns.extend(self.met(domain, path, extent, texts));
            }
            Target {
                domain: Some(domain),
                others,
                text,
                concerns,
                wide: !is_glob,
                sensitive: secret,
                own: !is_glob && domain == Domain::Read && self.request.own_files.contains(&*real),
                ..Target::default()
            }
        };
        let given = make(first.clone(), path);
        let followed = (second != first).then(|| make(second, &real));
        // In tools `**` matches any number of directories, whose content is not examined.
        let below = (is_glob && !real.contains("**"))
            .then(|| wildcards::links(&real, &mut self.names_left, self.real));
        self.push(given);
        if let Some(followed) = followed {
            self.push(followed);
        }
        match below {
            None => {}
            Some(None) => self.blind.push(format!("{path} may mean too many names")),
            Some(Some(links)) => links.iter().for_each(|link| self.link(domain, link, extent)),
        }
    }
}

fn control(text: &str) -> Vec<Concern> {
    if text.chars().any(char::is_control) {
        return vec![Concern::always("a name or an address has a control character")];
    }
    Vec::new()
}
