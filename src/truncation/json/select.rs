//! Selects the sampled values to show: containers before their content, the ends and anomalies before the rest, and in
//! a JSON Schema types, required names and enumerations before prose.
//!
//! The selection is a greedy search with a priority queue. Showing a container makes its children available, each with
//! a priority from its position, its score and its depth, and with the cost in bytes that its text takes in the output,
//! punctuation and indentation included. The best one that still fits the budget is taken, until nothing fits. Records
//! (objects with few members) are shown completely or not at all, because half a record is misleading. Strings are
//! shown short at first and lengthened with the remaining budget at the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::sampled_tree::{Child, Group, Key, Scalar, Value};
use super::shorten::{Part, part};
use crate::text::lossy::{Shown, Source};
use crate::truncation::limits::Limits;

/// Depth down to which containers are spread over lines, if the limit on lines allows.
const SPREAD: usize = 3;
/// Maximum number of bytes shown of a string at first, and share of the budget. Strings are lengthened when all other
/// values are in.
const STRING: usize = 240;
const STRING_SHARE: u64 = 12;
/// Maximum number of bytes shown at first of prose in a schema.
const PROSE: usize = 60;
/// A value that takes at most this share of the budget, or this number of bytes, is shown completely or not at all.
const WHOLE_SHARE: u64 = 6;
const WHOLE: u64 = 160;
/// An object with more members is treated as a list.
const RECORD: u64 = 64;

/// A value that may be shown.
pub(super) struct Item<'a> {
    pub child: &'a Child,
    pub depth: usize,
    pub is_shown: bool,
    /// The range of its children in [`Choice::items`], once it is shown.
    pub inside: std::ops::Range<usize>,
    pub shown_inside: u64,
    pub parent: Option<usize>,
    /// The part of a string that is shown.
    pub part: Option<Part>,
    place: Place,
    priority: u64,
}

/// The role of a value in its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Ordinary,
    /// The object is a schema.
    Schema,
    /// Each of its members is a schema.
    Schemas,
    /// A list that is only useful if complete.
    List,
    Prose,
}

/// The selected values.
pub(super) struct Choice<'a> {
    pub items: Vec<Item<'a>>,
    /// Number of top-level values, which come first in `items`.
    pub roots: usize,
    /// Number of top-level values in the text.
    pub values: u64,
    pub source: Source,
    pub is_short_of_lines: bool,
    used: u64,
    budget: u64,
}

/// The unit of priorities.
const ONE: u64 = 1_000_000_000;

/// Selects as many values as the limits allow, or returns `None` if nothing fits.
pub(super) fn choose<'a>(values: &'a Group, source: Source, limits: &Limits) -> Option<Choice<'a>> {
    let mut choice = Choice {
        items: Vec::new(),
        roots: 0,
        values: values.total,
        source,
        is_short_of_lines: false,
        used: 0,
        budget: limits.max_bytes,
    };
    let mut queue = BinaryHeap::new();
    choice.enter(values, None, &mut queue);
    choice.roots = choice.items.len();
    let mut lines = 0;
    while let Some((_, Reverse(index))) = queue.pop() {
        let is_root = index < choice.roots;
        if is_root && lines == limits.max_lines {
            choice.is_short_of_lines = true;
            continue;
        }
        if choice.take(index, &mut queue) && is_root {
            lines += 1;
        }
    }
    if lines == 0 {
        return None;
    }
    choice.hide_broken_lists();
    choice.lengthen();
    Some(choice)
}

type Queue = BinaryHeap<(u64, Reverse<usize>)>;

impl<'a> Choice<'a> {
    /// Returns the depth down to which containers may be spread over lines: none in JSON Lines.
    pub(crate) fn spread(&self) -> usize {
        if self.values == 1 { SPREAD } else { 0 }
    }

