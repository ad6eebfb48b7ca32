use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};

use qrcode::render::unicode::Dense1x2;
use qrcode::{EcLevel, QrCode};

/// The names that container and virtual machine software gives its own networks, which are unreachable from other
/// machines.
const INNER: [&str; 6] = ["docker", "br-", "veth", "virbr", "vboxnet", "vmnet"];

/// The addresses at which browsers in the same network find a server that listens here, the likeliest first. None
/// when this machine is in no network, or when the server listens on the loopback address only.
pub fn addresses(listening: SocketAddr, public_url: Option<&str>) -> Vec<String> {
    if let Some(url) = public_url {
        return vec![url.to_owned()];
    }
    if !listening.ip().is_unspecified() {
        let elsewhere = (!listening.ip().is_loopback()).then(|| format!("http://{listening}"));
        return elsewhere.into_iter().collect();
    }
    let interfaces = if_addrs::get_if_addrs().unwrap_or_else(|error| {
        tracing::warn!(%error, "this machine's addresses cannot be listed");
        Vec::new()
    });
    let mut outer: Vec<IpAddr> = interfaces
        .into_iter()
        .filter(|interface| !INNER.iter().any(|inner| interface.name.starts_with(inner)))
        .map(|interface| interface.ip())
        .filter(|ip| reaches_others(*ip))
        .collect();
    outer.sort_by_key(|ip| (!is_private(*ip), *ip));
    outer.dedup();
    outer
        .into_iter()
        .map(|ip| format!("http://{}", SocketAddr::new(ip, listening.port())))
        .collect()
}

/// The text for the teacher in the terminal: the address to write on the board, and the same for phones.
pub fn invitation(addresses: &[String]) -> String {
    let Some(first) = addresses.first() else {
        return "The class cannot reach this machine: it is in no network, or --addr names an address that only this \
                machine reaches. Open a hotspot or join the room's network, and start again.\n"
            .to_owned();
    };
    let page = format!("{first}/lab/class");
    let mut text = format!("\nThe class joins at {page}\n");
    for other in &addresses[1..] {
        // Writing into a string cannot fail.
        writeln!(text, "              or at {other}/lab/class").ok();
    }
    if let Ok(code) = QrCode::with_error_correction_level(&page, EcLevel::L) {
        // Terminals are more often dark than light, and the printed characters are the light part.
        let picture = code
            .render::<Dense1x2>()
            .dark_color(Dense1x2::Light)
            .light_color(Dense1x2::Dark)
            .build();
        text.push('\n');
        text.push_str(&picture);
        text.push('\n');
    }
    text
}

fn reaches_others(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => !ip.is_loopback() && !ip.is_link_local(),
        // Nobody needs to type these.
        IpAddr::V6(_) => false,
    }
}

fn is_private(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V4(ip) if ip.is_private())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_gets_a_reachable_address() {
        let at = |listening: &str, url| addresses(listening.parse().unwrap(), url);
        assert_eq!(
            at("0.0.0.0:3000", Some("https://feed.example.org")),
            ["https://feed.example.org"]
        );
        assert_eq!(at("192.168.1.5:3000", None), ["http://192.168.1.5:3000"]);
        assert!(at("127.0.0.1:3000", None).is_empty());
        assert!(
            at("0.0.0.0:3000", None)
                .iter()
                .all(|address| address.ends_with(":3000"))
        );
    }

    #[test]
    fn the_invitation_is_an_address_and_its_picture() {
        let text = invitation(&[
            "http://10.0.0.5:3000".to_owned(),
            "http://172.16.0.1:3000".to_owned(),
        ]);
        assert!(
            text.contains("The class joins at http://10.0.0.5:3000/lab/class\n"),
            "{text}"
        );
        assert!(
            text.contains("or at http://172.16.0.1:3000/lab/class\n"),
            "{text}"
        );
        assert!(text.contains('█'), "{text}");
        assert!(invitation(&[]).contains("cannot reach this machine"));
    }
}
