//! The pruning state of one history from request to request.

use serde::{Deserialize, Serialize};

use super::policies::{Form, Goal, Item, Rules, View, goals};
use super::schedule::{self, Costs, Decision, Move, Prices, Prompt, Savings};
use super::used_results::Use;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// A user. Begins a turn.
    User,
    /// The model, which has seen everything before.
    Assistant,
    /// A summary of earlier messages.
    Summary,
    /// Any other author.
    Other,
}

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    /// Size in tokens, items included.
    pub tokens: f64,
    /// Tokens of its signed reasoning; 0 if it has none.
    pub thinking: f64,
    /// True if that was removed.
    pub is_without_thinking: bool,
}

/// The state that outlives a process, apart from the history itself.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Account {
    /// Costs so far.
    pub costs: Costs,
    /// Number of requests so far.
    pub requests: u64,
    /// Time of the last request in milliseconds since the epoch.
    pub last_request: Option<f64>,
}

/// The decision about a request, with figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// Indexes of the items pruned now.
    pub goes: Vec<usize>,
    /// Indexes of the items trimmed now.
    pub trims: Vec<usize>,
    /// For each of them, pruned ones first, the index of the policy that selected it.
    pub policies: Vec<usize>,
    /// Index of the first message whose signed reasoning is removed now, with that of all after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_thinking_from: Option<usize>,
    /// The reason, and its figures.
    pub decision: Decision,
    /// Tokens of the request without pruning.
    pub tokens_before: f64,
    /// Tokens of the request.
    pub tokens_after: f64,
    /// Costs so far, this request included.
    pub savings: Savings,
    /// Tokens at the start that the last request had as well: what a warm cache holds.
    pub repeated: f64,
    /// Milliseconds since the last request; `None` for the first one.
    pub pause: Option<f64>,
}

/// Figures of the schedule as the usage of a provider shows them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correction {
    pub prices: Prices,
    /// The cheapest prices for which the guarantee holds.
    pub cheapest: Prices,
    pub cache_lifetime_ms: f64,
    /// Tokens of a request besides those that are estimated; negative if the estimate is too high.
    pub uncounted: f64,
}

/// The history of one session and the decisions about it.
#[derive(Debug, Clone)]
pub struct Pruner {
    rules: Rules,
    schedule: schedule::Rule,
    account: Account,
    messages: Vec<Message>,
    items: Vec<Item>,
    forms: Vec<Form>,
    /// For each item the number of the request at which it was first prunable.
    since: Vec<Option<u64>>,
    /// Indexes of the messages by role, ascending.
    turns: Vec<usize>,
    answers: Vec<usize>,
    summaries: Vec<usize>,
    uses: Vec<Use>,
    /// Cumulative tokens before each message in its current form, and without any pruning, for the messages counted so
    /// far; the total is at the end.
    starts: Vec<f64>,
    unpruned_starts: Vec<f64>,
    /// Number of messages at the start that the last request had as well.
    shared: usize,
    /// Tokens of a request besides those that are estimated.
    uncounted: f64,
}

impl Pruner {
    /// Creates a pruner, with the account of an earlier one if it continues that.
    pub fn new(rules: Rules, schedule: schedule::Rule, account: Account) -> Self {
        let (messages, items, forms, since) = Default::default();
        let (turns, answers, summaries, uses) = Default::default();
        let (starts, unpruned_starts) = (vec![0.0], vec![0.0]);
        Pruner {
            rules,
            schedule,
            account,
            messages,
            items,
            forms,
            since,
            turns,
            answers,
            summaries,
            uses,
            starts,
            unpruned_starts,
            shared: 0,
            uncounted: 0.0,
        }
    }

    /// Returns the state that outlives the process.
    pub fn account(&self) -> Account {
        self.account
    }

    /// Drops every message from `shared` on: the rest of the history is given again.
    pub fn keep(&mut self, shared: usize) {
        self.messages.truncate(shared);
        let items = self.items.partition_point(|item| item.message < shared);
        self.items.truncate(items);
        self.forms.truncate(items);
        self.since.truncate(items);
        for places in [&mut self.turns, &mut self.answers, &mut self.summaries] {
            places.truncate(places.partition_point(|place| *place < shared));
        }
        self.uses.truncate(self.uses.partition_point(|used| used.message < shared));
        self.count_again_from(shared);
        self.shared = self.messages.len();
    }

    /// Declares that a request at `last_request` had the first `shared` messages, although this pruner did not see it.
    pub fn resume(&mut self, shared: usize, last_request: Option<f64>) {
        self.shared = shared.min(self.messages.len());
        self.account.last_request = self.account.last_request.or(last_request);
    }

    /// Counts with what a provider reported from now on. Costs so far stay as they are.
    pub fn correct(&mut self, correction: Correction) {
        self.schedule.prices = correction.prices;
        self.schedule.cheapest = correction.cheapest;
        self.schedule.cache_lifetime_ms = correction.cache_lifetime_ms;
        self.uncounted = correction.uncounted;
    }

    /// Appends a message to the history.
    pub fn push(&mut self, message: Message) {
        let place = self.messages.len();
        match message.role {
            Role::User => self.turns.push(place),
            Role::Assistant => self.answers.push(place),
            Role::Summary => self.summaries.push(place),
            Role::Other => {}
        }
        self.messages.push(message);
    }

    /// Appends an item of the last message. `carried` is the number of requests that contained it since it was
    /// prunable.
    pub fn push_item(&mut self, mut item: Item, form: Form, carried: Option<u64>) {
        item.message = self.messages.len().saturating_sub(1);
        self.items.push(item);
        self.forms.push(form);
        let next = self.account.requests + 1;
        self.since.push(carried.map(|carried| next.saturating_sub(carried)));
    }