    /// Makes the children of a container available.
    fn enter(&mut self, group: &'a Group, parent: Option<usize>, queue: &mut Queue) {
        let (priority, depth, place) = match parent.and_then(|parent| self.items.get(parent)) {
            Some(parent) => (parent.priority, parent.depth + 1, parent.place),
            None => (ONE, 0, Place::Ordinary),
        };
        let from = self.items.len();
        let count = group.kept.len() as u64;
        let mut special = 0;
        for (rank, child) in (0u64..).zip(&group.kept) {
            let place = place_of(child, place);
            let share = match (group.is_object, place) {
                _ if parent.is_some_and(|it| {
                    self.items.get(it).is_some_and(|it| it.place == Place::List)
                }) =>
                {
                    999
                }
                (_, Place::Schema | Place::Schemas | Place::List) => 995,
                (_, Place::Prose) => 600,
                (true, _) if count <= RECORD => 975 - rank.min(20),
                _ => {
                    let by_end = near_an_end(rank, count);
                    let stands_out = match child.score {
                        0 => 0,
                        score @ 1..600 => 860 + u64::from(score) / 25,
                        score => 900 + u64::from(score) / 20,
                    };
                    let stands_out = stands_out.saturating_sub(2 * special);
                    special += u64::from(child.score > 0);
                    by_end.max(stands_out)
                }
            };
            let priority = priority / 1000 * share;
            self.items.push(Item {
                child,
                depth,
                is_shown: false,
                inside: 0..0,
                shown_inside: 0,
                parent,
                part: None,
                place,
                priority,
            });
            queue.push((priority, Reverse(self.items.len() - 1)));
        }
        let to = self.items.len();
        if let Some(item) = parent.and_then(|parent| self.items.get_mut(parent)) {
            item.inside = from..to;
        }
    }

    /// Shows a value if it fits: a record with all its direct members, or not at all.
    fn take(&mut self, index: usize, queue: &mut Queue) -> bool {
        let Some(item) = self.items.get(index) else { return false };
        if item.is_shown {
            return false;
        }
        if item.parent.is_some_and(|parent| self.items.get(parent).is_none_or(|it| !it.is_shown)) {
            return false;
        }
        let child = item.child;
        let left = self.budget.saturating_sub(self.used);
        let Some((cost, part)) = self.cost(child, item.depth, item.place, left) else {
            return false;
        };
        let Value::Group(group) = &child.value else {
            self.show(index, cost, part);
            return true;
        };
        let (depth, place) = (item.depth, item.place);
        let has_siblings = match item.parent.and_then(|parent| self.items.get(parent)) {
            Some(parent) => parent.shown_inside > 0 && is_list(parent.child),
            None => index > 0,
        };
        let small = (self.budget / WHOLE_SHARE).max(WHOLE);
        let whole = self.whole(child, depth, place, small);
        if whole.is_some_and(|whole| whole <= left) {
            self.show_whole(index, queue);
            return true;
        }
        let is_record = group.is_object && is_all_kept(group) && group.total <= RECORD;
        let costs: Option<u64> = group
            .kept
            .iter()
            .filter(|inner| place_of(inner, place) != Place::Prose)
            .map(|inner| Some(self.cost(inner, depth + 1, place_of(inner, place), u64::MAX)?.0))
            .sum();
        let flat = costs.unwrap_or(u64::MAX).saturating_add(cost);
        let is_flat = is_record && flat <= (self.budget / 3).max(512);
        if has_siblings && (whole.is_some() || is_flat && flat > left) {
            return false;
        }
        self.show(index, cost, None);
        self.enter(group, Some(index), queue);
        if is_flat && flat <= left {
            let inside = self.items.get(index).map_or(0..0, |item| item.inside.clone());
            for inner in inside {
                self.take_flat(inner, queue);
            }
        }
        true
    }

    /// Returns the cost of a value with all its descendants except prose, or `None` if some of them were not sampled,
    /// or if it exceeds `max_cost`.
    fn whole(&self, child: &Child, depth: usize, place: Place, max_cost: u64) -> Option<u64> {
        let mut cost = self.cost(child, depth, place, max_cost)?.0;
        if let Value::Group(group) = &child.value {
            if !is_all_kept(group) {
                return None;
            }
            for inner in &group.kept {
                let place = place_of(inner, place);
                if place != Place::Prose {
                    cost += self.whole(inner, depth + 1, place, max_cost.checked_sub(cost)?)?;
                }
            }
        }
        (cost <= max_cost).then_some(cost)
    }

    /// Shows a value and all its descendants.
    fn show_whole(&mut self, index: usize, queue: &mut Queue) {
        self.take_flat(index, queue);
        let inside = self.items.get(index).map_or(0..0, |item| item.inside.clone());
        for inner in inside {
            self.show_whole(inner, queue);
        }
    }

