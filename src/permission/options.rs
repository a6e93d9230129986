//! The options of a policy, checked.

use serde_json::{Map, Value};

use super::defaults::{self, Choices, PROFILES, Profile};
use super::pattern::Style;
use super::restrictions::Restrictions;
use super::rules::{MAX_RULES, Rule, RuleList, Source};
use super::sensitive::{SENSITIVE_FILES, SensitiveNames};
use super::targets::Tool;
use super::{DOMAINS, Decision, Domain};
use crate::error::{Code, Error, Result};
use crate::tools::Shape;
use crate::util::option_values::{array, boolean};
use crate::util::suggest::{self, refuse_choice, refuse_near, unknown};

/// Options of a caller.
const KEYS: [&str; 12] = [
    "rules",
    "hardDeny",
    "defaults",
    "profile",
    "outsideEdit",
    "mcpServers",
    "tools",
    "sensitiveFiles",
    "failClosed",
    "caseSensitive",
    "readOnlyCommands",
    "scratchFolders",
];

/// Options that the facade adds.
const FACADE_KEYS: [&str; 3] = ["tempFolders", "windows", "home"];

/// Options as they are used.
#[derive(Debug)]
pub(super) struct Options {
    pub style: Style,
    pub windows: bool,
    pub profile: Option<Profile>,
    pub rules: RuleList,
    pub hard: RuleList,
    pub restrictions: Restrictions,
    /// The place of the first hard denial of the user.
    first_own: usize,
    pub sensitive: SensitiveNames,
    pub tools: Vec<(String, Tool)>,
    pub servers: Vec<String>,
    /// Answers "always" among the rules.
    pub approved: Vec<Rule>,
    /// Domains in which nothing is allowed unasked.
    pub closed: Vec<Domain>,
    /// True if commands that only read are allowed unless a rule of the user says otherwise.
    pub read_only: bool,
}

/// The error for a value of an option; `None` is an option that is missing.
pub(super) fn refuse<'v>(value: impl Into<Option<&'v Value>>, field: &str, allowed: &str) -> Error {
    suggest::refuse(value, Code::InvalidConfig, field, allowed)
}

/// Reads one of a few names.
pub(super) fn choice<T: Copy>(
    value: Option<&Value>,
    table: &[(&str, T)],
    field: &str,
) -> Result<T> {
    let found = value.and_then(Value::as_str);
    let found = found.and_then(|name| table.iter().find(|(known, _)| *known == name));
    found.map(|(_, meant)| *meant).ok_or_else(|| {
        let known: Vec<&str> = table.iter().map(|(known, _)| *known).collect();
        refuse_choice(value, &known, Code::InvalidConfig, field)
    })
}

/// Reads a rule of a list in which all have the same decision.
pub(super) fn check_decision(rule: &Rule, only: Decision, field: &str) -> Result<()> {
    if rule.decision == only {
        return Ok(());
    }
    let received = Value::from(rule.decision.as_str());
    Err(refuse_choice(&received, &[only.as_str()], Code::InvalidConfig, field))
}

