//! Classifies an error or an answer of a provider: whether the request was too long.
//!
//! The checks run in this order, and the first match decides: a rate limit, a limit of one field, a code, a wording,
//! the status 413, a refusal without a reason, the answer itself. Errors that only resemble an overflow come before
//! overflows, because "too many tokens" most often means too many per minute; but generic words for such limits do not
//! outweigh a code or a wording that can only mean an overflow.

use serde::{Deserialize, Serialize};

use super::provider_errors::{ErrorWording, Matcher, WORDINGS, loose_numbers};
use crate::util::sort::sort_by_key;

/// The subject of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The request is too long for the model's context, or for the provider.
    Overflow,
    /// A rate limit.
    Rate,
    /// One field of the request is too long.
    Field,
    /// A signed thinking block follows a message that has changed since.
    ThinkingBinding,
    /// The provider cannot read reasoning that was encrypted for another organisation or model.
    EncryptedReasoning,
    /// A call lacks the signature that the model gave it, or has a foreign one.
    ThoughtSignature,
    /// Anything else.
    Other,
}

/// The confidence of a classification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Only circumstances suggest it.
    Low,
    /// A generic wording, or a status.
    Medium,
    /// A code, a status or a wording with a single meaning.
    High,
}

/// The facts found in one error, or in one answer.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Facts {
    /// HTTP statuses, outermost first.
    pub statuses: Vec<u16>,
    /// Codes, types and names.
    pub codes: Vec<String>,
    /// Messages, outermost first.
    pub texts: Vec<String>,
    /// Reasons why a model stopped.
    pub stop_reasons: Vec<String>,
    /// Number of input tokens that the provider counted.
    pub input_tokens: Option<f64>,
    /// Number of output tokens.
    pub output_tokens: Option<f64>,
    /// Context window that the provider reports in a field of its own.
    pub window_tokens: Option<f64>,
}

/// The input of a classification.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Request {
    /// The error itself, then the errors that it aggregates, in order.
    pub candidates: Vec<Facts>,
    /// Own estimate of the request in tokens.
    pub estimated_tokens: Option<f64>,
    /// The model's context window in tokens.
    pub context_window: Option<f64>,
}

/// Numbers as the provider counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Size of the request, including the reserve for the answer if that counts towards the limit.
    pub actual: Option<u64>,
    /// The limit.
    pub limit: Option<u64>,
    /// The reserve for the answer.
    pub output: Option<u64>,
}

/// The result of a classification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Class {
    /// True for an overflow.
    pub overflow: bool,
    pub kind: Kind,
    pub confidence: Confidence,
    #[serde(skip_serializing_if = "Option::is_none")]
    actual_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actual_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<&'static str>,
    /// Name of the rule that matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<String>,
}

/// Codes, types and names with a single meaning, in lower case.
const CODES: [(&str, Kind); 24] = [
    ("invalid_encrypted_content", Kind::EncryptedReasoning),
    ("rate_limit_exceeded", Kind::Rate),
    ("rate_limit_error", Kind::Rate),
    ("too_many_requests", Kind::Rate),
    ("throttlingexception", Kind::Rate),
    ("throttling", Kind::Rate),
    ("toomanyrequestsexception", Kind::Rate),
    ("resource_exhausted", Kind::Rate),
    ("insufficient_quota", Kind::Rate),
    ("string_above_max_length", Kind::Field),
    ("array_above_max_length", Kind::Field),
    ("context_length_exceeded", Kind::Overflow),
    ("context_window_exceeded", Kind::Overflow),
    ("model_context_window_exceeded", Kind::Overflow),
    ("model_max_prompt_tokens_exceeded", Kind::Overflow),
    ("request_too_large", Kind::Overflow),
    ("exceed_context_size_error", Kind::Overflow),
    ("prompt_too_long", Kind::Overflow),
    ("context_overflow", Kind::Overflow),
    ("contextoverflowerror", Kind::Overflow),
    ("contextwindowexceedederror", Kind::Overflow),
    ("tokens_limit_reached", Kind::Overflow),
    ("content_too_large", Kind::Overflow),
    // z.ai uses numbers as codes.
    ("1261", Kind::Overflow),
];

/// Minimum ratio of our own estimate to the window: estimates are off by a fifth at times.
const NEAR: f64 = 0.8;

/// Minimum share of the window that a request fills whose answer was cut off at once.
const FULL: f64 = 0.99;

