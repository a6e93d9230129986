//! What other shells make of what bash reads otherwise. A host often hands a command to `sh`, and nobody can tell whether that
//! is bash: on Debian it is dash, on Alpine that of BusyBox.

use brush_parser::ast::{
    BinaryPredicate, CommandPrefixOrSuffixItem as Item, ExtendedTestExpr, IoRedirect,
    UnaryPredicate,
};

/// Why a command ends at `&>` to a shell that does not know it: what follows is the next command there.
pub(super) const ENDS_SOONER: &str = "to some shells it ends at &>";

/// Why a test is asked about that is a list of commands to a shell without `[[`.
pub(super) const TEST_RUNS: &str = "some shells run what stands behind || in it";

/// Why a comparison of texts is asked about.
pub(super) const TEST_REDIRECTS: &str = "some shells open a file for < and > in it";

/// Whether words follow `&>` in a command.
pub(super) fn ends_sooner(items: &[Item]) -> bool {
    let both = |item: &Item| matches!(item, Item::IoRedirect(IoRedirect::OutputAndError(..)));
    items.iter().skip_while(|item| !both(item)).any(|item| !matches!(item, Item::IoRedirect(_)))
}

/// Whether what stands behind `||` begins with something that could be a program. Nobody calls one like an option, but what
/// follows `-n` looks the same here with and without it.
pub(super) fn begins_with_program(test: &ExtendedTestExpr) -> bool {
    match test {
        ExtendedTestExpr::And(first, _) | ExtendedTestExpr::Or(first, _) => {
            begins_with_program(first)
        }
        ExtendedTestExpr::Not(_) | ExtendedTestExpr::Parenthesized(_) => true,
        ExtendedTestExpr::UnaryTest(is, _) => matches!(is, UnaryPredicate::StringHasNonZeroLength),
        ExtendedTestExpr::BinaryTest(..) => true,
    }
}

/// Whether a comparison is written like a redirection.
pub(super) fn looks_like_redirection(is: &BinaryPredicate) -> bool {
    matches!(is.to_string().as_str(), "<" | ">")
}

/// Whether the name of a file is what zsh takes for a part of the operator, as in `>! file`.
pub(super) fn is_part_of_operator(raw: &str) -> bool {
    matches!(raw, "!" | "|")
}

/// Whether a wildcard can stand for the folder above: to some shells `.*` and `.?` do.
pub(super) fn can_be_parent(name: &str) -> bool {
    let Some(rest) = name.strip_prefix('.') else { return false };
    let plain = rest.trim_matches('*');
    let is_one = matches!(plain, "" | "." | "?")
        || (plain.starts_with('[') && plain.find(']').is_none_or(|end| end + 1 == plain.len()));
    rest.contains(['*', '?', '[']) && is_one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_that_can_stand_for_the_folder_above() {
        for name in [".*", ".?", ".[.]", ".[!a]", ".*.", "..*", ".**", ".[x"] {
            assert!(can_be_parent(name), "{name}");
        }
        for name in ["..", ".", "*", "?.", ".e*", ".??", ".*rc", ".[a]b", "a.*", ""] {
            assert!(!can_be_parent(name), "{name}");
        }
    }
}
