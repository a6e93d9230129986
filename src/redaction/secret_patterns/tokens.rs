//! Tokens with distinctive prefixes, one row of a table each.

use std::ops::Range;

/// The bytes that may follow a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    /// `0-9a-f`
    Hex,
    /// `0-9A-Z`
    Upper,
    /// `0-9A-Za-z`
    Alnum,
    /// `0-9A-Za-z_`
    Name,
    /// `0-9A-Za-z_-`
    Word,
    /// `0-9A-Za-z_.-`
    Dotted,
    /// Base64, in either alphabet.
    Base64,
    /// Components of a path.
    Path,
    /// Any byte that a token can contain.
    Any,
}

impl Tail {
    fn has(self, byte: u8) -> bool {
        let alnum = byte.is_ascii_alphanumeric();
        match self {
            Tail::Hex => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            Tail::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Tail::Alnum => alnum,
            Tail::Name => alnum || byte == b'_',
            Tail::Word => alnum || matches!(byte, b'_' | b'-'),
            Tail::Dotted => alnum || matches!(byte, b'_' | b'-' | b'.'),
            Tail::Base64 => alnum || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'='),
            Tail::Path => alnum || matches!(byte, b'_' | b'-' | b'/' | b'.' | b'@'),
            Tail::Any => {
                alnum || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'/' | b'=' | b'~' | b':')
            }
        }
    }
}

/// The last runs of bytes that were read, so that of tokens that begin in one another none reads the same bytes again.
#[derive(Debug, Default)]
pub(super) struct Runs {
    known: Vec<(Tail, Range<usize>)>,
    next: usize,
}

impl Runs {
    const MAX: usize = 16;

    /// Returns where the bytes of a kind that begin at `at` end.
    pub(super) fn end(&mut self, text: &[u8], at: usize, tail: Tail) -> usize {
        let is_it = |(kind, run): &&(Tail, Range<usize>)| *kind == tail && run.contains(&at);
        if let Some((_, run)) = self.known.iter().find(is_it) {
            return run.end;
        }
        let rest = text.get(at..).unwrap_or_default();
        let end = at + rest.iter().take_while(|byte| tail.has(**byte)).count();
        if self.known.len() < Runs::MAX {
            self.known.push((tail, at..end));
        } else if let Some(oldest) = self.known.get_mut(self.next % Runs::MAX) {
            *oldest = (tail, at..end);
            self.next += 1;
        }
        end
    }
}

/// A token: its prefix, the bytes that follow, and their minimum and maximum number.
#[derive(Debug)]
pub(super) struct Token {
    pub(super) prefix: &'static str,
    tail: Tail,
    min: usize,
    max: usize,
}

/// Bounds the scan after each prefix. No token is longer.
const ANY: usize = 16 * 1024;

macro_rules! tokens {
    ($($prefix:literal $tail:ident $min:literal $($max:literal)?;)*) => {
        &[$(Token { prefix: $prefix, tail: Tail::$tail, min: $min, max: tokens!(@ $($max)?) }),*]
    };
    (@ $max:literal) => { $max };
    (@) => { ANY };
}

