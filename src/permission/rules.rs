//! A list of rules: which one counts for a target, which ones it hides, and whether the rules' own examples hold.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::LazyLock;

use serde::Serialize;
use serde_json::Value;

use super::options::{choice, refuse};
use super::pattern::{Pattern, Style, Subject, split_scheme, start_of};
use super::{DECISIONS, DOMAINS, Decision, Domain};
use crate::error::{Code, Error, Result};
use crate::util::hash::NameHasher;
use crate::util::sort::sort_by_key;
use crate::util::suggest::unknown;

/// More rules are refused.
pub const MAX_RULES: usize = 10_000;
/// Maximum number of hidden rules in an answer, newest first.
const MAX_SHADOWED: usize = 16;
const KEYS: [&str; 5] = ["domain", "pattern", "decision", "examples", "approved"];
/// The domains that a rule may name; `None` is every domain.
static RULE_DOMAINS: LazyLock<Vec<(&str, Option<Domain>)>> = LazyLock::new(|| {
    let named = DOMAINS.iter().map(|(name, domain)| (*name, Some(*domain)));
    named.chain([("*", None)]).collect()
});
const EXAMPLE_KEYS: [&str; 2] = ["match", "noMatch"];

/// Who wrote a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A rule of the defaults.
    Default,
    /// The user.
    User,
    /// The user, by answering a question with "always".
    Approval,
    /// The operator of the agent: nothing overrides it.
    Hard,
}

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// `None` is every domain.
    pub domain: Option<Domain>,
    /// Which targets it is about.
    pub pattern: Pattern,
    /// The decision for them.
    pub decision: Decision,
    /// Who wrote it.
    pub source: Source,
    /// Its position among the rules of a policy, which never change; approvals come and go.
    pub place: Option<usize>,
}

/// A rule as answers show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ReportedRule<'a> {
    /// A domain, or `*`.
    pub domain: &'static str,
    /// As it was written.
    pub pattern: &'a str,
    /// Its decision.
    pub decision: Decision,
    /// Who wrote it.
    pub source: Source,
    /// Its position, unless it is an approval.
    #[serde(skip)]
    pub place: Option<usize>,
}