impl Options {
    pub(crate) fn read(value: &Value) -> Result<Self> {
        let Some(object) = value.as_object() else {
            return Err(refuse(value, "options", "an object"));
        };
        let is_known = |key: &str| KEYS.contains(&key) || FACADE_KEYS.contains(&key);
        if let Some(key) = object.keys().find(|key| !is_known(key)) {
            return Err(unknown(Code::InvalidConfig, key, key, &KEYS));
        }
        let profile = one_of(object, "profile", &PROFILES)?;
        let windows = switch(object, "windows")?.unwrap_or(cfg!(windows));
        let style = Style {
            fold_case: !switch(object, "caseSensitive")?
                .unwrap_or(!windows && !cfg!(target_os = "macos")),
            star_crosses: profile == Some(Profile::Opencode),
            home: object
                .get("home")
                .and_then(Value::as_str)
                .map(|home| super::paths::slashes(home, windows)),
        };
        let servers = names(object, "mcpServers")?.unwrap_or_default();
        let outside = one_of(object, "outsideEdit", &[("deny", false), ("ask", true)])?;
        let folders = |key: &str| -> Result<Vec<String>> {
            let all = names(object, key)?.unwrap_or_default();
            Ok(all.iter().map(|folder| super::paths::slashes(folder, windows)).collect())
        };
        let choices = Choices {
            ask_outside_edit: outside.unwrap_or(false),
            mcp_servers: servers.clone(),
            temp_folders: folders("tempFolders")?,
            scratch_folders: folders("scratchFolders")?,
        };
        let built_in = switch(object, "defaults")?.unwrap_or(true);
        let mut rules =
            if built_in { defaults::rules(profile, &choices, &style)? } else { Vec::new() };
        let (approved, own) = list(object, "rules", Source::User, &style)?
            .into_iter()
            .partition::<Vec<Rule>, _>(|rule| rule.source == Source::Approval);
        rules.extend(own);
        let mut hard: Vec<Rule> = Vec::new();
        if built_in {
            let deny = |(domain, pattern): &(Domain, &str)| {
                Rule::built_in(*domain, pattern, Decision::Deny, &style)
            };
            hard.extend(defaults::HARD_DENIES.iter().map(deny));
        }
        let first_own = rules.len() + hard.len();
        for (at, rule) in list(object, "hardDeny", Source::Hard, &style)?.into_iter().enumerate() {
            check_decision(&rule, Decision::Deny, &format!("hardDeny[{at}].decision"))?;
            hard.push(rule);
        }
        hard.iter_mut().for_each(|rule| rule.source = Source::Hard);
        for (place, rule) in rules.iter_mut().chain(&mut hard).enumerate() {
            rule.place = Some(place);
        }
        let is_own =
            |rule: &Rule| rule.place.is_none_or(|place| place < rules.len() || place >= first_own);
        let restrictions = Restrictions::of(&rules, &hard, is_own, style.fold_case);
        Ok(Options {
            style,
            windows,
            profile,
            rules: RuleList::new(rules),
            hard: RuleList::new(hard),
            restrictions,
            first_own,
            sensitive: sensitive_names(object, profile)?,
            tools: tools(object)?,
            servers,
            approved,
            closed: domains(object, "failClosed")?,
            read_only: switch(object, "readOnlyCommands")?.unwrap_or(false),
        })
    }

    /// Returns true for a hard denial of the user.
    pub(crate) fn is_own_denial(&self, rule: &Rule) -> bool {
        rule.source == Source::Hard && rule.place.is_some_and(|place| place >= self.first_own)
    }

    /// Returns a restriction that may be about a path that a glob means, which comes as a target.
    pub(crate) fn restriction_met_by(&self, domain: Domain, glob: &str) -> Option<&Rule> {
        let own = self.restrictions.places.iter().filter_map(|at| self.rules.all().get(*at));
        let hard = self.hard.all().iter().filter(|rule| rule.is_particular());
        own.chain(hard).find(|rule| {
            rule.domain.is_none_or(|own| own == domain) && rule.pattern.can_meet(glob, &self.style)
        })
    }
}

/// Returns the names of files with secrets: those of the caller, else the usual ones, of which `opencode` has few.
fn sensitive_names(
    object: &Map<String, Value>,
    profile: Option<Profile>,
) -> Result<SensitiveNames> {
    let given = names(object, "sensitiveFiles")?;
    if given.is_none() && profile != Some(Profile::Opencode) {
        return Ok(SensitiveNames::usual());
    }
    let few = || SENSITIVE_FILES[..3].iter().map(|name| (*name).to_owned()).collect();
    SensitiveNames::new(&given.unwrap_or_else(few))
        .map_err(|problem| Error::field(Code::InvalidConfig, "sensitiveFiles", problem))
}

fn switch(object: &Map<String, Value>, key: &str) -> Result<Option<bool>> {
    object.get(key).map(|value| boolean(value, Code::InvalidConfig, key)).transpose()
}

fn one_of<T: Copy>(
    object: &Map<String, Value>,
    key: &str,
    table: &[(&str, T)],
) -> Result<Option<T>> {
    object.get(key).map(|value| choice(Some(value), table, key)).transpose()
}

/// Reads an array of names, of which none is empty.
fn names(object: &Map<String, Value>, key: &str) -> Result<Option<Vec<String>>> {
    names_at(object, key, key, ["an array of strings", "a string that is not empty"])
}