    /// Declares that a message of the model uses a result.
    pub fn push_use(&mut self, used: Use) {
        self.uses.push(used);
    }

    /// Returns for each item the number of requests that contained it since it was prunable.
    pub fn carried(&self) -> impl Iterator<Item = Option<u64>> {
        self.since.iter().map(|since| since.map(|since| self.account.requests + 1 - since))
    }

    /// Decides what the request at `now` leaves out, and records the request. Nothing in front of `bound_to` may change,
    /// and the model has seen nothing from `unseen_from` on, whatever the messages look like.
    pub fn decide(&mut self, now: f64, bound_to: usize, unseen_from: usize) -> Answer {
        let age = self.account.last_request.map(|last| now - last);
        // If the clock was set back the age is unknown, and assuming a warm cache is the cheaper error.
        let cold = age.is_none_or(|age| age > self.schedule.cache_lifetime_ms);
        self.account.requests += 1;
        self.count();
        let tokens = self.starts.last().copied().unwrap_or(0.0);
        let unpruned = self.unpruned_starts.last().copied().unwrap_or(0.0);
        let window_tokens = (tokens + self.uncounted).max(0.0);
        let goals = self.goals(now, bound_to, unseen_from, window_tokens);
        let moves = self.moves(&goals);
        let prompt = Prompt {
            starts: &self.starts,
            unpruned_starts: &self.unpruned_starts,
            shared: self.shared,
            cold,
        };
        let steps: Vec<Move> = moves.iter().map(|(_, step)| *step).collect();
        let decision = schedule::decide(&self.schedule, &mut self.account.costs, &prompt, &steps);
        let made = decision.from.and_then(|from| moves.get(from..)).unwrap_or_default();
        let (mut goes, mut trims) = (Vec::new(), Vec::new());
        for &(place, _) in made {
            let Some(&goal) = goals.get(place) else { continue };
            if let (Some(form), Some(since)) =
                (self.forms.get_mut(place), self.since.get_mut(place))
            {
                (*form, *since) = (goal.form, None);
            }
            if goal.form == Form::Gone { goes.push(place) } else { trims.push(place) }
        }
        let changed = made.first().map(|(_, step)| step.message);
        let without_thinking_from = changed.filter(|_| self.rules.removes_thinking);
        let mut thinking = 0.0;
        if let Some(from) = without_thinking_from {
            for message in self.messages.iter_mut().skip(from) {
                if !message.is_without_thinking {
                    thinking += message.thinking;
                    message.is_without_thinking = message.thinking > 0.0;
                }
            }
        }
        let repeated_messages = changed.unwrap_or(usize::MAX).min(self.shared);
        let repeated = self.starts.get(repeated_messages).copied().unwrap_or(0.0);
        if let Some(message) = changed {
            self.count_again_from(message);
        }
        let policy = |place: &usize| goals.get(*place).and_then(|goal| goal.policy);
        let policies = goes.iter().chain(&trims).filter_map(policy).collect();
        self.account.last_request = Some(now);
        self.shared = self.messages.len();
        let freed = if decision.from.is_some() { decision.freed } else { 0.0 };
        Answer {
            goes,
            trims,
            policies,
            without_thinking_from,
            decision,
            tokens_before: unpruned,
            tokens_after: tokens - freed - thinking,
            savings: self.account.costs.by_rule,
            repeated,
            pause: age,
        }
    }

    fn goals(&self, now: f64, bound_to: usize, unseen_from: usize, tokens: f64) -> Vec<Goal> {
        let view = View {
            items: &self.items,
            forms: &self.forms,
            tokens,
            turns: &self.turns,
            answers: &self.answers,
            bound_to,
            unseen_from: self.answers.last().copied().unwrap_or(0).min(unseen_from),
            budget_from: self.summaries.last().copied().unwrap_or(0),
            now,
            uses: &self.uses,
        };
        goals(&view, &self.rules)
    }

    /// Returns the moves in the order of their messages, each with the index of its item.
    fn moves(&mut self, goals: &[Goal]) -> Vec<(usize, Move)> {
        let requests = self.account.requests;
        let mut moves = Vec::new();
        let columns = self.items.iter().zip(&mut self.since).zip(&self.forms).zip(goals);
        for (place, (((item, since), form), goal)) in columns.enumerate() {
            if *form == goal.form {
                *since = None;
                continue;
            }
            let since = *since.get_or_insert(requests);
            let put = item.size(goal.form);
            let freed = item.size(*form) - put;
            let carried = (requests - since + 1) as f64;
            moves.push((place, Move { message: item.message, freed, put, carried }));
        }
        moves
    }

    /// Drops cumulative counts after the start of this message, which has changed.
    fn count_again_from(&mut self, message: usize) {
        self.starts.truncate(message + 1);
        self.unpruned_starts.truncate(message + 1);
    }

    /// Counts the messages that were not counted yet.
    fn count(&mut self) {
        let counted = self.starts.len().saturating_sub(1);
        let mut sent = self.starts.last().copied().unwrap_or(0.0);
        let mut unpruned = self.unpruned_starts.last().copied().unwrap_or(0.0);
        let first = self.items.partition_point(|item| item.message < counted);
        let mut items = self.items.iter().zip(&self.forms).skip(first).peekable();
        for (at, message) in self.messages.iter().enumerate().skip(counted) {
            unpruned += message.tokens;
            sent += message.tokens;
            if message.is_without_thinking {
                sent -= message.thinking;
            }
            while let Some((item, form)) = items.next_if(|(item, _)| item.message <= at) {
                sent -= item.tokens - item.size(*form);
            }
            self.starts.push(sent);
            self.unpruned_starts.push(unpruned);
        }
    }
}

#[cfg(test)]
mod tests;