    /// Shows the members of a record, with containers empty for now.
    fn take_flat(&mut self, index: usize, queue: &mut Queue) {
        let Some(item) = self.items.get(index) else { return };
        let (child, place) = (item.child, item.place);
        if place == Place::Prose {
            return;
        }
        let left = self.budget.saturating_sub(self.used);
        let Some((cost, part)) = self.cost(child, item.depth, place, left) else { return };
        self.show(index, cost, part);
        if let Value::Group(group) = &child.value {
            self.enter(group, Some(index), queue);
        }
    }

    fn show(&mut self, index: usize, cost: u64, part: Option<Part>) {
        self.used += cost;
        let Some(item) = self.items.get_mut(index) else { return };
        item.is_shown = true;
        item.part = part;
        if let Some(parent) = item.parent.and_then(|parent| self.items.get_mut(parent)) {
            parent.shown_inside += 1;
        }
    }

    /// Returns the cost of a value without its descendants, and the part shown of a string, or `None` if it exceeds the
    /// budget.
    fn cost(
        &self,
        child: &Child,
        depth: usize,
        place: Place,
        left: u64,
    ) -> Option<(u64, Option<Part>)> {
        // A comma, a line break or a space, and the indentation.
        let spread = self.spread();
        let mut cost = 2 + if depth <= spread { depth as u64 } else { 0 };
        if let Some(key) = &child.key {
            cost += name(key, self.source)?.len() as u64 + 4;
        }
        let mut shown = None;
        cost += match &child.value {
            Value::Scalar(Scalar::Word(word)) => word.len() as u64,
            Value::Scalar(Scalar::Number(digits)) => digits.as_ref()?.len() as u64,
            Value::Scalar(Scalar::Text(text)) => {
                let share = usize::try_from(self.budget / STRING_SHARE).unwrap_or(usize::MAX);
                let max_bytes = if place == Place::Prose { PROSE } else { STRING };
                let max_bytes = max_bytes.min(share.max(24));
                let room = left.checked_sub(cost + 2)?;
                let max_bytes = max_bytes.min(usize::try_from(room).unwrap_or(usize::MAX));
                let part = part(text, max_bytes, self.source)?;
                let length = part.text.len() as u64 + 2;
                shown = Some(part);
                length
            }
            // The brackets, the closing one on a line of its own.
            Value::Group(_) => 2 + if depth < spread { 1 + depth as u64 } else { 0 },
        };
        (cost <= left).then_some((cost, shown))
    }

    /// Hides lists of a schema whose meaning would change: names and values that are incomplete, and alternatives that
    /// are all missing.
    fn hide_broken_lists(&mut self) {
        for index in 0..self.items.len() {
            let Some(item) = self.items.get(index).filter(|item| item.is_shown) else { continue };
            let Value::Group(group) = &item.child.value else { continue };
            let is_broken = match item.place {
                Place::List => item.shown_inside < group.total,
                _ => item.shown_inside == 0 && group.total > 0 && self.is_alternatives(item),
            };
            if is_broken {
                for inner in item.inside.clone() {
                    self.hide(inner);
                }
                self.hide(index);
            }
        }
    }

    fn is_alternatives(&self, item: &Item<'_>) -> bool {
        let outside = item.parent.and_then(|parent| self.items.get(parent));
        let name = item.child.key.as_ref().and_then(|key| key.name.as_deref());
        outside.is_some_and(|outside| outside.place == Place::Schema)
            && name.is_some_and(|name| ALTERNATIVES.contains(&name))
    }

    fn hide(&mut self, index: usize) {
        let Some(item) = self.items.get(index).filter(|item| item.is_shown) else { return };
        let cost = self.cost(item.child, item.depth, item.place, u64::MAX).map_or(0, |it| it.0);
        self.used = self.used.saturating_sub(cost);
        let Some(item) = self.items.get_mut(index) else { return };
        item.is_shown = false;
        if let Some(parent) = item.parent.and_then(|parent| self.items.get_mut(parent)) {
            parent.shown_inside -= 1;
        }
    }

    /// Spends the remaining budget on strings that are shown in part.
    fn lengthen(&mut self) {
        for _ in 0..3 {
            let mut short: Vec<(Reverse<u64>, usize)> = self
                .items
                .iter()
                .enumerate()
                .filter(|(_, item)| item.part.as_ref().is_some_and(|part| part.ends.is_some()))
                .filter(|(_, item)| item.is_shown)
                .map(|(index, item)| (Reverse(item.priority), index))
                .collect();
            short.sort_unstable();
            let count = short.len() as u64;
            for (_, index) in short {
                let left = self.budget.saturating_sub(self.used);
                let share = left.div_ceil(count.max(1)).max(64).min(left);
                self.lengthen_one(index, share);
            }
        }
    }

