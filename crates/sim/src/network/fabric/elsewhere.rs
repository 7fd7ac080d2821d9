//! What lies in other parts of a network that is simulated in several at the same time.

use crate::events::Key;
use crate::meeting::Mailbox;
use crate::network::fabric::Fabric;
use crate::network::letter::{Carried, Letter};
use crate::network::link::Link;
use crate::network::lookahead::Arrived;
use crate::network::saturation::Full;
use crate::packet::Packet;
use crate::probe::Probe;
use crate::scenario::Scenario;
use crate::time::Time;
use crate::transport::ack_options::AckOptionSlab;

/// What a part of a network knows of the others. A link belongs to the part in which it begins.
#[derive(Debug)]
pub struct Elsewhere {
    part: u32,
    /// The part of each node.
    part_of: Vec<u32>,
    /// Of each link that begins here, the other part in which it ends, if it does.
    ends: Vec<Option<u32>>,
    /// Of each link, whether it begins in another part.
    begins_elsewhere: Vec<bool>,
    /// Of each flow, the other part in which it sends, if it does.
    senders: Vec<Option<u32>>,
    /// The links of `ends` whose queues decide at departures.
    managed: Vec<u32>,
    /// What goes to each other part.
    messages: Vec<Vec<Letter>>,
}

impl Elsewhere {
    /// Of one of `parts` parts; `part_of` says to which each node belongs.
    #[must_use]
    pub fn new(scenario: &Scenario, part_of: &[u32], (part, parts): (u32, u32)) -> Self {
        let other = |node: u32| Some(part_of[node as usize]).filter(|&other| other != part);
        let end = |(from, to): (u32, u32)| other(to).filter(|_| other(from).is_none());
        Self {
            part,
            part_of: part_of.to_vec(),
            ends: scenario.links.iter().map(|link| end((link.from, link.to))).collect(),
            begins_elsewhere: scenario.links.iter().map(|link| other(link.from).is_some()).collect(),
            senders: scenario.flows.iter().map(|flow| other(flow.from)).collect(),
            managed: Vec::new(),
            messages: vec![Vec::new(); parts as usize],
        }
    }

    /// Whether a node is in this part.
    #[must_use]
    pub fn is_here(&self, node: u32) -> bool {
        self.part_of[node as usize] == self.part
    }

    /// Which links end in another part than they begin in.
    pub(super) fn cut(&self, scenario: &Scenario) -> Vec<bool> {
        let part = |node: u32| self.part_of[node as usize];
        scenario.links.iter().map(|link| part(link.from) != part(link.to)).collect()
    }

    /// Has links hand over what ends elsewhere, and those that begin there deliver only.
    pub(super) fn mark(&mut self, scenario: &Scenario, links: &mut [Link]) {
        for (index, (spec, link)) in (0..).zip(scenario.links.iter().zip(links)) {
            if !self.is_here(spec.from) {
                link.managed = None;
            } else if self.has_end(index) {
                link.end_elsewhere();
                (link.ahead.continues, link.ahead.host_reacts_until) = (false, Time::ZERO);
                self.managed.extend(link.managed.is_some().then_some(index));
            }
        }
    }

    /// Whether a link begins elsewhere.
    pub(super) fn begins_elsewhere(&self, link: u32) -> bool {
        self.begins_elsewhere[link as usize]
    }

    /// Whether a link that begins here ends elsewhere.
    #[inline]
    pub(super) fn has_end(&self, link: u32) -> bool {
        self.ends[link as usize].is_some()
    }

    /// A packet comes out at the end of a link, which is elsewhere.
    pub(super) fn send(&mut self, link: u32, packet: Packet, delivery: Time, ack_options: &mut AckOptionSlab) {
        if let Some(part) = self.ends[link as usize] {
            let carried = Carried::new(link, packet, delivery, ack_options);
            self.messages[part as usize].push(Letter::Packet(carried));
        }
    }