// If the prefix contains a slash it is a URL, and only the text after it is secret.
pub(super) static TOKENS: &[Token] = tokens! {
    // AWS
    "AKIA" Upper 16 16; "ASIA" Upper 16 16; "ABIA" Upper 16 16; "ACCA" Upper 16 16; "ABSK" Base64 40;
    // GitHub
    "ghp_" Alnum 36; "gho_" Alnum 36; "ghu_" Alnum 36; "ghs_" Alnum 36; "ghr_" Alnum 36; "github_pat_" Name 36;
    // GitLab
    "glpat-" Dotted 20; "glrt-" Dotted 20; "glrtr-" Dotted 20; "gldt-" Dotted 20; "glcbt-" Word 20; "glptt-" Word 20;
    "glft-" Word 20; "glsoat-" Word 20; "glimt-" Word 20; "glagent-" Word 20; "gloas-" Word 20; "glffct-" Word 20;
    "glwt-" Word 20; "GR1348941" Word 20;
    // Bitbucket and Atlassian
    "ATBB" Alnum 24; "ATATT3" Base64 20; "ATCTT3" Base64 20; "ATOATT3" Base64 20; "ATSTT3" Base64 20;
    // Slack, Discord, Teams and other webhooks
    "xoxa-" Word 16; "xoxb-" Word 16; "xoxc-" Word 16; "xoxd-" Any 16; "xoxe-" Word 16; "xoxe.xox" Dotted 16;
    "xoxo-" Word 16; "xoxp-" Word 16; "xoxr-" Word 16; "xoxs-" Word 16; "xapp-" Word 16;
    "hooks.slack.com/services/" Path 20; "hooks.slack.com/workflows/" Path 20; "hooks.slack.com/triggers/" Path 20;
    "discord.com/api/webhooks/" Path 40; "discordapp.com/api/webhooks/" Path 40;
    ".webhook.office.com/webhookb2/" Path 40; "outlook.office.com/webhook/" Path 40;
    "hooks.zapier.com/hooks/catch/" Path 10; "events.pagerduty.com/integration/" Path 20; "maker.ifttt.com/trigger/" Path 20; "open.feishu.cn/open-apis/bot/v2/hook/" Path 20;
    "open.larksuite.com/open-apis/bot/v2/hook/" Path 20; "hooks.chime.aws/incomingwebhooks/" Path 20;
    // OpenAI, Anthropic and others with the same prefix
    "sk-ant-" Word 20; "sk-proj-" Word 20; "sk-svcacct-" Word 20; "sk-admin-" Word 20; "sk-or-" Word 20;
    "sk-lf-" Word 20; "pk-lf-" Word 20; "sk-kimi-" Word 20; "sk-cp-" Word 20; "sk-helicone-" Word 20; "sk-None-" Word 20; "sk-service-" Word 20; "sess-" Alnum 40; "sk-" Alnum 20;
    // Model providers
    "gsk_" Alnum 20; "gsk_" Word 40; "xai-" Word 20; "pplx-" Alnum 20; "pplx-" Word 40; "r8_" Alnum 20; "nvapi-" Word 20; "hf_" Word 30;
    "api_org_" Alnum 30; "tgp_v1_" Word 20; "fw_" Alnum 20; "csk-" Alnum 20; "esecret_" Alnum 20; "lsv2_pt_" Name 30; "key_" Hex 64 64; "key_" Hex 28 28; "apikey_" Hex 64 64; "wk-1." Hex 64 64;
    "lsv2_sk_" Name 30; "tvly-" Word 20; "jina_" Word 30; "e2b_" Hex 20; "fc-" Hex 32; "pcsk_" Name 20;
    "AIzaSy" Word 33 33; "sk_" Hex 48 48; "bfl_" Alnum 20; "vck_" Word 20;
    "bce-v3/ALTAK-" Base64 40; "sk_car_" Name 20; "rpa_" Alnum 30; "msy_" Alnum 30; "ctx7sk-" Word 30; "dtn_" Hex 40; "crsr_" Hex 40; "wandb_v1_" Name 40; "ms-" Word 36 36;
    // Google
    "AIza" Word 35 35; "GOCSPX-" Word 20; "ya29." Dotted 20; "1//0" Word 30; "AQ.Ab8" Word 20;
    // Azure and Databricks
    "AccountKey=" Base64 16; "SharedAccessKey=" Base64 16; "SharedSecretKey=" Base64 16; "dapi" Hex 32;
    // HashiCorp, Pulumi, Doppler
    "hvs." Word 20; "hvb." Word 20; "hvr." Word 20; "atlasv1." Base64 40; "pul-" Hex 40 40; "dp.pt." Alnum 20; "dp.st." Dotted 20;
    "dp.ct." Alnum 20; "dp.sa." Alnum 20; "dp.scim." Alnum 20; "dp.audit." Alnum 20; "ops_eyJ" Base64 40; "dvc_server_token_" Alnum 16; "dvc_server_" Alnum 16;
    // Payment
    "sk_live_" Alnum 16; "sk_test_" Alnum 16; "rk_live_" Alnum 16; "rk_test_" Alnum 16; "sk_prod_" Alnum 16; "rk_prod_" Alnum 16;
    "whsec_" Base64 20; "rzp_live_" Alnum 14; "rzp_test_" Alnum 14; "sq0atp-" Word 20; "sq0csp-" Word 20; "EAAAE" Word 40; "EAAAl" Word 40;
    "FLWSECK_TEST-" Word 12; "FLWSECK-" Word 12; "shippo_live_" Alnum 32; "shippo_test_" Alnum 32;
    "EAAG" Alnum 80; "EAAB" Alnum 80; "EAAC" Alnum 80; "EAAM" Alnum 80; "EZAK" Alnum 50; "EZTK" Alnum 50; "access-production-" Word 36 36; "access-development-" Word 36 36; "access-sandbox-" Word 36 36; "secret-live-" Base64 30; "secret-test-" Base64 30; "duffel_live_" Base64 40; "duffel_test_" Base64 40; "pdl_live_" Name 20; "pdl_sdbx_" Name 20;
    // Mail and messaging
    "SG." Dotted 50; "key-" Hex 32 32; "xkeysib-" Word 60; "xsmtpsib-" Word 60; "PMAK-" Word 40; "PMAT-" Upper 26 26; "secret_" Alnum 40; "ntn_" Word 30;
    "SK" Hex 32 32; "pat-na1-" Word 30; "pat-eu1-" Word 30; "pubnub-sec-" Word 20; "os_v2_app_" Alnum 40; "os_v2_org_" Alnum 40; "APA91b" Word 100; "dG9rO" Base64 40; "sec-c-" Base64 30;
    // Package registries
    "npm_" Alnum 36 36; "pypi-AgE" Word 50; "rubygems_" Hex 32; "dckr_pat_" Word 20; "dckr_oat_" Word 20; "oy2" Alnum 43 43; "cio" Alnum 32 32;
    "CLOJARS_" Alnum 60; "AKCp" Alnum 60; "cmVmdGtu" Base64 50; "rdme_" Alnum 40; "pdm_" Alnum 40; "jsr_" Alnum 30; "grub.pbkdf2.sha512." Dotted 100;
    // Clouds and hosting
    "dop_v1_" Hex 64; "doo_v1_" Hex 64; "dor_v1_" Hex 64; "nfp_" Alnum 30; "nfc_" Alnum 30; "nfo_" Alnum 30; "nfb_" Alnum 30; "nfu_" Alnum 30;
    "vcp_" Word 24; "vca_" Word 24; "vci_" Word 24; "vcr_" Word 24; "vercel_blob_rw_" Name 30; "fo1_" Word 40; "fm1r_" Base64 40; "fm1a_" Base64 40; "fm2_" Base64 40;
    "FlyV1 " Any 40; "HRKU-" Word 30; "rnd_" Alnum 24; "ddp_" Alnum 30; "ddo_" Alnum 30; "tk-us-" Word 40; "v1.0-" Word 100;
    "cfut_" Alnum 30; "cfat_" Alnum 30; "cfk_" Alnum 30; "LTAI" Alnum 12 26; "CAIS" Base64 100; "AKID" Alnum 32 32; "AQVN" Word 35; "y0_" Word 50; "SCW" Upper 17 17; "tskey-" Word 20; "sha256~" Word 40 43;
    "ory_st_" Alnum 20; "ory_at_" Base64 20; "ory_rt_" Base64 20; "ovh_" Alnum 40; "psc_" Alnum 30; "prk_" Alnum 30; "nbp_" Alnum 36 36; "bedrock-api-key-" Base64 60;
    // Databases
    "pscale_tkn_" Any 20; "pscale_pw_" Any 20; "pscale_oauth_" Any 20; "pscale_otkn_" Dotted 20; "sbp_" Word 40; "sb_secret_" Word 20; "napi_" Alnum 40; "npg_" Alnum 12;
    "xau_" Alnum 30; "AVNS_" Word 16; "cfp_" Alnum 30; "prisma+postgres://accelerate.prisma-data.net/?api_key=" Any 30; "mdb_sa_sk_" Word 40;
    // Monitoring
    "glsa_" Word 32; "glc_" Base64 32; "eyJrIjoi" Base64 40; "NRAK-" Alnum 20; "NRJS-" Hex 19; "NRII-" Word 20; "NRRA-" Hex 40; "NRAA-" Hex 20; "NRIQ-" Word 20; "NRAL" Hex 36;
    "sntrys_" Any 40; "sntryu_" Hex 40; "sntrya_" Hex 40; "phx_" Word 32; "phc_" Word 32; "hcaik_" Alnum 50; "hcamk_" Alnum 50; "dt0c01." Dotted 60; "dt0s01." Dotted 60; "dt0s16." Dotted 60; "ddapi_" Alnum 30; "ddpat_" Alnum 30; "phs_" Word 32; "hcxik_" Alnum 50; "ddapp_" Alnum 34;
    "bkua_" Alnum 30; "bkaa_" Word 30; "bkaj_" Word 30; "bkar_" Word 30; "bkct_" Word 30; "bkpt_" Word 30; "bkpat_" Word 30; "bkps_" Word 30; "CCIPAT_" Name 30; "CCIPRJ_" Name 30; "sqp_" Hex 40; "squ_" Hex 40; "sqa_" Hex 40; "sgp_" Name 40; "logfire_" Alnum 30; "pylf_v1_" Name 30; "bb_live_" Word 24;
    "pd_u" Word 20; "u+" Word 18 18; "hawk." Dotted 40; "ico-" Alnum 32; "snyk_uat." Dotted 30; "xaat-" Word 36 36; "xapt-" Word 36 36; "sktsec_" Name 30; "tfp_" Any 40;
    // Adobe, Adyen, ClickHouse, 42 and Octopus
    "p8e-" Alnum 32 32; "AQE" Base64 80 300; "4b1d" Alnum 38 38; "s-s4t2ud-" Hex 64 64; "s-s4t2af-" Hex 64 64; "API-" Upper 26 26;
    // Project management and design
    "lin_api_" Alnum 30; "lin_oauth_" Hex 60; "figd_" Word 30; "figo_" Word 30; "figu_" Word 30; "figor_" Word 30; "CFPAT-" Word 40; "dnkey-" Any 40; "fio-u-" Base64 60; "pnu_" Alnum 36; "pnb_" Alnum 36; "ATTA" Alnum 64 76; "polar_oat_" Word 20; "polar_at_" Word 20; "polar_pat_" Word 20; "polar_whs_" Word 20; "rootly_" Hex 64 64; "live_" Hex 35 35; "test_" Hex 35 35; "live_" Word 40 40; "sandbox_" Word 40 40;
    "shpat_" Alnum 32; "shpss_" Alnum 32; "shpca_" Alnum 32; "shppa_" Alnum 32; "shptka_" Alnum 32; "shpua_" Alnum 32; "shprt_" Alnum 32; "sl.B" Word 60; "sl.u." Word 60; "sl." Word 100;
    "aio_" Alnum 28; "sk.eyJ" Dotted 60; "tk.eyJ" Dotted 60; "zpka_" Name 40; "pk_live_" Alnum 60; "cal_live_" Hex 20; "apify_api_" Alnum 30; "sm_aat_" Word 16; "sm_pat_" Word 16; "sm_sat_" Word 16; "expo_" Word 40; "inngest_" Alnum 30; "signkey-prod-" Hex 30; "signkey-test-" Hex 30; "tr_dev_" Alnum 16; "tr_prod_" Alnum 16; "cvx_" Alnum 40; "sk_org_" Alnum 20; "ak_" Alnum 40;
    // Tokens of PASETO, and keys of feature flags
    "v2.local." Dotted 60; "v4.local." Dotted 60; "v2.public." Dotted 100; "v4.public." Dotted 100; "sdk-" Word 36 36; "unkey_" Alnum 20;
    // Further services
    "AIK_CI_" Alnum 20; "AIK_CLIENT_" Alnum 24; "AIK_SECRET_" Alnum 40; "$aact_" Base64 20; "BBDC-" Base64 30; "cnvca" Word 51 51; "csa_" Alnum 36 36; "CCDB1_" Name 60;
    "configcat-sdk-1/" Path 40; "AstraCS:" Any 20; "apk_" Base64 80; "SWMTKN-1-" Word 60; "SWMKEY-1-" Base64 40; "essu_" Base64 40; "endr+" Word 16; "ion_" Alnum 42 42;
    "lbx_" Word 43 43; "rma_" Word 43 43; "llx-" Word 44; "mlsn." Alnum 30; "mercury_production_" Name 40; "secret-token:" Any 16; "mergify_application_key_" Word 40; "eyJtaXJv" Word 40;
    "nyk_" Word 60; "persona_production_" Word 20; "persona_sandbox_" Word 20; "gcntfy-" Word 70; "ramp_sec_" Alnum 40; "samsara_api_" Alnum 26; "ucat_" Alnum 24; "vtwn_" Word 20;
    "waka_" Word 36; "xnd_production_" Alnum 50; "xnd_development_" Alnum 50; "packagist_ort_" Hex 60; "packagist_out_" Hex 60; "packagist_acs_" Hex 60; "packagist_ack_" Hex 28;
    "amzn.mws." Word 36 36; "IGQV" Base64 80; "IGQW" Base64 80; "RGAPI-" Word 36 36; "cosmo_" Hex 32 32; "ck_" Hex 40 40; "cs_" Hex 40 40; "sk_sbox_" Alnum 20; "TlRMTVNTUAAD" Base64 40;
    "sk_live_a2V5Xz" Base64 60; "sk_test_a2V5Xz" Base64 60;
    // Private keys in base64 without their first line, by the bytes that say what they are
    "MIIEvQIBADAN" Base64 60; "MIIEvgIBADAN" Base64 60; "MIIEvAIBADAN" Base64 60; "MIIEwAIBADAN" Base64 60; "MIIEuwIBADAN" Base64 60; "MIIJQgIBADAN" Base64 60; "MIIJQwIBADAN" Base64 60; "MIIJRAIBADAN" Base64 60;
    "MIIJQQIBADAN" Base64 60; "MIICdQIBADAN" Base64 60; "MIICdgIBADAN" Base64 60; "MIICdwIBADAN" Base64 60; "MIICeAIBADAN" Base64 60; "MIIEpAIBAAKC" Base64 60; "MIIEpQIBAAKC" Base64 60; "MIIEowIBAAKC" Base64 60;
    "MIIEogIBAAKC" Base64 60; "MIIJKAIBAAKC" Base64 60; "MIIJKQIBAAKC" Base64 60; "MIIJKgIBAAKC" Base64 60; "MIIJJwIBAAKC" Base64 60; "MIICXAIBAAKB" Base64 60; "MIICXQIBAAKB" Base64 60; "MIICXgIBAAKB" Base64 60;
    "MIICWwIBAAKB" Base64 60; "MHcCAQEEI" Base64 60; "MIGkAgEBBD" Base64 60; "MIGHAgEAMBM" Base64 60; "MIG2AgEAMBA" Base64 60; "MC4CAQAwBQYDK2Vw" Base64 40; "b3BlbnNzaC1rZXktdjE" Base64 60;
    // Personal encryption and wallets
    "AGE-SECRET-KEY-1" Upper 50; "AGE-PLUGIN-" Word 30; "xprv" Alnum 100; "zprv" Alnum 100;
    // Logins at registries of containers
    "eyJhdXRocyI6" Base64 20; "eyJhdXRoIjo" Base64 20;
    // Private keys in base64, as variables and Kubernetes secrets hold them
    "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS" Base64 20; "LS0tLS1CRUdJTiBSU0EgUFJJVkFURS" Base64 20; "LS0tLS1CRUdJTiBFQyBQUklWQVRF" Base64 20;
    "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVE" Base64 20; "LS0tLS1CRUdJTiBEU0EgUFJJVkFURS" Base64 20; "LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURS" Base64 20; "LS0tLS1CRUdJTiBQR1AgUFJJVkFURS" Base64 20;
};