impl Rule {
    /// Reads a rule of the caller's. `field` is its place, such as `rules[3]`.
    pub fn read(value: &Value, source: Source, style: &Style, field: &str) -> Result<Self> {
        let Some(object) = value.as_object() else {
            return Err(refuse(value, field, "an object with domain, pattern and decision"));
        };
        if let Some(key) = object.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(unknown(Code::InvalidConfig, &format!("{field}.{key}"), key, &KEYS));
        }
        let own = |key: &str| (object.get(key), format!("{field}.{key}"));
        let (value, of) = own("domain");
        let domain = choice(value, &RULE_DOMAINS, &of)?;
        let (value, of) = own("decision");
        let decision = choice(value, &DECISIONS, &of)?;
        let (value, of) = own("pattern");
        let pattern =
            value.and_then(Value::as_str).ok_or_else(|| refuse(value, &of, "a string"))?;
        let pattern = Pattern::new(pattern, domain, style).map_err(|problem| bad(&of, &problem))?;
        let (value, of) = own("approved");
        let source = match value {
            None | Some(Value::Bool(false)) => source,
            Some(Value::Bool(true)) if decision == Decision::Allow => Source::Approval,
            Some(Value::Bool(true)) => {
                let allowed = "true only where the decision is 'allow'";
                return Err(bad(
                    &of,
                    &format!("expected {allowed}, received {:?}", decision.as_str()),
                ));
            }
            other => return Err(refuse(other, &of, "true or false")),
        };
        let rule = Rule { domain, pattern, decision, source, place: None };
        if let Some(examples) = object.get("examples") {
            rule.check_examples(examples, &format!("{field}.examples"))?;
        }
        Ok(rule)
    }

    /// A rule of the tables in here.
    pub fn built_in(domain: Domain, pattern: &str, decision: Decision, style: &Style) -> Self {
        Rule::by_default(domain, pattern, decision, style, "")
            .unwrap_or_else(|_| unreachable!("built-in rules are valid"))
    }

    /// A rule by default; `option` is where the caller gives the name that its pattern is made of.
    pub fn by_default(
        domain: Domain,
        pattern: &str,
        decision: Decision,
        style: &Style,
        option: &str,
    ) -> Result<Self> {
        let domain = Some(domain);
        let pattern =
            Pattern::new(pattern, domain, style).map_err(|problem| bad(option, &problem))?;
        Ok(Rule { domain, pattern, decision, source: Source::Default, place: None })
    }

    fn check_examples(&self, examples: &Value, field: &str) -> Result<()> {
        let Some(object) = examples.as_object() else {
            return Err(refuse(examples, field, "an object with match and noMatch"));
        };
        if let Some(key) = object.keys().find(|key| !EXAMPLE_KEYS.contains(&key.as_str())) {
            return Err(unknown(
                Code::InvalidConfig,
                &format!("{field}.{key}"),
                key,
                &EXAMPLE_KEYS,
            ));
        }
        for (key, expected) in [("match", true), ("noMatch", false)] {
            let Some(list) = object.get(key) else { continue };
            let field = format!("{field}.{key}");
            let list =
                list.as_array().ok_or_else(|| refuse(list, &field, "an array of targets"))?;
            for (at, example) in list.iter().enumerate() {
                let field = format!("{field}[{at}]");
                let target = example.as_str().ok_or_else(|| refuse(example, &field, "a string"))?;
                let target = match (split_scheme(target).0, self.domain) {
                    (None, Some(domain)) => format!("{}:{target}", domain.schemes()[0]),
                    _ => target.to_owned(),
                };
                if self.counts_for(&Subject::new(&target)) != expected {
                    let problem = if expected { "is not matched by" } else { "is matched by" };
                    return Err(bad(
                        &field,
                        &format!("{target:?} {problem} {:?}", self.pattern.source()),
                    ));
                }
            }
        }
        Ok(())
    }

    /// Returns true if the rule covers this target of its domain. A deny or ask for a program covers its arguments.
    pub fn counts_for(&self, target: &Subject<'_>) -> bool {
        if self.pattern.matches(target) {
            return true;
        }
        self.decision > Decision::Allow
            && self.pattern.one_word().is_some_and(|program| {
                target
                    .whole()
                    .strip_prefix("shell:")
                    .and_then(|command| command.strip_prefix(program))
                    .is_some_and(|rest| rest.starts_with(' '))
            })
    }

    /// Returns true if it denies or asks, and not about everything: such a rule counts however a target is written.
    pub fn is_particular(&self) -> bool {
        self.source != Source::Default
            && self.decision > Decision::Allow
            && !self.pattern.is_catch_all()
    }

    /// The rule as answers show it.
    pub fn told(&self) -> ReportedRule<'_> {
        ReportedRule {
            domain: self.domain.map_or("*", Domain::as_str),
            pattern: self.pattern.source(),
            decision: self.decision,
            source: self.source,
            place: self.place,
        }
    }
}

fn bad(field: &str, problem: &str) -> Error {
    Error::field(Code::InvalidConfig, field, problem)
}

/// Rules in the order in which they were written.
#[derive(Debug, Clone, Default)]
pub struct RuleList {
    rules: Vec<Rule>,
    /// Rules that are only about targets that begin so, ascending; found without looking at the others.
    by_start: HashMap<String, Vec<usize>, BuildHasherDefault<NameHasher>>,
    /// All others by the domain that they are about, ascending.
    anywhere: [Vec<usize>; DOMAINS.len()],
}

impl RuleList {
    /// A list of these rules.
    pub fn new(rules: Vec<Rule>) -> Self {
        let mut list = RuleList::default();
        for rule in rules {
            list.push(rule);
        }
        list
    }

