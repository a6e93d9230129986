//! Positions between messages at which a history may be split.

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    User,
    Assistant,
    /// A summary of earlier messages.
    Summary,
    /// Instructions.
    System,
    /// Results of tools.
    Tool,
    /// Unknown.
    Other,
}

/// A position at which a history may be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Index of the first message after the split.
    pub at: usize,
    /// True if a turn begins there; otherwise the split is within one.
    pub is_turn: bool,
}

/// Returns the legal positions in ascending order, without the two ends of the history.
///
/// `pairs` holds the messages of each call and its result; for a call that may still be running the second is the
/// length of the history. No split is legal
/// - between a call and its result: providers reject one without the other;
/// - before a result;
/// - between two messages of the model: they are one answer, and its thinking must stay with its calls.
pub fn cuts(roles: &[Role], pairs: &[(usize, usize)]) -> Vec<Cut> {
    let mut opened = vec![0i64; roles.len() + 1];
    for &(call, result) in pairs {
        let (from, to) = (call + 1, result.min(roles.len()) + 1);
        if from >= to {
            continue;
        }
        if let Some(at) = opened.get_mut(from) {
            *at += 1;
        }
        if let Some(at) = opened.get_mut(to) {
            *at -= 1;
        }
    }
    let mut open = 0;
    let mut found = Vec::new();
    for (at, (&role, change)) in roles.iter().zip(opened).enumerate() {
        open += change;
        let before = at.checked_sub(1).and_then(|before| roles.get(before)).copied();
        let Some(before) = before else { continue };
        let one_answer = role == Role::Assistant && before == Role::Assistant;
        if open == 0 && role != Role::Tool && !one_answer {
            found.push(Cut { at, is_turn: begins_turn(role, Some(before)) });
        }
    }
    found
}

/// Returns true if a turn begins with this message: a user message that does not follow another one. Several user
/// messages before an answer are one turn.
pub fn begins_turn(role: Role, before: Option<Role>) -> bool {
    role == Role::User && before != Some(Role::User)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Role::{Assistant, Summary, System, Tool, User};
    use proptest::prelude::*;

    fn at(roles: &[Role], pairs: &[(usize, usize)]) -> Vec<usize> {
        cuts(roles, pairs).iter().map(|cut| cut.at).collect()
    }

    #[test]
    fn calls_keep_their_results() {
        let roles = [System, User, Assistant, Tool, Tool, Assistant, User];
        assert_eq!(at(&roles, &[(2, 3), (2, 4)]), [1, 2, 5, 6]);
        let turns: Vec<bool> =
            cuts(&roles, &[(2, 3), (2, 4)]).iter().map(|cut| cut.is_turn).collect();
        assert_eq!(turns, [true, false, false, true]);
        assert_eq!(at(&[User, Assistant, User, User], &[(1, 2)]), [1, 3], "the result is late");
        assert_eq!(at(&[User, Assistant, User, User], &[(1, 4)]), [1], "it is still running");
        assert_eq!(at(&[User, Assistant, User], &[(1, 1)]), [1, 2], "both are in one message");
    }

    #[test]
    fn an_answer_is_one_however_many_messages_it_has() {
        assert_eq!(at(&[User, Assistant, Assistant, Tool, Assistant], &[(2, 3)]), [1, 4]);
        assert_eq!(at(&[Summary, User, User, Assistant], &[]), [1, 2, 3]);
        assert_eq!(at(&[], &[]), [0usize; 0]);
    }

    fn role() -> impl Strategy<Value = Role> {
        prop::sample::select(vec![User, Assistant, Summary, System, Tool, Role::Other])
    }

    proptest! {
        #[test]
        fn no_pair_is_ever_parted(
            roles in prop::collection::vec(role(), 0..30),
            pairs in prop::collection::vec((0usize..32, 0usize..32), 0..12),
        ) {
            for cut in cuts(&roles, &pairs) {
                prop_assert!(cut.at > 0 && cut.at < roles.len());
                for &(call, result) in &pairs {
                    prop_assert!(!(call < cut.at && cut.at <= result));
                }
            }
        }
    }
}
