//! Finds loops in the last calls.

use std::collections::{BTreeMap, HashSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::call_effect::CallEffect;
use super::messages::LoopReason;
use super::rules::{Levels, LoopRules};
use crate::util::sort::sort_by_key;

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Not recorded. Equal to any other outcome.
    Unknown,
    /// The call did not run, because this detector asked or stopped it. Equal to any other outcome.
    Vetoed,
    /// Recorded.
    Known {
        /// Hash of the result.
        result: String,
        failed: bool,
        /// Hash of the error, if it is specific.
        error: Option<String>,
        /// True if the tool does not exist.
        unknown_tool: bool,
    },
}

impl Outcome {
    fn result(&self) -> Option<&str> {
        match self {
            Outcome::Known { result, .. } => Some(result),
            _ => None,
        }
    }
}

/// A recorded call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The call's own id.
    pub id: String,
    /// Hash of tool and arguments.
    pub signature: String,
    pub tool: String,
    /// Number of the turn; calls of one turn were made in parallel.
    pub turn: u64,
    pub effect: CallEffect,
    pub outcome: Outcome,
    /// True if its result left the context: making the call again is not a repetition.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forgotten: bool,
}

impl Call {
    /// Forgets the result, if there is one to get again: what a call has changed stays changed, and a failure does not go
    /// away by trying again.
    fn forget(&mut self) {
        let has_none =
            matches!(self.outcome, Outcome::Vetoed | Outcome::Known { failed: true, .. });
        self.forgotten |= !has_none && !self.effect.changes.get();
    }
}

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// A warning.
    Warn,
    /// A question to the user.
    Ask,
    /// A stop without a question.
    Stop,
}

/// A loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The kind of loop.
    pub reason: LoopReason,
    pub level: Level,
    /// Number of repetitions.
    pub count: u64,
    /// Identifies the loop for a permanent approval.
    pub subject: String,
    /// A tool to name.
    pub tool: String,
}

/// Maximum number of calls in a turn. More without a text or a result in between mean that the host has stopped
/// reporting.
const MAX_PER_TURN: u64 = 20;

/// The last calls of a run, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    list: VecDeque<Call>,
    turn: u64,
    turn_name: Option<String>,
    /// Number of calls since the last result.
    unsettled: u64,
    /// True if the host records results at all.
    records: bool,
    /// Number of calls since the model last said something.
    since_said: u64,
    /// True if the host reports every message of the model, because even an empty one was reported.
    reports_all_messages: bool,
}

impl Calls {
    /// Returns the turn of a call that is made now. A call after a result begins a new turn, unless the host names
    /// turns or reports every message of the model.
    pub fn turn_of(&mut self, name: Option<&str>) -> u64 {
        let begins = self.begins(name);
        self.since_said += 1;
        self.unsettled += 1;
        if begins {
            self.turn += 1;
        }
        self.turn_name = name.map(str::to_owned);
        self.turn
    }

    fn begins(&self, name: Option<&str>) -> bool {
        match name {
            Some(_) => self.turn_name.as_deref() != name,
            None if self.reports_all_messages && self.since_said < MAX_PER_TURN => {
                self.since_said == 0
            }
            None => self.unsettled == 0 || self.unsettled >= MAX_PER_TURN || !self.records,
        }
    }

    /// Returns true if a call with a known id can be that call again: in the same turn, or if nothing was called or
    /// said since. Some providers reuse ids in every turn.
    pub fn is_still(&self, id: &str, signature: &str, name: Option<&str>) -> bool {
        let is = |call: &&Call| call.id == id && call.signature == signature;
        let is_newest = self.list.back().as_ref().is_some_and(is);
        let same_name = name.is_none() || self.turn_name.as_deref() == name;
        let in_turn = || self.list.iter().rev().find(is).is_some_and(|call| call.turn == self.turn);
        (is_newest && same_name && self.since_said > 0) || (!self.begins(name) && in_turn())
    }

