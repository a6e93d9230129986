//! The decision about a call, and its reasons.

mod targets;
mod wildcards;

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::targets::Reader;
use super::decision_cache::{Noted, Repeated};
use super::defaults::SENSITIVE;
use super::hosts::Address;
use super::options::{Options, check_decision};
use super::paths::RealPaths;
use super::pattern::Subject;
use super::rules::{ReportedRule, Rule, Source};
use super::shell::{Concern, CoveredBy, brief};
use super::suggestions::{Suggestion, suggest};
use super::{Decision, Domain};
use crate::error::Result;
use crate::util::sort::sort_by_key;

/// Maximum number of targets listed in a verdict.
const MAX_TOLD: usize = 256;
/// Maximum number of comparisons of a target with rules that have no literal prefix.
const MAX_COMPARISONS: usize = 2_000_000;

/// A tool call.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    pub tool: String,
    pub args: Value,
    /// The session whose approvals apply, in addition to those for all sessions.
    #[serde(default)]
    pub session_id: Option<String>,
    /// True if everything but hard denies is allowed.
    #[serde(default)]
    pub full_access: bool,
    /// True if the host says that the tool touches nothing.
    #[serde(default)]
    pub touches_nothing: bool,
    /// True if no user can be asked.
    #[serde(default)]
    pub headless: bool,
    /// True if the verdict lists every target, which is most of its size.
    #[serde(default)]
    pub with_details: bool,
    /// Base of relative paths; the vault if it is `None`.
    #[serde(default)]
    pub cwd: Option<String>,
    /// The directory that the agent works in; absolute.
    pub vault: String,
    /// URLs in the arguments, parsed by the standard.
    #[serde(default)]
    pub addresses: HashMap<String, Address>,
    /// Files that this session saved itself.
    #[serde(default)]
    pub own_files: HashSet<String>,
}

/// The decision about one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judged<'a> {
    pub domain: Domain,
    /// The target with its scheme.
    pub target: String,
    pub decision: Decision,
    /// The rule that decided.
    pub rule: Option<ReportedRule<'a>>,
    /// Rules that match and are overridden.
    pub shadowed: Vec<ReportedRule<'a>>,
    /// The reasons as sentences.
    pub reasons: Vec<String>,
    #[serde(skip)]
    suggestions: Option<Vec<Suggestion>>,
}

/// The decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict<'a> {
    /// The strictest decision about any target.
    pub decision: Decision,
    /// The domain of the target that decided.
    pub domain: Option<Domain>,
    /// The targets of the call.
    pub targets: Vec<String>,
    /// The rule that decided.
    pub rule: Option<ReportedRule<'a>>,
    /// Rules that it overrides.
    pub shadowed: Vec<ReportedRule<'a>>,
    pub reasons: Vec<String>,
    /// Rules that would make the question unnecessary, narrowest first.
    pub suggested_rules: Vec<Suggestion>,
    /// The decision about each target, if requested.
    pub details: Vec<Judged<'a>>,
    /// URLs among the targets that were not in the request: with their parsed form the decision may differ.
    pub addresses: Vec<String>,
}

#[derive(Debug, Clone, Default)]
struct Target {
    domain: Option<Domain>,
    text: String,
    others: Vec<String>,
    concerns: Vec<Concern>,
    quiet: bool,
    wide: bool,
    sensitive: bool,
    own: bool,
    /// Another form of the target, for which permissions count too.
    same_as: Option<String>,
    /// True for a command that only reads.
    is_read_only: bool,
    /// True if the tool is said to touch nothing: only a user's rule is a reason to ask.
    harmless: bool,
}

impl Target {
    fn domain(&self) -> Domain {
        self.domain.unwrap_or(Domain::Bash)
    }

    /// Returns true if the text of the target describes it completely.
    fn is_simple(&self) -> bool {
        self.concerns.is_empty() && self.others.len() < 2
    }
}

