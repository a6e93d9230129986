//! When pruning is worth its cost.
//!
//! A provider keeps the prefix of a prompt in a cache and charges little for it. A change in the middle breaks the
//! prefix: everything after it is paid in full once more. Carrying an item costs a little at every request, pruning it
//! costs much once: this is the problem of renting or buying. The rule used here needs no forecast: buy when the rent
//! paid has come to a share of the price ([`PATIENCE`]).
//!
//! That alone can still end badly, when a session ends right after it has paid for a break. Therefore lossy moves have
//! a budget. It consists of the savings of pruning so far, and a share of what the session would have cost without it
//! ([`Rule::max_loss`]). A break that exceeds this budget waits. The total thus never exceeds that of doing nothing by
//! more than the share, whatever comes next: after a break every request costs less than its counterpart.
//!
//! A break need not begin at the oldest item: the further back the first change, the more has to be paid again. The
//! moves that are tried are the suffixes of the items, and the longest one that pays is taken.
//!
//! Everything is counted in priced tokens: tokens times their price. Where the price of a read is not known, the rule
//! uses a common one, and the budget must hold for the cheapest read that providers have. Then it holds for every more expensive
//! one, because pruning never reads more tokens from the cache than doing nothing does.

use serde::{Deserialize, Serialize};

/// Rent paid, as a fraction of the price of the break, at which breaking pays. Half would be fair if a session could end
/// at any moment; most of the recorded ones go on for long, and the budget covers those that do not. Compared with a
/// half, a fifth saves 0.9 % of the input at a read of 0.1 and 3.4 % at 0.025, on both halves of the sessions, and a name is
/// missing in 0.2 to 0.7 % more of the requests. With 0.15 the costliest session comes to 105 instead of 102 %.
const PATIENCE: f64 = 0.2;

/// Safety factor for the price of a break that the savings must cover: tokens are estimated, and an error in the part
/// after a break must not cost more than allowed. Among the recorded sessions, priced at four characters to a token, one
/// ends at 110.9 % without it where 110 % is allowed, and none above 103.6 % with it.
const MARGIN: f64 = 1.15;

/// Prices of a prompt token. Only the ratios matter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Prices {
    /// A token in a cached prefix.
    pub read: f64,
    /// A token that is sent for the first time.
    pub write: f64,
    /// A token that was sent before and is not cached any more.
    pub miss: f64,
}

/// The moments at which to prune.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// When it is worth its cost.
    Cache,
    /// When the cache has expired.
    Cold,
    /// At every request, whatever it costs.
    Always,
}

/// The parameters of the schedule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    pub prices: Prices,
    /// The cheapest prices for which `max_loss` must hold; the actual prices if they are known.
    pub cheapest: Prices,
    /// Lifetime of a cache after its last use, in milliseconds.
    pub cache_lifetime_ms: f64,
    /// Maximum excess of the total over that of doing nothing, as a share.
    pub max_loss: f64,
    pub when: When,
}

/// The costs so far, with and without pruning.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Savings {
    /// Priced tokens of all requests so far.
    pub paid: f64,
    /// Priced tokens of the same requests without pruning.
    pub unpruned: f64,
}

impl Savings {
    /// Returns the budget for a break, if the next request costs `unpruned` without pruning.
    fn holds(&self, max_loss: f64, unpruned: f64) -> f64 {
        (1.0 + max_loss) * (self.unpruned + unpruned) - self.paid
    }
}

/// The costs so far by the prices of the rule, and by the cheapest ones that its guarantee covers.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    pub by_rule: Savings,
    pub cheapest: Savings,
}

/// A possible change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Move {
    /// Index of the message that changes.
    pub message: usize,
    /// Number of tokens freed.
    pub freed: f64,
    /// Number of tokens of the replacement, which was never sent before.
    pub put: f64,
    /// Number of requests that contained the item since it was prunable, this one included.
    pub carried: f64,
}

/// The next request, before further pruning.
#[derive(Debug, Clone, Copy)]
pub struct Prompt<'a> {
    /// Cumulative tokens before each message, and the total at the end.
    pub starts: &'a [f64],
    /// Cumulative tokens before each message without any pruning, and the total at the end.
    pub unpruned_starts: &'a [f64],
    /// Number of unchanged messages at the start that the last request had as well.
    pub shared: usize,
    /// True if the cache of the last request has expired.
    pub cold: bool,
}