    fn lengthen_one(&mut self, index: usize, more: u64) {
        let source = self.source;
        let Some(item) = self.items.get_mut(index) else { return };
        let (Some(old), Value::Scalar(Scalar::Text(text))) = (&item.part, &item.child.value) else {
            return;
        };
        let before = old.text.len();
        let max_bytes = before.saturating_add(usize::try_from(more).unwrap_or(usize::MAX));
        let Some(new) = part(text, max_bytes, source).filter(|new| new.text.len() > before) else {
            return;
        };
        self.used += (new.text.len() - before) as u64;
        item.part = Some(new);
    }
}

/// Returns true if a container is a list of similar elements, which is useful even if incomplete.
fn is_list(child: &Child) -> bool {
    matches!(&child.value, Value::Group(group) if !group.is_object || group.total > RECORD)
}

fn is_all_kept(group: &Group) -> bool {
    group.total == group.kept.len() as u64
}

/// Returns a priority in thousandths: the first and the last before those between.
fn near_an_end(rank: u64, count: u64) -> u64 {
    let fall = |from: u64, steps: u64| {
        from.saturating_sub(12 * steps.min(20)).saturating_sub(steps).max(400)
    };
    fall(975, rank).max(fall(950, count - 1 - rank))
}

/// Returns a name as it is shown, or `None` if it is too long.
pub(super) fn name(key: &Key, source: Source) -> Option<std::borrow::Cow<'_, str>> {
    key.name.as_deref().map(|name| Shown::decode(name, source).text)
}

/// Names in a schema whose members are schemas.
const SCHEMAS: [&[u8]; 6] =
    [b"properties", b"patternProperties", b"$defs", b"definitions", b"dependentSchemas", b"allOf"];
/// Lists of schemas that must not be empty.
const ALTERNATIVES: [&[u8]; 4] = [b"allOf", b"anyOf", b"oneOf", b"prefixItems"];
const LISTS: [&[u8]; 4] = [b"required", b"enum", b"type", b"examples"];
const TEXTS: [&[u8]; 6] = [
    b"description",
    b"title",
    b"$comment",
    b"markdownDescription",
    b"examples",
    b"deprecationMessage",
];

/// Returns the role of a value by its name and by the role of its parent.
fn place_of(child: &Child, outside: Place) -> Place {
    let name = child.key.as_ref().and_then(|key| key.name.as_deref()).unwrap_or_default();
    let is_list = matches!(&child.value, Value::Group(group) if !group.is_object);
    let is_scalar = matches!(&child.value, Value::Scalar(_));
    if outside == Place::Schema && TEXTS.contains(&name) {
        return Place::Prose;
    }
    if outside == Place::Schema && is_list && LISTS.contains(&name) {
        return Place::List;
    }
    if outside == Place::Schema && !is_scalar && SCHEMAS.contains(&name) {
        return Place::Schemas;
    }
    if !is_scalar && !is_list && (outside == Place::Schemas || is_schema(child)) {
        return Place::Schema;
    }
    Place::Ordinary
}

/// Returns true if an object is a JSON Schema.
fn is_schema(child: &Child) -> bool {
    let Value::Group(group) = &child.value else { return false };
    let member = |name: &[u8]| {
        group.kept.iter().find(|inner| {
            inner.key.as_ref().and_then(|key| key.name.as_deref()).is_some_and(|it| it == name)
        })
    };
    let holds = |name: &[u8]| member(name).is_some_and(|it| matches!(it.value, Value::Group(_)));
    let is_typed = member(b"type").is_some_and(|it| match &it.value {
        Value::Scalar(Scalar::Text(text)) => TYPES.contains(&&*text.head),
        _ => true,
    });
    member(b"$schema").is_some()
        || is_typed
            && (holds(b"properties") || holds(b"items") || holds(b"enum") || holds(b"required"))
        || holds(b"properties") && holds(b"required")
        || holds(b"anyOf")
        || holds(b"oneOf")
        || holds(b"allOf")
}

const TYPES: [&[u8]; 7] =
    [b"object", b"array", b"string", b"number", b"integer", b"boolean", b"null"];
