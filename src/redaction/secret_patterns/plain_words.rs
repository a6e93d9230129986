//! Words that replace a secret in languages, manuals and forms.

use crate::util::words::has_word;

/// Returns true if a value is a word of a language, a manual or a form rather than a secret.
pub(super) fn is_plain_word(value: &str) -> bool {
    const WORDS: &str = "\
        string number boolean bool integer object array null undefined none nil void never unknown any true false yes no on \
        off str int bytes text varchar char value file path stdin prompt env required optional disabled enabled hidden \
        empty missing invalid valid expired changed encrypted redacted masked sensitive authentication authorization auto \
        default deprecated identifier input field type name username email user self this await async new function return \
        const let option options argument arguments parameter flag interactive interactively automatically securestring \
        secretstr unset todo tbd n/a not and the with from for must generated autogenerate keyring keychain protected \
        private public static readonly current-password new-password plaintext plain basic bearer request response change \
        reset forgot confirm confirmed incorrect correct accepted rejected provided specified unchanged generate validate \
        validated passed cleartext undisclosed keyboard-interactive publickey";
    /// "Required", "optional", "wrong", "forgotten", "changed" and "unknown" in other languages.
    const FOREIGN: &str = "erforderlich notwendig falsch vergessen abgelaufen unbekannt vorhanden requise \
         obligatoire facultatif incorrecte invalide manquant obligatorio obligatoria requerido \
         requerida necesaria incorrecto incorrecta desconocida opcional obrigatorio incorreta \
         esquecida alterada expirada verplicht vereist onjuist vergeten wymagane niepoprawne \
         obligatorisk obligatoriskt felaktigt";
    /// Prefixes and suffixes of placeholders.
    const STARTS: &[&str] = &["your", "<", "example", "placeholder", "insert", "replace", "enter"];
    let plain = value.trim_end_matches(['?', '!', ';', ',', '.', ':']).to_lowercase();
    let letters_only =
        plain.chars().all(|letter| letter.is_alphabetic() || matches!(letter, '-' | '_' | ' '));
    has_word(WORDS, &plain)
        || has_word(FOREIGN, &plain)
        || (letters_only
            && (STARTS.iter().any(|start| plain.starts_with(start))
                || [
                    "password",
                    "passwort",
                    "passwd",
                    "passphrase",
                    "secret",
                    "token",
                    "api-key",
                    "api_key",
                    "apikey",
                    "contraseña",
                    "mot de passe",
                    "-here",
                    "_here",
                ]
                .iter()
                .any(|end| plain.ends_with(end))))
        || ["your_", "your-", "<your", "changeme", "change_me", "change-me"]
            .iter()
            .any(|start| plain.starts_with(start))
}

/// Returns true if a text with spaces is a sentence about a secret.
pub(super) fn is_sentence(value: &str) -> bool {
    const WORDS: &str = "\
        a an the is are was be to of in on at for with and or not no must should may can has have your you please enter \
        password passwords passphrase token secret key characters least required invalid wrong this that it if from by as \
        use used will does do match string de der die das le la el un est ist contraseña passe new old forgot reset confirm \
        change optional hash field set null undefined return";
    let words =
        value.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut count = 0;
    for word in words {
        count += 1;
        if has_word(WORDS, &word.to_lowercase()) {
            return true;
        }
    }
    // Two words in title case are a label.
    count < 3
        && value.starts_with(char::is_uppercase)
        && value.chars().all(|letter| letter.is_alphabetic() || letter == ' ')
        || value.contains('(')
        || value.contains(" = ")
}