/// Number of bytes read at either end of a long message: providers are brief, and a longer message is a page or an echo
/// of the request.
const END: usize = 16 * 1024;

/// Maximum number of messages read of an error.
const TEXTS: usize = 64;

/// Classifies an error or an answer. In an error that aggregates several, the last one that can be classified counts.
pub fn classify(request: &Request) -> Class {
    let classes = || request.candidates.iter().map(|facts| classify_one(facts, request));
    let own = classes().next();
    let said = |class: &Class| class.kind != Kind::Other || class.matched.is_some();
    own.clone()
        .filter(said)
        .or_else(|| classes().skip(1).rfind(said))
        .or(own)
        .unwrap_or_else(|| class(Kind::Other, Confidence::Low, None))
}

fn classify_one(facts: &Facts, request: &Request) -> Class {
    let texts: Vec<String> = facts.texts.iter().take(TEXTS).map(|text| shortened(text)).collect();
    let rows = rows(&texts);
    let mut found = decide(facts, &texts, &rows, request);
    let window = limit_of(request.context_window);
    let numbers = numbers(&texts, &rows, found.kind, window, facts);
    match found.kind {
        Kind::Field => (found.actual_length, found.limit_length) = (numbers.actual, numbers.limit),
        Kind::Overflow | Kind::Rate => {
            (found.actual_tokens, found.limit_tokens) = (numbers.actual, numbers.limit);
            found.output_tokens = numbers.output;
        }
        Kind::ThinkingBinding | Kind::EncryptedReasoning | Kind::ThoughtSignature | Kind::Other => {
        }
    }
    found
}

fn decide(
    facts: &Facts,
    texts: &[String],
    rows: &[&'static ErrorWording],
    request: &Request,
) -> Class {
    let status = |wanted: u16| facts.statuses.contains(&wanted);
    let said = |kind: Kind| {
        let code = facts.codes.iter().find_map(|code| {
            let code = code.to_ascii_lowercase();
            CODES.iter().find(|(known, of)| *known == code && *of == kind).map(|(known, _)| *known)
        });
        let row = rows.iter().find(|row| row.kind == kind);
        let provider = row.and_then(|row| row.provider);
        match (code, row) {
            (Some(code), _) => {
                Some(Class { provider, ..class(kind, Confidence::High, Some(code)) })
            }
            (None, Some(row)) => {
                Some(Class { provider, ..class(kind, row.confidence, Some(row.name)) })
            }
            (None, None) => None,
        }
    };
    let by_status = |kind, confidence, matched| Some(class(kind, confidence, Some(matched)));
    if status(429) {
        let said = said(Kind::Rate).map(|said| Class { confidence: Confidence::High, ..said });
        return said.unwrap_or_else(|| class(Kind::Rate, Confidence::High, Some("status-429")));
    }
    // Shortening the request does not help with billing.
    if status(402) {
        return class(Kind::Other, Confidence::High, Some("status-402"));
    }
    let is_sure = |class: &Class| class.confidence == Confidence::High;
    // Generic words for limits also occur in advice and links below an unambiguous overflow.
    let is_advice =
        |class: &Class| !is_sure(class) && said(Kind::Overflow).is_some_and(|of| is_sure(&of));
    said(Kind::Rate)
        .filter(|class| !is_advice(class))
        .or_else(|| said(Kind::ThinkingBinding))
        .or_else(|| said(Kind::EncryptedReasoning))
        .or_else(|| said(Kind::ThoughtSignature))
        .or_else(|| said(Kind::Field))
        .or_else(|| said(Kind::Other).filter(|class| !is_advice(class)))
        .or_else(|| said(Kind::Overflow))
        .or_else(|| {
            let silent = texts.iter().all(|text| says_nothing(text));
            let bodyless = texts.iter().find_map(|text| bodyless_status(text));
            let status = |wanted| status(wanted) || bodyless == Some(wanted);
            match (status(413), status(400) && silent) {
                (true, _) if !silent => by_status(Kind::Overflow, Confidence::Medium, "status-413"),
                (false, false) => None,
                (too_large, _) => match is_near(request) {
                    Some(true) => by_status(Kind::Overflow, Confidence::Low, "near-window"),
                    // The status alone says that it was too large.
                    None if too_large => by_status(Kind::Overflow, Confidence::Low, "status-413"),
                    // Some providers close the connection on a request that is too long, and clients report that.
                    None if bodyless == Some(400) => {
                        by_status(Kind::Overflow, Confidence::Low, "status-400-no-body")
                    }
                    _ => None,
                },
            }
        })
        .or_else(|| answer(facts, request))
        .unwrap_or_else(|| class(Kind::Other, Confidence::Low, None))
}

/// Detects overflows of requests that were answered.
fn answer(facts: &Facts, request: &Request) -> Option<Class> {
    let overflow = |confidence, matched| Some(class(Kind::Overflow, confidence, Some(matched)));
    let stopped = |reasons: &[&str]| {
        facts
            .stop_reasons
            .iter()
            .any(|reason| reasons.contains(&reason.to_ascii_lowercase().as_str()))
    };
    if stopped(&[
        "model_context_window_exceeded",
        "context_window_exceeded",
        "context_length_exceeded",
    ]) {
        return overflow(Confidence::High, "stop-reason");
    }
    let window = request.context_window.filter(|window| *window > 0.0);
    let input = facts.input_tokens.filter(|input| *input > 0.0);
    if let (Some(input), Some(window)) = (input, window)
        && input > window
    {
        return overflow(Confidence::High, "usage-over-window");
    }
    if stopped(&["length", "max_tokens", "max_output_tokens"]) && facts.output_tokens == Some(0.0) {
        let full = input
            .or(request.estimated_tokens)
            .zip(window)
            .map(|(input, window)| input >= FULL * window);
        return match full {
            Some(true) => overflow(Confidence::High, "length-without-output"),
            Some(false) => None,
            None => overflow(Confidence::Medium, "length-without-output"),
        };
    }
    None
}

fn is_near(request: &Request) -> Option<bool> {
    let window = request.context_window.filter(|window| *window > 0.0)?;
    request.estimated_tokens.map(|estimate| estimate >= NEAR * window)
}

/// Returns the rows that match any of the texts, in the order of the table.
fn rows(texts: &[String]) -> Vec<&'static ErrorWording> {
    let Some(matcher) = Matcher::get() else { return Vec::new() };
    let mut rows: Vec<usize> =
        texts.iter().flat_map(|text| matcher.matches(text.as_bytes())).collect();
    sort_by_key(&mut rows, |row| *row);
    rows.dedup();
    rows.into_iter().filter_map(|row| WORDINGS.get(row)).collect()
}

