//! Loops without calls: the same words are said to the model again and again, and it answers without doing anything; or
//! it says the same again and again.

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
}

/// A loop of words: how often, and what an approval for good is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// Answers without a call.
    pub count: u64,
    /// The hash of what is said again and again.
    pub subject: String,
}

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
                self.asked = Some(subject.clone());
                again.then_some(Exchange { count: self.unanswered, subject })
            }
            // An answer of nothing is no text that repeats; what it answers to does.
            Role::Assistant if text.trim().is_empty() => None,
            Role::Assistant => {
                let again = self.said.as_ref() == Some(&subject);
                self.repeated = if again { self.repeated + 1 } else { 0 };
                self.said = Some(subject.clone());
                // A call may still follow this one; those before it had none.
                again.then_some(Exchange { count: self.repeated, subject })
            }
        }
    }

    /// Starts counting anew.
    pub fn forget(&mut self) {
        self.unanswered = 0;
        self.repeated = 0;
    }
}