    /// Adds a rule at the end.
    pub fn push(&mut self, rule: Rule) {
        let at = self.rules.len();
        match start_of_pattern(&rule.pattern) {
            Some(start) => self.by_start.entry(start.to_owned()).or_default().push(at),
            None => {
                for (_, domain) in DOMAINS {
                    if rule.domain.is_none_or(|own| own == domain) {
                        self.anywhere[domain as usize].push(at);
                    }
                }
            }
        }
        self.rules.push(rule);
    }

    /// The rules.
    pub fn all(&self) -> &[Rule] {
        &self.rules
    }

    /// How many rules could be about any target, of the domain with most of them.
    pub fn anywhere_len(&self) -> usize {
        self.anywhere.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The rules about a target, the last one first.
    pub fn matching<'a, 't>(
        &'a self,
        domain: Domain,
        target: Subject<'t>,
    ) -> impl Iterator<Item = &'a Rule> + use<'a, 't> {
        let near = self.by_start.get(target.start()).map_or(&[][..], Vec::as_slice);
        let mut near = near.iter().rev().peekable();
        let mut rest = self.anywhere[domain as usize].iter().rev().peekable();
        let next = std::iter::from_fn(move || match (near.peek(), rest.peek()) {
            (Some(a), Some(b)) if a > b => near.next(),
            (_, Some(_)) => rest.next(),
            _ => near.next(),
        });
        next.map(|at| &self.rules[*at]).filter(move |rule| {
            rule.domain.is_none_or(|own| own == domain) && rule.counts_for(&target)
        })
    }

    /// The rule that counts for a target, and those that it hides.
    pub fn winner<'a>(
        &'a self,
        domain: Domain,
        target: Subject<'_>,
    ) -> (Option<&'a Rule>, Vec<ReportedRule<'a>>) {
        let mut matching = self.matching(domain, target);
        (matching.next(), matching.take(MAX_SHADOWED).map(Rule::told).collect())
    }

    /// Returns the rule about something in particular that asks about or denies a target, however that is written. A later
    /// permission lifts it; a later rule against everything, which may itself be lifted where the target is written otherwise, does not.
    pub fn restriction(&self, domain: Domain, target: Subject<'_>) -> Option<&Rule> {
        self.matching(domain, target)
            .find(|rule| rule.decision == Decision::Allow || rule.is_particular())
            .filter(|rule| rule.is_particular())
    }

    /// Rules that can never count, because a later one is about at least the same targets: pairs of places.
    pub fn dead(&self) -> Vec<(usize, usize)> {
        let mut last: HashMap<(Option<Domain>, &str), usize> = HashMap::new();
        let mut dead = Vec::new();
        for (at, rule) in self.rules.iter().enumerate().rev() {
            let scheme = split_scheme(rule.pattern.source()).0.unwrap_or("");
            let all = |key: (Option<Domain>, &str)| last.get(&key).copied();
            let by = all((rule.domain, rule.pattern.source()))
                .or_else(|| all((rule.domain, "*")))
                .or_else(|| all((None, "*")))
                .or_else(|| match scheme {
                    "vault" => all((rule.domain, "vault:**")),
                    "fs" => all((rule.domain, "fs:**")),
                    "shell" => all((rule.domain, "shell:*")),
                    _ => None,
                });
            if let Some(by) = by {
                dead.push((at, by));
            }
            last.insert((rule.domain, rule.pattern.source()), at);
        }
        dead.reverse();
        dead
    }

    /// Those of [`Self::dead`], and rules whose every target a later rule is about too: pairs of places. Stored answers
    /// neither hide nor are hidden.
    pub fn hidden(&self) -> Vec<(usize, usize)> {
        let counts = |at: usize| self.rules[at].source != Source::Approval;
        let mut pairs: HashMap<usize, usize> =
            self.dead().into_iter().filter(|(at, by)| counts(*at) && counts(*by)).collect();
        for (at, rule) in self.rules.iter().enumerate() {
            let Some(domain) = rule.domain.filter(|_| counts(at)) else { continue };
            let targets = examples_of(&rule.pattern, domain);
            let Some((first, others)) = targets.split_first() else { continue };
            // A rule against a program is about its arguments too, which a later rule about the program alone is not.
            let wide = rule.decision > Decision::Allow && rule.pattern.one_word().is_some();
            let later = |other: &&Rule| {
                other.source != Source::Approval
                    && !(wide && other.pattern.is_literal())
                    && others.iter().all(|target| other.counts_for(&Subject::new(target)))
            };
            if let Some(by) = self.matching(domain, Subject::new(first)).find(later)
                && let Some(by) = self.rules.iter().position(|one| std::ptr::eq(one, by))
                && by > at
            {
                pairs.entry(at).or_insert(by);
            }
        }
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        sort_by_key(&mut pairs, |pair| *pair);
        pairs
    }
}

