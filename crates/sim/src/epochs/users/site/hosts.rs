//! The hosts of a site as the network sees them: their interfaces, and what is to be done at them in an epoch.

use super::Shared;
use crate::epochs::users::group::Group;
use crate::epochs::users::outlet::{Agenda, Calendar, EventSchedule, Outlet};
use crate::epochs::users::port::Port;
use crate::events::Key;
use crate::packet::Address;
use crate::prefetch::prefetch;

/// The hosts of a site: its sources, then its receivers.
#[derive(Debug)]
pub(super) struct Hosts {
    /// The place of the site in its group.
    site: u16,
    /// Its place in its region.
    place: u32,
    /// Of each host: its interfaces, out and in.
    ports: Vec<[Port; 2]>,
    kinds: Vec<u8>,
    /// What is to be done in the present epoch.
    pub agenda: Agenda,
    /// Packets that reached their host, or the router, before the end.
    pub crossed: u64,
}

impl Hosts {
    /// Hosts with interfaces of these kinds, before anything happens.
    pub fn new((site, place): (u16, u32), kinds: Vec<u8>) -> Self {
        let ports = vec![[Port::default(); 2]; kinds.len()];
        Self { site, place, ports, kinds, agenda: Agenda::new(), crossed: 0 }
    }

    /// The kind of a host's interface.
    pub fn kind(&self, host: usize) -> u8 {
        self.kinds[host]
    }

    /// Where the events of all are.
    pub fn turns<'a>(&'a mut self, calendar: &'a mut Calendar) -> EventSchedule<'a> {
        EventSchedule { agenda: &mut self.agenda, calendar, site: self.place }
    }

    /// Asks for the memory of a host that a packet will need which comes soon.
    #[inline]
    pub fn foresee(&self, host: usize) {
        prefetch(&self.ports[host]);
    }

    /// The router passes on a packet of `size` bytes to a host: the key of its arrival there.
    #[inline]
    pub fn cross(&mut self, group: &Group, now: Key, size: u32, host: usize) -> Key {
        let wire = &group.ports[self.kinds[host] as usize];
        let entity = group.port_entity(group.hosts[self.site as usize] + host as u32, false);
        self.ports[host][1].cross(now, size, wire, entity)
    }

    /// What a host sends through: packets to `address`, of a transfer that ends with packet `last`.
    #[inline]
    pub fn outlet<'a, 'b>(
        &'a mut self,
        group: &'a Group,
        host: usize,
        (address, last): (Address, u32),
        shared: &'a mut Shared<'b>,
    ) -> Outlet<'a, 'b> {
        Outlet {
            turns: EventSchedule { agenda: &mut self.agenda, calendar: shared.calendar, site: self.place },
            router: &mut shared.router,
            crossed: &mut self.crossed,
            ack_options: shared.ack_options,
            port: &mut self.ports[host][0],
            wire: &group.ports[self.kinds[host] as usize],
            entity: group.port_entity(group.hosts[self.site as usize] + host as u32, true),
            address,
            last,
        }
    }
}
