//! Recognizes private and local addresses, and formats URLs as targets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::Deserialize;

/// A URL parsed by the WHATWG URL standard: numeric hosts in their usual form, dots in paths resolved.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Address {
    /// With the colon: `https:`.
    pub protocol: String,
    /// With the port, if it is not the default.
    pub host: String,
    /// Without the port.
    pub hostname: String,
    /// The path and the query.
    pub path: String,
    /// True if there is a user name or a password.
    #[serde(default)]
    pub has_user: bool,
}

impl Address {
    /// Returns the target, without a user name and without the fragment.
    pub fn target(&self) -> String {
        format!("url:{}//{}{}", self.protocol, self.host, self.path)
    }

    /// Returns the reason to ask about this URL, if there is one.
    pub fn concern(&self) -> Option<&'static str> {
        if self.protocol != "https:" && self.protocol != "http:" {
            return Some("the address is not of http or https");
        }
        if self.has_user {
            return Some("the address has a user name in it");
        }
        is_private(&self.hostname).then_some("the host is private or local")
    }
}

/// Suffixes of names that are resolved in a local network, in a cluster or on the machine itself, and of public names that
/// resolve to the machine itself or to an address that is a part of the name.
const LOCAL: &str = "\
    localhost local internal intranet lan home.arpa localdomain home corp private consul test invalid in-addr.arpa ip6.arpa \
    ts.net fritz.box metadata.tencentyun.com metadata.packet.net metadata.platformequinix.com localtest.me lvh.me vcap.me \
    lacolhost.com fuf.me localhost.direct localho.st lcl.host traefik.me local.gd local-ip.co local-ip.sh nip.io sslip.io \
    xip.io xip.name ip6.name ipq.co backname.io rbndr.us 1u.ms";

/// Public addresses at which clouds serve the metadata of a machine.
const METADATA_V4: &[[u8; 4]] =
    &[[168, 63, 129, 16], [100, 100, 100, 200], [169, 254, 169, 254], [192, 0, 0, 192]];

/// Names of hosts at which clouds serve the metadata of a machine, and addresses of them for IPv6.
const METADATA_HOSTS: &[&str] = &[
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "metadata.tencentyun.com",
    "metadata.packet.net",
    "metadata.platformequinix.com",
    "instance-data",
    "instance-data.ec2.internal",
    "[fd00:ec2::254]",
    "[fd20:ce::254]",
];

/// Ports at which the engine of containers takes commands.
const ENGINE_PORTS: [&str; 2] = ["2375", "2376"];

/// Returns true if an address, which may lack its scheme, is one of a service on this machine or in its cloud that gives tokens to
/// anyone or does anything.
pub fn gives_tokens(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, port),
        _ => (host.as_str(), ""),
    };
    let name = name.trim_end_matches('.');
    let number = match name.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => name.parse().ok(),
    };
    let mapped = name.strip_prefix("[::ffff:").and_then(|name| name.strip_suffix(']'));
    let v4 = number.map(Ipv4Addr::from).or_else(|| mapped.unwrap_or(name).parse().ok());
    let is_metadata =
        v4.is_some_and(|v4| METADATA_V4.contains(&v4.octets())) || METADATA_HOSTS.contains(&name);
    is_metadata || ENGINE_PORTS.contains(&port) && is_private(name)
}

/// Returns true if a host is not on the public internet.
fn is_private(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&host);
    let bare = bare.split('%').next().unwrap_or(bare);
    if let Ok(address) = bare.parse::<IpAddr>() {
        return match address {
            IpAddr::V4(address) => is_private_v4(address),
            IpAddr::V6(address) => is_private_v6(address),
        };
    }
    // A name without a dot is resolved in the local network.
    !host.contains('.')
        || is_number(&host)
        || has_service(&host)
        || LOCAL.split(' ').any(|name| {
            host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
}

/// Returns true if all parts of a name are numbers, including notations that only some programs accept: octal,
/// hexadecimal, and fewer parts.
fn is_number(host: &str) -> bool {
    let digits = |part: &str| match part.strip_prefix("0x") {
        Some(hex) => hex.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()),
    };
    host.split('.').all(digits)
}

/// Returns true for the name of a service in a cluster: `api.default.svc`, `api.default.svc.cluster.local`,
/// `kubernetes.default`.
fn has_service(host: &str) -> bool {
    let mut parts = host.split('.').skip(1);
    parts.any(|part| part == "svc" || part == "pod")
        || host == "kubernetes.default"
        || host.starts_with("kubernetes.default.")
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || a == 0
        || a >= 224
        // Carrier-grade NAT, and benchmarks.
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (b == 18 || b == 19))
        || (a == 192 && b == 0 && c == 0)
        // 6to4 relays, which lead anywhere.
        || (a == 192 && b == 88 && c == 99)
        || METADATA_V4.contains(&address.octets())
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    if let Some(inner) = address.to_ipv4() {
        return is_private_v4(inner) || parts[5] == 0;
    }
    let v4 = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_private_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts[0] {
        // NAT64 with a prefix of its own leads to an unknown address; with the well-known one, to the address at the
        // end.
        0x64 => parts[1] != 0xff9b || parts[2..6] != [0; 4] || v4(parts[6], parts[7]),
        // 6to4.
        0x2002 => v4(parts[1], parts[2]),
        // Teredo and similar tunnels, with an inverted IPv4 address at the end.
        0x2001 if parts[1] < 0x200 => true,
        0x2001 if parts[1] == 0xdb8 => true,
        0x3fff if parts[1] < 0x1000 => true,
        // ISATAP: the last parts identify an interface within a network.
        _ if parts[4] & 0xfdff == 0 && parts[5] == 0x5efe => true,
        first => {
            first & 0xfe00 == 0xfc00
                || first & 0xff80 == 0xfe80
                || first & 0xff00 == 0xff00
                || first & 0xe000 != 0x2000
        }
    }
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
            "a.b.svc",
            "0x7f.1",
            "[fe80::1%25eth0]",
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