/// Tokens freed after a break, in messages that were sent before and in those that were not, and tokens of replacements
/// in the former.
#[derive(Debug, Clone, Copy, Default)]
struct Freed {
    sent: f64,
    new: f64,
    put: f64,
}

impl Prompt<'_> {
    /// Returns the cost of the request if the first change is in the message `change`.
    fn cost(&self, prices: &Prices, starts: &[f64], change: usize, freed: Freed) -> f64 {
        let at = |message: usize| starts.get(message).copied().unwrap_or(0.0);
        let total = starts.last().copied().unwrap_or(0.0);
        let read = if self.cold { 0.0 } else { at(change.min(self.shared)) };
        let again = at(self.shared) - read - freed.sent;
        let new = total - at(self.shared) - freed.new;
        let put = (prices.write - prices.miss) * freed.put;
        prices.read * read + prices.miss * again + prices.write * new + put
    }

    fn unchanged(&self, prices: &Prices, starts: &[f64]) -> f64 {
        self.cost(prices, starts, self.shared, Freed::default())
    }
}

/// The reason for a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Nothing can be pruned.
    NothingToFree,
    /// The cache has expired anyway, or the break costs less than it frees.
    Free,
    /// The cost of carrying the items comes close to the price of the break.
    Pays,
    /// The caller wants every move made at once.
    Always,
    /// The items have not been carried for long enough.
    TooEarly,
    /// The caller waits until the cache has expired.
    Warm,
    /// The break would pay, but the savings so far do not cover it.
    SavingsTooSmall,
}

/// The decision about one request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    pub reason: Reason,
    /// Index of the first move that is made, with all after it; `None` if none is.
    #[serde(skip)]
    pub from: Option<usize>,
    /// Tokens freed by the moves that are made, or else by all possible ones.
    pub freed: f64,
    /// Cost of the moves at this request in priced tokens; negative if they save at once.
    pub price: f64,
    /// Cost of carrying the same items so far, in priced tokens.
    pub carried: f64,
    /// The budget for the break in priced tokens.
    pub savings: f64,
    /// True if the cache of the prompt has expired.
    pub cold: bool,
}

/// A request at certain prices.
struct Request {
    prices: Prices,
    unpruned: f64,
    as_it_is: f64,
    /// Budget of a break.
    budget: f64,
}

impl Request {
    fn new(prices: Prices, max_loss: f64, costs: &Savings, prompt: &Prompt<'_>) -> Self {
        let unpruned = prompt.unchanged(&prices, prompt.unpruned_starts);
        let as_it_is = prompt.unchanged(&prices, prompt.starts);
        let budget = costs.holds(max_loss, unpruned) - as_it_is;
        Request { prices, unpruned, as_it_is, budget }
    }

    fn price(&self, prompt: &Prompt<'_>, change: usize, freed: Freed) -> f64 {
        prompt.cost(&self.prices, prompt.starts, change, freed) - self.as_it_is
    }

    fn record(&self, costs: &mut Savings, price: f64) {
        costs.unpruned += self.unpruned;
        costs.paid += self.as_it_is + price;
    }
}

