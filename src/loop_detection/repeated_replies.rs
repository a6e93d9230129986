//! Loops without calls: the same words are said to the model again and again, and it answers without doing anything; or
//! it says the same again and again, or the same but for its numbers.

use serde::{Deserialize, Serialize};

use super::signature::words;

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A person, or a host that reminds the model of something.
    User,
    /// The model.
    Assistant,
}

/// What was said since the last call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    asked: Option<String>,
    /// Answers without a call to what was last asked.
    unanswered: u64,
    said: Option<String>,
    /// Equal texts of the model without a call between them.
    repeated: u64,
    /// The last text of the model without its numbers.
    #[serde(default)]
    numbered: Option<String>,
    /// Texts of the model that differ by numbers at most, without a call or another question between them.
    #[serde(default)]
    renumbered: u64,
}

/// A loop of words: how often, and what an approval for good is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// Answers without a call.
    pub count: u64,
    /// The same, where numbers make no difference.
    pub renumbered: u64,
    /// The hash of what is said again and again.
    pub subject: String,
}

/// A text with fewer letters says nothing but its numbers: somebody counts.
const FEWEST_LETTERS: usize = 4;

impl Answers {
    /// A call was made: whatever is said, something is done.
    pub fn called(&mut self) {
        *self = Answers::default();
    }

    /// Something was said. The answer is the repetition so far, from the first on.
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
            // An answer of nothing is no text that repeats; what it answers to does.
            Role::Assistant if text.trim().is_empty() => None,
            Role::Assistant => {
                let again = self.said.as_ref() == Some(&subject);
                self.repeated = if again { self.repeated + 1 } else { 0 };
                self.said = Some(subject.clone());
                let numbered = without_numbers(text).map(|text| words(&text));
                let counts = numbered.is_some() && self.numbered == numbered;
                self.renumbered = if counts { self.renumbered + 1 } else { 0 };
                self.numbered.clone_from(&numbered);
                // A call may still follow this one; those before it had none.
                if again {
                    let (count, renumbered) = (self.repeated, self.renumbered);
                    return Some(Exchange { count, renumbered, subject });
                }
                let subject = numbered.filter(|_| counts)?;
                Some(Exchange { count: 0, renumbered: self.renumbered, subject })
            }
        }
    }

    /// Starts counting anew.
    pub fn forget(&mut self) {
        self.unanswered = 0;
        self.repeated = 0;
        self.renumbered = 0;
    }
}

/// The text with one digit for each number; none if it says little else.
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
    (letters >= FEWEST_LETTERS).then_some(plain)
}
