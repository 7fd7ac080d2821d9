//! The ways of packets: which stops each passes, and by which port it leaves.

use std::collections::HashMap;

use crate::header::Header;
use crate::spec::RelaySpec;

/// Where a packet is served on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A link, by its number.
    Link(usize),
    /// The processor.
    Processor,
}

/// A way.
#[derive(Clone, Debug)]
pub struct Route {
    /// The port by which it ends.
    pub to: usize,
    /// Propagation before the first stop, in seconds.
    pub before_s: f64,
    /// Where packets are served.
    pub stops: Vec<Stop>,
    /// Propagation from each stop to the next, in seconds.
    pub gaps_s: Vec<f64>,
    /// Propagation after the last, in seconds.
    pub beyond_s: f64,
}

impl Route {
    /// The link that a packet crosses at a stop, or after it.
    #[must_use]
    pub fn link_from(&self, stop: usize) -> Option<usize> {
        self.stops[stop..].iter().find_map(|stop| if let Stop::Link(link) = stop { Some(*link) } else { None })
    }

    /// The link that a packet crosses last.
    #[must_use]
    pub fn last_link(&self) -> Option<usize> {
        self.stops.iter().rev().find_map(|stop| if let Stop::Link(link) = stop { Some(*link) } else { None })
    }
}

/// All ways.
#[derive(Clone, Debug)]
pub struct Routes {
    routes: Vec<Route>,
    /// Of packets between hosts that have their own.
    between: HashMap<[u8; 32], usize>,
    /// The others from each port, by the port to which they lead.
    usual: Vec<Vec<(usize, usize)>>,
    /// The port of each host.
    ports: HashMap<[u8; 16], usize>,
}

impl Routes {
    /// Those of a relay.
    #[must_use]
    pub fn new(spec: &RelaySpec) -> Self {
        let mut found = Self {
            routes: Vec::with_capacity(spec.routes.len()),
            between: HashMap::new(),
            usual: vec![Vec::new(); spec.ports.len()],
            ports: HashMap::new(),
        };
        for (port, each) in spec.ports.iter().enumerate() {
            found.ports.extend(each.addresses.iter().map(|&address| (Header::address(address), port)));
        }
        for (number, route) in spec.routes.iter().enumerate() {
            let mut stops: Vec<Stop> = route.links.iter().map(|&link| Stop::Link(link)).collect();
            let mut gaps_s = route.gaps_s.clone();
            if let Some(router) = spec.modelled() {
                // It stands at an end of the link.
                stops.insert(if route.from == router.port { 0 } else { stops.len() }, Stop::Processor);
                gaps_s.push(0.0);
            }
            match route.between {
                Some(hosts) => {
                    found.between.insert(Header::between(hosts.source, hosts.destination), number);
                }
                None => found.usual[route.from].push((route.to, number)),
            }
            found.routes.push(Route {
                to: route.to,
                before_s: route.before_s,
                stops,
                gaps_s,
                beyond_s: route.beyond_s,
            });
        }
        found
    }

    /// The number of the way of a packet that came by a port; nothing if it is for nobody.
    #[must_use]
    pub fn find(&self, port: usize, header: &Header) -> Option<usize> {
        let addresses = header.addresses();
        if let Some(&route) = self.between.get(&addresses) {
            return Some(route);
        }
        if let &[(_, route)] = &self.usual[port][..] {
            // There is no other.
            return Some(route);
        }
        let to = self.ports.get(&addresses[16..])?;
        self.usual[port].iter().find(|(port, _)| port == to).map(|&(_, route)| route)
    }

    /// The way with this number.
    #[must_use]
    pub fn get(&self, number: usize) -> &Route {
        &self.routes[number]
    }
}
