//! The detector of a session: counts of each run, open questions, and approvals.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call_effect::effect;
use super::call_history::{Call, Calls, Finding, Level, Outcome};
use super::errors::{says_error, says_something, says_unknown_tool};
use super::messages::{LoopReason, finding, stopped, warned};
use super::repeated_replies::{Answers, Exchange, Role};
use super::repetition::repetition;
use super::rules::LoopRules;
use super::signature::{outcome, signature, words};
use crate::error::{Code, Error, Result};
use crate::text::join_sentences;

/// Maximum number of answers remembered for calls without results, because ids of calls that never end must not pile
/// up.
const MAX_ANSWERED: usize = 1000;
/// Answers that differ only by numbers count as a loop after this multiple of the limit for equal ones.
const RENUMBERED_FACTOR: u64 = 2;
/// Maximum number of permanent approvals per session; the oldest are dropped.
const MAX_APPROVALS: usize = 1000;
/// Version of the format of saved states.
const VERSION: u64 = 1;

/// The action for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Run it.
    Allow,
    /// Ask the user first.
    Ask,
    /// Do not run it.
    Stop,
}

/// The decision about a call or a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopVerdict {
    pub action: Action,
    /// The reason, if the call is not simply allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<LoopReason>,
    /// The loop that was detected, if the reason is that no attempt is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detector: Option<LoopReason>,
    /// Number of repetitions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// A message for the user; for a call that is stopped, the result for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// A message for the model, if the call is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// The id to approve; for a call its own id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

const ALLOW: LoopVerdict = LoopVerdict {
    action: Action::Allow,
    reason: None,
    detector: None,
    count: None,
    message: None,
    warning: None,
    call_id: None,
};

impl LoopVerdict {
    /// Returns true if the call is allowed without any message.
    pub fn is_plain(&self) -> bool {
        *self == ALLOW
    }
}

