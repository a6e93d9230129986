//! Checks one layer of a configuration: reports every problem, leaves the invalid parts out and uses the rest.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::fields::{self, Field, Kind, RUNTIME, SECTIONS, Section, section};
use super::tree::{Kind as Is, Member, Node};
use crate::error::{Code, Error};
use crate::options::fields::{count_from, refuse};
use crate::options::smart_rule;
use crate::permission::DOMAINS;
use crate::permission::pattern::Style;
use crate::permission::rules::{MAX_RULES, Rule, Source};
use crate::permission::sensitive::SensitiveNames;
use crate::truncation::smart::rules::MAX_EXTRA;
use crate::util::size;
use crate::util::suggest::{nearest, refuse_choice, refuse_near, unknown};

/// Maximum number of problems reported; a file with more is reported as one problem.
const MAX_PROBLEMS: usize = 1000;

/// The severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// A part was left out.
    Error,
    /// A part has no effect, or another one than its author may expect.
    Warning,
}

/// A problem in a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub severity: Severity,
    /// Path of the field, such as `agents.runtime.mode.default`; empty for the whole file.
    pub path: String,
    /// Offset in bytes.
    pub at: usize,
    /// A sentence that begins with the path.
    pub message: String,
}

/// The valid part of a layer, and its problems.
#[derive(Debug, Default)]
pub struct Checked {
    /// The valid part, under documented names.
    pub tree: Option<Node>,
    pub problems: Vec<Problem>,
    /// Domains with rules that could not be read.
    pub closed: BTreeSet<&'static str>,
}

/// Checks a layer.
pub fn check(root: Node) -> Checked {
    let mut checked = Checked::default();
    let mut root = root;
    if root.members().is_none() {
        checked.refuse("", &root, "an object");
        checked.close_all();
        checked.tree = Some(Node::empty());
        return checked;
    }
    checked.without_prototypes(&mut root, &mut String::new());
    checked.descend(&mut root, &mut Vec::new());
    checked.tree = Some(root);
    checked
}

/// Returns how patterns are interpreted.
pub(super) fn style() -> Style {
    let home = dirs::home_dir().and_then(|home| home.to_str().map(str::to_owned));
    Style {
        fold_case: cfg!(any(windows, target_os = "macos")),
        home: home.map(|home| home.replace('\\', "/")),
        ..Style::default()
    }
}

