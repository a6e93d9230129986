//! Which addresses are private or local, and how an address is written as a target.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::Deserialize;

/// An address as the WHATWG URL standard reads it: numbers of hosts in their usual form, dots in paths resolved.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Address {
    /// With the colon: `https:`.
    pub protocol: String,
    /// With the port, if it is not the usual one.
    pub host: String,
    /// Without the port.
    pub hostname: String,
    /// The path and the query.
    pub path: String,
    /// Whether there is a user name or a password.
    #[serde(default)]
    pub has_user: bool,
}

impl Address {
    /// The target, without a user name and without what follows `#`.
    pub fn target(&self) -> String {
        format!("url:{}//{}{}", self.protocol, self.host, self.path)
    }

    /// Why this address needs a question, if it does.
    pub fn doubt(&self) -> Option<&'static str> {
        if self.protocol != "https:" && self.protocol != "http:" {
            return Some("the address is not of http or https");
        }
        if self.has_user {
            return Some("the address has a user name in it");
        }
        is_private(&self.hostname).then_some("the host is private or local")
    }
}

/// Whether a host is not one of the public internet.
fn is_private(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&host);
    if let Ok(address) = bare.parse::<IpAddr>() {
        return match address {
            IpAddr::V4(address) => is_private_v4(address),
            IpAddr::V6(address) => is_private_v6(address),
        };
    }
    const NAMES: [&str; 7] =
        ["localhost", "local", "internal", "intranet", "lan", "home.arpa", "localdomain"];
    // A name without a dot is looked up in the local network.
    !host.contains('.')
        || NAMES.iter().any(|name| {
            host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [a, b, ..] = address.octets();
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || a == 0
        || a >= 224
        // Shared by carriers, and kept for tests of routers.
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (b == 18 || b == 19))
        || (a == 192 && b == 0 && address.octets()[2] == 0)
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    if let Some(inner) = address.to_ipv4() {
        return is_private_v4(inner) || parts[5] == 0;
    }
    // Addresses of version 4 inside: NAT64 and 6to4.
    let inner = match parts[0] {
        0x64 => Some([parts[6], parts[7]]),
        0x2002 => Some([parts[1], parts[2]]),
        _ => None,
    };
    if let Some([high, low]) = inner {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        return is_private_v4(Ipv4Addr::new(a, b, c, d));
    }
    parts[0] & 0xfe00 == 0xfc00
        || parts[0] & 0xffc0 == 0xfe80
        || parts[0] & 0xff00 == 0xff00
        || parts[0] & 0xe000 != 0x2000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_and_local_hosts() {
        for host in [
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "router",
            "nas.local",
            "x.internal",
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "[::1]",
            "[::]",
            "[fe80::1]",
            "[fd00::1]",
            "[::ffff:127.0.0.1]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "224.0.0.1",
        ] {
            assert!(is_private(host), "{host}");
        }
        for host in [
            "example.com",
            "8.8.8.8",
            "1.1.1.1",
            "[2606:4700::1111]",
            "local.example.com",
            "100.128.0.1",
        ] {
            assert!(!is_private(host), "{host}");
        }
    }
}