/// The scope of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// This time.
    Once,
    /// For this loop, as long as the session lasts.
    Always,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Answered {
    id: String,
    signature: String,
    verdict: LoopVerdict,
    /// The subject of a question.
    question: Option<Question>,
    /// True if it was approved and the call was not repeated since.
    #[serde(default)]
    approved: bool,
    /// Number of times the same call was checked again.
    #[serde(default)]
    again: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Question {
    reason: LoopReason,
    subject: String,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct State {
    /// Number of steps of this run: calls, and repeated replies without one.
    total: u64,
    /// Number of calls since the run began or the budget was approved.
    since: u64,
    /// Number of approvals of this run.
    attempts: u64,
    /// Remaining calls of the cool-down.
    cooldown: u64,
    calls: Calls,
    answers: Answers,
    answered: VecDeque<Answered>,
    /// Permanent approvals of this session, oldest first.
    always: VecDeque<String>,
    /// Number of questions about replies so far, for their ids.
    exchanges: u64,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    version: u64,
    state: State,
}

/// The detector of one session.
#[derive(Debug)]
pub struct Detector {
    rules: LoopRules,
    state: State,
}

impl Detector {
    /// Creates a detector without a history.
    pub fn new(rules: LoopRules) -> Self {
        Detector { rules, state: State::default() }
    }

    /// Restores a detector from a saved state.
    pub fn from_json(rules: LoopRules, json: &str) -> Result<Self> {
        let refuse = |problem: String| Error::field(Code::InvalidArgument, "state", problem);
        let saved: Saved = serde_json::from_str(json)
            .map_err(|error| refuse(format!("is not the saved state of a detector: {error}")))?;
        if saved.version != VERSION {
            return Err(refuse(format!("expected version {VERSION}, received {}", saved.version)));
        }
        Ok(Detector { rules, state: saved.state })
    }

    /// Returns the state as JSON.
    pub fn to_json(&self) -> String {
        let saved = Saved { version: VERSION, state: self.state.clone() };
        serde_json::to_string(&saved).unwrap_or_default()
    }

    /// Begins a run: counts, attempts and open questions are reset. Permanent approvals are kept, and so are repeated
    /// replies, because a host may start a run for each of its reminders.
    pub fn start_run(&mut self) {
        let state = &mut self.state;
        (state.total, state.since, state.attempts, state.cooldown) = (0, 0, 0, 0);
        state.calls.clear();
        state.answered.clear();
    }

    /// Checks a call before it runs. `arguments` is JSON, and so is `identity`, which replaces them if the caller knows
    /// better what distinguishes calls. The same call checked again gets the same answer until its result is recorded,
    /// or it cannot be the same call any more: see [`Calls::is_still`].
    pub fn check(
        &mut self,
        id: &str,
        tool: &str,
        arguments: &str,
        turn: Option<&str>,
        identity: Option<&str>,
    ) -> LoopVerdict {
        let signature = signature(tool, identity.unwrap_or(arguments), &self.rules.volatile);
        if let Some(verdict) = self.answer_again(id, &signature, tool, turn) {
            return verdict;
        }
        let parsed: Option<Value> = serde_json::from_str(arguments).ok();
        // Models write arguments as a string that contains JSON.
        let inner = parsed
            .as_ref()
            .and_then(Value::as_str)
            .and_then(|text| serde_json::from_str(text).ok());
        let mut call = Call {
            id: id.to_owned(),
            turn: self.state.calls.turn_of(turn),
            effect: effect(tool, inner.as_ref().or(parsed.as_ref()), &self.rules.poll_tools),
            signature,
            tool: tool.to_owned(),
            outcome: Outcome::Unknown,
            forgotten: false,
        };
        self.state.answers.called();
        self.state.total += 1;
        self.state.since += 1;
        let (verdict, question) = self.judge(&call);
        if verdict.action != Action::Allow {
            call.outcome = Outcome::Vetoed;
        }
        let signature = call.signature.clone();
        self.state.calls.push(call, self.rules.window);
        self.remember(Answered {
            id: id.to_owned(),
            signature,
            verdict: verdict.clone(),
            question,
            approved: false,
            again: 0,
        });
        verdict
    }

    /// Returns the answer that a call got before. A question, and an approval of the call, last indefinitely.
    fn answer_again(
        &mut self,
        id: &str,
        signature: &str,
        tool: &str,
        turn: Option<&str>,
    ) -> Option<LoopVerdict> {
        let still = self.state.calls.is_still(id, signature, turn);
        let cap = self.rules.hard_cap();
        let answered = self.state.answered.iter_mut().rev().find(|answered| answered.id == id)?;
        let waits = answered.question.is_some() || answered.approved;
        if answered.signature != signature || !(still || waits) {
            return None;
        }
        if !still {
            answered.approved = false;
        }
        answered.again += 1;
        // A host that neither reports results nor distinguishes calls must terminate too.
        let again = answered.again;
        if cap.is_some_and(|cap| again >= cap) {
            return Some(self.stop(LoopReason::HardCap, None, tool, again));
        }
        Some(answered.verdict.clone())
    }

    fn judge(&mut self, call: &Call) -> (LoopVerdict, Option<Question>) {
        if self.rules.hard_cap().is_some_and(|cap| self.state.total >= cap) {
            return (self.stop(LoopReason::HardCap, None, &call.tool, self.state.total), None);
        }
        if self.state.cooldown > 0 {
            self.state.cooldown -= 1;
            self.state.calls.clear();
            return (ALLOW, None);
        }
        let mut findings = self.state.calls.findings(call, &self.rules);
        if self.rules.max_tool_calls.is_some_and(|limit| self.state.since >= limit) {
            let budget = Finding {
                reason: LoopReason::MaxToolCalls,
                level: Level::Ask,
                count: self.state.since,
                subject: "calls".to_owned(),
                tool: call.tool.clone(),
            };
            let place = findings.iter().position(|each| each.level == Level::Warn);
            findings.insert(place.unwrap_or(findings.len()), budget);
        }
        self.answer_to(&findings, &call.id)
    }

    /// Returns the answer to the first finding without a permanent approval.
    fn answer_to(&mut self, findings: &[Finding], id: &str) -> (LoopVerdict, Option<Question>) {
        for found in findings {
            if found.level == Level::Warn {
                let words = finding(self.rules.language, found.reason, &found.tool, found.count);
                let warning = join_sentences(&[words.as_str(), warned(self.rules.language)]);
                let verdict = LoopVerdict {
                    reason: Some(found.reason),
                    count: Some(found.count),
                    warning: Some(warning),
                    ..ALLOW
                };
                return (verdict, None);
            }
            let question =
                Question { reason: found.reason, subject: key(found.reason, &found.subject) };
            let silenced = self.state.always.contains(&question.subject);
            let counts = self.is_attempt(found.reason);
            let spent = counts && self.state.attempts >= self.rules.max_attempts;
            if silenced && !(spent && self.rules.always_is_attempt) {
                if self.rules.always_is_attempt {
                    self.go_on(found.reason);
                }
                continue;
            }
            if spent {
                let verdict = self.stop(
                    LoopReason::MaxAttempts,
                    Some(found.reason),
                    &found.tool,
                    found.count,
                );
                return (verdict, None);
            }
            if found.level == Level::Stop || self.rules.headless {
                return (self.stop(found.reason, None, &found.tool, found.count), None);
            }
            let message = finding(self.rules.language, found.reason, &found.tool, found.count);
            let verdict = LoopVerdict {
                action: Action::Ask,
                reason: Some(found.reason),
                count: Some(found.count),
                message: Some(message),
                call_id: Some(id.to_owned()),
                ..ALLOW
            };
            return (verdict, Some(question));
        }
        (ALLOW, None)
    }

    fn stop(
        &self,
        reason: LoopReason,
        detector: Option<LoopReason>,
        tool: &str,
        count: u64,
    ) -> LoopVerdict {
        let language = self.rules.language;
        let mut sentences = vec![finding(language, detector.unwrap_or(reason), tool, count)];
        if detector.is_some() {
            sentences.push(finding(language, reason, tool, self.state.attempts));
        }
        sentences.push(stopped(language).to_owned());
        let message = join_sentences(&sentences);
        let count = Some(count);
        LoopVerdict {
            action: Action::Stop,
            reason: Some(reason),
            detector,
            count,
            message: Some(message),
            ..ALLOW
        }
    }

    /// Records the outcome of a call. A result of a call that was not allowed, or that is unknown, changes nothing.
    /// `is_error` is given if the host knows it; otherwise the text decides.
    pub fn record(&mut self, id: &str, result: &str, is_error: Option<bool>) {
        let Some(call) = self.state.calls.newest(id) else { return };
        if call.outcome != Outcome::Unknown {
            self.state.calls.settle();
            return;
        }
        let failed = is_error.unwrap_or_else(|| says_error(result));
        call.outcome = Outcome::Known {
            result: outcome(&call.tool, result, failed, &self.rules.volatile),
            failed,
            error: (failed && says_something(result))
                .then(|| outcome("", result, true, &self.rules.volatile)),
            unknown_tool: failed && says_unknown_tool(result),
        };
        self.state.calls.settle();
        self.state.answered.retain(|answered| answered.id != id);
    }

    /// Approves a question. Returns false if there is no open question with this id.
    pub fn approve(&mut self, id: &str, approval: Approval) -> bool {
        let Some(answered) =
            self.state.answered.iter_mut().rev().find(|answered| answered.id == id)
        else {
            return false;
        };
        let Some(question) = answered.question.take() else { return false };
        answered.verdict = ALLOW;
        answered.approved = true;
        if let Some(call) = self.state.calls.newest(id) {
            call.outcome = Outcome::Unknown;
        }
        if approval == Approval::Always {
            let always = &mut self.state.always;
            always.push_back(question.subject);
            while always.len() > MAX_APPROVALS {
                always.pop_front();
            }
        }
        if approval == Approval::Once || self.rules.always_is_attempt {
            self.go_on(question.reason);
        }
        self.state.since =
            if question.reason == LoopReason::MaxToolCalls { 0 } else { self.state.since };
        true
    }

    /// Forgets the results of calls, which left the context: they were pruned, cleared by the provider, or replaced by a
    /// summary. A call that gets such a result again is not a repetition.
    pub fn forget(&mut self, ids: &[String]) {
        self.state.calls.forget(&ids.iter().map(String::as_str).collect());
    }

    /// Counts an approval and restarts the count of repetitions.
    fn go_on(&mut self, reason: LoopReason) {
        if self.is_attempt(reason) {
            self.state.attempts += 1;
        }
        if reason == LoopReason::MaxToolCalls || self.rules.budget_is_attempt {
            self.state.since = 0;
        }
        if reason != LoopReason::MaxToolCalls || self.rules.budget_is_attempt {
            self.state.cooldown = self.rules.cooldown;
            self.state.calls.keep_last();
            self.state.answers.forget();
        }
    }

    fn is_attempt(&self, reason: LoopReason) -> bool {
        reason != LoopReason::MaxToolCalls || self.rules.budget_is_attempt
    }

    /// Records a message. The answer is about repeated replies; its `call_id` is the id to approve.
    pub fn observe(&mut self, role: Role, text: &str) -> LoopVerdict {
        if role == Role::Assistant {
            self.state.calls.said(text);
        }
        let exchange = self.state.answers.said(role, text);
        let found = match (role, self.rules.same_answer) {
            (Role::Assistant, Some(_)) => repetition(text).map(|found| Finding {
                reason: LoopReason::RepeatedText,
                level: Level::Ask,
                count: found.count,
                subject: found.subject,
                tool: String::new(),
            }),
            _ => None,
        };
        if let Some(found) = found {
            return self.ask_about_words(found);
        }
        let Some(exchange) = exchange else { return ALLOW };
        // Repetitions without a call are steps too, so that they end where calls end.
        if role == Role::User {
            self.state.total += 1;
        }
        if self.rules.hard_cap().is_some_and(|cap| self.state.total >= cap) {
            return self.stop(LoopReason::HardCap, None, "", self.state.total);
        }
        let Exchange { count, renumbered, subject } = exchange;
        // Changing numbers may be progress, so that more repetitions are needed.
        let is_loop = |limit| count >= limit || renumbered >= RENUMBERED_FACTOR * limit;
        if !self.rules.same_answer.is_some_and(is_loop) {
            return ALLOW;
        }
        self.ask_about_words(Finding {
            reason: LoopReason::NoToolCall,
            level: Level::Ask,
            count: count.max(renumbered),
            subject,
            tool: String::new(),
        })
    }

    fn ask_about_words(&mut self, found: Finding) -> LoopVerdict {
        self.state.exchanges += 1;
        let id = format!("exchange-{}", self.state.exchanges);
        let (verdict, question) = self.answer_to(&[found], &id);
        if question.is_some() {
            self.remember(Answered {
                id,
                signature: String::new(),
                verdict: verdict.clone(),
                question,
                approved: false,
                again: 0,
            });
        }
        verdict
    }

    /// Returns the ids of open questions, oldest first.
    pub fn pending(&self) -> Vec<&str> {
        let open = self.state.answered.iter().filter(|answered| answered.question.is_some());
        let mut seen = BTreeSet::new();
        open.map(|answered| answered.id.as_str()).filter(|id| seen.insert(*id)).collect()
    }

    fn remember(&mut self, answered: Answered) {
        self.state.answered.retain(|earlier| earlier.id != answered.id);
        self.state.answered.push_back(answered);
        while self.state.answered.len() > MAX_ANSWERED {
            self.state.answered.pop_front();
        }
    }
}

/// Returns the key of a permanent approval.
fn key(reason: LoopReason, subject: &str) -> String {
    words(&format!("{reason:?} {subject}"))
}

#[cfg(test)]
mod tests;
