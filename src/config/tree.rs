//! JSON with comments as a tree with positions.

use jsonc_parser::ast;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use crate::util::sort::object;

/// A value and its position.
#[derive(Debug, Clone)]
pub struct Node {
    /// Offset in bytes.
    pub at: usize,
    pub kind: Kind,
}

/// The kind of a value. Members keep their order.
#[derive(Debug, Clone)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as it is written.
    Number(String),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Node>),
    /// An object.
    Map(Vec<Member>),
}

/// A member of an object.
#[derive(Debug, Clone)]
pub struct Member {
    pub key: String,
    /// Offset of the name.
    pub key_at: usize,
    pub value: Node,
    /// True if the name occurs more than once; this is the last one.
    pub repeated: bool,
}

/// A syntax error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Offset in bytes.
    pub at: usize,
    /// A sentence.
    pub problem: String,
}

/// Returns the options of the strict parser: comments and trailing commas are accepted, no other extension of JSON.
pub(super) fn strict() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Parses a text; returns `None` if it has no value.
pub fn parse(text: &str) -> Result<Option<Node>, Fault> {
    read(text, &strict())
}

/// Parses a text that a person wrote with mistakes: missing commas, other quotes, unquoted names.
pub fn parse_loosely(text: &str) -> Option<Node> {
    read(text, &ParseOptions { allow_non_finite_numbers: false, ..ParseOptions::default() })
        .ok()
        .flatten()
}

fn read(text: &str, options: &ParseOptions) -> Result<Option<Node>, Fault> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), options).map_err(|error| {
        let problem = error.kind().to_string();
        Fault { at: error.range().start.min(text.len()), problem: lower_first(&problem) }
    })?;
    Ok(parsed.value.map(node))
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

// The parser rejects nesting deeper than 512, so the recursion is bounded.
fn node(value: ast::Value<'_>) -> Node {
    use jsonc_parser::common::Ranged;
    let at = value.start();
    let kind = match value {
        ast::Value::NullKeyword(_) => Kind::Null,
        ast::Value::BooleanLit(value) => Kind::Bool(value.value),
        ast::Value::NumberLit(value) => number(value.value),
        ast::Value::StringLit(value) => Kind::Text(value.value.into_owned()),
        ast::Value::Array(list) => Kind::List(list.elements.into_iter().map(node).collect()),
        ast::Value::Object(object) => members(object.properties),
    };
    Node { at, kind }
}

fn number(text: &str) -> Kind {
    let is_json = serde_json::from_str::<serde_json::Number>(text).is_ok();
    if is_json { Kind::Number(text.to_owned()) } else { Kind::Text(text.to_owned()) }
}

/// Converts members. The last of equal names counts, in place of the first, as in `JSON.parse`.
fn members(properties: Vec<ast::ObjectProp<'_>>) -> Kind {
    use jsonc_parser::common::Ranged;
    use std::collections::HashMap;
    let mut all: Vec<Member> = Vec::with_capacity(properties.len());
    let mut places: HashMap<String, usize> = HashMap::new();
    for property in properties {
        let key_at = property.start();
        let key = property.name.into_string();
        let mut member = Member { key, key_at, value: node(property.value), repeated: false };
        match places.get(&member.key).and_then(|place| all.get_mut(*place)) {
            Some(known) => {
                member.repeated = true;
                *known = member;
            }
            None => {
                places.insert(member.key.clone(), all.len());
                all.push(member);
            }
        }
    }
    Kind::Map(all)
}

impl Node {
    /// Returns an object without members.
    pub fn empty() -> Self {
        Node { at: 0, kind: Kind::Map(Vec::new()) }
    }

    pub fn members(&self) -> Option<&[Member]> {
        match &self.kind {
            Kind::Map(members) => Some(members),
            _ => None,
        }
    }

    /// Returns a member by its name.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.members()?.iter().find(|member| member.key == key).map(|member| &member.value)
    }

    /// Returns the value at a path of names.
    pub fn at_path(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// Returns the value at a path of names for changing it.
    pub fn at_path_mut(&mut self, path: &[&str]) -> Option<&mut Node> {
        path.iter().try_fold(self, |node, key| match &mut node.kind {
            Kind::Map(members) => {
                members.iter_mut().find(|member| member.key == *key).map(|member| &mut member.value)
            }
            _ => None,
        })
    }

    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Converts to a JSON value without positions.
    pub fn value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(text) => serde_json::from_str(text).map_or(Value::Null, Value::Number),
            Kind::Text(text) => Value::String(text.clone()),
            Kind::List(items) => items.iter().map(Node::value).collect(),
            Kind::Map(members) => Value::Object(object(
                members.iter().map(|member| (member.key.clone(), member.value.value())),
            )),
        }
    }

    /// Serializes to JSON in the original order.
    pub fn json(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match &self.kind {
            Kind::Null => out.push_str("null"),
            Kind::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Kind::Number(text) => out.push_str(text),
            Kind::Text(text) => quote(text, out),
            Kind::List(items) => {
                out.push('[');
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Kind::Map(members) => {
                out.push('{');
                for (place, member) in members.iter().enumerate() {
                    if place > 0 {
                        out.push(',');
                    }
                    quote(&member.key, out);
                    out.push(':');
                    member.value.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// Two values are equal regardless of their positions and the order of their members.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value() == other.value()
    }
}

fn quote(text: &str, out: &mut String) {
    out.push_str(&Value::from(text).to_string());
}

/// Returns the line and the column of an offset, both from 1; columns are UTF-16 units, as in editors.
pub fn position(text: &str, at: usize) -> (usize, usize) {
    let at = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").encode_utf16().count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_order_are_kept() {
        let text = "{ // a\n  \"b\": 1,\n  \"é𝒳\": [true], \"a\": null, }";
        let node = parse(text).unwrap().unwrap();
        assert_eq!(node.json(), r#"{"b":1,"é𝒳":[true],"a":null}"#);
        assert_eq!(position(text, node.get("é𝒳").unwrap().at), (3, 10));
        assert_eq!(position("a\u{1d4b3}b", 5), (1, 4));
        assert_eq!(position("ab", 99), (1, 3));
    }

    #[test]
    fn the_last_of_a_name_counts() {
        let node = parse(r#"{"a":1,"b":2,"a":3}"#).unwrap().unwrap();
        assert_eq!(node.json(), r#"{"a":3,"b":2}"#);
        assert!(node.members().unwrap()[0].repeated);
    }

    #[test]
    fn what_cannot_be_read_says_where() {
        let fault = parse("{\n \"a\" 1 }").unwrap_err();
        assert_eq!(position("{\n \"a\" 1 }", fault.at).0, 2);
        assert!(parse("").unwrap().is_none());
        assert!(parse("// only words\n").unwrap().is_none());
        assert!(parse("{'a':1}").is_err());
        assert!(parse("{\"a\":\0}").is_err());
        assert!(parse(&"[".repeat(100_000)).is_err());
        assert_eq!(parse_loosely("{ 'a': 1 b: 2 }").unwrap().json(), r#"{"a":1,"b":2}"#);
    }
}