/// The rules, and the options for interpreting calls.
#[derive(Debug)]
pub struct Policy {
    options: Options,
    /// Approvals by session; `None` applies to all sessions.
    approvals: Vec<(Option<String>, Rule)>,
    repeated: Repeated,
}

/// A target that no rule names: only rules about everything in the vault match it.
const ANY_NAME: &str = "vault:/\u{1}/\u{1}";

impl Policy {
    /// Reads the options.
    pub fn new(options: &Value) -> Result<Self> {
        let mut options = Options::read(options)?;
        let approvals = std::mem::take(&mut options.approved);
        let approvals = approvals.into_iter().map(|rule| (None, rule)).collect();
        Ok(Policy { options, approvals, repeated: Repeated::default() })
    }

    /// Stores an approval. It turns questions into permissions, and never overrides a denial.
    pub fn approve(&mut self, rule: &Value, session: Option<String>) -> Result<()> {
        let rule = Rule::read(rule, Source::Approval, &self.options.style, "rule")?;
        check_decision(&rule, Decision::Allow, "rule.decision")?;
        self.repeated.forget();
        let told = rule.told();
        if !self.approvals.iter().any(|(own, known)| *own == session && known.told() == told) {
            self.approvals.push((session, rule));
        }
        Ok(())
    }

    /// Removes an approval; returns `false` if there was none.
    pub fn revoke(&mut self, domain: &str, pattern: &str, session: Option<&str>) -> bool {
        self.repeated.forget();
        let before = self.approvals.len();
        self.approvals.retain(|(own, rule)| {
            let told = rule.told();
            own.as_deref() != session || told.domain != domain || told.pattern != pattern
        });
        self.approvals.len() < before
    }

    /// Returns the approvals: session and rule.
    pub fn approvals(&self) -> Vec<(Option<&str>, ReportedRule<'_>)> {
        self.approvals.iter().map(|(session, rule)| (session.as_deref(), rule.told())).collect()
    }