    /// The sender of a flow hears that a hop here was busy throughout a round trip, if it is elsewhere.
    pub(super) fn tell(&mut self, full: Full, flow: u32) {
        if let Some(part) = self.senders[flow as usize] {
            self.messages[part as usize].push(Letter::Full(full));
        }
    }
}

/// The same, where there may be no other parts.
#[cold]
pub(super) fn tell(elsewhere: &mut Option<Box<Elsewhere>>, full: Full, flow: u32) {
    if let Some(elsewhere) = elsewhere {
        elsewhere.tell(full, flow);
    }
}

impl<P: Probe> Fabric<P> {
    /// Whether a node is in this part of the network.
    #[must_use]
    pub fn is_here(&self, node: u32) -> bool {
        self.elsewhere.as_ref().is_none_or(|elsewhere| elsewhere.is_here(node))
    }

    /// Leaves what goes to other parts in this turn, in which all that precedes `until` has happened.
    pub fn leave(&mut self, (mailbox, turn): (&Mailbox<Letter>, u64), until: Time) {
        let Some(elsewhere) = &mut self.elsewhere else { return };
        let managed = std::mem::take(&mut elsewhere.managed);
        for &link in &managed {
            self.catch_up(link, Key::planned(until, 0));
        }
        let Some(elsewhere) = &mut self.elsewhere else { return };
        elsewhere.managed = managed;
        let part = elsewhere.part as usize;
        for (to, messages) in elsewhere.messages.iter_mut().enumerate().filter(|(to, _)| *to != part) {
            mailbox.leave(turn, part, to, messages);
        }
    }

    /// The number of this part of the network, if it has others.
    pub fn part(&self) -> Option<usize> {
        self.elsewhere.as_ref().map(|elsewhere| elsewhere.part as usize)
    }

    /// Takes what comes from another part.
    pub fn take(&mut self, letter: Letter) {
        match letter {
            Letter::Packet(carried) => {
                let (link, delivery) = (carried.link, carried.delivery);
                let packet = carried.unpack(&mut self.ack_options);
                let at_work = &mut self.links[link as usize];
                let key = Key::new(delivery, Time::new(packet.start), packet.precedence(), at_work.server.entity());
                at_work.server.was_granted(packet.start);
                self.come(link, packet, key);
            }
            Letter::Full(full) => self.saturation.hear(full),
        }
    }

    /// A packet was granted a service elsewhere by a link that ends here.
    fn come(&mut self, index: u32, packet: Packet, delivery: Key) {
        let link = &mut self.links[index as usize];
        if link.ahead.continues || delivery.time < link.ahead.host_reacts_until {
            let next = self.paths.at(packet.position() + 1);
            if let Some(next) = next.fused_link() {
                return self.offer(next, packet.forwarded(), delivery);
            }
            if let Some(next) = next.merging_link() {
                if let Some(arrived) = self.merge(next, delivery, packet.forwarded()) {
                    self.offer(next, arrived.packet(), arrived.key());
                }
                return;
            }
            if let Some(flow) = next.flow()
                && delivery.time < link.ahead.host_reacts_until
                && !link.is_announced()
            {
                return self.lookahead.arrived.push(Arrived::new(delivery, packet.arriving(flow)));
            }
        }
        if link.keep(packet, delivery) {
            self.queue.push(delivery);
        }
    }

    /// All that was granted elsewhere before `now` is here: what waits at confluences for nothing else continues, packet by
    /// packet, until there is none.
    pub fn settle_confluence(&mut self, now: Time) -> bool {
        let Self { elsewhere: Some(elsewhere), links, lookahead, .. } = self else { return false };
        for confluence in &mut lookahead.confluences {
            let server = &mut links[confluence.root as usize].server;
            if confluence.next_time().is_some() && elsewhere.begins_elsewhere(confluence.root) {
                server.was_granted(now.seconds());
                if let Some(arrived) = confluence.next(server.free().time) {
                    let link = confluence.link;
                    self.offer(link, arrived.packet(), arrived.key());
                    return true;
                }
            }
        }
        false
    }
}
