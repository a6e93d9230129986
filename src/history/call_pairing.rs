//! Matches results with the calls that they answer.
//!
//! A history comes as events in order: a message of the user or of the assistant, a call, a result. The caller numbers
//! ids and names, so that no text is passed. Events can be added at any time; a growing history costs only its new
//! events.
//!
//! A result answers an earlier call without an answer:
//! - the one with its id; if the call has no id, the one with its name;
//! - for a result without an id, one with its name, preferably without an id; for one without a name either, any call;
//! - of several, one in the newest message that has any, and of those the first.
//!
//! This also handles ids that are reused in a later turn, parallel calls of the same name without ids, and late
//! results.

/// An event of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A message of the user: no earlier call is running any more.
    User,
    /// The start of a message of the assistant, whose calls follow.
    Assistant,
    /// A call in the current message.
    Call(Names),
    /// A result.
    Result(Names),
}

/// The id and the name given in a call or a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Names {
    /// Number of the id. Numbers are dense: a list has an entry for each up to the largest.
    pub id: Option<u32>,
    /// Number of the tool's name, dense as well.
    pub name: Option<u32>,
}

/// The match of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Index of the call in the history, from 0; `None` if no earlier call is open.
    pub call: Option<u32>,
    /// True if a message was said between the turn of the call and the result.
    pub late: bool,
}

/// A call without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Open {
    /// Index of the call in the history, from 0.
    pub call: u32,
    /// True if no message was said since, so that its result may still come.
    pub running: bool,
}

/// The key under which a result looks for its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Id(u32),
    Name(u32),
    /// Calls without an id, by name.
    NameAlone(u32),
    Any,
}

#[derive(Debug, Clone, Copy)]
struct Call {
    turn: u32,
    answered: bool,
}

/// The calls of one key in one message that may be open.
#[derive(Debug, Clone, Copy)]
struct Group {
    message: u32,
    /// Links to its first and its last call.
    first: Option<u32>,
    last: u32,
    /// The group of the same key in the previous message.
    before: Option<u32>,
}

/// A call in a group, and a link to the next.
#[derive(Debug, Clone, Copy)]
struct Link {
    call: u32,
    next: Option<u32>,
}

/// The calls of each key that may be open, grouped by message. Groups are linked lists in two vectors, because most
/// keys have one call, and an allocation per key would cost more than everything else.
#[derive(Debug, Default)]
struct OpenCalls {
    groups: Vec<Group>,
    links: Vec<Link>,
    /// The newest group of each key.
    ids: Vec<Option<u32>>,
    names: Vec<Option<u32>>,
    names_alone: Vec<Option<u32>>,
    any: Option<u32>,
}

impl OpenCalls {
    fn newest(&self, key: Key) -> Option<u32> {
        match key {
            Key::Id(id) => self.ids.get(id as usize).copied().flatten(),
            Key::Name(name) => self.names.get(name as usize).copied().flatten(),
            Key::NameAlone(name) => self.names_alone.get(name as usize).copied().flatten(),
            Key::Any => self.any,
        }
    }

    fn set_newest(&mut self, key: Key, group: Option<u32>) {
        let (list, number) = match key {
            Key::Id(id) => (&mut self.ids, id),
            Key::Name(name) => (&mut self.names, name),
            Key::NameAlone(name) => (&mut self.names_alone, name),
            Key::Any => return self.any = group,
        };
        let place = number as usize;
        if place >= list.len() {
            list.resize(place + 1, None);
        }
        if let Some(newest) = list.get_mut(place) {
            *newest = group;
        }
    }

    /// Adds a call of the current message.
    fn push(&mut self, key: Key, message: u32, call: u32) {
        let link = number(self.links.len());
        self.links.push(Link { call, next: None });
        let newest = self.newest(key);
        if let Some(group) = newest.and_then(|at| self.groups.get_mut(at as usize))
            && group.message == message
        {
            if group.first.is_none() {
                group.first = Some(link);
            } else if let Some(last) = self.links.get_mut(group.last as usize) {
                last.next = Some(link);
            }
            group.last = link;
            return;
        }
        let group = number(self.groups.len());
        self.groups.push(Group { message, first: Some(link), last: link, before: newest });
        self.set_newest(key, Some(group));
    }

    /// Removes the first call from the newest group that has one.
    fn pop(&mut self, key: Key) -> Option<u32> {
        loop {
            let newest = self.newest(key)?;
            let group = self.groups.get_mut(newest as usize)?;
            if let Some(link) = group.first.and_then(|first| self.links.get(first as usize)) {
                group.first = link.next;
                return Some(link.call);
            }
            let before = group.before;
            self.set_newest(key, before);
        }
    }
}

