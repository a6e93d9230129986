//! Merges the layers of a configuration, and finds problems of the result.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::check::{Checked, Severity, check, option, rule, style};
use super::fields::{RUNTIME, SECTIONS};
use super::tree::{Fault, Kind, Node, parse, parse_loosely, position};
use crate::error::{Code, Error, Result};
use crate::permission::rules::{MAX_RULES, RuleList};
use crate::util::sort::object;

/// The user's file.
#[derive(Debug)]
pub enum Found<'a> {
    /// It does not exist, which is fine.
    Nothing,
    Text(&'a str),
    /// It exists and cannot be read.
    Unreadable(Unreadable),
}

/// The reason why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The reason as a part of a sentence, after the name of the file.
    pub reason: String,
    /// Line and column, if the problem has a position.
    pub place: Option<(usize, usize)>,
}

/// A problem as it is reported to the user.
#[derive(Debug, Clone, Serialize, PartialEq, Eq)]
pub struct ReportedProblem {
    /// `error` if a part was left out.
    pub severity: &'static str,
    /// The layer that contains it.
    pub layer: &'static str,
    /// Path of the field; empty for the whole file.
    pub path: String,
    /// A sentence.
    pub message: String,
    /// The user's file, if the problem is in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// From 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// From 1, in UTF-16 units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

/// Returns the effective configuration as JSON: `config`, `problems`, `sources`, `options`.
pub fn load(file: &str, user: Found<'_>, inline: Option<&str>) -> Result<String> {
    let mut problems = Vec::new();
    let (user, text, unread, broken) = match user {
        Found::Nothing => (Checked::default(), "", None, false),
        Found::Text(text) => {
            let text = text.strip_prefix('\u{feff}').unwrap_or(text);
            let (checked, broken) = read(text);
            (checked, text, None, broken)
        }
        Found::Unreadable(Unreadable { reason, place }) => {
            let mut checked = Checked::default();
            checked.tell(Severity::Error, "", 0, reason);
            checked.close_all();
            (checked, "", place, true)
        }
    };
    for problem in &user.problems {
        let place = unread.or_else(|| (!text.is_empty()).then(|| position(text, problem.at)));
        let name =
            place.map_or(file.to_owned(), |(line, column)| format!("{file}:{line}:{column}"));
        problems.push(ReportedProblem {
            severity: word(problem.severity),
            layer: "user",
            path: problem.path.clone(),
            message: format!("{name}: {}", problem.message),
            file: Some(file.to_owned()),
            line: place.map(|place| place.0),
            column: place.map(|place| place.1),
        });
    }
    let mut inline = inline.map(inline_node).transpose()?.map(check).unwrap_or_default();
    bound_rules(user.tree.as_ref(), &mut inline);
    problems.extend(inline.problems.iter().map(|problem| ReportedProblem {
        severity: word(problem.severity),
        layer: "inline",
        path: problem.path.clone(),
        message: format!("inline: {}", problem.message),
        file: None,
        line: None,
        column: None,
    }));
    let closed: Vec<&str> = user.closed.union(&inline.closed).copied().collect();
    let mut sources = Map::new();
    let mut tree = user.tree.unwrap_or_else(Node::empty);
    tell_sources(&tree, "user", 0, &mut sources);
    let own_rules = rules_of(&tree).len();
    let truncates = inline.tree.as_ref().and_then(truncates).or_else(|| truncates(&tree));
    if let Some(inline) = inline.tree {
        tell_sources(&inline, "inline", own_rules, &mut sources);
        merge(&mut tree, inline, &mut Vec::new());
    }
    let options = options(
        &tree,
        &closed,
        broken && sources.get("agents.runtime.mode.default") != Some(&json!("inline")),
        truncates.unwrap_or(true),
    );
    Ok(format!(
        r#"{{"config":{},"problems":{},"sources":{},"options":{}}}"#,
        tree.json(),
        json!(problems),
        json!(sources),
        options
    ))
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// Reads a text as far as possible, and returns whether it is malformed.
fn read(text: &str) -> (Checked, bool) {
    match parse(text) {
        Ok(node) => (check(node.unwrap_or_else(Node::empty)), false),
        Err(Fault { at, problem }) => {
            let mut checked = parse_loosely(text).map(check).unwrap_or_default();
            checked.tell(Severity::Error, "", at, problem);
            checked.problems.rotate_right(1);
            checked.close_all();
            (checked, true)
        }
    }
}

/// Reads the inline configuration from the facade.
pub fn inline_node(json: &str) -> Result<Node> {
    let unreadable = |fault: Fault| {
        Error::new(Code::InvalidArgument, format!("the value cannot be read: {}", fault.problem))
    };
    Ok(parse(json).map_err(unreadable)?.unwrap_or_else(Node::empty))
}

/// Merges objects, concatenates rules, and replaces any other value.
fn merge(below: &mut Node, above: Node, path: &mut Vec<String>) {
    if !matches!((&below.kind, &above.kind), (Kind::Map(_), Kind::Map(_))) {
        *below = above;
        return;
    }
    let (Kind::Map(into), Kind::Map(members)) = (&mut below.kind, above.kind) else { return };
    for member in members {
        path.push(member.key.clone());
        match into.iter_mut().find(|known| known.key == member.key) {
            None => into.push(member),
            Some(known) if is_rules(path) => match (&mut known.value.kind, member.value.kind) {
                (Kind::List(rules), Kind::List(more)) => rules.extend(more),
                (kind, other) => *kind = other,
            },
            Some(known) => merge(&mut known.value, member.value, path),
        }
        path.pop();
    }
}

fn is_rules(path: &[String]) -> bool {
    path.iter().map(String::as_str).eq(RUNTIME.iter().copied().chain(["permission", "rules"]))
}

fn rules_of(tree: &Node) -> &[Node] {
    match tree.at_path(&[RUNTIME[0], RUNTIME[1], "permission", "rules"]).map(|node| &node.kind) {
        Some(Kind::List(rules)) => rules,
        _ => &[],
    }
}

/// Limits the rules of both layers together to the maximum of a policy.
fn bound_rules(user: Option<&Node>, inline: &mut Checked) {
    let before = user.map_or(0, |tree| rules_of(tree).len());
    let all = before + inline.tree.as_ref().map_or(0, |tree| rules_of(tree).len());
    let path = [RUNTIME[0], RUNTIME[1], "permission", "rules"];
    let rules = inline.tree.as_mut().and_then(|tree| tree.at_path_mut(&path));
    let Some((Kind::List(rules), at)) = rules.map(|node| (&mut node.kind, node.at)) else { return };
    if all > MAX_RULES {
        rules.truncate(MAX_RULES - before);
        let path = path.join(".");
        let message = format!(
            "{path}: expected at most {MAX_RULES} rules, received {all} with those of the file"
        );
        inline.tell(Severity::Error, &path, at, message);
        inline.close_all();
    }
}

fn tell_sources(tree: &Node, layer: &str, rules_before: usize, sources: &mut Map<String, Value>) {
    let Some(runtime) = tree.at_path(&RUNTIME) else { return };
    for section in &SECTIONS {
        let Some(node) = runtime.get(section.key) else { continue };
        let path = format!("{}.{}", RUNTIME.join("."), section.key);
        // A switch replaces the settings below it, and vice versa.
        if matches!(node.kind, Kind::Bool(_)) {
            sources.retain(|key, _| !key.starts_with(&format!("{path}.")));
            sources.insert(path.clone(), json!(layer));
        } else {
            sources.remove(&path);
        }
        for field in section.fields.iter().filter(|field| node.get(field.key).is_some()) {
            let key = format!("{path}.{}", field.key);
            if field.kind == super::fields::Kind::Rules {
                for place in 0..rules_of(tree).len() {
                    sources.insert(format!("{key}[{}]", rules_before + place), json!(layer));
                }
            } else {
                sources.insert(key, json!(layer));
            }
        }
    }
}

/// Returns whether a layer enables truncation as a whole, if it says so: the switch in the settings takes precedence
/// over the one at the top.
fn truncates(tree: &Node) -> Option<bool> {
    let switch = |node: Option<&Node>| match node?.kind {
        Kind::Bool(is_on) => Some(is_on),
        _ => None,
    };
    let settings = tree.at_path(&RUNTIME).and_then(|runtime| runtime.get("truncation"));
    switch(settings).or_else(|| switch(tree.get("truncation"))).or_else(|| settings.map(|_| true))
}

/// Returns the options of the capabilities.
fn options(tree: &Node, closed: &[&str], without_mode: bool, truncates: bool) -> Value {
    let runtime = tree.at_path(&RUNTIME);
    let mut all = Map::new();
    for section in &SECTIONS {
        let fields = section.fields.iter().filter_map(|field| {
            Some((field.option.to_owned(), option(runtime, section.key, field)?))
        });
        all.insert(section.key.to_owned(), Value::Object(object(fields)));
    }
    let mode = all.get("mode").and_then(|mode| mode.get("default")).cloned();
    all.insert("mode".into(), mode.filter(|_| !without_mode).unwrap_or_else(|| json!("agent")));
    if !truncates {
        all.insert("truncation".into(), json!(false));
    }
    if !closed.is_empty() {
        all["permission"]["failClosed"] = json!(closed);
    }
    Value::Object(all)
}

/// A finding for a person to review.
#[derive(Debug, Clone, Serialize, PartialEq, Eq)]
pub struct Finding {
    /// `shadowed`, `example`, `invalid` or `unknown`.
    pub kind: &'static str,
    /// Path of the field.
    pub path: String,
    /// A sentence.
    pub message: String,
}

/// Finds rules that can never apply, rules whose own examples fail, and everything that loading would report.
pub fn lint(config: &str) -> Result<Vec<Finding>> {
    let tree = inline_node(config)?;
    let path = format!("{}.permission.rules", RUNTIME.join("."));
    let style = style();
    let rules: Vec<_> = rules_of(&tree)
        .iter()
        .enumerate()
        .filter_map(|(at, item)| Some((at, rule(item, &style, "").ok()?)))
        .collect();
    let places: Vec<usize> = rules.iter().map(|(at, _)| *at).collect();
    // Stored approvals neither hide a rule nor are redundant because of one.
    let list = RuleList::new(rules.into_iter().map(|(_, rule)| rule).collect());
    let mut findings: Vec<Finding> = check(tree)
        .problems
        .into_iter()
        .map(|problem| Finding {
            kind: match problem.severity {
                Severity::Error if problem.path.contains("].examples") => "example",
                Severity::Error => "invalid",
                Severity::Warning => "unknown",
            },
            path: problem.path,
            message: problem.message,
        })
        .collect();
    let at = |place: usize| places.get(place).copied().unwrap_or(place);
    findings.extend(list.hidden().into_iter().map(|(rule, by)| {
        let name = format!("{path}[{}]", at(rule));
        let hiding = list.all().get(by).map_or("", |rule| rule.pattern.source());
        let message = format!("{name}: can never count, because {hiding:?} comes later, at [{}], and is about at least the same targets", at(by));
        Finding { kind: "shadowed", path: name, message }
    }));
    Ok(findings)
}
