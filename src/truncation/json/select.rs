//! Which of the remembered values are shown: containers before what is in them, the ends and what stands out before the
//! rest, and of a JSON Schema the types, the required names and the enumerations before the prose.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::sampled_tree::{Child, Group, Key, Scalar, Value};
use super::shorten::{Part, part};
use crate::text::lossy::{Shown, Source};
use crate::truncation::limits::Limits;

/// Containers down to here are spread over lines, if the limit in lines allows.
const SPREAD: usize = 3;
/// Bytes of a string that are shown at first, and the share of the budget; more comes when everything else is in.
const STRING: usize = 240;
const STRING_SHARE: u64 = 12;
/// The same of prose in a schema.
const PROSE: usize = 60;
/// What takes at most this share of the budget, or so many bytes, is shown whole or not at all.
const WHOLE_SHARE: u64 = 6;
const WHOLE: u64 = 160;
/// An object with more members is a list of its own.
const RECORD: u64 = 64;

/// A value that may be shown.
pub(super) struct Item<'a> {
    pub child: &'a Child,
    pub depth: usize,
    pub is_shown: bool,
    /// Where the values in it begin and end in [`Choice::items`], once it is shown.
    pub inside: std::ops::Range<usize>,
    pub shown_inside: u64,
    pub parent: Option<usize>,
    /// What is shown of a string.
    pub part: Option<Part>,
    place: Place,
    priority: u64,
}

/// What a value is to the schema that it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Ordinary,
    /// The object is a schema.
    Schema,
    /// Each of its members is a schema.
    Schemas,
    /// A list that only counts whole.
    List,
    Prose,
}

/// What is shown.
pub(super) struct Choice<'a> {
    pub items: Vec<Item<'a>>,
    /// The values of the text are the first so many.
    pub roots: usize,
    /// How many values the text consists of.
    pub values: u64,
    pub source: Source,
    pub is_short_of_lines: bool,
    used: u64,
    budget: u64,
}

/// Priorities count in these.
const ONE: u64 = 1_000_000_000;

/// As much as the limits allow; nothing if that is nothing.
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
    /// Containers down to here may be spread over lines; in JSON Lines none is.
    pub fn spread(&self) -> usize {
        if self.values == 1 { SPREAD } else { 0 }
    }

    /// Makes what is in a container available.
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

    /// Shows a value if there is room for it: a record whole, with all that is directly in it, or not at all.
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

    /// What a value takes with all that is in it, but for prose; nothing if something of it is missing, or if it is more
    /// than that.
    fn whole(&self, child: &Child, depth: usize, place: Place, most: u64) -> Option<u64> {
        let mut cost = self.cost(child, depth, place, most)?.0;
        if let Value::Group(group) = &child.value {
            if !is_all_kept(group) {
                return None;
            }
            for inner in &group.kept {
                let place = place_of(inner, place);
                if place != Place::Prose {
                    cost += self.whole(inner, depth + 1, place, most.checked_sub(cost)?)?;
                }
            }
        }
        (cost <= most).then_some(cost)
    }

    /// Shows a value and all that is in it.
    fn show_whole(&mut self, index: usize, queue: &mut Queue) {
        self.take_flat(index, queue);
        let inside = self.items.get(index).map_or(0..0, |item| item.inside.clone());
        for inner in inside {
            self.show_whole(inner, queue);
        }
    }

    /// Shows what is in a record; containers empty, for the time being.
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

    /// What a value takes, without what is in it, and what is shown of a string; nothing if that is more than there is.
    fn cost(
        &self,
        child: &Child,
        depth: usize,
        place: Place,
        left: u64,
    ) -> Option<(u64, Option<Part>)> {
        // A comma, a break or a space, and the indentation.
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
                let most = if place == Place::Prose { PROSE } else { STRING };
                let most = most.min(share.max(24));
                let room = left.checked_sub(cost + 2)?;
                let most = most.min(usize::try_from(room).unwrap_or(usize::MAX));
                let part = part(text, most, self.source)?;
                let length = part.text.len() as u64 + 2;
                shown = Some(part);
                length
            }
            // The brackets, and the last one on a line of its own.
            Value::Group(_) => 2 + if depth < spread { 1 + depth as u64 } else { 0 },
        };
        (cost <= left).then_some((cost, shown))
    }

    /// Leaves out lists of a schema that would say something else: names and values of which some are missing, and
    /// alternatives of which all are.
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

    /// Spends what is left on the strings that are shown in part.
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
        let most = before.saturating_add(usize::try_from(more).unwrap_or(usize::MAX));
        let Some(new) = part(text, most, source).filter(|new| new.text.len() > before) else {
            return;
        };
        self.used += (new.text.len() - before) as u64;
        item.part = Some(new);
    }
}

/// Whether a container is a list of things that are alike, which counts even if some of them are missing.
fn is_list(child: &Child) -> bool {
    matches!(&child.value, Value::Group(group) if !group.is_object || group.total > RECORD)
}

fn is_all_kept(group: &Group) -> bool {
    group.total == group.kept.len() as u64
}

/// In thousandths: the first and the last before those between.
fn near_an_end(rank: u64, count: u64) -> u64 {
    let fall = |from: u64, steps: u64| {
        from.saturating_sub(12 * steps.min(20)).saturating_sub(steps).max(400)
    };
    fall(975, rank).max(fall(950, count - 1 - rank))
}

/// A name as it is shown; nothing if it is too long.
pub(super) fn name(key: &Key, source: Source) -> Option<std::borrow::Cow<'_, str>> {
    key.name.as_deref().map(|name| Shown::decode(name, source).text)
}

/// Names in a schema under which the members are schemas.
const SCHEMAS: [&[u8]; 6] =
    [b"properties", b"patternProperties", b"$defs", b"definitions", b"dependentSchemas", b"allOf"];
/// Lists of schemas that may not be empty.
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

/// What a value is, by its name and by where it is.
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

/// Whether an object is a JSON Schema.
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