impl Checked {
    pub(super) fn tell(&mut self, severity: Severity, path: &str, at: usize, message: String) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { severity, path: path.to_owned(), at, message });
        }
    }

    pub(super) fn close_all(&mut self) {
        self.closed.extend(DOMAINS.iter().map(|(name, _)| *name));
    }

    /// Refuses a value that is not among `words`.
    fn refuse_word(&mut self, path: &str, node: &Node, words: &[&str]) {
        let value = node.value();
        let error = refuse_choice(&value, words, Code::InvalidConfig, path);
        self.tell(Severity::Error, path, node.at, error.message);
    }

    fn refuse(&mut self, path: &str, node: &Node, allowed: &str) {
        let name = if path.is_empty() { "the configuration" } else { path };
        let error = refuse(&node.value(), Code::InvalidConfig, name, allowed);
        self.tell(Severity::Error, path, node.at, error.message);
    }

    /// Removes members whose names would set the prototype of a JavaScript object.
    fn without_prototypes(&mut self, node: &mut Node, path: &mut String) {
        match &mut node.kind {
            Is::Map(members) => {
                members.retain(|member| {
                    let kept = member.key != "__proto__";
                    if !kept {
                        let path = join(path, "__proto__");
                        let message = format!("{path}: is left out");
                        self.tell(Severity::Warning, &path, member.key_at, message);
                    }
                    kept
                });
                for member in members {
                    let length = path.len();
                    *path = join(path, &member.key);
                    self.without_prototypes(&mut member.value, path);
                    path.truncate(length);
                }
            }
            Is::List(items) => {
                items.iter_mut().for_each(|item| self.without_prototypes(item, path))
            }
            _ => {}
        }
    }

    /// Checks `agents`, then `runtime`, then its sections.
    fn descend(&mut self, node: &mut Node, path: &mut Vec<&'static str>) {
        let Some(next) = RUNTIME.get(path.len()) else { return self.sections(node) };
        let Is::Map(members) = &mut node.kind else { return };
        for member in members.iter() {
            self.stray(member, path);
        }
        let Some(place) = members.iter().position(|member| member.key == *next) else { return };
        path.push(next);
        let name = path.join(".");
        self.once(&members[place], &name, true);
        let value = &mut members[place].value;
        if value.members().is_some() {
            self.descend(value, path);
        } else {
            self.refuse(&name, value, "an object");
            self.close_all();
            members.remove(place);
        }
        path.pop();
    }

    /// Checks a key above the sections. Keys of the application are ignored. A key is a mistake if its name is right
    /// but for its case or its place, and the keys below it are known.
    fn stray(&mut self, member: &Member, path: &[&'static str]) {
        let Some(meant) = meant(member, path) else { return };
        let name = path.iter().copied().chain([member.key.as_str()]).collect::<Vec<_>>().join(".");
        let message = format!("Unknown option \"{name}\": did you mean {meant}?");
        // Rules under a wrong name do not take effect.
        let lost = holds_rules(&member.value);
        let severity = if lost { Severity::Error } else { Severity::Warning };
        self.tell(severity, &name, member.key_at, message);
        if lost {
            self.close_all();
        }
    }

    /// Reports a repeated name, which hides its first value.
    fn once(&mut self, member: &Member, path: &str, rules: bool) {
        if !member.repeated {
            return;
        }
        let severity = if rules { Severity::Error } else { Severity::Warning };
        let message = format!("{path}: is given more than once, and only the last one counts");
        self.tell(severity, path, member.key_at, message);
        if rules {
            self.close_all();
        }
    }

    fn sections(&mut self, runtime: &mut Node) {
        let Is::Map(members) = &mut runtime.kind else { return };
        let known: Vec<&str> = SECTIONS.iter().map(|section| section.key).collect();
        members.retain_mut(|member| {
            let path = format!("{}.{}", RUNTIME.join("."), member.key);
            let Some(section) = section(&member.key) else {
                if let Some(meant) = nearest(&member.key, &known) {
                    let rules = meant == "permission";
                    let message = unknown(Code::InvalidConfig, &path, &member.key, &known).message;
                    let severity = if rules { Severity::Error } else { Severity::Warning };
                    self.tell(severity, &path, member.key_at, message);
                    if rules {
                        self.close_all();
                    }
                }
                return true;
            };
            let guards = section.key == "permission";
            self.once(member, &path, guards);
            if section.switch && matches!(member.value.kind, Is::Bool(_)) {
                return true;
            }
            if member.value.members().is_none() {
                let allowed = if section.switch { "an object, or false" } else { "an object" };
                self.refuse(&path, &member.value, allowed);
                if guards {
                    self.close_all();
                }
                return false;
            }
            self.section(section, &mut member.value, &path);
            true
        });
    }

    fn section(&mut self, section: &Section, node: &mut Node, path: &str) {
        let guards = section.key == "permission";
        let Is::Map(members) = &mut node.kind else { return };
        let mut kept: Vec<Member> = Vec::with_capacity(members.len());
        for mut member in members.drain(..) {
            let name = format!("{path}.{}", member.key);
            let Some(field) = section.field(&member.key) else {
                let names = section.names();
                let error = unknown(Code::InvalidConfig, &name, &member.key, &names);
                let meant = nearest(&member.key, &names).and_then(|name| section.field(name));
                // Restrictions under a misspelt name do not take effect.
                let lost = guards
                    && meant.is_some_and(|it| matches!(it.kind, Kind::Rules | Kind::FileNames));
                let severity = if lost { Severity::Error } else { Severity::Warning };
                self.tell(severity, &name, member.key_at, error.message);
                if lost {
                    self.close_all();
                }
                kept.push(member);
                continue;
            };
            self.once(&member, &name, guards);
            if !self.value(field, &mut member.value, &name) {
                if guards && matches!(field.kind, Kind::Rules | Kind::Names | Kind::FileNames) {
                    self.close_all();
                }
                continue;
            }
            let is_alias = member.key != field.key;
            field.key.clone_into(&mut member.key);
            match kept.iter_mut().find(|known| known.key == field.key) {
                None => kept.push(member),
                Some(known) => {
                    let message = if is_alias {
                        format!("{name}: is another name of {}, which is set too", field.key)
                    } else {
                        format!("{name}: is ignored, because another name of it is set too")
                    };
                    self.tell(Severity::Warning, &name, member.key_at, message);
                    if is_alias {
                        *known = member;
                    }
                }
            }
        }
        *members = kept;
    }

    fn value(&mut self, field: &Field, node: &mut Node, path: &str) -> bool {
        let right = match field.kind {
            Kind::Count(min) => count_from(min, &node.value(), Code::InvalidConfig, path).is_ok(),
            Kind::Size => {
                if let Some(size) = node.text().and_then(size::bytes) {
                    node.kind = Is::Number(size.to_string());
                }
                count_from(1, &node.value(), Code::InvalidConfig, path).is_ok()
            }
            Kind::Days => is_infinity(node) || node.value().as_f64().is_some_and(|days| days > 0.0),
            Kind::Switch => matches!(node.kind, Is::Bool(_)),
            Kind::Choice(words, others) => {
                let meant = node.text().map(|word| {
                    others.iter().find(|(other, _)| *other == word).map_or(word, |(_, meant)| meant)
                });
                match meant.filter(|word| words.contains(word)).map(str::to_owned) {
                    Some(word) => {
                        node.kind = Is::Text(word);
                        true
                    }
                    None => false,
                }
            }
            Kind::Names => match &node.kind {
                Is::List(items) => {
                    items.iter().all(|item| item.text().is_some_and(|text| !text.is_empty()))
                }
                _ => false,
            },
            Kind::FileNames => return self.file_names(node, path),
            Kind::Url(beginnings) => return self.url(beginnings, node, path),
            Kind::Folder => node.text().is_some_and(|text| {
                !text.contains('\0') && std::path::Path::new(text).is_absolute()
            }),
            Kind::Rules => return self.rules(node, path),
            Kind::SmartRules => return self.smart_rules(node, path),
        };
        match field.kind {
            _ if right => {}
            Kind::Choice(words, _) => self.refuse_word(path, node, words),
            kind => self.refuse(path, node, &kind.allowed()),
        }
        right
    }

    /// Checks the beginning of a URL; opening it checks the rest.
    fn url(&mut self, beginnings: &[&str], node: &Node, path: &str) -> bool {
        let rest =
            |text: &str| beginnings.iter().find_map(|start| text.strip_prefix(start).map(str::len));
        let right = node.text().is_some_and(|text| {
            !text.contains(char::is_whitespace) && rest(text).is_some_and(|length| length > 0)
        });
        if !right {
            // The rest of a URL may have a password in it.
            let scheme = node.text().and_then(|text| Some(&text[..text.find("://")? + 3]));
            let received = match (scheme, &node.kind) {
                (Some(scheme), _) => scheme.into(),
                (None, Is::Text(_)) => json!({ "$type": "a text without a scheme" }),
                (None, _) => node.value(),
            };
            let allowed = format!("a URL that begins with {}", beginnings.join(" or "));
            let error = refuse_near(&received, &allowed, beginnings, Code::InvalidConfig, path);
            self.tell(Severity::Error, path, node.at, error.message);
        }
        right
    }

    /// Checks the names of files with secrets. An unreadable name could be about any file, unless it only excludes
    /// some.
    fn file_names(&mut self, node: &mut Node, path: &str) -> bool {
        let Is::List(items) = &mut node.kind else {
            self.refuse(path, node, &Kind::FileNames.allowed());
            return false;
        };
        let mut place = 0;
        items.retain(|item| {
            let name = format!("{path}[{place}]");
            place += 1;
            let problem = match item.text() {
                Some(text) => SensitiveNames::new(&[text.to_owned()]).err(),
                None => {
                    self.refuse(&name, item, "a file name with at most one *");
                    self.closed.insert("read");
                    return false;
                }
            };
            let Some(problem) = problem else { return true };
            self.tell(Severity::Error, &name, item.at, format!("{name}: {problem}"));
            if !item.text().is_some_and(|text| text.starts_with('!')) {
                self.closed.insert("read");
            }
            false
        });
        true
    }

    fn rules(&mut self, node: &mut Node, path: &str) -> bool {
        if !matches!(&node.kind, Is::List(items) if items.len() <= MAX_RULES) {
            let allowed = format!("an array of at most {MAX_RULES} rules");
            self.refuse(path, node, &allowed);
            return false;
        }
        let Is::List(items) = &mut node.kind else { return false };
        let style = style();
        let mut place = 0;
        items.retain(|item| {
            let name = format!("{path}[{place}]");
            place += 1;
            let error = match rule(item, &style, &name) {
                Ok(_) => return true,
                Err(error) => error,
            };
            let (field, at) = place_of(&error, &name, item);
            self.tell(Severity::Error, &field, at, error.message);
            let domain = item.get("domain").and_then(Node::text);
            match domain.and_then(|name| DOMAINS.iter().find(|(known, _)| *known == name)) {
                Some((domain, _)) => _ = self.closed.insert(domain),
                None => self.close_all(),
            }
            false
        });
        true
    }

    fn smart_rules(&mut self, node: &mut Node, path: &str) -> bool {
        if !matches!(&node.kind, Is::List(items) if items.len() <= MAX_EXTRA) {
            self.refuse(path, node, &Kind::SmartRules.allowed());
            return false;
        }
        let Is::List(items) = &mut node.kind else { return false };
        let mut place = 0;
        items.retain(|item| {
            let name = format!("{path}[{place}]");
            place += 1;
            let Err(error) = smart_rule(&item.value(), Code::InvalidConfig, &name) else {
                return true;
            };
            let (field, at) = place_of(&error, &name, item);
            self.tell(Severity::Error, &field, at, error.message);
            false
        });
        true
    }
}