    /// Appends a call, and drops calls beyond the window.
    pub fn push(&mut self, call: Call, window: usize) {
        self.list.push_back(call);
        // Turns with many parallel calls need more than the window to hold four turns.
        while self.list.len() > window.saturating_mul(4) {
            self.list.pop_front();
        }
    }

    /// Removes all calls, but keeps the facts about the host.
    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// Removes all calls but the last.
    pub fn keep_last(&mut self) {
        let last = self.list.pop_back();
        self.list = last.into_iter().collect();
    }

    /// Returns the newest call with this id.
    pub fn newest(&mut self, id: &str) -> Option<&mut Call> {
        self.list.iter_mut().rev().find(|call| call.id == id)
    }

    /// Forgets the results of these calls.
    pub fn forget(&mut self, ids: &HashSet<&str>) {
        self.list.iter_mut().filter(|call| ids.contains(call.id.as_str())).for_each(Call::forget);
    }

    /// Records that the model said something, or nothing.
    pub fn said(&mut self, text: &str) {
        self.since_said = 0;
        self.reports_all_messages |= text.trim().is_empty();
    }

    /// Records that a result was reported.
    pub fn settle(&mut self) {
        self.unsettled = 0;
        self.records = true;
    }

    /// Returns the loops if `call` comes next, most severe first.
    pub fn findings(&self, call: &Call, rules: &LoopRules) -> Vec<Finding> {
        let mut found: Vec<Finding> = [
            self.same_tool(call, rules),
            self.just_repeated(call, rules),
            self.cycle(call, rules),
            self.standstill(call, rules),
            self.same_error(call, rules),
            self.unknown_tool(call, rules),
        ]
        .into_iter()
        .flatten()
        .collect();
        sort_by_key(&mut found, |finding| match finding.level {
            Level::Stop => 0,
            Level::Ask => 1,
            Level::Warn => 2,
        });
        found
    }

    /// Detects repetitions of this call with the same outcome.
    fn same_tool(&self, call: &Call, rules: &LoopRules) -> Option<Finding> {
        // The object checked after a wait is being waited for.
        let waits = call.effect.waits || self.waited(0);
        let levels = if waits { rules.poll } else { rules.same_tool };
        let count = self.streak(&call.signature, call.turn, rules) + 1;
        let level = reached(levels, count).or_else(|| {
            let any = self.recent(rules).filter(|each| each.signature == call.signature).count()
                as u64
                + 1;
            let warn =
                rules.warn_whatever_the_outcome && levels.warn.is_some_and(|warn| any >= warn);
            warn.then_some(Level::Warn)
        })?;
        Some(finding(LoopReason::SameTool, level, count, &call.signature, &call.tool))
    }

    /// Returns true if the call `back` calls before the last one waits.
    fn waited(&self, back: usize) -> bool {
        self.list.iter().rev().nth(back).is_some_and(|call| call.effect.waits)
    }

    /// Returns true if the previous call was a repetition in excess by its results, and has the same tool.
    fn just_repeated(&self, call: &Call, rules: &LoopRules) -> Option<Finding> {
        const MIN_CALLS: u64 = 3;
        let last = self.list.back()?;
        let comparable = last.turn != call.turn
            && last.tool == call.tool
            && last.signature != call.signature
            && !(last.effect.waits || call.effect.waits || self.waited(1))
            && last.outcome.result().is_some();
        let threshold =
            rules.same_tool.ask.filter(|_| comparable)?.saturating_sub(1).max(MIN_CALLS);
        let count = self.streak(&last.signature, call.turn, rules);
        (count >= threshold)
            .then(|| finding(LoopReason::SameTool, Level::Ask, count, &last.signature, &last.tool))
    }