/// Maximum number of marks after a token, such as dots.
const MAX_MARKS: usize = 64;

/// Maximum number of escapes in a token.
const MAX_ESCAPES: usize = 16;

/// Returns the length of the escape of `+`, `/` or `=` at `at`, as URLs and JSON write it.
fn escape(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let starts: [&[u8]; 2] = [b"%", b"\\u00"];
    let start = starts.iter().find(|start| rest.starts_with(start))?.len();
    let code = rest.get(start..start + 2)?.to_ascii_lowercase();
    matches!(&code[..], b"2b" | b"2f" | b"3d").then_some(start + 2)
}

impl Token {
    /// Returns true for the id of an AWS key, next to which its secret may be.
    pub(super) fn is_aws_id(&self) -> bool {
        matches!(self.prefix, "AKIA" | "ASIA" | "ABIA" | "ACCA")
    }

    /// Returns the name of its service, if only that name before it tells it from other texts.
    pub(super) fn service(&self) -> Option<&'static [u8]> {
        match self.prefix {
            "u+" => Some(b"pagerduty"),
            "key_" if self.min == 64 => Some(b"cursor"),
            "key_" => Some(b"retell"),
            "live_" | "test_" if self.tail == Tail::Hex => Some(b"lob"),
            "live_" | "sandbox_" => Some(b"gocardless"),
            _ => None,
        }
    }

    fn is_address(&self) -> bool {
        self.prefix.contains('/') && self.prefix.contains('.')
    }

    /// Returns the range of the token whose prefix is at `at`, without checking the text before it.
    pub(super) fn at(&self, text: &[u8], at: usize, runs: &mut Runs) -> Option<(usize, usize)> {
        let from = at + self.prefix.len();
        // Prefixes are found in any case but must match exactly; URLs are matched in any case.
        let is_address = self.is_address();
        if !is_address && text.get(at..from)? != self.prefix.as_bytes() {
            return None;
        }
        let rest = text.get(from..)?;
        // Marks after a token are not part of it. A longer run is not a token.
        let mut end = runs.end(text, from, self.tail);
        for _ in 0..MAX_ESCAPES {
            let Some(length) = escape(text, end).filter(|_| self.tail.has(b'=')) else { break };
            end = runs.end(text, end + length, self.tail);
        }
        let length = (end - from).min(self.max + MAX_MARKS);
        let mut tail = rest.get(..length)?;
        while let [shorter @ .., b'.' | b':' | b'-' | b'/'] = tail {
            tail = shorter;
        }
        let goes_on = tail.len() == length
            && rest.get(length).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let is_machine_made = is_random(tail) || self.is_aws_id() && is_base32(tail);
        if goes_on || !(self.min..=self.max).contains(&tail.len()) || !is_machine_made {
            return None;
        }
        Some((if is_address || self.prefix.ends_with('=') { from } else { at }, from + tail.len()))
    }
}

