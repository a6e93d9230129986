//! Detects loops without calls: the same message is sent to the model again and again, and it answers without a call;
//! or its answers repeat, apart from numbers.

use serde::{Deserialize, Serialize};

use super::signature::words;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A person, or a host that reminds the model.
    User,
    /// The model.
    Assistant,
}

/// Messages since the last call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    asked: Option<String>,
    /// Number of answers without a call to the last question.
    unanswered: u64,
    said: Option<String>,
    /// Number of equal answers of the model without a call between them.
    repeated: u64,
    /// The last answer of the model without its numbers.
    #[serde(default)]
    numbered: Option<String>,
    /// Number of answers that differ only by numbers, without a call or another question between them.
    #[serde(default)]
    renumbered: u64,
}

/// A loop of replies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// Number of answers without a call.
    pub count: u64,
    /// Number of answers that are equal apart from numbers.
    pub renumbered: u64,
    /// Hash of the repeated message, which identifies the loop for a permanent approval.
    pub subject: String,
}

/// Minimum number of letters of a text. One with fewer is only its numbers, such as a count.
const MIN_LETTERS: usize = 4;

impl Answers {
    /// Records a call, which ends a loop of replies.
    pub fn called(&mut self) {
        *self = Answers::default();
    }

    /// Records a message. Returns the repetition so far, beginning with the first.
    pub fn said(&mut self, role: Role, text: &str) -> Option<Exchange> {
        let subject = words(text);
        match role {
            Role::User => {
                let again = self.asked.as_ref() == Some(&subject);
                self.unanswered = if again { self.unanswered + 1 } else { 0 };
                if !again {
                    (self.numbered, self.renumbered) = (None, 0);
                }
                self.asked = Some(subject.clone());
                again.then_some(Exchange { count: self.unanswered, renumbered: 0, subject })
            }
            // An empty answer is not a repeated text, but the message it answers may be.
            Role::Assistant if text.trim().is_empty() => None,
            Role::Assistant => {
                let again = self.said.as_ref() == Some(&subject);
                self.repeated = if again { self.repeated + 1 } else { 0 };
                self.said = Some(subject.clone());
                let numbered = without_numbers(text).map(|text| words(&text));
                let counts = numbered.is_some() && self.numbered == numbered;
                self.renumbered = if counts { self.renumbered + 1 } else { 0 };
                self.numbered.clone_from(&numbered);
                // This answer may still be followed by a call; those before it were not.
                if again {
                    let (count, renumbered) = (self.repeated, self.renumbered);
                    return Some(Exchange { count, renumbered, subject });
                }
                let subject = numbered.filter(|_| counts)?;
                Some(Exchange { count: 0, renumbered: self.renumbered, subject })
            }
        }
    }

    /// Resets all counts.
    pub fn forget(&mut self) {
        self.unanswered = 0;
        self.repeated = 0;
        self.renumbered = 0;
    }
}

/// Replaces each number by one digit. Returns `None` if little else is left.
fn without_numbers(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut letters = 0;
    for letter in text.chars() {
        letters += usize::from(letter.is_alphabetic());
        if !letter.is_ascii_digit() {
            plain.push(letter);
        } else if !plain.ends_with('0') {
            plain.push('0');
        }
    }
    (letters >= MIN_LETTERS).then_some(plain)
}