    /// Returns the rule with a [position](ReportedRule::place).
    pub fn rule(&self, place: usize) -> Option<ReportedRule<'_>> {
        let Options { rules, hard, .. } = &self.options;
        rules.all().get(place).or_else(|| hard.all().get(place - rules.all().len())).map(Rule::told)
    }

    /// Returns rules that can never count, each with the one that overrides it.
    pub fn dead_rules(&self) -> Vec<(ReportedRule<'_>, ReportedRule<'_>)> {
        let all = self.options.rules.all();
        let own = |at: &(usize, usize)| all[at.0].source == Source::User;
        self.options
            .rules
            .dead()
            .into_iter()
            .filter(own)
            .map(|(at, by)| (all[at].told(), all[by].told()))
            .collect()
    }

    /// Returns the answer to a call as `tell` formats it, or the cached one of an equal call. `asked` is the whole
    /// call; `tell` evaluates it, and resolves paths only through its argument.
    pub fn answer<E>(
        &mut self,
        asked: &str,
        real: &dyn RealPaths,
        tell: impl FnOnce(&Self, &dyn RealPaths) -> std::result::Result<String, E>,
    ) -> std::result::Result<String, E> {
        if let Some(answer) = self.repeated.answer(asked, real) {
            return Ok(answer);
        }
        let noted = Noted::new(real);
        let answer = tell(self, &noted)?;
        self.repeated.keep(asked, noted, &answer);
        Ok(answer)
    }

    /// Decides about a call. Has no side effects; the same call gets the same verdict.
    pub fn evaluate(&self, request: &Request, real: &dyn RealPaths) -> Verdict<'_> {
        let mut reading = Reader::new(self, request, real);
        reading.call();
        let Reader { targets, blind, addresses, .. } = reading;
        Verdict { addresses, ..self.decide(request, targets, blind) }
    }

    fn decide<'a>(
        &'a self,
        request: &Request,
        targets: Vec<Target>,
        blind: Vec<String>,
    ) -> Verdict<'a> {
        let too_much = targets.len().saturating_mul(
            self.options.rules.all().len().min(self.options.rules.anywhere_len() + 1),
        ) > MAX_COMPARISONS;
        let mut judged: Vec<Judged<'a>> = if too_much && !request.full_access {
            Vec::new()
        } else {
            targets.iter().map(|target| self.judge(request, target)).collect()
        };
        if !request.full_access {
            judged.iter_mut().for_each(|one| self.close(one));
        }
        let mut decision = judged.iter().map(|one| one.decision).max().unwrap_or(Decision::Ask);
        let mut reasons = Vec::new();
        if too_much && !request.full_access {
            reasons.push("the call touches too much to be judged".to_owned());
        } else if targets.iter().all(|target| target.quiet) && blind.is_empty() {
            reasons.push("what this call touches is not known".to_owned());
        }
        reasons.extend(blind);
        if !reasons.is_empty() {
            decision = decision.max(Decision::Ask);
        }
        if request.full_access && decision < Decision::Deny {
            // The unread part could match a hard deny.
            let is_read = !targets.iter().flat_map(|one| &one.concerns).any(Concern::leaves_unread);
            (decision, reasons) = match is_read {
                true => (Decision::Allow, vec!["full access".to_owned()]),
                false => (
                    Decision::Ask,
                    vec!["full access does not hold for a command that cannot be read".to_owned()],
                ),
            };
        }
        if request.with_details {
            for (one, target) in judged.iter_mut().zip(&targets) {
                one.target.clone_from(&target.text);
            }
        }
        sort_by_key(&mut judged, |one| std::cmp::Reverse(one.decision));
        let first = judged.iter().find(|one| one.decision == decision);
        for one in
            judged.iter().filter(|one| one.decision == decision && decision > Decision::Allow)
        {
            for reason in &one.reasons {
                if reasons.len() < MAX_TOLD && !reasons.contains(reason) {
                    reasons.push(reason.clone());
                }
            }
        }
        let (domain, rule, shadowed) = match first {
            Some(one) => (Some(one.domain), one.rule, one.shadowed.clone()),
            None => (targets.first().and_then(|target| target.domain), None, Vec::new()),
        };
        let mut asking = judged.iter().filter(|one| one.decision == Decision::Ask);
        let suggested_rules = match (asking.next(), asking.next()) {
            (Some(one), None)
                if decision == Decision::Ask && reasons.len() == one.reasons.len() =>
            {
                one.suggestions.clone().unwrap_or_default()
            }
            _ => Vec::new(),
        };
        if request.headless && decision == Decision::Ask {
            decision = Decision::Deny;
            reasons.push("no person can be asked".to_owned());
        }
        let told = targets.into_iter().map(|target| target.text).filter(|text| !text.is_empty());
        judged.truncate(if request.with_details { MAX_TOLD } else { 0 });
        Verdict {
            decision,
            domain,
            targets: told.take(MAX_TOLD).collect(),
            rule,
            shadowed,
            reasons,
            suggested_rules,
            details: judged,
            addresses: Vec::new(),
        }
    }

    /// Returns true if a rule denies reading a path in any spelling, or asks about it.
    fn guards(&self, target: &Target) -> bool {
        let Options { rules, hard, .. } = &self.options;
        std::iter::once(&target.text).chain(&target.others).any(|text| {
            let subject = Subject::new(text);
            let domain = target.domain();
            hard.matching(domain, subject).next().is_some()
                || rules.restriction(domain, subject).is_some()
        })
    }

    /// Returns the rule that denies changing a path, or asks about it, unless it is about everything in the vault.
    fn edit_restriction(&self, text: &str) -> Option<&Rule> {
        let Options { rules, hard, .. } = &self.options;
        let find = |text: &str| {
            let subject = Subject::new(text);
            let mut hard = hard.matching(Domain::Edit, subject);
            let own = hard.find(|rule| rule.is_particular() && self.options.is_own_denial(rule));
            own.or_else(|| rules.restriction(Domain::Edit, subject))
        };
        let folder = [text, "/"].concat();
        let found = find(text).or_else(|| find(&folder))?;
        let is_about_all = find(ANY_NAME).is_some_and(|rule| std::ptr::eq(rule, found));
        (!is_about_all).then_some(found)
    }

    /// Applies the fail-closed rule: one of the rules that could not be read may have been a deny.
    fn close(&self, judged: &mut Judged<'_>) {
        if judged.decision == Decision::Allow && self.options.closed.contains(&judged.domain) {
            judged.decision = Decision::Ask;
            judged.reasons =
                vec![format!("not all rules about {} could be read", judged.domain.as_str())];
            judged.suggestions = None;
        }
    }

    fn judge<'a>(&'a self, request: &Request, target: &Target) -> Judged<'a> {
        let domain = target.domain();
        let answer =
            |decision, rule: Option<&'a Rule>, shadowed: Vec<ReportedRule<'a>>, reasons| Judged {
                domain,
                target: String::new(),
                decision,
                rule: rule.map(Rule::told),
                shadowed,
                reasons,
                suggestions: None,
            };
        let text = Subject::new(&target.text);
        let others: Vec<Subject<'_>> =
            target.others.iter().map(|other| Subject::new(other)).collect();
        let found = std::iter::once(&text).chain(&others).find_map(|text| {
            Some((text.whole(), self.options.hard.matching(domain, *text).next()?))
        });
        if let Some((text, rule)) = found {
            let reason = never_allowed(rule, target, text);
            return answer(Decision::Deny, Some(rule), Vec::new(), vec![reason]);
        }
        if request.full_access {
            return answer(Decision::Allow, None, Vec::new(), vec!["full access".to_owned()]);
        }
        let rules = &self.options.rules;
        let (mut rule, mut shadowed) = rules.winner(domain, text);
        if let Some(same) = &target.same_as
            && rule.is_none_or(|rule| rule.source == Source::Default)
        {
            let (other, hidden) = rules.winner(domain, Subject::new(same));
            if other.is_some_and(|rule| rule.decision == Decision::Allow) {
                (rule, shadowed) = (other, hidden);
            }
        }
        if target.quiet && rule.is_none_or(|rule| !rule.is_particular()) {
            rule = rules.restriction(domain, text);
            shadowed.clear();
        }
        let mut decision = match rule {
            Some(rule) => rule.decision,
            None if target.quiet => Decision::Allow,
            None => Decision::Ask,
        };
        let mut reasons = match rule {
            Some(rule) if decision > Decision::Allow => vec![said(rule, &target.text)],
            None if decision > Decision::Allow => {
                vec![format!("no rule matches {}", brief(&target.text))]
            }
            _ => Vec::new(),
        };
        if rule.is_none_or(|rule| rule.source == Source::Default) && decision < Decision::Deny {
            let is_allowed_to_read =
                self.options.read_only && target.is_read_only && target.concerns.is_empty();
            if target.own || target.harmless || is_allowed_to_read {
                (decision, reasons) = (Decision::Allow, Vec::new());
            } else if target.sensitive && decision < Decision::Deny {
                decision = Decision::Ask;
                reasons = vec![format!("{} is a file with secrets", brief(&target.text))];
                let mut told = answer(
                    decision,
                    None,
                    rule.map(Rule::told).into_iter().chain(shadowed).collect(),
                    reasons.clone(),
                );
                told.rule = Some(ReportedRule {
                    domain: domain.as_str(),
                    pattern: SENSITIVE,
                    decision,
                    source: Source::Default,
                    place: None,
                });
                return self.finish(request, target, rule, told);
            }
        }
        for other in &others {
            let found = rules.restriction(domain, *other);
            if let Some(found) = found.filter(|rule| rule.decision > decision) {
                decision = found.decision;
                reasons = vec![said(found, other.whole())];
                rule = Some(found);
            }
        }
        let told = answer(decision, rule, shadowed, reasons);
        self.finish(request, target, rule, told)
    }

    /// Applies concerns of the analysis, then approvals.
    fn finish<'a>(
        &'a self,
        request: &Request,
        target: &Target,
        rule: Option<&Rule>,
        mut judged: Judged<'a>,
    ) -> Judged<'a> {
        // All permissions after the last rule that asks or denies: adding one never removes another.
        let allows: Vec<&Rule> = match rule {
            Some(rule) if rule.decision == Decision::Allow && !target.concerns.is_empty() => {
                let mut all = Vec::new();
                for text in std::iter::once(&target.text).chain(&target.same_as) {
                    let matching = self.options.rules.matching(judged.domain, Subject::new(text));
                    all.extend(matching.take_while(|rule| rule.decision == Decision::Allow));
                }
                all
            }
            _ => Vec::new(),
        };
        let lifted =
            |concern: &&Concern| allows.iter().any(|rule| lifts(rule, judged.domain, concern));
        let left: Vec<&Concern> =
            target.concerns.iter().filter(|concern| !lifted(concern)).collect();
        if judged.decision == Decision::Allow && !left.is_empty() {
            judged.decision = Decision::Ask;
            judged.reasons.clear();
        }
        if judged.decision == Decision::Ask {
            let text = Subject::new(&target.text);
            let same = target.same_as.as_deref().map(Subject::new);
            let approval = self.approvals.iter().map(|(session, rule)| (session, rule)).find(
                |(session, rule)| {
                    (session.is_none() || **session == request.session_id)
                        && rule.domain.is_none_or(|own| own == judged.domain)
                        && (rule.counts_for(&text)
                            || same.as_ref().is_some_and(|same| rule.counts_for(same)))
                        && target.concerns.iter().all(|concern| lifts(rule, judged.domain, concern))
                },
            );
            if let Some((_, rule)) = approval {
                judged.decision = Decision::Allow;
                judged.rule = Some(rule.told());
                judged.reasons.clear();
                return judged;
            }
            judged.reasons.extend(left.iter().map(|concern| concern.reason.clone()));
            judged.reasons.dedup();
            if left.iter().all(|concern| concern.may_be_covered()) {
                judged.suggestions = Some(suggest(
                    judged.domain,
                    &target.text,
                    target.wide && target.concerns.is_empty() && !target.sensitive,
                ));
            }
        }
        judged
    }
}

