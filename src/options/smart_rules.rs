//! Reads a caller's rules for lines that are worth showing.

use std::sync::Arc;

use serde_json::Value;

use super::fields;
use super::redaction::pattern;
use crate::error::{Code, Error, Result};
use crate::truncation::smart::rules::{Extra, MAX_EXTRA, Rules};
use crate::truncation::smart::table::MAX_WEIGHT;
use crate::util::suggest;

const FIELDS: [&str; 5] = ["words", "pattern", "weight", "before", "after"];
/// Maximum number of words in a rule, and maximum length of a word in bytes.
pub(crate) const MAX_WORDS: usize = 64;
pub(crate) const MAX_WORD_LENGTH: usize = 128;
/// Maximum number of context lines before and after a match.
pub(crate) const MAX_AROUND: u64 = 32;

/// Reads rules that are added to the built-in ones.
pub fn smart_rules(value: &Value, code: Code, path: &str) -> Result<Arc<Rules>> {
    let extras = fields::array(value, code, path, "an array of rules", rule)?;
    if extras.len() > MAX_EXTRA {
        let problem = format!("expected at most {MAX_EXTRA} rules, received {}", extras.len());
        return Err(Error::field(code, path, problem));
    }
    Rules::extended(&extras).map(Arc::new).map_err(|(index, problem)| {
        let field = match index {
            Some(index) => format!("{path}[{index}].pattern"),
            None => path.to_owned(),
        };
        Error::field(code, field, problem)
    })
}

/// Reads one rule and checks that its pattern compiles.
pub(crate) fn smart_rule(value: &Value, code: Code, path: &str) -> Result<()> {
    rule(value, code, path)?
        .check()
        .map_err(|problem| Error::field(code, format!("{path}.pattern"), problem))
}

fn rule(value: &Value, code: Code, path: &str) -> Result<Extra> {
    let mut extra = Extra::default();
    let mut has_weight = false;
    for (key, value) in fields::object(value, code, path)? {
        let field = format!("{path}.{key}");
        match key.as_str() {
            "words" => extra.words = fields::array(value, code, &field, "an array of words", word)?,
            "pattern" => extra.pattern = Some(pattern(value, code, &field)?),
            "weight" => {
                extra.weight = within(value, code, &field, u64::from(MAX_WEIGHT))?;
                has_weight = true;
            }
            "before" => extra.before = within(value, code, &field, MAX_AROUND)?,
            "after" => extra.after = within(value, code, &field, MAX_AROUND)?,
            _ => return Err(suggest::unknown(code, &field, key, &FIELDS)),
        }
    }
    if extra.words.is_empty() || extra.words.len() > MAX_WORDS {
        let problem = format!("expected 1 to {MAX_WORDS} words, received {}", extra.words.len());
        return Err(Error::field(code, format!("{path}.words"), problem));
    }
    if !has_weight {
        let problem = format!("expected a whole number from 0 to {MAX_WEIGHT}, received undefined");
        return Err(Error::field(code, format!("{path}.weight"), problem));
    }
    Ok(extra)
}

/// Reads a word of a rule. Every line that contains the word is examined, so a short one would be slow.
fn word(value: &Value, code: Code, field: &str) -> Result<String> {
    let allowed = format!(
        "a text of 3 to {MAX_WORD_LENGTH} bytes without a line break, in which a letter is"
    );
    let text = value.as_str().filter(|text| {
        (3..=MAX_WORD_LENGTH).contains(&text.len())
            && !text.contains(['\n', '\r'])
            && text.trim().chars().any(|char| !char.is_ascii() || char.is_ascii_graphic())
    });
    text.map(str::to_owned).ok_or_else(|| fields::refuse(value, code, field, &allowed))
}

fn within<T: TryFrom<u64>>(value: &Value, code: Code, field: &str, max: u64) -> Result<T> {
    let number = value.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0);
    number
        .map(|number| number as u64)
        .filter(|number| *number <= max)
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| {
            fields::refuse(value, code, field, &format!("a whole number from 0 to {max}"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_wrong_rule_is_named_by_its_place() {
        let good = json!({ "words": ["flaky"], "weight": 500 });
        let cases = [
            (json!({}), "smartRules"),
            (json!([5]), "smartRules[0]"),
            (json!([good, { "weight": 5 }]), "smartRules[1].words"),
            (json!([{ "words": "error", "weight": 5 }]), "smartRules[0].words"),
            (json!([{ "words": ["ok"], "weight": 5 }]), "smartRules[0].words[0]"),
            (json!([{ "words": ["a\nb"], "weight": 5 }]), "smartRules[0].words[0]"),
            (json!([{ "words": ["   "], "weight": 5 }]), "smartRules[0].words[0]"),
            (json!([{ "words": ["flaky"] }]), "smartRules[0].weight"),
            (json!([{ "words": ["flaky"], "weight": 1001 }]), "smartRules[0].weight"),
            (json!([{ "words": ["flaky"], "weight": 5, "after": 33 }]), "smartRules[0].after"),
            (json!([{ "words": ["flaky"], "weight": 5, "befor": 3 }]), "smartRules[0].befor"),
            (json!([{ "words": ["flaky"], "weight": 5, "pattern": 3 }]), "smartRules[0].pattern"),
            (
                json!([good, { "words": ["flaky"], "weight": 5, "pattern": "(?=x)" }]),
                "smartRules[1].pattern",
            ),
        ];
        for (value, field) in cases {
            let error = smart_rules(&value, Code::InvalidConfig, "smartRules").unwrap_err();
            assert_eq!(error.field.as_deref(), Some(field), "{value}");
            assert!(error.message.contains(&format!(" option \"{field}\": ")), "{}", error.message);
        }
        assert!(smart_rules(&json!(vec![good; 64]), Code::InvalidConfig, "smartRules").is_ok());
        let many = vec![json!({ "words": ["flaky"], "weight": 500 }); 65];
        assert!(smart_rules(&json!(many), Code::InvalidConfig, "smartRules").is_err());
    }

    #[test]
    fn a_rule_of_the_caller_decides_beside_the_built_in_ones() {
        let value = json!([
            { "words": ["DEPRECATED"], "pattern": { "$type": "RegExp", "source": "^deprecated: \\w+", "flags": "i" }, "weight": 990, "after": 2 },
            { "words": ["error: known"], "weight": 0 },
        ]);
        let rules = smart_rules(&value, Code::InvalidConfig, "smartRules").unwrap();
        let weight = |line: &str| rules.judge(line.as_bytes()).map_or(0, |verdict| verdict.weight);
        assert_eq!(weight("Deprecated: fetch"), 990);
        assert_eq!(weight("it is deprecated: fetch"), 0);
        assert_eq!(weight("src/a.c:5:4: error: known problem"), 0);
        assert!(weight("src/a.c:5:4: error: new problem") > 900);
    }
}
