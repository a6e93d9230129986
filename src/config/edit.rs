//! Edits the text of a configuration, preserving everything else, comments and white space included.

use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstObjectProp, CstRootNode};

use super::check::{Severity, check};
use super::fields::{RUNTIME, section};
use super::tree::{Fault, Kind, Member, Node, parse, position, strict};
use crate::error::{Code, Error, Result};

/// Applies a merge patch (RFC 7386) to a text: objects are merged, `null` removes, any other value replaces. In arrays,
/// equal items at both ends keep their text.
pub fn edit(text: &str, change: &Node) -> Result<String> {
    let Some(members) = change.members() else {
        return Err(Error::field(Code::InvalidArgument, "change", "is not an object"));
    };
    let wrong = check(without_nulls(change)).problems;
    if let Some(problem) = wrong.into_iter().find(|problem| problem.severity == Severity::Error) {
        return Err(Error {
            code: Code::InvalidConfig,
            message: problem.message,
            field: Some(problem.path),
        });
    }
    let (mark, body) = match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    };
    let before = content(body)?;
    let expected = patched(&before, change, &mut Vec::new());
    if expected == before {
        return Ok(text.to_owned());
    }
    let root = CstRootNode::parse(body, &strict())
        .map_err(|error| Error::new(Code::Internal, error.to_string()))?;
    let is_new = root.value().is_none();
    apply(&root.object_value_or_set(), Some(&before), members, &mut Vec::new());
    let mut after = root.to_string();
    if is_new && !after.ends_with('\n') {
        after.push_str(if body.contains("\r\n") { "\r\n" } else { "\n" });
    }
    // A result other than the requested one is not written.
    match content(&after) {
        Ok(found) if found == expected => Ok(format!("{mark}{after}")),
        _ => Err(Error::new(
            Code::Internal,
            "the change would damage the file, which is left as it was",
        )),
    }
}

/// Returns the object in a text that is to be changed.
pub fn content(text: &str) -> Result<Node> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let broken = |Fault { at, problem }: Fault| {
        let (line, column) = position(text, at);
        Error::new(
            Code::InvalidConfig,
            format!(
                "line {line}, column {column}: {problem}; a file that cannot be read is not changed"
            ),
        )
    };
    let node = parse(text).map_err(broken)?.unwrap_or_else(Node::empty);
    if node.members().is_some() {
        return Ok(node);
    }
    Err(Error::new(Code::InvalidConfig, "the file holds no object, and is not changed"))
}

/// Returns the names of a field: the one used in the file, or the documented one.
fn names(path: &[String], key: &str) -> Vec<String> {
    let known = match path {
        [agents, runtime, name] if [agents.as_str(), runtime.as_str()] == RUNTIME => {
            section(name).and_then(|section| section.field(key))
        }
        _ => None,
    };
    let mut names = vec![key.to_owned()];
    if let Some(field) = known {
        let all = std::iter::once(field.key).chain(field.aliases.iter().copied());
        names.extend(all.filter(|name| *name != key).map(str::to_owned));
    }
    names
}

fn apply(object: &CstObject, node: Option<&Node>, change: &[Member], path: &mut Vec<String>) {
    for member in change {
        let names = names(path, &member.key);
        let found: Vec<CstObjectProp> = object
            .properties()
            .into_iter()
            .filter(|one| one.decoded_name().is_some_and(|name| names.contains(&name)))
            .collect();
        if let Kind::Null = member.value.kind {
            found.into_iter().for_each(CstObjectProp::remove);
            continue;
        }
        if found.is_empty() {
            object.append(&member.key, input(&without_nulls(&member.value)));
            continue;
        }
        for property in found {
            let name = property.decoded_name().unwrap_or_default();
            let known = node.and_then(|node| node.get(&name));
            path.push(name);
            match (&member.value.kind, property.object_value(), property.array_value(), known) {
                (Kind::Map(inner), Some(object), _, _) => apply(&object, known, inner, path),
                (Kind::List(items), _, Some(array), Some(Node { kind: Kind::List(old), .. }))
                    if array.elements().len() == old.len() =>
                {
                    replace_items(&array, old, items);
                }
                _ if known == Some(&without_nulls(&member.value)) => {}
                _ => property.set_value(input(&without_nulls(&member.value))),
            }
            path.pop();
        }
    }
}

fn replace_items(array: &CstArray, old: &[Node], new: &[Node]) {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let end = old[start..]
        .iter()
        .rev()
        .zip(new[start..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let gone = array.elements();
    for element in gone.into_iter().take(old.len() - end).skip(start) {
        element.remove();
    }
    for (offset, item) in new[start..new.len() - end].iter().enumerate() {
        array.insert(start + offset, input(item));
    }
}

fn input(node: &Node) -> CstInputValue {
    match &node.kind {
        Kind::Null => CstInputValue::Null,
        Kind::Bool(value) => CstInputValue::Bool(*value),
        Kind::Number(text) => CstInputValue::Number(text.clone()),
        Kind::Text(text) => CstInputValue::String(text.clone()),
        Kind::List(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Kind::Map(members) => CstInputValue::Object(
            members.iter().map(|member| (member.key.clone(), input(&member.value))).collect(),
        ),
    }
}

/// Removes members that are null. Arrays are data, and keep theirs.
fn without_nulls(node: &Node) -> Node {
    let kind = match &node.kind {
        Kind::Map(members) => Kind::Map(
            members
                .iter()
                .filter(|member| !matches!(member.value.kind, Kind::Null))
                .map(|member| Member { value: without_nulls(&member.value), ..member.clone() })
                .collect(),
        ),
        other => other.clone(),
    };
    Node { at: node.at, kind }
}

fn patched(node: &Node, change: &Node, path: &mut Vec<String>) -> Node {
    let (Some(members), Some(before)) = (change.members(), node.members()) else {
        return without_nulls(change);
    };
    let mut after = before.to_vec();
    for member in members {
        let names = names(path, &member.key);
        if let Kind::Null = member.value.kind {
            after.retain(|known| !names.contains(&known.key));
            continue;
        }
        let mut found = false;
        for known in after.iter_mut().filter(|known| names.contains(&known.key)) {
            found = true;
            path.push(known.key.clone());
            known.value = patched(&known.value, &member.value, path);
            path.pop();
        }
        if !found {
            after.push(Member { value: without_nulls(&member.value), ..member.clone() });
        }
    }
    Node { at: node.at, kind: Kind::Map(after) }
}