/// Decides about one request and records it. `moves` are in the order of their messages.
pub fn decide(rule: &Rule, costs: &mut Costs, prompt: &Prompt<'_>, moves: &[Move]) -> Decision {
    let prices = &rule.prices;
    let by_rule = Request::new(*prices, rule.max_loss, &costs.by_rule, prompt);
    let cheapest = Request::new(rule.cheapest, rule.max_loss, &costs.cheapest, prompt);
    let mut freed = Freed::default();
    let mut tried = Tried { freed: 0.0, price: 0.0, carried: 0.0, cheapest: 0.0 };
    let mut best: Option<(usize, Tried, Reason)> = None;
    let at_once = match rule.when {
        When::Always => Some(Reason::Always),
        When::Cold if prompt.cold => Some(Reason::Free),
        When::Cold | When::Cache => None,
    };
    let mut refused = if rule.when == When::Cold { Reason::Warm } else { Reason::TooEarly };
    for (at, step) in moves.iter().enumerate().rev() {
        if step.message < prompt.shared {
            freed.sent += step.freed;
            freed.put += step.put;
        } else {
            freed.new += step.freed;
        }
        tried = Tried {
            freed: freed.sent + freed.new,
            price: by_rule.price(prompt, step.message, freed),
            carried: tried.carried + prices.read * step.freed * step.carried,
            cheapest: cheapest.price(prompt, step.message, freed),
        };
        let pays = tried.carried >= PATIENCE * tried.price;
        let is_in_budget = MARGIN * tried.cheapest <= cheapest.budget;
        if let Some(reason) = at_once {
            best = Some((at, tried, reason));
        } else if rule.when == When::Cold {
            // It waits, and the reason says for which condition.
        } else if tried.price <= 0.0 && tried.cheapest <= 0.0 {
            best = Some((at, tried, Reason::Free));
        } else if pays && is_in_budget {
            best = Some((at, tried, Reason::Pays));
        } else if pays {
            refused = Reason::SavingsTooSmall;
        }
    }
    let (from, tried, reason) = match best {
        Some((at, tried, reason)) => (Some(at), tried, reason),
        None if moves.is_empty() => (None, tried, Reason::NothingToFree),
        None => (None, tried, refused),
    };
    let made = if from.is_some() { 1.0 } else { 0.0 };
    by_rule.record(&mut costs.by_rule, made * tried.price);
    cheapest.record(&mut costs.cheapest, made * tried.cheapest);
    let Tried { freed, price, carried, .. } = tried;
    let savings = cheapest.budget;
    Decision { reason, from, freed, price, carried, savings, cold: prompt.cold }
}

/// A suffix of the moves.
#[derive(Clone, Copy)]
struct Tried {
    freed: f64,
    price: f64,
    carried: f64,
    /// Its price by the cheapest prices.
    cheapest: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICES: Prices = Prices { read: 0.1, write: 1.25, miss: 1.25 };

    /// Ten messages of 1,000 tokens; the last request had the first eight.
    const STARTS: [f64; 11] =
        [0.0, 1000.0, 2000.0, 3000.0, 4000.0, 5000.0, 6000.0, 7000.0, 8000.0, 9000.0, 10_000.0];

    fn rule(when: When) -> Rule {
        Rule { prices: PRICES, cheapest: PRICES, cache_lifetime_ms: 0.0, max_loss: 0.1, when }
    }

    /// Name, timing, earlier savings, whether the cache has expired, moves, and the expected decision.
    type Case =
        (&'static str, When, f64, bool, &'static [(usize, f64, f64)], Reason, Option<usize>);

    /// Decides with these savings in priced tokens.
    fn asked(
        rule: &Rule,
        saved: f64,
        cold: bool,
        moves: &[(usize, f64, f64)],
    ) -> (Decision, Savings) {
        let moves: Vec<Move> = moves
            .iter()
            .map(|&(message, freed, carried)| Move { message, freed, put: 10.0, carried })
            .collect();
        let prompt = Prompt { starts: &STARTS, unpruned_starts: &STARTS, shared: 8, cold };
        let savings = Savings { paid: 0.0, unpruned: saved / (1.0 + rule.max_loss) };
        let mut costs = Costs { by_rule: savings, cheapest: savings };
        let decision = decide(rule, &mut costs, &prompt, &moves);
        (decision, costs.by_rule)
    }

    #[test]
    fn each_reason_has_its_moment() {
        use Reason::{Always, Free, NothingToFree, Pays, SavingsTooSmall, TooEarly, Warm};
        // After a change in message 4 there are 4,000 tokens to pay again, without the 900 freed.
        let cases: [Case; 13] = [
            ("nothing", When::Cache, 1e6, false, &[], NothingToFree, None),
            ("nothing", When::Always, 1e6, true, &[], NothingToFree, None),
            ("nothing", When::Cold, 1e6, true, &[], NothingToFree, None),
            ("warm, carried once", When::Cache, 1e6, false, &[(4, 900.0, 1.0)], TooEarly, None),
            ("carried for long", When::Cache, 1e6, false, &[(4, 900.0, 40.0)], Pays, Some(0)),
            ("small savings", When::Cache, 0.0, false, &[(4, 900.0, 40.0)], SavingsTooSmall, None),
            ("cold", When::Cache, 0.0, true, &[(4, 900.0, 1.0)], Free, Some(0)),
            ("not sent before", When::Cache, 0.0, false, &[(9, 900.0, 1.0)], Free, Some(0)),
            (
                "the newest of them alone",
                When::Cache,
                1e6,
                false,
                &[(1, 20.0, 1.0), (7, 900.0, 9.0)],
                Pays,
                Some(1),
            ),
            ("at once", When::Always, 0.0, false, &[(4, 9.0, 1.0)], Always, Some(0)),
            ("wait for the cold", When::Cold, 1e6, false, &[(4, 900.0, 99.0)], Warm, None),
            ("even what is new", When::Cold, 1e6, false, &[(9, 900.0, 1.0)], Warm, None),
            ("cold at last", When::Cold, 0.0, true, &[(4, 9.0, 1.0), (5, 9.0, 1.0)], Free, Some(0)),
        ];
        for (name, when, saved, cold, moves, reason, from) in cases {
            let (decision, savings) = asked(&rule(when), saved, cold, moves);
            assert_eq!(
                (decision.reason, decision.from, decision.cold),
                (reason, from, cold),
                "{name}"
            );
            let unpruned = if cold { 1.25 * 10_000.0 } else { 0.1 * 8000.0 + 1.25 * 2000.0 };
            let price = if from.is_some() { decision.price } else { 0.0 };
            assert!((savings.paid - unpruned - price).abs() < 1e-6, "{name}: {savings:?}");
        }
    }

