//! Which packets of a capture are read, where not all are.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use super::ip::{Address, End};

/// Packets with an end such as the first; or, where there is a second, those of the flows between both.
///
/// It is written as flows are called: `10.0.0.1`, `:443`, `10.0.0.1:5000`, `10.0.0.1:5000-10.0.0.2:80`, `[::1]:80`; those
/// within a tunnel with its name, `10.0.0.1:5000-10.0.0.2:80 in vxlan 7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Only {
    one: Half,
    other: Option<Half>,
    tunnel: Option<String>,
}

/// What the names of tunnels begin with that are another one in each direction.
const DIRECTED: &str = "gtp-u ";

/// An end, as far as it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Half {
    address: Option<Address>,
    port: Option<u16>,
}

impl Only {
    /// Whether a packet between two ends is read. Behind the first fragment of a datagram no port is known: there, any
    /// may be meant.
    #[must_use]
    pub fn takes(&self, from: End, to: End, later_fragment: bool) -> bool {
        let is = |half: Half, end: End| half.is(end, later_fragment);
        match self.other {
            None => is(self.one, from) || is(self.one, to),
            Some(other) => is(self.one, from) && is(other, to) || is(other, from) && is(self.one, to),
        }
    }

    /// Whether a packet of the tunnel with this name, which is empty for none, is read.
    #[must_use]
    pub fn takes_tunnel(&self, name: impl FnOnce() -> String) -> bool {
        self.tunnel.as_ref().is_none_or(|wanted| {
            let name = name();
            *wanted == name || wanted.starts_with(DIRECTED) && name.starts_with(DIRECTED)
        })
    }
}

impl Half {
    fn is(self, (address, port): End, later_fragment: bool) -> bool {
        self.address.is_none_or(|wanted| wanted == address)
            && self.port.is_none_or(|wanted| later_fragment || port == Some(wanted))
    }
}

impl FromStr for Only {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (ends, tunnel) = text.split_once(" in ").map_or((text, None), |(ends, name)| (ends, Some(name.to_owned())));
        let (one, other) = ends.split_once('-').map_or((ends, None), |(one, other)| (one, Some(other)));
        Ok(Self { one: one.parse()?, other: other.map(str::parse).transpose()?, tunnel })
    }
}

impl FromStr for Half {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let port = |text: &str| text.parse::<u16>().map(Some).map_err(|_| ());
        if let Ok(six) = text.parse::<Ipv6Addr>() {
            return Ok(Self { address: Some(six.into()), port: None });
        }
        if let Some((six, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
            let address = Some(six.parse::<Ipv6Addr>().map_err(|_| ())?.into());
            return match rest.strip_prefix(':') {
                Some(number) => Ok(Self { address, port: port(number)? }),
                None if rest.is_empty() => Ok(Self { address, port: None }),
                None => Err(()),
            };
        }
        let (address, number) = text.split_once(':').map_or((text, None), |(address, number)| (address, Some(number)));
        let port = number.map_or(Ok(None), port)?;
        match address {
            "" if port.is_some() => Ok(Self { address: None, port }),
            _ => Ok(Self { address: Some(address.parse::<Ipv4Addr>().map_err(|_| ())?.into()), port }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(text: &str) -> End {
        let half: Half = text.parse().unwrap();
        (half.address.unwrap(), half.port)
    }

    #[test]
    fn what_is_written_is_what_is_taken() {
        let (from, to) = (end("10.0.0.1:5000"), end("10.0.0.2:80"));
        for taken in ["10.0.0.1", "10.0.0.2", ":80", ":5000", "10.0.0.2:80", "10.0.0.1:5000-10.0.0.2:80"] {
            let only: Only = taken.parse().unwrap();
            assert!(only.takes(from, to, false) && only.takes(to, from, false), "{taken}");
        }
        for other in ["10.0.0.3", ":81", "10.0.0.2:5000", "10.0.0.1:80-10.0.0.2:5000", "10.0.0.1-10.0.0.1", "::1"] {
            let only: Only = other.parse().unwrap();
            assert!(!only.takes(from, to, false) && !only.takes(to, from, false), "{other}");
        }
        let six = end("[2001:db8::1]:443");
        assert!("2001:db8::1".parse::<Only>().unwrap().takes(six, to, false));
        assert!("[2001:db8::1]:443-10.0.0.2:80".parse::<Only>().unwrap().takes(to, six, false));
    }

    #[test]
    fn a_tunnel_is_told_by_its_name() {
        let only: Only = "10.0.0.1:5000-10.0.0.2:80 in gre 10.1.0.1-10.1.0.2 key 7".parse().unwrap();
        assert!(only.takes(end("10.0.0.2:80"), end("10.0.0.1:5000"), false));
        let takes = |only: &Only, name: &str| only.takes_tunnel(|| name.to_owned());
        assert!(takes(&only, "gre 10.1.0.1-10.1.0.2 key 7"));
        assert!(!takes(&only, "gre 10.1.0.1-10.1.0.2 key 8") && !takes(&only, ""));
        // What comes back has another identifier.
        let directed: Only = ":80 in gtp-u 0x1 to 10.1.0.1".parse().unwrap();
        assert!(takes(&directed, "gtp-u 0x2 to 10.1.0.2") && !takes(&directed, "vxlan 1"));
    }

    #[test]
    fn a_later_fragment_has_no_port() {
        let (from, to) = ((end("10.0.0.1").0, None), (end("10.0.0.2").0, None));
        let only: Only = "10.0.0.1:5000".parse().unwrap();
        assert!(only.takes(from, to, true));
        assert!(!only.takes(from, to, false));
    }

    #[test]
    fn what_is_no_end_is_refused() {
        for text in
            ["", ":", "-", "10.0.0", "10.0.0.1:", "10.0.0.1:x", "10.0.0.1:70000", "[::1", "[::1]80", "a-b", "10.0.0.1-"]
        {
            assert_eq!(text.parse::<Only>(), Err(()), "{text}");
        }
    }
}
