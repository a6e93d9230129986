//! Code of other languages that starts processes without an end: an endless loop that does nothing else, and a function that
//! forks and calls itself. Strings and comments are no code.

use super::code_text::{is_word, tokens};
use crate::util::words::has_word;

/// Parts of the calls below: most texts have none of them.
const PARTS: [&str; 7] = ["fork", "spawn", "open(", "exec", "system", "Process(", "Thread("];

/// Modules, classes and calls whose methods start processes.
const MODULES: &str = "\
    child_process cp subprocess os Process Kernel threading multiprocessing thread Bun require __import__ new";

/// Words that begin a condition or a list after a call.
const MODIFIERS: &str = "if unless while until for or and in";

/// Methods and words that wait for what they return.
const WAITS: &str =
    "pop shift take get gets getline recv accept read readline next await yield wait STDIN";

/// Further words of loops that pause or end.
const ENDS: &str = "\
    waitpid wait3 wait4 sleep usleep break return exit _exit last die raise abort join select poll listen serve \
    pause recvfrom recvmsg handle_request reserve execv execve execvp exec";

/// Maximum number of tokens of a statement that is read.
const MAX_STATEMENT: usize = 256;

/// Pause in milliseconds from which on a timer does not start too much.
const PAUSE: u32 = 100;

/// Returns true if code of another language forks or starts processes in a loop that does nothing else and never ends, or forks
/// in a function that calls itself.
pub(crate) fn starts_for_ever(text: &str) -> bool {
    if !PARTS.iter().any(|part| text.contains(part)) {
        return false;
    }
    let tokens = tokens(text, false);
    let code = Code { tokens: &tokens, is_node: text.contains("child_process") };
    let (mut start, mut outer) = (0, Vec::new());
    (0..tokens.len()).any(|at| {
        match code.at(at) {
            "{" | "(" | "[" | "do" => outer.push(std::mem::replace(&mut start, at + 1)),
            // A statement continues after brackets.
            ")" | "]" => start = outer.pop().unwrap_or(start),
            token if ends_statement(token) => {
                if matches!(token, "}" | "end") {
                    outer.pop();
                }
                start = at + 1;
            }
            _ => {}
        }
        code.loops_at(at, start) || code.forks_itself(at)
    }) || code.forks_for_ever()
}

fn ends_statement(token: &str) -> bool {
    matches!(token, ";" | "}" | ")" | "]" | "end" | "") || token.starts_with('\n')
}

fn indentation(token: &str) -> usize {
    token.len() - token.rfind('\n').map_or(0, |at| at + 1)
}

/// Returns true if a part of a statement calls something, or waits for something.
fn may_wait(tokens: &[&str]) -> bool {
    tokens.windows(2).any(|pair| is_word(pair[0]) && pair[1] == "(" && pair[0] != "function")
        || tokens.iter().any(|token| has_word(WAITS, token))
}