    /// Returns the number of earlier turns in which a call was made without a change of its outcome, and without any
    /// other change in between. A call whose outcome is unknown counts only in direct succession.
    fn streak(&self, signature: &str, turn: u64, rules: &LoopRules) -> u64 {
        // Calls before the first of these do not matter, and checking whether one was a change takes time.
        let same = |(_, each): &(usize, &Call)| each.signature == signature;
        let Some((oldest, _)) = self.recent(rules).enumerate().filter(same).last() else {
            return 0;
        };
        let (mut count, mut reference, mut counted_turn, mut gap) = (0, None, turn, false);
        for (back, each) in self.recent(rules).enumerate().take(oldest + 1) {
            if each.signature != signature {
                gap = true;
                if self.is_news(each, back) {
                    break;
                }
                continue;
            }
            if each.forgotten {
                break;
            }
            // No result ends the turn of a call that was vetoed, so the next one need not be parallel to it.
            if each.turn == counted_turn && each.outcome != Outcome::Vetoed {
                continue;
            }
            match (each.outcome.result(), reference) {
                (Some(result), Some(known)) if result != known => break,
                (Some(result), _) => reference = Some(result),
                (None, _) if gap => break,
                (None, _) => {}
            }
            count += 1;
            counted_turn = each.turn;
            gap = false;
        }
        count
    }

    /// Returns true if a call shows a change: it returned another result than the last time, or it can change state and
    /// succeeded for the first time.
    fn is_news(&self, call: &Call, back: usize) -> bool {
        let Outcome::Known { result, failed, .. } = &call.outcome else { return false };
        let mut earlier = self.list.iter().rev().skip(back + 1);
        let before = earlier
            .find(|each| each.signature == call.signature && each.outcome.result().is_some());
        match before.and_then(|each| each.outcome.result()) {
            Some(before) => before != result,
            None => !failed && call.effect.changes.get(),
        }
    }

    /// Detects that the last calls and this one repeat a block of two calls or more.
    fn cycle(&self, call: &Call, rules: &LoopRules) -> Option<Finding> {
        let newest: Vec<&Call> = std::iter::once(call).chain(self.recent(rules)).collect();
        (2..=rules.max_period).find_map(|period| Self::cycle_of(period, &newest, rules))
    }

    /// `newest` begins with the call that is about to be made.
    fn cycle_of(period: usize, newest: &[&Call], rules: &LoopRules) -> Option<Finding> {
        let call = newest.first()?;
        let block = newest.get(..period)?;
        if block.iter().all(|each| each.signature == call.signature) {
            return None;
        }
        let length = |equal: bool| {
            let same = |at: usize| {
                let (one, other) = (newest[at - period], newest[at]);
                let outcomes = one.outcome.result().zip(other.outcome.result());
                one.signature == other.signature
                    && !other.forgotten
                    && !(equal && outcomes.is_some_and(|(a, b)| a != b))
            };
            let calls = (period..newest.len()).take_while(|at| same(*at)).count() + period;
            let blocks = (calls / period) as u64;
            // The number of turns does not matter then.
            if reached(rules.cycle, blocks).is_none() {
                return blocks;
            }
            let (vetoed, others): (Vec<&Call>, Vec<&Call>) = newest
                .iter()
                .copied()
                .take(calls)
                .partition(|each| each.outcome == Outcome::Vetoed);
            let turns: HashSet<u64> = others.iter().map(|each| each.turn).collect();
            blocks.min((turns.len() + vetoed.len()) as u64)
        };
        let waits = block.iter().any(|each| each.effect.waits);
        let count = length(true);
        // A cycle that waits must fill the window.
        let max_repeats = (rules.window / period) as u64;
        let levels = if waits {
            Levels { ask: rules.cycle.ask.map(|ask| ask.max(max_repeats)), ..rules.cycle }
        } else {
            rules.cycle
        };
        let level = reached(levels, count).or_else(|| {
            let warn = rules.warn_whatever_the_outcome
                && levels.warn.is_some_and(|warn| length(false) >= warn);
            warn.then_some(Level::Warn)
        })?;
        let mut subject: Vec<&str> = block.iter().map(|each| each.signature.as_str()).collect();
        sort_by_key(&mut subject, |signature| *signature);
        Some(finding(LoopReason::Cycle, level, count, &subject.join(" "), &call.tool))
    }