/// Reads an array of names at a path; `allowed` says what the array and its entries are.
fn names_at(
    object: &Map<String, Value>,
    key: &str,
    field: &str,
    [allowed, allowed_entry]: [&str; 2],
) -> Result<Option<Vec<String>>> {
    let read = |value: &Value, _: Code, field: &str| {
        let name = value.as_str().filter(|text| !text.is_empty());
        name.map(str::to_owned).ok_or_else(|| refuse(value, field, allowed_entry))
    };
    let value = object.get(key);
    value.map(|value| array(value, Code::InvalidConfig, field, allowed, read)).transpose()
}

fn domains(object: &Map<String, Value>, key: &str) -> Result<Vec<Domain>> {
    let read = |value: &Value, _: Code, field: &str| choice(Some(value), &DOMAINS, field);
    let value = object.get(key);
    let read =
        value.map(|value| array(value, Code::InvalidConfig, key, "an array of domains", read));
    Ok(read.transpose()?.unwrap_or_default())
}

fn list(
    object: &Map<String, Value>,
    key: &str,
    source: Source,
    style: &Style,
) -> Result<Vec<Rule>> {
    let Some(value) = object.get(key) else { return Ok(Vec::new()) };
    let items = value.as_array().ok_or_else(|| refuse(value, key, "an array of rules"))?;
    if items.len() > MAX_RULES {
        return Err(Error::field(
            Code::InvalidConfig,
            key,
            format!("expected at most {MAX_RULES} rules, received {}", items.len()),
        ));
    }
    items
        .iter()
        .enumerate()
        .map(|(at, item)| Rule::read(item, source, style, &format!("{key}[{at}]")))
        .collect()
}

fn tools(object: &Map<String, Value>) -> Result<Vec<(String, Tool)>> {
    let Some(value) = object.get("tools") else { return Ok(Vec::new()) };
    let Some(map) = value.as_object().filter(|map| !map.contains_key("$type")) else {
        return Err(refuse(value, "tools", "an object of tools by their names"));
    };
    map.iter()
        .map(|(name, value)| Ok((name.clone(), tool(value, &format!("tools.{name}"))?)))
        .collect()
}

type Shapes = &'static [(&'static str, Shape)];

/// The domains that an entry for a tool may name, each with the shapes of its tools, the usual one first. `none` has no shape.
const TOOL_DOMAINS: [(&str, (Domain, Shapes)); 6] = [
    (
        "read",
        (
            Domain::Read,
            &[
                ("paths", Shape::Paths),
                ("folder", Shape::Folder),
                ("glob", Shape::Glob),
                ("search", Shape::Search),
            ],
        ),
    ),
    ("edit", (Domain::Edit, &[("paths", Shape::Paths), ("patch", Shape::Patch)])),
    ("bash", (Domain::Bash, &[("command", Shape::Command)])),
    ("web_fetch", (Domain::WebFetch, &[("address", Shape::Address)])),
    ("web_search", (Domain::WebSearch, &[("query", Shape::Query)])),
    ("none", (Domain::Tool, &[])),
];

fn tool(value: &Value, field: &str) -> Result<Tool> {
    const KEYS: [&str; 3] = ["domain", "shape", "keys"];
    if value.as_str() == Some("none") {
        return Ok(Tool::NONE);
    }
    let Some(entry) = value.as_object() else {
        let allowed = "'none', or an object with domain, and perhaps shape and keys";
        return Err(refuse_near(value, allowed, &["none"], Code::InvalidConfig, field));
    };
    let field = |key: &str| format!("{field}.{key}");
    if let Some(key) = entry.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(unknown(Code::InvalidConfig, &field(key), key, &KEYS));
    }
    let (domain, shapes) = choice(entry.get("domain"), &TOOL_DOMAINS, &field("domain"))?;
    let Some((_, usual)) = shapes.first() else {
        return match entry.iter().find(|(key, _)| *key != "domain") {
            Some((key, value)) => {
                Err(refuse(value, &field(key), "nothing for a tool that touches nothing"))
            }
            None => Ok(Tool::NONE),
        };
    };
    let shape = match entry.get("shape") {
        None => *usual,
        given => choice(given, shapes, &field("shape"))?,
    };
    let allowed = ["an array of names of arguments", "the name of an argument"];
    let keys = names_at(entry, "keys", &field("keys"), allowed)?;
    Ok(Tool { domain, shape, keys: keys.unwrap_or_default() })
}