    #[test]
    fn the_price_is_what_is_paid_again_less_what_is_saved() {
        let (decision, _) = asked(&rule(When::Cache), 0.0, false, &[(4, 900.0, 3.0)]);
        assert!((decision.price - (1.25 * 3100.0 - 0.1 * 4000.0)).abs() < 1e-6, "{decision:?}");
        assert!((decision.carried - 0.1 * 900.0 * 3.0).abs() < 1e-6);
        assert_eq!(decision.freed, 900.0);
        let (cold, _) = asked(&rule(When::Cold), 0.0, true, &[(4, 900.0, 3.0)]);
        assert!((cold.price + 1.25 * 900.0).abs() < 1e-6, "{cold:?}");
    }

    #[test]
    fn what_is_put_in_place_is_sent_for_the_first_time() {
        let prices = Prices { write: 2.0, ..PRICES };
        let dearer = Rule { prices, cheapest: prices, ..rule(When::Cold) };
        let (sent, _) = asked(&dearer, 0.0, true, &[(4, 900.0, 3.0)]);
        assert!((sent.price - (0.75 * 10.0 - 1.25 * 900.0)).abs() < 1e-6, "{sent:?}");
        let (new, _) = asked(&dearer, 0.0, true, &[(9, 900.0, 3.0)]);
        assert!((new.price + 2.0 * 900.0).abs() < 1e-6, "{new:?}");
    }

    #[test]
    fn patience_ends_at_a_fifth_of_the_price() {
        let price = 1.25 * 3100.0 - 0.1 * 4000.0;
        for (share, reason) in [(0.19, Reason::TooEarly), (0.21, Reason::Pays)] {
            let carried = share * price / (0.1 * 900.0);
            let (decision, _) = asked(&rule(When::Cache), 1e6, false, &[(4, 900.0, carried)]);
            assert_eq!(decision.reason, reason, "{share}");
        }
    }

    #[test]
    fn the_savings_cover_the_price_and_a_margin() {
        let price = 1.25 * 3100.0 - 0.1 * 4000.0;
        // The share of this very request counts too.
        let own = 0.1 * (0.1 * 8000.0 + 1.25 * 2000.0);
        for (saved, reason) in
            [(1.14 * price - own, Reason::SavingsTooSmall), (1.16 * price - own, Reason::Pays)]
        {
            let (decision, _) = asked(&rule(When::Cache), saved, false, &[(4, 900.0, 1e3)]);
            assert_eq!(decision.reason, reason, "{saved}");
        }
    }

    #[test]
    fn the_budget_holds_for_the_cheapest_read() {
        let cheap = Prices { read: 0.025, ..PRICES };
        // The break costs 1.25 * 3100 less what 4,000 reads would have cost.
        let saved = 1.15 * (3875.0 - 400.0) + 1.0;
        for (cheapest, reason) in [(PRICES, Reason::Pays), (cheap, Reason::SavingsTooSmall)] {
            let rule = Rule { cheapest, ..rule(When::Cache) };
            let (decision, _) = asked(&rule, saved, false, &[(4, 900.0, 1e3)]);
            assert_eq!(decision.reason, reason, "{cheapest:?}");
        }
    }
}