/// Returns true if a text looks machine-made: words have no digits, and one case but for their first letter. Only its
/// first 256 bytes are read.
fn is_random(tail: &[u8]) -> bool {
    let tail = tail.get(..tail.len().min(256)).unwrap_or_default();
    let has = |is: fn(&u8) -> bool| tail.iter().any(is);
    let different = tail.iter().fold([false; 256], |mut seen, byte| {
        seen[usize::from(*byte)] = true;
        seen
    });
    let different = different.iter().filter(|seen| **seen).count();
    different >= 5.min(tail.len() / 2)
        && (has(u8::is_ascii_digit) || (has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)))
}

/// Returns true for an id of AWS that has no digit: many letters, and more consonants in a row than words have.
fn is_base32(tail: &[u8]) -> bool {
    let different = (b'A'..=b'Z').filter(|letter| tail.contains(letter)).count();
    let is_consonant = |byte: &u8| byte.is_ascii_uppercase() && !b"AEIOU".contains(byte);
    different >= 8 && tail.windows(3).any(|three| three.iter().all(is_consonant))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a random-looking tail of `length` bytes.
    fn tail(token: &Token, length: usize) -> String {
        let letters: Vec<char> = (b'!'..=b'~')
            .filter(|byte| token.tail.has(*byte) && byte.is_ascii_alphanumeric())
            .map(char::from)
            .collect();
        (0..length).map(|at| letters[(at * 7 + at / 5 + 3) % letters.len()]).collect()
    }

    #[test]
    fn every_row_finds_its_token_and_nothing_that_looks_like_it() {
        for token in TOKENS {
            let prefix = token.prefix;
            let shortest = tail(token, token.min);
            let found = |text: &str| {
                token
                    .at(text.as_bytes(), 0, &mut Runs::default())
                    .map(|(from, to)| text[from..to].to_owned())
            };
            let whole = format!("{prefix}{shortest}");
            let secret = if token.is_address() || prefix.ends_with('=') {
                shortest.clone()
            } else {
                whole.clone()
            };
            for after in ["", "\n", "\"", " x", "&a=b", ",", ")", "<"] {
                assert_eq!(
                    found(&format!("{whole}{after}")).as_ref(),
                    Some(&secret),
                    "{whole}{after}"
                );
            }
            assert_eq!(found(&whole[..whole.len() - 1]), None, "{prefix}: one byte less");
            assert_eq!(
                found(&format!("{prefix}{}", "x".repeat(token.min))),
                None,
                "{prefix}: one letter"
            );
            if token.max != ANY {
                let longer = format!("{prefix}{}", tail(token, token.max + 1));
                assert_eq!(found(&longer), None, "{prefix}: one byte more");
            }
            if !token.is_address() && prefix.to_uppercase() != prefix {
                assert_eq!(found(&whole.to_uppercase()), None, "{prefix}: in another case");
            }
        }
    }
}