/// Returns the number of tokens of a group in brackets.
fn group(tokens: &[&str]) -> usize {
    let mut depth = 0;
    let end = tokens.iter().position(|token| {
        match *token {
            "(" | "[" | "{" | "do" => depth += 1,
            ")" | "]" | "}" | "end" => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    end.map_or(tokens.len(), |end| end + 1)
}

struct Code<'t> {
    tokens: &'t [&'t str],
    is_node: bool,
}

impl<'t> Code<'t> {
    fn at(&self, at: usize) -> &'t str {
        self.tokens.get(at).copied().unwrap_or_default()
    }

    fn from(&self, at: usize) -> &'t [&'t str] {
        let end = self.tokens.len().min(at + MAX_STATEMENT);
        &self.tokens[at.min(end)..end]
    }

    /// Returns true if an endless loop begins here, or a condition behind a statement, and only starts processes.
    fn loops_at(&self, at: usize, start: usize) -> bool {
        let word = self.at(at);
        let (after, forks) = match word {
            "while" | "until" => match self.condition(at + 1, word == "while") {
                Some(found) => found,
                None => return false,
            },
            "for" => match self.from(at + 1) {
                ["(", ";", ";", ")", ..] => (at + 5, false),
                [";", ";", ..] => (at + 3, false),
                ["{", ..] => (at + 1, false),
                _ => return false,
            },
            "loop" | "repeat" if matches!(self.at(at + 1), "{" | "do") => (at + 1, false),
            // `for _ in iter(int, 1)` of Python in a list.
            "iter" if self.at(at + 2) == "int" => (at, false),
            "setInterval" => return self.timer_starts(at + 1),
            _ => return false,
        };
        if at == start {
            return self.body(after, forks).is_some();
        }
        // Perl and Ruby write the condition behind the call as well, and so do lists of Python.
        let before = &self.tokens[start.max(at.saturating_sub(MAX_STATEMENT))..at];
        let end = before.iter().position(|token| *token == "for").unwrap_or(before.len());
        self.starts_process(&before[..end]).is_some_and(|starts| starts || forks)
    }

    /// Returns true if code with an endless loop forks, and nothing in it waits or ends.
    fn forks_for_ever(&self) -> bool {
        let is_fork = |at: usize| {
            let before = if at >= 2 { self.at(at - 2) } else { "" };
            let receiver = if at > 0 && matches!(self.at(at - 1), "." | ":") { before } else { "" };
            matches!(self.at(at), "fork" | "pcntl_fork")
                && (receiver.is_empty() || has_word(MODULES, receiver))
        };
        let is_endless = |at: usize| match self.from(at) {
            ["while" | "until", ..] => self.condition(at + 1, self.at(at) == "while").is_some(),
            ["for", "(", ";", ";", ")", ..] | ["loop" | "repeat", "{" | "do", ..] => true,
            ["iter", "(", "int", ..] | ["redo", ..] => true,
            _ => false,
        };
        let ends = |token: &&str| has_word(WAITS, token) || has_word(ENDS, token);
        let all = 0..self.tokens.len();
        let Some(begin) = all.clone().find(|at| is_endless(*at)) else { return false };
        // The condition of some loops follows their body, or their statement.
        let before = begin.checked_sub(1).map_or("", |before| self.at(before));
        let is_behind = before == "}" || is_word(before) && !has_word("do then else end", before);
        let begin = if is_behind || self.at(begin) == "redo" { 0 } else { begin };
        (begin..all.end).any(is_fork) && !self.tokens[begin..].iter().any(ends)
    }

    /// Returns where an endless condition ends, and whether it is a fork itself.
    fn condition(&self, at: usize, holds: bool) -> Option<(usize, bool)> {
        let is_open = self.at(at) == "(";
        let from = at + usize::from(is_open);
        let is_fixed = match self.from(from) {
            ["!", "0", ..] => holds,
            [value, ..] => has_word(if holds { "1 True true" } else { "0 False false" }, value),
            [] => false,
        };
        if is_fixed {
            let end = from + 1 + usize::from(self.at(from) == "!");
            let after = self.at(end);
            return match is_open {
                true => (after == ")").then_some((end + 1, false)),
                false => (ends_statement(after) || matches!(after, ":" | "{" | "do"))
                    .then_some((end, false)),
            };
        }
        let forks = matches!(self.from(from), ["fork", ..] | ["os" | "Process", ".", "fork", ..]);
        let length = match is_open {
            true => group(self.from(at)),
            false => self
                .from(at)
                .iter()
                .position(|token| {
                    matches!(*token, ":" | "{" | "do" | ";" | "}") || token.starts_with('\n')
                })
                .unwrap_or_default(),
        };
        (holds && forks).then_some((at + length, true))
    }

    /// Returns true if a timer without a pause only starts processes.
    fn timer_starts(&self, at: usize) -> bool {
        let head = self.from(at).iter().take(8);
        let Some(end) = head.clone().position(|token| matches!(*token, ">" | "{")) else {
            return false;
        };
        let body = at + end + usize::from(self.at(at + end) == ">");
        let Some(end) = self.body(body, false) else { return false };
        let end = end + usize::from(self.at(end) == "}");
        let pause = self.at(end + 1).parse::<u32>().ok().filter(|_| self.at(end) == ",");
        pause.is_none_or(|pause| pause < PAUSE)
    }

    /// Returns where the body of a loop ends that does nothing but start processes. With `has_start` the head of the loop starts one.
    fn body(&self, at: usize, mut has_start: bool) -> Option<usize> {
        let opener = self.at(at);
        let is_block = matches!(opener, "{" | "do" | ":" | ";") || opener.starts_with('\n');
        let mut at = at + usize::from(is_block);
        let indented = indentation(self.at(at));
        let is_indented = opener == ":" && self.at(at).starts_with('\n');
        loop {
            match self.at(at) {
                ";" if is_block => at += 1,
                token if token.starts_with('\n') => {
                    if !is_block
                        || (opener == ":" && !is_indented)
                        || (is_indented && indentation(token) < indented)
                    {
                        break;
                    }
                    at += 1;
                }
                token if ends_statement(token) => break,
                _ => {
                    let statement = self.statement(at)?;
                    has_start |= self.starts_process(statement)?;
                    at += statement.len();
                    if !is_block {
                        break;
                    }
                }
            }
        }
        has_start.then_some(at)
    }

    fn statement(&self, at: usize) -> Option<&'t [&'t str]> {
        let rest = self.from(at);
        let mut end = 0;
        while end < rest.len() && !ends_statement(rest[end]) {
            end += match rest[end] {
                "(" | "[" | "{" | "do" => group(&rest[end..]),
                _ => 1,
            };
        }
        (end < MAX_STATEMENT).then(|| &rest[..end])
    }

    /// Returns true if a statement only starts a process, false if it only counts or prints, and `None` if it does more.
    fn starts_process(&self, statement: &[&str]) -> Option<bool> {
        let first = statement.first().copied().unwrap_or("pass");
        if has_word("pass print puts echo console printf", first) {
            let open = statement.iter().position(|token| *token == "(").map_or(1, |at| at + 1);
            return (!may_wait(&statement[open.min(statement.len())..])).then_some(false);
        }
        let is_counted = statement.iter().all(|token| {
            (is_word(token) && !has_word(WAITS, token))
                || matches!(*token, "$" | "+" | "-" | "=" | ";")
        });
        if is_counted && statement.iter().any(|token| matches!(*token, "+" | "-")) {
            return Some(false);
        }
        // Perl needs a statement before a condition.
        if matches!(statement, [value] if value.parse::<u32>().is_ok()) {
            return Some(false);
        }
        // It was made before.
        if matches!(statement, [_, ".", "start", "(", ")"]) {
            return Some(false);
        }
        let assigned = statement.iter().take(5).position(|token| *token == "=");
        let mut rest = &statement[assigned.map_or(0, |at| at + 1)..];
        let mut receiver = "";
        loop {
            rest = match rest {
                ["." | ":", rest @ ..] => rest,
                ["(", ..] if has_word("require __import__ new", receiver) => &rest[group(rest)..],
                [word, after @ ..] if is_word(word) && self.is_start(receiver, word, after) => {
                    return self.is_alone(word, after).then_some(true);
                }
                [word, after @ ..] if is_word(word) && matches!(after, ["." | ":" | "(", ..]) => {
                    receiver = word;
                    after
                }
                _ => return None,
            };
        }
    }

    /// Returns true for the name of a call that starts a process and does not wait for it.
    fn is_start(&self, receiver: &str, word: &str, after: &[&str]) -> bool {
        let is_of_module = receiver.is_empty() || has_word(MODULES, receiver);
        let in_background = || {
            after.iter().any(|token| token.trim_end_matches(['"', '\'']).trim_end().ends_with('&'))
        };
        match word {
            "fork" | "pcntl_fork" => after.first() == Some(&"(") || is_of_module,
            "spawn" | "execFile" => is_of_module,
            "exec" if self.is_node => is_of_module,
            "Popen" | "popen" => true,
            "Process" | "Thread" => after.contains(&"target"),
            "system" | "execute" | "exec" => in_background(),
            _ => false,
        }
    }

    /// Returns true if a function begins here that forks and calls itself.
    fn forks_itself(&self, at: usize) -> bool {
        let name = self.at(at + 1);
        if !matches!(self.at(at), "def" | "sub" | "function") || !is_word(name) || name == "fork" {
            return false;
        }
        let rest = self.from(at + 2);
        let rest = if rest.first() == Some(&"(") { &rest[group(rest)..] } else { rest };
        let begin = rest
            .iter()
            .position(|token| matches!(*token, "{" | ":" | ";") || token.starts_with('\n'));
        let body = &rest[begin.unwrap_or(rest.len())..];
        let until = |ends: &dyn Fn(&str) -> bool| {
            body.iter().skip(2).position(|token| ends(token)).map_or(body.len(), |end| end + 2)
        };
        let end = match *body {
            ["{", ..] => group(body),
            // A body of several lines is indented.
            [":", first, ..] if first.starts_with('\n') => {
                until(&|token| token.starts_with('\n') && indentation(token) < indentation(first))
            }
            [":", ..] => until(&|token| token.starts_with('\n')),
            _ => until(&|token| token == "end"),
        };
        let body = &body[..end];
        let calls = |name: &str| body.windows(2).any(|pair| pair[0] == name && pair[1] != "=");
        // A function in the arguments of another call runs later.
        let mut depth = 0;
        let calls_itself = body.windows(2).any(|pair| {
            depth += i32::from(pair[0] == "(") - i32::from(pair[0] == ")");
            depth == 0 && pair[0] == name && pair[1] != "="
        });
        calls_itself && calls("fork")
    }

    /// Returns true if nothing is done with a process that was started but what lets it run.
    fn is_alone(&self, word: &str, after: &[&str]) -> bool {
        let mut rest = after;
        if rest.first() == Some(&"(") {
            let end = group(rest);
            if may_wait(&rest[1..end]) {
                return false;
            }
            rest = &rest[end..];
        } else if word != "fork" {
            let is_argument = |token: &&str| {
                (is_word(token)
                    && !has_word(MODIFIERS, token)
                    && !has_word(WAITS, token)
                    && *token != "do")
                    || token.starts_with(['"', '\'', '$', '@', ','])
            };
            let end = rest.iter().position(|token| !is_argument(token));
            rest = &rest[end.unwrap_or(rest.len())..];
        }
        loop {
            rest = match *rest {
                [] => return true,
                // The pause of a timer.
                [",", pause] => return pause.parse::<u32>().is_ok_and(|pause| pause < PAUSE),
                ["{" | "do", ..] => &rest[group(rest)..],
                [".", method, "(", ..] if has_word("start unref on once detach", method) => {
                    &rest[2 + group(&rest[2..])..]
                }
                ["|", "|", ref rest @ ..]
                | ["&", "&", ref rest @ ..]
                | ["or" | "and", ref rest @ ..] => {
                    return self.starts_process(rest).is_some();
                }
                _ => return false,
            };
        }
    }
}