    /// Detects that the last calls and this one are the same few calls, in any order, with unchanged results.
    fn standstill(&self, call: &Call, rules: &LoopRules) -> Option<Finding> {
        const MAX_DIFFERENT: usize = 5;
        let wanted = rules.standstill?;
        let mut results: BTreeMap<&str, Option<&str>> = BTreeMap::new();
        let mut seen = 0;
        for each in std::iter::once(call).chain(self.list.iter().rev()).take(wanted) {
            let result = each.outcome.result();
            let known = results.entry(&each.signature).or_insert(result);
            let changed = known.zip(result).is_some_and(|(known, result)| known != result);
            *known = known.or(result);
            if each.effect.waits || each.forgotten || changed || results.len() > MAX_DIFFERENT {
                return None;
            }
            seen += 1;
        }
        let subject: Vec<&str> = results.into_keys().collect();
        (seen == wanted).then(|| {
            finding(LoopReason::Cycle, Level::Stop, wanted as u64, &subject.join(" "), &call.tool)
        })
    }

    /// Detects turns in which every call failed, with one error common to all turns.
    fn same_error(&self, call: &Call, rules: &LoopRules) -> Option<Finding> {
        let threshold = rules.same_error?;
        let (mut turns, mut common): (u64, Option<HashSet<&str>>) = (0, None);
        let mut rest = self.list.iter().rev().filter(|each| each.turn != call.turn).peekable();
        while let Some(turn) = rest.peek().map(|each| each.turn) {
            let (mut errors, mut all_failed, mut ran) = (HashSet::new(), true, false);
            while let Some(each) = rest.next_if(|each| each.turn == turn) {
                ran |= each.outcome != Outcome::Vetoed;
                match &each.outcome {
                    Outcome::Known { failed: true, error, .. } => errors.extend(error.as_deref()),
                    Outcome::Vetoed => {}
                    _ => all_failed = false,
                }
            }
            // A call that was vetoed is neither a failure nor a success.
            if !ran {
                continue;
            }
            let errors = match &common {
                Some(common) => common.intersection(&errors).copied().collect(),
                None => errors,
            };
            if !all_failed || errors.is_empty() {
                break;
            }
            common = Some(errors);
            turns += 1;
        }
        let subject =
            common.and_then(|errors| errors.into_iter().min()).filter(|_| turns >= threshold)?;
        Some(finding(LoopReason::SameError, Level::Ask, turns, subject, &call.tool))
    }

    /// Detects calls of a tool that does not exist, with any arguments.
    fn unknown_tool(&self, call: &Call, rules: &LoopRules) -> Option<Finding> {
        let threshold = rules.unknown_tool?;
        let missing = |each: &&Call| {
            matches!(each.outcome, Outcome::Known { unknown_tool: true, .. } | Outcome::Vetoed)
        };
        let count = self
            .list
            .iter()
            .rev()
            .take_while(|each| each.tool == call.tool)
            .take_while(missing)
            .count() as u64;
        (count >= threshold).then(|| {
            finding(
                LoopReason::UnknownTool,
                Level::Stop,
                count,
                &format!("unknown {}", call.tool),
                &call.tool,
            )
        })
    }

    /// Returns the calls of the window, newest first.
    fn recent(&self, rules: &LoopRules) -> impl Iterator<Item = &Call> {
        self.list.iter().rev().take(rules.window)
    }
}

fn reached(levels: Levels, count: u64) -> Option<Level> {
    let at = |level: Option<u64>| level.is_some_and(|level| count >= level);
    if at(levels.stop) {
        Some(Level::Stop)
    } else if at(levels.ask) {
        Some(Level::Ask)
    } else {
        at(levels.warn).then_some(Level::Warn)
    }
}

fn finding(reason: LoopReason, level: Level, count: u64, subject: &str, tool: &str) -> Finding {
    Finding { reason, level, count, subject: subject.to_owned(), tool: tool.to_owned() }
}