/// Targets of a pattern that stand for all the others: what matches each of them matches whatever the pattern does. Its one
/// target, or a glob's with nothing, a strange name and a strange path in place of its wildcards; none if it has others.
fn examples_of(pattern: &Pattern, domain: Domain) -> Vec<String> {
    let source = pattern.source();
    let target = match split_scheme(source).0 {
        Some(_) => source.to_owned(),
        None => format!("{}:{source}", domain.schemes()[0]),
    };
    if pattern.is_literal() {
        return vec![target];
    }
    if source.starts_with("regex:") || source.contains(['?', '[', '{', '\\', '!']) {
        return Vec::new();
    }
    const NAME: &str = "\u{e000}";
    // Between the folders of paths one star is a name, and two are any number of them.
    let one = if target.starts_with("shell:") { "\u{e000} \u{e001}/\u{e000}" } else { NAME };
    ["", NAME, "\u{e000}/\u{e001}/\u{e002}"]
        .map(|many| target.replace("**", "\0").replace('*', one).replace('\0', many))
        .into_iter()
        .chain([target.replace("**", "*").replace('*', "")])
        .filter(|target| pattern.matches(&Subject::new(target)))
        .collect()
}

fn start_of_pattern(pattern: &Pattern) -> Option<&str> {
    let prefix = pattern.literal_prefix();
    let start = start_of(prefix);
    let whole = pattern.is_literal() || start.len() < prefix.len() || pattern.is_bare();
    (whole && !start.is_empty() && start.is_ascii() && !pattern.folds()).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn list(rules: &[(&str, &str, &str)]) -> RuleList {
        let read = |(domain, pattern, decision): &(&str, &str, &str)| {
            let rule = json!({ "domain": domain, "pattern": pattern, "decision": decision });
            Rule::read(&rule, Source::User, &Style::default(), "rules[0]").unwrap()
        };
        RuleList::new(rules.iter().map(read).collect())
    }

    fn decide(rules: &[(&str, &str, &str)], domain: Domain, target: &str) -> Option<Decision> {
        list(rules).winner(domain, Subject::new(target)).0.map(|rule| rule.decision)
    }

    #[test]
    fn the_last_match_counts() {
        let rules = [("bash", "*", "allow"), ("bash", "rm *", "deny"), ("bash", "rm -i *", "ask")];
        assert_eq!(decide(&rules, Domain::Bash, "shell:ls"), Some(Decision::Allow));
        assert_eq!(decide(&rules, Domain::Bash, "shell:rm -rf x"), Some(Decision::Deny));
        assert_eq!(decide(&rules, Domain::Bash, "shell:rm -i x"), Some(Decision::Ask));
        assert_eq!(decide(&rules, Domain::Read, "vault:/x"), None);
        let list = list(&rules);
        let (_, hidden) = list.winner(Domain::Bash, Subject::new("shell:rm -i x"));
        assert_eq!(hidden.iter().map(|rule| rule.pattern).collect::<Vec<_>>(), ["rm *", "*"]);
    }

    #[test]
    fn a_ban_of_a_program_covers_its_arguments_and_a_permission_does_not() {
        assert_eq!(
            decide(&[("bash", "yarn", "deny")], Domain::Bash, "shell:yarn test"),
            Some(Decision::Deny)
        );
        assert_eq!(decide(&[("bash", "yarn", "allow")], Domain::Bash, "shell:yarn test"), None);
        assert_eq!(decide(&[("bash", "yarn", "deny")], Domain::Bash, "shell:yarnx"), None);
    }

    #[test]
    fn examples_are_checked_when_a_rule_is_read() {
        let read = |examples: Value| {
            let rule = json!({ "domain": "bash", "pattern": "git *", "decision": "allow", "examples": examples });
            Rule::read(&rule, Source::User, &Style::default(), "rules[2]").map(|_| ())
        };
        read(json!({ "match": ["git log", "shell:git"], "noMatch": ["gitk"] })).unwrap();
        let error = read(json!({ "match": ["gitk"] })).unwrap_err();
        assert_eq!(
            error.message,
            "Invalid option \"rules[2].examples.match[0]\": \"shell:gitk\" is not matched by \"git *\""
        );
        assert!(read(json!({ "noMatch": ["git log"] })).is_err());
        assert!(read(json!({ "misses": [] })).is_err());
    }

    #[test]
    fn a_rule_that_cannot_be_read_says_where() {
        let read = |rule: Value| {
            Rule::read(&rule, Source::User, &Style::default(), "rules[1]").unwrap_err()
        };
        assert_eq!(read(json!(1)).field.as_deref(), Some("rules[1]"));
        assert!(
            read(json!({ "domain": "bsh", "pattern": "*", "decision": "ask" }))
                .message
                .contains("did you mean 'bash'?")
        );
        assert!(
            read(json!({ "domain": "bash", "pattern": "*", "decision": "yes" }))
                .message
                .contains("rules[1].decision")
        );
        assert!(
            read(json!({ "domain": "bash", "decision": "ask" }))
                .message
                .contains("rules[1].pattern")
        );
        assert!(
            read(json!({ "domain": "bash", "pattern": "*", "decision": "ask", "x": 1 }))
                .message
                .contains("rules[1].x")
        );
    }

    #[test]
    fn rules_that_never_count_are_found() {
        let list = list(&[
            ("mcp", "mcp:a/*", "allow"),
            ("mcp", "*", "ask"),
            ("bash", "ls", "ask"),
            ("bash", "ls", "allow"),
        ]);
        assert_eq!(list.dead(), [(0, 1), (2, 3)]);
    }

    #[test]
    fn a_glob_is_hidden_by_a_later_one_that_is_about_at_least_the_same() {
        for (domain, earlier, later, hidden) in [
            ("edit", "src/lib/**", "src/**", true),
            ("edit", "src/*.ts", "src/**", true),
            ("edit", "src/**/*.ts", "**/*.ts", true),
            ("edit", "src/**", "src/*", false),
            ("edit", "src/*", "src/*.ts", false),
            ("edit", "*.ts", "a*.ts", false),
            ("edit", "src/**", "src/*/*", false),
            ("bash", "git push *", "git *", true),
            ("bash", "git *", "git push *", false),
            ("bash", "git *", "npm *", false),
            ("bash", "git [a]*", "git *", false),
            ("bash", "regex:^git", "git *", false),
        ] {
            let list = list(&[(domain, earlier, "deny"), (domain, later, "allow")]);
            assert_eq!(!list.hidden().is_empty(), hidden, "{earlier} {later}");
        }
    }

    #[test]
    fn ten_thousand_rules_are_found_by_their_first_word() {
        let rules: Vec<Rule> = (0..MAX_RULES)
            .map(|n| {
                let pattern = format!("p{n} *");
                Rule::built_in(Domain::Bash, &pattern, Decision::Allow, &Style::default())
            })
            .collect();
        let list = RuleList::new(rules);
        assert_eq!(list.anywhere_len(), 0);
        let (rule, _) = list.winner(Domain::Bash, Subject::new("shell:p77 x"));
        assert_eq!(rule.unwrap().pattern.source(), "p77 *");
    }
}