fn said(rule: &Rule, target: &str) -> String {
    let verb = if rule.decision == Decision::Deny { "denies" } else { "asks about" };
    format!("{:?} {verb} {}", rule.pattern.source(), brief(target))
}

/// Returns the reason of a hard deny: what is never allowed, and the form of the call that it was found in.
fn never_allowed(rule: &Rule, target: &Target, found: &str) -> String {
    let reason = format!("{:?} is never allowed", rule.pattern.source());
    if found == target.text {
        return reason;
    }
    let hint = match target.domain() == Domain::Bash && target.text.contains('$') {
        true => "; a variable that may be empty is safe as ${NAME:?}",
        false => "",
    };
    format!("{reason}, and this can be {}{hint}", brief(found))
}

/// Returns true if a permission covers such a concern. Where any command may run, one more option does not matter.
fn lifts(rule: &Rule, domain: Domain, concern: &Concern) -> bool {
    let for_all = match domain {
        Domain::Bash => true,
        // A permission to edit everything means files, not git's use of them.
        Domain::Edit => false,
        _ => rule.source == Source::User,
    };
    let is_for_all = for_all && rule.pattern.is_catch_all();
    match &concern.covered_by {
        CoveredBy::Nothing | CoveredBy::NotEvenFullAccess => false,
        CoveredBy::ThisCommand => rule.pattern.is_literal(),
        CoveredBy::AllCommands => is_for_all,
        CoveredBy::Word(word) => {
            is_for_all || rule.pattern.is_literal() || rule.pattern.names(word)
        }
    }
}

#[cfg(test)]
mod tests;