/// Returns the numbers of the first matching wording of the kind that has any; missing ones are taken from the others.
fn numbers(
    texts: &[String],
    rows: &[&ErrorWording],
    kind: Kind,
    window: Option<u64>,
    facts: &Facts,
) -> Numbers {
    let mut numbers = Numbers::default();
    if kind == Kind::Other {
        return numbers;
    }
    for row in rows.iter().filter(|row| row.kind == kind) {
        for text in texts {
            let read = row.read(text.as_bytes(), window);
            // The share of the answer without the total would be from another message.
            if numbers.actual.is_none() && read.actual.is_some() {
                (numbers.actual, numbers.output) = (read.actual, read.output);
            }
            numbers.limit = numbers.limit.or(read.limit);
        }
    }
    if kind == Kind::Overflow {
        if numbers.actual.is_none() || numbers.limit.is_none() {
            for loose in texts.iter().map(|text| loose_numbers(text.as_bytes())) {
                numbers.actual = numbers.actual.or(loose.actual);
                numbers.limit = numbers.limit.or(loose.limit);
            }
        }
        numbers.actual = numbers.actual.or(limit_of(facts.input_tokens));
        numbers.limit = numbers.limit.or(limit_of(facts.window_tokens));
    }
    numbers
}

fn limit_of(number: Option<f64>) -> Option<u64> {
    number
        .filter(|number| (1.0..9_007_199_254_740_992.0).contains(number))
        .map(|number| number as u64)
}

/// Returns the status in a client's message for a response without a body: `400 status code (no body)`.
fn bodyless_status(text: &str) -> Option<u16> {
    let text = text.trim();
    let text = text.strip_prefix("error:").unwrap_or(text).trim();
    let (status, rest) = text.split_at_checked(3)?;
    let rest = rest.trim();
    let rest = rest.strip_prefix("status code").unwrap_or(rest).trim();
    let status: u16 = status.parse().ok()?;
    (rest == "(no body)" || (rest.is_empty() && status == 413)).then_some(status)
}