/// Returns the field of an entry that an error is about, and its offset.
fn place_of(error: &Error, name: &str, item: &Node) -> (String, usize) {
    let field = error.field.clone().unwrap_or_else(|| name.to_owned());
    let inside = field.strip_prefix(name).unwrap_or("").trim_start_matches('.');
    let key = inside.split(['.', '[']).next().unwrap_or("");
    let member = item.members().and_then(|all| all.iter().find(|member| member.key == key));
    let at = member.map_or(item.at, |member| member.value.at);
    (field, at)
}

/// Reads a rule as it may be written in a file.
pub(super) fn rule(item: &Node, style: &Style, name: &str) -> Result<Rule, Error> {
    let twice = item.members().unwrap_or_default().iter().find(|member| member.repeated);
    if let Some(member) = twice {
        let field = format!("{name}.{}", member.key);
        return Err(Error::field(Code::InvalidConfig, field, "is given more than once"));
    }
    Rule::read(&item.value(), Source::User, style, name)
}

/// Recognizes the facade's encoding of a value that JSON cannot hold.
fn is_infinity(node: &Node) -> bool {
    node.get("$type").and_then(Node::text) == Some("Infinity")
}

/// Returns where a key above the sections belongs, if it is misplaced or misspelt.
fn meant(member: &Member, path: &[&'static str]) -> Option<String> {
    let depth = path.len();
    let is = |key: &str, name: &str| key.eq_ignore_ascii_case(name);
    if RUNTIME.get(depth) == Some(&member.key.as_str()) {
        return None;
    }
    // Written in one word: `permission.rules`.
    if let Some((first, rest)) = member.key.split_once('.') {
        let begins = [path, &[first]].concat();
        let all = [begins.as_slice(), &rest.split('.').collect::<Vec<_>>()].concat();
        let below = all.strip_prefix(RUNTIME.as_slice()).unwrap_or(&all);
        let [key, field] = below else { return None };
        let field = section(key)?.field(field)?;
        return Some(format!("{}.{key}.{}", RUNTIME.join("."), field.key));
    }
    let members = member.value.members()?;
    let has_section = |members: &[Member]| members.iter().any(|one| section(&one.key).is_some());
    // One of the two names above the sections.
    for (place, name) in RUNTIME.iter().enumerate().skip(depth) {
        let same = is(&member.key, name);
        let near = || nearest(&member.key, &[name]).is_some();
        let inner = RUNTIME.get(place + 1).map(|next| member.value.get(next));
        let known = match inner {
            Some(runtime) => runtime.and_then(Node::members).is_some_and(has_section),
            None => has_section(members),
        };
        if (same && (place == depth || known)) || (known && near()) {
            return Some(RUNTIME[..=place].join("."));
        }
    }
    let section = SECTIONS.iter().find(|section| is(&member.key, section.key))?;
    let known = members.iter().any(|one| section.field(&one.key).is_some());
    known.then(|| format!("{}.{}", RUNTIME.join("."), section.key))
}

/// Returns true if there are permission rules somewhere below.
fn holds_rules(node: &Node) -> bool {
    let is_rule = |item: &Node| ["domain", "decision"].iter().all(|key| item.get(key).is_some());
    match &node.kind {
        Is::List(items) => items.iter().any(is_rule),
        Is::Map(members) => members.iter().any(|member| holds_rules(&member.value)),
        _ => false,
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Returns the value of a valid field in the form that the capability expects.
pub(super) fn option(
    runtime: Option<&Node>,
    section: &str,
    field: &fields::Field,
) -> Option<Value> {
    runtime?.get(section)?.get(field.key).map(Node::value)
}