fn number(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The calls and results of a history.
#[derive(Debug, Default)]
pub struct Pairs {
    flat: bool,
    calls: Vec<Call>,
    open: OpenCalls,
    message: u32,
    turn: u32,
    result_since: bool,
}

impl Pairs {
    /// Creates an empty history. `flat` means that every call and every result is a message of its own, so that
    /// consecutive messages of the assistant are one turn until a result comes. Otherwise each of them is a turn.
    pub fn new(flat: bool) -> Self {
        Pairs { flat, ..Pairs::default() }
    }

    /// Adds events and returns the matches of the results among them, in order.
    pub fn extend(&mut self, events: impl IntoIterator<Item = Event>) -> Vec<Answer> {
        events.into_iter().filter_map(|event| self.push(event)).collect()
    }

    /// Returns the calls without an answer, oldest first.
    pub fn open(&self) -> Vec<Open> {
        let numbered = (0..).zip(&self.calls);
        let open = numbered.filter(|(_, call)| !call.answered);
        open.map(|(number, call)| Open { call: number, running: call.turn == self.turn }).collect()
    }

    fn push(&mut self, event: Event) -> Option<Answer> {
        match event {
            Event::User => self.turn += 1,
            Event::Assistant => {
                self.message += 1;
                if !self.flat || self.result_since {
                    self.turn += 1;
                }
                self.result_since = false;
            }
            Event::Call(names) => self.call(names),
            Event::Result(names) => {
                self.result_since = true;
                return Some(self.result(names));
            }
        }
        None
    }

    fn call(&mut self, Names { id, name }: Names) {
        let call = number(self.calls.len());
        self.calls.push(Call { turn: self.turn, answered: false });
        let alone = if id.is_none() { name.map(Key::NameAlone) } else { None };
        let keys = [id.map(Key::Id), name.map(Key::Name), alone, Some(Key::Any)];
        for key in keys.into_iter().flatten() {
            self.open.push(key, self.message, call);
        }
    }

    fn result(&mut self, Names { id, name }: Names) -> Answer {
        let found = match (id, name) {
            (Some(id), name) => self
                .take(Key::Id(id))
                .or_else(|| name.and_then(|name| self.take(Key::NameAlone(name)))),
            (None, Some(name)) => {
                self.take(Key::NameAlone(name)).or_else(|| self.take(Key::Name(name)))
            }
            (None, None) => self.take(Key::Any),
        };
        let late = found.is_some_and(|(_, turn)| turn != self.turn);
        Answer { call: found.map(|(call, _)| call), late }
    }

    /// Removes the first open call of the newest message that has one, and returns it with its turn.
    fn take(&mut self, key: Key) -> Option<(u32, u32)> {
        while let Some(number) = self.open.pop(key) {
            // It may have been matched under another key.
            if let Some(call) = self.calls.get_mut(number as usize).filter(|call| !call.answered) {
                call.answered = true;
                return Some((number, call.turn));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const USER: Event = Event::User;
    const ASSISTANT: Event = Event::Assistant;

    fn call(id: u32) -> Event {
        Event::Call(Names { id: Some(id), name: Some(100) })
    }

    fn result(id: u32) -> Event {
        Event::Result(Names { id: Some(id), name: None })
    }

    fn named(name: u32) -> Names {
        Names { id: None, name: Some(name) }
    }

    /// Returns the call of each result (`-1` for none, plus `100` if it is late), and the open calls (plus `100` if
    /// they are running).
    fn ask(flat: bool, events: &[Event]) -> (Vec<i64>, Vec<u32>) {
        let mut pairs = Pairs::new(flat);
        let answers = pairs.extend(events.iter().copied());
        let answers = answers
            .iter()
            .map(|answer| answer.call.map_or(-1, i64::from) + if answer.late { 100 } else { 0 });
        let open = pairs.open();
        let open = open.iter().map(|open| open.call + if open.running { 100 } else { 0 });
        (answers.collect(), open.collect())
    }

    #[test]
    fn parallel_calls_in_any_order() {
        let events = [USER, ASSISTANT, call(1), call(2), call(3), result(3), result(1), result(2)];
        assert_eq!(ask(false, &events), (vec![2, 0, 1], vec![]));
    }

    #[test]
    fn an_id_that_is_used_again_means_the_newest_call() {
        let again = [ASSISTANT, call(1), result(1), ASSISTANT, call(1), result(1), result(1)];
        assert_eq!(ask(false, &again), (vec![0, 1, -1], vec![]));
        let lost = [ASSISTANT, call(1), ASSISTANT, call(1), result(1)];
        assert_eq!(ask(false, &lost), (vec![1], vec![0]));
        let twice = [ASSISTANT, call(1), call(1), result(1), result(1)];
        assert_eq!(ask(false, &twice), (vec![0, 1], vec![]));
    }

    #[test]
    fn without_ids_name_and_order_tell() {
        let events = [
            ASSISTANT,
            Event::Call(named(1)),
            Event::Call(named(2)),
            Event::Call(named(1)),
            Event::Result(named(1)),
            Event::Result(named(1)),
            Event::Result(named(2)),
            Event::Result(named(2)),
        ];
        assert_eq!(ask(false, &events), (vec![0, 2, 1, -1], vec![]));
        let half = [
            ASSISTANT,
            Event::Call(named(1)),
            call(7),
            Event::Result(Names { id: Some(9), name: Some(1) }),
            Event::Result(named(100)),
        ];
        assert_eq!(ask(false, &half), (vec![0, 1], vec![]), "only one of the two says an id");
        let nothing = [ASSISTANT, call(1), call(2), Event::Result(Names::default())];
        assert_eq!(ask(false, &nothing), (vec![0], vec![101]));
    }

    #[test]
    fn a_result_before_its_call_answers_nothing() {
        assert_eq!(ask(false, &[result(1), ASSISTANT, call(1)]), (vec![-1], vec![100]));
    }

    #[test]
    fn a_call_runs_until_the_next_message() {
        assert_eq!(ask(false, &[ASSISTANT, call(1), call(2), result(1)]).1, [101]);
        assert_eq!(ask(false, &[ASSISTANT, call(1), USER]).1, [0]);
        assert_eq!(ask(false, &[ASSISTANT, call(1), ASSISTANT]).1, [0]);
        let flat = [ASSISTANT, call(1), ASSISTANT, call(2), result(2)];
        assert_eq!(ask(true, &flat).1, [100], "parallel calls are items that follow one another");
        assert_eq!(ask(true, &[&flat[..], &[ASSISTANT]].concat()).1, [0]);
    }

    #[test]
    fn a_late_result_is_known_as_such() {
        let events = [ASSISTANT, call(1), USER, result(1)];
        assert_eq!(ask(false, &events), (vec![100], vec![]));
    }

    #[test]
    fn many_calls_of_one_id_take_linear_time() {
        let mut pairs = Pairs::new(false);
        pairs.extend([ASSISTANT]);
        let count = 200_000;
        pairs.extend((0..count).map(|_| call(1)));
        let answers = pairs.extend((0..count).map(|_| result(1)));
        assert!((0..).zip(&answers).all(|(at, answer)| answer.call == Some(at)));
    }

    /// A naive version of the rule: examines every call for every result.
    fn oracle(events: &[Event]) -> Vec<Option<u32>> {
        let (mut calls, mut message) = (Vec::<(u32, Names, bool)>::new(), 0);
        let mut answers = Vec::new();
        for event in events {
            match event {
                Event::User => {}
                Event::Assistant => message += 1,
                Event::Call(names) => calls.push((message, *names, false)),
                Event::Result(Names { id, name }) => {
                    let tests: [&dyn Fn(&Names) -> bool; 2] = match (id, name) {
                        (Some(_), Some(_)) => [&|call| call.id == *id, &|call| {
                            call.id.is_none() && call.name == *name
                        }],
                        (Some(_), None) => [&|call| call.id == *id, &|_| false],
                        (None, Some(_)) => {
                            [&|call| call.id.is_none() && call.name == *name, &|call| {
                                call.name == *name
                            }]
                        }
                        (None, None) => [&|_| true, &|_| false],
                    };
                    let found = tests.iter().find_map(|test| {
                        let open = |call: &(u32, Names, bool)| !call.2 && test(&call.1);
                        let newest =
                            calls.iter().filter(|call| open(call)).map(|call| call.0).max()?;
                        calls.iter().position(|call| call.0 == newest && open(call))
                    });
                    if let Some(at) = found {
                        calls[at].2 = true;
                    }
                    answers.push(found.map(|at| at as u32));
                }
            }
        }
        answers
    }

    fn names() -> impl Strategy<Value = Names> {
        (prop::option::of(0u32..4), prop::option::of(0u32..3))
            .prop_map(|(id, name)| Names { id, name })
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            1 => Just(USER),
            2 => Just(ASSISTANT),
            4 => names().prop_map(Event::Call),
            4 => names().prop_map(Event::Result),
        ]
    }

    proptest! {
        #[test]
        fn any_history_gives_the_rule_however_it_arrives(
            events in prop::collection::vec(event(), 0..60),
            cut in 0usize..60,
            flat: bool,
        ) {
            let mut pairs = Pairs::new(flat);
            let (first, rest) = events.split_at(cut.min(events.len()));
            let mut answers = pairs.extend(first.iter().copied());
            answers.extend(pairs.extend(rest.iter().copied()));
            let found: Vec<_> = answers.iter().map(|answer| answer.call).collect();
            prop_assert_eq!(&found, &oracle(&events));
            let calls = events.iter().filter(|event| matches!(event, Event::Call(_))).count();
            prop_assert_eq!(pairs.open().len() + found.iter().flatten().count(), calls);
        }
    }
}