/// Returns true if there was no body: clients make up a message then.
fn says_nothing(text: &str) -> bool {
    let text = text.trim();
    let text = text.strip_prefix("error:").unwrap_or(text).trim();
    let text = text.trim_start_matches(|digit: char| digit.is_ascii_digit()).trim();
    let text = text.strip_prefix("status code").unwrap_or(text).trim();
    matches!(text, "" | "(no body)" | "bad request" | "{}" | "null")
}

/// Returns the text in lower case, and without its middle if it is long.
fn shortened(text: &str) -> String {
    if text.len() <= 2 * END {
        return text.to_ascii_lowercase();
    }
    let head = text.floor_char_boundary(END);
    let tail = text.ceil_char_boundary(text.len() - END);
    let ends = [text.get(..head), text.get(tail..)].map(Option::unwrap_or_default);
    ends.join("\n").to_ascii_lowercase()
}

fn class(kind: Kind, confidence: Confidence, matched: Option<&str>) -> Class {
    Class {
        overflow: kind == Kind::Overflow,
        kind,
        confidence,
        actual_tokens: None,
        limit_tokens: None,
        output_tokens: None,
        actual_length: None,
        limit_length: None,
        provider: None,
        matched: matched.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(status: u16, text: &str) -> Facts {
        Facts { statuses: vec![status], texts: vec![text.to_owned()], ..Facts::default() }
    }

    fn ask(candidates: Vec<Facts>, estimate: Option<f64>) -> Class {
        let context_window = estimate.map(|_| 100_000.0);
        classify(&Request { candidates, estimated_tokens: estimate, context_window })
    }

    #[test]
    fn a_refusal_without_a_body_counts_unless_the_window_is_far() {
        for (status, estimate, kind) in [
            (400, None, Kind::Overflow),
            (400, Some(10_000.0), Kind::Other),
            (400, Some(90_000.0), Kind::Overflow),
            (413, None, Kind::Overflow),
            (413, Some(10_000.0), Kind::Other),
            (413, Some(90_000.0), Kind::Overflow),
            (500, Some(90_000.0), Kind::Other),
        ] {
            let text = format!("{status} status code (no body)");
            assert_eq!(
                ask(vec![error(status, &text)], estimate).kind,
                kind,
                "{status} {estimate:?}"
            );
        }
        assert_eq!(ask(vec![error(413, "failed to parse request")], None).kind, Kind::Overflow);
        assert_eq!(ask(vec![error(400, "unknown parameter")], Some(90_000.0)).kind, Kind::Other);
    }

    #[test]
    fn a_rate_limit_comes_before_any_wording() {
        let class = ask(vec![error(429, "prompt is too long: 2 tokens > 1 maximum")], None);
        assert_eq!((class.kind, class.confidence), (Kind::Rate, Confidence::High));
    }

    #[test]
    fn of_gathered_errors_the_last_that_says_something_counts() {
        let overflow = error(400, "prompt is too long: 213,462 tokens > 200,000 maximum");
        let candidates = vec![Facts::default(), error(429, ""), overflow, error(500, "oops")];
        let class = ask(candidates, None);
        assert_eq!(
            (class.kind, class.actual_tokens, class.limit_tokens),
            (Kind::Overflow, Some(213_462), Some(200_000))
        );
    }

    #[test]
    fn an_answer_can_be_an_overflow() {
        let stopped = |reason: &str, input: f64| Facts {
            stop_reasons: vec![reason.to_owned()],
            input_tokens: Some(input),
            output_tokens: Some(0.0),
            ..Facts::default()
        };
        let overflow = |facts| ask(vec![facts], Some(1.0)).overflow;
        assert!(overflow(stopped("model_context_window_exceeded", 5.0)));
        assert!(overflow(stopped("stop", 100_001.0)));
        assert!(!overflow(stopped("stop", 100_000.0)));
        assert!(overflow(stopped("length", 99_000.0)));
        assert!(!overflow(stopped("length", 98_999.0)));
        assert!(ask(vec![stopped("length", 98_999.0)], None).overflow, "nobody knows the window");
        let some = Facts { output_tokens: Some(1.0), ..stopped("length", 99_000.0) };
        assert!(!overflow(some));
    }

    #[test]
    fn long_messages_are_read_at_their_ends() {
        let long = format!("{}prompt is too long", "é".repeat(1 << 20));
        assert!(ask(vec![error(400, &long)], None).overflow);
    }
}
